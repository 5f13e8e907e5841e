//! Replies, tools and pictures on the wire of the Messages API.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests may fail loudly

use gadfly_engine::{Role, Speaker, StopReason};
use serde_json::{Value, json};

use super::*;
use crate::agent::{Picture, RawToolCall, RawToolResult, Spoken};

fn dialect() -> Anthropic {
    Anthropic {
        model: "m".into(),
        system: None,
        temperature: None,
        max_tokens: None,
        effort: None,
        thinking: None,
        extra: Extra::default(),
    }
}

fn read_texts(events: &[&str]) -> Result<PartialReply, Broken> {
    let mut partial = PartialReply::default();
    for event in events {
        dialect().event(event.as_bytes(), &mut partial)?;
    }
    Ok(partial)
}

fn read(events: &[Value]) -> Result<PartialReply, Broken> {
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
    assert_eq!(
        partial.usage,
        Usage { input: 5, output: 9, cache_read: 7, cache_write: 2, ..Usage::default() }
    );
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

fn raw_calls(partial: PartialReply) -> Vec<(String, String, String)> {
    partial.raw_calls.finish().into_iter().map(|w| (w.id, w.name, w.args)).collect()
}

fn raw_call(id: &str, name: &str, args: &str) -> (String, String, String) {
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
    assert_eq!(raw_calls(partial), [raw_call("a", "read", r#"{"path":"x"}"#), raw_call("b", "list", "{}")]);
}

#[test]
fn a_whole_reply_brings_its_input_at_once() {
    let mut partial = PartialReply::default();
    let content = json!([{"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
        {"type": "tool_use", "id": "a", "name": "list", "input": {}}]);
    let whole = json!({"content": content, "stop_reason": "tool_use"});
    dialect().whole(whole.to_string().as_bytes(), &mut partial).unwrap();
    assert_eq!(
        raw_calls(partial),
        [raw_call("a", "read", r#"{"path":"x"}"#), raw_call("call_1", "list", "{}")]
    );
}

#[test]
fn fragments_without_a_place_belong_to_the_first_block() {
    let partial = read(&[
        json!({"type": "content_block_start", "content_block": {"type": "tool_use", "id": "a", "name": "t"}}),
        json!({"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{\"a\":1}"}}),
    ]);
    assert_eq!(raw_calls(partial.unwrap()), [raw_call("a", "t", r#"{"a":1}"#)]);
}

#[test]
fn a_turn_that_is_paused_is_no_wish_for_a_tool() {
    let partial = read(&[json!({"type": "message_delta", "delta": {"stop_reason": "pause_turn"}})]).unwrap();
    assert_eq!(partial.stop, Some(StopReason::EndTurn));
}

const TOOLS: &str = r#"[{"name":"run_command","description":"Runs it.","schema":{"type":"object"}}]"#;

fn body(call: &Call) -> Value {
    serde_json::from_slice(&dialect().body(call, None).unwrap()).unwrap()
}

fn talk() -> Call {
    let call = |id: &str, name: &str, args: &str| RawToolCall {
        id: id.into(),
        name: name.into(),
        args: args.into(),
    };
    let said = |id: &str, text: &str, ok| RawToolResult { call: id.into(), text: text.into(), ok };
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
            {"role": "user", "content": [marked("Do it.")]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "a", "name": "run_command", "input": {"command": "x"}},
                {"type": "tool_use", "id": "b_1", "name": "no_such", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "out"},
                {"type": "tool_result", "tool_use_id": "b_1", "content": "(no output)", "is_error": true},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
                marked("Go on.")]},
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
fn effort_and_thinking_are_sent_as_the_api_has_them_and_no_thinking_beside_tools() {
    let thinking =
        Anthropic { effort: Some("low".into()), thinking: Some(2000), temperature: Some(0.5), ..dialect() };
    let call = Call { max_output_tokens: 100, tools: None, ..talk() };
    let schema: &RawValue = serde_json::from_str("{}").unwrap();
    let sent: Value = serde_json::from_slice(&thinking.body(&call, Some(schema)).unwrap()).unwrap();
    assert_eq!(sent["thinking"], json!({"type": "enabled", "budget_tokens": 2000}));
    assert_eq!(
        sent["output_config"],
        json!({"format": {"type": "json_schema", "schema": {}}, "effort": "low"})
    );
    assert_eq!((sent["max_tokens"].as_u64(), sent.get("temperature")), (Some(2100), None));
    let tools: Value =
        serde_json::from_slice(&thinking.body(&Call { max_output_tokens: 100, ..talk() }, None).unwrap())
            .unwrap();
    assert_eq!((tools.get("thinking"), tools["max_tokens"].as_u64()), (None, Some(100)));
    assert_eq!(tools["temperature"], json!(0.5));
}

#[test]
fn who_is_offered_nothing_is_sent_no_tools_at_all() {
    let mut call = Call { role: Role::Critic, tools: None, ..talk() };
    assert!(body(&call).get("tools").is_none());
    call.tools = Some("[]".into());
    assert!(body(&call).get("tools").is_none());
}

/// A brief whose first part, of this many bytes, stays the same.
fn brief(stable: usize) -> Call {
    let text = format!("{}The draft.", "s".repeat(stable));
    Call { stable, ..Call::new("run#1", Role::Critic, vec![Spoken::new(Speaker::User, text)]) }
}

fn marked(text: &str) -> Value {
    json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}})
}

fn marks(sent: &Value) -> usize {
    sent.to_string().matches("cache_control").count()
}

#[test]
fn what_stays_the_same_of_a_brief_is_a_block_of_its_own_and_marked() {
    let rest = json!({"type": "text", "text": "The draft."});
    let expected = json!([{"role": "user", "content": [marked(&"s".repeat(5000)), rest]}]);
    assert_eq!(body(&brief(5000))["messages"], expected);
}

#[test]
fn without_anything_known_to_stay_the_same_a_brief_is_sent_as_it_always_was() {
    let call = Call { stable: 0, ..brief(5000) };
    let sent = String::from_utf8(dialect().body(&call, None).unwrap()).unwrap();
    let text = "s".repeat(5000);
    let max = u64::MAX;
    let expected = format!(
        r#"{{"model":"m","max_tokens":{max},"messages":[{{"role":"user","content":"{text}The draft."}}],"stream":true}}"#
    );
    assert_eq!(sent, expected);
}

#[test]
fn a_question_after_the_same_brief_begins_in_the_same_way() {
    let first = body(&brief(5000));
    let mut call = brief(5000);
    let more = [(Speaker::Assistant, "Hm."), (Speaker::User, "Which?")];
    call.messages.extend(more.map(|(from, text)| Spoken::new(from, text)));
    let sent = body(&call);
    let texts = |sent: &Value, at: usize| sent["messages"][0]["content"][at]["text"].clone();
    assert_eq!([texts(&sent, 0), texts(&sent, 1)], [texts(&first, 0), texts(&first, 1)]);
    assert_eq!(sent["messages"][1], json!({"role": "assistant", "content": "Hm."}));
    assert_eq!(sent["messages"][2]["content"], json!("Which?"));
    assert_eq!(marks(&sent), 1);
}

/// A model that uses tools is sent everything again: what it was told last, and the time before, is where to look for it.
#[test]
fn a_conversation_with_tools_is_kept_up_to_its_end_and_found_by_the_end_of_the_turn_before() {
    let mut call = brief(5000);
    call.tools = Some(TOOLS.into());
    let marked_at = |sent: &Value| -> Vec<usize> {
        let messages = sent["messages"].as_array().unwrap();
        let is_marked = |m: &&Value| {
            m["content"].as_array().is_some_and(|c| c.last().unwrap().get("cache_control").is_some())
        };
        messages.iter().enumerate().filter(|(_, m)| is_marked(m)).map(|(at, _)| at).collect()
    };
    let sent = body(&call);
    assert_eq!((marks(&sent), marked_at(&sent)), (2, vec![0]));
    for turn in 0..3 {
        let raw_call = RawToolCall { id: format!("c{turn}"), name: "run_command".into(), args: "{}".into() };
        let said = Spoken { calls: vec![raw_call], ..Spoken::new(Speaker::Assistant, "I look.") };
        let told = RawToolResult { call: format!("c{turn}"), text: "seen".into(), ok: true };
        call.messages.push(said);
        call.messages.push(Spoken { results: vec![told], ..Spoken::new(Speaker::User, "") });
        let sent = body(&call);
        let last = call.messages.len() - 1;
        assert_eq!(marked_at(&sent), [last - 2, last], "{sent}");
        assert!(marks(&sent) <= 4, "the API takes no more");
    }
}

#[test]
fn too_little_to_be_kept_is_not_marked_and_what_goes_before_it_counts() {
    assert_eq!(
        body(&brief(1000))["messages"][0]["content"],
        json!(format!("{}The draft.", "s".repeat(1000)))
    );
    // System text and tools go before the messages.
    let system = Call { system: Some("y".repeat(2000)), tools: Some("[]".into()), ..brief(2094) };
    assert_eq!(marks(&body(&system)), 1);
    let less = Call { tools: None, ..system };
    assert_eq!(marks(&body(&less)), 0);
    assert_eq!(body(&less)["system"], json!("y".repeat(2000)), "the mark after it covers it");
}

#[test]
fn a_mark_is_never_on_nothing_nor_inside_a_letter() {
    let mut call = brief(5000);
    call.messages[0].text = format!("{}\n", "s".repeat(5000));
    assert_eq!(body(&call)["messages"][0]["content"], json!([marked(&call.messages[0].text)]));
    call.messages[0].text = format!("{}ä and more", "s".repeat(4999));
    assert_eq!(marks(&body(&call)), 0);
    call.stable = usize::MAX;
    assert_eq!(marks(&body(&call)), 0);
    // The first message says nothing and is left out: the next one is not what stays the same.
    call.messages.insert(0, Spoken::new(Speaker::User, " ".repeat(6000)));
    assert_eq!(marks(&body(&Call { stable: 5000, ..call })), 0);
}

#[test]
fn a_whole_reply_says_what_was_kept_and_what_was_read_from_it() {
    let mut partial = PartialReply::default();
    let whole = json!({"content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 50, "cache_creation_input_tokens": 248, "cache_read_input_tokens": 1800,
            "cache_creation": {"ephemeral_5m_input_tokens": 248, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 5, "service_tier": "standard"}});
    dialect().whole(whole.to_string().as_bytes(), &mut partial).unwrap();
    let expected = Usage { input: 50, output: 5, cache_read: 1800, cache_write: 248, ..Usage::default() };
    assert_eq!(partial.usage, expected);
    assert_eq!(partial.usage.tokens(), 2103, "every token is counted once");
    let price = gadfly_engine::Price {
        input: 3000,
        output: 15_000,
        cache_read: 300,
        cache_write: 3750,
        ..gadfly_engine::Price::default()
    };
    assert_eq!(partial.usage.cost_at(Some(&price)).0, 150_000 + 75_000 + 540_000 + 930_000);
}
