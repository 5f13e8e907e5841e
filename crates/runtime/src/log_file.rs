//! Keeps a run's `critic-log.md` up to date while it is driven. A rendering: if it cannot be written the
//! run goes on, and `gadfly show --log` has the same from the journal.

use std::path::PathBuf;

use gadfly_engine::event::Happened;
use gadfly_journal::critic_log::CriticLog;
use gadfly_journal::{Journal, Record, RunId};

/// When the file is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogWritten {
    EveryRound,
    /// Once, when driving ends: with thousands of runs a file per round is a cost one can measure.
    AtTheEnd,
}

pub struct LogFile {
    path: PathBuf,
    log: CriticLog,
    when: LogWritten,
    /// The file lacks something of the log.
    behind: bool,
}

impl LogFile {
    /// For a run that may have records already.
    pub fn of(journal: &Journal, run: &RunId, has_records: bool, when: LogWritten) -> Self {
        let path = journal.run_dir(run).join("critic-log.md");
        let known = has_records.then(|| journal.critic_log(run).ok()).flatten();
        Self { path, log: known.unwrap_or_else(|| CriticLog::new(run.clone())), when, behind: false }
    }

    /// Takes in a record; writes the file when a round or the run is through.
    pub fn follow(&mut self, record: &Record) {
        self.log.apply(record);
        let round_over = record.step.events.iter().any(|e| {
            matches!(
                e.what,
                Happened::Reviewed { .. } | Happened::ReplyMalformed { .. } | Happened::CallFailed { .. }
            )
        });
        if !round_over && record.step.outcome.is_none() {
            return;
        }
        self.behind = true;
        if self.when == LogWritten::EveryRound {
            self.finish();
        }
    }

    /// Writes what was not written yet.
    pub fn finish(&mut self) {
        if !std::mem::take(&mut self.behind) {
            return;
        }
        if let Some(dir) = self.path.parent() {
            let _ = std::fs::create_dir_all(dir);
        }
        let _ = std::fs::write(&self.path, self.log.file());
    }
}
