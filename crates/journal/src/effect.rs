//! One effect of a run, by its id. Whoever asks for one means one that is open: it is looked for from the end.

use gadfly_engine::input::InputKind;
use gadfly_engine::{Effect, EffectId};

use crate::journal::Journal;
use crate::read::{ReadError, Record};
use crate::run_id::RunId;

/// Records looked at in one go.
const STRETCH: u32 = 512;

impl Journal {
    /// The effect as it was asked for; none if this run has no such effect.
    pub fn effect(&self, run: &RunId, id: &EffectId) -> Result<Option<Effect>, ReadError> {
        self.last(run, |record| record.step.effects.iter().find(|effect| effect.id == *id).cloned())
    }

    /// Whether the effect was asked for, has no answer yet, and was not asked for again under another id.
    pub fn is_open(&self, run: &RunId, id: &EffectId) -> Result<bool, ReadError> {
        let found = self.last(run, |record| {
            let effects = &record.step.effects;
            let is_over = match &record.input.what {
                InputKind::Answered { effect, .. } | InputKind::Replied { effect, .. } => effect == id,
                _ => false,
            };
            if is_over || effects.iter().any(|effect| effect.repeats.as_ref() == Some(id)) {
                return Some(false);
            }
            effects.iter().any(|effect| effect.id == *id).then_some(true)
        })?;
        Ok(found.unwrap_or(false))
    }

    /// What is found in the newest record that has it.
    fn last<T>(&self, run: &RunId, find: impl Fn(&Record) -> Option<T>) -> Result<Option<T>, ReadError> {
        let mut end = self.next_seq(run)?;
        while end > 0 {
            let from = end.saturating_sub(STRETCH);
            let stretch = self.records_without_texts(run, from, end - from)?;
            if let Some(found) = stretch.iter().rev().find_map(&find) {
                return Ok(Some(found));
            }
            end = from;
        }
        Ok(None)
    }
}
