//! What happens to a pipeline in the compact transcripts of tests.

use crate::pipeline::PipelineEvent;

/// One event in one line of a transcript; none if it is worth none.
pub fn line(event: &PipelineEvent) -> Option<String> {
    Some(match event {
        PipelineEvent::Begun { project, agents, gate, .. } => {
            format!("pipeline for {project}: {agents} agents, gate `{gate}`")
        }
        PipelineEvent::PlanDrafted { by, spec, .. } => {
            format!("{} drafted by {by}", if *spec { "requirements" } else { "plan" })
        }
        PipelineEvent::PlanApproved { by, .. } => format!("plan approved by {by}"),
        PipelineEvent::FoundDone { agents } => {
            let named: Vec<&str> = agents.iter().map(|done| done.agent.as_str()).collect();
            format!("done before: {}", named.join(", "))
        }
        PipelineEvent::OverallRound { round, of, again } if again.is_empty() => {
            format!("overall round {round} of {of}")
        }
        PipelineEvent::OverallRound { round, of, again } => {
            format!("overall round {round} of {of}, again: {}", again.join(", "))
        }
        PipelineEvent::Dispatched { agent, nth: 1, .. } => format!("dispatched {agent}"),
        PipelineEvent::Dispatched { agent, nth, .. } => format!("dispatched {agent} ({nth})"),
        PipelineEvent::NotDispatched { lines, .. } => lines.join(" "),
        PipelineEvent::OutputIncomplete { agent, gaps, .. } => {
            crate::pipeline::facts::incomplete(agent, gaps)
        }
        PipelineEvent::WroteOutside { agent, paths } => {
            format!("{agent} wrote outside: {}", paths.join(", "))
        }
        PipelineEvent::Scored { verdict, delivered } => {
            let kept = match (*delivered, verdict.rejected) {
                (true, _) => "",
                (false, true) => ", rejected",
                (false, false) => ", the earlier draft stays",
            };
            format!("{} scored {} by {}{kept}", verdict.agent, verdict.score, verdict.critic)
        }
        PipelineEvent::Completed { agent, .. } => format!("{agent} completed"),
        PipelineEvent::PairBlocked { agent, because, .. } => format!("{agent} blocked: {because}"),
        PipelineEvent::ConditionSaid { text, holds, by } => {
            format!("{by}: {} `{text}`", if *holds { "it holds:" } else { "it does not hold:" })
        }
        PipelineEvent::HookRan { hook, command, green, .. } => {
            format!("{hook} `{command}` {}", if *green { "green" } else { "red" })
        }
        PipelineEvent::GateChecked { report, .. } => {
            let overall = report.aggregate.overall.map_or_else(|| "no score".to_owned(), |o| o.to_string());
            let is = if report.is_open() { "open" } else { "closed" };
            format!("gate {} {is}: {overall}", report.gate.name)
        }
        // They stand at the end of the summary.
        PipelineEvent::Learned { .. } => return None,
    })
}
