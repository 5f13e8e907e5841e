//! What is known of many runs at once: one question for a whole batch, instead of one per run.

use std::collections::HashMap;

use gadfly_engine::Money;
use rusqlite::OptionalExtension as _;
use serde::Deserialize;

use crate::journal::Journal;
use crate::lock;
use crate::read::ReadError;
use crate::run_id::RunId;

/// How a run stands, as far as going on with it depends on that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Known {
    /// The outcome's label; none while the run has work to do.
    pub outcome: Option<String>,
    /// Over for good.
    pub ended: bool,
    /// A living process owns it.
    pub driven: bool,
    /// What it has cost so far.
    pub cost: Money,
}

/// The only part of a summary that is needed here.
#[derive(Deserialize)]
struct Cost {
    cost: Money,
}

impl Journal {
    /// How many runs there are.
    pub fn count(&self) -> Result<u64, ReadError> {
        self.read(|conn| {
            let n: i64 = conn.query_row("SELECT count(*) FROM runs", [], |r| r.get(0))?;
            Ok(u64::try_from(n).unwrap_or(0))
        })
    }

    /// Those of `runs` that exist, and how each stands.
    pub fn known(&self, runs: &[RunId]) -> Result<HashMap<RunId, Known>, ReadError> {
        let live = lock::live(self.inner.lock.dir());
        self.read(|conn| {
            // One snapshot and one lock for all of them.
            let snapshot = conn.unchecked_transaction()?;
            let mut found = HashMap::new();
            let mut rows =
                snapshot.prepare_cached("SELECT outcome, ended, owner, summary FROM runs WHERE id = ?1")?;
            for run in runs {
                let row = rows.query_row([run.as_str()], |r| {
                    let owner: Option<String> = r.get(2)?;
                    let summary: String = r.get(3)?;
                    let driven = owner.is_some_and(|o| live.contains(&o));
                    Ok((Known { outcome: r.get(0)?, ended: r.get(1)?, driven, cost: Money(0) }, summary))
                });
                let Some((mut known, summary)) = row.optional()? else { continue };
                known.cost = serde_json::from_str::<Cost>(&summary)
                    .map_err(|e| ReadError::Summary { run: run.clone(), message: e.to_string() })?
                    .cost;
                found.insert(run.clone(), known);
            }
            drop(rows);
            Ok(found)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gadfly_engine::Digest;

    #[test]
    fn a_run_that_does_not_exist_is_not_known() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(dir.path()).unwrap();
        let run = RunId::derived(&Digest::of(b"a"));
        assert_eq!(journal.known(&[run]).unwrap(), HashMap::new());
        assert_eq!(journal.count().unwrap(), 0);
    }
}
