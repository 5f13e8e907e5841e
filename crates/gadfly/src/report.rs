//! Reports: a run's judgement as other programs and pages take it. Each format is a pure text made from the
//! same facts; nothing here prints or writes a file.
//!
//! To add a format: one file with `pub fn render(&Facts) -> String`, and its lines in `cli::Format` and `render`.

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

use gadfly_journal::RunState;

pub use crate::cli::Format;
use facts::Facts;

/// The report of a run as it stands. Paths are named relative to `root`, the user's project.
pub fn render(format: Format, state: &RunState, root: &Path) -> String {
    let facts = Facts::of(state, root);
    match format {
        Format::Sarif => sarif::render(&facts),
        Format::Junit => junit::render(&facts),
        Format::Markdown => markdown::render(&facts),
        Format::Json => json::render(&facts),
    }
}
