//! What one pipeline is about. Frozen with the plan.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::budget::Limits;
use crate::deduction::{DeductionTable, Level};
use crate::digest::Digest;
use crate::judging::Seat;
use crate::manifest::{Job, PlannedWrite, Purpose, RunManifest, StatePlaces};
use crate::pipeline::event::Loaded;
use crate::pipeline::{Gate, PairVerdict, Pattern, Registry};
use crate::plan::NodePlan;
use crate::protocol::score::files::{ProjectCommand, WorkerOutput};
use crate::protocol::score::settings::OwnRubric;

/// Rounds of one pair before it is escalated.
pub const ROUNDS: u32 = 3;
/// Overall rounds: from IDENTIFY to SCORE.
pub const OVERALL: u32 = 5;
/// Attempts to mend what verify commands find.
pub const FIXES: u32 = 2;
/// Re-dispatches for output that is incomplete.
pub const COMPLETIONS: u32 = 2;
/// Pairs at work at once.
pub const JOBS: u32 = 4;
/// The most agents one pipeline may have.
pub const MOST_AGENTS: usize = 2_000;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PipelineSettings {
    /// What `{project}` stands for.
    pub project: String,
    /// What the user asked for.
    pub request: Digest,
    /// With every placeholder filled in.
    pub registry: Registry,
    /// Conditional agents that run.
    #[serde(default)]
    pub enabled: BTreeSet<String>,
    /// How each agent of the registry is dispatched. One without is never dispatched.
    pub pairs: BTreeMap<String, PairSettings>,
    pub gate: Gate,
    pub mode: PipelineMode,
    pub jobs: u32,
    #[serde(default = "rounds")]
    pub rounds: u32,
    #[serde(default = "overall")]
    pub overall: u32,
    #[serde(default = "fixes")]
    pub fixes: u32,
    /// What people said before about conditions only they can judge.
    #[serde(default)]
    pub manual: BTreeMap<String, bool>,
    #[serde(default)]
    pub assume_manual: bool,
    /// What was judged before this run, the oldest first.
    #[serde(default)]
    pub verdicts: Vec<PairVerdict>,
    /// The skill that dispatches an agent.
    #[serde(default)]
    pub skills: BTreeMap<String, String>,
    /// Files any agent may write beside what its entry names.
    #[serde(default)]
    pub also: Vec<Pattern>,
    /// Files no critic is shown, because the project says so: figures, data.
    #[serde(default)]
    pub unjudged: Vec<Pattern>,
    #[serde(default)]
    pub plan: Planning,
    /// Nobody is asked to agree to the plan.
    #[serde(default)]
    pub plan_agreed: bool,
    /// Nobody is asked about the result.
    #[serde(default)]
    pub result_agreed: bool,
    /// What was delivered becomes a commit on this branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Commit>,
    #[serde(default)]
    pub hooks: Hooks,
    /// Where the project shows how it stands. None: nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_files: Option<StatePlaces>,
    /// The caps of one pair.
    #[serde(default)]
    pub pair_limits: Limits,
}

const fn rounds() -> u32 {
    ROUNDS
}

const fn overall() -> u32 {
    OVERALL
}

const fn fixes() -> u32 {
    FIXES
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PipelineMode {
    #[default]
    Pipeline,
    /// These agents at once: no dependency checks, single critics, no overall rounds.
    Standalone,
    /// One worker, verify commands, one critic, no escalation.
    Simple,
}

/// How an agent is dispatched, apart from what the registry says.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PairSettings {
    /// The name it is called by: an agent of the run.
    pub worker: String,
    /// Who it is, what always holds, the skill and its gotchas: the beginning of every brief to the worker.
    pub identity: Digest,
    /// What it is asked for.
    pub task: Digest,
    /// None where nobody judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<DeductionTable>,
    pub severity: Level,
    /// Rubrics of critics that judge by their own: second lenses.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub own_rubrics: BTreeMap<String, OwnRubric>,
    /// The files of critics and of whoever decides: who they are, by name.
    #[serde(default)]
    pub critic_identities: BTreeMap<String, Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariants: Option<Digest>,
    /// The first is the primary; the second judges a gate artifact through another lens. Of somebody who is
    /// dispatched as a critic, itself.
    #[serde(default)]
    pub critics: Vec<Seat>,
    pub threshold: u32,
    #[serde(default)]
    pub output: WorkerOutput,
    #[serde(default)]
    pub verify: Vec<ProjectCommand>,
    /// What went into `identity` and `task`.
    #[serde(default)]
    pub loaded: Vec<Loaded>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Planning {
    /// There is no plan: the pipeline begins.
    #[default]
    None,
    /// This agent drafts it, from a brief that holds request, registry, state and what was learned.
    Drafted {
        by: String,
        brief: Digest,
        /// A list of requirements first.
        spec: bool,
    },
    Given {
        text: Digest,
    },
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Commit {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    pub message: String,
}

/// Commands of the project that belong to events. One that does not end with 0 blocks what it stands before.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Hooks {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pre_dispatch: Vec<ProjectCommand>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub post_completion: Vec<ProjectCommand>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pre_commit: Vec<ProjectCommand>,
}

impl PipelineSettings {
    pub fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error> {
        let settings = serde_json::to_value(self)?;
        let book = super::RULE_BOOK;
        Ok(NodePlan { protocol: book.name.into(), version: book.version, limits, settings })
    }

    /// The settings of a plan, if a pipeline can be run by them.
    pub(super) fn read(plan: &NodePlan) -> Result<Self, String> {
        let settings: Self = Self::deserialize(&plan.settings)
            .map_err(|e| format!("the settings of `pipeline` cannot be read: {e}"))?;
        let problem = settings.problem();
        problem.map_or(Ok(settings), Err)
    }

    fn problem(&self) -> Option<String> {
        if self.registry.entries.is_empty() || self.pairs.is_empty() {
            return Some("the registry names no agent that could be dispatched".into());
        }
        if self.registry.entries.len() > MOST_AGENTS {
            let many = self.registry.entries.len();
            return Some(format!("{many} agents are too many for one pipeline; the limit is {MOST_AGENTS}"));
        }
        let none = |n: u32, what: &str| (n == 0).then(|| format!("`{what}` is 0: at least one is needed"));
        none(self.jobs, "jobs")
            .or_else(|| none(self.rounds, "rounds"))
            .or_else(|| none(self.overall, "overall"))
    }

    pub(super) fn manifest(self) -> RunManifest {
        let mut manifest =
            RunManifest { task: Some(self.request), rounds: Some(self.overall), ..RunManifest::default() };
        manifest.writes.extend(self.state_files.map(PlannedWrite::State));
        if let Planning::Drafted { by, .. } = &self.plan {
            manifest = manifest.sit(Job::Planner, Some(by));
        }
        for pair in self.pairs.values() {
            let verify = pair.verify.iter().map(|command| &command.line);
            manifest = manifest
                .sit(Job::Worker, Some(&pair.worker))
                .judged_by(&pair.critics)
                .running(&Purpose::Verify, verify);
        }
        for (event, commands) in [
            ("pre-dispatch", &self.hooks.pre_dispatch),
            ("post-completion", &self.hooks.post_completion),
            ("pre-commit", &self.hooks.pre_commit),
        ] {
            manifest = manifest.running(&Purpose::Hook(event), commands.iter().map(|command| &command.line));
        }
        let gate = Purpose::Gate(self.gate.name.clone());
        manifest.running(&gate, self.gate.commands.iter().map(|command| &command.command))
    }

    /// The user's texts this plan names.
    pub(super) fn material(&self) -> Vec<Digest> {
        let mut all = vec![self.request];
        for pair in self.pairs.values() {
            all.extend([pair.identity, pair.task]);
            all.extend([pair.rubric, pair.invariants].into_iter().flatten());
            all.extend(pair.critic_identities.values());
            all.extend(pair.own_rubrics.values().map(|own| own.rubric));
        }
        match &self.plan {
            Planning::None => {}
            Planning::Drafted { brief, .. } => all.push(*brief),
            Planning::Given { text } => all.push(*text),
        }
        all
    }
}
