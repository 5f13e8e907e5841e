//! The words for a goal as a whole: its terms, how it stands or ended, who cost what, what it left. Only what was
//! verified is called so.

use gadfly_engine::event::EventKind;
use gadfly_engine::goal::CriterionTrial;
use gadfly_engine::{Outcome, Waiting};
use gadfly_journal::RunView;
use gadfly_journal::view::{GoalState, Share};
use owo_colors::OwoColorize as _;

use super::table::{cost, counted};
use super::{meters, next_command, safe};

const LONGEST: usize = 600;
/// More paths are counted.
const MOST_PATHS: usize = 10;

/// How it stands, in words that are never better than it does.
pub fn headline(goal: &GoalState, outcome: Option<&Outcome>) -> String {
    let steps = counted(goal.used.steps as usize, "step");
    match outcome {
        None => "interrupted: nothing is lost".yellow().bold().to_string(),
        Some(Outcome::Approved { .. }) if met_already(goal) => {
            "already met: nothing was done and nothing paid".green().bold().to_string()
        }
        Some(Outcome::Approved { .. }) => format!("verified after {steps}").green().bold().to_string(),
        Some(Outcome::Halted { .. } | Outcome::Aborted) if gave_up(goal).is_some() => {
            format!("gave up after {steps}: not verified").red().bold().to_string()
        }
        Some(outcome @ (Outcome::Halted { .. } | Outcome::Rejected { .. })) => {
            format!("{} after {steps}: not verified", outcome.label()).red().bold().to_string()
        }
        Some(Outcome::Waiting(Waiting::Question { .. })) => {
            format!("waiting for a person's answer after {steps}").yellow().bold().to_string()
        }
        Some(Outcome::Waiting(Waiting::Quota { .. })) => {
            format!("waiting for the provider's quota after {steps}").yellow().bold().to_string()
        }
        Some(Outcome::Waiting(Waiting::Paused)) => {
            format!("paused after {steps}").yellow().bold().to_string()
        }
        Some(Outcome::Unverified { .. }) => {
            format!("unverified after {steps}: nobody could say whether the goal is reached")
                .yellow()
                .bold()
                .to_string()
        }
        Some(Outcome::OutOfBudget { .. }) => {
            format!("out of budget after {steps}: not verified").yellow().bold().to_string()
        }
        Some(Outcome::Aborted) => format!("aborted after {steps}: not verified").red().bold().to_string(),
        Some(Outcome::Failed { .. }) if is_verified(goal) => {
            "verified, but the work could not be brought to you".red().bold().to_string()
        }
        Some(Outcome::Failed { .. }) => {
            format!("failed after {steps}: gave up on a call").red().bold().to_string()
        }
    }
}

/// What the last block says of a goal, as labelled lines.
pub fn facts(state: &RunView, goal: &GoalState, outcome: Option<&Outcome>) -> Vec<(&'static str, String)> {
    let mut said = Vec::new();
    let run = &state.summary.run;
    if let Some((reason, learned)) = gave_up(goal).filter(|_| !is_verified(goal)) {
        said.push(("reason", safe::line(reason, LONGEST)));
        if !learned.trim().is_empty() {
            said.push(("learned", safe::line(learned, LONGEST)));
        }
    }
    match last(goal, |what| {
        matches!(what, EventKind::GoalVerified { .. } | EventKind::VerificationFailed { .. })
    }) {
        Some(EventKind::GoalVerified { detail }) => said.push(("verified", safe::line(detail, LONGEST))),
        Some(EventKind::VerificationFailed { detail, .. }) => {
            said.push(("last claim", format!("not met: {}", safe::line(detail, LONGEST))));
        }
        _ => {}
    }
    if let Some(EventKind::LastWords { because, .. }) =
        last(goal, |what| matches!(what, EventKind::LastWords { .. }))
    {
        said.push(("stopped", safe::line(because, LONGEST)));
    }
    if let Some(EventKind::GoalPaused { because }) = goal.rail.last().map(|entry| &entry.what) {
        said.push(("reason", safe::line(because, LONGEST)));
    }
    if let Some(EventKind::ProtectedChanged { paths, findings }) =
        last(goal, |what| matches!(what, EventKind::ProtectedChanged { .. }))
    {
        let found: Vec<String> = findings.iter().map(gadfly_engine::Finding::line).collect();
        said.extend(found.iter().map(|line| ("found", safe::line(line, LONGEST))));
        if !paths.is_empty() {
            said.push((
                "look at",
                format!("{} (the goal is judged by it, and it was changed)", named(paths)),
            ));
        }
    }
    if last(goal, |what| matches!(what, EventKind::CriticOff { .. })).is_some() {
        said.push(("critic", "was switched off: nobody watched to the end".red().to_string()));
    }
    said.push(("used", meters::words(goal)));
    said.push(("of which", split(goal)));
    if let Some(seen) = goal.folder.as_ref().filter(|seen| !seen.changes.is_empty()) {
        let files = counted(seen.changes.len(), "file");
        said.push(("changes", format!("{files}: {}", next_command::command(&format!("show {run} --diff")))));
    }
    let accepted = state.accepted.is_some() || matches!(outcome, Some(Outcome::Approved { .. }));
    if let Some(root) = goal.root.as_ref().filter(|_| !goal.in_place && !accepted) {
        said.push(("folder", format!("{} (not accepted)", safe::line(root, 400))));
    }
    said
}

/// The command that takes back what was done in the user's own files.
pub fn undo(state: &RunView) -> Option<(&'static str, String)> {
    let goal = state.goal.as_ref()?;
    let done = goal.in_place && goal.used.steps > 0;
    done.then(|| ("undo", next_command::command(&format!("undo {}", state.summary.run))))
}

/// `worker $0.40, 12 calls · critic $0.02, 3 calls`.
pub fn split(goal: &GoalState) -> String {
    let share = |(who, share): &(&str, Share)| {
        let Share { calls, tokens, money, unknown } = share;
        format!("{who} {}, {tokens} tokens, {}", cost(*money, *unknown), counted(*calls as usize, "call"))
    };
    let costs = [("worker", goal.costs.worker), ("critic", goal.costs.critic), ("judge", goal.costs.judge)];
    // Who was never asked is left out, but not the one a goal always has.
    let asked = costs.iter().filter(|(who, share)| *who == "worker" || share.calls > 0);
    asked.map(share).collect::<Vec<_>>().join(" · ")
}

/// Verdicts by kind: `3 progressing, 1 stuck`.
pub fn verdicts(goal: &GoalState) -> String {
    let c = goal.counts;
    let all = [
        (c.progressing, "progressing"),
        (c.stuck, "stuck"),
        (c.achieved, "achieved"),
        (c.misled, "misled"),
        (c.error, "error"),
    ];
    let some = all.iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{n} {name}"));
    let some: Vec<String> = some.collect();
    if some.is_empty() { "the critic has not looked yet".to_owned() } else { some.join(", ") }
}

/// Steps by their end: `12 ok, 3 err`.
pub fn ends(goal: &GoalState) -> String {
    let c = goal.counts;
    let all =
        [(c.ok, "ok"), (c.err, "err"), (c.blocked, "blocked"), (c.denied, "denied"), (c.unknown, "unknown")];
    all.iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{n} {name}")).collect::<Vec<_>>().join(", ")
}

/// Why the worker gave up, and what it learned.
pub fn gave_up(goal: &GoalState) -> Option<(&str, &str)> {
    match last(goal, |what| matches!(what, EventKind::GaveUp { .. })) {
        Some(EventKind::GaveUp { reason, learned }) => Some((reason, learned)),
        _ => None,
    }
}

/// The criterion held before anything was done, and nothing was.
pub fn met_already(goal: &GoalState) -> bool {
    let is_met =
        |what: &EventKind| matches!(what, EventKind::CriterionTried { found: CriterionTrial::Met, .. });
    goal.used.turns == 0 && last(goal, is_met).is_some()
}

pub fn is_verified(goal: &GoalState) -> bool {
    let judged = |what: &EventKind| {
        matches!(what, EventKind::GoalVerified { .. } | EventKind::VerificationFailed { .. })
    };
    matches!(last(goal, judged), Some(EventKind::GoalVerified { .. }))
}

/// The last entry of the rail that is one of these.
pub fn last(goal: &GoalState, wanted: impl Fn(&EventKind) -> bool) -> Option<&EventKind> {
    goal.rail.iter().rev().map(|entry| &entry.what).find(|what| wanted(what))
}

fn named(paths: &[String]) -> String {
    let more = paths.len().saturating_sub(MOST_PATHS);
    let named =
        paths.iter().take(MOST_PATHS).map(|path| safe::line(path, 200)).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}
