//! The right to append to one run, and the append itself. Only a run's owner has it.

use std::collections::HashSet;
use std::sync::Arc;

use gadfly_engine::{Digest, Input, Step, Text};
use rusqlite::{Connection, OptionalExtension, params};

use crate::codec::{self, MAX_BODY};
use crate::inbox::MailId;
use crate::journal::{Journal, locked};
use crate::lock;
use crate::marks::{self, Marks};
use crate::meters::Meters;
use crate::read::Pair;
use crate::run_id::RunId;
use crate::schema::int;
use crate::store_error::{StoreError, failure};
use crate::summary::Summary;

/// Why a run cannot be taken.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClaimError {
    #[error("there is no run `{0}` in this journal")]
    NotFound(RunId),
    #[error(
        "run `{run}` is being driven by process {pid}: answer, pause or cancel it through its inbox, \
         or wait until that process ends"
    )]
    Owned {
        run: RunId,
        pid: u32,
        /// When that process took its lock, in milliseconds since 1970.
        since_ms: u64,
    },
    #[error("the summary of run `{run}` cannot be read: {message}")]
    Damaged { run: RunId, message: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a record was not appended. The run stands as it did before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    #[error("run `{0}` is owned by another process now: stop driving it here")]
    Lost(RunId),
    #[error("an earlier record of run `{0}` was not appended: drop its writer, claim and replay it")]
    Behind(RunId),
    #[error("run `{0}` exists already: create it under another id")]
    Exists(RunId),
    #[error("mail {mail} of run `{run}` was consumed before: leave it out")]
    MailConsumed { run: RunId, mail: MailId },
    #[error("{what} of run `{run}` has {bytes} bytes, over the limit of {MAX_BODY}: make it smaller")]
    TooLarge { run: RunId, what: &'static str, bytes: usize },
    #[error("a record of run `{run}` could not be encoded: {message}")]
    Encoding { run: RunId, message: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

failure!(ClaimError, AppendError);

/// Room for the JSON of a usual record, so that it is not moved while it grows.
const USUAL_RECORD: usize = 4096;

/// Appends to one run. If an append fails, drop this, claim the run again and rebuild from the
/// journal: later appends of this writer fail, too. Dropping it gives the ownership up.
pub struct RunWriter {
    journal: Journal,
    run: RunId,
    owner: String,
    next: u32,
    summary: Summary,
    /// None for a run that another Gadfly wrote a part of without them: its records are not marked either.
    meters: Option<Meters>,
    /// Meters as they were last written: many records change none of them.
    metered: String,
    /// Texts this writer has already sent: they are not compressed twice.
    sent: HashSet<Digest>,
    /// Whether there is a row that names us as its owner.
    owned: bool,
}

impl Journal {
    /// A writer for a new run. The run exists once its first record is committed.
    pub fn create(&self, run: RunId) -> Result<RunWriter, ClaimError> {
        let owner = self.inner.lock.name().map_err(StoreError::from)?;
        self.hold(&run, &owner)?;
        let summary = Summary::new(run.clone());
        let (journal, meters, sent) = (self.clone(), Some(Meters::default()), HashSet::new());
        let metered = String::new();
        Ok(RunWriter { journal, run, owner, next: 0, summary, meters, metered, sent, owned: false })
    }

    /// Takes a run over that no living process owns.
    pub fn claim(&self, run: &RunId) -> Result<RunWriter, ClaimError> {
        // It may have come with a repository: what is written into it would go wherever the link leads.
        let folder = self.run_dir(run);
        if folder.is_symlink() {
            return Err(StoreError::Io(format!("{} is a link: remove it", folder.display())).into());
        }
        let owner = self.inner.lock.name().map_err(StoreError::from)?;
        self.hold(run, &owner)?;
        let (id, ours, dir) = (run.clone(), owner.clone(), self.inner.lock.dir().to_owned());
        let taken = self.write(move |conn| take(conn, &id, &ours, &dir));
        match taken {
            Ok(Taken { next, summary, meters }) => {
                // Mail that came while nobody owned the run must be seen by the next poll.
                locked(&self.inner.poller).forget();
                let (journal, run, sent) = (self.clone(), run.clone(), HashSet::new());
                let metered = String::new();
                Ok(RunWriter { journal, run, owner, next, summary, meters, metered, sent, owned: true })
            }
            Err(error) => {
                locked(&self.inner.held).remove(run);
                Err(error)
            }
        }
    }

    fn hold(&self, run: &RunId, owner: &str) -> Result<(), ClaimError> {
        if locked(&self.inner.held).insert(run.clone()) {
            return Ok(());
        }
        let (pid, since_ms) = lock::describe(self.inner.lock.dir(), owner);
        Err(ClaimError::Owned { run: run.clone(), pid, since_ms })
    }
}

/// A run as it stands when it is taken over.
struct Taken {
    next: u32,
    summary: Summary,
    meters: Option<Meters>,
}

fn take(conn: &Connection, run: &RunId, ours: &str, locks: &std::path::Path) -> Result<Taken, ClaimError> {
    let sql = "SELECT owner, next, summary, number FROM runs WHERE id = ?1";
    let row = conn.prepare_cached(sql)?.query_row([run.as_str()], |r| {
        Ok((r.get::<_, Option<String>>(0)?, r.get::<_, u32>(1)?, r.get::<_, String>(2)?, r.get(3)?))
    });
    let Some((owner, next, summary, number)) = row.optional()? else {
        return Err(ClaimError::NotFound(run.clone()));
    };
    if let Some(owner) = owner.filter(|o| o != ours) {
        if lock::is_live(locks, &owner) {
            let (pid, since_ms) = lock::describe(locks, &owner);
            return Err(ClaimError::Owned { run: run.clone(), pid, since_ms });
        }
        lock::bury(locks, &owner);
    }
    let mut summary: Summary = serde_json::from_str(&summary)
        .map_err(|e| ClaimError::Damaged { run: run.clone(), message: e.to_string() })?;
    let meters = Meters::read(conn, number)?.filter(|_| summary.active_ms.is_some());
    if meters.is_none() {
        summary.active_ms = None;
    }
    conn.prepare_cached("UPDATE runs SET owner = ?2 WHERE id = ?1")?.execute([run.as_str(), ours])?;
    Ok(Taken { next, summary, meters })
}

impl RunWriter {
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The seq that the next record will have.
    pub fn next_seq(&self) -> u32 {
        self.next
    }

    /// The run as of the last append, committed or not.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Queues one record: the input, the engine's step and the texts of both, as one transaction.
    /// `mail` is the inbox entry this input came from, consumed by the same transaction. `done` is
    /// called on the writer thread once the record is durable or refused; it must not block, nor
    /// wait for another write of this journal. The call itself waits only while the queue is full.
    pub fn append(
        &mut self,
        input: &Input,
        step: &Step,
        mail: Option<MailId>,
        done: impl FnOnce(Result<(), AppendError>) + Send + 'static,
    ) {
        let row = match self.encode(input, step, mail) {
            Ok(row) => row,
            Err(error) => return done(Err(error)),
        };
        self.next = self.next.saturating_add(1);
        // The record that ends a run gives it up, too.
        self.owned = !self.summary.ended;
        let consumed = Arc::clone(&self.journal.inner.consumed);
        let bytes = row.body.len() + row.blobs.iter().map(|b| b.body.len()).sum::<usize>();
        let finished = move |result: Result<(), AppendError>| {
            if let (Ok(()), Some(mail)) = (&result, mail) {
                locked(&consumed).push(mail.0);
            }
            done(result);
        };
        self.journal.submit(bytes, move |conn| row.insert(conn), finished);
    }

    /// Appends and waits until the record is durable.
    pub fn append_and_wait(
        &mut self,
        input: &Input,
        step: &Step,
        mail: Option<MailId>,
    ) -> Result<(), AppendError> {
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        self.append(input, step, mail, move |result| {
            let _ = tell.send(result);
        });
        told.recv().unwrap_or(Err(AppendError::Store(StoreError::Closed)))
    }

    /// Gives the run up, as dropping does, and tells when others can take it. `done` is called on the
    /// writer thread, or at once if there is nothing to give up.
    pub fn release(mut self, done: impl FnOnce() + Send + 'static) {
        self.give_up(done);
    }

    fn give_up(&mut self, done: impl FnOnce() + Send + 'static) {
        locked(&self.journal.inner.held).remove(&self.run);
        if !std::mem::take(&mut self.owned) {
            return done();
        }
        let (run, owner) = (self.run.clone(), self.owner.clone());
        let release = move |conn: &Connection| {
            let sql = "UPDATE runs SET owner = NULL WHERE id = ?1 AND owner = ?2";
            conn.prepare_cached(sql)?.execute([run.as_str(), owner.as_str()])?;
            Ok(())
        };
        self.journal.submit(0, release, move |_: Result<(), StoreError>| done());
    }

    fn encode(&mut self, input: &Input, step: &Step, mail: Option<MailId>) -> Result<Row, AppendError> {
        let run = &self.run;
        let broken = |message: String| AppendError::Encoding { run: run.clone(), message };
        let too_large = |what, bytes| AppendError::TooLarge { run: run.clone(), what, bytes };
        let mut json = Vec::with_capacity(USUAL_RECORD);
        serde_json::to_writer(&mut json, &Pair { input, step }).map_err(|e| broken(e.to_string()))?;
        if json.len() > MAX_BODY {
            return Err(too_large("a record", json.len()));
        }
        let mut blobs = Vec::new();
        for text in input.texts.iter().chain(&step.texts) {
            let body = text.as_str().as_bytes();
            if body.len() > MAX_BODY {
                return Err(too_large("a text", body.len()));
            }
            if self.sent.insert(text.digest()) {
                let packed = self.journal.inner.repeated.pack(text).map_err(|e| broken(e.to_string()))?;
                blobs.push(Blob { hash: text.digest(), size: body.len(), body: packed });
            }
        }
        self.summary.apply(input, step);
        let (mut marks, mut meters) = (Marks::default(), None);
        if let Some(kept) = &mut self.meters {
            kept.apply(self.next, input, step);
            marks = Marks::of(input, step);
            if !marks::is_quiet(input, step) {
                let now = serde_json::to_string(kept).map_err(|e| broken(e.to_string()))?;
                if now != self.metered {
                    self.metered.clone_from(&now);
                    meters = Some(now);
                }
            }
        }
        Ok(Row {
            run: run.clone(),
            owner: self.owner.clone(),
            seq: self.next,
            size: json.len(),
            body: codec::pack_record(&json).map_err(|e| broken(e.to_string()))?,
            input_texts: digests(&input.texts),
            step_texts: digests(&step.texts),
            marks,
            meters,
            blobs,
            mail,
            created: int(self.summary.created_ms),
            updated: int(self.summary.updated_ms),
            ended: self.summary.ended,
            outcome: self.summary.outcome.clone(),
            summary: serde_json::to_string(&self.summary).map_err(|e| broken(e.to_string()))?,
        })
    }
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        self.give_up(|| {});
    }
}

fn digests(texts: &[Text]) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = texts.iter().flat_map(|t| *t.digest().as_bytes()).collect();
    (!bytes.is_empty()).then_some(bytes)
}

pub(crate) const INSERT_RECORD: &str = "INSERT INTO records(run, seq, size, body, input_texts, step_texts)
    VALUES(?1, ?2, ?3, ?4, ?5, ?6)";
const FIND_BLOB: &str = "SELECT number FROM blobs WHERE substr(hash, 1, 8) = substr(?1, 1, 8) AND hash = ?1";

/// A text as it is stored.
pub(crate) struct Blob {
    pub(crate) hash: Digest,
    pub(crate) size: usize,
    pub(crate) body: Arc<[u8]>,
}

impl Blob {
    /// Stores the text once for all runs and notes that `run` needs it.
    pub(crate) fn insert(&self, conn: &Connection, run: i64) -> rusqlite::Result<()> {
        let hash = self.hash.as_bytes();
        let known = conn.prepare_cached(FIND_BLOB)?.query_row([hash], |r| r.get(0)).optional()?;
        let number: i64 = if let Some(number) = known {
            number
        } else {
            let sql = "INSERT INTO blobs(hash, size, body) VALUES(?1, ?2, ?3)";
            conn.prepare_cached(sql)?.execute(params![hash, int(self.size as u64), &*self.body])?;
            conn.last_insert_rowid()
        };
        conn.prepare_cached("INSERT OR IGNORE INTO refs VALUES(?1, ?2)")?.execute([run, number])?;
        Ok(())
    }
}

/// One record, encoded by the caller's thread.
pub(crate) struct Row {
    pub(crate) run: RunId,
    pub(crate) owner: String,
    pub(crate) seq: u32,
    pub(crate) size: usize,
    pub(crate) body: Vec<u8>,
    pub(crate) input_texts: Option<Vec<u8>>,
    pub(crate) step_texts: Option<Vec<u8>>,
    pub(crate) marks: Marks,
    pub(crate) meters: Option<String>,
    pub(crate) blobs: Vec<Blob>,
    pub(crate) mail: Option<MailId>,
    pub(crate) created: i64,
    pub(crate) updated: i64,
    pub(crate) ended: bool,
    pub(crate) outcome: Option<String>,
    pub(crate) summary: String,
}

impl Row {
    fn insert(&self, conn: &Connection) -> Result<(), AppendError> {
        let run = if self.seq == 0 { self.begin(conn)? } else { self.advance(conn)? };
        conn.prepare_cached(INSERT_RECORD)?.execute(params![
            run,
            self.seq,
            int(self.size as u64),
            self.body,
            self.input_texts,
            self.step_texts
        ])?;
        self.marks.insert(conn, run, self.seq)?;
        if let Some(meters) = &self.meters {
            Meters::store(conn, run, meters)?;
        }
        for blob in &self.blobs {
            blob.insert(conn, run)?;
        }
        if let Some(mail) = self.mail {
            let sql = "INSERT OR IGNORE INTO consumed VALUES(?1, ?2)";
            if conn.prepare_cached(sql)?.execute([run, mail.0])? == 0 {
                return Err(AppendError::MailConsumed { run: self.run.clone(), mail });
            }
        }
        Ok(())
    }

    fn begin(&self, conn: &Connection) -> Result<i64, AppendError> {
        let sql = "INSERT INTO runs(id, created, updated, next, ended, outcome, owner, summary)
                   VALUES(?1, ?2, ?3, 1, ?4, ?5, ?6, ?7) ON CONFLICT(id) DO NOTHING";
        let new = conn.prepare_cached(sql)?.execute(params![
            self.run.as_str(),
            self.created,
            self.updated,
            self.ended,
            self.outcome,
            self.owner,
            self.summary
        ])?;
        if new == 1 { Ok(conn.last_insert_rowid()) } else { Err(AppendError::Exists(self.run.clone())) }
    }

    /// Moves the run on by one record if it is still ours and stands where we think it does.
    fn advance(&self, conn: &Connection) -> Result<i64, AppendError> {
        let sql = "SELECT number, owner = ?2, next, outcome IS ?3 FROM runs WHERE id = ?1";
        let found =
            conn.prepare_cached(sql)?.query_row(params![self.run.as_str(), self.owner, self.outcome], |r| {
                Ok((r.get(0)?, r.get::<_, Option<bool>>(1)?, r.get::<_, u32>(2)?, r.get::<_, bool>(3)?))
            });
        let (number, same_outcome): (i64, bool) = match found.optional()? {
            Some((number, Some(true), next, same)) if next == self.seq => (number, same),
            Some((_, Some(true), ..)) => return Err(AppendError::Behind(self.run.clone())),
            _ => return Err(AppendError::Lost(self.run.clone())),
        };
        if same_outcome && !self.ended {
            // Naming the columns of the index would write it anew, although nothing in it changes.
            let sql =
                "UPDATE runs SET next = ?2 + 1, updated = ?3, summary = ?4, ended = 0 WHERE number = ?1";
            conn.prepare_cached(sql)?.execute(params![number, self.seq, self.updated, self.summary])?;
        } else {
            let sql = "UPDATE runs SET next = ?2 + 1, updated = ?3, summary = ?4, ended = ?5, outcome = ?6,
                              owner = iif(?5, NULL, owner) WHERE number = ?1";
            conn.prepare_cached(sql)?.execute(params![
                number,
                self.seq,
                self.updated,
                self.summary,
                self.ended,
                self.outcome
            ])?;
        }
        Ok(number)
    }
}
