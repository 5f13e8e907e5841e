//! The writer thread: takes what is queued, commits it in one transaction, tells each caller.
//!
//! Each entry runs in its own savepoint, so that a failing one rolls back alone. It knows nothing
//! of what the entries write.

use std::os::unix::fs::MetadataExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;

use crate::chain::Mac;
use crate::custody::{Custody, KeptSeal};
use crate::schema::{self, ConnectionUse};
use crate::seal::{self, NewestSeal};
use crate::store_error::{Failure, StoreError};

const QUEUE: usize = 1024;
const BATCH_ENTRIES: usize = 512;
const BATCH_BYTES: usize = 16 << 20;
/// With this many entries in the last transaction, the next one waits a moment for more: what a commit
/// costs is then shared by more of them. A few runs alone never wait.
const BUSY: usize = 4;
const MOMENT: Duration = Duration::from_millis(1);

/// One caller's part of a transaction.
pub(crate) trait TransactionPart: Send {
    fn bytes(&self) -> usize;
    /// It may write something and then be refused. What refuses before it writes need not be kept apart from others.
    fn may_be_taken_back(&self) -> bool {
        true
    }
    /// It may add a seal, of which the newest is kept outside the store.
    fn may_seal(&self) -> bool {
        true
    }
    /// Writes. A failure is rolled back; it says whether the store was the cause.
    fn run(&mut self, conn: &Connection) -> Result<(), Option<StoreError>>;
    /// Tells the caller how it went.
    fn finish(self: Box<Self>, committed: Result<(), &StoreError>);
}

/// An entry made of a closure that writes and one that is told the result.
pub(crate) struct WriteTask<T, E, W, D> {
    pub(crate) bytes: usize,
    pub(crate) work: Option<W>,
    pub(crate) result: Option<Result<T, E>>,
    pub(crate) done: D,
}

impl<T, E, W, D> TransactionPart for WriteTask<T, E, W, D>
where
    T: Send,
    E: Failure,
    W: FnOnce(&Connection) -> Result<T, E> + Send,
    D: FnOnce(Result<T, E>) + Send,
{
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn run(&mut self, conn: &Connection) -> Result<(), Option<StoreError>> {
        let Some(work) = self.work.take() else { return Err(None) };
        let result = work(conn);
        let said = result.as_ref().map(|_| ()).map_err(|e| e.store().cloned());
        self.result = Some(result);
        said
    }

    fn finish(self: Box<Self>, committed: Result<(), &StoreError>) {
        let result = match (self.result, committed) {
            (Some(Err(own)), _) => Err(own),
            (_, Err(store)) => Err(E::from(store.clone())),
            (Some(ok), Ok(())) => ok,
            (None, Ok(())) => Err(E::from(StoreError::Closed)),
        };
        (self.done)(result);
    }
}

type ExclusiveWork = Box<dyn FnOnce(&Connection) + Send>;

enum WriterMessage {
    Entry(Box<dyn TransactionPart>),
    /// Work that may not run inside a transaction.
    Alone(ExclusiveWork),
}

/// The way to the writer thread.
pub(crate) struct Writer {
    /// None only while it is being dropped: the thread drains what is queued and ends.
    queue: Option<SyncSender<WriterMessage>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// `mail` collects the ids that entries consumed; the thread clears them from the inbox.
    pub(crate) fn start(
        mut keeper: Keeper,
        inbox: PathBuf,
        mail: Arc<Mutex<Vec<i64>>>,
    ) -> Result<Self, StoreError> {
        #[cfg_attr(not(test), expect(unused_mut, reason = "only what is counted in tests needs it"))]
        let mut conn = schema::connect(&keeper.journal, ConnectionUse::Write)?;
        #[cfg(test)]
        conn.trace_v2(rusqlite::trace::TraceEventCodes::SQLITE_TRACE_STMT, Some(crate::budget::count))?;
        keeper.begin()?;
        let (queue, entries) = sync_channel(QUEUE);
        let thread = thread::Builder::new()
            .name("gadfly-journal".to_owned())
            .spawn(move || serve(&conn, &entries, &mut keeper, &mut Sweeper { inbox, mail, conn: None }))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    pub(crate) fn submit(&self, entry: Box<dyn TransactionPart>) {
        let Some(queue) = &self.queue else { return entry.finish(Err(&StoreError::Closed)) };
        if let Err(refused) = queue.send(WriterMessage::Entry(entry))
            && let WriterMessage::Entry(entry) = refused.0
        {
            entry.finish(Err(&StoreError::Closed));
        }
    }

    pub(crate) fn alone(&self, work: ExclusiveWork) -> Result<(), StoreError> {
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(WriterMessage::Alone(work)).map_err(|_| StoreError::Closed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take()
            // The last handle may be dropped by a callback, on the very thread that would be joined.
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

fn serve(conn: &Connection, queue: &Receiver<WriterMessage>, keeper: &mut Keeper, sweeper: &mut Sweeper) {
    let mut carried: Option<WriterMessage> = None;
    let mut last = 0;
    loop {
        let Some(first) = carried.take().or_else(|| queue.recv().ok()) else { break };
        let mut batch: Vec<Box<dyn TransactionPart>> = Vec::new();
        match first {
            WriterMessage::Alone(work) => {
                work(conn);
                continue;
            }
            WriterMessage::Entry(entry) => batch.push(entry),
        }
        if last >= BUSY {
            thread::sleep(MOMENT);
        }
        let mut bytes = batch.iter().map(|e| e.bytes()).sum::<usize>();
        while batch.len() < BATCH_ENTRIES && bytes < BATCH_BYTES {
            match queue.try_recv() {
                Ok(WriterMessage::Entry(entry)) => {
                    bytes += entry.bytes();
                    batch.push(entry);
                }
                Ok(other) => {
                    carried = Some(other);
                    break;
                }
                Err(_) => break,
            }
        }
        last = batch.len();
        keeper.due |= batch.iter().any(|entry| entry.may_seal());
        let committed = commit(conn, keeper, &mut batch);
        if committed.is_ok() {
            keeper.keep(conn);
        }
        for entry in batch {
            // A caller's panic is that caller's, not every run's.
            let _ = catch_unwind(AssertUnwindSafe(|| entry.finish(committed.as_ref().copied())));
        }
        sweeper.sweep();
    }
    let _ = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
}

fn commit(
    conn: &Connection,
    keeper: &Keeper,
    batch: &mut [Box<dyn TransactionPart>],
) -> Result<(), StoreError> {
    let result = (|| {
        execute(conn, "BEGIN IMMEDIATE")?;
        for entry in batch {
            let apart = entry.may_be_taken_back();
            if apart {
                execute(conn, "SAVEPOINT entry")?;
            }
            if let Err(cause) = entry.run(conn) {
                // A full disk or a damaged file rolls the whole transaction back by itself.
                if conn.is_autocommit() {
                    return Err(cause.unwrap_or(StoreError::Io("the transaction was given up".into())));
                }
                match cause {
                    _ if apart => execute(conn, "ROLLBACK TO entry")?,
                    Some(cause) => return Err(cause),
                    None => {}
                }
            }
            if apart {
                execute(conn, "RELEASE entry")?;
            }
        }
        keeper.still_there()?;
        execute(conn, "COMMIT")
    })();
    if result.is_err() && !conn.is_autocommit() {
        let _ = execute(conn, "ROLLBACK");
    }
    result
}

fn execute(conn: &Connection, sql: &str) -> Result<(), StoreError> {
    conn.prepare_cached(sql)?.execute([])?;
    Ok(())
}

/// Watches over the file that is written to: that it is still the one in its place, and that its newest seal is kept
/// outside of it.
pub(crate) struct Keeper {
    pub(crate) journal: PathBuf,
    pub(crate) custody: Custody,
    pub(crate) store: Mac,
    /// The file's device and number.
    file: Option<(u64, u64)>,
    kept: i64,
    /// There may be a seal that is not kept yet.
    due: bool,
    /// Where the newest seal is kept, once there is one.
    seal: Option<std::fs::File>,
}

impl Keeper {
    pub(crate) const fn new(journal: PathBuf, custody: Custody, store: Mac) -> Self {
        Self { journal, custody, store, file: None, kept: 0, due: true, seal: None }
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        self.file = Some(identity(&self.journal)?);
        Ok(())
    }

    /// A transaction for a file that nobody will find any more is not worth committing.
    fn still_there(&self) -> Result<(), StoreError> {
        if self.file.is_some() && identity(&self.journal).ok() != self.file {
            return Err(StoreError::Replaced(self.journal.clone()));
        }
        Ok(())
    }

    fn keep(&mut self, conn: &Connection) {
        if !self.due || !self.custody.is_kept() {
            return;
        }
        let Ok(NewestSeal { number, value, .. }) = seal::newest(conn) else { return };
        if number <= self.kept {
            self.due = false;
            return;
        }
        if self.seal.is_none() {
            self.seal = self.journal.parent().and_then(|dir| self.custody.seal_kept_in(dir));
        }
        let seal = KeptSeal { store: self.store, number, value };
        if self.seal.as_ref().is_some_and(|file| seal.write(file).is_ok()) {
            (self.kept, self.due) = (number, false);
        }
    }
}

fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    let found = std::fs::metadata(path)?;
    Ok((found.dev(), found.ino()))
}

/// Clears consumed mail. A failure costs nothing: consumed mail is never delivered again.
struct Sweeper {
    inbox: PathBuf,
    mail: Arc<Mutex<Vec<i64>>>,
    conn: Option<Connection>,
}

impl Sweeper {
    fn sweep(&mut self) {
        let ids = std::mem::take(&mut *self.mail.lock().unwrap_or_else(PoisonError::into_inner));
        if ids.is_empty() {
            return;
        }
        if self.conn.is_none() {
            self.conn = schema::connect(&self.inbox, ConnectionUse::Sweep).ok();
        }
        if let Some(conn) = &self.conn {
            for id in ids {
                let deleted = conn.prepare_cached("DELETE FROM mail WHERE id = ?1");
                let _ = deleted.and_then(|mut s| s.execute([id]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::journal::Journal;

    fn limit_pages(journal: &Journal, pages: i64) {
        let limit = move |conn: &Connection| -> Result<(), StoreError> {
            conn.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
            Ok(())
        };
        journal.write(limit).unwrap();
    }

    #[test]
    fn a_full_database_fails_what_does_not_fit_and_says_why_to_all_it_takes_down() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(dir.path()).unwrap();
        limit_pages(&journal, 60);
        let blocker = Connection::open(dir.path().join("journal.db")).unwrap();
        // While this transaction is open the writer waits, so that all entries meet in one batch.
        blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
        let (tell, told) = channel();
        for (number, bytes) in [(1_i64, 10), (2, 1 << 20), (3, 10)] {
            let tell = tell.clone();
            let insert = move |conn: &Connection| -> Result<(), StoreError> {
                let sql = "INSERT INTO blobs VALUES(?1, zeroblob(32), 0, zeroblob(?2))";
                conn.execute(sql, [number, bytes])?;
                Ok(())
            };
            journal.submit(0, insert, move |result| tell.send((number, result)).unwrap());
        }
        blocker.execute_batch("COMMIT").unwrap();
        drop(tell);
        let mut committed = Vec::new();
        for (number, result) in told {
            match result {
                Ok(()) => committed.push(number),
                Err(error) => assert!(matches!(error, StoreError::Full(_)), "{number}: {error}"),
            }
        }
        assert!(!committed.contains(&2));
        limit_pages(&journal, 1 << 30);
        let found: Result<Vec<i64>, StoreError> = journal.read(|conn| {
            let mut rows = conn.prepare("SELECT number FROM blobs ORDER BY number")?;
            let numbers = rows.query_map([], |r| r.get(0))?;
            Ok(numbers.collect::<rusqlite::Result<_>>()?)
        });
        assert_eq!(found.unwrap(), committed, "exactly what was acknowledged is there");
    }
}
