//! The words for what happens in a pipeline.

use super::{Description, Tone, command_ran, counted, some};
use crate::pipeline::event::AlreadyDone;
use crate::pipeline::learning::Suggestion;
use crate::pipeline::{GateReport, PairVerdict, PipelineEvent, facts};

/// More lines below one description are counted.
const MOST: usize = 40;

pub(super) fn describe(event: &PipelineEvent) -> Option<Description> {
    use Tone::{Bad, Good, Heading, Plain, Warning};
    let new = |tone: Tone, head: String, body: String| Description::new(tone, head, body);
    let head = |tone: Tone, head: String| Description::head(tone, head);
    Some(match event {
        PipelineEvent::Begun { project, agents, gate, jobs } => {
            let agents = counted(*agents as usize, "agent");
            let terms = format!("{agents}, gate {gate}, {jobs} at once");
            new(Heading, format!("pipeline for {project}"), terms)
        }
        PipelineEvent::PlanDrafted { by, spec, blocked, .. } => {
            let what = if *spec { "requirements" } else { "plan" };
            let blocked = blocked.iter().map(|line| format!("blocked: {line}"));
            head(Plain, format!("{what} drafted by {by}")).below(Warning, cut(blocked))
        }
        PipelineEvent::PlanApproved { by, .. } => head(Good, format!("plan approved by {by}")),
        PipelineEvent::FoundDone { agents } => {
            let done = |one: &AlreadyDone| match one.score {
                Some(score) => format!("{} {score}", one.agent),
                None => one.agent.clone(),
            };
            let done: Vec<String> = agents.iter().map(done).collect();
            new(Good, "done before".into(), some(&done))
        }
        PipelineEvent::OverallRound { round, of, again } => {
            let again = if again.is_empty() { String::new() } else { format!("{} again", some(again)) };
            new(Heading, format!("overall round {round} of {of}"), again)
        }
        PipelineEvent::Dispatched { agent, critic, phase, nth, loaded, .. } => {
            let critic = critic.as_ref().map_or_else(|| "no critic".to_owned(), |c| format!("judged by {c}"));
            let phase = phase.as_ref().map(|phase| format!(", {phase}")).unwrap_or_default();
            let again = if *nth > 1 { format!(", dispatch {nth}") } else { String::new() };
            let files = match loaded.len() {
                0 => String::new(),
                n => format!(", brief of {}", counted(n, "file")),
            };
            new(Tone::Next, agent.clone(), format!("{critic}{phase}{again}{files}"))
        }
        PipelineEvent::NotDispatched { lines, .. } => {
            let (first, more) = lines.split_first()?;
            head(Warning, first.clone()).below(Warning, cut(more.iter().cloned()))
        }
        PipelineEvent::OutputIncomplete { agent, gaps, times } => {
            head(Warning, facts::incomplete(agent, gaps)).noted(format!("time {times}"))
        }
        PipelineEvent::WroteOutside { agent, paths } => {
            new(Warning, format!("{agent} wrote outside its entry"), some(paths))
        }
        PipelineEvent::Scored { verdict, delivered } => scored(verdict, *delivered),
        PipelineEvent::Completed { agent, files } => {
            new(Good, format!("{agent} completed"), counted(files.len(), "file"))
        }
        PipelineEvent::PairBlocked { agent, because, score, rounds, open } => {
            let score = score.map(|score| format!(", last score {score}")).unwrap_or_default();
            let rounds = counted(*rounds as usize, "round");
            let blocked = new(Bad, format!("{agent} blocked after {rounds}{score}"), because.clone());
            blocked.below(Plain, cut(open.iter().cloned()))
        }
        PipelineEvent::ConditionSaid { text, holds, by } => {
            let holds = if *holds { "holds" } else { "does not hold" };
            new(Tone::Person, format!("{by} says it {holds}"), text.clone())
        }
        PipelineEvent::HookRan { hook, command, green, verified } => {
            command_ran(hook, command, *green, verified)
        }
        PipelineEvent::GateChecked { report, .. } => gate(report),
        PipelineEvent::Learned { suggestions } if suggestions.is_empty() => return None,
        PipelineEvent::Learned { suggestions } => {
            let lines = cut(suggestions.iter().map(Suggestion::line));
            head(Heading, "### Suggested Learnings".into()).below(Plain, lines)
        }
    })
}

fn scored(verdict: &PairVerdict, delivered: bool) -> Description {
    let tone = if verdict.passes() { Tone::Good } else { Tone::Bad };
    let kept = match (delivered, verdict.rejected) {
        (true, _) => "",
        (false, true) => "; rejected, and not delivered",
        (false, false) => "; the earlier draft scored higher and stays",
    };
    let (score, critic) = (verdict.score, &verdict.critic);
    let rounds = counted(verdict.rounds as usize, "round");
    let told = format!("{score}/100 by {critic} after {rounds}{kept}");
    let others = verdict.other.iter().map(|other| {
        let lens = other.lens.as_deref().map(|lens| format!(" ({lens})")).unwrap_or_default();
        format!("{}/100 by {}{lens}", other.score, other.critic)
    });
    Description::new(tone, verdict.agent.clone(), told).below(Tone::Plain, cut(others))
}

/// The gate in one line; a surface with room has its table (`GateReport`).
fn gate(report: &GateReport) -> Description {
    let (tone, is) = if report.is_open() { (Tone::Good, "open") } else { (Tone::Bad, "closed") };
    let overall =
        report.aggregate.overall.map_or_else(|| "no score".to_owned(), |overall| overall.to_string());
    Description::new(tone, format!("gate {} is {is}", report.gate.name), overall)
}

fn cut(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = lines.collect();
    let more = all.len().saturating_sub(MOST);
    all.truncate(MOST);
    all.extend((more > 0).then(|| format!("and {more} more")));
    all
}
