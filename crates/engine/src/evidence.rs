//! Evidence is checked in code: does the line a finding names exist, does the text it quotes occur in the
//! artifact? What fails is noted on the finding, which then decides nothing; what became of the review as a
//! whole is the protocol's business.
//!
//! Decided here, where the rules leave room:
//! - A quote may occur anywhere in the artifact. Where it stands in the cited file, but on another line, the
//!   finding's line is put right; the nearest occurrence is meant.
//! - A quote with `…` in it stands for its pieces, in order, in one file. Quotation marks or backticks around
//!   the whole and the `+` of a diff are not part of it.
//! - An artifact that is one text has one file, whatever a critic calls it: only line and quote are checked.
//!   Elsewhere a shortened path counts if one file alone ends so and the quote, if there is one, stands in it.
//! - A finding about something absent needs the folder of its path, or the file, or a path without a folder.
//! - A range counts by its first line and is cut at the end of the file.
//! - What the engine itself found is not doubted, only located.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::corpus::{Corpus, CorpusEntry, DRAFT, normal};
use crate::finding::{ENGINE, Finding, Location};

pub mod folded;
pub mod outline;

use folded::{FoldedText, folded};
use outline::Outline;

/// No file system takes a longer path.
const LONGEST_PATH: usize = 4_096;

/// How many bytes are searched for the quotes of one review before the rest is refused.
const SEARCHED: usize = 1 << 30;

/// One piece of a quote with `…` in it has to be this long to show anything.
const SHORTEST_PIECE: usize = 8;

/// Checks what the findings cite. Sets `unsupported` with the reason where it does not hold, puts path and
/// line right where they are only spelt or counted differently, and sets `within`. A finding without place
/// and quote stands as it is, and so does one that is unsupported already.
pub fn check(findings: &mut [Finding], corpus: &Corpus) {
    let mut checker = Checker::new(corpus);
    for finding in findings.iter_mut().filter(|finding| finding.is_supported()) {
        let outcome = checker.check(finding);
        if finding.by != ENGINE
            && let Err(reason) = outcome
        {
            finding.unsupported = Some(reason);
        }
        checker.locate(finding);
    }
}

/// The paths the findings cite and the corpus does not know, sorted: the caller looks them up and puts them
/// in, as texts, as opaque or as absent, before [`check`]. For a finding about something absent its folder is
/// among them: one that exists is put in as opaque.
pub fn unknown_paths(findings: &[Finding], corpus: &Corpus) -> Vec<String> {
    let mut paths = BTreeSet::new();
    if corpus.is_one_text() {
        return Vec::new();
    }
    for finding in findings.iter().filter(|finding| finding.is_supported()) {
        let Some(place) = finding.place.as_ref().filter(|place| place.path.len() <= LONGEST_PATH) else {
            continue;
        };
        let path = normal(&place.path);
        if let (true, Some((folder, _))) = (finding.absent, path.rsplit_once('/'))
            && !(folder.is_empty() || corpus.has_directory(folder) || corpus.knows(folder))
        {
            paths.insert(folder.to_owned());
        }
        if !(path.is_empty() || corpus.knows(&path)) {
            paths.insert(path);
        }
    }
    paths.into_iter().collect()
}

/// Where a quote stands.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Spot {
    path: String,
    line: u32,
    /// It stands nowhere else in the artifact.
    only: bool,
}

struct Checker<'a> {
    corpus: &'a Corpus,
    folded: BTreeMap<&'a str, FoldedText>,
    outlines: BTreeMap<&'a str, Outline>,
    /// Quotes looked for in the whole artifact, in vain or not.
    known: HashMap<String, Option<Spot>>,
    left: usize,
}

impl<'a> Checker<'a> {
    fn new(corpus: &'a Corpus) -> Self {
        Self {
            corpus,
            folded: BTreeMap::new(),
            outlines: BTreeMap::new(),
            known: HashMap::new(),
            left: SEARCHED,
        }
    }

    fn check(&mut self, finding: &mut Finding) -> Result<(), String> {
        let quote = finding.quote.as_deref().map(str::trim).filter(|quote| !quote.is_empty());
        let spellings = quote.map(spellings).unwrap_or_default();
        if let Some(place) = finding.place.as_mut() {
            self.settle_path(place, &spellings);
        }
        if finding.absent {
            return self.check_parent(finding.place.as_mut());
        }
        if let Some(place) = finding.place.as_mut() {
            self.check_place(place)?;
        }
        if spellings.is_empty() {
            return Ok(());
        }
        if let Some(place) = finding.place.as_mut()
            && let Some(line) = self.find_in(&place.path, &spellings, place.line)
        {
            let moved = place.line != Some(line);
            if moved && !place.end.is_some_and(|end| place.line.is_some_and(|l| (l..=end).contains(&line))) {
                place.end = match (place.line, place.end) {
                    (Some(first), Some(last)) => Some(line.saturating_add(last.saturating_sub(first))),
                    _ => None,
                };
                place.line = Some(line);
            }
            return Ok(());
        }
        let Some(spot) = self.find_anywhere(&spellings) else {
            if self.left == 0 {
                return Err("its quote was not looked for: the review quotes too much to be checked".into());
            }
            return Err(match &finding.place {
                Some(place) => format!("the quoted text occurs neither in {} nor elsewhere", place.path),
                None => "the quoted text does not occur in the artifact".into(),
            });
        };
        if finding.place.is_none() && spot.only {
            finding.place = Some(Location { path: spot.path, line: Some(spot.line), end: None });
        }
        Ok(())
    }

    /// Gives the cited path the corpus's spelling.
    fn settle_path(&mut self, place: &mut Location, spellings: &[String]) {
        if place.path.len() > LONGEST_PATH {
            return;
        }
        let known = self.corpus.resolve(&place.path).map(str::to_owned);
        if let Some(known) = known {
            place.path = known;
        } else if self.corpus.is_one_text() {
            DRAFT.clone_into(&mut place.path);
        } else {
            place.path = normal(&place.path);
        }
        let there = matches!(
            self.corpus.get(&place.path),
            Some(CorpusEntry::Text(_) | CorpusEntry::Opaque | CorpusEntry::Deleted)
        );
        if there || place.path.is_empty() {
            return;
        }
        let ending = format!("/{}", place.path);
        let mut longer = self.corpus.texts().map(|(path, _)| path).filter(|path| path.ends_with(&ending));
        if let (Some(path), None) = (longer.next(), longer.next())
            && (spellings.is_empty() || self.find_in(path, spellings, place.line).is_some())
        {
            path.clone_into(&mut place.path);
        }
    }

    fn check_parent(&mut self, place: Option<&mut Location>) -> Result<(), String> {
        let Some(place) = place else { return Ok(()) };
        if place.path.len() > LONGEST_PATH {
            return Err("the path it names is too long to exist".into());
        }
        let lines = self.folded(&place.path).map(FoldedText::lines);
        if lines.is_none_or(|lines| !place.line.is_some_and(|line| (1..=lines).contains(&line))) {
            (place.line, place.end) = (None, None);
        }
        match self.corpus.get(&place.path) {
            Some(CorpusEntry::Text(_) | CorpusEntry::Opaque | CorpusEntry::Deleted) => Ok(()),
            Some(CorpusEntry::Absent) | None => match place.path.rsplit_once('/') {
                Some((parent, _)) if !(self.corpus.has_directory(parent) || self.corpus.has(parent)) => {
                    Err(format!("there is no folder {parent} for it to be missing from"))
                }
                _ => Ok(()),
            },
        }
    }

    fn check_place(&mut self, place: &mut Location) -> Result<(), String> {
        if place.path.is_empty() {
            return Err("it names a line without a file".into());
        }
        if place.path.len() > LONGEST_PATH {
            return Err("the path it names is too long to exist".into());
        }
        let path = place.path.clone();
        match (self.corpus.get(&path), place.line) {
            (None, _) => return Err(format!("{path} is not part of what was judged")),
            (Some(CorpusEntry::Absent), _) => return Err(format!("there is no file {path}")),
            (Some(CorpusEntry::Deleted), _) => return Err(format!("the file {path} was deleted")),
            (Some(CorpusEntry::Opaque), Some(line)) => {
                return Err(format!("{path} is not text: it has no line {line}"));
            }
            (Some(CorpusEntry::Opaque), None) => return Ok(()),
            (Some(CorpusEntry::Text(_)), _) => {}
        }
        let lines = self.folded(&path).map_or(0, FoldedText::lines);
        match place.line {
            Some(0) => return Err(format!("{path} has no line 0: lines count from 1")),
            Some(line) if line > lines => {
                return Err(format!("{path} has {lines} lines: there is no line {line}"));
            }
            _ => {}
        }
        let first = place.line;
        place.end = place.end.map(|end| end.min(lines)).filter(|end| first.is_some_and(|first| *end > first));
        Ok(())
    }

    /// The line of one file the quote begins on.
    fn find_in(&mut self, path: &str, spellings: &[String], line: Option<u32>) -> Option<u32> {
        let size = self.folded(path)?.as_str().len();
        self.left = self.left.saturating_sub(size.saturating_mul(spellings.len()));
        let text = (self.left > 0).then(|| self.folded(path))??;
        spellings.iter().find_map(|quote| text.find_near(quote, line).or_else(|| find_pieces(text, quote)))
    }

    fn find_anywhere(&mut self, spellings: &[String]) -> Option<Spot> {
        let key = spellings.first()?.clone();
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let mut spot: Option<Spot> = None;
        for (path, _) in self.corpus.texts() {
            let Some(line) = self.find_in(path, spellings, None) else { continue };
            if let Some(first) = spot.as_mut() {
                first.only = false;
                break;
            }
            let often = spellings.iter().any(|quote| {
                self.folded(path)
                    .is_some_and(|text| text.as_str().match_indices(quote.as_str()).nth(1).is_some())
            });
            spot = Some(Spot { path: path.to_owned(), line, only: !often });
        }
        self.known.insert(key, spot.clone());
        spot
    }

    /// Sets the section or function the finding stands in.
    fn locate(&mut self, finding: &mut Finding) {
        let Some(Location { path, line: Some(line), .. }) = &finding.place else { return };
        let Some(known) = self.corpus.resolve(path) else { return };
        let Some(text) = self.corpus.text(known) else { return };
        let outline = self.outlines.entry(known).or_insert_with(|| Outline::of(known, text));
        if let Some(part) = outline.around(*line) {
            finding.within = Some(part);
        }
    }

    fn folded(&mut self, path: &str) -> Option<&FoldedText> {
        let known = self.corpus.resolve(path)?;
        let text = self.corpus.text(known)?;
        Some(self.folded.entry(known).or_insert_with(|| FoldedText::of(text)))
    }
}

/// The quote as it may stand in the artifact: as given, without the marks around it, without a diff's marks.
fn spellings(quote: &str) -> Vec<String> {
    let mut all = vec![folded(quote)];
    for (open, close) in [('"', '"'), ('“', '”'), ('\'', '\''), ('`', '`'), ('«', '»')] {
        if let Some(inner) = quote.strip_prefix(open).and_then(|q| q.strip_suffix(close)) {
            all.push(folded(inner.trim_matches('`')));
        }
    }
    if quote.lines().all(|line| line.starts_with(['+', ' '])) && quote.contains('+') {
        let plain: Vec<&str> = quote.lines().map(|line| line.get(1..).unwrap_or_default()).collect();
        all.push(folded(&plain.join("\n")));
    }
    all.retain(|quote| !quote.is_empty());
    all.dedup();
    all
}

/// The line on which the first piece of an abridged quote stands, if all its pieces follow in order.
fn find_pieces(text: &FoldedText, quote: &str) -> Option<u32> {
    if !quote.contains("...") {
        return None;
    }
    let trim = |piece: &str| {
        piece.trim_matches(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '(' | ')')).len()
    };
    let pieces: Vec<&str> = quote.split("...").filter(|piece| trim(piece) > 0).collect();
    if pieces.iter().all(|piece| trim(piece) < SHORTEST_PIECE) || pieces.iter().any(|piece| trim(piece) < 3) {
        return None;
    }
    let mut from = 0;
    let mut line = None;
    for piece in pieces {
        let piece = piece.trim().trim_start_matches(']').trim_end_matches('[').trim();
        let at = from + text.as_str().get(from..)?.find(piece)?;
        line.get_or_insert_with(|| text.line_at(at));
        from = at + piece.len();
    }
    line
}

#[cfg(test)]
mod tests;
