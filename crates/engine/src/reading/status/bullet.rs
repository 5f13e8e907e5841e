//! One point of a verdict: its text, and the numbers of earlier items it cites.

use super::Bullet;
use super::body::{LONGEST_BULLET, Point};
use crate::brief::one_line;
use crate::reading::lines::{self, Tick};

impl Bullet {
    pub(super) fn read(point: &Point) -> Self {
        let folded: String = one_line(&point.text).chars().take(LONGEST_BULLET).collect();
        let (tick, body) = lines::tick(&folded);
        let body = if tick == Tick::None { folded.as_str() } else { body };
        let (cites, rest) = citations(body);
        let rest = lines::tick(rest).1;
        let text = if rest.is_empty() { body.to_owned() } else { rest.to_owned() };
        // `1. ✓ stated`, `2. ✗ no test`: who ticks off a list counts the items of before.
        let counted = point.listed.filter(|_| cites.is_empty() && point.tick != Tick::None);
        let cites = if let Some(n) = counted { vec![n] } else { cites };
        Self { text, whole: body.to_owned(), cites, listed: point.listed }
    }
}

/// Reads the item numbers at the beginning of a bullet. A bare number followed by words ("3 sentences
/// lack units") cites nothing: a colon, dot, bracket, dash or the end must follow.
pub(super) fn citations(text: &str) -> (Vec<u32>, &str) {
    let mut rest = text.trim_start_matches(['*', '_']);
    let lower = rest.to_ascii_lowercase();
    let mut explicit = false;
    for word in ["items ", "item ", "point ", "points ", "bullet ", "issue ", "fix ", "no. ", "nr. "] {
        if lower.starts_with(word)
            && lower[word.len()..].starts_with(|c: char| c.is_ascii_digit() || c == '#')
        {
            rest = rest[word.len()..].trim_start();
            explicit = true;
            break;
        }
    }
    let mut numbers = Vec::new();
    loop {
        let bare = rest.trim_start_matches(['#', '(', '[', '*']);
        explicit |= rest.starts_with('#');
        let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
        let Some(n) = (digits <= 4).then(|| bare[..digits].parse::<u32>().ok()).flatten() else { break };
        numbers.push(n);
        rest = &bare[digits..];
        let after = rest.trim_start();
        let Some(next) = [", ", "& ", "and ", ","].iter().find_map(|s| after.strip_prefix(s)) else { break };
        if !next.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '#') {
            break;
        }
        rest = next.trim_start();
    }
    let ends = rest.is_empty()
        || rest.starts_with([':', ')', ']', '*'])
        || rest.starts_with(". ")
        || [" —", " –", " - ", " ✓", " ✗", " ❌", " ✅"].iter().any(|d| rest.starts_with(d));
    if numbers.is_empty() || !(ends || explicit) {
        return (Vec::new(), text);
    }
    let rest = rest.trim_start_matches([':', ')', ']', '.', '*', ' ', '—', '–', '-']);
    (numbers, rest)
}
