//! The lines of a report that state a total: `**Score:** 84/100`, `- **Final: 84/100**`, `| Final | 84/100 |`.
//! What is projected, expected or on another scale is no score.

use crate::deduction::Amount;
use crate::reading::forms::is_pictograph;

pub(super) enum ScoreLine {
    Score(Amount),
    /// A number that is not the score yet: projected, self-reported.
    Projected,
    OtherScale,
    /// The sum of the deductions, or what they start from.
    Sum,
}

const LABELS: [&str; 7] =
    ["final score", "overall score", "total score", "score", "final", "overall", "total"];
/// Labels whose number counts without `/100`.
const PLAIN: [&str; 4] = ["final score", "overall score", "total score", "score"];
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

pub(super) fn read(line: &str) -> Option<ScoreLine> {
    let decorated = |c: char| {
        c.is_whitespace() || matches!(c, '*' | '_' | '`' | '#' | '|' | '-' | '+' | '•') || is_pictograph(c)
    };
    let body = line.trim_start_matches(decorated);
    if let Some(bare) = bare_score(body) {
        return Some(ScoreLine::Score(bare));
    }
    let lower = body.get(..body.floor_char_boundary(40))?.to_lowercase();
    let label = LABELS.into_iter().find(|label| lower.starts_with(label))?;
    let rest = body.get(label.len()..)?.trim_start_matches(['*', '_', '`', ' ']);
    let rest = rest.strip_prefix([':', '|', '=']).or_else(|| {
        // `Score — 55/100`, `Score is 55/100`: only with its scale.
        let rest = rest.strip_prefix(['—', '–', '-']).or_else(|| rest.strip_prefix("is "))?;
        rest.contains("100").then_some(rest)
    });
    let Some(rest) = rest else {
        return is_sum(body).then_some(ScoreLine::Sum);
    };
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
    if NOT_YET.iter().any(|word| behind.starts_with(word)) {
        return Some(ScoreLine::Projected);
    }
    Some(ScoreLine::Score(number))
}

/// `55/100` alone on its line.
fn bare_score(body: &str) -> Option<Amount> {
    let (score, scale) = body.trim_end_matches(['*', '_', '`', ' ', '.']).split_once('/')?;
    (scale.trim() == "100").then(|| Amount::parse(score.trim())).flatten()
}

fn is_sign(c: char) -> bool {
    matches!(c, '-' | '−' | '–')
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
