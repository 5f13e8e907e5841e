//! What a project holds, by path, and the patterns of a registry.

use std::collections::BTreeMap;
use std::ops::Bound;

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// A look at the project's own files.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Survey {
    /// Every real file that one of these names is listed.
    pub patterns: Vec<Pattern>,
    /// Of these the headings come along, as far as it is text and not too long: a text that has the same
    /// [`headings`](super::headings::headings), or the whole of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<Pattern>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Surveyed {
    /// A stored text: see [`Listing::parse`].
    pub listing: Digest,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<(String, Digest)>,
}

/// A path of the project as the registry writes it: a file, a folder (it ends in `/`) or a glob.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Pattern(pub String);

impl Pattern {
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub fn is_folder(&self) -> bool {
        self.0.ends_with('/')
    }

    pub fn is_glob(&self) -> bool {
        self.0.contains(['*', '?', '[', '{'])
    }

    /// The folders before anything that is not plain: where a walk for it may begin. Empty, or it ends in `/`.
    pub fn fixed(&self) -> &str {
        let plain = self.0.find(['*', '?', '[', '{']).map_or(self.0.as_str(), |at| &self.0[..at]);
        plain.rfind('/').map_or("", |at| &plain[..=at])
    }

    /// How every path it names begins.
    pub fn literal(&self) -> &str {
        self.0.find(['*', '?', '[', '{', '\\']).map_or(self.0.as_str(), |at| &self.0[..at])
    }

    /// Whether a path is meant, and is a real file. For many paths take [`Self::matcher`].
    pub fn matches(&self, path: &str) -> bool {
        self.matcher().matches(path)
    }

    pub fn matcher(&self) -> Matcher<'_> {
        let kind = if self.is_plain_file() {
            PatternKind::File
        } else if self.is_folder() && !self.is_glob() {
            PatternKind::Folder
        } else {
            let text = if self.is_folder() { format!("{}**", self.0) } else { self.0.clone() };
            let glob = GlobBuilder::new(&text).literal_separator(true).build();
            PatternKind::Glob(glob.ok().map(|glob| glob.compile_matcher()))
        };
        Matcher { pattern: &self.0, fixed: self.fixed(), kind }
    }

    /// Whether one path can be meant by both, as far as that can be told without files.
    pub fn overlaps(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        match (self.is_plain_file(), other.is_plain_file()) {
            (true, _) => other.matches(&self.0),
            (_, true) => self.matches(&other.0),
            _ => self.literal().starts_with(other.literal()) || other.literal().starts_with(self.literal()),
        }
    }

    pub fn is_plain_file(&self) -> bool {
        !self.is_folder() && !self.is_glob()
    }
}

/// A pattern, ready to be compared with many paths.
pub struct Matcher<'a> {
    pattern: &'a str,
    fixed: &'a str,
    kind: PatternKind,
}

enum PatternKind {
    File,
    Folder,
    /// None if it is no glob that could be read: it matches nothing.
    Glob(Option<GlobMatcher>),
}

impl Matcher<'_> {
    /// What begins with a dot below the part that is written out is no real file, unless the file itself is named.
    pub fn matches(&self, path: &str) -> bool {
        let Some(rest) = path.strip_prefix(self.fixed) else { return false };
        let is_hidden = || rest.split('/').any(|part| part.starts_with('.'));
        match &self.kind {
            PatternKind::File => self.pattern == path,
            PatternKind::Folder => !rest.is_empty() && !is_hidden(),
            PatternKind::Glob(glob) => !is_hidden() && glob.as_ref().is_some_and(|glob| glob.is_match(path)),
        }
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListedFile {
    pub digest: Digest,
    /// Unix permission bits: 644 or 755.
    pub mode: u32,
}

/// The real files of a project that somebody asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing(BTreeMap<String, ListedFile>);

impl Listing {
    pub fn insert(&mut self, path: String, found: ListedFile) {
        self.0.insert(path, found);
    }

    pub fn remove(&mut self, path: &str) {
        self.0.remove(path);
    }

    pub fn get(&self, path: &str) -> Option<ListedFile> {
        self.0.get(path).copied()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, ListedFile)> {
        self.0.iter().map(|(path, found)| (path.as_str(), *found))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The real files a pattern names. Only paths that begin as it does are looked at.
    pub fn matching<'a>(&'a self, pattern: &'a Pattern) -> impl Iterator<Item = (&'a str, ListedFile)> {
        let (literal, matcher) = (pattern.literal(), pattern.matcher());
        self.0
            .range::<str, _>((Bound::Included(literal), Bound::Unbounded))
            .take_while(move |(path, _)| path.starts_with(literal))
            .filter(move |(path, _)| matcher.matches(path))
            .map(|(path, found)| (path.as_str(), *found))
    }

    /// Whether there is a real file that a pattern names.
    pub fn has(&self, pattern: &Pattern) -> bool {
        if pattern.is_plain_file() {
            return self.0.contains_key(&pattern.0);
        }
        self.matching(pattern).next().is_some()
    }

    /// One line a file: mode, digest, path. A path with a line break in it cannot be listed and is left out.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (path, found) in self.0.iter().filter(|(path, _)| !path.contains(['\n', '\r'])) {
            use std::fmt::Write as _;
            let _ = writeln!(text, "{:o} {} {path}", found.mode, found.digest);
        }
        text
    }

    /// What [`Self::text`] wrote. A line that is none of its kind is left out.
    pub fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let (mode, rest) = line.split_once(' ')?;
            let (digest, path) = rest.split_once(' ')?;
            let found = ListedFile { mode: u32::from_str_radix(mode, 8).ok()?, digest: digest.parse().ok()? };
            Some((path.to_owned(), found))
        };
        Self(text.lines().filter_map(line).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_needs_a_real_file() {
        let folder = Pattern::new("paper/tables/");
        for (path, is) in [
            ("paper/tables/a.tex", true),
            ("paper/tables/deep/a.tex", true),
            ("paper/tables/.gitkeep", false),
            ("paper/tables/.cache/a.tex", false),
            ("paper/tables", false),
            ("paper/tables-old/a.tex", false),
        ] {
            assert_eq!(folder.matches(path), is, "{path}");
        }
    }

    #[test]
    fn globs_stay_in_their_folder_and_braces_are_alternatives() {
        let sections = Pattern::new("paper/sections/*.tex");
        assert!(sections.matches("paper/sections/a.tex"));
        assert!(!sections.matches("paper/sections/deep/a.tex"));
        assert!(!sections.matches("paper/sections/.a.tex"));
        let scripts = Pattern::new("scripts/{R,py}/");
        assert!(scripts.matches("scripts/R/a.R") && scripts.matches("scripts/py/deep/b.py"));
        assert!(!scripts.matches("scripts/jl/a.jl"));
        assert_eq!(scripts.fixed(), "scripts/");
    }

    #[test]
    fn a_file_that_is_named_may_begin_with_a_dot() {
        assert!(Pattern::new("notes/.plan.md").matches("notes/.plan.md"));
        assert!(Pattern::new(".claude/state/").matches(".claude/state/a.json"));
    }

    #[test]
    fn a_listing_is_what_its_text_says() {
        let mut listing = Listing::default();
        let found = |text: &str| ListedFile { digest: Digest::of(text.as_bytes()), mode: 0o644 };
        listing.insert("b c.md".into(), found("1"));
        listing.insert("a/x.md".into(), found("2"));
        listing.insert("a/y\n644 forged".into(), found("3"));
        let read = Listing::parse(&listing.text());
        assert_eq!(read.iter().map(|(p, _)| p).collect::<Vec<_>>(), ["a/x.md", "b c.md"]);
        assert_eq!(read.get("b c.md"), Some(found("1")));
        assert_eq!(read.matching(&Pattern::new("a/")).count(), 1);
    }
}
