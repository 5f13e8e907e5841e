//! A pipeline as files of its project: state file, research journal, trace, session report, plans, receipts. And what
//! earlier pipelines left that later ones build on: verdicts, what people said, what could be learned.
//!
//! Renderings of records; no decision reads them. Reading what others wrote under the same names is `project`'s.

pub mod files;
pub mod gate_summary;
pub mod learning;
pub mod patterns;
pub mod receipt;
pub mod state;
pub mod text;

mod entry;
mod judges;
mod plans;
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
pub use receipt::{Base, FoundReceipt, JudgedBy, Receipt, RefusedReceipt, read_receipts};
pub use recorded::Recorded;
pub use state::{AgentState, AgentStatus, PROTOCOL, PipelineState};
pub use text::LocalZone;

use crate::journal::Journal;
use crate::read::ReadError;
use crate::run_id::RunId;

impl Journal {
    /// How a pipeline stands, folded from its records now.
    pub fn pipeline_state(&self, run: &RunId) -> Result<PipelineState, ReadError> {
        let mut state = PipelineState::new(run.clone());
        for record in self.replay(run) {
            state.apply(&record?);
        }
        Ok(state)
    }
}

/// The trace of a pipeline, as its file has it.
pub fn trace_of(state: &PipelineState, zone: &LocalZone) -> String {
    trace::render(state, zone)
}

/// The graph of a pipeline as Mermaid source, as its trace has it.
pub fn graph_of(state: &PipelineState) -> String {
    trace::mermaid(state)
}

/// `pipeline_state.json`, as its file has it.
pub fn state_json(state: &PipelineState) -> String {
    state_file::render(state)
}

#[cfg(test)]
mod tests;
