//! Replies, tools and pictures on the wire of the Responses API.

#![allow(clippy::unwrap_used)] // tests may fail loudly

use gadfly_engine::{Role, Speaker, Usage};
use serde_json::{Value, json};

use super::*;
use crate::agent::{Picture, RawToolCall, RawToolResult, Spoken};

fn dialect() -> Responses {
    Responses {
        model: "m".into(),
        system: None,
        temperature: None,
        max_tokens: None,
        cache_key: false,
        effort: Some("low".into()),
        extra: Extra::default(),
        without: AtomicU8::new(0),
    }
}

fn read(events: &[Value]) -> Result<PartialReply, Broken> {
    let mut partial = PartialReply::default();
    for event in events {
        dialect().event(event.to_string().as_bytes(), &mut partial)?;
    }
    Ok(partial)
}

#[test]
fn a_conversation_is_sent_as_items_without_ids_and_nothing_is_kept() {
    let raw_call = RawToolCall { id: "call_1".into(), name: "no.such".into(), args: "[1]".into() };
    let said = RawToolResult { call: "call_1".into(), text: "out".into(), ok: false };
    let image = Picture { media: "image/png".into(), base64: "iVBO".into() };
    let messages = vec![
        Spoken { images: vec![image], ..Spoken::new(Speaker::User, "Look.") },
        Spoken { calls: vec![raw_call], ..Spoken::new(Speaker::Assistant, "I run it.") },
        Spoken { results: vec![said], ..Spoken::new(Speaker::User, "") },
    ];
    let tools = r#"[{"name":"t","description":"d","schema":{"type":"object"}}]"#;
    let call = Call {
        tools: Some(tools.into()),
        system: Some("s".into()),
        max_output_tokens: 7,
        ..Call::new("run#1", Role::Worker, messages)
    };
    let schema: &RawValue = serde_json::from_str("{}").unwrap();
    let sent: Value = serde_json::from_slice(&dialect().body(&call, Some(schema)).unwrap()).unwrap();
    assert_eq!(
        sent,
        json!({"model": "m", "instructions": "s", "stream": true, "store": false, "max_output_tokens": 16,
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."},
                    {"type": "input_image", "image_url": "data:image/png;base64,iVBO"}]},
                {"type": "message", "role": "assistant", "content": "I run it."},
                {"type": "function_call", "call_id": "call_1", "name": "no_such", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "call_1", "output": "out"}],
            "text": {"format": {"type": "json_schema", "name": "answer", "strict": true, "schema": {}}},
            "reasoning": {"effort": "low"},
            "tools": [{"type": "function", "name": "t", "description": "d", "parameters": {"type": "object"},
                "strict": false}]})
    );
}

#[test]
fn calls_in_pieces_and_whole_are_the_same() {
    let item = |arguments: &str| json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "t", "arguments": arguments});
    let pieces = read(&[
        json!({"type": "response.output_item.added", "output_index": 1, "item": item("")}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{\"a\":"}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "1}"}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": item("{\"a\":1}")}),
        json!({"type": "response.completed", "response": {"status": "completed", "output": [
            {"type": "reasoning"}, item("{\"a\":1}")]}}),
    ])
    .unwrap();
    let expected = RawToolCall { id: "call_1".into(), name: "t".into(), args: "{\"a\":1}".into() };
    assert!(pieces.done);
    assert_eq!(pieces.raw_calls.finish(), std::slice::from_ref(&expected));
    let mut whole = PartialReply::default();
    let body = json!({"status": "completed", "output": [item("{\"a\":1}")], "usage": {"input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 3, "total_tokens": 12}});
    dialect().whole(body.to_string().as_bytes(), &mut whole).unwrap();
    assert_eq!(whole.usage, Usage { input: 5, output: 3, cache_read: 4, ..Usage::default() });
    assert_eq!(whole.raw_calls.finish(), [expected]);
}

#[test]
fn text_is_not_said_twice_and_not_lost_where_no_pieces_came() {
    let end = json!({"type": "response.completed", "response": {"status": "completed", "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "Yes."}]}]}});
    let delta = json!({"type": "response.output_text.delta", "delta": "Yes."});
    assert_eq!(read(&[delta, end.clone()]).unwrap().text, "Yes.");
    assert_eq!(read(&[end]).unwrap().text, "Yes.");
}

#[test]
fn what_is_cut_filtered_refused_or_failed_is_so() {
    let stop = |reason: &str| {
        let details = json!({"reason": reason});
        let response = json!({"status": "incomplete", "incomplete_details": details});
        read(&[json!({"type": "response.incomplete", "response": response})]).unwrap().stop
    };
    assert_eq!(stop("max_output_tokens"), Some(StopReason::Length));
    assert_eq!(stop("content_filter"), Some(StopReason::Refusal));
    let refused = read(&[
        json!({"type": "response.refusal.delta", "delta": "No."}),
        json!({"type": "response.completed", "response": {"status": "completed"}}),
    ])
    .unwrap();
    assert_eq!((refused.text.as_str(), refused.stop), ("No.", Some(StopReason::Refusal)));
    for failed in [
        json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error", "message": "m"}}}),
        json!({"type": "error", "code": "server_error", "message": "m"}),
        json!({"error": {"code": "server_error", "message": "m"}}),
    ] {
        let broken = read(std::slice::from_ref(&failed)).err().unwrap();
        assert!(matches!(broken, Broken::Said(said) if said.message == "m"), "{failed}");
    }
}
