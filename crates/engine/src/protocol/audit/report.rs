//! A critic's report on one round: a verdict per success criterion, and findings by category.
//!
//! Replies are read in `reading::audit`. Parts of one review are united in `merging`; what a report means for the task is
//! decided in `routes`.

mod envelope;
mod merging;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::finding::Finding;

pub use envelope::{ReportEnvelope, file_name};
pub(crate) use envelope::{agrees, named_file, stated_error};
pub use merging::merge;

/// The report as it is kept on disk and published.
pub const SCHEMA: &str = include_str!("schema.json");
/// The same report as it is asked of a model that answers by a schema: every field is required.
pub const ANSWER_SCHEMA: &str = include_str!("answer-schema.json");

/// Names a report may give its author.
pub(crate) const AXES: [&str; 5] = ["critic", "style", "tests", "acceptance", "economy"];

/// One success criterion of the plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AuditCriterion {
    /// `SC-1` …
    pub id: String,
    pub claim: String,
}

impl AuditCriterion {
    pub fn judged(&self, verdict: SatisfactionVerdict, evidence: String) -> JudgedCriterion {
        let (id, claim) = (self.id.clone(), self.claim.clone());
        JudgedCriterion { id, claim, verdict, evidence, missing_info: String::new() }
    }
}

/// What the engine asked for; a report about anything else does not count.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedReport<'a> {
    pub task_id: &'a str,
    pub round: u32,
    pub criteria: &'a [AuditCriterion],
    /// The critic who was called.
    pub by: &'a str,
    /// The file the brief named for the report.
    pub report_path: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum SatisfactionVerdict {
    Satisfied,
    Unsatisfied,
    #[serde(rename = "Information-Missing")]
    InformationMissing,
    /// The critic did not get to it.
    #[serde(rename = "unverified")]
    Unverified,
}

/// A criterion of the plan with what the critic said about it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JudgedCriterion {
    pub id: String,
    pub claim: String,
    pub verdict: SatisfactionVerdict,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub missing_info: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportVerdict {
    Passed,
    IssuesFound,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AuditReport {
    pub critic: String,
    pub task_id: String,
    pub round: u32,
    /// One per criterion of the plan, in its order.
    pub criteria: Vec<JudgedCriterion>,
    /// What was stated as a finding; [`AuditReport::merged`] adds what follows from the criteria.
    pub findings: Vec<Finding>,
    /// The critic ran out of budget before it was done.
    pub partial: bool,
    /// Departures from the format that were tolerated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
}

impl AuditReport {
    /// About what was asked for, with nothing said yet.
    pub fn empty(expected: &ExpectedReport<'_>) -> Self {
        Self {
            critic: AXES[0].to_owned(),
            task_id: expected.task_id.to_owned(),
            round: expected.round,
            criteria: Vec::new(),
            findings: Vec::new(),
            partial: false,
            deviations: Vec::new(),
        }
    }

    /// A review that could not be made: it passes nothing and says why.
    pub fn critic_error(expected: &ExpectedReport<'_>, reason: &str) -> Self {
        let mut finding = Finding::new(
            super::routes::CRITIC_ERROR,
            crate::finding::Severity::Fail,
            format!("The critic could not review: {}", crate::brief::one_line(reason)),
            expected.by,
        );
        finding.fix = "Remove the cause, then let the critic judge again.".into();
        let unverified = |c: &AuditCriterion| c.judged(SatisfactionVerdict::Unverified, String::new());
        Self {
            criteria: expected.criteria.iter().map(unverified).collect(),
            findings: vec![finding],
            partial: true,
            ..Self::empty(expected)
        }
    }

    /// What the engine writes about a task whose plan has no criteria.
    pub fn without_criteria(task_id: &str, round: u32) -> Self {
        Self {
            critic: AXES[0].to_owned(),
            task_id: task_id.to_owned(),
            round,
            criteria: Vec::new(),
            findings: super::routes::without_criteria().blocking,
            partial: false,
            deviations: Vec::new(),
        }
    }

    /// Passed only if there are criteria, all of them are satisfied, nothing was found and nothing left out.
    pub fn verdict(&self) -> ReportVerdict {
        let satisfied = self.criteria.iter().all(|c| c.verdict == SatisfactionVerdict::Satisfied);
        let clean = !self.findings.iter().any(Finding::is_supported);
        if satisfied && clean && !self.partial && !self.criteria.is_empty() {
            ReportVerdict::Passed
        } else {
            ReportVerdict::IssuesFound
        }
    }

    /// Criteria on which nobody gave a verdict.
    pub fn unverified(&self) -> impl Iterator<Item = &JudgedCriterion> {
        self.criteria.iter().filter(|c| c.verdict == SatisfactionVerdict::Unverified)
    }

    /// Findings that fail, and criteria that are not met, counted before one becomes the other.
    pub fn blockers_count(&self) -> u64 {
        let fails =
            self.findings.iter().filter(|f| f.is_supported() && super::routes::weight(f) == FAIL).count();
        let unmet = self.criteria.iter().filter(|c| c.verdict == SatisfactionVerdict::Unsatisfied).count();
        (fails + unmet) as u64
    }

    /// What the evidence of the satisfied criteria points at, to be checked like findings.
    pub fn citations(&self, by: &str) -> Vec<Finding> {
        let satisfied = self.criteria.iter().filter(|c| c.verdict == SatisfactionVerdict::Satisfied);
        satisfied.flat_map(|c| crate::reading::citations::of(&c.id, &c.evidence, by)).collect()
    }
}

const FAIL: crate::finding::Severity = crate::finding::Severity::Fail;

/// The question a finding puts to the user.
pub fn question(finding: &Finding) -> Option<&str> {
    let asked = finding.raw.as_ref().and_then(|raw| raw.get("question_to_user")).and_then(Value::as_str);
    let asked = asked.map(str::trim).filter(|q| !q.is_empty());
    asked.or_else(|| (finding.rule == super::routes::QUESTION_TO_USER).then_some(finding.fix.as_str()))
}

#[cfg(test)]
mod tests;
