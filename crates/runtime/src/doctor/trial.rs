//! One tiny call to an agent, made the way a run would make it, and what came of it. It costs what a call of a
//! few words costs; whoever asks for it has agreed to that.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gadfly_agents::agent::Progress;
use gadfly_agents::{Agent, Call, Spoken};
use gadfly_engine::isolation::NOT_HELD;
use gadfly_engine::{Answer, EffectId, Money, NodePath, Observation, Reply, Role, Speaker, StopReason, Text};
use gadfly_project::{AgentKind, Config, Problem, Sourced};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::agent_set::AgentHandle;
use crate::agents::AgentResolver;
use crate::call_site::CallSite;
use crate::os::remove_tree;
use crate::perform::{Back, Incoming, TurnTask};
use crate::setup::Setup;

/// Enough for a program that looks around first.
const TIME: Duration = Duration::from_secs(90);
/// Enough for a model that thinks before it answers.
const TOKENS: u64 = 2_000;
const DOLLARS: f64 = 0.25;
const STEPS: u64 = 5;
const MOST_NOTES: usize = 6;
const PROMPT: &str = "This is a test of the connection. There is nothing to do and nothing to look at: use no tools. \
    Answer with exactly this JSON object and nothing else: {\"verdict\": \"ok\"}";
const SCHEMA: &str = r#"{"type":"object","properties":{"verdict":{"type":"string","enum":["ok"]}},"required":["verdict"],"additionalProperties":false}"#;

/// What a trial of one agent showed.
#[derive(Clone, Debug, Serialize)]
pub struct TrialReport {
    pub agent: String,
    pub ended: TrialResult,
    pub took_ms: u64,
    pub tokens: u64,
    /// In dollars; none if nobody knows the price.
    pub cost: Option<f64>,
    pub model: Option<String>,
    /// What kept it from what a critic may not do; empty for agents that reach no files.
    pub guards: Vec<String>,
    /// Other things the call said of itself.
    pub notes: Vec<String>,
    /// Whether its answer kept to a schema, as the report of a critic should.
    pub structured: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "is", content = "because")]
pub enum TrialResult {
    Answered,
    /// With what to do about it.
    Failed(String),
    NotTried(String),
}

impl TrialReport {
    pub fn not_tried(agent: &str, why: &str) -> Self {
        Self::new(agent, TrialResult::NotTried(why.to_owned()))
    }

    fn new(agent: &str, ended: TrialResult) -> Self {
        Self {
            agent: agent.to_owned(),
            ended,
            took_ms: 0,
            tokens: 0,
            cost: None,
            model: None,
            guards: Vec::new(),
            notes: Vec::new(),
            structured: false,
        }
    }
}

/// Calls one agent of the project as a critic. Nothing is recorded.
pub async fn try_agent(setup: &Setup, name: &str) -> TrialReport {
    let resolver = setup.resolver();
    let mut config = resolver.config.clone();
    if config.agents.get(name).is_some_and(|agent| agent.kind.value == AgentKind::Person) {
        return TrialReport::new(name, TrialResult::NotTried("a person is asked by runs only".to_owned()));
    }
    bound(&mut config, name);
    let agent_set = AgentResolver { config: &config, ..resolver }.resolve(&[name], false).await;
    let member = match &agent_set {
        Ok(agent_set) => agent_set.get(name).and_then(|member| Some((member, member.agent.clone()?))),
        Err(problems) => return TrialReport::new(name, TrialResult::Failed(said(problems))),
    };
    let Some((member, agent)) = member else {
        return TrialReport::new(name, TrialResult::NotTried("nobody could be called".to_owned()));
    };
    let folder = match TrialFolder::new() {
        Ok(folder) => folder,
        Err(e) => {
            return TrialReport::new(
                name,
                TrialResult::NotTried(format!("no temporary folder can be made: {e}")),
            );
        }
    };
    call(name, member, agent, &folder.0).await
}

/// A trial is small, whatever the configuration allows.
fn bound(config: &mut Config, name: &str) {
    let Some(agent) = config.agents.get_mut(name) else { return };
    agent.timeout.value = agent.timeout.value.min(TIME);
    agent.max_tokens.value = agent.max_tokens.value.min(TOKENS);
    let most = Money::from_usd(DOLLARS);
    let most = agent.max_usd_per_call.as_ref().map_or(most, |m| m.value.min(most));
    if agent.kind.value.is_process() {
        agent.max_usd_per_call = Some(Sourced::built_in(most));
    }
    agent.process.max_steps.value = agent.process.max_steps.value.min(STEPS);
    agent.process.continues.value = false;
}

fn said(problems: &[Problem]) -> String {
    let one = |p: &Problem| match &p.help {
        Some(help) => format!("{}: {help}", p.message),
        None => p.message.clone(),
    };
    problems.iter().map(one).collect::<Vec<_>>().join("; ")
}

async fn call(name: &str, member: &AgentHandle, agent: Arc<dyn Agent>, folder: &Path) -> TrialReport {
    let (incoming, mut heard) = Back::new(16);
    let effect = EffectId { node: NodePath::root(), n: 1 };
    let in_folder = agent.works_in_a_folder();
    let at = folder.join("place");
    let task = TurnTask {
        call: Call {
            max_output_tokens: member.card.max_output_tokens.min(TOKENS),
            time: Some(TIME),
            schema: Some(SCHEMA.into()),
            tmp: in_folder.then(|| folder.join("tmp")),
            ..Call::new(effect.to_string(), Role::Critic, vec![Spoken::new(Speaker::User, PROMPT)])
        },
        effect,
        agent,
        place: if in_folder {
            CallSite::Reader { at, of: None, files: None, beside: Vec::new(), report: None }
        } else {
            CallSite::Nowhere
        },
        needs: member.needs.clone(),
        cancel: CancellationToken::new(),
        told: None,
        progress: Progress::none(),
        incoming,
    };
    let mut tried = TrialReport::new(name, TrialResult::Failed("it ended without a word".to_owned()));
    let listen = async {
        while let Some(came) = heard.recv().await {
            match *came {
                Incoming::Observed { observation, .. } => observe(&mut tried, observation),
                Incoming::Replied { reply, texts, .. } => replied(&mut tried, member, reply, &texts),
            }
        }
    };
    tokio::join!(task.run(), listen);
    tried
}

fn observe(tried: &mut TrialReport, observation: Observation) {
    let note = match observation {
        Observation::Guarded { guards } => {
            tried.guards = guards.iter().map(ToString::to_string).collect();
            return;
        }
        Observation::Retrying { kind, message, .. } => format!("tried again: {kind}: {message}"),
        Observation::Stopped { layer, what } => format!("stopped by {layer}: {what}"),
        Observation::Note { line } if line.starts_with(NOT_HELD) => line,
        _ => return,
    };
    if tried.notes.len() < MOST_NOTES && !tried.notes.contains(&note) {
        tried.notes.push(note);
    }
}

fn replied(tried: &mut TrialReport, member: &AgentHandle, reply: Reply, texts: &[Text]) {
    let mut spent = |usage: gadfly_engine::Usage| {
        tried.tokens = usage.tokens();
        let known = usage.cost.is_some() || member.card.price.is_some();
        tried.cost = known.then(|| usage.cost_at(member.card.price.as_ref()).usd());
    };
    tried.ended = match reply {
        Reply::Done(Answer { stop, usage, model, violations, took_ms, .. }) => {
            spent(usage);
            (tried.model, tried.took_ms) = (model, took_ms);
            let text = texts.first().map_or("", |text| text.as_str());
            tried.structured = serde_json::from_str::<serde_json::Value>(text.trim())
                .is_ok_and(|said| said.get("verdict").is_some_and(|verdict| verdict == "ok"));
            match stop {
                _ if !violations.is_empty() => {
                    TrialResult::Failed(format!("as a critic it changed files: {}", violations.join(", ")))
                }
                StopReason::Refusal => TrialResult::Failed("it declined to answer".to_owned()),
                _ => TrialResult::Answered,
            }
        }
        Reply::Failed(failure) => {
            spent(failure.usage);
            TrialResult::Failed(failure.to_string())
        }
        Reply::DeniedQuota { message, .. } => TrialResult::Failed(format!("no quota: {message}")),
        _ => TrialResult::Failed("the call was cut off".to_owned()),
    };
}

/// A folder of this trial's own, gone with it.
struct TrialFolder(PathBuf);

impl TrialFolder {
    fn new() -> std::io::Result<Self> {
        let at = std::env::temp_dir().join(format!("gadfly-doctor-{:016x}", fastrand::u64(..)));
        DirBuilder::new().mode(0o700).create(&at)?;
        Ok(Self(at.canonicalize()?))
    }
}

impl Drop for TrialFolder {
    fn drop(&mut self) {
        remove_tree(&self.0);
    }
}
