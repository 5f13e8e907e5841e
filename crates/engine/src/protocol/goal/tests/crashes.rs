//! A process dies: what only reads is repeated, a write is looked at, a person is asked about the rest.

use super::game::{Plays2, begun, goal, seated, told};
use crate::effect::EffectKind;
use crate::protocol::Protocols;
use crate::replay::replay;
use crate::tool::{ToolAction, ToolEnd};
use crate::turn::Role;

#[test]
fn a_read_is_repeated() {
    let mut table = goal();
    table.wants(&[("read_file", r#"{"path":"a"}"#)]).resume();
    let EffectKind::Tool(tool) = table.open().kind else { panic!("{}", table.log()) };
    assert!(matches!(tool.action, ToolAction::ReadFile { .. }));
    table.did(ToolEnd::Done, "x");
    assert!(table.asked(Role::Worker));
    assert!(!table.log().contains("unknown"), "{}", table.log());
}

#[test]
fn a_write_that_was_done_is_not_done_again() {
    let mut table = begun(seated(|s| s.critic = None));
    table.wants(&[("write_file", r#"{"path":"a","content":"x"}"#)]).resume();
    assert!(table.log().contains("[1] write_file unknown: a is looked at first"), "{}", table.log());
    table.did(ToolEnd::Done, "x");
    assert!(table.asked(Role::Worker), "{}", table.log());
    assert!(told(&table).contains("GOAL:"));
}

#[test]
fn a_write_that_was_not_done_is_done_again() {
    for found in [(ToolEnd::Error, "there is no such file"), (ToolEnd::Done, "something else")] {
        let mut table = begun(seated(|s| s.critic = None));
        table.wants(&[("write_file", r#"{"path":"a","content":"x"}"#)]).resume().did(found.0, found.1);
        let EffectKind::Tool(tool) = table.open().kind else { panic!("{}", table.log()) };
        assert!(matches!(tool.action, ToolAction::WriteFile { .. }));
    }
}

#[test]
fn an_edit_is_judged_by_what_the_file_holds() {
    let edit = [("edit_file", r#"{"path":"a","old":"one","new":"two"}"#)];
    let mut done = begun(seated(|s| s.critic = None));
    done.wants(&edit).resume().did(ToolEnd::Done, "two three");
    assert!(done.asked(Role::Worker), "{}", done.log());
    let mut undone = begun(seated(|s| s.critic = None));
    undone.wants(&edit).resume().did(ToolEnd::Done, "one three");
    assert!(matches!(undone.open().kind, EffectKind::Tool(_)), "{}", undone.log());
}

#[test]
fn an_edit_that_only_adds_is_not_made_twice() {
    let edit = [("edit_file", r#"{"path":"a","old":"one\n","new":"one\ntwo\n"}"#)];
    let mut done = begun(seated(|s| s.critic = None));
    done.wants(&edit).resume().did(ToolEnd::Done, "one\ntwo\nthree\n");
    assert!(done.asked(Role::Worker), "{}", done.log());
    let mut undone = begun(seated(|s| s.critic = None));
    undone.wants(&edit).resume().did(ToolEnd::Done, "one\nthree\n");
    assert!(matches!(undone.open().kind, EffectKind::Tool(_)), "{}", undone.log());
}

#[test]
fn about_a_command_a_person_is_asked_and_it_is_never_repeated_unasked() {
    let command = [("run_command", r#"{"command":"./deploy"}"#)];
    let mut table = begun(seated(|s| s.critic = None));
    table.wants(&command).resume();
    assert_eq!(table.class(), "waiting(question)");
    assert!(table.log().contains("run_command unknown: a person is asked"), "{}", table.log());
    table.resume();
    assert_eq!(table.class(), "waiting(question)");
    table.answers("skip");
    assert!(table.log().contains("run_command(command=./deploy) → unknown"), "{}", table.log());
    let mut again = begun(seated(|s| s.critic = None));
    again.wants(&command).resume().answers("again");
    assert!(matches!(again.open().kind, EffectKind::Tool(_)), "{}", again.log());
}

/// A goal with everything in it, cut after every record: the rebuilt engine makes the same decisions.
#[test]
fn live_and_replayed_are_the_same() {
    let mut table = goal();
    table.runs("make", 1, "no").says("hm").reads_something(1).reads_something(2).sees(&[]);
    table.says("STUCK\nwhy");
    table
        .wants(&[("fetch_url", r#"{"url":"http://x"}"#)])
        .answers("always")
        .did(ToolEnd::Status(404), "none");
    table.claims().sees(&[("tests/a_test.py", None)]).verifies(1, "no");
    table.reads_something(4).resume().reads_something(5);
    for cut in 1..table.records.len() {
        let records = table.records[..cut].iter().map(|(input, step)| (input, step));
        if let Err(difference) = replay(Protocols::shipped(), records) {
            panic!("cut at {cut}: {difference:?}");
        }
    }
}
