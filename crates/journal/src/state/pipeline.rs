//! A pipeline as `show`, the last block and reports tell it: one line per agent, the gate, what could be learned. A fold
//! over the run's records.
//!
//! What a project's own files show of it is `crate::pipeline::PipelineState`.

use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::pipeline::event::Loaded;
use gadfly_engine::pipeline::learning::Suggestion;
use gadfly_engine::pipeline::{GateReport, PairVerdict, PipelineEvent};
use gadfly_engine::protocol::pipeline::RULE_BOOK;
use gadfly_engine::protocol::pipeline::settings::{PipelineMode, PipelineSettings};
use gadfly_engine::{Digest, Input, NodePath, Plan, Step};
use serde::{Deserialize, Serialize};

use crate::read::Record;

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
    pub fn apply(view: &mut Option<Self>, record: &Record) {
        Self::fold(view, &record.input, &record.step);
    }

    pub(crate) fn fold(view: &mut Option<Self>, input: &Input, step: &Step) {
        if let InputKind::Started(start) = &input.what {
            *view = Self::of(&start.plan);
        }
        let Some(view) = view else { return };
        for event in &step.events {
            match &event.what {
                EventKind::Pipeline(what) => view.pipeline(what),
                EventKind::RoundStarted { round, .. } => {
                    if let Some(row) = view.row_at(&event.node) {
                        row.rounds = *round;
                    }
                }
                EventKind::Reviewed { review, .. } => {
                    // Only the primary critic's score is the component's.
                    let critic = &review.binding.critic;
                    if let (Some(row), Some(score)) = (view.row_at(&event.node), &review.score)
                        && row.critic.as_ref().is_none_or(|primary| primary == critic)
                    {
                        row.score = Some(score.value);
                    }
                }
                _ => {}
            }
        }
    }

    /// Drops all but how every agent stands, which is bounded by the plan.
    pub(crate) fn keep_standing(&mut self) {
        let Self {
            project,
            gate_name,
            overall: _,
            overall_max: _,
            agents,
            gate,
            plan,
            plan_by,
            learned,
            briefs,
        } = self;
        project.clear();
        (*gate_name, *gate, *plan, *plan_by) = (None, None, None, None);
        learned.clear();
        briefs.clear();
        for row in agents {
            row.because = None;
            row.open.clear();
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

    fn of(plan: &Plan) -> Option<Self> {
        if plan.root.protocol != RULE_BOOK.name {
            return None;
        }
        let settings: PipelineSettings = PipelineSettings::deserialize(&plan.root.settings).ok()?;
        let mut view = Self {
            project: settings.project,
            gate_name: (settings.mode == PipelineMode::Pipeline).then(|| settings.gate.name.clone()),
            overall_max: settings.overall,
            ..Self::default()
        };
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
        Some(view)
    }

    /// How many agents stand so.
    pub fn count(&self, status: RowStatus) -> usize {
        self.agents.iter().filter(|row| row.status == status).count()
    }

    /// The agent whose pair works at a node.
    pub fn agent_at(&self, node: &NodePath) -> Option<&str> {
        let mine = |row: &&AgentRow| row.at.as_ref().is_some_and(|at| at.contains(node));
        self.agents.iter().find(mine).map(|row| row.agent.as_str())
    }

    fn row_at(&mut self, node: &NodePath) -> Option<&mut AgentRow> {
        self.agents.iter_mut().find(|row| row.at.as_ref().is_some_and(|at| at.contains(node)))
    }

    fn row(&mut self, agent: &str) -> Option<&mut AgentRow> {
        self.agents.iter_mut().find(|row| row.agent == agent)
    }

    fn pipeline(&mut self, what: &PipelineEvent) {
        match what {
            PipelineEvent::PlanDrafted { text, spec: false, .. } => self.plan = Some(*text),
            PipelineEvent::PlanApproved { text, by } => {
                (self.plan, self.plan_by) = (Some(*text), Some(by.clone()));
            }
            PipelineEvent::OverallRound { round, of, .. } => {
                (self.overall, self.overall_max) = (*round, *of);
            }
            PipelineEvent::Dispatched { agent, at, critic, nth, loaded, .. } => {
                if let Some(row) = self.row(agent) {
                    (row.status, row.dispatches, row.rounds) = (RowStatus::Working, *nth, 0);
                    row.critic = critic.clone().or_else(|| row.critic.clone());
                    (row.at, row.because) = (Some(at.clone()), None);
                }
                let (agent, loaded) = (agent.clone(), loaded.clone());
                self.briefs.push(Briefed { agent, nth: *nth, loaded });
            }
            PipelineEvent::FoundDone { agents } => {
                for done in agents {
                    if let Some(row) = self.row(&done.agent) {
                        (row.status, row.score) = (RowStatus::Done, done.score.or(row.score));
                    }
                }
            }
            PipelineEvent::NotDispatched { agent, lines } => {
                if let Some(row) = self.row(agent) {
                    row.because = Some(lines.join(" "));
                }
            }
            PipelineEvent::Scored { verdict, delivered } => self.scored(verdict, *delivered),
            PipelineEvent::Completed { agent, .. } => {
                if let Some(row) = self.row(agent) {
                    (row.status, row.because) = (RowStatus::Done, None);
                }
            }
            PipelineEvent::PairBlocked { agent, because, score, rounds, open } => {
                if let Some(row) = self.row(agent) {
                    (row.status, row.because) = (RowStatus::Blocked, Some(because.clone()));
                    (row.rounds, row.score) = (*rounds, *score);
                    row.open.clone_from(open);
                }
            }
            PipelineEvent::GateChecked { report, .. } => self.gate = Some(report.as_ref().clone()),
            PipelineEvent::Learned { suggestions } => self.learned.clone_from(suggestions),
            PipelineEvent::Begun { .. }
            | PipelineEvent::PlanDrafted { .. }
            | PipelineEvent::OutputIncomplete { .. }
            | PipelineEvent::WroteOutside { .. }
            | PipelineEvent::ConditionSaid { .. }
            | PipelineEvent::HookRan { .. } => {}
        }
    }

    fn scored(&mut self, verdict: &PairVerdict, delivered: bool) {
        let Some(row) = self.row(&verdict.agent) else { return };
        // Whatever its score: advice and referees' reports are delivered below the one that passes.
        let is_rejected = !delivered && verdict.rejected;
        row.status = if is_rejected { RowStatus::Blocked } else { RowStatus::Done };
        row.rounds = verdict.rounds;
        row.because = match (delivered, is_rejected) {
            (true, _) => None,
            (false, true) => Some("its draft did not pass and was not delivered".to_owned()),
            (false, false) => Some("an earlier draft had a higher score and stays".to_owned()),
        };
        if delivered || is_rejected {
            row.score = Some(verdict.score);
            row.open.clone_from(&verdict.open);
        }
    }
}
