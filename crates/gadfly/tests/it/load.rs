//! A thousand loops at once in one process, against a local server that takes 50 ms per call: every call
//! arrives once, every loop ends approved, and a loop costs little memory. Times are `gadfly-bench`'s business.

#![allow(clippy::unwrap_used, clippy::panic)] // tests may fail loudly

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use gadfly_testbed::{Behaviour, Calls, Server};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const LOOPS: usize = 1_000;
/// Three rounds of a worker and a critic.
const CALLS: u64 = 6;
const KB_PER_LOOP: u64 = 256;

/// What is wrong with the calls of so many loops, if anything.
fn fault(calls: &Calls, loops: usize) -> Option<String> {
    let due = loops as u64 * CALLS;
    let found = (calls.total, calls.answered, calls.distinct, calls.repeated);
    (found != (due, due, due, 0))
        .then(|| format!("{due} calls were due; arrived, answered, distinct, repeated: {found:?}"))
}

/// What is wrong with the memory of so many loops, given that of one, if anything.
fn excess(one: u64, all: u64, loops: usize) -> Option<String> {
    let per_loop = all.saturating_sub(one) / loops as u64;
    (one == 0 || per_loop > KB_PER_LOOP)
        .then(|| format!("{per_loop} KB per loop: {one} KB for one, {all} KB for all"))
}

/// Runs a batch of so many loops, all at once; the most memory it had, in KB.
fn batch(dir: &Path, url: &str, loops: usize) -> u64 {
    let agent = |name, model| {
        format!("[agents.{name}]\nkind = \"openai\"\nbase_url = \"{url}\"\nmodel = \"{model}\"\n\n")
    };
    fs::write(dir.join("gadfly.toml"), agent("w", "worker") + &agent("c", "critic:R,R,A")).unwrap();
    let mut tasks = String::new();
    for n in 0..loops {
        writeln!(
            tasks,
            r#"{{"id":"t{n}","task":"Write about cohort {n}.","rubric":["It names the sample size."]}}"#
        )
        .unwrap();
    }
    fs::write(dir.join("tasks.jsonl"), tasks).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_gadfly"))
        .args(["batch", "tasks.jsonl", "--worker", "w", "--critic", "c", "--trust", "--yes", "--jobs"])
        .arg(loops.to_string())
        .current_dir(dir)
        .env("HOME", dir)
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(dir.join("said.txt")).unwrap())
        .spawn()
        .unwrap();
    let mut peak = 0;
    let status = loop {
        peak = peak_kb(child.id()).unwrap_or(0).max(peak);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let said = fs::read_to_string(dir.join("said.txt")).unwrap();
    assert!(status.success(), "{status}: {said}");
    let results = fs::read_to_string(dir.join("tasks.results.jsonl")).unwrap();
    let approved = results.lines().filter(|l| l.contains(r#""outcome":"approved""#)).count();
    assert_eq!(approved, loops, "{said}");
    peak
}

/// None once the process has given its memory back.
fn peak_kb(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_loops_at_once_lose_and_repeat_no_call_and_take_little_memory() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    let latency = Duration::from_millis(50);
    let server = Server::start(Behaviour { latency, ..Behaviour::default() }).await.unwrap();
    let url = server.v1();
    let measure = |loops| {
        let url = url.clone();
        tokio::task::spawn_blocking(move || batch(tempfile::tempdir().unwrap().path(), &url, loops))
    };
    let one = measure(1).await.unwrap();
    server.reset();
    let all = measure(LOOPS).await.unwrap();
    let calls = server.calls();
    assert_eq!(fault(&calls, LOOPS), None);
    assert_eq!(excess(one, all, LOOPS), None);
}

#[test]
fn the_count_notices_a_lost_and_a_repeated_call() {
    let good = Calls { total: 12, answered: 12, distinct: 12, ..Calls::default() };
    assert_eq!(fault(&good, 2), None);
    assert!(fault(&Calls { total: 11, answered: 11, distinct: 11, ..good.clone() }, 2).is_some());
    assert!(fault(&Calls { total: 13, answered: 13, repeated: 1, ..good.clone() }, 2).is_some());
    assert!(fault(&Calls { answered: 11, ..good }, 2).is_some());
}

#[test]
fn the_measure_notices_a_loop_that_takes_too_much_or_was_not_measured() {
    assert_eq!(excess(20_000, 120_000, 1_000), None);
    assert!(excess(20_000, 320_000, 1_000).is_some());
    assert!(excess(0, 0, 1_000).is_some());
}
