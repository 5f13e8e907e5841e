//! Records of one run by seq, without texts, each read once for a page and no more than fit.

use std::collections::BTreeMap;
use std::ops::Range;

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::marks::{self, Kind};
use crate::read::{self, ReadError, Record};
use crate::run_id::RunId;

/// What the records of one part of a page may take; the newest is read whatever its size.
const PART_BYTES: usize = 8 << 20;

pub(super) struct Reader<'a> {
    conn: &'a Connection,
    run: &'a RunId,
    number: i64,
    held: BTreeMap<u32, (Record, usize)>,
    pub(super) read: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(conn: &'a Connection, run: &'a RunId, number: i64) -> Self {
        Self { conn, run, number, held: BTreeMap::new(), read: 0 }
    }

    pub(super) fn newest(&self, kind: Kind, within: Range<u32>, most: usize) -> Result<Vec<u32>, ReadError> {
        Ok(marks::newest(self.conn, self.number, kind, within, most)?)
    }

    pub(super) fn oldest(&self, kind: Kind, within: Range<u32>, most: usize) -> Result<Vec<u32>, ReadError> {
        Ok(marks::oldest(self.conn, self.number, kind, within, most)?)
    }

    pub(super) fn run(&self) -> &RunId {
        self.run
    }

    pub(super) fn record(&mut self, seq: u32) -> Result<&Record, ReadError> {
        Ok(&self.sized(seq)?.0)
    }

    /// Reads these, in the order given, while they fit, and says how many did. The first does.
    pub(super) fn fetch(&mut self, seqs: &[u32]) -> Result<usize, ReadError> {
        let mut bytes = 0;
        for (at, seq) in seqs.iter().enumerate() {
            if bytes > PART_BYTES {
                return Ok(at);
            }
            bytes += self.sized(*seq)?.1;
        }
        Ok(seqs.len())
    }

    /// Those of `seqs` that were read, in that order.
    pub(super) fn fetched<'s>(&self, seqs: impl Iterator<Item = &'s u32>) -> impl Iterator<Item = &Record> {
        seqs.filter_map(|seq| self.held.get(seq)).map(|(record, _)| record)
    }

    fn sized(&mut self, seq: u32) -> Result<&(Record, usize), ReadError> {
        use std::collections::btree_map::Entry;
        match self.held.entry(seq) {
            Entry::Occupied(held) => Ok(held.into_mut()),
            Entry::Vacant(place) => {
                self.read = self.read.saturating_add(1);
                let found = one(self.conn, self.run, self.number, seq)?;
                Ok(place.insert(found))
            }
        }
    }
}

fn one(conn: &Connection, run: &RunId, number: i64, seq: u32) -> Result<(Record, usize), ReadError> {
    let sql = "SELECT seq, size, body FROM records WHERE run = ?1 AND seq = ?2";
    let mut rows = conn.prepare_cached(sql)?;
    let found = rows.query_row(params![number, seq], |row| Ok(read::unpacked(run, row))).optional()?;
    found.unwrap_or_else(|| {
        let message = "it is missing".to_owned();
        Err(ReadError::Record { run: run.clone(), seq, message })
    })
}
