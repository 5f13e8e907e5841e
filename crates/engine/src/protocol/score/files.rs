//! A pair that works on files: what it is to make, what is judged of it, which commands have to be green.
//! Values only; the way of such a pair is `working`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::artifact::ArtifactFile;
use crate::digest::Digest;
use crate::pipeline::{Pattern, Product};

/// The files of a pair. It works in a folder of its own.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PairFiles {
    /// Its name in the registry, for messages and verdicts.
    pub agent: String,
    /// What it has to make. Empty: whatever it changes.
    #[serde(default)]
    pub produces: Vec<Product>,
    #[serde(default)]
    pub output: WorkerOutput,
    /// What there is of its products when it is dispatched, and of what it judges.
    #[serde(default)]
    pub before: Vec<ArtifactFile>,
    /// Files of `before` that are judged as they are, before anybody works: what is there already. Of a pair without a
    /// worker, all that is judged.
    #[serde(default)]
    pub there: Vec<String>,
    /// Files of `before` that were part of its artifact when it was judged last.
    #[serde(default)]
    pub artifact: Vec<String>,
    /// What is still open from earlier verdicts: the worker begins with it.
    #[serde(default)]
    pub open: Vec<String>,
    /// What work that is there already lacks: the worker completes it and writes nothing anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<String>,
    /// What the work is made from, in the project: who judges or decides is shown it beside the work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<ArtifactFile>,
    #[serde(default)]
    pub also: Vec<Pattern>,
    /// Files no critic is shown.
    #[serde(default)]
    pub unjudged: Vec<Pattern>,
    /// Who the worker is: the beginning of its briefs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Digest>,
    /// Who the critics are, by name.
    #[serde(default)]
    pub critics: BTreeMap<String, Digest>,
    #[serde(default)]
    pub verify: Vec<ProjectCommand>,
    /// Attempts to mend what the verify commands find.
    #[serde(default)]
    pub fixes: u32,
    /// Attempts to complete what is incomplete.
    #[serde(default)]
    pub completions: u32,
    #[serde(default)]
    pub pre_dispatch: Vec<ProjectCommand>,
    #[serde(default)]
    pub post_completion: Vec<ProjectCommand>,
}

/// How a worker's output becomes files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerOutput {
    /// It writes them itself.
    #[default]
    Files,
    /// Its reply is the one file it makes.
    Reply,
}

/// A command of the project, run in the pair's folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProjectCommand {
    pub line: String,
    pub timeout_ms: u64,
}

impl PairFiles {
    /// Whether a path is among what it makes.
    pub fn makes(&self, path: &str) -> bool {
        self.produces.is_empty() || self.produces.iter().any(|product| product.matches(path))
    }

    /// Whether it may be written although it is not.
    pub fn may_write(&self, path: &str) -> bool {
        self.makes(path) || self.also.iter().any(|pattern| pattern.matches(path))
    }

    /// The one file a reply becomes.
    pub fn reply_path(&self) -> Option<&str> {
        let product = self.produces.first()?;
        let file = product.files.first().or_else(|| product.patterns.first())?;
        file.is_plain_file().then_some(file.0.as_str())
    }

    /// It is dispatched although there is something: what it leaves as it is may stay.
    pub fn goes_on(&self) -> bool {
        !self.there.is_empty() || !self.open.is_empty() || !self.lacking.is_empty()
    }

    /// Whether the registry names this very file.
    pub fn names(&self, path: &str) -> bool {
        let named = self.produces.iter().flat_map(|product| product.files.iter().chain(&product.patterns));
        named.filter(|pattern| !pattern.is_folder()).any(|pattern| pattern.matches(path))
    }

    /// What it has to make, one line each, for its brief.
    pub fn promised(&self) -> Vec<String> {
        let listed =
            |patterns: &[Pattern]| -> Vec<String> { patterns.iter().map(ToString::to_string).collect() };
        let mut lines = Vec::new();
        for product in &self.produces {
            let mut line = listed(&product.patterns).join(" or ");
            if !product.files.is_empty() {
                line = format!("{line}, with {}", listed(&product.files).join(", "));
            }
            if !product.sections.is_empty() {
                line = format!("{line}; sections: {}", product.sections.join(", "));
            }
            lines.push(line);
        }
        lines
    }
}
