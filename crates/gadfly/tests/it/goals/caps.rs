//! Caps: the worker explains itself once, the goal is parked, a raised cap lets it go on, and an unraised one costs
//! nothing more.

use crate::goals::desk::{Desk, Said};
use crate::goals::pursuit::{
    PROGRESSING, Turn, claims, data, events, go, hire, prompts, pursuit, reads, runs, says, steps, writes,
};

const LAST: &str = "I counted lines, and would write the file next.";

fn works(turns: u32, rest: &[Turn]) -> Vec<Turn> {
    let steps = runs("echo x >> log; wc -l < log").times(turns).only_as("worker");
    let last = says(LAST).only_as("advisor").always();
    [&[steps], rest, &[last]].concat()
}

fn end() -> [Turn; 2] {
    [writes("done.txt", "x").only_as("worker"), reads("done.txt").then(claims("there")).only_as("worker")]
}

fn is_parked_with_last_words(desk: &Desk, said: &Said, cap: &str) {
    assert_eq!((said.code, desk.state().as_str()), (6, "out_of_budget"), "{cap}: {said:?}");
    let events = events(desk);
    let words = data(&events, "last_words");
    assert_eq!(words.len(), 1, "{cap}");
    let told = crate::goals::pursuit::story(desk);
    assert!(told.contains(LAST) && said.err.contains(LAST), "{cap}: {told}\n{}", said.err);
    assert_eq!(prompts(&events, "advisor").len(), 1, "{cap}");
}

/// Without a raised cap nothing is paid; with one it goes on to its end.
fn goes_on_only_if_raised(desk: &Desk, raise: &[&str]) {
    let (run, calls) = (desk.run_id(), desk.calls());
    assert_eq!(desk.gadfly(&["resume", &run, "--unattended"]).code, 6, "{raise:?}");
    assert_eq!(desk.calls(), calls, "{raise:?}: it was paid again");
    let said = desk.gadfly(&[&["resume", &run, "--unattended"], raise].concat());
    assert_eq!(said.code, 0, "{raise:?}: {said:?}");
    assert_eq!(desk.read("done.txt"), "x");
}

#[test]
fn of_steps() {
    let desk = pursuit(&works(3, &end()), &[PROGRESSING]);
    let said = go(&desk, &["--max-steps", "3"]);
    is_parked_with_last_words(&desk, &said, "steps");
    assert_eq!(steps(&events(&desk)).len(), 3);
    goes_on_only_if_raised(&desk, &["--max-steps", "20"]);
}

#[test]
fn calls_of_one_turn_beyond_the_cap_are_not_done() {
    let many =
        (0..5).fold(reads("a.txt"), |turn, n| turn.then(writes(&format!("{n}.txt"), "x"))).only_as("worker");
    let desk = pursuit(&[many, says(LAST).only_as("advisor").always()], &[PROGRESSING]);
    let said = go(&desk, &["--max-steps", "3"]);
    is_parked_with_last_words(&desk, &said, "steps");
    assert_eq!(steps(&events(&desk)).len(), 3);
    assert!(!crate::goals::pursuit::folder(&desk).join("2.txt").exists());
}

#[test]
fn of_turns() {
    let desk = pursuit(&works(2, &end()), &[PROGRESSING]);
    let said = go(&desk, &["--max-turns", "2"]);
    is_parked_with_last_words(&desk, &said, "turns");
    goes_on_only_if_raised(&desk, &["--max-turns", "20"]);
}

#[test]
fn of_active_time() {
    let slow = runs("sleep 1.2").times(2).only_as("worker");
    let desk = pursuit(&[], &[PROGRESSING]);
    hire(&desk, "w", &[&[slow], &end()[..], &[says(LAST).only_as("advisor").always()]].concat(), "");
    let said = go(&desk, &["--wall-clock", "2s"]);
    is_parked_with_last_words(&desk, &said, "time");
    goes_on_only_if_raised(&desk, &["--wall-clock", "10m"]);
}

#[test]
fn of_tokens() {
    let costly = runs("echo x >> log; wc -l < log").times(3).only_as("worker").for_tokens(20_000, 1_000);
    let desk = pursuit(&[], &[PROGRESSING]);
    hire(&desk, "w", &[&[costly], &end()[..], &[says(LAST).only_as("advisor").always()]].concat(), "");
    let said = go(&desk, &["--budget-tokens", "70000"]);
    assert_eq!((said.code, desk.state().as_str()), (6, "out_of_budget"), "{said:?}");
    assert!(desk.newest()["tokens"].as_u64().unwrap() <= 70_000, "never more than the cap");
    assert_eq!(data(&events(&desk), "last_words").len(), 1, "{said:?}");
    goes_on_only_if_raised(&desk, &["--budget-tokens", "900000"]);
}

#[test]
fn of_money() {
    let costly = runs("echo x >> log; wc -l < log").times(3).only_as("worker").for_tokens(20_000, 1_000);
    let desk = pursuit(&[], &[PROGRESSING]);
    let price = "price = { input = 10.0, output = 10.0 }\n";
    let turns = [&[costly], &end()[..], &[says(LAST).only_as("advisor").always()]].concat();
    hire(&desk, "priced", &turns, price);
    let flags =
        ["goal", "Write the file done.txt.", "--worker", "priced", "--critic", "c", "--yes", "--unattended"];
    let said = desk.gadfly(&[&flags[..], &["--until", "test -f done.txt", "--budget-usd", "0.70"]].concat());
    assert_eq!((said.code, desk.state().as_str()), (6, "out_of_budget"), "{said:?}");
    assert!(desk.newest()["cost"].as_u64().unwrap() <= 700_000_000, "{}", desk.newest());
    goes_on_only_if_raised(&desk, &["--budget-usd", "9"]);
}

#[test]
fn what_is_left_of_a_budget_survives_a_kill() {
    let hangs = runs("echo x > begun; sleep 1000").only_as("worker");
    let desk = pursuit(&[], &[PROGRESSING]);
    let first = runs("echo x >> log; wc -l < log").times(2).only_as("worker");
    hire(&desk, "w", &[&[first, hangs], &end()[..], &[says(LAST).only_as("advisor").always()]].concat(), "");
    let driven = crate::goals::pursuit::Driven::start(
        &desk,
        &[&crate::goals::pursuit::GOAL[..], &["--max-steps", "3"]].concat(),
    );
    crate::goals::desk::wait_for("a run", || {
        desk.gadfly(&["runs", "--json", "-n", "1"]).out.contains("\"run\"")
    });
    crate::goals::desk::wait_for("it is at work", || {
        crate::goals::pursuit::folder(&desk).join("begun").exists()
    });
    driven.kill();
    let run = desk.run_id();
    assert_eq!(desk.gadfly(&["resume", &run, "--unattended"]).code, 4);
    assert_eq!(desk.gadfly(&["answer", &run, "skip"]).code, 0);
    let said = desk.gadfly(&["resume", &run, "--unattended"]);
    is_parked_with_last_words(&desk, &said, "steps");
}
