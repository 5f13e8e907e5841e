//! A person's verdict, where a person is the critic: asked for as approve or reject and then in words, so that nobody types
//! a token. What the engine is told is composed by `reading::person`; here is only what is asked, and what is refused.

use gadfly_engine::reading::person;
use gadfly_engine::reading::quoted::Shown;
use gadfly_engine::reading::status;
use gadfly_engine::turn::{Role, Turn};
use gadfly_journal::{Journal, RunId};
use gadfly_project::config::HOST;

/// What a person who judges is asked for next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Approve or reject.
    Word,
    /// Why they approve: one line, perhaps none.
    Reason,
    /// What is to be fixed: lines up to one with only a dot.
    Fixes,
}

impl Asked {
    pub const fn prompt(self) -> &'static str {
        match self {
            Self::Word => "Approve or reject? [a/r]",
            Self::Reason => "Why? One line, or none:",
            Self::Fixes => "What has to be fixed? One fix per line; end with a line that has only a dot:",
        }
    }
}

/// What comes after the word; none if it is neither.
pub fn after(word: &str) -> Option<Asked> {
    match word.trim().to_lowercase().as_str() {
        "a" | "approve" | "approved" => Some(Asked::Reason),
        "r" | "reject" | "rejected" => Some(Asked::Fixes),
        _ => None,
    }
}

/// Whether approving or rejecting is all that is asked of whoever takes this turn.
pub fn suffices(journal: &Journal, run: &RunId, turn: &Turn) -> bool {
    let is_theirs = turn.role == Role::Critic && turn.agent != HOST;
    is_theirs && protocol(journal, run).is_some_and(|protocol| person::suffices(&protocol))
}

fn protocol(journal: &Journal, run: &RunId) -> Option<String> {
    journal.summary(run).ok().map(|summary| summary.protocol)
}

/// The reply that a person's verdict is, or why it is none.
pub fn composed(journal: &Journal, run: &RunId, approve: bool, text: &str) -> Result<String, String> {
    let protocol = protocol(journal, run).unwrap_or_default();
    let Some(reply) = person::reply(&protocol, approve, text, &[]) else {
        return Err(format!(
            "a critic in `{protocol}` is asked for more than a yes or a no: answer as the brief says"
        ));
    };
    if !approve && text.trim().is_empty() {
        return Err("a rejection says what has to be fixed: write one fix per line".to_owned());
    }
    match status::read(&reply, &Shown::default()) {
        Ok(_) => Ok(reply),
        Err(why) if approve => Err(format!(
            "what you write beside your approval speaks against it ({}): reject, or say it otherwise",
            why.passages.last().unwrap_or(&why.problem)
        )),
        Err(why) => Err(format!("this says nothing that could be fixed: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_word_decides() {
        assert_eq!(
            (after("A\n"), after(" reject "), after("")),
            (Some(Asked::Reason), Some(Asked::Fixes), None)
        );
        assert_eq!((after("yes"), after("[STATUS: APPROVED]")), (None, None));
    }
}
