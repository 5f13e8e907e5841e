//! Reads a critic's reply in the grammar of `converge`: a header, one answer per criterion, one failure
//! scenario, a result line.
//!
//! Pure text in, typed reply out, or every breach of the grammar at once. Lenient about form (emphasis,
//! arrows, case, a fence around the whole), strict about substance. What the reply *means* for the loop
//! is decided in `protocol/converge`.

use serde::{Deserialize, Serialize};

use super::escalation::Escalation;
use super::sets::{ADVERSARIAL, Criterion};
use crate::finding::{Finding, Severity};
use crate::reasoning;

mod breach;
mod citation;
mod entries;
mod fence;
mod lines;
mod phrases;
mod quantity;

pub use breach::{Breach, problem};

/// The longest text that is kept of an answer, in characters.
const LONGEST: usize = 4_000;

/// What a critic says about one criterion.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No defect, with a quantity to show for it.
    Pass,
    /// A defect the worker can fix.
    Fail { fix: String },
    /// A person has to decide.
    Escalate(Box<Escalation>),
    /// Cannot be settled here; the criterion counts as clean.
    Defer { reason: String },
}

impl Verdict {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail { .. } => "FAIL",
            Self::Escalate(_) => "ESCALATE",
            Self::Defer { .. } => "DEFER",
        }
    }

    /// PASS or DEFER.
    pub const fn is_clean(&self) -> bool {
        matches!(self, Self::Pass | Self::Defer { .. })
    }
}

/// One criterion's answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Judged {
    /// The criterion's name as the plan writes it.
    pub criterion: String,
    pub rationale: String,
    pub verdict: Verdict,
}

/// The one way in which the artifact might fail.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Scenario {
    pub says: String,
    /// A realistic scenario is a FAIL, and this is its fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// Why it is unrealistic, with a quantity; empty if it is realistic.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rationale: String,
}

impl Scenario {
    pub const fn is_realistic(&self) -> bool {
        self.fix.is_some()
    }
}

/// The result the critic wrote. It is compared with the computed one and decides nothing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Claim {
    pub result: Claimed,
    /// The line's text.
    pub text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claimed {
    Converged,
    Continue,
    Escalate,
    SafetyCap,
    /// None of the four words.
    Other,
}

impl Claim {
    fn read(text: &str) -> Self {
        let plain = text.trim_start_matches(['*', '_', '`', '{', ' ']);
        let begins = |word: &str| plain.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
        let words = [
            ("CONVERGED", Claimed::Converged),
            ("CONTINUE", Claimed::Continue),
            ("ESCALATE", Claimed::Escalate),
            ("SAFETY CAP", Claimed::SafetyCap),
        ];
        let result = words.iter().find(|(word, _)| begins(word)).map_or(Claimed::Other, |(_, c)| *c);
        Self { result, text: text.trim().to_owned() }
    }
}

/// A reply that keeps the grammar.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PassReply {
    /// One per criterion, in the plan's order.
    pub answers: Vec<Judged>,
    pub scenario: Scenario,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<Claim>,
    /// Departures from the form that were tolerated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
}

impl PassReply {
    /// Every criterion PASS or DEFER, and the scenario unrealistic.
    pub fn is_clean(&self) -> bool {
        self.answers.iter().all(|a| a.verdict.is_clean()) && !self.scenario.is_realistic()
    }

    /// Every criterion PASS, and the scenario unrealistic.
    pub fn all_pass(&self) -> bool {
        self.answers.iter().all(|a| a.verdict == Verdict::Pass) && !self.scenario.is_realistic()
    }

    pub fn escalations(&self) -> Vec<Escalation> {
        let asked = |a: &Judged| match &a.verdict {
            Verdict::Escalate(escalation) => Some(Escalation::clone(escalation)),
            _ => None,
        };
        self.answers.iter().filter_map(asked).collect()
    }

    /// FAIL, ESCALATE and DEFER items and a realistic scenario, with what they cite. Rationales of a PASS
    /// and of an unrealistic scenario are none.
    pub fn findings(&self, by: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        for Judged { criterion, rationale, verdict } in &self.answers {
            let (says, cited, fix) = match verdict {
                Verdict::Pass => continue,
                Verdict::Fail { fix } if rationale.is_empty() => (fix.clone(), String::new(), fix.as_str()),
                Verdict::Fail { fix } => (rationale.clone(), rationale.clone(), fix.as_str()),
                Verdict::Escalate(e) => (e.issue.clone(), format!("{rationale}\n{}", e.issue), ""),
                Verdict::Defer { reason } => (reason.clone(), format!("{rationale}\n{reason}"), ""),
            };
            // A deferred criterion is clean: what is put off is no error of the work.
            let severity = if verdict.is_clean() { Severity::Risk } else { Severity::Fail };
            let mut finding = Finding::new(criterion.as_str(), severity, says, by);
            finding.criterion = Some(criterion.clone());
            finding.raw = Some(serde_json::json!({ VERDICT: verdict.name() }));
            fix.clone_into(&mut finding.fix);
            citation::attach(&mut finding, &cited);
            findings.push(finding);
        }
        if let Some(fix) = &self.scenario.fix {
            let mut finding = Finding::new(ADVERSARIAL, Severity::Fail, self.scenario.says.as_str(), by);
            finding.fix.clone_from(fix);
            finding.raw = Some(serde_json::json!({ VERDICT: "FAIL" }));
            citation::attach(&mut finding, &self.scenario.says);
            findings.push(finding);
        }
        findings
    }
}

impl PassReply {
    /// What a PASS and an unrealistic scenario cite for the work, to be checked like findings.
    pub fn claims(&self, by: &str) -> Vec<Finding> {
        let passes = self.answers.iter().filter(|a| a.verdict == Verdict::Pass);
        let passes = passes.map(|a| (a.criterion.as_str(), a.rationale.as_str()));
        passes
            .chain([(ADVERSARIAL, self.scenario.rationale.as_str())])
            .flat_map(|(name, text)| citation::claims(&Finding::new(name, Severity::Nit, text, by), text))
            .collect()
    }
}

/// Under which a finding keeps the word it came from.
const VERDICT: &str = "verdict";

/// The verdict a finding came from: `FAIL`, `ESCALATE` or `DEFER`.
pub fn verdict_of(finding: &Finding) -> Option<&str> {
    finding.raw.as_ref()?.get(VERDICT)?.as_str()
}

/// Reads the reply of pass number `pass` on these criteria.
pub fn parse(reply: &str, criteria: &[Criterion], pass: u32) -> Result<PassReply, Vec<Breach>> {
    let text = reasoning::without_reasoning(reply, lines::has_header);
    if text.trim().is_empty() {
        return Err(vec![Breach::Empty]);
    }
    let gathered = lines::gather(&text, criteria);
    if gathered.headers == 0 {
        return Err(vec![Breach::NoHeader { pass }]);
    }
    entries::judge(&gathered, criteria, pass)
}

/// The first line of a draft that states a verdict or a result about itself.
pub fn verdict_line(text: &str) -> Option<String> {
    text.lines().find(|line| lines::is_verdict(line)).map(|line| line.trim().chars().take(200).collect())
}

#[cfg(test)]
mod tests;
