//! Commands of a criterion: in a fresh folder, once more where they fail, and between two turns where they are quick.

use super::game::{Goal, Plays2, begun, goal, seated, told};
use crate::effect::EffectKind;
use crate::goal::Already;
use crate::protocol::Protocols;
use crate::protocol::goal::Criterion;
use crate::replay::replay;
use crate::turn::Role;

fn is_fresh(table: &Goal) -> Option<bool> {
    match table.open().kind {
        EffectKind::Verify(verify) => Some(verify.fresh),
        _ => None,
    }
}

fn replays(table: &Goal) {
    let records = table.records.iter().map(|(input, step)| (input, step));
    if let Err(difference) = replay(Protocols::shipped(), records) {
        panic!("{difference:?}\n{}", table.log());
    }
}

#[test]
fn what_passes_only_where_it_was_worked_on_has_not_passed() {
    let mut table = goal();
    table.claims().sees(&[("a.rs", Some("x"))]);
    assert_eq!(is_fresh(&table), Some(false));
    table.verifies_once(0, "ok");
    assert_eq!(is_fresh(&table), Some(true), "{}", table.log());
    table.verifies_once(1, "no such module").verifies_once(1, "no such module");
    assert!(table.asked(Role::Worker), "{}", table.log());
    let told = told(&table);
    assert!(told.contains("not in a fresh one") && told.contains("no such module"), "{told}");
    replays(&table);
}

#[test]
fn in_place_nothing_is_delivered_and_the_folder_itself_counts() {
    let mut table = begun(seated(|s| (s.critic, s.acceptance) = (None, None)));
    table.claims().sees(&[]).verifies_once(0, "ok").sees(&[]);
    assert_eq!(table.class(), "approved", "{}", table.log());
}

#[test]
fn every_command_that_passed_is_run_in_a_fresh_folder_and_nothing_else_is_asked_twice() {
    let shell = |command: &str| Criterion::Shell {
        command: command.into(),
        exit_code: 0,
        timeout_ms: 1000,
        evidence: Vec::new(),
    };
    let judge = Criterion::Judge { question: "is it good?".into() };
    let any = Criterion::Any(vec![shell("fails"), shell("works")]);
    let until = Criterion::All(vec![shell("first"), any, judge]);
    let mut table = begun(seated(|s| s.until = until));
    table.claims().sees(&[]).verifies_once(0, "ok");
    table.verifies_once(1, "no").verifies_once(1, "no").verifies_once(0, "ok").says("YES it is");
    let mut commands = Vec::new();
    while let EffectKind::Verify(verify) = table.open().kind {
        assert!(verify.fresh);
        commands.push(verify.command);
        table.verifies_once(0, "ok");
    }
    assert_eq!(commands, ["first", "works"], "{}", table.log());
    table.accepted();
    assert_eq!(table.class(), "approved", "{}", table.log());
    replays(&table);
}

#[test]
fn a_flaky_check_never_passes_and_is_no_fault_of_the_workers() {
    let flaky = || {
        let mut table = goal();
        table.claims().sees(&[]).verifies_once(1, "timing").verifies_once(0, "ok");
        assert!(matches!(table.open().kind, EffectKind::Ask(_)), "{}", table.log());
        assert!(table.log().contains("tried: Flaky"), "{}", table.log());
        table
    };
    let mut accepted = flaky();
    accepted.answers("accept").accepted();
    assert_eq!(accepted.class(), "approved");
    assert!(
        accepted.log().contains("verified: a person accepts it: `make test` is flaky"),
        "{}",
        accepted.log()
    );
    let mut again = flaky();
    again.answers("again").verifies(0, "ok").accepted();
    assert_eq!(again.class(), "approved", "{}", again.log());
    let mut rejected = flaky();
    rejected.answers("reject it must not race");
    assert!(told(&rejected).contains("it must not race"), "{}", rejected.log());
    replays(&rejected);
    // In the fresh folder too.
    let mut fresh = goal();
    fresh.claims().sees(&[]).verifies_once(0, "ok").verifies_once(1, "timing").verifies_once(0, "ok");
    assert!(matches!(fresh.open().kind, EffectKind::Ask(_)), "{}", fresh.log());
}

#[test]
fn what_holds_is_noticed_between_two_turns_where_the_check_is_quick() {
    let tried = |took: fn(&mut Goal)| {
        let mut table = begun(seated(|s| (s.critic, s.already) = (None, Some(Already::Stop))));
        took(&mut table);
        for n in 0..10 {
            table.reads_something(n);
        }
        table
    };
    let mut quick = tried(|table| _ = table.verifies(1, "red"));
    assert!(matches!(quick.open().kind, EffectKind::Look(_)), "{}", quick.log());
    quick.sees(&[("a.rs", Some("x"))]).verifies(0, "ok").accepted();
    assert_eq!(quick.class(), "approved", "{}", quick.log());
    replays(&quick);
    // Nothing changed since it was found not to hold: only a look.
    let mut idle = tried(|table| _ = table.verifies(1, "red"));
    idle.sees(&[]);
    assert!(idle.asked(Role::Worker), "{}", idle.log());
    idle.reads_something(11);
    assert!(idle.asked(Role::Worker), "not at every step: {}", idle.log());
    // It does not hold: the worker goes on undisturbed.
    let mut red = tried(|table| _ = table.verifies(1, "red"));
    red.sees(&[("a.rs", Some("x"))]).verifies_once(1, "red");
    assert!(red.asked(Role::Worker), "{}", red.log());
    assert!(!told(&red).contains("Verification failed"));
    let slow = tried(|table| _ = table.verifies_slowly(1, "red", 60_000));
    assert!(slow.asked(Role::Worker), "{}", slow.log());
}
