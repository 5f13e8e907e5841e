//! The tables, their version, and how a database file is opened or refused. No queries live here.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::store_error::StoreError;

/// The database format this version reads and writes.
pub const FORMAT: u32 = 1;

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

/// `runs.next` is the next seq; `outcome` is null while the run has work to do. Records and blobs lie
/// in the order they came, so that a transaction of many runs writes few pages; the writer alone
/// keeps hashes unique, through an index of their first bytes.
const JOURNAL_TABLES: &str = "
CREATE TABLE runs(
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, created INTEGER NOT NULL,
  updated INTEGER NOT NULL, next INTEGER NOT NULL, ended INTEGER NOT NULL,
  outcome TEXT, owner TEXT, summary TEXT NOT NULL) STRICT;
CREATE INDEX runs_newest ON runs(created, number, outcome, owner);
CREATE TABLE records(
  number INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL, size INTEGER NOT NULL,
  body BLOB NOT NULL, input_texts BLOB, step_texts BLOB) STRICT;
CREATE UNIQUE INDEX records_place ON records(run, seq);
CREATE TABLE blobs(
  number INTEGER PRIMARY KEY, hash BLOB NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE INDEX blobs_hash ON blobs(substr(hash, 1, 8));
CREATE TABLE refs(run INTEGER, blob INTEGER, PRIMARY KEY(run, blob)) STRICT, WITHOUT ROWID;
CREATE TABLE consumed(run INTEGER, mail INTEGER, PRIMARY KEY(run, mail)) STRICT, WITHOUT ROWID;
";

/// What pages and overviews are read from without walking a run or all runs: where a run tells something of
/// which kind, what its records add up to, and how many runs stand how. A Gadfly from before these tables
/// works on the same file and knows nothing of them: triggers count and forget for it, too, and a run that it
/// writes to is read as a whole from then on (`Summary::active_ms`).
const READING_TABLES: &str = "
CREATE TABLE marks(run INTEGER, kind INTEGER, seq INTEGER, PRIMARY KEY(run, kind, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE meters(run INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE tallies(outcome TEXT NOT NULL PRIMARY KEY, runs INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO tallies SELECT coalesce(outcome, ''), count(*) FROM runs GROUP BY 1;
CREATE INDEX runs_driven ON runs(owner) WHERE outcome IS NULL AND owner IS NOT NULL;
CREATE TRIGGER run_begun AFTER INSERT ON runs BEGIN
  INSERT INTO tallies VALUES(coalesce(new.outcome, ''), 1) ON CONFLICT(outcome) DO UPDATE SET runs = runs + 1;
END;
CREATE TRIGGER run_decided AFTER UPDATE OF outcome ON runs WHEN old.outcome IS NOT new.outcome BEGIN
  UPDATE tallies SET runs = runs - 1 WHERE outcome = coalesce(old.outcome, '');
  INSERT INTO tallies VALUES(coalesce(new.outcome, ''), 1) ON CONFLICT(outcome) DO UPDATE SET runs = runs + 1;
END;
CREATE TRIGGER run_forgotten AFTER DELETE ON runs BEGIN
  UPDATE tallies SET runs = runs - 1 WHERE outcome = coalesce(old.outcome, '');
  DELETE FROM marks WHERE run = old.number;
  DELETE FROM meters WHERE run = old.number;
END;
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
        "the journal {path} has format {found}, this Gadfly reads up to {known}: \
         use the version of Gadfly that wrote it, or a newer one"
    )]
    Newer { path: PathBuf, found: u32, known: u32 },
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
pub(crate) enum File {
    Journal,
    Inbox,
}

impl File {
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

    const fn tables(self) -> [&'static str; 2] {
        match self {
            Self::Journal => [JOURNAL_TABLES, READING_TABLES],
            Self::Inbox => [INBOX_TABLES, ""],
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Use {
    Write,
    Read,
    Inbox,
    /// Clears consumed mail: losing that to a power cut only means doing it again.
    Sweep,
}

/// A configured connection to a file that `prepare` has looked at.
pub(crate) fn connect(path: &Path, r#use: Use) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    let (patience, synchronous) = match r#use {
        Use::Write => (WRITER_PATIENCE, "FULL"),
        Use::Read => (READER_PATIENCE, "FULL"),
        Use::Inbox => (INBOX_PATIENCE, "FULL"),
        Use::Sweep => (INBOX_PATIENCE, "NORMAL"),
    };
    conn.busy_timeout(patience)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    conn.pragma_update(None, "synchronous", synchronous)?;
    if matches!(r#use, Use::Write) {
        conn.pragma_update(None, "cache_size", -(WRITER_CACHE >> 10))?;
        conn.pragma_update_and_check(None, "wal_autocheckpoint", WAL_LENGTH / PAGE, |_| Ok(()))?;
    }
    if matches!(r#use, Use::Read) {
        conn.pragma_update(None, "query_only", true)?;
    }
    Ok(conn)
}

/// Makes the file if it is new and checks that it is ours and of a version we know.
pub(crate) fn prepare(path: &Path, file: File) -> Result<(), OpenError> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let store = |source: StoreError| OpenError::Store { path: path.into(), source };
    let refused = |e: rusqlite::Error| match e.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::NotAJournal(path.into()),
        _ => store(e.into()),
    };
    if !path.exists() {
        return make(path, file, flags).map_err(store);
    }
    let conn = Connection::open_with_flags(path, flags).map_err(refused)?;
    conn.busy_timeout(READER_PATIENCE).map_err(refused)?;
    let version: u32 = conn.pragma_query_value(None, "user_version", |r| r.get(0)).map_err(refused)?;
    let mark: i32 = conn.pragma_query_value(None, "application_id", |r| r.get(0)).map_err(refused)?;
    if version == 0 && mark == 0 {
        let tables: i64 =
            conn.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0)).map_err(refused)?;
        if tables > 0 {
            return Err(OpenError::NotAJournal(path.into()));
        }
        return create(&conn, file).map_err(|e| store(e.into()));
    }
    if mark != file.mark() {
        return Err(OpenError::NotAJournal(path.into()));
    }
    if version > FORMAT {
        return Err(OpenError::Newer { path: path.into(), found: version, known: FORMAT });
    }
    if matches!(file, File::Journal) {
        add_reading_tables(&conn).map_err(refused)?;
    }
    Ok(())
}

/// A store from before pages gets their tables. The caller holds the setup lock.
fn add_reading_tables(conn: &Connection) -> rusqlite::Result<()> {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'marks'";
    if conn.query_row(sql, [], |r| r.get::<_, i64>(0))? == 0 {
        conn.execute_batch(&format!("BEGIN IMMEDIATE; {READING_TABLES} COMMIT;"))?;
    }
    Ok(())
}

/// False for a file that another process is just making.
pub(crate) fn is_made(conn: &Connection) -> rusqlite::Result<bool> {
    conn.pragma_query_value(None, "user_version", |r| r.get::<_, u32>(0)).map(|v| v > 0)
}

/// Made beside its place, written to the disk once and then put there: a dozen syncs less than `SQLite`
/// would need, and whoever looks sees all of it or nothing. The caller holds the setup lock.
fn make(path: &Path, file: File, flags: OpenFlags) -> Result<(), StoreError> {
    let new = path.with_extension("new");
    for left_over in [new.clone(), path.with_extension("new-wal"), path.with_extension("new-shm")] {
        let _ = fs::remove_file(left_over);
    }
    // Drafts and replies are for the user alone, also in a folder that others may enter; SQLite gives its
    // side files the same permissions.
    let mut private = fs::OpenOptions::new();
    private.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut private, 0o600);
    private.open(&new)?;
    let conn = Connection::open_with_flags(&new, flags)?;
    conn.pragma_update(None, "synchronous", "OFF")?;
    create(&conn, file)?;
    conn.close().map_err(|(_, e)| e)?;
    fs::File::open(&new)?.sync_all()?;
    fs::rename(&new, path)?;
    if let Some(dir) = path.parent() {
        fs::File::open(dir)?.sync_all()?;
    }
    Ok(())
}

fn create(conn: &Connection, file: File) -> rusqlite::Result<()> {
    conn.pragma_update(None, "page_size", PAGE)?;
    conn.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    conn.execute_batch(&format!(
        "BEGIN IMMEDIATE; {} PRAGMA application_id = {}; PRAGMA user_version = {FORMAT}; COMMIT;",
        file.tables().concat(),
        file.mark()
    ))
}

/// `SQLite` integers are signed; what does not fit is far beyond any real time or size.
pub(crate) fn int(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
