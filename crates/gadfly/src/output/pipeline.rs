//! The words for a pipeline, the same while it is watched, followed and looked back at: who was dispatched, what came of
//! it, the gate with its sum, what could be learned. What models and files say is text only.

use std::collections::BTreeMap;

use gadfly_engine::pipeline::event::AlreadyDone;
use gadfly_engine::pipeline::{GateReport, PipelineEvent};
use gadfly_engine::tree::Verified;
use gadfly_engine::{Digest, Outcome, Waiting};
use gadfly_journal::state::{AgentRow, PipelineView, RowStatus};
use owo_colors::OwoColorize as _;

use super::table::counted;
use super::{gate, judged, safe};

/// Longer texts are cut on the screen; `show --log` has them whole.
const LONGEST: usize = 400;
/// More entries of one list are counted.
const MOST: usize = 40;

/// One event of a pipeline, in lines. `text` finds what a command printed.
pub fn told(event: &PipelineEvent, text: &dyn Fn(&Digest) -> Option<String>) -> Vec<String> {
    match event {
        PipelineEvent::Begun { project, agents, gate, jobs } => vec![
            format!(
                "pipeline for {}: {}, gate {}, {} at once",
                safe::line(project, 80),
                counted(*agents as usize, "agent"),
                safe::line(gate, 60),
                jobs
            )
            .bold()
            .to_string(),
        ],
        PipelineEvent::PlanDrafted { by, spec, blocked, .. } => {
            let what = if *spec { "requirements" } else { "plan" };
            let mut lines = vec![format!("  {what} drafted by {}", safe::line(by, 60))];
            let blocks =
                |line: &String| format!("    {} blocked: {}", "!".yellow(), safe::line(line, LONGEST));
            lines.extend(blocked.iter().take(MOST).map(blocks));
            lines
        }
        PipelineEvent::PlanApproved { by, .. } => {
            vec![format!("  {} plan approved by {}", "✓".green(), safe::line(by, 60))]
        }
        PipelineEvent::FoundDone { agents } => {
            let done = |one: &AlreadyDone| match one.score {
                Some(score) => format!("{} {score}", one.agent),
                None => one.agent.clone(),
            };
            let done: Vec<String> = agents.iter().map(done).collect();
            vec![format!("  {} done before: {}", "✓".green(), some(&done))]
        }
        PipelineEvent::OverallRound { round, of, again } => {
            let again = if again.is_empty() { String::new() } else { format!(", again: {}", some(again)) };
            vec![format!("overall round {round} of {of}{again}").bold().to_string()]
        }
        PipelineEvent::Dispatched { agent, critic, phase, nth, loaded, .. } => {
            vec![dispatched(agent, critic.as_deref(), phase.as_deref(), *nth, loaded.len())]
        }
        PipelineEvent::NotDispatched { lines, .. } => {
            lines.iter().map(|line| format!("  {} {}", "!".yellow(), safe::line(line, LONGEST))).collect()
        }
        PipelineEvent::OutputIncomplete { agent, gaps, times } => {
            let line = gadfly_engine::pipeline::facts::incomplete(agent, gaps);
            vec![format!("  {} {} (time {times})", "!".yellow(), safe::line(&line, LONGEST))]
        }
        PipelineEvent::WroteOutside { agent, paths } => vec![format!(
            "  {} {} wrote outside its entry: {}",
            "!".yellow(),
            safe::line(agent, 60),
            some(paths)
        )],
        PipelineEvent::Scored { verdict, delivered } => {
            let mark = if verdict.passes() { "✓".green().to_string() } else { "✗".red().to_string() };
            let (agent, critic) = (safe::line(&verdict.agent, 60), safe::line(&verdict.critic, 60));
            let kept = match (*delivered, verdict.rejected) {
                (true, _) => "",
                (false, true) => "; rejected, and not delivered",
                (false, false) => "; the earlier draft had more and stays",
            };
            let rounds = counted(verdict.rounds as usize, "round");
            let mut lines =
                vec![format!("  {mark} {agent}: {}/100 by {critic} after {rounds}{kept}", verdict.score)];
            for other in verdict.other.iter().take(MOST) {
                let lens = other.lens.as_deref().map(|lens| format!(" ({})", safe::line(lens, 60)));
                let critic = safe::line(&other.critic, 60);
                lines.push(format!("      {}/100 by {critic}{}", other.score, lens.unwrap_or_default()));
            }
            lines
        }
        PipelineEvent::Completed { agent, files } => {
            let (agent, files) = (safe::line(agent, 60), counted(files.len(), "file"));
            vec![format!("  {} {agent} completed: {files}", "✓".green())]
        }
        PipelineEvent::PairBlocked { agent, because, score, rounds, open } => {
            let (agent, because) = (safe::line(agent, 60), safe::line(because, LONGEST));
            let score = score.map(|score| format!(", last score {score}")).unwrap_or_default();
            let rounds = counted(*rounds as usize, "round");
            let mut lines = vec![format!("  {} {agent} blocked after {rounds}{score}: {because}", "✗".red())];
            lines.extend(open.iter().take(MOST).map(|line| format!("      {}", safe::line(line, LONGEST))));
            lines
        }
        PipelineEvent::ConditionSaid { text, holds, by } => {
            let holds = if *holds { "holds" } else { "does not hold" };
            vec![format!("  {} says it {holds}: {}", safe::line(by, 60), safe::line(text, LONGEST))]
        }
        PipelineEvent::HookRan { hook, command, green, verified } => {
            hooked(hook, command, *green, verified, text)
        }
        PipelineEvent::GateChecked { report, .. } => gate(report),
        PipelineEvent::Learned { suggestions } if suggestions.is_empty() => Vec::new(),
        PipelineEvent::Learned { suggestions } => {
            let lines = suggestions.iter().take(MOST).map(|s| safe::line(&s.line(), LONGEST));
            std::iter::once("### Suggested Learnings".to_owned()).chain(lines).collect()
        }
    }
}

fn dispatched(agent: &str, critic: Option<&str>, phase: Option<&str>, nth: u32, loaded: usize) -> String {
    let agent = safe::line(agent, 60);
    let critic = critic
        .map_or_else(|| "no critic".to_owned(), |critic| format!("judged by {}", safe::line(critic, 60)));
    let phase = phase.map(|phase| format!(", {}", safe::line(phase, 60))).unwrap_or_default();
    let again = if nth > 1 { format!(", dispatch {nth}") } else { String::new() };
    let files = if loaded > 0 { format!(", brief of {}", counted(loaded, "file")) } else { String::new() };
    format!("{} {agent} ({critic}{phase}{again}{files})", "→".cyan())
}

fn hooked(
    hook: &str,
    command: &str,
    green: bool,
    verified: &Verified,
    text: &dyn Fn(&Digest) -> Option<String>,
) -> Vec<String> {
    let mark = if green { "✓".green().to_string() } else { "✗".red().to_string() };
    let end = verified.runs.last().map_or_else(|| "not run".to_owned(), |run| run.end.to_string());
    let (hook, command) = (safe::line(hook, 40), safe::line(command, 200));
    let mut lines = vec![format!("  {mark} {hook} `{command}`: {end}")];
    if let Some(output) = verified.runs.last().filter(|_| !green).and_then(|run| text(&run.output)) {
        lines.extend(judged::tail(&output).into_iter().map(|line| format!("  {line}")));
    }
    lines
}

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

/// The first few by name.
fn some(all: &[String]) -> String {
    const NAMED: usize = 8;
    let named: Vec<String> = all.iter().take(NAMED).map(|name| safe::line(name, 200)).collect();
    match all.len().checked_sub(NAMED).filter(|more| *more > 0) {
        Some(more) => format!("{} and {more} more", named.join(", ")),
        None => named.join(", "),
    }
}

#[cfg(test)]
mod tests;
