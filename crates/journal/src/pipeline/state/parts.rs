//! What a pipeline's state is made of: agents, their dispatches, escalations, plans, verdicts. Values only.

use gadfly_engine::pipeline::PairVerdict;
use gadfly_engine::{Digest, NodePath};

use crate::pipeline::judges::VerdictJudge;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgentStatus {
    Pending,
    InProgress,
    Completed,
    Blocked,
}

/// One agent of the registry, as it stands now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentState {
    pub agent: String,
    pub critic: Option<String>,
    pub phase: Option<String>,
    pub status: AgentStatus,
    pub round: u32,
    pub rounds_max: u32,
    pub last_score: Option<u32>,
    /// What the last review or verdict left open.
    pub open: Vec<String>,
    /// The files it made, once they are with the user.
    pub artifact: Vec<String>,
    /// Why it is blocked.
    pub because: Option<String>,
}

/// One dispatch of an agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invocation {
    pub agent: String,
    pub at: NodePath,
    pub critic: Option<String>,
    pub nth: u32,
    pub rounds: u32,
    pub calls: u32,
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

impl AgentState {
    pub(super) fn new(agent: &str, critic: Option<String>, phase: Option<String>, rounds_max: u32) -> Self {
        Self {
            agent: agent.to_owned(),
            critic,
            phase,
            status: AgentStatus::Pending,
            round: 0,
            rounds_max,
            last_score: None,
            open: Vec::new(),
            artifact: Vec::new(),
            because: None,
        }
    }

    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.status, AgentStatus::Pending | AgentStatus::InProgress)
    }

    pub(super) fn judged(&mut self, verdict: &PairVerdict) {
        self.status = if verdict.passes() { AgentStatus::Completed } else { AgentStatus::Blocked };
        self.last_score = Some(verdict.score);
        self.round = verdict.rounds;
        self.critic = Some(verdict.critic.clone());
        self.open.clone_from(&verdict.open);
        let made = if verdict.made.is_empty() { &verdict.files } else { &verdict.made };
        self.artifact = made.iter().map(|file| file.path.clone()).collect();
        self.because =
            (!verdict.passes()).then(|| format!("scored {} of {}", verdict.score, verdict.threshold));
    }
}
