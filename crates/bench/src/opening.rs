//! How long a store takes to open a page or the overview, large beside small, in turns of the same session.

use std::io::Write;
use std::time::{Duration, Instant};

use gadfly_bench::store::{Fill, Filled, begins_ms, fill};
use gadfly_journal::{Custody, Journal, ListCursor, ListFilter, RunId, Window};
use tempfile::TempDir;

use crate::baseline::BenchError;

pub const LARGE: Fill = Fill { runs: 10_000, records: 100_000, rounds: 5_000 };
pub const QUICK: Fill = Fill { runs: 1_000, records: 10_000, rounds: 500 };
/// Ten runs in all; the long ones just fill the window.
const SMALL: Fill = Fill { runs: 8, records: 1_000, rounds: 60 };
const TURNS: u32 = 200;

struct BenchStore {
    _dir: TempDir,
    journal: Journal,
    filled: Filled,
}

impl BenchStore {
    fn new(what: Fill) -> Result<Self, BenchError> {
        let dir = TempDir::with_prefix("gadfly-bench-")?;
        let filled = fill(dir.path(), &Custody::none(), what)?;
        let journal = Journal::open_existing(dir.path())?;
        Ok(Self { _dir: dir, journal, filled })
    }
}

/// What a reader does.
type ReaderAction = (&'static str, fn(&BenchStore) -> Result<(), BenchError>);

const DEEDS: [ReaderAction; 6] = [
    ("overview: list and counts", overview),
    ("overview: four older runs", older),
    ("page of a short run", |store| page(store, store.filled.runs.first())),
    ("page of the long goal", |store| page(store, store.filled.goal.as_ref())),
    ("page of the long loop", |store| page(store, store.filled.rounds.as_ref())),
    ("did anything change?", |store| Ok(store.journal.changes().map(drop)?)),
];

fn overview(store: &BenchStore) -> Result<(), BenchError> {
    let listed = store.journal.list(&ListFilter::default())?;
    let counted: u64 = store.journal.counts()?.values().sum();
    if listed.is_empty() || counted < listed.len() as u64 {
        return Err("the overview is wrong".into());
    }
    Ok(())
}

fn older(store: &BenchStore) -> Result<(), BenchError> {
    let middle = store.filled.runs.len() / 2;
    let run = store.filled.runs.get(middle).ok_or("an empty store")?.clone();
    let created_ms = begins_ms(u32::try_from(middle)?);
    // No more than the small store has.
    let filter = ListFilter { limit: 4, ..ListFilter::default() };
    store.journal.list_older(&filter, &ListCursor { created_ms, run })?;
    Ok(())
}

fn page(store: &BenchStore, run: Option<&RunId>) -> Result<(), BenchError> {
    store.journal.page(run.ok_or("no such run")?, &Window::default())?;
    Ok(())
}

pub fn measure(out: &mut impl Write, large: Fill) -> Result<(), BenchError> {
    let begun = Instant::now();
    let (small, large) = (BenchStore::new(SMALL)?, BenchStore::new(large)?);
    writeln!(
        out,
        "two stores filled in {:.1} s: {} runs, and {}\n",
        begun.elapsed().as_secs_f64(),
        small.journal.count()?,
        large.journal.count()?
    )?;
    writeln!(out, "| 95th percentile of {TURNS} | small store | large store | ratio |\n|---|---|---|---|")?;
    for (name, action) in DEEDS {
        let (mut little, mut much) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            little.push(timed(&small, action)?);
            much.push(timed(&large, action)?);
        }
        let (little, much) = (p95(little), p95(much));
        let ratio = much.as_secs_f64() / little.as_secs_f64();
        writeln!(out, "| {name} | {} | {} | {ratio:.2} |", shown(little), shown(much))?;
    }
    Ok(())
}

fn timed(
    store: &BenchStore,
    action: fn(&BenchStore) -> Result<(), BenchError>,
) -> Result<Duration, BenchError> {
    let begun = Instant::now();
    action(store)?;
    Ok(begun.elapsed())
}

fn p95(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() * 95 / 100).copied().unwrap_or_default()
}

fn shown(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// The sizes that flags name.
pub fn sizes(flags: &[&str]) -> Result<Fill, BenchError> {
    let mut what = SMALL;
    let (pairs, rest) = flags.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(crate::USAGE.into());
    }
    for [flag, n] in pairs {
        *match *flag {
            "--runs" => &mut what.runs,
            "--records" => &mut what.records,
            "--rounds" => &mut what.rounds,
            _ => return Err(crate::USAGE.into()),
        } = n.parse()?;
    }
    Ok(what)
}
