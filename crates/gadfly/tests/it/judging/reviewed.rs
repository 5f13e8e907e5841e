//! A critic that looks at files by itself finds the project as it is with the change under review, in a copy.

use std::fs;

use crate::judging::desk::{Desk, report};

const REVIEW: [&str; 8] =
    ["review", "--diff", "HEAD", "--critic", "c", "--criterion", "SC-1: it is done", "--yes"];

/// With a critic that does this first; `SEEN` is a folder it may write to.
fn desk(looks: &str) -> Desk {
    let desk = Desk::repository(&[("a.txt", "one\n"), ("src/caller.txt", "calls a\n"), ("gone.txt", "x\n")]);
    desk.write("a.txt", "two\n");
    fs::remove_file(desk.path("gone.txt")).unwrap();
    let seen = desk.beside("seen");
    fs::create_dir(&seen).unwrap();
    let met = [("SC-1", "Satisfied", "a.txt:1")];
    let verdict = report("review-the-changes-since-head", 1, &met, &[], "passed");
    let looks = looks.replace("SEEN", &seen.display().to_string());
    desk.program("c", &format!("cat >/dev/null\n{looks}\ncat <<'END'\n{verdict}\nEND"));
    desk.configure(&format!("state = [{}]\n", serde_json::json!(seen)));
    desk
}

#[test]
fn a_critic_sees_the_files_around_the_change_as_they_are_with_it() {
    let desk = desk("{ ls; cat a.txt src/caller.txt; } >SEEN/list 2>&1");
    let said = desk.gadfly(&REVIEW);
    assert_eq!(said.code, 0, "{}", said.err);
    let list = fs::read_to_string(desk.beside("seen").join("list")).unwrap();
    for part in ["a.txt\n", "src\n", "two\n", "calls a\n"] {
        assert!(list.contains(part), "{part:?} is not in {list}");
    }
    assert!(!list.contains("gone.txt"), "{list}");
}

#[test]
fn what_it_changes_there_makes_its_word_void_and_reaches_nobody() {
    let desk = desk("echo meddled >src/caller.txt");
    desk.configure("sandbox = \"off\"\n");
    let said = desk.gadfly(&REVIEW);
    assert_ne!(said.code, 0, "{}", said.err);
    assert!(desk.told().contains("src/caller.txt"), "{}", desk.told());
    assert_eq!(desk.read("src/caller.txt"), "calls a\n");
}
