//! What the engine asks the world to do, and what the world says back.
//!
//! An effect has any number of observations and exactly one reply. `Cancel` and `Tell` are addressed
//! to another effect and have no reply of their own.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::budget::{Reservation, Usage};
use crate::conflict::Conflicts;
use crate::digest::Digest;
use crate::goal::StepEnd;
use crate::isolation::{Guard, Layer};
use crate::pipeline::listing::{Survey, Surveyed};
use crate::plan::Target;
use crate::question::Question;
use crate::tool::{ToolCall, ToolDone, ToolUse};
use crate::tree::{Accept, CommitFiles, Examine, Examined, Look, Looked, Verified, Verify};
use crate::turn::{Part, Turn};

/// Where in the tree of a run something belongs: `loop`, `pipeline/strategist`.
/// Most are the root, which everything of a run names: it is not copied each time.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct NodePath(pub Cow<'static, str>);

const ROOT: &str = "run";

impl NodePath {
    pub const fn root() -> Self {
        Self(Cow::Borrowed(ROOT))
    }

    pub fn child(&self, name: &str) -> Self {
        Self(format!("{}/{name}", self.0).into())
    }

    fn of(path: &str) -> Self {
        if path == ROOT { Self::root() } else { Self(path.to_owned().into()) }
    }

    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self::of(parent))
    }

    /// True for the node itself and everything below it.
    pub fn contains(&self, other: &Self) -> bool {
        other == self || (other.0.starts_with(&*self.0) && other.0[self.0.len()..].starts_with('/'))
    }
}

impl fmt::Display for NodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Ids count per node, so that a replay assigns the same ones. Written `run#3`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct EffectId {
    pub node: NodePath,
    pub n: u32,
}

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.node, self.n)
    }
}

/// Why a string is not an effect id.
#[derive(Debug, thiserror::Error)]
#[error("not an effect id: expected `node#number`, as in `run#3`")]
pub struct NotAnEffectId;

impl FromStr for EffectId {
    type Err = NotAnEffectId;

    fn from_str(s: &str) -> Result<Self, NotAnEffectId> {
        let (node, n) = s.rsplit_once('#').ok_or(NotAnEffectId)?;
        Ok(Self { node: NodePath::of(node), n: n.parse().map_err(|_| NotAnEffectId)? })
    }
}

impl Serialize for EffectId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EffectId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What an effect may touch. After a crash it decides how an effect without a recorded reply is handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Changes nothing and costs nothing: repeated freely.
    Read,
    /// Costs money: repeated once lost, its reservation kept as spent.
    Paid,
    /// Answered by a person through the inbox: stays open across a crash.
    Person,
    /// Writes the user's files: the performer makes it idempotent.
    ChangesWorld,
    /// Something done for a model that is not just reading: once lost, what came of it is unknown, and whoever
    /// asked for it decides what follows.
    Acts,
}

/// A request. It is journalled before it is performed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Effect {
    pub id: EffectId,
    pub class: Class,
    /// Active milliseconds this effect may take; none for a person.
    pub time_ms: Option<u64>,
    pub reserve: Reservation,
    /// The lost or failed effect that this one repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<EffectId>,
    pub kind: EffectKind,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// Call an agent.
    Turn(Turn),
    /// Write a text to the user's file: the accepted draft, or the last unapproved one beside it.
    Save(Save),
    /// See what the run's folder holds.
    Look(Look),
    /// Find out what was done to tests in the run's folder.
    Examine(Examine),
    /// Run a command in the run's folder and see how it ends.
    Verify(Verify),
    /// Ask a person.
    Ask(Question),
    /// Bring the approved tree to the user.
    Accept(Accept),
    /// See what the user's project holds.
    Survey(Survey),
    /// Put files that were delivered on a branch.
    Commit(CommitFiles),
    /// Do what a model asked for, or see whether a goal is reached.
    Tool(ToolUse),
    /// Stop an open effect; its own reply then says `cancelled` (or the answer that came first).
    Cancel { target: EffectId },
    /// Say something to an agent at work.
    Tell { target: EffectId, text: String },
}

impl Observation {
    /// A step of which nobody will tell what came of it.
    pub fn step(line: impl Into<String>) -> Self {
        Self::Step { line: line.into(), call: None }
    }
}

impl EffectKind {
    /// `Cancel` and `Tell` are signals: nothing comes back for them.
    pub const fn has_reply(&self) -> bool {
        !matches!(self, Self::Cancel { .. } | Self::Tell { .. })
    }

    pub const fn name(&self) -> &'static str {
        match self {
            Self::Turn(_) => "turn",
            Self::Save(_) => "save",
            Self::Look(_) => "look",
            Self::Examine(_) => "examine",
            Self::Verify(_) => "verify",
            Self::Ask(_) => "ask",
            Self::Accept(_) => "accept",
            Self::Survey(_) => "survey",
            Self::Commit(_) => "commit",
            Self::Tool(_) => "tool",
            Self::Cancel { .. } => "cancel",
            Self::Tell { .. } => "tell",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Save {
    pub target: Target,
    pub content: Digest,
    /// Approved content replaces the target; unapproved content goes to `FILE.unapproved`.
    pub approved: bool,
}

/// Something an effect reported while it was under way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observation {
    /// A step of an agent that works in steps: a tool call, in one line. `call` is the agent's name for it, by which it
    /// tells later what came of it; without one nothing is told.
    Step {
        line: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<String>,
    },
    /// What came of a step, by the agent's own word: how it ended, and what it gave or printed, as much as is kept.
    StepEnded { call: String, end: StepEnd, said: String },
    /// Something worth a line that is no step of the agent: what it was set to, how oddly it ended.
    Note { line: String },
    /// Usage so far, cumulative for this effect.
    Usage { usage: Usage },
    /// A failed attempt that will be tried again by the agent layer.
    Retrying { attempt: u32, kind: FailureKind, message: String },
    /// What stands between this call and what it may not do: said before the call begins, and once more for a
    /// guard that only the agent itself can put up.
    Guarded { guards: Vec<Guard> },
    /// A guard stopped something; in one line, what.
    Stopped { layer: Layer, what: String },
    /// The most that the processes of this call used at once, as far as it was seen.
    Used { memory_bytes: u64, processes: u64 },
    /// The agent's name for the conversation it has begun: a call that is broken off can be gone on with.
    Session { session: String },
}

/// The one reply of an effect.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Done(Answer),
    Failed(CallFailure),
    /// Stopped before it finished. `sent` is false if it never left this machine.
    Cancelled {
        sent: bool,
    },
    /// The provider's quota is used up until the given wall time.
    DeniedQuota {
        until_ms: Option<u64>,
        message: String,
        /// What was spent before: an agent may work for long until its quota ends.
        #[serde(default)]
        usage: Usage,
    },
    /// A save found the target changed since the run began.
    Conflict {
        message: String,
    },
    /// A save is on disk at this path.
    Saved {
        path: String,
    },
    Looked(Looked),
    Examined(Examined),
    Verified(Verified),
    /// A tree is with the user: the paths that changed there, or the commit and its branch.
    Accepted {
        paths: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<Committed>,
        /// Files that are git's merge of both sides: nobody judged these bytes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        merged: Vec<String>,
        /// Files of which the user's version stayed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<String>,
    },
    /// An acceptance found files that changed on both sides, and wrote nothing: a person has to decide.
    Conflicts(Conflicts),
    Surveyed(Surveyed),
    Tool(ToolDone),
}

/// A commit made on request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Committed {
    pub id: String,
    pub branch: String,
}

/// What an agent said.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Answer {
    pub parts: Vec<Part>,
    pub stop: StopReason,
    pub usage: Usage,
    /// The model that answered, where the provider says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How long the call took, in milliseconds.
    pub took_ms: u64,
    /// The file the turn asked for, if the agent wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Digest>,
    /// What a critic changed although it may only read; it was undone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<String>,
    /// The agent's name for the conversation, by which a later call can go on with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl Answer {
    /// The tools it wants to be used.
    pub fn calls(&self) -> Vec<ToolCall> {
        let calls = self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call.clone()),
            _ => None,
        });
        calls.collect()
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    /// The model wants tools to be used before it goes on.
    ToolUse,
    /// The reply was cut at its length limit.
    Length,
    /// The model or the provider's filter declined.
    Refusal,
    Other(String),
}

/// Why a call failed for good, divided by what the caller can do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallFailure {
    pub kind: FailureKind,
    pub message: String,
    /// What was spent all the same, where known.
    #[serde(default)]
    pub usage: Usage,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    RateLimited,
    Unauthorised,
    TooLong,
    Refused,
    Unavailable,
    BadReply,
    /// The connection broke after the first of the reply had come.
    BrokenOff,
    Timeout,
    /// It made as many steps as one call may have.
    StepsUsedUp,
    /// A process agent ended with a non-zero exit or a signal.
    Crashed,
    /// The agent cannot be reached as configured: command not found, key missing.
    Misconfigured,
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RateLimited => "rate limited",
            Self::Unauthorised => "unauthorised",
            Self::TooLong => "brief too long",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
            Self::BadReply => "bad reply",
            Self::BrokenOff => "broken off",
            Self::Timeout => "timeout",
            Self::StepsUsedUp => "steps used up",
            Self::Crashed => "crashed",
            Self::Misconfigured => "misconfigured",
        })
    }
}

impl fmt::Display for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}
