//! A critic's report as the panel weighs it: its findings, whether the work would pass by it, and what its
//! satisfied criteria rest on.

use crate::finding::{Finding, Severity};
use crate::judging::{Judgement, Reading};

use super::economy::{self, Economy};
use super::report::{self, CriterionVerdict, Expected, Report};
use super::routes;

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
    ) -> Result<Self, String> {
        let mut report =
            report::parse(reading.reply, reading.report, expected).map_err(|problem| problem.to_string())?;
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
}
