//! A pipeline: one line per agent, the gate, what could be learned; and, where a project's own files are written, its
//! history. One fold serves them all.

mod history;
mod parts;

use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::pipeline::event::Loaded;
use gadfly_engine::pipeline::learning::Suggestion;
use gadfly_engine::pipeline::{GateReport, PairVerdict, PipelineEvent};
use gadfly_engine::protocol::pipeline::RULE_BOOK;
use gadfly_engine::protocol::pipeline::settings::{PipelineMode, PipelineSettings};
use gadfly_engine::review::Review;
use gadfly_engine::{Digest, Input, NodePath, Plan, Step};
use serde::{Deserialize, Serialize};

use super::Keep;
use crate::run_id::RunId;

pub use history::{FiledAgent, PipelineHistory};
pub use parts::{AgentStatus, Drafted, EscalationSeen, GivenVerdict, Invocation};

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PipelineView {
    pub project: String,
    /// The gate's name; none where a single pair is all there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_name: Option<String>,
    /// Overall rounds so far, and allowed.
    pub overall: u32,
    pub overall_max: u32,
    pub agents: Vec<AgentRow>,
    /// The gate as it was last asked, with its arithmetic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateReport>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Digest>,
    /// Who agreed to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_by: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learned: Vec<Suggestion>,
    /// What went into the brief of each dispatch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub briefs: Vec<Briefed>,
    /// What the project's files tell beyond this, where they are written.
    #[serde(skip)]
    pub(crate) history: Option<Box<PipelineHistory>>,
}

/// One agent, as it stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AgentRow {
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critic: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    pub status: RowStatus,
    /// Times it was dispatched in this run.
    pub dispatches: u32,
    /// Rounds of its last dispatch.
    pub rounds: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u32>,
    /// Why it is where it is, where that needs saying.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// What is left to mend.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    /// The node of its last dispatch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<NodePath>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowStatus {
    Pending,
    Working,
    Done,
    /// Its score does not pass, or it has none.
    Blocked,
}

impl RowStatus {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Working => "at work",
            Self::Done => "done",
            Self::Blocked => "blocked",
        }
    }
}

/// What one brief held.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Briefed {
    pub agent: String,
    pub nth: u32,
    pub loaded: Vec<Loaded>,
}

impl PipelineView {
    /// Takes in a record; a run that is no pipeline has no view.
    pub(super) fn apply(view: &mut Option<Self>, run: &RunId, input: &Input, step: &Step, keep: Keep) {
        if let InputKind::Started(start) = &input.what {
            *view = Self::of(&start.plan, run, keep);
        }
        let Some(view) = view else { return };
        if let Some(history) = &mut view.history {
            history.go_on(input, step);
        }
        for event in &step.events {
            match &event.what {
                EventKind::Pipeline(what) => view.pipeline(what, keep),
                what => view.happened(&event.node, what),
            }
        }
    }

    /// Puts how the agents stand in the place of what a part of the records tells of it.
    pub(crate) fn stand_as(&mut self, standing: Self) {
        (self.overall, self.overall_max) = (standing.overall, standing.overall_max);
        for (row, stands) in self.agents.iter_mut().zip(standing.agents) {
            let because = row.because.take();
            let open = std::mem::take(&mut row.open);
            *row = AgentRow { because, open, ..stands };
        }
    }

    fn of(plan: &Plan, run: &RunId, keep: Keep) -> Option<Self> {
        if plan.root.protocol != RULE_BOOK.name {
            return None;
        }
        let settings: PipelineSettings = PipelineSettings::deserialize(&plan.root.settings).ok()?;
        let mut view = Self { overall_max: settings.overall, ..Self::default() };
        if keep >= Keep::Parts {
            view.project.clone_from(&settings.project);
            view.gate_name = (settings.mode == PipelineMode::Pipeline).then(|| settings.gate.name.clone());
        }
        for entry in &settings.registry.entries {
            let is_on = entry.conditional.is_none() || settings.enabled.contains(&entry.agent);
            if is_on && settings.pairs.contains_key(&entry.agent) {
                view.agents.push(AgentRow {
                    agent: entry.agent.clone(),
                    critic: entry.critic.clone().or_else(|| entry.judges().then(|| entry.agent.clone())),
                    phase: entry.phase.clone(),
                    status: RowStatus::Pending,
                    dispatches: 0,
                    rounds: 0,
                    score: None,
                    because: None,
                    open: Vec::new(),
                    at: None,
                });
            }
        }
        let history = |settings| PipelineHistory::new(run.clone(), plan.root.version, settings);
        view.history = (keep == Keep::History).then(|| Box::new(history(settings)));
        Some(view)
    }

    /// How many agents stand so.
    pub fn count(&self, status: RowStatus) -> usize {
        self.agents.iter().filter(|row| row.status == status).count()
    }

    fn row_at(&mut self, node: &NodePath) -> Option<&mut AgentRow> {
        self.agents.iter_mut().find(|row| row.at.as_ref().is_some_and(|at| at.contains(node)))
    }

    fn row(&mut self, agent: &str) -> Option<&mut AgentRow> {
        self.agents.iter_mut().find(|row| row.agent == agent)
    }

    /// What happened in the loop of a pair, or to the run.
    fn happened(&mut self, node: &NodePath, what: &EventKind) {
        match what {
            EventKind::RoundStarted { round, .. } => {
                if let Some(row) = self.row_at(node) {
                    row.rounds = *round;
                }
            }
            EventKind::Reviewed { review, .. } => self.reviewed(node, review),
            _ => {}
        }
        if let Some(history) = &mut self.history {
            history.happened(node, what, &self.agents);
        }
    }

    fn reviewed(&mut self, node: &NodePath, review: &Review) {
        if let (Some(row), Some(score)) = (self.row_at(node), &review.score)
            && row.is_scored_by(review)
        {
            row.score = Some(score.value);
        }
    }

    fn pipeline(&mut self, what: &PipelineEvent, keep: Keep) {
        let parts = keep >= Keep::Parts;
        match what {
            PipelineEvent::PlanDrafted { text, spec: false, .. } if parts => self.plan = Some(*text),
            PipelineEvent::PlanApproved { text, by } if parts => {
                (self.plan, self.plan_by) = (Some(*text), Some(by.clone()));
            }
            PipelineEvent::OverallRound { round, of, .. } => {
                (self.overall, self.overall_max) = (*round, *of);
            }
            PipelineEvent::Dispatched { agent, at, critic, phase, nth, loaded } => {
                if let Some(row) = self.row(agent) {
                    (row.status, row.dispatches, row.rounds) = (RowStatus::Working, *nth, 0);
                    row.critic = critic.clone().or_else(|| row.critic.take());
                    row.phase = phase.clone().or_else(|| row.phase.take());
                    (row.at, row.because) = (Some(at.clone()), None);
                }
                if parts {
                    let (agent, loaded) = (agent.clone(), loaded.clone());
                    self.briefs.push(Briefed { agent, nth: *nth, loaded });
                }
            }
            PipelineEvent::FoundDone { agents } => {
                for done in agents {
                    if let Some(row) = self.row(&done.agent) {
                        (row.status, row.score) = (RowStatus::Done, done.score.or(row.score));
                    }
                }
            }
            PipelineEvent::NotDispatched { agent, lines } => {
                if let Some(row) = self.row(agent).filter(|_| parts) {
                    row.because = Some(lines.join(" "));
                }
            }
            PipelineEvent::Scored { verdict, delivered } => {
                if let Some(row) = self.row(&verdict.agent) {
                    row.scored(verdict, *delivered, parts);
                }
            }
            PipelineEvent::Completed { agent, .. } => {
                if let Some(row) = self.row(agent) {
                    (row.status, row.because) = (RowStatus::Done, None);
                }
            }
            PipelineEvent::PairBlocked { agent, because, score, rounds, open } => {
                if let Some(row) = self.row(agent) {
                    (row.status, row.rounds, row.score) = (RowStatus::Blocked, *rounds, *score);
                    if parts {
                        row.because = Some(because.clone());
                        row.open.clone_from(open);
                    }
                }
            }
            PipelineEvent::GateChecked { report, .. } if parts => self.gate = Some(report.as_ref().clone()),
            PipelineEvent::Learned { suggestions } if parts => self.learned.clone_from(suggestions),
            PipelineEvent::Begun { .. }
            | PipelineEvent::PlanDrafted { .. }
            | PipelineEvent::PlanApproved { .. }
            | PipelineEvent::GateChecked { .. }
            | PipelineEvent::Learned { .. }
            | PipelineEvent::OutputIncomplete { .. }
            | PipelineEvent::WroteOutside { .. }
            | PipelineEvent::ConditionSaid { .. }
            | PipelineEvent::HookRan { .. } => {}
        }
        if let Some(history) = &mut self.history {
            history.pipeline(what, &self.agents);
        }
    }
}

impl AgentRow {
    /// Another lens on the same work has no say in the score.
    fn is_scored_by(&self, review: &Review) -> bool {
        let binding = &review.binding;
        binding.lens.is_none() || self.critic.as_ref().is_none_or(|primary| *primary == binding.critic)
    }

    fn scored(&mut self, verdict: &PairVerdict, delivered: bool, parts: bool) {
        // Whatever its score: advice and referees' reports are delivered below the one that passes.
        let is_rejected = !delivered && verdict.rejected;
        self.status = if is_rejected { RowStatus::Blocked } else { RowStatus::Done };
        self.rounds = verdict.rounds;
        let because = match (delivered, is_rejected) {
            (true, _) => None,
            (false, true) => Some("its draft did not pass and was not delivered"),
            (false, false) => Some("an earlier draft had a higher score and stays"),
        };
        self.because = because.filter(|_| parts).map(str::to_owned);
        if delivered || is_rejected {
            self.score = Some(verdict.score);
            if parts {
                self.open.clone_from(&verdict.open);
            }
        }
    }
}
