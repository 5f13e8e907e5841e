//! Kinds of agents that are programs, each played by a shell script that does what the test says and answers
//! as programs of that kind do.
//!
//! To add a kind: a row, with how it answers.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::kit::desk::Desk;

pub struct Kind {
    pub name: &'static str,
    /// The script that runs these lines in its folder and then says this.
    script: fn(does: &str, says: &str) -> String,
}

pub const KINDS: [Kind; 6] = [
    Kind { name: "command", script: command },
    Kind { name: "claude-code", script: claude },
    Kind { name: "codex", script: codex },
    Kind { name: "gemini", script: gemini },
    Kind { name: "opencode", script: opencode },
    Kind { name: "acp", script: acp },
];

impl Kind {
    /// Makes the agent `name` of this kind, with more settings.
    pub fn agent(&self, desk: &Desk, name: &str, does: &str, says: &str, settings: &str) {
        self.write(desk, name, does, says);
        let file = desk.beside(&format!("bin/{name}.sh"));
        let kind = self.name;
        desk.configure(&format!(
            "[agents.{name}]\nkind = \"{kind}\"\ncommand = [{}]\n{settings}",
            json!(file)
        ));
    }

    /// Writes its program, perhaps in the place of an earlier one.
    pub fn write(&self, desk: &Desk, name: &str, does: &str, says: &str) {
        let file = desk.beside(&format!("bin/{name}.sh"));
        fs::write(&file, format!("#!/bin/sh\n{}\n", (self.script)(does, says))).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Prints lines as they are.
fn printing(lines: &[Value]) -> String {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    format!("cat <<'END'\n{}\nEND", lines.join("\n"))
}

fn command(does: &str, says: &str) -> String {
    format!("cat >/dev/null\n{does}\ncat <<'END'\n{says}\nEND")
}

fn claude(does: &str, says: &str) -> String {
    let stream = [
        json!({"type": "system", "subtype": "init", "session_id": "s1", "model": "m", "tools": ["Read"]}),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": says, "session_id": "s1",
               "num_turns": 1, "total_cost_usd": 0.01, "usage": {"input_tokens": 1, "output_tokens": 1}}),
    ];
    format!("cat >/dev/null\n{does}\n{}", printing(&stream))
}

fn codex(does: &str, says: &str) -> String {
    let stream = [
        json!({"type": "thread.started", "thread_id": "t1"}),
        json!({"type": "turn.started"}),
        json!({"type": "item.completed", "item": {"id": "i1", "type": "agent_message", "text": says}}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1}}),
    ];
    format!("cat >/dev/null\n{does}\n{}", printing(&stream))
}

fn gemini(does: &str, says: &str) -> String {
    let stream = [
        json!({"type": "init", "session_id": "g1", "model": "m"}),
        json!({"type": "message", "role": "assistant", "content": says, "delta": true}),
        json!({"type": "result", "status": "success", "stats": {"input_tokens": 1, "output_tokens": 1}}),
    ];
    format!("cat >/dev/null\n{does}\n{}", printing(&stream))
}

fn opencode(does: &str, says: &str) -> String {
    let part = |kind: &str, part: Value| json!({"type": kind, "sessionID": "o1", "part": part});
    let tokens = json!({"input": 1, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}});
    let stream = [
        part("step_start", json!({"type": "step-start"})),
        part("text", json!({"type": "text", "text": says})),
        part("step_finish", json!({"type": "step-finish", "reason": "stop", "cost": 0, "tokens": tokens})),
    ];
    format!("cat >/dev/null\n{does}\n{}", printing(&stream))
}

fn acp(does: &str, says: &str) -> String {
    let chunk = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": says}});
    let update = json!({"jsonrpc": "2.0", "method": "session/update",
                        "params": {"sessionId": "s1", "update": chunk}});
    let answers = |method: &str, before: &str, result: Value| {
        format!(
            "*'\"method\":\"{method}\"'*)\n{before}\nprintf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}}\\n' \
             \"$id\" '{result}';;"
        )
    };
    let arms = [
        answers("initialize", "", json!({"protocolVersion": 1, "agentCapabilities": {}})),
        answers("session/new", "", json!({"sessionId": "s1"})),
        answers(
            "session/prompt",
            &format!("{does}\n{}", printing(&[update])),
            json!({"stopReason": "end_turn"}),
        ),
    ];
    format!(
        "while read -r line; do\nid=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\(\"[^\"]*\"\\|[0-9][0-9]*\\).*/\\1/p')\n\
         case $line in\n{}\nesac\ndone",
        arms.join("\n")
    )
}

/// What held the calls of the newest run, as `gadfly show --json` has it.
pub fn powers(desk: &Desk) -> Vec<Value> {
    let said = desk.gadfly(&["show", &desk.run_id(), "--json"]);
    let shown: Value = serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {said:?}"));
    shown["powers"].as_array().cloned().unwrap_or_default()
}

/// The layers that held the first call in a role.
pub fn layers(desk: &Desk, role: &str) -> Vec<String> {
    let calls = powers(desk);
    let call = calls.iter().find(|call| call["role"] == json!(role));
    let call = call.unwrap_or_else(|| panic!("no call of a {role} is shown: {calls:?}"));
    let guards = call["guards"].as_array().unwrap();
    guards.iter().map(|guard| guard["layer"].as_str().unwrap().to_owned()).collect()
}
