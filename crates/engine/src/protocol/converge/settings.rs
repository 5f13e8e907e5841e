//! What one `converge` loop is about. Frozen with the plan.

use serde::{Deserialize, Serialize};

use super::sets::Criterion;
use crate::brief::Reference;
use crate::budget::Limits;
use crate::digest::Digest;
use crate::judging::{PARTS, Seat};
use crate::plan::{NodePlan, Target};
use crate::work::Work;

/// The safety cap of criteria a user wrote.
pub const PASSES: u32 = 5;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Settings {
    pub task: Digest,
    pub criteria: Vec<Criterion>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// What an earlier run on the same artifact put off and nobody has resolved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deferred: Vec<DeferredEarlier>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Work>,
    /// None: critics only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Exactly one.
    pub critics: Vec<Seat>,
    /// The safety cap: passes at most.
    pub rounds: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<Target>,
    #[serde(default = "parts")]
    pub max_parts: u32,
}

/// A line of the ledger of deferred items.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeferredEarlier {
    pub id: String,
    pub criterion: String,
    pub reason: String,
    pub by: String,
}

const fn parts() -> u32 {
    PARTS
}

impl Settings {
    pub fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error> {
        let settings = serde_json::to_value(self)?;
        Ok(NodePlan { protocol: "converge".into(), version: 1, limits, settings })
    }
}
