//! Records and texts, read back and checked. Readers hold no transaction between two calls.

use std::collections::VecDeque;
use std::sync::Arc;

use gadfly_engine::input::What;
use gadfly_engine::{Digest, Input, Start, Step, Text};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::codec;
use crate::inbox::MailId;
use crate::journal::Journal;
use crate::run_id::RunId;
use crate::schema::OpenError;
use crate::store_error::{StoreError, failure};

/// How much a stream holds at once: so many records, or fewer if their texts are long.
const PAGE: u32 = 32;
const PAGE_BYTES: usize = 16 << 20;

/// One input and the engine's answer to it, with the texts of both.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    pub seq: u32,
    pub input: Input,
    pub step: Step,
}

/// The stored form of a record; texts are stored beside it.
#[derive(Serialize)]
pub(crate) struct Pair<'a> {
    pub(crate) input: &'a Input,
    pub(crate) step: &'a Step,
}

#[derive(Deserialize)]
pub(crate) struct OwnedPair {
    pub(crate) input: Input,
    pub(crate) step: Step,
}

/// Why something could not be read back.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ReadError {
    #[error("there is no run `{0}` in this journal")]
    NotFound(RunId),
    #[error(
        "record {seq} of run `{run}` is damaged: {message}. Restore the journal or import an export of it"
    )]
    Record { run: RunId, seq: u32, message: String },
    #[error("the stored text {digest} is damaged: {message}. Restore the journal or import an export of it")]
    Text { digest: Digest, message: String },
    #[error("the summary of run `{run}` is damaged: {message}")]
    Summary { run: RunId, message: String },
    #[error("inbox entry {mail} is damaged: {message}")]
    Mail { mail: MailId, message: String },
    #[error(transparent)]
    Inbox(#[from] OpenError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

failure!(ReadError);

impl Journal {
    /// Up to `limit` records from `from` on, in order.
    pub fn records(&self, run: &RunId, from: u32, limit: u32) -> Result<Vec<Record>, ReadError> {
        self.stretch(run, from, limit, usize::MAX, true)
    }

    /// As `records`, but no text is read: `input.texts` and `step.texts` are empty.
    pub fn records_without_texts(
        &self,
        run: &RunId,
        from: u32,
        limit: u32,
    ) -> Result<Vec<Record>, ReadError> {
        self.stretch(run, from, limit, usize::MAX, false)
    }

    fn stretch(
        &self,
        run: &RunId,
        from: u32,
        limit: u32,
        bytes: usize,
        with_texts: bool,
    ) -> Result<Vec<Record>, ReadError> {
        self.read(|conn| {
            let number = run_number(conn, run)?;
            let sql = "SELECT seq, size, body, input_texts, step_texts FROM records
                       WHERE run = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3";
            let mut rows = conn.prepare_cached(sql)?;
            let mut rows = rows.query(params![number, from, limit])?;
            let mut records: Vec<Record> = Vec::new();
            let mut held = 0;
            while held < bytes
                && let Some(row) = rows.next()?
            {
                let due = from.saturating_add(u32::try_from(records.len()).unwrap_or(u32::MAX));
                let (mut record, size) = unpacked(run, row)?;
                if record.seq != due {
                    let message = format!("record {due} is missing before it");
                    return Err(ReadError::Record { run: run.clone(), seq: record.seq, message });
                }
                if with_texts {
                    record.input.texts = texts(conn, row.get_ref(3)?.as_blob_or_null().unwrap_or_default())?;
                    record.step.texts = texts(conn, row.get_ref(4)?.as_blob_or_null().unwrap_or_default())?;
                }
                let texts = record.input.texts.iter().chain(&record.step.texts);
                held += size + texts.map(|t| t.as_str().len()).sum::<usize>();
                records.push(record);
            }
            Ok(records)
        })
    }

    /// What a run was started with.
    pub fn start(&self, run: &RunId) -> Result<Start, ReadError> {
        match self.records_without_texts(run, 0, 1)?.into_iter().next().map(|record| record.input.what) {
            Some(What::Started(start)) => Ok(*start),
            _ => {
                Err(ReadError::Record { run: run.clone(), seq: 0, message: "it is no beginning".to_owned() })
            }
        }
    }

    /// All records of a run, a page at a time.
    pub fn replay(&self, run: &RunId) -> Records {
        Records::of(self, run, true)
    }

    /// As `replay`, but no text is read.
    pub(crate) fn replay_without_texts(&self, run: &RunId) -> Records {
        Records::of(self, run, false)
    }

    /// A stored text, checked against its digest.
    pub fn text(&self, digest: &Digest) -> Result<Option<Arc<str>>, ReadError> {
        self.read(|conn| body(conn, digest))
    }
}

/// A stream of records that holds one page of them.
pub struct Records {
    journal: Journal,
    run: RunId,
    next: u32,
    page: VecDeque<Record>,
    over: bool,
    with_texts: bool,
}

impl Records {
    fn of(journal: &Journal, run: &RunId, with_texts: bool) -> Self {
        let (journal, run) = (journal.clone(), run.clone());
        Self { journal, run, next: 0, page: VecDeque::new(), over: false, with_texts }
    }
}

impl Iterator for Records {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.is_empty() && !self.over {
            match self.journal.stretch(&self.run, self.next, PAGE, PAGE_BYTES, self.with_texts) {
                Ok(page) => {
                    self.over = page.is_empty();
                    self.next = page.last().map_or(self.next, |r| r.seq.saturating_add(1));
                    self.page = page.into();
                }
                Err(error) => {
                    self.over = true;
                    return Some(Err(error));
                }
            }
        }
        self.page.pop_front().map(Ok)
    }
}

/// A record without its texts, from a row that begins with `seq, size, body`; and its size.
pub(crate) fn unpacked(run: &RunId, row: &Row<'_>) -> Result<(Record, usize), ReadError> {
    let seq: u32 = row.get(0)?;
    let damaged = |message: String| ReadError::Record { run: run.clone(), seq, message };
    let size = usize::try_from(row.get::<_, i64>(1)?).unwrap_or(usize::MAX);
    let json = codec::unpack(row.get_ref(2)?.as_blob().unwrap_or_default(), size);
    let json = json.map_err(|e| damaged(e.to_string()))?;
    let OwnedPair { input, step } = serde_json::from_slice(&json).map_err(|e| damaged(e.to_string()))?;
    Ok((Record { seq, input, step }, size))
}

pub(crate) fn run_number(conn: &Connection, run: &RunId) -> Result<i64, ReadError> {
    let sql = "SELECT number FROM runs WHERE id = ?1";
    let number = conn.prepare_cached(sql)?.query_row([run.as_str()], |r| r.get(0));
    number.optional()?.ok_or_else(|| ReadError::NotFound(run.clone()))
}

fn texts(conn: &Connection, hashes: Option<&[u8]>) -> Result<Vec<Text>, ReadError> {
    let (hashes, _) = hashes.unwrap_or_default().as_chunks::<32>();
    let mut found = Vec::with_capacity(hashes.len());
    for hash in hashes {
        let digest = Digest::from_bytes(*hash);
        let missing = || ReadError::Text { digest, message: "it is missing".to_owned() };
        found.push(Text::new(body(conn, &digest)?.ok_or_else(missing)?));
    }
    Ok(found)
}

fn body(conn: &Connection, digest: &Digest) -> Result<Option<Arc<str>>, ReadError> {
    let sql = "SELECT size, body FROM blobs WHERE substr(hash, 1, 8) = substr(?1, 1, 8) AND hash = ?1";
    let mut found = conn.prepare_cached(sql)?;
    let row = found.query_row([digest.as_bytes()], |r| {
        let size = usize::try_from(r.get::<_, i64>(0)?).unwrap_or(usize::MAX);
        Ok(codec::unpack(r.get_ref(1)?.as_blob().unwrap_or_default(), size))
    });
    let damaged = |message: String| ReadError::Text { digest: *digest, message };
    let Some(bytes) = row.optional()? else { return Ok(None) };
    let bytes = bytes.map_err(|e| damaged(e.to_string()))?;
    if Digest::of(&bytes) != *digest {
        return Err(damaged("its bytes do not have this digest".to_owned()));
    }
    let text = String::from_utf8(bytes).map_err(|e| damaged(e.to_string()))?;
    Ok(Some(text.into()))
}
