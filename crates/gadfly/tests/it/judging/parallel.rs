//! Two workers on the same files at the same time: neither sees the other, the first to be approved is accepted,
//! and about the second a person is asked. Nothing is resolved unasked, and everything can be taken back.

use std::fs;
use std::path::Path;
use std::process::Child;

use serde_json::{Value, json};

use crate::judging::desk::{AUDIT, Desk, passed, wait_for};

const WAITING: i32 = 4;
const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

/// Two runs begin together with workers `first` and `second`; the second is approved when the first is accepted.
/// Each script is given the text to put in place of line N. Returns the runs' ids.
fn both_run(desk: &Desk, first: &str, second: &str) -> (String, String) {
    both_run_with(desk, first, second, "")
}

/// As `both_run`, with more to say of the critic.
fn both_run_with(desk: &Desk, first: &str, second: &str, critic: &str) -> (String, String) {
    let meeting = desk.beside("meeting");
    fs::create_dir(&meeting).unwrap();
    let here = |name: &str| meeting.join(name).display().to_string();
    let may_write_there = || desk.configure(&format!("state = [{}]\n", json!(meeting)));
    let meet = |mine: &str, other: &str| {
        format!(
            "cat >/dev/null; grep -qx 5 a.txt || exit 9; : >{}; while [ ! -e {} ]; do sleep 0.02; done",
            here(mine),
            here(other)
        )
    };
    desk.program("first", &format!("{}\n{first}\necho done", meet("met1", "met2")));
    may_write_there();
    let wait = format!("while [ ! -e {} ]; do sleep 0.02; done", here("accepted"));
    desk.program("second", &format!("{}\n{second}\n{wait}\necho done", meet("met2", "met1")));
    may_write_there();
    desk.saying("c", &[&passed(1)]);
    desk.configure(critic);
    let begin = |worker: &str| {
        let args: Vec<&str> = AUDIT.iter().map(|arg| if *arg == "w" { worker } else { arg }).collect();
        desk.spawn(&args)
    };
    let ended = |mut child: Child| child.wait().unwrap().code();
    let (one, two) = (begin("first"), begin("second"));
    assert_eq!(ended(one), Some(0), "{}", desk.told());
    fs::write(meeting.join("accepted"), "").unwrap();
    assert_eq!(ended(two), Some(WAITING), "{}", desk.told());
    let of = |worker: &str| {
        let runs = desk.gadfly(&["runs", "--json"]).out;
        let mut runs = runs.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let run = runs.find(|run| run["worker"] == worker).unwrap_or_else(|| panic!("{worker}"));
        run["run"].as_str().unwrap().to_owned()
    };
    (of("first"), of("second"))
}

fn begun() -> Desk {
    let desk = Desk::repository(&[("a.txt", TEN), ("b.txt", "b\n"), ("s.txt", "s\n")]);
    desk.write("s.txt", "stashed\n");
    desk.git(&["stash", "push", "-q"]);
    desk.write("s.txt", "staged\n");
    desk.git(&["add", "s.txt"]);
    desk
}

fn line(text: &str) -> String {
    TEN.replace("5\n", &format!("{text}\n"))
}

fn answered(desk: &Desk, run: &str, word: &str) -> i32 {
    let said = desk.gadfly(&["answer", run, word]);
    assert_eq!(said.code, 0, "{}", said.err);
    desk.gadfly(&["resume", run]).code
}

fn shown(desk: &Desk, run: &str) -> String {
    desk.gadfly(&["show", run]).out
}

#[test]
fn the_same_line_changed_twice_is_shown_to_a_person_who_keeps_takes_or_stops() {
    let desk = begun();
    let git = desk.git_bytes();
    let (first, second) =
        both_run(&desk, "sed -i s/^5$/one/ a.txt", "sed -i s/^5$/two/ a.txt; echo bb >b.txt; echo n >n.txt");
    assert_eq!((desk.read("a.txt"), desk.read("b.txt")), (line("one"), "b\n".into()), "not corrupted");
    let told = shown(&desk, &second);
    for said in ["a.txt: changed here and by the run", "<<<<<<< yours", "one", "two", "mine", "run", "stop"] {
        assert!(told.contains(said), "{said}: {told}");
    }
    assert!(!told.contains("git can merge") && !told.contains("b.txt:"), "{told}");
    assert!(!told.contains("not approved"), "the verdict stands while the question is open: {told}");
    let said = desk.gadfly(&["answer", &second, "merge"]);
    assert_eq!(said.code, 2, "there is no merge to take: {}", said.err);
    // Stopping writes nothing, and can be gone on from.
    let before = desk.files();
    assert_eq!(answered(&desk, &second, "stop"), WAITING);
    assert_eq!(desk.files(), before);
    assert_eq!(desk.gadfly(&["resume", &second]).code, WAITING, "asked again");
    // Mine: what is in conflict stays, the rest comes.
    assert_eq!(answered(&desk, &second, "mine"), 0);
    assert_eq!((desk.read("a.txt"), desk.read("b.txt")), (line("one"), "bb\n".into()));
    let told = shown(&desk, &second);
    assert!(told.contains("a.txt (your version, not the judged one)"), "{told}");
    assert_eq!(desk.gadfly(&["undo", &second]).code, 0);
    assert_eq!(desk.files(), before, "as it was before the second, and the first is still there");
    assert_eq!(desk.gadfly(&["undo", &first]).code, 0);
    assert_eq!(desk.read("a.txt"), TEN);
    assert_eq!(desk.git_bytes(), git, "index, HEAD, refs, stash: every byte of .git");
}

#[test]
fn the_runs_version_takes_the_place_of_the_users_and_undo_brings_that_back() {
    let desk = begun();
    let git = desk.git_bytes();
    let (_, second) = both_run(&desk, "sed -i s/^5$/one/ a.txt", "sed -i s/^5$/two/ a.txt; echo bb >b.txt");
    desk.write("a.txt", "written by hand\n");
    let before = desk.files();
    // They were shown something else: they are asked once more, and nothing is written.
    assert_eq!(answered(&desk, &second, "run"), WAITING);
    assert_eq!(desk.files(), before, "without the look before writing this would be overwritten");
    assert!(shown(&desk, &second).contains("since you answered"), "{}", shown(&desk, &second));
    assert_eq!(answered(&desk, &second, "run"), 0);
    assert_eq!((desk.read("a.txt"), desk.read("b.txt")), (line("two"), "bb\n".into()));
    assert_eq!(desk.gadfly(&["undo", &second]).code, 0);
    assert_eq!(desk.files(), before, "to the byte");
    assert_eq!(desk.git_bytes(), git);
}

#[test]
fn lines_apart_have_a_merge_that_is_taken_only_when_a_person_says_so_and_is_called_unjudged() {
    let desk = begun();
    let git = desk.git_bytes();
    let (_, second) = both_run(&desk, "sed -i s/^2$/one/ a.txt", "sed -i s/^9$/two/ a.txt");
    assert_eq!(desk.read("a.txt"), TEN.replace("2\n", "one\n"), "not merged unasked");
    assert!(shown(&desk, &second).contains("git can merge it without a conflict"));
    let before = desk.files();
    assert_eq!(answered(&desk, &second, "merge"), 0);
    assert_eq!(desk.read("a.txt"), TEN.replace("2\n", "one\n").replace("9\n", "two\n"));
    let told = shown(&desk, &second);
    assert!(told.contains("a.txt (nobody judged the merged text)"), "{told}");
    let log = desk.gadfly(&["show", &second, "--log", "--json"]).out;
    assert!(log.contains("\"merged\":[\"a.txt\"]"), "the record says so, too: {log}");
    // Undo refuses what changed since, with a list; otherwise it restores exactly.
    let merged = desk.read("a.txt");
    desk.write("a.txt", "later\n");
    let said = desk.gadfly(&["undo", &second]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("a.txt") && desk.read("a.txt") == "later\n", "{}", said.err);
    desk.write("a.txt", &merged);
    assert_eq!(desk.gadfly(&["undo", &second]).code, 0);
    assert_eq!(desk.files(), before);
    assert_eq!(desk.git_bytes(), git);
}

#[test]
fn a_file_one_deleted_and_the_other_changed_is_a_question_too() {
    let desk = begun();
    let (_, second) = both_run(&desk, "rm b.txt", "echo bb >b.txt");
    assert!(shown(&desk, &second).contains("b.txt: gone here, changed by the run"));
    assert!(!desk.path("b.txt").exists());
    assert_eq!(answered(&desk, &second, "run"), 0);
    assert_eq!(desk.read("b.txt"), "bb\n");
    assert_eq!(desk.gadfly(&["undo", &second]).code, 0);
    assert!(!desk.path("b.txt").exists(), "gone again, as it was");
}

#[test]
fn a_commit_on_a_branch_asks_nothing_whatever_the_checkout_holds() {
    let desk = begun();
    let a = desk.path("a.txt");
    desk.program("w", &format!("cat >/dev/null; echo two >a.txt; echo mine >{}; echo done", a.display()));
    // It plays the user, too.
    desk.configure("sandbox = \"off\"\n");
    desk.saying("c", &[&passed(1)]);
    let said = desk.audit(&["--branch", "topic"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!((desk.read("a.txt"), desk.git(&["show", "topic:a.txt"])), ("mine\n".into(), "two\n".into()));
}

#[test]
fn killed_while_a_merge_is_written_it_is_finished_by_resuming_and_undone_to_the_byte() {
    const FILES: usize = 400;
    let desk = Desk::repository(&[("a.txt", TEN)]);
    for n in 0..FILES {
        desk.write(&format!("d/{n:04}.txt"), "one\n");
    }
    desk.commit("many");
    let second = "sed -i s/^9$/two/ a.txt; for f in d/*.txt; do echo two >$f; done";
    let (_, run) = both_run_with(&desk, "sed -i s/^2$/one/ a.txt", second, "context = 1000000\n");
    let before = desk.files();
    let said = desk.gadfly(&["answer", &run, "merge"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let written = || desk.files().iter().filter(|(path, bytes)| before.get(*path) != Some(bytes)).count();
    let changed = |path: &Path| fs::read(path).is_ok_and(|b| b == b"two\n");
    let mut child = desk.spawn(&["resume", &run]);
    let (first, last) = (desk.path("d/0000.txt"), desk.path(&format!("d/{:04}.txt", FILES - 1)));
    wait_for("acceptance began", || changed(&first) || changed(&last) || desk.read("a.txt").contains("two"));
    child.kill().unwrap();
    child.wait().unwrap();
    let then = written();
    let runs = desk.gadfly(&["runs", "--json"]).out;
    let mut runs = runs.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let state = runs.find(|r| r["run"] == *run).map(|r| r["state"].clone());
    if state != Some(json!("approved")) {
        let said = desk.gadfly(&["resume", &run]);
        assert_eq!(said.code, 0, "{then} files were written before: {}", said.err);
    }
    assert_eq!(written(), FILES + 1, "{then} files were written before");
    assert_eq!(desk.read("a.txt"), TEN.replace("2\n", "one\n").replace("9\n", "two\n"));
    assert_eq!(desk.gadfly(&["undo", &run]).code, 0);
    assert_eq!(desk.files(), before);
    assert!(then > 0 && then < FILES + 1, "the kill came too early or too late: {then}");
}

#[test]
fn a_worker_in_its_sandbox_reads_the_history_it_borrows_and_commits_on_top_of_it() {
    let desk = begun();
    desk.program(
        "w",
        "cat >/dev/null; git log -p --all >/dev/null || exit 8; git fsck >/dev/null 2>&1 || exit 9\n\
         echo two >a.txt; git -c user.name=w -c user.email=w@w commit -qam mine || exit 7; git log --oneline; echo done",
    );
    desk.saying("c", &[&passed(1)]);
    let git = desk.git_bytes();
    let said = desk.audit(&[]);
    assert_eq!((said.code, desk.read("a.txt")), (0, "two\n".into()), "{}", said.err);
    assert_eq!(desk.git_bytes(), git);
}
