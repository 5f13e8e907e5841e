//! How many runs stand how, from numbers that the store keeps as runs begin, end and go: no run is walked.

use std::collections::BTreeMap;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::journal::Journal;
use crate::lock;
use crate::read::ReadError;
use crate::summary::{INTERRUPTED, RUNNING};

impl Journal {
    /// Runs by state, named as `Summary::state` names it. A state that no run has is left out.
    pub fn counts(&self) -> Result<BTreeMap<String, u64>, ReadError> {
        let live = lock::live(self.inner.lock.dir());
        self.read(|conn| {
            // One snapshot for both questions.
            let snapshot = conn.unchecked_transaction()?;
            let running = driven(&snapshot, live.into_iter().map(Value::Text).collect())?;
            let mut counts = BTreeMap::new();
            let mut rows = snapshot.prepare_cached("SELECT outcome, runs FROM tallies")?;
            let mut rows = rows.query([])?;
            while let Some(row) = rows.next()? {
                let runs = u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
                match row.get::<_, String>(0)?.as_str() {
                    "" => {
                        counts.insert(RUNNING.to_owned(), running);
                        counts.insert(INTERRUPTED.to_owned(), runs.saturating_sub(running));
                    }
                    outcome => drop(counts.insert(outcome.to_owned(), runs)),
                }
            }
            counts.retain(|_, runs| *runs > 0);
            Ok(counts)
        })
    }
}

/// Runs without an outcome that one of `live` drives: as many as are under way, however many there are.
fn driven(conn: &Connection, live: Vec<Value>) -> rusqlite::Result<u64> {
    if live.is_empty() {
        return Ok(0);
    }
    let owners = vec!["?"; live.len()].join(",");
    let sql = format!(
        "SELECT count(*) FROM runs INDEXED BY runs_driven WHERE outcome IS NULL AND owner IN ({owners})"
    );
    let runs: i64 = conn.query_row(&sql, params_from_iter(live), |r| r.get(0))?;
    Ok(u64::try_from(runs).unwrap_or(0))
}
