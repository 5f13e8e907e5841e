//! What a `converge` critic answers: criteria, each a name and a question, and the ready-made sets with
//! their caps. The sets are data (`sets.json`); to add one, add its entry there.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// The name under which a reply states its failure scenario; no criterion may have it.
pub const ADVERSARIAL: &str = "ADVERSARIAL";

/// Passes unless the set or the user says otherwise.
pub const PASSES: u32 = 5;

/// The most criteria one loop may have: each is answered in every reply.
pub const MOST_CRITERIA: usize = 40;
/// The longest name, in characters.
const LONGEST_NAME: usize = 60;

/// Names that mean something else where a reply is read.
const RESERVED: [&str; 2] = [ADVERSARIAL, "DEFERRED"];

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ConvergeCriterion {
    pub name: String,
    pub question: String,
}

impl ConvergeCriterion {
    /// Two names with the same key are the same name: case, spaces, hyphens and emphasis do not count.
    pub fn key(name: &str) -> String {
        let words = name.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
        words.map(str::to_uppercase).collect::<Vec<_>>().join("_")
    }
}

/// A ready-made list of criteria.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    pub name: String,
    /// The safety cap: at most so many passes.
    pub passes: u32,
    pub criteria: Vec<ConvergeCriterion>,
}

/// A file that cannot be read gives no set, which the test below does not let through.
static SETS: LazyLock<Vec<Set>> =
    LazyLock::new(|| serde_json::from_str(include_str!("sets.json")).unwrap_or_default());

/// The ready-made set of this name.
pub fn set(name: &str) -> Option<&'static Set> {
    SETS.iter().find(|set| set.name == name)
}

/// The names of the ready-made sets, in their order.
pub fn names() -> impl Iterator<Item = &'static str> {
    SETS.iter().map(|set| set.name.as_str())
}

/// Everything that keeps a list of criteria from being asked, one sentence each.
pub fn problems(criteria: &[ConvergeCriterion]) -> Vec<String> {
    let mut found = Vec::new();
    if criteria.is_empty() {
        found.push("there are no criteria: a critic needs at least one".to_owned());
    }
    if criteria.len() > MOST_CRITERIA {
        found.push(format!("there are {} criteria; at most {MOST_CRITERIA} can be asked", criteria.len()));
    }
    let mut seen = BTreeSet::new();
    for criterion in criteria {
        let (name, key) = (&criterion.name, ConvergeCriterion::key(&criterion.name));
        if key.is_empty() {
            found.push(format!("criterion `{name}` has no name: give it at least one letter"));
        } else if name.contains(['[', ']', '\n', '\r']) || name.chars().count() > LONGEST_NAME {
            found.push(format!(
                "criterion `{}`: a name is one line of at most {LONGEST_NAME} characters without `[` or `]`",
                crate::brief::one_line(name).chars().take(LONGEST_NAME).collect::<String>()
            ));
        } else if RESERVED.contains(&key.as_str()) {
            found.push(format!("criterion `{name}`: the name is taken by the reply format; choose another"));
        } else if !seen.insert(key) {
            found.push(format!("criterion `{name}` is named twice; names differ in more than case"));
        }
        if criterion.question.trim().is_empty() {
            found.push(format!("criterion `{name}` asks nothing: give it a question"));
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test: failing is how it speaks
mod tests {
    use super::*;

    #[test]
    fn the_ready_made_sets_are_those_of_the_rule_book() {
        let expected: [(&str, u32, &[&str]); 8] = [
            ("spec", 5, &["COMPLETENESS", "MEASURABILITY", "INDEPENDENCE", "EDGE_CASES", "TESTABILITY"]),
            ("plan", 7, &["COMPLETENESS", "FEASIBILITY", "ARCHITECTURE", "RISK", "PRINCIPLES"]),
            ("tasks", 5, &["COVERAGE", "DEPENDENCIES"]),
            ("implement", 5, &["SCOPE_ADHERENCE", "ARCHITECTURE", "CORRECTNESS", "SIDE_EFFECT_SAFETY"]),
            ("review", 5, &["COMPLETENESS", "PRECISION", "SPEC_ALIGNMENT"]),
            ("debug", 5, &["SAFETY", "CORRECTNESS"]),
            ("test", 5, &["COVERAGE", "QUALITY"]),
            ("architect", 7, &["FEASIBILITY", "INCREMENTALITY", "COMPATIBILITY", "ARCHITECTURE"]),
        ];
        assert_eq!(names().collect::<Vec<_>>(), expected.map(|(name, ..)| name));
        for (name, passes, criteria) in expected {
            let set = set(name).unwrap();
            assert_eq!(set.passes, passes, "{name}");
            assert_eq!(set.criteria.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), criteria, "{name}");
            assert_eq!(problems(&set.criteria), Vec::<String>::new(), "{name}");
        }
        assert_eq!(set("Spec"), None);
    }

    #[test]
    fn every_question_is_its_own_and_reads_as_one() {
        let mut questions = BTreeSet::new();
        for criterion in SETS.iter().flat_map(|set| &set.criteria) {
            assert!(criterion.question.ends_with('?'), "{criterion:?}");
            assert!(questions.insert(&criterion.question), "asked twice: {criterion:?}");
            assert!(!criterion.question.contains('→'), "the reply format splits there: {criterion:?}");
        }
    }

    #[test]
    fn criteria_that_cannot_be_told_apart_in_a_reply_are_refused_all_at_once() {
        let criterion =
            |name: &str, question: &str| ConvergeCriterion { name: name.into(), question: question.into() };
        assert_eq!(problems(&[]), ["there are no criteria: a critic needs at least one"]);
        let list = [
            criterion("Edge cases", "Which?"),
            criterion("EDGE_CASES", "Which?"),
            criterion("adversarial", "Which?"),
            criterion("a]b", "Which?"),
            criterion("--", "Which?"),
            criterion("CLARITY", "  "),
        ];
        assert_eq!(
            problems(&list),
            [
                "criterion `EDGE_CASES` is named twice; names differ in more than case",
                "criterion `adversarial`: the name is taken by the reply format; choose another",
                "criterion `a]b`: a name is one line of at most 60 characters without `[` or `]`",
                "criterion `--` has no name: give it at least one letter",
                "criterion `CLARITY` asks nothing: give it a question",
            ]
        );
        let many: Vec<ConvergeCriterion> = (0..41).map(|n| criterion(&format!("C{n}"), "?")).collect();
        assert_eq!(problems(&many), ["there are 41 criteria; at most 40 can be asked"]);
    }
}
