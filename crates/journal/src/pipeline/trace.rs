//! The execution trace of a pipeline: who was sent out after whom, what it took, what came of it.

use std::fmt::Write as _;

use super::ProjectView;
use super::text::{LocalZone, cell, duration, label, one_line, words};
use crate::view::{AgentStatus, Invocation};

/// The whole file. The comment in its second line tells whose it is.
pub fn render(state: ProjectView<'_>, zone: &LocalZone) -> String {
    let mut out = format!(
        "# Execution Trace — {} — {}\n",
        words(&state.pipeline.project),
        zone.date(state.run.summary.created_ms)
    );
    let _ = writeln!(out, "{}\n", marker(state.run.summary.run.as_str()));
    graph(state, &mut out);
    table(state, &mut out);
    escalations(state, zone, &mut out);
    artifacts(state, &mut out);
    summary(state, &mut out);
    learnings(state, &mut out);
    out
}

pub(super) fn marker(run: &str) -> String {
    format!("<!-- gadfly: run {run} -->")
}

fn graph(state: ProjectView<'_>, out: &mut String) {
    let _ = write!(out, "## Execution Graph\n\n```mermaid\n{}```\n\n", mermaid(state));
}

/// The graph alone: who made what others needed.
pub fn mermaid(state: ProjectView<'_>) -> String {
    let mut out = String::from("graph LR\n");
    let mut seen: Vec<&str> = Vec::new();
    for invocation in &state.history.invocations {
        if !seen.contains(&invocation.agent.as_str()) {
            seen.push(&invocation.agent);
        }
    }
    let mut drawn = vec![false; seen.len()];
    let node = |at: usize| format!("{}[{}]", letter(at), label(seen[at]));
    for (to, agent) in seen.iter().enumerate() {
        for (from, before) in seen.iter().enumerate() {
            if from == to || !feeds(state, before, agent) {
                continue;
            }
            let score = state.agent(before).and_then(|a| a.last_score);
            let arrow = score.map_or_else(|| "-->".to_owned(), |score| format!("-->|score: {score}|"));
            let _ = writeln!(out, "    {} {arrow} {}", node(from), node(to));
            (drawn[from], drawn[to]) = (true, true);
        }
    }
    for (at, _) in drawn.iter().enumerate().filter(|(_, drawn)| !**drawn) {
        let _ = writeln!(out, "    {}", node(at));
    }
    out
}

fn letter(at: usize) -> String {
    match u8::try_from(at) {
        Ok(n) if n < 26 => char::from(b'A' + n).to_string(),
        _ => format!("N{}", at + 1),
    }
}

/// Whether the registry says that one agent needs what another makes, or the verdict on it.
fn feeds(state: ProjectView<'_>, before: &str, after: &str) -> bool {
    let registry = &state.history.registry;
    let both = registry.get(before).zip(registry.get(after));
    both.is_some_and(|(before, after)| before.feeds(after))
}

fn table(state: ProjectView<'_>, out: &mut String) {
    out.push_str("## Agent Invocation Table\n\n");
    out.push_str(
        "| Agent | Critic | Rounds | Final Score | Duration | Status |\n|---|---|---|---|---|---|\n",
    );
    for one in &state.history.invocations {
        let nth = if one.nth > 1 { format!(" ({})", one.nth) } else { String::new() };
        let _ = writeln!(
            out,
            "| {}{nth} | {} | {} | {} | {} | {} |",
            cell(&one.agent),
            cell(one.critic.as_deref().unwrap_or_default()),
            one.rounds,
            one.score.map_or_else(|| "—".to_owned(), |score| score.to_string()),
            time(state, one),
            status(one.status),
        );
    }
    out.push('\n');
}

fn time(state: ProjectView<'_>, one: &Invocation) -> String {
    duration(one.took(state.run.summary.active_ms))
}

const fn status(status: AgentStatus) -> &'static str {
    match status {
        AgentStatus::Pending => "pending",
        AgentStatus::InProgress => "in progress",
        AgentStatus::Completed => "completed",
        AgentStatus::Blocked => "blocked",
    }
}

fn escalations(state: ProjectView<'_>, zone: &LocalZone, out: &mut String) {
    out.push_str("## Escalation Events\n\n");
    for one in &state.history.escalations {
        let _ = writeln!(
            out,
            "- {} — {} to {} after round {}: {}",
            zone.minute(one.at_ms),
            words(&one.agent),
            words(&one.to),
            one.round,
            words(&one.because)
        );
    }
    out.push_str(if state.history.escalations.is_empty() { "None.\n\n" } else { "\n" });
}

fn artifacts(state: ProjectView<'_>, out: &mut String) {
    out.push_str("## Artifacts Produced\n\n| Artifact | Path | Score | Agent |\n|---|---|---|---|\n");
    for agent in state.agents().filter(|a| state.history.invocations.iter().any(|i| i.agent == a.agent)) {
        for path in agent.artifact {
            let name = path.rsplit('/').next().unwrap_or(path);
            let score = agent.last_score.map_or_else(|| "—".to_owned(), |score| score.to_string());
            let _ = writeln!(out, "| {} | {} | {score} | {} |", cell(name), cell(path), cell(agent.agent));
        }
    }
    out.push('\n');
}

fn summary(state: ProjectView<'_>, out: &mut String) {
    let rounds: u32 = state.history.invocations.iter().map(|i| i.rounds).sum();
    let overall = state.overall().unwrap_or_else(|| "N/A".to_owned());
    let _ = write!(
        out,
        "## Pipeline Summary\n\n- **Total agents dispatched:** {}\n- **Total rounds:** {rounds}\n\
         - **Escalations:** {}\n- **Overall score:** {overall}\n- **Duration:** {}\n\n",
        state.history.invocations.len(),
        state.history.escalations.len(),
        duration(state.run.summary.active_ms),
    );
}

/// `### Suggested Learnings`, as every summary of a pipeline ends.
fn learnings(state: ProjectView<'_>, out: &mut String) {
    out.push_str("### Suggested Learnings\n\n");
    for suggestion in &state.pipeline.learned {
        let _ = writeln!(out, "{}", one_line(&suggestion.line()).replace('<', "&lt;"));
    }
    if state.pipeline.learned.is_empty() {
        out.push_str("None.\n");
    }
}
