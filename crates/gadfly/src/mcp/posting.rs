//! What a client hands in for a turn, and whether the record took it. Another process of this project may post to the
//! same turn in the same moment; the engine takes one answer, and whoever posted the other is told.

use gadfly_engine::input::What;
use gadfly_engine::{Digest, EffectId};
use gadfly_journal::{MailKind, RunId};

use super::desk;
use super::said::{Stopped, refused};
use crate::background::Background;

/// A draft or a report takes no more than one entry of the inbox does.
const LONGEST: usize = 16 << 20;

/// What was left in the inbox for a turn.
pub struct Posted {
    effect: EffectId,
    text: Digest,
    by: String,
}

/// Refuses what the inbox would not take, before anything is begun for it.
pub fn fits(what: &str, text: &str) -> Result<(), Stopped> {
    if text.len() <= LONGEST {
        return Ok(());
    }
    Err(refused(format!("the {what} has {} bytes; at most {LONGEST} are taken: make it shorter", text.len())))
}

/// Leaves it for the turn.
pub fn post(
    background: &Background,
    run: &RunId,
    effect: &EffectId,
    text: String,
    by: String,
) -> Result<Posted, Stopped> {
    let posted = Posted { effect: effect.clone(), text: Digest::of(text.as_bytes()), by };
    let done = background.gadfly().answer_to(run, effect, text, &posted.by);
    done.map(|_| posted).map_err(|e| refused(e.to_string()))
}

impl Posted {
    /// Whether something else was taken in its place.
    pub fn was_passed_over(&self, background: &Background, run: &RunId) -> Result<bool, Stopped> {
        // The inbox first: what is read from it is in the record from the same moment on.
        let mail = background.gadfly().journal().mail(run).map_err(|e| refused(e.to_string()))?;
        let waits = mail.iter().any(|(_, mail)| match &mail.what {
            MailKind::Answer { effect, text } => self.is(effect, Digest::of(text.as_bytes()), &mail.by),
            MailKind::Pause | MailKind::Cancel | MailKind::Steer { .. } => false,
        });
        let (mut taken, mut other) = (false, false);
        desk::each_input(background, run, |what| {
            if let What::Answered { effect, text, by } = what {
                let is_ours = self.is(effect, *text, by);
                taken |= is_ours;
                other |= *effect == self.effect && !is_ours;
            }
        })?;
        // A turn takes one answer: what still lies there after another was taken is never read.
        Ok(!taken && (other || !waits))
    }

    fn is(&self, effect: &EffectId, text: Digest, by: &str) -> bool {
        *effect == self.effect && text == self.text && by == self.by
    }
}
