//! A critic's report as the panel weighs it: its findings, whether the work would pass by it, and what its
//! satisfied criteria rest on.

use crate::finding::{Finding, Severity};
use crate::judging::{Judgement, Reading};

use super::economy::{self, Economy};
use super::report::{CriterionVerdict, Expected, Report};
use super::routes;
use crate::corpus::Corpus;
use crate::reading::{Unread, audit, citations};

#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub report: Report,
    claims: Vec<Finding>,
    block_on: Severity,
    /// The critic saw only a part, so what it does not know says nothing yet.
    part: bool,
}

impl Judged {
    pub fn read(
        reading: &Reading<'_>,
        expected: &Expected<'_>,
        economy: Economy,
        block_on: Severity,
    ) -> Result<Self, Unread> {
        let mut report = audit::read(reading.reply, reading.report, expected, reading.shown)?;
        economy::bound(&mut report.findings, economy);
        let claims = report.citations(reading.critic);
        Ok(Self { report, claims, block_on, part: reading.partial })
    }
}

impl Judgement for Judged {
    fn findings(&mut self) -> &mut Vec<Finding> {
        &mut self.report.findings
    }

    fn passes(&self) -> bool {
        let blocks = |f: &Finding| f.is_supported() && routes::weight(f) >= self.block_on;
        let stands = |verdict: CriterionVerdict| match verdict {
            CriterionVerdict::Satisfied => true,
            CriterionVerdict::Unsatisfied => false,
            CriterionVerdict::InformationMissing | CriterionVerdict::Unverified => self.part,
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
        let cited =
            |id: &str| self.claims.iter().any(|c| c.criterion.as_deref() == Some(id) && c.is_supported());
        let satisfied = self.report.criteria.iter().filter(|c| c.verdict == CriterionVerdict::Satisfied);
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
