//! A loop inside another program: its own agents, its own store, a few lines.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use gadfly_agents::{Agent, Call, CallError, CallReply, Link};
use gadfly_engine::protocol::revise;
use gadfly_engine::{AgentCard, Limits, Outcome, Price, StopReason, Text, Usage};
use gadfly_project::{Config, Root};
use tokio::sync::watch;

use crate::agent_set::AgentSet;
use crate::driver::{Ended, Stop};
use crate::prepare::assemble;
use crate::service::{DriveOptions, Gadfly, GadflyError, ResumeError};

/// One `revise` loop with agents of the program's own.
pub struct Loop {
    task: String,
    rubric: Vec<String>,
    rounds: u32,
    worker: Arc<dyn Agent>,
    critic: Arc<dyn Agent>,
    limits: Limits,
}

#[derive(Debug, thiserror::Error)]
pub enum LoopError {
    #[error(transparent)]
    Open(#[from] GadflyError),
    #[error("{0}")]
    Plan(String),
    #[error(transparent)]
    Run(#[from] ResumeError),
    #[error("the run was interrupted")]
    Interrupted,
}

/// How an embedded loop ended, with the draft's text.
#[derive(Clone, PartialEq, Debug)]
pub struct LoopResult {
    pub run: gadfly_journal::RunId,
    pub outcome: Outcome,
    pub draft: Option<String>,
}

impl Loop {
    pub fn new(task: impl Into<String>, worker: impl Agent + 'static, critic: impl Agent + 'static) -> Self {
        Self {
            task: task.into(),
            rubric: Vec::new(),
            rounds: revise::ROUNDS,
            worker: Arc::new(worker),
            critic: Arc::new(critic),
            limits: gadfly_project::config::loop_default(),
        }
    }

    /// Adds a criterion; at least one is needed.
    pub fn criterion(mut self, item: impl Into<String>) -> Self {
        self.rubric.push(item.into());
        self
    }

    pub const fn rounds(mut self, rounds: u32) -> Self {
        self.rounds = rounds;
        self
    }

    /// Runs it in the store at `dir`, journalled like any other run.
    pub async fn run(self, dir: &Path) -> Result<LoopResult, LoopError> {
        let (config, _) = Config::from_layers([]);
        let gadfly = Gadfly::open(Root::at(dir), config, dir)?;
        let mut agent_set = AgentSet::default();
        agent_set.add("worker", own_card(), Some(self.worker));
        agent_set.add("critic", own_card(), Some(self.critic));
        let task = Text::new(self.task);
        let settings = revise::ReviseSettings {
            task: task.digest(),
            phase: "general".into(),
            rubric: self.rubric,
            references: Vec::new(),
            draft: None,
            worker: Some("worker".into()),
            critic: "critic".into(),
            fallback_critic: None,
            rounds: self.rounds,
            overrule: true,
            out: None,
            project: revise::ProjectPhase::default(),
        };
        let title = gadfly_project::title::title(task.as_str());
        let prepared =
            assemble(settings, title, agent_set, Limits::default(), self.limits, vec![task], Vec::new())
                .map_err(|p| LoopError::Plan(p.message))?;
        let run = prepared.run.clone();
        let (_quiet, stop) = watch::channel(Stop::No);
        let ended = gadfly.start(prepared, DriveOptions { attended: false, stop, updates: None }).await?;
        let Ended::Outcome(outcome) = ended else { return Err(LoopError::Interrupted) };
        let draft = gadfly.journal().summary(&run).ok().and_then(|s| s.last_draft);
        let draft = draft.and_then(|d| gadfly.journal().text(&d).ok().flatten()).map(|t| t.to_string());
        Ok(LoopResult { run, outcome, draft })
    }
}

/// The card of an agent that lives in this program.
pub fn own_card() -> AgentCard {
    AgentCard {
        named_by: gadfly_engine::plan::NamedBy::User,
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

/// An agent made of a function from the brief to a reply.
pub struct AgentFn<F>(pub F);

impl<F, Fut> Agent for AgentFn<F>
where
    F: Fn(String) -> Fut + Send + Sync,
    Fut: Future<Output = Result<String, CallError>> + Send,
{
    /// What a function uses is its caller's business.
    fn states_usage(&self) -> bool {
        false
    }

    fn call(&self, call: Call, link: Link) -> BoxFuture<'_, Result<CallReply, CallError>> {
        Box::pin(async move {
            let brief = call.messages.iter().map(|m| m.text.as_str()).collect::<Vec<_>>().join("\n\n");
            let answer = (self.0)(brief);
            let text = tokio::select! {
                text = answer => text?,
                () = link.cancel.cancelled() => return Err(CallError::Cancelled { sent: true }),
            };
            Ok(CallReply {
                text,
                stop: StopReason::EndTurn,
                usage: Usage::default(),
                model: None,
                session: None,
                calls: Vec::new(),
            })
        })
    }
}
