//! What happened, in the past tense. Projections and surfaces are folds over these; no decision reads them.

use serde::{Deserialize, Serialize};

use crate::budget::{Limits, Money, Shortage, Spent, Usage};
use crate::digest::Digest;
use crate::effect::{CallFailure, EffectId, NodePath};
use crate::plan::AgentCard;
use crate::review::Review;
use crate::stall::Stall;
use crate::turn::Role;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    pub node: NodePath,
    pub what: Happened,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Happened {
    NodeStarted {
        protocol: String,
    },
    RoundStarted {
        round: u32,
        of: u32,
    },
    /// A worker's artifact: `given` if the user brought it.
    DraftMade {
        round: u32,
        artifact: Digest,
        blob: Digest,
        bytes: u64,
        given: bool,
    },
    /// Sections that changed although no open item asked for it: a hint for the person.
    ChangedUnasked {
        round: u32,
        sections: Vec<String>,
    },
    /// The worker stated a verdict about its own draft; it counts for nothing.
    SelfVerdictNoted {
        round: u32,
        line: String,
    },
    Reviewed {
        round: u32,
        review: Review,
    },
    ReplyMalformed {
        round: u32,
        critic: String,
        problem: String,
        restating: bool,
    },
    /// The loop makes no headway.
    Stalled {
        round: u32,
        stalls: Vec<Stall>,
    },
    RejectionOverruled {
        round: u32,
        notes: Vec<String>,
    },
    FellBack {
        from: String,
        to: String,
        because: String,
    },
    CallFailed {
        effect: EffectId,
        agent: String,
        role: Role,
        failure: CallFailure,
    },
    /// The process died before a reply was recorded.
    CallLost {
        effect: EffectId,
        agent: String,
        role: Role,
    },
    Charged {
        effect: EffectId,
        agent: String,
        usage: Usage,
        cost: Money,
        run: Spent,
    },
    Overran {
        shortage: Shortage,
    },
    Saved {
        path: String,
        approved: bool,
    },
    SaveRefused {
        path: String,
        message: String,
    },
    Warned {
        message: String,
    },
    PauseRequested,
    CancelRequested,
    Resumed,
    LimitsRaised {
        limits: Limits,
        rounds: Option<u32>,
    },
    AgentChanged {
        agent: String,
        card: Box<AgentCard>,
    },
}
