//! A project with a repository and a scripted critic, and a Claude Code that wants to stop in it.

use crate::kit::agreed;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

pub const APPROVE: &str = "[STATUS: APPROVED]\\nGood.";
pub const REJECT: &str = "[STATUS: REJECTED]\\n- handle the empty list";

pub struct Desk {
    pub dir: TempDir,
}

/// What the hook answered.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub answer: Value,
    pub err: String,
}

impl Said {
    pub fn blocks(&self) -> bool {
        self.answer["decision"] == "block"
    }

    pub fn reason(&self) -> &str {
        self.answer["reason"].as_str().unwrap_or_default()
    }

    pub fn told(&self) -> &str {
        self.answer["systemMessage"].as_str().unwrap_or_default()
    }
}

impl Desk {
    /// A repository with one commit, and a critic who gives these replies.
    pub fn new(critic: &[&str]) -> Self {
        let desk = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(desk.dir.path().join("home")).unwrap();
        std::fs::create_dir_all(desk.path("")).unwrap();
        desk.git(&["init", "-q"]);
        let replies: Vec<String> = critic
            .iter()
            .map(|reply| match reply.strip_prefix('!') {
                Some(fault) => format!("[[reply]]\nfault = \"{fault}\"\n"),
                None => format!("[[reply]]\ntext = \"{reply}\"\n"),
            })
            .collect();
        desk.write("judge.toml", &replies.concat());
        desk.own(&desk.scripted("judge"));
        desk.configure("");
        desk.write(".gitignore", "judge.toml\n");
        desk.write("a.rs", "fn a() {}\n");
        desk.commit();
        desk
    }

    pub fn configure(&self, agents: &str) {
        self.write("gadfly.toml", &format!("{agents}[defaults]\ncritic = \"judge\"\n"));
    }

    /// An agent whose replies stand in a file of its name.
    pub fn scripted(&self, name: &str) -> String {
        let script = self.path(&format!("{name}.toml")).display().to_string();
        format!("[agents.{name}]\nkind = \"scripted\"\nscript = {script:?}\n")
    }

    /// The user's own configuration.
    pub fn own(&self, text: &str) {
        let dir = self.dir.path().join("home/.config/gadfly");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("gadfly.toml"), text).unwrap();
    }

    pub fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "one"]);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("project").join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// By a user who agrees to how the project's files want work judged.
    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        agreed::to_judging(&self.path(""), &self.dir.path().join("home"));
        let mut command = Command::new(program);
        command.args(args).current_dir(self.path("")).env_clear();
        command.env("HOME", self.dir.path().join("home")).env("PATH", "/usr/bin:/bin");
        command
    }

    pub fn git(&self, args: &[&str]) {
        assert!(self.command("git", args).status().unwrap().success(), "{args:?}");
    }

    pub fn stop_with(&self, args: &[&str], told: &[u8], env: &[(&str, &str)]) -> Said {
        let mut command = self.command(env!("CARGO_BIN_EXE_gadfly"), &["hook", "stop"]);
        command.args(args).envs(env.iter().copied());
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        // Whoever does not read all of it has judged it already.
        let _ = child.stdin.take().unwrap().write_all(told);
        let done = child.wait_with_output().unwrap();
        let out = String::from_utf8(done.stdout).unwrap();
        let answer = if out.trim().is_empty() { Value::Null } else { serde_json::from_str(&out).unwrap() };
        Said { code: done.status.code(), answer, err: String::from_utf8_lossy(&done.stderr).into_owned() }
    }

    /// As Claude Code tells of a stop of this session.
    pub fn stop(&self, sent_back: bool) -> Said {
        self.stop_with(&[], self.told(sent_back).as_bytes(), &[])
    }

    pub fn told(&self, sent_back: bool) -> String {
        json!({ "session_id": "s-1", "hook_event_name": "Stop", "cwd": self.path(""), "stop_hook_active": sent_back,
            "transcript_path": self.dir.path().join("t.jsonl") })
        .to_string()
    }

    pub fn asked(&self, words: &[&str]) {
        let lines = words.iter().map(|w| json!({ "type": "user", "message": { "content": w } }).to_string());
        std::fs::write(self.dir.path().join("t.jsonl"), lines.collect::<Vec<_>>().join("\n")).unwrap();
    }

    /// Another command of Gadfly's in the project, with nobody at the terminal.
    pub fn gadfly(&self, args: &[&str]) {
        self.command(env!("CARGO_BIN_EXE_gadfly"), args).stdin(Stdio::null()).output().unwrap();
    }

    pub fn runs(&self) -> Vec<Value> {
        let listed = self.command(env!("CARGO_BIN_EXE_gadfly"), &["runs", "--json"]).output().unwrap();
        String::from_utf8(listed.stdout).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
    }

    pub fn shown(&self, run: &Value) -> String {
        let run = run["run"].as_str().unwrap();
        let said = self.command(env!("CARGO_BIN_EXE_gadfly"), &["show", run, "--log"]).output().unwrap();
        String::from_utf8(said.stdout).unwrap()
    }
}
