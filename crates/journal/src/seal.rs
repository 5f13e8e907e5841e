//! One chain over the whole store: a seal for every run that stopped, and for every one that was removed. Each says how
//! many runs were sealed and are still there. The newest is also kept outside the store (`custody`).

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::chain::{Chain, Mac};
use crate::rows::RunRow;
use crate::run_id::RunId;

/// What is to be sealed.
pub(crate) struct Seal {
    pub(crate) about: Mac,
    /// The run was not sealed before.
    pub(crate) is_first: bool,
}

/// The newest seal.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct NewestSeal {
    pub(crate) number: i64,
    pub(crate) value: Mac,
    /// Runs that were sealed and not removed.
    pub(crate) runs: i64,
}

impl Seal {
    pub(crate) fn insert(&self, conn: &Connection, chain: &Chain, run: i64) -> rusqlite::Result<()> {
        append(conn, chain, run, &self.about, i64::from(self.is_first))
    }
}

/// A run is removed. Its earlier seals stay: they are links of the chain.
pub(crate) fn remove(conn: &Connection, chain: &Chain, run: &RunId, number: i64) -> rusqlite::Result<()> {
    let sql = "SELECT sealed FROM runs WHERE number = ?1";
    let sealed: i64 = conn.prepare_cached(sql)?.query_row([number], |r| r.get(0))?;
    if sealed == 0 {
        return Ok(());
    }
    append(conn, chain, number, &chain.sealed(run, None), -1)
}

/// A seal over a store as it is: so many runs that were sealed are in it.
pub(crate) fn begin(conn: &Connection, chain: &Chain, runs: i64) -> rusqlite::Result<()> {
    let more = runs - newest(conn)?.runs;
    append(conn, chain, 0, &chain.fingerprint(), more)
}

fn append(conn: &Connection, chain: &Chain, run: i64, about: &Mac, more: i64) -> rusqlite::Result<()> {
    let last = newest(conn)?;
    let runs = last.runs + more;
    let value = chain.seal(&last.value, about, runs);
    let sql = "INSERT INTO seals VALUES(?1, ?2, ?3, ?4, ?5)";
    conn.prepare_cached(sql)?.execute(params![last.number + 1, run, about, runs, value])?;
    Ok(())
}

pub(crate) fn newest(conn: &Connection) -> rusqlite::Result<NewestSeal> {
    let sql = "SELECT number, value, runs FROM seals ORDER BY number DESC LIMIT 1";
    let row = conn
        .prepare_cached(sql)?
        .query_row([], |r| Ok(NewestSeal { number: r.get(0)?, value: r.get(1)?, runs: r.get(2)? }));
    Ok(row.optional()?.unwrap_or_default())
}

/// The value of the seal with this number.
pub(crate) fn value(conn: &Connection, number: i64) -> rusqlite::Result<Option<Mac>> {
    let sql = "SELECT value FROM seals WHERE number = ?1";
    conn.prepare_cached(sql)?.query_row([number], |r| r.get(0)).optional()
}

/// Walks the whole chain and names the first seal that does not fit.
pub(crate) fn first_broken(conn: &Connection, chain: &Chain) -> rusqlite::Result<Option<i64>> {
    let mut rows = conn.prepare("SELECT number, about, runs, value FROM seals ORDER BY number")?;
    let mut rows = rows.query([])?;
    let mut before = NewestSeal::default();
    while let Some(row) = rows.next()? {
        let (number, about, runs): (i64, Mac, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let value: Mac = row.get(3)?;
        if number != before.number + 1 || chain.seal(&before.value, &about, runs) != value {
            return Ok(Some(before.number + 1));
        }
        before = NewestSeal { number, value, runs };
    }
    Ok(None)
}

/// Whether a run's last seal is about its record `last`.
pub(crate) fn covers(conn: &Connection, chain: &Chain, row: &RunRow, last: u32) -> rusqlite::Result<bool> {
    let sql = "SELECT link FROM records WHERE run = ?1 AND seq = ?2";
    let link: Option<Mac> = conn.query_row(sql, params![row.number, last], |r| r.get(0)).optional()?;
    let sql = "SELECT about FROM seals WHERE run = ?1 ORDER BY number DESC LIMIT 1";
    let about: Option<Mac> = conn.query_row(sql, [row.number], |r| r.get(0)).optional()?;
    Ok(link.is_some() && about == link.map(|link| chain.sealed(&row.run, Some(&link))))
}
