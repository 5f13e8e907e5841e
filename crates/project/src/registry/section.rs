//! A Markdown text as headings with the fields under them. It knows nothing of what a field means.

use std::ops::Range;

use super::RegistryReader;
use super::field::{Label, label};
use super::value::{JoinedText, LONGEST};
use crate::markdown::body_start;

/// What stands under one heading of level 2 to 4.
#[derive(Debug)]
pub(super) struct RegistrySection {
    pub(super) heading: JoinedText,
    pub(super) fields: Vec<RawField>,
}

#[derive(Debug)]
pub(super) struct RawField {
    pub(super) label: Label,
    pub(super) key: Range<usize>,
    pub(super) value: JoinedText,
    /// Bullets below it that are no fields.
    pub(super) bullets: Vec<JoinedText>,
}

/// Where a line that begins with nothing special belongs.
#[derive(Clone, Copy, PartialEq)]
enum OpenItem {
    Nothing,
    Value,
    Bullet,
}

/// What is passed over.
enum Skipped {
    Fence(String),
    Comment,
}

pub(super) fn all(text: &str, reading: &mut RegistryReader<'_>) -> Vec<RegistrySection> {
    let mut sections: Vec<RegistrySection> = Vec::new();
    let mut in_section = false;
    let mut open = OpenItem::Nothing;
    let mut skipped: Option<(Skipped, usize)> = None;
    let mut at = body_start(text);
    for line in text.get(at..).unwrap_or_default().split_inclusive('\n') {
        let start = at;
        at += line.len();
        let line = line.trim_end();
        let inner = line.trim_start();
        let indent = line.len() - inner.len();
        if let Some((what, _)) = &skipped {
            let ends = match what {
                Skipped::Fence(fence) => inner.starts_with(fence.as_str()) && is_only(inner, fence),
                Skipped::Comment => inner.contains("-->"),
            };
            if ends {
                skipped = None;
            }
            continue;
        }
        if let Some(fence) = fence(inner) {
            (skipped, open) = (Some((Skipped::Fence(fence), start)), OpenItem::Nothing);
        } else if inner.starts_with("<!--") {
            open = OpenItem::Nothing;
            skipped = (!inner.contains("-->")).then_some((Skipped::Comment, start));
        } else if let Some((level, title)) = heading(inner) {
            open = OpenItem::Nothing;
            in_section = (2..=4).contains(&level);
            if in_section {
                let title_at =
                    start + indent + (inner.len() - inner.trim_start_matches('#').trim_start().len());
                sections
                    .push(RegistrySection { heading: JoinedText::new(title, title_at), fields: Vec::new() });
            }
        } else if inner.is_empty() || inner.starts_with(['|', '>']) || is_rule(inner) {
            open = OpenItem::Nothing;
        } else if in_section && let Some(section) = sections.last_mut() {
            open = section.line(inner, start + indent, indent > 0, open);
        }
    }
    if let Some((what, start)) = skipped {
        let what = if matches!(what, Skipped::Fence(_)) { "code fence" } else { "comment" };
        let message = format!("this {what} is never closed: everything after it is passed over");
        reading.warning(message, "close it", &(start..start + 3));
    }
    for field in sections.iter_mut().flat_map(|section| &mut section.fields) {
        let too_long = std::iter::once(&mut field.value)
            .chain(&mut field.bullets)
            .filter(|value| value.text.len() > LONGEST)
            .map(std::mem::take);
        for value in too_long {
            reading.error(format!("longer than {LONGEST} bytes"), "keep values short", &value.span());
        }
    }
    sections
}

impl RegistrySection {
    /// Takes a line in, and says where a line after it would belong.
    fn line(&mut self, inner: &str, at: usize, is_indented: bool, open: OpenItem) -> OpenItem {
        let bullet = ["- ", "* ", "+ "].iter().find_map(|mark| inner.strip_prefix(mark));
        let rest = bullet.unwrap_or(inner).trim_start();
        let rest_at = at + (inner.len() - rest.len());
        if matches!(inner, "-" | "*" | "+") {
            return OpenItem::Nothing;
        }
        // A field that lost its bullet is still a field; swallowed by the one above it would change what that says.
        let found = label(rest, is_indented)
            .filter(|(label, ..)| bullet.is_some() || matches!(label, Label::Known(_) | Label::Detail(..)));
        if let Some((label, key_end, value)) = found {
            self.fields_of(rest, rest_at, (label, key_end, value));
            return OpenItem::Value;
        }
        let Some(field) = self.fields.last_mut() else { return OpenItem::Nothing };
        match (bullet, open) {
            (Some(_), _) => {
                field.bullets.push(JoinedText::new(rest, rest_at));
                OpenItem::Bullet
            }
            (None, OpenItem::Value) => {
                field.value.push(inner, at);
                open
            }
            (None, OpenItem::Bullet) => {
                if let Some(bullet) = field.bullets.last_mut() {
                    bullet.push(inner, at);
                }
                open
            }
            (None, OpenItem::Nothing) => open,
        }
    }

    /// The field of a line, and those that follow it after ` · `.
    fn fields_of(&mut self, rest: &str, at: usize, first: (Label, usize, usize)) {
        const JOINT: &str = " · ";
        // More than any label is long: looking at the whole rest each time would cost the square of the line.
        const AHEAD: usize = 300;
        let (mut start, mut next) = (0, Some(first));
        while let Some((label, key_end, value)) = next.take() {
            let from = start + value;
            let follower = rest[from..].match_indices(JOINT).find_map(|(joint, _)| {
                let follows = from + joint + JOINT.len();
                let ahead = rest.floor_char_boundary(follows + AHEAD);
                super::field::label(&rest[follows..ahead], false).map(|found| (from + joint, follows, found))
            });
            let end = follower.as_ref().map_or(rest.len(), |(joint, ..)| *joint);
            self.fields.push(RawField {
                label,
                key: at + start..at + start + key_end,
                value: JoinedText::new(&rest[from..end], at + from),
                bullets: Vec::new(),
            });
            if let Some((_, follows, found)) = follower {
                (start, next) = (follows, Some(found));
            }
        }
    }
}

/// Level and title.
fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = line.get(level..)?;
    let is_heading = (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_heading.then(|| (level, rest.trim().trim_end_matches('#').trim_end()))
}

fn fence(line: &str) -> Option<String> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    let rest = &line[length..];
    (length >= 3 && !(mark == '`' && rest.contains('`'))).then(|| mark.to_string().repeat(length))
}

/// Nothing but the fence's character.
fn is_only(line: &str, fence: &str) -> bool {
    fence.chars().next().is_some_and(|mark| line.chars().all(|c| c == mark))
}

fn is_rule(line: &str) -> bool {
    let marks: Vec<char> = line.chars().filter(|c| !c.is_whitespace()).collect();
    marks.len() >= 3 && matches!(marks[0], '-' | '*' | '_') && marks.iter().all(|c| *c == marks[0])
}
