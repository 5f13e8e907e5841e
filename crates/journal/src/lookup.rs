//! What is known of many runs at once: one question for a whole batch, instead of one per run.

use std::collections::HashMap;

use gadfly_engine::Money;

use crate::journal::Journal;
use crate::lock;
use crate::read::ReadError;
use crate::rows::RunRow;
use crate::run_id::RunId;

/// How a run stands, as far as going on with it depends on that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunLookup {
    /// The outcome's label; none while the run has work to do.
    pub outcome: Option<String>,
    /// Over for good.
    pub ended: bool,
    /// A living process owns it.
    pub driven: bool,
    /// What it has cost so far.
    pub cost: Money,
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
    pub fn known(&self, runs: &[RunId]) -> Result<HashMap<RunId, RunLookup>, ReadError> {
        let live = lock::live(self.inner.lock.dir());
        self.read(|conn| {
            // One snapshot and one lock for all of them.
            let snapshot = conn.unchecked_transaction()?;
            let mut found = HashMap::new();
            for run in runs {
                let row = match RunRow::find(&snapshot, self.check(), run) {
                    Err(ReadError::NotFound(_)) => continue,
                    other => other?,
                };
                let summary = row.summary(&snapshot, self.check(), &live)?;
                let (ended, driven) = (summary.ended, row.is_driven(&live));
                found.insert(
                    run.clone(),
                    RunLookup { outcome: summary.outcome, ended, driven, cost: summary.cost },
                );
            }
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
