//! How each program says things in its stream.

use serde_json::{Value, json};

use super::flags::Mode;
use super::script::{CliScript, ScriptStop};
use super::{Program, ProgramEnd};

pub(super) struct Speech {
    program: Program,
    session: String,
    usage: [u64; 3],
    in_pieces: bool,
    tools: Vec<String>,
    /// What was said since the last step.
    text: String,
    form: Option<Value>,
    /// Ids of messages and tool calls.
    count: u32,
    retries: u32,
}

/// What a program says and ends with that is to go on with a conversation it does not know.
pub(super) fn forgotten(program: Program) -> ProgramEnd {
    let code = if program == Program::Gemini { 42 } else { 1 };
    ProgramEnd { code, said: "No conversation found with this id".to_owned() }
}

impl Speech {
    pub fn new(script: &CliScript, mode: &Mode) -> Self {
        Self {
            program: script.program,
            session: script.session.clone(),
            usage: script.usage,
            in_pieces: mode.in_pieces,
            tools: mode.tools.clone(),
            text: String::new(),
            form: None,
            count: 0,
            retries: 0,
        }
    }

    pub fn begin(&mut self) -> Vec<Value> {
        match self.program {
            Program::ClaudeCode => vec![json!({
                "type": "system", "subtype": "init", "session_id": self.session, "model": "fake-1",
                "tools": self.tools,
            })],
            Program::Codex => {
                vec![
                    json!({"type": "thread.started", "thread_id": self.session}),
                    json!({"type": "turn.started"}),
                ]
            }
            Program::Gemini => vec![
                json!({"type": "init", "session_id": self.session, "model": "fake-1"}),
                json!({"type": "message", "role": "user", "content": "…"}),
            ],
            Program::OpenCode => vec![self.part("step_start", &json!({"type": "step-start"}))],
        }
    }

    fn part(&self, kind: &str, part: &Value) -> Value {
        json!({"type": kind, "sessionID": self.session, "part": part})
    }

    fn next(&mut self) -> String {
        self.count += 1;
        format!("id-{}", self.count)
    }

    /// Claude and Gemini tell text as it comes, the others when it is whole.
    pub fn say(&mut self, text: &str) -> Vec<Value> {
        self.text.push_str(text);
        match self.program {
            Program::ClaudeCode if self.in_pieces => {
                let delta = json!({"type": "text_delta", "text": text});
                let event = json!({"type": "content_block_delta", "index": 0, "delta": delta});
                vec![json!({"type": "stream_event", "event": event, "parent_tool_use_id": null})]
            }
            Program::Gemini => {
                vec![json!({"type": "message", "role": "assistant", "content": text, "delta": true})]
            }
            _ => Vec::new(),
        }
    }

    /// As parts of one answer, where a program can tell a part before the whole.
    pub fn say_apart(&mut self, text: &str) -> Vec<Value> {
        if self.program == Program::OpenCode {
            return vec![self.part("text", &json!({"type": "text", "text": text}))];
        }
        self.say(text)
    }

    /// Tells what was said and is not told yet.
    pub fn flush(&mut self) -> Vec<Value> {
        let text = self.text.clone();
        if text.is_empty() {
            return Vec::new();
        }
        match self.program {
            Program::ClaudeCode => vec![self.message(&json!({"type": "text", "text": text}))],
            Program::Codex => vec![self.item(json!({"type": "agent_message", "text": text}))],
            Program::Gemini => Vec::new(),
            Program::OpenCode => vec![self.part("text", &json!({"type": "text", "text": text}))],
        }
    }

    fn message(&mut self, block: &Value) -> Value {
        let id = self.next();
        let [input, _, cached] = self.usage;
        let usage = json!({
            "input_tokens": input.saturating_sub(cached), "output_tokens": 1, "cache_read_input_tokens": cached,
        });
        let message = json!({"id": id, "role": "assistant", "content": [block], "usage": usage});
        json!({"type": "assistant", "message": message, "parent_tool_use_id": null, "session_id": self.session})
    }

    fn item(&mut self, mut item: Value) -> Value {
        item["id"] = json!(self.next());
        json!({"type": "item.completed", "item": item})
    }

    /// What was said before a step is no part of the answer.
    fn closing(&mut self) -> Vec<Value> {
        let lines = self.flush();
        self.text.clear();
        lines
    }

    pub fn step(&mut self, command: &str) -> Vec<Value> {
        let mut lines = self.closing();
        let id = self.next();
        match self.program {
            Program::ClaudeCode => {
                let input = json!({"command": command});
                let block = json!({"type": "tool_use", "id": id, "name": "Bash", "input": input});
                lines.push(self.message(&block));
                let result =
                    json!({"type": "tool_result", "tool_use_id": id, "content": "", "is_error": false});
                lines.push(json!({"type": "user", "message": {"role": "user", "content": [result]}}));
            }
            Program::Codex => {
                let item = json!({"type": "command_execution", "command": command, "status": "completed"});
                lines.push(self.item(item));
            }
            Program::Gemini => {
                let parameters = json!({"command": command});
                lines.push(json!({
                    "type": "tool_use", "tool_name": "run_shell_command", "tool_id": id, "parameters": parameters,
                }));
                lines.push(json!({"type": "tool_result", "tool_id": id, "status": "success"}));
            }
            Program::OpenCode => {
                let state = json!({"status": "completed", "input": {"command": command}});
                lines.extend(self.opencode_tool("bash", &state));
            }
        }
        lines
    }

    /// A command that is run: the name it is told under, and how its beginning is told. `OpenCode` tells it at its end.
    pub fn begins(&mut self, command: &str) -> (String, Vec<Value>) {
        let mut lines = self.closing();
        let id = self.next();
        match self.program {
            Program::ClaudeCode => {
                let input = json!({"command": command});
                lines.push(
                    self.message(&json!({"type": "tool_use", "id": id, "name": "Bash", "input": input})),
                );
            }
            Program::Codex => {
                let item = json!({
                    "id": id, "type": "command_execution", "command": command, "status": "in_progress",
                    "aggregated_output": "", "exit_code": null,
                });
                lines.push(json!({"type": "item.started", "item": item}));
            }
            Program::Gemini => {
                lines.push(json!({
                    "type": "tool_use", "tool_name": "run_shell_command", "tool_id": id,
                    "parameters": {"command": command},
                }));
            }
            Program::OpenCode => {}
        }
        (id, lines)
    }

    /// How such a command ended, as its stream says it.
    pub fn ended(&mut self, id: &str, command: &str, code: i32, printed: &str) -> Vec<Value> {
        match self.program {
            Program::ClaudeCode => {
                let said =
                    if code == 0 { printed.to_owned() } else { format!("Exit code {code}\n{printed}") };
                let result =
                    json!({"type": "tool_result", "tool_use_id": id, "content": said, "is_error": code != 0});
                vec![json!({"type": "user", "message": {"role": "user", "content": [result]}})]
            }
            Program::Codex => {
                let item = json!({
                    "id": id, "type": "command_execution", "command": command, "aggregated_output": printed,
                    "status": if code == 0 { "completed" } else { "failed" }, "exit_code": code,
                });
                vec![json!({"type": "item.completed", "item": item})]
            }
            Program::Gemini => {
                let silent = printed.trim().is_empty() && code != 0;
                let output =
                    if silent { format!("Command exited with code: {code}") } else { printed.to_owned() };
                vec![json!({"type": "tool_result", "tool_id": id, "status": "success", "output": output})]
            }
            Program::OpenCode => {
                let state = json!({
                    "status": "completed", "input": {"command": command}, "output": printed,
                    "metadata": {"exit": code},
                });
                self.opencode_tool("bash", &state).into()
            }
        }
    }

    /// A file is written with its own tool, or its mode keeps it from that. Codex says nothing of the latter:
    /// its sandbox lets the command fail.
    pub fn write(&mut self, path: &str, wrote: bool) -> Vec<Value> {
        let mut lines = self.closing();
        let id = self.next();
        match self.program {
            Program::ClaudeCode => {
                let input = json!({"file_path": path, "content": "…"});
                let block = json!({"type": "tool_use", "id": id, "name": "Write", "input": input});
                lines.push(self.message(&block));
                let said = if wrote { "File created successfully" } else { "No such tool available: Write" };
                let result =
                    json!({"type": "tool_result", "tool_use_id": id, "content": said, "is_error": !wrote});
                lines.push(json!({"type": "user", "message": {"role": "user", "content": [result]}}));
            }
            Program::Codex => {
                let (status, code) = if wrote { ("completed", 0) } else { ("failed", 1) };
                let command = format!("/bin/bash -lc 'echo … > {path}'");
                let item = json!({
                    "type": "command_execution", "command": command, "status": status, "exit_code": code,
                });
                lines.push(self.item(item));
            }
            Program::Gemini => {
                let parameters = json!({"file_path": path, "content": "…"});
                lines.push(json!({
                    "type": "tool_use", "tool_name": "write_file", "tool_id": id, "parameters": parameters,
                }));
                let mut result = json!({"type": "tool_result", "tool_id": id, "status": "success"});
                if !wrote {
                    result["status"] = json!("error");
                    result["error"] =
                        json!({"type": "tool_not_registered", "message": "Tool \"write_file\" not found."});
                }
                lines.push(result);
            }
            Program::OpenCode => {
                let (tool, input) = if wrote {
                    ("write", json!({"filePath": path, "content": "…"}))
                } else {
                    ("invalid", json!({"tool": "write", "error": "Model tried to call unavailable tool"}))
                };
                lines.extend(self.opencode_tool(tool, &json!({"status": "completed", "input": input})));
            }
        }
        lines
    }

    /// A tool call ends a step, and another begins.
    fn opencode_tool(&mut self, tool: &str, state: &Value) -> [Value; 3] {
        let id = self.next();
        let call = json!({"type": "tool", "tool": tool, "callID": id, "state": state});
        let none = json!({"total": 0, "input": 0, "output": 0, "cache": {"read": 0, "write": 0}});
        let finish = json!({"type": "step-finish", "reason": "tool-calls", "tokens": none, "cost": 0});
        [
            self.part("tool_use", &call),
            self.part("step_finish", &finish),
            self.part("step_start", &json!({"type": "step-start"})),
        ]
    }

    /// Gemini and `OpenCode` say nothing of that.
    pub fn retry(&mut self) -> Vec<Value> {
        self.retries += 1;
        let nth = self.retries;
        match self.program {
            Program::ClaudeCode => vec![json!({
                "type": "system", "subtype": "api_retry", "attempt": nth, "max_retries": 10,
                "error_status": 529, "error": "overloaded",
            })],
            Program::Codex => {
                vec![json!({"type": "error", "message": format!("Reconnecting... {nth}/5")})]
            }
            Program::Gemini | Program::OpenCode => Vec::new(),
        }
    }

    /// Only Claude has a word for it.
    pub fn quota(&mut self, until: u64) -> Vec<Value> {
        if self.program != Program::ClaudeCode {
            return Vec::new();
        }
        let info = json!({"status": "rejected", "resetsAt": until, "rateLimitType": "five_hour"});
        vec![json!({"type": "rate_limit_event", "rate_limit_info": info})]
    }

    /// The answer, in a form.
    pub fn form(&mut self, json: &str) {
        match self.program {
            Program::ClaudeCode => self.form = serde_json::from_str(json).ok(),
            _ => json.clone_into(&mut self.text),
        }
    }

    /// Its last lines, and its exit code.
    pub fn end(&mut self, stop: Option<ScriptStop>, status: Option<u16>) -> (Vec<Value>, i32) {
        let mut lines = self.closing_answer();
        let code = match self.program {
            Program::ClaudeCode => {
                let failed = stop.is_some() || status.is_some();
                lines.push(self.claude_result(stop, status));
                i32::from(failed)
            }
            Program::Codex => {
                if let Some(status) = status {
                    let said = format!("unexpected status {status}");
                    lines.push(json!({"type": "error", "message": said}));
                    lines.push(json!({"type": "turn.failed", "error": {"message": said}}));
                } else {
                    let [input, output, cached] = self.usage;
                    let usage = json!({
                        "input_tokens": input, "cached_input_tokens": cached, "output_tokens": output,
                    });
                    lines.push(json!({"type": "turn.completed", "usage": usage}));
                }
                i32::from(status.is_some())
            }
            Program::Gemini => {
                let [input, output, cached] = self.usage;
                let used = json!({"input_tokens": input, "output_tokens": output, "cached": cached});
                let mut result = json!({"type": "result", "status": "success", "stats": used});
                if let Some(status) = status {
                    result["status"] = json!("error");
                    result["error"] = json!({"type": "unknown", "message": format!("[API Error: {status}]")});
                }
                lines.push(result);
                // Eight bits of the status are all that an exit code holds.
                i32::from(status.unwrap_or(0) & 0xff)
            }
            Program::OpenCode => {
                lines.extend(self.opencode_end(stop, status));
                i32::from(status.is_some() || stop == Some(ScriptStop::Refusal))
            }
        };
        (lines, code)
    }

    /// The text stays: some programs repeat it in their result.
    fn closing_answer(&mut self) -> Vec<Value> {
        if self.program == Program::ClaudeCode && self.form.is_some() {
            return Vec::new();
        }
        self.flush()
    }

    fn claude_result(&self, stop: Option<ScriptStop>, status: Option<u16>) -> Value {
        let [input, output, cached] = self.usage;
        let reason = match stop {
            Some(ScriptStop::Refusal) => "refusal",
            Some(ScriptStop::Length) => "stop_sequence",
            None => "end_turn",
        };
        let mut result = json!({
            "type": "result", "subtype": "success", "is_error": stop.is_some() || status.is_some(),
            "num_turns": 1, "session_id": self.session, "stop_reason": reason, "api_error_status": status,
            "result": self.text, "permission_denials": [], "total_cost_usd": 0.01,
            "usage": {
                "input_tokens": input.saturating_sub(cached), "output_tokens": output,
                "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0,
            },
        });
        if stop == Some(ScriptStop::Length) {
            result["api_error"] = json!("max_output_tokens");
        }
        if let Some(status) = status {
            result["result"] = json!(format!("API Error: {status}"));
        }
        if let Some(form) = &self.form {
            result["structured_output"] = form.clone();
        }
        result
    }

    fn opencode_end(&self, stop: Option<ScriptStop>, status: Option<u16>) -> Vec<Value> {
        let error = |error: Value| json!({"type": "error", "sessionID": self.session, "error": error});
        if let Some(status) = status {
            let said = format!("scripted {status}");
            return vec![error(json!({"name": "APIError", "data": {"message": said, "statusCode": status}}))];
        }
        let [input, output, cached] = self.usage;
        let tokens = json!({
            "total": input + output, "input": input.saturating_sub(cached), "output": output, "reasoning": 0,
            "cache": {"read": cached, "write": 0},
        });
        let reason = match stop {
            Some(ScriptStop::Refusal) => "content-filter",
            Some(ScriptStop::Length) => "length",
            None => "stop",
        };
        let finish = json!({"type": "step-finish", "reason": reason, "tokens": tokens, "cost": 0.01});
        let mut lines = vec![self.part("step_finish", &finish)];
        if stop == Some(ScriptStop::Refusal) {
            let data = json!({"message": "The response was blocked by the provider's content filter"});
            lines.push(error(json!({"name": "ContentFilterError", "data": data})));
        }
        lines
    }
}
