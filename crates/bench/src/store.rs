//! Fills a store with plausible runs, quickly and always the same: many short ones, one goal with very many
//! records, one loop with very many rounds. No engine decides them, so they cannot be resumed; everything that
//! only reads a store takes them for real.

mod goal;
mod rounds;
mod telling;

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use gadfly_engine::{Digest, Input, Step};
use gadfly_journal::{AppendError, Custody, Journal, RunId, RunWriter};

type StoreFault = Box<dyn std::error::Error + Send + Sync>;

/// When the first run of a store begins, in milliseconds since 1970.
const EPOCH_MS: u64 = 1_790_000_000_000;
/// Between two of them. A long run's times run ahead of it, which nobody minds.
const BETWEEN_RUNS_MS: u64 = 60_000;
/// Appends under way at once.
const AT_ONCE: usize = 512;

/// What to fill a store with.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// Short runs: loops that are approved, halted or wait for an answer, and goals that were reached.
    pub runs: u32,
    /// The records of the long goal; 0 for none.
    pub records: u32,
    /// The rounds of the long loop; 0 for none.
    pub rounds: u32,
}

/// What is in it now.
#[derive(Clone, Debug, Default)]
pub struct Filled {
    /// In the order they began.
    pub runs: Vec<RunId>,
    pub goal: Option<RunId>,
    pub rounds: Option<RunId>,
}

/// When the nth run of a store begins.
pub fn begins_ms(n: u32) -> u64 {
    EPOCH_MS + u64::from(n) * BETWEEN_RUNS_MS
}

/// Makes a store in `dir` and fills it. The long runs begin last, so that they head the list.
pub fn fill(dir: &Path, custody: &Custody, what: Fill) -> Result<Filled, StoreFault> {
    let journal = Journal::open_in(dir, custody)?;
    let mut pen = Pen::new(&journal);
    let mut filled = Filled::default();
    for n in 0..what.runs {
        let telling = match n % 8 {
            0 => goal::reached(n, 12),
            1 => rounds::asking(n),
            2 => rounds::halted(n, 5),
            other => rounds::approved(n, other % 3 + 1),
        };
        filled.runs.push(pen.write("run", n, telling)?);
    }
    if what.records > 0 {
        filled.goal = Some(pen.write("goal", what.runs, goal::long(what.runs, what.records))?);
    }
    if what.rounds > 0 {
        filled.rounds = Some(pen.write("loop", what.runs + 1, rounds::long(what.runs + 1, what.rounds))?);
    }
    pen.finish()?;
    Ok(filled)
}

/// Adds a loop of so many rounds, the nth run, waiting for each record: how long each took.
pub fn append_one_by_one(journal: &Journal, n: u32, rounds: u32) -> Result<Vec<Duration>, StoreFault> {
    let mut writer = journal.create(RunId::derived(&Digest::of(format!("slow {n}").as_bytes())))?;
    let mut took = Vec::new();
    for (input, step) in rounds::long(n, rounds) {
        let (done, told) = sync_channel(1);
        let begun = Instant::now();
        writer.append(&input, &step, None, move |result| drop(done.send(result)));
        told.recv()??;
        took.push(begun.elapsed());
    }
    Ok(took)
}

/// Appends without waiting for each record, and says if one was refused.
struct Pen<'a> {
    journal: &'a Journal,
    done: SyncSender<Result<(), AppendError>>,
    told: Receiver<Result<(), AppendError>>,
    under_way: usize,
}

impl<'a> Pen<'a> {
    fn new(journal: &'a Journal) -> Self {
        let (done, told) = sync_channel(AT_ONCE);
        Self { journal, done, told, under_way: 0 }
    }

    fn write(
        &mut self,
        kind: &str,
        n: u32,
        records: impl Iterator<Item = (Input, Step)>,
    ) -> Result<RunId, StoreFault> {
        let run = RunId::derived(&Digest::of(format!("{kind} {n}").as_bytes()));
        let mut writer: RunWriter = self.journal.create(run.clone())?;
        for (input, step) in records {
            if self.under_way == AT_ONCE {
                self.one()?;
            }
            let done = self.done.clone();
            writer.append(&input, &step, None, move |result| {
                let _ = done.send(result);
            });
            self.under_way += 1;
        }
        Ok(run)
    }

    fn one(&mut self) -> Result<(), StoreFault> {
        self.under_way -= 1;
        Ok(self.told.recv()??)
    }

    fn finish(mut self) -> Result<(), StoreFault> {
        while self.under_way > 0 {
            self.one()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use gadfly_journal::{ListFilter, Window};

    use super::*;

    #[test]
    fn a_filled_store_reads_like_any_other() {
        let dir = tempfile::tempdir().unwrap();
        let what = Fill { runs: 72, records: 2_000, rounds: 100 };
        let filled = fill(dir.path(), &Custody::none(), what).unwrap();
        let journal = Journal::open_existing(dir.path()).unwrap();
        let listed = journal.list(&ListFilter { limit: 1_000, ..ListFilter::default() }).unwrap();
        assert_eq!(listed.len() as u64, journal.counts().unwrap().values().sum::<u64>());
        assert_eq!(listed.len(), filled.runs.len() + 2);
        assert_eq!(
            listed[..2].iter().map(|s| &s.run).collect::<Vec<_>>(),
            [filled.rounds.as_ref().unwrap(), filled.goal.as_ref().unwrap()]
        );
        for run in filled.runs.iter().rev().take(16) {
            let page = journal.page(run, &Window::default()).unwrap();
            assert_eq!((&page.state.summary.run, page.rounds_before), (run, None));
            assert!(page.state.goal.is_some() || !page.state.rounds.is_empty());
        }
        let goal = journal.page(&filled.goal.unwrap(), &Window::default()).unwrap();
        assert_eq!((goal.next, goal.entries_before.is_some()), (2_000, true));
        let rounds = journal.page(&filled.rounds.unwrap(), &Window::default()).unwrap();
        assert_eq!((rounds.state.rounds.len(), rounds.state.summary.rounds), (30, 100));
    }
}
