//! Records of one run by seq, without texts, each read once for a page and no more than fit.

use std::collections::BTreeMap;
use std::ops::Range;

use rusqlite::{Connection, OptionalExtension as _};

use crate::chain::Chain;
use crate::checkpoint::{self, CHUNK};
use crate::encode::ChunkEnd;
use crate::read::{ReadError, Record, Walker, damaged};
use crate::record_index::{self, RecordIndex, RecordKind};
use crate::run_id::RunId;

/// What the records of one part of a page may take; the newest is read whatever its size.
const PART_BYTES: usize = 8 << 20;

pub(super) struct PageReader<'a> {
    conn: &'a Connection,
    check: Option<&'a Chain>,
    run: &'a RunId,
    number: i64,
    /// Of every record of the run.
    kinds: Vec<RecordIndex>,
    held: BTreeMap<u32, Record>,
    pub(super) read: u32,
}

impl<'a> PageReader<'a> {
    pub(super) fn new(
        conn: &'a Connection,
        check: Option<&'a Chain>,
        run: &'a RunId,
        number: i64,
        end: &ChunkEnd,
    ) -> Result<Self, ReadError> {
        let mut kinds = checkpoint::kinds(conn, check, run, number)?;
        let (newest, before) = end.kinds();
        kinds.truncate(before as usize);
        if kinds.len() < before as usize {
            // A checkpoint is missing, or was changed.
            let from = u32::try_from(kinds.len()).unwrap_or(u32::MAX);
            Walker::new(conn, check, run, number, from)?.some(conn, before - from, |walked| {
                let pair = walked.pair()?;
                kinds.push(RecordIndex::of(&pair.input, &pair.step));
                Ok(true)
            })?;
        }
        kinds.extend(newest);
        Ok(Self { conn, check, run, number, kinds, held: BTreeMap::new(), read: 0 })
    }

    pub(super) fn newest(&self, kind: RecordKind, within: Range<u32>, most: usize) -> Vec<u32> {
        record_index::newest(&self.kinds, kind, within, most)
    }

    pub(super) fn oldest(&self, kind: RecordKind, within: Range<u32>, most: usize) -> Vec<u32> {
        record_index::oldest(&self.kinds, kind, within, most)
    }

    pub(super) fn run(&self) -> &RunId {
        self.run
    }

    pub(super) fn record(&mut self, seq: u32) -> Result<&Record, ReadError> {
        self.load(&[seq])?;
        self.held.get(&seq).ok_or_else(|| damaged(self.run, seq, "it is missing"))
    }

    /// Reads these, in the order given, while they fit, and says how many did. The first does.
    pub(super) fn fetch(&mut self, seqs: &[u32]) -> Result<usize, ReadError> {
        let (mut bytes, mut fit) = (0_usize, seqs.len());
        for (at, seq) in seqs.iter().enumerate() {
            if bytes > PART_BYTES {
                fit = at;
                break;
            }
            bytes = bytes.saturating_add(self.size(*seq)?);
        }
        self.load(&seqs[..fit])?;
        Ok(fit)
    }

    /// Those of `seqs` that were read, in that order.
    pub(super) fn fetched<'s>(&self, seqs: impl Iterator<Item = &'s u32>) -> impl Iterator<Item = &Record> {
        seqs.filter_map(|seq| self.held.get(seq))
    }

    fn size(&self, seq: u32) -> Result<usize, ReadError> {
        let sql = "SELECT size FROM records WHERE run = ?1 AND seq = ?2";
        let found =
            self.conn.prepare_cached(sql)?.query_row([self.number, i64::from(seq)], |r| r.get::<_, i64>(0));
        let size = found.optional()?.ok_or_else(|| damaged(self.run, seq, "it is missing"))?;
        Ok(usize::try_from(size).unwrap_or(usize::MAX))
    }

    /// Each chunk is walked once: a long record in it builds on the one before.
    fn load(&mut self, seqs: &[u32]) -> Result<(), ReadError> {
        let mut wanted: Vec<u32> = seqs.iter().copied().filter(|seq| !self.held.contains_key(seq)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        for chunk in wanted.chunk_by(|a, b| a / CHUNK == b / CHUNK) {
            let (first, last) = (chunk[0], chunk[chunk.len() - 1]);
            let mut walker = Walker::new(self.conn, self.check, self.run, self.number, first)?;
            walker.some(self.conn, last - first + 1, |walked| {
                if chunk.binary_search(&walked.seq).is_ok() {
                    self.held.insert(walked.seq, walked.record()?);
                    self.read = self.read.saturating_add(1);
                }
                Ok(true)
            })?;
        }
        Ok(())
    }
}
