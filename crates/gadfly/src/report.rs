//! Reports: a run's judgement as other programs and pages take it. Each format is a pure text made from the
//! same facts; nothing here prints or writes a file.
//!
//! To add a format: one file with `pub fn render(&Facts) -> String`, and its lines in `Format` and `render`.

mod facts;
mod json;
mod junit;
mod markdown;
mod sarif;

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

use std::path::Path;

use gadfly_journal::RunState;

use facts::Facts;

/// A format a report can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Format {
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// `JUnit` XML, for continuous integration
    Junit,
    /// A comment for a pull request
    Markdown,
    /// Everything, in Gadfly's own stable schema
    Json,
}

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
