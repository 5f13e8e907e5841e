//! REQUIRES: what is a condition a machine can check, what only a person can, and how they are joined.
//!
//! A condition is checked only if *all* of its words are understood; the rest is kept as it is written. To understand
//! one more form, add a function to `classify`.

use std::collections::HashSet;
use std::ops::Range;

use gadfly_engine::pipeline::{Atom, Check, Need};

use super::RegistryReader;
use super::path;
use super::section::RawField;
use super::value::{
    self, JoinedText, bare, is_none, trimmed, without_dash, without_note, without_parenthesis,
};
use crate::place::brief;

/// Parentheses in parentheses beyond this are left to a person.
const DEEPEST: usize = 3;
const PAST_THE_TOP: &str = "scores end at 100";

/// The need, and where its atoms stand, in order.
pub(super) fn read(field: &RawField, reading: &mut RegistryReader<'_>) -> (Need, Vec<Range<usize>>) {
    let mut spans = Vec::new();
    let mut all = Vec::new();
    for value in std::iter::once(&field.value).chain(&field.bullets) {
        let (first, note) = without_note(&value.text);
        if value.text.is_empty() || is_none(first) {
            if !value.text.is_empty() {
                reading.note(note, value.span().start);
            }
            continue;
        }
        balanced(value, reading);
        all.extend(flat(expression(value, &(0..value.text.len()), 0, &mut spans, reading)));
    }
    let need = if all.len() == 1 { all.remove(0) } else { Need::All(all) };
    (need, spans)
}

/// What would hide an operator or a path from us.
pub(super) fn balanced(value: &JoinedText, reading: &mut RegistryReader<'_>) {
    if let Some(at) = value::open_tick(&value.text) {
        let help = "put one at the end of the path";
        reading.error("this backtick is never closed", help, &value.source(&(at..at + 1)));
    } else if let Some(at) = value::open_parenthesis(&value.text) {
        let help = "close it, or take it out";
        reading.warning("this parenthesis has no partner", help, &value.source(&(at..at + 1)));
    }
}

fn flat(need: Need) -> Vec<Need> {
    match need {
        Need::All(needs) => needs,
        other => vec![other],
    }
}

/// `a AND b OR c`: any of (all of a, b), c.
fn expression(
    value: &JoinedText,
    range: &Range<usize>,
    depth: usize,
    spans: &mut Vec<Range<usize>>,
    reading: &mut RegistryReader<'_>,
) -> Need {
    let operators = value::words(&value.text, range, &["AND", "OR"]);
    let is_mixed = ["AND", "OR"].iter().all(|word| operators.iter().any(|(_, found)| found == word));
    if is_mixed {
        let help = "AND binds tighter than OR; put the parts that belong together in parentheses";
        reading.warning("AND and OR are mixed here", help, &value.source(range));
    }
    let mut any: Vec<Vec<Need>> = vec![Vec::new()];
    let mut start = range.start;
    for (at, operator) in
        operators.iter().map(|(at, op)| (at.clone(), *op)).chain([(range.end..range.end, "")])
    {
        let part = trimmed(&value.text, &(start..at.start));
        start = at.end;
        let needs = if value.get(&part).trim_matches([',', ';', '.', ' ']).is_empty() {
            let (message, span) = match operators.last() {
                Some((last, word)) if operator.is_empty() => (format!("no condition follows {word}"), last),
                _ if operator.is_empty() => ("this is no condition".to_owned(), range),
                _ => (format!("no condition stands before {operator}"), &at),
            };
            reading.error(message, "write a condition on both sides of OR and AND", &value.source(span));
            Vec::new()
        } else {
            if !operator.is_empty() && !without_dash(value.get(&part)).1.is_empty() {
                let message = format!(
                    "{operator} follows a note after a dash: taken as an operator, not as part of the note"
                );
                reading.warning(
                    message,
                    "put the note at the end, or write it in lower case",
                    &value.source(&at),
                );
            }
            operand(value, &part, depth, spans, reading)
        };
        if let Some(all) = any.last_mut() {
            all.extend(needs);
        }
        if operator == "OR" {
            any.push(Vec::new());
        }
    }
    let mut any: Vec<Need> = any.into_iter().filter(|all| !all.is_empty()).map(all_of).collect();
    if any.len() == 1 {
        any.remove(0)
    } else if any.is_empty() {
        Need::default()
    } else {
        Need::Any(any)
    }
}

fn all_of(mut needs: Vec<Need>) -> Need {
    if needs.len() == 1 { needs.remove(0) } else { Need::All(needs) }
}

/// What stands between two operators: a condition, paths with commas between them, or an expression in parentheses.
fn operand(
    value: &JoinedText,
    part: &Range<usize>,
    depth: usize,
    spans: &mut Vec<Range<usize>>,
    reading: &mut RegistryReader<'_>,
) -> Vec<Need> {
    let text = value.get(part);
    let is_group =
        text.starts_with('(') && text.ends_with(')') && value::plain(text).iter().all(|plain| !plain);
    if is_group && depth < DEEPEST {
        let inside = trimmed(&value.text, &(part.start + 1..part.end - 1));
        return vec![expression(value, &inside, depth + 1, spans, reading)];
    }
    let listed = value::parts(&value.text, part, &[',', ';']);
    let is_path = |part| matches!(classify(value.get(part), &reading.names), Ok(Check::Path(_)));
    let is_list = listed.len() > 1 && listed.iter().all(is_path);
    let parts = if is_list { listed } else { vec![part.clone()] };
    parts.iter().filter_map(|part| atom(value, part, spans, reading)).map(Need::Atom).collect()
}

fn atom(
    value: &JoinedText,
    part: &Range<usize>,
    spans: &mut Vec<Range<usize>>,
    reading: &mut RegistryReader<'_>,
) -> Option<Atom> {
    let span = value.source(part);
    if !reading.room(&span) {
        return None;
    }
    let text = value.get(part).trim_end_matches([',', ';']).to_owned();
    let check = match classify(&text, &reading.names) {
        Ok(check) => {
            if check == Check::Manual && speaks_of_score(&text) {
                let message =
                    format!("`{}` could not be read as a score: a person is asked", brief(bare(&text)));
                reading.warning(message, "write `NAME score >= 80`", &span);
            }
            check
        }
        Err(why) => {
            let message = format!("`{}` cannot be a condition: {why}", brief(bare(&text)));
            let is_score = why == PAST_THE_TOP;
            let help = if is_score {
                "ask for less"
            } else {
                "name a path inside the project, with `/` between folders"
            };
            reading.error(message, help, &span);
            Check::Manual
        }
    };
    reading.count(check != Check::Manual);
    let line = reading.line(span.start);
    spans.push(span);
    Some(Atom { text, line, check })
}

/// What a machine can do with a condition. `names`: who works or judges here, in lower case.
fn classify(text: &str, names: &HashSet<String>) -> Result<Check, &'static str> {
    let (said, _) = without_dash(text);
    let (first, note) = without_parenthesis(said);
    // `memo.md (its `research:` block)` asks for more than the file.
    let first = if note.contains('`') { said } else { first };
    let first = first.trim_end_matches(['.', ',', ';']);
    if let Some(check) = contains(said)? {
        return Ok(check);
    }
    match path::read(first) {
        path::PathReading::Path(pattern) => Ok(Check::Path(pattern)),
        path::PathReading::Refused(why) => Err(why),
        path::PathReading::No => Ok(score(first, names)?.unwrap_or(Check::Manual)),
    }
}

/// `paper/tables/` contains `.tex` files.
fn contains(text: &str) -> Result<Option<Check>, &'static str> {
    let Some((folder, what)) = text.split_once(" contains ").or_else(|| text.split_once(" contiene ")) else {
        return Ok(None);
    };
    let mut folder = match path::read(folder) {
        path::PathReading::Path(folder) => folder,
        path::PathReading::Refused(why) => return Err(why),
        path::PathReading::No => return Ok(None),
    };
    if !folder.is_folder() {
        folder.0.push('/');
    }
    let mut endings = Vec::new();
    for word in what.split_whitespace() {
        let word = word.trim_matches(['(', ')', ',', ';']).trim_end_matches('.');
        match path::ending(word) {
            Some(ending) => endings.push(ending),
            None if asks_for_more(word) => return Ok(None),
            None => {}
        }
    }
    endings.dedup();
    Ok((!endings.is_empty()).then_some(Check::Contains { folder, endings }))
}

/// A number, a negation, a name: more than "one file that ends in this".
fn asks_for_more(word: &str) -> bool {
    let lower = word.to_lowercase();
    word.contains(['`', '/', '<', '>', '='])
        || word.chars().any(|c| c.is_ascii_digit())
        || ["no", "not", "all", "every", "each", "only", "both", "and", "y", "sin"].contains(&lower.as_str())
}

/// The word and a number: probably meant for a machine.
fn speaks_of_score(text: &str) -> bool {
    let (said, _) = without_dash(text);
    let mut words = said.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_score = |word: &str| word.eq_ignore_ascii_case("score") || word.eq_ignore_ascii_case("scores");
    words.clone().any(is_score) && words.any(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// `X score >= 80`, `X-critic > 79`, `Overall score >= 95`, `all components >= 80`.
fn score(text: &str, names: &HashSet<String>) -> Result<Option<Check>, &'static str> {
    let spaced = text.replace(">=", "≥").replace('>', " > ").replace('≥', " >= ").replace(['`', '*'], "");
    let lower = spaced.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let Some((last, before)) = words.split_last() else { return Ok(None) };
    let comparisons = [(&[">="][..], 0), (&[">"], 1), (&["of", "at", "least"], 0), (&["at", "least"], 0)];
    let compared = comparisons.iter().find_map(|(words, more)| Some((before.strip_suffix(*words)?, *more)));
    let Some((subject, more)) = compared else { return Ok(None) };
    let number = last.trim_end_matches('%').trim_end_matches("/100");
    let Ok(number) = number.parse::<u32>() else { return Ok(None) };
    let at_least = number.saturating_add(more);
    let is_somebody = |name: &str| name.ends_with("-critic") || names.contains(name);
    let check = match subject {
        ["all" | "every" | "each", "component" | "components"]
        | ["all" | "every" | "each", "component", "score" | "scores"] => Check::Components { at_least },
        ["overall", "score"] | ["overall"] => Check::Overall { at_least },
        [name, rest @ ..] if *rest == ["score"] || (rest.is_empty() && is_somebody(name)) => {
            let critic = spaced.split_whitespace().next().unwrap_or_default().to_owned();
            Check::Score { critic, at_least }
        }
        _ => return Ok(None),
    };
    if at_least > 100 { Err(PAST_THE_TOP) } else { Ok(Some(check)) }
}
