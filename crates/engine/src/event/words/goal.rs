//! The words for what happens beside the steps of a goal, and for its terms.

use super::{Description, Tone, counted};
use crate::digest::Digest;
use crate::finding::Finding;
use crate::goal::{Claimant, CriterionTrial, Nudge, ProgressVerdict, WholeChangeReview};

/// Where the user steers from without another name.
const YOU: [&str; 2] = ["terminal", "dashboard"];

/// ``reached when `cargo test` exits with 0 · risk=write_local · critic watches every 5 steps``.
pub fn terms(criterion: &str, policy: &str, interval: u32, steps: u32) -> String {
    let watched = match interval {
        0 => "nobody watches".to_owned(),
        1 => "critic watches every step".to_owned(),
        n => format!("critic watches every {n} steps"),
    };
    let most =
        if steps > 0 { format!(" · at most {}", counted(steps as usize, "step")) } else { String::new() };
    let policy = if policy.is_empty() { String::new() } else { format!(" · {policy}") };
    format!("reached when {criterion}{policy} · {watched}{most}")
}

pub(super) fn watched(verdict: ProgressVerdict, reason: &str, from: u32, to: u32) -> Description {
    let steps = if from == to { format!("step {to}") } else { format!("steps {from}–{to}") };
    Description::new(verdict.into(), format!("critic:{}", verdict.name()), format!("{steps} {reason}"))
}

pub const fn claim(by: Claimant) -> &'static str {
    match by {
        Claimant::Worker => "claim",
        Claimant::Critic => "claim by the critic",
    }
}

/// What the worker is told; where the text is not at hand, the gist of it.
pub(super) fn nudged(why: Nudge, text: Digest) -> Description {
    let gist = match why {
        Nudge::OnlyTalk => "use a tool, claim completion or give up: talking alone does nothing",
        Nudge::LookFirst => "look at your last change before you claim completion",
        Nudge::Stuck => "step back and try another way",
        Nudge::Misled => "come back to the goal",
        Nudge::GoOn => "continue, claim completion or give up",
        Nudge::Circle => "the same result again and again: try another way",
        Nudge::Unreadable => "the last calls could not be read: this is their form",
        Nudge::Drift => "undo what was made while you had drifted, or say why it is needed",
    };
    Description::new(Tone::Next, "told", gist).stored(Some(text))
}

/// None where the criterion does not hold: that is why there is a goal.
pub(super) fn tried(found: CriterionTrial, detail: &str) -> Option<Description> {
    match found {
        CriterionTrial::Met => Some(Description::new(Tone::Good, "met already", detail)),
        CriterionTrial::Flaky => Some(Description::new(Tone::Doubt, "flaky", detail)),
        CriterionTrial::CannotRun => {
            // What was refused stands at the end, and a person can do something about it.
            let told = Description::new(Tone::Warning, "cannot be checked here as it is", detail);
            Some(Description { whole: true, ..told })
        }
        CriterionTrial::NotMet => None,
    }
}

pub(super) fn protected(paths: &[String], findings: &[Finding]) -> Description {
    let all: Vec<String> = findings.iter().map(Finding::line).chain(paths.iter().cloned()).collect();
    Description::new(Tone::Bad, "protected files changed", all.join("; "))
}

pub(super) fn looked_at(seen: WholeChangeReview, reason: &str) -> Description {
    match seen {
        WholeChangeReview::NothingWrong => {
            Description::new(Tone::Achieved, "critic:looked at the whole change", reason)
        }
        WholeChangeReview::Objection => Description::new(Tone::Error, "critic:objects to the change", reason),
        WholeChangeReview::NotAll => {
            Description::new(Tone::Error, "the critic did not look at the whole change", reason)
        }
    }
}

pub(super) fn steered(by: &str, text: Digest) -> Description {
    let who = if YOU.contains(&by) { "you" } else { by };
    Description::head(Tone::Person, who).stored(Some(text)).noted("steered")
}

pub(super) fn gave_up(reason: &str, learned: &str) -> Description {
    let learned = learned.trim();
    let learned = if learned.is_empty() { String::new() } else { format!(" · learned: {learned}") };
    Description::new(Tone::Bad, "gave up", format!("{reason}{learned}"))
}

pub(super) fn last_words(because: &str, text: Option<Digest>) -> Description {
    Description::new(Tone::Plain, "last words", "nothing").stored(text).noted(format!("stopped: {because}"))
}
