//! Writes a run's `critic-log.md` and the reports beside it where the run stops, and a log that a project shares with
//! others after every round; tells a project's own list that a task is done. Renderings: if one cannot be written the run goes on, and `gadfly show --critic-log` has the
//! same from the journal.

mod elsewhere;
mod pipeline;

use std::path::PathBuf;

use gadfly_engine::Outcome;
use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_journal::critic_log::CriticLog;
use gadfly_journal::report_files::{self, ReportFile};
use gadfly_journal::{Journal, ReadError, Record, RunId};

use elsewhere::{ReportPaths, SharedBlock};
use pipeline::PipelineFiles;
pub use pipeline::pipeline_files;

/// Which files are written while a run is driven.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogWritten {
    /// All of them, the run's own log where it stops.
    All,
    /// What others read: reports, and a log that is the project's own. Once, when driving ends, by whoever drove: with
    /// thousands of runs a folder and a file each are a cost one can measure, and no task of the runtime should wait for
    /// the disk with them.
    ForOthers,
}

/// Files to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogToWrite {
    dir: PathBuf,
    log: Option<String>,
    reports: Vec<ReportFile>,
    elsewhere: ReportPaths,
    shared: Option<SharedBlock>,
}

impl LogToWrite {
    /// Waits for the disk.
    pub fn write(&self) {
        if self.log.is_none() && self.reports.is_empty() && self.shared.is_none() {
            return;
        }
        let _ = std::fs::create_dir_all(&self.dir);
        if let Some(log) = &self.log {
            let _ = std::fs::write(self.dir.join("critic-log.md"), log);
        }
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
    elsewhere: ReportPaths,
    /// None while nothing is written of it.
    log: Option<Box<CriticLog>>,
    /// Reports that are not written yet.
    reports: Vec<ReportFile>,
    written: LogWritten,
    /// The log lacks something; so does the one that the project shares.
    behind: bool,
    shared_behind: bool,
    pipeline: PipelineFiles,
}

impl LogFile {
    /// For a run that may have records already.
    pub fn of(journal: &Journal, run: &RunId, has_records: bool, written: LogWritten) -> Self {
        let dir = journal.run_dir(run);
        let known = has_records.then(|| folded(journal, run).ok()).flatten();
        // A process that was killed may have left a report unwritten.
        let (log, reports, elsewhere) = match known {
            Some((log, reports, elsewhere)) => (Some(Box::new(log)), reports, elsewhere),
            None => (None, Vec::new(), ReportPaths::default()),
        };
        let pipeline = PipelineFiles::of(journal, run, has_records);
        let (journal, run) = (journal.clone(), run.clone());
        let (behind, shared_behind) = (false, false);
        Self { journal, dir, run, elsewhere, log, reports, written, behind, shared_behind, pipeline }
    }

    /// The files of a run as its records have them.
    pub fn whole(journal: &Journal, run: &RunId, written: LogWritten) -> Result<LogToWrite, ReadError> {
        let (log, reports, elsewhere) = folded(journal, run)?;
        let shared = elsewhere.block(&log);
        Ok(LogToWrite {
            dir: journal.run_dir(run),
            log: (written == LogWritten::All).then(|| log.file()),
            reports,
            elsewhere,
            shared,
        })
    }

    /// Takes in a record; writes the files that are due.
    pub fn follow(&mut self, record: &Record) {
        if let InputKind::Started(start) = &record.input.what {
            self.elsewhere = ReportPaths::of(start, &self.run);
        }
        if let Some(Outcome::Approved { .. }) = &record.step.outcome {
            self.elsewhere.is_done(record.input.at.wall_ms);
        }
        if self.written == LogWritten::All || self.elsewhere.has_log() {
            self.log.get_or_insert_with(|| Box::new(CriticLog::new(self.run.clone()))).apply(record);
        }
        self.pipeline.follow(record);
        let reported = report_files::named(record).next().is_some();
        if reported {
            self.reports.extend(self.journal.reports_of(record).unwrap_or_default());
        }
        let stops = record.step.outcome.is_some();
        let round_over = record.step.events.iter().any(|e| {
            matches!(
                e.what,
                EventKind::Reviewed { .. }
                    | EventKind::ReplyMalformed { .. }
                    | EventKind::CallFailed { .. }
                    | EventKind::VerifyRan { .. }
                    | EventKind::RoundEnded { .. }
            )
        });
        self.behind |= stops || round_over;
        self.shared_behind |= self.elsewhere.has_log() && (stops || round_over);
        let is_due = stops || reported || self.shared_behind;
        if self.written == LogWritten::All
            && is_due
            && let Some(files) = self.due(stops)
        {
            files.write();
        }
    }

    /// What was not written yet, when driving ends.
    pub fn rest(&mut self) -> Option<LogToWrite> {
        self.due(true)
    }

    fn due(&mut self, stops: bool) -> Option<LogToWrite> {
        let own = self.written == LogWritten::All && stops && std::mem::take(&mut self.behind);
        let shared = std::mem::take(&mut self.shared_behind);
        (own || shared || !self.reports.is_empty()).then(|| LogToWrite {
            dir: self.dir.clone(),
            log: self.log.as_ref().filter(|_| own).map(|log| log.file()),
            reports: std::mem::take(&mut self.reports),
            elsewhere: self.elsewhere.clone(),
            shared: self.log.as_ref().filter(|_| shared).and_then(|log| self.elsewhere.block(log)),
        })
    }
}

type FoldedRun = (CriticLog, Vec<ReportFile>, ReportPaths);

fn folded(journal: &Journal, run: &RunId) -> Result<FoldedRun, ReadError> {
    let mut log = CriticLog::new(run.clone());
    let (mut reports, mut elsewhere) = (Vec::new(), ReportPaths::default());
    for record in journal.replay(run) {
        let record = record?;
        if let InputKind::Started(start) = &record.input.what {
            elsewhere = ReportPaths::of(start, run);
        }
        log.apply(&record);
        reports.extend(journal.reports_of(&record)?);
    }
    Ok((log, reports, elsewhere))
}
