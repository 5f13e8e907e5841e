//! `gadfly hook stop` at the real binary, as Claude Code calls it: what it answers on standard output, and that nothing
//! that goes wrong holds a session.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

const APPROVE: &str = "[STATUS: APPROVED]\\nGood.";
const REJECT: &str = "[STATUS: REJECTED]\\n- handle the empty list";

struct Desk {
    dir: TempDir,
}

/// What the hook answered.
#[derive(Debug)]
struct Said {
    code: Option<i32>,
    answer: Value,
    err: String,
}

impl Said {
    fn blocks(&self) -> bool {
        self.answer["decision"] == "block"
    }

    fn reason(&self) -> &str {
        self.answer["reason"].as_str().unwrap_or_default()
    }

    fn told(&self) -> &str {
        self.answer["systemMessage"].as_str().unwrap_or_default()
    }
}

impl Desk {
    /// A repository with one commit, and a critic who gives these replies.
    fn new(critic: &[&str]) -> Self {
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
        desk.configure("[agents.judge]\nkind = \"scripted\"\nscript = \"judge.toml\"\n");
        desk.write(".gitignore", "judge.toml\n");
        desk.write("a.rs", "fn a() {}\n");
        desk.commit();
        desk
    }

    fn configure(&self, agents: &str) {
        self.write("gadfly.toml", &format!("{agents}[defaults]\ncritic = \"judge\"\n"));
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "one"]);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("project").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.path("")).env_clear();
        command.env("HOME", self.dir.path().join("home")).env("PATH", "/usr/bin:/bin");
        command
    }

    fn git(&self, args: &[&str]) {
        assert!(self.command("git", args).status().unwrap().success(), "{args:?}");
    }

    fn stop_with(&self, args: &[&str], told: &[u8], env: &[(&str, &str)]) -> Said {
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
    fn stop(&self, sent_back: bool) -> Said {
        self.stop_with(&[], self.told(sent_back).as_bytes(), &[])
    }

    fn told(&self, sent_back: bool) -> String {
        json!({ "session_id": "s-1", "hook_event_name": "Stop", "cwd": self.path(""), "stop_hook_active": sent_back,
            "transcript_path": self.dir.path().join("t.jsonl") })
        .to_string()
    }

    fn asked(&self, words: &[&str]) {
        let lines = words.iter().map(|w| json!({ "type": "user", "message": { "content": w } }).to_string());
        std::fs::write(self.dir.path().join("t.jsonl"), lines.collect::<Vec<_>>().join("\n")).unwrap();
    }

    fn runs(&self) -> Vec<Value> {
        let listed = self.command(env!("CARGO_BIN_EXE_gadfly"), &["runs", "--json"]).output().unwrap();
        String::from_utf8(listed.stdout).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
    }

    fn shown(&self, run: &Value) -> String {
        let run = run["run"].as_str().unwrap();
        let said = self.command(env!("CARGO_BIN_EXE_gadfly"), &["show", run, "--log"]).output().unwrap();
        String::from_utf8(said.stdout).unwrap()
    }
}

#[test]
fn a_rejected_change_is_sent_back_and_an_approved_one_may_stop() {
    let desk = Desk::new(&[REJECT, APPROVE]);
    desk.asked(&["make a() return the sum of a list"]);
    desk.write("a.rs", "fn a(x: &[i32]) -> i32 { x[0] }\n");
    let first = desk.stop(false);
    assert!(first.code == Some(0) && first.blocks(), "{first:?}");
    assert!(
        first.reason().contains("1. handle the empty list") && first.reason().contains("round 1 of 3"),
        "{first:?}"
    );
    let runs = desk.runs();
    assert_eq!((runs.len(), runs[0]["title"].as_str()), (1, Some("Claude Code session s-1")));
    desk.write("a.rs", "fn a(x: &[i32]) -> i32 { x.iter().sum() }\n");
    let second = desk.stop(true);
    assert!(second.code == Some(0) && !second.blocks(), "{second:?}");
    assert!(second.told().contains("approved by judge"), "{second:?}");
    // The same change once more costs nothing and says nothing.
    let third = desk.stop(false);
    assert_eq!((third.code, &third.answer), (Some(0), &Value::Null), "{third:?}");
    assert_eq!(desk.runs().len(), 1, "one run for the session's work");
    let log = desk.shown(&desk.runs()[0]);
    assert!(log.contains("sum of a list"), "the critic is told what was asked: {log}");
}

#[test]
fn a_critic_that_is_never_satisfied_holds_a_session_only_up_to_the_cap() {
    let desk = Desk::new(&[REJECT, REJECT, REJECT, REJECT]);
    desk.write("a.rs", "fn a() { todo!() }\n");
    let mut blocked = 0;
    let last = loop {
        let said = desk.stop(blocked > 0);
        assert_eq!(said.code, Some(0), "{said:?}");
        if !said.blocks() {
            break said;
        }
        blocked += 1;
        assert!(blocked < 10, "held for ever, although nothing changed: {said:?}");
    };
    assert_eq!(blocked, 2, "three rounds are two ways back: {last:?}");
    assert!(
        last.told().contains("not approved") && last.told().contains("handle the empty list"),
        "{last:?}"
    );
    let again = desk.stop(true);
    assert!(!again.blocks() && again.told().contains("judged before"), "{again:?}");
}

#[test]
fn work_the_user_asked_for_anew_has_rounds_of_its_own() {
    let desk = Desk::new(&[REJECT, REJECT]);
    desk.asked(&["one"]);
    desk.write("a.rs", "fn a() { 1; }\n");
    assert!(desk.stop(false).blocks());
    desk.asked(&["one", "no, two"]);
    desk.write("a.rs", "fn a() { 2; }\n");
    let said = desk.stop(false);
    assert!(said.blocks() && said.reason().contains("round 1 of 3"), "{said:?}");
    let states: Vec<Value> = desk.runs().iter().map(|run| run["state"].clone()).collect();
    assert_eq!(states, ["waiting(question)", "aborted"]);
}

#[test]
fn a_change_that_nobody_could_judge_may_stop_and_is_not_called_approved() {
    let desk = Desk::new(&["!unauthorised"]);
    desk.write("a.rs", "fn a() { 1; }\n");
    let said = desk.stop(false);
    assert!(said.code == Some(0) && !said.blocks(), "{said:?}");
    assert!(said.told().contains("not approved") && said.told().contains("could not be judged"), "{said:?}");
}

#[test]
fn nothing_that_is_wrong_holds_a_session() {
    let desk = Desk::new(&[REJECT]);
    // Nothing changed: nothing is said.
    let said = desk.stop(false);
    assert_eq!((said.code, &said.answer), (Some(0), &Value::Null), "{said:?}");
    desk.write("a.rs", "fn a() { 1; }\n");
    let long = vec![b'x'; 2 << 20];
    let bad: [&[u8]; 6] = [b"not json", b"{}", b"[]", b"{\"session_id\":\"../../x\"}", &long, b"\xff\xfe"];
    for told in bad {
        let said = desk.stop_with(&[], told, &[]);
        assert!(said.code == Some(0) && !said.blocks(), "{said:?}");
        assert!(said.told().contains("not approved"), "it is said that nothing was judged: {said:?}");
    }
    let wrong_flag = desk.stop_with(&["--no-such-flag"], desk.told(false).as_bytes(), &[]);
    assert_eq!(wrong_flag.code, Some(1), "2 would hold the session: {wrong_flag:?}");
    desk.write("gadfly.toml", "[agents.judge\n");
    let said = desk.stop(false);
    assert!(said.code == Some(0) && !said.blocks() && said.told().contains("not approved"), "{said:?}");
    // Without a repository there is no change to be seen.
    std::fs::remove_dir_all(desk.path(".git")).unwrap();
    let said = desk.stop(false);
    assert!(said.code == Some(0) && !said.blocks(), "{said:?}");
}

#[test]
fn a_critic_that_does_not_end_is_not_waited_for_and_the_next_stop_goes_on() {
    let desk = Desk::new(&[]);
    desk.write("judge.toml", "[[reply]]\ndelay_ms = 600000\ntext = \"[STATUS: APPROVED]\"\n");
    desk.write("a.rs", "fn a() { 1; }\n");
    let said = desk.stop_with(&["--seconds", "1"], desk.told(false).as_bytes(), &[]);
    assert!(said.code == Some(0) && !said.blocks() && said.told().contains("not done after 1"), "{said:?}");
    desk.write("judge.toml", "[[reply]]\ntext = \"[STATUS: APPROVED]\"\n");
    let said = desk.stop(true);
    assert!(!said.blocks() && said.told().contains("approved by judge"), "{said:?}");
    assert_eq!(desk.runs().len(), 1);
}

#[test]
fn an_approval_of_an_earlier_state_is_none_of_this_one() {
    let desk = Desk::new(&[]);
    desk.write("judge.toml", "[[reply]]\ndelay_ms = 600000\ntext = \"[STATUS: APPROVED]\"\n");
    desk.write("a.rs", "fn a() { 1; }\n");
    let said = desk.stop_with(&["--seconds", "1"], desk.told(false).as_bytes(), &[]);
    assert!(!said.blocks(), "{said:?}");
    desk.write("judge.toml", &format!("[[reply]]\ntext = \"{APPROVE}\"\n"));
    desk.write("a.rs", "fn a() { 2; }\n");
    let said = desk.stop(true);
    assert!(said.told().contains("approved by judge"), "{said:?}");
    // The state that is there now was judged, in a run of its own.
    let runs = desk.runs();
    assert_eq!(runs.len(), 2);
    let run = runs[0]["run"].as_str().unwrap();
    assert!(said.told().contains(run), "{said:?}");
    let draft = desk.command(env!("CARGO_BIN_EXE_gadfly"), &["show", run, "--draft"]).output().unwrap();
    assert!(String::from_utf8_lossy(&draft.stdout).contains("+fn a() { 2; }"));
}

/// A critic that is itself such a session stops in a place of ours, and fires the hook there.
#[test]
fn the_hook_does_not_judge_its_own_critic() {
    let desk = Desk::new(&[REJECT]);
    desk.write("a.rs", "fn a() { 1; }\n");
    let place = desk.path(".gadfly/runs/x/work");
    std::fs::create_dir_all(&place).unwrap();
    let ceiling = desk.path(".gadfly/runs/x");
    let env = [("GIT_CEILING_DIRECTORIES", ceiling.to_str().unwrap())];
    let said = desk.stop_with(&[], desk.told(false).as_bytes(), &env);
    assert_eq!((said.code, &said.answer), (Some(0), &Value::Null), "{said:?}");
    assert!(!desk.path(".gadfly/journal.db").exists(), "no run was started");
    // Sabotage: without the mark the same stop is judged.
    assert!(desk.stop(false).blocks());
}

/// A program as critic that ends as a Claude Code session would: by calling the hook in the project.
#[test]
fn a_critic_that_fires_the_hook_ends_after_one_call() {
    let desk = Desk::new(&[]);
    let binary = env!("CARGO_BIN_EXE_gadfly");
    let (project, told) = (desk.path(""), desk.told(false).replace("s-1", "s-nested"));
    let script = format!(
        "#!/bin/sh\ncat > /dev/null\necho x >> {0}/fired\nprintf '%s' '{told}' | {binary} hook stop > {0}/nested 2>&1\n\
         printf '[STATUS: APPROVED]'\n",
        desk.dir.path().display()
    );
    desk.write("critic.sh", &script);
    assert!(desk.command("chmod", &["+x", "critic.sh"]).status().unwrap().success());
    desk.configure("[agents.judge]\nkind = \"command\"\ncommand = [\"./critic.sh\"]\nsandbox = \"off\"\n");
    desk.commit();
    desk.write("a.rs", "fn a() { 1; }\n");
    let untrusted = desk.stop(false);
    assert!(untrusted.told().contains("gadfly hook stop --trust"), "{untrusted:?}");
    let agreed = desk.stop_with(&["--trust"], b"", &[]);
    assert!(agreed.code == Some(0) && agreed.err.contains("agreed"), "{agreed:?}");
    let said = desk.stop(false);
    assert!(said.told().contains("approved by judge"), "{said:?} in {}", project.display());
    let fired = std::fs::read_to_string(desk.dir.path().join("fired")).unwrap();
    assert_eq!(fired, "x\n", "the critic was called once");
    assert_eq!(
        std::fs::read_to_string(desk.dir.path().join("nested")).unwrap(),
        "",
        "the nested hook stayed silent"
    );
}

#[test]
fn the_settings_are_what_claude_code_reads() {
    let desk = Desk::new(&[]);
    let printed = desk.command(env!("CARGO_BIN_EXE_gadfly"), &["hook", "print"]).output().unwrap();
    let settings: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let hook = &settings["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!(
        (hook["type"].as_str(), hook["command"].as_str()),
        (Some("command"), Some("gadfly hook stop"))
    );
    assert!(hook["timeout"].as_u64().is_some_and(|seconds| seconds > 540));
}
