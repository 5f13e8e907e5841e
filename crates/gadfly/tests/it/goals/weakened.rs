//! Tests are not weakened unseen: a sample of the corpus, done by a worker through the real binary, and what a person can
//! say to it.

use serde_json::json;

use crate::goals::corpus::{Case, cases};
use crate::goals::desk::{Desk, Said};
use crate::goals::pursuit::{BARE, PROGRESSING, Turn, claims, data, events, hire, prompts, runs, writes};

/// Has a worker make the change of a case in its project. The check is one that passes as soon as it is done.
fn made(case: &Case) -> (Desk, Said) {
    let files: Vec<(&str, &str)> =
        case.before.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let desk = Desk::repository(&files);
    let mut turn = writes("done.txt", "done\n");
    for (path, text) in case.after.iter().filter(|(path, text)| case.before.get(*path) != Some(text)) {
        turn = turn.then(writes(path, text));
    }
    for path in case.before.keys().filter(|path| !case.after.contains_key(*path)) {
        turn = turn.then(runs(&format!("rm {path}")));
    }
    let said = pursued(&desk, turn, "test -f done.txt");
    (desk, said)
}

fn pursued(desk: &Desk, turn: Turn, until: &str) -> Said {
    hire(desk, "w", &[turn, runs("ls").then(claims("done"))], "");
    desk.saying("c", &[PROGRESSING]);
    desk.gadfly(&[&BARE[..], &["--until", until]].concat())
}

fn some<'a>(all: &'a [Case], names: &[&str]) -> Vec<&'a Case> {
    let find = |name: &&str| all.iter().find(|case| case.name == **name).unwrap_or_else(|| panic!("{name}"));
    names.iter().map(find).collect()
}

#[test]
fn none_of_a_sample_of_the_corpus_is_accepted_without_a_question_that_names_it() {
    let all = cases(&["weakened.txt"]);
    for case in some(
        &all,
        &[
            "rust: emptied in one line",
            "rust: ignored in one line",
            "rust: tests of the library switched off",
            "python: expectation changed",
            "python: a module named as the runner",
            "python: the file renamed so that the runner does not find it",
            "javascript: skipped",
            "javascript: the snapshot is recorded anew",
            "typescript: equal to itself",
            "go: the whole package ends well",
            "java: skipped by maven",
            "c: assertions compiled away",
        ],
    ) {
        let (desk, said) = made(case);
        assert_eq!((said.code, desk.state().as_str()), (4, "waiting(question)"), "{}: {said:?}", case.name);
        let events = events(&desk);
        let changed = data(&events, "protected_changed");
        let (path, words) = &case.expect[0];
        let names_it = |f: &serde_json::Value| {
            f["place"]["path"] == json!(path) && f["says"].as_str().unwrap().contains(words.as_str())
        };
        let findings = changed[0]["findings"].as_array().unwrap();
        assert!(findings.iter().any(names_it), "{}: {findings:?}", case.name);
        let question = desk.gadfly(&["show", &desk.run_id()]).out;
        assert!(
            question.contains(path.as_str()) && question.contains("waive WHY"),
            "{}: {question}",
            case.name
        );
        assert!(!desk.path("done.txt").exists(), "{}: nothing is with the user", case.name);
    }
}

#[test]
fn honest_changes_are_accepted_without_a_question() {
    let all = cases(&["honest.txt"]);
    for case in some(
        &all,
        &[
            "python: a test more",
            "python: tests moved to another file",
            "rust: a unit test more",
            "rust: dependencies and a feature",
            "javascript: a dependency and a script",
            "go: a row more and a name for each",
        ],
    ) {
        let (desk, said) = made(case);
        assert_eq!((said.code, desk.state().as_str()), (0, "approved"), "{}: {said:?}", case.name);
    }
}

#[test]
fn the_runner_itself_may_be_what_was_replaced() {
    let test = "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(1, 2)\n";
    let desk = Desk::repository(&[("test_a.py", test), ("a.txt", "x\n")]);
    let fake = writes("unittest.py", "import sys\nsys.exit(0)\n");
    let said = pursued(&desk, fake, "python3 -m unittest");
    assert_eq!((said.code, desk.state().as_str()), (4, "waiting(question)"), "{said:?}");
    assert!(said.out.contains("unittest.py") || said.err.contains("unittest.py"), "{said:?}");
}

#[test]
fn a_person_may_waive_what_was_found_and_the_reason_is_kept() {
    let all = cases(&["weakened.txt"]);
    let (desk, _) = made(some(&all, &["python: expectation changed"])[0]);
    let run = desk.run_id();
    let refused = desk.gadfly(&["answer", &run, "waive"]);
    assert_ne!(refused.code, 0, "a reason is needed: {refused:?}");
    assert_eq!(desk.gadfly(&["answer", &run, "waive", "zero is what the new rule says"]).code, 0);
    let said = desk.gadfly(&["resume", &run]);
    assert_eq!((said.code, desk.state().as_str()), (0, "approved"), "{said:?}");
    let events = events(&desk);
    let waived = data(&events, "waived")[0];
    assert_eq!(waived["reason"], "zero is what the new rule says");
    assert!(waived["findings"][0].as_str().unwrap().contains("tests/test_calc.py"), "{waived}");
    let shown = desk.gadfly(&["show", &run]).out;
    assert!(shown.contains("zero is what the new rule says"), "{shown}");
    assert!(desk.read("tests/test_calc.py").contains("result == 0"));
}

#[test]
fn what_was_found_is_told_to_the_worker_of_a_person_who_does_not_agree() {
    let all = cases(&["weakened.txt"]);
    let (desk, _) = made(some(&all, &["rust: emptied in one line"])[0]);
    let run = desk.run_id();
    assert_eq!(desk.gadfly(&["answer", &run, "reject", "mend the code"]).code, 0);
    desk.gadfly(&["resume", &run]);
    let told = prompts(&events(&desk), "worker").last().unwrap().clone();
    assert!(
        told.contains("mend the code") && told.contains("src/lib.rs:") && told.contains("assert!(true)"),
        "{told}"
    );
}
