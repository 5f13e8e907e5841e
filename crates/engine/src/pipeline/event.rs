//! What happens in a pipeline, in the past tense: part of [`crate::event::EventKind`].

use serde::{Deserialize, Serialize};

use super::{GateReport, PairVerdict};
use crate::artifact::ArtifactFile;
use crate::digest::Digest;
use crate::effect::NodePath;
use crate::pipeline::learning::Suggestion;
use crate::tree::Verified;

/// A file that went into a brief.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Loaded {
    pub path: String,
    /// 1 a skill's name and description, 2 its body, 3 a file it brings; 0 for what is always loaded, and for agents.
    pub level: u8,
    pub tokens: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AlreadyDone {
    pub agent: String,
    /// None where nobody judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u32>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "pipeline")]
pub enum PipelineEvent {
    /// It begins.
    Begun { project: String, agents: u32, gate: String, jobs: u32 },
    /// A plan was drafted, or given: it is kept as a file. `spec` is a list of requirements, before the plan.
    PlanDrafted {
        text: Digest,
        by: String,
        spec: bool,
        /// Requirements that block an approval.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        blocked: Vec<String>,
    },
    /// A person, or `--yes`, agreed to the plan.
    PlanApproved { text: Digest, by: String },
    /// Who was done before this run did anything.
    FoundDone { agents: Vec<AlreadyDone> },
    /// An overall round begins: who is sent out again, although done, and why.
    OverallRound { round: u32, of: u32, again: Vec<String> },
    /// An agent is dispatched: the node its pair works at, and what went into its brief.
    Dispatched {
        agent: String,
        at: NodePath,
        critic: Option<String>,
        phase: Option<String>,
        /// Which of its dispatches in this run this is, from 1.
        nth: u32,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        loaded: Vec<Loaded>,
    },
    /// An agent cannot be dispatched; the lines say why, and what would help.
    NotDispatched { agent: String, lines: Vec<String> },
    /// What an agent left is not what its entry promises.
    OutputIncomplete {
        agent: String,
        gaps: Vec<String>,
        /// How often it was so, with this dispatch.
        times: u32,
    },
    /// Files outside what an agent's entry names. They are not brought to the user unless somebody says so.
    WroteOutside { agent: String, paths: Vec<String> },
    /// A pair is through and its verdict counts from now on.
    Scored {
        verdict: Box<PairVerdict>,
        /// False: an earlier draft had a higher score and stays.
        delivered: bool,
    },
    /// An agent is through and needs no verdict.
    Completed { agent: String, files: Vec<ArtifactFile> },
    /// A pair ended without a result that counts.
    PairBlocked {
        agent: String,
        because: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        score: Option<u32>,
        rounds: u32,
        open: Vec<String>,
    },
    /// What a person said about a condition only they can judge.
    ConditionSaid { text: String, holds: bool, by: String },
    /// A command of the project that belongs to an event ran.
    HookRan { hook: String, command: String, green: bool, verified: Verified },
    /// The gate after an overall round, with its arithmetic.
    GateChecked { round: u32, report: Box<GateReport> },
    /// What a project could learn from this run.
    Learned { suggestions: Vec<Suggestion> },
}
