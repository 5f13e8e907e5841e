//! The rule book as games between scripted people.
#![allow(clippy::unwrap_used, clippy::panic)] // a test: failing is how it speaks

mod endings;
mod evidence;
mod games;
mod questions;

use super::ConvergeSettings;
use super::sets::ConvergeCriterion;
use crate::budget::Limits;
use crate::digest::Digest;
use crate::event::EventKind;
use crate::judging::{PARTS, Seat};
use crate::plan::NodePlan;
use crate::protocol::harness::{Plays, TASK, Table};
use crate::review::Review;

impl Plays for ConvergeSettings {
    fn root(&self) -> NodePlan {
        self.node_plan(Limits::default()).unwrap()
    }
}

/// Two criteria, Ann writes, Cato judges, five passes.
fn settings() -> ConvergeSettings {
    let criterion =
        |name: &str| ConvergeCriterion { name: name.into(), question: format!("Is {name} given?") };
    ConvergeSettings {
        task: Digest::of(TASK.as_bytes()),
        criteria: vec![criterion("UNITS"), criterion("SOURCES")],
        references: Vec::new(),
        given: None,
        worker: Some("ann".into()),
        critics: vec![Seat { agent: "cato".into(), fallback: None, lens: None }],
        rounds: 5,
        out: None,
        deferred: Vec::new(),
        max_parts: PARTS,
    }
}

fn table() -> Table<ConvergeSettings> {
    Table::seated(settings())
}

/// A game of a few passes.
fn capped(rounds: u32) -> Table<ConvergeSettings> {
    table().with(|s| s.rounds = rounds)
}

const UNREALISTIC: &str = "N → 0 of 9 readers would";

/// Cato's reply in pass `pass`: a verdict line for each criterion, and how realistic the scenario is.
fn reply(pass: u32, units: &str, sources: &str, realistic: &str) -> String {
    let mut text = format!(
        "=== CRITIC {pass} ===\n\
         [UNITS] Is UNITS given? → 3 of 3 numbers were read\n  Verdict: {units}\n\
         [SOURCES] Is SOURCES given? → 1 of 1 sources was read\n  Verdict: {sources}\n\
         [ADVERSARIAL] Failure scenario: a reader mistakes miles for kilometres\n  → Realistic? {realistic}\n"
    );
    for (name, verdict) in [("UNITS", units), ("SOURCES", sources)] {
        if verdict == "ESCALATE" {
            text.push_str(&block(name));
        }
    }
    text
}

fn block(name: &str) -> String {
    format!(
        "=== CRITIC ESCALATION (1) ===\n[{name}] Which {name} are wanted?\n\nIssue: The task is silent about {name}.\n\
         Why escalation: missing information\n\nOptions:\n  1. Metric — as in Europe\n     Pro: exact  Con: dull\n\
         2. Imperial — as in films\n     Pro: lively  Con: vague\n  3. Skip — keep current state, mark as [DEFERRED]\n"
    )
}

fn clean(pass: u32) -> String {
    reply(pass, "PASS", "PASS", UNREALISTIC)
}

fn failing(pass: u32, fix: &str) -> String {
    reply(pass, &format!("FAIL ({fix})"), "PASS", UNREALISTIC)
}

fn reviews(table: &Table<ConvergeSettings>) -> Vec<Review> {
    let steps = table.records.iter().flat_map(|(_, step)| &step.events);
    steps
        .filter_map(|e| match &e.what {
            EventKind::Reviewed { review, .. } => Some(review.clone()),
            _ => None,
        })
        .collect()
}

/// The computed lines: results, summaries, deferrals and escalations.
fn lines(table: &Table<ConvergeSettings>) -> Vec<String> {
    let events = table.records.iter().flat_map(|(_, step)| &step.events);
    events
        .filter_map(|e| match &e.what {
            EventKind::RoundEnded { line, .. } | EventKind::Summarised { line } => Some(line.clone()),
            EventKind::Escalated { because, .. } => Some(because.clone()),
            EventKind::Deferred { criterion, reason, by, .. } => {
                Some(format!("{criterion} deferred by {by}: {reason}"))
            }
            _ => None,
        })
        .collect()
}
