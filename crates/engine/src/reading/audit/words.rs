//! A report on success criteria in words: headings, lists, a table, sentences. It can only reject: a criterion that is said
//! not to be met is read wherever a person would read it, and what passes has to be the JSON that was asked for.

use crate::finding::{Finding, Severity};
use crate::protocol::audit::report::{AuditCriterion, AuditReport, ExpectedReport, SatisfactionVerdict};
use crate::protocol::audit::routes;
use crate::reading::doubt::{self, Section};
use crate::reading::lines::{self, Kind, Tick};

const UNMET: [&str; 9] = [
    "unsatisfied",
    "not satisfied",
    "not met",
    "unmet",
    "fail",
    "not fulfilled",
    "partially",
    "missing",
    "violated",
];

/// The report, if it says that a criterion is not met; none otherwise.
pub(super) fn rejection(text: &str, expected: &ExpectedReport<'_>) -> Option<AuditReport> {
    // A report in JSON that could not be opened is no report in words.
    if text.contains("\\\"verdict\\\"") {
        return None;
    }
    let criteria: Vec<_> = expected.criteria.iter().map(|criterion| judged(criterion, text)).collect();
    criteria.iter().any(|c| c.verdict == SatisfactionVerdict::Unsatisfied).then(|| AuditReport {
        findings: findings(text, expected),
        criteria,
        deviations: vec!["a report in words, not in JSON".to_owned()],
        ..AuditReport::empty(expected)
    })
}

/// What is said of one criterion: from where its id stands up to the next one's.
fn judged(criterion: &AuditCriterion, text: &str) -> crate::protocol::audit::report::JudgedCriterion {
    let said = passages(text, &criterion.id);
    let unmet = said.iter().find(|passage| {
        let lower = passage.to_lowercase();
        UNMET.iter().any(|word| lower.contains(word)) || lines::ticked(passage) == Tick::Open
    });
    match unmet {
        Some(passage) => {
            let evidence: String = crate::brief::one_line(passage).chars().take(400).collect();
            criterion.judged(SatisfactionVerdict::Unsatisfied, evidence)
        }
        None if said.is_empty() => criterion.judged(SatisfactionVerdict::Unverified, String::new()),
        None => criterion.judged(SatisfactionVerdict::Satisfied, "said to be satisfied, in words".to_owned()),
    }
}

/// Every passage that begins with the id and ends before the next id, heading or paragraph.
fn passages<'t>(text: &'t str, id: &str) -> Vec<&'t str> {
    let prefix = id.trim_end_matches(|c: char| c.is_ascii_digit());
    let mut found = Vec::new();
    for (at, _) in text.match_indices(id) {
        let rest = &text[at + id.len()..];
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let next = rest.find(prefix).unwrap_or(rest.len());
        let end = rest.find("\n\n").unwrap_or(rest.len()).min(next);
        found.push(&text[at..at + id.len() + end]);
    }
    found
}

/// The items under a heading that announces findings, except those that name a criterion again.
fn findings(text: &str, expected: &ExpectedReport<'_>) -> Vec<Finding> {
    let mut section = Section::None;
    let mut found = Vec::new();
    for line in lines::read(text) {
        match line.kind {
            Kind::Heading(heading) => {
                section = if heading.to_lowercase().contains("finding") {
                    Section::Demands
                } else {
                    doubt::section(heading)
                };
            }
            Kind::Item(item) if section == Section::Demands && !doubt::says_nothing(item.text) => {
                let criterion =
                    expected.criteria.iter().find(|c| item.text.contains(&c.id)).map(|c| c.id.clone());
                let mut finding =
                    Finding::new(routes::UNMET_CRITERION, Severity::Fail, item.text, expected.by);
                item.text.clone_into(&mut finding.fix);
                finding.absent = true;
                finding.criterion = criterion;
                found.push(finding);
            }
            _ => {}
        }
    }
    found
}
