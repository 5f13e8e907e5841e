//! What a run adds to `SESSION_REPORT.md`: an entry when its plan is approved and one at its end.

use gadfly_engine::Outcome;

use super::ProjectView;
use super::text::{LocalZone, duration, words};
use crate::view::AgentStatus;

pub fn heading(state: ProjectView<'_>) -> String {
    format!("# Session Report — {}\n", words(&state.pipeline.project))
}

/// All entries so far, in order: an entry once made is always the same.
pub fn entries(state: ProjectView<'_>, zone: &LocalZone) -> Vec<String> {
    let mut entries = Vec::new();
    for plan in state.history.drafted.iter().filter(|drafted| !drafted.spec) {
        let Some((by, at_ms)) = &plan.approved else { continue };
        entries.push(format!(
            "## {} — Plan approved: {}\n\n**Operations:** plan drafted by {}\n**Decisions:** approved by {}\n\
             **Results:** None yet\n**Status:** Pending: run {}\n",
            zone.minute(*at_ms),
            words(&state.run.summary.title),
            words(&plan.by),
            words(by),
            state.run.summary.run,
        ));
    }
    if let Some(outcome) = state.run.outcome.as_ref().filter(|outcome| outcome.is_ended()) {
        entries.push(end(state, outcome, zone));
    }
    entries
}

fn end(state: ProjectView<'_>, outcome: &Outcome, zone: &LocalZone) -> String {
    let mut sent: Vec<&str> = Vec::new();
    for invocation in &state.history.invocations {
        if !sent.contains(&invocation.agent.as_str()) {
            sent.push(&invocation.agent);
        }
    }
    let rounds: u32 = state.history.invocations.iter().map(|i| i.rounds).sum();
    let decisions: Vec<String> =
        state.history.escalations.iter().map(|e| format!("{} escalated to {}", e.agent, e.to)).collect();
    let scored = state.agents().filter(|a| sent.contains(&a.agent));
    let scored = scored.filter_map(|a| Some(format!("{} {}/100", a.agent, a.last_score?)));
    let overall = state.overall().map(|overall| format!("overall {overall}"));
    let results: Vec<String> = scored.chain(overall).collect();
    let with = |status: AgentStatus| {
        let names = state.agents().filter(|a| a.status == status).map(|a| a.agent);
        names.collect::<Vec<_>>().join(", ")
    };
    let pending = [with(AgentStatus::InProgress), with(AgentStatus::Blocked), with(AgentStatus::Pending)];
    let pending: Vec<String> = pending.into_iter().filter(|names| !names.is_empty()).collect();
    let or_none = |text: String| if text.is_empty() { "None".to_owned() } else { words(&text) };
    format!(
        "## {} — Pipeline {}: {}\n\n**Operations:** dispatched {}; {rounds} rounds in {}\n**Decisions:** {}\n\
         **Results:** {}\n**Status:** Done: {}. Pending: {}. Run {}\n",
        zone.minute(state.run.summary.updated_ms),
        words(&outcome.label()),
        words(&state.run.summary.title),
        or_none(sent.join(", ")),
        duration(state.run.summary.active_ms),
        or_none(decisions.join("; ")),
        or_none(results.join(", ")),
        or_none(with(AgentStatus::Completed)),
        or_none(pending.join(", ")),
        state.run.summary.run,
    )
}
