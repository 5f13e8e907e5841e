//! A pass in sentences, without a line per criterion. It can only reject: a criterion that is said to fail is read wherever a
//! person would read it.

use super::phrases::{clean, says_nothing};
use super::{Judged, PassReply, Scenario, Verdict};
use crate::protocol::converge::sets::ConvergeCriterion;
use crate::reading::doubt;
use crate::reading::lines::{self, Tick};

/// The pass, if it says that a criterion fails; none otherwise.
pub(super) fn rejection(text: &str, criteria: &[ConvergeCriterion]) -> Option<PassReply> {
    let sentences: Vec<&str> = text.split_inclusive(['\n', '.']).filter(|s| !s.trim().is_empty()).collect();
    let names: Vec<String> = criteria.iter().map(|c| c.name.to_lowercase()).collect();
    let answers: Vec<Judged> = criteria
        .iter()
        .zip(&names)
        .map(|(criterion, name)| judged(criterion, &said_of(name, &names, &sentences)))
        .collect();
    let fails = |judged: &Judged| matches!(judged.verdict, Verdict::Fail { .. });
    answers.iter().any(fails).then(|| PassReply {
        answers,
        scenario: Scenario {
            says: "(none was stated)".into(),
            fix: None,
            rationale: "not weighed".into(),
            others: Vec::new(),
        },
        claimed: None,
        deviations: vec!["a review in sentences, not criterion by criterion".to_owned()],
    })
}

/// The sentences from the one that names this criterion up to one that names another.
fn said_of(name: &str, names: &[String], sentences: &[&str]) -> String {
    let mut said = String::new();
    let mut inside = false;
    for sentence in sentences {
        let lower = sentence.to_lowercase();
        if lower.contains(name) {
            inside = true;
        } else if names.iter().any(|other| lower.contains(other))
            || lower.contains("scenario")
            || lower.contains("adversarial")
        {
            inside = false;
        }
        if inside {
            said.push_str(sentence);
        }
    }
    said
}

fn judged(criterion: &ConvergeCriterion, said: &str) -> Judged {
    const UNMET: [&str; 8] = [
        "fails",
        "failed",
        "not met",
        "unmet",
        "not satisfied",
        "does not hold",
        "does not pass",
        "not covered",
    ];
    // Right behind its name, or in capitals anywhere.
    let lower = said.to_lowercase();
    let behind = lower.split_once(&criterion.name.to_lowercase()).map_or("", |(_, rest)| rest);
    let near = &behind[..behind.floor_char_boundary(50)];
    let fails = UNMET.iter().any(|word| near.contains(word))
        || near.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with("fail")
        || said.split(|c: char| !c.is_alphanumeric()).any(|word| word == "FAIL" || word == "FAILED")
        || lines::ticked(said) == Tick::Open;
    let rationale = clean(said);
    let verdict = if fails && !says_nothing(&rationale) {
        Verdict::Fail { fix: rationale.clone() }
    } else if doubt::says_nothing(&rationale) {
        Verdict::Defer { reason: "nothing is said of it".to_owned() }
    } else {
        Verdict::Pass
    };
    Judged { criterion: criterion.name.clone(), rationale, verdict }
}
