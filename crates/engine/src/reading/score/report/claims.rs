//! One deduction in words: what names its row, what it says, and the fix.

use super::super::Claim;
use super::amounts::Points;
use crate::deduction::{Gravity, words};
use crate::reading::place;

pub(super) fn claim(points: &Points<'_>, heading: Option<&str>) -> Claim {
    let mut claim = plain(&points.rest(), heading);
    claim.names = vec![named(points.before), named(points.after), claim.says.clone()];
    claim.gravity = claim.names.iter().find_map(|n| leading_gravity(n));
    claim.points = Some(points.amount);
    claim.times = points.times;
    claim
}

/// A bullet without points.
pub(super) fn plain(text: &str, heading: Option<&str>) -> Claim {
    let (says, fix) = match find_ignoring_case(text, "fix:") {
        Some(at) => (
            text[..at].trim_end_matches(['*', '_', '→', ' ', '(']),
            text[at + 4..].trim_matches(['*', '_', ' ']),
        ),
        None => text.split_once(" → ").unwrap_or((text, "")),
    };
    Claim {
        names: vec![named(text)],
        category: heading.map(str::to_owned),
        gravity: leading_gravity(text),
        place: place::within(text),
        says: says.trim().to_owned(),
        fix: fix.trim().to_owned(),
        ..Claim::default()
    }
}

/// The part of a text that may name a row: up to the fix.
pub(super) fn named(text: &str) -> String {
    let text = text.split(" → ").next().unwrap_or(text);
    let end = find_ignoring_case(text, "fix:").unwrap_or(text.len());
    text.get(..end)
        .unwrap_or(text)
        .trim_matches([' ', ':', '*', '_', '—', '–', '-', '(', ')', '=', '|'])
        .to_owned()
}

pub(super) fn leading_gravity(text: &str) -> Option<Gravity> {
    let word = text.split(|c: char| c.is_whitespace() || matches!(c, ':' | '|')).find(|w| !w.is_empty())?;
    Gravity::parse(word)
}

fn find_ignoring_case(text: &str, what: &str) -> Option<usize> {
    text.as_bytes().windows(what.len()).position(|w| w.eq_ignore_ascii_case(what.as_bytes()))
}

pub(super) fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['"', '“', '”', '„', '`', '«', '»']).to_owned()
}

/// `No sample size: 0`, `…: hedged, no deduction.`, `does not apply`: a row that is gone through and costs nothing.
pub(super) fn takes_nothing(text: &str) -> bool {
    let lower = text.to_lowercase();
    let value = lower.rsplit_once(':').map(|(_, value)| value.trim_matches(|c: char| !c.is_alphanumeric()));
    let value = value.map(|value| value.split([',', '(', ';', '—']).next().unwrap_or_default().trim_end());
    let free = [
        "no deduction",
        "does not apply",
        "not applicable",
        "not triggered",
        "no points",
        "0 points",
        "not deducted",
        "n/a",
    ];
    value.is_some_and(|value| matches!(value, "0" | "none" | "no" | "ok" | "met" | "fine" | "pass"))
        || free.iter().any(|phrase| lower.contains(phrase))
            && !lower.contains("should")
            && !lower.contains("must")
}

/// `Deduction:`, `Points deducted:`: what follows is the price of what was named above.
pub(super) fn is_cost_label(before: &str) -> bool {
    let label = words(before).collect::<Vec<_>>().join(" ");
    [
        "deduction",
        "deductions",
        "points",
        "penalty",
        "deducted",
        "cost",
        "points deducted",
        "deduct",
        "points lost",
        "point deduction",
    ]
    .contains(&label.as_str())
}
