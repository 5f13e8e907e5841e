//! Keeps a run's `critic-log.md` and the reports beside it up to date while it is driven. A rendering: if it
//! cannot be written the run goes on, and `gadfly show --log` has the same from the journal.

mod elsewhere;
mod pipeline;

use std::path::PathBuf;

use gadfly_engine::event::Happened;
use gadfly_engine::input::What;
use gadfly_journal::critic_log::CriticLog;
use gadfly_journal::report_files::{self, ReportFile};
use gadfly_journal::{Journal, ReadError, Record, RunId};

use elsewhere::{Elsewhere, Shared};
use pipeline::PipelineFiles;

/// When the file is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogWritten {
    EveryRound,
    /// Once, when driving ends, by whoever drove: with thousands of runs a folder and a file each are a
    /// cost one can measure, and no task of the runtime should wait for the disk with them.
    ByTheCaller,
}

/// Files to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogToWrite {
    dir: PathBuf,
    log: String,
    reports: Vec<ReportFile>,
    elsewhere: Elsewhere,
    shared: Option<Shared>,
}

impl LogToWrite {
    /// Waits for the disk.
    pub fn write(&self) {
        let _ = std::fs::create_dir_all(&self.dir);
        let _ = std::fs::write(self.dir.join("critic-log.md"), &self.log);
        for report in &self.reports {
            let _ = std::fs::write(self.dir.join(&report.name), &report.content);
        }
        self.elsewhere.copy(&self.reports);
        if let Some(shared) = &self.shared {
            shared.write(&self.dir);
        }
    }
}

pub struct LogFile {
    journal: Journal,
    dir: PathBuf,
    run: RunId,
    elsewhere: Elsewhere,
    log: CriticLog,
    /// Reports that are not written yet.
    reports: Vec<ReportFile>,
    when: LogWritten,
    /// The files lack something.
    behind: bool,
    pipeline: PipelineFiles,
}

impl LogFile {
    /// For a run that may have records already.
    pub fn of(journal: &Journal, run: &RunId, has_records: bool, when: LogWritten) -> Self {
        let dir = journal.run_dir(run);
        let known = has_records.then(|| folded(journal, run).ok()).flatten();
        // A process that was killed may have left a report unwritten.
        let (log, reports, elsewhere) =
            known.unwrap_or_else(|| (CriticLog::new(run.clone()), Vec::new(), Elsewhere::default()));
        let pipeline = PipelineFiles::of(journal, run, has_records);
        let (journal, run) = (journal.clone(), run.clone());
        Self { journal, dir, run, elsewhere, log, reports, when, behind: false, pipeline }
    }

    /// The files of a run as its records have them.
    pub fn whole(journal: &Journal, run: &RunId) -> Result<LogToWrite, ReadError> {
        let (log, reports, elsewhere) = folded(journal, run)?;
        let shared = elsewhere.block(&log);
        Ok(LogToWrite { dir: journal.run_dir(run), log: log.file(), reports, elsewhere, shared })
    }

    /// Takes in a record; writes the files when a round or the run is through.
    pub fn follow(&mut self, record: &Record) {
        if let What::Started(start) = &record.input.what {
            self.elsewhere = Elsewhere::of(start, &self.run);
        }
        self.log.apply(record);
        self.pipeline.follow(record);
        let reported = report_files::named(record).next().is_some();
        if reported {
            self.reports.extend(self.journal.reports_of(record).unwrap_or_default());
        }
        let round_over = record.step.events.iter().any(|e| {
            matches!(
                e.what,
                Happened::Reviewed { .. }
                    | Happened::ReplyMalformed { .. }
                    | Happened::CallFailed { .. }
                    | Happened::VerifyRan { .. }
                    | Happened::RoundEnded { .. }
            )
        });
        if !reported && !round_over && record.step.outcome.is_none() {
            return;
        }
        self.behind = true;
        if self.when == LogWritten::EveryRound
            && let Some(files) = self.rest()
        {
            files.write();
        }
    }

    /// What was not written yet.
    pub fn rest(&mut self) -> Option<LogToWrite> {
        std::mem::take(&mut self.behind).then(|| LogToWrite {
            dir: self.dir.clone(),
            log: self.log.file(),
            reports: std::mem::take(&mut self.reports),
            elsewhere: self.elsewhere.clone(),
            shared: self.elsewhere.block(&self.log),
        })
    }
}

type Folded = (CriticLog, Vec<ReportFile>, Elsewhere);

fn folded(journal: &Journal, run: &RunId) -> Result<Folded, ReadError> {
    let mut log = CriticLog::new(run.clone());
    let (mut reports, mut elsewhere) = (Vec::new(), Elsewhere::default());
    for record in journal.replay(run) {
        let record = record?;
        if let What::Started(start) = &record.input.what {
            elsewhere = Elsewhere::of(start, run);
        }
        log.apply(&record);
        reports.extend(journal.reports_of(&record)?);
    }
    Ok((log, reports, elsewhere))
}
