//! The lines of a report that state a total: `**Score:** 84/100`, `- **Final: 84/100**`, `| Final | 84/100 |`.
//! What is projected, expected or on another scale is no score.

use crate::deduction::Amount;
use crate::reading::forms::{STAND_IN, is_pictograph};

pub(super) enum ScoreLine<'a> {
    /// The total, and what is said behind it.
    Score(Amount, &'a str),
    /// A number that is not the score yet: projected, self-reported.
    Projected,
    OtherScale,
    /// The sum of the deductions, or what they start from.
    Sum,
}

const LABELS: [&str; 12] = [
    "final score",
    "overall score",
    "total score",
    "revised score",
    "adjusted score",
    "corrected score",
    "actual score",
    "new score",
    "score",
    "final",
    "overall",
    "total",
];
/// Labels whose number counts without `/100`.
const PLAIN: [&str; 9] = [
    "final score",
    "overall score",
    "total score",
    "revised score",
    "adjusted score",
    "corrected score",
    "actual score",
    "new score",
    "score",
];
const SUMS: [&str; 12] = [
    "total",
    "total deductions",
    "deductions",
    "deduction total",
    "sum",
    "subtotal",
    "starting",
    "start",
    "starting score",
    "base",
    "final",
    "score",
];
/// What says, right behind a number, that it is not the score.
const NOT_YET: [&str; 12] = [
    "projected",
    "expected",
    "estimated",
    "self",
    "provisional",
    "would",
    "could",
    "if ",
    "once ",
    "after fix",
    "potential",
    "target",
];

/// Of these, what may be said of another score in brackets.
const HYPOTHETICAL: [&str; 5] = ["would", "could", "if ", "once ", "self"];

/// `The final score is **98/100**.`, `**Verdict: PASS** (98/100)`, `→ **98/100**`: one total in other words.
fn in_words(line: &str) -> Option<ScoreLine<'_>> {
    let lower = line.to_lowercase();
    let spoken = ["score", "total", "final", "overall", "verdict", "result", "grade", "→", "rating", "="];
    let off = [
        "deduct",
        "would",
        "could",
        "projected",
        "expected",
        "previous",
        "if ",
        "after",
        "threshold of",
        "start",
    ];
    if line.contains(['"', '“', '„', '«', '`']) || line.contains(STAND_IN) {
        return None;
    }
    if !spoken.iter().any(|word| lower.contains(word)) || off.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let mut found = totals_in(line);
    let (first, end) = found.next()?;
    found.all(|(other, _)| other == first).then(|| ScoreLine::Score(first, line[end..].trim()))
}

/// Every `N/100` in a line, with where it ends.
pub(super) fn totals_in(line: &str) -> impl Iterator<Item = (Amount, usize)> + '_ {
    line.match_indices('/').filter_map(|(at, _)| {
        let after = line[at + 1..].trim_start();
        let end = line.len() - after.len() + 3;
        let whole =
            after.strip_prefix("100").is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
        let before = line[..at].trim_end_matches([' ', '*']);
        let start = before
            .rfind(|c: char| !(c.is_ascii_digit() || c == '.'))
            .map_or(0, |n| n + before[n..].chars().next().map_or(1, char::len_utf8));
        let number = Amount::parse_rounding_down(before.get(start..)?)?;
        whole.then_some((number, end))
    })
}

pub(super) fn read(line: &str) -> Option<ScoreLine<'_>> {
    let decorated = |c: char| {
        c.is_whitespace() || matches!(c, '*' | '_' | '`' | '#' | '|' | '-' | '+' | '•') || is_pictograph(c)
    };
    let body = line.trim_start_matches(decorated);
    if let Some(bare) = bare_score(body) {
        return Some(ScoreLine::Score(bare, ""));
    }
    let lower = body.get(..body.floor_char_boundary(40))?.to_lowercase();
    let Some(label) = LABELS.into_iter().find(|label| lower.starts_with(label)) else {
        return in_words(line);
    };
    let rest = body.get(label.len()..)?.trim_start_matches(['*', '_', '`', ' ']);
    let rest = rest.strip_prefix([':', '|', '=']).or_else(|| {
        // `Score — 55/100`, `Score is 55/100`: only with its scale.
        let rest = rest.strip_prefix(['—', '–', '-']).or_else(|| rest.strip_prefix("is "))?;
        rest.contains("100").then_some(rest)
    });
    let Some(rest) = rest else {
        return is_sum(body).then_some(ScoreLine::Sum).or_else(|| in_words(line));
    };
    // `100 - 20 - 25 = 55`: what the sum comes to.
    let rest = rest
        .rsplit_once('=')
        .filter(|(sum, _)| sum.contains(char::is_numeric))
        .map_or(rest, |(_, total)| total);
    let rest = rest.trim_start_matches(['*', '_', '`', ' ', '[', '|', ':', '=', '~', '≈', '(']);
    let length = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || is_sign(c))).unwrap_or(rest.len());
    let digits = rest.get(..length)?.trim_end_matches('.');
    // Of a range the lower end counts.
    let lowest =
        digits.char_indices().find(|(at, c)| *at > 0 && is_sign(*c)).map_or(digits, |(at, _)| &digits[..at]);
    let Some(number) = Amount::parse_rounding_down(lowest) else {
        return is_sum(body).then_some(ScoreLine::Sum);
    };
    let after = rest.get(digits.len()..)?.trim_start_matches(['*', '_', '`', ' ']);
    let scale = after.strip_prefix('/').or_else(|| after.strip_prefix("out of")).map(str::trim_start);
    let after = match scale {
        Some(scale) => {
            let scale = scale.trim_start();
            let digits = scale.bytes().take_while(u8::is_ascii_digit).count();
            if scale.get(..digits) != Some("100") {
                return Some(ScoreLine::OtherScale);
            }
            scale.get(digits..)?
        }
        None if after.starts_with('%') => after.get(1..)?,
        None if PLAIN.contains(&label) && !after.starts_with(char::is_alphanumeric) => after,
        None => return is_sum(body).then_some(ScoreLine::Sum),
    };
    let behind = after.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    // In brackets stands a remark: `98/100 (would be 100 without the filler)`.
    let remark = after.trim_start_matches(['*', '_', '`', ' ']).starts_with('(');
    let not_yet = |word: &str| behind.starts_with(word) && !(remark && HYPOTHETICAL.contains(&word));
    if NOT_YET.iter().any(|word| not_yet(word)) {
        return Some(ScoreLine::Projected);
    }
    Some(ScoreLine::Score(number, after.trim()))
}

/// `55/100` alone on its line.
fn bare_score(body: &str) -> Option<Amount> {
    let (score, scale) = body.trim_end_matches(['*', '_', '`', ' ', '.']).split_once('/')?;
    (scale.trim() == "100").then(|| Amount::parse(score.trim())).flatten()
}

fn is_sign(c: char) -> bool {
    matches!(c, '-' | '−' | '–')
}

/// The sum of what is taken off, where a line states it.
pub(super) fn deducted(line: &str) -> Option<Amount> {
    let (label, value) = line.split_once([':', '=', '|'])?;
    let digits: String = value.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    label
        .to_lowercase()
        .contains("deduct")
        .then(|| Amount::parse_rounding_down(digits.trim_end_matches('.')))?
}

/// `Starting: 100`, `Total deductions: -16`.
pub(super) fn is_sum(body: &str) -> bool {
    let label = body.split([':', '|', '=']).next().unwrap_or(body);
    is_sum_label(label)
}

pub(super) fn is_sum_label(label: &str) -> bool {
    let label = label.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    SUMS.contains(&label.as_str())
}
