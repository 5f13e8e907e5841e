//! A critic's report on one round: a verdict per success criterion, and findings by category.
//!
//! [`parse`] reads a reply that is the report, or an envelope that names the report's file, and refuses
//! whatever leaves open what was judged. Parts of one review are united in `merging`; what a report means
//! for the task is decided in `routes`.

mod envelope;
mod json;
mod merging;
mod reading;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::finding::Finding;

pub use envelope::{Envelope, file_name};
pub use json::MOST_BYTES;
pub use merging::merge;

/// The report as it is kept on disk and published.
pub const SCHEMA: &str = include_str!("schema.json");
/// The same report as it is asked of a model that answers by a schema: every field is required.
pub const ANSWER_SCHEMA: &str = include_str!("answer-schema.json");

/// Names a report may give its author.
const AXES: [&str; 5] = ["critic", "style", "tests", "acceptance", "economy"];

/// One success criterion of the plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Criterion {
    /// `SC-1` …
    pub id: String,
    pub claim: String,
}

/// What the engine asked for; a report about anything else does not count.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    pub task_id: &'a str,
    pub round: u32,
    pub criteria: &'a [Criterion],
    /// The critic who was called.
    pub by: &'a str,
    /// The file the brief named for the report.
    pub report_path: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum CriterionVerdict {
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
pub struct Judged {
    pub id: String,
    pub claim: String,
    pub verdict: CriterionVerdict,
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
pub struct Report {
    pub critic: String,
    pub task_id: String,
    pub round: u32,
    /// One per criterion of the plan, in its order.
    pub criteria: Vec<Judged>,
    /// What was stated as a finding; [`Report::merged`] adds what follows from the criteria.
    pub findings: Vec<Finding>,
    /// The critic ran out of budget before it was done.
    pub partial: bool,
    /// Departures from the format that were tolerated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
}

/// Why a reply is no report; the sentence goes into the request to restate.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Malformed {
    #[error("the reply is empty")]
    Empty,
    #[error("the reply has {bytes} bytes; at most {most} are read: shorten the texts of the report")]
    TooLong { bytes: usize, most: usize },
    #[error("the reply holds no report: reply with one JSON object, beginning on a line of its own")]
    NoReport,
    #[error("the reply holds too many JSON objects and none of them is a report")]
    TooManyObjects,
    #[error("the report cannot be read: {0}")]
    Unreadable(String),
    #[error("the reply states more than one verdict: reply with exactly one report and nothing else")]
    TwoVerdicts,
    #[error("the envelope names the report file `{named}`, but the brief asked for `{expected}`")]
    OtherFile { named: String, expected: String },
    #[error(
        "the envelope names the report file `{0}`, but no such file was written: reply with the report itself"
    )]
    NoFile(String),
    #[error("the report breaks its rules:\n- {}", .0.join("\n- "))]
    Breaches(Vec<String>),
}

/// Reads a critic's reply. `file` is the text of the report file, where the critic wrote one.
pub fn parse(reply: &str, file: Option<&str>, expected: &Expected<'_>) -> Result<Report, Malformed> {
    let stated = json::find(reply)?;
    let mut deviations = Vec::new();
    if stated.repeated {
        deviations.push("the report stands twice in the reply".to_owned());
    }
    let mut report = match (stated.report, stated.envelope) {
        (Some(report), None) => reading::report(report, expected)?,
        (Some(report), Some(envelope)) => {
            deviations.push("an envelope beside the report".to_owned());
            let report = reading::report(report, expected)?;
            envelope::agrees(&envelope, &report, expected, &mut deviations)?;
            report
        }
        (None, Some(envelope)) => from_envelope(&envelope, file, expected, &mut deviations)?,
        (None, None) => return Err(Malformed::NoReport),
    };
    report.deviations.splice(0..0, deviations);
    Ok(report)
}

fn from_envelope(
    envelope: &Map<String, Value>,
    file: Option<&str>,
    expected: &Expected<'_>,
    deviations: &mut Vec<String>,
) -> Result<Report, Malformed> {
    let Some(named) = envelope::named_file(envelope, expected, deviations)? else {
        return Ok(Report::critic_error(expected, &envelope::stated_error(envelope)));
    };
    let text = file.ok_or(Malformed::NoFile(named))?;
    let Some(report) = json::find(text)?.report else {
        return Err(Malformed::Unreadable("the report file holds no report".into()));
    };
    let report = reading::report(report, expected)?;
    envelope::agrees(envelope, &report, expected, deviations)?;
    Ok(report)
}

/// The verdict that a text states in the form of a report, an envelope or a status line.
pub fn stated_verdict(text: &str) -> Option<String> {
    let Ok(stated) = json::find(text) else { return crate::status_grammar::status_line(text) };
    let object = stated.report.or(stated.envelope)?;
    let verdict = object.get("verdict").and_then(Value::as_str).unwrap_or_default();
    Some(format!(
        "a report of its own, verdict `{}`",
        crate::brief::one_line(verdict).chars().take(80).collect::<String>()
    ))
}

impl Report {
    /// A review that could not be made: it passes nothing and says why.
    pub fn critic_error(expected: &Expected<'_>, reason: &str) -> Self {
        let mut finding = Finding::new(
            super::routes::CRITIC_ERROR,
            crate::finding::Severity::Fail,
            format!("The critic could not review: {}", crate::brief::one_line(reason)),
            expected.by,
        );
        finding.fix = "Remove the cause, then let the critic judge again.".into();
        let unverified = |c: &Criterion| Judged {
            id: c.id.clone(),
            claim: c.claim.clone(),
            verdict: CriterionVerdict::Unverified,
            evidence: String::new(),
            missing_info: String::new(),
        };
        Self {
            critic: AXES[0].to_owned(),
            task_id: expected.task_id.to_owned(),
            round: expected.round,
            criteria: expected.criteria.iter().map(unverified).collect(),
            findings: vec![finding],
            partial: true,
            deviations: Vec::new(),
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
        let satisfied = self.criteria.iter().all(|c| c.verdict == CriterionVerdict::Satisfied);
        let clean = !self.findings.iter().any(Finding::is_supported);
        if satisfied && clean && !self.partial && !self.criteria.is_empty() {
            ReportVerdict::Passed
        } else {
            ReportVerdict::IssuesFound
        }
    }

    /// Criteria on which nobody gave a verdict.
    pub fn unverified(&self) -> impl Iterator<Item = &Judged> {
        self.criteria.iter().filter(|c| c.verdict == CriterionVerdict::Unverified)
    }

    /// Findings that fail, and criteria that are not met, counted before one becomes the other.
    pub fn blockers_count(&self) -> u64 {
        let fails =
            self.findings.iter().filter(|f| f.is_supported() && super::routes::weight(f) == FAIL).count();
        let unmet = self.criteria.iter().filter(|c| c.verdict == CriterionVerdict::Unsatisfied).count();
        (fails + unmet) as u64
    }

    /// What the evidence of the satisfied criteria points at, to be checked like findings.
    pub fn citations(&self, by: &str) -> Vec<Finding> {
        let satisfied = self.criteria.iter().filter(|c| c.verdict == CriterionVerdict::Satisfied);
        satisfied.flat_map(|c| super::citations::of(&c.id, &c.evidence, by)).collect()
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
