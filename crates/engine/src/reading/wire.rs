//! What a reply came wrapped in. The envelope of a command line tool or of an API is opened, and what is inside is the reply. A
//! reply in YAML, in XML or of one JSON object per line is written anew as one JSON report.

use serde_json::{Map, Value, json};

use super::{lines, markup};

/// Deeper YAML is not read.
const DEEPEST: usize = 12;
/// Longer texts are in no such form.
const LONGEST: usize = 1 << 20;

/// The text inside an envelope, none if the reply is in none. What an envelope calls an error or cut off is no reply: it is
/// empty.
pub(super) fn opened(text: &str) -> Option<String> {
    let trimmed = text.trim();
    if trimmed.len() > LONGEST {
        return None;
    }
    // A report as one JSON text.
    if trimmed.starts_with("\"{") && trimmed.ends_with("}\"") {
        return serde_json::from_str(trimmed).ok();
    }
    if !trimmed.starts_with('{') || !trimmed.ends_with('}') {
        return None;
    }
    let whole = serde_json::from_str::<Value>(trimmed).ok();
    whole.as_ref().and_then(Value::as_object).and_then(inside).or_else(|| streamed(trimmed))
}

/// A stream of events, one per line: its result, or the last message in it.
fn streamed(text: &str) -> Option<String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let events: Option<Vec<Value>> = lines
        .map(|line| {
            let event = serde_json::from_str::<Value>(line).ok()?;
            event.get("type")?.is_string().then_some(event)
        })
        .collect();
    let events = events.filter(|events| events.len() > 1)?;
    let last = events.last()?;
    if let Some(result) = last.as_object().and_then(inside) {
        return Some(result);
    }
    let is = |event: &Value, kinds: &[&str]| {
        event.get("type").and_then(Value::as_str).is_some_and(|kind| kinds.contains(&kind))
    };
    let item = |event: &Value| {
        let item = event.get("item").filter(|item| is(item, &["agent_message", "message"]))?;
        item.get("text")?.as_str().map(str::to_owned)
    };
    let ended = is(last, &["turn.completed", "item.completed", "response.completed"]);
    let said = events.iter().rev().find_map(item);
    said.map(|said| if ended { said } else { String::new() })
}

fn inside(object: &Map<String, Value>) -> Option<String> {
    let says = |key: &str, values: &[&str]| {
        object.get(key).and_then(Value::as_str).is_some_and(|value| values.contains(&value))
    };
    let list = |key: &str| object.get(key).and_then(Value::as_array);
    let text = |ended: bool, said: Option<String>| Some(said.filter(|_| ended).unwrap_or_default());
    if says("type", &["result"]) && (object.contains_key("subtype") || object.contains_key("result")) {
        let failed = object.get("is_error").and_then(Value::as_bool) == Some(true);
        let whole = !failed && (says("subtype", &["success"]) || !object.contains_key("subtype"));
        return text(whole, object.get("result").and_then(Value::as_str).map(str::to_owned));
    }
    if let Some([choice]) = list("choices").map(Vec::as_slice) {
        let ended = choice.get("finish_reason").is_none_or(|why| why.is_null() || why == "stop");
        let said = choice.get("message")?.get("content")?.as_str();
        return text(ended, said.map(str::to_owned));
    }
    if let Some([candidate]) = list("candidates").map(Vec::as_slice) {
        let ended = candidate.get("finishReason").is_none_or(|why| why == "STOP");
        return text(
            ended,
            candidate.get("content")?.get("parts")?.as_array().and_then(|parts| texts(parts)),
        );
    }
    if says("role", &["assistant"]) && list("content").is_some() {
        let ended = object
            .get("stop_reason")
            .is_none_or(|why| why.is_null() || why == "end_turn" || why == "stop_sequence");
        return text(ended, texts(list("content")?));
    }
    // One field with the reply, and beside it what the call cost.
    let accounts = ["stats", "usage", "session_id", "cost", "duration_ms", "model"];
    if accounts.iter().filter(|key| object.contains_key(**key)).count() >= 1
        && !object.contains_key("verdict")
    {
        let said = object.get("response").and_then(Value::as_str).map(str::to_owned)?;
        let failed = object.get("error").is_some_and(|error| !error.is_null());
        return text(!failed, Some(said));
    }
    None
}

fn texts(parts: &[Value]) -> Option<String> {
    let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// A reply in another form, as one JSON report.
pub(super) struct Rewritten {
    pub json: String,
    /// What it counts or states is its own, so that a lost line would show. Otherwise it can only reject.
    pub is_whole: bool,
}

/// A reply in YAML, in XML or of one object per line, as one JSON report.
pub(super) fn as_json(text: &str) -> Option<Rewritten> {
    if text.len() > LONGEST {
        return None;
    }
    let body = lines::unwrapped(text).trim();
    let (value, is_whole) = match body.as_bytes().first()? {
        b'{' => (per_line(body)?, false),
        b'<' => (markup::xml(body)?, true),
        _ => (yaml(body)?, true),
    };
    // Deductions whose number nobody states may have lost one.
    let is_whole = is_whole
        && (value.get("deductions").is_none()
            || value.get("count").is_some()
            || value.get("score").is_some());
    Some(Rewritten { json: value.to_string(), is_whole })
}

impl Rewritten {
    /// What is read of a reply that may have been written anew. One that is only another form of JSON is read as that, and as
    /// nothing else unless it rejects: what its words say may be half of it.
    pub fn or<T, E>(
        rewritten: Option<Self>,
        read_json: impl FnOnce(&str) -> Result<T, E>,
        passes: impl Fn(&T) -> bool,
        read_words: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(rewritten) = rewritten else { return read_words() };
        match read_json(&rewritten.json) {
            Ok(read) if rewritten.is_whole || !passes(&read) => Ok(read),
            refused => match (read_words(), refused) {
                (Ok(read), Err(refused)) if passes(&read) && rewritten.is_whole => Err(refused),
                (read, _) => read,
            },
        }
    }
}

/// One deduction per line, and perhaps the total on one of its own.
fn per_line(body: &str) -> Option<Value> {
    let (mut rows, mut report) = (Vec::new(), Map::new());
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        let row = serde_json::from_str::<Value>(line.trim().trim_end_matches(',')).ok()?;
        if row.get("row").is_some_and(Value::is_string) {
            rows.push(row);
        } else {
            report.extend(
                row.as_object().filter(|row| row.contains_key("score") || row.contains_key("count"))?.clone(),
            );
        }
    }
    report.entry("count").or_insert_with(|| json!(rows.len()));
    (rows.len() > 1).then(|| {
        report.insert("deductions".into(), Value::Array(rows));
        Value::Object(report)
    })
}

struct Row<'t> {
    indent: usize,
    text: &'t str,
}

/// Plain YAML: mappings, sequences, scalars; nothing else. At least two keys, so that a sentence with a colon is none.
fn yaml(body: &str) -> Option<Value> {
    let mut rows: Vec<Row<'_>> = body
        .lines()
        .filter(|line| !line.trim().is_empty() && line.trim() != "---" && !line.trim_start().starts_with('#'))
        .map(|line| Row { indent: line.len() - line.trim_start().len(), text: line.trim() })
        .collect();
    let mut at = 0;
    let value = block(&mut rows, &mut at, 0, 0)?;
    let object = value.as_object()?;
    (at == rows.len() && object.len() >= 2 && object.values().any(Value::is_array)).then_some(value)
}

fn block(rows: &mut [Row<'_>], at: &mut usize, indent: usize, depth: usize) -> Option<Value> {
    if depth > DEEPEST {
        return None;
    }
    if is_entry(rows.get(*at)?.text) {
        let mut list = Vec::new();
        while let Some(row) = rows.get_mut(*at).filter(|row| row.indent == indent && is_entry(row.text)) {
            let rest = row.text.trim_start_matches('-');
            let inner = indent + row.text.len() - rest.trim_start().len();
            let rest = rest.trim_start();
            if rest.is_empty() {
                *at += 1;
                let indent = rows.get(*at)?.indent;
                list.push(block(rows, at, indent, depth + 1)?);
            } else if pair(rest).is_some() {
                (row.indent, row.text) = (inner, rest);
                list.push(block(rows, at, inner, depth + 1)?);
            } else {
                list.push(scalar(rest));
                *at += 1;
            }
        }
        return Some(Value::Array(list));
    }
    let mut object = Map::new();
    while let Some(row) = rows.get(*at).filter(|row| row.indent == indent && !is_entry(row.text)) {
        let (key, rest) = pair(row.text)?;
        let key = key.to_owned();
        *at += 1;
        let value = if rest.is_empty() {
            match rows.get(*at) {
                Some(next) if next.indent > indent || next.indent == indent && is_entry(next.text) => {
                    let next = next.indent;
                    block(rows, at, next, depth + 1)?
                }
                _ => Value::Null,
            }
        } else if ["|", ">", "|-", ">-"].contains(&rest) {
            let from = *at;
            while rows.get(*at).is_some_and(|row| row.indent > indent) {
                *at += 1;
            }
            Value::String(rows[from..*at].iter().map(|row| row.text).collect::<Vec<_>>().join("\n"))
        } else {
            scalar(rest)
        };
        // A key that stands twice: the line between them is lost.
        if object.insert(key, value).is_some() {
            return None;
        }
    }
    (!object.is_empty()).then_some(Value::Object(object))
}

fn is_entry(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// `key: value`, where the key is one word.
fn pair(text: &str) -> Option<(&str, &str)> {
    let (key, rest) = text.split_once(':')?;
    let key = key.trim_matches(['"', '\'']);
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    (plain && (rest.is_empty() || rest.starts_with(' '))).then(|| (key, rest.trim()))
}

fn scalar(text: &str) -> Value {
    match text {
        "null" | "~" => return Value::Null,
        "[]" => return json!([]),
        "{}" => return json!({}),
        _ => {}
    }
    let quoted = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    match quoted {
        Some(inner) => Value::String(inner.replace("''", "'")),
        None => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
    }
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
            (r#"{"session_id":"a","response":"x","stats":{}}"#, Some("x")),
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
            ("{\"type\":\"system\"}\n{\"type\":\"result\",\"result\":\"x\"}", Some("x")),
            (r#"{"verdict":"approved"}"#, None),
        ] {
            assert_eq!(opened(text).as_deref(), inner, "{text}");
        }
    }

    #[test]
    fn plain_yaml_is_read_and_sentences_are_not() {
        let text =
            "verdict: rejected\nitems:\n  - what: 'a \"b\"'\n    fix: c\n  - what: d\nnotes: []\nscore: null";
        let expected = json!({"verdict": "rejected", "items": [{"what": "a \"b\"", "fix": "c"}, {"what": "d"}],
            "notes": [], "score": null});
        assert_eq!(yaml(text), Some(expected));
        for text in ["Verdict: fine, I think.\nIt is good.", "status: approved", "- a\n- b", ""] {
            assert_eq!(yaml(text), None, "{text}");
        }
    }
}
