//! The value of a field: one text, though it may be wrapped over lines, that knows where each part of it stands.
//! And how such a text is taken apart, with respect for backticks and parentheses.

use std::ops::Range;

/// Longer values are a mistake or an attack, and taking them apart costs the square of their length.
pub(super) const LONGEST: usize = 8 * 1024;

/// Text joined from pieces of lines.
#[derive(Clone, Debug, Default)]
pub(super) struct JoinedText {
    pub(super) text: String,
    /// Where a piece begins: here, and in the file.
    pieces: Vec<(usize, usize)>,
}

impl JoinedText {
    pub(super) fn new(piece: &str, at: usize) -> Self {
        let mut value = Self::default();
        value.push(piece, at);
        value
    }

    /// Adds a line, or what is left of it, which stands at `at` in the file.
    pub(super) fn push(&mut self, piece: &str, at: usize) {
        let inner = piece.trim();
        let skipped = piece.len() - piece.trim_start().len();
        if inner.is_empty() && !self.pieces.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.pieces.push((self.text.len(), at + skipped));
        self.text.push_str(inner);
    }

    /// The stretch of the file a stretch of the text was read from.
    pub(super) fn source(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.source_of(range.start);
        if range.is_empty() { start..start } else { start..self.source_of(range.end - 1) + 1 }
    }

    pub(super) fn span(&self) -> Range<usize> {
        self.source(&(0..self.text.len()))
    }

    pub(super) fn get(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    fn source_of(&self, at: usize) -> usize {
        let piece = self.pieces.partition_point(|(start, _)| *start <= at).checked_sub(1);
        piece.and_then(|n| self.pieces.get(n)).map_or(0, |(start, source)| source + (at - start))
    }
}

/// For each byte whether it stands outside backticks, parentheses and braces. What is never closed counts as text.
pub(super) fn plain(text: &str) -> Vec<bool> {
    let bytes = text.as_bytes();
    let mut plain = vec![true; bytes.len()];
    for code in code_spans(text) {
        plain[code].fill(false);
    }
    let mut open: Vec<usize> = Vec::new();
    for at in 0..bytes.len() {
        if !plain[at] {
            continue;
        }
        match bytes[at] {
            b'(' | b'{' => open.push(at),
            close @ (b')' | b'}') => {
                let opens = if close == b')' { b'(' } else { b'{' };
                if let Some(n) = open.iter().rposition(|start| bytes[*start] == opens) {
                    plain[open[n]..=at].fill(false);
                    open.truncate(n);
                }
            }
            _ => {}
        }
    }
    plain
}

/// What stands in backticks, with the backticks.
pub(super) fn code_spans(text: &str) -> Vec<Range<usize>> {
    let ticks: Vec<usize> = text.match_indices('`').map(|(at, _)| at).collect();
    ticks.chunks_exact(2).map(|pair| pair[0]..pair[1] + 1).collect()
}

/// A backtick without its partner.
pub(super) fn open_tick(text: &str) -> Option<usize> {
    let ticks: Vec<usize> = text.match_indices('`').map(|(at, _)| at).collect();
    if ticks.len().is_multiple_of(2) { None } else { ticks.last().copied() }
}

/// A parenthesis without its partner, outside backticks.
pub(super) fn open_parenthesis(text: &str) -> Option<usize> {
    let plain = plain(text);
    text.match_indices(['(', ')']).map(|(at, _)| at).find(|at| plain[*at])
}

/// Where one of `words` stands between spaces or ends, outside backticks and parentheses.
pub(super) fn words(
    text: &str,
    range: &Range<usize>,
    words: &[&'static str],
) -> Vec<(Range<usize>, &'static str)> {
    let within = text.get(range.clone()).unwrap_or_default();
    let plain = plain(within);
    let mut found = Vec::new();
    let mut at = 0;
    for piece in within.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        if let Some(known) = words.iter().find(|known| **known == word && plain[at]) {
            found.push((range.start + at..range.start + at + word.len(), *known));
        }
        at += piece.len();
    }
    found
}

/// The parts between separators outside backticks and parentheses, trimmed; empty ones are left out.
pub(super) fn parts(text: &str, range: &Range<usize>, separators: &[char]) -> Vec<Range<usize>> {
    let within = text.get(range.clone()).unwrap_or_default();
    let plain = plain(within);
    let mut parts = Vec::new();
    let mut start = range.start;
    for (at, separator) in within.match_indices(separators).filter(|(at, _)| plain[*at]) {
        parts.push(trimmed(text, &(start..range.start + at)));
        start = range.start + at + separator.len();
    }
    parts.push(trimmed(text, &(start..range.end)));
    parts.retain(|part| !part.is_empty());
    parts
}

pub(super) fn trimmed(text: &str, range: &Range<usize>) -> Range<usize> {
    let inner = text.get(range.clone()).unwrap_or_default();
    let start = range.start + (inner.len() - inner.trim_start().len());
    start..(start + inner.trim().len())
}

/// A value before its note, and the note: what follows a dash between spaces, or stands in parentheses at the end.
pub(super) fn without_note(text: &str) -> (&str, &str) {
    let (said, after) = without_dash(text);
    let (bare, within) = without_parenthesis(said);
    (bare, if after.is_empty() { within } else { after })
}

/// What stands before a dash between spaces (names contain `-`), and what after it. A dash at the very start stands for
/// nothing at all and separates nothing unless another follows.
pub(super) fn without_dash(text: &str) -> (&str, &str) {
    let text = text.trim();
    let dashes = words(text, &(0..text.len()), &["—", "–", "---", "--"]);
    match dashes.into_iter().find(|(at, _)| at.start > 0) {
        Some((at, _)) => (text[..at.start].trim_end(), text[at.end..].trim_start()),
        None => (text, ""),
    }
}

/// Without a parenthesis at the end, and what stands in it.
pub(super) fn without_parenthesis(text: &str) -> (&str, &str) {
    let text = text.trim();
    let whole = (text, "");
    let Some(inner) = text.trim_end_matches(['.', ';', ',']).strip_suffix(')') else { return whole };
    let mut depth = 1usize;
    for (at, c) in inner.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let before = text[..at].trim_end();
            return if before.is_empty() { whole } else { (before, inner[at + 1..].trim()) };
        }
    }
    whole
}

/// Without backticks and asterisks around it.
pub(super) fn bare(text: &str) -> &str {
    text.trim().trim_matches(['`', '*']).trim()
}

/// `None`, `—` and the like.
pub(super) fn is_none(text: &str) -> bool {
    let word = bare(text).trim_end_matches(['.', ',', ';', ':']).to_lowercase();
    matches!(
        word.as_str(),
        "none"
            | "—"
            | "–"
            | "-"
            | "--"
            | "---"
            | "n/a"
            | "nothing"
            | "no files"
            | "ninguno"
            | "ninguna"
            | "nada"
    )
}
