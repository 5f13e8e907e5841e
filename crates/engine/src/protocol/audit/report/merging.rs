//! Unites what belongs together: the parts of one review, and the criteria with the findings about them.

use serde_json::{Map, Value, json};

use crate::finding::{Finding, Severity};
use crate::protocol::audit::routes::{self, INFORMATION_MISSING, UNMET_CRITERION};

use super::{AuditReport, JudgedCriterion, SatisfactionVerdict};
use crate::reading::audit::MOST_FINDINGS;
use crate::reading::place;

/// Unites the parts of one review, of which there may be one, and settles what no part answered: where no
/// part ran out of budget, silence about a criterion is a no.
pub fn merge(parts: Vec<AuditReport>) -> Option<AuditReport> {
    let mut parts = parts.into_iter();
    let mut whole = parts.next()?;
    for part in parts {
        for judged in part.criteria {
            if let Some(slot) = whole.criteria.iter_mut().find(|c| c.id == judged.id) {
                unite(slot, judged);
            }
        }
        whole.findings.extend(part.findings);
        whole.partial |= part.partial;
        whole.deviations.extend(part.deviations);
    }
    if whole.findings.len() > MOST_FINDINGS {
        whole.findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
        whole.findings.truncate(MOST_FINDINGS);
    }
    if !whole.partial {
        for criterion in whole.criteria.iter_mut().filter(|c| c.verdict == SatisfactionVerdict::Unverified) {
            criterion.verdict = SatisfactionVerdict::Unsatisfied;
            criterion.evidence = SILENT.into();
        }
    }
    Some(whole)
}

/// Of a criterion that no part speaks of.
const SILENT: &str = "The report gives no verdict on it.";

/// A no from any part outweighs every yes; a yes outweighs not having seen enough.
fn unite(slot: &mut JudgedCriterion, other: JudgedCriterion) {
    let weight = |verdict| match verdict {
        SatisfactionVerdict::Unsatisfied => 3,
        SatisfactionVerdict::Satisfied => 2,
        SatisfactionVerdict::InformationMissing => 1,
        SatisfactionVerdict::Unverified => 0,
    };
    match weight(other.verdict).cmp(&weight(slot.verdict)) {
        std::cmp::Ordering::Greater => *slot = other,
        std::cmp::Ordering::Equal => {
            join(&mut slot.evidence, &other.evidence);
            join(&mut slot.missing_info, &other.missing_info);
        }
        std::cmp::Ordering::Less => {}
    }
}

impl AuditReport {
    /// The findings to decide by: those stated, and one for every criterion that is not satisfied. A
    /// stated finding about such a criterion becomes one with it; one whose citation failed does not, so
    /// that it cannot take the criterion with it.
    pub fn merged(&self, by: &str) -> Vec<Finding> {
        let mut findings = self.findings.clone();
        // Where one criterion is not met, findings that name none are why.
        let only = self.criteria.iter().filter(|c| promoted(c, by).is_some()).count() == 1;
        let named = self.findings.iter().any(|f| f.criterion.is_some());
        for criterion in &self.criteria {
            let Some(promoted) = promoted(criterion, by) else { continue };
            let about = |f: &Finding| match &f.criterion {
                Some(id) => *id == criterion.id,
                None => {
                    at_its_place(f, criterion)
                        || only && !named && f.severity == Severity::Fail && criterion.evidence != SILENT
                }
            };
            let strongest = findings
                .iter_mut()
                .filter(|f| f.is_supported() && about(f))
                .reduce(|best, f| if routes::of(&f.rule) > routes::of(&best.rule) { f } else { best });
            match strongest {
                Some(stated) => absorb(stated, promoted),
                None => findings.push(promoted),
            }
        }
        findings
    }
}

/// Whether the finding stands at a line that the criterion gives as its evidence.
fn at_its_place(finding: &Finding, criterion: &JudgedCriterion) -> bool {
    let Some(place) = finding.place.as_ref().filter(|place| place.line.is_some()) else { return false };
    place::all(&criterion.evidence).any(|cited| cited.path == place.path && cited.line == place.line)
}

fn promoted(criterion: &JudgedCriterion, by: &str) -> Option<Finding> {
    let JudgedCriterion { id, claim, evidence, missing_info, .. } = criterion;
    let (rule, says, fix) = match criterion.verdict {
        SatisfactionVerdict::Satisfied | SatisfactionVerdict::Unverified => return None,
        SatisfactionVerdict::Unsatisfied => {
            (UNMET_CRITERION, with(&format!("{id} is not met"), evidence), format!("Meet {id}: {claim}"))
        }
        SatisfactionVerdict::InformationMissing => {
            let missing = if missing_info.is_empty() { evidence } else { missing_info };
            let says = with(&format!("{id} cannot be judged, information is missing"), missing);
            (INFORMATION_MISSING, says, format!("Find out what {id} needs: {claim}"))
        }
    };
    let mut finding = Finding::new(rule, Severity::Fail, says, by);
    finding.fix = fix;
    finding.criterion = Some(id.clone());
    finding.raw = Some(json!({ "id": id, "from": "criterion" }));
    Some(finding)
}

fn with(head: &str, detail: &str) -> String {
    if detail.is_empty() { format!("{head}.") } else { format!("{head}: {detail}") }
}

/// Both texts stay, the worse severity counts, and the stronger route decides.
fn absorb(stated: &mut Finding, promoted: Finding) {
    stated.severity = stated.severity.max(promoted.severity);
    // A report states only what to do; then the criterion says what is wrong.
    if stated.says == stated.fix {
        stated.says = promoted.says;
    } else {
        join(&mut stated.says, &promoted.says);
    }
    if stated.fix.is_empty() {
        stated.fix = promoted.fix;
    }
    let other = if routes::of(&promoted.rule) > routes::of(&stated.rule) {
        std::mem::replace(&mut stated.rule, promoted.rule)
    } else {
        promoted.rule
    };
    if other != stated.rule {
        let raw = stated.raw.get_or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(raw) = raw {
            raw.insert("merged_category".into(), Value::String(other));
        }
    }
}

fn join(text: &mut String, more: &str) {
    if more.is_empty() || text.contains(more) {
        return;
    }
    if !text.is_empty() {
        text.push_str("; ");
    }
    text.push_str(more);
}
