//! A pipeline as a whole, the same while it is watched, followed and looked back at: its agents, the gate with its sum, what
//! went into briefs. What models and files say is text only.

use std::collections::BTreeMap;

use gadfly_engine::pipeline::GateReport;
use gadfly_engine::{Outcome, Waiting};
use gadfly_journal::view::{AgentRow, PipelineView, RowStatus};
use owo_colors::OwoColorize as _;

use super::table::counted;
use super::{gate, safe};

/// The gate: its table, the sum, what stands in the way.
pub fn gate(report: &GateReport) -> Vec<String> {
    let lines = gate::report(report, &[], &BTreeMap::new()).into_iter().filter(|line| !line.is_empty());
    lines.map(|line| format!("  {line}")).collect()
}

/// Every agent of the run, one line each.
pub fn agents(view: &PipelineView) -> Vec<String> {
    let head = ["Agent", "Critic", "Rounds", "Score", "Status"].map(str::to_owned);
    let row = |row: &AgentRow| {
        let because =
            row.because.as_ref().map(|why| format!(": {}", safe::line(why, 120))).unwrap_or_default();
        [
            safe::line(&row.agent, 40),
            row.critic.as_ref().map_or_else(|| "—".to_owned(), |critic| safe::line(critic, 40)),
            row.rounds.to_string(),
            row.score.map_or_else(|| "—".to_owned(), |score| score.to_string()),
            format!("{}{because}", row.status.name()),
        ]
    };
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(view.agents.iter().map(row)).collect();
    columns(&rows)
}

fn columns(rows: &[[String; 5]]) -> Vec<String> {
    let mut widths = [0; 5];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let draw = |(n, row): (usize, &[String; 5])| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ").trim_end().to_owned();
        if n == 0 { line.dimmed().to_string() } else { line }
    };
    rows.iter().enumerate().map(draw).collect()
}

/// What stands at the end of it, and in the live view: `3 of 8 agents done, 2 at work`.
pub fn progress(view: &PipelineView) -> String {
    let of = |status| view.count(status);
    let mut line = format!("{} of {} done", of(RowStatus::Done), counted(view.agents.len(), "agent"));
    for (status, what) in [(RowStatus::Working, "at work"), (RowStatus::Blocked, "blocked")] {
        if of(status) > 0 {
            line = format!("{line}, {} {what}", of(status));
        }
    }
    line
}

pub fn headline(view: &PipelineView, outcome: Option<&Outcome>) -> String {
    let progress = progress(view);
    let overall = view.gate.as_ref().and_then(|report| report.aggregate.overall);
    let gate = match (&view.gate_name, overall) {
        (Some(name), Some(overall)) => format!(", gate {} at {overall}", safe::line(name, 60)),
        _ => String::new(),
    };
    match outcome {
        None => "interrupted: nothing is lost".yellow().bold().to_string(),
        Some(Outcome::Approved { .. }) => format!("approved: {progress}{gate}").green().bold().to_string(),
        Some(Outcome::Waiting(Waiting::Question { .. })) => {
            format!("waiting for a person's answer: {progress}").yellow().bold().to_string()
        }
        Some(outcome @ (Outcome::Halted { .. } | Outcome::Rejected { .. } | Outcome::Aborted)) => {
            format!("{}, not approved: {progress}{gate}", outcome.label()).red().bold().to_string()
        }
        Some(other) => format!("{}: {progress}", other.label()).yellow().bold().to_string(),
    }
}

/// What went into each brief, level by level.
pub fn briefs(view: &PipelineView) -> Vec<String> {
    let mut lines = Vec::new();
    for brief in &view.briefs {
        let tokens: u32 = brief.loaded.iter().fold(0, |sum, file| sum.saturating_add(file.tokens));
        let nth = if brief.nth > 1 { format!(", dispatch {}", brief.nth) } else { String::new() };
        let files = counted(brief.loaded.len(), "file");
        lines.push(format!("{}{nth}: {files}, about {tokens} tokens", safe::line(&brief.agent, 60)));
        for file in &brief.loaded {
            let level = match file.level {
                0 => "always".to_owned(),
                level => format!("level {level}"),
            };
            lines.push(format!("  {level:<8} {:>7}  {}", file.tokens, safe::line(&file.path, 200)));
        }
    }
    lines
}

#[cfg(test)]
mod tests;
