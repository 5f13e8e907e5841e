//! Several processes on one store: a run has one owner, a dead owner is succeeded, a foreign one kept.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // also in what tests call

use crate::sample;

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use gadfly_engine::Step;
use gadfly_journal::{AppendError, ClaimError, Journal, RunId};
use sample::{begin, replied};

/// What the child process does: begins a run, says its id, and holds it until it is killed.
#[test]
fn child() {
    let Ok(dir) = std::env::var("GADFLY_TEST_OWNER") else { return };
    let journal = Journal::open(Path::new(&dir)).unwrap();
    let writer = begin(&journal, "held by a child", 1);
    println!("\nRUN {}", writer.run());
    let _ = std::io::stdin().lines().next();
}

/// A child at work. Its output stays open, so that it is not disturbed before it is killed.
struct Held {
    child: Child,
    said: Lines<BufReader<ChildStdout>>,
}

fn run_child(dir: &Path, what: &str) -> Held {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", what, "--nocapture"]).env("GADFLY_TEST_OWNER", dir);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(child.stdout.take().unwrap()).lines();
    Held { child, said }
}

impl Held {
    fn wait_for(&mut self, mark: &str) -> String {
        let mut lines = self.said.by_ref().map(Result::unwrap);
        lines.find_map(|l| l.strip_prefix(mark).map(str::to_owned)).unwrap()
    }
}

fn spawn(dir: &Path) -> (Held, RunId) {
    let mut held = run_child(dir, "ownership::child");
    let run = held.wait_for("RUN ").parse().unwrap();
    (held, run)
}

/// A child that appends as fast as it can and says what was acknowledged.
#[test]
fn busy_child() {
    let Ok(dir) = std::env::var("GADFLY_TEST_OWNER") else { return };
    let journal = Journal::open(Path::new(&dir)).unwrap();
    let mut writer = begin(&journal, "busy", 1);
    println!("\nRUN {}", writer.run());
    for n in 1.. {
        let text = format!("reply {n} ").repeat(200);
        writer.append(&replied(n, &text, 2), &Step::default(), None, move |result| {
            result.unwrap();
            println!("ACK {n}");
        });
    }
}

#[test]
fn what_was_acknowledged_survives_a_kill_and_nothing_is_torn() {
    let dir = tempfile::tempdir().unwrap();
    let mut held = run_child(dir.path(), "ownership::busy_child");
    let run: RunId = held.wait_for("RUN ").parse().unwrap();
    let acknowledged: usize = (0..200).map(|_| held.wait_for("ACK ")).last().unwrap().parse().unwrap();
    held.child.kill().unwrap();
    held.child.wait().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let records: Vec<_> = journal.replay(&run).collect::<Result<_, _>>().unwrap();
    assert!(records.len() > acknowledged, "{} records, {acknowledged} acknowledged", records.len());
    let mut writer = journal.claim(&run).unwrap();
    assert_eq!(writer.next_seq() as usize, records.len());
    assert_eq!(journal.state(&run).unwrap().summary, journal.summary(&run).unwrap());
    writer.append_and_wait(&replied(0, "goes on", 3), &Step::default(), None).unwrap();
}

#[test]
fn a_living_process_keeps_its_run_and_a_killed_one_is_succeeded() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let (mut held, run) = spawn(dir.path());
    assert_eq!(journal.summary(&run).unwrap().state, "running");
    match journal.claim(&run) {
        Err(ClaimError::Owned { pid, since_ms, .. }) => {
            assert_eq!(pid, held.child.id());
            assert!(since_ms > 0);
        }
        other => panic!("{:?}", other.err()),
    }
    assert!(journal.remove(&run, |_| ()).is_err(), "nor can it be removed under its owner");

    held.child.kill().unwrap();
    held.child.wait().unwrap();
    assert_eq!(journal.summary(&run).unwrap().state, "interrupted");
    let mut writer = journal.claim(&run).unwrap();
    writer.append_and_wait(&replied(1, "taken over", 2), &Step::default(), None).unwrap();
    assert_eq!(journal.summary(&run).unwrap().state, "running");
    let locks = std::fs::read_dir(dir.path().join("locks")).unwrap();
    let owners = locks.filter(|l| l.as_ref().unwrap().path().extension() == Some("owner".as_ref()));
    assert_eq!(owners.count(), 1, "the dead process's lock file is gone");
}

#[test]
fn two_writers_of_one_run_cannot_exist() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (Journal::open(dir.path()).unwrap(), Journal::open(dir.path()).unwrap());
    let writer = begin(&one, "one", 1);
    let run = writer.run().clone();
    assert!(matches!(one.claim(&run), Err(ClaimError::Owned { .. })));
    assert!(matches!(two.claim(&run), Err(ClaimError::Owned { .. })));
    writer.release(|| {});
    // The release is queued before this claim, so the same journal succeeds at once.
    let writer = one.claim(&run).unwrap();
    drop(writer);
    drop(one);
    assert!(two.claim(&run).is_ok());
    let none: RunId = "0000000000".parse().unwrap();
    assert!(matches!(two.claim(&none), Err(ClaimError::NotFound(_))));
}

#[test]
fn a_writer_that_lost_its_run_cannot_append() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut writer = begin(&journal, "one", 1);
    let run = writer.run().clone();
    let set_owner = |owner: &str| {
        let conn = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
        let old: String = conn.query_row("SELECT owner FROM runs", [], |r| r.get(0)).unwrap();
        conn.execute("UPDATE runs SET owner = ?1", [owner]).unwrap();
        old
    };
    let ours = set_owner("1-0f.owner");
    let result = writer.append_and_wait(&replied(1, "late", 2), &Step::default(), None);
    assert_eq!(result, Err(AppendError::Lost(run.clone())));
    assert_eq!(journal.replay(&run).count(), 1);

    // Sabotage: with the row naming us again the same bytes go in, so it was the row that refused.
    set_owner(&ours);
    let late = writer.append_and_wait(&replied(1, "late", 2), &Step::default(), None);
    assert_eq!(late, Err(AppendError::Behind(run.clone())), "a writer that failed once stays behind");
    drop(writer);
    let mut writer = journal.claim(&run).unwrap();
    writer.append_and_wait(&replied(1, "late", 2), &Step::default(), None).unwrap();
}

#[test]
fn one_run_that_fails_does_not_hurt_the_others_in_its_batch() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut writers: Vec<_> = (0..50).map(|n| begin(&journal, &format!("run {n}"), n)).collect();
    let lost = writers[25].run().clone();
    let conn = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    conn.execute("UPDATE runs SET owner = NULL WHERE id = ?1", [lost.as_str()]).unwrap();
    // While this transaction is open the writer waits, so that all appends meet in one batch.
    conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    for writer in &mut writers {
        let (tell, run) = (tell.clone(), writer.run().clone());
        writer.append(&replied(1, run.as_str(), 2), &Step::default(), None, move |result| {
            tell.send((run, result)).unwrap();
        });
    }
    conn.execute_batch("COMMIT").unwrap();
    drop(tell);
    let results: Vec<_> = told.iter().collect();
    assert_eq!(results.len(), 50);
    for (run, result) in results {
        let expected = if run == lost { Err(AppendError::Lost(run.clone())) } else { Ok(()) };
        assert_eq!(result, expected);
        assert_eq!(journal.replay(&run).count(), if run == lost { 1 } else { 2 });
    }
}

#[test]
fn an_id_is_not_given_twice() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let writer = begin(&journal, "one", 1);
    let run = writer.run().clone();
    assert!(journal.create(run.clone()).is_err());
    drop(writer);
    let mut again = journal.create(run.clone()).unwrap();
    let result = again.append_and_wait(&sample::started("two", 2), &Step::default(), None);
    assert_eq!(result, Err(AppendError::Exists(run.clone())));
    assert_eq!(journal.summary(&run).unwrap().title, "one");
}

#[test]
fn many_processes_may_make_the_store_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join(".gadfly");
    let children: Vec<_> = std::thread::scope(|scope| {
        let spawned: Vec<_> = (0..4).map(|_| scope.spawn(|| spawn(&store))).collect();
        spawned.into_iter().map(|s| s.join().unwrap()).collect()
    });
    let journal = Journal::open_existing(&store).unwrap();
    assert_eq!(journal.list(&gadfly_journal::ListFilter::default()).unwrap().len(), 4);
    for (mut held, run) in children {
        assert!(journal.claim(&run).is_err());
        drop(held.child.stdin.take());
        held.child.wait().unwrap();
        assert!(journal.claim(&run).is_ok());
    }
}
