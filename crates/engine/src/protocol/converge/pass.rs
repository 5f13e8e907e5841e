//! What one pass found: the replies of all parts taken together, and what of it blocks.
//!
//! Facts only. Whether the loop goes on is decided in `protocol/converge`.

use std::collections::{BTreeMap, BTreeSet};

use super::escalation::Escalation;
use super::sets::{ADVERSARIAL, ConvergeCriterion};
use crate::brief::one_line;
use crate::digest::Digest;
use crate::finding::{Finding, FindingStatus, Severity};
use crate::judging::{Judgement, SeatReview};
use crate::reading::pass::{Claim, Judged, PassReply, Scenario, Verdict, verdict_of, with_verdict};
use crate::reading::person::PersonVerdict;
use crate::review::CriterionVerdict;

/// A critic's reply on one part of the work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PartReply {
    reply: PassReply,
    findings: Vec<Finding>,
    /// Reasons to pass a criterion or to put it off leave it clean: what they cite has to hold.
    claims: Vec<Finding>,
}

/// A text the critic was shown beside the work, and may cite as well.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CitableText {
    pub name: String,
    pub text: String,
}

impl CitableText {
    fn holds(&self, claim: &Finding) -> bool {
        let named = claim.place.as_ref().is_some_and(|p| p.path == self.name);
        let quoted = claim.quote.as_ref().is_some_and(|q| self.text.contains(&one_line(q)));
        named || quoted
    }
}

impl PartReply {
    pub fn new(reply: PassReply, critic: &str, beside: &[CitableText]) -> Self {
        let findings = reply.findings(critic);
        let mut claims = reply.claims(critic);
        claims.retain(|claim| !beside.iter().any(|text| text.holds(claim)));
        claims.extend(findings.iter().filter(|f| verdict_of(f) == Some("DEFER")).cloned());
        Self { reply, findings, claims }
    }

    /// A person's verdict. A fix is about the criterion it names; what names none is a way in which the work fails.
    pub fn by_person(person: &PersonVerdict, criteria: &[ConvergeCriterion], critic: &str) -> Self {
        let names: Vec<&str> = criteria.iter().map(|criterion| criterion.name.as_str()).collect();
        let fixes = person.fixes_by_name(&names);
        let of = |name: Option<&str>| -> Vec<&str> {
            fixes.iter().filter(|(of, _)| *of == name).map(|(_, fix)| fix.as_str()).collect()
        };
        let because = Some(person.reason()).filter(|reason| !reason.is_empty());
        let because = because.unwrap_or_else(|| person.said().to_owned());
        let judged = |name: &&str| match of(Some(name)).join("; ") {
            fix if fix.is_empty() => {
                Judged { criterion: (*name).to_owned(), rationale: because.clone(), verdict: Verdict::Pass }
            }
            fix => Judged {
                criterion: (*name).to_owned(),
                rationale: String::new(),
                verdict: Verdict::Fail { fix },
            },
        };
        let elsewhere = of(None).join("; ");
        let scenario = Scenario {
            says: if elsewhere.is_empty() { "none is named".to_owned() } else { elsewhere.clone() },
            fix: Some(elsewhere).filter(|fix| !fix.is_empty()),
            rationale: because.clone(),
            others: Vec::new(),
        };
        let answers = names.iter().map(judged).collect();
        let reply = PassReply { answers, scenario, claimed: None, deviations: Vec::new() };
        let finding = |(of, fix): &(Option<&str>, String)| {
            let mut finding = Finding::new(of.unwrap_or(ADVERSARIAL), Severity::Fail, fix.as_str(), critic);
            finding.criterion = of.map(ToOwned::to_owned);
            finding.fix.clone_from(fix);
            with_verdict(finding, "FAIL")
        };
        Self { findings: fixes.iter().map(finding).collect(), reply, claims: Vec::new() }
    }

    pub const fn reply(&self) -> &PassReply {
        &self.reply
    }

    /// Questions whose citations hold.
    fn escalations(&self) -> impl Iterator<Item = Escalation> {
        let supported = |e: &Escalation| self.findings.iter().any(|f| f.rule == e.criterion);
        self.reply.escalations().into_iter().filter(supported)
    }
}

impl Judgement for PartReply {
    fn findings(&mut self) -> &mut Vec<Finding> {
        &mut self.findings
    }

    fn passes(&self) -> bool {
        self.findings.iter().all(|f| verdict_of(f) == Some("DEFER"))
    }

    fn claims(&mut self) -> &mut [Finding] {
        &mut self.claims
    }
}

/// How a criterion stands after all parts: the worst that any of them says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Standpoint {
    Pass,
    Defer,
    Fail,
    Escalate,
}

impl Standpoint {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Defer => "DEFER",
            Self::Fail => "FAIL",
            Self::Escalate => "ESCALATE",
        }
    }

    pub const fn is_clean(self) -> bool {
        matches!(self, Self::Pass | Self::Defer)
    }

    const fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Pass,
            Verdict::Defer { .. } => Self::Defer,
            Verdict::Fail { .. } => Self::Fail,
            Verdict::Escalate(_) => Self::Escalate,
        }
    }
}

/// One criterion's answer, all parts taken together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CriterionAnswer {
    pub criterion: String,
    pub question: String,
    pub standpoint: Standpoint,
    /// Rationale, fix or reason, as a person would read it.
    pub because: String,
    /// A person put it off: it stays so, whatever the critic says.
    pub put_off: bool,
}

/// One pass as it stands after the critic's reply.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    /// What was judged.
    pub artifact: Digest,
    pub answers: Vec<CriterionAnswer>,
    pub realistic: bool,
    /// The failure scenarios, each with its fix or why it is unrealistic.
    pub scenario: String,
    /// Supported findings of this pass, numbered, and the unsupported ones.
    pub findings: Vec<Finding>,
    pub unsupported: Vec<Finding>,
    pub escalations: Vec<Escalation>,
    pub claims: Vec<Claim>,
    pub deviations: Vec<String>,
}

impl Pass {
    /// Takes the parts together. `put_off` are the criteria a person skipped, with the reason.
    pub fn of(
        heard: &SeatReview<PartReply>,
        artifact: Digest,
        criteria: &[ConvergeCriterion],
        put_off: &BTreeMap<String, String>,
    ) -> Self {
        let replies = || heard.parts.iter().map(|part| &part.judgement.reply);
        let answers = criteria.iter().map(|criterion| answer(criterion, replies(), put_off)).collect();
        let escalations = heard.parts.iter().flat_map(|part| part.judgement.escalations());
        Self {
            artifact,
            answers,
            realistic: replies().any(|r| r.scenario.is_realistic()),
            scenario: replies()
                .flat_map(|r| r.scenario.all())
                .map(shown_scenario)
                .collect::<Vec<_>>()
                .join("; "),
            findings: heard.parts.iter().flat_map(|p| p.judgement.findings.clone()).collect(),
            unsupported: heard.parts.iter().flat_map(|p| p.unsupported.clone()).collect(),
            escalations: escalations.filter(|e| !put_off.contains_key(&e.criterion)).collect(),
            claims: replies().filter_map(|r| r.claimed.clone()).collect(),
            deviations: replies().flat_map(|r| r.deviations.clone()).collect(),
        }
    }

    /// Every criterion PASS or DEFER.
    pub fn is_clean(&self) -> bool {
        self.answers.iter().all(|a| a.standpoint.is_clean())
    }

    /// No finding but those seen in earlier passes. Of one that only may be an earlier one this is known
    /// if its criterion was deferred before. What a person put off is settled, however the critic words it.
    pub fn has_nothing_new(&self, deferred: &BTreeSet<String>) -> bool {
        let seen = |f: &Finding| match f.standing {
            FindingStatus::Recurring | FindingStatus::Regressed => true,
            FindingStatus::Unmatched => f.criterion.as_ref().is_some_and(|c| deferred.contains(c)),
            FindingStatus::New => false,
        };
        self.findings.iter().all(|f| seen(f) || self.is_put_off(f))
    }

    /// What the worker has to mend: FAILs, and a realistic scenario.
    pub fn fails(&self) -> Vec<Finding> {
        let fails = |f: &&Finding| verdict_of(f) == Some("FAIL") && !self.is_put_off(f);
        self.findings.iter().filter(fails).cloned().collect()
    }

    /// What stands between the work and its approval.
    pub fn blocking(&self) -> Vec<Finding> {
        let blocks = |f: &&Finding| verdict_of(f) != Some("DEFER") && !self.is_put_off(f);
        self.findings.iter().filter(blocks).cloned().collect()
    }

    pub fn deferred(&self) -> impl Iterator<Item = &CriterionAnswer> {
        self.answers.iter().filter(|a| a.standpoint == Standpoint::Defer)
    }

    pub fn verdicts(&self) -> Vec<CriterionVerdict> {
        let scenario = CriterionVerdict {
            id: ADVERSARIAL.to_owned(),
            claim: "Is there a realistic scenario in which this fails?".to_owned(),
            verdict: if self.realistic { "FAIL" } else { "PASS" }.to_owned(),
            clean: !self.realistic,
            because: self.scenario.clone(),
        };
        let verdict = |a: &CriterionAnswer| CriterionVerdict {
            id: a.criterion.clone(),
            claim: a.question.clone(),
            verdict: a.standpoint.name().to_owned(),
            clean: a.standpoint.is_clean(),
            because: a.because.clone(),
        };
        self.answers.iter().map(verdict).chain([scenario]).collect()
    }

    /// A person puts these criteria off.
    pub fn put_off(&mut self, criterion: &str, reason: &str) {
        for answer in self.answers.iter_mut().filter(|a| a.criterion == criterion) {
            (answer.standpoint, answer.put_off) = (Standpoint::Defer, true);
            reason.clone_into(&mut answer.because);
        }
    }

    /// The numbers of a criterion's findings.
    pub fn numbers_of(&self, criterion: &str) -> impl Iterator<Item = u32> {
        let of = move |f: &&Finding| f.criterion.as_deref() == Some(criterion);
        self.findings.iter().filter(of).map(|f| f.number)
    }

    fn is_put_off(&self, finding: &Finding) -> bool {
        let of = |a: &&CriterionAnswer| finding.criterion.as_ref() == Some(&a.criterion);
        self.answers.iter().find(of).is_some_and(|a| a.put_off)
    }
}

fn shown_scenario(scenario: &Scenario) -> String {
    match &scenario.fix {
        Some(fix) => format!("{} → {fix}", scenario.says),
        None => format!("{}: unrealistic, {}", scenario.says, scenario.rationale),
    }
}

fn answer<'a>(
    criterion: &ConvergeCriterion,
    replies: impl Iterator<Item = &'a PassReply>,
    put_off: &BTreeMap<String, String>,
) -> CriterionAnswer {
    let mut answer = CriterionAnswer {
        criterion: criterion.name.clone(),
        question: criterion.question.clone(),
        standpoint: Standpoint::Pass,
        because: String::new(),
        put_off: false,
    };
    if let Some(reason) = put_off.get(&criterion.name) {
        (answer.standpoint, answer.put_off) = (Standpoint::Defer, true);
        answer.because.clone_from(reason);
        return answer;
    }
    for judged in replies.flat_map(|r| r.answers.iter().filter(|a| a.criterion == criterion.name)) {
        let standpoint = Standpoint::of(&judged.verdict);
        let because = match &judged.verdict {
            Verdict::Pass => judged.rationale.clone(),
            Verdict::Fail { fix } => fix.clone(),
            Verdict::Defer { reason } => reason.clone(),
            Verdict::Escalate(escalation) => escalation.issue.clone(),
        };
        if standpoint > answer.standpoint || answer.because.is_empty() {
            (answer.standpoint, answer.because) = (standpoint, because);
        }
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_to_have_been_seen_is_not_new() {
        let on_record = BTreeSet::from(["SOURCES".to_owned()]);
        for (standing, deferred, seen) in [
            (FindingStatus::New, false, false),
            (FindingStatus::New, true, false),
            (FindingStatus::Unmatched, false, false),
            (FindingStatus::Unmatched, true, true),
            (FindingStatus::Recurring, false, true),
            (FindingStatus::Regressed, false, true),
        ] {
            let mut finding = Finding::new("SOURCES", Severity::Risk, "later", "cato");
            (finding.standing, finding.criterion) = (standing, Some("SOURCES".into()));
            let pass = Pass {
                artifact: Digest::of(b"x"),
                answers: Vec::new(),
                realistic: false,
                scenario: String::new(),
                findings: vec![finding],
                unsupported: Vec::new(),
                escalations: Vec::new(),
                claims: Vec::new(),
                deviations: Vec::new(),
            };
            let record = if deferred { on_record.clone() } else { BTreeSet::new() };
            assert_eq!(pass.has_nothing_new(&record), seen, "{standing:?}, deferred before: {deferred}");
        }
    }
}
