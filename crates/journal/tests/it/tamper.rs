//! What somebody changes in a store is noticed, or nothing that is shown changes with it. Thousands of edits, each to a
//! fresh copy: bits of cells and of the file, rows taken out, doubled, moved and swapped, ends cut off, the whole set back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use crate::sample;
use crate::script;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gadfly_journal::{Custody, Journal, ListFilter, Mail, MailKind, OpenError, RunId, Window, summary};
use rusqlite::types::Value;
use rusqlite::{Connection, params};
use sample::{approved, begin, finished, replied, step};
use script::{Protocol, Script};

/// Edits of cells, rows and ends; and of the file's bits.
const EDITS: u64 = 1_000;
const FLIPS: u64 = 250;

/// How often the edits are made over, each time with other dice: `GADFLY_TAMPERINGS=100` is a campaign.
fn tamperings() -> u64 {
    std::env::var("GADFLY_TAMPERINGS").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// A generator that gives the same numbers in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides.max(1)
    }
}

struct Desk {
    dir: tempfile::TempDir,
    runs: Vec<RunId>,
}

impl Desk {
    /// Loops that ended, one that parked and went on, a goal of some chunks, and one that nobody drives.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let journal =
            Journal::open_in(&dir.path().join("store"), &Custody::at(&dir.path().join("state"))).unwrap();
        let mut runs: Vec<RunId> = (1..6).map(|n| finished(&journal, &format!("loop {n}"), n)).collect();
        let mut parked = begin(&journal, "parked", 10);
        let waiting = gadfly_engine::Outcome::Waiting(gadfly_engine::Waiting::Paused);
        parked.append_and_wait(&replied(1, "one", 11), &step(vec![], Some(waiting)), None).unwrap();
        parked.append_and_wait(&replied(2, "two", 12), &step(vec![], None), None).unwrap();
        parked.append_and_wait(&replied(3, "three", 13), &step(vec![], Some(approved())), None).unwrap();
        runs.push(parked.run().clone());
        let goal = RunId::random().unwrap();
        let mut writer = journal.create(goal.clone()).unwrap();
        for (input, step) in Script::of(Protocol::Watch, &[0, 3, 0, 5, 7, 6, 8, 12, 13, 11].repeat(8)) {
            writer.append_and_wait(&input, &step, None).unwrap();
        }
        writer.append_and_wait(&replied(9, "over", 99), &step(vec![], Some(approved())), None).unwrap();
        runs.push(goal);
        runs.push(begin(&journal, "left", 20).run().clone());
        Self { dir, runs }
    }

    fn store(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    fn connect(&self) -> Connection {
        let conn = Connection::open(self.store().join("journal.db")).unwrap();
        conn.pragma_update(None, "synchronous", "OFF").unwrap();
        conn
    }

    fn open(&self) -> Result<Journal, OpenError> {
        Journal::open_existing_in(&self.store(), &Custody::at(&self.dir.path().join("state")))
    }

    /// All that is shown, or what was noticed.
    fn shown(&self) -> Result<Shown, String> {
        let journal = self.open().map_err(|e| e.to_string())?;
        if let Some(foreign) = journal.foreign() {
            return Err(foreign.to_string());
        }
        let missing = journal.missing().map_err(|e| e.to_string())?;
        if missing > 0 {
            return Err(format!("{missing} missing"));
        }
        let counts = journal.counts().map_err(|e| e.to_string())?;
        let list =
            journal.list(&ListFilter { limit: 1000, ..ListFilter::default() }).map_err(|e| e.to_string())?;
        if let Some(damaged) = list.iter().find(|run| run.state == summary::DAMAGED) {
            return Err(damaged.title.clone());
        }
        let mut runs = Vec::new();
        for run in &self.runs {
            let page = journal.page(run, &Window::default()).map_err(|e| e.to_string())?;
            let mut export = Vec::new();
            journal.export(run, &mut export).map_err(|e| e.to_string())?;
            let log = journal.critic_log(run).map_err(|e| e.to_string())?.file();
            runs.push(format!("{page:?}{log}{}", gadfly_engine::Digest::of(&export)));
        }
        Ok(Shown { list: format!("{list:?}"), counts, runs })
    }
}

#[derive(PartialEq, Debug)]
struct Shown {
    list: String,
    counts: BTreeMap<String, u64>,
    runs: Vec<String>,
}

impl Shown {
    fn lines(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.list).chain(&self.runs)
    }
}

/// The tables that what is shown comes from, with the column that names a row.
const TABLES: [(&str, &str); 6] = [
    ("runs", "number"),
    ("records", "number"),
    ("checkpoints", "place"),
    ("blobs", "number"),
    ("seals", "number"),
    ("store", "rowid"),
];

fn row(conn: &Connection, dice: &mut Dice, table: &str, key: &str) -> i64 {
    let mut rows = conn.prepare(&format!("SELECT {key} FROM {table} ORDER BY 1")).unwrap();
    let keys: Vec<i64> = rows.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
    keys[dice.roll(keys.len())]
}

/// One change, as words.
fn edit(desk: &Desk, dice: &mut Dice) -> String {
    let conn = desk.connect();
    let (table, key) = TABLES[dice.roll(TABLES.len())];
    let at = row(&conn, dice, table, key);
    match dice.roll(8) {
        0..=3 => flip_cell(&conn, dice, table, key, at),
        4 => {
            conn.execute(&format!("DELETE FROM {table} WHERE {key} = ?1"), [at]).unwrap();
            format!("took {table} {at} out")
        }
        5 => {
            let (one, two) = (row(&conn, dice, "records", "number"), row(&conn, dice, "records", "number"));
            let columns = ["body", "link", "size", "input_texts", "step_texts"];
            let taken = &columns[..=dice.roll(columns.len())];
            let set: Vec<String> =
                taken.iter().map(|c| format!("{c} = (SELECT {c} FROM records WHERE number = ?2)")).collect();
            conn.execute(&format!("UPDATE records SET {} WHERE number = ?1", set.join(", ")), [one, two])
                .unwrap();
            format!("gave record {one} {taken:?} of {two}")
        }
        6 => {
            // Two records of a run change places.
            let run = row(&conn, dice, "runs", "number");
            let next: u32 =
                conn.query_row("SELECT count(*) FROM records WHERE run = ?1", [run], |r| r.get(0)).unwrap();
            let seq = u32::try_from(dice.roll(next as usize)).unwrap();
            for (from, to) in [(seq, 999_999), (seq + 1, seq), (999_999, seq + 1)] {
                conn.execute(
                    "UPDATE records SET seq = ?3 WHERE run = ?1 AND seq = ?2",
                    params![run, from, to],
                )
                .unwrap();
            }
            format!("swapped records {seq} and {} of run {run}", seq + 1)
        }
        _ => {
            // The end of a run that stopped is cut off, with all that tells of it inside its tables.
            let sql = "SELECT number FROM runs WHERE outcome IS NOT NULL ORDER BY number";
            let mut rows = conn.prepare(sql).unwrap();
            let stopped: Vec<i64> = rows.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
            let run = stopped[dice.roll(stopped.len())];
            let next: i64 =
                conn.query_row("SELECT count(*) FROM records WHERE run = ?1", [run], |r| r.get(0)).unwrap();
            let keep = i64::try_from(dice.roll(usize::try_from(next).unwrap())).unwrap();
            conn.execute("DELETE FROM records WHERE run = ?1 AND seq >= ?2", [run, keep]).unwrap();
            conn.execute("DELETE FROM checkpoints WHERE place >> 26 = ?1 AND upto > ?2", [run, keep])
                .unwrap();
            conn.execute("DELETE FROM seals WHERE run = ?1", [run]).unwrap();
            if dice.roll(2) == 0 {
                conn.execute(
                    "UPDATE runs SET sealed = 0, outcome = NULL, ended = 0 WHERE number = ?1",
                    [run],
                )
                .unwrap();
            }
            if keep == 0 {
                conn.execute("DELETE FROM runs WHERE number = ?1", [run]).unwrap();
            }
            format!("cut run {run} at {keep}")
        }
    }
}

fn flip_cell(conn: &Connection, dice: &mut Dice, table: &str, key: &str, at: i64) -> String {
    let mut columns = conn.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
    let columns: Vec<String> = columns.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
    let column = &columns[dice.roll(columns.len())];
    let sql = format!("SELECT {column} FROM {table} WHERE {key} = ?1");
    let value: Value = conn.query_row(&sql, [at], |r| r.get(0)).unwrap();
    let changed = match value {
        Value::Null => Value::Text("approved".into()),
        Value::Integer(n) => Value::Integer(n ^ (1 << dice.roll(20))),
        Value::Real(n) => Value::Real(n),
        Value::Text(text) => {
            let mut bytes = text.into_bytes();
            let at = dice.roll(bytes.len());
            bytes[at] ^= 1 << dice.roll(5);
            Value::Text(String::from_utf8_lossy(&bytes).into_owned())
        }
        Value::Blob(mut bytes) => {
            let at = dice.roll(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << dice.roll(8);
            }
            Value::Blob(bytes)
        }
    };
    // A column that takes no such value, or a key that is taken: nothing changes then.
    let _ = conn.execute(&format!("UPDATE {table} SET {column} = ?2 WHERE {key} = ?1"), params![at, changed]);
    format!("changed {column} of {table} {at}")
}

fn restore(desk: &Desk, bytes: &[u8]) {
    for side in ["journal.db-wal", "journal.db-shm"] {
        let _ = fs::remove_file(desk.store().join(side));
    }
    fs::write(desk.store().join("journal.db"), bytes).unwrap();
}

fn tried(desk: &Desk, good: &Shown, tally: &mut [u64; 2], what: &str) {
    match desk.shown() {
        Err(_) => tally[0] += 1,
        Ok(shown) => {
            let other: Vec<(&String, &String)> =
                shown.lines().zip(good.lines()).filter(|(shown, good)| shown != good).collect();
            assert!(
                shown == *good,
                "{what}: nobody noticed, and something else is shown than should be: {other:#?}, {:?}, {:?}",
                shown.counts,
                good.counts
            );
            tally[1] += 1;
        }
    }
}

#[test]
fn every_edit_of_the_tables_is_noticed_or_shows_nothing_else() {
    let (desk, mut dice, mut tally) = (Desk::new(), Dice(7 * tamperings()), [0, 0]);
    let (bytes, good) = (fs::read(desk.store().join("journal.db")).unwrap(), desk.shown().unwrap());
    for _ in 0..EDITS * tamperings() {
        restore(&desk, &bytes);
        let what = edit(&desk, &mut dice);
        tried(&desk, &good, &mut tally, &what);
    }
    println!("{} noticed, {} without effect", tally[0], tally[1]);
    assert!(tally[0] > tamperings() * EDITS / 2, "most edits are noticed: {tally:?}");
}

#[test]
fn every_flipped_bit_of_the_file_is_noticed_or_shows_nothing_else() {
    let (desk, mut dice, mut tally) = (Desk::new(), Dice(11 * tamperings()), [0, 0]);
    let (bytes, good) = (fs::read(desk.store().join("journal.db")).unwrap(), desk.shown().unwrap());
    for _ in 0..FLIPS * tamperings() {
        let (mut changed, at, bit) = (bytes.clone(), dice.roll(bytes.len()), dice.roll(8));
        changed[at] ^= 1 << bit;
        restore(&desk, &changed);
        tried(&desk, &good, &mut tally, &format!("bit {bit} of byte {at}"));
    }
    println!("{} noticed, {} without effect", tally[0], tally[1]);
    assert!(tally[0] > tamperings() * FLIPS / 4, "many flips are noticed: {tally:?}");
}

#[test]
fn a_store_that_is_set_back_is_noticed_and_taken_by_a_person() {
    let desk = Desk::new();
    let custody = Custody::at(&desk.dir.path().join("state"));
    let before = fs::read(desk.store().join("journal.db")).unwrap();
    let journal = Journal::open_in(&desk.store(), &custody).unwrap();
    finished(&journal, "one more", 30);
    drop(journal);
    let after = fs::read(desk.store().join("journal.db")).unwrap();
    restore(&desk, &before);
    assert!(desk.shown().unwrap_err().contains("set it back"));
    let set_back = Journal::open_in(&desk.store(), &custody).unwrap();
    assert!(set_back.create(RunId::random().unwrap()).is_err(), "nothing is added to it");
    drop(set_back);
    Journal::own(&desk.store(), &custody).unwrap();
    assert!(desk.shown().is_ok());
    // The newest seal stands outside: without it, nobody could tell.
    restore(&desk, &after);
    assert!(desk.shown().is_ok());
}

#[test]
fn a_store_from_another_machine_can_be_read_and_taken_and_its_runs_never_count() {
    let (desk, other) = (Desk::new(), tempfile::tempdir().unwrap());
    let here = Custody::at(&other.path().join("state"));
    let store = other.path().join("store");
    let cancel = Mail { by: "a stranger".into(), at_ms: 50, what: MailKind::Cancel };
    desk.open().unwrap().post(&desk.runs[7], &cancel).unwrap();
    copy(&desk.store(), &store);
    swap_checkpoints(&store);
    let journal = Journal::open_existing_in(&store, &here).unwrap();
    assert!(journal.foreign().is_some());
    let list = |journal: &Journal| format!("{:?}", journal.list(&ListFilter::default()).unwrap());
    assert_eq!(list(&journal), list(&desk.open().unwrap()), "what is shown of it is what its records say");
    assert!(!journal.counts_here(&desk.runs[0]).unwrap());
    assert!(journal.create(RunId::random().unwrap()).is_err() && journal.claim(&desk.runs[7]).is_err());
    drop(journal);
    let taken = Journal::own(&store, &here).unwrap();
    assert_eq!((taken.runs, taken.unreadable.len()), (desk.runs.len() as u64, 0));
    let journal = Journal::open_existing_in(&store, &here).unwrap();
    assert!(journal.foreign().is_none());
    assert_eq!(journal.mail(&desk.runs[7]).unwrap(), [], "nobody reads what a stranger left for a run");
    for run in &desk.runs {
        assert!(!journal.counts_here(run).unwrap());
        assert!(journal.replay(run).all(|record| record.is_ok()));
        journal.proof(run).unwrap();
    }
    let own = finished(&journal, "mine", 40);
    assert!(journal.counts_here(&own).unwrap());
    assert_eq!(journal.counts().unwrap()["approved"], 8);
}

/// The sums of the first two runs change places.
fn swap_checkpoints(store: &Path) {
    let conn = Connection::open(store.join("journal.db")).unwrap();
    let swap = "UPDATE checkpoints AS c SET (size, body, proof) =
                  (SELECT size, body, proof FROM checkpoints WHERE place = (3 << 26) - c.place)
                WHERE place IN (1 << 26, 2 << 26)";
    assert_eq!(conn.execute(swap, []).unwrap(), 2);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten().filter(|e| e.path().is_file()) {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}
