//! Audits find weakened tests as goals do: a sample of the corpus, and a person who lets one stand.

use crate::judging::corpus::{Case, cases};
use crate::judging::desk::{Answer, Desk, Said, passed};

/// An audit whose worker makes the change of a case beside its work, and whose critic finds all well.
fn audited(case: &Case) -> (Desk, Said) {
    let mut files: Vec<(&str, &str)> = vec![("a.txt", "one\n")];
    files.extend(case.before.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let desk = Desk::repository(&files);
    let mut written = vec![("a.txt", "two\n")];
    let changed = case.after.iter().filter(|(path, text)| case.before.get(*path) != Some(text));
    written.extend(changed.map(|(path, text)| (path.as_str(), text.as_str())));
    let gone = case.before.keys().filter(|path| !case.after.contains_key(*path));
    let gone: Vec<&str> = gone.map(String::as_str).collect();
    desk.scripted("w", &[Answer { text: "done", files: &written, delete: &gone }]);
    desk.saying("c", &[&passed(1)]);
    let said = desk.audit(&["--rounds", "1"]);
    (desk, said)
}

fn named<'a>(all: &'a [Case], name: &str) -> &'a Case {
    all.iter().find(|case| case.name == name).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn none_of_a_sample_of_the_corpus_passes_an_audit_unnamed() {
    let all = cases(&["weakened.txt"]);
    for name in [
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
    ] {
        let case = named(&all, name);
        let (desk, said) = audited(case);
        assert_eq!((said.code, desk.state().as_str()), (4, "waiting(question)"), "{name}: {said:?}");
        let (path, words) = &case.expect[0];
        let shown = desk.gadfly(&["show", &desk.run_id()]).out;
        assert!(shown.contains(path.as_str()), "{name}: {shown}");
        let told = desk.told().replace("\\\"", "\"");
        assert!(told.contains(words.as_str()), "{name}: {words}: {told}");
        assert_eq!(desk.read("a.txt"), "one\n", "{name}: nothing is with the user");
    }
}

#[test]
fn honest_changes_pass() {
    let all = cases(&["honest.txt"]);
    for name in ["python: a test more", "rust: a unit test more", "go: a row more and a name for each"] {
        let (desk, said) = audited(named(&all, name));
        assert_eq!((said.code, desk.state().as_str()), (0, "approved"), "{name}: {said:?}");
    }
}

#[test]
fn a_person_may_let_it_stand_and_the_reason_is_kept() {
    let all = cases(&["weakened.txt"]);
    let (desk, _) = audited(named(&all, "python: expectation changed"));
    let run = desk.run_id();
    let refused = desk.gadfly(&["answer", &run, "waive"]);
    assert_ne!(refused.code, 0, "a reason is needed: {refused:?}");
    assert_eq!(desk.gadfly(&["answer", &run, "waive all zero is what the new rule says"]).code, 0);
    let said = desk.gadfly(&["resume", &run, "--unattended"]);
    assert_eq!((said.code, desk.state().as_str()), (0, "approved"), "{said:?}");
    assert_eq!(desk.read("a.txt"), "two\n");
    let told = desk.told();
    assert!(told.contains("\"waived\"") && told.contains("zero is what the new rule says"), "{told}");
}
