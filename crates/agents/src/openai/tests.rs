//! Replies, tools and pictures on the wire of chat completions.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests may fail loudly

use gadfly_engine::{Role, Speaker};
use serde_json::{Value, json};

use super::*;
use crate::agent::{Picture, RawToolCall, RawToolResult, Spoken};

fn dialect() -> OpenAi {
    OpenAi {
        model: "m".into(),
        system: None,
        temperature: Some(0.0),
        max_tokens: None,
        length: LengthField::MaxTokens,
        cache_key: false,
        effort: None,
        extra: Extra::default(),
        without: AtomicU8::new(0),
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
fn reasoning_is_not_part_of_the_reply() {
    let partial = read_texts(&[
        r#"{"model":"m-1","choices":[{"delta":{"role":"assistant","reasoning_content":"hm"}}]}"#,
        r#"{"choices":[{"delta":{"content":"a\nb"},"finish_reason":"stop"}],"usage":null}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}"#,
        "[DONE]",
    ])
    .unwrap();
    assert_eq!((partial.text.as_str(), partial.model.as_deref()), ("a\nb", Some("m-1")));
    assert_eq!(partial.stop, Some(StopReason::EndTurn));
    assert_eq!(partial.usage, Usage { input: 6, output: 3, cache_read: 4, ..Usage::default() });
    assert!(partial.done);
}

#[test]
fn a_stated_refusal_stays_one_although_the_finish_says_stop() {
    let partial =
        read_texts(&[r#"{"choices":[{"delta":{"refusal":"No."},"finish_reason":"stop"}]}"#]).unwrap();
    assert_eq!(partial.stop, Some(StopReason::Refusal));
}

#[test]
fn an_error_inside_the_stream_is_one() {
    let broken = read_texts(&[r#"{"error":{"type":"server_error","message":"m"}}"#]).err().unwrap();
    assert!(matches!(broken, Broken::Said(said) if said.kind == "server_error"));
}

#[test]
fn parameters_that_were_turned_down_are_not_sent_again() {
    let d = dialect();
    let call = Call {
        system: Some("s".into()),
        max_output_tokens: 7,
        ..Call::new(String::new(), gadfly_engine::Role::Worker, vec![Spoken::new(Speaker::User, "t\"")])
    };
    let sent = || String::from_utf8(d.body(&call, None).unwrap()).unwrap();
    assert_eq!(
        sent(),
        r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"t\""}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":7,"temperature":0.0}"#
    );
    assert!(d.adapt("max_tokens") && d.adapt("temperature") && d.adapt("stream_options"));
    assert!(sent().ends_with(r#""stream":true,"max_completion_tokens":7}"#));
    assert!(!d.adapt("messages"));
    let schema: &RawValue = serde_json::from_str(r#"{"type": "object"}"#).unwrap();
    let held = String::from_utf8(d.body(&call, Some(schema)).unwrap()).unwrap();
    let format = r#""response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type": "object"}}}}"#;
    assert!(held.ends_with(format), "{held}");
}

fn delta(calls: &Value) -> Value {
    json!({"choices": [{"delta": {"tool_calls": calls}}]})
}

fn raw_calls(events: &[Value]) -> Vec<(String, String, String)> {
    read(events).unwrap().raw_calls.finish().into_iter().map(|w| (w.id, w.name, w.args)).collect()
}

fn raw_call(id: &str, name: &str, args: &str) -> (String, String, String) {
    (id.into(), name.into(), args.into())
}

#[test]
fn calls_are_put_together_from_their_fragments() {
    let events = [
        json!({"choices": [{"delta": {"role": "assistant", "content": "I look."}}]}),
        delta(
            &json!([{"index": 0, "id": "a", "type": "function", "function": {"name": "read", "arguments": ""}}]),
        ),
        delta(&json!([{"index": 0, "function": {"arguments": "{\"path\":"}}])),
        delta(&json!([{"index": 1, "id": "b", "function": {"name": "list", "arguments": "{\"p\""}}])),
        delta(
            &json!([{"index": 0, "function": {"arguments": "\"x\"}"}}, {"index": 1, "function": {"arguments": ":1}"}}]),
        ),
        json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
    ];
    assert_eq!(
        raw_calls(&events),
        [raw_call("a", "read", r#"{"path":"x"}"#), raw_call("b", "list", r#"{"p":1}"#)]
    );
    let partial = read(&events).unwrap();
    assert_eq!((partial.text.as_str(), partial.stop), ("I look.", Some(StopReason::ToolUse)));
}

#[test]
fn fragments_of_careless_servers_are_read_all_the_same() {
    // Neither place nor id; the name again with every piece.
    let pieces = |args: &str| delta(&json!([{"function": {"name": "read", "arguments": args}}]));
    assert_eq!(raw_calls(&[pieces("{\"a\""), pieces(":1}")]), [raw_call("call_1", "read", r#"{"a":1}"#)]);
    // The same place for every call, and nothing where a tool takes nothing.
    let same =
        |id: &str| delta(&json!([{"index": 0, "id": id, "function": {"name": "list", "arguments": null}}]));
    assert_eq!(
        raw_calls(&[same("a"), same("b")]),
        [raw_call("a", "list", "{}"), raw_call("b", "list", "{}")]
    );
    // An id twice.
    let twice = json!([{"index": 0, "id": "a", "function": {"name": "x"}}, {"index": 1, "id": "a", "function": {"name": "y"}}]);
    assert_eq!(raw_calls(&[delta(&twice)]), [raw_call("a", "x", "{}"), raw_call("call_1", "y", "{}")]);
    // Nothing at all in it.
    assert_eq!(raw_calls(&[delta(&json!([{}])), delta(&Value::Null)]), [raw_call("call_1", "", "{}")]);
}

#[test]
fn whole_calls_have_their_place_in_the_list_and_may_bring_an_object() {
    let call = |args: Value| json!({"type": "function", "function": {"name": "run", "arguments": args}});
    let calls = json!([call(json!("{\"command\": \"a\"}")), call(json!({"command": "b"}))]);
    let whole =
        json!({"choices": [{"message": {"content": null, "tool_calls": calls}, "finish_reason": "stop"}]});
    let expected =
        [raw_call("call_1", "run", r#"{"command": "a"}"#), raw_call("call_2", "run", r#"{"command":"b"}"#)];
    assert_eq!(raw_calls(&[whole]), expected);
}

#[test]
fn a_reply_that_calls_without_end_is_stopped() {
    let many: Vec<Value> =
        (0..65).map(|i| delta(&json!([{"index": i, "function": {"name": "t"}}]))).collect();
    assert!(read(&many[..64]).is_ok());
    assert!(matches!(read(&many), Err(Broken::Malformed(why)) if why.contains("more than 64 tools")));
}

const TOOLS: &str =
    r#"[{"name":"run_command","description":"Runs \"it\".","schema":{"type":"object","z":1,"a":2}}]"#;

fn body(call: &Call) -> Value {
    serde_json::from_slice(&dialect().body(call, None).unwrap()).unwrap()
}

fn talk() -> Call {
    let call =
        |id: &str, args: &str| RawToolCall { id: id.into(), name: "run_command".into(), args: args.into() };
    let said = |id: &str, ok| RawToolResult { call: id.into(), text: format!("out of {id}"), ok };
    let image = Picture { media: "image/png".into(), base64: "iVBO".into() };
    let assistant = Spoken {
        calls: vec![call("a", r#"{"command":"x"}"#), call("b", "not JSON")],
        ..Spoken::new(Speaker::Assistant, "")
    };
    let results =
        Spoken { results: vec![said("a", true), said("b", false)], ..Spoken::new(Speaker::User, "") };
    let shown = Spoken { images: vec![image], ..Spoken::new(Speaker::User, "Look.") };
    let messages = vec![Spoken::new(Speaker::User, "Do it."), assistant, results, shown];
    Call { tools: Some(TOOLS.into()), ..Call::new("run#1", Role::Worker, messages) }
}

#[test]
fn tools_calls_results_and_pictures_are_sent_as_the_api_has_them() {
    let call = |id: &str, args: &str| json!({"id": id, "type": "function", "function": {"name": "run_command", "arguments": args}});
    let sent = body(&talk());
    assert_eq!(
        sent["tools"],
        json!([{"type": "function", "function": {"name": "run_command", "description": "Runs \"it\".",
            "parameters": {"type": "object", "z": 1, "a": 2}}}])
    );
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "user", "content": "Do it."},
            {"role": "assistant", "content": null, "tool_calls": [call("a", r#"{"command":"x"}"#), call("b", "{}")]},
            {"role": "tool", "tool_call_id": "a", "content": "out of a"},
            {"role": "tool", "tool_call_id": "b", "content": "out of b"},
            {"role": "user", "content": [{"type": "text", "text": "Look."},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}]},
        ])
    );
}

#[test]
fn who_is_offered_nothing_is_sent_no_tools_at_all() {
    let mut call = Call { role: Role::Critic, tools: None, ..talk() };
    assert!(body(&call).get("tools").is_none());
    call.tools = Some("[]".into());
    assert!(body(&call).get("tools").is_none(), "the API refuses an empty list");
    call.tools = Some("[{]".into());
    assert!(dialect().body(&call, None).is_err());
}

#[test]
fn a_whole_reply_says_what_was_read_from_a_cache_and_its_prompt_counts_it_too() {
    let usage = |details: Value| {
        json!({"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 2006, "completion_tokens": 300, "total_tokens": 2306,
            "prompt_tokens_details": details}})
    };
    let read = |details: Value| {
        let mut partial = PartialReply::default();
        dialect().whole(usage(details).to_string().as_bytes(), &mut partial).unwrap();
        partial.usage
    };
    let cached = read(json!({"cached_tokens": 1920, "audio_tokens": 0}));
    assert_eq!(cached, Usage { input: 86, output: 300, cache_read: 1920, ..Usage::default() });
    assert_eq!(cached.tokens(), 2306);
    assert_eq!(read(Value::Null), Usage { input: 2006, output: 300, ..Usage::default() });
    assert_eq!(read(json!({"cached_tokens": 9999})).tokens(), 2306, "never more than there were");
}

#[test]
fn calls_that_begin_in_the_same_way_have_one_key_where_a_server_takes_it() {
    let call = |stable: usize, draft: &str| Call {
        stable,
        ..Call::new("run#1", Role::Critic, vec![Spoken::new(Speaker::User, format!("The rubric. {draft}"))])
    };
    let takes = OpenAi { cache_key: true, ..dialect() };
    let key = |d: &OpenAi, call: &Call| {
        let sent: Value = serde_json::from_slice(&d.body(call, None).unwrap()).unwrap();
        sent.get("prompt_cache_key").and_then(Value::as_str).map(str::to_owned)
    };
    let one = key(&takes, &call(12, "one")).unwrap();
    assert_eq!(one.len(), KEY_CHARS);
    assert_eq!(key(&takes, &call(12, "another")), Some(one.clone()));
    assert_ne!(key(&takes, &call(5, "one")), Some(one));
    assert_eq!(key(&takes, &call(0, "one")), None);
    assert_eq!(key(&takes, &call(999, "one")), None);
    assert_eq!(key(&dialect(), &call(12, "one")), None, "others may refuse it");
    assert!(takes.adapt("prompt_cache_key"));
    assert_eq!(key(&takes, &call(12, "one")), None);
}
