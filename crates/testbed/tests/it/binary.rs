//! The server as a process of its own, over plain sockets: what it prints, counts and answers, and that it
//! ends with its standard input.

#![allow(clippy::unwrap_used, clippy::panic)] // tests may fail loudly

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use gadfly_testbed::Calls;
use serde_json::Value;

struct Process {
    child: Child,
    addr: String,
}

impl Process {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gadfly-testbed"))
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let addr = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Self { child, addr }
    }

    /// One request on a connection of its own; the raw response.
    fn send(&self, method: &str, path: &str, body: &str) -> String {
        let mut socket = TcpStream::connect(&self.addr).unwrap();
        let length = body.len();
        let request =
            format!("{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}");
        // In one piece: a server may answer a bad first line and close before a second piece is written.
        socket.write_all(request.as_bytes()).unwrap();
        // It may have closed already.
        let _ = socket.shutdown(std::net::Shutdown::Write);
        let mut response = String::new();
        socket.read_to_string(&mut response).unwrap();
        response
    }

    fn json<T: serde::de::DeserializeOwned>(&self, method: &str, path: &str, body: &str) -> T {
        let response = self.send(method, path, body);
        serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const CRITIC: &str = r#"{"model":"critic:R,A","messages":[{"role":"user","content":"x\nIteration: 1\n"}]}"#;

#[test]
fn calls_are_counted_until_they_are_forgotten() {
    let server = Process::start(&["--latency-ms", "1"]);
    server.send("POST", "/v1/chat/completions", CRITIC);
    server.send("POST", "/v1/chat/completions", CRITIC);
    server.send("POST", "/v1/messages", r#"{"model":"worker","messages":[]}"#);
    let calls: Calls = server.json("GET", "/calls", "");
    assert_eq!((calls.total, calls.answered, calls.distinct, calls.repeated), (3, 3, 2, 1));
    assert_eq!(calls.per_model["critic:R,A"], 2);
    assert_eq!(calls.recent[0].digest, calls.recent[1].digest);
    assert!(calls.recent.iter().all(|c| c.answered_ms >= Some(c.arrived_ms)), "{:?}", calls.recent);
    server.send("POST", "/reset", "");
    assert_eq!(server.json::<Calls>("GET", "/calls", "").total, 0);
}

#[test]
fn the_same_call_gets_the_same_answer_and_a_later_iteration_its_own() {
    let server = Process::start(&[]);
    let said = |body: &str| {
        let reply: Value = server.json("POST", "/v1/chat/completions", body);
        reply["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
    };
    assert!(said(CRITIC).starts_with("[STATUS: REJECTED]\n- 1: "));
    assert_eq!(said(CRITIC), said(CRITIC));
    assert!(said(&CRITIC.replace("Iteration: 1", "Iteration: 2")).starts_with("[STATUS: APPROVED]"));
}

#[test]
fn both_formats_stream_and_end_as_the_real_ones_do() {
    let server = Process::start(&[]);
    let body = r#"{"model":"think","messages":[],"stream":true,"stream_options":{"include_usage":true}}"#;
    let openai = server.send("POST", "/v1/chat/completions", body);
    for part in [
        "text/event-stream",
        "\"reasoning_content\"",
        "\"finish_reason\":\"stop\"",
        "\"usage\"",
        "data: [DONE]",
    ] {
        assert!(openai.contains(part), "{part} is missing in {openai}");
    }
    let anthropic = server.send("POST", "/v1/messages", body);
    let kinds: Vec<&str> = anthropic.lines().filter_map(|l| l.strip_prefix("event: ")).collect();
    assert_eq!(kinds.first(), Some(&"message_start"));
    assert_eq!(kinds[kinds.len() - 3..], ["content_block_stop", "message_delta", "message_stop"]);
    assert!(kinds.contains(&"ping") && anthropic.contains("\"thinking_delta\""));
}

#[test]
fn what_is_not_a_request_for_a_model_is_refused() {
    let server = Process::start(&[]);
    assert!(server.send("GET", "/nowhere", "").starts_with("HTTP/1.1 404"));
    assert!(server.send("POST", "/v1/messages", "{").starts_with("HTTP/1.1 400"));
    assert!(server.send("\u{16}\u{3}", "/", "").starts_with("HTTP/1.1 400"));
    assert!(server.send("GET", "/v1/models", "").contains("critic:R,R,A"));
    assert_eq!(server.json::<Calls>("GET", "/calls", "").total, 0);
}

#[test]
fn a_script_comes_before_the_behaviours() {
    let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/script.json");
    std::fs::write(path, r#"{"worker": ["first", "second"]}"#).unwrap();
    let server = Process::start(&["--script", path]);
    let said = |n: u32| {
        let body = format!(r#"{{"model":"worker","messages":[{{"content":"Iteration: {n}"}}]}}"#);
        let reply: Value = server.json("POST", "/v1/messages", &body);
        reply["content"][0]["text"].as_str().unwrap().to_owned()
    };
    assert_eq!([said(1), said(2), said(3)], ["first", "second", "second"]);
}

#[test]
fn it_ends_when_its_standard_input_closes() {
    let mut server = Process::start(&[]);
    drop(server.child.stdin.take());
    assert!(server.child.wait().unwrap().success());
}
