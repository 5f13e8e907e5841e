//! `kill -9` at any system call of an acceptance, then `resume`, `undo` or `cancel`: each ends whole, and what the user
//! had not committed is there to the byte.
//!
//! `GADFLY_EVERY_KILL=1` kills at every call; without it at some of each kind.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::desk::{AUDIT, Desk, passed};

/// What an acceptance does to the checkout, by the names of system calls: a file is made and locked, gets its mode, is
/// synced, takes its place; links and folders are made; files go.
const CALLS: [&str; 7] = ["flock", "fchmod", "fsync", "renameat", "symlinkat", "mkdirat", "unlinkat"];
const FILES: usize = 12;
/// Where the folders of runs are.
const WORK: &str = "home/.local/state/gadfly/work";
/// More than any thread makes of one call.
const MOST: usize = 40;

struct Stage {
    desk: Desk,
    run: String,
    before: BTreeMap<PathBuf, Vec<u8>>,
    after: BTreeMap<PathBuf, Vec<u8>>,
}

fn has_strace() -> bool {
    let has = Command::new("strace").arg("-V").output().is_ok_and(|done| done.status.success());
    if !has {
        say!("skipped: there is no strace to kill at a system call");
    }
    has
}

impl Stage {
    /// A run that is approved and was stopped right before it wrote anything.
    fn set() -> Self {
        let desk = Desk::repository(&[("a.txt", "one\n"), ("gone.txt", "gone\n"), ("run.sh", "echo\n")]);
        for n in 0..FILES {
            desk.write(&format!("d/{n:02}.txt"), "one\n");
        }
        std::os::unix::fs::symlink("a.txt", desk.path("link")).unwrap();
        desk.commit("many");
        // What only the user's disk has.
        desk.write("a.txt", "one\nmine, not committed\n");
        desk.write("d/00.txt", "mine, not committed\n");
        desk.write("own.txt", "mine, not tracked\n");
        let worker = "cat >/dev/null; for f in a.txt own.txt d/*.txt; do echo two >$f; done\n\
                      rm gone.txt; mkdir -p new/deep; echo two >new/deep/er.txt; rm link; ln -s own.txt link; chmod +x run.sh\n\
                      echo done";
        desk.program("w", worker);
        desk.saying("c", &[&passed(1)]);
        let before = desk.files();
        let done = desk.gadfly(&AUDIT);
        assert_eq!(done.code, 0, "{}", done.err);
        let after = desk.files();
        assert_eq!(desk.gadfly(&["undo", &desk.run_id()]).code, 0);
        assert_eq!(desk.files(), before);
        fs::remove_dir_all(desk.path(".gadfly")).unwrap();
        let mut stage = Self { desk, run: String::new(), before, after };
        assert!(
            stage.killed(&AUDIT, "renameat", 1),
            "the run was to be killed before its first file is in place"
        );
        stage.run = stage.desk.run_id();
        let undone = stage.desk.gadfly(&["undo", &stage.run]);
        assert_eq!(undone.code, 0, "{}", undone.err);
        stage.is_as_before("the stage is set");
        copy(&stage.desk.path(""), &stage.desk.beside("kept"));
        copy(&stage.desk.beside(WORK), &stage.desk.beside("kept-work"));
        stage
    }

    fn reset(&self) {
        fs::remove_dir_all(self.desk.path("")).unwrap();
        // The store is set back with the project; nobody is to notice.
        let _ = fs::remove_dir_all(self.desk.beside("home/.local/state/gadfly/seals"));
        copy(&self.desk.beside("kept"), &self.desk.path(""));
        if self.desk.beside("kept-work").exists() {
            let _ = fs::remove_dir_all(self.desk.beside(WORK));
            copy(&self.desk.beside("kept-work"), &self.desk.beside(WORK));
        }
    }

    /// Runs a command that is killed at the `nth` such call of one of its threads; false if it came through.
    fn killed(&self, args: &[&str], call: &str, nth: usize) -> bool {
        self.killed_at(args, call, nth, None)
    }

    /// As `killed`, counting only calls about this path.
    fn killed_at(&self, args: &[&str], call: &str, nth: usize, path: Option<PathBuf>) -> bool {
        let done = self.traced(args, &[&format!("{call}:signal=KILL:when={nth}")], path);
        done.status.signal() == Some(9) || done.status.code() == Some(137)
    }

    /// Runs a command whose system calls are interfered with.
    fn traced(&self, args: &[&str], faults: &[&str], path: Option<PathBuf>) -> Output {
        let plain = self.desk.command(args);
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "--seccomp-bpf", "-o", "/dev/null"]);
        if let Some(path) = path {
            traced.arg("-P").arg(path);
        }
        for fault in faults {
            traced.arg("-e").arg(format!("inject={fault}"));
        }
        traced.arg("--").arg(plain.get_program()).args(args);
        traced.current_dir(self.desk.path("")).env_clear();
        traced.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        traced.stdin(std::process::Stdio::null()).output().unwrap()
    }

    fn is_as_before(&self, what: &str) {
        self.is(&self.before, what);
        assert!(!self.desk.path("new").exists(), "{what}: a folder that was made for the run is left");
    }

    fn is(&self, wanted: &BTreeMap<PathBuf, Vec<u8>>, what: &str) {
        let found = self.desk.files();
        let differ =
            found.iter().filter(|(path, bytes)| wanted.get(*path) != Some(bytes)).map(|(path, _)| path);
        let missing = wanted.keys().filter(|path| !found.contains_key(*path));
        let wrong: Vec<_> = differ.chain(missing).collect();
        assert!(wrong.is_empty(), "{what}: {wrong:?}");
    }

    fn gadfly(&self, what: &str, args: &[&str]) -> String {
        let said = self.desk.gadfly(args);
        assert_eq!(said.code, 0, "{what}: {args:?}: {}", said.err);
        said.err
    }

    /// Goes on from where the kill left it, in one of the ways a user may.
    fn mend(&self, way: &str, what: &str) {
        let (run, touched) = (self.run.as_str(), self.desk.files() != self.before);
        if self.desk.state() == "approved" {
            // It was killed when all was done.
            self.is(&self.after, what);
            self.gadfly(what, &["undo", run]);
            return self.is_as_before(what);
        }
        match way {
            "resume" => {
                self.gadfly(what, &["resume", run]);
                self.is(&self.after, what);
                self.gadfly(what, &["undo", run]);
                self.is_as_before(what);
            }
            "undo" => {
                let removed = self.desk.gadfly(&["runs", "rm", run]);
                assert!(
                    !touched || removed.code == 2 && removed.err.contains("gadfly undo"),
                    "{what}: {removed:?}"
                );
                if touched {
                    let kept = self.desk.gadfly(&["gc", "--older-than", "0", "--abandoned", "--apply"]);
                    assert!(kept.code == 2 && kept.err.contains("gadfly undo"), "{what}: {kept:?}");
                    let said = self.gadfly(what, &["undo", run]);
                    assert!(said.contains("taken back in"), "{what}: {said}");
                    self.is_as_before(what);
                    self.gadfly(what, &["resume", run]);
                    self.is(&self.after, what);
                }
            }
            _ => {
                self.gadfly(what, &["cancel", run]);
                assert_eq!(self.desk.state(), "aborted", "{what}");
                self.is_as_before(what);
                self.gadfly(what, &["runs", "rm", run]);
            }
        }
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

#[test]
fn killed_at_any_step_of_an_acceptance_it_can_be_finished_undone_and_cancelled() {
    if !has_strace() {
        return;
    }
    let every = std::env::var_os("GADFLY_EVERY_KILL").is_some();
    let stage = Stage::set();
    let mut kills: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let ways = ["resume", "undo", "cancel"];
    for call in CALLS {
        // The first, and some in the middle.
        let points: Vec<usize> = if every { (1..=MOST).collect() } else { vec![1, 2, 7] };
        for (at, nth) in points.into_iter().enumerate() {
            let mut came_through = false;
            for way in ways.iter().skip(if every { 0 } else { at }).take(if every { 3 } else { 1 }) {
                stage.reset();
                if !stage.killed(&["resume", &stage.run], call, nth) {
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
    if !has_strace() {
        return;
    }
    let stage = Stage::set();
    let run = stage.run.as_str();
    assert!(stage.killed(&["resume", run], "renameat", 4));
    assert_ne!(stage.desk.files(), stage.before, "something is written");
    let mut wanted = stage.before.clone();
    let last = format!("d/{:02}.txt", FILES - 1);
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
    if !has_strace() {
        return;
    }
    let stage = Stage::set();
    for way in ["undo", "cancel"] {
        stage.reset();
        assert!(stage.killed(&["resume", &stage.run], "renameat", 4));
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
    if !has_strace() {
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
    let stage = Stage { desk, run: String::new(), before, after };
    copy(&stage.desk.path(""), &stage.desk.beside("kept"));
    let folder = stage.desk.path("").canonicalize().unwrap();
    // Before it takes its place, and after.
    for (call, path) in [("rename", None), ("fsync", Some(folder))] {
        for way in ["resume", "undo", "cancel"] {
            let (what, is_written) = (format!("killed at {call}, then {way}"), path.is_some());
            stage.reset();
            assert!(stage.killed_at(&args, call, 1, path.clone()), "{what}");
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
    if !has_strace() {
        return;
    }
    let stage = Stage::set();
    for way in ["undo", "cancel", "resume"] {
        stage.reset();
        // The last file but one cannot be put in place, and nothing new can be removed.
        let faults = [&format!("renameat:error=EIO:when={}", FILES + 4)[..], "unlinkat:error=EIO"];
        let done = stage.traced(&["resume", &stage.run], &faults, None);
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{said}");
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
