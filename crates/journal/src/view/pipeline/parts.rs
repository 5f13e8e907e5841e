//! What the history of a pipeline is made of: dispatches, escalations, plans, verdicts. Values only.

use gadfly_engine::pipeline::PairVerdict;
use gadfly_engine::{Digest, NodePath};

use crate::pipeline::VerdictJudge;

/// How an agent stands in a project's files: a score that does not pass blocks, although its work is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgentStatus {
    Pending,
    InProgress,
    Completed,
    Blocked,
}

impl AgentStatus {
    pub(crate) fn of(verdict: &PairVerdict) -> Self {
        if verdict.passes() { Self::Completed } else { Self::Blocked }
    }
}

/// One dispatch of an agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invocation {
    pub agent: String,
    pub at: NodePath,
    pub critic: Option<String>,
    pub nth: u32,
    pub rounds: u32,
    pub score: Option<u32>,
    pub status: AgentStatus,
    pub(super) begun_ms: u64,
    /// Active time, so that a night in which nothing ran does not count.
    pub(super) took_ms: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EscalationSeen {
    pub agent: String,
    pub to: String,
    pub because: String,
    pub round: u32,
    pub at_ms: u64,
}

/// A plan, or a list of requirements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drafted {
    pub text: Digest,
    pub by: String,
    pub spec: bool,
    pub at_ms: u64,
    /// Who agreed to it, and when.
    pub approved: Option<(String, u64)>,
}

/// A verdict that counts from its record on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenVerdict {
    pub at_ms: u64,
    pub judge: VerdictJudge,
    pub verdict: PairVerdict,
}

impl Invocation {
    /// Active time until it ended, or until now.
    pub const fn took(&self, active_ms: u64) -> u64 {
        match self.status {
            AgentStatus::InProgress => active_ms.saturating_sub(self.begun_ms),
            _ => self.took_ms,
        }
    }
}
