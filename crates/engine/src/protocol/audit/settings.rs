//! What one `audit` loop is about. Frozen with the plan.

use serde::{Deserialize, Serialize};

use super::economy::Economy;
use super::report::Criterion;
use crate::brief::Reference;
use crate::budget::Limits;
use crate::digest::Digest;
use crate::finding::Severity;
use crate::judging::{PARTS, Seat};
use crate::plan::NodePlan;
use crate::tree::Acceptance;
use crate::work::Work;

/// Worker dispatches, unless the user says otherwise.
pub const ROUNDS: u32 = 3;
/// Time for one run of a verify command, in milliseconds.
pub const VERIFY_TIMEOUT_MS: u64 = 10 * 60_000;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// Names the task in reports; letters, digits, `-`, `_` and `.`.
    pub task_id: String,
    pub task: Digest,
    /// The one list of success criteria.
    pub criteria: Vec<Criterion>,
    /// Globs of files the worker may change; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<String>,
    #[serde(default = "one")]
    pub verify_runs: u32,
    #[serde(default = "verify_timeout")]
    pub verify_timeout_ms: u64,
    /// Decisions the work may not go against.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    /// Plan, acceptance notes, context.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// The run has a folder the worker edits; false only when critics judge what the user brought.
    pub folder: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Work>,
    /// The executor. None: critics only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Works from round 2 on and after a red verify; none means the worker does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_fixer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub researcher: Option<String>,
    /// Exactly one.
    pub critics: Vec<Seat>,
    pub rounds: u32,
    pub block_on: Severity,
    #[serde(default)]
    pub economy: Economy,
    /// How an approved tree is brought to the user.
    #[serde(default)]
    pub acceptance: Acceptance,
    #[serde(default = "parts")]
    pub max_parts: u32,
}

const fn one() -> u32 {
    1
}

const fn verify_timeout() -> u64 {
    VERIFY_TIMEOUT_MS
}

const fn parts() -> u32 {
    PARTS
}

impl Settings {
    pub fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error> {
        let settings = serde_json::to_value(self)?;
        Ok(NodePlan { protocol: "audit".into(), version: 1, limits, settings })
    }
}
