//! The criterion before anything is paid, and where a cap ends the goal.

use super::game::{Goal, Plays2, begun, seated, told};
use crate::budget::Limits;
use crate::effect::EffectKind;
use crate::goal::Already;
use crate::protocol::Protocols;
use crate::protocol::goal::{Criterion, FileCheck, GoalSettings};
use crate::replay::replay;
use crate::turn::Role;

fn tried(change: impl FnOnce(&mut GoalSettings)) -> Goal {
    begun(seated(|s| {
        (s.critic, s.already) = (None, Some(Already::Stop));
        change(s);
    }))
}

fn capped(limits: Limits) -> Goal {
    let mut table = seated(|s| (s.critic, s.already) = (None, Some(Already::Stop)));
    table.settings.limits = limits;
    let mut table = begun(table);
    table.verifies(2, "one test fails");
    table
}

fn replays(table: &Goal) {
    let records = table.records.iter().map(|(input, step)| (input, step));
    if let Err(difference) = replay(Protocols::shipped(), records) {
        panic!("{difference:?}\n{}", table.log());
    }
}

#[test]
fn what_holds_already_ends_the_goal_before_anybody_is_asked() {
    let mut table = tried(|_| {});
    assert!(!table.asked(Role::Worker), "{}", table.log());
    table.verifies(0, "ok");
    assert_eq!(table.class(), "approved");
    assert_eq!(table.calls(Role::Worker), 0);
    assert!(table.log().contains("tried: Met: `make test` exits with 0"), "{}", table.log());
    assert!(!table.log().contains("accept"), "nothing is delivered: {}", table.log());
    replays(&table);
}

#[test]
fn what_does_not_hold_is_worked_on() {
    let mut table = tried(|_| {});
    table.verifies(2, "one test fails");
    assert!(table.asked(Role::Worker), "{}", table.log());
    assert!(!told(&table).contains("one test fails"), "nobody claimed anything");
    assert!(table.log().contains("tried: NotMet"), "{}", table.log());
}

#[test]
fn a_person_chooses_and_a_flag_works_anyway() {
    let mut asked = tried(|s| s.already = Some(Already::Ask));
    asked.verifies(0, "ok");
    assert!(matches!(asked.open().kind, EffectKind::Ask(_)), "{}", asked.log());
    asked.answers("done");
    assert_eq!((asked.class().as_str(), asked.calls(Role::Worker)), ("approved", 0), "{}", asked.log());
    let mut works = tried(|s| s.already = Some(Already::Ask));
    works.verifies(0, "ok").answers("work");
    assert!(works.asked(Role::Worker), "{}", works.log());
    let mut anyway = tried(|s| s.already = Some(Already::Work));
    anyway.verifies(0, "ok");
    assert!(anyway.asked(Role::Worker), "{}", anyway.log());
}

#[test]
fn what_cannot_be_run_is_said_and_worked_on() {
    for (code, output) in
        [(127, "sh: 1: mkae: not found"), (1, "denied\n[it ran in a sandbox: it may write /w]\n")]
    {
        let mut table = tried(|_| {});
        table.verifies(code, output);
        assert!(table.log().contains("tried: CannotRun"), "{}", table.log());
        assert!(table.asked(Role::Worker), "{}", table.log());
    }
}

#[test]
fn nobody_is_paid_or_asked_for_a_try() {
    let judge = || Criterion::Judge { question: "is it good?".into() };
    let make = || Criterion::Shell {
        command: "make test".into(),
        exit_code: 0,
        timeout_ms: 1000,
        evidence: Vec::new(),
    };
    let only_judge = tried(|s| s.until = judge());
    assert!(only_judge.asked(Role::Worker), "{}", only_judge.log());
    let mut both = tried(|s| s.until = Criterion::All(vec![make(), judge()]));
    both.verifies(0, "ok");
    assert!(both.asked(Role::Worker) && !both.asked(Role::Critic), "{}", both.log());
    let mut any = tried(|s| s.until = Criterion::Any(vec![judge(), Criterion::Manual, make()]));
    any.verifies(0, "ok");
    assert_eq!(any.class(), "approved", "{}", any.log());
    let exists = tried(|s| s.until = Criterion::File { path: "a".into(), check: FileCheck::Exists });
    assert!(matches!(exists.open().kind, EffectKind::Look(_)), "{}", exists.log());
}

#[test]
fn a_goal_that_holds_at_a_cap_is_reached() {
    let mut table = capped(Limits { steps: Some(2), ..Limits::default() });
    table.reads_something(1).reads_something(2);
    assert!(!table.asked(Role::Advisor), "{}", table.log());
    table.sees(&[("a.rs", Some("x"))]).verifies(0, "ok").accepted();
    assert_eq!(table.class(), "approved", "{}", table.log());
    assert_eq!(table.calls(Role::Advisor), 0, "no last words about what is reached");
    replays(&table);
}

#[test]
fn at_a_cap_it_is_tried_once_for_each_state() {
    let mut table = capped(Limits { steps: Some(1), ..Limits::default() });
    table.reads_something(1).sees(&[("a.rs", Some("x"))]).verifies(2, "still red");
    table.says("I read a file.");
    assert_eq!(table.class(), "out_of_budget");
    // Nothing was raised and nothing changed: a look, and no other check.
    table.resume().sees(&[("a.rs", Some("x"))]);
    assert_eq!(table.class(), "out_of_budget", "{}", table.log());
    replays(&table);
}

#[test]
fn where_nothing_changed_since_it_was_tried_it_is_not_tried_again() {
    let mut table = capped(Limits { steps: Some(1), ..Limits::default() });
    table.reads_something(1).sees(&[]);
    assert!(table.asked(Role::Advisor), "{}", table.log());
}

#[test]
fn the_clock_does_not_keep_a_goal_from_being_tried() {
    let mut table = capped(Limits { active_ms: Some(1000), ..Limits::default() });
    table.passes(1100).wants(&[("read_file", r#"{"path":"a"}"#)]);
    table.sees(&[("a.rs", Some("x"))]).verifies(0, "ok").accepted();
    assert_eq!(table.class(), "approved", "{}", table.log());
}

#[test]
fn a_crash_in_the_middle_of_a_try_repeats_it() {
    let mut first = tried(|_| {});
    first.resume().verifies(0, "ok");
    assert_eq!(first.class(), "approved", "{}", first.log());
    let mut table = capped(Limits { steps: Some(1), ..Limits::default() });
    table.reads_something(1).resume().sees(&[("a.rs", Some("x"))]).resume().verifies(0, "ok").accepted();
    assert_eq!(table.class(), "approved", "{}", table.log());
    replays(&table);
}

#[test]
fn files_it_is_judged_by_are_asked_about_at_a_cap_too() {
    let mut table = capped(Limits { steps: Some(1), ..Limits::default() });
    table.reads_something(1).sees(&[("tests/a_test.py", None)]).verifies(0, "ok");
    assert!(matches!(table.open().kind, EffectKind::Ask(_)), "{}", table.log());
}
