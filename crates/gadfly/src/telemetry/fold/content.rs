//! What agents are told and say, in the shape the conventions give it. Only where content is asked for; how much of it
//! is kept is the span's business, and texts that could not be kept are not even put together.

use gadfly_engine::tool::Deed;
use gadfly_engine::turn::{Part, Speaker, Turn};
use gadfly_engine::{Answer, Digest};
use serde_json::{Value, json};

use super::Content;

/// What is read of one part, in bytes: a little more than a span keeps of the whole.
const MOST: usize = 16 * 1024;

pub(super) fn input(turn: &Turn, say: Content<'_>) -> Option<String> {
    let Content::All(_) = say else { return None };
    let mut left = MOST;
    let messages = turn.messages.iter().map_while(|message| {
        let role = match message.from {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        };
        let parts = parts(&message.parts, say, &mut left);
        (!parts.is_empty()).then(|| json!({ "role": role, "parts": parts }))
    });
    Some(Value::Array(messages.collect()).to_string())
}

pub(super) fn output(answer: &Answer, reason: &str, say: Content<'_>) -> Option<String> {
    let Content::All(_) = say else { return None };
    let parts = parts(&answer.parts, say, &mut { MOST });
    Some(json!([{ "role": "assistant", "parts": parts, "finish_reason": reason }]).to_string())
}

/// One text as a message.
pub(super) fn spoken(role: &str, text: &str) -> String {
    let text = cut(text, &mut { MOST });
    json!([{ "role": role, "parts": [{ "type": "text", "content": text }] }]).to_string()
}

fn parts(parts: &[Part], say: Content<'_>, left: &mut usize) -> Vec<Value> {
    let mut out = Vec::new();
    for part in parts {
        if *left == 0 {
            break;
        }
        out.push(match part {
            Part::Text(text) => json!({ "type": "text", "content": cut(text, left) }),
            Part::Blob(digest) | Part::Data(digest) => {
                json!({ "type": "text", "content": text(digest, say, left) })
            }
            Part::Slice(slice) => json!({ "type": "text", "content": text(&slice.text, say, left) }),
            Part::Call(call) => json!({
                "type": "tool_call", "id": cut(&call.id, left), "name": cut(&call.name, left),
                "arguments": text(&call.args, say, left),
            }),
            Part::Result(result) => json!({
                "type": "tool_call_response", "id": cut(&result.call, left),
                "response": text(&result.text, say, left),
            }),
            Part::Image(image) => json!({ "type": "blob", "mime_type": cut(&image.media, left) }),
        });
    }
    out
}

fn text(digest: &Digest, say: Content<'_>, left: &mut usize) -> String {
    let Content::All(texts) = say else { return String::new() };
    texts(digest).map(|text| cut(&text, left).to_owned()).unwrap_or_default()
}

fn cut<'t>(text: &'t str, left: &mut usize) -> &'t str {
    let mut end = text.len().min(*left);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    *left = if end < text.len() { 0 } else { *left - end };
    &text[..end]
}

/// What a tool was given, as far as it is words of a model's.
pub(super) fn arguments(deed: &Deed, say: Content<'_>) -> Option<String> {
    if !say.has_words() {
        return None;
    }
    let left = &mut { MOST };
    let given = match deed {
        Deed::RunCommand { line, .. } | Deed::Screenshot { line, .. } => {
            json!({ "command": cut(line, left) })
        }
        Deed::ReadFile { path, from, lines } => {
            json!({ "path": cut(path, left), "from": from, "lines": lines })
        }
        Deed::WriteFile { path, content } => {
            json!({ "path": cut(path, left), "content": text(content, say, left) })
        }
        Deed::EditFile { path, old, new, all } => json!({
            "path": cut(path, left), "old": text(old, say, left), "new": text(new, say, left), "all": all,
        }),
        Deed::ListFiles { path } => json!({ "path": cut(path, left) }),
        Deed::SearchFiles { pattern, path } => {
            json!({ "pattern": cut(pattern, left), "path": cut(path, left) })
        }
        Deed::FetchUrl { url } => json!({ "url": cut(url, left) }),
        Deed::Mcp { args, .. } => json!({ "arguments": text(args, say, left) }),
        Deed::McpTools { servers } => json!({ "servers": servers.len() }),
    };
    Some(given.to_string())
}
