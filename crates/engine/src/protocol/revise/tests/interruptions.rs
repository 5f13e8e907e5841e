//! Failures, budgets, pauses, crashes and persons: what parks a loop and how it goes on.

use insta::assert_snapshot;

use super::harness::{Table, card};
use crate::budget::{Limits, Money, Usage};
use crate::effect::{CallFailure, EffectKind, FailureKind, Observation, Reply, StopReason};
use crate::input::{Control, InputKind};
use crate::machine::Refused;
use crate::turn::Role;

const YES: &str = "[STATUS: APPROVED]\nEvery number has a unit.";
const NO: &str = "[STATUS: REJECTED]\n- give the distance a unit";

#[test]
fn a_malformed_reply_is_restated_once_and_then_unverified() {
    let mut t = Table::new().start();
    t.says("It is far.").says("Looks good to me!").says("I approve of it.");
    assert_eq!(t.class(), "unverified");
    t.resume().says(YES);
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > run#1 “It is far.”
          run#2 ask critic cato
        > run#2 “Looks good to me!”
          malformed, restate: no line states the status: begin with `[STATUS: APPROVED]` or `[STATUS: REJECTED]`
          run#3 ask critic cato
        > run#3 “I approve of it.”
          malformed: no line states the status: begin with `[STATUS: APPROVED]` or `[STATUS: REJECTED]`
          = unverified
        > resume
          run#4 ask critic cato again, for run#3
        > run#4 “[STATUS: APPROVED] Every number has a unit.”
          Approved
          = approved
        "#);
    assert_eq!(t.calls(Role::Worker), 1, "the draft is not written again");
    let (first, again) = (t.prompt(&t.effect("run#2")), t.prompt(&t.effect("run#4")));
    assert_eq!(first, again, "the same brief, without the restating");
}

#[test]
fn restating_costs_no_round() {
    let mut t = Table::new().start();
    t.says("v1").says("Hm.").says(NO).says("v2").says("Hm.").says("[STATUS: REJECTED]\n- 1: no");
    t.says("v3").says("Hm.").says(YES);
    assert_eq!((t.class().as_str(), t.calls(Role::Worker)), ("approved", 3));
}

#[test]
fn a_second_critic_steps_in() {
    let mut t = Table::new().with(|s| s.fallback_critic = Some("dora".into())).start();
    t.says("It is far.").fails(FailureKind::Unavailable).says("Hm.").says("Hm.");
    t.resume().says(YES);
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > run#1 “It is far.”
          run#2 ask critic cato
        > run#2 failed(unavailable)
          run#2 failed: unavailable: alas
          cato → dora: unavailable: alas
          run#3 ask critic dora
        > run#3 “Hm.”
          malformed, restate: no line states the status: begin with `[STATUS: APPROVED]` or `[STATUS: REJECTED]`
          run#4 ask critic dora
        > run#4 “Hm.”
          malformed: no line states the status: begin with `[STATUS: APPROVED]` or `[STATUS: REJECTED]`
          = unverified
        > resume
          run#5 ask critic dora again, for run#4
        > run#5 “[STATUS: APPROVED] Every number has a unit.”
          Approved
          = approved
        "#);
}

#[test]
fn a_critic_that_does_not_answer_is_never_a_verdict() {
    for kind in [FailureKind::Timeout, FailureKind::Crashed, FailureKind::Refused, FailureKind::TooLong] {
        let mut t = Table::new().start();
        t.says("It is far.").fails(kind);
        assert_eq!(t.class(), "unverified", "{kind}");
        t.resume().says(YES);
        assert_eq!((t.class().as_str(), t.calls(Role::Worker), t.calls(Role::Critic)), ("approved", 1, 2));
    }
    for stop in [StopReason::Length, StopReason::Refusal, StopReason::Other("filter".into())] {
        let mut t = Table::new().start();
        t.says("It is far.").stops(YES, stop.clone());
        assert_eq!(t.class(), "unverified", "{stop:?}: a reply that was cut approves nothing");
        t.resume().says(NO);
        assert_eq!(t.class(), "going");
    }
}

#[test]
fn a_worker_that_does_not_answer_fails_and_is_asked_again() {
    for kind in [FailureKind::Timeout, FailureKind::Crashed, FailureKind::Refused] {
        let mut t = Table::new().start();
        t.fails(kind);
        assert_eq!(t.class(), "failed", "{kind}");
        t.resume().says("It is far.").says(YES);
        assert_eq!((t.class().as_str(), t.calls(Role::Worker)), ("approved", 2));
    }
    let mut t = Table::new().start();
    t.stops("It is f", StopReason::Length);
    assert_eq!(t.class(), "failed", "half a draft is none");
}

#[test]
fn a_used_up_quota_is_waited_for() {
    let mut t = Table::new().start();
    t.replies(denied(Usage::default()));
    assert_eq!((t.class().as_str(), t.engine.spent().calls), ("waiting(quota)", 0));
    t.resume().says("It is far.").says(YES);
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > run#1 quota
          = waiting(quota)
        > resume
          run#2 ask worker ann again, for run#1
        > run#2 “It is far.”
          run#3 ask critic cato
        > run#3 “[STATUS: APPROVED] Every number has a unit.”
          Approved
          = approved
        "#);
}

#[test]
fn every_cap_stops_before_the_call_and_goes_on_when_raised() {
    let caps = [
        Limits { tokens: Some(110), ..Limits::default() },
        Limits { money: Some(Money(110)), ..Limits::default() },
        Limits { calls: Some(1), ..Limits::default() },
        Limits { active_ms: Some(50), ..Limits::default() },
    ];
    let raised = Limits {
        tokens: Some(9999),
        money: Some(Money(9999)),
        calls: Some(99),
        active_ms: Some(9999),
        ..Limits::default()
    };
    for cap in caps {
        let mut t = Table::new().limited(cap).start();
        t.passes(60).says_using("It is far.", Usage { output: 20, ..Usage::default() });
        assert_eq!((t.class().as_str(), t.calls(Role::Critic)), ("out_of_budget", 0), "{cap:?}");
        t.resume();
        assert_eq!(t.class(), "out_of_budget", "{cap:?}: resuming alone changes nothing");
        t.resume_with(raised, None).says(YES);
        assert_eq!((t.class().as_str(), t.calls(Role::Worker)), ("approved", 1), "{cap:?}");
    }
}

#[test]
fn a_call_is_given_the_time_that_is_left_and_its_timeout_is_then_the_budgets() {
    let mut t = Table::new().limited(Limits { active_ms: Some(100), ..Limits::default() }).start();
    t.passes(40).says("It is far.");
    assert_eq!(t.open().time_ms, Some(60));
    t.passes(60).fails(FailureKind::Timeout);
    assert_eq!(t.class(), "out_of_budget");
    t.resume_with(Limits { active_ms: Some(500), ..Limits::default() }, None).says(YES);
    assert_eq!(t.class(), "approved");
}

#[test]
fn an_agents_own_time_is_counted() {
    let mut t = Table::new();
    let limits = Limits { active_ms: Some(50), ..Limits::default() };
    t.agents.insert("ann".into(), crate::plan::AgentCard { limits, ..card() });
    let mut t = t.start();
    t.passes(60).says("v1").passes(500).says(NO);
    assert_eq!(t.class(), "out_of_budget", "{}", t.log());
}

#[test]
fn an_overrun_is_recorded_and_stops_the_next_call() {
    let mut t = Table::new().limited(Limits { tokens: Some(150), ..Limits::default() }).start();
    t.says_using("It is far.", Usage { output: 200, ..Usage::default() });
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > run#1 “It is far.”
          overran: the run has a cap of 150 tokens; 200 are spent
          = out_of_budget
        "#);
}

#[test]
fn a_call_that_uses_more_than_its_agent_states_for_one_is_recorded_and_stops_the_run() {
    let mut t = Table::new().start();
    t.says_using("It is far.", Usage { output: 10, cost: Some(Money(101)), ..Usage::default() });
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > run#1 “It is far.”
          overran: one call of agent `ann` has a cap of $0.0000; $0.0000 is spent
          = out_of_budget
        "#);
    t.resume().says(YES);
    assert_eq!((t.class().as_str(), t.calls(Role::Worker)), ("approved", 1), "its answer counts");
    // An end that is reached with it is one.
    let mut t = Table::new().start();
    t.says("It is far.").says_using(YES, Usage { output: 101, cost: Some(Money(0)), ..Usage::default() });
    assert_eq!(t.class(), "approved");
    assert!(
        t.log().contains("one call of agent `cato` has a cap of 100 tokens; 101 are spent"),
        "{}",
        t.log()
    );
}

#[test]
fn what_an_agent_states_for_one_call_is_held_back_and_the_rest_is_estimated() {
    let price = crate::budget::Price { input: 1, output: 3, ..crate::budget::Price::default() };
    for (tokens, money, held) in [
        (Some(100), Some(Money(7)), "100 tokens, 7"),
        (Some(100), None, "100 tokens, 300"),
        (None, Some(Money(7)), "estimated tokens, 7"),
    ] {
        let per_call = Limits { tokens, money, ..Limits::default() };
        let mut t = Table::new();
        let ann = crate::plan::AgentCard { per_call, price: Some(price.clone()), ..card() };
        t.agents.insert("ann".into(), ann);
        let t = t.start();
        let reserved = t.engine.open_effects().map(|e| e.reserve).next().unwrap();
        let tokens =
            if reserved.tokens > 1000 { "estimated".to_owned() } else { reserved.tokens.to_string() };
        assert_eq!(format!("{tokens} tokens, {}", reserved.money.0), held);
    }
}

#[test]
fn rounds_can_be_raised_while_the_loop_is_parked() {
    let mut t = Table::new().with(|s| s.rounds = 1).start();
    t.says("v1").fails(FailureKind::Crashed);
    t.resume_with(Limits::default(), Some(2)).says(NO).says("v2").says(YES);
    assert_eq!((t.class().as_str(), t.calls(Role::Worker)), ("approved", 2));
}

#[test]
fn pausing_lets_the_call_under_way_finish() {
    let mut t = Table::new().start();
    t.control(Control::Pause).says("It is far.").resume().says(YES);
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > pause
        > run#1 “It is far.”
          = waiting(paused)
        > resume
          run#2 ask critic cato
        > run#2 “[STATUS: APPROVED] Every number has a unit.”
          Approved
          = approved
        "#);
}

#[test]
fn cancelling_ends_the_call_and_refuses_what_comes_later() {
    let mut t = Table::new().saving().start();
    t.says("It is far.").control(Control::Cancel).replies(Reply::Cancelled { sent: true }).saved();
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > run#1 “It is far.”
          run#2 ask critic cato
        > cancel
          run#3 cancel run#2
        > run#2 cancelled, sent
          run#4 save unapproved
        > run#4 saved
          = aborted
        "#);
    let spent = t.engine.spent();
    assert!(spent.unknown && spent.tokens > 0, "nobody knows what the cancelled call has cost");
    let late =
        InputKind::Replied { effect: "run#2".parse().unwrap(), reply: Reply::Cancelled { sent: true } };
    assert_eq!(t.try_put("late", late, Vec::new()), Err(Refused::Ended("aborted".into())));
}

#[test]
fn what_a_call_told_before_it_ran_out_of_time_is_only_a_part_of_its_cost() {
    let failed = |usage| CallFailure { kind: FailureKind::Timeout, message: "silent".into(), usage };
    for (told, counts, unknown) in [(0, 100, true), (30, 100, true), (130, 130, false)] {
        let mut t = Table::new().start();
        t.replies(Reply::Failed(failed(Usage { output: told, ..Usage::default() })));
        let spent = t.engine.spent();
        assert_eq!((spent.tokens, spent.unknown), (counts, unknown), "{told} were told: {}", t.log());
    }
}

/// Marked, it is what the agent knows of its cost; anything more would be made up.
#[test]
fn what_a_stopped_call_says_it_used_is_booked_and_marked() {
    let told = Usage { output: 30, estimated: true, ..Usage::default() };
    let failed = CallFailure { kind: FailureKind::BrokenOff, message: "cut".into(), usage: told };
    let mut broken = Table::new().start();
    broken.replies(Reply::Failed(CallFailure { kind: FailureKind::Timeout, ..failed }));
    let mut stopped = Table::new().start();
    let what =
        InputKind::Observed { effect: stopped.open().id, observation: Observation::Usage { usage: told } };
    stopped.try_put("told", what, Vec::new()).unwrap();
    stopped.replies(Reply::Cancelled { sent: true });
    for table in [broken, stopped] {
        let spent = table.engine.spent();
        assert_eq!((spent.tokens, spent.unknown, spent.calls), (30, true, 1), "{}", table.log());
    }
}

#[test]
fn an_answer_that_crosses_a_cancel_decides_nothing() {
    let mut t = Table::new().start();
    t.says("It is far.").control(Control::Cancel).says(YES);
    assert_eq!(t.class(), "aborted");
}

#[test]
fn an_effect_has_one_reply() {
    let mut t = Table::new().start();
    t.says("It is far.");
    let twice =
        InputKind::Replied { effect: "run#1".parse().unwrap(), reply: Reply::Cancelled { sent: true } };
    assert_eq!(t.try_put("twice", twice, Vec::new()), Err(Refused::NotOpen("run#1".parse().unwrap())));
}

#[test]
fn a_person_is_waited_for_and_their_time_is_free() {
    let mut t =
        Table::new().person("cato").limited(Limits { active_ms: Some(100), ..Limits::default() }).start();
    t.says("v1");
    assert_eq!(t.class(), "waiting(question)");
    t.passes(100_000).resume().answers(NO).says("v2").answers(YES);
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > run#1 “v1”
          run#2 ask critic cato (person)
          = waiting(question)
        > resume
          = waiting(question)
        > run#2 person “[STATUS: REJECTED] - give the distance a unit”
          Rejected 1. give the distance a unit (since 1)
          round 2 of 3
          run#3 ask worker ann
        > run#3 “v2”
          run#4 ask critic cato (person)
          = waiting(question)
        > run#4 person “[STATUS: APPROVED] Every number has a unit.”
          Approved
          = approved
        "#);
}

#[test]
fn a_crash_repeats_the_paid_call_and_keeps_the_persons_question() {
    let mut t = Table::new().start();
    t.resume().says("It is far.").resume().says(YES);
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > resume
          run#1 lost
          run#2 ask worker ann again, for run#1
        > run#2 “It is far.”
          run#3 ask critic cato
        > resume
          run#3 lost
          run#4 ask critic cato again, for run#3
        > run#4 “[STATUS: APPROVED] Every number has a unit.”
          Approved
          = approved
        "#);
    let spent = t.engine.spent();
    assert!(spent.unknown);
    assert_eq!(spent.tokens, 100 + 20 + 100 + 20, "what was lost counts as its worst case");

    let mut t = Table::new().person("cato").start();
    t.says("v1");
    let asked = t.open().id;
    t.resume();
    assert_eq!(t.open().id, asked);
}

#[test]
fn a_crash_while_the_approved_draft_is_saved_loses_neither() {
    let mut t = Table::new().saving().start();
    t.says("It is far.").says(YES).resume().saved();
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > run#1 “It is far.”
          run#2 ask critic cato
        > run#2 “[STATUS: APPROVED] Every number has a unit.”
          Approved
          run#3 save approved
        > resume
          run#4 save approved
        > run#4 saved
          = approved
        "#);
}

#[test]
fn a_crash_while_cancelling_still_ends_aborted() {
    let mut t = Table::new().start();
    t.says("It is far.").control(Control::Cancel).resume();
    assert_eq!(t.class(), "aborted");
}

#[test]
fn cancelling_while_the_approved_draft_is_saved_is_too_late() {
    let mut t = Table::new().saving().start();
    t.says("It is far.").says(YES).control(Control::Cancel).saved();
    assert_eq!(t.class(), "approved");
}

#[test]
fn a_host_that_stops_a_call_by_itself_leaves_the_run_interrupted() {
    let mut t = Table::new().saving().start();
    t.replies(Reply::Cancelled { sent: false });
    assert_eq!(t.class(), "going");
    t.resume().says("It is far.").says(YES).replies(Reply::Cancelled { sent: false });
    assert_eq!(t.class(), "going");
    t.resume().saved();
    assert_eq!(t.class(), "approved");
}

#[test]
fn a_parked_draft_lies_beside_the_file_until_it_is_approved() {
    let mut t = Table::new().saving().start();
    t.says("It is far.").fails(FailureKind::Crashed).saved();
    assert_eq!(t.class(), "unverified");
    t.resume().says(YES).saved();
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > run#1 “It is far.”
          run#2 ask critic cato
        > run#2 failed(crashed)
          run#2 failed: crashed: alas
          run#3 save unapproved
        > run#3 saved
          = unverified
        > resume
          run#4 ask critic cato again, for run#2
        > run#4 “[STATUS: APPROVED] Every number has a unit.”
          Approved
          run#5 save approved
        > run#5 saved
          = approved
        "#);
}

fn denied(usage: Usage) -> Reply {
    Reply::DeniedQuota { until_ms: Some(9), message: "until noon".into(), usage }
}

#[test]
fn a_quota_that_ends_in_the_middle_of_a_call_costs_what_was_used_until_then() {
    let mut at_once = Table::new().start();
    at_once.replies(denied(Usage::default()));
    assert_eq!(at_once.engine.spent().money, Money(0), "nothing was sent, nothing is owed");
    let mut late = Table::new().start();
    late.replies(denied(Usage { input: 40, output: 2, ..Usage::default() }));
    assert_eq!((late.class().as_str(), late.engine.spent().money), ("waiting(quota)", Money(42)));
}

#[test]
fn a_call_that_is_lost_costs_what_it_told_if_that_is_more_than_was_held_back() {
    for (told, expected) in [(40, 100), (260, 260)] {
        let mut t = Table::new().start();
        let usage = Usage { input: told, ..Usage::default() };
        let observed = InputKind::Observed { effect: t.open().id, observation: Observation::Usage { usage } };
        t.try_put("usage", observed, Vec::new()).unwrap();
        t.resume();
        let spent = t.engine.spent();
        assert_eq!((spent.money, spent.tokens, spent.unknown), (Money(expected), expected, true));
    }
}

#[test]
fn a_worker_goes_on_with_its_conversation_and_a_critic_never_does() {
    let mut t = Table::new();
    for agent in t.agents.values_mut() {
        agent.continues = true;
    }
    let mut t = t.start();
    t.says("v1").says(NO).fails(FailureKind::Crashed);
    t.resume().says("v2").says("[STATUS: REJECTED]\n- 1: no").says("v3").says(YES);
    let sessions = |role| {
        let turns = t.records.iter().flat_map(|(_, step)| &step.effects);
        let of_role = turns.filter_map(|e| match &e.kind {
            EffectKind::Turn(turn) if turn.role == role => Some(turn.session.clone()),
            _ => None,
        });
        of_role.collect::<Vec<_>>()
    };
    let after = |said: &str| Some(format!("after {said}"));
    // The call that was lost may have left its traces in the conversation: its repetition begins anew.
    assert_eq!(sessions(Role::Worker), [None, after("v1"), None, after("v2")]);
    assert_eq!(sessions(Role::Critic), [None, None, None], "a critic judges cold, always");
}

#[test]
fn a_worker_that_is_not_to_go_on_begins_anew_every_round() {
    let mut t = Table::new().start();
    t.says("v1").says(NO).says("v2");
    let EffectKind::Turn(turn) = t.effect("run#3").kind else { panic!("no turn") };
    assert_eq!((turn.role, turn.session), (Role::Worker, None));
}
