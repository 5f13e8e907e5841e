//! What one `converge` loop is about, frozen with the plan.

use serde::{Deserialize, Serialize};

use super::RULE_BOOK;
use super::sets::{ConvergeCriterion, problems};
use crate::brief::{Reference, one_line};
use crate::budget::Limits;
use crate::digest::Digest;
use crate::judging::{PARTS, Seat};
use crate::manifest::{Job, RunManifest};
use crate::plan::{NodePlan, Target};
use crate::work::Work;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ConvergeSettings {
    pub task: Digest,
    pub criteria: Vec<ConvergeCriterion>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// What earlier runs on the same artifact put off and nobody has resolved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deferred: Vec<DeferredEarlier>,
    /// Work the user brought: the critic speaks first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Work>,
    /// None: one judgement of what was given, and no loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Exactly one.
    pub critics: Vec<Seat>,
    /// The safety cap: at most so many passes.
    pub rounds: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<Target>,
    #[serde(default = "parts", skip_serializing_if = "is_parts")]
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

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
const fn is_parts(parts: &u32) -> bool {
    *parts == PARTS
}

impl ConvergeSettings {
    pub(super) fn manifest(self) -> RunManifest {
        RunManifest {
            task: Some(self.task),
            criteria: self.criteria.iter().map(|c| format!("{}: {}", c.name, c.question)).collect(),
            rounds: Some(self.rounds),
            put_off: self.deferred.into_iter().map(|item| item.criterion).collect(),
            ..RunManifest::default()
        }
        .sit(Job::Worker, self.worker.as_deref())
        .judged_by(&self.critics)
        .judging(self.given.as_ref())
        .writing(self.out.as_ref())
    }

    pub fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error> {
        let settings = serde_json::to_value(self)?;
        Ok(NodePlan { protocol: RULE_BOOK.name.into(), version: RULE_BOOK.version, limits, settings })
    }

    /// The settings of a plan, if a loop can be run by them.
    pub(super) fn read(plan: &NodePlan) -> Result<Self, String> {
        let settings: Self = Self::deserialize(&plan.settings)
            .map_err(|e| format!("the settings of `converge` cannot be read: {e}"))?;
        let mut wrong = problems(&settings.criteria);
        if settings.rounds == 0 {
            wrong.push("`rounds` is 0: at least one pass is needed".into());
        }
        if settings.critics.len() != 1 {
            wrong.push(format!("`converge` has exactly one critic; {} are named", settings.critics.len()));
        }
        match (&settings.worker, &settings.given) {
            (None, None) => wrong.push("there is neither a worker nor a work to judge".into()),
            (Some(_), Some(Work::Files(_) | Work::Tree(_))) => {
                wrong.push(
                    "a worker of `converge` writes one text: bring a text, or leave the worker out".into(),
                );
            }
            _ => {}
        }
        if wrong.is_empty() { Ok(settings) } else { Err(wrong.join("; ")) }
    }

    /// The criteria as critic and worker are shown them.
    pub(super) fn rubric(&self) -> String {
        let line = |c: &ConvergeCriterion| format!("[{}] {}\n", one_line(&c.name), one_line(&c.question));
        self.criteria.iter().map(line).collect()
    }

    pub(super) fn material(&self) -> Vec<Digest> {
        let mut all = vec![self.task];
        all.extend(self.references.iter().map(|r| r.text));
        all.extend(self.given.iter().flat_map(Work::material));
        all
    }
}
