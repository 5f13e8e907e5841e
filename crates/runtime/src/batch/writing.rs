//! The thread that waits for the disk: logs, then result lines, as many in one write as are ready.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc;

use super::results::{FinishedTask, Results};
use super::{News, Reporter};
use crate::log_file::LogToWrite;

/// Bytes of lines put into one write.
const WRITE: usize = 256 * 1024;

/// What goes to the results file and the surface.
pub enum BatchUpdate {
    Finished(FinishedTask, Option<LogToWrite>),
    /// The log of a run without a result yet.
    Log(LogToWrite),
    Note(String),
}

/// Takes what is ready and writes it in one call, each line whole. Returns why it had to give up.
pub fn write_results(
    mut results: Results,
    mut told: mpsc::Receiver<BatchUpdate>,
    mut reporter: Reporter,
    broken: &AtomicBool,
) -> Option<String> {
    let mut fault: Option<String> = None;
    let mut lines = String::new();
    let mut batch: Vec<(FinishedTask, Range<usize>)> = Vec::new();
    while let Some(first) = told.blocking_recv() {
        let mut next = Some(first);
        while let Some(message) = next.take() {
            match message {
                BatchUpdate::Note(text) => reporter(News::Note(&text)),
                BatchUpdate::Log(log) => log.write(),
                BatchUpdate::Finished(finished, log) => {
                    // First, so that a run with a result has its log.
                    if let Some(log) = log {
                        log.write();
                    }
                    let start = lines.len();
                    // Strings and numbers always have a JSON form.
                    if let Ok(line) = serde_json::to_string(&finished) {
                        lines.push_str(&line);
                        batch.push((finished, start..lines.len()));
                        lines.push('\n');
                    }
                }
            }
            if lines.len() < WRITE {
                next = told.try_recv().ok();
            }
        }
        if fault.is_none() && !lines.is_empty() {
            match results.append(lines.as_bytes()) {
                Ok(()) => {
                    for (finished, at) in &batch {
                        let line = lines.get(at.clone()).unwrap_or_default();
                        reporter(News::Result { finished, line });
                    }
                }
                Err(error) => {
                    let path = results.path().display();
                    fault = Some(format!(
                        "the results cannot be written to {path}: {error}; \
                         the runs are in the journal, the same command writes what is missing"
                    ));
                    broken.store(true, Ordering::Relaxed);
                }
            }
        }
        lines.clear();
        batch.clear();
    }
    let _ = results.sync();
    fault
}
