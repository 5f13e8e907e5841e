//! What one `score` loop is about. Frozen with the plan.

use serde::{Deserialize, Serialize};

use crate::brief::Reference;
use crate::budget::Limits;
use crate::deduction::{Level, Table};
use crate::digest::Digest;
use crate::judging::{PARTS, Seat};
use crate::plan::{NodePlan, Target};
use crate::work::Work;

/// Rounds before the loop is escalated.
pub const ROUNDS: u32 = 3;
/// The score that passes.
pub const THRESHOLD: u32 = 80;
/// The score that passes for an exploration.
pub const EXPLORATION: u32 = 60;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Settings {
    pub task: Digest,
    /// The rubric as the user wrote it.
    pub rubric: Digest,
    /// Its deductions, if it has a table of them; without one the stated score counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<Table>,
    /// How severe the critic is, by the phase of the work or as the user says.
    pub severity: Level,
    /// What holds for every artifact of the project, for the critic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariants: Option<Digest>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// The user brought the work: the critic speaks first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Work>,
    /// None: critics only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The first is the primary; a second judges a gate artifact through another lens.
    pub critics: Vec<Seat>,
    pub rounds: u32,
    pub threshold: u32,
    #[serde(default)]
    pub escalate_to: EscalateTo,
    /// Stop at a plateau, an oscillation or churn instead of using up the rounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop_early: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<Target>,
    #[serde(default = "parts")]
    pub max_parts: u32,
}

const fn parts() -> u32 {
    PARTS
}

/// Who decides when a pair does not converge.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EscalateTo {
    /// Asked for a decision text.
    Agent(String),
    /// A fresh worker call, told to restructure.
    Orchestrator,
    #[default]
    User,
}

impl Settings {
    pub fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error> {
        let settings = serde_json::to_value(self)?;
        Ok(NodePlan { protocol: "score".into(), version: 1, limits, settings })
    }
}
