//! `kill -9` at any moment, then the same command again: the same outcome, and no answer paid for twice.
//!
//! The real binary against a real server on loopback that counts calls and outlives every kill.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)] // tests may fail loudly and print
#![cfg(target_os = "linux")]

/// Says something that is seen although the test passes: the runner captures what `println!` prints.
macro_rules! say {
    ($($said:tt)*) => {{
        use std::io::Write as _;
        let line = format!($($said)*);
        let _ = writeln!(std::io::stderr(), "{line}");
    }};
}

mod accepting;
mod children;
mod cli_worker;
mod committing;
#[path = "../kit/mod.rs"]
mod kit;
use crate::kit::desk;
mod failing;
use crate::kit::kinds;
mod landing;
use crate::kit::pursuit;
mod stage;
mod strace;
mod sync_order;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use gadfly_testbed::{Behaviour, Server};
use landing::{Landed, Observer};

const KILLS: usize = 200;
/// Most of a campaign is waiting for the moment to kill, so several go on side by side.
const LANES: u64 = 2;
const TASKS: usize = 30;
const CALLS_PER_TASK: u64 = 6;
/// A reply may be on its way into the journal for this long, on a machine with other tests beside this one. The promise itself,
/// that nothing recorded is asked for again, does not depend on it.
const IN_TRANSIT_MS: u64 = 1_000;

/// The user's own configuration.
pub const OWN: &str = ".config/gadfly/gadfly.toml";

pub struct Project {
    pub dir: tempfile::TempDir,
}

impl Project {
    pub fn new(server: &Server, critic: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let agent = |name: &str, model: &str| {
            format!(
                "[agents.{name}]\nkind = \"openai\"\nbase_url = \"{}\"\nmodel = \"{model}\"\n",
                server.v1()
            )
        };
        let config = format!("{}{}", agent("w", "worker"), agent("c", critic));
        // The folder is the user's home, too: these are their own agents.
        fs::create_dir_all(dir.path().join(".config/gadfly")).unwrap();
        fs::write(dir.path().join(OWN), config).unwrap();
        Self { dir }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn store(&self) -> PathBuf {
        self.path().join(".gadfly")
    }

    pub fn gadfly(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gadfly"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        command.env("HOME", self.path()).env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME");
        command
    }

    fn batch(&self, jobs: usize) -> Child {
        let args = ["batch", "tasks.jsonl", "--worker", "w", "--critic", "c", "--jobs"];
        let mut command = self.gadfly(&args);
        command.arg(jobs.to_string()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn write_tasks(&self, tasks: u64) {
        let lines: Vec<String> = (0..tasks)
            .map(|n| format!(r#"{{"id":"t{n}","task":"Write note {n}.","rubric":["at most {n} words"]}}"#))
            .collect();
        fs::write(self.path().join("tasks.jsonl"), lines.join("\n") + "\n").unwrap();
    }

    /// The latest result of every task.
    fn results(&self) -> BTreeMap<String, (String, u64)> {
        let text = fs::read_to_string(self.path().join("tasks.results.jsonl")).unwrap();
        text.lines()
            .map(|line| {
                let row: serde_json::Value =
                    serde_json::from_str(line).unwrap_or_else(|e| panic!("torn line {line:?}: {e}"));
                let id = row["id"].as_str().unwrap().to_owned();
                (id, (row["outcome"].as_str().unwrap().to_owned(), row["rounds"].as_u64().unwrap()))
            })
            .collect()
    }
}

pub fn serve(latency_ms: u64) -> (tokio::runtime::Runtime, Server) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let behaviour = Behaviour { latency: Duration::from_millis(latency_ms), ..Behaviour::default() };
    let server = runtime.block_on(Server::start(behaviour)).unwrap();
    (runtime, server)
}

fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

/// A small generator, so that a failure can be repeated by its printed seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

#[test]
fn two_hundred_kills_change_no_outcome_and_pay_for_no_answer_twice() {
    let seed = std::env::var("GADFLY_CRASH_SEED").ok().and_then(|s| s.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()) * 2_654_435_761 + 1);
    say!("seed: GADFLY_CRASH_SEED={seed}");
    let landed = Mutex::new(BTreeMap::new());
    let enough = || landed.lock().unwrap().values().sum::<usize>() >= KILLS;
    let lane = |number: u64| {
        let mut dice = Dice(seed.wrapping_add(number.wrapping_mul(40_503)));
        let (mut campaigns, mut repeated) = (0, 0);
        while !enough() {
            campaigns += 1;
            repeated += campaign(&mut dice, &landed);
        }
        (campaigns, repeated)
    };
    let (campaigns, repeated) = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|number| scope.spawn(move || lane(number))).collect();
        lanes.into_iter().map(|l| l.join().unwrap()).fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    });
    let landed = landed.into_inner().unwrap();
    assert!(repeated > 0, "no kill cost a call: the kills did not hit the work");
    let kills: usize = landed.values().sum();
    say!("{kills} kills in {campaigns} campaigns landed: {landed:?}");
    for class in [Landed::BeforeReply, Landed::BeforeCommit, Landed::InCommit, Landed::After] {
        assert!(landed.get(&class).is_some_and(|n| *n > 0), "no kill landed {class:?}: {landed:?}");
    }
}

/// One store and one file of tasks, killed again and again until the batch gets through. Returns how many
/// calls were made beyond those of an undisturbed run.
fn campaign(dice: &mut Dice, landed: &Mutex<BTreeMap<Landed, usize>>) -> u64 {
    let (_runtime, server) = serve(8);
    let project = Project::new(&server, "critic:R,R,A");
    project.write_tasks(TASKS as u64);
    let mut observer = Observer::new(project.store());
    let (mut excused, mut lost, mut kills) = (0, 0, 0);
    loop {
        let jobs = if dice.roll(2) == 0 { 1 } else { 4 };
        let mut child = project.batch(jobs);
        // Some kills fall into the start, most into the work; late ones let the campaign get through.
        let wait = Duration::from_micros(if kills < 60 { dice.roll(350_000) } else { 20_000_000 });
        let begun = Instant::now();
        let finished = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if begun.elapsed() >= wait {
                break None;
            }
            std::thread::sleep(Duration::from_micros(200));
        };
        if let Some(status) = finished {
            assert_eq!(status.code(), Some(0), "the batch did not end well");
            break;
        }
        // A commit is short, so some kills are aimed at one.
        let aimed = dice.roll(4) == 0;
        let committing = landing::is_committing(child.id()) || (aimed && landing::await_commit(child.id()));
        let killed_ms = now_ms();
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        let after = observer.look(&server, committing, killed_ms, IN_TRANSIT_MS);
        excused += after.excused;
        lost += after.lost;
        *landed.lock().unwrap().entry(after.landed).or_default() += 1;
    }
    let results = project.results();
    assert_eq!(results.len(), TASKS, "every task has a result");
    for (id, result) in &results {
        assert_eq!(result, &("approved".to_owned(), 3), "task {id}");
    }
    let undisturbed = TASKS as u64 * CALLS_PER_TASK;
    let made = server.calls().total;
    say!(
        "campaign: {kills} kills, {made} calls, {undisturbed} undisturbed, {lost} lost, {excused} in flight or just answered"
    );
    assert!(made <= undisturbed + excused, "{made} calls > {undisturbed} + {excused}");
    // The stronger promise: what the journal holds is never asked for again.
    assert!(
        made <= undisturbed + lost,
        "{made} calls > {undisturbed} + {lost}: a recorded answer was paid for again"
    );
    assert!(made >= undisturbed, "{made} calls < {undisturbed}: an answer was made up");
    made - undisturbed
}

#[test]
fn a_killed_run_is_resumed_to_the_same_end_and_pays_for_no_answer_twice() {
    let mut dice = Dice(u64::from(std::process::id()) * 40_503 + 7);
    let (_runtime, server) = serve(8);
    let project = Project::new(&server, "critic:R,R,A");
    let mut observer = Observer::new(project.store());
    let (mut lost, mut killed) = (0, 0);
    let begin = ["run", "Write.", "--criterion", "at most 3 words", "--worker", "w", "--critic", "c"];
    for _ in 0..15 {
        // The run, then its resumption, are killed, each at a moment of its own; at last it gets through.
        for (args, spared) in
            [(&begin[..], false), (&["resume", "--all"], false), (&["resume", "--all"], true)]
        {
            // Killed before it had made the store, the first run left nothing to resume.
            if spared && !project.store().join("journal.db").exists() {
                continue;
            }
            let mut command = project.gadfly(args);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            if spared {
                assert_eq!(child.wait().unwrap().code(), Some(0));
                continue;
            }
            std::thread::sleep(Duration::from_micros(dice.roll(120_000)));
            let committing = landing::is_committing(child.id());
            let killed_ms = now_ms();
            child.kill().unwrap();
            killed += usize::from(child.wait().unwrap().code().is_none());
            lost += observer.look(&server, committing, killed_ms, IN_TRANSIT_MS).lost;
        }
    }
    let listed = project.gadfly(&["runs", "--json", "-n", "100"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let runs: Vec<serde_json::Value> = listed.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    for run in &runs {
        assert_eq!((run["state"].as_str(), run["rounds"].as_u64()), (Some("approved"), Some(3)), "{run}");
    }
    let undisturbed = runs.len() as u64 * CALLS_PER_TASK;
    let made = server.calls().total;
    say!("{killed} kills, {} runs, {made} calls, {undisturbed} undisturbed, {lost} lost", runs.len());
    assert!(killed > 0 && !runs.is_empty(), "the kills did not hit the work");
    assert!((undisturbed..=undisturbed + lost).contains(&made), "{made} calls, {undisturbed} + {lost}");
}
