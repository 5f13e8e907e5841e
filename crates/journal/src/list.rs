//! Which runs there are and how each stands: from the rows of runs and their checkpoints. Records are read only of runs
//! that go on.

use std::collections::HashSet;

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use crate::journal::Journal;
use crate::lock;
use crate::read::ReadError;
use crate::rows::{COLUMNS, RunRow};
use crate::run_id::{RunId, normal_prefix};
use crate::schema::int;
use crate::store_error::{StoreError, failure};
use crate::summary::{INTERRUPTED, RUNNING, Summary};

const CANDIDATES: i64 = 10;

/// Which runs to list, newest first.
#[derive(Clone, Debug)]
pub struct ListFilter {
    /// State labels as `Summary::state` has them; empty means all. `halted` stands for every
    /// `halted(…)`, `waiting` for every `waiting(…)`.
    pub states: Vec<String>,
    pub limit: u32,
    pub offset: u32,
}

impl Default for ListFilter {
    fn default() -> Self {
        Self { states: Vec::new(), limit: 50, offset: 0 }
    }
}

/// Where a list was left off: the last run of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListCursor {
    pub created_ms: u64,
    pub run: RunId,
}

/// Why a prefix names no single run.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FindError {
    #[error("no run starts with `{0}`: list the runs to see their ids")]
    NotFound(String),
    #[error("`{prefix}` could be {}: type more of it", one_of(candidates))]
    Ambiguous { prefix: String, candidates: Vec<RunId> },
    #[error(transparent)]
    Store(#[from] StoreError),
}

failure!(FindError);

fn one_of(candidates: &[RunId]) -> String {
    candidates.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", ")
}

impl Journal {
    pub fn list(&self, filter: &ListFilter) -> Result<Vec<Summary>, ReadError> {
        self.listed(filter, None)
    }

    /// The runs that come after `than` in the list: a run that begins meanwhile moves none of them, and none
    /// before them is walked. `filter.offset` counts from there.
    pub fn list_older(&self, filter: &ListFilter, than: &ListCursor) -> Result<Vec<Summary>, ReadError> {
        self.listed(filter, Some(than))
    }

    fn listed(&self, filter: &ListFilter, than: Option<&ListCursor>) -> Result<Vec<Summary>, ReadError> {
        let live = lock::live(self.inner.lock.dir());
        let (sql, values) = query(filter, than, &live);
        self.read(|conn| {
            let mut rows = conn.prepare(&sql)?;
            let mut rows = rows.query(params_from_iter(values))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(match RunRow::read(row, self.check())? {
                    Some(row) => row.listed(conn, self.check(), &live),
                    None => nameless(row)?,
                });
            }
            Ok(found)
        })
    }

    pub fn summary(&self, run: &RunId) -> Result<Summary, ReadError> {
        let live = lock::live(self.inner.lock.dir());
        self.read(|conn| RunRow::find(conn, self.check(), run)?.summary(conn, self.check(), &live))
    }

    /// The one run whose id starts with `prefix`.
    pub fn find(&self, prefix: &str) -> Result<RunId, FindError> {
        let not_found = || FindError::NotFound(prefix.chars().take(64).collect());
        let normal = normal_prefix(prefix).ok_or_else(not_found)?;
        let mut candidates: Vec<RunId> = self.read(|conn| starting_with(conn, &normal))?;
        match candidates.len() {
            0 => Err(not_found()),
            1 => Ok(candidates.remove(0)),
            _ => Err(FindError::Ambiguous { prefix: normal, candidates }),
        }
    }
}

/// A run whose id was changed, or is damaged: it is listed by its place.
fn nameless(row: &Row<'_>) -> rusqlite::Result<Summary> {
    let run = RunId::of_row(row.get::<_, i64>(0)?.unsigned_abs());
    let created_ms = row.get::<_, i64>(3)?.try_into().unwrap_or_default();
    let damage = ReadError::Row(run.clone()).to_string();
    Ok(Summary::damaged(run, created_ms, damage))
}

fn starting_with(conn: &Connection, prefix: &str) -> Result<Vec<RunId>, FindError> {
    let sql = "SELECT id FROM runs WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id LIMIT ?2";
    let mut rows = conn.prepare_cached(sql)?;
    let ids = rows.query_map((prefix, CANDIDATES), |r| r.get::<_, String>(0))?;
    let ids: Vec<String> = ids.collect::<rusqlite::Result<_>>()?;
    Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
}

/// The statement for a filter. Everything it tests is in the index it walks.
fn query(filter: &ListFilter, than: Option<&ListCursor>, live: &HashSet<String>) -> (String, Vec<Value>) {
    let mut values: Vec<Value> = Vec::new();
    let mut tests = Vec::new();
    let owned = |values: &mut Vec<Value>| {
        values.extend(live.iter().cloned().map(Value::Text));
        vec!["?"; live.len()].join(",")
    };
    for state in &filter.states {
        match state.as_str() {
            RUNNING => tests.push(format!("(outcome IS NULL AND owner IN ({}))", owned(&mut values))),
            INTERRUPTED => tests.push(format!(
                "(outcome IS NULL AND (owner IS NULL OR owner NOT IN ({})))",
                owned(&mut values)
            )),
            class @ ("halted" | "waiting") => {
                values.push(Value::Text(format!("{class}(*")));
                tests.push("outcome GLOB ?".to_owned());
            }
            other => {
                values.push(Value::Text(other.to_owned()));
                tests.push("outcome = ?".to_owned());
            }
        }
    }
    let mut clauses = Vec::new();
    if !tests.is_empty() {
        clauses.push(format!("({})", tests.join(" OR ")));
    }
    if let Some(than) = than {
        // Of a run that is gone meanwhile only the time is known.
        let number = "coalesce((SELECT number FROM runs WHERE id = ?), 0)";
        clauses.push(format!("(created, number) < (?, {number})"));
        values.push(Value::Integer(int(than.created_ms)));
        values.push(Value::Text(than.run.as_str().to_owned()));
    }
    let clause = if clauses.is_empty() { String::new() } else { format!("WHERE {}", clauses.join(" AND ")) };
    values.push(Value::Integer(filter.limit.into()));
    values.push(Value::Integer(filter.offset.into()));
    let sql = format!(
        "SELECT {COLUMNS} FROM runs INDEXED BY runs_newest {clause}
         ORDER BY created DESC, number DESC LIMIT ? OFFSET ?"
    );
    (sql, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    fn plan(sql: &str, values: Vec<Value>) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.db");
        schema::prepare(&path, schema::DatabaseFile::Journal, &crate::Custody::none()).unwrap();
        let conn = schema::connect(&path, schema::ConnectionUse::Read).unwrap();
        let mut rows = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let lines = rows.query_map(params_from_iter(values), |r| r.get::<_, String>(3)).unwrap();
        lines.map(Result::unwrap).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_list_walks_its_index_backwards_and_sorts_nothing() {
        let live = HashSet::from(["1-0f.owner".to_owned()]);
        for states in [vec![], vec!["running"], vec!["interrupted", "approved"], vec!["halted", "waiting"]] {
            let states = states.into_iter().map(str::to_owned).collect();
            let filter = ListFilter { states, ..ListFilter::default() };
            let place = ListCursor { created_ms: 7, run: RunId::random().unwrap() };
            for than in [None, Some(&place)] {
                let (sql, values) = query(&filter, than, &live);
                let plan = plan(&sql, values);
                assert!(plan.contains("USING INDEX runs_newest"), "{plan}");
                assert!(!plan.contains("TEMP B-TREE"), "{plan}");
                assert_eq!(plan.contains("SEARCH runs USING INDEX runs_newest"), than.is_some(), "{plan}");
            }
        }
    }

    #[test]
    fn the_plan_check_notices_a_list_that_would_sort() {
        let plan = plan("SELECT id FROM runs ORDER BY updated DESC LIMIT 5", vec![]);
        assert!(plan.contains("TEMP B-TREE"), "{plan}");
    }
}
