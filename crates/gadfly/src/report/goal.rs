//! A goal in reports: what every format says of it. A goal is judged by its criterion alone: it is clean only if that
//! was verified.

use gadfly_engine::event::EventKind;
use gadfly_engine::{Finding, Outcome, Severity};
use gadfly_journal::view::GoalState;
use serde_json::{Value, json};

use super::facts::ReportFacts;
use crate::output::goal;

/// The rule of a goal that is not reached.
pub const NOT_VERIFIED: &str = "gadfly/goal-not-verified";

/// How a goal stands, for people: `verified`, or why not.
pub fn standing(facts: &ReportFacts<'_>, pursued: &GoalState) -> String {
    if facts.is_approved() {
        return detail(pursued).unwrap_or_else(|| "verified".to_owned());
    }
    if let Some((reason, learned)) = goal::gave_up(pursued) {
        let learned = if learned.trim().is_empty() { String::new() } else { format!("; learned: {learned}") };
        return format!("the worker gave up: {reason}{learned}");
    }
    let why = match &facts.state.outcome {
        Some(Outcome::Halted { .. }) => Some(format!("the goal was stopped: {}", facts.label)),
        _ => facts.because(),
    };
    let why = why.unwrap_or_else(|| facts.label.clone());
    match detail(pursued) {
        Some(detail) => format!("{why}; the last claim was not met: {detail}"),
        None => format!("{why}; nobody claimed that it is reached"),
    }
}

/// What the last verification said.
fn detail(pursued: &GoalState) -> Option<String> {
    let judged = |what: &EventKind| {
        matches!(what, EventKind::GoalVerified { .. } | EventKind::VerificationFailed { .. })
    };
    match goal::last(pursued, judged)? {
        EventKind::GoalVerified { detail } | EventKind::VerificationFailed { detail, .. } => {
            Some(detail.clone())
        }
        _ => None,
    }
}

/// The one thing held against a goal that is not verified.
pub fn held_against(facts: &ReportFacts<'_>) -> Option<Finding> {
    let pursued = facts.state.goal.as_ref().filter(|_| !facts.is_approved())?;
    let says = format!("Not verified: {}: {}", pursued.criterion, standing(facts, pursued));
    let mut finding = Finding::new(NOT_VERIFIED, Severity::Fail, says, "engine");
    finding.criterion = Some(pursued.criterion.clone());
    Some(finding)
}

/// `{criterion, verified, …}`, or null for a run that is no goal.
pub fn value(facts: &ReportFacts<'_>) -> Value {
    let Some(pursued) = &facts.state.goal else { return Value::Null };
    let protected: Vec<&String> = pursued
        .rail
        .iter()
        .filter_map(|entry| match &entry.what {
            EventKind::ProtectedChanged { paths, .. } => Some(paths),
            _ => None,
        })
        .flatten()
        .collect();
    json!({
        "criterion": pursued.criterion,
        "verified": facts.is_approved(),
        "standing": standing(facts, pursued),
        "policy": pursued.policy,
        "interval": pursued.interval,
        "counts": pursued.counts,
        "caps": pursued.caps,
        "used": pursued.used,
        "costs": pursued.costs,
        "rail": pursued.rail,
        "steps": pursued.steps,
        "protected_changed": protected,
        "changed": pursued.folder.as_ref().map(|seen| seen.changes.iter().map(|c| &c.path).collect::<Vec<_>>()),
    })
}
