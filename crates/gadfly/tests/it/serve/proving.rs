//! What a page and the server show each other instead of the token: made here by other means than the server's.

use std::fmt::Write as _;

use ring::{digest, hmac};
use serde_json::json;

use crate::serve::desk::Desk;
use crate::serve::server::{Answer, Server};

const NONCE: &str = "00112233445566778899aabbccddeeff";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn mark(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

/// A page that was opened with the link.
struct Page<'s> {
    server: &'s Server,
    key: Vec<u8>,
}

impl<'s> Page<'s> {
    fn open(server: &'s Server) -> Self {
        let path = format!("/api/hello?nonce={NONCE}");
        let said = server.plain("GET", &path, &[("Host", &server.host())], "").json();
        let key = mark(server.token.as_bytes(), &format!("key\n{}", said["start"].as_str().unwrap()));
        assert_eq!(said["proof"], hex(&mark(&key, &format!("server\n{NONCE}"))), "it knows the token");
        Self { server, key }
    }

    fn header(&self, method: &str, path: &str, nonce: &str, body: &str) -> String {
        let digest = hex(digest::digest(&digest::SHA256, body.as_bytes()).as_ref());
        let mark = hex(&mark(&self.key, &format!("request\n{method}\n{path}\n{nonce}\n{digest}")));
        format!("Gadfly {nonce}:{digest}:{mark}")
    }

    fn send(&self, method: &str, path: &str, header: &str, body: &str) -> Answer {
        let host = self.server.host();
        let headers = [("Host", host.as_str()), ("Authorization", header)];
        self.server.plain(method, path, &headers, body)
    }
}

#[test]
fn a_page_is_let_in_without_the_token_and_knows_the_servers_answers() {
    let desk = Desk::folder(&[]);
    let server = Server::start(&desk);
    let page = Page::open(&server);
    let path = "/api/runs?state=approved";
    let answer = page.send("GET", path, &page.header("GET", path, NONCE, ""), "");
    assert_eq!(answer.status, 200, "{answer:?}");
    let expected = hex(&mark(&page.key, &format!("answer\n{NONCE}\n200")));
    assert_eq!(answer.header("gadfly-proof"), Some(expected.as_str()));
    assert_eq!(server.get("/api/runs").header("gadfly-proof"), None, "programs that send the token");
    // A mark is for one address, one way and one body.
    for (method, other) in [("GET", "/api/runs"), ("GET", "/api/start"), ("POST", "/api/start/loop")] {
        let answer = page.send(method, other, &page.header("GET", path, NONCE, ""), "");
        assert_eq!(answer.status, 401, "{method} {other}");
        assert_eq!(answer.header("gadfly-proof"), None);
    }
    let start = "/api/start/loop";
    let empty = page.header("POST", start, NONCE, "{}");
    assert_eq!(page.send("POST", start, &empty, "{ }").status, 400, "another body");
    for nonce in ["", "xyz", &"0".repeat(31), "request%0AGET"] {
        let hello =
            server.plain("GET", &format!("/api/hello?nonce={nonce}"), &[("Host", &server.host())], "");
        assert_eq!(hello.status, 400, "{nonce}");
    }
    let foreign =
        [("Host", &*server.host()), ("Origin", "http://evil.example")].map(|(n, v)| (n, v.to_owned()));
    let foreign: Vec<(&str, &str)> = foreign.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let hello = server.plain("GET", &format!("/api/hello?nonce={NONCE}"), &foreign, "");
    assert_eq!(hello.status, 403, "it is not said to other pages");
}

#[test]
fn a_request_that_was_written_down_is_not_done_a_second_time_or_by_the_next_start() {
    let desk = Desk::folder(&[]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    let serve = |port: u16| {
        let mut command = desk.command(&["serve", "--port", &port.to_string()]);
        command.env("GADFLY_SERVE_TOKEN", "0123456789abcdef0123456789abcdef");
        Server::of(command)
    };
    let server = serve(0);
    let page = Page::open(&server);
    let form =
        json!({ "task": "Write.", "worker": "me", "critic": "me", "criteria": ["is short"] }).to_string();
    let path = "/api/start/loop";
    let header = page.header("POST", path, NONCE, &form);
    assert_eq!(page.send("POST", path, &header, &form).status, 202);
    assert_eq!(page.send("POST", path, &header, &form).status, 401, "the same once more");
    let other = page.header("POST", path, &"0".repeat(32), &form);
    assert_eq!(page.send("POST", path, &other, &form).status, 202);
    let (get, port) = (page.header("GET", "/api/runs", NONCE, ""), server.port);
    assert_eq!(page.send("GET", "/api/runs", &get, "").status, 200);
    drop(server);
    // The token is the same, and still what was seen of the first start is nothing to the second.
    let server = serve(port);
    for (method, path, header, body) in [("GET", "/api/runs", &get, ""), ("POST", path, &header, &form)] {
        let headers = [("Host", &*server.host()), ("Authorization", header)].map(|(n, v)| (n, v.to_owned()));
        let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        assert_eq!(server.plain(method, path, &headers, body).status, 401, "{method} {path}");
    }
    assert_eq!(Page::open(&server).key.len(), 32);
}
