//! The tagged blocks of nubos-pilot's pages: `<verify>…</verify>`. Not XML: a tag is found by its name, whatever
//! stands between.

use std::ops::Range;
use std::path::Path;

use gadfly_project::place::{ConfigLayer, Sourced};
use gadfly_project::rubric;

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
    let (mut found, mut at) = (Vec::new(), within.start);
    while let Some(start) = opened(text, name, at..within.end) {
        if let Some((end, next)) = closed(text, name, start..within.end) {
            found.push(start..end);
            at = next;
        } else {
            found.extend(unclosed.then_some(start..within.end));
            break;
        }
    }
    found
}

/// Where the content begins after the next `<name>` or `<name …>`, however its letters are written.
fn opened(text: &str, name: &str, within: Range<usize>) -> Option<usize> {
    let mut at = within.start;
    loop {
        let open = at + text.get(at..within.end)?.find('<')?;
        at = open + 1;
        let Some(rest) = after(text.get(at..within.end)?, name) else { continue };
        let begin = within.end - rest.len();
        if rest.starts_with('>') {
            return Some(begin + 1);
        }
        if rest.starts_with(char::is_whitespace)
            && let Some(length) = rest.find(['<', '>'])
            && rest.get(length..).is_some_and(|r| r.starts_with('>'))
        {
            return Some(begin + length + 1);
        }
    }
}

/// Where the next `</name>` begins and ends.
fn closed(text: &str, name: &str, within: Range<usize>) -> Option<(usize, usize)> {
    let mut at = within.start;
    loop {
        let open = at + text.get(at..within.end)?.find("</")?;
        at = open + 2;
        if let Some(rest) = after(text.get(at..within.end)?, name)
            && rest.trim_start().starts_with('>')
        {
            let begin = within.end - rest.trim_start().len();
            return Some((open, begin + 1));
        }
    }
}

/// What follows the name, if the text begins with it.
fn after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let head = text.get(..name.len())?;
    head.eq_ignore_ascii_case(name).then(|| text.get(name.len()..)).flatten()
}

/// Whether a line begins with one of the tags that stand inside `<verify>`.
pub(super) fn is_tag(line: &str) -> bool {
    let inner = line.strip_prefix('<').map(|rest| rest.strip_prefix('/').unwrap_or(rest));
    inner.is_some_and(|rest| {
        ["manual", "automated", "verify"].iter().any(|name| {
            after(rest, name)
                .is_some_and(|rest| rest.starts_with('>') || rest.starts_with(char::is_whitespace))
        })
    })
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

/// The lines of a stretch with their indentation, each without its end.
pub(super) fn whole_lines(text: &str, within: Range<usize>) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), within.start);
    for raw in text.get(within).unwrap_or_default().split_inclusive('\n') {
        found.push(at..at + raw.trim_end().len());
        at += raw.len();
    }
    found
}

/// Entities as the characters they stand for, named or by number. In one pass, so that `&amp;lt;` stays a text about
/// `&lt;`.
pub(super) fn decoded(text: &str) -> String {
    const LONGEST: usize = 10;
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('&') {
        let (before, entity) = rest.split_at(at);
        out.push_str(before);
        let known = entity.find(';').filter(|end| *end <= LONGEST).and_then(|end| {
            let character = character(entity.get(1..end)?)?;
            Some((character, entity.get(end + 1..)?))
        });
        let (character, after) = known.unwrap_or(('&', entity.get(1..).unwrap_or_default()));
        out.push(character);
        rest = after;
    }
    out.push_str(rest);
    out
}

fn character(entity: &str) -> Option<char> {
    let code = match entity {
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        "amp" => return Some('&'),
        _ => entity.strip_prefix('#')?,
    };
    let number = match code.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => code.parse().ok()?,
    };
    // No command can hold a NUL.
    char::from_u32(number).filter(|c| *c != '\0')
}
