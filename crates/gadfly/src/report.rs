//! Reports: a run's judgement as other programs and pages take it. Each format is a pure text made from the
//! same facts; nothing here prints or writes a file.
//!
//! To add a format: one file with `pub fn render(&ReportFacts) -> String`, and its lines in `cli::Format` and `render`.

mod facts;
mod goal;
mod json;
mod junit;
mod markdown;
mod pipeline;
mod sarif;

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

use std::path::Path;

use gadfly_journal::RunView;

pub use crate::cli::ReportFormat;
use facts::ReportFacts;

/// The report of a run as it stands. Paths are named relative to `root`, the user's project.
pub fn render(format: ReportFormat, state: &RunView, root: &Path) -> String {
    let facts = ReportFacts::of(state, root);
    match format {
        ReportFormat::Sarif => sarif::render(&facts),
        ReportFormat::Junit => junit::render(&facts),
        ReportFormat::Markdown => markdown::render(&facts),
        ReportFormat::Json => json::render(&facts),
    }
}
