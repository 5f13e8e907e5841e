//! What a loop costs, counted and never timed: bytes on the disk, system calls, instructions. A change that makes a loop dearer is
//! red here, at the commit that brings it. Statements of an append are counted in `journal/src/budget.rs`, allocations in
//! `runtime/tests/allocations.rs`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // tests may fail loudly, and say what they skipped

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use gadfly_testbed::{Behaviour, Server};

/// All of it: the database and whatever lies beside it.
const BYTES_PER_LOOP: u64 = 6_656;

/// Of one loop of three rounds, seven records and six calls, driven one after the other, so that no commit is shared.
/// Each record is written and synced once; a result line is written once. Others may come and go with the weather.
const CALLS_PER_LOOP: [(&str, f64); 8] = [
    ("fsync", 7.5),
    ("fdatasync", 1.0),
    ("pwrite64", 88.0),
    ("openat", 2.0),
    ("statx", 14.0),
    ("mkdir", 0.0),
    ("rename", 0.0),
    ("connect", 0.5),
];

/// Of one such loop, in the build that tests are made of, in the program itself: the kernel's are not among them.
const INSTRUCTIONS_PER_LOOP: u64 = 21_000_000;

struct Desk {
    dir: tempfile::TempDir,
}

impl Desk {
    fn new(server: &Server, loops: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let url = server.v1();
        let agent = |name, model| {
            format!("[agents.{name}]\nkind = \"openai\"\nbase_url = \"{url}\"\nmodel = \"{model}\"\n\n")
        };
        fs::create_dir_all(dir.path().join(".config/gadfly")).unwrap();
        let agents = agent("w", "worker") + &agent("c", "critic:R,R,A");
        fs::write(dir.path().join(".config/gadfly/gadfly.toml"), agents).unwrap();
        let mut tasks = String::new();
        for n in 0..loops {
            let rubric = r#"["The first sentence names the sample size.","It says what was measured, in which unit."]"#;
            writeln!(
                tasks,
                r#"{{"id":"t{n}","task":"Write an abstract about cohort {n}.","rubric":{rubric}}}"#
            )
            .unwrap();
        }
        fs::write(dir.path().join("tasks.jsonl"), tasks).unwrap();
        Self { dir }
    }

    /// What the program said.
    async fn run(&self, mut command: Command, jobs: &str) -> String {
        command.args(["batch", "tasks.jsonl", "--worker", "w", "--critic", "c", "--yes", "--jobs", jobs]);
        command.current_dir(self.dir.path()).env("HOME", self.dir.path()).env_remove("XDG_STATE_HOME");
        command.env_remove("XDG_CONFIG_HOME").stdin(Stdio::null());
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said
    }

    fn stored(&self) -> u64 {
        size(&self.dir.path().join(".gadfly"))
    }
}

/// The bytes of all files, and a block for every folder.
fn size(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).unwrap().flatten();
    let of = |path: &Path| if path.is_dir() { 4096 + size(path) } else { fs::metadata(path).unwrap().len() };
    entries.map(|entry| of(&entry.path())).sum()
}

fn gadfly() -> Command {
    Command::new(env!("CARGO_BIN_EXE_gadfly"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_takes_few_bytes_on_the_disk_all_included() {
    let server = Server::start(Behaviour::default()).await.unwrap();
    let mut stored = Vec::new();
    for loops in [40, 240] {
        let desk = Desk::new(&server, loops);
        desk.run(gadfly(), "8").await;
        stored.push(desk.stored());
    }
    let per_loop = (stored[1] - stored[0]) / 200;
    assert!(per_loop <= BYTES_PER_LOOP, "{per_loop} bytes a loop; at most {BYTES_PER_LOOP}");
    assert!(per_loop > BYTES_PER_LOOP / 3, "{per_loop} bytes a loop: lower the budget to what it takes");
}

/// How often each system call was made, by `strace -c`.
fn counted(summary: &str) -> BTreeMap<String, f64> {
    let rows = summary.lines().filter_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let calls = columns.get(3)?.parse().ok()?;
        Some(((*columns.last()?).to_owned(), calls))
    });
    rows.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_makes_few_system_calls_for_its_files() {
    if !Command::new("strace").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success()) {
        eprintln!("SKIPPED: strace is not installed, so system calls were not counted");
        return;
    }
    let server = Server::start(Behaviour::default()).await.unwrap();
    let mut counts = Vec::new();
    for loops in [10, 60] {
        let desk = Desk::new(&server, loops);
        let summary = desk.dir.path().join("calls.txt");
        let mut traced = Command::new("strace");
        traced.args(["-f", "-c", "-o"]).arg(&summary).arg(env!("CARGO_BIN_EXE_gadfly"));
        desk.run(traced, "1").await;
        let said = fs::read_to_string(&summary).unwrap_or_default();
        if said.trim().is_empty() {
            eprintln!("SKIPPED: strace may not trace here");
            return;
        }
        counts.push(counted(&said));
    }
    let mut over = String::new();
    for (call, most) in CALLS_PER_LOOP {
        let count = |at: usize| counts[at].get(call).copied().unwrap_or(0.0);
        let per_loop = (count(1) - count(0)) / 50.0;
        if per_loop > most {
            writeln!(over, "{call}: {per_loop:.1} a loop; at most {most}").unwrap();
        }
    }
    assert!(over.is_empty(), "{over}all: {:?}", counts[1]);
}

/// `==7== Collected : 123456`, as callgrind ends.
fn collected(said: &str) -> Option<u64> {
    let line = said.lines().find_map(|line| line.split_once("Collected :"))?;
    line.1.trim().parse().ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_takes_few_instructions() {
    if !Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success()) {
        eprintln!("SKIPPED: valgrind is not installed, so instructions were not counted");
        return;
    }
    let server = Server::start(Behaviour::default()).await.unwrap();
    let mut counts = Vec::new();
    for loops in [5, 25] {
        let desk = Desk::new(&server, loops);
        let mut counting = Command::new("valgrind");
        counting.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        counting.arg(env!("CARGO_BIN_EXE_gadfly"));
        let said = desk.run(counting, "1").await;
        counts.push(collected(&said).unwrap_or_else(|| panic!("callgrind said no count: {said}")));
    }
    let per_loop = (counts[1] - counts[0]) / 20;
    eprintln!("{per_loop} instructions a loop");
    assert!(
        per_loop <= INSTRUCTIONS_PER_LOOP,
        "{per_loop} instructions a loop; at most {INSTRUCTIONS_PER_LOOP}"
    );
    assert!(
        per_loop > INSTRUCTIONS_PER_LOOP / 2,
        "{per_loop} instructions a loop: lower the budget to what it takes"
    );
}

#[test]
fn the_count_reads_what_callgrind_writes() {
    assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 2307486756\n"), Some(2_307_486_756));
    assert_eq!(collected("==7== killed"), None);
}

#[test]
fn the_count_reads_what_strace_writes() {
    let summary = "% time     seconds  usecs/call     calls    errors syscall\n\
                   ------ ----------- ----------- --------- --------- ----------------\n \
                   88.06   73.542614        3800     19352       898 futex\n  \
                   0.94    0.781072          17     45089           pwrite64\n";
    let counts = counted(summary);
    assert_eq!((counts["futex"], counts["pwrite64"]), (19_352.0, 45_089.0));
}
