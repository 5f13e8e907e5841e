//! A host ends its server as hosts do: by a signal. What was done until then is told to whoever listens.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::json;

use crate::mcp::lines::Lines;
use crate::mcp::support::{APPROVE, Project};

#[test]
fn a_server_that_is_told_to_end_sends_its_last_spans() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (tell, heard) = channel();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut first = [0; 16];
            if stream.read_exact(&mut first).is_ok() && tell.send(first).is_err() {
                return;
            }
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    let project = Project::new(&[], &[APPROVE], "");
    project.user_config(&format!("[telemetry]\nendpoint = \"{url}\"\n"));
    let mut lines = Lines::open(&project);
    lines.greet(&json!({}));
    let done = lines.call("start_loop", &json!({ "task": "t", "criteria": ["c"], "draft": "One." }));
    assert_eq!(done["result"]["structuredContent"]["state"], "approved", "{done}");
    assert_eq!(done["result"]["structuredContent"]["reasons"], json!(["Good."]), "{done}");
    let text = done["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("was judged by judge: approved\nreason: Good."), "{text}");
    lines.signal("TERM");
    let request = heard.recv_timeout(Duration::from_secs(30)).expect("the spans come before the end");
    assert!(request.starts_with(b"POST /v1/traces"), "{request:?}");
}
