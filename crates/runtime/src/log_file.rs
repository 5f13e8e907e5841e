//! Keeps a run's `critic-log.md` up to date while it is driven. A rendering: if it cannot be written the
//! run goes on, and `gadfly show --log` has the same from the journal.

use std::path::PathBuf;

use gadfly_engine::event::Happened;
use gadfly_journal::critic_log::CriticLog;
use gadfly_journal::{Journal, Record, RunId};

pub struct LogFile {
    path: PathBuf,
    log: CriticLog,
}

impl LogFile {
    /// For a run that may have records already.
    pub fn of(journal: &Journal, run: &RunId, has_records: bool) -> Self {
        let path = journal.run_dir(run).join("critic-log.md");
        let known = has_records.then(|| journal.critic_log(run).ok()).flatten();
        Self { path, log: known.unwrap_or_else(|| CriticLog::new(run.clone())) }
    }

    /// Takes in a record; writes the file when a round or the run is through.
    pub fn follow(&mut self, record: &Record) {
        self.log.apply(record);
        let round_over = record.step.events.iter().any(|e| {
            matches!(e.what, Happened::Reviewed { .. } | Happened::ReplyMalformed { .. } | Happened::CallFailed { .. })
        });
        if !round_over && record.step.outcome.is_none() {
            return;
        }
        if let Some(dir) = self.path.parent() {
            let _ = std::fs::create_dir_all(dir);
        }
        let _ = std::fs::write(&self.path, self.log.file());
    }
}
