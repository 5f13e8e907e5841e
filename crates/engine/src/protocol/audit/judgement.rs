//! A critic's report as the panel weighs it: its findings, whether the work would pass by it, and what its
//! satisfied criteria rest on.

use crate::finding::{Finding, Severity};
use crate::judging::{Judgement, UnreadReply};

use super::economy::{self, Economy};
use super::report::{AuditCriterion, AuditReport, ExpectedReport, SatisfactionVerdict};
use super::routes;
use crate::corpus::Corpus;
use crate::reading::person::PersonVerdict;
use crate::reading::{Unread, audit, citations};

#[derive(Clone, Debug)]
pub(super) struct AuditJudgement {
    pub report: AuditReport,
    claims: Vec<Finding>,
    block_on: Severity,
    /// The critic saw only a part, so what it does not know says nothing yet.
    part: bool,
    /// A person says that it is so; nobody asks them for places.
    by_person: bool,
}

impl AuditJudgement {
    pub fn read(
        reading: &UnreadReply<'_>,
        expected: &ExpectedReport<'_>,
        economy: Economy,
        block_on: Severity,
    ) -> Result<Self, Unread> {
        if let Some(person) = reading.person {
            let report = by_person(person, expected);
            return Ok(Self { report, claims: Vec::new(), block_on, part: reading.partial, by_person: true });
        }
        let mut report = audit::read(reading.reply, reading.report, expected, reading.shown)?;
        economy::bound(&mut report.findings, economy);
        let claims = report.citations(reading.critic);
        Ok(Self { report, claims, block_on, part: reading.partial, by_person: false })
    }
}

impl Judgement for AuditJudgement {
    fn findings(&mut self) -> &mut Vec<Finding> {
        &mut self.report.findings
    }

    fn passes(&self) -> bool {
        let blocks = |f: &Finding| f.is_supported() && routes::weight(f) >= self.block_on;
        let stands = |verdict: SatisfactionVerdict| match verdict {
            SatisfactionVerdict::Satisfied => true,
            SatisfactionVerdict::Unsatisfied => false,
            SatisfactionVerdict::InformationMissing | SatisfactionVerdict::Unverified => self.part,
        };
        !self.report.partial
            && !self.report.findings.iter().any(blocks)
            && self.report.criteria.iter().all(|c| stands(c.verdict))
    }

    fn claims(&mut self) -> &mut [Finding] {
        &mut self.claims
    }

    /// Evidence that names nothing proves nothing.
    fn unproven(&self, corpus: &Corpus) -> Option<Unread> {
        if self.by_person {
            return None;
        }
        let cited =
            |id: &str| self.claims.iter().any(|c| c.criterion.as_deref() == Some(id) && c.is_supported());
        let satisfied = self.report.criteria.iter().filter(|c| c.verdict == SatisfactionVerdict::Satisfied);
        let mut empty =
            satisfied.filter(|c| !cited(&c.id) && !citations::names_something(&c.evidence, corpus));
        let first = empty.next()?;
        Some(Unread::torn(
            format!(
                "{} is Satisfied, but its evidence names nothing that can be looked up: give `path/file:line`, `path/file@test`, or a passage in double quotes",
                first.id
            ),
            "Satisfied",
            &first.evidence,
        ))
    }
}

/// A person's verdict as a report. A fix is about the criterion it names, or about the only one there is; the others have
/// nothing said against them.
fn by_person(person: &PersonVerdict, expected: &ExpectedReport<'_>) -> AuditReport {
    let names: Vec<&str> = expected.criteria.iter().map(|criterion| criterion.id.as_str()).collect();
    let only = names.first().copied().filter(|_| names.len() == 1);
    let mut findings = Vec::new();
    for (name, fix) in person.fixes_by_name(&names) {
        let mut finding = Finding::new(routes::UNMET_CRITERION, Severity::Fail, fix.as_str(), expected.by);
        finding.criterion = name.or(only).map(ToOwned::to_owned);
        finding.fix = fix;
        findings.push(finding);
    }
    let reason = Some(person.reason()).filter(|reason| !reason.is_empty());
    let judged = |criterion: &AuditCriterion| {
        let against = findings.iter().find(|f| f.criterion.as_ref() == Some(&criterion.id));
        AuditCriterion::judged(
            criterion,
            if against.is_some() { SatisfactionVerdict::Unsatisfied } else { SatisfactionVerdict::Satisfied },
            against
                .map(|f| f.says.clone())
                .or_else(|| reason.clone())
                .unwrap_or_else(|| person.said().to_owned()),
        )
    };
    AuditReport {
        criteria: expected.criteria.iter().map(judged).collect(),
        findings,
        ..AuditReport::empty(expected)
    }
}
