//! From a report's JSON to a [`Report`]: every field is checked, and every breach is named at once, so that
//! one request to restate can mend them all.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::brief::one_line;
use crate::finding::{Finding, Place, Severity};
use crate::protocol::audit::citations;
use crate::protocol::audit::routes;

use super::{AXES, CriterionVerdict, Expected, Judged, Malformed, Report, ReportVerdict};

/// The most findings one report may state; of more, the worst are read.
pub(super) const MOST_FINDINGS: usize = 500;
/// The longest text of one field, in characters.
const LONGEST_TEXT: usize = 4_000;
/// The most bytes of other fields that a finding keeps.
const MOST_RAW: usize = 16 << 10;
/// The most breaches that a request to restate lists.
const MOST_BREACHES: usize = 20;

/// The fields of a finding that are read; all others are kept as they came.
const READ: [&str; 5] = ["category", "severity", "file", "line", "remediation"];
/// Where critics put what is wrong, beside the remediation.
const SAYS: [&str; 6] = ["message", "problem", "description", "title", "summary", "evidence"];

#[derive(Default)]
struct Notes {
    breaches: Vec<String>,
    deviations: Vec<String>,
}

impl Notes {
    fn breach(&mut self, sentence: impl Into<String>) {
        if self.breaches.len() < MOST_BREACHES {
            self.breaches.push(sentence.into());
        }
    }

    fn deviation(&mut self, sentence: impl Into<String>) {
        if self.deviations.len() < MOST_BREACHES {
            self.deviations.push(sentence.into());
        }
    }
}

pub(super) fn report(object: Map<String, Value>, expected: &Expected<'_>) -> Result<Report, Malformed> {
    let mut notes = Notes::default();
    let critic = critic(object.get("critic"), &mut notes);
    binding(&object, expected, &mut notes);
    let partial = match object.get("partial") {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(_) => {
            notes.breach("`partial` is not true or false");
            true
        }
    };
    let stated = match object.get("verdict").and_then(Value::as_str).map(str::trim) {
        Some("passed") => Some(ReportVerdict::Passed),
        Some("issues_found") => Some(ReportVerdict::IssuesFound),
        _ => {
            notes.breach("`verdict` is not `passed` or `issues_found`");
            None
        }
    };
    let mut object = object;
    let mut list = |name: &str, notes: &mut Notes| match object.remove(name) {
        Some(Value::Array(items)) => items,
        None => {
            notes.breach(format!("`{name}` is missing: it is a list, if need be an empty one"));
            Vec::new()
        }
        Some(_) => {
            notes.breach(format!("`{name}` is not a list"));
            Vec::new()
        }
    };
    let stated_criteria = list("criteria", &mut notes);
    let stated_findings = list("findings", &mut notes);
    let criteria = criteria(stated_criteria, expected, &mut notes);
    let findings = findings(stated_findings, expected, &mut notes);
    let report = Report {
        critic,
        task_id: expected.task_id.to_owned(),
        round: expected.round,
        criteria,
        findings,
        partial,
        deviations: Vec::new(),
    };
    if let Some(stated) = stated.filter(|_| notes.breaches.is_empty()) {
        contradictions(stated, &report, &mut notes);
    }
    if notes.breaches.is_empty() {
        Ok(Report { deviations: notes.deviations, ..report })
    } else {
        Err(Malformed::Breaches(notes.breaches))
    }
}

fn critic(stated: Option<&Value>, notes: &mut Notes) -> String {
    match stated.and_then(Value::as_str) {
        Some(name) if AXES.contains(&name) => return name.to_owned(),
        Some(name) => notes.deviation(format!("`critic` is `{}`, which names no axis", short(name))),
        None => notes.deviation("`critic` is missing"),
    }
    AXES[0].to_owned()
}

/// A report about another task or another round is evidence of nothing here.
fn binding(object: &Map<String, Value>, expected: &Expected<'_>, notes: &mut Notes) {
    match object.get("task_id").and_then(Value::as_str) {
        Some(id) if id.trim() == expected.task_id => {}
        Some(id) => {
            notes.breach(format!("`task_id` is `{}`, but the task is `{}`", short(id), expected.task_id));
        }
        None => notes.breach(format!("`task_id` is missing: it is `{}`", expected.task_id)),
    }
    match object.get("round") {
        Some(Value::Number(n)) if n.as_u64() == Some(u64::from(expected.round)) => {}
        Some(Value::String(n)) if n.trim() == expected.round.to_string() => {
            notes.deviation("`round` is a text, not a number");
        }
        Some(other) => {
            let other = short(&other.to_string());
            notes.breach(format!("`round` is {other}, but this is round {}", expected.round));
        }
        None => notes.breach(format!("`round` is missing: it is {}", expected.round)),
    }
}

fn criteria(stated: Vec<Value>, expected: &Expected<'_>, notes: &mut Notes) -> Vec<Judged> {
    let mut judged: Vec<Judged> = expected
        .criteria
        .iter()
        .map(|c| Judged {
            id: c.id.clone(),
            claim: c.claim.clone(),
            verdict: CriterionVerdict::Unverified,
            evidence: String::new(),
            missing_info: String::new(),
        })
        .collect();
    let by_id: HashMap<String, usize> =
        expected.criteria.iter().enumerate().map(|(at, c)| (key(&c.id), at)).collect();
    for (at, value) in stated.into_iter().enumerate() {
        let place = format!("`criteria[{at}]`");
        let Value::Object(object) = value else {
            notes.breach(format!("{place} is not an object"));
            continue;
        };
        let Some(id) = object.get("id").and_then(Value::as_str) else {
            notes.breach(format!("{place} has no `id`"));
            continue;
        };
        let Some(verdict) = verdict(object.get("verdict"), &place, notes) else { continue };
        let Some(slot) = by_id.get(&key(id)).and_then(|at| judged.get_mut(*at)) else {
            unknown_criterion(id, verdict, expected, notes);
            continue;
        };
        let evidence = text(&object, "evidence", &place, notes);
        let missing_info = text(&object, "missing_info", &place, notes);
        if verdict == CriterionVerdict::Satisfied && evidence.is_empty() {
            notes.breach(format!(
                "{} is Satisfied without evidence: name file and line, or the test",
                slot.id
            ));
        }
        match slot.verdict {
            CriterionVerdict::Unverified => {
                (slot.verdict, slot.evidence, slot.missing_info) = (verdict, evidence, missing_info);
            }
            earlier if earlier == verdict => {
                notes.deviation(format!("{} is judged twice", slot.id));
                append(&mut slot.evidence, &evidence);
                append(&mut slot.missing_info, &missing_info);
            }
            _ => notes.breach(format!("{} has two different verdicts", slot.id)),
        }
    }
    judged
}

/// A criterion nobody asked for cannot help the work pass; one that fails it cannot be overlooked.
fn unknown_criterion(id: &str, verdict: CriterionVerdict, expected: &Expected<'_>, notes: &mut Notes) {
    let id = short(id);
    if verdict == CriterionVerdict::Satisfied {
        return notes.deviation(format!("`{id}` is no criterion of the task and was left out"));
    }
    let ids: Vec<&str> = expected.criteria.iter().take(MOST_BREACHES).map(|c| c.id.as_str()).collect();
    notes.breach(format!(
        "`{id}` is no criterion of the task: its criteria are {}; anything else is a finding",
        ids.join(", ")
    ));
}

fn verdict(stated: Option<&Value>, place: &str, notes: &mut Notes) -> Option<CriterionVerdict> {
    let word = stated.and_then(Value::as_str).unwrap_or_default();
    let exact = match word {
        "Satisfied" => Some(CriterionVerdict::Satisfied),
        "Unsatisfied" => Some(CriterionVerdict::Unsatisfied),
        "Information-Missing" => Some(CriterionVerdict::InformationMissing),
        _ => None,
    };
    if exact.is_some() {
        return exact;
    }
    let tolerated = match word.trim().to_ascii_lowercase().replace(['_', ' '], "-").as_str() {
        "satisfied" => CriterionVerdict::Satisfied,
        "unsatisfied" => CriterionVerdict::Unsatisfied,
        "information-missing" => CriterionVerdict::InformationMissing,
        _ => {
            notes.breach(format!(
                "the verdict of {place} is `{}`: only Satisfied, Unsatisfied and Information-Missing are verdicts",
                short(word)
            ));
            return None;
        }
    };
    notes.deviation(format!("the verdict of {place} is spelled `{}`", short(word)));
    Some(tolerated)
}

fn findings(stated: Vec<Value>, expected: &Expected<'_>, notes: &mut Notes) -> Vec<Finding> {
    let mut findings = Vec::new();
    let count = stated.len();
    for (at, value) in stated.into_iter().enumerate() {
        let place = format!("`findings[{at}]`");
        let Value::Object(object) = value else {
            notes.breach(format!("{place} is not an object"));
            continue;
        };
        findings.extend(finding(object, at, &place, expected, notes));
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
    expected: &Expected<'_>,
    notes: &mut Notes,
) -> Option<Finding> {
    let category = object.get("category").and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if category.is_empty() {
        notes.breach(format!("{place} has no `category`"));
        return None;
    }
    let category = short(category);
    let severity = object.get("severity").and_then(Value::as_str).and_then(Severity::parse);
    let Some(mut severity) = severity else {
        notes.breach(format!("the `severity` of {place} is not fail, risk or nit"));
        return None;
    };
    if routes::known(&category).is_none() {
        notes.deviation(format!("{place} has the unknown category `{category}`"));
        severity = Severity::Fail;
    }
    let remediation = text(&object, "remediation", place, notes);
    if remediation.is_empty() {
        notes.breach(format!("{place} has no `remediation`: say what to do about it"));
        return None;
    }
    let cited = located(&object, place, notes);
    let named = text(&object, "criterion_id", place, notes);
    let criterion =
        expected.criteria.iter().find(|c| c.id.eq_ignore_ascii_case(&named)).map(|c| c.id.clone());
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
    Some(finding)
}

/// A missing test or an unmet criterion names a place where something should be.
fn finding_is_about_absence(category: &str, object: &Map<String, Value>) -> bool {
    object
        .get("absent")
        .and_then(Value::as_bool)
        .unwrap_or(["missing-test", routes::UNMET_CRITERION].contains(&category))
}

/// `file` and `line`; the line may be a number, `"12"` or `"12-15"`, or stand behind the file's name.
fn located(object: &Map<String, Value>, place: &str, notes: &mut Notes) -> Option<Place> {
    let file = text(object, "file", place, notes);
    let lines = match object.get("line") {
        None | Some(Value::Null) => None,
        Some(Value::Number(n)) => {
            let line = n.as_u64().and_then(|n| u32::try_from(n).ok());
            if line.is_none() {
                notes.breach(format!("the `line` of {place} is {n}, which is no line number"));
            }
            line.map(|line| (line, None))
        }
        Some(Value::String(lines)) if says_nothing(lines) => None,
        Some(Value::String(lines)) => {
            let read = citations::lines_of(lines);
            if read.is_none() {
                notes.breach(format!("the `line` of {place} is `{}`, which is no line number", short(lines)));
            }
            read
        }
        Some(_) => {
            notes.breach(format!("the `line` of {place} is neither a number nor null"));
            None
        }
    };
    if file.is_empty() {
        return None;
    }
    if lines.is_none()
        && let Some(cited) = citations::place(&file)
    {
        return Some(cited);
    }
    let (line, end) = lines.map_or((None, None), |(line, end)| (Some(line), end));
    Some(Place { path: file, line, end })
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

/// `passed` says: all criteria satisfied, nothing found, nothing left out. It must be so, and only then.
fn contradictions(stated: ReportVerdict, report: &Report, notes: &mut Notes) {
    let open: Vec<&str> = report
        .criteria
        .iter()
        .filter(|c| c.verdict != CriterionVerdict::Satisfied)
        .take(MOST_BREACHES)
        .map(|c| c.id.as_str())
        .collect();
    match stated {
        ReportVerdict::Passed => {
            if !report.findings.is_empty() {
                notes.breach(format!("`passed`, and yet {} findings", report.findings.len()));
            }
            if !open.is_empty() {
                notes.breach(format!("`passed`, and yet not Satisfied or not judged: {}", open.join(", ")));
            }
            if report.partial {
                notes.breach("`passed`, and yet marked `partial`");
            }
        }
        ReportVerdict::IssuesFound => {
            if report.findings.is_empty() && open.is_empty() && !report.partial {
                notes.breach("`issues_found`, and yet every criterion is Satisfied and there is no finding");
            }
        }
    }
}

/// A text field, folded and bounded; what only fills the field counts as empty.
fn text(object: &Map<String, Value>, name: &str, place: &str, notes: &mut Notes) -> String {
    match object.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) if says_nothing(text) => String::new(),
        Some(Value::String(text)) if name == "quote" => text.chars().take(LONGEST_TEXT).collect(),
        Some(Value::String(text)) => clean(text),
        Some(_) => {
            notes.breach(format!("`{name}` of {place} is not a text"));
            String::new()
        }
    }
}

fn clean(text: &str) -> String {
    let folded = one_line(text);
    match folded.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}…", &folded[..end]),
        None => folded,
    }
}

fn says_nothing(text: &str) -> bool {
    let plain = text.trim_matches(|c: char| !c.is_alphanumeric());
    plain.is_empty() || ["none", "n/a", "na", "null", "nothing"].iter().any(|w| plain.eq_ignore_ascii_case(w))
}

fn append(text: &mut String, more: &str) {
    if !more.is_empty() && text.as_str() != more {
        if !text.is_empty() {
            text.push_str("; ");
        }
        text.push_str(more);
    }
}

fn key(id: &str) -> String {
    id.trim().to_ascii_uppercase()
}

fn short(text: &str) -> String {
    one_line(text).chars().take(80).collect()
}
