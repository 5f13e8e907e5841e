//! Records and texts, read back and checked. Readers hold no transaction between two calls.

use std::collections::VecDeque;
use std::sync::Arc;

use gadfly_engine::input::InputKind;
use gadfly_engine::{Digest, Input, Start, Step, Text};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::body::{self, OwnedPair, TextDigests};
use crate::chain::{Chain, Mac};
use crate::checkpoint::CHUNK;
use crate::codec::{self, LONG_RECORD};
use crate::inbox::MailId;
use crate::journal::Journal;
use crate::origin::Foreign;
use crate::run_id::RunId;
use crate::schema::OpenError;
use crate::signature::SignatureError;
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
    #[error("what the journal says of run `{0}` was changed after it was written, or is damaged")]
    Row(RunId),
    #[error(
        "seal {number} of this store does not fit: the store was changed after it was written, or is damaged"
    )]
    Seal { number: i64 },
    #[error("the signature over seal {seal} of this store is wrong: {why}")]
    Signature { seal: i64, why: SignatureError },
    #[error("run `{run}` has {there} records, and {sealed} were sealed: its end was cut off or changed")]
    Cut { run: RunId, there: u32, sealed: u32 },
    #[error(transparent)]
    Foreign(#[from] Foreign),
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
            let mut walker = Walker::new(conn, self.check(), run, number, from)?;
            let mut records: Vec<Record> = Vec::new();
            let mut held = 0;
            walker.some(conn, limit, |walked| {
                let mut record = walked.record()?;
                if with_texts {
                    record.input.texts = texts(conn, walked.texts.input)?;
                    record.step.texts = texts(conn, walked.texts.step)?;
                }
                let texts = record.input.texts.iter().chain(&record.step.texts);
                held += walked.json.len() + texts.map(|t| t.as_str().len()).sum::<usize>();
                records.push(record);
                Ok(held < bytes)
            })?;
            Ok(records)
        })
    }

    /// What a run was started with.
    pub fn start(&self, run: &RunId) -> Result<Start, ReadError> {
        match self.records_without_texts(run, 0, 1)?.into_iter().next().map(|record| record.input.what) {
            Some(InputKind::Started(start)) => Ok(*start),
            _ => {
                Err(ReadError::Record { run: run.clone(), seq: 0, message: "it is no beginning".to_owned() })
            }
        }
    }

    /// All records of a run, a page at a time.
    pub fn replay(&self, run: &RunId) -> Records {
        Records::of(self, run, true)
    }

    /// As `replay`, from a record on, but no text is read.
    pub fn replay_from(&self, run: &RunId, from: u32) -> Records {
        Records { next: from, ..Records::of(self, run, false) }
    }

    /// A stored text, checked against its digest.
    pub fn text(&self, digest: &Digest) -> Result<Option<Arc<str>>, ReadError> {
        self.read(|conn| text(conn, digest))
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

/// Reads the records of one run in order, and checks that each follows the one before it.
pub(crate) struct Walker<'a> {
    check: Option<&'a Chain>,
    run: &'a RunId,
    number: i64,
    next: u32,
    before: Mac,
    /// The last long record of the chunk, as far as it was walked; others are packed beside it.
    base: Option<Vec<u8>>,
}

/// A record that a walker came to.
pub(crate) struct WalkedRecord<'a> {
    run: &'a RunId,
    pub(crate) seq: u32,
    pub(crate) texts: TextDigests<'a>,
    pub(crate) json: &'a [u8],
    /// As it is stored.
    pub(crate) packed: &'a [u8],
}

impl WalkedRecord<'_> {
    pub(crate) fn pair(&self) -> Result<OwnedPair, ReadError> {
        serde_json::from_slice(self.json).map_err(|e| damaged(self.run, self.seq, e))
    }

    /// Without its texts.
    pub(crate) fn record(&self) -> Result<Record, ReadError> {
        let OwnedPair { input, step } = self.pair()?;
        Ok(Record { seq: self.seq, input, step })
    }
}

const COLUMNS: &str = "seq, link, input_texts, step_texts, size, body";

impl<'a> Walker<'a> {
    /// At the record `from`. Without `check` nothing is known of the key that the records were chained with.
    pub(crate) fn new(
        conn: &Connection,
        check: Option<&'a Chain>,
        run: &'a RunId,
        number: i64,
        from: u32,
    ) -> Result<Self, ReadError> {
        let before = match (from.checked_sub(1), check) {
            (None, Some(chain)) => chain.start(run),
            (None, None) => Mac::default(),
            (Some(last), _) => {
                let sql = "SELECT link FROM records WHERE run = ?1 AND seq = ?2";
                let found = conn.prepare_cached(sql)?.query_row([number, i64::from(last)], |r| r.get(0));
                found.optional()?.ok_or_else(|| damaged(run, last, "it is missing"))?
            }
        };
        Ok(Self { check, run, number, next: from, before, base: None })
    }

    /// The link of the last record walked, and the long record that the next may be packed beside.
    pub(crate) fn left_off(self) -> (Mac, Option<Vec<u8>>) {
        (self.before, self.base)
    }

    /// Every record that is left.
    pub(crate) fn each(
        &mut self,
        conn: &Connection,
        mut take: impl FnMut(&WalkedRecord<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.some(conn, u32::MAX, |walked| take(walked).map(|()| true))
    }

    /// Up to `limit` records, as long as `take` wants more.
    pub(crate) fn some(
        &mut self,
        conn: &Connection,
        limit: u32,
        mut take: impl FnMut(&WalkedRecord<'_>) -> Result<bool, ReadError>,
    ) -> Result<(), ReadError> {
        let sql = format!("SELECT {COLUMNS} FROM records WHERE run = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3");
        let mut rows = conn.prepare_cached(&sql)?;
        let mut rows = rows.query(params![self.number, self.next, limit])?;
        while let Some(row) = rows.next()? {
            let json = self.step(conn, row, true)?;
            let (seq, texts) = (self.next - 1, TextDigests::read(row, 2, 3)?);
            let packed = row.get_ref(5)?.as_blob().unwrap_or_default();
            let more = take(&WalkedRecord { run: self.run, seq, texts, json: &json, packed })?;
            if json.len() >= LONG_RECORD {
                self.base = Some(json);
            }
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// Checks one row and unpacks it, if it is needed.
    fn step(&mut self, conn: &Connection, row: &Row<'_>, wanted: bool) -> Result<Vec<u8>, ReadError> {
        let (seq, due): (u32, u32) = (row.get(0)?, self.next);
        if seq != due {
            return Err(damaged(self.run, seq, format!("record {due} is missing before it")));
        }
        if seq.is_multiple_of(CHUNK) {
            self.base = None;
        }
        let size = usize::try_from(row.get::<_, i64>(4)?).unwrap_or(usize::MAX);
        let packed = row.get_ref(5)?.as_blob().unwrap_or_default();
        let changed = || damaged(self.run, seq, "it was changed after it was written, or it is damaged");
        let link: Mac = row.get(1).map_err(|_| changed())?;
        let texts = TextDigests::read(row, 2, 3)?;
        let follows = |chain: &Chain| chain.link(&self.before, self.run, seq, texts, size, packed) == link;
        if !self.check.is_none_or(follows) {
            return Err(changed());
        }
        if codec::needs_base(packed) && self.base.is_none() {
            self.base = Some(base(conn, self.check, self.run, self.number, seq)?);
        }
        (self.before, self.next) = (link, seq.saturating_add(1));
        if !wanted && size < LONG_RECORD {
            return Ok(Vec::new());
        }
        codec::unpack_record(packed, size, self.base.as_deref()).map_err(|e| damaged(self.run, seq, e))
    }
}

/// The last long record before `seq` in its chunk, which is walked from its beginning.
fn base(
    conn: &Connection,
    check: Option<&Chain>,
    run: &RunId,
    number: i64,
    seq: u32,
) -> Result<Vec<u8>, ReadError> {
    let from = seq - seq % CHUNK;
    let mut walker = Walker::new(conn, check, run, number, from)?;
    let sql = format!("SELECT {COLUMNS} FROM records WHERE run = ?1 AND seq >= ?2 AND seq < ?3 ORDER BY seq");
    let mut rows = conn.prepare(&sql)?;
    let mut rows = rows.query(params![number, from, seq])?;
    while let Some(row) = rows.next()? {
        let json = walker.step(conn, row, false)?;
        if json.len() >= LONG_RECORD {
            walker.base = Some(json);
        }
    }
    walker.base.ok_or_else(|| damaged(run, seq, "the record it builds on is missing"))
}

#[allow(clippy::needless_pass_by_value)] // errors and words alike
pub(crate) fn damaged(run: &RunId, seq: u32, message: impl ToString) -> ReadError {
    ReadError::Record { run: run.clone(), seq, message: message.to_string() }
}

pub(crate) fn run_number(conn: &Connection, run: &RunId) -> Result<i64, ReadError> {
    let sql = "SELECT number FROM runs WHERE id = ?1";
    let number = conn.prepare_cached(sql)?.query_row([run.as_str()], |r| r.get(0));
    number.optional()?.ok_or_else(|| ReadError::NotFound(run.clone()))
}

pub(crate) fn texts(conn: &Connection, digests: Option<&[u8]>) -> Result<Vec<Text>, ReadError> {
    let found = body::split(digests).map(|digest| {
        let missing = || ReadError::Text { digest, message: "it is missing".to_owned() };
        Ok(Text::new(text(conn, &digest)?.ok_or_else(missing)?))
    });
    found.collect()
}

fn text(conn: &Connection, digest: &Digest) -> Result<Option<Arc<str>>, ReadError> {
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
