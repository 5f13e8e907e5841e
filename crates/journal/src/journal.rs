//! The open journal: its folder, its one writer, its readers. What is written and read lives elsewhere.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;

use crate::changes::Watcher;
use crate::custody::{Custody, real};
use crate::inbox::Poller;
use crate::lock::ProcessLock;
use crate::origin::Identity;
use crate::run_id::RunId;
use crate::schema::{self, ConnectionUse, OpenError};
use crate::store_error::{Failure, StoreError};
use crate::text_cache::TextCache;
use crate::writer::{Keeper, TransactionPart, WriteTask, Writer};

const READERS_KEPT: usize = 4;
/// What a project's own store is called.
const OWN_NAME: &str = ".gadfly";
const SETUP_ATTEMPTS: u32 = 200;
const SETUP_PAUSE: Duration = Duration::from_millis(50);

/// A store of runs. Cheap to clone; the last clone to go closes it.
#[derive(Clone)]
pub struct Journal {
    pub(crate) inner: Arc<JournalInner>,
}

pub(crate) struct JournalInner {
    dir: PathBuf,
    journal: PathBuf,
    inbox: PathBuf,
    pub(crate) custody: Custody,
    /// Where the runs' folders are.
    work: PathBuf,
    pub(crate) identity: Identity,
    readers: Mutex<Vec<Connection>>,
    pub(crate) poller: Mutex<Poller>,
    pub(crate) watcher: Mutex<Watcher>,
    /// Runs with a living `RunWriter` in this journal.
    pub(crate) held: Mutex<HashSet<RunId>>,
    pub(crate) repeated: TextCache,
    /// Mail that committed records consumed and the inbox still holds.
    pub(crate) consumed: Arc<Mutex<Vec<i64>>>,
    /// After every reader, so that closing it removes the database's side files.
    writer: Mutex<Option<Arc<Writer>>>,
    /// Last, so that what is queued is still written under our ownership.
    pub(crate) lock: ProcessLock,
}

impl Journal {
    /// Opens the journal in `dir`, usually `.gadfly`, and makes it if it is not there. It is chained with no machine's key:
    /// see [`Custody::none`].
    pub fn open(dir: &Path) -> Result<Self, OpenError> {
        Self::open_in(dir, &Custody::none())
    }

    /// Opens the journal in `dir` and makes it if it is not there.
    pub fn open_in(dir: &Path, custody: &Custody) -> Result<Self, OpenError> {
        no_links(dir)?;
        let file = dir.join(schema::DatabaseFile::Journal.name());
        if is_emptied(dir, &file, custody) {
            return Err(OpenError::Gone(file));
        }
        make_private(dir)?;
        let locks = dir.join("locks");
        fs::create_dir_all(&locks).map_err(|e| folder(&locks, &e))?;
        let ignore = dir.join(".gitignore");
        match fs::File::create_new(&ignore).and_then(|mut file| file.write_all(b"*\n")) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(folder(&ignore, &e)),
            _ => {}
        }
        // Two processes that make the same journal at once would trip over each other.
        let _setup = setup_lock(&locks.join("setup.lock"))?;
        schema::prepare(&file, schema::DatabaseFile::Journal, custody)?;
        let inbox = dir.join(schema::DatabaseFile::Inbox.name());
        if inbox.exists() {
            schema::prepare(&inbox, schema::DatabaseFile::Inbox, custody)?;
        }
        Self::over(dir, custody)
    }

    /// Opens a journal that must be there already, as [`Self::open`] does.
    pub fn open_existing(dir: &Path) -> Result<Self, OpenError> {
        Self::open_existing_in(dir, &Custody::none())
    }

    /// Opens a journal that must be there already. Nothing is written, so that it may lie on a disk that cannot be.
    pub fn open_existing_in(dir: &Path, custody: &Custody) -> Result<Self, OpenError> {
        no_links(dir)?;
        let file = dir.join(schema::DatabaseFile::Journal.name());
        if is_emptied(dir, &file, custody) {
            return Err(OpenError::Gone(file));
        }
        match fs::metadata(&file) {
            Ok(_) => {}
            // What cannot be looked at is not the same as nothing: another user's store, or a file.
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(folder(dir, &e)),
            Err(_) => return Err(OpenError::Missing(dir.into())),
        }
        schema::check(&file, schema::DatabaseFile::Journal)?;
        let inbox = dir.join(schema::DatabaseFile::Inbox.name());
        if inbox.exists() {
            schema::check(&inbox, schema::DatabaseFile::Inbox)?;
        }
        Self::over(dir, custody)
    }

    fn over(dir: &Path, custody: &Custody) -> Result<Self, OpenError> {
        let journal = dir.join(schema::DatabaseFile::Journal.name());
        let store = |source| OpenError::Store { path: journal.clone(), source };
        let conn = schema::connect(&journal, ConnectionUse::Read).map_err(store)?;
        let identity = Identity::of(&conn, dir, custody).map_err(|e| store(e.into()))?;
        let inner = JournalInner {
            dir: dir.into(),
            inbox: dir.join(schema::DatabaseFile::Inbox.name()),
            custody: custody.clone(),
            work: custody.work_of(dir),
            identity,
            readers: Mutex::new(vec![conn]),
            poller: Mutex::default(),
            watcher: Mutex::default(),
            held: Mutex::default(),
            repeated: TextCache::default(),
            consumed: Arc::default(),
            writer: Mutex::default(),
            lock: ProcessLock::new(dir.join("locks")),
            journal,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    pub fn dir(&self) -> &Path {
        &self.inner.dir
    }

    /// Where rendered files of a run belong. It is not made here.
    pub fn run_dir(&self, run: &RunId) -> PathBuf {
        self.inner.dir.join("runs").join(run.as_str())
    }

    /// Where a run's workers and critics have their folders, and what undoing needs is kept. It is not made here.
    pub fn work_dir(&self, run: &RunId) -> PathBuf {
        self.inner.work.join(run.as_str())
    }

    /// As [`Self::work_dir`], made if it is not there.
    pub fn make_work_dir(&self, run: &RunId) -> io::Result<PathBuf> {
        let dir = self.work_dir(run);
        if !dir.is_dir() {
            self.inner.custody.make_work(&self.inner.work, &self.inner.dir)?;
            fs::create_dir_all(&dir)?;
        }
        Ok(dir)
    }

    /// What is Gadfly's own wherever it lies, also inside a project: the store and the user's state directory.
    pub fn own_places(&self) -> Vec<PathBuf> {
        std::iter::once(real(&self.inner.dir)).chain(self.inner.custody.state_dir()).collect()
    }

    pub(crate) fn journal_path(&self) -> &Path {
        &self.inner.journal
    }

    pub(crate) fn inbox_path(&self) -> &Path {
        &self.inner.inbox
    }

    /// The inbox, made by the first post; none while nothing was ever posted.
    pub(crate) fn inbox(&self, make: bool) -> Result<Option<Connection>, OpenError> {
        let path = &self.inner.inbox;
        let store = |source| OpenError::Store { path: path.clone(), source };
        if make {
            let _setup = setup_lock(&self.inner.dir.join("locks").join("setup.lock"))?;
            schema::prepare(path, schema::DatabaseFile::Inbox, &self.inner.custody)?;
        } else if !path.exists() {
            return Ok(None);
        }
        schema::connect(path, ConnectionUse::Inbox).map(Some).map_err(store)
    }

    /// Runs a query. The connection holds no transaction before or after it.
    pub(crate) fn read<T, E: From<StoreError>>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        let kept = locked(&self.inner.readers).pop();
        let conn = match kept {
            Some(conn) => conn,
            None => schema::connect(&self.inner.journal, ConnectionUse::Read).map_err(E::from)?,
        };
        let result = query(&conn);
        let mut readers = locked(&self.inner.readers);
        if readers.len() < READERS_KEPT {
            readers.push(conn);
        }
        drop(readers);
        result
    }

    pub(crate) fn writer(&self) -> Result<Arc<Writer>, StoreError> {
        let mut writer = locked(&self.inner.writer);
        if let Some(writer) = &*writer {
            return Ok(Arc::clone(writer));
        }
        let inner = &self.inner;
        let keeper = Keeper::new(inner.journal.clone(), inner.custody.clone(), inner.identity.store);
        let started = Writer::start(keeper, inner.inbox.clone(), Arc::clone(&inner.consumed))?;
        let started = Arc::new(started);
        *writer = Some(Arc::clone(&started));
        Ok(started)
    }

    /// Queues work for the next transaction; `done` is called on the writer thread.
    pub(crate) fn submit<T, E, W, D>(&self, bytes: usize, work: W, done: D)
    where
        T: Send + 'static,
        E: Failure + 'static,
        W: FnOnce(&Connection) -> Result<T, E> + Send + 'static,
        D: FnOnce(Result<T, E>) + Send + 'static,
    {
        self.submit_entry(Box::new(WriteTask { bytes, work: Some(work), result: None, done }));
    }

    pub(crate) fn submit_entry(&self, entry: Box<dyn TransactionPart>) {
        match self.writer() {
            Ok(writer) => writer.submit(entry),
            Err(cause) => entry.finish(Err(&cause)),
        }
    }

    /// Runs work in the next transaction and waits for its commit.
    pub(crate) fn write<T, E, W>(&self, work: W) -> Result<T, E>
    where
        T: Send + 'static,
        E: Failure + 'static,
        W: FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    {
        let (tell, told) = sync_channel(1);
        self.submit(0, work, move |result| {
            let _ = tell.send(result);
        });
        told.recv().unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A store whose database is gone, though what lies beside it says that there was one. Where nothing was ever recorded
/// there is no such thing as losing it.
fn is_emptied(dir: &Path, file: &Path, custody: &Custody) -> bool {
    match fs::metadata(file) {
        Ok(found) => !found.is_file() || found.len() == 0,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let was_used = || ["runs", "inbox.db"].iter().any(|name| dir.join(name).exists());
            dir.join("locks").join("setup.lock").exists() && (was_used() || custody.kept(dir).is_some())
        }
        Err(_) => false,
    }
}

fn folder(path: &Path, error: &io::Error) -> OpenError {
    OpenError::Folder { path: path.into(), message: error.to_string() }
}

/// A store may come with a repository, and a link in it leads wherever whoever made it wanted. A folder that the user names
/// may be a link; a `.gadfly`, and what lies in a store, may not.
fn no_links(dir: &Path) -> Result<(), OpenError> {
    let own = dir.file_name().is_some_and(|name| name == OWN_NAME).then(|| dir.to_owned());
    let within = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in own.into_iter().chain(within) {
        if let Ok(target) = fs::read_link(&path) {
            return Err(OpenError::Linked { path, target });
        }
    }
    Ok(())
}

fn make_private(dir: &Path) -> Result<(), OpenError> {
    if dir.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(|e| folder(dir, &e))
}

fn setup_lock(path: &Path) -> Result<fs::File, OpenError> {
    let file = fs::File::options().create(true).truncate(false).write(true).open(path);
    let file = file.map_err(|e| folder(path, &e))?;
    for _ in 0..SETUP_ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) => thread::sleep(SETUP_PAUSE),
            Err(fs::TryLockError::Error(e)) => return Err(folder(path, &e)),
        }
    }
    let message = "another process has been opening this journal for ten seconds".to_owned();
    Err(OpenError::Folder { path: path.into(), message })
}
