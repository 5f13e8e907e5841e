//! Pages that are fetched: what the server answered is shown, and a long page is kept.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use gadfly_engine::tool::{SHOWN, ToolAction, ToolEnd};

use crate::tools::stage::Stage;

/// Answers one request with this.
fn answering(status: &str, body: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/page", listener.local_addr().unwrap());
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        let _ = peer.read(&mut [0_u8; 4096]);
        let _ = peer.write_all((head + &body).as_bytes());
    });
    url
}

#[tokio::test]
async fn a_page_is_shown_with_its_status_and_a_long_one_is_kept() {
    let stage = Stage::new();
    let url = answering("404 Not Found", "nothing here".into());
    let came = stage.action(ToolAction::FetchUrl { url: url.clone() }).await;
    assert_eq!(came.end(), &ToolEnd::Status(404));
    assert_eq!(came.shown, format!("404 · text/plain · 12 bytes · {url}\n\nnothing here"));
    let url = answering("200 OK", "line\n".repeat(5000));
    let came = stage.action(ToolAction::FetchUrl { url }).await;
    assert_eq!(came.end(), &ToolEnd::Status(200));
    assert!(came.shown.len() <= SHOWN && came.shown.contains("\"output:1\""), "{}", came.shown);
    let rest = stage.action(ToolAction::ReadFile { path: "output:1".into(), from: 5002, lines: 1 }).await;
    assert!(rest.well().starts_with("5002\tline\n"), "{}", rest.shown);
    assert!(!stage.at("store/runs/one/tree").exists(), "no folder is made for it");
}

#[tokio::test]
async fn a_page_that_cannot_be_had_is_an_error_that_says_why() {
    let stage = Stage::new();
    for url in ["http://127.0.0.1:1/", "file:///etc/passwd", "http://169.254.169.254/latest", "no url"] {
        assert!(!stage.action(ToolAction::FetchUrl { url: url.into() }).await.refused().is_empty(), "{url}");
    }
}
