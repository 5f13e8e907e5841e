//! A pipeline as files of its project: state file, research journal, trace, session report, plans, receipts. And what
//! earlier pipelines left that later ones build on: verdicts, what people said, what could be learned.
//!
//! Renderings of records; no decision reads them. Reading what others wrote under the same names is `project`'s.

pub(crate) mod entry;
pub mod files;
pub mod gate_summary;
pub(crate) mod judges;
pub mod learning;
pub mod patterns;
pub mod receipt;
pub mod text;

mod plans;
mod project;
mod recorded;
mod series;
mod session_report;
mod state_file;
mod statement;
mod trace;

pub use entry::JournalEntry;
pub use files::{ProjectFileWriter, StateFiles};
pub use judges::VerdictJudge;
pub use learning::{Accepting, Decided, LearnError, Suggested};
pub use patterns::{PatternCounts, Promotion};
pub use project::ProjectView;
pub use receipt::{Base, FoundReceipt, JudgedBy, Receipt, RefusedReceipt, read_receipts};
pub use recorded::Recorded;
pub use text::LocalZone;

use crate::journal::Journal;
use crate::read::ReadError;
use crate::run_id::RunId;
use crate::view::RunView;

/// The protocol of pipelines.
pub const PROTOCOL: &str = gadfly_engine::protocol::pipeline::RULE_BOOK.name;

impl Journal {
    /// A pipeline as all of its records tell it, with what its project's files show.
    pub fn history(&self, run: &RunId) -> Result<RunView, ReadError> {
        self.folded(RunView::with_history(run.clone()))
    }
}

/// The trace of a pipeline, as its file has it.
pub fn trace_of(state: ProjectView<'_>, zone: &LocalZone) -> String {
    trace::render(state, zone)
}

/// The graph of a pipeline as Mermaid source, as its trace has it.
pub fn graph_of(state: ProjectView<'_>) -> String {
    trace::mermaid(state)
}

/// `pipeline_state.json`, as its file has it.
pub fn state_json(state: ProjectView<'_>) -> String {
    state_file::render(state)
}

#[cfg(test)]
mod tests;
