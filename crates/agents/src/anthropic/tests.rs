//! Replies, tools and pictures on the wire of the Messages API.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests may fail loudly

use gadfly_engine::{Role, Speaker};
use serde_json::{Value, json};

use super::*;
use crate::agent::{Picture, Spoken, ToolSaid, ToolWish};

fn dialect() -> Anthropic {
    Anthropic { model: "m".into(), system: None, temperature: None, max_tokens: None }
}

fn read_texts(events: &[&str]) -> Result<Partial, Broken> {
    let mut partial = Partial::default();
    for event in events {
        dialect().event(event.as_bytes(), &mut partial)?;
    }
    Ok(partial)
}

fn read(events: &[Value]) -> Result<Partial, Broken> {
    let texts: Vec<String> = events.iter().map(Value::to_string).collect();
    read_texts(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_stream_with_thinking_gives_its_text_and_all_its_usage() {
    let partial = read_texts(&[
        r#"{"type":"message_start","message":{"model":"claude-x","content":[],"stop_reason":null,"usage":{"input_tokens":5,"cache_read_input_tokens":7,"cache_creation_input_tokens":2,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}"#,
        r#"{"type":"message_stop"}"#,
    ])
    .unwrap();
    assert_eq!(partial.text, "Hello");
    assert_eq!(partial.stop, Some(StopReason::EndTurn));
    assert_eq!(partial.usage, Usage { input: 5, output: 9, cache_read: 7, cache_write: 2, cost: None });
    assert!(partial.done);
}

#[test]
fn an_overloaded_stream_is_an_error_by_its_type() {
    let broken =
        read_texts(&[r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#]).err().unwrap();
    assert!(matches!(broken, Broken::Said(said) if said.kind == "overloaded_error"));
}

fn begin(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn more(index: u64, json: &str) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": json}})
}

fn wishes(partial: Partial) -> Vec<(String, String, String)> {
    partial.wishes.finish().into_iter().map(|w| (w.id, w.name, w.args)).collect()
}

fn wish(id: &str, name: &str, args: &str) -> (String, String, String) {
    (id.into(), name.into(), args.into())
}

#[test]
fn calls_are_put_together_block_by_block_and_unknown_blocks_are_skipped() {
    let partial = read(&[
        begin(0, &json!({"type": "text", "text": ""})),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I look."}}),
        // Its own search: its input comes as that of a tool does, and is none of ours.
        begin(1, &json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})),
        more(1, "{\"query\":\"x\"}"),
        begin(2, &json!({"type": "tool_use", "id": "a", "name": "read", "input": {}})),
        begin(3, &json!({"type": "tool_use", "id": "b", "name": "list", "input": {}})),
        begin(4, &json!({"type": "a_new_kind", "id": 7_u8.to_string(), "text": "no"})),
        more(2, ""),
        more(2, "{\"path\":"),
        more(3, ""),
        more(2, "\"x\"}"),
        json!({"type": "content_block_stop", "index": 2}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ])
    .unwrap();
    assert_eq!((partial.text.as_str(), &partial.stop), ("I look.", &Some(StopReason::ToolUse)));
    assert_eq!(wishes(partial), [wish("a", "read", r#"{"path":"x"}"#), wish("b", "list", "{}")]);
}

#[test]
fn a_whole_reply_brings_its_input_at_once() {
    let mut partial = Partial::default();
    let content = json!([{"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
        {"type": "tool_use", "id": "a", "name": "list", "input": {}}]);
    let whole = json!({"content": content, "stop_reason": "tool_use"});
    dialect().whole(whole.to_string().as_bytes(), &mut partial).unwrap();
    assert_eq!(wishes(partial), [wish("a", "read", r#"{"path":"x"}"#), wish("call_1", "list", "{}")]);
}

#[test]
fn fragments_without_a_place_belong_to_the_first_block() {
    let partial = read(&[
        json!({"type": "content_block_start", "content_block": {"type": "tool_use", "id": "a", "name": "t"}}),
        json!({"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{\"a\":1}"}}),
    ]);
    assert_eq!(wishes(partial.unwrap()), [wish("a", "t", r#"{"a":1}"#)]);
}

#[test]
fn a_turn_that_is_paused_is_no_wish_for_a_tool() {
    let partial = read(&[json!({"type": "message_delta", "delta": {"stop_reason": "pause_turn"}})]).unwrap();
    assert_eq!(partial.stop, Some(StopReason::Other("pause_turn".into())));
}

const TOOLS: &str = r#"[{"name":"run_command","description":"Runs it.","schema":{"type":"object"}}]"#;

fn body(call: &Call) -> Value {
    serde_json::from_slice(&dialect().body(call, None).unwrap()).unwrap()
}

fn talk() -> Call {
    let call =
        |id: &str, name: &str, args: &str| ToolWish { id: id.into(), name: name.into(), args: args.into() };
    let said = |id: &str, text: &str, ok| ToolSaid { call: id.into(), text: text.into(), ok };
    let image = Picture { media: "image/png".into(), base64: "iVBO".into() };
    let assistant = Spoken {
        calls: vec![call("a", "run_command", r#"{"command":"x"}"#), call("b:1", "no.such", "[1]")],
        ..Spoken::new(Speaker::Assistant, " ")
    };
    let results = Spoken {
        results: vec![said("a", "out", true), said("b:1", "\n", false)],
        images: vec![image],
        ..Spoken::new(Speaker::User, "Go on.")
    };
    let silence = Spoken::new(Speaker::Assistant, "");
    let messages = vec![Spoken::new(Speaker::User, "Do it."), assistant, results, silence];
    Call { tools: Some(TOOLS.into()), ..Call::new("run#1", Role::Worker, messages) }
}

#[test]
fn tools_calls_results_and_pictures_are_sent_as_the_api_has_them_and_nothing_empty() {
    let sent = body(&talk());
    assert_eq!(
        sent["tools"],
        json!([{"name": "run_command", "description": "Runs it.", "input_schema": {"type": "object"}}])
    );
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "user", "content": "Do it."},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "a", "name": "run_command", "input": {"command": "x"}},
                {"type": "tool_use", "id": "b_1", "name": "no_such", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "out"},
                {"type": "tool_result", "tool_use_id": "b_1", "content": "(no output)", "is_error": true},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
                {"type": "text", "text": "Go on."}]},
        ])
    );
}

#[test]
fn words_go_before_the_calls_they_explain() {
    let mut call = talk();
    call.messages[1].text = "I run it.".into();
    assert_eq!(body(&call)["messages"][1]["content"][0], json!({"type": "text", "text": "I run it."}));
}

#[test]
fn who_is_offered_nothing_is_sent_no_tools_at_all() {
    let mut call = Call { role: Role::Critic, tools: None, ..talk() };
    assert!(body(&call).get("tools").is_none());
    call.tools = Some("[]".into());
    assert!(body(&call).get("tools").is_none());
}
