//! What is known before a pipeline begins: verdicts of earlier runs, what people said about conditions, the name a
//! state file gives the project; and where this project keeps its state files.
//!
//! Verdicts come from the journal; where it has none, from committed receipts. Whether they still count is the engine's
//! question: they are bound to bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gadfly_engine::pipeline::PairVerdict;
use gadfly_journal::pipeline::{StateFiles, read_receipts};
use gadfly_journal::{Journal, ReadError};
use gadfly_project::layout::{Layout, ProjectFiles};
use gadfly_project::{Config, adopt, layout};

use super::PipelineRequest;

/// Where what was taken up comes from, for the person.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Earlier {
    /// Agents that have a verdict.
    pub verdicts: usize,
    /// The verdicts are committed receipts: the journal has none.
    pub receipts: bool,
    /// Receipts that do not count, each with its reason.
    pub refused: Vec<String>,
}

/// Where the state files of a project go.
pub fn state_files(root: &Path, files: &ProjectFiles) -> StateFiles {
    match files.layout {
        Layout::Claude => StateFiles::claude(root),
        Layout::Native | Layout::Neuroflow | Layout::Nubos => StateFiles::native(root),
    }
}

impl PipelineRequest {
    /// Takes up what earlier runs and the project's own files say.
    pub fn recall(
        &mut self,
        root: &Path,
        config: &Config,
        journal: Option<&Journal>,
    ) -> Result<Earlier, ReadError> {
        let places = state_files(root, &layout::read(root, config));
        let mut earlier = Earlier::default();
        if let Some(journal) = journal {
            self.manual = journal.conditions_said()?;
            self.verdicts = newest(journal.verdicts()?.into_iter().map(|recorded| recorded.verdict));
        }
        // Of agents that the journal knows, it has the word.
        let is_first = self.verdicts.is_empty();
        let (receipts, refused) = read_receipts(&places.receipts(), None);
        let found = newest(receipts.into_iter().map(|found| found.receipt.verdict()));
        let known: BTreeSet<String> = self.verdicts.iter().map(|verdict| verdict.agent.clone()).collect();
        self.verdicts.extend(found.into_iter().filter(|verdict| !known.contains(&verdict.agent)));
        if is_first {
            earlier.receipts = !self.verdicts.is_empty();
            earlier.refused = refused.into_iter().map(|one| format!("{}: {}", one.file, one.why)).collect();
        }
        self.state_project = adopt::read(root, &[&places.dir], None).project;
        earlier.verdicts = self.verdicts.len();
        Ok(earlier)
    }
}

/// The last of every agent: only that one can count.
fn newest(all: impl Iterator<Item = PairVerdict>) -> Vec<PairVerdict> {
    let mut last: BTreeMap<String, PairVerdict> = BTreeMap::new();
    for verdict in all {
        last.insert(verdict.agent.clone(), verdict);
    }
    last.into_values().collect()
}
