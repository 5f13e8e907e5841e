//! What the records of a run add up to, and which kind each is, kept once per chunk and where the run stops. So a run
//! of any length is opened by reading one chunk of it. A memory: one that is missing or was changed is made anew from
//! the records.

use rusqlite::{Connection, params};
use serde::Deserialize;

use crate::chain::{Chain, Mac};
use crate::codec;
use crate::record_index::RecordIndex;
use crate::run_id::RunId;
use crate::schema::int;
use crate::view::{RunView, TotalsToStore};

/// Records to a chunk. The first of one can be read without those before it.
pub(crate) const CHUNK: u32 = 64;
/// Chunks that a run's places have room for.
const ROOM: u32 = 26;

/// A checkpoint as it is stored.
pub(crate) struct Checkpoint {
    chunk: u32,
    upto: u32,
    proof: Mac,
    /// Of the records of its chunk, one byte each.
    kinds: Vec<u8>,
    size: usize,
    body: Vec<u8>,
}

impl Checkpoint {
    /// As of `upto` records, at least one.
    pub(crate) fn new(
        chain: &Chain,
        upto: u32,
        kinds: &[RecordIndex],
        sums: &RunView,
    ) -> std::io::Result<Self> {
        let json = serde_json::to_vec(&TotalsToStore::from(sums))?;
        let body = codec::pack_record(&json, None)?;
        let kinds: Vec<u8> = kinds.iter().map(|index| index.bits()).collect();
        let proof = chain.checkpoint(&sums.summary.run, upto, &kinds, json.len(), &body);
        Ok(Self { chunk: upto.saturating_sub(1) / CHUNK, upto, proof, kinds, size: json.len(), body })
    }

    pub(crate) fn insert(&self, conn: &Connection, run: i64) -> rusqlite::Result<()> {
        let sql = "INSERT OR REPLACE INTO checkpoints VALUES(?1, ?2, ?3, ?4, ?5, ?6)";
        conn.prepare_cached(sql)?.execute(params![
            place(run, self.chunk),
            self.upto,
            self.proof,
            self.kinds,
            int(self.size as u64),
            self.body
        ])?;
        Ok(())
    }
}

fn place(run: i64, chunk: u32) -> i64 {
    (run << ROOM) | i64::from(chunk)
}

/// Which places a run's checkpoints have.
pub(crate) fn places(run: i64) -> [i64; 2] {
    [run << ROOM, (run + 1) << ROOM]
}

const COLUMNS: &str = "place, upto, proof, kinds, size, body";

/// A stored checkpoint that has its proof. Where proofs cannot be checked none is believed: the records tell.
fn checked(
    row: &rusqlite::Row<'_>,
    check: Option<&Chain>,
    run: &RunId,
) -> rusqlite::Result<Option<Checkpoint>> {
    let size = usize::try_from(row.get::<_, i64>(4)?).unwrap_or(usize::MAX);
    let chunk = u32::try_from(row.get::<_, i64>(0)? & ((1 << ROOM) - 1)).unwrap_or(u32::MAX);
    let Ok(proof) = row.get(2) else { return Ok(None) };
    let found = Checkpoint { chunk, upto: row.get(1)?, proof, kinds: row.get(3)?, size, body: row.get(5)? };
    let fits = found.upto.saturating_sub(1) / CHUNK == chunk
        && u32::try_from(found.kinds.len()) == Ok(found.upto - chunk * CHUNK)
        && check.is_some_and(|chain| {
            chain.checkpoint(run, found.upto, &found.kinds, found.size, &found.body) == found.proof
        });
    Ok(fits.then_some(found))
}

/// The newest checkpoint of a run, with the kinds of the records of its chunk.
pub(crate) fn newest<T: for<'de> Deserialize<'de>>(
    conn: &Connection,
    check: Option<&Chain>,
    run: &RunId,
    number: i64,
) -> rusqlite::Result<Option<(u32, Vec<RecordIndex>, T)>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM checkpoints WHERE place >= ?1 AND place < ?2 ORDER BY place DESC LIMIT 1"
    );
    let mut rows = conn.prepare_cached(&sql)?;
    let mut rows = rows.query(places(number))?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let Some(found) = checked(row, check, run)? else { return Ok(None) };
    let json = codec::unpack(&found.body, found.size).ok();
    let sums = json.and_then(|json| serde_json::from_slice(&json).ok());
    Ok(sums.map(|sums| (found.upto, found.kinds.into_iter().map(RecordIndex::from_bits).collect(), sums)))
}

/// The kinds of a run's records as far as checkpoints tell them without a gap, in order.
pub(crate) fn kinds(
    conn: &Connection,
    check: Option<&Chain>,
    run: &RunId,
    number: i64,
) -> rusqlite::Result<Vec<RecordIndex>> {
    let sql = format!("SELECT {COLUMNS} FROM checkpoints WHERE place >= ?1 AND place < ?2 ORDER BY place");
    let mut rows = conn.prepare_cached(&sql)?;
    let mut rows = rows.query(places(number))?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        match checked(row, check, run)? {
            Some(found) if all.len() == (found.chunk * CHUNK) as usize => {
                all.extend(found.kinds.into_iter().map(RecordIndex::from_bits));
            }
            _ => break,
        }
    }
    Ok(all)
}
