//! A used-up quota as a user meets it: the real binary, several processes, one local model server.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should say so

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use gadfly_testbed::{Behaviour, Server};
use serde_json::Value;

struct Machine {
    dir: tempfile::TempDir,
    server: Server,
}

struct Said {
    code: Option<i32>,
    err: String,
}

impl Said {
    /// The line that says when the quota comes back.
    fn until(&self) -> String {
        let line = self.err.lines().find(|l| l.trim_start().starts_with("until "));
        line.unwrap_or_else(|| panic!("no time in\n{}", self.err)).trim().to_owned()
    }
}

const RUN: [&str; 6] = ["run", "Write a note", "--criterion", "at most 50 words", "--yes", "--unattended"];

impl Machine {
    /// A project whose worker is this model of the server.
    async fn new(worker: &str) -> Arc<Self> {
        let server = Server::start(Behaviour::default()).await.unwrap();
        let machine = Self { dir: tempfile::tempdir().unwrap(), server };
        fs::create_dir_all(machine.dir.path().join("home")).unwrap();
        machine.worker(worker, "");
        Arc::new(machine)
    }

    fn worker(&self, model: &str, more: &str) {
        let url = self.server.v1();
        let agent = |name: &str, model: &str| {
            format!("[agents.{name}]\nkind = \"openai\"\nbase_url = \"{url}\"\nmodel = \"{model}\"\n{more}")
        };
        let text = agent("writer", model) + &agent("judge", "critic:A");
        let text = text + "[defaults]\nworker = \"writer\"\ncritic = \"judge\"\n";
        let own = self.dir.path().join("home/.config/gadfly");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("gadfly.toml"), text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gadfly"));
        command.args(args).current_dir(self.dir.path()).env_clear().stdin(Stdio::null());
        command.env("PATH", "/usr/bin:/bin").env("HOME", self.dir.path().join("home")).env("TZ", "UTC");
        command
    }

    /// The binary in a process of its own, off the server's threads.
    async fn gadfly(self: &Arc<Self>, args: &[&str]) -> Said {
        self.with_env(args, &[]).await
    }

    async fn with_env(self: &Arc<Self>, args: &[&str], env: &[(&str, &str)]) -> Said {
        let mut command = self.command(args);
        command.envs(env.iter().copied());
        let output: Output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        Said { code: output.status.code(), err: String::from_utf8_lossy(&output.stderr).into_owned() }
    }

    async fn run(self: &Arc<Self>) -> Said {
        self.gadfly(&RUN).await
    }

    async fn newest(self: &Arc<Self>) -> String {
        let mut command = self.command(&["runs", "--json", "-n", "1"]);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        let line: Value = serde_json::from_slice(&output.stdout).unwrap();
        line["run"].as_str().unwrap().to_owned()
    }

    fn calls(&self) -> u64 {
        self.server.calls().total
    }

    fn notices(&self) -> Vec<PathBuf> {
        let dir = self.dir.path().join("home/.local/state/gadfly/quota");
        let files = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
        files.filter(|p| p.extension().is_some_and(|e| e == "json")).collect()
    }

    /// As if the provider had named this time, from now.
    fn reset_in(&self, ms: i64) {
        for path in self.notices() {
            let mut notice: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
            notice["until_ms"] = (i64::try_from(now).unwrap() + ms).into();
            fs::write(&path, notice.to_string()).unwrap();
        }
    }

    fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_process_makes_no_call_and_waits_for_the_same_time() {
    let machine = Machine::new("fault:quota-then-ok:1").await;
    let first = machine.run().await;
    assert_eq!((first.code, machine.calls()), (Some(4), 1), "{}", first.err);
    assert!(first.err.contains("--wait"), "how to go on: {}", first.err);
    let second = machine.run().await;
    assert_eq!(second.code, Some(4), "{}", second.err);
    assert_eq!(machine.calls(), 1, "the board is what keeps the second run from calling");
    assert_eq!(first.until(), second.until());
    // Before its time a resume only says so again.
    let run = machine.newest().await;
    let early = machine.gadfly(&["resume", &run]).await;
    assert_eq!((early.code, machine.calls(), early.until()), (Some(4), 1, first.until()), "{}", early.err);
    // When the time is over it goes on, on the same run.
    machine.reset_in(-1);
    let late = machine.gadfly(&["resume", &run]).await;
    assert_eq!(late.code, Some(0), "{}", late.err);
    assert_eq!(machine.notices().len(), 0, "an answer takes the notice down");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_and_a_batch_say_the_time_and_how_to_go_on() {
    let machine = Machine::new("fault:quota").await;
    fs::write(
        machine.dir.path().join("tasks.jsonl"),
        "{\"id\": \"n\", \"task\": \"Write a note\", \"rubric\": [\"short\"]}\n",
    )
    .unwrap();
    let batch = machine.gadfly(&["batch", "tasks.jsonl", "--yes"]).await;
    assert_eq!(batch.code, Some(4), "{}", batch.err);
    let last = batch.err.lines().last().unwrap_or_default().to_owned();
    assert!(batch.err.contains("1 waiting(quota)"), "{}", batch.err);
    assert!(last.starts_with("the provider's quota comes back at 2"), "{}", batch.err);
    assert!(last.ends_with("to go on: gadfly batch tasks.jsonl --yes"), "{}", batch.err);
    fs::write(machine.dir.path().join("note.md"), "A note.\n").unwrap();
    let review = ["review", "note.md", "--criterion", "at most 50 words", "--critic", "writer", "--yes"];
    let review = machine.gadfly(&review).await;
    assert_eq!((review.code, machine.calls()), (Some(4), 1), "{}", review.err);
    assert!(last.contains(review.until().trim_start_matches("until").trim()), "{last}: {}", review.err);
    assert!(
        review.err.contains(&format!("gadfly resume {} --wait", machine.newest().await)),
        "{}",
        review.err
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_board_every_process_calls() {
    let machine = Machine::new("fault:quota").await;
    for calls in 1..=2 {
        // No HOME: nowhere to keep it.
        let mut command = machine.command(&RUN);
        command.env_remove("HOME").env("XDG_CONFIG_HOME", machine.dir.path().join("home/.config"));
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        assert_eq!((output.status.code(), machine.calls()), (Some(4), calls));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_in_a_row_are_counted_over_all_runs() {
    let machine = Machine::new("fault:429").await;
    let four = futures(&machine, 4).await;
    assert!(four.iter().all(|said| said.code == Some(1)), "each fails by itself: {}", four[0].err);
    let fifth = machine.run().await;
    assert_eq!((fifth.code, machine.calls()), (Some(4), 20), "{}", fifth.err);
    let sixth = machine.run().await;
    assert_eq!((sixth.code, machine.calls(), sixth.until()), (Some(4), 20, fifth.until()), "{}", sixth.err);
}

async fn futures(machine: &Arc<Machine>, count: usize) -> Vec<Said> {
    let runs: Vec<_> = (0..count)
        .map(|_| {
            let machine = Arc::clone(machine);
            tokio::spawn(async move { machine.run().await })
        })
        .collect();
    let mut said = Vec::new();
    for run in runs {
        said.push(run.await.unwrap());
    }
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_time_is_over_one_run_tries_for_all() {
    let machine = Machine::new("fault:quota").await;
    machine.run().await;
    machine.reset_in(-1);
    let three = futures(&machine, 3).await;
    assert!(three.iter().all(|said| said.code == Some(4)), "{}", three[0].err);
    assert_eq!(machine.calls(), 2, "one of the three asked; the others took its result");
    assert_eq!(three[0].until(), three[2].until());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_is_asked_with_once() {
    let machine = Machine::new("fault:401").await;
    let said = machine.run().await;
    assert_eq!((said.code, machine.calls()), (Some(1), 1), "{}", said.err);
    assert!(said.err.contains("key"), "{}", said.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_accounts_of_one_host_do_not_wait_for_each_other() {
    let machine = Machine::new("fault:quota").await;
    machine.worker("fault:quota", "key_env = \"HOUSE_KEY\"\n");
    let args = [&RUN[..], &["--trust"]].concat();
    for (key, calls) in [("key-of-ann", 1), ("key-of-ann", 1), ("key-of-ben", 2)] {
        let said = machine.with_env(&args, &[("HOUSE_KEY", key)]).await;
        assert_eq!((said.code, machine.calls()), (Some(4), calls), "{key}: {}", said.err);
    }
    for path in machine.notices() {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("key-of"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_nobody_of_ours_wrote_block_nothing() {
    let machine = Machine::new("fault:quota").await;
    machine.run().await;
    for (n, text) in ["", "{", "{\"until_ms\": 18446744073709551615}"].into_iter().enumerate() {
        for path in machine.notices() {
            fs::write(path, text).unwrap();
        }
        let said = machine.run().await;
        assert_eq!((said.code, machine.calls()), (Some(4), n as u64 + 2), "{text}: {}", said.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_wait_the_run_goes_on_by_itself() {
    let machine = Machine::new("fault:quota-then-ok:1").await;
    machine.run().await;
    machine.reset_in(1_500);
    let said = machine.gadfly(&[&RUN[..], &["--wait"]].concat()).await;
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains("waiting until") && said.err.contains("approved"), "{}", said.err);
    let run = machine.newest().await;
    let mut log = machine.command(&["show", &run, "--log"]);
    let log = tokio::task::spawn_blocking(move || log.output().unwrap()).await.unwrap();
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    assert!(log.contains("waiting") && log.contains("resumed"), "the record shows both: {log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_far_away_is_not_waited_for() {
    let machine = Machine::new("fault:quota").await;
    let said = machine.gadfly(&[&RUN[..], &["--wait", "--wait-at-most", "5"]].concat()).await;
    assert_eq!((said.code, machine.calls()), (Some(4), 1), "{}", said.err);
    assert!(said.err.contains("--wait-at-most 5 minutes"), "{}", said.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_the_waiting_and_loses_nothing() {
    let machine = Machine::new("fault:quota").await;
    machine.run().await;
    let run = machine.newest().await;
    let mut child = machine.spawn(&["resume", &run, "--wait"]);
    let said = tokio::task::spawn_blocking(move || {
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("waiting until") {
            line.clear();
            assert_ne!(err.read_line(&mut line).unwrap(), 0, "it ended before it waited");
        }
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let mut rest = String::new();
        err.read_to_string(&mut rest).unwrap();
        Said { code: child.wait().unwrap().code(), err: rest }
    })
    .await
    .unwrap();
    assert_eq!(said.code, Some(130), "{}", said.err);
    assert!(said.err.contains(&format!("resume {run}")), "{}", said.err);
    machine.worker("worker", "");
    machine.reset_in(-1);
    let late = machine.gadfly(&["resume", &run]).await;
    assert_eq!(late.code, Some(0), "{}", late.err);
}
