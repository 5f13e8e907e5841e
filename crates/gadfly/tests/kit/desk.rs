//! A project in a temporary folder, programs that play agents beside it, and the binary at work in it.

use crate::kit::agreed;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything that must happen may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

pub struct Desk {
    dir: TempDir,
    /// The user agrees to how the project's files want work judged.
    agrees: bool,
}

/// What a command said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// One answer of a scripted agent.
#[derive(Default)]
pub struct Answer<'a> {
    pub text: &'a str,
    pub files: &'a [(&'a str, &'a str)],
    pub delete: &'a [&'a str],
}

impl Desk {
    /// A folder without git.
    pub fn folder(files: &[(&str, &str)]) -> Self {
        let desk = Self { dir: tempfile::tempdir().unwrap(), agrees: false };
        for sub in ["home", "bin", "project"] {
            fs::create_dir(desk.dir.path().join(sub)).unwrap();
        }
        for (name, text) in files {
            desk.write(name, text);
        }
        desk
    }

    /// The same, of a user who agrees to how the project's files want work judged.
    #[allow(dead_code)] // not in every test that has this desk
    pub fn agreeing(mut self) -> Self {
        self.agrees = true;
        self
    }

    /// A repository with these files in its first commit.
    pub fn repository(files: &[(&str, &str)]) -> Self {
        let desk = Self::folder(files);
        desk.git(&["init", "-q"]);
        desk.git(&["config", "user.name", "A"]);
        desk.git(&["config", "user.email", "a@b.c"]);
        desk.write(".gitignore", ".gadfly/\n");
        desk.commit("one");
        desk
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    pub fn git(&self, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "init.defaultBranch=main"]).args(args).current_dir(self.path("")).env_clear();
        let done = git.env("PATH", "/usr/bin:/bin").env("HOME", self.beside("home")).output().unwrap();
        assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("project").join(name)
    }

    /// Where the agents of a run of this project work, and what undoing needs is kept.
    #[allow(dead_code)] // not in every test that has this desk
    pub fn work(&self, run: &str) -> PathBuf {
        let stores =
            fs::read_dir(self.beside("home/.local/state/gadfly/work")).into_iter().flatten().flatten();
        let found: Vec<PathBuf> =
            stores.map(|store| store.path().join(run)).filter(|run| run.exists()).collect();
        assert!(found.len() < 2, "{found:?}");
        found
            .into_iter()
            .next()
            .unwrap_or_else(|| self.beside("home/.local/state/gadfly/work/none").join(run))
    }

    /// A place next to the project.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// An agent `name` whose answers are these, the last again and again.
    pub fn scripted(&self, name: &str, answers: &[Answer<'_>]) {
        let mut script = String::new();
        for (at, answer) in answers.iter().enumerate() {
            writeln!(script, "[[reply]]\ntext = {}", json!(answer.text)).unwrap();
            let table: Vec<String> = answer
                .files
                .iter()
                .map(|(path, text)| format!("{} = {}", json!(path), json!(text)))
                .collect();
            let (files, delete) = (table.join(", "), json!(answer.delete));
            writeln!(script, "files = {{ {files} }}\ndelete = {delete}").unwrap();
            if at + 1 == answers.len() {
                script.push_str("repeat = \"always\"\n");
            }
        }
        let file = self.beside(&format!("bin/{name}.toml"));
        fs::write(&file, script).unwrap();
        self.configure(&format!("[agents.{name}]\nkind = \"scripted\"\nscript = {}\n", json!(file)));
    }

    /// An agent `name` that says these texts.
    pub fn saying(&self, name: &str, texts: &[&str]) {
        let answers: Vec<_> = texts.iter().map(|text| Answer { text, ..Answer::default() }).collect();
        self.scripted(name, &answers);
    }

    /// An agent `name` that is this shell script.
    pub fn program(&self, name: &str, script: &str) {
        let file = self.beside(&format!("bin/{name}.sh"));
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        self.configure(&format!("[agents.{name}]\nkind = \"command\"\ncommand = [{}]\n", json!(file)));
    }

    /// A program that does this once the file is there whose path comes back. In no sandbox: from inside of one it would
    /// not be seen.
    #[allow(dead_code)] // some of these tests wait for nothing
    pub fn held_program(&self, name: &str, then: &str) -> PathBuf {
        let gate = self.beside("go");
        let script = format!("while [ ! -e '{}' ]; do sleep 0.05; done; {then}", gate.display());
        self.program(name, &script);
        self.configure("sandbox = \"off\"\n");
        gate
    }

    /// Adds to the user's own configuration: it is trusted, and no part of the project.
    pub fn configure(&self, more: &str) {
        let file = self.beside("home/.config/gadfly/gadfly.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let before = fs::read_to_string(&file).unwrap_or_default();
        fs::write(file, format!("{before}{more}")).unwrap();
    }

    pub fn command(&self, args: &[&str]) -> Command {
        if self.agrees {
            agreed::to_judging(&self.path(""), &self.beside("home"));
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_gadfly"));
        command.args(args).current_dir(self.path("")).env_clear().stdin(Stdio::null());
        command.env("HOME", self.beside("home")).env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
        command
    }

    pub fn gadfly(&self, args: &[&str]) -> Said {
        let done = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { code: done.status.code().unwrap_or(-1), out: text(done.stdout), err: text(done.stderr) }
    }

    pub fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// An audit with worker `w` and critic `c`, task id `T`, one criterion.
    pub fn audit(&self, more: &[&str]) -> Said {
        self.gadfly(&[&AUDIT[..], more].concat())
    }

    /// The newest run, as `gadfly runs` has it.
    pub fn newest(&self) -> Value {
        let said = self.gadfly(&["runs", "--json", "-n", "1"]);
        serde_json::from_str(said.out.trim()).unwrap_or_else(|e| panic!("{e}: {said:?}"))
    }

    pub fn run_id(&self) -> String {
        self.newest()["run"].as_str().unwrap().to_owned()
    }

    pub fn state(&self) -> String {
        self.newest()["state"].as_str().unwrap().to_owned()
    }

    /// What the newest run's record says: for a person, and event by event. The texts that were sent and
    /// received are left out: what a critic says of itself names nothing.
    pub fn told(&self) -> String {
        let run = self.run_id();
        let shown = self.gadfly(&["show", &run]).out;
        let log = self.gadfly(&["show", &run, "--log", "--json"]).out;
        let events = log.lines().filter(|line| !line.contains("\"event\":\"text\""));
        format!("{shown}\n{}", events.collect::<Vec<_>>().join("\n"))
    }

    /// How many calls of agents the newest run made.
    pub fn calls(&self) -> u64 {
        self.newest()["calls"].as_u64().unwrap_or_else(|| panic!("{}", self.newest()))
    }

    /// Every file of the project but Gadfly's and git's own, with its bytes; links by what they name.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let (path, kind) = (entry.path(), entry.file_type().unwrap());
                if kind.is_dir() {
                    if ![".git", ".gadfly"].iter().any(|own| entry.file_name() == *own) {
                        folders.push(path);
                    }
                } else {
                    let bytes = if kind.is_symlink() {
                        fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                    } else {
                        fs::read(&path).unwrap()
                    };
                    files.insert(path, bytes);
                }
            }
        }
        files
    }

    /// The bytes of what git keeps for the user: index, HEAD, refs, stash, configuration, hooks.
    pub fn git_bytes(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.path(".git")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    files.insert(entry.path(), fs::read(entry.path()).unwrap());
                }
            }
        }
        files
    }
}

pub const AUDIT: [&str; 12] = [
    "run",
    "Do it",
    "--protocol",
    "audit",
    "--worker",
    "w",
    "--critic",
    "c",
    "--criterion",
    "SC-1: it is done",
    "--unattended",
    "--yes",
];

/// The report of a critic that finds all well in a round of task `do-it`; its evidence is `a.txt:1`.
pub fn passed(round: u32) -> String {
    report("do-it", round, &[("SC-1", "Satisfied", "a.txt:1")], &[], "passed")
}

pub type Finding<'a> = (&'a str, &'a str, Option<(&'a str, u32)>, &'a str);

/// A report: criteria by id, verdict and evidence; findings by category, severity, place and remediation.
pub fn report(
    task: &str,
    round: u32,
    criteria: &[(&str, &str, &str)],
    findings: &[Finding<'_>],
    verdict: &str,
) -> String {
    let criteria: Vec<Value> = criteria
        .iter()
        .map(|(id, verdict, evidence)| {
            json!({"id": id, "claim": "it is done", "verdict": verdict, "evidence": evidence, "missing_info": null})
        })
        .collect();
    let findings: Vec<Value> = findings
        .iter()
        .enumerate()
        .map(|(at, (category, severity, place, remediation))| {
            json!({"id": format!("C-{at}"), "category": category, "severity": severity,
                   "file": place.map(|p| p.0), "line": place.map(|p| p.1), "remediation": remediation,
                   "criterion_id": null, "question_to_user": null})
        })
        .collect();
    json!({"critic": "c", "task_id": task, "round": round, "criteria": criteria, "findings": findings,
           "verdict": verdict})
    .to_string()
}

pub fn wait_for(what: &str, holds: impl FnMut() -> bool) {
    wait_within(what, PATIENCE, holds);
}

pub fn wait_within(what: &str, within: Duration, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < within, "{what} within {within:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Processes whose command line holds the mark.
pub fn alive(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(line) = fs::read(entry.path().join("cmdline")) else { continue };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(mark) {
            found.push(line);
        }
    }
    found
}

pub fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}
