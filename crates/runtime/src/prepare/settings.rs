//! The settings of a loop, whatever its protocol: who takes part, and what else a plan needs to know of them.

use std::path::Path;

use gadfly_engine::judging::Seat;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::protocol::score::settings::EscalateTo;
use gadfly_engine::protocol::{audit, converge, pipeline, revise, score};
use gadfly_engine::{Digest, Limits, Text};
use gadfly_journal::RunId;
use gadfly_project::{LoopConfig, LoopProtocol, Problem};

use super::{Material, PreparedGoal, Request};

/// One protocol's settings.
#[derive(Clone, PartialEq, Debug)]
pub enum RunSettings {
    Revise(revise::ReviseSettings),
    Score(Box<score::settings::ScoreSettings>),
    Audit(audit::settings::AuditSettings),
    Converge(converge::settings::ConvergeSettings),
    /// A goal, which is no loop.
    Goal(Box<PreparedGoal>),
    /// Many loops.
    Pipeline(Box<pipeline::settings::PipelineSettings>),
}

/// One agent's part in a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RoleAssignment {
    pub role: &'static str,
    pub agent: String,
    /// What a critic looks at in particular.
    pub lens: Option<String>,
    /// Calls at most, where nothing has to be split.
    pub calls: u32,
    /// What its briefs hold at most besides the user's material, in bytes.
    pub grows: u64,
}

/// Makes the settings of the loop's protocol.
pub(super) fn of(
    config: &LoopConfig,
    request: &Request,
    material: &mut Material,
    problems: &mut Vec<Problem>,
) -> Option<RunSettings> {
    Some(match config.options.protocol.value {
        LoopProtocol::Revise => {
            RunSettings::Revise(super::revise::settings(config, request, material, problems)?)
        }
        LoopProtocol::Score => {
            RunSettings::Score(Box::new(super::score::settings(config, request, material, problems)?))
        }
        LoopProtocol::Audit => {
            RunSettings::Audit(super::audit::settings(config, request, material, problems)?)
        }
        LoopProtocol::Converge => {
            RunSettings::Converge(super::converge::settings(config, request, material, problems)?)
        }
    })
}

/// The critics of a loop, each with the same one to fall back on. Of two, one without a lens has its own name
/// for one.
pub(super) fn seats(config: &LoopConfig) -> Vec<Seat> {
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
pub(super) fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl RunSettings {
    /// The settings of loops that differ only in task and rubric. None if the protocol needs more than these.
    pub(crate) fn of_task(config: &LoopConfig, task: Digest) -> Option<Self> {
        match config.options.protocol.value {
            LoopProtocol::Revise => super::revise::bare(config, task).map(Self::Revise),
            LoopProtocol::Score => Some(Self::Score(Box::new(super::score::bare(config, task)))),
            LoopProtocol::Audit | LoopProtocol::Converge => None,
        }
    }

    /// Makes these the settings of one task. The texts they name besides the task come back.
    pub(crate) fn take_task(&mut self, task: Digest, rubric: &[String]) -> Option<Text> {
        match self {
            Self::Revise(settings) => {
                settings.task = task;
                rubric.clone_into(&mut settings.rubric);
                None
            }
            Self::Score(settings) => {
                let text = Text::new(format!("- {}\n", rubric.join("\n- ")));
                (settings.task, settings.rubric) = (task, text.digest());
                Some(text)
            }
            Self::Audit(_) | Self::Converge(_) | Self::Goal(_) | Self::Pipeline(_) => None,
        }
    }

    pub fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error> {
        match self {
            Self::Revise(s) => s.node_plan(limits),
            Self::Score(s) => s.node_plan(limits),
            Self::Audit(s) => s.node_plan(limits),
            Self::Converge(s) => s.node_plan(limits),
            Self::Goal(s) => s.node_plan(limits),
            Self::Pipeline(s) => s.node_plan(limits),
        }
    }

    /// The run these settings are used in.
    pub(super) fn belong_to(&mut self, run: &RunId, store: Option<&Path>) {
        match self {
            Self::Audit(settings) => {
                settings.run_id = run.to_string();
                settings.report_dir = store
                    .map(|s| s.join("runs").join(run.as_str()).to_string_lossy().into_owned())
                    .unwrap_or_default();
            }
            Self::Goal(settings) => settings.belong_to(run),
            Self::Revise(_) | Self::Score(_) | Self::Converge(_) | Self::Pipeline(_) => {}
        }
    }

    /// The worker edits files.
    pub const fn needs_folder(&self) -> bool {
        matches!(self, Self::Goal(_) | Self::Pipeline(_))
            || matches!(self, Self::Audit(settings) if settings.folder)
    }

    /// How many there may be. Without a worker it is a review: one. A goal has none.
    pub const fn rounds(&self) -> u32 {
        let (worker, rounds) = match self {
            Self::Revise(s) => (&s.worker, s.rounds),
            Self::Score(s) => (&s.worker, s.rounds),
            Self::Audit(s) => (&s.worker, s.rounds),
            Self::Converge(s) => (&s.worker, s.rounds),
            Self::Pipeline(s) => return s.rounds,
            Self::Goal(_) => return 0,
        };
        if worker.is_some() { rounds } else { 1 }
    }

    /// Everybody who may be called, the worker first.
    pub(crate) fn cast(&self) -> Vec<RoleAssignment> {
        match self {
            Self::Revise(s) => {
                let seat = Seat { agent: s.critic.clone(), fallback: s.fallback_critic.clone(), lens: None };
                RoleList::new(s.worker.as_deref(), s.rounds).judged_by(&[seat]).0
            }
            Self::Score(s) => {
                // An escalated loop begins once more.
                let rounds = s.rounds.saturating_mul(2);
                let cast = RoleList::new(s.worker.as_deref(), rounds);
                match (&s.escalate_to, &s.worker) {
                    (EscalateTo::Agent(agent), Some(_)) => cast.with("decides", Some(agent), 1),
                    _ => cast,
                }
                .judged_by(&s.critics)
                .0
            }
            Self::Audit(s) => {
                let later = s.rounds.saturating_sub(1);
                RoleList::new(s.worker.as_deref(), s.rounds)
                    .with("fixer", s.build_fixer.as_ref(), later)
                    .with("finds", s.researcher.as_ref(), later)
                    .with("plans", s.architect.as_ref(), 1)
                    .with("tests", s.test_writer.as_ref(), 1)
                    .judged_by(&s.critics)
                    .0
            }
            Self::Converge(s) => RoleList::new(s.worker.as_deref(), s.rounds).judged_by(&s.critics).0,
            Self::Goal(s) => s.cast(),
            Self::Pipeline(s) => super::pipeline::parts(s),
        }
    }
}

/// Parts as they are added.
struct RoleList(Vec<RoleAssignment>, u32);

impl RoleList {
    fn new(worker: Option<&str>, rounds: u32) -> Self {
        let rounds = if worker.is_some() { rounds } else { 1 };
        let worker = worker.map(|agent| RoleAssignment {
            role: "worker",
            agent: agent.to_owned(),
            lens: None,
            calls: rounds,
            grows: 0,
        });
        Self(worker.into_iter().collect(), rounds)
    }

    fn with(mut self, role: &'static str, agent: Option<&String>, calls: u32) -> Self {
        self.0.extend(agent.map(|agent| RoleAssignment {
            role,
            agent: agent.clone(),
            lens: None,
            calls,
            grows: 0,
        }));
        self
    }

    fn judged_by(mut self, seats: &[Seat]) -> Self {
        // A critic may be asked to restate in every round.
        let calls = self.1.saturating_mul(2);
        for seat in seats {
            let lens = seat.lens.clone();
            self.0.push(RoleAssignment { role: "critic", agent: seat.agent.clone(), lens, calls, grows: 0 });
        }
        let fallback = seats.iter().find_map(|s| s.fallback.as_ref());
        let calls = calls.saturating_mul(small(seats.len() as u64));
        self.with("second", fallback, calls)
    }
}

impl From<revise::ReviseSettings> for RunSettings {
    fn from(settings: revise::ReviseSettings) -> Self {
        Self::Revise(settings)
    }
}

impl From<&revise::ReviseSettings> for RunSettings {
    fn from(settings: &revise::ReviseSettings) -> Self {
        Self::Revise(settings.clone())
    }
}
