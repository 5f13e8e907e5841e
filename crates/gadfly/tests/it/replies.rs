//! What critics really reply, through the real binary: no approval that is none, no rejection that becomes a pass, nearly
//! nothing asked about that a person reads at once, and exactly the fixes that were listed.
//!
//! The replies are in `data/replies`, with what a careful person reads in each; those in `data/replies-unseen` were written
//! and labelled by people who had not seen the readers, those in `data/replies-own` by somebody who had. Another folder of that
//! layout is measured with `GADFLY_REPLIES=DIR cargo test -p gadfly --test it replies:: -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // tests may fail loudly and print

mod library;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// Sets: what critics really reply, through the binary; and our own.
const SHARED: &str = "replies";
const OWN: &str = "replies-own";

fn folder(set: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(set)
}

/// One reply with what a person reads in it.
#[derive(Clone, Debug)]
struct Case {
    folder: PathBuf,
    protocol: String,
    id: String,
    second_round: bool,
    common: bool,
    expect: char,
    items: Option<usize>,
}

fn cases(folder: &Path) -> Vec<Case> {
    let table = fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let case = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        Case {
            folder: folder.to_owned(),
            protocol: cells[0].into(),
            id: cells[1].into(),
            second_round: cells[2] == "2",
            common: cells[3] == "c",
            expect: cells[4].chars().next().unwrap(),
            items: cells.get(5).and_then(|n| n.parse().ok()),
        }
    };
    // Where a careful person could go either way there is nothing to check.
    table.lines().skip(1).map(case).filter(|case| case.expect != '?').collect()
}

/// What the program made of a reply.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Made {
    /// `A`, `R`, `E`, `O` or `X`, as in the table.
    read: char,
    asked_again: bool,
    open: Vec<String>,
}

const RUBRIC: &str = "| Issue | Deduction |\n|---|---|\n| No sample size | -20 |\n| Number without a source | -10 each, max -30 |\n| Causal claim without design | -25 |\n| Filler | -2 each, max -6 |\n";
const CRITERIA: [&str; 6] = [
    "--criterion",
    "states the sample size per group",
    "--criterion",
    "names the statistical test",
    "--criterion",
    "at most 60 words",
];

/// Lays the work of a case out in a folder and gives the arguments to have it judged.
fn lay_out(case: &Case, project: &Path) -> Vec<String> {
    let write = |name: &str, text: &str| {
        let path = project.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let mut args: Vec<&str> = Vec::new();
    match case.protocol.as_str() {
        "revise" if case.second_round => {
            args.extend(["run", "Write it.", "--worker", "w", "--rounds", "2", "--unattended"]);
            args.extend(CRITERIA);
        }
        "revise" => {
            write("d.md", SEVERAL);
            args.extend(["review", "d.md", "--protocol", "revise"]);
            args.extend(CRITERIA);
        }
        "score" => {
            write("d.md", SLEEP);
            write("r.md", RUBRIC);
            args.extend(["review", "d.md", "--protocol", "score", "--rubric", "r.md"]);
        }
        "converge" => {
            write("d.md", TASKS);
            args.extend(["review", "d.md", "--protocol", "converge", "--criteria", "tasks"]);
        }
        "audit" => {
            write("src/calc.py", "# halves\n\ndef half(x): return x / 2\n");
            write("tests/test_calc.py", "from calc import half\ndef test_half(): assert half(4) == 2\n");
            args.extend(["review", "src", "tests", "--protocol", "audit"]);
            args.extend(["--criterion", "half returns the half", "--criterion", "a test covers it"]);
        }
        other => panic!("no such protocol: {other}"),
    }
    args.into_iter().map(ToOwned::to_owned).collect()
}

const SEVERAL: &str = "Sleep improved recall in several mice.\n";
const SLEEP: &str = "# A draft\nSleep improved recall in several mice, from 24 to 31 pairs.\nIt is widely known that sleep is important for many people.\nSleep causes better memory.\n";
const TASKS: &str =
    "Task 1: build the index.\nTask 2: show the page with 3 results.\nTask 3: handle the empty result.\n";
/// The first draft and its revision, where the reply is the one to the revision.
const OPENING: &str = "Sleep improved recall in several mice.\nEthics approval was obtained.\n";
const REVISION: &str = "Sleep improved recall in 12 mice per grupo.\n";
const FIRST: &str = "[STATUS: REJECTED]\n- \"several mice\" is no sample size: state the number of mice per group.\n- No statistical test is named: name the test and whether it is two-sided.\n";

/// Runs the binary with a critic that replies this.
fn judged(case: &Case, reply: &[u8]) -> Made {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("p");
    fs::create_dir(&project).unwrap();
    let args = lay_out(case, &project);
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let reply = file("reply", reply);
    let agent = |name: &str, command: &str| {
        format!("[agents.{name}]\nkind = \"command\"\ncommand = [\"sh\", {command:?}]\nsandbox = \"off\"\n")
    };
    let config = if case.second_round {
        let first = file("first", FIRST.as_bytes());
        let critic = file(
            "c.sh",
            format!("if grep -q 'previous draft (rejected)'; then cat {reply}; else cat {first}; fi\n")
                .as_bytes(),
        );
        let (opening, revision) =
            (file("opening", OPENING.as_bytes()), file("revision", REVISION.as_bytes()));
        let worker = format!("if grep -q 'Mode: Revision'; then cat {revision}; else cat {opening}; fi\n");
        let worker = file("w.sh", worker.as_bytes());
        agent("c", &critic) + &agent("w", &worker)
    } else {
        agent("c", &file("c.sh", format!("cat {reply}\n").as_bytes()))
    };
    fs::write(project.join("gadfly.toml"), config).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gadfly"));
    command.args(&args).args(["--critic", "c", "--trust", "--yes", "--json"]);
    let output =
        command.current_dir(&project).env("HOME", dir.path()).env_remove("XDG_CONFIG_HOME").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let overruled = said.contains("rejection_overruled");
    let read = match output.status.code() {
        Some(0) if overruled => 'O',
        Some(0) => 'A',
        Some(3) => 'R',
        Some(4) => 'E',
        Some(5) => 'X',
        other => panic!(
            "{}/{}: exit {other:?}: {}",
            case.protocol,
            case.id,
            String::from_utf8_lossy(&output.stderr)
        ),
    };
    let last: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let open = last.iter().rev().find_map(open_items).unwrap_or_default();
    Made { read, asked_again: said.contains("\"restating\":true"), open }
}

/// The open items that an event or an outcome names.
fn open_items(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Object(map) => {
            let here = map.get("open").and_then(Value::as_array).map(|list| {
                let text =
                    |v: &Value| v.as_str().or_else(|| v["text"].as_str()).unwrap_or_default().to_owned();
                list.iter().map(text).collect()
            });
            here.or_else(|| map.values().find_map(open_items))
        }
        Value::Array(list) => list.iter().find_map(open_items),
        _ => None,
    }
}

/// What is wrong with how a reply was read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fault {
    /// Approved, though a person reads no approval.
    Unsafe,
    /// Plainly readable, and asked about.
    Asked,
    /// Another verdict than a person reads.
    Wrong,
    /// Another list of fixes.
    Items,
}

fn fault(case: &Case, made: &Made) -> Option<Fault> {
    let approved = matches!(made.read, 'A' | 'O');
    match case.expect {
        'A' | 'O' if made.asked_again => Some(Fault::Asked),
        expect @ ('A' | 'O') => (made.read != expect).then_some(Fault::Wrong),
        _ if approved => Some(Fault::Unsafe),
        'X' => None,
        _ if made.asked_again => Some(Fault::Asked),
        // A review asks nobody: a question to the person is a finding of it.
        'E' => (!matches!(made.read, 'E' | 'R')).then_some(Fault::Wrong),
        _ if made.read != 'R' => Some(Fault::Wrong),
        _ => case.items.filter(|items| *items != made.open.len()).map(|_| Fault::Items),
    }
}

/// The reply of a case, as its critic sends it.
fn reply(case: &Case) -> Vec<u8> {
    let bytes = fs::read(case.folder.join(&case.protocol).join(format!("{}.txt", case.id))).unwrap();
    match String::from_utf8(bytes) {
        Ok(text) => text.replace("{{TASK}}", "review-src-tests").into_bytes(),
        Err(broken) => broken.into_bytes(),
    }
}

/// Has the binary judge every case, two at a time.
fn through_the_binary(cases: Vec<Case>) -> Vec<(Case, Made)> {
    let cases = Arc::new(cases);
    let (next, all) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let workers = (0..2).map(|_| {
        let (cases, next, all) = (Arc::clone(&cases), Arc::clone(&next), Arc::clone(&all));
        std::thread::spawn(move || {
            while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                let made = judged(case, &reply(case));
                all.lock().unwrap().push((case.clone(), made));
            }
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.join().unwrap();
    }
    Arc::try_unwrap(all).unwrap().into_inner().unwrap()
}

/// Has the library judge what it can, and the binary the rest.
fn in_this_process(cases: Vec<Case>) -> Vec<(Case, Made)> {
    let (mut here, mut rest) = (Vec::new(), Vec::new());
    for case in cases {
        match String::from_utf8(reply(&case)) {
            Ok(text) if library::takes(&case) => here.push((case, text)),
            _ => rest.push(case),
        }
    }
    let mut all = library::judged(here);
    all.extend(through_the_binary(rest));
    all
}

#[test]
fn replies_as_models_write_them_are_read_as_a_person_reads_them() {
    judge(SHARED, through_the_binary);
}

#[test]
fn replies_of_blind_trials_and_our_own_are_read_as_a_person_reads_them() {
    judge("replies-unseen", in_this_process);
    judge(OWN, in_this_process);
}

/// What is read in this process is what the binary reads.
#[test]
fn the_library_reads_what_the_binary_reads() {
    let wanted = |case: &Case| library::takes(case) && String::from_utf8(reply(case)).is_ok();
    let some: Vec<Case> = cases(&folder(SHARED)).into_iter().filter(wanted).step_by(7).collect();
    assert!(some.len() > 30, "{}", some.len());
    let by_id = |all: Vec<(Case, Made)>| {
        let key = |(case, made): (Case, Made)| ((case.protocol, case.id), made);
        all.into_iter().map(key).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(by_id(in_this_process(some.clone())), by_id(through_the_binary(some)));
}

/// How a set was read.
struct Read {
    faults: Vec<(Case, Made, Fault)>,
    /// Replies that are no approval, and those that a person reads at once.
    refusing: usize,
    readable: usize,
    common: usize,
}

impl Read {
    fn of(folder: &Path, judge: fn(Vec<Case>) -> Vec<(Case, Made)>) -> Self {
        let cases = cases(folder);
        let count = |of: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| of(case)).count();
        let refusing = count(&|case| !matches!(case.expect, 'A' | 'O'));
        let readable = count(&|case| case.expect != 'X');
        let common = count(&|case| case.expect != 'X' && case.common);
        let wrong = |(case, made): (Case, Made)| fault(&case, &made).map(|fault| (case, made, fault));
        Self { refusing, readable, common, faults: judge(cases).into_iter().filter_map(wrong).collect() }
    }

    fn count(&self, wanted: Fault) -> usize {
        self.faults.iter().filter(|(.., fault)| *fault == wanted).count()
    }

    fn asked_common(&self) -> usize {
        self.faults.iter().filter(|(case, _, fault)| *fault == Fault::Asked && case.common).count()
    }

    fn figures(&self) -> String {
        format!(
            "{} unsafe of {}; {} asked of {} readable, {} of {} common ones; {} lists, {} verdicts otherwise",
            self.count(Fault::Unsafe),
            self.refusing,
            self.count(Fault::Asked),
            self.readable,
            self.asked_common(),
            self.common,
            self.count(Fault::Items),
            self.count(Fault::Wrong),
        )
    }

    fn told(&self) -> String {
        let mut told = String::new();
        for (case, made, fault) in &self.faults {
            let _ = writeln!(
                told,
                "{fault:?}: {}/{} expects {}, read as {made:?}",
                case.protocol, case.id, case.expect
            );
        }
        told
    }
}

fn judge(set: &str, way: fn(Vec<Case>) -> Vec<(Case, Made)>) {
    let read = Read::of(&folder(set), way);
    assert!(read.readable > 200, "{}", read.readable);
    println!("{set}: {}", read.figures());
    let told = read.told();
    assert_eq!(read.count(Fault::Unsafe), 0, "approvals that are none:\n{told}");
    assert_eq!(read.count(Fault::Items) + read.count(Fault::Wrong), 0, "wrong lists or verdicts:\n{told}");
    assert!(read.count(Fault::Asked) * 20 <= read.readable, "more than 5 %:\n{told}");
    // Our own are hard on purpose.
    let share = if set == OWN { 20 } else { 50 };
    assert!(read.asked_common() * share <= read.common, "more than 1 of {share} of the common ones:\n{told}");
}

/// Measures a folder of replies that nobody here has seen, and asserts nothing.
#[test]
#[ignore = "for a folder of your own, in GADFLY_REPLIES"]
fn another_folder_of_replies_is_measured() {
    let folder = std::env::var_os("GADFLY_REPLIES").expect("GADFLY_REPLIES names a folder");
    let read = Read::of(Path::new(&folder), through_the_binary);
    println!("{}{}", read.told(), read.figures());
}

/// A critic with habits: numbered lists, `##` before the token, a sentence first. Three rounds are six calls.
#[test]
fn firm_habits_cost_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let script = "[[reply]]\nrole = \"critic\"\nrepeat = \"always\"\ntext = \"\"\"\nI have gone through the draft with care.\n\n## [STATUS: REJECTED]\n\n1. State the number of mice per group.\n2. Name the statistical test.\n\"\"\"\n\n[[reply]]\nrole = \"worker\"\nrepeat = \"always\"\ntext = \"Sleep improved recall.\"\n";
    fs::write(dir.path().join("s.toml"), script).unwrap();
    fs::write(dir.path().join("gadfly.toml"), "[agents.a]\nkind = \"scripted\"\nscript = \"s.toml\"\n")
        .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gadfly"));
    command
        .args([
            "run",
            "Write it.",
            "--worker",
            "a",
            "--critic",
            "a",
            "--unattended",
            "--yes",
            "--trust",
            "--json",
        ])
        .args(CRITERIA);
    let output = command
        .current_dir(dir.path())
        .env("HOME", dir.path())
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.matches("\"event\":\"charged\"").count(), 6, "{said}");
    assert!(!said.contains("reply_malformed"), "{said}");
}

/// The question to a critic that could not be read is short, however long its reply was.
#[test]
fn a_question_to_the_critic_stays_short() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.md"), "Several mice.\n").unwrap();
    let log = dir.path().join("briefs");
    fs::create_dir(&log).unwrap();
    let critic = format!(
        "n=$(ls {log} | wc -l)\ncat > {log}/$n\necho '[STATUS: APPROVED]'\necho '1. State the size.'\nhead -c 1100000 /dev/zero | tr '\\0' 'x'\n",
        log = log.display()
    );
    fs::write(dir.path().join("c.sh"), critic).unwrap();
    let config = format!(
        "[agents.c]\nkind = \"command\"\ncommand = [\"sh\", {:?}]\nsandbox = \"off\"\n",
        dir.path().join("c.sh").display().to_string()
    );
    fs::write(dir.path().join("gadfly.toml"), config).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gadfly"));
    command.args([
        "review",
        "d.md",
        "--protocol",
        "revise",
        "--critic",
        "c",
        "--criterion",
        "states the size",
        "--trust",
        "--yes",
    ]);
    let output = command
        .current_dir(dir.path())
        .env("HOME", dir.path())
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", String::from_utf8_lossy(&output.stderr));
    let briefs: Vec<String> = ["0", "1"].iter().map(|n| fs::read_to_string(log.join(n)).unwrap()).collect();
    let form = briefs[0].split("Judge the draft above now.").nth(1).unwrap().len();
    let grown = briefs[1].len() - briefs[0].len();
    assert!(grown <= 2_048 + form + 64, "the question has {grown} bytes, the form {form}");
    assert!(briefs[1].contains("State the size."), "it shows what contradicts:\n{}", briefs[1]);
}
