//! The JSON report: `{"deductions": [{"row", "times", "where", "quote", "says", "fix"}], "count", "score", "notes"}`, and the
//! other names critics give these fields.

use serde_json::{Map, Value};

use super::{Claim, Said, shorten};
use crate::deduction::{Amount, Gravity};
use crate::finding::Place;
use crate::reading::json::{self, Found, first, text_of};
use crate::reading::quoted::Shown;
use crate::reading::{Unread, doubt, place};

/// Where the deductions stand.
const LISTS: [&str; 8] =
    ["deductions", "findings", "issues", "problems", "penalties", "errors", "violations", "defects"];
const KNOWN: [&str; 14] = [
    "deductions",
    "findings",
    "issues",
    "problems",
    "penalties",
    "errors",
    "violations",
    "defects",
    "notes",
    "strengths",
    "score",
    "count",
    "summary",
    "positives",
];
const TOTALS: [&str; 5] = ["score", "total", "final_score", "total_score", "overall_score"];

/// The report of a reply, if it has one.
pub(super) fn find(body: &str, shown: &Shown) -> Result<Option<Found>, Unread> {
    if !body.contains('{') {
        return Ok(None);
    }
    let is_report = |object: &Map<String, Value>| {
        LISTS.iter().any(|list| object.get(*list).is_some_and(Value::is_array))
            || TOTALS.iter().any(|total| object.get(*total).is_some_and(|v| !v.is_object()))
    };
    json::find(body, &is_report, &["deductions", "score", "findings", "issues"], shown)
}

pub(super) fn read(object: &Map<String, Value>) -> Said {
    let lists: Vec<&Vec<Value>> = LISTS.iter().filter_map(|list| object.get(*list)?.as_array()).collect();
    let mut said = Said { itemised: !lists.is_empty(), ..Said::default() };
    if let Some(score) = first(object, &TOTALS) {
        match number(score) {
            Some(score) => said.scores.push(score),
            None => not_a_number(score, &mut said),
        }
    }
    for key in ["notes", "strengths", "positives", "summary", "comments", "comment"] {
        match object.get(key) {
            Some(Value::Array(list)) => {
                said.notes.extend(list.iter().filter_map(text_of).map(|n| shorten(&n, 2_000)).take(100));
            }
            Some(other) => said.notes.extend(text_of(other).map(|n| shorten(&n, 2_000))),
            None => {}
        }
    }
    // `notes` may say that nothing was found; that is no finding.
    said.notes.retain(|note| !doubt::says_nothing(note));
    let stated: Vec<&Value> = lists.into_iter().flatten().collect();
    if let Some(count) = object.get("count").and_then(text_of).and_then(|c| c.parse::<usize>().ok())
        && count != stated.len()
    {
        let why = format!("it counts {count} deductions and lists {}", stated.len());
        said.against.push((why, format!("\"count\": {count}")));
    }
    if let Some((key, _)) = json::unknown_lists(object, &KNOWN) {
        said.against
            .push((format!("what it lists under `{key}` may be deductions"), format!("\"{key}\": […]")));
    }
    if let Some(verdict) = first(object, &["verdict", "status", "decision", "passes", "passed", "pass"]) {
        let word = verdict.as_str().unwrap_or_default().to_lowercase();
        if verdict == &Value::Bool(false)
            || ["fail", "reject", "not", "revis", "block", "below"].iter().any(|w| word.contains(w))
        {
            said.against.push(("its own verdict is that the work fails".into(), verdict.to_string()));
        }
    }
    for (n, stated) in stated.into_iter().enumerate() {
        let Some(stated) = stated.as_object() else {
            match stated.as_str().map(str::trim).filter(|text| !doubt::says_nothing(text)) {
                Some(text) => said.claims.push(Claim {
                    names: vec![text.to_owned()],
                    says: text.to_owned(),
                    ..Claim::default()
                }),
                None if stated.is_null() || stated.is_string() => {}
                None => said.problems.push(format!("deduction {} is no object", n + 1)),
            }
            continue;
        };
        match claim(stated) {
            Ok(claim) => said.claims.push(claim),
            Err(Skip::Credit(what)) => said.deviations.push(format!("a credit is no deduction: {what}")),
            Err(Skip::Wrong(what)) => said.problems.push(format!("deduction {}: {what}", n + 1)),
        }
    }
    said
}

/// A grade in letters says nothing that could be added up; one that fails is heard.
fn not_a_number(score: &Value, said: &mut Said) {
    let text = shorten(&score.to_string(), 40);
    let word = score.as_str().unwrap_or_default().trim().to_uppercase();
    let passing =
        ["A", "A+", "A-", "B", "B+", "B-", "PASS", "PASSED", "EXCELLENT", "GOOD"].contains(&word.as_str());
    if passing {
        said.deviations.push(format!("the score {text} is not a number"));
    } else {
        said.against.push((format!("its score {text} is not a number"), text));
    }
}

enum Skip {
    Credit(String),
    Wrong(String),
}

fn claim(stated: &Map<String, Value>) -> Result<Claim, Skip> {
    let text = |keys: &[&str]| first(stated, keys).and_then(text_of).unwrap_or_default();
    let row = text(&["row", "rule", "row_id", "rubric_row", "criterion", "id", "name"]);
    let says = text(&[
        "says",
        "description",
        "message",
        "issue",
        "problem",
        "explanation",
        "reason",
        "text",
        "finding",
    ]);
    let label = shorten(if row.is_empty() { &says } else { &row }, 80);
    let times = match first(stated, &["times", "count", "occurrences", "instances"]) {
        None => None,
        Some(times) => Some(count(times).ok_or_else(|| {
            Skip::Wrong(format!("`times` is {}, it must be a whole number", shorten(&times.to_string(), 40)))
        })?),
    };
    let points = match first(stated, &["points", "deduction", "penalty", "amount", "cost", "deducted"]) {
        None => None,
        Some(Value::String(points)) if points.trim_start().starts_with('+') => {
            return Err(Skip::Credit(label));
        }
        // Points without a sign, or as words, are only compared: the row decides.
        Some(points) => number(points).map(Amount::abs),
    };
    let (place, whereabouts) = whereabouts(stated);
    let gravity = first(stated, &["severity", "gravity", "level"]).and_then(text_of).or(Some(row.clone()));
    Ok(Claim {
        gravity: gravity.and_then(|word| Gravity::parse(&word)),
        category: stated.get("category").and_then(text_of),
        // What is said about the row names it only where no row is given: a row that is given and does
        // not exist must not be guessed.
        names: vec![if row.is_empty() { says.clone() } else { row }],
        points,
        times,
        place,
        whereabouts,
        quote: first(stated, &["quote", "excerpt", "quoted"])
            .and_then(text_of)
            .filter(|q| !q.trim().is_empty()),
        absent: stated.get("absent").and_then(Value::as_bool).unwrap_or(false),
        says,
        fix: text(&["fix", "suggestion", "remediation", "remedy", "recommendation"]),
        in_breakdown: false,
    })
}

fn whereabouts(stated: &Map<String, Value>) -> (Option<Place>, Option<String>) {
    let field = |map: &serde_json::Map<String, Value>, keys: [&str; 2]| {
        keys.iter().find_map(|key| map.get(*key)).and_then(text_of)
    };
    let (path, line) = match first(stated, &["where", "location", "place"]) {
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
        None => {
            let field = |keys: [&str; 2]| first(stated, &keys).and_then(text_of);
            (field(["file", "path"]), field(["line", "lines"]))
        }
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
