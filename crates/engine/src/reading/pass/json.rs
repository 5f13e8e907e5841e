//! A pass as JSON: what agents are asked for that can be held to a schema, and what others send of their own accord. It
//! becomes the same entries as a reply in words, so that one judge reads both.

use serde_json::{Map, Value};

use super::gather::{Entry, Gathered, Subject};
use crate::protocol::converge::sets::ConvergeCriterion;
use crate::reading::json::{self, first, text_of};
use crate::reading::quoted::Shown;
use crate::reading::{Unread, beside};

/// What an agent is held to.
pub const SCHEMA: &str = include_str!("schema.json");

const LISTS: [&str; 5] = ["criteria", "answers", "items", "results", "criterion"];

pub(super) fn find(
    text: &str,
    criteria: &[ConvergeCriterion],
    shown: &Shown,
) -> Result<Option<Gathered>, Unread> {
    if !text.contains('{') {
        return Ok(None);
    }
    let keys: Vec<String> = criteria.iter().map(|c| ConvergeCriterion::key(&c.name)).collect();
    let is_report = |object: &Map<String, Value>| {
        LISTS.iter().any(|list| object.get(*list).is_some_and(|v| v.is_array() || v.is_object()))
            || named_list(object, &keys).is_some()
            || keys.iter().any(|key| object.contains_key(&key.to_lowercase()))
    };
    let Some(found) = json::find(text, &is_report, &LISTS, shown)? else { return Ok(None) };
    if found.broken {
        return Err(Unread::new("beside the report stands another one that cannot be read"));
    }
    let mended = found.slips.iter().map(|slip| slip.name().to_owned()).collect();
    let mut gathered = Gathered { beside: vec![found.around.clone()], mended, ..Gathered::default() };
    let object = &found.object;
    let named = named_list(object, &keys);
    match first(object, &LISTS).or_else(|| named.and_then(|key| object.get(key))) {
        Some(Value::Array(list)) => {
            for entry in list.iter().filter_map(Value::as_object) {
                let name = first(entry, &["name", "criterion", "id", "title"]).and_then(text_of);
                let name = name.or_else(|| names(entry, &keys).map(str::to_owned)).unwrap_or_default();
                answer(&name, entry, &keys, &mut gathered);
            }
        }
        Some(Value::Object(by_name)) => by_names(by_name, &keys, &mut gathered),
        _ => by_names(object, &keys, &mut gathered),
    }
    for key in ["adversarial", "scenarios", "scenario", "failure_scenario", "failure_scenarios"] {
        match object.get(key) {
            Some(Value::Array(list)) => list.iter().for_each(|one| scenario(one, &mut gathered)),
            Some(one @ Value::Object(_)) => scenario(one, &mut gathered),
            Some(Value::String(says)) => {
                let beside = Value::Object(object.clone());
                scenario(&with_text(&beside, says), &mut gathered);
            }
            _ => {}
        }
    }
    let read = [
        &LISTS[..],
        &[
            "adversarial",
            "scenarios",
            "scenario",
            "failure_scenario",
            "failure_scenarios",
            "result",
            "realistic",
            "is_realistic",
            "because",
            "why",
        ],
        named.as_slice(),
    ]
    .concat();
    let mut rest = object.clone();
    rest.retain(|key, _| {
        !keys.iter().any(|k| *k == ConvergeCriterion::key(key))
            && ConvergeCriterion::key(key) != crate::protocol::converge::sets::ADVERSARIAL
    });
    gathered.contradicted = beside::against(&rest, &read)
        .or_else(|| beside::against(&found.outer, &[]))
        .or_else(|| gathered.contradicted.take());
    gathered.result = object.get("result").and_then(text_of);
    Ok(Some(gathered))
}

/// A list under a name of its own whose entries name the criteria.
fn named_list<'o>(object: &'o Map<String, Value>, keys: &[String]) -> Option<&'o str> {
    let is_named = |value: &Value| {
        let list = value.as_array().filter(|list| !list.is_empty());
        list.is_some_and(|list| {
            list.iter().all(|one| one.as_object().is_some_and(|one| names(one, keys).is_some()))
        })
    };
    object.iter().find(|(_, value)| is_named(value)).map(|(key, _)| key.as_str())
}

/// The criterion that an entry names in one of its fields.
fn names<'o>(entry: &'o Map<String, Value>, keys: &[String]) -> Option<&'o str> {
    entry
        .values()
        .filter_map(Value::as_str)
        .find(|text| text.len() <= 60 && keys.contains(&ConvergeCriterion::key(text)))
}

fn with_text(object: &Value, says: &str) -> Value {
    let mut object = object.as_object().cloned().unwrap_or_default();
    object.insert("scenario".into(), Value::String(says.to_owned()));
    Value::Object(object)
}

fn by_names(object: &Map<String, Value>, keys: &[String], gathered: &mut Gathered) {
    for (name, value) in object {
        if let Value::Object(entry) = value {
            answer(name, entry, keys, gathered);
        }
    }
}

fn answer(name: &str, entry: &Map<String, Value>, keys: &[String], gathered: &mut Gathered) {
    let key = ConvergeCriterion::key(name);
    if key == crate::protocol::converge::sets::ADVERSARIAL {
        return scenario(&Value::Object(entry.clone()), gathered);
    }
    let subject = keys.iter().position(|k| *k == key).map_or(Subject::Unknown, Subject::Criterion);
    let said = first(
        entry,
        &[
            "answer",
            "rationale",
            "evidence",
            "because",
            "finding",
            "explanation",
            "justification",
            "comment",
            "reason",
            "details",
        ],
    )
    .and_then(text_of);
    let mut judged = Entry::of(subject, name, &said.unwrap_or_default());
    let word = first(entry, &["verdict", "status", "result"]).and_then(text_of).unwrap_or_default();
    let detail = first(entry, &["fix", "reason", "remediation", "remedy", "suggestion"]).and_then(text_of);
    let detail = detail.filter(|detail| !detail.trim().is_empty() && !word.contains(detail.trim()));
    // A PASS with something to fix is none.
    let fix = first(entry, &["fix", "remediation", "remedy"]).and_then(text_of);
    let passes = super::phrases::word(&word).is_some_and(|(w, _)| w == super::phrases::Word::Pass);
    if let Some(fix) = fix.filter(|fix| passes && !crate::reading::doubt::says_nothing(fix)) {
        gathered.contradicted.get_or_insert(fix);
    }
    judged.verdicts = vec![match detail {
        Some(detail)
            if !super::phrases::word(&word).is_some_and(|(w, _)| w == super::phrases::Word::Pass) =>
        {
            format!("{word} ({detail})")
        }
        _ => word,
    }];
    gathered.entries.push(judged);
    if let Some(Value::Object(block)) = entry.get("escalation") {
        gathered.entries.push(escalation(subject, name, block));
    }
}

fn escalation(subject: Subject, name: &str, block: &Map<String, Value>) -> Entry {
    let text = |keys: &[&str]| first(block, keys).and_then(text_of).unwrap_or_default();
    let mut entry = Entry::block(subject, name, &text(&["question"]));
    entry.issue = Some(text(&["issue", "problem"]));
    entry.why = Some(text(&["why", "why_escalation", "ground", "because"]));
    entry.has_options = true;
    let options = block.get("options").and_then(Value::as_array).cloned().unwrap_or_default();
    for option in options.iter().filter_map(Value::as_object).take(super::gather::MOST_OPTIONS) {
        let text = |keys: &[&str]| first(option, keys).and_then(text_of).unwrap_or_default();
        let (label, says) = (text(&["label", "name", "option"]), text(&["means", "says", "description"]));
        entry.options.push(format!(
            "{label} — {says} Pro: {} Con: {}",
            text(&["pro", "pros"]),
            text(&["con", "cons"])
        ));
    }
    entry
}

fn scenario(value: &Value, gathered: &mut Gathered) {
    let Some(object) = value.as_object() else { return };
    let text = |keys: &[&str]| first(object, keys).and_then(text_of).unwrap_or_default();
    let said = text(&["scenario", "says", "failure_scenario", "what", "answer"]);
    let mut entry = Entry::of(Subject::Adversarial, "ADVERSARIAL", &format!("Failure scenario: {said}"));
    let realistic = match first(object, &["realistic", "is_realistic"]) {
        Some(Value::Bool(true)) => "Y".to_owned(),
        Some(Value::Bool(false)) => "N".to_owned(),
        Some(other) => text_of(other).unwrap_or_default(),
        None => String::new(),
    };
    let why = text(&["because", "why", "rationale", "reason", "evidence", "explanation", "justification"]);
    let fix = text(&["fix", "remedy", "remediation"]);
    let fails = first(object, &["verdict", "status"]).and_then(text_of).is_some_and(|word| {
        super::phrases::word(&word).is_some_and(|(word, _)| word == super::phrases::Word::Fail)
    });
    let no = super::phrases::strip_either(&realistic, &["NO", "N", "FALSE", "UNREALISTIC"]).is_some();
    if no && (fails || !crate::reading::doubt::says_nothing(&fix)) {
        gathered.contradicted.get_or_insert_with(|| format!("{realistic} and {fix}"));
    }
    if !realistic.is_empty() {
        let yes = super::phrases::strip_either(&realistic, &["YES", "Y", "TRUE", "REALISTIC"]).is_some();
        entry.realistic = vec![if yes && !fix.is_empty() {
            format!("{realistic} → FAIL + {fix}")
        } else {
            format!("{realistic} → {why}")
        }];
    }
    gathered.entries.push(entry);
}
