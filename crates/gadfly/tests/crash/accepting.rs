//! `kill -9` at any system call of an acceptance, then `resume`, `undo` or `cancel`: each ends whole, and what the user
//! had not committed is there to the byte.
//!
//! `GADFLY_EVERY_KILL=1` kills at every call; without it at some of each kind.

use std::collections::BTreeMap;

use crate::desk::Desk;
use crate::stage::Stage;
use crate::strace;

/// What an acceptance does to the checkout, by the names of system calls: a file is made and locked, gets its mode, is
/// synced, takes its place; links and folders are made; files go.
const CALLS: [&str; 7] = ["flock", "fchmod", "fsync", "renameat", "symlinkat", "mkdirat", "unlinkat"];
const FILES: usize = 12;
/// More than any thread makes of one call.
const MOST: usize = 40;

#[test]
fn killed_at_any_step_of_an_acceptance_it_can_be_finished_undone_and_cancelled() {
    if strace::is_there() {
        kill_at_any_step(&Stage::audit(FILES));
    }
}

#[test]
fn killed_at_any_step_of_a_goals_acceptance_it_can_be_finished_undone_and_cancelled() {
    if strace::is_there() {
        kill_at_any_step(&Stage::goal(FILES));
    }
}

fn kill_at_any_step(stage: &Stage) {
    let every = std::env::var_os("GADFLY_EVERY_KILL").is_some();
    let mut kills: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let ways = ["resume", "undo", "cancel"];
    for call in CALLS {
        // The first, and some in the middle.
        let points: Vec<usize> = if every { (1..=MOST).collect() } else { vec![1, 2, 7] };
        for (at, nth) in points.into_iter().enumerate() {
            let mut came_through = false;
            for way in ways.iter().skip(if every { 0 } else { at }).take(if every { 3 } else { 1 }) {
                stage.reset();
                if !stage.killed(&["resume", &stage.run], call, nth, None) {
                    came_through = true;
                    break;
                }
                let (all, amid) = kills.entry(call).or_default();
                *all += 1;
                *amid += usize::from(stage.desk.files() != stage.before);
                stage.mend(way, &format!("killed at {call} {nth}, then {way}"));
            }
            if came_through {
                break;
            }
        }
    }
    say!("kills of an acceptance, and those after which something was written: {kills:?}");
    let amid: usize = kills.values().map(|(_, amid)| amid).sum();
    assert!(
        amid >= 6 && ["renameat", "symlinkat"].iter().all(|call| kills.contains_key(call)),
        "the kills did not hit the acceptance: {kills:?}"
    );
}

#[test]
fn what_was_half_written_is_gone_before_a_person_is_asked_about_their_own_edit() {
    if !strace::is_there() {
        return;
    }
    let stage = Stage::audit(FILES);
    let run = stage.run.as_str();
    assert!(stage.killed(&["resume", run], "renameat", 4, None));
    assert_ne!(stage.desk.files(), stage.before, "something is written");
    let mut wanted = stage.before.clone();
    let last = format!("d/{:03}.txt", FILES - 1);
    stage.desk.write(&last, "edited after the kill\n");
    wanted.insert(stage.desk.path(&last), b"edited after the kill\n".to_vec());
    let asked = stage.desk.gadfly(&["resume", run]);
    assert_eq!(asked.code, 4, "{}", asked.err);
    let shown = stage.desk.gadfly(&["show", run]).out;
    assert!(shown.contains("Nothing was written"), "{shown}");
    stage.is(&wanted, "asked");
    assert_eq!(stage.desk.gadfly(&["answer", run, "stop"]).code, 0);
    stage.desk.gadfly(&["resume", run]);
    stage.gadfly("stopped", &["cancel", run]);
    stage.is(&wanted, "stopped and cancelled");
    stage.gadfly("cancelled", &["runs", "rm", run]);
    stage.is(&wanted, "removed");
}

#[test]
fn undo_and_cancel_leave_what_was_edited_after_the_kill_and_name_it() {
    if !strace::is_there() {
        return;
    }
    let stage = Stage::audit(FILES);
    for way in ["undo", "cancel"] {
        stage.reset();
        assert!(stage.killed(&["resume", &stage.run], "renameat", 4, None));
        let mut wanted = stage.before.clone();
        stage.desk.write("a.txt", "edited after the kill\n");
        wanted.insert(stage.desk.path("a.txt"), b"edited after the kill\n".to_vec());
        let said = stage.gadfly(way, &[way, &stage.run]);
        assert!(said.contains("left as you changed it: a.txt"), "{way}: {said}");
        stage.is(&wanted, way);
    }
}

/// A draft for a file, approved, and killed while that is written.
#[test]
fn killed_while_the_result_is_written_to_its_file_it_can_be_finished_undone_and_cancelled() {
    if !strace::is_there() {
        return;
    }
    let desk = Desk::folder(&[("o.md", "mine, not committed\n")]);
    desk.saying("w", &["New text of 5 words."]);
    desk.saying("c", &["[STATUS: APPROVED]\nAt most 10 words."]);
    let args = [
        "run",
        "Write",
        "--criterion",
        "at most 10 words",
        "--out",
        "o.md",
        "--worker",
        "w",
        "--critic",
        "c",
    ];
    // Another run first: making the store takes the same calls.
    assert_eq!(
        desk.gadfly(&["run", "W", "--criterion", "at most 10 words", "--worker", "w", "--critic", "c"]).code,
        0
    );
    let before = desk.files();
    let mut after = before.clone();
    after.insert(desk.path("o.md"), b"New text of 5 words.".to_vec());
    let stage = Stage { desk, run: String::new(), before, after, git: BTreeMap::new(), calls: 2 };
    stage.keep();
    let folder = stage.desk.path("").canonicalize().unwrap();
    // Before it takes its place, and after.
    for (call, path) in [("rename", None), ("fsync", Some(folder))] {
        for way in ["resume", "undo", "cancel"] {
            let (what, is_written) = (format!("killed at {call}, then {way}"), path.is_some());
            stage.reset();
            assert!(stage.killed(&args, call, 1, path.as_deref()), "{what}");
            let (run, found) = (stage.desk.run_id(), stage.desk.files());
            assert_ne!(found, stage.before, "{what}");
            assert_eq!(found == stage.after, is_written, "{what}");
            if is_written {
                let kept = stage.desk.gadfly(&["runs", "rm", &run]);
                assert!(kept.code == 2 && kept.err.contains("gadfly undo"), "{what}: {kept:?}");
            }
            let said = stage.desk.gadfly(&[way, &run]);
            if way == "undo" && !is_written {
                assert!(said.err.contains("changed none of your files"), "{what}: {said:?}");
            } else {
                assert_eq!(said.code, 0, "{what}: {said:?}");
            }
            stage.is(if way == "resume" { &stage.after } else { &stage.before }, &what);
        }
    }
}

#[test]
fn a_rollback_that_fails_says_which_files_and_can_be_made_up_for() {
    if !strace::is_there() {
        return;
    }
    let stage = Stage::audit(FILES);
    for way in ["undo", "cancel", "resume"] {
        stage.reset();
        // The last file but one cannot be put in place, and nothing new can be removed.
        let faults = [&format!("renameat:error=EIO:when={}", FILES + 4)[..], "unlinkat:error=EIO"];
        let resume = stage.desk.command(&["resume", &stage.run]);
        let done = strace::run(&resume, &["renameat", "unlinkat"], &faults, None);
        let said = done.said();
        assert_eq!(done.output.status.code(), Some(1), "{said}");
        assert!(said.contains("own.txt") && said.contains("put back in `new/deep/er.txt`:"), "{said}");
        assert_eq!(stage.desk.read("new/deep/er.txt"), "two\n", "it is there");
        assert_eq!(stage.desk.read("a.txt"), "one\nmine, not committed\n", "the others are back");
        assert_eq!(stage.desk.gadfly(&["runs", "rm", &stage.run]).code, 2);
        stage.gadfly(way, &[way, &stage.run]);
        if way == "resume" {
            stage.is(&stage.after, way);
        } else {
            stage.is_as_before(way);
        }
    }
}
