//! The one interface of every kind of agent: a call in, one answer out, observations on the way.
//! What a call means and what its answer leads to is the engine's business.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use gadfly_engine::{CallFailure, FailureKind, Observation, Permission, Role, Speaker, StopReason, Usage};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A message, rendered.
#[derive(Clone, Debug)]
pub struct Spoken {
    pub from: Speaker,
    pub text: String,
}

/// A turn, rendered.
#[derive(Clone, Debug)]
pub struct Call {
    /// The effect this call belongs to, `run#3`.
    pub effect: String,
    pub role: Role,
    pub permission: Permission,
    /// Goes before the agent's own system text.
    pub system: Option<String>,
    pub messages: Vec<Spoken>,
    /// How many of this agent's calls were answered before in this run.
    pub nth: u32,
    pub max_output_tokens: u64,
    /// Active time left for this call; the agent's own limit may be shorter.
    pub time: Option<Duration>,
    /// The folder a process agent works in.
    pub workdir: Option<PathBuf>,
    /// A file whose lock every process of this call holds until all it started is gone.
    pub lock: Option<PathBuf>,
    /// A JSON Schema the answer should follow. Kinds that cannot be held to one leave it alone.
    pub schema: Option<Arc<str>>,
}

/// What an agent hears and tells while a call is under way.
pub struct Link {
    /// Recorded observations. Bounded: a slow reader slows the agent.
    pub observe: mpsc::Sender<Observation>,
    /// Text as it comes, unrecorded.
    pub progress: Progress,
    pub cancel: CancellationToken,
    /// What the engine says to an agent at work. Kinds that answer in one go ignore it.
    pub told: mpsc::Receiver<String>,
    /// Changes files in the call's folder for an agent that has no process to do it: agents touch no files.
    pub edit: Editing,
}

/// A change to one file, by its path below the call's folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Edit {
    Write { path: String, content: String },
    Delete { path: String },
}

/// Who carries out edits; nobody where a call has no folder.
#[derive(Clone, Default)]
pub struct Editing(Option<Arc<CarryOut>>);

type CarryOut = dyn Fn(Vec<Edit>) -> BoxFuture<'static, Result<(), String>> + Send + Sync;

impl Editing {
    pub const fn none() -> Self {
        Self(None)
    }

    pub fn by(
        carry_out: impl Fn(Vec<Edit>) -> BoxFuture<'static, Result<(), String>> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(carry_out)))
    }

    /// All of them in order, or the sentence that says why one could not be made.
    pub async fn apply(&self, edits: Vec<Edit>) -> Result<(), String> {
        match &self.0 {
            _ if edits.is_empty() => Ok(()),
            Some(carry_out) => carry_out(edits).await,
            None => Err("this call has no folder whose files could be changed".to_owned()),
        }
    }
}

impl fmt::Debug for Editing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Editing" } else { "Editing(nobody)" })
    }
}

/// A lossy listener for text as it comes; cheap when nobody listens.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<Listen>>);

type Listen = dyn Fn(&str) + Send + Sync;

impl Progress {
    pub const fn none() -> Self {
        Self(None)
    }

    /// `listen` runs on the agent's task: it must neither block nor take long.
    pub fn to(listen: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listen)))
    }

    /// Whether anybody listens: text need not be made ready for nobody.
    pub const fn is_heard(&self) -> bool {
        self.0.is_some()
    }

    pub fn say(&self, text: &str) {
        if let Some(listen) = &self.0 {
            listen(text);
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Progress(heard)" } else { "Progress(unheard)" })
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answered {
    pub text: String,
    pub stop: StopReason,
    pub usage: Usage,
    /// The model that answered, where the provider says so.
    pub model: Option<String>,
}

/// Why there is no answer, divided by what follows from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unanswered {
    Failed(CallFailure),
    /// `sent` is false if the brief never left this machine.
    Cancelled {
        sent: bool,
    },
    /// The provider takes no calls until the given wall time, in milliseconds since 1970.
    Quota {
        until_ms: Option<u64>,
        message: String,
    },
}

impl Unanswered {
    pub fn failed(kind: FailureKind, message: impl Into<String>) -> Self {
        Self::Failed(CallFailure { kind, message: message.into(), usage: Usage::default() })
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failure) => failure.fmt(f),
            Self::Cancelled { sent: true } => f.write_str("cancelled after the brief was sent"),
            Self::Cancelled { sent: false } => f.write_str("cancelled before the brief was sent"),
            Self::Quota { message, .. } => write!(f, "quota used up: {message}"),
        }
    }
}

/// Anything that answers a brief.
pub trait Agent: Send + Sync {
    /// Answers one call. Dropping the future stops the call as cancelling does.
    fn call(&self, call: Call, link: Link) -> BoxFuture<'_, Result<Answered, Unanswered>>;

    /// Whether calls of this agent need a folder to work in.
    fn works_in_a_folder(&self) -> bool {
        false
    }
}

/// The most text a reply may have, of whatever kind the agent is.
pub const MAX_REPLY: usize = 8 * 1024 * 1024;

/// The smaller of two limits, each of which may be missing.
pub(crate) fn shorter(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, None) | (None, one) => one,
    }
}
