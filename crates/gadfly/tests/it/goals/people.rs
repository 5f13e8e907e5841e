//! A second process has a word while the first drives: pause, resume, steer, cancel, answer.

use std::fs;
use std::time::Duration;

use crate::goals::desk::{Desk, alive, wait_for, wait_within};
use crate::goals::pursuit::{
    Driven, GOAL, PROGRESSING, Turn, claims, data, does, events, folder, prompts, pursuit, reads, runs, says,
    steps, writes,
};

/// A goal whose first command waits until the test lets it go.
fn held(rest: &[Turn]) -> (Desk, Driven) {
    let waits = runs("echo x > begun; while [ ! -e go ]; do sleep 0.02; done; rm go begun");
    let desk = pursuit(&[&[waits], rest].concat(), &[PROGRESSING]);
    let mut driven = Driven::start(&desk, &GOAL);
    assert!(driven.until(&["\"guarded\""]), "{}", driven.told);
    wait_for("the command is at work", || folder(&desk).join("begun").exists());
    (desk, driven)
}

fn let_go(desk: &Desk) {
    fs::write(folder(desk).join("go"), "").unwrap();
}

fn end() -> [Turn; 2] {
    [writes("done.txt", "x"), reads("done.txt").then(claims("there"))]
}

#[test]
fn a_word_from_outside_reaches_the_next_turn() {
    let (desk, mut driven) = held(&end());
    let said = desk.gadfly(&["steer", &desk.run_id(), "mind", "the", "gap"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(driven.until(&["\"steered\""]), "{}", driven.told);
    let_go(&desk);
    assert_eq!(driven.end(), 0);
    let events = events(&desk);
    assert!(prompts(&events, "worker")[1].contains("PERSON: mind the gap"));
    assert_eq!(data(&events, "steered").len(), 1);
}

#[test]
fn paused_it_starts_nothing_new_and_resumed_it_goes_on() {
    let (desk, mut driven) = held(&end());
    let run = desk.run_id();
    let said = desk.gadfly(&["pause", &run]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(driven.until(&["\"pause_requested\""]), "{}", driven.told);
    let_go(&desk);
    assert_eq!(driven.end(), 4);
    assert_eq!(desk.state(), "waiting(paused)");
    let before = events(&desk);
    assert_eq!(prompts(&before, "worker").len(), 1, "no turn after the pause");
    // A word to a goal that stands still is in the turn it goes on with.
    assert_eq!(desk.gadfly(&["steer", &run, "welcome", "back"]).code, 0);
    let said = desk.gadfly(&["resume", &run, "--unattended"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(desk.read("done.txt"), "x");
    assert!(prompts(&events(&desk), "worker")[1].contains("PERSON: welcome back"));
}

#[test]
fn cancelled_it_ends_at_once_with_everything_it_started() {
    let mark = format!("83{}", std::process::id());
    let desk =
        pursuit(&[runs(&format!("echo x > begun; sleep {mark}")), writes("late.txt", "x")], &[PROGRESSING]);
    let mut driven = Driven::start(&desk, &GOAL);
    assert!(driven.until(&["\"guarded\""]), "{}", driven.told);
    wait_for("the command is at work", || folder(&desk).join("begun").exists());
    let said = desk.gadfly(&["cancel", &desk.run_id()]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(driven.end(), 7);
    assert_eq!(desk.state(), "aborted");
    wait_within("no child is left", Duration::from_secs(5), || alive(&mark).is_empty());
    assert_eq!(prompts(&events(&desk), "worker").len(), 1);
    assert_eq!(desk.gadfly(&["resume", &desk.run_id()]).code, 2, "it is over");
}

#[test]
fn a_question_is_answered_from_another_terminal_while_the_goal_waits_for_it() {
    let fetches = does("fetch_url", serde_json::json!({"url": "http://127.0.0.1:9/"}));
    let desk = pursuit(&[&[fetches], &end()[..]].concat(), &[PROGRESSING]);
    let attended: Vec<&str> = GOAL.into_iter().filter(|flag| *flag != "--unattended").collect();
    let mut driven = Driven::attended(&desk, &attended);
    assert!(driven.until(&["\"asked\"", "\"policy\""]), "{}", driven.told);
    let said = desk.gadfly(&["answer", &desk.run_id(), "deny"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(driven.end(), 0);
    assert_eq!(steps(&events(&desk))[0].2, "denied");
}

#[test]
fn an_answer_that_is_no_choice_is_not_taken_for_one() {
    let fetches = does("fetch_url", serde_json::json!({"url": "http://127.0.0.1:9/"}));
    let desk = pursuit(&[fetches], &[PROGRESSING]);
    assert_eq!(desk.gadfly(&GOAL).code, 4);
    let run = desk.run_id();
    let said = desk.gadfly(&["answer", &run, "well", "perhaps"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert_eq!(desk.state(), "waiting(question)");
    assert_eq!(desk.gadfly(&["answer", &run, "stop"]).code, 0);
    assert_eq!(desk.gadfly(&["resume", &run, "--unattended"]).code, 3);
}

#[test]
fn a_word_to_a_goal_that_stands_still_lets_it_go_on() {
    let talks = says("I could.").times(3);
    let desk = pursuit(&[&[talks], &end()[..]].concat(), &[PROGRESSING]);
    assert_eq!(desk.gadfly(&GOAL).code, 4);
    let run = desk.run_id();
    assert_eq!(desk.gadfly(&["steer", &run, "do", "not", "talk"]).code, 0);
    let said = desk.gadfly(&["resume", &run, "--unattended"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(prompts(&events(&desk), "worker")[3].contains("PERSON: do not talk"));
}
