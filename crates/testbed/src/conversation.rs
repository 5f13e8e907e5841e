//! What a program with tools sends, read from any of the wire formats: the tools it offers, what it was asked
//! last, and which tools were called since. It answers nothing.

use serde_json::Value;

use crate::wire::Format;

/// Texts that programs put beside what they were asked.
const ASIDES: [&str; 4] =
    ["<system-reminder>", "<environment_context>", "<session_context>", "<user_instructions>"];

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Conversation {
    /// Names of the tools on offer, in their order.
    pub tools: Vec<Tool>,
    /// The last thing a user said.
    pub brief: String,
    /// Names of the tools called since.
    pub called: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tool {
    pub name: String,
    pub kind: ToolKind,
}

/// How a tool takes its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ToolKind {
    /// A JSON object.
    Function,
    /// Plain text.
    Custom,
    /// A command, as an item of its own.
    LocalShell,
}

impl Conversation {
    pub fn read(body: &[u8], format: Format) -> Self {
        let Ok(body) = serde_json::from_slice::<Value>(body) else { return Self::default() };
        let mut read = Self { tools: tools(&body, format), ..Self::default() };
        let turns = match format {
            Format::Chat | Format::Anthropic => &body["messages"],
            Format::Responses => &body["input"],
            Format::Gemini => &body["contents"],
        };
        match turns {
            Value::String(text) => read.asked(text.clone()),
            Value::Array(turns) => turns.iter().for_each(|turn| read.turn(turn, format)),
            _ => {}
        }
        read
    }

    pub fn has_called(&self, name: &str) -> bool {
        self.called.iter().any(|c| c == name)
    }

    fn asked(&mut self, brief: String) {
        if !brief.is_empty() {
            self.brief = brief;
            self.called.clear();
        }
    }

    fn turn(&mut self, turn: &Value, format: Format) {
        let parts = match format {
            Format::Gemini => &turn["parts"],
            _ => &turn["content"],
        };
        if turn["role"] == "user" {
            let text = text_of(parts);
            // After a call that was broken off, a goal's next brief may stand beside the result of its tool.
            if !has_tool_result(parts) || text.contains("GOAL:\n") {
                self.asked(text);
            }
        }
        let mut called = |name: &Value| self.called.extend(name.as_str().map(str::to_owned));
        match format {
            Format::Chat => {
                each(&turn["tool_calls"]).for_each(|call| called(&call["function"]["name"]));
            }
            Format::Anthropic => {
                each(parts).filter(|part| part["type"] == "tool_use").for_each(|part| called(&part["name"]));
            }
            Format::Responses => match turn["type"].as_str() {
                Some("function_call" | "custom_tool_call") => called(&turn["name"]),
                Some("local_shell_call") => called(&Value::from(LOCAL_SHELL)),
                _ => {}
            },
            Format::Gemini => each(parts).for_each(|part| called(&part["functionCall"]["name"])),
        }
    }
}

/// What the local shell is called among other tools.
pub(crate) const LOCAL_SHELL: &str = "local_shell";

fn tools(body: &Value, format: Format) -> Vec<Tool> {
    let function =
        |name: &Value| name.as_str().map(|name| Tool { name: name.to_owned(), kind: ToolKind::Function });
    let offered = each(&body["tools"]);
    match format {
        Format::Chat => offered.filter_map(|tool| function(&tool["function"]["name"])).collect(),
        Format::Anthropic => offered.filter_map(|tool| function(&tool["name"])).collect(),
        Format::Gemini => offered
            .flat_map(|tool| each(&tool["functionDeclarations"]))
            .filter_map(|tool| function(&tool["name"]))
            .collect(),
        Format::Responses => offered
            .filter_map(|tool| match tool["type"].as_str()? {
                "function" => function(&tool["name"]),
                "custom" => function(&tool["name"]).map(|t| Tool { kind: ToolKind::Custom, ..t }),
                "local_shell" => Some(Tool { name: LOCAL_SHELL.to_owned(), kind: ToolKind::LocalShell }),
                _ => None,
            })
            .collect(),
    }
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn has_tool_result(parts: &Value) -> bool {
    each(parts).any(|part| part["type"] == "tool_result" || part.get("functionResponse").is_some())
}

/// The texts of a message, without what the program said aside.
fn text_of(parts: &Value) -> String {
    let is_aside = |text: &&str| ASIDES.iter().any(|aside| text.trim_start().starts_with(aside));
    match parts {
        Value::String(text) if !is_aside(&text.as_str()) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .filter(|text| !is_aside(text))
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // tests may fail loudly

    use serde_json::json;

    use super::*;

    /// The same conversation on each wire: asked, a tool called and answered, asked again, another tool called.
    fn wires() -> [(Format, Value); 4] {
        [
            (
                Format::Chat,
                json!({"tools": [{"type": "function", "function": {"name": "write"}}], "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": "first"},
                    {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "read"}}]},
                    {"role": "tool", "tool_call_id": "1", "content": "x"},
                    {"role": "user", "content": [{"type": "text", "text": "second"}]},
                    {"role": "assistant", "tool_calls": [{"id": "2", "function": {"name": "write"}}]},
                    {"role": "tool", "tool_call_id": "2", "content": "x"}]}),
            ),
            (
                Format::Anthropic,
                json!({"tools": [{"name": "write"}], "messages": [
                    {"role": "user", "content": "first"},
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "read"}]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}]},
                    {"role": "user", "content": [
                        {"type": "text", "text": "<system-reminder>\nx"}, {"type": "text", "text": "second"}]},
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "2", "name": "write"}]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "2"}, {"type": "text", "text": "aside"}]}]}),
            ),
            (
                Format::Responses,
                json!({"tools": [{"type": "function", "name": "write"}, {"type": "web_search"}], "input": [
                    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "x"}]},
                    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "first"}]},
                    {"type": "function_call", "name": "read", "call_id": "1"},
                    {"type": "function_call_output", "call_id": "1", "output": "x"},
                    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "second"}]},
                    {"type": "function_call", "name": "write", "call_id": "2"},
                    {"type": "function_call_output", "call_id": "2", "output": "x"}]}),
            ),
            (
                Format::Gemini,
                json!({"tools": [{"functionDeclarations": [{"name": "write"}]}], "contents": [
                    {"role": "user", "parts": [{"text": "<session_context>"}, {"text": "first"}]},
                    {"role": "model", "parts": [{"functionCall": {"name": "read"}}]},
                    {"role": "user", "parts": [{"functionResponse": {"name": "read"}}]},
                    {"role": "user", "parts": [{"text": "second"}]},
                    {"role": "model", "parts": [{"functionCall": {"name": "write"}}]},
                    {"role": "user", "parts": [{"functionResponse": {"name": "write"}}]}]}),
            ),
        ]
    }

    #[test]
    fn every_wire_tells_the_same_conversation() {
        for (format, body) in wires() {
            let read = Conversation::read(&serde_json::to_vec(&body).unwrap(), format);
            assert_eq!(
                read,
                Conversation {
                    tools: vec![Tool { name: "write".into(), kind: ToolKind::Function }],
                    brief: "second".into(),
                    called: vec!["write".into()],
                },
                "{format:?}"
            );
        }
    }

    #[test]
    fn what_is_no_conversation_has_nothing_in_it() {
        for body in ["", "[]", "{}", r#"{"messages":{"a":1},"tools":"x","input":7,"contents":[1]}"#] {
            for format in [Format::Chat, Format::Anthropic, Format::Responses, Format::Gemini] {
                assert_eq!(Conversation::read(body.as_bytes(), format), Conversation::default(), "{body}");
            }
        }
    }
}
