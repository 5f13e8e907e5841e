//! Workers with tools of their own: their steps count the same, and the critic reaches them.

use super::game::{Goal, Plays2 as _, seated, told};
use crate::effect::{EffectKind, FailureKind, Reply};
use crate::goal::StepEnd;
use crate::input::Control;
use crate::turn::Role;

/// Ann is an autonomous worker, and is at work.
fn hands() -> Goal {
    let mut table = seated(|_| {});
    table.agents.entry("ann".into()).and_modify(|card| {
        card.tools = false;
        card.continues = true;
    });
    let mut table = table.start();
    table.sees(&[]);
    table
}

fn three(table: &mut Goal) {
    for n in 0..3 {
        table.steps(&format!("Edit a.rs {n}"));
    }
}

/// The worker's call is broken off.
fn ends(table: &mut Goal) {
    let effect = table
        .engine
        .open_effects()
        .find(|e| matches!(&e.kind, EffectKind::Turn(t) if t.role == Role::Worker))
        .unwrap()
        .id
        .clone();
    let what = crate::input::InputKind::Replied { effect, reply: Reply::Cancelled { sent: true } };
    table.try_put("broken off", what, Vec::new()).unwrap();
}

#[test]
fn steps_are_numbered_and_watched_while_it_works() {
    let mut table = hands();
    three(&mut table);
    assert!(table.log().contains("[3] ann(Edit a.rs 2) → unknown"), "{}", table.log());
    let prompt = table.prompt(&table.open_of("cato"));
    assert!(prompt.contains("[1] ann(Edit a.rs 0) → unknown"), "{prompt}");
    table.says_as("cato", "PROGRESSING\nfine");
    assert_eq!(table.open_of("ann").id.to_string(), "run#2", "it was not disturbed");
}

#[test]
fn being_stuck_breaks_it_off_and_it_goes_on_in_its_conversation_with_the_critics_word() {
    let mut table = hands();
    three(&mut table);
    let effect = table.open_of("ann").id;
    let observation = crate::effect::Observation::Session { session: "s1".into() };
    let what = crate::input::InputKind::Observed { effect, observation };
    table.try_put("session", what, Vec::new()).unwrap();
    table.says_as("cato", "STUCK\nthe same edit again");
    assert!(table.log().contains("cancel run#2"), "{}", table.log());
    ends(&mut table);
    table.sees(&[("a.rs", Some("x"))]);
    let EffectKind::Turn(turn) = table.open().kind else { panic!() };
    assert_eq!(turn.session.as_deref(), Some("s1"));
    let prompt = told(&table);
    assert!(prompt.contains("CRITIC: You appear to be stuck. the same edit again"), "{prompt}");
    assert!(prompt.contains("GOAL:\nWrite about the moon") && prompt.contains("[3] ann(Edit"), "{prompt}");
}

#[test]
fn achieved_breaks_it_off_and_verifies_before_it_goes_on() {
    let mut table = hands();
    three(&mut table);
    table.says_as("cato", "ACHIEVED\ndone");
    ends(&mut table);
    table.sees(&[("a.rs", Some("x"))]).verifies(0, "ok").agrees().accepted();
    assert_eq!((table.class().as_str(), table.calls(Role::Worker)), ("approved", 1));
}

#[test]
fn it_may_end_before_it_is_broken_off() {
    let mut table = hands();
    three(&mut table);
    table.says_as("cato", "ACHIEVED\ndone");
    table.says("I changed a.rs.");
    table.sees(&[("a.rs", Some("x"))]).verifies(0, "ok").agrees().accepted();
    assert_eq!(table.class(), "approved", "{}", table.log());
}

#[test]
fn the_end_of_its_reply_is_its_claim() {
    let mut table = hands();
    table.steps("Edit a.rs").says("All good.\nCLAIM_COMPLETE: tests pass");
    table.sees(&[("a.rs", Some("x"))]).verifies(1, "1 failed");
    table.sees(&[("a.rs", Some("x"))]);
    assert!(told(&table).contains("Verification failed: `make test`: exit code 1"), "{}", table.log());
    table.says("ABORT_WITH_REPORT: cannot\nLEARNED: much");
    assert_eq!(table.class(), "aborted");
}

#[test]
fn a_reply_without_a_word_about_the_goal_is_asked_to_go_on() {
    let mut table = hands();
    table.steps("Read a.rs").says("I read it.");
    table.sees(&[]);
    assert!(told(&table).contains("ended your reply without saying how the goal stands"));
    for _ in 0..2 {
        table.says("Shall I go on?").sees(&[]);
    }
    table.says("Well?");
    assert_eq!(table.class(), "waiting(question)");
}

#[test]
fn its_steps_have_a_cap() {
    let mut table = seated(|s| s.critic = None);
    table.agents.entry("ann".into()).and_modify(|card| card.tools = false);
    table.settings.limits.steps = Some(2);
    let mut table = table.start();
    table.sees(&[]).steps("a").steps("b");
    ends(&mut table);
    table.says("I did a and b.");
    assert_eq!(table.class(), "out_of_budget");
}

#[test]
fn a_persons_word_breaks_it_off() {
    let mut table = hands();
    table.steps("a").control(Control::Steer { text: "not a, b".into(), by: "eve".into() });
    ends(&mut table);
    table.sees(&[]);
    assert!(told(&table).contains("PERSON: not a, b"));
}

#[test]
fn the_critics_word_is_waited_for_before_the_next_turn() {
    let mut table = hands();
    three(&mut table);
    table.says_as("ann", "I did three things.");
    assert!(matches!(&table.open().kind, EffectKind::Turn(t) if t.role == Role::Critic), "{}", table.log());
    table.says("MISLED\nnot these");
    table.sees(&[]);
    assert!(told(&table).contains("ORIGINAL GOAL"));
}

/// A plain command prints nothing that could be read as steps.
#[test]
fn who_works_without_a_word_is_watched_and_not_taken_for_a_talker() {
    let mut table = hands();
    for n in 0..3 {
        assert!(table.asked(Role::Worker), "{}", table.log());
        table.says("Working.").sees(&[("a.rs", Some(&n.to_string()))]);
    }
    assert!(
        table.log().contains("[3] ann(changed so far: a.rs) → ok: as its folder shows"),
        "{}",
        table.log()
    );
    table.says("Working.");
    assert!(table.asked(Role::Critic), "three steps, three turns: {}", table.log());
    table.says("PROGRESSING\nfine").sees(&[("a.rs", Some("2"))]);
    table.says("Working.").sees(&[("a.rs", Some("2"))]).says("Working.");
    assert_eq!(table.class(), "waiting(question)", "nothing changes any more: {}", table.log());
}

#[test]
fn achieved_is_verified_first_also_if_it_comes_between_two_turns() {
    let mut table = hands();
    three(&mut table);
    table.control(Control::Steer { text: "use metres".into(), by: "eve".into() });
    ends(&mut table);
    table.says_as("cato", "ACHIEVED\nall there");
    table.sees(&[("a.rs", Some("x"))]).sees(&[("a.rs", Some("x"))]).verifies(0, "ok").agrees().accepted();
    assert_eq!(table.class(), "approved", "{}", table.log());
    assert_eq!(table.calls(Role::Worker), 1, "{}", table.log());
}

#[test]
fn a_claim_under_way_is_not_pushed_aside_by_a_third_stuck() {
    let mut table = hands();
    for _ in 0..2 {
        three(&mut table);
        table.says_as("cato", "STUCK\nwhy");
        ends(&mut table);
        table.sees(&[("a.rs", Some("x"))]);
    }
    three(&mut table);
    table.says_as("ann", "CLAIM_COMPLETE: done");
    table.says_as("cato", "STUCK\nwhy");
    table.sees(&[("a.rs", Some("y"))]).verifies(0, "ok").agrees().accepted();
    assert_eq!(table.class(), "approved", "{}", table.log());
}

#[test]
fn a_step_says_what_came_of_it_as_the_worker_was_told() {
    let mut table = hands();
    table.begins("1", "Bash: make test").ended("1", StepEnd::Err, "exit code 2\nBOOM");
    table.begins("2", "Bash: make").begins("3", "Edit: a.rs");
    // Results come in any order, and each belongs to its own step.
    table.ended("3", StepEnd::Ok, "").ended("9", StepEnd::Err, "of nothing").ended(
        "2",
        StepEnd::Denied,
        "no",
    );
    for line in [
        "[1] ann(Bash: make test) → err: exit code 2 BOOM",
        "[2] ann(Edit: a.rs) → ok",
        "[3] ann(Bash: make) → denied: no",
    ] {
        assert!(table.log().contains(line), "{}", table.log());
    }
    let prompt = table.prompt(&table.open_of("cato"));
    assert!(prompt.contains("[1] ann(Bash: make test) → err: exit code 2 BOOM"), "{prompt}");
}

#[test]
fn a_step_whose_result_never_came_is_said_to_be_unknown() {
    let mut table = hands();
    table.begins("1", "Bash: make test").says("CLAIM_COMPLETE: it passes");
    let line = "[1] ann(Bash: make test) → unknown: nothing was told of how it ended";
    assert!(table.log().contains(line), "{}", table.log());
}

#[test]
fn the_same_failure_again_and_again_breaks_it_off_without_any_critic() {
    let mut table = seated(|s| s.critic = None);
    table.agents.entry("ann".into()).and_modify(|card| card.tools = false);
    let mut table = table.start();
    table.sees(&[]);
    let fails = |table: &mut Goal, n: u32| {
        table.begins(&n.to_string(), "Bash: make test");
        table.ended(&n.to_string(), StepEnd::Err, "exit code 2");
    };
    (0..3).for_each(|n| fails(&mut table, n));
    assert!(!table.log().contains("cancel run#2"), "three times may be needed: {}", table.log());
    table.begins("4", "Bash: make test");
    assert!(table.log().contains("cancel run#2"), "{}", table.log());
    ends(&mut table);
    table.sees(&[]);
    let prompt = told(&table);
    assert!(
        prompt.contains("You went round in a circle") && prompt.contains("- Bash: make test"),
        "{prompt}"
    );
    assert!(
        prompt.contains("`ABORT_WITH_REPORT: ` line") && !prompt.contains("abort_with_report"),
        "{prompt}"
    );
    // It does not listen, four times more.
    for _ in 0..4 {
        table.begins("x", "Bash: make test");
        ends(&mut table);
        if table.class() == "going" {
            table.sees(&[]);
        }
    }
    assert!(table.log().contains("halted"), "{}", table.log());
}

#[test]
fn waiting_and_news_are_no_circle() {
    let mut table = seated(|s| s.critic = None);
    table.agents.entry("ann".into()).and_modify(|card| card.tools = false);
    let mut table = table.start();
    table.sees(&[]);
    for n in 0..6 {
        table.begins("w", "Bash: sleep 5").ended("w", StepEnd::Ok, "");
        table.begins("t", "Bash: make test").ended("t", StepEnd::Err, &format!("{n} failed"));
    }
    assert!(!table.log().contains("cancel"), "{}", table.log());
}

#[test]
fn being_stuck_is_said_in_words_that_fit_whoever_has_hands_of_its_own() {
    let mut table = hands();
    three(&mut table);
    table.says_as("cato", "STUCK\nthe same edit again");
    ends(&mut table);
    table.sees(&[]);
    let prompt = told(&table);
    assert!(prompt.contains("`ABORT_WITH_REPORT: ` line"), "{prompt}");
    assert!(!prompt.contains("call `abort_with_report`"), "it has no such tool: {prompt}");
}

#[test]
fn commands_are_shown_whole_to_the_critic_and_to_people() {
    let long = format!(
        "cd packages/server && npm run build -- {} && curl -X POST https://pay.example",
        "a".repeat(200)
    );
    let mut table = hands();
    for n in 0..3 {
        table.begins("1", &format!("Bash: {long} {n}")).ended("1", StepEnd::Ok, "");
    }
    let prompt = table.prompt(&table.open_of("cato"));
    assert!(prompt.contains("pay.example 0") && prompt.contains("pay.example 2"), "{prompt}");
    let longer = format!("Bash: echo {}; last words", "b".repeat(500));
    table.begins("2", &longer).ended("2", StepEnd::Ok, "");
    assert!(table.log().contains("; last words"), "people see a thousand characters: {}", table.log());
}

/// She says which conversation she is in.
fn names_it(table: &mut Goal, session: &str) {
    let effect = table.open_of("ann").id;
    let observation = crate::effect::Observation::Session { session: session.into() };
    let what = crate::input::InputKind::Observed { effect, observation };
    table.try_put("session", what, Vec::new()).unwrap();
}

#[test]
fn when_the_time_of_one_call_is_up_she_goes_on_where_she_was() {
    let mut table = hands();
    names_it(&mut table, "s1");
    for kind in [FailureKind::Timeout, FailureKind::StepsUsedUp] {
        table.begins("1", "Bash: make all").fails(kind);
        assert_eq!(table.class(), "going", "{kind}: {}", table.log());
        table.sees(&[("a.rs", Some("half"))]);
        let EffectKind::Turn(turn) = table.open_of("ann").kind else { panic!() };
        assert_eq!(turn.session.as_deref(), Some("s1"), "{kind}");
        let prompt = told(&table);
        assert!(
            prompt.contains("do not begin again") && prompt.contains("ann(Bash: make all) → unknown"),
            "{prompt}"
        );
        names_it(&mut table, "s1");
    }
    assert!(table.log().contains("ann goes on: the steps of one call were used up"), "{}", table.log());
}

#[test]
fn who_did_nothing_in_all_that_time_has_failed_and_is_asked_again_on_resume() {
    let mut table = hands();
    table.fails(FailureKind::Timeout).sees(&[]);
    assert_eq!(table.class(), "failed", "{}", table.log());
    // Who says nothing on the way is seen to work by the folder.
    let mut silent = hands();
    silent.fails(FailureKind::Timeout).sees(&[("a.rs", Some("x"))]);
    assert_eq!(silent.class(), "going", "{}", silent.log());
    assert!(silent.asked(Role::Worker));
}

#[test]
fn after_a_crash_she_goes_on_in_her_conversation_and_in_the_folder_as_it_is() {
    let mut table = hands();
    names_it(&mut table, "s1");
    table.begins("1", "Bash: make all").resume();
    // The folder is looked at and not put back.
    table.sees(&[("a.rs", Some("half"))]);
    let EffectKind::Turn(turn) = table.open_of("ann").kind else { panic!() };
    assert_eq!(turn.session.as_deref(), Some("s1"));
    assert!(told(&table).contains("do nothing a second time that is done"), "{}", told(&table));
    // One that never said which conversation it is in is asked once more from the state before.
    let mut unnamed = hands();
    let before = unnamed.open_of("ann");
    unnamed.begins("1", "Bash: make all").resume();
    let again = unnamed.open_of("ann");
    assert_eq!(again.repeats, Some(before.id), "{}", unnamed.log());
}
