//! How a pipeline stands: a fold over its run's records. Everything that is rendered of it comes from here; no
//! decision reads it.

mod parts;

use std::collections::BTreeMap;

use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::pipeline::aggregate::Hundredths;
use gadfly_engine::pipeline::learning::Suggestion;
use gadfly_engine::pipeline::{GateReport, PairVerdict, PipelineEvent, Registry};
use gadfly_engine::protocol::pipeline::settings::PipelineSettings;
use gadfly_engine::review::{Review, Verdict};
use gadfly_engine::{EffectId, NodePath, Outcome};

use super::entry::JournalEntry;
use super::judges::Judges;
use crate::read::Record;
use crate::run_id::RunId;

pub use parts::{AgentState, AgentStatus, Drafted, EscalationSeen, GivenVerdict, Invocation};

/// The protocol whose runs are folded.
pub const PROTOCOL: &str = "pipeline";

#[derive(Clone, Debug)]
pub struct PipelineState {
    pub run: RunId,
    pub title: String,
    pub project: String,
    /// Of the rules of pipelines that the run follows.
    pub rules: u32,
    pub phase: Option<String>,
    pub created_ms: u64,
    pub updated_ms: u64,
    pub active_ms: u64,
    pub agents: Vec<AgentState>,
    pub invocations: Vec<Invocation>,
    pub escalations: Vec<EscalationSeen>,
    pub overall: Option<Hundredths>,
    pub gate: Option<GateReport>,
    pub drafted: Vec<Drafted>,
    pub verdicts: Vec<GivenVerdict>,
    pub suggestions: Vec<Suggestion>,
    /// What belongs into the project's journal, in order.
    pub entries: Vec<JournalEntry>,
    pub outcome: Option<Outcome>,
    pub(super) registry: Registry,
    judges: Judges,
    /// The verdict that counts for an agent, from this run or before it.
    standing: BTreeMap<String, PairVerdict>,
    waiting: Vec<(EffectId, String)>,
    /// Escalations nobody has decided about yet, by the node of the pair.
    handed_over: Vec<(NodePath, String)>,
    /// Why somebody could not be dispatched, by agent.
    refused: BTreeMap<String, String>,
}

impl PipelineState {
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            title: String::new(),
            project: String::new(),
            rules: 0,
            phase: None,
            created_ms: 0,
            updated_ms: 0,
            active_ms: 0,
            agents: Vec::new(),
            invocations: Vec::new(),
            escalations: Vec::new(),
            overall: None,
            gate: None,
            drafted: Vec::new(),
            verdicts: Vec::new(),
            suggestions: Vec::new(),
            entries: Vec::new(),
            outcome: None,
            registry: Registry::default(),
            judges: Judges::default(),
            standing: BTreeMap::new(),
            waiting: Vec::new(),
            handed_over: Vec::new(),
            refused: BTreeMap::new(),
        }
    }

    /// Takes in a record. True if it changed something that state files show.
    pub fn apply(&mut self, record: &Record) -> bool {
        let Record { input, step, .. } = record;
        self.updated_ms = input.at.wall_ms;
        self.active_ms = self.active_ms.max(input.at.active_ms);
        let mut changed = false;
        self.judges.follow(input, step);
        match &input.what {
            InputKind::Started(start) => {
                self.begin(start, input.at.wall_ms);
                changed = true;
            }
            InputKind::Resumed { .. } | InputKind::Answered { .. } => self.outcome = None,
            _ => {}
        }
        for event in &step.events {
            changed |= match &event.what {
                EventKind::Pipeline(what) => self.pipeline(what),
                what => self.happened(&event.node, what),
            };
        }
        if step.outcome.is_some() {
            self.outcome.clone_from(&step.outcome);
            changed = true;
        }
        changed
    }

    fn begin(&mut self, start: &gadfly_engine::Start, wall_ms: u64) {
        let plan = &start.plan;
        self.created_ms = wall_ms;
        self.title.clone_from(&plan.title);
        self.rules = plan.root.version;
        let Ok(settings) = serde_json::from_value::<PipelineSettings>(plan.root.settings.clone()) else {
            return;
        };
        self.project = settings.project;
        for entry in &settings.registry.entries {
            let on = entry.conditional.is_none() || settings.enabled.contains(&entry.agent);
            if on && settings.pairs.contains_key(&entry.agent) {
                let critic = entry.critic.clone().or_else(|| entry.judges().then(|| entry.agent.clone()));
                self.agents.push(AgentState::new(&entry.agent, critic, entry.phase.clone(), settings.rounds));
            }
        }
        self.registry = settings.registry;
        for verdict in settings.verdicts {
            let Some(agent) = self.agents.iter_mut().find(|a| a.agent == verdict.agent) else { continue };
            agent.judged(&verdict);
            self.standing.insert(verdict.agent.clone(), verdict);
        }
    }

    /// Who stands in the way, in one line; none while the pipeline goes on by itself.
    pub fn blocked_by(&self) -> Option<String> {
        let handed_over = self.handed_over.last().map(|(_, why)| why);
        if let Some(why) = self.waiting.last().map(|(_, why)| why).or(handed_over) {
            return Some(why.clone());
        }
        let blocked = self.agents.iter().filter(|a| a.status == AgentStatus::Blocked);
        let mut why: Vec<String> = blocked
            .map(|a| format!("{}: {}", a.agent, a.because.as_deref().unwrap_or("its score is too low")))
            .collect();
        if why.is_empty() && self.outcome.is_some() {
            let pending = |agent: &&String| self.agents.iter().any(|a| a.agent == **agent && a.is_waiting());
            why = self
                .refused
                .iter()
                .filter(|(agent, _)| pending(agent))
                .map(|(_, line)| line.clone())
                .collect();
        }
        (!why.is_empty()).then(|| why.join("; "))
    }

    pub fn agent(&self, name: &str) -> Option<&AgentState> {
        self.agents.iter().find(|a| a.agent == name)
    }

    /// What a pair is about, for people: what its entry says it makes.
    pub fn target(&self, agent: &str) -> String {
        let products = self.registry.get(agent).map(|entry| entry.produces.as_slice()).unwrap_or_default();
        let named = |p: &gadfly_engine::pipeline::Product| {
            let paths = if p.files.is_empty() { &p.patterns } else { &p.files };
            paths.iter().map(|path| path.0.clone()).collect::<Vec<_>>()
        };
        paths(&products.iter().flat_map(named).collect::<Vec<_>>()).unwrap_or_else(|| agent.to_owned())
    }

    fn agent_mut(&mut self, name: &str) -> &mut AgentState {
        let found = self.agents.iter().position(|a| a.agent == name);
        let at = found.unwrap_or_else(|| {
            self.agents.push(AgentState::new(name, None, None, 0));
            self.agents.len() - 1
        });
        &mut self.agents[at]
    }

    fn at(&mut self, node: &NodePath) -> Option<&mut Invocation> {
        self.invocations.iter_mut().rfind(|i| i.at.contains(node))
    }

    fn happened(&mut self, node: &NodePath, what: &EventKind) -> bool {
        let now = self.updated_ms;
        match what {
            EventKind::Decided { .. } => {
                self.handed_over.retain(|(pair, _)| pair != node);
                true
            }
            EventKind::RoundStarted { round, of } => {
                self.handed_over.retain(|(pair, _)| pair != node);
                let Some(at) = self.at(node) else { return false };
                at.rounds += 1;
                let name = at.agent.clone();
                let agent = self.agent_mut(&name);
                (agent.round, agent.rounds_max) = (*round, *of);
                true
            }
            EventKind::Charged { .. } => {
                if let Some(at) = self.at(node) {
                    at.calls += 1;
                }
                false
            }
            EventKind::Reviewed { round, review } => self.reviewed(node, *round, review),
            EventKind::Escalated { round, to, because } => {
                let Some(agent) = self.at(node).map(|at| at.agent.clone()) else { return false };
                let phase = self.agent_mut(&agent).phase.clone();
                self.handed_over.push((node.clone(), format!("{agent} was escalated to {to}: {because}")));
                self.entries.push(JournalEntry::escalated(now, phase, &agent, to, because, &self.run));
                let (to, because, round) = (to.clone(), because.clone(), *round);
                self.escalations.push(EscalationSeen { agent, to, because, round, at_ms: now });
                true
            }
            EventKind::Asked { effect, about } => {
                let whom = self.at(node).map(|at| format!(" about {}", at.agent)).unwrap_or_default();
                self.waiting.push((effect.clone(), format!("a person is asked{whom}: {}", about.name())));
                true
            }
            EventKind::PersonSaid { effect, .. } => {
                self.waiting.retain(|(asked, _)| asked != effect);
                true
            }
            _ => false,
        }
    }

    fn reviewed(&mut self, node: &NodePath, round: u32, review: &Review) -> bool {
        let now = self.updated_ms;
        let Some(name) = self.at(node).map(|at| at.agent.clone()) else { return false };
        let open: Vec<String> = review.open.iter().map(|item| item.text.clone()).collect();
        let score = review.score.as_ref().map(|score| score.value);
        let critic = review.binding.critic.clone();
        let agent = self.agent_mut(&name);
        // Another lens on the same work has no say in the score.
        if review.binding.lens.is_none() || agent.critic.as_ref().is_none_or(|c| *c == critic) {
            agent.last_score = score;
            agent.open.clone_from(&open);
        }
        let phase = agent.phase.clone();
        let approved = review.verdict == Verdict::Approved;
        let target = self.target(&name);
        let entry =
            JournalEntry::judged(now, phase, &critic, target, score, approved, round, &open, &self.run);
        self.entries.push(entry);
        true
    }

    fn pipeline(&mut self, what: &PipelineEvent) -> bool {
        let now = self.updated_ms;
        match what {
            PipelineEvent::Begun { project, .. } => self.project.clone_from(project),
            PipelineEvent::PlanDrafted { text, by, spec, .. } => {
                let (text, by, spec) = (*text, by.clone(), *spec);
                self.drafted.push(Drafted { text, by, spec, at_ms: now, approved: None });
            }
            PipelineEvent::PlanApproved { text, by } => {
                for plan in self.drafted.iter_mut().filter(|plan| plan.text == *text) {
                    plan.approved = Some((by.clone(), now));
                }
            }
            PipelineEvent::Dispatched { agent, at, critic, phase, nth, .. } => {
                let begun_ms = self.active_ms;
                self.invocations.push(Invocation {
                    agent: agent.clone(),
                    at: at.clone(),
                    critic: critic.clone(),
                    nth: *nth,
                    rounds: 0,
                    calls: 0,
                    score: None,
                    status: AgentStatus::InProgress,
                    begun_ms,
                    took_ms: 0,
                });
                self.refused.remove(agent);
                let one = self.agent_mut(agent);
                one.status = AgentStatus::InProgress;
                one.because = None;
                one.round = 0;
                one.critic = critic.clone().or_else(|| one.critic.take());
                one.phase = phase.clone().or_else(|| one.phase.take());
                self.entered(agent);
            }
            PipelineEvent::FoundDone { agents } => {
                for done in agents {
                    let one = self.agent_mut(&done.agent);
                    (one.status, one.last_score) = (AgentStatus::Completed, done.score.or(one.last_score));
                }
            }
            PipelineEvent::NotDispatched { agent, lines } => {
                self.refused.insert(agent.clone(), lines.join(" "));
            }
            PipelineEvent::Scored { verdict, delivered } => self.scored(verdict, *delivered),
            PipelineEvent::Completed { agent, files } => {
                let made: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
                self.ended(agent, AgentStatus::Completed, None);
                let one = self.agent_mut(agent);
                (one.status, one.open) = (AgentStatus::Completed, Vec::new());
                one.artifact.clone_from(&made);
                let phase = one.phase.clone();
                self.entries.push(JournalEntry::completed(
                    now,
                    phase,
                    agent,
                    self.target(agent),
                    &made,
                    None,
                    &self.run,
                ));
                self.entered(agent);
            }
            PipelineEvent::PairBlocked { agent, because, score, open, .. } => {
                self.ended(agent, AgentStatus::Blocked, *score);
                let one = self.agent_mut(agent);
                one.status = AgentStatus::Blocked;
                one.because = Some(because.clone());
                one.open.clone_from(open);
                one.last_score = score.or(one.last_score);
                let phase = one.phase.clone();
                self.entries.push(JournalEntry::blocked(
                    now,
                    phase,
                    agent,
                    self.target(agent),
                    because,
                    &self.run,
                ));
                self.entered(agent);
            }
            PipelineEvent::GateChecked { report, .. } => {
                self.overall = report.aggregate.overall;
                self.gate = Some(report.as_ref().clone());
            }
            PipelineEvent::Learned { suggestions } => self.suggestions.clone_from(suggestions),
            PipelineEvent::OverallRound { .. } => {}
            PipelineEvent::OutputIncomplete { .. }
            | PipelineEvent::WroteOutside { .. }
            | PipelineEvent::ConditionSaid { .. }
            | PipelineEvent::HookRan { .. } => return false,
        }
        true
    }

    fn scored(&mut self, verdict: &PairVerdict, delivered: bool) {
        let now = self.updated_ms;
        let status = if verdict.passes() { AgentStatus::Completed } else { AgentStatus::Blocked };
        self.ended(&verdict.agent, status, Some(verdict.score));
        if verdict.rejected {
            // It is blocked, and was said to be.
            return;
        }
        if !delivered {
            // What was delivered before stays, and so does its verdict.
            let before = self.standing.get(&verdict.agent).cloned();
            let agent = self.agent_mut(&verdict.agent);
            match before {
                Some(before) => agent.judged(&before),
                None => agent.status = AgentStatus::Completed,
            }
            return self.entered(&verdict.agent);
        }
        self.standing.insert(verdict.agent.clone(), verdict.clone());
        let judge = self.judges.judge(&verdict.critic);
        self.verdicts.push(GivenVerdict { at_ms: now, judge, verdict: verdict.clone() });
        let agent = self.agent_mut(&verdict.agent);
        agent.judged(verdict);
        let (phase, made) = (agent.phase.clone(), agent.artifact.clone());
        // Whoever judges has its entry from the review.
        if verdict.agent != verdict.critic {
            let (name, rounds) = (&verdict.agent, Some(verdict.rounds));
            let target = self.target(name);
            self.entries.push(JournalEntry::completed(now, phase, name, target, &made, rounds, &self.run));
        }
        self.entered(&verdict.agent);
    }

    fn ended(&mut self, agent: &str, status: AgentStatus, score: Option<u32>) {
        let now = self.active_ms;
        let nodes = self.invocations.iter().filter(|i| i.agent == agent).map(|i| i.at.clone());
        let nodes: Vec<NodePath> = nodes.collect();
        self.handed_over.retain(|(pair, _)| !nodes.iter().any(|node| node.contains(pair)));
        if let Some(at) = self.invocations.iter_mut().rfind(|i| i.agent == agent) {
            at.status = status;
            at.score = score;
            at.took_ms = now.saturating_sub(at.begun_ms);
        }
    }

    fn entered(&mut self, agent: &str) {
        if let Some(phase) = self.agent(agent).and_then(|a| a.phase.clone()) {
            self.phase = Some(phase);
        }
    }
}

/// Paths in one line, the first few by name.
pub(super) fn paths(all: &[String]) -> Option<String> {
    const SHOWN: usize = 3;
    let shown = all.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match all.len() {
        0 => None,
        n if n <= SHOWN => Some(shown),
        n => Some(format!("{shown} and {} more", n - SHOWN)),
    }
}
