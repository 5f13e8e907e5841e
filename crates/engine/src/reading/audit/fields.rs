//! The fields of a report on success criteria, under whatever names and in whatever words a critic gives them. Breaches are
//! collected, so that one question can name them all; what only weakens a pass is kept apart.

use serde_json::{Map, Value};

use super::criteria::criteria;
use super::findings::findings;
use super::refused;
use crate::brief::one_line;
use crate::protocol::audit::report::{AXES, AuditReport, ExpectedReport, ReportVerdict, SatisfactionVerdict};
use crate::reading::json::{self, first};
use crate::reading::{Unread, beside, forms};

/// The longest text of one field, in characters.
const LONGEST_TEXT: usize = 4_000;
/// The most breaches that a request to restate lists.
pub(super) const MOST_BREACHES: usize = 20;

/// Keys under which findings stand.
pub(super) const FINDINGS: [&str; 8] =
    ["findings", "issues", "problems", "concerns", "blockers", "defects", "violations", "errors"];
pub(super) const CRITERIA: [&str; 10] = [
    "criteria",
    "success_criteria",
    "criterion_verdicts",
    "results",
    "criteria_evaluation",
    "criteria_results",
    "criterion_results",
    "criteria_verdicts",
    "evaluations",
    "evaluation",
];
/// What is read of a report; whatever else it says is weighed.
const KNOWN: [&str; 6] = ["critic", "task_id", "round", "partial", "reasoning", "blockers_count"];
/// Lists that name things and hold nothing against the work.
const HARMLESS: [&str; 6] = ["notes", "strengths", "files", "files_reviewed", "suggestions", "sources"];
/// Where the verdict stands, the first that is there.
const VERDICTS: [&str; 7] =
    ["verdict", "status", "overall_verdict", "result", "overall", "decision", "outcome"];

#[derive(Default)]
pub(super) struct Notes {
    breaches: Vec<String>,
    deviations: Vec<String>,
    /// What keeps the work from passing, and nothing else.
    weak: Vec<String>,
}

impl Notes {
    pub(super) fn breach(&mut self, sentence: impl Into<String>) {
        if self.breaches.len() < MOST_BREACHES {
            self.breaches.push(sentence.into());
        }
    }

    pub(super) fn weaken(&mut self, sentence: impl Into<String>) {
        if self.weak.len() < MOST_BREACHES {
            self.weak.push(sentence.into());
        }
    }

    pub(super) fn deviation(&mut self, sentence: impl Into<String>) {
        if self.deviations.len() < MOST_BREACHES {
            self.deviations.push(sentence.into());
        }
    }
}

pub(super) fn of_object(found: &json::Found, expected: &ExpectedReport<'_>) -> Result<AuditReport, Unread> {
    let object = &found.object;
    let mut notes = Notes::default();
    for slip in &found.slips {
        notes.deviation(slip.name());
    }
    let critic = critic(object.get("critic"), &mut notes);
    binding(object, expected, &mut notes);
    let partial = match object.get("partial") {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(Value::String(text)) if forms::is_one_of(text.trim(), &["false", "no", "none"]) => false,
        Some(_) => {
            notes.weaken("`partial` is not true or false");
            true
        }
    };
    let stated = stated(object, &mut notes);
    let criteria = criteria(object, expected, &mut notes);
    let mut list: Vec<Value> = Vec::new();
    for key in FINDINGS {
        match object.get(key) {
            Some(Value::Array(items)) => list.extend(items.iter().cloned()),
            Some(Value::Null) | None => {}
            Some(Value::Object(one)) if one.is_empty() => {}
            Some(one @ Value::Object(_)) => list.push(one.clone()),
            Some(Value::String(text)) if says_nothing(text) => {}
            Some(Value::String(text)) => list.push(Value::String(text.clone())),
            Some(Value::Number(n)) if n.as_f64() == Some(0.0) => {}
            Some(_) => notes.weaken(format!("`{key}` is not a list")),
        }
    }
    list.retain(|one| !one.as_str().is_some_and(is_no_finding));
    let ids: Vec<String> = expected.criteria.iter().map(|c| key(&c.id)).collect();
    let mut rest = object.clone();
    if let Some(at) = VERDICTS.iter().find(|at| rest.get(**at).is_some_and(|v| !v.is_null())) {
        rest.remove(*at);
    }
    rest.retain(|name, _| !ids.contains(&key(name)));
    let read = [&FINDINGS[..], &CRITERIA[..], &KNOWN[..]].concat();
    let unknown = json::unknown_lists(&rest, &[&read[..], &HARMLESS].concat());
    if let Some((key, _)) = unknown.filter(|(key, list)| !beside::is_list_of_praise(key, list)) {
        notes.weaken(format!("what it lists under `{key}` may be findings: put them under `findings`"));
    }
    if let Some(passage) = beside::against(&rest, &read).or_else(|| beside::against(&found.outer, &[])) {
        notes.weaken(format!("another of its fields speaks against the work: {}", short(&passage)));
    }
    if object.get("blockers_count").and_then(json::text_of).is_some_and(|count| count.trim() != "0") {
        notes.weaken("it counts blockers and lists none");
    }
    let findings = findings(list, expected, &mut notes);
    let report = AuditReport {
        critic,
        task_id: expected.task_id.to_owned(),
        round: expected.round,
        criteria,
        findings,
        partial,
        deviations: Vec::new(),
    };
    if notes.breaches.is_empty() {
        contradictions(stated, &report, &mut notes);
    }
    let rejects = !report.findings.is_empty()
        || report.criteria.iter().any(|c| {
            matches!(c.verdict, SatisfactionVerdict::Unsatisfied | SatisfactionVerdict::InformationMissing)
        });
    let weak = std::mem::take(&mut notes.weak);
    for sentence in weak {
        if rejects && stated != Some(ReportVerdict::Passed) {
            notes.deviation(sentence);
        } else {
            notes.breach(sentence);
        }
    }
    if notes.breaches.is_empty() {
        Ok(AuditReport { deviations: notes.deviations, ..report })
    } else {
        Err(refused(notes.breaches))
    }
}

/// The verdict by its own word; none if it is left out or another word, which then cannot pass.
fn stated(object: &Map<String, Value>, notes: &mut Notes) -> Option<ReportVerdict> {
    let said = first(object, &VERDICTS);
    let word = match said {
        Some(Value::Bool(true)) => "passed".to_owned(),
        Some(Value::Bool(false)) => "issues_found".to_owned(),
        Some(Value::String(word)) => {
            let plain = word.trim_matches(|c: char| c.is_whitespace() || forms::is_pictograph(c) || c == '.');
            plain.to_lowercase().replace(['-', ' '], "_")
        }
        _ => String::new(),
    };
    if forms::CLEARING.iter().any(|known| known.replace(' ', "_") == word) {
        if word != "passed" {
            notes.deviation(format!("the verdict is spelled `{}`", short(&word)));
        }
        return Some(ReportVerdict::Passed);
    }
    let rejecting =
        ["issue", "fail", "reject", "found", "unsatisf", "not_", "block", "changes", "needs", "revis"];
    if rejecting.iter().any(|part| word.contains(part)) {
        return Some(ReportVerdict::IssuesFound);
    }
    notes.weaken("`verdict` is not `passed` or `issues_found`");
    None
}

fn critic(stated: Option<&Value>, notes: &mut Notes) -> String {
    match stated.and_then(Value::as_str) {
        Some(name) if AXES.contains(&name) => return name.to_owned(),
        Some(name) => notes.deviation(format!("`critic` is `{}`, which names no axis", short(name))),
        None => notes.deviation("`critic` is missing"),
    }
    AXES[0].to_owned()
}

/// A report about another task or another round passes nothing here. What the program knows itself need not be repeated.
fn binding(object: &Map<String, Value>, expected: &ExpectedReport<'_>, notes: &mut Notes) {
    match object.get("task_id").and_then(json::text_of) {
        Some(id) if id.trim() == expected.task_id => {}
        Some(id) => {
            notes.weaken(format!("`task_id` is `{}`, but the task is `{}`", short(&id), expected.task_id));
        }
        None => notes.deviation("`task_id` is missing"),
    }
    match object.get("round").and_then(json::text_of) {
        Some(n) if n.trim() == expected.round.to_string() => {}
        Some(other) => {
            notes.weaken(format!("`round` is {}, but this is round {}", short(&other), expected.round));
        }
        None => notes.deviation("`round` is missing"),
    }
}

/// `passed` says: all criteria satisfied, nothing found, nothing left out. It must be so, and only then.
fn contradictions(stated: Option<ReportVerdict>, report: &AuditReport, notes: &mut Notes) {
    let open: Vec<&str> = report
        .criteria
        .iter()
        .filter(|c| c.verdict != SatisfactionVerdict::Satisfied)
        .take(MOST_BREACHES)
        .map(|c| c.id.as_str())
        .collect();
    match stated {
        Some(ReportVerdict::Passed) => {
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
        Some(ReportVerdict::IssuesFound)
            if report.findings.is_empty() && open.is_empty() && !report.partial =>
        {
            notes.breach("`issues_found`, and yet every criterion is Satisfied and there is no finding");
        }
        Some(ReportVerdict::IssuesFound) | None => {}
    }
}

/// `No issues found.` in a list of findings.
fn is_no_finding(text: &str) -> bool {
    let lower = text.to_lowercase();
    let few = text.split_whitespace().count() <= 5;
    few && (lower.starts_with("no issue")
        || lower.starts_with("no finding")
        || lower.starts_with("no problem")
        || lower.starts_with("none"))
}

/// A text field, folded and bounded; what only fills the field counts as empty.
pub(super) fn text(object: &Map<String, Value>, name: &str, place: &str, notes: &mut Notes) -> String {
    match object.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) if says_nothing(text) => String::new(),
        Some(Value::String(text)) if name == "quote" => text.chars().take(LONGEST_TEXT).collect(),
        Some(Value::String(text)) => clean(text),
        Some(other) => {
            notes.deviation(format!("`{name}` of {place} is not a text"));
            json::text_of(other).map(|text| clean(&text)).unwrap_or_default()
        }
    }
}

pub(super) fn clean(text: &str) -> String {
    let folded = one_line(text);
    match folded.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}…", &folded[..end]),
        None => folded,
    }
}

pub(super) fn says_nothing(text: &str) -> bool {
    let plain = text.trim_matches(|c: char| !c.is_alphanumeric());
    plain.is_empty() || ["none", "n/a", "na", "null", "nothing"].iter().any(|w| plain.eq_ignore_ascii_case(w))
}

/// `SC-1`, `SC1`, `sc_1` and `1` are one id.
pub(super) fn key(id: &str) -> String {
    let plain: String = id.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_uppercase();
    if plain.bytes().all(|b| b.is_ascii_digit()) { format!("SC{plain}") } else { plain }
}

pub(super) fn short(text: &str) -> String {
    one_line(text).chars().take(80).collect()
}
