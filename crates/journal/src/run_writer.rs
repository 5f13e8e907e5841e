//! The right to append to one run, and the append itself. Only a run's owner has it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use gadfly_engine::{Digest, Input, Step};
use rusqlite::{Connection, OptionalExtension, params};

use crate::body::digests;
use crate::chain::Chain;
use crate::codec::MAX_BODY;
use crate::encode::{ChunkEnd, Encoded, Unstorable};
use crate::inbox::MailId;
use crate::journal::{Journal, locked};
use crate::lock;
use crate::origin::Foreign;
use crate::run_id::RunId;
use crate::schema::int;
use crate::store_error::{Failure as _, StoreError, failure};
use crate::summary::Summary;
use crate::writer::TransactionPart;

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
    #[error("run `{run}` cannot be read: {message}")]
    Damaged { run: RunId, message: String },
    #[error(transparent)]
    Foreign(#[from] Foreign),
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

/// Appends to one run. If an append fails, drop this, claim the run again and rebuild from the
/// journal: later appends of this writer fail, too. Dropping it gives the ownership up.
pub struct RunWriter {
    journal: Journal,
    chain: Chain,
    run: RunId,
    owner: Arc<str>,
    end: ChunkEnd,
    place: Arc<WriterState>,
    /// Texts this writer has already sent: they are not compressed twice.
    sent: HashSet<Digest>,
    /// Whether there is a row that names us as its owner.
    owned: bool,
}

/// What the writer thread learns about a run and its writer has to know.
#[derive(Default)]
struct WriterState {
    /// 0 until the run has a row.
    number: AtomicI64,
    /// A record was not appended, so none after it may be.
    broken: AtomicBool,
}

impl Journal {
    /// A writer for a new run. The run exists once its first record is committed.
    pub fn create(&self, run: RunId) -> Result<RunWriter, ClaimError> {
        let chain = self.own_chain()?.clone();
        let owner: Arc<str> = self.inner.lock.name().map_err(StoreError::from)?.into();
        self.hold(&run, &owner)?;
        let end = ChunkEnd::new(&chain, &run, false);
        let (journal, place) = (self.clone(), Arc::default());
        Ok(RunWriter { journal, chain, run, owner, end, place, sent: HashSet::new(), owned: false })
    }

    /// Takes a run over that no living process owns.
    pub fn claim(&self, run: &RunId) -> Result<RunWriter, ClaimError> {
        let chain = self.own_chain()?.clone();
        // It may have come with a repository: what is written into it would go wherever the link leads.
        let folder = self.run_dir(run);
        if folder.is_symlink() {
            return Err(StoreError::Io(format!("{} is a link: remove it", folder.display())).into());
        }
        let owner: Arc<str> = self.inner.lock.name().map_err(StoreError::from)?.into();
        self.hold(run, &owner)?;
        let (id, ours, dir) = (run.clone(), Arc::clone(&owner), self.inner.lock.dir().to_owned());
        let taken = self.write(move |conn| take(conn, &id, &ours, &dir)).and_then(|number| {
            let end = self.read(|conn| ChunkEnd::of(conn, self.check(), run, number));
            Ok((number, end.map_err(|e| ClaimError::Damaged { run: run.clone(), message: e.to_string() })?))
        });
        match taken {
            Ok((number, end)) => {
                // Mail that came while nobody owned the run must be seen by the next poll.
                locked(&self.inner.poller).forget();
                let place = Arc::new(WriterState { number: number.into(), broken: false.into() });
                let (journal, run, sent) = (self.clone(), run.clone(), HashSet::new());
                Ok(RunWriter { journal, chain, run, owner, end, place, sent, owned: true })
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

/// The number of a run that is ours from now on.
fn take(conn: &Connection, run: &RunId, ours: &str, locks: &std::path::Path) -> Result<i64, ClaimError> {
    let sql = "SELECT owner, number FROM runs WHERE id = ?1";
    let row = conn
        .prepare_cached(sql)?
        .query_row([run.as_str()], |r| Ok((r.get::<_, Option<String>>(0)?, r.get(1)?)));
    let Some((owner, number)) = row.optional()? else {
        return Err(ClaimError::NotFound(run.clone()));
    };
    if let Some(owner) = owner.filter(|o| o != ours) {
        if lock::is_live(locks, &owner) {
            let (pid, since_ms) = lock::describe(locks, &owner);
            return Err(ClaimError::Owned { run: run.clone(), pid, since_ms });
        }
        lock::bury(locks, &owner);
    }
    conn.prepare_cached("UPDATE runs SET owner = ?2 WHERE id = ?1")?.execute([run.as_str(), ours])?;
    Ok(number)
}

impl RunWriter {
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The seq that the next record will have.
    pub fn next_seq(&self) -> u32 {
        self.end.next
    }

    /// The run as of the last append, committed or not.
    pub fn summary(&self) -> &Summary {
        &self.end.sums.summary
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
        // The record that ends a run gives it up, too.
        self.owned = !self.summary().ended;
        let consumed = Arc::clone(&self.journal.inner.consumed);
        let finished = move |result: Result<(), AppendError>| {
            if let (Ok(()), Some(mail)) = (&result, mail) {
                locked(&consumed).push(mail.0);
            }
            done(result);
        };
        self.journal.submit_entry(Box::new(Append { row, refused: None, done: finished }));
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
            conn.prepare_cached(sql)?.execute([run.as_str(), &*owner])?;
            Ok(())
        };
        self.journal.submit(0, release, move |_: Result<(), StoreError>| done());
    }

    fn encode(
        &mut self,
        input: &Input,
        step: &Step,
        mail: Option<MailId>,
    ) -> Result<EncodedRecord, AppendError> {
        let run = &self.run;
        let too_large = |what, bytes| AppendError::TooLarge { run: run.clone(), what, bytes };
        let encoding = |message| AppendError::Encoding { run: run.clone(), message };
        if let Some(long) = input.texts.iter().chain(&step.texts).find(|t| t.as_str().len() > MAX_BODY) {
            return Err(too_large("a text", long.as_str().len()));
        }
        let texts = [digests(&input.texts), digests(&step.texts)];
        let record = self.end.add(&self.chain, input, step, texts).map_err(|e| match e {
            Unstorable::TooLarge(bytes) => too_large("a record", bytes),
            Unstorable::Encoding(message) => encoding(message),
        })?;
        let mut blobs = Vec::new();
        for text in input.texts.iter().chain(&step.texts) {
            if self.sent.insert(text.digest()) {
                let packed = self.journal.inner.repeated.pack(text).map_err(|e| {
                    self.place.broken.store(true, Ordering::Relaxed);
                    encoding(e.to_string())
                })?;
                blobs.push(Blob { hash: text.digest(), size: text.as_str().len(), body: packed });
            }
        }
        let (run, owner, place) = (run.clone(), Arc::clone(&self.owner), Arc::clone(&self.place));
        Ok(EncodedRecord { run, owner, place, chain: self.chain.clone(), record, blobs, mail })
    }
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        self.give_up(|| {});
    }
}

/// A text as it is stored.
pub(crate) struct Blob {
    pub(crate) hash: Digest,
    pub(crate) size: usize,
    pub(crate) body: Arc<[u8]>,
}

impl Blob {
    /// Stores the text once for all runs. Asking first is dearer to read and cheaper to run: an insert that selects from
    /// its own table makes another table of what it found.
    pub(crate) fn insert(&self, conn: &Connection) -> rusqlite::Result<()> {
        let sql = "SELECT 1 FROM blobs WHERE substr(hash, 1, 8) = substr(?1, 1, 8) AND hash = ?1";
        if conn.prepare_cached(sql)?.exists([self.hash.as_bytes()])? {
            return Ok(());
        }
        let sql = "INSERT INTO blobs(hash, size, body) VALUES(?1, ?2, ?3)";
        let params = params![self.hash.as_bytes(), int(self.size as u64), &*self.body];
        conn.prepare_cached(sql)?.execute(params)?;
        Ok(())
    }
}

/// One record, encoded by the caller's thread.
struct EncodedRecord {
    run: RunId,
    owner: Arc<str>,
    place: Arc<WriterState>,
    chain: Chain,
    record: Encoded,
    blobs: Vec<Blob>,
    mail: Option<MailId>,
}

impl EncodedRecord {
    /// Whatever may be refused is refused before anything is written, unless there is mail: nothing has to be taken back.
    fn insert(&self, conn: &Connection) -> Result<(), AppendError> {
        if self.place.broken.load(Ordering::Relaxed) {
            return Err(AppendError::Behind(self.run.clone()));
        }
        let mut number = self.place.number.load(Ordering::Relaxed);
        if let Some(row) = self.record.standing.as_ref().filter(|_| self.record.seq == 0) {
            let begun = row.begin(conn, &self.run, Some(&self.owner))?;
            number = begun.ok_or_else(|| AppendError::Exists(self.run.clone()))?;
            self.place.number.store(number, Ordering::Relaxed);
        }
        if !self.record.insert(conn, number, Some(&self.owner))? {
            return Err(AppendError::Lost(self.run.clone()));
        }
        if let Some(mail) = self.mail {
            let sql = "INSERT OR IGNORE INTO consumed VALUES(?1, ?2)";
            if conn.prepare_cached(sql)?.execute([number, mail.0])? == 0 {
                return Err(AppendError::MailConsumed { run: self.run.clone(), mail });
            }
        }
        self.record.follow_up(conn, &self.chain, number)?;
        self.blobs.iter().try_for_each(|blob| blob.insert(conn))?;
        Ok(())
    }
}

/// A record on its way to the writer thread.
struct Append<D> {
    row: EncodedRecord,
    refused: Option<AppendError>,
    done: D,
}

impl<D: FnOnce(Result<(), AppendError>) + Send> TransactionPart for Append<D> {
    fn bytes(&self) -> usize {
        self.row.record.bytes() + self.row.blobs.iter().map(|blob| blob.body.len()).sum::<usize>()
    }

    fn may_be_taken_back(&self) -> bool {
        self.row.mail.is_some()
    }

    fn may_seal(&self) -> bool {
        self.row.record.seals()
    }

    fn run(&mut self, conn: &Connection) -> Result<(), Option<StoreError>> {
        self.row.insert(conn).map_err(|refused| {
            self.row.place.broken.store(true, Ordering::Relaxed);
            let cause = refused.store().cloned();
            self.refused = Some(refused);
            cause
        })
    }

    fn finish(self: Box<Self>, committed: Result<(), &StoreError>) {
        let result = self.refused.map_or_else(|| committed.map_err(|e| e.clone().into()), Err);
        if result.is_err() {
            self.row.place.broken.store(true, Ordering::Relaxed);
        }
        (self.done)(result);
    }
}
