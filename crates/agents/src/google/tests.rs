//! Replies, tools and pictures on the wire of the Gemini API.

#![allow(clippy::unwrap_used)] // tests may fail loudly

use gadfly_engine::{Role, Speaker};
use serde_json::{Value, json};

use super::*;
use crate::agent::{Picture, RawToolCall, RawToolResult, Spoken};

fn dialect(model: &str) -> Google {
    Google {
        model: model.into(),
        system: None,
        temperature: None,
        max_tokens: None,
        effort: None,
        thinking: Some(50),
        extra: Extra::default(),
    }
}

fn read(events: &[Value]) -> Result<PartialReply, Broken> {
    let mut partial = PartialReply::default();
    for event in events {
        dialect("m").event(event.to_string().as_bytes(), &mut partial)?;
    }
    Ok(partial)
}

fn talk() -> Call {
    let raw_call = RawToolCall { id: "call_1".into(), name: "run".into(), args: r#"{"a":1}"#.into() };
    let said = RawToolResult { call: "call_1".into(), text: "out".into(), ok: false };
    let image = Picture { media: "image/png".into(), base64: "iVBO".into() };
    let messages = vec![
        Spoken { images: vec![image], ..Spoken::new(Speaker::User, "Look.") },
        Spoken { calls: vec![raw_call], ..Spoken::new(Speaker::Assistant, "") },
        Spoken { results: vec![said], ..Spoken::new(Speaker::User, "") },
        Spoken::new(Speaker::Assistant, " "),
    ];
    let tools = r#"[{"name":"run","description":"d","schema":{"type":"object"}}]"#;
    Call {
        tools: Some(tools.into()),
        system: Some("s".into()),
        max_output_tokens: 7,
        ..Call::new("run#1", Role::Worker, messages)
    }
}

#[test]
fn a_conversation_is_sent_as_the_api_has_it() {
    let schema: &RawValue = serde_json::from_str("{}").unwrap();
    let sent: Value =
        serde_json::from_slice(&dialect("gemini-2.5-pro").body(&talk(), Some(schema)).unwrap()).unwrap();
    assert_eq!(
        sent,
        json!({"contents": [
            {"role": "user", "parts": [{"text": "Look."},
                {"inlineData": {"mimeType": "image/png", "data": "iVBO"}}]},
            {"role": "model", "parts": [{"functionCall": {"name": "run", "args": {"a": 1}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "run", "response": {"error": "out"}}}]}],
        "systemInstruction": {"parts": [{"text": "s"}]},
        "generationConfig": {"maxOutputTokens": 57, "responseMimeType": "application/json",
            "responseJsonSchema": {}, "thinkingConfig": {"thinkingBudget": 50}},
        "tools": [{"functionDeclarations": [{"name": "run", "description": "d",
            "parametersJsonSchema": {"type": "object"}}]}]})
    );
}

#[test]
fn models_that_sign_their_calls_are_told_that_the_signature_was_not_kept() {
    for (model, is_signed) in
        [("gemini-3.1-pro-preview", true), ("gemini-4-argon", true), ("gemini-2.5-pro", false)]
    {
        let sent: Value = serde_json::from_slice(&dialect(model).body(&talk(), None).unwrap()).unwrap();
        let signature = &sent["contents"][1]["parts"][0]["thoughtSignature"];
        assert_eq!(signature == "skip_thought_signature_validator", is_signed, "{model}");
    }
}

#[test]
fn thoughts_are_no_part_of_the_reply_and_are_paid_for() {
    let parts = |parts: Value| json!({"candidates": [{"content": {"parts": parts}}], "modelVersion": "m-1"});
    let mut last = parts(json!([{"text": "."}]));
    last["candidates"][0]["finishReason"] = json!("STOP");
    last["usageMetadata"] = json!({"promptTokenCount": 10, "cachedContentTokenCount": 4, "candidatesTokenCount": 3,
        "thoughtsTokenCount": 20, "totalTokenCount": 35});
    let begun = json!({"usageMetadata": {"promptTokenCount": 10, "totalTokenCount": 10}});
    let partial =
        read(&[begun, parts(json!([{"text": "Hm.", "thought": true}, {"text": "Yes"}])), last]).unwrap();
    assert_eq!((partial.text.as_str(), partial.model.as_deref()), ("Yes.", Some("m-1")));
    assert_eq!(partial.usage, Usage { input: 6, cache_read: 4, output: 25, ..Usage::default() });
    assert_eq!(partial.stop, Some(StopReason::EndTurn));
}

#[test]
fn calls_are_whole_and_each_has_its_place() {
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {"a": 1}}});
    let parts = json!([call("run"), call("run"), {"functionCall": {"name": "list"}}]);
    let partial =
        read(&[json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]})]).unwrap();
    let raw_calls: Vec<(String, String)> =
        partial.raw_calls.finish().into_iter().map(|w| (w.name, w.args)).collect();
    let raw_call = |name: &str, args: &str| (name.to_owned(), args.to_owned());
    assert_eq!(
        raw_calls,
        [raw_call("run", "{\"a\":1}"), raw_call("run", "{\"a\":1}"), raw_call("list", "{}")]
    );
}

#[test]
fn a_list_of_chunks_a_blocked_brief_and_an_error_are_read() {
    let mut partial = PartialReply::default();
    let list = json!([{"candidates": [{"content": {"parts": [{"text": "a"}]}}]},
        {"candidates": [{"content": {"parts": [{"text": "b"}]}, "finishReason": "MAX_TOKENS"}]}]);
    dialect("m").whole(list.to_string().as_bytes(), &mut partial).unwrap();
    assert_eq!((partial.text.as_str(), partial.stop), ("ab", Some(StopReason::Length)));
    let blocked = read(&[json!({"promptFeedback": {"blockReason": "SAFETY"}})]).unwrap();
    assert_eq!(blocked.stop, Some(StopReason::Refusal));
    let broken =
        read(&[json!({"error": {"code": 503, "message": "m", "status": "UNAVAILABLE"}})]).err().unwrap();
    assert!(matches!(broken, Broken::Said(said) if said.status == Some(503)));
}
