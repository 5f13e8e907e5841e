//! What a run adds to `SESSION_REPORT.md`: an entry when its plan is approved and one at its end.

use gadfly_engine::Outcome;

use super::state::{AgentStatus, PipelineState};
use super::text::{LocalZone, duration, words};

pub fn heading(state: &PipelineState) -> String {
    format!("# Session Report — {}\n", words(&state.project))
}

/// All entries so far, in order: an entry once made is always the same.
pub fn entries(state: &PipelineState, zone: &LocalZone) -> Vec<String> {
    let mut entries = Vec::new();
    for plan in state.drafted.iter().filter(|drafted| !drafted.spec) {
        let Some((by, at_ms)) = &plan.approved else { continue };
        entries.push(format!(
            "## {} — Plan approved: {}\n\n**Operations:** plan drafted by {}\n**Decisions:** approved by {}\n\
             **Results:** None yet\n**Status:** Pending: run {}\n",
            zone.minute(*at_ms),
            words(&state.title),
            words(&plan.by),
            words(by),
            state.run,
        ));
    }
    if let Some(outcome) = state.outcome.as_ref().filter(|outcome| outcome.is_ended()) {
        entries.push(end(state, outcome, zone));
    }
    entries
}

fn end(state: &PipelineState, outcome: &Outcome, zone: &LocalZone) -> String {
    let mut sent: Vec<&str> = Vec::new();
    for invocation in &state.invocations {
        if !sent.contains(&invocation.agent.as_str()) {
            sent.push(&invocation.agent);
        }
    }
    let rounds: u32 = state.invocations.iter().map(|i| i.rounds).sum();
    let decisions: Vec<String> =
        state.escalations.iter().map(|e| format!("{} escalated to {}", e.agent, e.to)).collect();
    let scored = state.agents.iter().filter(|a| sent.contains(&a.agent.as_str()));
    let scored = scored.filter_map(|a| Some(format!("{} {}/100", a.agent, a.last_score?)));
    let overall = state.overall.map(|overall| format!("overall {overall}/100"));
    let results: Vec<String> = scored.chain(overall).collect();
    let with = |status: AgentStatus| {
        let names = state.agents.iter().filter(|a| a.status == status).map(|a| a.agent.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let pending = [with(AgentStatus::InProgress), with(AgentStatus::Blocked), with(AgentStatus::Pending)];
    let pending: Vec<String> = pending.into_iter().filter(|names| !names.is_empty()).collect();
    let or_none = |text: String| if text.is_empty() { "None".to_owned() } else { words(&text) };
    format!(
        "## {} — Pipeline {}: {}\n\n**Operations:** dispatched {}; {rounds} rounds in {}\n**Decisions:** {}\n\
         **Results:** {}\n**Status:** Done: {}. Pending: {}. Run {}\n",
        zone.minute(state.updated_ms),
        words(&outcome.label()),
        words(&state.title),
        or_none(sent.join(", ")),
        duration(state.active_ms),
        or_none(decisions.join("; ")),
        or_none(results.join(", ")),
        or_none(with(AgentStatus::Completed)),
        or_none(pending.join(", ")),
        state.run,
    )
}
