//! Forgetting: one run, or all that ended long enough ago, and the texts nobody needs any more.
//! It runs on the writer thread, so that no append can rely on a text while it goes.
//!
//! A run's folder holds more than this crate wrote: what its commands left there may be of any depth, and not
//! writable. The caller brings what takes such a folder away; here it is only checked that it is gone.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;

use rusqlite::{Connection, OptionalExtension, params};

use crate::body::{self, TextDigests};
use crate::chain::Chain;
use crate::checkpoint;
use crate::journal::Journal;
use crate::lock;
use crate::origin::Foreign;
use crate::rows::{COLUMNS, RunRow};
use crate::run_id::RunId;
use crate::schema::int;
use crate::seal;
use crate::store_error::{StoreError, failure};

/// What to forget.
#[derive(Clone, Debug)]
pub struct GcOptions {
    /// Only runs last touched before this, in milliseconds since 1970.
    pub before_ms: u64,
    /// Keep runs that can be resumed (waiting, unverified, interrupted, …), whatever their age.
    pub keep_parked: bool,
    /// Only say what would go.
    pub dry_run: bool,
}

impl Default for GcOptions {
    fn default() -> Self {
        Self { before_ms: 0, keep_parked: true, dry_run: true }
    }
}

/// What went, or would go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GcReport {
    pub runs: Vec<RunId>,
    pub blobs: u64,
    /// Stored bytes of the records and texts.
    pub bytes: u64,
    /// What the runs' folders take on disk, without what they share with others.
    pub folders: u64,
}

/// Why a run was not removed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RemoveError {
    #[error("there is no run `{0}` in this journal")]
    NotFound(RunId),
    #[error("run `{run}` is being driven by process {pid}: cancel it first")]
    Owned { run: RunId, pid: u32 },
    #[error(transparent)]
    Foreign(#[from] Foreign),
    #[error(transparent)]
    Store(#[from] StoreError),
}

failure!(RemoveError);

impl Journal {
    /// Removes a run, its records, its mail and, with `clear`, its folder. Texts go with the next `gc`.
    pub fn remove(&self, run: &RunId, clear: impl Fn(&Path)) -> Result<(), RemoveError> {
        let (id, locks) = (run.clone(), self.inner.lock.dir().to_owned());
        let chain = self.own_chain()?.clone();
        self.write(move |conn| {
            let sql = "SELECT number, owner FROM runs WHERE id = ?1";
            let row = conn.query_row(sql, [id.as_str()], |r| Ok((r.get(0)?, r.get::<_, Option<String>>(1)?)));
            let Some((number, owner)) = row.optional()? else { return Err(RemoveError::NotFound(id)) };
            if let Some(owner) = owner
                && lock::is_live(&locks, &owner)
            {
                let (pid, _) = lock::describe(&locks, &owner);
                return Err(RemoveError::Owned { run: id, pid });
            }
            delete(conn, &chain, &id, number)?;
            Ok(())
        })?;
        self.forget_files(run, &clear)?;
        Ok(())
    }

    /// Forgets ended runs and every text without a run, then gives the space back. `clear` takes a run's
    /// folder away.
    pub fn gc(&self, what: &GcOptions, clear: impl Fn(&Path)) -> Result<GcReport, RemoveError> {
        let chain = self.own_chain()?.clone();
        let (gc, locks) = (what.clone(), self.inner.lock.dir().to_owned());
        let dry_run = gc.dry_run;
        let mut report: GcReport = self
            .write(move |conn| {
                let report = collect(conn, &chain, &gc, &lock::live(&locks))?;
                // A dry run does it all and takes it back, so that its numbers are the real ones.
                if gc.dry_run { Err(Collected::Dry(report)) } else { Ok(report) }
            })
            .or_else(|e| match e {
                Collected::Dry(report) => Ok(report),
                Collected::Store(cause) => Err(cause),
            })?;
        let mut ownerless = self.leaving()?;
        ownerless.retain(|run| !report.runs.contains(run));
        let folders = report.runs.iter().chain(&ownerless).flat_map(|run| self.folders_of(run));
        report.folders = folders.map(|folder| taken_by(&folder)).fold(0, u64::saturating_add);
        if !dry_run {
            // One folder that stays keeps neither the others nor the space.
            let gone = report.runs.iter().chain(&ownerless);
            let left: Vec<_> = gone.map(|run| self.forget_files(run, &clear)).collect();
            self.shrink()?;
            left.into_iter().collect::<Result<(), _>>()?;
        }
        Ok(report)
    }

    /// Runs that were removed and whose folders may still be there: whoever removed them died before, or could not.
    /// A folder that no run of this journal had is nobody's to remove.
    fn leaving(&self) -> Result<Vec<RunId>, StoreError> {
        let sql = "SELECT id FROM leaving WHERE id NOT IN (SELECT id FROM runs)";
        let found = self.write(move |conn| -> Result<Vec<RunId>, StoreError> {
            let mut rows = conn.prepare(sql)?;
            let ids = rows.query_map([], |r| r.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
        })?;
        let is_left = |run: &RunId| self.folders_of(run).iter().any(|dir| dir.symlink_metadata().is_ok());
        Ok(found.into_iter().filter(is_left).collect())
    }

    /// What a run has on disk: its reports in the store, and where its agents worked.
    fn folders_of(&self, run: &RunId) -> Vec<PathBuf> {
        let mut folders = vec![self.run_dir(run), self.work_dir(run)];
        folders.dedup();
        folders
    }

    fn forget_files(&self, run: &RunId, clear: &impl Fn(&Path)) -> Result<(), StoreError> {
        // Mail of a run that is gone is never delivered: what is left of it does no harm.
        let _ = self.discard_all_mail(run);
        for folder in self.folders_of(run) {
            clear(&folder);
            if folder.symlink_metadata().is_ok() {
                return Err(StoreError::Left(folder.display().to_string()));
            }
        }
        let id = run.as_str().to_owned();
        self.write(move |conn| {
            conn.execute("DELETE FROM leaving WHERE id = ?1", [id])?;
            Ok(())
        })
    }

    fn shrink(&self) -> Result<(), StoreError> {
        let (tell, told) = sync_channel(1);
        self.writer()?.alone(Box::new(move |conn| {
            let _ = tell.send(vacuum(conn));
        }))?;
        told.recv().unwrap_or(Err(StoreError::Closed))
    }
}

enum Collected {
    Dry(GcReport),
    Store(StoreError),
}

impl From<StoreError> for Collected {
    fn from(cause: StoreError) -> Self {
        Self::Store(cause)
    }
}

failure!(Collected);

fn collect(
    conn: &Connection,
    chain: &Chain,
    gc: &GcOptions,
    live: &HashSet<String>,
) -> Result<GcReport, StoreError> {
    let sql =
        format!("SELECT {COLUMNS} FROM runs WHERE updated < ?1 AND (ended = 1 OR ?2 = 0) ORDER BY number");
    let mut rows = conn.prepare(&sql)?;
    let due =
        rows.query_map(params![int(gc.before_ms), gc.keep_parked], |row| RunRow::read(row, Some(chain)))?;
    let due: Vec<_> = due.collect::<rusqlite::Result<_>>()?;
    let mut report = GcReport::default();
    for row in due.into_iter().flatten() {
        if row.is_driven(live) || !is_older(conn, chain, &row, gc.before_ms) {
            continue;
        }
        report.bytes += delete(conn, chain, &row.run, row.number)?;
        report.runs.push(row.run);
    }
    // What no record names is nobody's.
    conn.execute_batch("CREATE TEMP TABLE named(hash BLOB PRIMARY KEY) WITHOUT ROWID")?;
    let swept = sweep(conn, &mut report);
    conn.execute_batch("DROP TABLE temp.named")?;
    swept?;
    Ok(report)
}

/// A row says when the run last began, stopped or went on; one that goes on has newer records.
fn is_older(conn: &Connection, chain: &Chain, row: &RunRow, before_ms: u64) -> bool {
    if row.standing.outcome.is_some() {
        return true;
    }
    let summary = row.summary(conn, Some(chain), &HashSet::new());
    summary.is_ok_and(|summary| summary.updated_ms < before_ms)
}

fn sweep(conn: &Connection, report: &mut GcReport) -> rusqlite::Result<()> {
    let mut note = conn.prepare("INSERT OR IGNORE INTO temp.named VALUES(?1)")?;
    let mut rows = conn.prepare("SELECT input_texts, step_texts FROM records")?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let texts = TextDigests::read(row, 0, 1)?;
        for digest in body::split(texts.input).chain(body::split(texts.step)) {
            note.execute([digest.as_bytes()])?;
        }
    }
    let sql = "DELETE FROM blobs WHERE hash NOT IN (SELECT hash FROM temp.named) RETURNING length(body)";
    let mut rows = conn.prepare(sql)?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        report.blobs += 1;
        report.bytes += u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0);
    }
    Ok(())
}

/// Removes a run's rows and says how many bytes its records had.
fn delete(conn: &Connection, chain: &Chain, run: &RunId, number: i64) -> rusqlite::Result<u64> {
    let sql = "SELECT coalesce(sum(length(body)), 0) FROM records WHERE run = ?1";
    let bytes: i64 = conn.query_row(sql, [number], |r| r.get(0))?;
    seal::remove(conn, chain, run, number)?;
    // Until its folder is gone, too.
    conn.execute("INSERT OR IGNORE INTO leaving VALUES(?1)", [run.as_str()])?;
    for sql in [
        "DELETE FROM records WHERE run = ?1",
        "DELETE FROM consumed WHERE run = ?1",
        "DELETE FROM runs WHERE number = ?1",
    ] {
        conn.execute(sql, [number])?;
    }
    conn.execute("DELETE FROM checkpoints WHERE place >= ?1 AND place < ?2", checkpoint::places(number))?;
    Ok(u64::try_from(bytes).unwrap_or(0))
}

/// What removing a folder gives back. A file with another name elsewhere gives nothing; what cannot be looked
/// at counts as nothing.
pub fn taken_by(folder: &Path) -> u64 {
    let (mut bytes, mut waiting) = (0_u64, vec![folder.to_owned()]);
    while let Some(dir) = waiting.pop() {
        let Ok(entries) = fs::read_dir(dir) else { continue };
        for entry in entries.flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => waiting.push(entry.path()),
                Ok(meta) if meta.nlink() == 1 => {
                    bytes = bytes.saturating_add(meta.blocks().saturating_mul(512));
                }
                _ => {}
            }
        }
    }
    bytes
}

fn vacuum(conn: &Connection) -> Result<(), StoreError> {
    let mut pages = conn.prepare("PRAGMA incremental_vacuum")?;
    let mut rows = pages.query([])?;
    // Each row read frees one page.
    while rows.next()?.is_some() {}
    drop(rows);
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}
