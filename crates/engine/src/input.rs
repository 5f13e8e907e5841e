//! Everything that enters the engine. An input is recorded before its consequences are carried out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::budget::Limits;
use crate::effect::{EffectId, Observation, Reply};
use crate::plan::{AgentCard, Plan};
use crate::text::Text;

/// The journal format this engine writes.
pub const FORMAT: u32 = 1;

/// When an input came. The engine compares only active time.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Stamp {
    /// Milliseconds since 1970, for people.
    pub wall_ms: u64,
    /// Monotonic milliseconds that stop while the run is parked or its process dead.
    pub active_ms: u64,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Input {
    pub at: Stamp,
    pub what: InputKind,
    /// The bodies of the texts this input brings. Stored beside the record, by digest.
    #[serde(skip)]
    pub texts: Vec<Text>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    Started(Box<Start>),
    Observed {
        effect: EffectId,
        observation: Observation,
    },
    Replied {
        effect: EffectId,
        reply: Reply,
    },
    /// A person's reply, from the inbox, to an effect that waits for one.
    Answered {
        effect: EffectId,
        text: crate::digest::Digest,
        by: String,
    },
    Controlled(Control),
    /// A process took the run up again. Effects without a reply are lost, those of persons stay open.
    Resumed {
        #[serde(default)]
        limits: Limits,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rounds: Option<u32>,
        /// Agents that are reached differently from what was last recorded.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        agents: BTreeMap<String, AgentCard>,
    },
}

/// What a person says to a run from outside.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    Pause,
    Cancel,
    /// A word to the worker of a goal, for its next turn.
    Steer {
        text: String,
        by: String,
    },
}

/// The first input of every run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Start {
    pub format: u32,
    pub plan: Plan,
    /// Random, hexadecimal; delimiters derive from it.
    pub seed: String,
}
