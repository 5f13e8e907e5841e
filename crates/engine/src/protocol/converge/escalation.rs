//! A point only a person can settle, and the question that puts up to three of them.
//!
//! Reading an escalation from a critic's reply is `reading::pass`'s business; here is what it says and how it
//! is shown.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// At most so many escalations are put in one question.
pub const MOST_PER_QUESTION: usize = 3;

/// The last way out of every escalation, where the critic did not word it itself.
pub const SKIP: &str = "Skip — keep current state, mark as [DEFERRED]";

/// The only grounds on which a critic may ask a person.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    MultipleValidApproaches,
    SubjectiveJudgment,
    ScopeBoundary,
    PrincipleConflict,
    MissingInformation,
}

/// Words by which a ground is known, its own name first; what people write in their own words is found by the others.
const WORDINGS: [(Trigger, &[&str]); 5] = [
    (
        Trigger::MultipleValidApproaches,
        &[
            "multiple valid",
            "approach",
            "solution",
            "option",
            "design",
            "alternative",
            "tradeoff",
            "trade off",
            "ways",
        ],
    ),
    (
        Trigger::SubjectiveJudgment,
        &["subjective", "taste", "prefer", "business", "context", "judgment", "judgement", "depends on"],
    ),
    (Trigger::ScopeBoundary, &["scope", "boundar", "belong", "in or out"]),
    (Trigger::PrincipleConflict, &["principle", "conflict", "contradict", "rule"]),
    (
        Trigger::MissingInformation,
        &[
            "missing info",
            "information",
            "unknown",
            "lack",
            "only the user",
            "only the person",
            "knows",
            "unclear",
        ],
    ),
];

impl Trigger {
    pub const ALL: [Self; 5] = [
        Self::MultipleValidApproaches,
        Self::SubjectiveJudgment,
        Self::ScopeBoundary,
        Self::PrincipleConflict,
        Self::MissingInformation,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::MultipleValidApproaches => "multiple valid approaches",
            Self::SubjectiveJudgment => "subjective judgment",
            Self::ScopeBoundary => "scope boundary",
            Self::PrincipleConflict => "principle conflict",
            Self::MissingInformation => "missing information",
        }
    }

    /// The ground a sentence gives: the one it names, else the one whose words it uses first. A question to a person is no
    /// approval, so that a sentence in nobody's words is taken for what only the person can know.
    pub fn named_in(text: &str) -> Option<Self> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
        let folded = format!(" {} ", words.map(str::to_lowercase).collect::<Vec<_>>().join(" "));
        if folded.trim().is_empty() {
            return None;
        }
        if let Some(named) = Self::ALL.into_iter().find(|trigger| folded.contains(trigger.name())) {
            return Some(named);
        }
        let by_words = WORDINGS.iter().filter_map(|(trigger, wordings)| {
            let at = wordings.iter().filter_map(|w| folded.find(&format!(" {w}"))).min()?;
            Some((at, *trigger))
        });
        by_words.min_by_key(|(at, _)| *at).map(|(_, trigger)| trigger).or(Some(Self::MissingInformation))
    }
}

/// One way to settle it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EscalationChoice {
    pub label: String,
    /// What it means; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub says: String,
    pub pro: String,
    pub con: String,
}

impl EscalationChoice {
    /// `label — says`, or the label alone.
    pub fn line(&self) -> String {
        if self.says.is_empty() { self.label.clone() } else { format!("{} — {}", self.label, self.says) }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Escalation {
    pub criterion: String,
    pub question: String,
    pub issue: String,
    pub why: Trigger,
    /// The critic's own words for `why`.
    pub because: String,
    pub options: Vec<EscalationChoice>,
    /// The last option: leave it as it is. In the critic's words, or [`SKIP`].
    pub skip: String,
}

impl Escalation {
    fn write(&self, out: &mut String) {
        let _ = writeln!(out, "[{}] {}\n", self.criterion, self.question);
        let _ = writeln!(out, "Issue: {}\nWhy escalation: {}\n\nOptions:", self.issue, self.because);
        for (n, option) in self.options.iter().enumerate() {
            let _ = writeln!(out, "  {}. {}", n + 1, option.line());
            let _ = writeln!(out, "     Pro: {}  Con: {}", option.pro, option.con);
        }
        let _ = writeln!(out, "  {}. {}", self.options.len() + 1, self.skip);
    }
}

/// The question that puts these escalations to a person.
pub fn question(batch: &[Escalation]) -> String {
    let mut out = format!("=== CRITIC ESCALATION ({}) ===\n", batch.len());
    for (n, escalation) in batch.iter().enumerate() {
        if n > 0 {
            out.push('\n');
        }
        escalation.write(&mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escalation(criterion: &str) -> Escalation {
        let choice = |label: &str, says: &str| EscalationChoice {
            label: label.into(),
            says: says.into(),
            pro: "simple".into(),
            con: "slow".into(),
        };
        Escalation {
            criterion: criterion.into(),
            question: "Who may delete a record?".into(),
            issue: "The text names two roles.".into(),
            why: Trigger::ScopeBoundary,
            because: "Scope boundary: only the owner knows.".into(),
            options: vec![choice("Owners", "only they"), choice("Everyone", "")],
            skip: SKIP.into(),
        }
    }

    #[test]
    fn a_question_shows_its_escalations_in_the_block_format() {
        insta::assert_snapshot!(question(&[escalation("RISK"), escalation("SAFETY")]), @"
        === CRITIC ESCALATION (2) ===
        [RISK] Who may delete a record?

        Issue: The text names two roles.
        Why escalation: Scope boundary: only the owner knows.

        Options:
          1. Owners — only they
             Pro: simple  Con: slow
          2. Everyone
             Pro: simple  Con: slow
          3. Skip — keep current state, mark as [DEFERRED]

        [SAFETY] Who may delete a record?

        Issue: The text names two roles.
        Why escalation: Scope boundary: only the owner knows.

        Options:
          1. Owners — only they
             Pro: simple  Con: slow
          2. Everyone
             Pro: simple  Con: slow
          3. Skip — keep current state, mark as [DEFERRED]
        ");
    }

    #[test]
    fn each_trigger_is_found_in_a_sentence_and_nothing_else_is() {
        for trigger in Trigger::ALL {
            for text in [
                trigger.name().to_owned(),
                trigger.name().to_uppercase(),
                trigger.name().replace(' ', "-"),
                format!("It is a case of **{}**: nobody else knows.", trigger.name()),
            ] {
                assert_eq!(Trigger::named_in(&text), Some(trigger), "{text}");
            }
        }
        let cases = [
            ("Subjective judgement of taste", Some(Trigger::SubjectiveJudgment)),
            ("two principles conflict here", Some(Trigger::PrincipleConflict)),
            ("Scope boundary, and missing information too", Some(Trigger::ScopeBoundary)),
            ("2+ solutions with non-trivial tradeoffs", Some(Trigger::MultipleValidApproaches)),
            ("Decision depends on user/business context", Some(Trigger::SubjectiveJudgment)),
            ("lacks information only the user can provide", Some(Trigger::MissingInformation)),
            ("I cannot decide this", Some(Trigger::MissingInformation)),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(Trigger::named_in(text), expected, "{text}");
        }
    }
}
