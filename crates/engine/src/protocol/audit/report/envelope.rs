//! The envelope: the few fields a caller needs at a glance, and the report in the form it has on disk.
//!
//! A critic may reply with an envelope that names the report's file. What it states is compared with the
//! report; the engine's own envelope is computed, never copied.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::finding::Finding;

use super::{AuditReport, ExpectedReport, ReportVerdict, SatisfactionVerdict};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReportEnvelope {
    pub critic: String,
    pub task_id: String,
    pub round: u32,
    pub verdict: ReportVerdict,
    pub blockers_count: u64,
    /// None if the report could not be written; then `error` says why.
    pub report_path: Option<String>,
    pub run_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl AuditReport {
    pub fn envelope(&self, run_id: &str, report_path: &str) -> ReportEnvelope {
        ReportEnvelope {
            critic: self.critic.clone(),
            task_id: self.task_id.clone(),
            round: self.round,
            verdict: self.verdict(),
            blockers_count: self.blockers_count(),
            report_path: Some(report_path.to_owned()),
            run_id: run_id.to_owned(),
            error: None,
        }
    }

    /// The report for disk. Findings whose citation failed are in the journal, not here; a criterion
    /// nobody got to is left out, which `partial` explains.
    pub fn to_json(&self) -> String {
        let written = WrittenReport {
            critic: &self.critic,
            task_id: &self.task_id,
            round: self.round,
            criteria: self.criteria.iter().filter_map(written_criterion).collect(),
            findings: self
                .findings
                .iter()
                .filter(|f| f.is_supported())
                .enumerate()
                .map(|(at, f)| written_finding(at, f))
                .collect(),
            verdict: self.verdict(),
            partial: self.partial,
        };
        let mut text = serde_json::to_string_pretty(&written).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// The file's name, as the brief gives it to the critic.
pub fn file_name(task_id: &str, round: u32) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    format!("critic-{}-r{round}.json", task_id.chars().map(safe).collect::<String>())
}

#[derive(Serialize)]
struct WrittenReport<'a> {
    critic: &'a str,
    task_id: &'a str,
    round: u32,
    criteria: Vec<WrittenCriterion<'a>>,
    findings: Vec<WrittenFinding<'a>>,
    verdict: ReportVerdict,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    partial: bool,
}

#[derive(Serialize)]
struct WrittenCriterion<'a> {
    id: &'a str,
    claim: &'a str,
    verdict: SatisfactionVerdict,
    evidence: &'a str,
    missing_info: Option<&'a str>,
}

#[derive(Serialize)]
struct WrittenFinding<'a> {
    id: String,
    category: &'a str,
    severity: &'static str,
    file: Option<&'a str>,
    line: Option<u32>,
    remediation: &'a str,
    criterion_id: Option<&'a str>,
    question_to_user: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quote: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<Map<String, Value>>,
}

fn written_criterion(judged: &super::JudgedCriterion) -> Option<WrittenCriterion<'_>> {
    let missing_info = Some(judged.missing_info.as_str()).filter(|m| !m.is_empty());
    (judged.verdict != SatisfactionVerdict::Unverified).then_some(WrittenCriterion {
        id: &judged.id,
        claim: &judged.claim,
        verdict: judged.verdict,
        evidence: &judged.evidence,
        missing_info,
    })
}

fn written_finding(at: usize, finding: &Finding) -> WrittenFinding<'_> {
    let stated = |name: &str| finding.raw.as_ref().and_then(|raw| raw.get(name)).and_then(Value::as_str);
    let mut raw = finding.raw.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
    for written in ["id", "criterion_id", "question_to_user"] {
        raw.remove(written);
    }
    if finding.says != finding.fix && !raw.values().any(|v| v.as_str() == Some(&finding.says)) {
        raw.insert("message".into(), Value::String(finding.says.clone()));
    }
    let by_the_engine = finding.by == crate::finding::ENGINE;
    WrittenFinding {
        id: stated("id").map_or_else(
            || format!("{}-{:03}", if by_the_engine { 'E' } else { 'C' }, at + 1),
            str::to_owned,
        ),
        category: &finding.rule,
        severity: finding.severity.name(),
        file: finding.place.as_ref().map(|p| p.path.as_str()),
        line: finding.place.as_ref().and_then(|p| p.line),
        remediation: if finding.fix.is_empty() { &finding.says } else { &finding.fix },
        criterion_id: finding.criterion.as_deref(),
        question_to_user: stated("question_to_user"),
        quote: finding.quote.as_deref(),
        raw: Some(raw).filter(|r| !r.is_empty()),
    }
}

/// The file an envelope names, or none if it says that the report could not be written.
pub(crate) fn named_file(
    envelope: &Map<String, Value>,
    expected: &ExpectedReport<'_>,
    deviations: &mut Vec<String>,
) -> Result<Option<String>, Vec<String>> {
    let named = match envelope.get("report_path") {
        Some(Value::String(path)) if !path.trim().is_empty() => path.trim(),
        _ if envelope.get("verdict").and_then(Value::as_str) == Some("passed") => {
            return Err(vec!["`passed`, and yet there is no report".into()]);
        }
        _ if envelope.get("error").and_then(Value::as_str).is_none_or(|e| e.trim().is_empty()) => {
            return Err(vec![
                "the envelope names no report and no `error`: reply with the report itself".into(),
            ]);
        }
        _ => return Ok(None),
    };
    if named != expected.report_path {
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        if name(named) != name(expected.report_path) {
            let named: String = named.chars().take(200).collect();
            return Err(vec![format!(
                "the envelope names the report file `{named}`, but the brief asked for `{}`",
                expected.report_path
            )]);
        }
        deviations.push("the envelope names the report's file in another folder".into());
    }
    Ok(Some(named.chars().take(200).collect()))
}

pub(crate) fn stated_error(envelope: &Map<String, Value>) -> String {
    let error = envelope.get("error").and_then(Value::as_str).unwrap_or_default();
    let error: String = crate::brief::one_line(error).chars().take(400).collect();
    format!("its report could not be written ({error})")
}

/// An envelope must be about this task and round and state the report's verdict; its count is only noted.
pub(crate) fn agrees(
    envelope: &Map<String, Value>,
    report: &AuditReport,
    expected: &ExpectedReport<'_>,
    deviations: &mut Vec<String>,
) -> Result<(), Vec<String>> {
    let mut breaches = Vec::new();
    if envelope.get("task_id").is_some_and(|id| id.as_str() != Some(expected.task_id)) {
        breaches.push(format!("the envelope's `task_id` is not `{}`", expected.task_id));
    }
    if envelope.get("round").is_some_and(|n| n.as_u64() != Some(u64::from(expected.round))) {
        breaches.push(format!("the envelope's `round` is not {}", expected.round));
    }
    let verdict = match report.verdict() {
        ReportVerdict::Passed => "passed",
        ReportVerdict::IssuesFound => "issues_found",
    };
    if envelope.get("verdict").and_then(Value::as_str) != Some(verdict) {
        breaches.push(format!("the envelope's verdict is not the report's, `{verdict}`"));
    }
    let counted = report.blockers_count();
    if envelope.get("blockers_count").is_some_and(|n| n.as_u64() != Some(counted)) {
        deviations.push(format!("the envelope counts other blockers; there are {counted}"));
    }
    if breaches.is_empty() { Ok(()) } else { Err(breaches) }
}
