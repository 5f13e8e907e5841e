//! The one interface of every kind of agent: a call in, one answer out, observations on the way.
//! What a call means and what its answer leads to is the engine's business.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use gadfly_engine::tool::policy::OwnTools;
use gadfly_engine::{
    CallFailure, FailureKind, Guard, Observation, Permission, Role, Speaker, StopReason, Usage,
};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::SendError;
use tokio_util::sync::CancellationToken;

use crate::launcher::Sandbox;
use crate::own::{Unheld, by_sandbox};

/// A message, rendered.
#[derive(Clone, Debug)]
pub struct Spoken {
    pub from: Speaker,
    pub text: String,
    /// What an assistant wanted to be done; its text goes before them.
    pub calls: Vec<RawToolCall>,
    /// What a model is told of what it wanted; they go before the text.
    pub results: Vec<RawToolResult>,
    pub images: Vec<Picture>,
}

impl Spoken {
    pub fn new(from: Speaker, text: impl Into<String>) -> Self {
        Self { from, text: text.into(), calls: Vec::new(), results: Vec::new(), images: Vec::new() }
    }
}

/// A model's call of a tool, as the model wrote it: nothing has been read yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawToolCall {
    pub id: String,
    pub name: String,
    /// JSON, or what the model wrote in place of it.
    pub args: String,
}

/// The result of a tool, for the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawToolResult {
    /// The id of the call.
    pub call: String,
    pub text: String,
    pub ok: bool,
}

/// A picture for a model that can see.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// `image/png`.
    pub media: String,
    pub base64: Arc<str>,
}

/// What a critic judges, as values: for a critic that is a function of the embedding program and reads no brief.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CriticCase {
    pub task: Option<Arc<str>>,
    /// The rubric or the criteria, as a critic is shown them.
    pub rubric: Arc<str>,
    pub references: Vec<CaseText>,
    /// Deterministic evidence: verify output, the engine's own checks.
    pub evidence: Vec<CaseText>,
    /// What is judged, in order: a draft, or files; changed files as their part of the diff.
    pub work: Vec<CaseText>,
    /// The draft of the round before, which was rejected.
    pub previous: Option<Arc<str>>,
    /// What was held against it.
    pub open: Vec<String>,
    /// What this critic looks at in particular.
    pub lens: Option<String>,
    /// The points out of 100 that pass, where points are asked for.
    pub passes_at: Option<u32>,
}

/// A text with its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaseText {
    pub name: String,
    pub text: Arc<str>,
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
    /// How many bytes of the first message's text the next call of this role begins with as well: what a provider
    /// can keep for it. 0: nothing is known.
    pub stable: usize,
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
    /// An empty folder for this call alone, outside of what is judged; it is gone afterwards.
    pub tmp: Option<PathBuf>,
    /// An earlier conversation of this worker to go on with, as an answer of its named it.
    pub session: Option<String>,
    /// The tools a model is offered: a JSON array of `{name, description, schema}`. Kinds with tools of their
    /// own leave it alone.
    pub tools: Option<Arc<str>>,
    /// What processes of this call may touch; the agent adds what its own program needs. None: no sandbox.
    pub sandbox: Option<Sandbox>,
    /// What a goal's policy keeps from a worker with tools of its own.
    pub own: Option<OwnTools>,
    /// The round of the run this call belongs to, where rounds are counted.
    pub round: Option<u32>,
    /// What a typed critic judges; none for everybody else, who reads the brief.
    pub case: Option<Arc<CriticCase>>,
}

impl Call {
    /// A call with a brief and nothing else. What it may do follows from the role.
    pub fn new(effect: impl Into<String>, role: Role, messages: Vec<Spoken>) -> Self {
        Self {
            effect: effect.into(),
            role,
            permission: role.permission(),
            system: None,
            messages,
            stable: 0,
            nth: 0,
            max_output_tokens: u64::MAX,
            time: None,
            workdir: None,
            lock: None,
            schema: None,
            tmp: None,
            session: None,
            tools: None,
            sandbox: None,
            own: None,
            round: None,
            case: None,
        }
    }

    /// What it may do to its folder: what its role says, or less if its goal's policy says so.
    pub fn reach(&self) -> Permission {
        let reads = self.own.as_ref().is_some_and(OwnTools::reads_only);
        if reads { Permission::ReadOnly } else { self.permission }
    }
}

/// Where an agent tells what it observes. Each is boxed: a queue has room for many from the start, thousands of calls wait at
/// once, and most of them observe nothing.
#[derive(Clone)]
pub struct Observer(mpsc::Sender<Box<Observation>>);

/// Where that is heard.
pub struct Observed(mpsc::Receiver<Box<Observation>>);

/// A way for observations, with room for so many.
pub fn observing(room: usize) -> (Observer, Observed) {
    let (tell, told) = mpsc::channel(room);
    (Observer(tell), Observed(told))
}

impl Observer {
    /// Waits while there is no room.
    ///
    /// # Errors
    /// Nobody listens any more.
    pub async fn send(&self, observation: Observation) -> Result<(), SendError<Box<Observation>>> {
        self.0.send(Box::new(observation)).await
    }

    /// Waits until there is room for one, or nobody listens.
    pub(crate) async fn room(&self) {
        let _ = self.0.reserve().await;
    }
}

impl Observed {
    /// The next one; none once nobody can tell any.
    pub async fn recv(&mut self) -> Option<Observation> {
        self.0.recv().await.map(|observation| *observation)
    }

    /// The next one, if it is there.
    pub fn try_recv(&mut self) -> Option<Observation> {
        self.0.try_recv().ok().map(|observation| *observation)
    }
}

/// What an agent hears and tells while a call is under way.
pub struct Link {
    /// Recorded observations. Bounded: a slow reader slows the agent.
    pub observe: Observer,
    /// Text as it comes, unrecorded.
    pub progress: Progress,
    pub cancel: CancellationToken,
    /// What the engine says to an agent at work. None for kinds that answer in one go.
    pub told: Option<mpsc::Receiver<String>>,
    /// The files of the call's folder, for agents that ask us to read or change them: agents touch no files.
    pub files: Files,
    /// The files of `Call::tmp`.
    pub tmp: Files,
}

/// A change to one file, by its path below the call's folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Edit {
    Write { path: String, content: String },
    Delete { path: String },
}

/// The files of one folder, for the agent that may touch them; none where a call has no folder. Paths
/// are below the folder, with `/`; nothing outside it is reached, not through links either.
#[derive(Clone, Default)]
pub struct Files(Option<Arc<dyn FolderFiles>>);

/// What the runtime does for [`Files`].
pub trait FolderFiles: Send + Sync {
    /// All edits in order, or the sentence that says why one could not be made.
    fn apply(&self, edits: Vec<Edit>) -> BoxFuture<'static, Result<(), String>>;

    /// A file's text, or the sentence that says why there is none. Bounded by [`MAX_REPLY`].
    fn read(&self, path: String) -> BoxFuture<'static, Result<String, String>>;
}

const NO_FOLDER: &str = "this call has no folder whose files could be read or changed";

impl Files {
    pub const fn none() -> Self {
        Self(None)
    }

    pub fn of(folder: Arc<dyn FolderFiles>) -> Self {
        Self(Some(folder))
    }

    pub async fn apply(&self, edits: Vec<Edit>) -> Result<(), String> {
        match &self.0 {
            _ if edits.is_empty() => Ok(()),
            Some(folder) => folder.apply(edits).await,
            None => Err(NO_FOLDER.to_owned()),
        }
    }

    pub async fn read(&self, path: impl Into<String>) -> Result<String, String> {
        match &self.0 {
            Some(folder) => folder.read(path.into()).await,
            None => Err(NO_FOLDER.to_owned()),
        }
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Files" } else { "Files(nobody)" })
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
pub struct CallReply {
    pub text: String,
    pub stop: StopReason,
    pub usage: Usage,
    /// The model that answered, where the provider says so.
    pub model: Option<String>,
    /// The agent's name for this conversation, if a later call could go on with it.
    pub session: Option<String>,
    /// The tools it wants to be used before it goes on.
    pub calls: Vec<RawToolCall>,
}

/// Why there is no answer, divided by what follows from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CallError {
    Failed(CallFailure),
    /// `sent` is false if the brief never left this machine.
    Cancelled {
        sent: bool,
    },
    /// The provider takes no calls until the given wall time, in milliseconds since 1970.
    Quota {
        until_ms: Option<u64>,
        message: String,
        /// What was spent before it said so.
        usage: Usage,
    },
}

impl CallError {
    pub fn failed(kind: FailureKind, message: impl Into<String>) -> Self {
        Self::Failed(CallFailure { kind, message: message.into(), usage: Usage::default() })
    }
}

impl fmt::Display for CallError {
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
    fn call(&self, call: Call, link: Link) -> BoxFuture<'_, Result<CallReply, CallError>>;

    /// Whether calls of this agent need a folder to work in.
    fn works_in_a_folder(&self) -> bool {
        false
    }

    /// What of its own keeps a call with this permission from what it may not do: a mode set by flags, refusals
    /// of a protocol, a sandbox around its tools. `sandboxed` says that [`Call::sandbox`] will be set.
    fn guards(&self, _permission: Permission, _sandboxed: bool) -> Vec<Guard> {
        Vec::new()
    }

    /// Holds a worker's call to a goal's policy: what of its own does so, or why it cannot be held to it. Asked before
    /// anything is paid, and again before each call.
    fn keeps_from(&self, own: &OwnTools, sandboxed: bool) -> Result<Vec<Guard>, Unheld> {
        by_sandbox(own, sandboxed)
    }

    /// Whether its model can have it run commands, under this policy, that reach what its program reaches of the network.
    /// Whoever does not know says yes.
    fn has_networked_commands(&self, _own: &OwnTools, _sandboxed: bool) -> bool {
        true
    }

    /// Whether its answers state what they used: of one that does not, what is missing is estimated. False for those that
    /// cost nothing and count nothing.
    fn states_usage(&self) -> bool {
        true
    }

    /// Whether it is offered tools that we use for it, and asks for them in [`CallReply::calls`].
    fn is_offered_tools(&self) -> bool {
        false
    }

    /// Whether processes of this agent can be held in a sandbox of ours. False for agents without processes
    /// and for those whose configuration says so.
    fn can_be_sandboxed(&self) -> bool {
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
