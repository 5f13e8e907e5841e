//! Reads programs: what their tests assert, and what a change takes from that. Text in, findings out; no file is
//! opened and nothing is run.
//!
//! A language is one file in `language/`: how a test, an assertion, a skip looks in it. `facts` walks a parsed file with
//! it, `compare` holds two versions against each other. What no grammar reads is `configuration` (how a suite is run)
//! and `shadow` (files that stand in the way of a runner).

mod compare;
mod configuration;
mod facts;
mod language;
mod parse;
mod shadow;

pub use parse::{DEEPEST, LARGEST};

/// The most findings of one change; the last one says how many more there are.
pub const MOST_FINDINGS: usize = 50;

/// One changed file, in its two versions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChangedFile {
    pub path: String,
    /// Is it a test by its name?
    pub is_test: bool,
    pub before: Version,
    pub after: Version,
}

/// A file at one time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Version {
    #[default]
    Absent,
    Text(String),
    /// It is no text, no plain file, or too large to be read.
    Opaque,
}

impl Version {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Opaque => None,
        }
    }

    fn is_there(&self) -> bool {
        *self != Self::Absent
    }
}

/// Something that lets a check pass without the work being done, or may.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Weakening {
    pub path: String,
    /// In the version after the change; none for what is gone.
    pub line: Option<u32>,
    pub says: String,
}

impl Weakening {
    fn new(path: &str, line: Option<u32>, says: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, says: says.into() }
    }
}

/// What is to be said about a change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Examination {
    pub found: Vec<Weakening>,
    /// Files that were read: what is not found in them is not there.
    pub read: Vec<String>,
}

/// Holds the versions of all changed files against each other. `is_there` says whether a path exists after the change.
pub fn examine(changes: &[ChangedFile], is_there: &dyn Fn(&str) -> bool) -> Examination {
    let mut examined = Examination::default();
    for change in changes {
        let shadowed = shadow::of(change, is_there);
        let configured = configuration::of(change);
        if let Some(found) = &configured {
            examined.read.push(change.path.clone());
            examined.found.extend(found.iter().cloned());
        } else if !shadowed.is_empty() {
            examined.read.push(change.path.clone());
        }
        examined.found.extend(shadowed);
    }
    compare::tests(changes, is_there, &mut examined);
    examined.found.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    examined.found.dedup();
    let more = examined.found.len().saturating_sub(MOST_FINDINGS);
    examined.found.truncate(MOST_FINDINGS);
    if let (Some(last), true) = (examined.found.last_mut(), more > 0) {
        last.says = format!("{} ({more} more like this)", last.says);
    }
    examined.read.sort();
    examined.read.dedup();
    examined
}

/// A passage in one line, bounded, for people.
fn shown(text: &str) -> String {
    const LONGEST: usize = 160;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
