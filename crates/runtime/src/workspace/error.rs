//! What can go wrong with a workspace, divided by what the caller can do about it.

use std::io;
use std::path::{Path, PathBuf};

use gadfly_agents::launcher::LaunchError;

/// How many paths of a list a message names.
const NAMED: usize = 20;

#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("file workspaces need git: install it and put it on PATH")]
    NoGit,
    #[error("file workspaces need git {needed} or newer, and this is {found}: update git")]
    OldGit { found: String, needed: &'static str },
    #[error("{} is not a folder: name the project's folder", path.display())]
    NotADirectory { path: PathBuf },
    /// Something in the project cannot be carried as it is.
    #[error("`{path}`: {reason}")]
    Unusable { path: String, reason: String },
    /// The checkout is not what the run began with; nothing was changed in it.
    #[error(
        "the checkout changed since, so nothing was written; put your version of these aside and try again: {}",
        named(paths)
    )]
    Conflict { paths: Vec<String> },
    /// An act was stopped, and what it had written could not all be put back.
    #[error(
        "{why}; what was written before could not be put back in {}: `gadfly undo` tries again, `gadfly resume` goes on",
        named(left)
    )]
    HalfWritten { why: Box<Self>, left: Vec<String> },
    #[error("{what} is larger than {limit} bytes")]
    TooLarge { what: String, limit: u64 },
    /// What is on disk is not a workspace of ours.
    #[error("the workspace in {} cannot be used: {reason}", path.display())]
    Damaged { path: PathBuf, reason: String },
    #[error("the project is not a git repository: accept without a branch")]
    NotARepository,
    #[error(
        "git does not know who you are: set `git config --global user.name` and `user.email`, then try again"
    )]
    NoIdentity,
    #[error("there is a branch `{name}` already: rename or delete it, or name another one")]
    BranchExists { name: String },
    #[error("`{name}` cannot be the name of a branch: name another one")]
    BadBranch { name: String },
    #[error("`git {command}` {ended}{}", said(stderr))]
    GitFailed { command: String, ended: String, stderr: String },
    #[error(transparent)]
    Launch(LaunchError),
    #[error("{} cannot be {doing}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
}

impl WorkspaceError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }

    /// What was written before an act was stopped is still there.
    pub(super) fn half_written(why: Self, left: Vec<String>) -> Self {
        let why = match why {
            Self::HalfWritten { why, .. } => why,
            other => Box::new(other),
        };
        Self::HalfWritten { why, left }
    }

    pub(crate) fn unusable(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Unusable { path: path.into(), reason: reason.into() }
    }
}

fn named(paths: &[String]) -> String {
    let text = paths.iter().take(NAMED).map(|p| format!("`{p}`")).collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

fn said(stderr: &str) -> String {
    let said = stderr.trim();
    if said.is_empty() { String::new() } else { format!(": {said}") }
}
