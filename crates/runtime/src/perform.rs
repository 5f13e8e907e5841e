//! Performs one effect: an agent's turn or a save. It journals nothing and decides nothing, so that
//! another host can drive the same performers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gadfly_agents::agent::Progress;
use gadfly_agents::{Agent, Answered, Call, Link, Spoken, Unanswered};
use gadfly_engine::{
    Answer, CallFailure, Effect, EffectId, FailureKind, Observation, Part, Reply, Text, Texts, Turn, Usage,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What comes back from an effect at work.
#[derive(Debug)]
pub enum Incoming {
    Observed { effect: EffectId, observation: Observation },
    Replied { effect: EffectId, reply: Reply, texts: Vec<Text> },
}

/// Observations an agent may be ahead of the journal.
const AHEAD: usize = 16;
/// How long after its limit a call is given to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// A turn, ready to be performed on a task of its own.
pub struct TurnTask {
    pub effect: EffectId,
    pub agent: Arc<dyn Agent>,
    pub call: Call,
    pub cancel: CancellationToken,
    pub told: mpsc::Receiver<String>,
    pub progress: Progress,
    pub incoming: mpsc::Sender<Incoming>,
}

/// The call as the agent gets it.
pub fn call(effect: &Effect, turn: &Turn, texts: &Texts, workdir: Option<PathBuf>) -> Call {
    Call {
        effect: effect.id.to_string(),
        role: turn.role,
        permission: turn.permission,
        system: None,
        messages: turn.messages.iter().map(|m| Spoken { from: m.from, text: m.render(texts) }).collect(),
        nth: turn.nth,
        max_output_tokens: turn.max_output_tokens,
        time: effect.time_ms.map(Duration::from_millis),
        workdir,
    }
}

impl TurnTask {
    /// Calls the agent and sends observations and the one reply. The run may be gone meanwhile; then
    /// nobody listens and nothing is lost that a resume would not repeat.
    pub async fn run(self) {
        let Self { effect, agent, call, cancel, told, progress, incoming } = self;
        let began = Instant::now();
        let limit = call.time.map(|t| t + GRACE);
        let workdir = call.workdir.clone();
        let (observe, mut observed) = mpsc::channel(AHEAD);
        let link = Link { observe, progress, cancel: cancel.clone(), told };
        let mut asking = agent.call(call, link);
        let mut overtime = std::pin::pin!(async move {
            match limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        });
        let result = loop {
            tokio::select! {
                biased;
                Some(observation) = observed.recv() => {
                    let _ = incoming.send(Incoming::Observed { effect: effect.clone(), observation }).await;
                }
                result = &mut asking => break result,
                () = &mut overtime => {
                    break Err(Unanswered::failed(FailureKind::Timeout, "the call did not end within its time"));
                }
            }
        };
        drop(asking);
        while let Ok(observation) = observed.try_recv() {
            let _ = incoming.send(Incoming::Observed { effect: effect.clone(), observation }).await;
        }
        if let Some(dir) = workdir {
            let _ = tokio::task::spawn_blocking(move || crate::os::remove_tree(&dir)).await;
        }
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (reply, texts) = reply(result, took_ms);
        let _ = incoming.send(Incoming::Replied { effect, reply, texts }).await;
    }
}

fn reply(result: Result<Answered, Unanswered>, took_ms: u64) -> (Reply, Vec<Text>) {
    match result {
        Ok(Answered { text, stop, usage, model }) => {
            let text = Text::new(text);
            let answer = Answer { parts: vec![Part::Blob(text.digest())], stop, usage, model, took_ms, report: None, violations: Vec::new() };
            (Reply::Done(answer), vec![text])
        }
        Err(Unanswered::Failed(failure)) => (Reply::Failed(failure), Vec::new()),
        Err(Unanswered::Cancelled { sent }) => (Reply::Cancelled { sent }, Vec::new()),
        Err(Unanswered::Quota { until_ms, message }) => {
            (Reply::DeniedQuota { until_ms, message }, Vec::new())
        }
    }
}

/// An effect nobody here can perform.
pub fn impossible(message: String) -> Reply {
    Reply::Failed(CallFailure { kind: FailureKind::Misconfigured, message, usage: Usage::default() })
}
