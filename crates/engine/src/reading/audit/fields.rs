//! The fields of a report on success criteria, under whatever names and in whatever words a critic gives them. Breaches are
//! collected, so that one question can name them all; what only weakens a pass is kept apart.

use serde_json::{Map, Value};

use super::{MOST_FINDINGS, refused};
use crate::brief::one_line;
use crate::finding::{Finding, Place, Severity};
use crate::protocol::audit::report::{AXES, CriterionVerdict, Expected, Judged, Report, ReportVerdict};
use crate::protocol::audit::routes;
use crate::reading::doubt::{self, Scope};
use crate::reading::json::{self, first};
use crate::reading::{Unread, beside, forms};

/// The longest text of one field, in characters.
const LONGEST_TEXT: usize = 4_000;
/// The most bytes of other fields that a finding keeps.
const MOST_RAW: usize = 16 << 10;
/// The most breaches that a request to restate lists.
const MOST_BREACHES: usize = 20;

/// The fields of a finding that are read; all others are kept as they came.
const READ: [&str; 5] = ["category", "severity", "file", "line", "remediation"];
/// Where critics put what is wrong, beside the remediation.
const SAYS: [&str; 8] =
    ["message", "problem", "description", "title", "summary", "evidence", "issue", "text"];
const REMEDIES: [&str; 8] =
    ["remediation", "fix", "suggestion", "recommendation", "remedy", "suggested_fix", "action", "resolution"];
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
/// What is read of a criterion.
const EVIDENCE: [&str; 8] =
    ["evidence", "proof", "because", "rationale", "reason", "where", "location", "justification"];
const JUDGED: [&str; 7] = ["verdict", "status", "result", "satisfied", "met", "missing_info", "reasoning"];

#[derive(Default)]
struct Notes {
    breaches: Vec<String>,
    deviations: Vec<String>,
    /// What keeps the work from passing, and nothing else.
    weak: Vec<String>,
}

impl Notes {
    fn breach(&mut self, sentence: impl Into<String>) {
        if self.breaches.len() < MOST_BREACHES {
            self.breaches.push(sentence.into());
        }
    }

    fn weaken(&mut self, sentence: impl Into<String>) {
        if self.weak.len() < MOST_BREACHES {
            self.weak.push(sentence.into());
        }
    }

    fn deviation(&mut self, sentence: impl Into<String>) {
        if self.deviations.len() < MOST_BREACHES {
            self.deviations.push(sentence.into());
        }
    }
}

pub(super) fn of_object(found: &json::Found, expected: &Expected<'_>) -> Result<Report, Unread> {
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
        Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => false,
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
    if let Some((key, _)) = unknown.filter(|(key, _)| !beside::is_silent(key)) {
        notes.weaken(format!("what it lists under `{key}` may be findings: put them under `findings`"));
    }
    if let Some(passage) = beside::against(&rest, &read).or_else(|| beside::against(&found.outer, &[])) {
        notes.weaken(format!("another of its fields speaks against the work: {}", short(&passage)));
    }
    if object.get("blockers_count").and_then(json::text_of).is_some_and(|count| count.trim() != "0") {
        notes.weaken("it counts blockers and lists none");
    }
    let findings = findings(list, expected, &mut notes);
    let report = Report {
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
            matches!(c.verdict, CriterionVerdict::Unsatisfied | CriterionVerdict::InformationMissing)
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
        Ok(Report { deviations: notes.deviations, ..report })
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
fn binding(object: &Map<String, Value>, expected: &Expected<'_>, notes: &mut Notes) {
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

fn criteria(object: &Map<String, Value>, expected: &Expected<'_>, notes: &mut Notes) -> Vec<Judged> {
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
    for (at, (name, value)) in listed(object, expected, notes).into_iter().enumerate() {
        let place = format!("`criteria[{at}]`");
        let Value::Object(object) = value else {
            notes.weaken(format!("{place} is not an object"));
            continue;
        };
        let claim = first(&object, &["claim", "criterion", "text", "description"])
            .and_then(json::text_of)
            .unwrap_or_default();
        let id = first(&object, &["id", "criterion_id", "name"])
            .and_then(json::text_of)
            .or(name)
            .unwrap_or_default();
        if id.trim().is_empty() && claim.trim().is_empty() {
            notes.weaken(format!("{place} has no `id`"));
            continue;
        }
        let Some(verdict) =
            verdict(first(&object, &["verdict", "status", "result", "satisfied", "met"]), &place, notes)
        else {
            continue;
        };
        // `SC-1: half returns the half`, or the id where the claim should be.
        let leads = |text: &str, c: &Judged| {
            let head = text.split([':', '—', '–', '(']).next().unwrap_or_default();
            !head.trim().is_empty() && key(head) == key(&c.id)
        };
        let same = |text: &str, c: &Judged| {
            let plain = |text: &str| one_line(text).trim_end_matches(['.', ' ']).to_lowercase();
            !text.trim().is_empty() && plain(text) == plain(&c.claim)
        };
        let known = judged
            .iter()
            .position(|c| leads(&id, c))
            .or_else(|| judged.iter().position(|c| leads(&claim, c) || same(&claim, c) || same(&id, c)));
        let Some(slot) = known.and_then(|at| judged.get_mut(at)) else {
            unknown_criterion(&id, verdict, expected, notes);
            continue;
        };
        let evidence = first(&object, &EVIDENCE)
            .and_then(evidence_of)
            .map(|text| clean(&text))
            .filter(|t| !says_nothing(t))
            .unwrap_or_default();
        let missing_info = text(&object, "missing_info", &place, notes);
        if verdict == CriterionVerdict::Satisfied {
            if evidence.is_empty() {
                notes.weaken(format!(
                    "{} is Satisfied without evidence: name file and line, or the test",
                    slot.id
                ));
            }
            let nothing = missing_info.to_lowercase().starts_with("nothing")
                && doubt::against(&missing_info, Scope::Prose).is_none();
            if !missing_info.is_empty() && !nothing {
                notes.weaken(format!(
                    "{} is Satisfied, and yet information is missing: {}",
                    slot.id,
                    short(&missing_info)
                ));
            }
            let used = EVIDENCE.iter().find(|at| object.get(**at).is_some_and(|v| !v.is_null()));
            let read: Vec<&str> = used.into_iter().chain(&JUDGED).copied().collect();
            if let Some(passage) = beside::against(&object, &read) {
                notes.weaken(format!("{} is Satisfied, and yet: {}", slot.id, short(&passage)));
            }
            if let Some((rule, passage)) = doubt::against(&evidence, Scope::Evidence) {
                notes.weaken(format!(
                    "{} is Satisfied, and its evidence says otherwise ({}): {}",
                    slot.id,
                    rule.sentence(),
                    short(&passage)
                ));
            }
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

/// The criteria as a list, each with its name if they stand under names.
fn listed(
    object: &Map<String, Value>,
    expected: &Expected<'_>,
    notes: &mut Notes,
) -> Vec<(Option<String>, Value)> {
    match first(object, &CRITERIA) {
        Some(Value::Array(items)) => items.iter().map(|item| (None, item.clone())).collect(),
        Some(Value::Object(by_id)) => by_id
            .iter()
            .map(|(id, value)| match value {
                Value::Object(_) => (Some(id.clone()), value.clone()),
                word => {
                    let mut entry = Map::new();
                    entry.insert("verdict".into(), word.clone());
                    (Some(id.clone()), Value::Object(entry))
                }
            })
            .collect(),
        Some(_) => {
            notes.weaken("`criteria` is not a list");
            Vec::new()
        }
        None => {
            let of_plan = |id: &&String| expected.criteria.iter().any(|c| key(&c.id) == key(id));
            let by_id: Vec<(Option<String>, Value)> = object
                .iter()
                .filter(|(id, value)| of_plan(id) && value.is_object())
                .map(|(id, value)| (Some(id.clone()), value.clone()))
                .collect();
            if by_id.is_empty() {
                notes.weaken("`criteria` is missing: it is a list, if need be an empty one");
            }
            by_id
        }
    }
}

/// A criterion nobody asked for cannot help the work pass; one that fails it cannot be overlooked.
fn unknown_criterion(id: &str, verdict: CriterionVerdict, expected: &Expected<'_>, notes: &mut Notes) {
    let id = short(id);
    if verdict == CriterionVerdict::Satisfied {
        return notes.deviation(format!("`{id}` is no criterion of the task and was left out"));
    }
    let ids: Vec<&str> = expected.criteria.iter().take(MOST_BREACHES).map(|c| c.id.as_str()).collect();
    notes.weaken(format!(
        "`{id}` is no criterion of the task: its criteria are {}; anything else is a finding",
        ids.join(", ")
    ));
}

fn verdict(stated: Option<&Value>, place: &str, notes: &mut Notes) -> Option<CriterionVerdict> {
    let word = match stated {
        Some(Value::Bool(true)) => "true".to_owned(),
        Some(Value::Bool(false)) => "false".to_owned(),
        Some(Value::String(word)) => word.trim().to_owned(),
        _ => String::new(),
    };
    match word.as_str() {
        "Satisfied" => return Some(CriterionVerdict::Satisfied),
        "Unsatisfied" => return Some(CriterionVerdict::Unsatisfied),
        "Information-Missing" => return Some(CriterionVerdict::InformationMissing),
        _ => {}
    }
    let lower = word.to_lowercase().replace(['_', '-'], " ");
    let plain = lower.trim_matches(|c: char| !c.is_alphanumeric());
    let begins = |words: &[&str]| words.iter().any(|w| plain.starts_with(w));
    let tolerated = if forms::is_one_of(plain, forms::SATISFYING) {
        CriterionVerdict::Satisfied
    } else if begins(&[
        "information missing",
        "missing info",
        "unknown",
        "unclear",
        "cannot be",
        "not enough",
        "insufficient info",
        "needs info",
        "unverif",
    ]) {
        CriterionVerdict::InformationMissing
    } else if begins(&[
        "unsatisf",
        "unmet",
        "not ",
        "fail",
        "false",
        "no",
        "violat",
        "partial",
        "partly",
        "missing",
        "incomplete",
        "rejected",
        "mostly",
    ]) {
        CriterionVerdict::Unsatisfied
    } else {
        notes.weaken(format!(
            "the verdict of {place} is `{}`: only Satisfied, Unsatisfied and Information-Missing are verdicts",
            short(&word)
        ));
        return None;
    };
    notes.deviation(format!("the verdict of {place} is spelled `{}`", short(&word)));
    Some(tolerated)
}

fn findings(stated: Vec<Value>, expected: &Expected<'_>, notes: &mut Notes) -> Vec<Finding> {
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
    expected: &Expected<'_>,
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
fn located(object: &Map<String, Value>, place: &str, notes: &mut Notes) -> Option<Place> {
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
fn contradictions(stated: Option<ReportVerdict>, report: &Report, notes: &mut Notes) {
    let open: Vec<&str> = report
        .criteria
        .iter()
        .filter(|c| c.verdict != CriterionVerdict::Satisfied)
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

/// Evidence as a text: a place may be an object, `{"file": "src/a.rs", "line": 3}`.
fn evidence_of(value: &Value) -> Option<String> {
    match value {
        Value::Object(object) => {
            let file = first(object, &["file", "path"]).and_then(json::text_of);
            let line = first(object, &["line", "lines"]).and_then(json::text_of);
            let place = file.map(|file| line.map_or(file.clone(), |line| format!("{file}:{line}")));
            let others =
                object.iter().filter(|(name, _)| !["file", "path", "line", "lines"].contains(&name.as_str()));
            let texts = place.into_iter().chain(others.filter_map(|(_, value)| json::text_of(value)));
            Some(texts.collect::<Vec<_>>().join("; ")).filter(|text| !text.is_empty())
        }
        Value::Array(list) => {
            let texts: Vec<String> = list.iter().filter_map(evidence_of).collect();
            (!texts.is_empty()).then(|| texts.join("; "))
        }
        other => json::text_of(other),
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
fn text(object: &Map<String, Value>, name: &str, place: &str, notes: &mut Notes) -> String {
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

/// `SC-1`, `SC1`, `sc_1` and `1` are one id.
fn key(id: &str) -> String {
    let plain: String = id.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_uppercase();
    if plain.bytes().all(|b| b.is_ascii_digit()) { format!("SC{plain}") } else { plain }
}

pub(super) fn short(text: &str) -> String {
    one_line(text).chars().take(80).collect()
}
