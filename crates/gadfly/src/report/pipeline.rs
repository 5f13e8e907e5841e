//! A pipeline in reports: what every format says of its agents and its gate.

use std::fmt::Write as _;

use gadfly_engine::pipeline::GateReport;
use gadfly_engine::pipeline::learning::Suggestion;
use gadfly_journal::view::{AgentRow, PipelineView, RoundState, RowStatus};
use serde_json::{Value, json};

use super::facts::ReportFacts;

/// More lines of one list are counted.
const MOST_ROWS: usize = 60;

/// The last judgement of every agent, and whether it stands in the way.
pub fn judged<'a>(rounds: &'a [RoundState], view: &PipelineView) -> Vec<(&'a RoundState, bool)> {
    let of = |row: &AgentRow| {
        let at = row.at.as_ref()?;
        let last = rounds.iter().rfind(|round| at.contains(&round.node) && !round.reviews.is_empty())?;
        Some((last, row.status == RowStatus::Blocked))
    };
    view.agents.iter().filter_map(of).collect()
}

/// `{project, agents, gate, …}`, or null for a run that is no pipeline.
pub fn value(facts: &ReportFacts<'_>) -> Value {
    let Some(view) = &facts.state.pipeline else { return Value::Null };
    json!({
        "project": view.project,
        "gate": view.gate_name,
        "overall_rounds": view.overall,
        "agents": view.agents,
        "report": view.gate,
        "open": view.gate.as_ref().map(GateReport::is_open),
        "learnings": view.learned.iter().map(Suggestion::line).collect::<Vec<_>>(),
    })
}

/// The agents and the gate as a table. `cell` makes a word harmless.
pub fn markdown(view: &PipelineView, cell: &dyn Fn(&str) -> String) -> String {
    let mut out = String::from("\n| Agent | Critic | Rounds | Score | Status |\n|---|---|---|---|---|\n");
    for row in view.agents.iter().take(MOST_ROWS) {
        let critic = row.critic.as_deref().map_or_else(|| "—".to_owned(), cell);
        let score = row.score.map_or_else(|| "—".to_owned(), |score| score.to_string());
        let because = row.because.as_deref().map(|why| format!(": {}", cell(why))).unwrap_or_default();
        let (agent, rounds, status) = (cell(&row.agent), row.rounds, row.status.name());
        let _ = writeln!(out, "| {agent} | {critic} | {rounds} | {score} | {status}{because} |");
    }
    if let Some(more) = view.agents.len().checked_sub(MOST_ROWS).filter(|more| *more > 0) {
        let _ = writeln!(out, "\nand {more} more agents");
    }
    let Some(report) = &view.gate else { return out };
    let (mark, is) = if report.is_open() { ("✅", "open") } else { ("❌", "closed") };
    let overall = report.aggregate.overall.map_or_else(|| "no score".to_owned(), |o| format!("{o}/100"));
    let _ = writeln!(out, "\n{mark} Gate {} is {is}: {overall}", cell(&report.gate.name));
    for line in report.blocking.iter().chain(&report.aggregate.arithmetic).take(MOST_ROWS) {
        let _ = writeln!(out, "- {}", cell(line));
    }
    if !report.missing.is_empty() {
        let _ = writeln!(out, "- not scored, left out of the sum: {}", cell(&report.missing.join(", ")));
    }
    out
}
