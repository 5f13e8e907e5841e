//! An approved run that has written nothing yet, in a repository where the user has work that is not committed. It can be
//! set back as often as one likes, stopped on its way into the checkout, and gone on with.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::desk::{AUDIT, Desk, passed};
use crate::pursuit::{GOAL, PROGRESSING, claims, hire, runs};
use crate::strace;

/// Where the folders of runs are.
const FOLDERS: &str = "home/.local/state/gadfly/work";

pub struct Stage {
    pub desk: Desk,
    pub run: String,
    /// The user's files, without the run's work and with it.
    pub before: BTreeMap<PathBuf, Vec<u8>>,
    pub after: BTreeMap<PathBuf, Vec<u8>>,
    /// What git keeps for the user.
    pub git: BTreeMap<PathBuf, Vec<u8>>,
    /// The calls of agents that the run takes.
    pub calls: u64,
}

/// What a worker does.
const WORK: &str = "for f in a.txt own.txt d/*.txt; do echo two >$f; done; rm gone.txt; mkdir -p new/deep; \
    echo two >new/deep/er.txt; rm link; ln -s own.txt link; chmod +x run.sh";

/// A repository with so many files in one folder and some others, and what only the user's disk has. A run has nothing to
/// do with `other.txt`.
fn at_work(files: usize) -> Desk {
    let committed =
        [("a.txt", "one\n"), ("gone.txt", "gone\n"), ("run.sh", "echo\n"), ("other.txt", "one\n")];
    let desk = Desk::repository(&committed);
    for n in 0..files {
        desk.write(&format!("d/{n:03}.txt"), "one\n");
    }
    std::os::unix::fs::symlink("a.txt", desk.path("link")).unwrap();
    desk.commit("many");
    desk.write("a.txt", "one\nmine, not committed\n");
    desk.write("d/000.txt", "mine, not committed\n");
    desk.write("other.txt", "mine, not committed\n");
    desk.write("own.txt", "mine, not tracked\n");
    desk
}

impl Stage {
    /// An audit whose worker changes so many files in one folder, and some others in other ways.
    pub fn audit(files: usize) -> Self {
        let desk = at_work(files);
        desk.program("w", &format!("cat >/dev/null\n{WORK}\necho done"));
        desk.saying("c", &[&passed(1)]);
        Self::stopped(desk, &AUDIT)
    }

    /// A goal that is reached by the same work.
    pub fn goal(files: usize) -> Self {
        let desk = at_work(files);
        hire(&desk, "w", &[runs(&format!("{WORK}\necho two >done.txt")), claims("it is done")], "");
        desk.saying("c", &[PROGRESSING]);
        Self::stopped(desk, &GOAL)
    }

    /// Finds out where the run leads to, and stops another one right before it writes anything.
    pub fn stopped(desk: Desk, args: &[&str]) -> Self {
        let before = desk.files();
        let git = desk.git_bytes();
        let done = desk.gadfly(args);
        assert_eq!(done.code, 0, "{}", done.err);
        let (after, calls) = (desk.files(), desk.calls());
        assert_eq!(desk.gadfly(&["undo", &desk.run_id()]).code, 0);
        assert_eq!(desk.files(), before);
        fs::remove_dir_all(desk.path(".gadfly")).unwrap();
        let mut stage = Self { desk, run: String::new(), before, after, git, calls };
        assert!(
            stage.killed(args, "renameat", 1, None),
            "the run was to be killed before its first file is in place"
        );
        stage.run = stage.desk.run_id();
        let undone = stage.desk.gadfly(&["undo", &stage.run]);
        assert_eq!(undone.code, 0, "{}", undone.err);
        stage.is_as_before("the stage is set");
        stage.keep();
        stage
    }

    /// What the stage is set back to from now on.
    pub fn keep(&self) {
        let _ = fs::remove_dir_all(self.desk.beside("kept"));
        copy(&self.desk.path(""), &self.desk.beside("kept"));
        let _ = fs::remove_dir_all(self.desk.beside("kept-work"));
        if self.desk.beside(FOLDERS).exists() {
            copy(&self.desk.beside(FOLDERS), &self.desk.beside("kept-work"));
        }
    }

    pub fn reset(&self) {
        fs::remove_dir_all(self.desk.path("")).unwrap();
        // The store is set back with the project; nobody is to notice.
        let _ = fs::remove_dir_all(self.desk.beside("home/.local/state/gadfly/seals"));
        copy(&self.desk.beside("kept"), &self.desk.path(""));
        let _ = fs::remove_dir_all(self.desk.beside(FOLDERS));
        if self.desk.beside("kept-work").exists() {
            copy(&self.desk.beside("kept-work"), &self.desk.beside(FOLDERS));
        }
    }

    /// Runs a command that is killed at the `nth` such call of one of its threads, counting only those about `path` if
    /// there is one; false if it came through.
    pub fn killed(&self, args: &[&str], call: &str, nth: usize, path: Option<&Path>) -> bool {
        let kill = format!("{call}:signal=KILL:when={nth}");
        strace::run(&self.desk.command(args), &[call], &[&kill], path).was_killed()
    }

    pub fn is_as_before(&self, what: &str) {
        self.is(&self.before, what);
        assert!(!self.desk.path("new").exists(), "{what}: a folder that was made for the run is left");
    }

    /// The record can be read and verified, nothing was paid for again, and git's own files are as they were.
    pub fn is_whole(&self, what: &str) {
        self.gadfly(what, &["runs"]);
        self.gadfly(what, &["show", &self.run, "--verify"]);
        assert_eq!(self.desk.calls(), self.calls, "{what}: calls");
        assert_eq!(self.desk.git_bytes(), self.git, "{what}: git's files");
    }

    pub fn is(&self, wanted: &BTreeMap<PathBuf, Vec<u8>>, what: &str) {
        let found = self.desk.files();
        let differ =
            found.iter().filter(|(path, bytes)| wanted.get(*path) != Some(bytes)).map(|(path, _)| path);
        let missing = wanted.keys().filter(|path| !found.contains_key(*path));
        let wrong: Vec<_> = differ.chain(missing).collect();
        assert!(wrong.is_empty(), "{what}: {wrong:?}");
    }

    pub fn gadfly(&self, what: &str, args: &[&str]) -> String {
        let said = self.desk.gadfly(args);
        assert_eq!(said.code, 0, "{what}: {args:?}: {}", said.err);
        assert!(!said.err.contains("damaged"), "{what}: {args:?}: {}", said.err);
        said.err
    }

    /// Goes on from where the kill left it, in one of the ways a user may.
    pub fn mend(&self, way: &str, what: &str) {
        let (run, touched) = (self.run.as_str(), self.desk.files() != self.before);
        if self.desk.state() == "approved" {
            // It was killed when all was done.
            self.is(&self.after, what);
            self.gadfly(what, &["undo", run]);
            self.is_as_before(what);
            return self.is_whole(what);
        }
        match way {
            "resume" => {
                self.gadfly(what, &["resume", run]);
                self.is(&self.after, what);
                self.gadfly(what, &["undo", run]);
                self.is_as_before(what);
                self.is_whole(what);
            }
            "undo" => {
                if touched {
                    for args in
                        [&["runs", "rm", run][..], &["gc", "--older-than", "0", "--abandoned", "--apply"]]
                    {
                        let kept = self.desk.gadfly(args);
                        assert!(kept.code == 2 && kept.err.contains("gadfly undo"), "{what}: {kept:?}");
                    }
                }
                let undone = self.desk.gadfly(&["undo", run]);
                let says = if touched { "reverted in" } else { "" };
                assert!(undone.code == 0 || !touched && undone.code == 2, "{what}: {undone:?}");
                assert!(undone.err.contains(says), "{what}: {undone:?}");
                self.is_as_before(what);
                self.gadfly(what, &["resume", run]);
                self.is(&self.after, what);
                self.is_whole(what);
            }
            _ => {
                self.gadfly(what, &["cancel", run]);
                assert_eq!(self.desk.state(), "aborted", "{what}");
                self.is_as_before(what);
                self.is_whole(what);
                self.gadfly(what, &["runs", "rm", run]);
            }
        }
    }
}

pub fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}
