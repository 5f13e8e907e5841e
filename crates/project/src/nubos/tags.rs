//! The tagged blocks of nubos-pilot's pages: `<verify>…</verify>`. Not XML: a tag is found by its name, whatever
//! stands between.

use std::ops::Range;
use std::path::Path;

use crate::place::{ConfigLayer, Sourced};
use crate::rubric;

/// What stands in the first block of this name.
pub(super) fn block(text: &str, name: &str, within: Range<usize>) -> Option<Range<usize>> {
    blocks(text, name, within).into_iter().next()
}

/// What stands in every closed block of this name.
pub(super) fn blocks(text: &str, name: &str, within: Range<usize>) -> Vec<Range<usize>> {
    all(text, name, within, false)
}

/// As `blocks`, and an unclosed one reaches to the end.
pub(super) fn blocks_or_rest(text: &str, name: &str, within: Range<usize>) -> Vec<Range<usize>> {
    all(text, name, within, true)
}

fn all(text: &str, name: &str, within: Range<usize>, unclosed: bool) -> Vec<Range<usize>> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let (mut found, mut at) = (Vec::new(), within.start);
    while let Some(begin) = text.get(at..within.end).and_then(|rest| rest.find(&open)) {
        let start = at + begin + open.len();
        let rest = text.get(start..within.end).unwrap_or_default();
        if let Some(length) = rest.find(&close) {
            found.push(start..start + length);
            at = start + length + close.len();
        } else {
            found.extend(unclosed.then_some(start..within.end));
            break;
        }
    }
    found
}

/// The bullets, or lines, of the first block of this name.
pub(super) fn items(path: &Path, text: &str, name: &str) -> Vec<Sourced<String>> {
    let Some(block) = block(text, name, 0..text.len()) else { return Vec::new() };
    // Everything else is blanked out, so that places stay right.
    let blank = |part: &str| -> String {
        let blanked = |c: char| if c == '\n' { "\n".to_owned() } else { " ".repeat(c.len_utf8()) };
        part.chars().map(blanked).collect()
    };
    let before = blank(text.get(..block.start).unwrap_or_default());
    let only = format!("{before}{}", text.get(block).unwrap_or_default());
    let decode = |item: Sourced<String>| item.map(|text| decoded(&text));
    rubric::items(&only, path, ConfigLayer::Project).into_iter().map(decode).collect()
}

/// The lines of a stretch, each without its end.
pub(super) fn lines(text: &str, within: Range<usize>) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), within.start);
    for raw in text.get(within).unwrap_or_default().split_inclusive('\n') {
        let line = raw.trim_end();
        let lead = line.len() - line.trim_start().len();
        found.push(at + lead..at + line.len());
        at += raw.len();
    }
    found
}

/// Entities as the characters they stand for; `&amp;` last, so that `&amp;lt;` stays a text about `&lt;`.
pub(super) fn decoded(line: &str) -> String {
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&")]
        .iter()
        .fold(line.to_owned(), |line, (entity, character)| line.replace(entity, character))
}
