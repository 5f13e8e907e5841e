//! What one `audit` is about, frozen with the plan, and what it refuses to begin with.

use serde::{Deserialize, Serialize};

use crate::brief::Reference;
use crate::budget::Limits;
use crate::digest::Digest;
use crate::finding::Severity;
use crate::judging::{PARTS, Seat};
use crate::manifest::{Job, PlannedWrite, Purpose, RunManifest};
use crate::plan::NodePlan;
use crate::tree::Acceptance;
use crate::work::Work;

use super::economy::Economy;
use super::report::AuditCriterion;

/// Rounds unless the user says otherwise.
pub const ROUNDS: u32 = 3;
/// The most rounds a task may have, whoever grants them.
pub const MOST_ROUNDS: u32 = 100;
/// What one run of a verify command may take, unless the user says otherwise.
pub const VERIFY_TIMEOUT_MS: u64 = 10 * 60_000;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AuditSettings {
    pub task_id: String,
    pub task: Digest,
    /// The one list of success criteria, `SC-1` …
    #[serde(default)]
    pub criteria: Vec<AuditCriterion>,
    /// Patterns of the files the task may touch; none: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<String>,
    /// Commands for `sh -c` that have to succeed before a critic is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<String>,
    #[serde(default = "once")]
    pub verify_runs: u32,
    #[serde(default = "verify_timeout_ms")]
    pub verify_timeout_ms: u64,
    /// Decisions the work may not overturn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    /// Context: the plan, acceptance scenarios, the milestone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// The user brought the work: it is judged once, and nobody works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Work>,
    /// The run has a folder: the worker edits it, commands run in it, cited files are looked up in it.
    #[serde(default)]
    pub folder: bool,
    /// The executor. None: a review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Works from round 2 on; the executor, unless someone else is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_fixer: Option<String>,
    /// Finds out what is missing; without one, a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub researcher: Option<String>,
    /// Says how the task should be built, before anybody works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architect: Option<String>,
    /// Writes the task's tests, before anybody works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_writer: Option<String>,
    /// Exactly one: all axes are judged in one call.
    pub critics: Vec<Seat>,
    #[serde(default = "rounds")]
    pub rounds: u32,
    /// Findings below this are kept as notes.
    #[serde(default = "nit")]
    pub block_on: Severity,
    #[serde(default)]
    pub economy: Economy,
    /// What a change does to tests is found out before it is judged, and a person may let what is found stand. Not so in
    /// records from before that was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub examine: bool,
    /// How an approved tree is brought to the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<Acceptance>,
    #[serde(default = "parts")]
    pub max_parts: u32,
    /// The task stands in the project's own list: once its work is accepted, its status there says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_status: bool,
    /// For the envelope.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run_id: String,
    /// The folder reports are kept in, as the envelope names it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub report_dir: String,
}

const fn once() -> u32 {
    1
}

const fn verify_timeout_ms() -> u64 {
    VERIFY_TIMEOUT_MS
}

const fn rounds() -> u32 {
    ROUNDS
}

const fn nit() -> Severity {
    Severity::Nit
}

const fn parts() -> u32 {
    PARTS
}

impl AuditSettings {
    pub fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error> {
        let settings = serde_json::to_value(self)?;
        Ok(NodePlan {
            protocol: super::RULE_BOOK.name.into(),
            version: super::RULE_BOOK.version,
            limits,
            settings,
        })
    }

    pub(super) fn read(plan: &NodePlan) -> Result<Self, String> {
        Self::deserialize(&plan.settings).map_err(|e| format!("the settings of `audit` cannot be read: {e}"))
    }

    pub(super) fn manifest(self) -> RunManifest {
        let mut manifest = RunManifest {
            task: Some(self.task),
            criteria: self.criteria.iter().map(|c| format!("{}: {}", c.id, c.claim)).collect(),
            rounds: Some(self.rounds),
            ..RunManifest::default()
        }
        .sit(Job::Worker, self.worker.as_deref())
        .sit(Job::Fixer, self.build_fixer.as_deref())
        .sit(Job::Researcher, self.researcher.as_deref())
        .sit(Job::Researcher, self.architect.as_deref())
        .sit(Job::Worker, self.test_writer.as_deref())
        .judged_by(&self.critics)
        .judging(self.given.as_ref());
        if !self.report_dir.is_empty() {
            manifest.writes.push(PlannedWrite::Reports(self.report_dir));
        }
        if self.keeps_status {
            manifest.writes.push(PlannedWrite::TaskStatus(self.task_id));
        }
        if self.folder { manifest.running(&Purpose::Verify, &self.verify) } else { manifest }
    }

    /// Why a task like this cannot begin, if it cannot.
    pub(super) fn problem(&self) -> Option<String> {
        let mut ids: Vec<String> = self.criteria.iter().map(|c| c.id.trim().to_ascii_uppercase()).collect();
        ids.sort();
        let twice = ids.windows(2).find(|pair| pair.first() == pair.last()).and_then(|pair| pair.first());
        let said = |sentence: &str| Some(sentence.to_owned());
        if self.task_id.trim().is_empty() {
            said("the task has no id: a report has to name the task it is about")
        } else if ids.first().is_some_and(String::is_empty) {
            said("a success criterion has no id: number them SC-1, SC-2 …")
        } else if let Some(id) = twice {
            Some(format!("two success criteria have the id `{id}`: each needs its own"))
        } else if let Some(empty) = self.criteria.iter().find(|c| c.claim.trim().is_empty()) {
            Some(format!("the success criterion `{}` says nothing", empty.id))
        } else if self.critics.len() != 1 {
            Some(format!(
                "`audit` has exactly one critic, who judges every axis; {} are named",
                self.critics.len()
            ))
        } else if self.rounds == 0 || self.rounds > MOST_ROUNDS {
            Some(format!("`rounds` is {}: it must be between 1 and {MOST_ROUNDS}", self.rounds))
        } else if self.verify_runs == 0 {
            said("`verify_runs` is 0: a verify command has to run at least once")
        } else if self.verify_timeout_ms == 0 {
            said("the time for a verify command is 0: it needs a limit that it can keep")
        } else if self.worker.is_none() && self.given.is_none() {
            said("there is nothing to judge: name a worker, or bring the work")
        } else if self.worker.is_some() && self.given.is_some() {
            said("`audit` either judges work that was brought or has a worker do it, not both")
        } else if self.worker.is_some() && !self.folder {
            said("the worker of `audit` edits files, so the run needs a folder")
        } else if self.worker.is_none() && self.folder {
            said("a review has no folder: what it judges comes with its plan")
        } else {
            None
        }
    }
}
