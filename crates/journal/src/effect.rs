//! One effect of a run, by its id. Whoever asks for one means one that is open: it is looked for from the end.

use gadfly_engine::{Effect, EffectId};
use rusqlite::OptionalExtension as _;

use crate::journal::Journal;
use crate::read::ReadError;
use crate::run_id::RunId;

/// Records looked at in one go.
const STRETCH: u32 = 512;

impl Journal {
    /// The effect as it was asked for; none if this run has no such effect.
    pub fn effect(&self, run: &RunId, id: &EffectId) -> Result<Option<Effect>, ReadError> {
        let mut end: u32 = self.read(|conn| {
            let sql = "SELECT next FROM runs WHERE id = ?1";
            let next = conn.prepare_cached(sql)?.query_row([run.as_str()], |row| row.get(0)).optional()?;
            next.ok_or_else(|| ReadError::NotFound(run.clone()))
        })?;
        while end > 0 {
            let from = end.saturating_sub(STRETCH);
            let stretch = self.records_without_texts(run, from, end - from)?;
            let effects = stretch.into_iter().rev().flat_map(|record| record.step.effects);
            if let Some(found) = effects.into_iter().find(|effect| effect.id == *id) {
                return Ok(Some(found));
            }
            end = from;
        }
        Ok(None)
    }
}
