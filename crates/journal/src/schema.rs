//! The tables, their version, and how a database file is opened or refused. No queries live here.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::custody::Custody;
use crate::store_error::StoreError;

/// The database format this version reads and writes.
pub const FORMAT: u32 = 2;

/// `Gdfj` and `Gdfi`: so that another program's database is not mistaken for ours.
const JOURNAL_MARK: i32 = 0x4764_666a;
const INBOX_MARK: i32 = 0x4764_6669;

const WRITER_PATIENCE: Duration = Duration::from_mins(1);
const READER_PATIENCE: Duration = Duration::from_secs(10);
const INBOX_PATIENCE: Duration = Duration::from_secs(5);
const STATEMENTS: usize = 48;
/// Small, because the last page of every stored text is half empty.
const PAGE: i64 = 2048;
/// A transaction of many runs must not spill, nor its pages be copied back after every few commits.
const WRITER_CACHE: i64 = 64 << 20;
const WAL_LENGTH: i64 = 32 << 20;

/// A step writes a row of `records` and its new texts; nothing else changes with it. A run's row is written when it
/// begins, stops and goes on, and says how it stood then (`proof` covers it). A checkpoint is what the records up to it
/// add up to, one for each chunk of a run and one where it stops: a memory, made anew where it is missing or does not
/// fit. Seals are one chain over the whole store: a run that stopped, or was removed.
///
/// Records and texts lie in the order they came, so that a transaction of many runs writes few pages; the writer alone
/// keeps hashes unique, through an index of their first bytes.
const JOURNAL_TABLES: &str = "
CREATE TABLE store(id BLOB NOT NULL, key BLOB NOT NULL) STRICT;
CREATE TABLE runs(
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, protocol TEXT NOT NULL, created INTEGER NOT NULL,
  updated INTEGER NOT NULL, is_foreign INTEGER NOT NULL, sealed INTEGER NOT NULL, outcome TEXT,
  ended INTEGER NOT NULL, proof BLOB NOT NULL, owner TEXT) STRICT;
CREATE INDEX runs_newest ON runs(created, number, outcome, owner);
CREATE TABLE records(
  number INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL, link BLOB NOT NULL,
  input_texts BLOB, step_texts BLOB, size INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX records_place ON records(run, seq);
CREATE TABLE checkpoints(
  place INTEGER PRIMARY KEY, upto INTEGER NOT NULL, proof BLOB NOT NULL, kinds BLOB NOT NULL,
  size INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE TABLE blobs(
  number INTEGER PRIMARY KEY, hash BLOB NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE INDEX blobs_hash ON blobs(substr(hash, 1, 8));
CREATE TABLE consumed(run INTEGER, mail INTEGER, PRIMARY KEY(run, mail)) STRICT, WITHOUT ROWID;
CREATE TABLE seals(
  number INTEGER PRIMARY KEY, run INTEGER NOT NULL, about BLOB NOT NULL, runs INTEGER NOT NULL,
  value BLOB NOT NULL) STRICT;
CREATE TABLE signatures(seal INTEGER PRIMARY KEY, key TEXT NOT NULL, signature BLOB NOT NULL) STRICT;
CREATE TABLE leaving(id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
";

/// Unread mail is little: it needs no index.
const INBOX_TABLES: &str = "
CREATE TABLE mail(
  place INTEGER PRIMARY KEY, id INTEGER NOT NULL, run TEXT NOT NULL,
  size INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
";

/// Why a journal cannot be opened.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OpenError {
    #[error("there is no journal at {0}: start a run there first, or name another folder")]
    Missing(PathBuf),
    #[error(
        "the journal {path} has format {found}, this Gadfly reads format {known}: \
         use the version of Gadfly that wrote it{}", if found > known { ", or a newer one" } else { "" }
    )]
    OtherFormat { path: PathBuf, found: u32, known: u32 },
    #[error(
        "the journal {0} is gone or empty, but its folder is there: restore it from a copy, or remove the folder to \
         begin anew"
    )]
    Gone(PathBuf),
    #[error("{0} is not a Gadfly journal: move it away, or name another folder")]
    NotAJournal(PathBuf),
    #[error(
        "{path} is a link, to {target}, and Gadfly keeps its runs in no folder that a link leads to: remove the link, or \
         name the folder itself with --store. Nothing was written"
    )]
    Linked { path: PathBuf, target: PathBuf },
    #[error("the folder {path} cannot be made or used: {message}")]
    Folder { path: PathBuf, message: String },
    #[error("{path}: {source}")]
    Store { path: PathBuf, source: StoreError },
}

#[derive(Clone, Copy)]
pub(crate) enum DatabaseFile {
    Journal,
    Inbox,
}

impl DatabaseFile {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Journal => "journal.db",
            Self::Inbox => "inbox.db",
        }
    }

    const fn mark(self) -> i32 {
        match self {
            Self::Journal => JOURNAL_MARK,
            Self::Inbox => INBOX_MARK,
        }
    }

    const fn tables(self) -> &'static str {
        match self {
            Self::Journal => JOURNAL_TABLES,
            Self::Inbox => INBOX_TABLES,
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum ConnectionUse {
    Write,
    Read,
    Inbox,
    /// Clears consumed mail: losing that to a power cut only means doing it again.
    Sweep,
}

/// A configured connection to a file that `prepare` or `check` has looked at.
pub(crate) fn connect(path: &Path, r#use: ConnectionUse) -> Result<Connection, StoreError> {
    let conn = match r#use {
        ConnectionUse::Read => open_to_read(path)?,
        _ => Connection::open_with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?,
    };
    let (patience, synchronous) = match r#use {
        ConnectionUse::Write => (WRITER_PATIENCE, "FULL"),
        ConnectionUse::Read => (READER_PATIENCE, "FULL"),
        ConnectionUse::Inbox => (INBOX_PATIENCE, "FULL"),
        ConnectionUse::Sweep => (INBOX_PATIENCE, "NORMAL"),
    };
    conn.busy_timeout(patience)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    conn.pragma_update(None, "synchronous", synchronous)?;
    if matches!(r#use, ConnectionUse::Write) {
        conn.pragma_update(None, "cache_size", -(WRITER_CACHE >> 10))?;
        conn.pragma_update_and_check(None, "wal_autocheckpoint", WAL_LENGTH / PAGE, |_| Ok(()))?;
    }
    if matches!(r#use, ConnectionUse::Read) {
        conn.pragma_update(None, "query_only", true)?;
    }
    Ok(conn)
}

/// Also on a disk that cannot be written, where `SQLite` can keep no file beside the database.
fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let usual = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE);
    let usual =
        usual.and_then(|conn| conn.pragma_query_value(None, "user_version", |_| Ok(())).map(|()| conn));
    let refused = match usual {
        Ok(conn) => return Ok(conn),
        Err(refused) => refused,
    };
    let kept_apart = fs::metadata(beside(path, "-wal")).is_ok_and(|wal| wal.len() > 0);
    let denied = matches!(
        refused.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied)
    );
    if !denied || kept_apart {
        return Err(refused.into());
    }
    let uri = format!("file:{}?immutable=1", percent_encoded(path));
    let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(uri, flags)?)
}

fn percent_encoded(path: &Path) -> String {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"/._-".contains(b);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    bytes.map(|b| if plain(b) { char::from(*b).to_string() } else { format!("%{b:02X}") }).collect()
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes the file if it is new, else checks it. The caller holds the setup lock.
pub(crate) fn prepare(path: &Path, file: DatabaseFile, custody: &Custody) -> Result<(), OpenError> {
    let store = |source: StoreError| OpenError::Store { path: path.into(), source };
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => make(path, file, custody).map_err(store),
        Err(e) => Err(store(e.into())),
        Ok(_) => check(path, file),
    }
}

/// Checks that the file is ours and of the version we know, and writes nothing.
pub(crate) fn check(path: &Path, file: DatabaseFile) -> Result<(), OpenError> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() > 0 => {}
        Ok(_) => return Err(OpenError::Gone(path.into())),
        Err(e) => return Err(OpenError::Store { path: path.into(), source: e.into() }),
    }
    let refused = |e: StoreError| match e {
        StoreError::NotADatabase => OpenError::NotAJournal(path.into()),
        source => OpenError::Store { path: path.into(), source },
    };
    let conn = connect(path, ConnectionUse::Read).map_err(refused)?;
    let pragma = |name: &str| conn.pragma_query_value(None, name, |r| r.get::<_, i64>(0));
    let pragma = |name: &str| pragma(name).map_err(|e| refused(e.into()));
    if pragma("application_id")? != i64::from(file.mark()) {
        return Err(OpenError::NotAJournal(path.into()));
    }
    let found = u32::try_from(pragma("user_version")?).unwrap_or(u32::MAX);
    if found != FORMAT {
        return Err(OpenError::OtherFormat { path: path.into(), found, known: FORMAT });
    }
    Ok(())
}

/// Made beside its place, written to the disk once and then put there: a dozen syncs less than `SQLite`
/// would need, and whoever looks sees all of it or nothing. The caller holds the setup lock.
fn make(path: &Path, file: DatabaseFile, custody: &Custody) -> Result<(), StoreError> {
    let new = path.with_extension("new");
    let left_over = [new.clone(), beside(&new, "-wal"), beside(&new, "-shm"), beside(&new, "-journal")];
    let clear = || left_over.iter().for_each(|file| drop(fs::remove_file(file)));
    clear();
    let made = (|| {
        // Drafts and replies are for the user alone, also in a folder that others may enter; SQLite gives its
        // side files the same permissions.
        let mut private = fs::OpenOptions::new();
        private.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut private, 0o600);
        private.open(&new)?;
        let conn = Connection::open_with_flags(
            &new,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        create(&conn, file, custody)?;
        conn.close().map_err(|(_, e)| e)?;
        // Closing says nothing of a write that failed. The file is used only if all of it is there.
        let conn = Connection::open_with_flags(
            &new,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        let whole: String = conn.query_row("PRAGMA quick_check", [], |r| r.get(0))?;
        let version: u32 = conn.pragma_query_value(None, "user_version", |r| r.get(0))?;
        conn.close().map_err(|(_, e)| e)?;
        if whole != "ok" || version != FORMAT || beside(&new, "-wal").exists() {
            return Err(StoreError::Full("the new journal could not be written whole".to_owned()));
        }
        fs::File::open(&new)?.sync_all()?;
        fs::rename(&new, path)?;
        if let Some(dir) = path.parent() {
            fs::File::open(dir)?.sync_all()?;
        }
        Ok(())
    })();
    if made.is_err() {
        clear();
    }
    made
}

/// Removes the file from the store in `dir`, with what `SQLite` keeps beside it.
pub(crate) fn remove(dir: &Path, file: DatabaseFile) -> Result<(), StoreError> {
    let path = dir.join(file.name());
    for part in [path.clone(), beside(&path, "-wal"), beside(&path, "-shm"), beside(&path, "-journal")] {
        match fs::remove_file(part) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Without a write-ahead log until all is in the file, so that every failing write is reported.
fn create(conn: &Connection, file: DatabaseFile, custody: &Custody) -> Result<(), StoreError> {
    conn.pragma_update(None, "synchronous", "OFF")?;
    conn.pragma_update(None, "page_size", PAGE)?;
    conn.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    conn.pragma_update_and_check(None, "journal_mode", "MEMORY", |_| Ok(()))?;
    conn.execute_batch(&format!(
        "BEGIN IMMEDIATE; {} PRAGMA application_id = {}; PRAGMA user_version = {FORMAT};",
        file.tables(),
        file.mark()
    ))?;
    if matches!(file, DatabaseFile::Journal) {
        let mut id = [0_u8; 16];
        getrandom::fill(&mut id).map_err(|e| StoreError::Io(e.to_string()))?;
        conn.execute("INSERT INTO store VALUES(?1, ?2)", [id, custody.make_chain()?.fingerprint()])?;
    }
    conn.execute_batch("COMMIT")?;
    conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    Ok(())
}

/// `SQLite` integers are signed; what does not fit is far beyond any real time or size.
pub(crate) fn int(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
