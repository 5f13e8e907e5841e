//! An editor that talks to its agent through `gadfly acp`, in raw lines.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::hook::desk::Desk;
use crate::kit::desk::wait_for;
use crate::mcp::lines::Lines;

pub struct Editor {
    lines: Lines,
    folder: PathBuf,
    next: u64,
    /// What the person chooses when asked, by the option's id.
    pub chooses: &'static str,
}

/// What an editor saw of one request.
#[derive(Debug, Default)]
pub struct Seen {
    pub answer: Value,
    /// Everything that was said in the thread.
    pub said: String,
    /// Requests that came meanwhile.
    pub asked: Vec<Value>,
}

impl Seen {
    pub fn stop(&self) -> &str {
        self.answer["result"]["stopReason"].as_str().unwrap_or_default()
    }
}

/// The agent that does what its words say; `cargo test --workspace` builds it.
pub fn stand_in() -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_gadfly")).with_file_name("acp-agent");
    assert!(built.is_file(), "{} is missing: run `cargo test --workspace`", built.display());
    built
}

impl Editor {
    /// With `flags` for Gadfly, in front of the scripted agent with these words.
    pub fn open(desk: &Desk, flags: &[&str], words: &[&str]) -> Self {
        let agent = stand_in().display().to_string();
        let line: Vec<&str> = flags.iter().chain(&["--", agent.as_str()]).chain(words).copied().collect();
        let mut editor = Self::before(desk, &line);
        let hello = editor.ask(
            "initialize",
            &json!({ "protocolVersion": 1, "clientCapabilities":
            { "fs": { "readTextFile": true, "writeTextFile": true }, "terminal": true } }),
        );
        assert_eq!(hello.answer["result"]["protocolVersion"], 1, "{hello:?}");
        editor
    }

    /// In front of any program, without a word said.
    pub fn before(desk: &Desk, line: &[&str]) -> Self {
        let mut command = desk.command(env!("CARGO_BIN_EXE_gadfly"), &["acp"]);
        command.args(line);
        Self { lines: Lines::of(command), folder: desk.path(""), next: 0, chooses: "leave" }
    }

    pub fn enter(mut self) -> Self {
        let new = self.ask("session/new", &json!({ "cwd": self.folder, "mcpServers": [] }));
        assert_eq!(new.answer["result"]["sessionId"], "session-1", "{new:?}");
        self
    }

    pub fn prompt(&mut self, text: &str) -> Seen {
        self.ask("session/prompt", &Self::prompted(text))
    }

    fn prompted(text: &str) -> Value {
        json!({ "sessionId": "session-1", "prompt": [{ "type": "text", "text": text }] })
    }

    /// Prompts, and cancels as soon as this was said.
    pub fn cancelled_after(&mut self, text: &str, words: &str) -> Seen {
        let id = self.request("session/prompt", &Self::prompted(text));
        let mut seen = self.until(|seen| seen.said.contains(words), None);
        self.tell("session/cancel", &json!({ "sessionId": "session-1" }));
        let rest = self.until(|_| false, Some(id));
        seen.said += &rest.said;
        Seen { answer: rest.answer, ..seen }
    }

    /// Prompts, and ends Gadfly as a crash does as soon as the judging is on record.
    pub fn killed_while_judged(mut self, text: &str, desk: &Desk) {
        self.request("session/prompt", &Self::prompted(text));
        wait_for("a run that is driven", || desk.runs().first().is_some_and(|run| run["calls"] != 0));
        self.lines.signal("KILL");
    }

    /// Prompts, and ends Gadfly as a crash does as soon as this was said.
    pub fn killed_after(mut self, text: &str, words: &str) {
        self.request("session/prompt", &Self::prompted(text));
        self.until(|seen| seen.said.contains(words), None);
        self.lines.signal("KILL");
    }

    pub fn ask(&mut self, method: &str, params: &Value) -> Seen {
        let id = self.request(method, params);
        self.until(|_| false, Some(id))
    }

    pub fn raw(&mut self, line: &str) {
        self.lines.send(line);
    }

    pub fn heard(&mut self) -> Value {
        self.lines.hear()
    }

    pub fn line(&mut self) -> String {
        self.lines.line()
    }

    /// How it ended by itself.
    pub fn ended(self) -> Option<i32> {
        self.lines.ended()
    }

    pub fn leave(self) -> Option<i32> {
        self.lines.leave()
    }

    fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.raw(&message.to_string());
        self.next
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.raw(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    fn until(&mut self, enough: impl Fn(&Seen) -> bool, answered: Option<u64>) -> Seen {
        let mut seen = Seen::default();
        while !enough(&seen) {
            let message = self.heard();
            if message.get("method").is_none() {
                assert_eq!(
                    message["id"].as_u64(),
                    answered,
                    "an answer to nothing that was asked: {message}"
                );
                return Seen { answer: message, ..seen };
            }
            if message["params"]["update"]["sessionUpdate"] == "agent_message_chunk" {
                seen.said += message["params"]["update"]["content"]["text"].as_str().unwrap_or_default();
            }
            if message.get("id").is_some() {
                self.reply(&message);
                seen.asked.push(message);
            }
        }
        seen
    }

    /// As an editor answers its agent.
    fn reply(&mut self, asked: &Value) {
        let params = &asked["params"];
        let result = match asked["method"].as_str().unwrap() {
            "fs/write_text_file" => {
                std::fs::write(params["path"].as_str().unwrap(), params["content"].as_str().unwrap())
                    .unwrap();
                json!({})
            }
            "fs/read_text_file" => {
                json!({ "content": std::fs::read_to_string(params["path"].as_str().unwrap()).unwrap() })
            }
            "session/request_permission" => {
                let options = params["options"].as_array().unwrap();
                let own = options.iter().find(|option| option["optionId"] == self.chooses);
                let option = own.unwrap_or(&options[0])["optionId"].clone();
                json!({ "outcome": { "outcome": "selected", "optionId": option } })
            }
            "terminal/create" => json!({ "terminalId": "t-1" }),
            "terminal/output" => json!({ "output": "from the editor's terminal", "truncated": false }),
            "terminal/wait_for_exit" => json!({ "exitCode": 0 }),
            _ => json!({}),
        };
        self.raw(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }).to_string());
    }
}
