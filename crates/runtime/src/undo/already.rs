//! That a run was taken back, and when: a note beside what undoing it needs. It counts as long as the run did nothing
//! since; the journal does not have it, because what a run is does not change by it.

use std::fs;

use gadfly_journal::{Journal, Summary};
use serde::{Deserialize, Serialize};

use crate::clock::wall_ms;
use crate::save::write_atomically;

const FILE: &str = "undone.json";

#[derive(Serialize, Deserialize)]
struct UndoNote {
    at_ms: u64,
    /// When the run had last recorded something.
    run_at_ms: u64,
}

/// When this run was taken back, if it was and did nothing since.
pub fn undone_ms(journal: &Journal, summary: &Summary) -> Option<u64> {
    let note = fs::read(journal.work_dir(&summary.run).join(FILE)).ok()?;
    let note: UndoNote = serde_json::from_slice(&note).ok()?;
    (note.run_at_ms == summary.updated_ms).then_some(note.at_ms)
}

/// Notes that all of it was taken back just now. What was taken back stays so if the note cannot be written.
pub(super) fn note(journal: &Journal, summary: &Summary) {
    let note = UndoNote { at_ms: wall_ms(), run_at_ms: summary.updated_ms };
    if let (Ok(dir), Ok(json)) = (journal.make_work_dir(&summary.run), serde_json::to_vec(&note)) {
        let _ = write_atomically(&dir.join(FILE), &json);
    }
}
