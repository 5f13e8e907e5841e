//! A project in a temporary folder, the binary in it, and what it said with ids and paths masked.

use crate::kit::agreed;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

pub const APPROVE: &str = "[STATUS: APPROVED]\\nGood.";
pub const REJECT: &str = "[STATUS: REJECTED]\\n- name the sample size";

pub struct Project {
    dir: TempDir,
}

/// What a command said.
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
    dir: PathBuf,
}

impl Project {
    /// A project without configuration.
    pub fn bare() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for sub in ["home", "project/.git"] {
            std::fs::create_dir_all(dir.path().join(sub)).unwrap();
        }
        Self { dir }
    }

    /// With a worker `writer` and a critic `judge` who give these replies, and `gadfly.toml` going on with `more`.
    pub fn scripted(worker: &[&str], critic: &[&str], more: &str) -> Self {
        let project = Self::bare();
        project.script("writer.toml", worker);
        project.script("judge.toml", critic);
        let script = |name: &str| project.path(name).display().to_string();
        project.own(&format!(
            "[agents.writer]\nkind = \"scripted\"\nscript = {:?}\n\
             [agents.judge]\nkind = \"scripted\"\nscript = {:?}\n\
             [agents.me]\nkind = \"person\"\n",
            script("writer.toml"),
            script("judge.toml"),
        ));
        // As many lines as the agents would have: places in the file are told by line.
        let above = "# The agents are the user's own.\n".repeat(8);
        project.write(
            "gadfly.toml",
            &format!("{above}[defaults]\nworker = \"writer\"\ncritic = \"judge\"\n{more}"),
        );
        project
    }

    /// The user's own configuration.
    pub fn own(&self, text: &str) {
        let file = self.own_file();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub fn own_file(&self) -> PathBuf {
        self.dir.path().join("home/.config/gadfly/gadfly.toml")
    }

    /// Changes the user's own configuration.
    pub fn change_own(&self, change: impl FnOnce(String) -> String) {
        self.own(&change(std::fs::read_to_string(self.own_file()).unwrap()));
    }

    /// One more scripted agent of the user's.
    pub fn own_scripted(&self, name: &str, script: &str) {
        let script = self.path(script).display().to_string();
        self.change_own(|own| format!("{own}[agents.{name}]\nkind = \"scripted\"\nscript = {script:?}\n"));
    }

    /// A reply that begins with `!` is a fault.
    pub fn script(&self, name: &str, replies: &[&str]) {
        let mut text = String::new();
        for reply in replies {
            match reply.strip_prefix('!') {
                Some(fault) => writeln!(text, "[[reply]]\nfault = \"{fault}\"").unwrap(),
                None => writeln!(text, "[[reply]]\ntext = \"{reply}\"").unwrap(),
            }
        }
        self.write(name, &text);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("project").join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The user agrees to how the project's file wants work judged.
    pub fn agree(&self) {
        agreed::to_judging(&self.path(""), &self.dir.path().join("home"));
    }

    /// By a user who agrees to how the project's file wants work judged.
    pub fn command(&self, args: &[&str]) -> Command {
        self.agree();
        let mut command = Command::new(env!("CARGO_BIN_EXE_gadfly"));
        command.args(args).current_dir(self.dir.path().join("project")).env_clear();
        command.env("HOME", self.dir.path().join("home")).env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
        command.stdin(Stdio::null());
        command
    }

    pub fn gadfly(&self, args: &[&str]) -> Said {
        self.said(&self.command(args).output().unwrap())
    }

    pub fn gadfly_with_stdin(&self, args: &[&str], stdin: &str) -> Said {
        let mut child = self.piped(args, Stdio::piped());
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        self.said(&child.wait_with_output().unwrap())
    }

    pub fn spawn(&self, args: &[&str]) -> Child {
        self.piped(args, Stdio::null())
    }

    fn piped(&self, args: &[&str], stdin: Stdio) -> Child {
        let mut command = self.command(args);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub fn said(&self, output: &Output) -> Said {
        Said {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
            dir: self.dir.path().canonicalize().unwrap(),
        }
    }

    /// The newest run.
    pub fn run_id(&self) -> String {
        let said = self.gadfly(&["runs", "--json", "-n", "1"]);
        let line: serde_json::Value = serde_json::from_str(said.out.trim()).unwrap();
        line["run"].as_str().unwrap().to_owned()
    }

    pub fn states(&self) -> Vec<String> {
        let said = self.gadfly(&["runs", "--json"]);
        let state = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["state"].clone();
        said.out.lines().map(|l| state(l).as_str().unwrap().to_owned()).collect()
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }
}

impl Said {
    /// Code, output and errors, with what differs from run to run masked.
    pub fn masked(&self) -> String {
        let whole =
            format!("exit {}\n--- stdout\n{}--- stderr\n{}", self.code, ended(&self.out), ended(&self.err));
        let mut masked = whole.replace(&*self.dir.to_string_lossy(), "[dir]");
        for id in ids(&whole) {
            masked = masked.replace(&id, "[run]");
        }
        masked
    }
}

fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}⏎\n") }
}

/// Ids as they stand in the last block of a run, in JSON lines, and behind the word `run` in messages.
fn ids(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for before in ["  run        ", "\"run\":\"", "run `", "resume ", "see it with: gadfly show "] {
        for (at, _) in text.match_indices(before) {
            let id: String =
                text[at + before.len()..].chars().take_while(char::is_ascii_alphanumeric).collect();
            if id.len() == 10 {
                found.push(id);
            }
        }
    }
    found
}
