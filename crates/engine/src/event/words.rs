//! The words for events: one description each, the same on the terminal, on the rail, on the page, in reports and for
//! models. Every surface decides how a tone looks and how much it shows; none has words of its own for what happened.
//! Those of goals are in `goal`, those of pipelines in `pipeline`, the states of runs in `state`.

mod goal;
mod pipeline;
mod state;

use serde::{Deserialize, Serialize};

use super::EventKind;
use crate::budget::Limits;
use crate::digest::Digest;
use crate::effect::Committed;
use crate::goal::{ProgressVerdict, StepEnd};
use crate::review::{Review, Verdict};
use crate::tree::Verified;

pub use goal::{claim, terms};
pub use state::{halt, run_state};

/// How a description is meant: a surface gives each its colour and its mark.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    Plain,
    /// A part of the run begins.
    Heading,
    Good,
    Bad,
    /// Somebody should look at it.
    Warning,
    /// To be known, and nothing went wrong.
    Notice,
    /// Nobody knows.
    Doubt,
    Paused,
    /// What follows: who is sent out, what the worker is told.
    Next,
    Claim,
    /// A person said or did it, or is to.
    Person,
    /// Somebody is at work.
    Working,
    /// The watching critic's verdicts; an error is also what speaks against a goal.
    Progressing,
    Stuck,
    Achieved,
    Misled,
    Error,
}

impl Tone {
    pub const ALL: [Self; 17] = [
        Self::Plain,
        Self::Heading,
        Self::Good,
        Self::Bad,
        Self::Warning,
        Self::Notice,
        Self::Doubt,
        Self::Paused,
        Self::Next,
        Self::Claim,
        Self::Person,
        Self::Working,
        Self::Progressing,
        Self::Stuck,
        Self::Achieved,
        Self::Misled,
        Self::Error,
    ];
}

impl From<ProgressVerdict> for Tone {
    fn from(verdict: ProgressVerdict) -> Self {
        match verdict {
            ProgressVerdict::Progressing => Self::Progressing,
            ProgressVerdict::Stuck => Self::Stuck,
            ProgressVerdict::Achieved => Self::Achieved,
            ProgressVerdict::Misled => Self::Misled,
            ProgressVerdict::Error => Self::Error,
        }
    }
}

impl From<StepEnd> for Tone {
    fn from(end: StepEnd) -> Self {
        match end {
            StepEnd::Ok => Self::Good,
            StepEnd::Err => Self::Bad,
            StepEnd::Blocked | StepEnd::Denied => Self::Warning,
            StepEnd::Unknown => Self::Doubt,
        }
    }
}

/// What happened, in words. Texts of models and people are in it as they are: a surface makes them safe to show.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Description {
    pub tone: Tone,
    /// A few words.
    pub head: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// A stored text that stands in the place of `body` wherever it is at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Digest>,
    /// Said after the text, in brackets.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// What a command printed; the end of it is worth showing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Digest>,
    /// Said below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<DescriptionLine>,
    /// What matters stands at the end of the body: it is not cut where others are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DescriptionLine {
    pub tone: Tone,
    pub text: String,
}

impl Description {
    pub fn new(tone: Tone, head: impl Into<String>, body: impl Into<String>) -> Self {
        let (head, body) = (head.into(), body.into());
        Self { tone, head, body, text: None, note: String::new(), output: None, below: vec![], whole: false }
    }

    fn head(tone: Tone, head: impl Into<String>) -> Self {
        Self::new(tone, head, "")
    }

    fn stored(self, text: Option<Digest>) -> Self {
        Self { text, ..self }
    }

    fn noted(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    fn below(mut self, tone: Tone, lines: impl IntoIterator<Item = String>) -> Self {
        self.below.extend(lines.into_iter().map(|text| DescriptionLine { tone, text }));
        self
    }

    /// The body, or the stored text where it is found, with the note.
    pub fn said(&self, text: &dyn Fn(&Digest) -> Option<String>) -> String {
        let stored = self.text.as_ref().and_then(text).filter(|said| !said.trim().is_empty());
        let mut said = stored.unwrap_or_else(|| self.body.clone());
        if !self.note.is_empty() {
            let space = if said.is_empty() { "" } else { " " };
            said = format!("{said}{space}({})", self.note);
        }
        said
    }

    /// Between head and body: a head with a colon in it (`critic:stuck`) needs no second one.
    pub fn separator(&self) -> &'static str {
        if self.head.contains(':') { " " } else { ": " }
    }

    /// `head: body`, in one piece.
    pub fn line(&self, text: &dyn Fn(&Digest) -> Option<String>) -> String {
        let said = self.said(text);
        if said.is_empty() { self.head.clone() } else { format!("{}{}{said}", self.head, self.separator()) }
    }
}

impl EventKind {
    /// What happened, in words; none for what is not told. `names` says how an agent is named: `writer (qwen3)`.
    pub fn describe(&self, names: &dyn Fn(&str) -> String) -> Option<Description> {
        use Tone::{Bad, Good, Heading, Notice, Person, Plain, Warning};
        let new = |tone: Tone, head: String, body: String| Some(Description::new(tone, head, body));
        let head = |tone: Tone, head: String| Some(Description::head(tone, head));
        match self {
            Self::RoundStarted { round, of } => head(Heading, format!("round {round} of {of}")),
            Self::DraftMade { bytes, given, diff, .. } => Some(drafted(*bytes, *given, diff.is_some())),
            Self::ChangedUnasked { sections, .. } => Some(changed_unasked(sections)),
            Self::SelfVerdictNoted { line, .. } => {
                new(Plain, "noted".into(), format!("the worker judged its own draft (“{line}”); ignored"))
            }
            Self::Reviewed { review, .. } => Some(reviewed(review, names)),
            Self::ReplyMalformed { critic, problem, restating, .. } => {
                let then = if *restating { "; asking again" } else { "" };
                let reply = format!("could not read {}'s reply", names(critic));
                new(Warning, reply, format!("{problem}{then}"))
            }
            Self::Stalled { stalls, .. } => {
                let all: Vec<String> = stalls.iter().map(ToString::to_string).collect();
                new(Plain, "hint".into(), all.join("; "))
            }
            Self::RejectionOverruled { .. } => {
                new(Good, "rejection overruled".into(), "it asks only for new things".into())
            }
            Self::FellBack { from, to, because } => {
                let judges = format!("{because}; {} judges instead", names(to));
                new(Warning, format!("{} gave no verdict", names(from)), judges)
            }
            Self::CallFailed { agent, role, failure, .. } => {
                new(Bad, format!("{} {} failed", role.name(), names(agent)), failure.to_string())
            }
            Self::CallLost { agent, role, .. } => {
                let lost = format!("a call of {} {} was lost", role.name(), names(agent));
                new(Warning, lost, "counted as spent".into())
            }
            Self::Overran { shortage } => new(Warning, "over budget".into(), shortage.to_string()),
            Self::Saved { path, .. } => head(Plain, format!("saved {path}")),
            Self::SaveRefused { message, .. } => new(Bad, "not saved".into(), message.clone()),
            Self::Warned { message } => new(Notice, "warning".into(), message.clone()),
            Self::VerifyRan { command, green, verified, .. } => {
                Some(command_ran("verify", command, *green, verified))
            }
            Self::Routed { route, because, .. } => Some(routed(route, because)),
            Self::Escalated { to, because, .. } => Some(escalated(to, because)),
            Self::Decided { by, text } => Some(decided(by, *text)),
            Self::Deferred { criterion, reason, by, .. } => Some(deferred(criterion, reason, by)),
            Self::RoundEnded { line, .. } | Self::Summarised { line } => head(Plain, line.clone()),
            Self::Violated { agent, paths, .. } => Some(violated(&names(agent), paths)),
            Self::Reported { name, .. } => new(Plain, "report".into(), name.clone()),
            Self::Accepted { paths, commit, merged, kept } => {
                Some(accepted(paths, commit.as_ref(), merged, kept))
            }
            Self::Conflicted { conflicts } => {
                let files = counted(usize::try_from(conflicts.count()).unwrap_or(usize::MAX), "file");
                let changed = format!("{files} changed on both sides, here and by the run");
                new(Warning, changed, "nothing is written until you decide".into())
            }
            Self::GoalSet { goal, criterion, policy, interval, steps } => {
                let terms = goal::terms(criterion, policy, *interval, *steps);
                let set = Description::new(Heading, "goal", "").stored(Some(*goal));
                Some(set.below(Plain, [terms]))
            }
            Self::Stepped { step } => head(step.end.into(), step.to_string()),
            Self::Watched { verdict, reason, from, to, .. } => {
                Some(goal::watched(*verdict, reason, *from, *to))
            }
            Self::CriticOff { critic, because } => new(
                Tone::Error,
                "critic:off".into(),
                format!("{} no longer watches: {because}", names(critic)),
            ),
            Self::WentOn { agent, because } => {
                new(Tone::Next, "continues".into(), format!("{} ({because})", names(agent)))
            }
            Self::Nudged { why, text } => Some(goal::nudged(*why, *text)),
            Self::Claimed { by, rationale } => new(Tone::Claim, claim(*by).into(), rationale.clone()),
            Self::VerificationFailed { detail, in_a_row } => {
                new(Tone::Error, format!("verify:fail ({in_a_row})"), detail.clone())
            }
            Self::GoalVerified { detail } => new(Good, "verified".into(), detail.clone()),
            Self::CriterionTried { found, detail } => goal::tried(*found, detail),
            Self::ProtectedChanged { paths, findings } => Some(goal::protected(paths, findings)),
            Self::ChangeLookedAt { seen, reason, .. } => Some(goal::looked_at(*seen, reason)),
            Self::Waived { findings, reason, by } => {
                new(Warning, format!("waived by {by}"), format!("{reason} ({})", findings.join("; ")))
            }
            Self::ToolDisabled { tool, because } => {
                new(Warning, "tool off".into(), format!("{tool}: {because}"))
            }
            Self::OutcomeUnknown { n, tool, handling } => {
                let died = format!("[{n}] {tool}: the process died during this step; {handling}");
                new(Tone::Doubt, "unknown".into(), died)
            }
            Self::Steered { by, text } => Some(goal::steered(by, *text)),
            Self::GoalPaused { because } => new(Tone::Paused, "paused".into(), because.clone()),
            Self::GaveUp { reason, learned } => Some(goal::gave_up(reason, learned)),
            Self::LastWords { because, text } => Some(goal::last_words(because, *text)),
            Self::Pipeline(event) => pipeline::describe(event),
            Self::PauseRequested => {
                new(Tone::Paused, "pausing".into(), "waiting for the calls under way".into())
            }
            Self::CancelRequested => head(Bad, "cancelled".into()),
            Self::Resumed => head(Heading, "resumed".into()),
            Self::LimitsRaised { limits, rounds } => head(Person, raised(limits, *rounds)),
            Self::AgentChanged { agent, card } => new(
                Plain,
                format!("agent {} changed", names(agent)),
                format!("{}, {}", card.kind, card.sends_to),
            ),
            // A question is told with its choices, an answer with who gave it, money where sums stand.
            Self::NodeStarted { .. }
            | Self::Charged { .. }
            | Self::Asked { .. }
            | Self::PersonSaid { .. }
            | Self::ChangeShown { .. } => None,
        }
    }
}

fn drafted(bytes: u64, given: bool, is_tree: bool) -> Description {
    let (whose, what) = match (given, is_tree) {
        (true, true) => ("your files", "a diff of "),
        (false, true) => ("changes", "a diff of "),
        (true, false) => ("your draft", ""),
        (false, false) => ("draft", ""),
    };
    Description::new(Tone::Plain, whose, format!("{what}{}", size(bytes)))
}

fn reviewed(review: &Review, names: &dyn Fn(&str) -> String) -> Description {
    let critic = names(&review.binding.critic);
    match review.verdict {
        Verdict::Approved => Description::head(Tone::Good, format!("approved by {critic}")),
        Verdict::Unverified => Description::head(Tone::Warning, format!("unverified by {critic}")),
        Verdict::Rejected => {
            let open = counted(review.open.len(), "open item");
            Description::new(Tone::Bad, format!("rejected by {critic}"), open)
        }
    }
}

pub fn changed_unasked(sections: &[String]) -> Description {
    let named: Vec<String> = sections.iter().map(|section| format!("“{section}”")).collect();
    Description::new(Tone::Plain, "hint", format!("changed without being asked: {}", named.join(", ")))
}

/// Where the findings of a round lead.
pub fn routed(route: &str, because: &str) -> Description {
    Description::new(Tone::Next, route, because)
}

pub fn escalated(to: &str, because: &str) -> Description {
    Description::new(Tone::Plain, format!("escalated to {to}"), because)
}

pub fn decided(by: &str, text: Digest) -> Description {
    Description::head(Tone::Person, format!("{by} decided")).stored(Some(text))
}

pub fn deferred(criterion: &str, reason: &str, by: &str) -> Description {
    Description::new(Tone::Plain, format!("deferred {criterion} by {by}"), reason)
}

pub fn violated(agent: &str, paths: &[String]) -> Description {
    let undone = format!("{}; undone, its reply is void (tree compared)", some(paths));
    Description::new(Tone::Bad, format!("{agent} changed files it may only read"), undone)
}

/// A command that ran: how its runs ended, and what it changed that it should not have.
pub fn command_ran(what: &str, command: &str, green: bool, verified: &Verified) -> Description {
    let tone = if green { Tone::Good } else { Tone::Bad };
    let ends: Vec<String> = verified.runs.iter().map(|run| run.end.to_string()).collect();
    let ends = if ends.is_empty() { "not run".to_owned() } else { ends.join(", ") };
    let output = verified.runs.last().filter(|_| !green).map(|run| run.output);
    let ran = Description { output, ..Description::new(tone, format!("{what} `{command}`"), ends) };
    let changed = Some(&verified.changed).filter(|changed| !changed.is_empty());
    ran.below(
        Tone::Plain,
        changed.map(|changed| format!("it changed files, which were put back: {}", some(changed))),
    )
}

fn accepted(paths: &[String], commit: Option<&Committed>, merged: &[String], kept: &[String]) -> Description {
    let told = match commit {
        Some(Committed { id, branch }) => {
            let short: String = id.chars().take(12).collect();
            Description::head(Tone::Good, format!("committed {short} on branch {branch}"))
        }
        None => Description::new(Tone::Good, "accepted into your checkout", counted(paths.len(), "file"))
            .noted(some(paths)),
    };
    let by_decision = [
        (merged, "merged with yours by git: nobody judged the merged text"),
        (kept, "left as you have it: not what was judged"),
    ];
    let lines = by_decision.into_iter().filter(|(paths, _)| !paths.is_empty());
    told.below(Tone::Warning, lines.map(|(paths, what)| format!("{} {what}", counted(paths.len(), "file"))))
}

fn raised(limits: &Limits, rounds: Option<u32>) -> String {
    let caps = [
        rounds.map(|n| format!("{n} rounds")),
        limits.money.map(|m| m.to_string()),
        limits.tokens.map(|n| format!("{n} tokens")),
        limits.active_ms.map(|ms| format!("{} active minutes", ms / 60_000)),
        limits.calls.map(|n| format!("{n} calls")),
        limits.steps.map(|n| format!("{n} steps")),
        limits.turns.map(|n| format!("{n} turns")),
    ];
    format!("raised to {}", caps.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// `1 file`, `2 files`.
pub fn counted(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

pub fn size(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// The first few by name.
fn some(all: &[String]) -> String {
    const NAMED: usize = 8;
    let named: Vec<&str> = all.iter().take(NAMED).map(String::as_str).collect();
    match all.len().checked_sub(NAMED).filter(|more| *more > 0) {
        Some(more) => format!("{} and {more} more", named.join(", ")),
        None => named.join(", "),
    }
}

#[cfg(test)]
mod tests;
