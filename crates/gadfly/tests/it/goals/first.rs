//! The check before anything is paid, and where a cap ends the goal.

use std::fs;

use crate::goals::desk::{Desk, Said};
use crate::goals::pursuit::{BARE, Driven, PROGRESSING, Turn, claims, data, events, pursuit, runs, writes};

fn go(desk: &Desk, more: &[&str]) -> Said {
    desk.gadfly(&[&BARE[..], &["--critic-interval", "0"], more].concat())
}

/// Somebody who would leave a mark.
fn eager() -> [Turn; 1] {
    [writes("mark.txt", "x").then(runs("cat mark.txt")).then(claims("there")).always()]
}

#[test]
fn what_is_met_already_is_said_and_nothing_is_paid() {
    let desk = pursuit(&eager(), &[PROGRESSING]);
    let said = go(&desk, &["--until", "grep one a.txt"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("already met: nothing was done and nothing paid"), "{}", said.err);
    assert!(said.err.contains("met already: `grep one a.txt` exits with 0"), "{}", said.err);
    assert!(said.err.contains("0 calls") && !desk.path("mark.txt").exists(), "{}", said.err);
    assert!(data(&events(&desk), "accepted").is_empty(), "nothing is delivered");
    let shown = desk.gadfly(&["show", &desk.run_id()]).out;
    assert!(shown.contains("already met"), "{shown}");
    assert_eq!(desk.gadfly(&["show", &desk.run_id(), "--verify"]).code, 0);
}

#[test]
fn a_person_at_a_terminal_chooses() {
    let desk = pursuit(&eager(), &[PROGRESSING]);
    let attended = [&BARE[..7], &["--critic-interval", "0", "--until", "grep one a.txt"]].concat();
    for (answer, works) in [("done", false), ("work", true)] {
        let mut driven = Driven::attended(&desk, &attended);
        assert!(driven.until(&["\"asked\""]), "{}", driven.told);
        let run = desk.run_id();
        let question = desk.gadfly(&["show", &run]).out;
        assert!(question.contains("The goal is met already, before anything was done"), "{question}");
        assert_eq!(desk.gadfly(&["answer", &run, answer]).code, 0);
        assert_eq!(driven.end(), 0);
        assert_eq!(desk.path("mark.txt").exists(), works, "{answer}");
    }
}

#[test]
fn a_flag_has_it_worked_on_all_the_same() {
    let desk = pursuit(&eager(), &[PROGRESSING]);
    let said = go(&desk, &["--until", "grep one a.txt", "--work-anyway"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("met already") && said.err.contains("verified after"), "{}", said.err);
    assert!(desk.path("mark.txt").exists());
}

#[test]
fn a_check_that_cannot_run_here_is_said_before_anything_is_paid() {
    let desk = pursuit(&eager(), &[PROGRESSING]);
    fs::write(desk.beside("out"), "mine\n").unwrap();
    let out = desk.beside("out");
    for (until, names) in [
        ("no-such-command --all".to_owned(), "not found".to_owned()),
        (format!("echo x >{}/x", desk.beside("home").display()), "refused: ".to_owned()),
        ("echo 'Could not resolve host: example.org'; no-such-command".to_owned(), "--prepare".to_owned()),
    ] {
        let said = go(&desk, &["--until", &until, "--max-steps", "1"]);
        let line = said.err.lines().find(|line| line.contains("cannot be checked here as it is"));
        let line = line.unwrap_or_else(|| panic!("{until}: {}", said.err));
        assert!(line.contains(&names), "{line}");
        let before = said.err.find("cannot be checked here").unwrap();
        assert!(said.err.find("[1]").is_none_or(|step| before < step), "{}", said.err);
    }
    assert!(out.exists());
}

/// A goal that holds is never reported as not verified, whoever noticed.
#[test]
fn a_goal_that_holds_at_its_cap_is_reached() {
    let desk = pursuit(&[writes("done.txt", "x"), runs("true").always()], &[PROGRESSING]);
    let said = go(&desk, &["--until", "test -f done.txt", "--max-steps", "3"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("verified after 3 steps"), "{}", said.err);
    assert_eq!(desk.read("done.txt"), "x");
    let not = pursuit(&[writes("other.txt", "x"), runs("true").always()], &[PROGRESSING]);
    let said = go(&not, &["--until", "test -f done.txt", "--max-steps", "3"]);
    assert_eq!(said.code, 6, "{}", said.err);
    assert!(!not.path("other.txt").exists());
}

#[test]
fn neither_does_the_clock_keep_it_from_being_found() {
    let desk = pursuit(&[writes("done.txt", "x"), runs("sleep 20").always()], &[PROGRESSING]);
    let said = go(&desk, &["--until", "test -f done.txt", "--wall-clock", "3s"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.read("done.txt"), "x");
}
