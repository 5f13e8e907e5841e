//! One cell of a deduction column: `-20`, `−10 per paper, max −30`, `-5 each`, `up to -20`, `MAJOR`.

use gadfly_engine::deduction::{Amount, Gravity, Points};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Cell {
    Points {
        points: Points,
        /// It was written with a minus sign.
        signed: bool,
        /// The cell leaves the number to the critic; the largest was taken.
        open: bool,
    },
    /// `—`, `0`, `n/a`, nothing.
    Nothing,
    /// `+5`.
    Credit,
    /// Why it cannot be read.
    Unreadable(&'static str),
}

/// The longest cell that is looked at.
const LONGEST: usize = 200;
const MAXIMUM: [&str; 10] =
    ["maximum", "max.", "max", "up to", "capped at", "cap", "at most", "limited to", "limit", "no more than"];
const WHOLE_POINTS: [&str; 4] = ["points", "point", "pts", "pt"];

pub(super) fn read(cell: &str) -> Cell {
    if cell.len() > LONGEST {
        return Cell::Unreadable("it is too long");
    }
    let text = folded(cell);
    if text.chars().all(|c| !c.is_alphanumeric() && c != '+')
        || matches!(text.as_str(), "n/a" | "na" | "none" | "no")
    {
        return Cell::Nothing;
    }
    if text.strip_prefix('+').is_some_and(|t| t.trim_start().starts_with(|c: char| c.is_ascii_digit())) {
        return Cell::Credit;
    }
    if let Some(gravity) = Gravity::parse(&text) {
        return Cell::Points { points: Points::Gravity(gravity), signed: false, open: false };
    }
    points(&text).unwrap_or_else(Cell::Unreadable)
}

/// Lower case, one kind of minus, no emphasis, single spaces.
fn folded(cell: &str) -> String {
    let plain: String = cell
        .chars()
        .filter(|c| !matches!(c, '*' | '_' | '`'))
        .map(|c| if matches!(c, '−' | '–' | '—' | '﹣') { '-' } else { c })
        .flat_map(char::to_lowercase)
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn points(text: &str) -> Result<Cell, &'static str> {
    let upper = ["up to ", "at most ", "maximum ", "max "].iter().find_map(|p| text.strip_prefix(p));
    let rest = upper.unwrap_or(text);
    let rest = ["deduct ", "subtract ", "minus "].iter().find_map(|p| rest.strip_prefix(p)).unwrap_or(rest);
    let Some((mut each, mut signed, mut rest)) = amount(rest)? else {
        return Err("it does not begin with a number of points");
    };
    let mut open = upper.is_some();
    while let Some((other, minus, after)) = range(rest)? {
        each = each.max(other);
        signed |= minus;
        open = true;
        rest = after;
    }
    if each == Amount::ZERO {
        return Ok(Cell::Nothing);
    }
    let rule = rule(rest, each)?;
    if rule.max.is_some_and(|max| max < each) {
        return Err("its maximum is below one deduction");
    }
    let points = if rule.per || rule.max.is_some() {
        Points::Per { each, unit: rule.unit, max: rule.max }
    } else {
        Points::Flat(each)
    };
    Ok(Cell::Points { points, signed, open })
}

/// A number of points without its sign, whether it had one, and what follows.
fn amount(text: &str) -> Result<Option<(Amount, bool, &str)>, &'static str> {
    let body = text.trim_start();
    let unsigned = body.strip_prefix('-').map(str::trim_start);
    let digits = unsigned.unwrap_or(body);
    let length = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let (number, rest) = digits.split_at(length);
    let (number, rest) = match number.strip_suffix('.') {
        Some(number) => (number, digits.get(number.len()..).unwrap_or(rest)),
        None => (number, rest),
    };
    if number.is_empty() {
        return Ok(None);
    }
    if rest.starts_with('%') {
        return Err("points are needed, not per cent");
    }
    let amount = Amount::parse(number).ok_or("points have at most one decimal")?;
    let rest = rest.trim_start();
    let rest = WHOLE_POINTS.iter().find_map(|w| word(rest, w)).unwrap_or(rest);
    Ok(Some((amount, unsigned.is_some(), rest)))
}

/// What follows a word that ends there.
fn word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(word)?;
    (!rest.starts_with(char::is_alphanumeric)).then_some(rest)
}

/// The other end of `-5 to -15`, `5-15`, `-5/-10`.
fn range(text: &str) -> Result<Option<(Amount, bool, &str)>, &'static str> {
    let rest = text.trim_start();
    let after = ["to ", "or ", "...", "..", "…", "/", "-"].iter().find_map(|s| rest.strip_prefix(s));
    match after.map(str::trim_start) {
        Some(after) if after.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => amount(after),
        _ => Ok(None),
    }
}

#[derive(Default)]
struct CellRule {
    per: bool,
    unit: Option<String>,
    max: Option<Amount>,
}

/// `per paper, max -30`, `each`, `/slide (max -30)`, `(blocking)`.
fn rule(text: &str, each: Amount) -> Result<CellRule, &'static str> {
    let mut rule = CellRule::default();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', ',', ';', ':', '.', '(', ')', '[', ']']);
        if rest.is_empty() {
            return Ok(rule);
        }
        if let Some(after) = MAXIMUM.iter().find_map(|m| word(rest, m)) {
            let after = after.trim_start_matches([' ', ':', '.']);
            let after =
                ["of ", "at ", "total ", "is "].iter().find_map(|w| after.strip_prefix(w)).unwrap_or(after);
            let Some((max, _, behind)) = amount(after)? else { return Err("its maximum is not a number") };
            let times = ["times", "x", "instances", "×"].iter().find_map(|w| word(behind.trim_start(), w));
            rule.max = Some(match times {
                Some(_) => each.times(max.as_score()),
                None => max,
            });
            rest = times.or_else(|| word(behind.trim_start(), "total")).unwrap_or(behind);
        } else if let Some(after) = ["per", "each", "every", "apiece", "for each", "for every"]
            .iter()
            .find_map(|w| word(rest, w))
            .or_else(|| rest.strip_prefix('/'))
        {
            let (unit, behind) = unit(after);
            rule.per = true;
            rule.unit = unit.or(rule.unit);
            rest = behind;
        } else if let Some(after) = ["once", "flat", "total", "overall"].iter().find_map(|w| word(rest, w)) {
            rest = after;
        } else if text.len() > rest.len() && text[..text.len() - rest.len()].ends_with(['(', '[']) {
            // A remark in brackets.
            rest = rest.find([')', ']']).and_then(|at| rest.get(at + 1..)).unwrap_or_default();
        } else {
            return Err("what follows the number is not understood");
        }
    }
}

/// The words after `per`, up to a comma, a bracket or the maximum.
fn unit(text: &str) -> (Option<String>, &str) {
    let end = text.find([',', ';', '(', '[', ')']).unwrap_or(text.len());
    let maximum = MAXIMUM.iter().filter_map(|m| text.find(&format!(" {m} "))).min();
    let end = maximum.map_or(end, |at| at.min(end));
    let (unit, rest) = text.split_at(end);
    (Some(unit.trim().trim_end_matches('.').to_owned()).filter(|u| !u.is_empty()), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(cell: &str) -> String {
        match read(cell) {
            Cell::Points { points, signed, open } => {
                let text = match points {
                    Points::Flat(each) => each.to_string(),
                    Points::Per { each, unit, max } => format!(
                        "{each} per {}{}",
                        unit.unwrap_or_else(|| "?".into()),
                        max.map_or(String::new(), |m| format!(" max {m}"))
                    ),
                    Points::Gravity(g) => g.name().to_owned(),
                };
                format!("{text}{}{}", if signed { "" } else { " unsigned" }, if open { " open" } else { "" })
            }
            Cell::Nothing => "nothing".into(),
            Cell::Credit => "credit".into(),
            Cell::Unreadable(_) => "unreadable".into(),
        }
    }

    #[test]
    fn every_cell_form_is_read() {
        let cases = [
            ("-20", "20"),
            ("−20", "20"),
            ("– 20", "20"),
            ("**-20**", "20"),
            ("`-20`", "20"),
            ("-2.5", "2.5"),
            ("-20.", "20"),
            ("-20 points", "20"),
            ("-20pts", "20"),
            ("-20 (blocking)", "20"),
            ("-20 once", "20"),
            ("20", "20 unsigned"),
            ("-10 per, max -30", "10 per ? max 30"),
            ("-2 per, max −10", "2 per ? max 10"),
            ("-10 per", "10 per ?"),
            ("-1 per", "1 per ?"),
            ("-5 per paper", "5 per paper"),
            ("-20 per gap", "20 per gap"),
            ("-10 per slide (max -30)", "10 per slide max 30"),
            ("-5 per missing table note, max -15", "5 per missing table note max 15"),
            ("-5 each", "5 per ?"),
            ("-5 each, up to -20", "5 per ? max 20"),
            ("-5/paper", "5 per paper"),
            ("-5 / paper", "5 per paper"),
            ("-5 per paper up to -20", "5 per paper max 20"),
            ("-5 per paper; capped at 20", "5 per paper max 20"),
            ("-10, max -30", "10 per ? max 30"),
            ("-10 per, max 3 times", "10 per ? max 30"),
            ("-10 (max. -30 total)", "10 per ? max 30"),
            ("up to -20", "20 open"),
            ("Up to −20", "20 open"),
            ("-5 to -15", "15 open"),
            ("-5–15", "15 open"),
            ("-5 / -10 / -15", "15 open"),
            ("-5 to -15 per table", "15 per table open"),
            ("CRITICAL", "critical unsigned"),
            ("**Major**", "major unsigned"),
            ("—", "nothing"),
            ("-", "nothing"),
            ("", "nothing"),
            ("n/a", "nothing"),
            ("0", "nothing"),
            ("-0", "nothing"),
            ("+5", "credit"),
            ("**+5** bonus", "credit"),
        ];
        for (cell, expected) in cases {
            assert_eq!(shown(cell), expected, "{cell}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_so() {
        for cell in [
            "big",
            "-10%",
            "-10 per, max -5",
            "-5 maybe",
            "automatic fail",
            "-2.55",
            "-10 per, max lots",
            "varies",
            "see above",
        ] {
            assert_eq!(shown(cell), "unreadable", "{cell}");
        }
        assert_eq!(shown(&"-1 per ".repeat(100)), "unreadable");
    }

    proptest::proptest! {
        #[test]
        fn no_cell_panics(cell in "[-−+0-9. ,;()/a-zA-Z*`%…]{0,40}") {
            let _ = shown(&cell);
        }
    }
}
