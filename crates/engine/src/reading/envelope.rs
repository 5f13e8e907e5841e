//! The envelope of a command line tool or an API, known by its shape: one text that somebody says, and beside it nothing but
//! names, numbers and marks of what the call was and cost. What an envelope calls an error or cut off is no reply: it is empty.

use serde_json::{Map, Value};

/// Longer texts are in no envelope.
const LONGEST: usize = 1 << 20;
const DEEPEST: usize = 12;

/// Keys whose text is the reply.
const SAID: [&str; 12] = [
    "content",
    "text",
    "response",
    "result",
    "output",
    "message",
    "answer",
    "completion",
    "generated_text",
    "output_text",
    "reply",
    "delta",
];
/// Keys of what a call was and cost. One of them makes an envelope.
const ACCOUNTS: [&str; 21] = [
    "stats",
    "usage",
    "session_id",
    "cost",
    "total_cost_usd",
    "duration_ms",
    "model",
    "id",
    "object",
    "created",
    "created_at",
    "choices",
    "candidates",
    "role",
    "type",
    "done",
    "finish_reason",
    "stop_reason",
    "metadata",
    "tokens",
    "error",
];
/// Keys of a report: it is none if it has one.
const REPORTED: [&str; 14] = [
    "verdict",
    "decision",
    "deductions",
    "score",
    "criteria",
    "findings",
    "items",
    "fixes",
    "reason",
    "reasons",
    "issues",
    "scenarios",
    "approved",
    "notes",
];
/// Keys, types and roles of what is no part of the reply.
const UNSAID: [&str; 12] = [
    "reasoning",
    "thinking",
    "thoughts",
    "reasoning_content",
    "signature",
    "prompt",
    "input",
    "instructions",
    "user",
    "system",
    "tool_use",
    "tool_result",
];
/// How a reply that is whole ends.
const ENDED: [&str; 10] = [
    "stop",
    "end_turn",
    "stop_sequence",
    "eos",
    "eos_token",
    "completed",
    "complete",
    "success",
    "succeeded",
    "finish_reason_unspecified",
];

/// The text inside an envelope, none if the reply is in none.
pub(super) fn opened(text: &str) -> Option<String> {
    let trimmed = text.trim();
    if trimmed.len() > LONGEST {
        return None;
    }
    // A report as one JSON text.
    if trimmed.starts_with("\"{") && trimmed.ends_with("}\"") {
        return serde_json::from_str(trimmed).ok();
    }
    let is_stream = trimmed.starts_with("data: {");
    if !(trimmed.starts_with('{') && trimmed.ends_with('}') || is_stream) {
        return None;
    }
    match serde_json::from_str::<Value>(trimmed).ok() {
        Some(whole) => whole.as_object().and_then(inside),
        None => streamed(trimmed),
    }
}

/// A stream of events, one per line: its result, its pieces, or the last message in it.
fn streamed(text: &str) -> Option<String> {
    let lines = text.lines().map(|line| line.trim().trim_start_matches("data: "));
    let lines = lines.filter(|line| !line.is_empty());
    let mut done = false;
    let mut events: Vec<Map<String, Value>> = Vec::new();
    for line in lines {
        done |= line == "[DONE]";
        if line == "[DONE]" || line.starts_with("event: ") {
            continue;
        }
        match serde_json::from_str::<Value>(line).ok()? {
            Value::Object(event) if ACCOUNTS.iter().any(|key| event.contains_key(*key)) => events.push(event),
            _ => return None,
        }
    }
    let last = events.last().filter(|_| events.len() > 1)?;
    let kind = last.get("type").and_then(Value::as_str).unwrap_or_default();
    let failed = events.iter().any(has_failed) || kind.contains("fail") || kind.contains("error");
    let ended = ["complet", "result", "done", "stop", "end"].iter().any(|word| kind.contains(word));
    let ended = done || ended || last.get("done") == Some(&Value::Bool(true)) || has_ended(last);
    let in_pieces = events.iter().any(|event| {
        event.get("done") == Some(&Value::Bool(false))
            || event.get("type").and_then(Value::as_str).is_some_and(|kind| kind.contains("delta"))
            || event.get("choices").is_some_and(|choices| choices[0].get("delta").is_some())
    });
    let said = if in_pieces {
        Some(events.iter().flat_map(|event| Said::of(event).texts).collect::<String>())
    } else {
        events.iter().rev().find_map(|event| {
            let said = Said::of(event).texts;
            (!said.is_empty()).then(|| said.join("\n"))
        })
    };
    said.map(|said| if ended && !failed { said } else { String::new() })
}

fn inside(object: &Map<String, Value>) -> Option<String> {
    let is_verdict = |value: &Value| {
        value.as_str().is_some_and(|value| super::forms::status(&format!("status: {value}")).is_some())
    };
    if REPORTED.iter().any(|key| object.contains_key(*key))
        || object.get("status").is_some_and(is_verdict)
        || !ACCOUNTS.iter().any(|key| object.contains_key(*key))
    {
        return None;
    }
    if has_failed(object) {
        return Some(String::new());
    }
    let mut rest = object.clone();
    rest.retain(|key, _| ![&SAID[..], &ACCOUNTS, &UNSAID].concat().contains(&key.as_str()));
    if super::beside::against(&rest, &[]).is_some() {
        return None;
    }
    let said = Said::of(object);
    (!said.texts.is_empty() && !said.remarks).then(|| said.texts.join("\n"))
}

/// What an object holds.
#[derive(Default)]
struct Said<'v> {
    texts: Vec<&'v str>,
    /// Another text of some words: the object is no mere envelope.
    remarks: bool,
}

impl<'v> Said<'v> {
    fn of(object: &'v Map<String, Value>) -> Self {
        let mut said = Self::default();
        said.object(object, 0);
        said
    }

    fn object(&mut self, object: &'v Map<String, Value>, depth: usize) {
        let is = |key: &str| object.get(key).and_then(Value::as_str).is_some_and(|of| UNSAID.contains(&of));
        if depth > DEEPEST || is("type") || is("role") {
            return;
        }
        for (key, value) in object.iter().filter(|(key, _)| !UNSAID.contains(&key.as_str())) {
            self.value(key, value, depth);
        }
    }

    fn value(&mut self, key: &str, value: &'v Value, depth: usize) {
        match value {
            Value::String(text) if SAID.contains(&key) => self.texts.push(text),
            Value::String(text) => self.remarks |= text.split_whitespace().count() > 3,
            Value::Array(list) => list.iter().for_each(|one| self.value(key, one, depth + 1)),
            Value::Object(inner) => self.object(inner, depth + 1),
            _ => {}
        }
    }
}

/// Does an object, or one inside it, say that the call failed or was cut off?
fn has_failed(object: &Map<String, Value>) -> bool {
    object.iter().any(|(key, value)| {
        let key = key.to_lowercase();
        match value {
            Value::Bool(is) => *is && ["is_error", "truncated", "incomplete"].contains(&key.as_str()),
            Value::String(text) if ends(&key) => {
                !text.is_empty() && !ENDED.contains(&text.to_lowercase().as_str())
            }
            Value::String(text) => {
                key == "error" && !text.is_empty()
                    || ["subtype", "status"].contains(&key.as_str())
                        && ["error", "fail", "incomplete", "cancel"].iter().any(|w| text.contains(w))
            }
            Value::Object(inner) => key == "error" || has_failed(inner),
            Value::Array(list) => {
                key == "errors" && !list.is_empty()
                    || list.iter().any(|one| one.as_object().is_some_and(has_failed))
            }
            _ => false,
        }
    })
}

/// `finish_reason`, `stopReason`, `done_reason`
fn ends(key: &str) -> bool {
    key.ends_with("reason") && ["finish", "stop", "done"].iter().any(|word| key.starts_with(word))
}

fn has_ended(object: &Map<String, Value>) -> bool {
    object.iter().any(|(key, value)| match value {
        Value::String(text) => ends(&key.to_lowercase()) && ENDED.contains(&text.to_lowercase().as_str()),
        Value::Object(inner) => has_ended(inner),
        Value::Array(list) => list.iter().any(|one| one.as_object().is_some_and(has_ended)),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_are_opened_and_what_failed_stays_closed() {
        for (text, inner) in [
            (r#"{"type":"result","is_error":false,"result":"x"}"#, Some("x")),
            (r#"{"type":"result","subtype":"success","result":"x"}"#, Some("x")),
            (r#"{"type":"result","subtype":"error_max_turns","errors":[]}"#, Some("")),
            (r#"{"type":"result","is_error":true,"result":"x"}"#, Some("")),
            (r#"{"session_id":"a","response":"x","stats":{"totalErrors":0}}"#, Some("x")),
            (r#"{"session_id":"a","response":"x","error":{"code":1}}"#, Some("")),
            (r#""{\"verdict\": \"passed\"}""#, Some(r#"{"verdict": "passed"}"#)),
            (
                "{\"type\":\"a\"}\n{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"x\"}}\n{\"type\":\"turn.completed\"}",
                Some("x"),
            ),
            (
                "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"x\"}}\n{\"type\":\"turn.failed\"}",
                Some(""),
            ),
            (r#"{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}"#, Some("x")),
            (r#"{"choices":[{"message":{"content":"x"},"finish_reason":"length"}]}"#, Some("")),
            (r#"{"role":"assistant","content":[{"type":"text","text":"x"}]}"#, Some("x")),
            (
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"y z"},{"type":"text","text":"x"}]}"#,
                Some("x"),
            ),
            (
                r#"{"model":"m","message":{"role":"assistant","content":"x"},"done":true,"done_reason":"stop"}"#,
                Some("x"),
            ),
            (
                r#"{"model":"m","message":{"role":"assistant","content":"x"},"done":true,"done_reason":"length"}"#,
                Some(""),
            ),
            (
                r#"{"candidates":[{"content":{"parts":[{"text":"x"}],"role":"model"},"finishReason":"STOP"}],"modelVersion":"g"}"#,
                Some("x"),
            ),
            (
                "{\"model\":\"m\",\"response\":\"x\",\"done\":false}\n{\"model\":\"m\",\"response\":\"y\",\"done\":true}",
                Some("xy"),
            ),
            (
                "{\"model\":\"m\",\"response\":\"x\",\"done\":false}\n{\"model\":\"m\",\"response\":\"y\",\"done\":false}",
                Some(""),
            ),
            (
                "data: {\"id\":\"1\",\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: {\"id\":\"1\",\"choices\":[{\"delta\":{\"content\":\"y\"}}]}\n\ndata: [DONE]",
                Some("xy"),
            ),
            ("{\"type\":\"system\"}\n{\"type\":\"result\",\"result\":\"x\"}", Some("x")),
            (r#"{"verdict":"approved"}"#, None),
            (r#"{"id":"a","response":"x","remark":"the size is not stated"}"#, None),
            (r#"{"id":"a","response":"x","sample_size":"not stated"}"#, None),
            (r#"{"id":"a","response":"x","criteria_met":false}"#, None),
            (r#"{"id":"a","status":"approved","text":"x"}"#, None),
        ] {
            assert_eq!(opened(text).as_deref(), inner, "{text}");
        }
    }
}
