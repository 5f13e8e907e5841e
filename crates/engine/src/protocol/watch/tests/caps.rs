//! Caps, budgets, pausing, steering.

use super::game::{Goal, Plays2, begun, goal, seated, told};
use crate::budget::{Limits, Money};
use crate::effect::{EffectKind, FailureKind};
use crate::input::Control;
use crate::turn::Role;

fn capped(limits: Limits) -> Goal {
    let mut table = seated(|s| s.critic = None);
    table.settings.limits = limits;
    begun(table)
}

#[test]
fn a_cap_gives_one_last_turn_without_tools_and_parks_with_what_is_done() {
    let mut table = capped(Limits { steps: Some(2), ..Limits::default() });
    table.reads_something(1).reads_something(2);
    let EffectKind::Turn(turn) = table.open().kind else { panic!("{}", table.log()) };
    assert_eq!((turn.role, turn.tools), (Role::Advisor, None));
    assert!(told(&table).contains("STOPPED BECAUSE: the run has a cap of 2 steps, used up"));
    table.says("I read two files.");
    assert_eq!(table.class(), "out_of_budget");
    // Nothing was raised: it says nothing twice.
    let before = table.calls(Role::Advisor);
    table.resume();
    assert_eq!((table.class().as_str(), table.calls(Role::Advisor)), ("out_of_budget", before));
    table.resume_with(Limits { steps: Some(5), ..Limits::default() }, None);
    assert!(table.asked(Role::Worker), "{}", table.log());
}

#[test]
fn a_claim_with_the_last_step_is_met_and_not_called_a_cap() {
    let mut table = capped(Limits { steps: Some(2), ..Limits::default() });
    table.runs("make test", 0, "ok").claims().sees(&[]).verifies(0, "ok").accepted();
    assert_eq!(table.class(), "approved");
}

#[test]
fn a_claim_beyond_the_last_step_of_a_turn_is_still_heard() {
    let mut table = capped(Limits { steps: Some(1), ..Limits::default() });
    let calls =
        [("read_file", r#"{"path":"a"}"#), ("list_files", "{}"), ("claim_complete", r#"{"rationale":"x"}"#)];
    table.wants(&calls).did(crate::tool::ToolEnd::Done, "x");
    assert!(!table.log().contains("list_files()"), "{}", table.log());
    table.sees(&[]).verifies(0, "ok").accepted();
    assert_eq!(table.class(), "approved");
}

#[test]
fn turns_without_a_step_count_too() {
    let mut table = capped(Limits { turns: Some(2), ..Limits::default() });
    table.says("one").says("two");
    table.says("sorry");
    assert_eq!(table.class(), "out_of_budget");
}

#[test]
fn active_time_is_a_cap_and_waiting_for_a_person_is_not_active() {
    let mut table = capped(Limits { active_ms: Some(1000), ..Limits::default() });
    table.passes(400).reads_something(1);
    table.passes(700).wants(&[("read_file", r#"{"path":"b"}"#)]);
    assert!(!table.log().contains("[2]"), "nothing is done any more: {}", table.log());
    assert!(told(&table).contains("cap of 1 active seconds"), "{}", table.log());
    table.says("time is up");
    assert_eq!(table.class(), "out_of_budget");
    table.resume_with(Limits { active_ms: Some(9000), ..Limits::default() }, None);
    assert!(table.asked(Role::Worker), "{}", table.log());
}

#[test]
fn the_time_of_the_last_words_is_no_reason_for_others() {
    let mut table = capped(Limits { active_ms: Some(1000), ..Limits::default() });
    table.passes(1100).wants(&[("read_file", r#"{"path":"a"}"#)]);
    table.passes(300).says("time is up");
    assert_eq!(table.class(), "out_of_budget");
    let before = table.calls(Role::Advisor);
    table.resume();
    assert_eq!((table.class().as_str(), table.calls(Role::Advisor)), ("out_of_budget", before));
}

#[test]
fn a_cap_at_the_critics_turn_or_at_a_claim_gives_last_words_too() {
    let limits = Limits { active_ms: Some(1000), ..Limits::default() };
    let mut watched = seated(|s| s.interval = 1);
    watched.settings.limits = limits;
    let mut watched = begun(watched);
    watched.wants(&[("read_file", r#"{"path":"a"}"#)]).passes(1100).did(crate::tool::ToolEnd::Done, "x");
    assert!(watched.asked(Role::Advisor), "{}", watched.log());
    watched.says("time is up").resume_with(Limits { active_ms: Some(9000), ..Limits::default() }, None);
    assert!(watched.asked(Role::Critic), "{}", watched.log());
    let mut claimed = seated(|s| s.interval = 1);
    claimed.settings.limits = limits;
    let mut claimed = begun(claimed);
    claimed.runs("make", 0, "ok").passes(1100).says("ACHIEVED\nall green");
    assert!(claimed.asked(Role::Advisor), "{}", claimed.log());
    claimed.says("time is up").resume_with(Limits { active_ms: Some(9000), ..Limits::default() }, None);
    claimed.sees(&[]).verifies(0, "ok").accepted();
    assert_eq!(claimed.class(), "approved", "{}", claimed.log());
}

#[test]
fn what_was_verified_in_place_is_reached_also_when_the_time_is_up() {
    let mut table = seated(|s| (s.critic, s.acceptance) = (None, None));
    table.settings.limits = Limits { active_ms: Some(1000), ..Limits::default() };
    let mut table = begun(table);
    table.runs("make", 0, "ok").claims().sees(&[]).passes(1100).verifies(0, "ok");
    assert_eq!(table.class(), "approved", "{}", table.log());
}

#[test]
fn a_call_that_times_out_with_the_clock_is_a_cap_too() {
    let mut table = capped(Limits { active_ms: Some(1000), ..Limits::default() });
    table.passes(1000).fails(FailureKind::Timeout);
    table.says("I was thinking.");
    assert_eq!(table.class(), "out_of_budget");
}

#[test]
fn money_is_kept_back_for_the_last_words() {
    // Each call may cost 100: the third turn would leave nothing for them.
    let mut table =
        seated(|s| s.critic = None).limited(Limits { money: Some(Money(250)), ..Limits::default() });
    table.settings.limits = Limits::default();
    let mut table = begun(table);
    table.reads_something(1).reads_something(2).reads_something(3);
    let mut spoke = false;
    for n in 4..12 {
        let EffectKind::Turn(turn) = table.open().kind else { panic!("{}", table.log()) };
        if turn.role == Role::Advisor {
            table.says("no money left");
            spoke = true;
            break;
        }
        table.reads_something(n);
    }
    assert!(spoke && table.class() == "out_of_budget", "{}", table.log());
}

#[test]
fn a_model_that_dies_parks_the_goal_and_resuming_asks_again() {
    let mut table = goal();
    table.reads_something(1).fails(FailureKind::Unavailable);
    assert_eq!(table.class(), "failed");
    table.resume();
    assert!(table.asked(Role::Worker));
    assert!(told(&table).contains("GOAL:"));
}

#[test]
fn a_persons_word_reaches_the_worker_at_its_next_turn_in_its_place() {
    let mut table = goal();
    table.reads_something(1);
    table.control(Control::Steer { text: "use metres".into(), by: "eve".into() });
    assert_eq!(table.calls(Role::Worker), 2, "the turn under way is not broken off");
    table.reads_something(2);
    assert!(told(&table).contains("PERSON: use metres"), "{}", table.log());
}

#[test]
fn a_persons_word_ends_a_pause() {
    let mut table = goal();
    table.says("a").says("b").says("c");
    assert_eq!(table.class(), "waiting(question)");
    table.control(Control::Steer { text: "begin with ls".into(), by: "eve".into() });
    assert!(table.asked(Role::Worker), "{}", table.log());
    assert!(told(&table).contains("PERSON: begin with ls"));
}

#[test]
fn pausing_lets_the_step_under_way_end_and_begins_nothing() {
    let mut table = goal();
    table.wants(&[("read_file", r#"{"path":"a"}"#)]).control(Control::Pause);
    table.did(crate::tool::ToolEnd::Done, "x");
    assert_eq!(table.class(), "waiting(paused)");
    table.resume();
    assert!(table.asked(Role::Worker));
}

#[test]
fn a_word_to_a_goal_that_stands_still_is_in_the_turn_it_goes_on_with() {
    let steer = || Control::Steer { text: "use metres".into(), by: "eve".into() };
    let mut paused = goal();
    paused.control(Control::Pause).wants(&[("claim_complete", r#"{"rationale":"x"}"#)]);
    assert_eq!(paused.class(), "waiting(paused)");
    let mut failed = goal();
    failed.reads_something(1).fails(FailureKind::Unavailable);
    failed.control(steer());
    assert_eq!(failed.class(), "failed", "{}", failed.log());
    failed.resume();
    assert!(told(&failed).contains("PERSON: use metres"), "{}", failed.log());
    let mut held = goal();
    held.wants(&[("read_file", r#"{"path":"a"}"#)]).control(Control::Pause);
    held.did(crate::tool::ToolEnd::Done, "x").control(steer());
    assert_eq!(held.class(), "waiting(paused)");
    let turns = held.calls(Role::Worker);
    held.resume();
    assert!(told(&held).contains("PERSON: use metres"), "{}", held.log());
    assert_eq!(held.calls(Role::Worker), turns + 1);
}

#[test]
fn cancelling_ends_it() {
    let mut table = goal();
    table.reads_something(1).control(Control::Cancel);
    table.replies(crate::effect::Reply::Cancelled { sent: true });
    assert_eq!(table.class(), "aborted");
}
