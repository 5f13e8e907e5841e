//! Messages of the protocol: what is read of a copy, and those of our own. Only what is used is looked at; whatever else
//! stands in a message, or comes with later versions, is nobody's concern here.

use std::path::PathBuf;

use serde_json::{Value, json};

/// A message, as far as it says what it is.
pub struct AcpMessage {
    whole: Value,
}

impl AcpMessage {
    /// None if it is no message.
    pub fn read(line: &[u8]) -> Option<Self> {
        let whole: Value = serde_json::from_slice(line).ok()?;
        whole.is_object().then_some(Self { whole })
    }

    pub fn method(&self) -> Option<&str> {
        self.whole.get("method")?.as_str()
    }

    /// As text that tells `1` from `"1"`.
    pub fn id(&self) -> Option<String> {
        self.whole.get("id").filter(|id| !id.is_null()).map(Value::to_string)
    }

    /// The id, if it is one of those that begin so.
    pub fn own_id(&self, prefix: &str) -> Option<&str> {
        self.whole.get("id")?.as_str().filter(|id| id.starts_with(prefix))
    }

    pub fn session(&self) -> Option<&str> {
        self.whole.pointer("/params/sessionId")?.as_str()
    }

    pub fn cwd(&self) -> Option<PathBuf> {
        self.whole.pointer("/params/cwd")?.as_str().map(PathBuf::from)
    }

    /// The session that an answer opens.
    pub fn opened(&self) -> Option<&str> {
        self.whole.pointer("/result/sessionId")?.as_str()
    }

    /// Whether it answers a request with anything but an error.
    pub fn is_taken(&self) -> bool {
        self.whole.get("result").is_some()
    }

    pub fn stop_reason(&self) -> Option<&str> {
        self.whole.pointer("/result/stopReason")?.as_str()
    }

    pub fn into_value(self) -> Value {
        self.whole
    }

    /// The text of a prompt.
    pub fn prompt(&self) -> String {
        let blocks = self.whole.pointer("/params/prompt").and_then(Value::as_array);
        let texts = blocks.into_iter().flatten().filter_map(|block| block.get("text")?.as_str());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The same prompt without these words, which its first text begins with.
    pub fn without(mut self, words: &str) -> Option<Vec<u8>> {
        let blocks = self.whole.pointer_mut("/params/prompt")?.as_array_mut()?;
        let text = blocks.iter_mut().find_map(|block| block.get_mut("text").filter(|t| t.is_string()))?;
        *text = text.as_str()?.trim_start().strip_prefix(words)?.trim_start().into();
        Some(line(&self.whole))
    }

    /// Files that the agent says it writes, in this message.
    pub fn written(&self) -> Vec<String> {
        let path = |value: &Value| value.get("path").and_then(Value::as_str).map(str::to_owned);
        match self.method() {
            Some("fs/write_text_file") => self.whole.get("params").and_then(path).into_iter().collect(),
            Some("session/update") => {
                let content = self.whole.pointer("/params/update/content").and_then(Value::as_array);
                let diffs = content.into_iter().flatten().filter(|part| part["type"] == "diff");
                diffs.filter_map(path).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// What the person chose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EditorChoice {
    Accept,
    SendBack,
    Leave,
}

/// The words of a question to the person, as parameters of `session/request_permission`.
pub fn question(session: &str, id: &str, text: &str) -> Value {
    json!({
        "sessionId": session,
        "toolCall": {
            "toolCallId": id, "title": "Gadfly: this turn is not approved. What now?", "kind": "other",
            "status": "pending", "content": [{ "type": "content", "content": { "type": "text", "text": text } }],
        },
        "options": [
            { "optionId": "accept", "name": "Accept it anyway", "kind": "allow_once" },
            { "optionId": "back", "name": "Send it back to the agent", "kind": "reject_once" },
            { "optionId": "leave", "name": "Leave it, not approved", "kind": "reject_once" },
        ],
    })
}

/// What an answer to it says. Whatever is not understood leaves the work as it is.
pub fn choice(answer: &Value) -> EditorChoice {
    match answer.pointer("/result/outcome/optionId").and_then(Value::as_str) {
        Some("accept") => EditorChoice::Accept,
        Some("back") => EditorChoice::SendBack,
        _ => EditorChoice::Leave,
    }
}

pub fn request(id: &str, method: &str, params: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

/// Said in the session's thread.
pub fn chunk(session: &str, text: &str) -> Vec<u8> {
    let content = json!({ "type": "text", "text": format!("\n\n{text}\n\n") });
    let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
    let params = json!({ "sessionId": session, "update": update });
    line(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }))
}

/// The answer to a prompt, with another reason for its end.
pub fn ended(mut answer: Value, reason: &str) -> Vec<u8> {
    if let Some(stop) = answer.pointer_mut("/result/stopReason") {
        *stop = reason.into();
    }
    line(&answer)
}

/// The answer to a prompt that was ours to hear.
pub fn heard(id: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "result": { "stopReason": "end_turn" } }))
}

fn line(value: &Value) -> Vec<u8> {
    let mut bytes = value.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_is_read_and_anything_may_come() {
        for odd in ["", "7", "[]", "null", "not json", r#"{"method":7}"#, r#"{"params":[]}"#, "{}"] {
            if let Some(message) = AcpMessage::read(odd.as_bytes()) {
                let nothing =
                    (message.method(), message.id(), message.session(), message.cwd(), message.opened());
                assert_eq!(nothing, (None, None, None, None, None), "{odd}");
                assert!(message.prompt().is_empty() && message.written().is_empty(), "{odd}");
                assert!(message.without("/gadfly off").is_none(), "{odd}");
            }
        }
        let number = AcpMessage::read(br#"{"id":1}"#).unwrap().id();
        assert_ne!(number, AcpMessage::read(br#"{"id":"1"}"#).unwrap().id());
    }

    #[test]
    fn what_the_agent_writes_is_known_by_requests_and_diffs() {
        let write = br#"{"method":"fs/write_text_file","params":{"path":"/p/a.rs","content":"x"}}"#;
        assert_eq!(AcpMessage::read(write).unwrap().written(), ["/p/a.rs"]);
        let update = br#"{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","content":[
            {"type":"content","content":{"type":"text","text":"x"}},{"type":"diff","path":"/p/b.rs","newText":"y"}]}}}"#;
        assert_eq!(AcpMessage::read(update).unwrap().written(), ["/p/b.rs"]);
    }

    #[test]
    fn an_answer_that_is_not_understood_accepts_nothing() {
        for odd in [
            json!({}),
            json!({ "error": {} }),
            json!({ "result": { "outcome": { "outcome": "cancelled" } } }),
        ] {
            assert_eq!(choice(&odd), EditorChoice::Leave);
        }
        let accept = json!({ "result": { "outcome": { "outcome": "selected", "optionId": "accept" } } });
        assert_eq!(choice(&accept), EditorChoice::Accept);
    }
}
