//! Patterns that come up in more than one project of the same user, counted in the user's state folder. Projects are
//! known by a hash; of a pattern only its own words are kept. Whoever does not want it passes no folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gadfly_engine::Digest;
use gadfly_engine::pipeline::learning::Suggestion;
use serde::{Deserialize, Serialize};

use super::text::one_line;
use crate::shared_file::{self, SharedFileError};

/// So many projects make a pattern worth a rule.
pub const PROMOTED_AT: usize = 3;
const MOST_PATTERNS: usize = 10_000;
const MOST_PROJECTS: usize = 1_000;
const LARGEST: u64 = 128 << 10;

/// The count of one user.
#[derive(Clone, Debug)]
pub struct PatternCounts {
    dir: PathBuf,
}

/// A pattern that could become a rule or a template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Promotion {
    pub pattern: String,
    pub projects: usize,
}

#[derive(Serialize, Deserialize)]
struct SeenPattern {
    pattern: String,
    projects: BTreeSet<String>,
}

impl PatternCounts {
    /// `state` is the user's state folder.
    pub fn new(state: &Path) -> Self {
        Self { dir: state.join("patterns") }
    }

    /// Counts what a project suggests; the same project counts once.
    pub fn count(&self, project: &str, suggestions: &[Suggestion]) -> Result<(), SharedFileError> {
        if suggestions.is_empty() {
            return Ok(());
        }
        let fail = |source| SharedFileError::Io { path: self.dir.clone(), source };
        fs::create_dir_all(&self.dir).map_err(fail)?;
        let _lock = shared_file::lock(&self.dir)?;
        let project = Digest::of(format!("project\0{project}").as_bytes()).to_string();
        for suggestion in suggestions {
            let pattern = one_line(&suggestion.pattern());
            let path = self.dir.join(Digest::of(pattern.as_bytes()).to_string());
            let known = read(&path).filter(|seen| seen.pattern == pattern);
            let mut seen = known.unwrap_or_else(|| SeenPattern { pattern, projects: BTreeSet::new() });
            if seen.projects.len() >= MOST_PROJECTS || !seen.projects.insert(project.clone()) {
                continue;
            }
            let json = serde_json::to_vec(&seen).map_err(|e| fail(e.into()))?;
            shared_file::replace(&path, &json)?;
        }
        Ok(())
    }

    /// Patterns of at least three projects, those of most projects first.
    pub fn promotions(&self) -> Vec<Promotion> {
        let Ok(found) = fs::read_dir(&self.dir) else { return Vec::new() };
        let read = found.filter_map(Result::ok).take(MOST_PATTERNS).filter_map(|entry| {
            let seen = read(&entry.path())?;
            // A file that was renamed or written by hand is not what was counted.
            let is_named = entry.file_name().to_str()? == Digest::of(seen.pattern.as_bytes()).to_string();
            let projects = seen.projects.len();
            (is_named && projects >= PROMOTED_AT)
                .then(|| Promotion { pattern: one_line(&seen.pattern), projects })
        });
        let mut all: Vec<Promotion> = read.collect();
        all.sort_by(|a, b| b.projects.cmp(&a.projects).then_with(|| a.pattern.cmp(&b.pattern)));
        all
    }
}

fn read(path: &Path) -> Option<SeenPattern> {
    let found = path.symlink_metadata().ok()?;
    if !found.is_file() || found.len() > LARGEST {
        return None;
    }
    serde_json::from_slice(&shared_file::read(path).ok()??).ok()
}
