//! Text as quotes are compared: one space between words, typographic marks as their plain forms, without the stand-ins
//! that `reading::shown` puts around verdict words. So a quote is found whether the critic copied what it was shown or what
//! stands in the file.

/// A folded text that still knows its lines.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FoldedText {
    text: String,
    /// Where each line begins in `text`.
    lines: Vec<usize>,
}

impl FoldedText {
    pub fn of(text: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(text.len()), lines: vec![0] };
        let mut space = false;
        for c in text.chars() {
            if c == '\n' {
                folded.lines.push(folded.text.len());
            }
            if c.is_whitespace() {
                space = true;
                continue;
            }
            if is_unseen(c) {
                continue;
            }
            if space && !folded.text.is_empty() {
                folded.text.push(' ');
            }
            space = false;
            push_plain(c, &mut folded.text);
        }
        if text.ends_with('\n') {
            folded.lines.pop();
        }
        folded
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How many lines there are; an empty text has one, which editors show, too.
    pub fn lines(&self) -> u32 {
        u32::try_from(self.lines.len()).unwrap_or(u32::MAX)
    }

    /// The line, counted from 1, that the byte stands on.
    pub fn line_at(&self, byte: usize) -> u32 {
        u32::try_from(self.lines.partition_point(|start| *start <= byte)).unwrap_or(u32::MAX)
    }

    /// The text of some lines, counted from 1, both included.
    pub fn between(&self, first: u32, last: u32) -> &str {
        let start = |line: u32| {
            let at = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
            self.lines.get(at).copied().unwrap_or(self.text.len())
        };
        self.text.get(start(first)..start(last.saturating_add(1))).unwrap_or_default().trim()
    }

    /// The line of the occurrence nearest to the line named, or of the first one. Capital letters count only where the
    /// quote stands so, too.
    pub fn find_near(&self, quote: &str, line: Option<u32>) -> Option<u32> {
        self.find_exactly(quote, line).or_else(|| {
            let lower = Self { text: self.text.to_ascii_lowercase(), lines: self.lines.clone() };
            lower.find_exactly(&quote.to_ascii_lowercase(), line)
        })
    }

    fn find_exactly(&self, quote: &str, line: Option<u32>) -> Option<u32> {
        let Some(named) = line else { return self.text.find(quote).map(|at| self.line_at(at)) };
        let mut nearest: Option<u32> = None;
        for (at, _) in self.text.match_indices(quote) {
            let here = self.line_at(at);
            if nearest.is_none_or(|best| here.abs_diff(named) < best.abs_diff(named)) {
                nearest = Some(here);
            } else if here > named {
                break;
            }
        }
        nearest
    }
}

/// The folded text alone.
pub fn folded(text: &str) -> String {
    FoldedText::of(text).text
}

/// Adds a mark in its plain form; one that is not seen adds nothing.
fn push_plain(c: char, to: &mut String) {
    to.push(match crate::reading::clean::plain(c).unwrap_or(c) {
        '…' => return to.push_str("..."),
        '‘' | '’' | '‚' | '‛' | '′' => '\'',
        '“' | '”' | '„' | '‟' | '″' | '«' | '»' => '"',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
        other => other,
    });
}

/// What takes no room, and the stand-ins that data in a brief carries.
const fn is_unseen(c: char) -> bool {
    crate::reading::clean::is_unseen(c) || matches!(c, '‹' | '›')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_space_that_only_look_different_are_the_same() {
        let cases = [
            ("  a\t b\r\n\n c ", "a b c"),
            ("“it’s” – so…", "\"it's\" - so..."),
            ("a\u{a0}b\u{200b}c", "a bc"),
            ("[STATUS: ‹APPROVED›]", "[STATUS: APPROVED]"),
            ("", ""),
        ];
        for (given, expected) in cases {
            assert_eq!(folded(given), expected, "{given}");
        }
    }

    #[test]
    fn lines_are_found_again_in_the_folded_text() {
        let text = FoldedText::of("one\n\n  two  x\nthree\n");
        assert_eq!(text.as_str(), "one two x three");
        assert_eq!(text.lines(), 4);
        assert_eq!(text.find_near("two", None), Some(3));
        assert_eq!(text.find_near("x three", None), Some(3), "a quote over two lines begins on the first");
        assert_eq!(text.between(3, 4), "two x three");
        assert_eq!(text.between(2, 2), "");
        assert_eq!(text.between(9, 12), "");
        assert_eq!(FoldedText::of("").lines(), 1);
        assert_eq!(FoldedText::of("a\nb").lines(), 2);
    }

    #[test]
    fn the_nearest_occurrence_is_meant() {
        let text = FoldedText::of("x\na\na\nx\na\nx\n");
        assert_eq!(text.find_near("x", Some(5)), Some(4));
        assert_eq!(text.find_near("x", Some(6)), Some(6));
        assert_eq!(text.find_near("x", Some(99)), Some(6));
        assert_eq!(text.find_near("y", Some(1)), None);
    }
}
