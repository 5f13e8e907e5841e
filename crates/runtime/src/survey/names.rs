//! Many patterns, ready to be asked about many paths: a path is compared only with those that begin as it does. What
//! is written out is found without any comparison.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use gadfly_engine::pipeline::Pattern;
use gadfly_engine::pipeline::listing::Matcher;

#[derive(Default)]
pub(super) struct NamedPaths<'a> {
    plain: HashSet<&'a str>,
    /// By how everything they name begins.
    others: HashMap<&'a str, Vec<Matcher<'a>>>,
    /// How long those beginnings are.
    lengths: BTreeSet<usize>,
    compared: AtomicUsize,
}

impl<'a> NamedPaths<'a> {
    pub fn of(patterns: impl IntoIterator<Item = &'a Pattern>) -> Self {
        let mut names = Self::default();
        let patterns: BTreeSet<&Pattern> = patterns.into_iter().collect();
        for pattern in patterns {
            if pattern.is_plain_file() {
                names.plain.insert(&pattern.0);
            } else {
                let literal = pattern.literal();
                names.lengths.insert(literal.len());
                names.others.entry(literal).or_default().push(pattern.matcher());
            }
        }
        names
    }

    /// Whether one of the patterns names a path.
    pub fn has(&self, path: &str) -> bool {
        self.plain.contains(path) || self.matches(path)
    }

    /// As [`Self::has`], without what is written out.
    pub fn matches(&self, path: &str) -> bool {
        let beginnings = self.lengths.range(..=path.len()).filter_map(|length| path.get(..*length));
        let mut near = beginnings.filter_map(|beginning| self.others.get(beginning)).flatten();
        near.any(|matcher| {
            self.compared.fetch_add(1, Ordering::Relaxed);
            matcher.matches(path)
        })
    }

    /// How often a path was compared with a pattern.
    pub fn compared(&self) -> usize {
        self.compared.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_named_as_if_every_pattern_were_asked() {
        let texts =
            ["a/b.md", "a/", "a/*.tex", "**/x.md", "ä/ö*", "*.md", "a/{b,c}/", "notes/.plan.md", "a\\*b"];
        let patterns: Vec<Pattern> = texts.iter().map(|text| Pattern::new(text)).collect();
        let names = NamedPaths::of(&patterns);
        for path in [
            "a/b.md",
            "a/c.txt",
            "a/x.tex",
            "b/x.tex",
            "q/x.md",
            "ä/öx",
            "ä/o",
            "q.md",
            "é",
            "a",
            "a/.b",
            "notes/.plan.md",
            "a/b/c.md",
            "a*b",
            "",
            "x/a/b.md",
        ] {
            assert_eq!(names.has(path), patterns.iter().any(|p| p.matches(path)), "{path}");
        }
    }

    #[test]
    fn a_path_is_not_compared_with_patterns_of_other_folders() {
        let patterns: Vec<Pattern> = (0..1_000).map(|n| Pattern(format!("out/a{n:04}/"))).collect();
        let names = NamedPaths::of(&patterns);
        let count = (0..1_000).filter(|n| names.has(&format!("out/a{n:04}/x.md"))).count();
        assert_eq!((count, names.compared()), (1_000, 1_000));
    }
}
