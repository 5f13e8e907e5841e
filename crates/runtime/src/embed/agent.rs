//! Agents of the embedding program: a function from a turn to a reply, an implementation of `Agent`, or a person.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use gadfly_agents::agent::Progress;
use gadfly_agents::{Agent, Call, CallError, CallReply, Files, Link, Spoken, Unheld};
use gadfly_engine::tool::policy::OwnTools;
use gadfly_engine::{AgentCard, Guard, Limits, Price, Role, StopReason, Usage, plan};
use tokio_util::sync::CancellationToken;

/// One turn of an agent that lives in this program: what it is asked, and what it may use while it works.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AgentTurn {
    /// Who the agent is in this turn.
    pub role: Role,
    /// The round of the run, from 1, where rounds are counted.
    pub round: Option<u32>,
    /// How many turns of this agent in this role were answered before.
    pub nth: u32,
    /// All that was said, joined. A worker's says what to write and, in a revision, what to fix.
    pub brief: String,
    /// The same, message by message.
    pub messages: Vec<Spoken>,
    /// A JSON Schema the reply should follow, if there is one.
    pub schema: Option<Arc<str>>,
    /// The most tokens the reply may have.
    pub max_output_tokens: u64,
    /// Active time left for this turn.
    pub time: Option<Duration>,
    /// The folder of the run, for an agent that works in one.
    pub folder: Option<PathBuf>,
    /// The files of that folder; edits through it are bounded to the folder.
    pub files: Files,
    /// Text as it comes, for who watches; it is not recorded.
    pub progress: Progress,
    /// Cancelled when nobody needs the reply any more. The function is dropped then; work it started elsewhere
    /// should listen.
    pub cancel: CancellationToken,
}

impl AgentTurn {
    pub(super) fn of(call: Call, link: &Link) -> Self {
        let brief = call.messages.iter().map(|m| m.text.as_str()).collect::<Vec<_>>().join("\n\n");
        Self {
            role: call.role,
            round: call.round,
            nth: call.nth,
            brief,
            messages: call.messages,
            schema: call.schema,
            max_output_tokens: call.max_output_tokens,
            time: call.time,
            folder: call.workdir,
            files: link.files.clone(),
            progress: link.progress.clone(),
            cancel: link.cancel.clone(),
        }
    }
}

/// An agent made of an async function from a turn to a reply.
///
/// ```
/// use gadfly_runtime::prelude::*;
///
/// let worker = AgentFn::new(|turn| async move { Ok(format!("Round {:?}: {}", turn.round, turn.brief.len())) });
/// # let _: OwnAgent = worker.into();
/// ```
pub struct AgentFn<F>(pub F);

impl<F, Fut> AgentFn<F>
where
    F: Fn(AgentTurn) -> Fut + Send + Sync,
    Fut: Future<Output = Result<String, CallError>> + Send,
{
    /// An agent that replies what `f` gives.
    pub const fn new(f: F) -> Self {
        Self(f)
    }

    /// An agent that is called in the run's folder: [`AgentTurn::folder`] and [`AgentTurn::files`] are set.
    pub fn in_folder(self) -> FolderAgentFn<F> {
        FolderAgentFn(self.0)
    }
}

/// As [`AgentFn`], for work on files.
pub struct FolderAgentFn<F>(F);

impl<F, Fut> Agent for AgentFn<F>
where
    F: Fn(AgentTurn) -> Fut + Send + Sync,
    Fut: Future<Output = Result<String, CallError>> + Send,
{
    /// What a function uses is its caller's business.
    fn states_usage(&self) -> bool {
        false
    }

    fn call(&self, call: Call, link: Link) -> BoxFuture<'_, Result<CallReply, CallError>> {
        Box::pin(async move {
            let answer = (self.0)(AgentTurn::of(call, &link));
            until_cancelled(answer, &link.cancel).await.map(plain_reply)
        })
    }
}

impl<F, Fut> Agent for FolderAgentFn<F>
where
    F: Fn(AgentTurn) -> Fut + Send + Sync,
    Fut: Future<Output = Result<String, CallError>> + Send,
{
    /// What a function uses is its caller's business.
    fn states_usage(&self) -> bool {
        false
    }

    fn call(&self, call: Call, link: Link) -> BoxFuture<'_, Result<CallReply, CallError>> {
        Box::pin(async move {
            let answer = (self.0)(AgentTurn::of(call, &link));
            until_cancelled(answer, &link.cancel).await.map(plain_reply)
        })
    }

    fn works_in_a_folder(&self) -> bool {
        true
    }

    /// It is code of the program that set the policy: nothing holds it but that program.
    fn keeps_from(&self, _: &OwnTools, _: bool) -> Result<Vec<Guard>, Unheld> {
        Ok(Vec::new())
    }
}

pub(super) async fn until_cancelled<T>(
    answer: impl Future<Output = Result<T, CallError>>,
    cancel: &CancellationToken,
) -> Result<T, CallError> {
    tokio::select! {
        answer = answer => answer,
        () = cancel.cancelled() => Err(CallError::Cancelled { sent: true }),
    }
}

pub(super) fn plain_reply(text: String) -> CallReply {
    CallReply {
        text,
        stop: StopReason::EndTurn,
        usage: Usage::default(),
        model: None,
        session: None,
        calls: Vec::new(),
    }
}

/// An agent of the program, with the card the engine knows it by. Everything that implements
/// [`Agent`] becomes one, and counts as free; so does a [`CriticFn`](super::CriticFn).
#[derive(Clone)]
pub struct OwnAgent {
    pub(super) card: AgentCard,
    pub(super) agent: Option<Arc<dyn Agent>>,
}

impl OwnAgent {
    /// An agent that is shared with other runs.
    pub fn shared(agent: Arc<dyn Agent>) -> Self {
        let card = AgentCard { tools: agent.is_offered_tools(), ..own_card() };
        Self { card, agent: Some(agent) }
    }

    /// A person, whose replies come through [`Gadfly::answer`](crate::Gadfly::answer). Until one does, the run is parked
    /// as waiting.
    pub fn person() -> Self {
        Self { card: AgentCard { kind: plan::PERSON.to_owned(), person: true, ..own_card() }, agent: None }
    }

    /// The model behind it, as records name it.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.card.model = Some(model.into());
        self
    }

    /// What its tokens cost: caps in money count them.
    pub fn price(mut self, price: Price) -> Self {
        self.card.price = Some(price);
        self
    }

    /// Tokens one call can take, brief and reply together: what is longer is judged in parts.
    pub const fn window(mut self, tokens: u64) -> Self {
        self.card.window = Some(tokens);
        self
    }

    /// Caps of this agent alone.
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.card.limits = limits;
        self
    }
}

impl<A: Agent + 'static> From<A> for OwnAgent {
    fn from(agent: A) -> Self {
        Self::shared(Arc::new(agent))
    }
}

/// The card of an agent that lives in this program.
pub fn own_card() -> AgentCard {
    AgentCard {
        named_by: plan::NamedBy::User,
        kind: "embedded".into(),
        model: None,
        sends_to: "this machine".into(),
        price: Some(Price { as_of: "free".into(), ..Price::default() }),
        person: false,
        max_output_tokens: 8_192,
        timeout_ms: 600_000,
        limits: Limits::default(),
        window: None,
        per_call: Limits::default(),
        continues: false,
        tools: false,
        withheld: Vec::new(),
        structured: false,
        reached_as: None,
    }
}
