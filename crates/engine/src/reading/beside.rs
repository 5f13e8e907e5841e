//! What a JSON report holds beside the fields its reader knows. Critics add a `summary`, a `caveat`, `checks`, a second verdict;
//! none of it can approve anything, and whatever speaks against the approval is found here, for every protocol.

use serde_json::{Map, Value};

use super::doubt::{self, Scope, Weight};
use super::forms::{self, Says};

/// Deeper objects are asked about.
const DEEPEST: usize = 6;

/// Keys whose text is no remark about the work: names, places, and what is thought before the verdict.
const SILENT: &[&str] = &[
    "reasoning",
    "thinking",
    "thoughts",
    "thought",
    "analysis",
    "scratchpad",
    "chain_of_thought",
    "critic",
    "reviewer",
    "model",
    "agent",
    "id",
    "task_id",
    "task",
    "round",
    "claim",
    "criterion",
    "criterion_id",
    "name",
    "file",
    "path",
    "line",
    "lines",
    "quote",
    "category",
    "timestamp",
    "date",
    "version",
    "schema",
    "type",
    "format",
    "language",
    "title",
    "question",
    "confidence",
    "rubric",
    "files",
    "files_reviewed",
    "reviewed_files",
    "sources",
    "references",
    "tools",
    "tools_used",
    "command",
    "commands",
    "commands_run",
    "tests_run",
    "word_count",
    "words",
    "threshold",
    "iteration",
    "pass",
    "max",
    "max_score",
    "out_of",
    "scale",
];
/// Parts of keys under which a verdict stands.
const VERDICTS: &[&str] = &[
    "verdict",
    "status",
    "decision",
    "result",
    "overall",
    "outcome",
    "conclusion",
    "recommendation",
    "approved",
    "approve",
    "accepted",
    "passed",
    "passes",
    "pass",
    "met",
    "satisfied",
    "acceptable",
    "ready",
    "grade",
    "assessment",
    "judgement",
    "judgment",
    "ok",
    "approval",
    "valid",
];
/// Parts of keys under which something bad is counted or named.
const BAD: &[&str] = &[
    "issue",
    "problem",
    "error",
    "concern",
    "block",
    "fail",
    "missing",
    "violation",
    "defect",
    "deduct",
    "penalt",
    "unmet",
    "open",
    "unresolved",
    "finding",
    "fix",
    "change",
    "reject",
    "gap",
    "risk",
    "warning",
    "caveat",
    "todo",
    "required",
    "weakness",
    "question",
];
/// Those of them whose text is the bad thing itself.
const NAMED: &[&str] = &[
    "issue",
    "problem",
    "concern",
    "caveat",
    "blocker",
    "blocking",
    "missing",
    "unmet",
    "unresolved",
    "todo",
    "question",
    "required",
];
/// Parts of keys whose lists praise, or ask for nothing.
const GOOD: &[&str] = &[
    "strength",
    "positive",
    "praise",
    "addressed",
    "resolved",
    "highlights",
    "optional",
    "suggestion",
    "nit",
    "minor",
];

/// Is a text under this key no remark about the work?
pub fn is_silent(key: &str) -> bool {
    forms::is_one_of(&key.to_lowercase().replace(['-', ' '], "_"), SILENT)
}

/// Does a list hold nothing but names, praise, or what says that something is in order?
pub fn is_list_of_praise(key: &str, list: &Value) -> bool {
    const NAMES: [&str; 8] = ["command", "tool", "file", "path", "source", "reference", "test", "run"];
    let lower = key.to_lowercase().replace(['-', ' '], "_");
    let good = lower.split('_').any(|word| GOOD.iter().any(|part| word.starts_with(part)));
    let fine = |one: &Value| {
        one.as_str().is_some_and(|text| doubt::item(super::lines::tick(text).0, text) == Weight::Fine)
    };
    let names = lower.split('_').any(|word| NAMES.iter().any(|name| word.starts_with(name)))
        && against(&Map::from_iter([(key.to_owned(), list.clone())]), &[]).is_none();
    is_silent(key) || good || names || list.as_array().is_some_and(|list| list.iter().all(fine))
}

/// The first thing that speaks against an approval among the fields that are not `known`, as a passage.
pub fn against(object: &Map<String, Value>, known: &[&str]) -> Option<String> {
    fewer(object).or_else(|| fields_against(object, known))
}

/// `"criteria_met": 2, "criteria_total": 3`
fn fewer(object: &Map<String, Value>) -> Option<String> {
    let number = |parts: &[&str]| {
        object.iter().find_map(|(key, value)| {
            let named = key.split(['_', '-', ' ']).any(|word| forms::is_one_of(word, parts));
            let number = named.then(|| super::json::text_of(value)).flatten()?.trim().parse::<u32>().ok()?;
            Some((key, number))
        })
    };
    let (met, some) = number(&["met", "passed", "satisfied", "fulfilled"])?;
    let (total, all) = number(&["total", "of", "all"])?;
    (some < all).then(|| format!("\"{met}\": {some}, \"{total}\": {all}"))
}

fn fields_against(object: &Map<String, Value>, known: &[&str]) -> Option<String> {
    object
        .iter()
        .filter(|(key, _)| !known.contains(&key.as_str()))
        .find_map(|(key, value)| field(key, value, 0))
}

fn field(key: &str, value: &Value, depth: usize) -> Option<String> {
    let lower = key.to_lowercase().replace(['-', ' '], "_");
    let has = |parts: &[&str]| lower.split('_').any(|word| parts.iter().any(|part| word.starts_with(part)));
    let shown = || {
        let text = format!("\"{key}\": {value}");
        text.chars().take(200).collect::<String>()
    };
    if depth > DEEPEST {
        return Some(shown());
    }
    if is_silent(key) && !value.is_boolean() {
        return None;
    }
    let (bad, good, verdict) = (has(BAD), has(GOOD), has(VERDICTS));
    let speaks = match value {
        Value::Null => false,
        Value::Bool(is) if bad && !verdict => *is,
        Value::Bool(is) => !*is && !good,
        Value::Number(n) => bad && !good && n.as_f64().is_some_and(|n| n != 0.0),
        Value::String(text) if has(NAMED) && !good => !harmless(text),
        Value::String(text) => text_speaks(text, verdict, good),
        Value::Array(list) if good => {
            return list.iter().find_map(|one| match one {
                Value::String(text) => doubt::is_pressing(text).then(|| text.clone()),
                Value::Object(_) | Value::Array(_) => field("", one, depth + 1),
                _ => None,
            });
        }
        Value::Array(list) => {
            return list.iter().find_map(|one| match one {
                Value::String(text) if bad => (!harmless(text)).then(|| text.clone()),
                Value::String(text) => {
                    let weight = doubt::item(super::lines::tick(text).0, text);
                    (weight == Weight::Against).then(|| text.clone())
                }
                Value::Object(_) | Value::Array(_) => {
                    if bad {
                        Some(shown())
                    } else {
                        field("", one, depth + 1)
                    }
                }
                Value::Number(_) if bad => Some(shown()),
                _ => None,
            });
        }
        Value::Object(inner) => {
            let bad_entry = bad && !good && inner.values().any(|value| !is_nothing(value));
            if bad_entry {
                return Some(shown());
            }
            return inner.iter().find_map(|(key, value)| field(key, value, depth + 1));
        }
    };
    speaks.then(shown)
}

fn text_speaks(text: &str, verdict: bool, good: bool) -> bool {
    if harmless(text) {
        return false;
    }
    if good {
        return doubt::is_pressing(text);
    }
    if verdict {
        let first = text.split(|c: char| !c.is_alphanumeric()).find(|w| !w.is_empty()).unwrap_or_default();
        let negative = [
            "no",
            "false",
            "fail",
            "failed",
            "fails",
            "reject",
            "rejected",
            "revise",
            "revision",
            "needs",
            "not",
            "unmet",
            "unsatisfied",
            "partial",
            "partially",
            "below",
            "incomplete",
            "block",
            "blocked",
            "changes",
            "pending",
            "conditional",
            "d",
            "e",
            "f",
        ];
        if forms::is_one_of(first, &negative)
            || forms::status(&format!("status: {text}")).is_some_and(|s| s.says != Says::Approved)
            || forms::status(text).is_some_and(|s| s.says != Says::Approved)
        {
            return true;
        }
    }
    doubt::against(text, Scope::Prose).is_some()
}

/// `None`, `No issues found.`
fn harmless(text: &str) -> bool {
    let mut words =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase);
    let denied = words.next().is_some_and(|word| ["no", "none"].contains(&word.as_str()));
    let bad = |word: String| BAD.iter().any(|bad| word.starts_with(bad)) || word.starts_with("finding");
    doubt::says_nothing(text)
        || denied && words.take(2).any(bad) && doubt::against(text, Scope::Prose).is_none()
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(n) => n.as_f64() == Some(0.0),
        Value::String(text) => doubt::says_nothing(text),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.values().all(is_nothing),
        Value::Bool(true) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(json: &str) -> Option<String> {
        against(serde_json::from_str::<Value>(json).unwrap().as_object().unwrap(), &["verdict"])
    }

    #[test]
    fn what_contradicts_an_approval_is_found_under_any_key() {
        for json in [
            r#"{"summary": "Good, but a test with an odd number must still be added."}"#,
            r#"{"caveat": "The statistical test is not named."}"#,
            r#"{"checks": {"statistical_test": false}}"#,
            r#"{"criteria": [{"name": "test", "met": false}]}"#,
            r#"{"unresolved": [2]}"#,
            r#"{"concerns": ["No task handles errors."]}"#,
            r#"{"overall": "FAIL"}"#,
            r#"{"approved": false}"#,
            r#"{"recommendation": "reject"}"#,
            r#"{"blockers": 2}"#,
            r#"{"blocking_issues": {"test": "none covers odd numbers"}}"#,
            r#"{"passes": "no"}"#,
            r#"{"grade": "F"}"#,
            r#"{"next_steps": ["Add a test with an odd number."]}"#,
            r#"{"has_issues": true}"#,
        ] {
            assert!(found(json).is_some(), "{json}");
        }
    }

    #[test]
    fn what_praises_counts_or_names_is_left_alone() {
        for json in [
            r#"{"summary": "Both criteria are met; the test covers the function."}"#,
            r#"{"confidence": 0.9, "model": "m", "word_count": 41}"#,
            r#"{"checks": {"sample_size": true, "test": true}}"#,
            r#"{"issues_count": 0, "blockers": 0, "has_issues": false, "concerns": []}"#,
            r#"{"strengths": ["Clear prose."], "files_reviewed": ["src/calc.py"]}"#,
            r#"{"reasoning": "At first I thought the test was missing."}"#,
            r#"{"suggestions": ["A comma could be added."]}"#,
            r#"{"issues": "None", "concerns": ["No issues found."]}"#,
            r#"{"overall": "PASS"}"#,
        ] {
            assert_eq!(found(json), None, "{json}");
        }
    }
}
