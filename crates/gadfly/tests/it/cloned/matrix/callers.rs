//! Commands as their callers call them: a shell, Claude Code's hook, an MCP client, a page.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use super::world::{Said, World, lossy};
use super::{Column, How};

/// The command at work in this world, as its callers call it.
pub fn command(world: &World<'_>, column: &Column, args: &[String]) -> Said {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match column.how {
        How::Asks | How::Judges => world.gadfly(&args, ""),
        How::Hook => {
            let told = json!({ "session_id": column.name, "hook_event_name": "Stop", "cwd": world.path(""),
                "stop_hook_active": false, "transcript_path": world.beside("t.jsonl") });
            world.gadfly(&args, &told.to_string())
        }
        How::Mcp => mcp(world, &args),
        How::Serve => serve(world, &args),
    }
}

/// A client that looks what tools there are, and has a draft judged.
fn mcp(world: &World<'_>, args: &[&str]) -> Said {
    let mut child = world.spawn(args, Stdio::piped(), Stdio::piped());
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let greeting = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "lines", "version": "1" } });
    let named = json!({ "name": "start_loop", "arguments": { "loop": "abstract" } });
    let free =
        json!({ "name": "start_loop", "arguments": { "task": "t", "criteria": ["c"], "draft": "One." } });
    let file =
        json!({ "name": "start_loop", "arguments": { "task": "t", "rubric": "rubric.md", "draft": "One." } });
    let mut out = String::new();
    for (id, method, params) in [
        (1, "initialize", &greeting),
        (0, "notifications/initialized", &json!({})),
        (2, "tools/list", &json!({})),
        (3, "tools/call", &named),
        (4, "tools/call", &free),
        (5, "tools/call", &file),
    ] {
        let mut request = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        if id > 0 {
            request["id"] = json!(id);
        }
        writeln!(stdin, "{request}").unwrap();
        if id == 0 {
            continue;
        }
        while let Some(Ok(line)) = lines.next() {
            let said: Value = serde_json::from_str(&line).unwrap();
            if id > 2 {
                out.push_str(&line);
            }
            if said["id"] == id {
                break;
            }
        }
    }
    drop(stdin);
    let code = world.ended(child);
    Said { code, out, err: lossy(&world.beside("err")) }
}

/// A page that is opened, and that starts the loop which the project names.
fn serve(world: &World<'_>, args: &[&str]) -> Said {
    let mut child = world.spawn(args, Stdio::null(), Stdio::piped());
    let mut out = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut out).unwrap();
    let Some((address, token)) = out.trim().split_once("/#token=") else {
        let code = world.ended(child);
        return Said { code, out, err: lossy(&world.beside("err")) };
    };
    let (host, token) = (address.trim_start_matches("http://").to_owned(), token.to_owned());
    let body = json!({ "loop": "abstract" }).to_string();
    for (line, body) in [("GET /api/start", ""), ("GET /api/runs", ""), ("POST /api/start/loop", &body)] {
        let mut stream = TcpStream::connect(&host).unwrap();
        write!(
            stream,
            "{line} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        out.push_str(&String::from_utf8_lossy(&answer));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    Said { code: 0, out, err: lossy(&world.beside("err")) }
}
