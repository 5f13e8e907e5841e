//! The artifact as evidence is checked against: what every path of it holds, and which paths are known
//! not to be there. Filled by the caller; nothing here reads files or judges.
//!
//! It may hold more than the artifact's changed entries: a cited path the corpus does not know yet is
//! looked up by the caller and put in (see `evidence::unknown_paths`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The only path of an artifact that is one text.
pub const DRAFT: &str = "draft";

/// What stands at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CorpusEntry {
    Text(Arc<str>),
    /// It exists and is not text: no line of it can be cited.
    Opaque,
    /// It was there before the worker began and is gone.
    Deleted,
    /// Looked for and not there.
    Absent,
}

/// Paths with what they hold. Paths are the same on both sides once `./`, doubled and closing slashes are
/// taken out; backslashes and `..` are left as they are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Corpus {
    entries: BTreeMap<String, CorpusEntry>,
    directories: BTreeSet<String>,
}

impl Corpus {
    /// The corpus of an artifact that is one text.
    pub fn of_draft(text: impl Into<Arc<str>>) -> Self {
        let mut corpus = Self::default();
        corpus.insert(DRAFT, text);
        corpus
    }

    pub fn insert(&mut self, path: &str, text: impl Into<Arc<str>>) {
        self.put(path, CorpusEntry::Text(text.into()));
    }

    /// The path exists and is not text.
    pub fn insert_opaque(&mut self, path: &str) {
        self.put(path, CorpusEntry::Opaque);
    }

    /// The path was deleted: a finding about its absence needs nothing else.
    pub fn insert_deleted(&mut self, path: &str) {
        self.put(path, CorpusEntry::Deleted);
    }

    /// The path was looked for and is not there.
    pub fn insert_absent(&mut self, path: &str) {
        self.put(path, CorpusEntry::Absent);
    }

    fn put(&mut self, path: &str, entry: CorpusEntry) {
        let path = normal(path);
        if matches!(entry, CorpusEntry::Text(_) | CorpusEntry::Opaque) {
            self.learn_parents(&path);
        }
        self.entries.insert(path, entry);
    }

    fn learn_parents(&mut self, path: &str) {
        // Stops at the first known one: its own parents are known then, and a deep path costs no more
        // than its new folders.
        let mut child = path;
        while let Some((parent, _)) = child.rsplit_once('/') {
            if parent.is_empty() || !self.directories.insert(parent.to_owned()) {
                return;
            }
            child = parent;
        }
    }

    /// What stands at the path; nothing if the corpus does not know the path.
    pub fn get(&self, path: &str) -> Option<&CorpusEntry> {
        self.resolve(path).and_then(|known| self.entries.get(known))
    }

    /// The text at the path.
    pub fn text(&self, path: &str) -> Option<&str> {
        match self.get(path) {
            Some(CorpusEntry::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Has the path been put in, be it as something that is not there?
    pub fn knows(&self, path: &str) -> bool {
        self.resolve(path).is_some()
    }

    /// Does something stand at the path?
    pub fn has(&self, path: &str) -> bool {
        matches!(self.get(path), Some(CorpusEntry::Text(_) | CorpusEntry::Opaque))
    }

    /// Is this a folder that exists? The top folder always does.
    pub fn has_directory(&self, path: &str) -> bool {
        let path = normal(path);
        path.is_empty() || self.directories.contains(&path)
    }

    /// The path as the corpus spells it. Where the path as given is not known itself, the `a/` or `b/` a diff
    /// puts in front is tolerated, and the folder a critic was started in before an absolute path.
    pub fn resolve(&self, path: &str) -> Option<&str> {
        let path = normal(path);
        let known = |path: &str| self.entries.get_key_value(path).map(|(known, _)| known.as_str());
        let plain = || known(path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"))?);
        let inside = || {
            let rest = path.strip_prefix('/')?;
            rest.match_indices('/').find_map(|(at, _)| known(rest.get(at + 1..)?))
        };
        known(&path).or_else(plain).or_else(inside)
    }

    /// All texts, by path.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &Arc<str>)> {
        self.entries.iter().filter_map(|(path, entry)| match entry {
            CorpusEntry::Text(text) => Some((path.as_str(), text)),
            CorpusEntry::Opaque | CorpusEntry::Deleted | CorpusEntry::Absent => None,
        })
    }

    /// Is the artifact one text? Then a citation can only mean that text, whatever name the critic gives it.
    pub fn is_one_text(&self) -> bool {
        self.entries.len() == 1 && matches!(self.entries.get(DRAFT), Some(CorpusEntry::Text(_)))
    }
}

/// The path without `./`, doubled slashes, a closing slash or space around it.
pub fn normal(path: &str) -> String {
    let path = path.trim();
    let mut plain = String::with_capacity(path.len());
    if path.starts_with('/') {
        plain.push('/');
    }
    for piece in path.split('/').filter(|piece| !piece.is_empty() && *piece != ".") {
        if !plain.is_empty() && !plain.ends_with('/') {
            plain.push('/');
        }
        plain.push_str(piece);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_known_however_it_is_spelt() {
        let mut corpus = Corpus::default();
        corpus.insert("./src//a.rs", "fn a() {}");
        for spelling in [
            "src/a.rs",
            "./src/a.rs",
            "src//a.rs",
            " src/./a.rs ",
            "a/src/a.rs",
            "b/src/a.rs",
            "/x/y/src/a.rs",
        ] {
            assert_eq!(corpus.text(spelling), Some("fn a() {}"), "{spelling}");
        }
        for other in ["src\\a.rs", "a.rs", "/src/a.rs", "src/b.rs", "src/../src/a.rs", "c/src/a.rs", ""] {
            assert!(!corpus.knows(other), "{other}");
        }
    }

    #[test]
    fn a_folder_that_is_really_called_a_wins_over_the_prefix_of_a_diff() {
        let mut corpus = Corpus::default();
        corpus.insert("x.rs", "plain");
        corpus.insert("a/x.rs", "in the folder");
        assert_eq!(corpus.text("a/x.rs"), Some("in the folder"));
        assert_eq!(corpus.text("b/x.rs"), Some("plain"));
    }

    #[test]
    fn what_is_not_there_is_known_but_makes_no_folder() {
        let mut corpus = Corpus::default();
        corpus.insert_absent("ghost/x.rs");
        corpus.insert_deleted("gone/y.rs");
        corpus.insert_opaque("img/deep/logo.png");
        assert!(corpus.knows("ghost/x.rs") && !corpus.has("ghost/x.rs"));
        assert!(!corpus.has_directory("ghost") && !corpus.has_directory("gone"));
        assert!(corpus.has_directory("img") && corpus.has_directory("img/deep/") && corpus.has_directory(""));
        assert_eq!(corpus.get("img/deep/logo.png"), Some(&CorpusEntry::Opaque));
        assert_eq!(corpus.text("img/deep/logo.png"), None);
    }

    #[test]
    fn only_a_text_draft_is_one_text() {
        assert!(Corpus::of_draft("x").is_one_text());
        let mut file = Corpus::default();
        file.insert("src/a.rs", "x");
        assert!(!file.is_one_text(), "a repository with one file is not a text draft");
    }
}
