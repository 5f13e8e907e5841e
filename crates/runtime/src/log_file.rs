//! Keeps a run's `critic-log.md` up to date while it is driven. A rendering: if it cannot be written the
//! run goes on, and `gadfly show --log` has the same from the journal.

use std::path::PathBuf;

use gadfly_engine::event::Happened;
use gadfly_journal::critic_log::CriticLog;
use gadfly_journal::{Journal, ReadError, Record, RunId};

/// When the file is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogWritten {
    EveryRound,
    /// Once, when driving ends, by whoever drove: with thousands of runs a folder and a file each are a
    /// cost one can measure, and no task of the runtime should wait for the disk with them.
    ByTheCaller,
}

/// A file to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogToWrite {
    path: PathBuf,
    content: String,
}

impl LogToWrite {
    /// Waits for the disk.
    pub fn write(&self) {
        if let Some(dir) = self.path.parent() {
            let _ = std::fs::create_dir_all(dir);
        }
        let _ = std::fs::write(&self.path, &self.content);
    }
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

    /// The log of a run as its records have it.
    pub fn whole(journal: &Journal, run: &RunId) -> Result<LogToWrite, ReadError> {
        let path = journal.run_dir(run).join("critic-log.md");
        Ok(LogToWrite { path, content: journal.critic_log(run)?.file() })
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
        if self.when == LogWritten::EveryRound
            && let Some(file) = self.rest()
        {
            file.write();
        }
    }

    /// What was not written yet.
    pub fn rest(&mut self) -> Option<LogToWrite> {
        std::mem::take(&mut self.behind)
            .then(|| LogToWrite { path: self.path.clone(), content: self.log.file() })
    }
}
