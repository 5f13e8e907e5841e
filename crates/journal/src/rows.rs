//! The row of a run, and how a run stands now: from its newest checkpoint where nothing came after it, else from its
//! records. What a row says is believed only with its proof.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::Deserialize;

use crate::chain::{Chain, Mac, RunHeader};
use crate::checkpoint;
use crate::encode::ChunkEnd;
use crate::read::ReadError;
use crate::run_id::RunId;
use crate::summary::{INTERRUPTED, RUNNING, Summary};

/// What [`RunRow::read`] reads, first in its row.
pub(crate) const COLUMNS: &str =
    "number, id, protocol, created, updated, is_foreign, sealed, outcome, ended, proof, owner";

pub(crate) struct RunRow {
    pub(crate) number: i64,
    pub(crate) run: RunId,
    pub(crate) standing: RunHeader,
    pub(crate) owner: Option<String>,
    /// It is as it was written, as far as that can be told here.
    pub(crate) is_proven: bool,
}

/// The only part of a checkpoint that a list needs.
#[derive(Deserialize)]
struct Brief {
    view: BriefView,
}

#[derive(Deserialize)]
struct BriefView {
    summary: Summary,
}

impl RunRow {
    /// None where the id is none.
    pub(crate) fn read(row: &Row<'_>, check: Option<&Chain>) -> rusqlite::Result<Option<Self>> {
        let Ok(run) = row.get_ref(1)?.as_str().unwrap_or_default().parse::<RunId>() else { return Ok(None) };
        let standing = RunHeader {
            protocol: row.get(2)?,
            created: row.get(3)?,
            updated: row.get(4)?,
            foreign: row.get(5)?,
            sealed: row.get::<_, i64>(6)?.try_into().unwrap_or(u32::MAX),
            outcome: row.get(7)?,
            ended: row.get(8)?,
        };
        let proof: Option<Mac> = row.get(9).ok();
        let is_proven = check.is_none_or(|chain| proof == Some(chain.row(&run, &standing)));
        Ok(Some(Self { number: row.get(0)?, run, standing, owner: row.get(10)?, is_proven }))
    }

    pub(crate) fn find(conn: &Connection, check: Option<&Chain>, run: &RunId) -> Result<Self, ReadError> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE id = ?1");
        let row = conn.prepare_cached(&sql)?.query_row([run.as_str()], |row| Self::read(row, check));
        let row = row.optional()?.flatten().ok_or_else(|| ReadError::NotFound(run.clone()))?;
        if row.is_proven { Ok(row) } else { Err(ReadError::Row(run.clone())) }
    }

    /// How the run stands; `live` are the processes that drive runs.
    pub(crate) fn summary(
        &self,
        conn: &Connection,
        check: Option<&Chain>,
        live: &HashSet<String>,
    ) -> Result<Summary, ReadError> {
        let mut summary = match checkpoint::newest::<Brief>(conn, check, &self.run, self.number)? {
            Some((upto, _, brief)) if upto == next(conn, self.number)? && upto >= self.standing.sealed => {
                brief.view.summary
            }
            _ => ChunkEnd::of(conn, check, &self.run, self.number)?.sums.summary,
        };
        self.name_state(&mut summary, live);
        Ok(summary)
    }

    /// Whether a run without an outcome is driven is not in its records.
    pub(crate) fn name_state(&self, summary: &mut Summary, live: &HashSet<String>) {
        if summary.outcome.is_none() {
            (if self.is_driven(live) { RUNNING } else { INTERRUPTED }).clone_into(&mut summary.state);
        }
    }

    /// As [`Self::summary`]; what is wrong with one run hides no other.
    pub(crate) fn listed(&self, conn: &Connection, check: Option<&Chain>, live: &HashSet<String>) -> Summary {
        let found = self.summary(conn, check, live);
        let found =
            found.and_then(|s| if self.is_proven { Ok(s) } else { Err(ReadError::Row(self.run.clone())) });
        let created_ms = u64::try_from(self.standing.created).unwrap_or_default();
        found.unwrap_or_else(|error| Summary::damaged(self.run.clone(), created_ms, error.to_string()))
    }

    pub(crate) fn is_driven(&self, live: &HashSet<String>) -> bool {
        self.owner.as_ref().is_some_and(|owner| live.contains(owner))
    }
}

/// The seq that a run's next record will have.
pub(crate) fn next(conn: &Connection, number: i64) -> rusqlite::Result<u32> {
    let sql = "SELECT coalesce(max(seq) + 1, 0) FROM records WHERE run = ?1";
    conn.prepare_cached(sql)?.query_row([number], |r| r.get(0))
}
