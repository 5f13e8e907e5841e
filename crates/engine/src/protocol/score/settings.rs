//! What one `score` loop is about. Frozen with the plan.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::files::PairFiles;
use crate::brief::Reference;
use crate::budget::Limits;
use crate::deduction::{DeductionTable, FULL, Level};
use crate::digest::Digest;
use crate::judging::{PARTS, Seat};
use crate::manifest::{Job, Purpose, RunManifest};
use crate::plan::{NodePlan, Target};
use crate::work::Work;

/// Rounds before the loop is escalated.
pub const ROUNDS: u32 = 3;
/// The score that passes.
pub const THRESHOLD: u32 = 80;
/// The score that passes for an exploration.
pub const EXPLORATION: u32 = 60;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ScoreSettings {
    pub task: Digest,
    /// The rubric as the user wrote it.
    pub rubric: Digest,
    /// Its deductions, if it has a table of them; without one the stated score counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<DeductionTable>,
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
    /// Somebody else decides when the rounds are used up. Otherwise that is the end.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub escalates: bool,
    /// Critics that judge by another rubric than the usual one: second lenses, by their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub own_rubrics: BTreeMap<String, OwnRubric>,
    /// The work is files in a folder of the node's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<PairFiles>,
}

/// A rubric that one critic judges by.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OwnRubric {
    pub rubric: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<DeductionTable>,
}

const fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_true(value: &bool) -> bool {
    *value
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

impl ScoreSettings {
    pub fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error> {
        let settings = serde_json::to_value(self)?;
        let book = super::RULE_BOOK;
        Ok(NodePlan { protocol: book.name.into(), version: book.version, limits, settings })
    }

    /// The settings of a plan, if a loop can be run by them.
    pub(super) fn read(plan: &NodePlan) -> Result<Self, String> {
        let settings: Self = Self::deserialize(&plan.settings)
            .map_err(|e| format!("the settings of `score` cannot be read: {e}"))?;
        let problem = settings.problem();
        problem.map_or(Ok(settings), Err)
    }

    fn problem(&self) -> Option<String> {
        if self.rounds == 0 {
            return Some("`rounds` is 0: at least one round is needed".into());
        }
        if !(1..=FULL).contains(&self.threshold) {
            return Some(format!("`threshold` is {}: it must be from 1 to {FULL}", self.threshold));
        }
        if self.max_parts == 0 {
            return Some("`max_parts` is 0: at least one part is needed".into());
        }
        match self.critics.as_slice() {
            [] if self.files.is_some() && self.worker.is_some() => {}
            [] => return Some("no critic is named".into()),
            [_] => {}
            [first, second] if first.lens != second.lens => {}
            [_, _] => return Some("two critics need two different lenses".into()),
            _ => return Some("at most two critics judge one work".into()),
        }
        match (&self.worker, &self.given) {
            (None, None) if self.files.as_ref().is_some_and(|files| !files.there.is_empty()) => {}
            (None, None) => return Some("neither a worker nor a work to judge is named".into()),
            (Some(_), Some(Work::Files(_) | Work::Tree(_))) => {
                return Some("a worker can go on only with a draft that is one text".into());
            }
            _ => {}
        }
        if matches!(&self.escalate_to, EscalateTo::Agent(name) if name.trim().is_empty()) {
            return Some("the agent to escalate to has no name".into());
        }
        let tables = self.own_rubrics.values().filter_map(|own| own.table.as_ref()).chain(&self.table);
        let problems: Vec<String> = tables.flat_map(DeductionTable::problems).collect();
        (!problems.is_empty()).then(|| problems.join("; "))
    }

    pub(super) fn manifest(self) -> RunManifest {
        let decider = match &self.escalate_to {
            EscalateTo::Agent(name) if self.worker.is_some() => Some(name.as_str()),
            _ => None,
        };
        let verify = self.files.iter().flat_map(|files| &files.verify).map(|command| &command.line);
        RunManifest { task: Some(self.task), rounds: Some(self.rounds), ..RunManifest::default() }
            .sit(Job::Worker, self.worker.as_deref())
            .sit(Job::Decider, decider)
            .judged_by(&self.critics)
            .judging(self.given.as_ref())
            .writing(self.out.as_ref())
            .running(&Purpose::Verify, verify)
    }

    /// The user's texts this plan names.
    pub(super) fn material(&self) -> Vec<Digest> {
        let mut all = vec![self.task, self.rubric];
        all.extend(self.invariants);
        all.extend(self.own_rubrics.values().map(|own| own.rubric));
        all.extend(self.references.iter().map(|r| r.text));
        all.extend(self.given.iter().flat_map(Work::material));
        if let Some(files) = &self.files {
            all.extend(files.identity.iter().chain(files.critics.values()));
        }
        all
    }

    /// What a critic is shown beside work and rubric: the invariants first.
    pub(super) fn shown_references(&self) -> Vec<Reference> {
        let invariants = self.invariants.map(|text| Reference { name: "invariants".into(), text });
        invariants.into_iter().chain(self.references.iter().cloned()).collect()
    }
}
