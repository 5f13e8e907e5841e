//! The findings of a report: what is wrong, how much it weighs, where, and what to do about it.

use serde_json::{Map, Value};

use super::MOST_FINDINGS;
use super::fields::{Notes, clean, key, says_nothing, short, text};
use crate::finding::{Finding, Location, Severity};
use crate::protocol::audit::report::ExpectedReport;
use crate::protocol::audit::routes;
use crate::reading::json::{self, first};

/// The most bytes of other fields that a finding keeps.
const MOST_RAW: usize = 16 << 10;
/// The fields of a finding that are read; all others are kept as they came.
const READ: [&str; 5] = ["category", "severity", "file", "line", "remediation"];
/// Where critics put what is wrong, beside the remediation.
const SAYS: [&str; 8] =
    ["message", "problem", "description", "title", "summary", "evidence", "issue", "text"];
const REMEDIES: [&str; 8] =
    ["remediation", "fix", "suggestion", "recommendation", "remedy", "suggested_fix", "action", "resolution"];

pub(super) fn findings(stated: Vec<Value>, expected: &ExpectedReport<'_>, notes: &mut Notes) -> Vec<Finding> {
    let mut findings = Vec::new();
    let count = stated.len();
    for (at, value) in stated.into_iter().enumerate() {
        let place = format!("`findings[{at}]`");
        let object = match value {
            Value::Object(object) => object,
            Value::String(text) if says_nothing(&text) => continue,
            Value::String(text) => {
                let mut object = Map::new();
                object.insert("message".into(), Value::String(text));
                object
            }
            _ => {
                notes.weaken(format!("{place} is not an object"));
                continue;
            }
        };
        findings.push(finding(object, at, &place, expected, notes));
    }
    if count > MOST_FINDINGS {
        notes.deviation(format!("{count} findings; the worst {MOST_FINDINGS} are read"));
        // A flood of nits must not hide a fail.
        findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
        findings.truncate(MOST_FINDINGS);
    }
    findings
}

fn finding(
    mut object: Map<String, Value>,
    at: usize,
    place: &str,
    expected: &ExpectedReport<'_>,
    notes: &mut Notes,
) -> Finding {
    let said = |keys: &[&str]| {
        first(&object, keys).and_then(json::text_of).map(|t| clean(&t)).filter(|t| !says_nothing(t))
    };
    let category = said(&["category", "type", "kind", "rule"]).map(|category| short(&category));
    let category = category.unwrap_or_else(|| {
        notes.deviation(format!("{place} has no `category`"));
        routes::UNMET_CRITERION.to_owned()
    });
    let mut severity = severity(said(&["severity", "level", "priority"]).as_deref(), place, notes);
    if routes::known(&category).is_none() {
        notes.deviation(format!("{place} has the unknown category `{category}`"));
        severity = Severity::Fail;
    }
    let remediation = said(&REMEDIES).or_else(|| said(&SAYS)).unwrap_or_else(|| {
        notes.deviation(format!("{place} has no `remediation`"));
        let file = said(&["file", "path"]).map_or(String::new(), |file| format!(" in {file}"));
        let criterion = said(&["criterion_id"]).map_or(String::new(), |id| format!(" ({id})"));
        format!("Resolve the {category}{file}{criterion}.")
    });
    let cited = located(&object, place, notes);
    let named = text(&object, "criterion_id", place, notes);
    let linked = [
        "criterion",
        "criterion_id",
        "criteria",
        "success_criterion",
        "sc",
        "related_criterion",
        "criteria_id",
        "criterion_ids",
        "criteria_ids",
        "claim_id",
        "ref",
        "id",
    ];
    let linked: Vec<String> = linked
        .iter()
        .chain(&["message"])
        .filter_map(|name| object.get(*name).and_then(json::text_of))
        .collect();
    let leads_with = |text: &str, id: &str| {
        let head = text.split([':', '—', '–', '(']).next().unwrap_or_default();
        !head.trim().is_empty() && key(head) == key(id) && !head.trim().bytes().all(|b| b.is_ascii_digit())
    };
    let criterion = expected
        .criteria
        .iter()
        .find(|c| {
            !named.is_empty() && key(&c.id) == key(&named)
                || linked.iter().any(|text| leads_with(text, &c.id))
        })
        .map(|c| c.id.clone());
    if criterion.is_none() && !named.is_empty() {
        notes.deviation(format!("{place} names `{}`, which is no criterion of the task", short(&named)));
    }
    let quote = text(&object, "quote", place, notes);
    // A report that was written by us holds what others left under `raw`.
    if let Some(Value::Object(kept)) = object.remove("raw") {
        for (name, value) in kept {
            object.entry(name).or_insert(value);
        }
    }
    let says = SAYS.iter().find_map(|name| object.get(*name).and_then(Value::as_str));
    let says = says.map(clean).filter(|s| !s.is_empty()).unwrap_or_else(|| remediation.clone());
    let mut finding = Finding::new(category, severity, says, expected.by);
    finding.fix = remediation;
    finding.absent = finding_is_about_absence(&finding.rule, &object);
    finding.place = cited;
    finding.quote = Some(quote).filter(|q| !q.is_empty());
    finding.criterion = criterion;
    finding.raw = Some(raw(object, at));
    finding
}

/// How much a finding weighs, in whatever words. One that says nothing of it weighs most.
fn severity(word: Option<&str>, place: &str, notes: &mut Notes) -> Severity {
    let Some(word) = word else {
        notes.deviation(format!("{place} has no `severity`"));
        return Severity::Fail;
    };
    if let Some(severity) = Severity::parse(word) {
        return severity;
    }
    notes.deviation(format!("the `severity` of {place} is `{}`", short(word)));
    match word.to_lowercase().as_str() {
        "medium" | "moderate" | "warning" | "warn" => Severity::Risk,
        "low" | "minor" | "info" | "trivial" | "suggestion" | "style" | "note" | "informational" => {
            Severity::Nit
        }
        _ => Severity::Fail,
    }
}

/// A missing test or an unmet criterion names a place where something should be.
fn finding_is_about_absence(category: &str, object: &Map<String, Value>) -> bool {
    object
        .get("absent")
        .and_then(Value::as_bool)
        .unwrap_or(["missing-test", routes::UNMET_CRITERION].contains(&category))
}

/// `file` and `line`; the line may be a number, `"12"` or `"12-15"`, or stand behind the file's name.
fn located(object: &Map<String, Value>, place: &str, notes: &mut Notes) -> Option<Location> {
    let file = first(object, &["file", "path"])
        .and_then(json::text_of)
        .map(|t| clean(&t))
        .filter(|t| !says_nothing(t))
        .unwrap_or_default();
    let lines = match object.get("line") {
        None | Some(Value::Null) => None,
        Some(Value::Number(n)) => {
            let line = n.as_u64().and_then(|n| u32::try_from(n).ok());
            if line.is_none() {
                notes.deviation(format!("the `line` of {place} is {n}, which is no line number"));
            }
            line.map(|line| (line, None))
        }
        Some(Value::String(lines)) if says_nothing(lines) => None,
        Some(Value::String(lines)) => {
            let read = crate::reading::place::span(lines);
            if read.is_none() {
                notes.deviation(format!(
                    "the `line` of {place} is `{}`, which is no line number",
                    short(lines)
                ));
            }
            read
        }
        Some(_) => {
            notes.deviation(format!("the `line` of {place} is neither a number nor null"));
            None
        }
    };
    if file.is_empty() {
        return None;
    }
    if lines.is_none()
        && let Some(cited) = crate::reading::place::cited(&file)
    {
        return Some(cited);
    }
    let (line, end) = lines.map_or((None, None), |(line, end)| (Some(line), end));
    Some(Location { path: file, line, end })
}

fn raw(mut object: Map<String, Value>, at: usize) -> Value {
    let is_range = object.get("line").is_some_and(Value::is_string);
    for name in READ {
        if name != "line" || !is_range {
            object.remove(name);
        }
    }
    object.remove("quote");
    object.retain(|_, value| !value.is_null());
    object.entry("id").or_insert_with(|| Value::String(format!("C-{:03}", at + 1)));
    let raw = Value::Object(object);
    let bytes = raw.to_string().len();
    if bytes <= MOST_RAW {
        return raw;
    }
    let mut kept = Map::new();
    kept.insert("id".into(), Value::String(format!("C-{:03}", at + 1)));
    kept.insert("left_out".into(), Value::String(format!("{bytes} bytes of other fields")));
    Value::Object(kept)
}
