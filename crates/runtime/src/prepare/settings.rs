//! The settings of a run, whatever its protocol: who takes part, and what else a plan needs to know of them.

use std::path::Path;

use gadfly_engine::judging::Seat;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::tool::policy::OwnTools;
use gadfly_engine::{Digest, Limits, Text};
use gadfly_journal::RunId;
use gadfly_project::LoopConfig;

use crate::consent::{GoalTerms, PipelineTerms};

/// One protocol's settings, as a plan and a person's consent need them.
pub trait RunSettings: Send + Sync {
    fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error>;

    /// Everybody who may be called, the worker first.
    fn cast(&self) -> Vec<RoleAssignment>;

    /// How many there may be. Without a worker it is a review: one. A goal has none.
    fn rounds(&self) -> u32;

    /// The worker edits files.
    fn needs_folder(&self) -> bool {
        false
    }

    /// Tells them the run they are used in.
    fn belong_to(&mut self, _run: &RunId, _place: &RunPlace<'_>) {}

    /// The same for another task, as a batch needs it, with the text it names besides. None if the protocol needs more than
    /// a task and a rubric.
    fn about(&self, _task: Digest, _rubric: &[String]) -> Option<(Box<dyn RunSettings>, Option<Text>)> {
        None
    }

    /// What a goal's worker may do by itself.
    fn own_tools(&self) -> Option<OwnTools> {
        None
    }

    fn goal_terms(&self) -> Option<GoalTerms> {
        None
    }

    fn pipeline_terms(&self) -> Option<PipelineTerms> {
        None
    }
}

/// Where a run leaves what it writes besides its result.
#[derive(Clone, Copy, Default)]
pub struct RunPlace<'a> {
    pub store: Option<&'a Path>,
    /// Where the project itself wants reports, below its root.
    pub reports: Option<&'static str>,
    /// The project has a list of its own with the task's status.
    pub keeps_status: bool,
}

/// One agent's part in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RoleAssignment {
    pub role: &'static str,
    pub agent: String,
    /// What a critic looks at in particular.
    pub lens: Option<String>,
    /// Calls at most, where nothing has to be split.
    pub calls: u32,
    /// What its briefs hold at most besides the user's material, in bytes.
    pub grows: u64,
}

/// The critics of a loop, each with the same one to fall back on. Of two, one without a lens has its own name
/// for one.
pub fn seats(config: &LoopConfig) -> Vec<Seat> {
    let fallback = config.options.fallback_critic.as_ref().map(|f| f.value.clone());
    let several = config.critics.len() > 1;
    let seat = |c: &gadfly_project::config::CriticSetting| Seat {
        agent: c.agent.clone(),
        fallback: fallback.clone(),
        lens: if several { Some(c.lens_or_name().to_owned()) } else { c.lens.clone() },
    };
    config.critics.iter().map(|c| seat(&c.value)).collect()
}

/// A number that was checked when it was read.
pub fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Rounds at most; without a worker it is a review, which has one.
pub const fn rounds_of(worker: Option<&String>, rounds: u32) -> u32 {
    if worker.is_some() { rounds } else { 1 }
}

/// The parts of a loop as they are added.
pub struct RoleList(Vec<RoleAssignment>, u32);

impl RoleList {
    pub fn new(worker: Option<&String>, rounds: u32) -> Self {
        Self(Vec::new(), rounds_of(worker, rounds)).with_worker(worker)
    }

    fn with_worker(self, worker: Option<&String>) -> Self {
        let rounds = self.1;
        self.with("worker", worker, rounds)
    }

    pub fn with(mut self, role: &'static str, agent: Option<&String>, calls: u32) -> Self {
        self.0.extend(agent.map(|agent| RoleAssignment {
            role,
            agent: agent.clone(),
            lens: None,
            calls,
            grows: 0,
        }));
        self
    }

    /// The critics, who are the last to be added.
    pub fn judged_by(mut self, seats: &[Seat]) -> Vec<RoleAssignment> {
        // A critic may be asked to restate in every round.
        let calls = self.1.saturating_mul(2);
        for seat in seats {
            let lens = seat.lens.clone();
            self.0.push(RoleAssignment { role: "critic", agent: seat.agent.clone(), lens, calls, grows: 0 });
        }
        let fallback = seats.iter().find_map(|s| s.fallback.as_ref());
        let calls = calls.saturating_mul(small(seats.len() as u64));
        self.with("second", fallback, calls).0
    }
}
