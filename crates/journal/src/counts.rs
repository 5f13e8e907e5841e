//! How many runs stand how.

use std::collections::BTreeMap;

use crate::journal::Journal;
use crate::lock;
use crate::read::ReadError;
use crate::rows::{COLUMNS, RunRow};
use crate::seal;
use crate::summary::{DAMAGED, INTERRUPTED, RUNNING};

impl Journal {
    /// Runs by state, named as `Summary::state` names it. A state that no run has is left out.
    pub fn counts(&self) -> Result<BTreeMap<String, u64>, ReadError> {
        let live = lock::live(self.inner.lock.dir());
        self.read(|conn| {
            let mut counts = BTreeMap::new();
            let mut rows = conn.prepare_cached(&format!("SELECT {COLUMNS} FROM runs"))?;
            let mut rows = rows.query([])?;
            while let Some(row) = rows.next()? {
                let state = match RunRow::read(row, self.check())? {
                    Some(row) if row.is_proven => match &row.standing.outcome {
                        Some(outcome) => outcome.clone(),
                        None if row.is_driven(&live) => RUNNING.to_owned(),
                        None => INTERRUPTED.to_owned(),
                    },
                    _ => DAMAGED.to_owned(),
                };
                *counts.entry(state).or_insert(0) += 1;
            }
            Ok(counts)
        })
    }

    /// How many runs stopped here, were not removed with `runs rm` or `gc`, and are not there any more.
    pub fn missing(&self) -> Result<u64, ReadError> {
        if self.check().is_none() {
            return Ok(0);
        }
        self.read(|conn| {
            let snapshot = conn.unchecked_transaction()?;
            let there: i64 =
                snapshot.query_row("SELECT count(*) FROM runs WHERE sealed > 0", [], |r| r.get(0))?;
            Ok(u64::try_from(seal::newest(&snapshot)?.runs - there).unwrap_or(0))
        })
    }
}
