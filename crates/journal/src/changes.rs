//! Whether anything changed, and for which run: questions cheap enough to be asked ten times a second. What
//! changed is read elsewhere.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use rusqlite::{Connection, OptionalExtension as _};

use crate::journal::{Journal, locked};
use crate::lock;
use crate::read::{ReadError, run_number};
use crate::rows;
use crate::run_id::RunId;
use crate::schema::{self, ConnectionUse};

/// A moment of the store. Two that are equal have nothing between them: no record, no mail, no run that was
/// taken, given up or removed, no process that came or died.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Changes {
    journal: i64,
    inbox: Option<i64>,
    processes: u64,
}

/// How far a run is. If it is the same as before, a page of the run would be, too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pulse {
    /// The seq that the next record will have.
    pub next: u32,
    /// A living process owns it.
    pub driven: bool,
    /// Changes with its unread mail.
    pub mail: u64,
}

/// Connections that never write, so that their data versions tell of every commit of everyone, this process
/// included.
#[derive(Default)]
pub(crate) struct Watcher {
    journal: Option<Connection>,
    inbox: Option<Connection>,
}

impl Journal {
    /// The store as of now, to be compared with another moment of the same open journal.
    pub fn changes(&self) -> Result<Changes, ReadError> {
        let mut watcher = locked(&self.inner.watcher);
        if watcher.journal.is_none() {
            watcher.journal = Some(schema::connect(self.journal_path(), ConnectionUse::Read)?);
        }
        if watcher.inbox.is_none() {
            watcher.inbox = self.inbox(false)?;
        }
        let journal = watcher.journal.as_ref().map(version).transpose()?.unwrap_or_default();
        let inbox = watcher.inbox.as_ref().map(version).transpose()?;
        drop(watcher);
        let mut processes = DefaultHasher::new();
        lock::live(self.inner.lock.dir()).into_iter().collect::<BTreeSet<_>>().hash(&mut processes);
        Ok(Changes { journal, inbox, processes: processes.finish() })
    }

    /// The seq that the next record of a run will have.
    pub fn next_seq(&self, run: &RunId) -> Result<u32, ReadError> {
        self.read(|conn| {
            let number = run_number(conn, run)?;
            Ok(rows::next(conn, number)?)
        })
    }

    /// How far each of these runs is; those that do not exist, or no longer, are left out.
    pub fn pulses(&self, runs: &[RunId]) -> Result<HashMap<RunId, Pulse>, ReadError> {
        let live = lock::live(self.inner.lock.dir());
        let mut pulses = self.read(|conn| {
            let mut pulses = HashMap::new();
            let mut found = conn.prepare_cached("SELECT number, owner FROM runs WHERE id = ?1")?;
            for run in runs {
                let row =
                    found.query_row([run.as_str()], |r| Ok((r.get(0)?, r.get::<_, Option<String>>(1)?)));
                let Some((number, owner)) = row.optional()? else { continue };
                let driven = owner.is_some_and(|owner| live.contains(&owner));
                pulses.insert(run.clone(), Pulse { next: rows::next(conn, number)?, driven, mail: 0 });
            }
            Ok::<_, ReadError>(pulses)
        })?;
        let mut watcher = locked(&self.inner.watcher);
        if watcher.inbox.is_none() {
            watcher.inbox = self.inbox(false)?;
        }
        if let Some(inbox) = &watcher.inbox {
            for (run, pulse) in &mut pulses {
                pulse.mail = unread(inbox, run)?;
            }
        }
        drop(watcher);
        Ok(pulses)
    }
}

fn version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.prepare_cached("PRAGMA data_version")?.query_row([], |r| r.get(0))
}

fn unread(inbox: &Connection, run: &RunId) -> rusqlite::Result<u64> {
    let mut ids = DefaultHasher::new();
    let mut rows = inbox.prepare_cached("SELECT id FROM mail WHERE run = ?1 ORDER BY place")?;
    let mut rows = rows.query([run.as_str()])?;
    while let Some(row) = rows.next()? {
        row.get::<_, i64>(0)?.hash(&mut ids);
    }
    Ok(ids.finish())
}
