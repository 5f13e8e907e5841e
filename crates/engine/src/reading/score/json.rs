//! The JSON report: `{"deductions": [{"row", "times", "where", "quote", "says", "fix"}], "count", "score", "notes"}`, and the
//! other names critics give these fields.

use serde_json::{Map, Value};

use super::{Claim, Said, shorten};
use crate::deduction::{Amount, Gravity};
use crate::finding::Location;
use crate::reading::doubt::{self, Rule, Scope};
use crate::reading::json::{self, Found, first, text_of};
use crate::reading::quoted::Shown;
use crate::reading::{Unread, beside, lines, place};

/// Where the deductions stand.
const LISTS: [&str; 8] =
    ["deductions", "findings", "issues", "problems", "penalties", "errors", "violations", "defects"];
/// Where the total stands; under the last of these other things may stand, too.
const TOTALS: [&str; 11] = [
    "score",
    "total",
    "final_score",
    "total_score",
    "overall_score",
    "total_points",
    "final",
    "result",
    "rating",
    "grade",
    "overall",
];
/// Where the sum of what was taken off stands.
const SUMS: [&str; 5] =
    ["total_deductions", "total_deducted", "deductions_total", "points_deducted", "total_deduction"];
const NOTES: [&str; 6] = ["notes", "strengths", "positives", "summary", "comments", "comment"];
/// Keys under which a deduction names its row, and those under which it may where there are none of these.
const ROWS: [&str; 6] = ["row", "rule", "row_id", "rubric_row", "criterion", "rubric_criterion"];
const ROW_LIKE: [&str; 14] = [
    "id",
    "name",
    "rubric_item",
    "rubric",
    "label",
    "title",
    "code",
    "item",
    "key",
    "deduction_type",
    "violation",
    "type",
    "category",
    "issue",
];

/// The report of a reply, if it has one.
pub(super) fn find(body: &str, shown: &Shown) -> Result<Option<Found>, Unread> {
    if !body.contains('{') {
        return Ok(None);
    }
    let is_report = |object: &Map<String, Value>| {
        LISTS.iter().any(|list| object.get(*list).is_some_and(|v| v.is_array() || v.is_object()))
            || object.get("deductions").is_some_and(Value::is_null) && object.contains_key("count")
            || TOTALS.iter().take(5).any(|total| object.get(*total).is_some_and(|v| !v.is_null()))
    };
    // A bare list of deductions.
    let inner = lines::unwrapped(body).trim();
    if inner.starts_with('[') && inner.ends_with(']') && inner.contains("\"row\"") {
        let wrapped = format!("{{\"deductions\": {inner}}}");
        return json::find(&wrapped, &is_report, &["deductions"], shown);
    }
    json::find(body, &is_report, &["deductions", "score", "findings", "issues"], shown)
}

pub(super) fn read(object: &Map<String, Value>, outer: &Map<String, Value>) -> Said {
    let lists: Vec<Vec<Value>> = LISTS.iter().filter_map(|list| entries(object.get(*list)?)).collect();
    // `null` for an empty list, where the count says so, too.
    let none = object.get("deductions").is_some_and(Value::is_null)
        && object.get("count").and_then(Value::as_u64) == Some(0);
    let mut said = Said { itemised: none || !lists.is_empty(), ..Said::default() };
    totals(object, &mut said);
    for key in NOTES {
        notes_of(object.get(key), &mut said.notes);
    }
    said.scores.extend(said.notes.iter().filter_map(|note| super::report::stated_score(note)));
    // `notes` may say that nothing was found; that is no finding.
    said.notes.retain(|note| !doubt::says_nothing(note));
    // `"deductions": []` beside a list of issues: which of the two holds is not plain.
    let empty = object.get("deductions").and_then(Value::as_array).is_some_and(Vec::is_empty);
    let stated: Vec<Value> = lists.into_iter().flatten().collect();
    let applied = stated.iter().filter(|one| !one.as_object().is_some_and(is_void)).count();
    if empty && applied > 0 {
        let why = "its deductions are an empty list, and another of its lists names some";
        said.against.push((why.into(), "\"deductions\": []".into()));
    }
    if let Some(stated_count) = object.get("count").filter(|count| !count.is_null()) {
        let number = count(stated_count).and_then(|count| usize::try_from(count).ok());
        if number.is_none_or(|number| number != stated.len() && number != applied) {
            let why = format!("it counts {stated_count} deductions and lists {}", stated.len());
            said.against.push((why, format!("\"count\": {stated_count}")));
        }
    }
    let known = [
        &LISTS[..],
        &SUMS,
        &NOTES,
        &["count", "score", "total", "final_score", "total_score", "overall_score"],
    ]
    .concat();
    let mut rest = object.clone();
    rest.retain(|key, value| !(TOTALS.contains(&key.as_str()) && number(value).is_some()));
    let unknown = json::unknown_lists(&rest, &[&known[..], &HARMLESS_LISTS].concat())
        .map(|(key, _)| format!("\"{key}\": […]"));
    let contradicted = beside::against(&rest, &known).or_else(|| beside::against(outer, &[])).or(unknown);
    if let Some(passage) = contradicted {
        said.against.push(("another field of its report speaks against the work".into(), passage));
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
            Ok(claim) if is_void(stated) => {
                let lenient = |(rule, _): &(Rule, String)| {
                    matches!(rule, Rule::Lenient | Rule::Undecided | Rule::Condition | Rule::Unseen)
                };
                if let Some((rule, passage)) = doubt::against(&claim.says, Scope::Prose).filter(lenient) {
                    said.against.push((rule.sentence().to_owned(), passage));
                }
                said.deviations.push(format!("{} is listed and does not apply", claim.label()));
            }
            Ok(claim) => said.claims.push(claim),
            Err(Skip::Credit(what)) => said.deviations.push(format!("a credit is no deduction: {what}")),
            Err(Skip::Wrong(what)) => said.problems.push(format!("deduction {}: {what}", n + 1)),
        }
    }
    said
}

/// Lists that name things and hold nothing against the work.
const HARMLESS_LISTS: [&str; 6] =
    ["files_reviewed", "files", "sources", "references", "suggestions", "checked"];

/// The entries of a list, or of an object whose keys are the rows.
fn entries(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(list) => Some(list.clone()),
        Value::Object(by_row) => Some(
            by_row
                .iter()
                .map(|(row, value)| {
                    let mut entry = value.as_object().cloned().unwrap_or_default();
                    if !value.is_object() {
                        entry.insert("points".into(), value.clone());
                    }
                    entry.entry("row").or_insert_with(|| Value::String(row.clone()));
                    Value::Object(entry)
                })
                .collect(),
        ),
        _ => None,
    }
}

/// A row that is listed and does not apply.
fn is_void(stated: &Map<String, Value>) -> bool {
    let none = |value: &Value| text_of(value).and_then(|text| text.trim().parse::<f64>().ok()) == Some(0.0);
    let applies =
        first(stated, &["applies", "applied", "violated", "found", "present"]) == Some(&Value::Bool(false));
    let points = first(stated, &["points", "deduction", "penalty", "deducted"]).is_some_and(none);
    let times = first(stated, &["times", "count"]).is_some_and(none);
    applies || points || times
}

fn totals(object: &Map<String, Value>, said: &mut Said) {
    let mut named = false;
    for key in TOTALS {
        let Some(score) = object.get(key).filter(|value| !value.is_null()) else { continue };
        match number(score) {
            Some(score) => said.scores.push(score),
            // Only the first five are always totals.
            None if !named && TOTALS[..5].contains(&key) => not_a_number(score, said),
            None => {}
        }
        named |= TOTALS[..5].contains(&key);
    }
    for key in SUMS {
        if let Some(sum) = object.get(key).and_then(number) {
            let left = Amount::whole(crate::deduction::FULL).minus(sum.abs());
            said.scores.push(if left.is_negative() { Amount::ZERO } else { left });
        }
    }
}

fn notes_of(value: Option<&Value>, notes: &mut Vec<String>) {
    match value {
        Some(Value::Array(list)) => list.iter().take(100).for_each(|one| notes_of(Some(one), notes)),
        Some(Value::Object(inner)) => inner.values().take(100).for_each(|one| notes_of(Some(one), notes)),
        Some(other) => notes.extend(text_of(other).map(|note| shorten(&note, 2_000))),
        None => {}
    }
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
    let row = text(&ROWS);
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
        names: if row.is_empty() {
            let named = ROW_LIKE.iter().filter_map(|key| stated.get(*key).and_then(text_of));
            named.chain([says.clone()]).collect()
        } else {
            vec![row]
        },
        points,
        times,
        place,
        whereabouts,
        quote: quote(first(stated, &["quote", "excerpt", "quoted"])),
        absent: stated.get("absent").and_then(Value::as_bool).unwrap_or(false),
        fix: text(&["fix", "suggestion", "remediation", "remedy", "recommendation"]),
        in_breakdown: false,
        spoken: super::report::taken_off(&says),
        says,
    })
}

/// The passage, without what is no part of it. Of several the first.
fn quote(value: Option<&Value>) -> Option<String> {
    let text = match value? {
        Value::Array(list) => text_of(list.first()?)?,
        other => text_of(other)?,
    };
    let plain = text.replace("**", "");
    (!doubt::says_nothing(&plain)).then_some(plain)
}

fn whereabouts(stated: &Map<String, Value>) -> (Option<Location>, Option<String>) {
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
            (Some(Location { path: path.trim().to_owned(), line: Some(line), end }), None)
        }
        (Some(path), None) => (place::read(&path), None),
        (None, Some(_)) => (line.as_deref().and_then(|l| place::read(&format!("line {l}"))), None),
        (None, None) => (None, None),
    }
}

fn count(value: &Value) -> Option<u32> {
    let text = text_of(value)?;
    let lower = text.trim().to_lowercase();
    let text = lower.trim_end_matches("times").trim_end_matches(".0").trim_matches(['×', 'x', ' ']);
    match text {
        "once" | "one" => Some(1),
        "twice" | "two" => Some(2),
        "three" => Some(3),
        "zero" | "none" => Some(0),
        digits => digits.parse().ok(),
    }
}

/// `84`, `84.5`, `"84/100"`, `"84%"`, `{"value": 84, "max": 100}`.
fn number(value: &Value) -> Option<Amount> {
    if let Value::Object(inner) = value {
        let full = first(inner, &["max", "out_of", "of", "scale"]).and_then(text_of);
        let value = first(inner, &["value", "score", "points", "total"])?;
        return number(value).filter(|_| full.is_none_or(|full| full.trim() == "100"));
    }
    let text = text_of(value)?;
    let text = text.trim().trim_end_matches('%').trim_end();
    let text = text.strip_suffix("points").or_else(|| text.strip_suffix("pts")).map_or(text, str::trim_end);
    let text = text.strip_suffix("out of 100").map_or(text, str::trim_end);
    let text = text.strip_suffix("100").and_then(|t| t.trim_end().strip_suffix('/')).unwrap_or(text);
    Amount::parse_rounding_down(text.trim())
}
