//! The critic: when it looks, what it sees, what its word leads to.

use super::game::{Goal, Plays2, begun, goal, seated, told};
use crate::effect::{EffectKind, FailureKind};
use crate::tool::ToolEnd;
use crate::tree::RunEnd;
use crate::turn::Role;

/// Three steps that are new every time, and the critic is asked.
fn three(table: &mut Goal, from: u32) {
    for n in from..from + 3 {
        table.reads_something(n);
    }
}

#[test]
fn it_looks_after_every_interval_at_the_last_two_and_sees_them_one_line_each() {
    let mut table = goal();
    three(&mut table, 1);
    assert!(table.asked(Role::Critic), "{}", table.log());
    let prompt = told(&table);
    assert!(prompt.contains("[1] read_file(path=f1) → ok: content 1"), "{prompt}");
    assert!(prompt.contains("[3] read_file(path=f3) → ok: content 3"), "{prompt}");
    assert!(
        prompt.contains("Write about the moon") && prompt.contains("`make test` exits with 0"),
        "{prompt}"
    );
    table.says("PROGRESSING\nit reads on");
    three(&mut table, 4);
    table.says("progressing");
    three(&mut table, 7);
    let prompt = told(&table);
    assert!(!prompt.contains("[3]") && prompt.contains("[4]") && prompt.contains("[9]"), "{prompt}");
    let EffectKind::Turn(turn) = table.open().kind else { panic!() };
    assert_eq!((turn.role, turn.tools, turn.tree), (Role::Critic, None, None), "a critic has no tools");
}

#[test]
fn being_stuck_is_said_then_said_louder_then_a_person_is_asked() {
    let mut table = goal();
    three(&mut table, 1);
    table.says("STUCK\nit reads and reads");
    let prompt = told(&table);
    assert!(prompt.contains("CRITIC: You appear to be stuck. it reads and reads"), "{prompt}");
    assert!(prompt.contains("Is there a simpler way?"), "{prompt}");
    three(&mut table, 4);
    table.says("**STUCK** — again");
    let prompt = told(&table);
    assert!(prompt.contains("second time in a row") && prompt.contains("read_file(path=f6)"), "{prompt}");
    three(&mut table, 7);
    table.says("Verdict: STUCK\nno end");
    assert_eq!(table.class(), "waiting(question)");
    let log = table.since("critic:stuck");
    assert!(log.contains("question stuck: go-on / steer TEXT / stop"), "{log}");
    table.answers("steer look at moon.md");
    let prompt = told(&table);
    assert!(prompt.contains("PERSON: look at moon.md"), "{prompt}");
    three(&mut table, 10);
    table.says("STUCK\nonce more");
    assert!(table.asked(Role::Worker), "counted anew after a person spoke: {}", table.log());
}

#[test]
fn a_goal_that_is_declined_is_halted_as_stuck() {
    let mut table = goal();
    for round in 0..3 {
        three(&mut table, round * 3);
        table.says("STUCK\nno");
    }
    table.answers("stop");
    assert_eq!(table.class(), "halted(stuck)");
}

#[test]
fn drifting_brings_the_goal_back_word_for_word() {
    let mut table = goal();
    three(&mut table, 1);
    table.says("MISLED\nit tidies up");
    let prompt = told(&table);
    assert!(prompt.contains("ORIGINAL GOAL:\nWrite about the moon, says the person."), "{prompt}");
    assert!(prompt.contains("it tidies up"), "{prompt}");
}

#[test]
fn achieved_is_verified_before_the_worker_has_another_turn() {
    let mut table = goal();
    three(&mut table, 1);
    let turns = table.calls(Role::Worker);
    table.says("ACHIEVED\nthe tests pass");
    table.sees(&[("moon.md", Some("round"))]).verifies(0, "ok").agrees().accepted();
    assert_eq!(table.class(), "approved");
    assert_eq!(table.calls(Role::Worker), turns, "{}", table.log());
}

#[test]
fn a_critic_that_is_wrong_about_it_costs_a_check_and_no_more() {
    let mut table = goal();
    three(&mut table, 1);
    table.says("ACHIEVED\nsurely");
    table.sees(&[]).verifies(2, "1 failed");
    let prompt = told(&table);
    assert!(prompt.contains("The critic believed the goal to be reached. Verification failed:"), "{prompt}");
    assert!(prompt.contains("1 failed"), "{prompt}");
    assert!(table.asked(Role::Worker));
}

#[test]
fn one_that_cannot_be_read_interrupts_nobody_and_is_switched_off_after_three() {
    let mut table = goal();
    for round in 0..3 {
        three(&mut table, round * 3);
        table.says("I think it does fine.");
        assert!(table.asked(Role::Worker), "{}", table.log());
    }
    assert_eq!(table.log().matches("critic:error").count(), 3);
    assert!(table.log().contains("critic off: three replies in a row could not be read"));
    three(&mut table, 9);
    assert!(table.asked(Role::Worker), "it is not asked any more");
}

#[test]
fn one_that_cannot_be_reached_is_switched_off_after_three_and_one_good_word_counts_anew() {
    let mut table = goal();
    for round in 0..2 {
        three(&mut table, round * 3);
        table.fails(FailureKind::Unauthorised);
    }
    three(&mut table, 6);
    table.says("PROGRESSING\nyes");
    for round in 3..6 {
        three(&mut table, round * 3);
        table.fails(FailureKind::Unavailable);
        assert!(table.asked(Role::Worker), "{}", table.log());
    }
    assert!(table.log().contains("critic off: three calls in a row failed"), "{}", table.log());
}

#[test]
fn a_strict_critic_stops_the_goal_instead() {
    let mut table = begun(seated(|s| s.strict_critic = true));
    for round in 0..3 {
        three(&mut table, round * 3);
        table.says("hm");
    }
    assert_eq!(table.class(), "waiting(question)");
    table.answers("go-on");
    three(&mut table, 9);
    assert!(table.asked(Role::Critic), "it is watched again: {}", table.log());
}

#[test]
fn repetition_is_blocked_and_the_critic_is_asked_at_once_with_the_repeated_steps() {
    let mut table = begun(seated(|s| s.interval = 10));
    let edit = [("edit_file", r#"{"path":"a","old":"x","new":"y"}"#)];
    for _ in 0..2 {
        table.wants(&edit).did(ToolEnd::Error, "`x` is not in the file");
    }
    // A read in between: a new call, and its success does not make the edit any better.
    table.runs("make test", 2, "1 failed").runs("make test", 2, "1 failed").runs("make test", 2, "1 failed");
    table.wants(&[("run_command", r#"{"command":"make test"}"#)]).sees(&[]);
    assert!(table.asked(Role::Critic), "{}", table.log());
    let prompt = told(&table);
    assert!(prompt.contains("run_command(command=make test) → blocked"), "{prompt}");
    assert_eq!(prompt.matches("run_command(command=make test) → err").count(), 3, "{prompt}");
}

#[test]
fn five_blocks_halt_it_with_its_last_words() {
    let mut table = begun(seated(|s| s.critic = None));
    table.runs("make", 1, "no").runs("make", 1, "no").runs("make", 1, "no");
    for _ in 0..5 {
        table.wants(&[("run_command", r#"{"command":"make"}"#)]);
    }
    table.says("I do not know what else to do.");
    assert_eq!(table.class(), "halted(guard)");
    assert!(table.log().contains("last words: the same calls were blocked"), "{}", table.log());
}

#[test]
fn edit_test_edit_test_with_news_is_never_blocked() {
    let mut table = begun(seated(|s| s.critic = None));
    for n in 0..12 {
        table.wants(&[("write_file", &format!(r#"{{"path":"a","content":"v{n}"}}"#))]);
        table.did(ToolEnd::Done, "wrote 2 bytes to a");
        table.runs("make test", 2, &format!("{} failed", 12 - n));
    }
    assert!(!table.log().contains("blocked"), "{}", table.log());
}

#[test]
fn a_tool_that_fails_three_times_is_not_offered_any_more() {
    let mut table = begun(seated(|s| s.critic = None));
    for n in 0..3 {
        table.wants(&[("fetch_url", &format!(r#"{{"url":"http://x/{n}"}}"#))]);
        if n == 0 {
            assert_eq!(table.class(), "waiting(question)", "beyond write_local: {}", table.log());
        }
        table.answers("allow").did(ToolEnd::Error, "no route to the host");
    }
    assert!(table.log().contains("fetch_url disabled"), "{}", table.log());
    let EffectKind::Turn(turn) = table.open().kind else { panic!() };
    let offered = table.engine.texts().unwrap().get(&turn.tools.unwrap()).to_owned();
    assert!(!offered.contains("fetch_url") && offered.contains("read_file"), "{offered}");
}

#[test]
fn a_command_that_ends_badly_is_a_result_and_no_fault_of_the_tool() {
    let mut table = begun(seated(|s| s.critic = None));
    for n in 0..6 {
        table.runs(&format!("cmd {n}"), 1, "no");
    }
    assert!(!table.log().contains("disabled"));
    table.wants(&[("run_command", r#"{"command":"sleep 9"}"#)]);
    table.did(ToolEnd::Ran(RunEnd::TimedOut), "");
    assert!(table.log().contains("run_command(command=sleep 9) → err: timed out"), "{}", table.log());
}
