//! Many runs at once: counted, listed and watched without walking them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::sample;

use std::collections::BTreeMap;

use gadfly_engine::{Outcome, Step, Waiting};
use gadfly_journal::{GcOptions, Journal, ListCursor, ListFilter, Mail, MailKind, RunId, Summary};
use sample::{approved, begin, finished, replied, step};

fn counted(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
    pairs.iter().map(|(state, runs)| ((*state).to_owned(), *runs)).collect()
}

#[test]
fn runs_are_counted_as_they_begin_stop_end_and_go() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    assert_eq!(journal.counts().unwrap(), counted(&[]));
    let gone = finished(&journal, "a", 1);
    finished(&journal, "b", 2);
    let mut parked = begin(&journal, "c", 3);
    let left = begin(&journal, "d", 4);
    assert_eq!(journal.counts().unwrap(), counted(&[("approved", 2), ("running", 2)]));
    let waiting = step(vec![], Some(Outcome::Waiting(Waiting::Paused)));
    parked.append_and_wait(&replied(1, "x", 5), &waiting, None).unwrap();
    drop(left);
    journal.remove(&gone, |_| {}).unwrap();
    let now = counted(&[("approved", 1), ("interrupted", 1), ("waiting(paused)", 1)]);
    assert_eq!(journal.counts().unwrap(), now);
    // Each is counted as the list shows it.
    let mut listed = BTreeMap::new();
    for Summary { state, .. } in journal.list(&ListFilter::default()).unwrap() {
        *listed.entry(state).or_insert(0) += 1;
    }
    assert_eq!(listed, now);
    parked.append_and_wait(&replied(2, "y", 6), &step(vec![], Some(approved())), None).unwrap();
    journal.gc(&GcOptions { before_ms: 10, keep_parked: false, dry_run: true }, |_| {}).unwrap();
    assert_eq!(journal.counts().unwrap(), counted(&[("approved", 2), ("interrupted", 1)]), "a dry run");
    journal.gc(&GcOptions { before_ms: 10, keep_parked: false, dry_run: false }, |_| {}).unwrap();
    assert_eq!(journal.counts().unwrap(), counted(&[]));
}

#[test]
fn nothing_is_left_of_a_run_that_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let run = finished(&journal, "a", 1);
    journal.remove(&run, |_| {}).unwrap();
    let conn = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    for table in ["runs", "records", "checkpoints"] {
        let sql = format!("SELECT count(*) FROM {table}");
        assert_eq!(conn.query_row(&sql, [], |r| r.get::<_, i64>(0)).unwrap(), 0, "{table}");
    }
}

#[test]
fn the_list_goes_on_where_it_was_left_off_whatever_begins_meanwhile() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    // Four of them began in the same millisecond.
    let runs: Vec<RunId> = [1, 2, 2, 2, 2, 3].iter().map(|at| finished(&journal, "a", *at)).collect();
    let filter = ListFilter { limit: 2, ..ListFilter::default() };
    let mut seen = journal.list(&filter).unwrap();
    loop {
        finished(&journal, "new", 9);
        let last = seen.last().unwrap();
        let place = ListCursor { created_ms: last.created_ms, run: last.run.clone() };
        let more = journal.list_older(&filter, &place).unwrap();
        if more.is_empty() {
            break;
        }
        seen.extend(more);
    }
    let seen: Vec<RunId> = seen.into_iter().map(|summary| summary.run).rev().collect();
    assert_eq!(seen, runs);
    // A run that is gone still has its place by time.
    journal.remove(&runs[5], |_| {}).unwrap();
    let place = ListCursor { created_ms: 3, run: runs[5].clone() };
    assert_eq!(journal.list_older(&filter, &place).unwrap()[0].run, runs[4]);
}

#[test]
fn every_change_that_a_page_shows_is_noticed_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let watching = Journal::open(dir.path()).unwrap();
    for journal_that_watches in [&journal, &watching] {
        let mut last = journal_that_watches.changes().unwrap();
        let mut noticed = |what: &str| {
            let now = journal_that_watches.changes().unwrap();
            assert_ne!(now, last, "{what}");
            assert_eq!(now, journal_that_watches.changes().unwrap(), "after {what} nothing happens");
            last = now;
        };
        let mut writer = begin(&journal, "a", 1);
        let run = writer.run().clone();
        noticed("a run that begins");
        writer.append_and_wait(&replied(1, "x", 2), &Step::default(), None).unwrap();
        noticed("a record");
        let mail = Mail { by: "ada".into(), at_ms: 3, what: MailKind::Pause };
        let before = journal.pulses(std::slice::from_ref(&run)).unwrap();
        journal.post(&run, &mail).unwrap();
        noticed("mail");
        let after = journal.pulses(std::slice::from_ref(&run)).unwrap();
        assert_ne!(before, after);
        assert_eq!((after[&run].next, after[&run].driven), (2, true));
        let (tell, told) = std::sync::mpsc::channel();
        writer.release(move || tell.send(()).unwrap());
        told.recv().unwrap();
        noticed("a run that is given up");
        assert!(!journal.pulses(std::slice::from_ref(&run)).unwrap()[&run].driven);
        journal.remove(&run, |_| {}).unwrap();
        noticed("a run that is removed");
        assert!(journal.pulses(&[run]).unwrap().is_empty());
    }
}

#[test]
fn a_process_that_dies_is_noticed_although_it_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let watching = Journal::open(dir.path()).unwrap();
    let locks = dir.path().join("locks");
    // A lock that is held is a process that lives.
    let held = std::fs::File::create_new(locks.join("1-00ff.owner")).unwrap();
    held.lock().unwrap();
    let alive = watching.changes().unwrap();
    held.unlock().unwrap();
    assert_ne!(watching.changes().unwrap(), alive);
}
