//! What a finding is known by: rule, criterion, file, section or function, quoted text, wording; and what the
//! artifact of today says about the anchors of an earlier one.

use std::collections::BTreeMap;

use super::words::{Words, plain_words};
use crate::corpus::{Corpus, CorpusEntry, normal};
use crate::digest::Digest;
use crate::evidence::folded::{FoldedText, folded};
use crate::evidence::outline::Outline;
use crate::finding::Finding;

/// Quotes are compared by so much of them.
const QUOTE: usize = 400;

/// How many bytes are searched per round for quotes of earlier rounds.
const SEARCHED: usize = 1 << 28;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Traits {
    pub(super) rule: String,
    pub(super) criterion: Option<String>,
    pub(super) path: Option<String>,
    pub(super) line: Option<u32>,
    /// The section or function, innermost name only.
    pub(super) within: Option<String>,
    /// What the critic quoted, folded; empty if nothing.
    pub(super) quote: String,
    pub(super) quote_words: Words,
    /// The text of the cited line, folded; empty if there is none.
    pub(super) line_text: String,
    pub(super) says: Words,
    /// What it says, to the word.
    pub(super) says_exactly: Digest,
    /// What is wrong and what to do about it, where it says that: critics put the point into either.
    pub(super) says_all: Option<Words>,
}

impl Traits {
    pub(super) fn says_all(&self) -> &Words {
        self.says_all.as_ref().unwrap_or(&self.says)
    }

    /// The text it points at; empty if it points at none.
    pub(super) fn quote_or_line(&self) -> &str {
        if self.quote.is_empty() { &self.line_text } else { &self.quote }
    }
}

/// What became of an earlier finding's anchors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Gone {
    pub(super) file: bool,
    /// It was known and is not any more, which a file that nobody looked at this time is, too.
    pub(super) file_unknown: bool,
    pub(super) within: bool,
    pub(super) quote: bool,
}

/// What the quote of today's finding was in the artifact before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Past {
    /// It stood there, too; in whatever file, or in the same one.
    pub(super) stood: bool,
    pub(super) stood_here: bool,
    /// It stood there once and stands here once: the same text, wherever it has moved.
    pub(super) unique: bool,
}

/// A rule's name, however it is spelt.
pub(super) fn rule(name: &str) -> String {
    let words: Vec<String> = name
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    if words.is_empty() { name.trim().to_owned() } else { words.join("-") }
}

/// The innermost name of `impl Parser › next`.
fn innermost(within: &str) -> String {
    within.rsplit(" › ").next().unwrap_or(within).trim().to_lowercase()
}

/// The folded texts and outlines of one round's artifact, made as they are needed.
pub(super) struct ArtifactView<'a> {
    pub(super) corpus: &'a Corpus,
    folded: BTreeMap<&'a str, FoldedText>,
    outlines: BTreeMap<&'a str, Outline>,
    left: usize,
}

impl<'a> ArtifactView<'a> {
    pub(super) fn new(corpus: &'a Corpus) -> Self {
        Self { corpus, folded: BTreeMap::new(), outlines: BTreeMap::new(), left: SEARCHED }
    }

    pub(super) fn folded(&mut self, path: &str) -> Option<&FoldedText> {
        let known = self.corpus.resolve(path)?;
        let text = self.corpus.text(known)?;
        Some(self.folded.entry(known).or_insert_with(|| FoldedText::of(text)))
    }

    /// Does the folded text stand in the file, or without a file anywhere? Nothing if there was too much to
    /// search.
    pub(super) fn holds(&mut self, path: Option<&str>, text: &str) -> Option<bool> {
        let Some(path) = path else {
            let paths: Vec<&str> = self.corpus.texts().map(|(path, _)| path).collect();
            let mut unsure = false;
            for path in paths {
                match self.holds(Some(path), text) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => unsure = true,
                }
            }
            return (!unsure).then_some(false);
        };
        let Some(size) = self.folded(path).map(|file| file.as_str().len()) else { return Some(false) };
        self.left = self.left.checked_sub(size)?;
        self.folded(path).map(|file| file.as_str().contains(text))
    }

    /// How often the folded text stands in the file, counted up to two.
    fn count(&mut self, path: &str, text: &str) -> usize {
        let Some(size) = self.folded(path).map(|file| file.as_str().len()) else { return 0 };
        let Some(left) = self.left.checked_sub(size) else { return 0 };
        self.left = left;
        self.folded(path).map_or(0, |file| file.as_str().match_indices(text).take(2).count())
    }

    /// What a finding's quote was in the artifact before.
    pub(super) fn past(&mut self, today: &Traits, before: &mut ArtifactView<'_>) -> Past {
        if today.quote.is_empty() {
            return Past::default();
        }
        let path = today.path.as_deref();
        let here = path.map_or(0, |path| before.count(path, &today.quote));
        Past {
            stood: here > 0 || before.holds(None, &today.quote) == Some(true),
            stood_here: here > 0,
            unique: here == 1 && path.is_some_and(|path| self.count(path, &today.quote) == 1),
        }
    }

    pub(super) fn traits(&mut self, finding: &Finding) -> Traits {
        let place = finding.place.as_ref();
        let quote: String =
            finding.quote.as_deref().map(|quote| cut(quote, QUOTE)).map(folded).unwrap_or_default();
        let line_text = place
            .and_then(|place| Some((place, place.line?)))
            .and_then(|(place, line)| Some(self.folded(&place.path)?.between(line, line)))
            .map(|text| cut(text, QUOTE).to_owned())
            .unwrap_or_default();
        let says = Words::of(&finding.says);
        let says_all =
            (!finding.fix.trim().is_empty()).then(|| Words::of(&format!("{} {}", finding.says, finding.fix)));
        let rule = rule(&finding.rule);
        Traits {
            // A criterion that only repeats the rule's name adds nothing to it.
            criterion: finding.criterion.as_deref().map(self::rule).filter(|criterion| *criterion != rule),
            rule,
            path: place.map(|place| self.known_path(&place.path)).filter(|path| !path.is_empty()),
            line: place.and_then(|place| place.line),
            within: finding.within.as_deref().map(innermost).filter(|within| !within.is_empty()),
            quote_words: Words::of(&quote),
            quote,
            line_text,
            says_exactly: Digest::of(plain_words(&finding.says).as_bytes()),
            says,
            says_all,
        }
    }

    fn known_path(&self, path: &str) -> String {
        self.corpus.resolve(path).map_or_else(|| normal(path), str::to_owned)
    }

    /// What of an earlier finding's anchors is not there any more. Unsure is: still there.
    pub(super) fn gone(&mut self, earlier: &Traits, before: Option<&Corpus>) -> Gone {
        let Some(path) = earlier.path.as_deref() else {
            let quote = !earlier.quote.is_empty()
                && self.corpus.texts().next().is_some()
                && self.holds(None, &earlier.quote) == Some(false);
            return Gone { quote, ..Gone::default() };
        };
        match self.corpus.get(path) {
            Some(CorpusEntry::Text(_)) => {}
            Some(CorpusEntry::Opaque) => return Gone::default(),
            Some(CorpusEntry::Deleted | CorpusEntry::Absent) => {
                return Gone { file: true, within: true, quote: true, ..Gone::default() };
            }
            None => {
                let file_unknown = before.is_some_and(|before| before.has(path));
                return Gone { file_unknown, ..Gone::default() };
            }
        }
        let quote = !earlier.quote.is_empty() && self.holds(Some(path), &earlier.quote) == Some(false);
        let within = earlier.within.as_deref().is_some_and(|name| !self.has_part(path, name));
        Gone { within, quote, ..Gone::default() }
    }

    fn has_part(&mut self, path: &str, name: &str) -> bool {
        let Some(known) = self.corpus.resolve(path) else { return true };
        let Some(text) = self.corpus.text(known) else { return true };
        self.outlines.entry(known).or_insert_with(|| Outline::of(known, text)).has(name)
    }
}

fn cut(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(at, _)| &text[..at])
}
