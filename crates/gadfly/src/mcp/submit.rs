//! What a client hands in for a turn. Another client, or a person, may do so in the same moment: the first is taken, and
//! whoever came second is told.

use gadfly_engine::EffectId;
use gadfly_journal::{PostError, RunId};
use gadfly_runtime::service::AnswerError;

use super::reply::{ToolError, refused};
use crate::background::Background;

/// A draft or a report takes no more than one entry of the inbox does.
const LONGEST: usize = 16 << 20;

/// Refuses what the inbox would not take, before anything is begun for it.
pub fn fits(what: &str, text: &str) -> Result<(), ToolError> {
    if text.len() <= LONGEST {
        return Ok(());
    }
    Err(refused(format!("the {what} has {} bytes; at most {LONGEST} are taken: make it shorter", text.len())))
}

/// Leaves it for the turn; `late` says that the turn has its answer.
pub fn post(
    background: &Background,
    run: &RunId,
    effect: &EffectId,
    text: String,
    by: &str,
    late: impl FnOnce() -> ToolError,
) -> Result<(), ToolError> {
    match background.gadfly().answer_first(run, effect, text, by) {
        Ok(_) => Ok(()),
        Err(AnswerError::Post(PostError::Answered { .. } | PostError::Ended { .. })) => Err(late()),
        Err(other) => Err(refused(other.to_string())),
    }
}
