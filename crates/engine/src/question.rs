//! A question to a person, with its named ways out. The answer comes through the inbox.

use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Question {
    pub about: About,
    /// What the person has to know, in a few lines.
    pub text: String,
    /// The named ways out, in order; a person may answer with the word or its number.
    pub choices: Vec<Choice>,
    /// Any other text is an answer, too.
    pub free: bool,
}

/// Why a person is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// A critic has a question for the user.
    Askuser,
    /// The plan itself is wrong.
    PlanChecker,
    /// The loop cannot go on by itself.
    Stuck,
    /// A decision that belongs to a person.
    Escalation,
    /// The run and the user changed the same files.
    Conflict,
    /// A tool of a goal wants more than its policy allows.
    Policy,
    /// A step was cut off by a crash, and its outcome is unknown.
    Unknown,
    /// A person says when a goal is reached.
    Manual,
    /// Files a goal is judged by were changed.
    Protected,
    /// Files were made or changed while a worker had drifted from its goal.
    Drift,
    /// A condition of a registry that only a person can judge.
    Condition,
    /// A plan, before anything is done by it.
    Plan,
    /// Files an agent wrote that its registry entry does not name.
    Outside,
    /// Work that was in the project before, and that little would be left of.
    Replaced,
    /// The result of a pipeline.
    Result,
}

impl About {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Askuser => "askuser",
            Self::PlanChecker => "plan-checker",
            Self::Stuck => "stuck",
            Self::Escalation => "escalation",
            Self::Conflict => "conflict",
            Self::Policy => "policy",
            Self::Unknown => "unknown",
            Self::Manual => "manual",
            Self::Protected => "protected",
            Self::Drift => "drift",
            Self::Condition => "condition",
            Self::Plan => "plan",
            Self::Outside => "outside",
            Self::Replaced => "replaced",
            Self::Result => "result",
        }
    }
}

/// One way out: `grant N` is written as word `grant` with `takes = "N"`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Choice {
    pub word: String,
    pub says: String,
    /// What has to follow the word, if anything: shown as `grant N`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<String>,
}

impl Choice {
    pub fn new(word: &str, says: &str) -> Self {
        Self { word: word.to_owned(), says: says.to_owned(), takes: None }
    }

    pub fn taking(word: &str, takes: &str, says: &str) -> Self {
        Self { takes: Some(takes.to_owned()), ..Self::new(word, says) }
    }
}

/// What a person's answer means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Picked<'a> {
    /// A named way out, with what followed its word.
    Choice {
        word: &'a str,
        rest: String,
    },
    Free(String),
    /// Neither: why not, for the person.
    Neither(String),
}

impl Question {
    /// Reads an answer: a choice's word or number, perhaps with something after it, or free text.
    pub fn pick(&self, answer: &str) -> Picked<'_> {
        let answer = answer.trim();
        let (head, rest) = match answer.split_once(char::is_whitespace) {
            Some((head, rest)) => (head, rest.trim()),
            None => (answer, ""),
        };
        let head = head.trim_end_matches([':', '.', ',', ')']);
        let by_number = head.parse::<usize>().ok().and_then(|n| self.choices.get(n.checked_sub(1)?));
        let choice = by_number.or_else(|| self.choices.iter().find(|c| c.word.eq_ignore_ascii_case(head)));
        match choice {
            // A sentence that happens to begin with the word is free text where that is allowed.
            Some(c) if c.takes.is_none() && !rest.is_empty() && self.free => Picked::Free(answer.to_owned()),
            Some(c) if c.takes.is_some() && rest.is_empty() => Picked::Neither(format!(
                "`{}` needs {} after it",
                c.word,
                c.takes.as_deref().unwrap_or_default()
            )),
            Some(c) => Picked::Choice { word: &c.word, rest: rest.to_owned() },
            None if self.free && !answer.is_empty() => Picked::Free(answer.to_owned()),
            None => Picked::Neither(format!("answer with one of: {}", self.shown_choices().join(", "))),
        }
    }

    /// `grant N`, `replan TEXT`, `give-up`.
    pub fn shown_choices(&self) -> Vec<String> {
        let shown = |c: &Choice| match &c.takes {
            Some(takes) => format!("{} {takes}", c.word),
            None => c.word.clone(),
        };
        self.choices.iter().map(shown).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stuck(free: bool) -> Question {
        let choices = vec![
            Choice::taking("grant", "N", "allow N more rounds"),
            Choice::taking("replan", "TEXT", "change the task"),
            Choice::new("give-up", "end here"),
        ];
        Question { about: About::Stuck, text: String::new(), choices, free }
    }

    #[test]
    fn an_answer_is_a_word_a_number_or_free_text() {
        let picked = |answer: &str, free: bool| format!("{:?}", stuck(free).pick(answer));
        assert_eq!(picked("grant 5", false), r#"Choice { word: "grant", rest: "5" }"#);
        assert_eq!(picked("1 5", false), r#"Choice { word: "grant", rest: "5" }"#);
        assert_eq!(picked("  GIVE-UP ", false), r#"Choice { word: "give-up", rest: "" }"#);
        assert_eq!(picked("3.", false), r#"Choice { word: "give-up", rest: "" }"#);
        assert_eq!(picked("use sqlite", true), r#"Free("use sqlite")"#);
    }

    #[test]
    fn an_answer_that_means_nothing_says_what_would() {
        for (answer, expected) in [
            ("grant", "`grant` needs N after it"),
            ("yes", "answer with one of: grant N, replan TEXT, give-up"),
            ("", "answer with one of: grant N, replan TEXT, give-up"),
            ("9", "answer with one of: grant N, replan TEXT, give-up"),
        ] {
            assert_eq!(stuck(false).pick(answer), Picked::Neither(expected.to_owned()), "{answer}");
        }
    }
}
