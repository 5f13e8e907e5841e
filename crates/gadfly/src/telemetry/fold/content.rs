//! What agents are told and say, in the shape the conventions give it: JSON that stays JSON. Texts in it are cut so that
//! the whole fits into a span, and what was cut says so itself; texts that do not fit are not even put together.

use std::fmt::Write as _;

use gadfly_engine::tool::ToolAction;
use gadfly_engine::turn::{Part, Speaker, Turn};
use gadfly_engine::{Answer, Digest};
use serde_json::{Value, json};

use super::super::span::LONGEST_CONTENT;
use super::ContentPolicy;
use crate::output::safe;

/// What names, quotes and brackets of a part and of a message take, in bytes, with the word that a text was cut.
const PART: usize = 192;
const MESSAGE: usize = 64;
/// Kept for the word that there was more.
const LAST: usize = 192;

/// How much may still be written, in bytes of JSON.
struct Room(usize);

impl Room {
    const fn new() -> Self {
        Self(LONGEST_CONTENT - LAST)
    }

    /// Whether there is room for something of this size, which is then taken.
    const fn takes(&mut self, bytes: usize) -> bool {
        let fits = self.0 > bytes;
        if fits {
            self.0 -= bytes;
        }
        fits
    }

    /// The text, or its beginning and how long it is.
    fn text(&mut self, text: &str) -> String {
        let mut end = text.len().min(self.0);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let shown = safe::block(&text[..end]);
        let mut kept = String::with_capacity(shown.len());
        for c in shown.chars() {
            if !self.takes(encoded(c)) {
                self.0 = 0;
                break;
            }
            kept.push(c);
        }
        if end < text.len() || kept.len() < shown.len() {
            self.0 = 0;
            let _ = write!(kept, "… (cut: {} bytes)", text.len());
        }
        kept
    }

    fn stored(&mut self, digest: &Digest, say: ContentPolicy<'_>) -> String {
        let ContentPolicy::All(texts) = say else { return String::new() };
        texts(digest).map(|text| self.text(&text)).unwrap_or_default()
    }
}

/// What a character takes inside a string of JSON.
const fn encoded(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\t' => 2,
        '\0'..='\u{1f}' => 6,
        c => c.len_utf8(),
    }
}

pub(super) fn input(turn: &Turn, say: ContentPolicy<'_>) -> Option<Value> {
    let ContentPolicy::All(_) = say else { return None };
    let mut room = Room::new();
    let mut messages = Vec::new();
    for (n, message) in turn.messages.iter().enumerate() {
        let role = match message.from {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        };
        if !room.takes(MESSAGE + PART) {
            let rest = left_out(turn.messages.len() - n, "message");
            messages.push(json!({ "role": role, "parts": [rest] }));
            break;
        }
        messages.push(json!({ "role": role, "parts": parts(&message.parts, say, &mut room) }));
    }
    Some(Value::Array(messages))
}

pub(super) fn output(answer: &Answer, reason: &str, say: ContentPolicy<'_>) -> Option<Value> {
    let ContentPolicy::All(_) = say else { return None };
    let mut room = Room::new();
    room.takes(MESSAGE + PART);
    let reason = safe::line(reason, PART / 4);
    room.takes(reason.len());
    let parts = parts(&answer.parts, say, &mut room);
    Some(json!([{ "role": "assistant", "parts": parts, "finish_reason": reason }]))
}

/// One text as a message.
pub(super) fn spoken(role: &str, text: &str) -> Value {
    let mut room = Room::new();
    room.takes(MESSAGE + PART);
    json!([{ "role": role, "parts": [{ "type": "text", "content": room.text(text) }] }])
}

fn left_out(n: usize, what: &str) -> Value {
    let many = if n == 1 { "" } else { "s" };
    json!({ "type": "text", "content": format!("… ({n} more {what}{many})") })
}

fn parts(parts: &[Part], say: ContentPolicy<'_>, room: &mut Room) -> Vec<Value> {
    let mut out = Vec::new();
    for (n, part) in parts.iter().enumerate() {
        if !room.takes(PART) {
            out.push(left_out(parts.len() - n, "part"));
            break;
        }
        out.push(match part {
            Part::Text(text) => json!({ "type": "text", "content": room.text(text) }),
            Part::Blob(digest) | Part::Data(digest) => {
                json!({ "type": "text", "content": room.stored(digest, say) })
            }
            Part::Slice(slice) => json!({ "type": "text", "content": room.stored(&slice.text, say) }),
            Part::Call(call) => json!({
                "type": "tool_call", "id": room.text(&call.id), "name": room.text(&call.name),
                "arguments": room.stored(&call.args, say),
            }),
            Part::Result(result) => json!({
                "type": "tool_call_response", "id": room.text(&result.call),
                "response": room.stored(&result.text, say),
            }),
            Part::Image(image) => json!({ "type": "blob", "mime_type": room.text(&image.media) }),
        });
    }
    out
}

/// What a tool was given, as far as it is words of a model's.
pub(super) fn arguments(action: &ToolAction, say: ContentPolicy<'_>) -> Option<Value> {
    if !say.has_words() {
        return None;
    }
    let mut room = Room::new();
    room.takes(PART);
    let given = match action {
        ToolAction::RunCommand { line, .. } | ToolAction::Screenshot { line, .. } => {
            json!({ "command": room.text(line) })
        }
        ToolAction::ReadFile { path, from, lines } => {
            json!({ "path": room.text(path), "from": from, "lines": lines })
        }
        ToolAction::WriteFile { path, content } => {
            json!({ "path": room.text(path), "content": room.stored(content, say) })
        }
        ToolAction::EditFile { path, old, new, all } => json!({
            "path": room.text(path), "old": room.stored(old, say), "new": room.stored(new, say), "all": all,
        }),
        ToolAction::ListFiles { path } => json!({ "path": room.text(path) }),
        ToolAction::SearchFiles { pattern, path } => {
            json!({ "pattern": room.text(pattern), "path": room.text(path) })
        }
        ToolAction::FetchUrl { url } => json!({ "url": room.text(url) }),
        ToolAction::Mcp { args, .. } => json!({ "arguments": room.stored(args, say) }),
        ToolAction::McpTools { servers } => json!({ "servers": servers.len() }),
        ToolAction::Process(process) => json!({ "process": room.text(process.about()) }),
    };
    Some(given)
}
