//! Caps, budgets, pausing, steering.

use super::game::{Goal, Plays2, begun, goal, seated, told};
use crate::budget::{Limits, Money, Usage};
use crate::effect::{CallFailure, EffectKind, FailureKind, Reply};
use crate::input::{Control, InputKind};
use crate::protocol::Protocols;
use crate::protocol::goal::Criterion;
use crate::replay::replay;
use crate::tool::ToolEnd;
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
    table.wants(&calls).did(ToolEnd::Done, "x");
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
    watched.wants(&[("read_file", r#"{"path":"a"}"#)]).passes(1100).did(ToolEnd::Done, "x");
    assert!(watched.asked(Role::Advisor), "{}", watched.log());
    watched.says("time is up").resume_with(Limits { active_ms: Some(9000), ..Limits::default() }, None);
    assert!(watched.asked(Role::Critic), "{}", watched.log());
    let mut claimed = seated(|s| s.interval = 1);
    claimed.settings.limits = limits;
    let mut claimed = begun(claimed);
    claimed.runs("make", 0, "ok").sees(&[]).passes(1100).says("ACHIEVED\nall green");
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
    table.did(ToolEnd::Done, "x");
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
    held.did(ToolEnd::Done, "x").control(steer());
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
    table.replies(Reply::Cancelled { sent: true });
    assert_eq!(table.class(), "aborted");
}

const TIME: Limits =
    Limits { tokens: None, money: None, active_ms: Some(1000), calls: None, steps: None, turns: None };
const MORE_TIME: Limits = Limits { active_ms: Some(9000), ..TIME };

/// Dora says whether the goal is reached.
fn judged(change: impl FnOnce(&mut Goal)) -> Goal {
    let mut table = seated(|s| {
        (s.critic, s.judge) = (None, Some("dora".into()));
        s.until = Criterion::Judge { question: "Is it fine?".into() };
    });
    change(&mut table);
    begun(table)
}

fn said(table: &Goal) -> usize {
    table.log().matches("last words: ").count()
}

/// The worker is asked for its last words. They are said once and paid once; resuming without more parks again and
/// costs nothing.
fn speaks_once(table: &mut Goal) {
    assert!(table.asked(Role::Advisor) && table.class() == "going", "{}", table.log());
    let asked = table.calls(Role::Advisor);
    table.passes(50).says("So far I came.");
    for _ in 0..2 {
        assert_eq!((table.class().as_str(), said(table)), ("out_of_budget", 1), "{}", table.log());
        let before = table.records.len();
        table.resume();
        let effects = table.records[before..].iter().map(|(_, step)| step.effects.len()).sum::<usize>();
        assert_eq!((effects, table.calls(Role::Advisor)), (0, asked), "{}", table.log());
    }
    assert_eq!((table.class().as_str(), said(table)), ("out_of_budget", 1), "{}", table.log());
}

/// However it is cut, the rebuilt engine makes the same decisions.
fn replays(table: &Goal) {
    for cut in 1..=table.records.len() {
        let records = table.records[..cut].iter().map(|(input, step)| (input, step));
        if let Err(difference) = replay(Protocols::shipped(), records) {
            panic!("cut at {cut}: {difference:?}");
        }
    }
}

#[test]
fn a_verification_that_the_clock_cuts_or_refuses_gives_last_words_and_is_made_when_there_is_time() {
    let mut cut = capped(TIME);
    cut.claims().sees(&[]).passes(1000).fails(FailureKind::Timeout);
    let mut refused = capped(TIME);
    refused.claims().passes(1000).sees(&[]);
    for mut table in [cut, refused] {
        assert!(told(&table).contains("cap of 1 active seconds"), "{}", table.log());
        speaks_once(&mut table);
        table.resume_with(MORE_TIME, None);
        assert!(matches!(table.open().kind, EffectKind::Verify(_)), "{}", table.log());
        table.verifies(0, "ok").accepted();
        assert_eq!((table.class().as_str(), said(&table)), ("approved", 1), "{}", table.log());
        replays(&table);
    }
}

#[test]
fn a_tool_that_the_clock_cuts_gives_last_words_and_is_used_when_there_is_time() {
    let mut table = capped(TIME);
    let calls = [("read_file", r#"{"path":"a"}"#), ("read_file", r#"{"path":"b"}"#)];
    table.wants(&calls).passes(1000).fails(FailureKind::Timeout);
    speaks_once(&mut table);
    table.resume_with(MORE_TIME, None).did(ToolEnd::Done, "x").did(ToolEnd::Done, "y");
    assert!(table.log().contains("[2] read_file(path=b) → ok: y"), "{}", table.log());
    assert!(table.asked(Role::Worker), "{}", table.log());
    replays(&table);
}

#[test]
fn a_judge_that_the_clock_cuts_or_refuses_gives_last_words_and_is_asked_when_there_is_time() {
    let mut cut = judged(|table| table.settings.limits = TIME);
    cut.claims().sees(&[]).passes(1000).fails(FailureKind::Timeout);
    let mut refused = judged(|table| table.settings.limits = TIME);
    refused.claims().passes(1000).sees(&[]);
    for mut table in [cut, refused] {
        speaks_once(&mut table);
        table.resume_with(MORE_TIME, None);
        assert!(table.asked(Role::Critic), "{}", table.log());
        table.says("YES\nit is").accepted();
        assert_eq!((table.class().as_str(), said(&table)), ("approved", 1), "{}", table.log());
        replays(&table);
    }
}

#[test]
fn a_judge_there_is_no_money_for_gives_last_words_and_is_asked_when_there_is() {
    let mut table = judged(|table| {
        table.limits.money = Some(Money(400));
        table.agents.entry("dora".into()).and_modify(|card| card.per_call.money = Some(Money(500)));
    });
    table.claims().sees(&[]);
    assert!(told(&table).contains("the next call may cost"), "{}", table.log());
    speaks_once(&mut table);
    table.resume_with(Limits { money: Some(Money(2000)), ..Limits::default() }, None);
    assert!(table.asked(Role::Critic), "{}", table.log());
    table.says("YES\nit is").accepted();
    assert_eq!((table.class().as_str(), said(&table)), ("approved", 1), "{}", table.log());
    replays(&table);
}

#[test]
fn a_turn_beyond_the_number_of_calls_gives_last_words() {
    let calls = |n| Limits { calls: Some(n), ..Limits::default() };
    let mut table = begun(seated(|s| s.critic = None).limited(calls(2)));
    table.reads_something(1).reads_something(2);
    speaks_once(&mut table);
    // Last words are among the calls that were made, and no cap counts them.
    assert_eq!(table.engine.spent().calls, 3, "{}", table.log());
    table.resume_with(calls(3), None);
    assert!(table.asked(Role::Worker), "{}", table.log());
    replays(&table);
}

#[test]
fn a_turn_that_the_agents_own_clock_cuts_gives_last_words_and_a_persons_word_waits_for_the_next() {
    let mut table = seated(|s| s.critic = None);
    table.agents.entry("ann".into()).and_modify(|card| card.limits = TIME);
    let mut table = begun(table);
    table.passes(1000).fails(FailureKind::Timeout);
    table.control(Control::Steer { text: "use metres".into(), by: "eve".into() });
    speaks_once(&mut table);
    replays(&table);
}

#[test]
fn last_words_that_fail_or_cannot_be_paid_are_not_asked_for_again() {
    let mut failed = capped(TIME);
    failed.claims().sees(&[]).passes(1000).fails(FailureKind::Timeout).fails(FailureKind::Unavailable);
    let mut unpaid = judged(|table| {
        (table.settings.limits, table.limits.money) = (TIME, Some(Money(210)));
        table.agents.entry("dora".into()).and_modify(|card| card.per_call.money = Some(Money(150)));
        let ran =
            Criterion::Shell { command: "make".into(), exit_code: 0, timeout_ms: 1000, evidence: Vec::new() };
        let judge = table.settings.settings.until.clone();
        table.settings.settings.until = Criterion::All(vec![judge, ran]);
    });
    unpaid.claims().sees(&[]).says_using("YES\nit is", Usage { input: 100, ..Usage::default() });
    unpaid.passes(1000).fails(FailureKind::Timeout);
    assert_eq!((failed.calls(Role::Advisor), unpaid.calls(Role::Advisor)), (1, 0));
    for mut table in [failed, unpaid] {
        let asked = table.calls(Role::Advisor);
        table.resume().resume();
        assert_eq!((table.class().as_str(), said(&table)), ("out_of_budget", 1), "{}", table.log());
        assert_eq!(table.calls(Role::Advisor), asked, "{}", table.log());
        replays(&table);
    }
}

#[test]
fn a_process_that_dies_during_the_last_words_repeats_them_and_goes_on_if_there_is_more() {
    let spoken = || {
        let mut table = capped(TIME);
        table.claims().sees(&[]).passes(1000).fails(FailureKind::Timeout);
        table
    };
    let mut parks = spoken();
    parks.resume();
    speaks_once(&mut parks);
    replays(&parks);
    let mut goes_on = spoken();
    goes_on.resume_with(MORE_TIME, None).says_as("ann", "So far I came.");
    assert!(matches!(goes_on.open().kind, EffectKind::Verify(_)), "{}", goes_on.log());
    goes_on.verifies(0, "ok").accepted();
    assert_eq!((goes_on.class().as_str(), said(&goes_on)), ("approved", 1), "{}", goes_on.log());
    replays(&goes_on);
    let mut too_little = spoken();
    too_little.passes(200).resume_with(Limits { active_ms: Some(1100), ..Limits::default() }, None);
    too_little.says("So far I came.");
    assert_eq!(too_little.class(), "out_of_budget", "{}", too_little.log());
    too_little.resume_with(MORE_TIME, None).verifies(0, "ok").accepted();
    assert_eq!(too_little.class(), "approved", "{}", too_little.log());
    let mut noticed = capped(Limits { turns: Some(1), ..Limits::default() });
    noticed.reads_something(1).resume_with(Limits { turns: Some(9), ..Limits::default() }, None);
    noticed.says("So far I came.");
    assert!(noticed.asked(Role::Worker), "{}", noticed.log());
    replays(&noticed);
}

#[test]
fn nothing_is_said_while_it_is_to_pause_but_when_it_goes_on() {
    let mut table = capped(TIME);
    table.claims().sees(&[]).control(Control::Pause).passes(1000).fails(FailureKind::Timeout);
    assert_eq!((table.class().as_str(), said(&table)), ("out_of_budget", 0), "{}", table.log());
    table.resume();
    speaks_once(&mut table);
    replays(&table);
}

#[test]
fn a_goal_that_is_reached_needs_no_time_for_its_last_look() {
    let mut table = seated(|s| (s.critic, s.acceptance) = (None, None)).limited(TIME);
    table.settings.limits = Limits::default();
    let mut table = begun(table);
    table.claims().sees(&[]).passes(1000).verifies(0, "ok");
    assert_eq!((table.class().as_str(), said(&table)), ("approved", 0), "{}", table.log());
    replays(&table);
}

#[test]
fn a_lost_turn_there_is_no_time_for_gives_last_words_and_a_persons_word_changes_nothing_about_that() {
    let mut table = capped(TIME);
    table.passes(1000).resume();
    assert!(table.asked(Role::Advisor), "{}", table.log());
    table.control(Control::Steer { text: "use metres".into(), by: "eve".into() });
    speaks_once(&mut table);
    table.resume_with(MORE_TIME, None);
    assert!(told(&table).contains("PERSON: use metres"), "{}", table.log());
    replays(&table);
}

#[test]
fn a_critic_that_is_lost_with_the_last_words_is_asked_when_there_is_time() {
    let mut table = seated(|s| s.interval = 1);
    table.settings.limits = TIME;
    table.agents.entry("ann".into()).and_modify(|card| card.tools = false);
    let mut table = begun(table);
    table.steps("Edit a.rs");
    let effect = table.open_of("ann").id;
    let message = "alas".to_owned();
    let failure = CallFailure { kind: FailureKind::Timeout, message, usage: Usage::default() };
    let what = InputKind::Replied { effect, reply: Reply::Failed(failure) };
    table.passes(1000).try_put("cut", what, Vec::new()).unwrap();
    assert!(table.asked(Role::Advisor) && table.asked(Role::Critic), "{}", table.log());
    table.resume();
    speaks_once(&mut table);
    table.resume_with(MORE_TIME, None).says("PROGRESSING\nfine").sees(&[]);
    assert!(table.asked(Role::Worker), "{}", table.log());
    replays(&table);
}
