//! Points in a line of a report: `-10: …`, `… : −10`, `… (-5)`, `2 × -10`. A number in the middle of a
//! sentence (`a coefficient of -0.5`) takes nothing off.

use std::sync::LazyLock;

use regex::Regex;

use super::above_zero;
use crate::deduction::Amount;

/// Points in words: `20 points`, `20 pts`, `minus 25`, `deduct 10`.
static WORDED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)
        (?:\b(?:minus|deduct(?:ed|ion)?(?:\s+of)?|penalty(?:\s+of)?|loses|lost|subtract(?:ed)?)\s*:?\s*(?P<after>\d{1,3}(?:\.\d)?)(?:\s*(?:points?|pts?)\b\.?)?)
        | (?:(?:^|[\s(\[:|—–])(?P<before>\d{1,3}(?:\.\d)?)\s*(?:points?|pts?)\b\.?)",
    )
    .ok()
});
/// What points are said to be when they are not taken off.
const GIVEN: [&str; 9] =
    ["earned", "awarded", "gained", "full", "out of", "bonus", "of 100", "start", "total"];

/// `20 points` where no minus sign stands.
fn worded(text: &str) -> Option<Points<'_>> {
    let lower = text.to_lowercase();
    if GIVEN.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let found = WORDED.as_ref()?.captures(text)?;
    let number = found.name("after").or_else(|| found.name("before"))?;
    let whole = found.get(0)?;
    let amount = above_zero(Amount::parse_rounding_down(number.as_str())?)?;
    let start = if found.name("before").is_some() { number.start() } else { whole.start() };
    Some(Points { amount, times: None, before: text.get(..start)?, after: text.get(whole.end()..)? })
}

/// What a line says about points.
pub(super) struct Found<'a> {
    pub points: Option<Points<'a>>,
    /// Points that are given, not taken off.
    pub credit: bool,
    /// There is a negative number where no deduction stands.
    pub loose: bool,
}

pub(super) struct Points<'a> {
    pub amount: Amount,
    /// `2 × -10`, `-10 × 2`.
    pub times: Option<u32>,
    pub before: &'a str,
    pub after: &'a str,
}

impl Points<'_> {
    /// The line without its points.
    pub(super) fn rest(&self) -> String {
        let before = self.before.trim_end_matches([' ', ':', '(', '[', '*', '_', '—', '–', '=', '→']);
        let after =
            self.after.trim_start_matches([' ', ':', ')', ']', '*', '_', '—', '–', '.', ',', ';', '=']);
        match (before.trim().is_empty(), after.trim().is_empty()) {
            (false, false) => format!("{before} — {after}"),
            (true, _) => after.to_owned(),
            (_, true) => before.to_owned(),
        }
    }
}

/// `anywhere`: in a breakdown every negative number is a deduction.
pub(super) fn read(text: &str, anywhere: bool) -> Found<'_> {
    let mut loose = false;
    let mut best: Option<Points<'_>> = None;
    let beginning = beginning(text);
    for number in numbers(text) {
        let leads = number.start == beginning;
        if !(leads || anywhere || number.is_set_off(text)) {
            loose = true;
            continue;
        }
        best = number.points(text).or(best);
        // The first number of a line that begins with one, else the last: `2 × -10 = -20`.
        if leads && best.is_some() {
            break;
        }
    }
    let credit = best.is_none() && is_credit(text);
    if best.is_none() && !credit {
        best = worded(text);
    }
    Found { points: best, credit, loose }
}

/// Does a line begin with points?
pub(super) fn leads(text: &str) -> bool {
    numbers(text).next().is_some_and(|n| n.start == beginning(text))
}

/// The points of a table cell that holds nothing else; `unsigned`: they need no minus sign.
pub(super) fn whole_cell(cell: &str, unsigned: bool) -> Option<(Amount, Option<u32>)> {
    let cell = cell.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '(' | ')'));
    if cell.len() > 60 || cell.starts_with('+') {
        return None;
    }
    if unsigned && let Some(amount) = Amount::parse(cell) {
        return above_zero(amount).map(|a| (a, None));
    }
    if numbers(cell).next().is_none()
        && let Some(points) = worded(cell)
        && (unsigned || points.before.trim().is_empty())
    {
        return Some((points.amount, None));
    }
    let number = numbers(cell).last()?;
    let points = number.points(cell)?;
    let around = |part: &str| part.chars().all(|c| !c.is_alphabetic() || matches!(c, 'x'));
    let after = points.after.trim_start();
    let worded = ["per", "each", "pt", "point", "(", ","].iter().any(|w| after.starts_with(w));
    (around(points.before) && (worded || around(after))).then_some((points.amount, points.times))
}

/// A negative number: where its sign stands and where its digits end.
struct Number {
    start: usize,
    end: usize,
}

/// Numbers with a minus sign that no word or digit touches.
fn numbers(text: &str) -> impl Iterator<Item = Number> + '_ {
    let mut before: Option<char> = None;
    let mut skip_to = 0;
    text.char_indices().filter_map(move |(start, c)| {
        let previous = before.replace(c);
        if start < skip_to || !matches!(c, '-' | '−' | '–' | '﹣') {
            return None;
        }
        let free = previous
            .is_none_or(|p| !p.is_alphanumeric() && !matches!(p, '-' | '.' | '/' | '_' | '\\' | '^' | '{'));
        let mut digits = &text[start + c.len_utf8()..];
        let mut gap = 0;
        // `: - 20`, set off as points are, with a space behind the sign.
        if digits.starts_with(' ') && text[..start].trim_end().ends_with([':', '(', '|', '=', '→', '[']) {
            digits = &digits[1..];
            gap = 1;
        }
        let length = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
        let number = digits.get(..length)?.trim_end_matches('.');
        let end = start + c.len_utf8() + gap + number.len();
        let next = text.get(end..)?.chars().next();
        let closed = next.is_none_or(|n| {
            !n.is_alphanumeric() && !matches!(n, '%' | '/' | '-' | '–' | '_') || matches!(n, 'p' | 'x')
        });
        (free && closed && !number.is_empty()).then(|| {
            skip_to = end;
            Number { start, end }
        })
    })
}

impl Number {
    /// It stands where a report puts points: behind a colon, a dash, an arrow, in brackets.
    fn is_set_off(&self, text: &str) -> bool {
        let before = text.get(..self.start).unwrap_or_default();
        let before = before.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`'));
        let last = text.get(self.end..).is_some_and(|after| !after.contains(char::is_alphanumeric));
        before.ends_with([':', '(', '[', '→', '—', '–', '|', '=', '×', ';', '…'])
            || last && before.ends_with(['.', ','])
            || before.ends_with('x') && multiplier(before).is_some()
    }

    fn points<'a>(&self, text: &'a str) -> Option<Points<'a>> {
        let written: String = text.get(self.start..self.end)?.chars().filter(|c| *c != ' ').collect();
        let amount = above_zero(Amount::parse_rounding_down(&written)?)?;
        let (before, after) = (text.get(..self.start)?, text.get(self.end..)?);
        let (before, times) = match multiplier(before) {
            Some((head, times)) => (head, Some(times)),
            None => (before, multiplied(after)),
        };
        // What one costs times how often is what is taken off.
        let amount = times.map_or(amount, |t| amount.times(t));
        Some(Points { amount, times, before, after })
    }
}

/// `2 ×` at the end of a text.
fn multiplier(text: &str) -> Option<(&str, u32)> {
    let head = text.trim_end().strip_suffix(['×', 'x', '*'])?.trim_end();
    let digits = head.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (head, number) = head.split_at_checked(head.len() - digits)?;
    let free = !head.ends_with(|c: char| c.is_alphanumeric());
    number.parse().ok().filter(|_| free).map(|n| (head, n))
}

/// `× 2` at the beginning of a text.
fn multiplied(text: &str) -> Option<u32> {
    let rest = text.trim_start().strip_prefix(['×', 'x'])?.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest.get(..digits)?.parse().ok()
}

/// `+5` where points stand: a recovery, a bonus.
fn is_credit(text: &str) -> bool {
    text.match_indices('+').any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default().trim_end_matches([' ', '*', '_', '`']);
        let digits = text.get(at + 1..).is_some_and(|after| after.starts_with(|c: char| c.is_ascii_digit()));
        digits && (before.is_empty() || before.ends_with([':', '(', '[', '→', '—', '–', '|']))
    })
}

/// Where a line begins behind its marks.
fn beginning(text: &str) -> usize {
    let mark = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '[' | '(');
    text.len() - text.trim_start_matches(mark).len()
}
