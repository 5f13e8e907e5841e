//! Who is let in. Each test sends one thing that must not get through, beside one that must.

use std::io::{Read as _, Write as _};
use std::process::Command;

use serde_json::json;

use crate::serve::desk::{Desk, wait_for};
use crate::serve::server::Server;

fn served() -> (Desk, Server) {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["A draft."]);
    desk.saying("c", &["[STATUS: APPROVED]"]);
    assert_eq!(
        desk.gadfly(&["run", "Write.", "--worker", "w", "--critic", "c", "--criterion", "short"]).code,
        0
    );
    let server = Server::start(&desk);
    (desk, server)
}

/// Every address with something to see or to do.
fn addresses(run: &str) -> Vec<(&'static str, String)> {
    let gets = ["/api/live/overview", "/api/runs", "/api/start"].map(str::to_owned).to_vec();
    let of_run = ["page?before=1.1", "texts/x", "diff?old=x&new=y", "tree-diff/x"];
    let gets = gets.into_iter().chain(of_run.map(|rest| format!("/api/runs/{run}/{rest}")));
    let gets = gets.chain([format!("/api/live/runs/{run}")]).map(|path| ("GET", path));
    let posts = ["answer", "pause", "cancel", "steer", "resume"].map(|act| format!("/api/runs/{run}/{act}"));
    let posts = posts.into_iter().chain(["/api/start/loop", "/api/start/goal"].map(str::to_owned));
    gets.chain(posts.map(|path| ("POST", path))).collect()
}

#[test]
fn without_the_token_nothing_is_seen_and_nothing_done() {
    let (desk, server) = served();
    let before = desk.gadfly(&["runs", "--json"]).out;
    let host = server.host();
    let (begins, last) = server.token.split_at(server.token.len() - 1);
    let near = format!("Bearer {begins}{}", if last == "0" { "1" } else { "0" });
    for (method, path) in addresses(&desk.run_id()) {
        let body = if method == "POST" { "{}" } else { "" };
        for offered in
            [None, Some("Bearer "), Some(near.as_str()), Some("Basic eDp5"), Some(server.token.as_str())]
        {
            let mut headers = vec![("Host", host.as_str())];
            headers.extend(offered.map(|value| ("Authorization", value)));
            let answer = server.plain(method, &path, &headers, body);
            assert_eq!(answer.status, 401, "{method} {path} with {offered:?}: {answer:?}");
            assert!(!answer.body.contains("draft"), "{answer:?}");
        }
        // In the address it does not count: addresses end up in logs.
        let joined = if path.contains('?') { "&" } else { "?" };
        let told = format!("{path}{joined}token={}", server.token);
        assert_eq!(server.plain(method, &told, &[("Host", &host)], body).status, 401, "{told}");
    }
    assert_eq!(desk.gadfly(&["runs", "--json"]).out, before);
    assert_eq!(server.get("/api/runs").status, 200, "with the token it is");
}

#[test]
fn a_foreign_name_or_a_foreign_page_is_refused_even_with_the_token() {
    let (_desk, server) = served();
    let bearer = format!("Bearer {}", server.token);
    let (host, port) = (server.host(), server.port);
    let get = |headers: &[(&str, &str)]| {
        let with = [&[("Authorization", bearer.as_str())], headers].concat();
        server.plain("GET", "/api/runs", &with, "").status
    };
    // A name that somebody else's server of names leads here.
    for name in [
        "evil.example",
        &format!("evil.example:{port}"),
        "127.0.0.1",
        &format!("127.0.0.1.evil.example:{port}"),
        "",
    ] {
        assert_eq!(get(&[("Host", name)]), 421, "{name:?}");
    }
    assert_eq!(get(&[("Host", &host), ("Host", "evil.example")]), 421, "two of them");
    assert!(matches!(get(&[]), 400 | 421), "none at all");
    for fine in [host.clone(), format!("localhost:{port}"), format!("LOCALHOST:{port}")] {
        assert_eq!(get(&[("Host", &fine)]), 200, "{fine}");
    }
    for origin in [
        "http://evil.example",
        "null",
        "https://127.0.0.1",
        &format!("http://127.0.0.1:{}", port ^ 1),
        "file://",
    ] {
        assert_eq!(get(&[("Host", &host), ("Origin", origin)]), 403, "{origin}");
    }
    assert_eq!(get(&[("Host", &host), ("Origin", &format!("http://{host}"))]), 200);
    let posted = |site: &str| {
        let headers = [("Host", &*host), ("Authorization", &*bearer), ("Sec-Fetch-Site", site)];
        server.plain("POST", "/api/start/loop", &headers, "{}").status
    };
    assert_eq!(posted("cross-site"), 403);
    assert_eq!(posted("same-site"), 403);
    assert_eq!(posted("same-origin"), 400, "only the task is missing");
}

#[test]
fn every_answer_forbids_what_a_page_does_not_need() {
    let (_desk, server) = served();
    for path in ["/", "/start", "/runs/x", "/assets/favicon.svg", "/api/runs", "/nothing"] {
        let answer = server.get(path);
        let policy = answer.header("content-security-policy").unwrap_or_else(|| panic!("{answer:?}"));
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
    }
    let page = server.get("/").body;
    assert!(!page.contains("<script>") && !page.contains("onclick") && !page.contains("style=\""), "{page}");
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing from elsewhere: {page}");
}

#[test]
fn paths_lead_nowhere_but_to_what_is_there() {
    let (desk, server) = served();
    desk.write("secret.txt", "do not show");
    for path in [
        "/assets/../../secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/assets//etc/passwd",
        "/assets/..\\secret.txt",
        "/assets/",
        "/runs/../secret.txt",
        "/runs/a/b",
        "/.gadfly/journal.db",
        "//etc/passwd",
        "/api/runs/../../secret.txt/page?before=1.1",
        "/api/runs/%00/page?before=1.1",
        "/api/live/runs/..%2f..%2fsecret.txt",
        &format!("/api/live/runs/{}", "x".repeat(5000)),
        &format!("/api/runs/{}/texts/../../secret.txt", desk.run_id()),
        &format!("/api/runs/{}/texts/{}", desk.run_id(), "0".repeat(64)),
        &format!("/api/runs/{}/texts/brief-zz", desk.run_id()),
        &format!("/api/runs/{}/texts/brief-é", desk.run_id()),
    ] {
        let answer = server.get(path);
        assert!(matches!(answer.status, 400 | 404), "{path}: {answer:?}");
        assert!(!answer.body.contains("do not show"), "{path}");
    }
    assert_eq!(server.plain("DELETE", "/", &[("Host", &server.host())], "").status, 405);
    assert_eq!(server.plain("POST", "/assets/app.js", &[("Host", &server.host())], "{}").status, 405);
}

#[test]
fn what_is_too_large_or_no_request_at_all_is_refused_and_the_server_lives() {
    let (desk, server) = served();
    let path = format!("/api/runs/{}/answer", desk.run_id());
    let (host, bearer) = (server.host(), format!("Bearer {}", server.token));
    let headers = [("Host", &*host), ("Authorization", &*bearer)];
    let large = json!({ "effect": "run#1", "text": "x".repeat(17 << 20) }).to_string();
    assert_eq!(server.plain("POST", &path, &headers, &large).status, 413);
    // It says that it is large, and sends nothing: nobody waits for it.
    let claimed = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {bearer}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n"
    );
    assert_eq!(server.raw(claimed.as_bytes()).status, 413);
    for (body, kind) in [
        ("not json", "application/json"),
        ("{}", "text/plain"),
        ("[]", "application/json"),
        ("{\"effect\": 1}", "application/json"),
    ] {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {bearer}\r\nConnection: close\r\n\
             Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let status = server.raw(request.as_bytes()).status;
        assert!((400..500).contains(&status), "{body}: {status}");
    }
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!((400..500).contains(&server.plain("POST", &path, &headers, &deep).status));
    let long_head = format!("GET / HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n\r\n", "x".repeat(200_000));
    assert!(matches!(server.raw(long_head.as_bytes()).status, 0 | 400 | 431));
    for garbage in [&b"\x16\x03\x01\x02\x00\x01\x00"[..], b"GET\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
    {
        assert!(matches!(server.raw(garbage).status, 0 | 400 | 404 | 405 | 421 | 505), "{garbage:?}");
    }
    assert_eq!(server.get("/api/runs").status, 200);
}

#[test]
fn many_open_streams_are_bounded_and_their_places_come_back() {
    let (_desk, server) = served();
    let open: Vec<_> = (0..64)
        .map(|_| {
            let mut stream = server.follow("/api/live/overview");
            assert_eq!(stream.next().unwrap().0, "overview");
            stream
        })
        .collect();
    let refused = server.get("/api/live/overview");
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.header("retry-after").is_some());
    assert_eq!(server.get("/api/runs").status, 200, "what is no stream is answered as before");
    drop(open);
    // The server notices at its next word to them.
    wait_for("a place is free again", || {
        let mut stream = server.connect();
        let request = format!(
            "GET /api/live/overview HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            server.host(),
            server.token
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut head = [0_u8; 12];
        stream.read_exact(&mut head).is_ok() && &head == b"HTTP/1.1 200"
    });
}

#[test]
fn connections_that_say_nothing_shut_nobody_out() {
    let (desk, server) = served();
    let mut watched = server.follow("/api/live/overview");
    assert_eq!(watched.next().unwrap().0, "overview");
    let silent: Vec<_> = (0..600).map(|_| server.connect()).collect();
    // All places are taken, and still whoever has the token is served, and whoever was in stays in.
    assert_eq!(server.get("/api/runs").status, 200);
    assert!(desk_moves(&desk, &mut watched));
    drop(silent);
}

/// Something happens in the store, and a page that is open hears of it.
fn desk_moves(desk: &Desk, page: &mut crate::serve::server::Stream) -> bool {
    assert_eq!(
        desk.gadfly(&["run", "Again.", "--worker", "w", "--critic", "c", "--criterion", "short"]).code,
        0
    );
    page.until("a second run", |page| page["counts"]["approved"] == 2);
    true
}

#[test]
fn elsewhere_than_on_this_machine_it_wants_a_token_of_ones_own() {
    let desk = Desk::folder(&[]);
    let said = desk.gadfly(&["serve", "--bind", "0.0.0.0", "--port", "0"]);
    assert_eq!(said.code, 2, "{said:?}");
    for part in ["GADFLY_SERVE_TOKEN", "every draft", "Nothing was started"] {
        assert!(said.err.contains(part), "{}", said.err);
    }
    assert!(!desk.path(".gadfly").exists(), "nothing is left behind");
    let mut weak = desk.command(&["serve", "--bind", "0.0.0.0", "--port", "0"]);
    let weak = weak.env("GADFLY_SERVE_TOKEN", "letmein").output().unwrap();
    assert_eq!(weak.status.code(), Some(2));
    let mut command =
        desk.command(&["serve", "--bind", "0.0.0.0", "--port", "0", "--allow-host", "box.example"]);
    command.env("GADFLY_SERVE_TOKEN", "0123456789abcdef0123456789abcdef");
    let server = Server::of(command);
    assert_eq!(server.token, "0123456789abcdef0123456789abcdef");
    let bearer = format!("Bearer {}", server.token);
    let named = |host: &str| {
        server.plain("GET", "/api/runs", &[("Host", host), ("Authorization", &bearer)], "").status
    };
    assert_eq!(named(&format!("box.example:{}", server.port)), 200);
    assert_eq!(named(&format!("other.example:{}", server.port)), 421);
}

#[test]
fn a_token_that_a_project_brings_is_none() {
    let desk = Desk::folder(&[(".gadfly/serve-token", "abababababababababababababababababababababababab")]);
    let server = Server::start(&desk);
    assert!(!server.token.starts_with("abab"), "{}", server.token);
}

#[test]
fn the_token_is_another_one_at_each_start_and_is_kept_nowhere() {
    let desk = Desk::folder(&[]);
    let first = Server::start(&desk);
    let (old, port) = (first.token.clone(), first.port);
    assert_eq!(first.get("/api/runs").status, 200);
    let home = desk.beside("");
    drop(first);
    let found = Command::new("grep").args(["-rlF", &old]).arg(&home).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "", "the token is in no file");
    let anew = Server::at(&desk, port);
    assert_ne!(anew.token, old);
    let bearer = format!("Bearer {old}");
    let answer = anew.plain("GET", "/api/runs", &[("Host", &anew.host()), ("Authorization", &bearer)], "");
    assert_eq!(answer.status, 401);
}

#[test]
fn without_a_port_that_is_wanted_the_address_is_another_one_at_each_start() {
    let desk = Desk::folder(&[]);
    let [first, second] = [(); 2].map(|()| Server::of(desk.command(&["serve"])));
    assert_ne!(first.port, second.port);
}
