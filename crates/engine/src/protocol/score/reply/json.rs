//! The JSON report: `{"deductions": [{"row", "times", "where", "quote", "says", "fix"}], "score", "notes"}`,
//! alone, in a code fence, or with text around it.

use serde::Deserialize;
use serde_json::Value;

use super::{Claim, Malformed, Said, place, shorten};
use crate::deduction::{Amount, Gravity};
use crate::finding::Place;

/// How many objects of a reply are tried: each may have to be read to its end.
const MOST_TRIES: usize = 64;
/// How far into an object that cannot be read a report's field is looked for.
const BEGINNING: usize = 400;

/// A report inside a reply.
pub(super) struct Found<'a> {
    pub text: &'a str,
    /// What it takes up, with its code fence.
    pub start: usize,
    pub end: usize,
}

/// The one JSON report of a reply, if it has one. Two that differ are no report, and so is one that
/// cannot be read: what it would have said is unknown.
pub(super) fn find(body: &str) -> Result<Option<Found<'_>>, Malformed> {
    let mut found: Option<Found<'_>> = None;
    let mut at = 0;
    let mut tries = 0;
    while let Some(start) = next_object(body, at) {
        tries += 1;
        if tries > MOST_TRIES {
            return Err(Malformed::one("the reply holds too many JSON objects: send only the report"));
        }
        let rest = body.get(start..).unwrap_or_default();
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(Value::Object(fields))) => {
                at = start + stream.byte_offset();
                let text = rest.get(..stream.byte_offset()).unwrap_or_default();
                if !(fields.contains_key("deductions") || fields.contains_key("score")) {
                    continue;
                }
                if found.as_ref().is_some_and(|first| first.text != text) {
                    return Err(Malformed::one("the reply holds two different JSON reports: send one"));
                }
                let (start, end) = with_fence(body, start, at);
                found.get_or_insert(Found { text, start, end });
            }
            Some(Err(error)) if names_report(rest) => {
                return Err(Malformed::one(format!("the JSON report cannot be read: {error}")));
            }
            _ => at = start + 1,
        }
    }
    Ok(found)
}

/// The next `{` that a key or a closing brace follows, outside of quoted lines. One pass.
fn next_object(body: &str, from: usize) -> Option<usize> {
    let line_start = body.get(..from)?.rfind('\n').map_or(0, |n| n + 1);
    let mut at = line_start;
    for line in body.get(line_start..)?.split_inclusive('\n') {
        let (start, end) = (at.max(from), at + line.len());
        at = end;
        if line.trim_start().starts_with('>') {
            continue;
        }
        let stretch = body.get(start..end).unwrap_or_default();
        let opens = |offset: &usize| {
            let after = body.get(start + offset + 1..).unwrap_or_default().trim_start();
            after.starts_with(['"', '}'])
        };
        if let Some(offset) = stretch.match_indices('{').map(|(offset, _)| offset).find(opens) {
            return Some(start + offset);
        }
    }
    None
}

fn names_report(text: &str) -> bool {
    let beginning = &text[..text.floor_char_boundary(BEGINNING)];
    beginning.contains("\"deductions\"") || beginning.contains("\"score\"")
}

/// A code fence around the object belongs to it.
fn with_fence(body: &str, start: usize, end: usize) -> (usize, usize) {
    let before = body.get(..start).unwrap_or_default().trim_end();
    let line = before.rfind('\n').map_or(0, |n| n + 1);
    let after = body.get(end..).unwrap_or_default();
    let behind = after.trim_start();
    if before.get(line..).is_some_and(|l| l.trim_start().starts_with("```")) && behind.starts_with("```") {
        (line, end + (after.len() - behind.len()) + 3)
    } else {
        (start, end)
    }
}

/// Read into fields, not into a map: a field that stands twice is then an error.
#[derive(Deserialize)]
struct Report {
    deductions: Option<Vec<Stated>>,
    score: Option<Value>,
    notes: Option<Value>,
}

#[derive(Deserialize, Default)]
struct Stated {
    row: Option<Value>,
    category: Option<Value>,
    severity: Option<Value>,
    points: Option<Value>,
    times: Option<Value>,
    r#where: Option<Value>,
    file: Option<Value>,
    line: Option<Value>,
    quote: Option<Value>,
    absent: Option<bool>,
    says: Option<Value>,
    fix: Option<Value>,
}

pub(super) fn read(text: &str) -> Result<Said, Malformed> {
    let report: Report = serde_json::from_str(text)
        .map_err(|error| Malformed::one(format!("the JSON report cannot be read: {error}")))?;
    let mut said = Said { itemised: report.deductions.is_some(), ..Said::default() };
    if let Some(score) = report.score.filter(|s| !s.is_null()) {
        match number(&score) {
            Some(score) => said.scores.push(score),
            None => {
                said.problems.push(format!("the score {} is not a number", shorten(&score.to_string(), 40)));
            }
        }
    }
    said.notes = match report.notes {
        Some(Value::Array(list)) => {
            list.iter().filter_map(text_of).map(|n| shorten(&n, 2_000)).take(100).collect()
        }
        Some(other) => text_of(&other).map(|n| shorten(&n, 2_000)).into_iter().collect(),
        None => Vec::new(),
    };
    for (n, stated) in report.deductions.unwrap_or_default().into_iter().enumerate() {
        match claim(&stated) {
            Ok(claim) => said.claims.push(claim),
            Err(Skip::Credit(what)) => said.deviations.push(format!("a credit is no deduction: {what}")),
            Err(Skip::Wrong(what)) => said.problems.push(format!("deduction {}: {what}", n + 1)),
        }
    }
    Ok(said)
}

enum Skip {
    Credit(String),
    Wrong(String),
}

fn claim(stated: &Stated) -> Result<Claim, Skip> {
    let text = |value: &Option<Value>| value.as_ref().and_then(text_of).unwrap_or_default();
    let (row, says) = (text(&stated.row), text(&stated.says));
    let label = shorten(if row.is_empty() { &says } else { &row }, 80);
    let times = match stated.times.as_ref().filter(|t| !t.is_null()) {
        None => None,
        Some(times) => Some(count(times).ok_or_else(|| {
            Skip::Wrong(format!("`times` is {}, it must be a whole number", shorten(&times.to_string(), 40)))
        })?),
    };
    let points = match stated.points.as_ref().filter(|p| !p.is_null()) {
        None => None,
        Some(Value::String(points)) if points.trim_start().starts_with('+') => {
            return Err(Skip::Credit(label));
        }
        // Points without a sign, or as words, are only compared: the row decides.
        Some(points) => number(points).map(Amount::abs),
    };
    let (place, whereabouts) = whereabouts(stated);
    let gravity = stated.severity.as_ref().and_then(text_of).or(Some(row.clone()));
    Ok(Claim {
        gravity: gravity.and_then(|word| Gravity::parse(&word)),
        category: stated.category.as_ref().and_then(text_of),
        // What is said about the row names it only where no row is given: a row that is given and does
        // not exist must not be guessed.
        names: vec![if row.is_empty() { says.clone() } else { row }],
        points,
        times,
        place,
        whereabouts,
        quote: stated.quote.as_ref().and_then(text_of).filter(|q| !q.trim().is_empty()),
        absent: stated.absent.unwrap_or(false),
        says,
        fix: text(&stated.fix),
    })
}

fn whereabouts(stated: &Stated) -> (Option<Place>, Option<String>) {
    let field = |map: &serde_json::Map<String, Value>, keys: [&str; 2]| {
        keys.iter().find_map(|key| map.get(*key)).and_then(text_of)
    };
    let (path, line) = match &stated.r#where {
        Some(Value::Object(map)) => (field(map, ["file", "path"]), field(map, ["line", "lines"])),
        Some(other) => {
            let words = text_of(other);
            let place = words.as_deref().and_then(place::read);
            return if place.is_some() {
                (place, None)
            } else {
                (None, words.filter(|w| !w.trim().is_empty()))
            };
        }
        None => (stated.file.as_ref().and_then(text_of), stated.line.as_ref().and_then(text_of)),
    };
    let range = line.as_deref().and_then(place::range);
    match (path.filter(|p| !p.trim().is_empty()), range) {
        (Some(path), Some((line, end))) => {
            (Some(Place { path: path.trim().to_owned(), line: Some(line), end }), None)
        }
        (Some(path), None) => (place::read(&path), None),
        (None, Some(_)) => (line.as_deref().and_then(|l| place::read(&format!("line {l}"))), None),
        (None, None) => (None, None),
    }
}

/// Text, or a number as text.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn count(value: &Value) -> Option<u32> {
    let text = text_of(value)?;
    let text = text.trim().trim_end_matches(".0").trim_start_matches(['×', 'x']);
    text.parse().ok()
}

/// `84`, `84.5`, `"84/100"`.
fn number(value: &Value) -> Option<Amount> {
    let text = text_of(value)?;
    let text = text.trim();
    let text = text.strip_suffix("100").and_then(|t| t.trim_end().strip_suffix('/')).unwrap_or(text);
    Amount::parse_rounding_down(text.trim())
}
