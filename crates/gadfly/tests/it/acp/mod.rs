//! `gadfly acp` at the real binary, between an editor and an agent that speaks the protocol by its official crate.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

mod editor;
mod sdk;

use serde_json::json;

use crate::hook::desk::{APPROVE, Desk, REJECT};
use editor::Editor;

const MENDS: [&str; 4] = [
    "when=handle the empty list",
    "own-write=a.rs:fn a() { mended() }",
    "when=",
    "own-write=a.rs:fn a() { todo!() }",
];

#[test]
fn a_turn_whose_change_is_approved_ends_as_the_agent_ended_it() {
    let desk = Desk::new(&[APPROVE]);
    let mut editor = Editor::open(&desk, &[], &["say=On it.", "write=b.rs:fn b() {}"]).enter();
    let seen = editor.prompt("Add b");
    assert_eq!(seen.stop(), "end_turn", "{seen:?}");
    assert!(seen.said.contains("On it.") && seen.said.contains("Gadfly: approved by judge"), "{}", seen.said);
    let runs = desk.runs();
    assert_eq!(runs.len(), 1, "{runs:?}");
    assert_eq!(runs[0]["state"], "approved");
    let shown = desk.shown(&runs[0]);
    assert!(shown.contains("judge"), "{shown}");
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn a_rejection_goes_back_to_the_agent_before_the_editor_hears_of_an_end() {
    let desk = Desk::new(&[REJECT, APPROVE]);
    let mut editor = Editor::open(&desk, &[], &MENDS).enter();
    let seen = editor.prompt("Write a");
    assert_eq!(seen.stop(), "end_turn", "{seen:?}");
    assert!(seen.said.contains("the critic asks for more"), "{}", seen.said);
    assert!(seen.said.contains("approved by judge"), "{}", seen.said);
    assert_eq!(std::fs::read_to_string(desk.path("a.rs")).unwrap(), "fn a() { mended() }");
    let runs = desk.runs();
    assert!(runs.len() == 1 && runs[0]["rounds"] == 2, "one loop of two rounds: {runs:?}");
    // The answer was the last word: the session goes on as ever.
    assert_eq!(editor.prompt("Again, please").stop(), "end_turn");
}

#[test]
fn where_no_approval_comes_the_person_decides() {
    for (choice, words) in [("leave", "It stays as it is."), ("accept", "accepted by you")] {
        let desk = Desk::new(&[REJECT]);
        let mut editor = Editor::open(&desk, &["--rounds", "1"], &["own-write=a.rs:worse"]).enter();
        editor.chooses = choice;
        let seen = editor.prompt("Write a");
        assert_eq!(seen.stop(), "end_turn", "{seen:?}");
        let question =
            seen.asked.iter().find(|asked| asked["method"] == "session/request_permission").unwrap();
        assert!(question["params"].to_string().contains("handle the empty list"), "{question}");
        assert!(seen.said.contains(words), "{choice}: {}", seen.said);
        assert_ne!(desk.runs()[0]["state"], "approved", "a person's word is not the critic's");
    }
}

#[test]
fn what_nobody_could_judge_is_said_and_let_through_or_asked_about() {
    for (flag, asks) in [("--fail-open", false), ("--fail-closed", true)] {
        let desk = Desk::new(&["!crash"]);
        let mut editor = Editor::open(&desk, &[flag], &["own-write=a.rs:other"]).enter();
        let seen = editor.prompt("Write a");
        assert_eq!(seen.stop(), "end_turn", "{seen:?}");
        assert_eq!(!seen.asked.is_empty(), asks, "{flag}: {seen:?}");
        assert!(seen.said.contains("not approved") && !seen.said.contains("approved by"), "{}", seen.said);
    }
}

#[test]
fn permissions_files_and_terminals_pass_both_ways() {
    let desk = Desk::new(&[APPROVE]);
    let words = ["ask=execute:make all", "read=a.rs", "run=make", "write=b.rs:fn b() {}"];
    let mut editor = Editor::open(&desk, &[], &words).enter();
    editor.chooses = "none of them";
    let seen = editor.prompt("Add b");
    let methods: Vec<&str> = seen.asked.iter().filter_map(|asked| asked["method"].as_str()).collect();
    for method in ["session/request_permission", "fs/read_text_file", "terminal/create", "fs/write_text_file"]
    {
        assert!(methods.contains(&method), "{methods:?}");
    }
    assert!(
        seen.said.contains("fn a() {}") && seen.said.contains("from the editor's terminal"),
        "{}",
        seen.said
    );
    assert!(seen.said.contains("approved by judge"), "{}", seen.said);
}

#[test]
fn every_line_arrives_as_it_was_in_its_order() {
    let desk = Desk::new(&[]);
    // A program that says what it hears: each line passes twice.
    let mut editor = Editor::before(&desk, &["--", "cat"]);
    let lines: Vec<String> = (0..1_000)
        .map(|n| match n % 4 {
            0 => json!({ "jsonrpc": "2.0", "id": n, "method": "session/later", "params": { "new": [n, null] } }),
            1 => json!({ "jsonrpc": "2.0", "id": format!("x-{n}"), "result": { "unknown": "é\u{2028}" } }),
            2 => json!({ "method": "session/update", "params": { "sessionId": "s", "update": { "sessionUpdate": "odd" } } }),
            _ => json!({ "jsonrpc": "2.0", "id": n, "error": { "code": -1, "message": "x", "data": { "n": n } } }),
        })
        .map(|message| format!(" {message}"))
        .collect();
    for line in &lines {
        editor.raw(line);
        assert_eq!(&editor.line(), line);
    }
    for line in &lines {
        editor.raw(line);
    }
    for line in &lines {
        assert_eq!(&editor.line(), line);
    }
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn a_turn_without_a_change_is_not_judged_and_that_is_said_once() {
    let desk = Desk::new(&[]);
    let mut editor = Editor::open(&desk, &[], &["say=Yes."]).enter();
    assert!(editor.prompt("Is it so?").said.contains("nothing changed in this turn"));
    let second = editor.prompt("Sure?");
    assert_eq!((second.stop(), second.said.as_str()), ("end_turn", "Yes."));
    assert!(desk.runs().is_empty());
}

#[test]
fn the_person_switches_judging_off_for_a_turn_and_for_the_session() {
    let desk = Desk::new(&[APPROVE]);
    let mut editor = Editor::open(&desk, &[], &["echo", "own-write=a.rs:one"]).enter();
    let turn = editor.prompt("/gadfly off rename it");
    assert!(turn.said.starts_with("rename it") && !turn.said.contains("Gadfly"), "{}", turn.said);
    assert!(editor.prompt("/gadfly off").said.contains("judging is off"));
    assert!(!editor.prompt("more").said.contains("Gadfly"));
    assert!(desk.runs().is_empty());
    assert!(editor.prompt("/gadfly on").said.contains("judging is on again"));
    desk.write("a.rs", "two\n");
    assert!(editor.prompt("and now").said.contains("approved by judge"));
}

#[test]
fn cancelling_ends_the_judging_too() {
    let desk = Desk::new(&["!hang"]);
    let mut editor = Editor::open(&desk, &[], &["own-write=a.rs:other"]).enter();
    let seen = editor.cancelled_after("Write a", "judges the change");
    assert_eq!(seen.stop(), "cancelled", "{seen:?}");
    assert!(!seen.said.contains("approved by"), "{}", seen.said);
}

#[test]
fn what_a_crash_left_unjudged_is_told_when_the_session_is_loaded() {
    let desk = Desk::new(&["!hang"]);
    let words = ["loads", "own-write=a.rs:other"];
    Editor::open(&desk, &[], &words).enter().killed_while_judged("Write a", &desk);
    let mut editor = Editor::open(&desk, &[], &words);
    let load = json!({ "sessionId": "session-1", "cwd": desk.path(""), "mcpServers": [] });
    let loaded = editor.ask("session/load", &load);
    assert!(loaded.answer.get("result").is_some(), "{loaded:?}");
    let next = editor.prompt("/gadfly off go on");
    let told = format!("{}{}", loaded.said, next.said);
    assert!(told.contains("was not judged to its end"), "{told}");
}

#[test]
fn a_turn_that_was_cut_off_before_its_run_began_is_told_once_when_the_session_is_loaded() {
    let desk = Desk::new(&[APPROVE]);
    let words = ["loads", "own-write=a.rs:other", "say=Written.", "hang"];
    Editor::open(&desk, &[], &words).enter().killed_after("Write a", "Written.");
    assert!(desk.runs().is_empty(), "nothing had begun");
    let load = json!({ "sessionId": "session-1", "cwd": desk.path(""), "mcpServers": [] });
    // An agent that does not take the session up: nobody would read it.
    let mut refuses = Editor::open(&desk, &[], &["loads", "forgets"]);
    assert!(refuses.ask("session/load", &load).answer.get("error").is_some());
    assert_eq!(refuses.leave(), Some(0));
    for is_told in [true, false] {
        let mut editor = Editor::open(&desk, &[], &["loads", "own-write=b.rs:new"]);
        let loaded = editor.ask("session/load", &load);
        let next = editor.prompt("go on");
        let told = format!("{}{}", loaded.said, next.said);
        assert_eq!(told.contains("was not judged to its end"), is_told, "{told}");
        assert_eq!(editor.leave(), Some(0));
    }
}

#[test]
fn an_editor_by_the_official_sdk_sees_a_turn_approved_and_one_mended() {
    let desk = Desk::new(&[APPROVE]);
    let Some(seen) = sdk::played(&desk, &["ask=execute:make", "run=echo hi", "own-write=b.rs:new"]) else {
        return;
    };
    assert_eq!(seen["stop"], "end_turn", "{seen}");
    assert!(seen["permissions"] == 1 && seen["terminals"] == 1, "{seen}");
    assert!(seen["said"].as_str().unwrap().contains("approved by judge"), "{seen}");
    let desk = Desk::new(&[REJECT, APPROVE]);
    let seen = sdk::played(&desk, &MENDS).unwrap();
    let said = seen["said"].as_str().unwrap();
    assert!(said.contains("asks for more") && said.contains("approved by judge"), "{seen}");
}

#[test]
fn an_agent_that_cannot_be_started_or_dies_is_an_error_and_not_an_approval() {
    let desk = Desk::new(&[]);
    assert_eq!(Editor::before(&desk, &["--", "no-such-agent-anywhere"]).ended(), Some(1));
    assert_eq!(Editor::before(&desk, &[]).ended(), Some(2), "no agent is named");
    assert_ne!(Editor::before(&desk, &["--", "false"]).ended(), Some(0));
}
