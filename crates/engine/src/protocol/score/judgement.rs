//! A critic's report as points: one reply (`Scored`), and all parts of one seat united (`Tallied`). What a
//! score leads to is decided in `score`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::deduction::{self, Amount, Deduction, DeductionTable, Level, Sheet, deductions};
use crate::finding::{Finding, Severity};
use crate::judging::{Judgement, SeatReview, UnreadReply};
use crate::reading::Unread;
use crate::reading::person::PersonVerdict;
use crate::reading::score::{self, Expected};
use crate::review;

use super::settings::ScoreSettings;

/// What every reply of a loop is read against.
#[derive(Debug)]
pub(super) struct Basis {
    pub table: Option<DeductionTable>,
    pub level: Level,
    pub threshold: u32,
}

/// What each critic's replies are read against: by its own rubric, where it has one.
#[derive(Debug)]
pub(super) struct Bases {
    usual: Arc<Basis>,
    own: BTreeMap<String, Arc<Basis>>,
}

impl Bases {
    pub(super) fn of_settings(settings: &ScoreSettings) -> Self {
        let basis = |table: &Option<DeductionTable>| {
            let (level, threshold) = (settings.severity, settings.threshold);
            Arc::new(Basis { table: table.clone(), level, threshold })
        };
        let own = settings.own_rubrics.iter().map(|(critic, own)| (critic.clone(), basis(&own.table)));
        Self { usual: basis(&settings.table), own: own.collect() }
    }

    /// By the critic whose seat it is, whoever answers for it.
    pub(super) fn of(&self, seat: &str) -> &Arc<Basis> {
        self.own.get(seat).unwrap_or(&self.usual)
    }
}

/// One reply, read.
#[derive(Clone, Debug)]
pub(super) struct Scored {
    pub findings: Vec<Finding>,
    pub stated: Option<Amount>,
    pub notes: Vec<String>,
    pub deviations: Vec<String>,
    /// A person gave the points: they are not added up by rows.
    by_person: bool,
    basis: Arc<Basis>,
}

/// Everything one seat said, as one score.
#[derive(Clone, Debug)]
pub(super) struct Tallied {
    pub sheet: Sheet,
    pub findings: Vec<Finding>,
    pub unsupported: Vec<Finding>,
    pub notes: Vec<String>,
    pub deviations: Vec<String>,
    /// It passes only because findings whose citations do not hold were left out.
    pub passes_by_bad_citations: bool,
    threshold: u32,
}

impl Judgement for Scored {
    fn findings(&mut self) -> &mut Vec<Finding> {
        &mut self.findings
    }

    fn passes(&self) -> bool {
        self.sheet().score >= self.basis.threshold
    }
}

impl Scored {
    pub(super) fn read(reading: &UnreadReply<'_>, basis: &Arc<Basis>) -> Result<Self, Unread> {
        if let Some(person) = reading.person {
            return Ok(Self::by_person(person, reading.critic, basis));
        }
        let expected = Expected {
            table: basis.table.as_ref(),
            level: basis.level,
            threshold: basis.threshold,
            by: reading.critic,
            lens: reading.lens,
        };
        let read = score::read(reading.reply, &expected, reading.shown)?;
        let scored = Self {
            findings: read.findings,
            stated: read.stated,
            notes: read.notes,
            deviations: read.deviations,
            by_person: false,
            basis: Arc::clone(basis),
        };
        if !scored.passes() && scored.findings.is_empty() {
            return Err(Unread::new(
                "the score is too low to pass and nothing is named that could be mended",
            ));
        }
        Ok(scored)
    }

    fn by_person(person: &PersonVerdict, by: &str, basis: &Arc<Basis>) -> Self {
        let finding = |fix: String| Finding::new(score::NO_ROW, Severity::Risk, fix, by);
        Self {
            findings: person.fixes().into_iter().map(finding).collect(),
            stated: Some(Amount::whole(person.points())),
            notes: Some(person.reason()).filter(|reason| !reason.is_empty()).into_iter().collect(),
            deviations: Vec::new(),
            by_person: true,
            basis: Arc::clone(basis),
        }
    }

    fn sheet(&self) -> Sheet {
        self.basis.sheet(&deductions(&self.findings), self.stated, self.by_person)
    }
}

impl Basis {
    /// Rows are looked up when a reply is read, so that none is unknown here; if one were, nothing passes.
    fn sheet(&self, list: &[Deduction], stated: Option<Amount>, by_person: bool) -> Sheet {
        match self.table.as_ref().filter(|_| !by_person) {
            Some(table) => deduction::tally(table, self.level, list, stated)
                .unwrap_or_else(|_| deduction::stated(Amount::ZERO)),
            None => deduction::stated(stated.unwrap_or(Amount::ZERO)),
        }
    }

    /// Unites the parts: deductions before maxima apply. Where only a number is stated, the lowest counts.
    pub(super) fn tally(&self, heard: &SeatReview<Scored>) -> Tallied {
        let mut findings = Vec::new();
        let mut unsupported = Vec::new();
        let (mut notes, mut deviations) = (Vec::new(), Vec::new());
        for part in &heard.parts {
            let said = &part.judgement;
            findings.extend(said.findings.iter().cloned());
            unsupported.extend(part.unsupported.iter().cloned());
            notes.extend(said.notes.iter().cloned());
            deviations.extend(said.deviations.iter().cloned());
            let sheet = said.sheet();
            if let (Some(stated), Some(_)) = (sheet.stated, sheet.difference) {
                let sum = sheet.unfloored.max(Amount::ZERO);
                deviations.push(format!("the critic states {stated}; by its deductions the score is {sum}"));
            }
        }
        let stated = match heard.parts.as_slice() {
            [one] => one.judgement.stated,
            parts if self.table.is_none() => parts.iter().filter_map(|p| p.judgement.stated).min(),
            _ => None,
        };
        let by_person = heard.parts.iter().any(|part| part.judgement.by_person);
        let sheet = self.sheet(&deductions(&findings), stated, by_person);
        let everything: Vec<Deduction> =
            deductions(&findings).into_iter().chain(cited_in_vain(&unsupported)).collect();
        let with_all = self.sheet(&everything, stated, by_person);
        Tallied {
            passes_by_bad_citations: sheet.score >= self.threshold && with_all.score < self.threshold,
            threshold: self.threshold,
            sheet,
            findings,
            unsupported,
            notes,
            deviations,
        }
    }
}

/// What unsupported findings would have deducted.
fn cited_in_vain(unsupported: &[Finding]) -> Vec<Deduction> {
    let held: Vec<Finding> = unsupported.iter().map(|f| Finding { unsupported: None, ..f.clone() }).collect();
    deductions(&held)
}

impl Tallied {
    pub(super) const fn passes(&self) -> bool {
        self.sheet.score >= self.threshold
    }

    /// The score as a review keeps it.
    pub(super) fn score(&self) -> review::Score {
        review::Score {
            value: self.sheet.score,
            unfloored: self.sheet.unfloored.floor(),
            threshold: self.threshold,
            stated: self.sheet.stated.map(Amount::as_score),
            computed: self.sheet.kind == deduction::ScoreKind::Computed,
            arithmetic: self.sheet.shown(),
        }
    }
}
