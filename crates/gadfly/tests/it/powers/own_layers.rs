//! What an agent brings itself to keep its critics from writing: its mode, its sandbox, the refusals of its
//! protocol. The record says which of them were up and what they stopped.

use serde_json::{Value, json};

use crate::powers::desk::{Answer, Desk, passed};
use crate::powers::kinds::{KINDS, Kind, layers, powers};
use crate::powers::landlock;

/// Every kind, and what holds a critic of it: in our sandbox, without it, and with its own instead.
const HELD: [(&str, [&[&str]; 3]); 6] = [
    ("command", [&["landlock", "compared"], &["compared"], &["compared"]]),
    (
        "claude-code",
        [&["own_mode", "landlock", "compared"], &["own_mode", "compared"], &["own_mode", "compared"]],
    ),
    // Its own sandbox mounts, which nobody may inside ours.
    ("codex", [&["landlock", "compared"], &["own_sandbox", "compared"], &["own_sandbox", "compared"]]),
    ("gemini", [&["own_mode", "landlock", "compared"], &["own_mode", "compared"], &["own_mode", "compared"]]),
    (
        "opencode",
        [&["own_mode", "landlock", "compared"], &["own_mode", "compared"], &["own_mode", "compared"]],
    ),
    ("acp", [&["protocol", "landlock", "compared"], &["protocol", "compared"], &["protocol", "compared"]]),
];

const SETTINGS: [&str; 3] = ["", "sandbox = \"off\"\n", "sandbox = \"own\"\n"];

fn desk() -> Desk {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
    desk
}

fn kind(name: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.name == name).unwrap_or_else(|| panic!("`{name}` is no kind"))
}

#[test]
fn the_record_names_every_layer_that_holds_a_critic_of_each_kind() {
    let ours = landlock("a critic's layers in the sandbox");
    assert_eq!(HELD.map(|(name, _)| name), KINDS.each_ref().map(|kind| kind.name), "every kind has a row");
    for (name, held) in HELD {
        for (settings, held) in SETTINGS.into_iter().zip(held) {
            if settings.is_empty() && !ours {
                continue;
            }
            let desk = desk();
            kind(name).agent(&desk, "c", ":", &passed(1), settings);
            let said = desk.audit(&[]);
            assert_eq!(said.code, 0, "{name} {settings}: {}", said.err);
            assert_eq!(layers(&desk, "critic"), held, "{name} {settings}");
        }
    }
}

/// Lines of a program that wanted to write and was kept from it by itself.
fn printed(lines: &[Value]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("printf '%s\\n' '{line}'")).collect();
    lines.join("\n")
}

/// How a critic of each kind tries to write with its own tools, and the layer that stops it there. Codex says
/// nothing of it: in its sandbox a command fails as any command may.
fn attempts() -> [(&'static str, String, &'static str, &'static str); 4] {
    let claude =
        [json!({"type": "system", "subtype": "permission_denied", "tool_name": "Write", "tool_use_id": "t"})];
    let gemini = [
        json!({"type": "tool_use", "tool_name": "write_file", "tool_id": "t", "parameters": {"file_path": "a.txt"}}),
        json!({"type": "tool_result", "tool_id": "t", "status": "error", "error": {"type": "tool_not_registered"}}),
    ];
    let state = json!({"status": "completed", "input": {"tool": "write", "error": "unavailable tool"}});
    let opencode = [
        json!({"type": "step_start", "sessionID": "o1", "part": {}}),
        json!({"type": "tool_use", "sessionID": "o1", "part": {"type": "tool", "tool": "invalid", "state": state}}),
        json!({"type": "step_finish", "sessionID": "o1", "part": {"reason": "tool-calls"}}),
    ];
    // It asks its client, and does what it wanted if the answer is no error.
    let acp = "printf '{\"jsonrpc\":\"2.0\",\"id\":\"w\",\"method\":\"fs/write_text_file\",\"params\":\
               {\"sessionId\":\"s1\",\"path\":\"%s/a.txt\",\"content\":\"evil\"}}\\n' \"$PWD\"\n\
               read -r answer; case $answer in *'\"error\"'*) ;; *) exit 6;; esac\n"
        .to_owned();
    [
        ("claude-code", printed(&claude), "own_mode", "Write"),
        ("gemini", printed(&gemini), "own_mode", "write_file: a.txt"),
        ("opencode", printed(&opencode), "own_mode", "write"),
        ("acp", acp, "protocol", "write a.txt; it may only read"),
    ]
}

#[test]
fn what_an_agents_own_layer_stopped_is_named_and_costs_the_critic_nothing() {
    for (name, does, layer, what) in attempts() {
        let desk = desk();
        kind(name).agent(&desk, "c", &does, &passed(1), "sandbox = \"off\"\n");
        let said = desk.audit(&[]);
        assert_eq!((said.code, desk.state()), (0, "approved".into()), "{name}: {}", said.err);
        assert_eq!(desk.read("a.txt"), "two\n", "{name}");
        let calls = powers(&desk);
        let stopped: Vec<&Value> =
            calls.iter().filter_map(|call| call["stopped"].as_array()).flatten().collect();
        assert_eq!(stopped, [&json!({"layer": layer, "what": what})], "{name}");
        let shown = desk.gadfly(&["show", &desk.run_id()]).out;
        let by = if layer == "protocol" { "stopped by refusals" } else { "stopped by its own mode" };
        assert!(shown.contains(by), "{name}: {shown}");
    }
}
