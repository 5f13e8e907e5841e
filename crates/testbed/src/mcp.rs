//! An MCP server over standard input and output, written against the protocol's text and not with its SDK, so that
//! the client is not tested against itself. What it does wrong is asked for by a word at its start or by a tool.
//!
//! Words: `mute` never greets, `garbage` writes only what is no message, `noise` writes a line that is none first,
//! `leave` ends with code 7 before it greets, `deaf` never reads, `many` offers 200 tools on pages, `odd` offers tools
//! with unusable names, `pings` asks back before every answer.
//!
//! Tools: `echo` says its `text`; `fail` says that it failed; `slow` never answers; `huge` says `bytes` letters; `die`
//! ends the server with code 3; `flood` notifies without end in place of an answer; `nonsense` answers with what is
//! no answer; `picture` answers with one.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

/// Serves until the input ends or a tool ends it; the exit code.
pub async fn serve(
    words: Vec<String>,
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> i32 {
    let told = |word: &str| words.iter().any(|w| w == word);
    if told("leave") {
        return 7;
    }
    if told("deaf") {
        return std::future::pending().await;
    }
    if told("noise") {
        let _ = output.write_all(b"npm warn something is old\n").await;
    }
    let mut lines = BufReader::new(input).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if told("garbage") {
            let _ = output.write_all(b"this is not JSON\n\xff\xfe\n[]\n").await;
            continue;
        }
        let Ok(message) = serde_json::from_str::<Value>(&line) else { return 1 };
        let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else { continue };
        if told("mute") {
            continue;
        }
        if told("pings") {
            let ping = json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" });
            let _ = output.write_all(format!("{ping}\n").as_bytes()).await;
        }
        let answer = match method {
            "initialize" => McpAnswer::Result(json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "mcp-server", "version": "1.0.0" },
            })),
            "tools/list" => McpAnswer::Result(listed(&message["params"], told("many"), told("odd"))),
            "tools/call" => called(&message["params"]),
            _ => McpAnswer::Error(-32601, format!("there is no method {method}")),
        };
        let answer = match answer {
            McpAnswer::Result(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            McpAnswer::Error(code, text) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": text } })
            }
            McpAnswer::None => continue,
            McpAnswer::Nonsense => json!({ "jsonrpc": "1.0", "id": id, "result": 17 }),
            McpAnswer::Flood => loop {
                let note = json!({ "jsonrpc": "2.0", "method": "notifications/message",
                    "params": { "level": "info", "data": "and on and on" } });
                if output.write_all(format!("{note}\n").as_bytes()).await.is_err() {
                    return 0;
                }
            },
            McpAnswer::Exit(code) => return code,
        };
        if output.write_all(format!("{answer}\n").as_bytes()).await.is_err() {
            return 0;
        }
    }
    0
}

enum McpAnswer {
    Result(Value),
    Error(i32, String),
    None,
    Nonsense,
    Flood,
    Exit(i32),
}

fn listed(params: &Value, many: bool, odd: bool) -> Value {
    let tool = |name: &str| json!({ "name": name, "description": format!("Does {name}."), "inputSchema": { "type": "object" } });
    if many {
        let page: usize = params["cursor"].as_str().and_then(|c| c.parse().ok()).unwrap_or(0);
        let tools: Vec<Value> = (0..50).map(|n| tool(&format!("t{}", page * 50 + n))).collect();
        let next = (page < 3).then(|| (page + 1).to_string());
        return match next {
            Some(next) => json!({ "tools": tools, "nextCursor": next }),
            None => json!({ "tools": tools }),
        };
    }
    let names: &[&str] = if odd {
        &["fine", "not fine", "also/not"]
    } else {
        &["echo", "fail", "slow", "huge", "die", "flood", "nonsense", "picture"]
    };
    json!({ "tools": names.iter().map(|name| tool(name)).collect::<Vec<_>>() })
}

fn called(params: &Value) -> McpAnswer {
    let args = &params["arguments"];
    let said = |text: &str| json!([{ "type": "text", "text": text }]);
    match params["name"].as_str().unwrap_or_default() {
        "echo" => McpAnswer::Result(json!({ "content": said(args["text"].as_str().unwrap_or("nothing")) })),
        "fail" => McpAnswer::Result(json!({ "content": said("it cannot be done"), "isError": true })),
        "slow" => McpAnswer::None,
        "huge" => {
            let bytes = args["bytes"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(5 << 20);
            McpAnswer::Result(json!({ "content": said(&"x".repeat(bytes)) }))
        }
        "die" => McpAnswer::Exit(3),
        "flood" => McpAnswer::Flood,
        "nonsense" => McpAnswer::Nonsense,
        "picture" => {
            let picture = json!({ "type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo=" });
            McpAnswer::Result(json!({ "content": [{ "type": "text", "text": "see" }, picture] }))
        }
        other => McpAnswer::Error(-32602, format!("there is no tool {other}")),
    }
}
