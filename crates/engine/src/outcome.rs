//! How a run stands when the engine has nothing more to do: ended for good, or parked until resumed.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::budget::Shortage;
use crate::digest::Digest;
use crate::effect::{CallFailure, EffectId};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Approved {
        draft: Digest,
        /// The critic's last rejection rested only on new requirements and was overruled.
        overruled: bool,
        notes: Vec<String>,
    },
    Halted {
        reason: Halt,
        draft: Option<Digest>,
        open: Vec<String>,
    },
    /// A review found something that blocks. Loops never end so.
    Rejected {
        draft: Option<Digest>,
        open: Vec<String>,
    },
    Waiting(Waiting),
    Unverified {
        reason: String,
        draft: Option<Digest>,
        /// What no critic saw although it is in scope.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unseen: Vec<String>,
    },
    OutOfBudget {
        shortage: Shortage,
    },
    Aborted,
    Failed {
        failure: CallFailure,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Halt {
    Cap,
    Plateau,
    Churn,
    Oscillation,
    Guard,
    Stuck,
    Plan,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waiting {
    /// A person is asked; the reply is addressed to this effect.
    Question {
        effect: EffectId,
    },
    Quota {
        until_ms: Option<u64>,
        message: String,
    },
    Paused,
}

impl Outcome {
    /// Ended runs are over; parked ones are continued by `resume`.
    pub const fn is_ended(&self) -> bool {
        matches!(self, Self::Approved { .. } | Self::Halted { .. } | Self::Rejected { .. } | Self::Aborted)
    }

    /// The class, as it is written in files, lists and events: `halted(cap)`, `waiting(question)`.
    pub fn label(&self) -> String {
        match self {
            Self::Approved { .. } => "approved".into(),
            Self::Halted { reason, .. } => format!("halted({reason})"),
            Self::Waiting(w) => format!("waiting({w})"),
            Self::Rejected { .. } => "rejected".into(),
            Self::Unverified { unseen, .. } if !unseen.is_empty() => "unverified(partial)".into(),
            Self::Unverified { .. } => "unverified".into(),
            Self::OutOfBudget { .. } => "out_of_budget".into(),
            Self::Aborted => "aborted".into(),
            Self::Failed { .. } => "failed".into(),
        }
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cap => "cap",
            Self::Plateau => "plateau",
            Self::Churn => "churn",
            Self::Oscillation => "oscillation",
            Self::Guard => "guard",
            Self::Stuck => "stuck",
            Self::Plan => "plan",
        })
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Question { .. } => "question",
            Self::Quota { .. } => "quota",
            Self::Paused => "paused",
        })
    }
}
