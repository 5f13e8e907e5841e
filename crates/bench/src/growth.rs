//! How time and bytes grow with what there is: runs in a store, steps of a goal, the length of a draft. Bytes are the same
//! each time and have tests; times are what this machine took.

use std::io::Write;
use std::time::{Duration, Instant};

use gadfly_bench::store::{Fill, append_one_by_one, fill};
use gadfly_journal::{Custody, Journal, ListFilter, ReadError, RunId, Window};
use tempfile::TempDir;

use crate::Binaries;
use crate::baseline::BenchError;
use crate::facts::revised;
use crate::scene::bytes;

/// What is measured at which sizes.
#[derive(Clone, Copy)]
pub struct Sizes {
    runs: &'static [u32],
    steps: &'static [u32],
    drafts: &'static [usize],
}

const KB: usize = 1 << 10;
const MB: usize = 1 << 20;
pub const FULL: Sizes = Sizes {
    runs: &[10, 100, 1_000, 10_000, 100_000],
    steps: &[100, 1_000, 10_000],
    // What a program prints may have 8 MB; a longer draft is refused.
    drafts: &[KB, 10 * KB, 100 * KB, MB, 7 * MB],
};
pub const QUICK: Sizes = Sizes { runs: &[10, 100, 1_000], steps: &[100, 1_000], drafts: &[KB, 100 * KB, MB] };

/// Records of a goal for each of its steps.
const PER_STEP: u32 = 3;
/// How often something is done whose time is taken; the median counts.
const TURNS: usize = 21;
const ROUNDS: usize = 4;

pub fn measure(out: &mut impl Write, sizes: Sizes, binaries: &Binaries) -> Result<(), BenchError> {
    writeln!(
        out,
        "| runs in the store | list of 50 | page of one run | append of a record | bytes per run |"
    )?;
    writeln!(out, "|---|---|---|---|---|")?;
    for n in sizes.runs {
        let grown = Grown::new(Fill { runs: *n, records: 0, rounds: 0 })?;
        let run = grown.runs.get(grown.runs.len() / 2).ok_or("an empty store")?;
        let listed = grown.time(|journal| journal.list(&ListFilter::default()))?;
        let opened = grown.time(|journal| journal.page(run, &Window::default()))?;
        let appended = median(append_one_by_one(&grown.journal, *n, 20)?);
        let each = grown.bytes / u64::from(*n);
        writeln!(out, "| {n} | {} | {} | {} | {each} |", ms(listed), ms(opened), ms(appended))?;
        out.flush()?;
    }
    writeln!(out, "\n| steps of a goal | its page | bytes per step |\n|---|---|---|")?;
    for n in sizes.steps {
        let grown = Grown::new(Fill { runs: 0, records: n * PER_STEP, rounds: 0 })?;
        let goal = grown.goal.as_ref().ok_or("no goal")?;
        let opened = grown.time(|journal| journal.page(goal, &Window::default()))?;
        writeln!(out, "| {n} | {} | {} |", ms(opened), grown.bytes / u64::from(*n))?;
        out.flush()?;
    }
    writeln!(
        out,
        "\n| draft, {ROUNDS} rounds, small edits | bytes stored per round | time per round |\n|---|---|---|"
    )?;
    for size in sizes.drafts {
        let (stored, took) = revised(binaries, ROUNDS, *size)?;
        let each = (stored / ROUNDS as u64, took / u32::try_from(ROUNDS)?);
        writeln!(out, "| {} KB | {} KB | {} |", size / KB, each.0 / KB as u64, ms(each.1))?;
        out.flush()?;
    }
    Ok(())
}

/// A store that was filled.
struct Grown {
    /// What it takes on disk, closed.
    bytes: u64,
    runs: Vec<RunId>,
    goal: Option<RunId>,
    journal: Journal,
    _dir: TempDir,
}

impl Grown {
    fn new(what: Fill) -> Result<Self, BenchError> {
        let dir = TempDir::with_prefix("gadfly-bench-")?;
        let filled = fill(dir.path(), &Custody::none(), what)?;
        let bytes = bytes(dir.path())?;
        let journal = Journal::open_in(dir.path(), &Custody::none())?;
        Ok(Self { bytes, runs: filled.runs, goal: filled.goal, journal, _dir: dir })
    }

    fn time<T>(&self, action: impl Fn(&Journal) -> Result<T, ReadError>) -> Result<Duration, BenchError> {
        let mut took = Vec::new();
        for _ in 0..TURNS {
            let begun = Instant::now();
            action(&self.journal)?;
            took.push(begun.elapsed());
        }
        Ok(median(took))
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(runs: u32, steps: u32) -> u64 {
        Grown::new(Fill { runs, records: steps * PER_STEP, rounds: 0 }).unwrap().bytes
    }

    #[test]
    fn a_store_grows_with_its_runs_and_no_faster() {
        let (few, many) = (grown(100, 0), grown(400, 0));
        let each = (many - few) / 300;
        assert!(each < 9_000, "{each} bytes for each run");
        assert!(many < 4 * few, "{few} bytes for 100 runs, {many} for 400");
    }

    #[test]
    fn a_goal_grows_with_its_steps_and_not_with_its_history() {
        let (short, long, longer) = (grown(0, 200), grown(0, 400), grown(0, 800));
        let (early, late) = ((long - short) / 200, (longer - long) / 400);
        assert!(early < 1_500, "{early} bytes for each step");
        assert!(late * 10 < early * 11, "{early} bytes for a step at first, {late} later");
    }
}
