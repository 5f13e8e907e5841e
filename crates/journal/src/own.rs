//! Making a store this machine's, because a person says so. What another machine chained is chained anew, with nothing
//! believed but the records, and every run of it stays marked as come from elsewhere: no gate counts it. A store that was
//! set back is taken as it is.

use std::path::Path;

use rusqlite::Connection;

use crate::chain::{Chain, Mac};
use crate::checkpoint;
use crate::custody::Custody;
use crate::encode::{ChunkEnd, Unstorable};
use crate::journal::Journal;
use crate::lock;
use crate::origin::Foreign;
use crate::read::{ReadError, Walker, damaged};
use crate::run_id::RunId;
use crate::schema::{self, ConnectionUse, OpenError};
use crate::seal;
use crate::store_error::{StoreError, failure};

/// What became of a store that a person took.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TakenStore {
    /// It was this machine's already.
    pub is_own: bool,
    pub runs: u64,
    /// Runs whose records cannot be read: they stay, and are shown as damaged.
    pub unreadable: Vec<RunId>,
}

/// Why a store was not taken. It is as it was.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TakeError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("another process works with this store: let it end first")]
    Busy,
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

failure!(TakeError);

impl Journal {
    /// Makes the store in `dir` this machine's.
    pub fn own(dir: &Path, custody: &Custody) -> Result<TakenStore, TakeError> {
        let journal = Self::open_existing_in(dir, custody)?;
        let Some(foreign) = journal.foreign().cloned() else {
            return Ok(TakenStore { is_own: true, ..TakenStore::default() });
        };
        drop(journal);
        if !lock::live(&dir.join("locks")).is_empty() {
            return Err(TakeError::Busy);
        }
        let chain = custody.make_chain().map_err(StoreError::from)?;
        let mut conn =
            schema::connect(&dir.join(schema::DatabaseFile::Journal.name()), ConnectionUse::Write)?;
        let transaction = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let taken = match foreign {
            Foreign::SetBack(_) => recount(&transaction, &chain)?,
            Foreign::MadeElsewhere(_) => {
                // Whoever made the store may have left answers in it, in a person's name.
                schema::remove(dir, schema::DatabaseFile::Inbox)?;
                chain_anew(&transaction, &chain)?
            }
        };
        transaction.commit()?;
        // Only now: what is not committed was not taken.
        custody.forget(dir).map_err(StoreError::from)?;
        Ok(taken)
    }
}

/// The runs that are there are the runs there are.
fn recount(conn: &Connection, chain: &Chain) -> Result<TakenStore, TakeError> {
    let runs: i64 = conn.query_row("SELECT count(*) FROM runs WHERE sealed > 0", [], |r| r.get(0))?;
    // Signatures over seals that are gone are over nothing.
    let newest = seal::newest(conn)?.number;
    conn.execute("DELETE FROM signatures WHERE seal > ?1", [newest])?;
    seal::begin(conn, chain, runs)?;
    Ok(TakenStore { runs: u64::try_from(runs).unwrap_or(0), ..TakenStore::default() })
}

fn chain_anew(conn: &Connection, chain: &Chain) -> Result<TakenStore, TakeError> {
    let mut id: Mac = Mac::default();
    getrandom::fill(&mut id).map_err(|e| StoreError::Io(e.to_string()))?;
    conn.execute_batch(
        "DELETE FROM checkpoints; DELETE FROM seals; DELETE FROM signatures; DELETE FROM store;",
    )?;
    conn.execute("INSERT INTO store VALUES(?1, ?2)", [id, chain.fingerprint()])?;
    let mut taken = TakenStore::default();
    let mut rows = conn.prepare("SELECT number, id FROM runs ORDER BY number")?;
    let runs = rows.query_map([], |r| Ok((r.get(0)?, r.get::<_, String>(1)?)))?;
    for row in runs.collect::<rusqlite::Result<Vec<(i64, String)>>>()? {
        let Ok(run) = row.1.parse::<RunId>() else { continue };
        taken.runs += 1;
        match chain_run(conn, chain, &run, row.0) {
            Ok(()) => {}
            Err(ReadError::Record { .. }) => {
                // Whoever reads it is told.
                conn.execute(
                    "DELETE FROM checkpoints WHERE place >= ?1 AND place < ?2",
                    checkpoint::places(row.0),
                )?;
                taken.unreadable.push(run);
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(taken)
}

fn chain_run(conn: &Connection, chain: &Chain, run: &RunId, number: i64) -> Result<(), ReadError> {
    let mut end = ChunkEnd::new(chain, run, true);
    let mut update = conn.prepare_cached("UPDATE records SET link = ?3 WHERE run = ?1 AND seq = ?2")?;
    // What is updated is not what is being walked: links are no part of the index.
    Walker::new(conn, None, run, number, 0)?.each(conn, |walked| {
        let (seq, pair) = (walked.seq, walked.pair()?);
        let chained =
            end.chain(chain, &pair.input, &pair.step, walked.texts, walked.json.len(), walked.packed);
        let chained = chained.map_err(|e| match e {
            Unstorable::TooLarge(_) => damaged(run, seq, "it is too large"),
            Unstorable::Encoding(message) => damaged(run, seq, message),
        })?;
        update.execute(rusqlite::params![number, seq, chained.link])?;
        Ok(chained.follow_up(conn, chain, number)?)
    })
}
