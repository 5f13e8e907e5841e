//! What a report says of each success criterion, under whatever names and in whatever words.

use serde_json::{Map, Value};

use super::fields::{CRITERIA, MOST_BREACHES, Notes, clean, key, says_nothing, short, text};
use crate::brief::one_line;
use crate::protocol::audit::report::{ExpectedReport, JudgedCriterion, SatisfactionVerdict};
use crate::reading::doubt::{self, Scope};
use crate::reading::json::{self, first};
use crate::reading::{beside, forms};

/// What is read of a criterion.
const EVIDENCE: [&str; 8] =
    ["evidence", "proof", "because", "rationale", "reason", "where", "location", "justification"];
const JUDGED: [&str; 7] = ["verdict", "status", "result", "satisfied", "met", "missing_info", "reasoning"];

pub(super) fn criteria(
    object: &Map<String, Value>,
    expected: &ExpectedReport<'_>,
    notes: &mut Notes,
) -> Vec<JudgedCriterion> {
    let mut judged: Vec<JudgedCriterion> = expected
        .criteria
        .iter()
        .map(|c| JudgedCriterion {
            id: c.id.clone(),
            claim: c.claim.clone(),
            verdict: SatisfactionVerdict::Unverified,
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
        let leads = |text: &str, c: &JudgedCriterion| {
            let head = text.split([':', '—', '–', '(']).next().unwrap_or_default();
            !head.trim().is_empty() && key(head) == key(&c.id)
        };
        let same = |text: &str, c: &JudgedCriterion| {
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
        if verdict == SatisfactionVerdict::Satisfied {
            if evidence.is_empty() {
                notes.weaken(format!(
                    "{} is Satisfied without evidence: name file and line, or the test",
                    slot.id
                ));
            }
            let nothing = ["nothing", "none"].iter().any(|w| missing_info.to_lowercase().starts_with(w))
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
            if doubt::concedes(&evidence) {
                notes.weaken(format!(
                    "{} is Satisfied, and its evidence concedes something: {}",
                    slot.id,
                    short(&evidence)
                ));
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
            SatisfactionVerdict::Unverified => {
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
    expected: &ExpectedReport<'_>,
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
fn unknown_criterion(
    id: &str,
    verdict: SatisfactionVerdict,
    expected: &ExpectedReport<'_>,
    notes: &mut Notes,
) {
    let id = short(id);
    if verdict == SatisfactionVerdict::Satisfied {
        return notes.deviation(format!("`{id}` is no criterion of the task and was left out"));
    }
    let ids: Vec<&str> = expected.criteria.iter().take(MOST_BREACHES).map(|c| c.id.as_str()).collect();
    notes.weaken(format!(
        "`{id}` is no criterion of the task: its criteria are {}; anything else is a finding",
        ids.join(", ")
    ));
}

fn verdict(stated: Option<&Value>, place: &str, notes: &mut Notes) -> Option<SatisfactionVerdict> {
    let word = match stated {
        Some(Value::Bool(true)) => "true".to_owned(),
        Some(Value::Bool(false)) => "false".to_owned(),
        Some(Value::String(word)) => word.trim().to_owned(),
        _ => String::new(),
    };
    match word.as_str() {
        "Satisfied" => return Some(SatisfactionVerdict::Satisfied),
        "Unsatisfied" => return Some(SatisfactionVerdict::Unsatisfied),
        "Information-Missing" => return Some(SatisfactionVerdict::InformationMissing),
        _ => {}
    }
    let lower = word.to_lowercase().replace(['_', '-'], " ");
    let plain = lower.trim_matches(|c: char| !c.is_alphanumeric());
    let begins = |words: &[&str]| words.iter().any(|w| plain.starts_with(w));
    let tolerated = if forms::is_one_of(plain, forms::SATISFYING) {
        SatisfactionVerdict::Satisfied
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
        SatisfactionVerdict::InformationMissing
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
        SatisfactionVerdict::Unsatisfied
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

fn append(text: &mut String, more: &str) {
    if !more.is_empty() && text.as_str() != more {
        if !text.is_empty() {
            text.push_str("; ");
        }
        text.push_str(more);
    }
}
