//! The end of a run, where records are added to it: each is written out, packed and chained to the one before, and
//! checkpoints and standings are made where they are due. Whoever appends, imports or takes a store over uses this;
//! so does whoever wants to know how a run stands now.

use gadfly_engine::{Input, Step};
use rusqlite::{Connection, params};

use crate::body::{RecordJson, TextDigests};
use crate::chain::{Chain, Mac, RunHeader};
use crate::checkpoint::{self, CHUNK, Checkpoint};
use crate::codec::{self, LONG_RECORD, MAX_BODY};
use crate::read::{ReadError, Walker, damaged};
use crate::record_index::RecordIndex;
use crate::run_id::RunId;
use crate::schema::int;
use crate::seal::Seal;
use crate::view::{RunView, StoredTotals};

/// Room for the JSON of a usual record, so that it is not moved while it grows.
const USUAL_RECORD: usize = 4096;

pub(crate) struct ChunkEnd {
    pub(crate) next: u32,
    link: Mac,
    /// The last long record of the chunk.
    base: Option<Vec<u8>>,
    /// Of the records of the chunk that `next` belongs to.
    kinds: Vec<RecordIndex>,
    pub(crate) sums: RunView,
    /// The outcome that the run's row names.
    stood: Option<String>,
    /// Records at the last seal.
    sealed: u32,
    foreign: bool,
}

/// A record that cannot be stored.
pub(crate) enum Unstorable {
    TooLarge(usize),
    Encoding(String),
}

impl From<serde_json::Error> for Unstorable {
    fn from(error: serde_json::Error) -> Self {
        Self::Encoding(error.to_string())
    }
}

impl From<std::io::Error> for Unstorable {
    fn from(error: std::io::Error) -> Self {
        Self::Encoding(error.to_string())
    }
}

impl ChunkEnd {
    /// Of a run that has no records yet.
    pub(crate) fn new(chain: &Chain, run: &RunId, foreign: bool) -> Self {
        let link = chain.start(run);
        Self {
            next: 0,
            link,
            base: None,
            kinds: Vec::new(),
            sums: RunView::totals_of(run.clone()),
            stood: None,
            sealed: 0,
            foreign,
        }
    }

    /// Of a run in the store: from its newest checkpoint, and the records since.
    pub(crate) fn of(
        conn: &Connection,
        check: Option<&Chain>,
        run: &RunId,
        number: i64,
    ) -> Result<Self, ReadError> {
        let sql = "SELECT outcome, sealed, is_foreign FROM runs WHERE number = ?1";
        let row = conn.prepare_cached(sql)?.query_row([number], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)));
        let (stood, sealed, foreign) = row?;
        let (upto, kinds, sums) = match checkpoint::newest::<StoredTotals>(conn, check, run, number)? {
            Some((upto, kinds, stored)) => (upto, kinds, stored.into()),
            None => (0, Vec::new(), RunView::totals_of(run.clone())),
        };
        let link = Mac::default();
        let mut end = Self { next: upto, link, base: None, kinds, sums, stood, sealed, foreign };
        let mut walker = Walker::new(conn, check, run, number, upto)?;
        walker.each(conn, |walked| {
            let (seq, pair) = (walked.seq, walked.pair()?);
            end.note(seq, &pair.input, &pair.step);
            Ok(())
        })?;
        (end.link, end.base) = walker.left_off();
        if end.next == 0 {
            return Err(damaged(run, 0, "it is missing"));
        }
        if end.next < end.sealed {
            return Err(ReadError::Cut { run: run.clone(), there: end.next, sealed: end.sealed });
        }
        Ok(end)
    }

    /// The kinds of the newest records, and how many records come before them.
    pub(crate) fn kinds(&self) -> (impl Iterator<Item = RecordIndex> + '_, u32) {
        let held = u32::try_from(self.kinds.len()).unwrap_or(u32::MAX);
        (self.kinds.iter().copied(), self.next.saturating_sub(held))
    }

    fn note(&mut self, seq: u32, input: &Input, step: &Step) {
        if seq.is_multiple_of(CHUNK) {
            (self.base, self.kinds) = (None, Vec::new());
        }
        self.next = seq.saturating_add(1);
        self.sums.take_in(seq, input, step);
        self.kinds.push(RecordIndex::of(input, step));
    }

    /// Takes a record in and says what is to be stored of it. A failure leaves the run where it was.
    pub(crate) fn add(
        &mut self,
        chain: &Chain,
        input: &Input,
        step: &Step,
        texts: [Option<Vec<u8>>; 2],
    ) -> Result<Encoded, Unstorable> {
        let seq = self.next;
        let mut bytes = Vec::with_capacity(USUAL_RECORD);
        serde_json::to_writer(&mut bytes, &RecordJson { input, step })?;
        if bytes.len() > MAX_BODY {
            return Err(Unstorable::TooLarge(bytes.len()));
        }
        let base = self.base.as_deref().filter(|_| !seq.is_multiple_of(CHUNK));
        let (packed, size) = (codec::pack_record(&bytes, base)?, bytes.len());
        let [brought, made] = &texts;
        let named = TextDigests { input: brought.as_deref(), step: made.as_deref() };
        let Chained { link, standing, checkpoint } = self.chain(chain, input, step, named, size, &packed)?;
        if size >= LONG_RECORD {
            self.base = Some(bytes);
        }
        Ok(Encoded { seq, link, texts, size, body: packed, standing, checkpoint })
    }

    /// Takes in a record that is packed already.
    pub(crate) fn chain(
        &mut self,
        chain: &Chain,
        input: &Input,
        step: &Step,
        texts: TextDigests<'_>,
        size: usize,
        packed: &[u8],
    ) -> Result<Chained, Unstorable> {
        let (seq, seals) = (self.next, step.outcome.is_some());
        self.note(seq, input, step);
        self.link = chain.link(&self.link, &self.sums.summary.run, seq, texts, size, packed);
        let standing = (seq == 0 || seals || self.sums.summary.outcome != self.stood)
            .then(|| self.standing(chain, seq == 0, seals));
        let due = seals || self.next.is_multiple_of(CHUNK);
        let checkpoint =
            due.then(|| Checkpoint::new(chain, self.next, &self.kinds, &self.sums)).transpose()?;
        Ok(Chained { link: self.link, standing, checkpoint })
    }

    fn standing(&mut self, chain: &Chain, begins: bool, seals: bool) -> RunRowUpdate {
        let summary = &self.sums.summary;
        let seal = seals.then(|| Seal {
            about: chain.sealed(&summary.run, Some(&self.link)),
            is_first: self.sealed == 0,
        });
        if seals {
            self.sealed = self.next;
        }
        self.stood.clone_from(&summary.outcome);
        let standing = RunHeader {
            protocol: summary.protocol.clone(),
            created: int(summary.created_ms),
            updated: int(summary.updated_ms),
            foreign: self.foreign,
            sealed: self.sealed,
            outcome: summary.outcome.clone(),
            ended: summary.ended,
        };
        let proof = chain.row(&summary.run, &standing);
        RunRowUpdate { begins, standing, proof, seal }
    }
}

/// A run's row, where it has to be written.
pub(crate) struct RunRowUpdate {
    begins: bool,
    standing: RunHeader,
    proof: Mac,
    pub(crate) seal: Option<Seal>,
}

impl RunRowUpdate {
    /// The row of a run that begins; none if there is such a run.
    pub(crate) fn begin(
        &self,
        conn: &Connection,
        run: &RunId,
        owner: Option<&str>,
    ) -> rusqlite::Result<Option<i64>> {
        let sql = "INSERT INTO runs(id, protocol, created, updated, is_foreign, sealed, outcome, ended, proof, owner)
                   VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT(id) DO NOTHING";
        let at = &self.standing;
        let new = conn.prepare_cached(sql)?.execute(params![
            run.as_str(),
            at.protocol,
            at.created,
            at.updated,
            at.foreign,
            at.sealed,
            at.outcome,
            at.ended,
            self.proof,
            owner
        ])?;
        Ok((new == 1).then(|| conn.last_insert_rowid()))
    }

    /// All of it, whatever stood there before.
    fn replace(&self, conn: &Connection, number: i64) -> rusqlite::Result<()> {
        let sql = "UPDATE runs SET protocol = ?2, created = ?3, updated = ?4, is_foreign = ?5, sealed = ?6,
                          outcome = ?7, ended = ?8, proof = ?9, owner = NULL WHERE number = ?1";
        let at = &self.standing;
        let (foreign, outcome) = (at.foreign, &at.outcome);
        let params = params![
            number,
            at.protocol,
            at.created,
            at.updated,
            foreign,
            at.sealed,
            outcome,
            at.ended,
            self.proof
        ];
        conn.execute(sql, params)?;
        Ok(())
    }

    /// The record that ends a run gives it up, too.
    fn update(&self, conn: &Connection, number: i64) -> rusqlite::Result<()> {
        let sql = "UPDATE runs SET updated = ?2, sealed = ?3, outcome = ?4, ended = ?5, proof = ?6,
                          owner = iif(?5, NULL, owner) WHERE number = ?1";
        let at = &self.standing;
        let params = params![number, at.updated, at.sealed, at.outcome, at.ended, self.proof];
        conn.prepare_cached(sql)?.execute(params)?;
        Ok(())
    }
}

/// What chaining a record gave.
pub(crate) struct Chained {
    pub(crate) link: Mac,
    standing: Option<RunRowUpdate>,
    checkpoint: Option<Checkpoint>,
}

impl Chained {
    pub(crate) fn follow_up(&self, conn: &Connection, chain: &Chain, number: i64) -> rusqlite::Result<()> {
        if let Some(row) = &self.standing {
            row.replace(conn, number)?;
            if let Some(seal) = &row.seal {
                seal.insert(conn, chain, number)?;
            }
        }
        self.checkpoint.as_ref().map_or(Ok(()), |checkpoint| checkpoint.insert(conn, number))
    }
}

/// One record, ready to be stored.
pub(crate) struct Encoded {
    pub(crate) seq: u32,
    link: Mac,
    /// What the input brought, and what the step made.
    texts: [Option<Vec<u8>>; 2],
    size: usize,
    body: Vec<u8>,
    pub(crate) standing: Option<RunRowUpdate>,
    checkpoint: Option<Checkpoint>,
}

impl Encoded {
    pub(crate) fn bytes(&self) -> usize {
        self.body.len()
    }

    pub(crate) fn seals(&self) -> bool {
        self.standing.as_ref().is_some_and(|row| row.seal.is_some())
    }

    /// Stores the record if the run is `owner`'s, and says whether it was. The row of a run that begins is there.
    pub(crate) fn insert(
        &self,
        conn: &Connection,
        number: i64,
        owner: Option<&str>,
    ) -> rusqlite::Result<bool> {
        let sql = "INSERT INTO records(run, seq, link, input_texts, step_texts, size, body)
                   SELECT number, ?2, ?3, ?4, ?5, ?6, ?7 FROM runs WHERE number = ?1 AND owner IS ?8";
        let (size, [input, step]) = (int(self.size as u64), &self.texts);
        let params = params![number, self.seq, self.link, input, step, size, self.body, owner];
        Ok(conn.prepare_cached(sql)?.execute(params)? == 1)
    }

    /// What else changes with the record: how the run stands, and what it adds up to.
    pub(crate) fn follow_up(&self, conn: &Connection, chain: &Chain, number: i64) -> rusqlite::Result<()> {
        if let Some(row) = &self.standing {
            if !row.begins || row.standing.ended {
                row.update(conn, number)?;
            }
            if let Some(seal) = &row.seal {
                seal.insert(conn, chain, number)?;
            }
        }
        self.checkpoint.as_ref().map_or(Ok(()), |checkpoint| checkpoint.insert(conn, number))
    }
}
