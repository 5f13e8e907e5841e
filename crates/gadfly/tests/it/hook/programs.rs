//! Every program in its own form: what it says on standard input, and what it reads on standard output.

use std::path::Path;

use serde_json::{Value, json};

use crate::hook::desk::{APPROVE, Desk, REJECT, Said};

/// A program as the hook meets it.
struct Caller {
    name: &'static str,
    title: &'static str,
    /// The input of a stop that was, or was not, sent back.
    told: fn(&Path, bool) -> Value,
    /// One line of its transcript.
    line: fn(&str) -> Value,
    /// The text it is sent back with.
    back: fn(&Value) -> Option<&str>,
}

const CALLERS: [Caller; 5] = [
    Caller {
        name: "claude",
        title: "Claude Code session s-1",
        told: |at, back| {
            json!({ "session_id": "s-1", "transcript_path": at, "cwd": "/x", "permission_mode": "default",
                "hook_event_name": "Stop", "stop_hook_active": back })
        },
        line: |text| json!({ "type": "user", "message": { "role": "user", "content": text } }),
        back: blocked,
    },
    Caller {
        name: "codex",
        title: "Codex session s-1",
        told: |at, back| {
            json!({ "session_id": "s-1", "turn_id": "t", "transcript_path": at, "cwd": "/x", "hook_event_name": "Stop",
                "model": "m", "permission_mode": "default", "stop_hook_active": back,
                "last_assistant_message": "done" })
        },
        line: |text| {
            json!({ "type": "response_item", "payload": { "type": "message", "role": "user",
                "content": [{ "type": "input_text", "text": text }] } })
        },
        back: blocked,
    },
    Caller {
        name: "copilot",
        title: "Copilot session s-1",
        told: |at, back| {
            json!({ "timestamp": 1_704_614_750_000_u64, "cwd": "/x", "sessionId": "s-1", "transcriptPath": at,
                "stopReason": "end_turn", "stop_hook_active": back })
        },
        line: |text| json!({ "type": "user.message", "data": { "content": text }, "id": "e" }),
        back: blocked,
    },
    Caller {
        name: "gemini",
        title: "Gemini CLI session s-1",
        told: |at, back| {
            let prompt = if back { "Gadfly judged this turn. Fix it." } else { "add up the list" };
            json!({ "session_id": "s-1", "transcript_path": at, "cwd": "/x", "hook_event_name": "AfterAgent",
                "timestamp": "2026-11-18T00:00:00Z", "prompt": prompt, "prompt_response": "done",
                "stop_hook_active": back })
        },
        line: |text| json!({ "type": "user", "message": { "content": text } }),
        back: |answer| answer["reason"].as_str().filter(|_| answer["decision"] == "deny"),
    },
    Caller {
        name: "cursor",
        title: "Cursor session s-1",
        told: |at, back| {
            json!({ "conversation_id": "s-1", "generation_id": "g", "model": "m", "hook_event_name": "stop",
                "cursor_version": "3.7.21", "workspace_roots": ["/x"], "user_email": null, "transcript_path": at,
                "status": "completed", "loop_count": u8::from(back) })
        },
        line: |text| json!({ "role": "user", "message": { "content": [{ "type": "text", "text": text }] } }),
        back: |answer| answer["followup_message"].as_str(),
    },
];

fn blocked(answer: &Value) -> Option<&str> {
    answer["reason"].as_str().filter(|_| answer["decision"] == "block")
}

impl Caller {
    fn stop(&self, desk: &Desk, told: &Value) -> Said {
        desk.stop_with(&["--for", self.name], told.to_string().as_bytes(), &[])
    }

    fn told(&self, desk: &Desk, back: bool) -> Value {
        (self.told)(&desk.dir.path().join("t.jsonl"), back)
    }
}

#[test]
fn each_program_is_sent_back_and_let_through_in_its_own_form() {
    for caller in CALLERS {
        let desk = Desk::new(&[REJECT, APPROVE]);
        let line = (caller.line)("add up the list").to_string();
        std::fs::write(desk.dir.path().join("t.jsonl"), line).unwrap();
        desk.write("a.rs", "fn a(x: &[i32]) -> i32 { x[0] }\n");
        let first = caller.stop(&desk, &caller.told(&desk, false));
        let back = (caller.back)(&first.answer).unwrap_or_else(|| panic!("{}: {first:?}", caller.name));
        assert!(
            back.starts_with("Gadfly judged this turn. ") && back.contains("1. handle the empty list"),
            "{back}"
        );
        assert_eq!((first.code, desk.runs()[0]["title"].as_str()), (Some(0), Some(caller.title)));
        assert!(desk.shown(&desk.runs()[0]).contains("> add up the list"), "{}: what was asked", caller.name);
        desk.write("a.rs", "fn a(x: &[i32]) -> i32 { x.iter().sum() }\n");
        let second = caller.stop(&desk, &caller.told(&desk, true));
        assert!(
            second.code == Some(0) && (caller.back)(&second.answer).is_none(),
            "{}: {second:?}",
            caller.name
        );
        // Cursor has no field for its user.
        let told = if caller.name == "cursor" { second.err.as_str() } else { second.told() };
        assert!(told.contains("approved by judge"), "{}: {second:?}", caller.name);
        assert_eq!(desk.runs().len(), 1, "one run for the session's work");
    }
}

#[test]
fn a_critic_that_is_never_satisfied_holds_no_program_above_the_cap() {
    for caller in CALLERS {
        let desk = Desk::new(&[REJECT, REJECT, REJECT, REJECT]);
        let mut sent_back = 0;
        loop {
            desk.write("a.rs", &format!("fn a() {{ todo!({sent_back}) }}\n"));
            // Also where the program's own mark is missing.
            let mut told = caller.told(&desk, sent_back > 0);
            for mark in ["stop_hook_active", "loop_count"] {
                told.as_object_mut().unwrap().remove(mark);
            }
            if (caller.back)(&caller.stop(&desk, &told).answer).is_none() {
                break;
            }
            sent_back += 1;
            assert!(sent_back < 10, "{} is held for ever", caller.name);
        }
        assert_eq!(sent_back, 2, "{}: three rounds are two ways back", caller.name);
    }
}

#[test]
fn a_subagent_and_a_turn_that_was_broken_off_are_let_through_unjudged() {
    let desk = Desk::new(&[REJECT]);
    desk.write("a.rs", "fn a() { 1; }\n");
    let others = [
        ("claude", json!({ "session_id": "s-1", "hook_event_name": "SubagentStop", "agent_id": "a" })),
        ("claude", json!({ "session_id": "s-1", "hook_event_name": "Stop", "agent_id": "a" })),
        ("codex", json!({ "session_id": "s-1", "hook_event_name": "SubagentStop", "agent_id": "a" })),
        ("copilot", json!({ "sessionId": "s-1", "agentName": "explore", "stopReason": "end_turn" })),
        ("cursor", json!({ "conversation_id": "s-1", "hook_event_name": "subagentStop" })),
        ("cursor", json!({ "conversation_id": "s-1", "hook_event_name": "stop", "status": "aborted" })),
    ];
    for (name, told) in others {
        let said = desk.stop_with(&["--for", name], told.to_string().as_bytes(), &[]);
        let quiet = said.answer == Value::Null || said.answer == json!({});
        assert!(said.code == Some(0) && quiet && said.err.is_empty(), "{name}: {said:?}");
    }
    assert!(desk.runs().is_empty(), "nobody was asked");
}

#[test]
fn what_is_no_stop_of_the_program_holds_nobody_and_is_said() {
    let desk = Desk::new(&[REJECT]);
    desk.write("a.rs", "fn a() { 1; }\n");
    let bad: [&[u8]; 5] =
        [b"{}", b"not json", b"[1]", b"\xff", br#"{"session_id":"a","hook_event_name":"PreToolUse"}"#];
    for caller in CALLERS {
        for told in bad {
            let said = desk.stop_with(&["--for", caller.name], told, &[]);
            assert!(
                said.code == Some(0) && (caller.back)(&said.answer).is_none(),
                "{}: {said:?}",
                caller.name
            );
            assert!(
                format!("{}{}", said.told(), said.err).contains("not approved"),
                "{}: {said:?}",
                caller.name
            );
        }
    }
    let unknown = desk.stop_with(&["--for", "nobody"], b"{}", &[]);
    assert_eq!(unknown.code, Some(1), "2 would hold the session: {unknown:?}");
}

#[test]
fn the_settings_name_a_command_that_judges() {
    for caller in CALLERS {
        let desk = Desk::new(&[REJECT]);
        let mut print = desk.command(env!("CARGO_BIN_EXE_gadfly"), &["hook", "print", "--for", caller.name]);
        let printed = print.output().unwrap();
        let settings: Value = serde_json::from_slice(&printed.stdout).unwrap();
        let event = settings["hooks"].as_object().unwrap().values().next().unwrap()[0].clone();
        let hook = if event["hooks"].is_array() { event["hooks"][0].clone() } else { event };
        let command = hook["command"].as_str().or(hook["bash"].as_str()).unwrap();
        let args: Vec<&str> = command.strip_prefix("gadfly hook stop ").unwrap().split(' ').collect();
        desk.write("a.rs", "fn a() { 1; }\n");
        let said = desk.stop_with(&args, caller.told(&desk, false).to_string().as_bytes(), &[]);
        assert!((caller.back)(&said.answer).is_some(), "{}: {said:?}", caller.name);
    }
}
