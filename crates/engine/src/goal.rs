//! What the record of a goal is made of: steps, what the watching critic said of them, how a claim was met.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One thing the worker of a goal did, or tried to. Numbers count from 1 and are never used twice.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GoalStep {
    pub n: u32,
    pub tool: String,
    /// Its first arguments, a command whole: `path=src/a.rs, from=1`. Of an agent with tools of its own, what it says.
    pub args: String,
    pub end: StepEnd,
    /// The beginning of what came of it, in one line.
    pub preview: String,
    pub took_ms: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEnd {
    Ok,
    /// The tool could not do it, or a command ended with an error.
    Err,
    /// A guard kept it from being done again.
    Blocked,
    /// The policy or a person said no.
    Denied,
    /// Nobody knows: the process died in the middle of it, or nothing was ever said of how it ended.
    Unknown,
}

impl StepEnd {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Err => "err",
            Self::Blocked => "blocked",
            Self::Denied => "denied",
            Self::Unknown => "unknown",
        }
    }
}

/// The most of a step's arguments in the record, which is what people see, and in the lists that models are given, in
/// characters.
pub const ARGS: usize = 1000;
const ARGS_LISTED: usize = 400;
/// The most of what came of a step that stands in its line.
pub const PREVIEW: usize = 200;

impl GoalStep {
    /// The step in a list for a model.
    pub fn listed(&self) -> String {
        let args = cut(&self.args, ARGS_LISTED);
        Self { args, preview: self.preview.clone(), tool: self.tool.clone(), ..*self }.to_string()
    }
}

/// At most so many characters, and a sign where there were more.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

impl fmt::Display for GoalStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}({}) → {}", self.n, self.tool, self.args, self.end.name())?;
        if self.preview.is_empty() { Ok(()) } else { write!(f, ": {}", self.preview) }
    }
}

/// What the watching critic says of the last steps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgressVerdict {
    Progressing,
    Stuck,
    Achieved,
    Misled,
    /// It could not be read, or could not be had.
    Error,
}

impl ProgressVerdict {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Progressing => "progressing",
            Self::Stuck => "stuck",
            Self::Achieved => "achieved",
            Self::Misled => "misled",
            Self::Error => "error",
        }
    }
}

/// What came of the critic's look at the whole change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WholeChangeReview {
    NothingWrong,
    Objection,
    /// It did not look at all of it, or gave no answer that can be read.
    NotAll,
}

/// Who says that a goal is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claimant {
    Worker,
    Critic,
}

/// What trying a success criterion found before anybody claimed that it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionTrial {
    Met,
    NotMet,
    /// On the same files it failed and then passed, which is neither.
    Flaky,
    /// Not met, and as it looks it could not even be tried: no such command, or the sandbox refused something.
    CannotRun,
}

/// What follows if the success criterion holds before anything was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Already {
    /// The goal ends: there is nothing to do.
    #[default]
    Stop,
    /// A person chooses.
    Ask,
    /// It is worked on all the same.
    Work,
}

/// Why the engine says something to the worker that nobody asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nudge {
    /// A turn in which nothing was done.
    OnlyTalk,
    /// The last change was never looked at.
    LookFirst,
    Stuck,
    Misled,
    /// It ended its turn without saying how it stands.
    GoOn,
    /// Its calls bring the same result again and again.
    Circle,
    /// Its calls cannot be read.
    Unreadable,
    /// Files were made or changed while it had drifted.
    Drift,
}
