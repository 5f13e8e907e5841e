//! The MCP client against a server written without its SDK: what is offered, calls, and everything a server can do
//! wrong. Over HTTP as well.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod stage;
#[allow(dead_code)]
use crate::fetch::web;

use std::time::Duration;

use gadfly_agents::{McpServers, McpSpec};
use serde_json::{Value, json};
use stage::Stage;
use tokio_util::sync::CancellationToken;
use web::{Asked, Web, answer};

const SHORT: Duration = Duration::from_millis(300);

fn names() -> Vec<String> {
    vec!["s".to_owned()]
}

#[tokio::test]
async fn tools_are_listed_under_their_servers_name_and_called() {
    let stage = Stage::new(&["noise", "pings"]);
    let tools = stage.servers.tools(&names()).await.unwrap();
    assert_eq!(tools.len(), 8);
    assert_eq!((tools[0].name.as_str(), tools[0].description.as_str()), ("s__echo", "Does echo."));
    let said = stage.call("echo", r#"{"text":"hello"}"#).await.unwrap();
    assert_eq!((said.text.as_str(), said.is_error), ("hello", false));
    let said = stage.call("echo", "").await.unwrap();
    assert_eq!(said.text, "nothing");
    let said = stage.call("picture", "{}").await.unwrap();
    assert_eq!(said.text, "see\n[image/png, 8 bytes]");
    assert_eq!(stage.started(), 1, "one connection for the whole run");
    assert!(stage.servers.notes().is_empty());
}

#[tokio::test]
async fn nothing_is_started_before_it_is_needed_and_nothing_stays() {
    let stage = Stage::new(&[]);
    assert_eq!(stage.started(), 0);
    stage.call("echo", "{}").await.unwrap();
    assert_eq!(stage.alive(), 1);
    stage.servers.close().await;
    assert_eq!(stage.alive(), 0);
    let stage = Stage::new(&["deaf"]).impatient();
    stage.servers.tools(&names()).await.unwrap_err();
    let stage = (stage.servers.close().await, stage).1;
    let alive = std::sync::Arc::clone(&stage.launcher.alive);
    drop(stage);
    while alive.load(std::sync::atomic::Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_server_gets_the_variables_it_was_given_and_no_others() {
    let stage = Stage::new(&[]);
    stage.call("echo", "{}").await.unwrap();
    let command = stage.launcher.commands.lock().unwrap()[0].clone();
    let names: Vec<&str> = command.env.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["PATH", "TOKEN"]);
}

#[tokio::test]
async fn what_a_tool_says_of_its_failure_is_an_answer() {
    let stage = Stage::new(&[]);
    for (tool, text) in [
        ("fail", "it cannot be done"),
        ("other", "there is no tool other"),
        ("nonsense", "no message of MCP"),
    ] {
        let said = stage.call(tool, "{}").await.unwrap();
        assert!(said.is_error && said.text.contains(text), "{tool}: {said:?}");
    }
    let said = stage.call("echo", "[1]").await.unwrap_err();
    assert!(said.contains("must be a JSON object"), "{said}");
}

#[tokio::test]
async fn a_server_that_hangs_or_floods_is_given_up_and_can_still_be_used() {
    let stage = Stage::new(&[]);
    let said = stage.call_within("slow", "{}", SHORT).await.unwrap_err();
    assert_eq!(said, "`slow` of MCP server `s` did not answer within 300ms");
    assert_eq!(stage.call("echo", r#"{"text":"still here"}"#).await.unwrap().text, "still here");
    let said = stage.call_within("flood", "{}", SHORT).await.unwrap_err();
    assert!(said.contains("did not answer within"), "{said}");
}

#[tokio::test]
async fn a_call_can_be_cancelled() {
    let stage = Stage::new(&[]);
    let cancel = CancellationToken::new();
    let call = stage.servers.call("s", "slow", "{}", Duration::from_mins(1), &cancel);
    let stop = async {
        while stage.started() == 0 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (said, ()) = tokio::join!(call, stop);
    assert!(said.unwrap_err().contains("was cancelled"));
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_says_how_and_is_started_once_more() {
    let stage = Stage::new(&[]);
    let said = stage.call("die", "{}").await.unwrap_err();
    assert_eq!(
        said,
        "MCP server `s` was lost in the call of `die`: it ended with exit code 3; it said: last words"
    );
    assert_eq!(stage.call("echo", r#"{"text":"again"}"#).await.unwrap().text, "again");
    assert_eq!(stage.started(), 2);
    stage.call("die", "{}").await.unwrap_err();
    let said = stage.call("echo", "{}").await.unwrap_err();
    assert!(said.contains("is not started a third time") && said.contains("exit code 3"), "{said}");
    assert_eq!(stage.started(), 2);
}

#[tokio::test]
async fn long_answers_are_cut_and_endless_ones_end_the_server() {
    let stage = Stage::new(&[]);
    assert_eq!(stage.call("huge", "{}").await.unwrap().text.len(), 4 << 20);
    let said = stage.call("huge", &json!({ "bytes": 40 << 20 }).to_string()).await.unwrap_err();
    assert!(said.contains("sent a message of more than"), "{said}");
}

#[tokio::test]
async fn a_server_that_does_not_greet_is_an_error_that_says_what_it_wrote() {
    for (word, why) in [
        ("mute", "did not greet us within 300ms"),
        ("garbage", "it wrote: this is not JSON"),
        ("leave", "it ended with exit code 7; it said: last words"),
    ] {
        let stage = Stage::new(&[word]).impatient();
        let said = stage.servers.tools(&names()).await.unwrap_err();
        assert!(said.starts_with("MCP server `s`") && said.contains(why), "{word}: {said}");
    }
    let spec =
        |command: &str| McpSpec { name: "s".into(), command: vec![command.into()], ..McpSpec::default() };
    let said = Stage::of(spec("missing")).call("echo", "{}").await.unwrap_err();
    assert!(said.contains("there is no command `missing`"), "{said}");
    let said =
        Stage::of(McpSpec { name: "s".into(), ..McpSpec::default() }).call("echo", "{}").await.unwrap_err();
    assert!(said.contains("neither a command nor a url"), "{said}");
    let said = Stage::new(&[]).servers.tools(&["other".to_owned()]).await.unwrap_err();
    assert_eq!(said, "there is no MCP server `other`; configured: s");
}

#[tokio::test]
async fn programs_that_are_no_servers_end_in_a_sentence() {
    for (line, why) in
        [("exit 5", "exit code 5"), ("exec cat", "could not be greeted"), ("yes", "it wrote: y")]
    {
        let command = ["sh", "-c", line].map(str::to_owned).to_vec();
        let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        let stage = Stage::of(McpSpec { name: "s".into(), command, env, ..McpSpec::default() }).impatient();
        let said = stage.servers.tools(&names()).await.unwrap_err();
        assert!(said.contains(why) || said.contains("did not greet us"), "{line}: {said}");
    }
}

#[tokio::test]
async fn too_many_tools_and_unusable_names_are_left_out_and_said() {
    let stage = Stage::new(&["many"]);
    assert_eq!(stage.servers.tools(&names()).await.unwrap().len(), 128);
    assert!(stage.servers.notes()[0].contains("more than 128 tools"));
    let stage = Stage::new(&["odd"]);
    let tools = stage.servers.tools(&names()).await.unwrap();
    assert_eq!(tools.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["s__fine"]);
    assert!(stage.servers.notes()[0].contains("`not fine`, `also/not`"), "{:?}", stage.servers.notes());
}

/// A server over HTTP that answers with JSON, or with events.
fn over_http(asked: &Asked, events: bool) -> Vec<u8> {
    let Ok(message) = serde_json::from_str::<Value>(&asked.body) else {
        return answer("405 Method Not Allowed", &[], b"");
    };
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
            "serverInfo": { "name": "web", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] }),
        "tools/call" if message["params"]["arguments"]["bytes"].is_u64() => {
            json!({ "content": [{ "type": "text", "text": "x".repeat(40 << 20) }] })
        }
        "tools/call" => {
            json!({ "content": [{ "type": "text", "text": message["params"]["arguments"]["text"] }] })
        }
        _ => return answer("202 Accepted", &[], b""),
    };
    let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
    if events {
        let event = format!("event: message\ndata: {reply}\n\n");
        answer("200 OK", &["content-type: text/event-stream", "mcp-session-id: one"], event.as_bytes())
    } else {
        answer(
            "200 OK",
            &["content-type: application/json", "mcp-session-id: one"],
            reply.to_string().as_bytes(),
        )
    }
}

fn at(url: String) -> McpServers {
    Stage::of(McpSpec { name: "s".into(), url: Some(url), ..McpSpec::default() }).impatient().servers
}

#[tokio::test]
async fn a_server_over_http_is_the_same() {
    for events in [false, true] {
        let web = Web::serve(move |asked| over_http(asked, events)).await;
        let servers = at(web.url("/mcp")).starting_within(Duration::from_secs(30));
        assert_eq!(servers.tools(&names()).await.unwrap()[0].name, "s__echo");
        let (time, cancel) = (Duration::from_mins(1), CancellationToken::new());
        let said = servers.call("s", "echo", r#"{"text":"hello"}"#, time, &cancel).await.unwrap();
        assert_eq!(said.text, "hello");
        let calls = web.asked();
        let last = calls.iter().rfind(|asked| asked.body.contains("tools/call")).unwrap();
        assert!(last.head.contains("mcp-session-id: one") && !last.head.contains("authorization"));
        servers.close().await;
    }
}

#[tokio::test]
async fn a_server_over_http_that_misbehaves_is_an_error() {
    let web =
        Web::serve(|_| answer("500 Internal Server Error", &["content-type: text/html"], b"<h1>oops")).await;
    let said = at(web.url("/mcp")).tools(&names()).await.unwrap_err();
    assert!(said.contains("HTTP 500") && said.contains("oops"), "{said}");
    let said = at("http://127.0.0.1:1/mcp".into()).tools(&names()).await.unwrap_err();
    assert!(said.starts_with("MCP server `s` at http://127.0.0.1:1/mcp could not be greeted"), "{said}");
    for events in [false, true] {
        let web = Web::serve(move |asked| over_http(asked, events)).await;
        let servers = at(web.url("/mcp")).starting_within(Duration::from_secs(30));
        let (time, cancel) = (Duration::from_secs(20), CancellationToken::new());
        let said = servers.call("s", "echo", r#"{"bytes":1}"#, time, &cancel).await;
        let said = said.unwrap_err();
        assert!(said.contains("more than 33554432 bytes"), "{events} {said}");
    }
}
