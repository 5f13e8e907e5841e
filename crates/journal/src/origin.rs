//! Whose store this is. One that was chained with another machine's key, or that lacks what this machine sealed, can be
//! read; nothing in it counts, and nothing is added to it, until a person makes it theirs.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _};

use crate::chain::{Chain, Mac};
use crate::custody::Custody;
use crate::journal::Journal;
use crate::read::ReadError;
use crate::rows::RunRow;
use crate::run_id::RunId;
use crate::seal;

/// Why a store is not this machine's.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Foreign {
    #[error(
        "the store {0} was not made by you on this machine, so it can be read, and nothing in it counts as approved: make \
         it yours with `gadfly own`, or remove the folder to begin anew"
    )]
    MadeElsewhere(PathBuf),
    #[error(
        "the store {0} lacks records that were in it: somebody set it back or cut its end off. It can be read, and nothing in \
         it counts as approved: restore it, or take it as it is with `gadfly own`"
    )]
    SetBack(PathBuf),
}

/// What a store says it is, compared with what this machine knows.
pub(crate) struct Identity {
    pub(crate) store: Mac,
    chain: Result<Chain, Foreign>,
}

impl Identity {
    pub(crate) fn of(conn: &Connection, dir: &Path, custody: &Custody) -> rusqlite::Result<Self> {
        // First what is kept, then the store: it may be sealed meanwhile.
        let kept = custody.kept(dir);
        let row = conn.query_row("SELECT id, key FROM store", [], |r| Ok((r.get(0)?, r.get::<_, Mac>(1)?)));
        let (store, key) = row.optional()?.unwrap_or_default();
        let chain = custody.chain().filter(|chain| chain.fingerprint() == key);
        let Some(chain) = chain else {
            return Ok(Self { store, chain: Err(Foreign::MadeElsewhere(dir.into())) });
        };
        let is_whole = match kept.filter(|kept| kept.store == store) {
            Some(kept) => seal::value(conn, kept.number)? == Some(kept.value),
            None => true,
        };
        let chain = if is_whole { Ok(chain) } else { Err(Foreign::SetBack(dir.into())) };
        Ok(Self { store, chain })
    }
}

impl Journal {
    /// Why this store is not this machine's; none if it is.
    pub fn foreign(&self) -> Option<&Foreign> {
        self.inner.identity.chain.as_ref().err()
    }

    pub(crate) fn own_chain(&self) -> Result<&Chain, Foreign> {
        self.inner.identity.chain.as_ref().map_err(Clone::clone)
    }

    /// What records are checked with, where they can be.
    pub(crate) fn check(&self) -> Option<&Chain> {
        self.inner.identity.chain.as_ref().ok()
    }

    /// Whether what a run says can count: it was made here, with a key that others do not have.
    pub fn counts_here(&self, run: &RunId) -> Result<bool, ReadError> {
        if self.check().is_none() || !self.inner.custody.is_kept() {
            return Ok(false);
        }
        self.read(|conn| Ok(!RunRow::find(conn, self.check(), run)?.standing.foreign))
    }
}
