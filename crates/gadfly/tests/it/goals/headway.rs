//! Circles, calls that cannot be read, claims with work in between, and drift: what stops a goal, and what must not.

use serde_json::json;

use crate::goals::pursuit::{
    PROGRESSING, claims, data, does, events, go, hire, prompts, pursuit, reads, runs, steps, story, writes,
};

#[test]
fn varied_arguments_with_the_same_result_are_told_and_then_halted() {
    let worker: Vec<_> = (0..60).map(|n| runs(&format!("echo FAIL; exit 1 # {n}"))).collect();
    let desk = pursuit(&worker, &[PROGRESSING]);
    let said = go(&desk, &["--critic-interval", "0"]);
    assert_eq!((said.code, desk.state().as_str()), (3, "halted(guard)"), "{said:?}");
    let events = events(&desk);
    assert!(steps(&events).len() < 30, "{}", steps(&events).len());
    let nudges = data(&events, "nudged");
    assert_eq!(nudges.iter().filter(|n| n["why"] == "circle").count(), 3, "{nudges:?}");
    assert!(said.err.contains("all brought the same result"), "{}", said.err);
}

#[test]
fn calls_that_cannot_be_read_switch_no_tool_off() {
    let bad = does("write_file", json!("{\"path\": \"done.txt\", \"content\": "));
    let worker = [bad.clone().times(5), writes("done.txt", "x"), reads("done.txt").then(claims("written"))];
    let desk = pursuit(&worker, &[PROGRESSING]);
    let said = go(&desk, &[]);
    assert_eq!(said.code, 0, "{said:?}");
    let events = events(&desk);
    assert!(data(&events, "tool_disabled").is_empty(), "{}", story(&desk));
    let told = prompts(&events, "worker");
    assert!(told[1].contains("takes one JSON object of this form"), "{}", told[1]);
    assert!(told[3].contains("Your last 3 calls could not be read"), "{}", told[3]);
    assert!(!data(&events, "watched").is_empty(), "the critic is asked at once");
}

#[test]
fn whoever_cannot_write_a_call_at_all_waits_for_a_person_and_keeps_the_tools() {
    let bad = does("write_file", json!("{\"path\""));
    let worker = [bad.times(9), writes("done.txt", "x"), reads("done.txt").then(claims("written"))];
    let desk = pursuit(&worker, &[PROGRESSING]);
    let said = go(&desk, &[]);
    assert_eq!((said.code, desk.state().as_str()), (4, "waiting(question)"), "{said:?}");
    assert!(said.err.contains("last 9 calls could not be read"), "{}", said.err);
    let run = desk.run_id();
    assert_eq!(desk.gadfly(&["answer", &run, "steer Use short texts."]).code, 0);
    let said = desk.gadfly(&["resume", &run, "--unattended"]);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn failed_claims_with_work_between_them_do_not_stop_a_goal() {
    let mut worker = Vec::new();
    for n in 0..7 {
        worker.extend((0..5).map(|m| writes(&format!("part-{n}-{m}.txt"), "x")));
        worker.push(reads(&format!("part-{n}-0.txt")).then(claims("now it is there")));
    }
    worker.extend([writes("done.txt", "x"), reads("done.txt").then(claims("there"))]);
    let desk = pursuit(&worker, &[PROGRESSING]);
    let said = go(&desk, &["--critic-interval", "0"]);
    assert_eq!(said.code, 0, "{said:?}");
    let failed = data(&events(&desk), "verification_failed").len();
    assert_eq!(failed, 7);
    // Without work in between the fifth stops it.
    let idle = claims("now it is there").times(7);
    let desk = pursuit(&[writes("a.txt", "x"), idle], &[PROGRESSING]);
    let said = go(&desk, &["--critic-interval", "0"]);
    assert_eq!(said.code, 4, "{said:?}");
    assert_eq!(data(&events(&desk), "verification_failed").len(), 5);
}

const MISLED: &str = "MISLED\nIt writes poems.";

/// A worker that writes a poem in place of what it was asked for, is called back, and reaches the goal.
fn drifting(after: &[crate::goals::pursuit::Turn]) -> crate::goals::desk::Desk {
    let mut worker = vec![
        writes("notes.txt", "a plan"),
        runs("cat notes.txt"),
        writes("poem.txt", "roses"),
        runs("echo violets > poem2.txt"),
    ];
    worker.extend_from_slice(after);
    let desk = pursuit(&worker, &[PROGRESSING, MISLED, PROGRESSING]);
    let said = go(&desk, &["--critic-interval", "2"]);
    assert!(said.err.contains("critic:misled"), "{said:?}");
    desk
}

#[test]
fn what_drift_left_is_not_delivered_unasked() {
    let claims_again =
        [writes("done.txt", "x"), reads("done.txt").then(claims("there")), claims("there, as it is")];
    let desk = drifting(&claims_again);
    assert_eq!(desk.state(), "waiting(question)");
    assert!(!desk.path("done.txt").exists() && !desk.path("poem.txt").exists(), "nothing is delivered");
    let told = prompts(&events(&desk), "worker");
    assert!(told[4].contains("Made or changed while you had drifted: poem.txt, poem2.txt"), "{}", told[4]);
    let run = desk.run_id();
    let asked = desk.gadfly(&["show", &run]).out;
    assert!(asked.contains("poem.txt, poem2.txt") && asked.contains("without"), "{asked}");
    assert!(!asked.contains("notes.txt."), "what was made before is no drift: {asked}");
    assert_eq!(desk.gadfly(&["answer", &run, "all"]).code, 0);
    let said = desk.gadfly(&["resume", &run, "--unattended"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        desk.path("done.txt").exists() && desk.path("poem.txt").exists() && desk.path("notes.txt").exists()
    );
}

#[test]
fn a_worker_that_takes_its_drift_back_is_delivered_without_a_question() {
    let takes_back = [
        writes("done.txt", "x"),
        reads("done.txt").then(claims("there")),
        runs("rm poem.txt poem2.txt; ls"),
        claims("and the poems are gone"),
    ];
    let desk = drifting(&takes_back);
    assert_eq!(desk.state(), "approved");
    assert!(desk.path("done.txt").exists() && desk.path("notes.txt").exists());
    assert!(!desk.path("poem.txt").exists() && !desk.path("poem2.txt").exists());
}

#[test]
fn a_person_may_want_it_without_them() {
    let stubborn = [
        writes("done.txt", "x"),
        reads("done.txt").then(claims("there")),
        claims("there, as it is"),
        runs("rm poem.txt poem2.txt; ls"),
        claims("and the poems are gone"),
    ];
    let desk = drifting(&stubborn);
    let run = desk.run_id();
    hire(&desk, "c", &[crate::goals::pursuit::says(PROGRESSING).always()], "");
    assert_eq!(desk.gadfly(&["answer", &run, "without"]).code, 0);
    let said = desk.gadfly(&["resume", &run, "--unattended"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(desk.path("done.txt").exists() && !desk.path("poem.txt").exists());
}
