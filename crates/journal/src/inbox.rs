//! Mail for runs that another process drives: answers, pauses, cancellations. A second database, so
//! that a busy writer never starves it. Each entry is consumed exactly once: the record that carries
//! it notes its id in the journal, and only then is it cleared here.

use std::fmt;

use gadfly_engine::EffectId;
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use crate::codec;
use crate::journal::{Journal, locked};
use crate::origin::Foreign;
use crate::read::ReadError;
use crate::rows::RunRow;
use crate::run_id::{NotARunId, RunId, random_u64};
use crate::schema::{self, OpenError};
use crate::store_error::{StoreError, failure};

const MAX_MAIL: usize = 16 << 20;
const MAX_UNREAD: u32 = 1000;

/// The identity of one inbox entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct MailId(pub(crate) i64);

impl fmt::Display for MailId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mail {
    /// Who posted it, for people.
    pub by: String,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    pub what: MailKind,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailKind {
    Answer {
        effect: EffectId,
        text: String,
    },
    Pause,
    Cancel,
    /// A word to the worker of a goal.
    Steer {
        text: String,
    },
}

/// An unread entry of a run that this process owns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    pub run: RunId,
    pub id: MailId,
    pub mail: Mail,
}

/// Why mail was not posted.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PostError {
    #[error("there is no run `{0}` in this journal")]
    NotFound(RunId),
    #[error("run `{run}` has ended as {outcome}: it takes no more mail")]
    Ended { run: RunId, outcome: String },
    #[error("{bytes} bytes are too many for one entry, the limit is {MAX_MAIL}: shorten the answer")]
    TooLarge { bytes: usize },
    #[error("run `{0}` has {MAX_UNREAD} unread entries already: resume it so that they are read")]
    Crowded(RunId),
    /// A turn takes one answer.
    #[error("what run `{run}` asked as {effect} has its answer, or is not asked any more")]
    Answered { run: RunId, effect: EffectId },
    #[error("the entry could not be encoded: {0}")]
    Encoding(String),
    #[error(transparent)]
    Foreign(#[from] Foreign),
    #[error(transparent)]
    Inbox(#[from] OpenError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

failure!(PostError);

/// The connection that watches the inbox. It never writes, so its data version tells of everyone.
#[derive(Default)]
pub(crate) struct Poller {
    conn: Option<Connection>,
    seen: Option<i64>,
}

impl Poller {
    /// Makes the next poll look again, whatever it saw before.
    pub(crate) fn forget(&mut self) {
        self.seen = None;
    }
}

impl Journal {
    /// Leaves mail for a run, durably.
    pub fn post(&self, run: &RunId, mail: &Mail) -> Result<MailId, PostError> {
        self.post_if(run, mail, |_| Ok(()))
    }

    /// As [`Self::post`], an answer to what nobody has answered yet. Of two at once, from whatever processes, one is
    /// left and the other refused.
    pub fn post_first_answer(&self, run: &RunId, mail: &Mail) -> Result<MailId, PostError> {
        let MailKind::Answer { effect, .. } = &mail.what else { return self.post(run, mail) };
        self.post_if(run, mail, |conn| {
            let unread = self.unconsumed(unread(conn, Some(run), |_| true)?)?;
            let is_one = |delivery: &Delivery| matches!(&delivery.mail.what, MailKind::Answer { effect: to, .. } if to == effect);
            // The inbox first: an answer that is not there any more is in the record.
            if unread.iter().any(is_one) || !self.is_open(run, effect)? {
                return Err(PostError::Answered { run: run.clone(), effect: effect.clone() });
            }
            Ok(())
        })
    }

    /// Posts what passes the check; nobody else posts between the two.
    fn post_if(
        &self,
        run: &RunId,
        mail: &Mail,
        check: impl FnOnce(&Connection) -> Result<(), PostError>,
    ) -> Result<MailId, PostError> {
        let json = serde_json::to_vec(mail).map_err(|e| PostError::Encoding(e.to_string()))?;
        if json.len() > MAX_MAIL {
            return Err(PostError::TooLarge { bytes: json.len() });
        }
        self.own_chain()?;
        self.read(|conn| match RunRow::find(conn, self.check(), run) {
            Err(ReadError::NotFound(run)) => Err(PostError::NotFound(run)),
            Err(other) => Err(other.into()),
            Ok(row) if row.standing.ended => {
                Err(PostError::Ended { run: run.clone(), outcome: row.standing.outcome.unwrap_or_default() })
            }
            Ok(_) => Ok(()),
        })?;
        let body = codec::pack(&json).map_err(|e| PostError::Encoding(e.to_string()))?;
        let id = i64::try_from(random_u64().map_err(StoreError::from)? >> 1).unwrap_or(i64::MAX);
        let Some(conn) = self.inbox(true)? else { return Err(StoreError::Closed.into()) };
        let conn = Transaction::new_unchecked(&conn, TransactionBehavior::Immediate)?;
        check(&conn)?;
        let unread: u32 =
            conn.query_row("SELECT count(*) FROM mail WHERE run = ?1", [run.as_str()], |r| r.get(0))?;
        if unread >= MAX_UNREAD {
            return Err(PostError::Crowded(run.clone()));
        }
        conn.execute(
            "INSERT INTO mail(id, run, size, body) VALUES(?1, ?2, ?3, ?4)",
            params![id, run.as_str(), schema::int(json.len() as u64), body],
        )?;
        conn.commit()?;
        Ok(MailId(id))
    }

    /// The unread mail of a run, oldest first.
    pub fn mail(&self, run: &RunId) -> Result<Vec<(MailId, Mail)>, ReadError> {
        let Some(conn) = self.inbox(false)? else { return Ok(Vec::new()) };
        let found = unread(&conn, Some(run), |_| true)?;
        Ok(self.unconsumed(found)?.into_iter().map(|d| (d.id, d.mail)).collect())
    }

    /// The unread mail of all runs that have a writer here, or none if the inbox did not change
    /// since the last call. One cheap question, however many runs there are.
    pub fn poll_mail(&self) -> Result<Option<Vec<Delivery>>, ReadError> {
        let mut poller = locked(&self.inner.poller);
        if poller.conn.is_none() {
            poller.conn = self.inbox(false)?;
        }
        let Some(conn) = &poller.conn else { return Ok(None) };
        let version: i64 =
            conn.prepare_cached("PRAGMA data_version").and_then(|mut s| s.query_row([], |r| r.get(0)))?;
        if poller.seen == Some(version) {
            return Ok(None);
        }
        let held = locked(&self.inner.held).clone();
        let found = self.unconsumed(unread(conn, None, |run| held.contains(run))?)?;
        poller.seen = Some(version);
        Ok(Some(found))
    }

    fn unconsumed(&self, found: Vec<Delivery>) -> Result<Vec<Delivery>, ReadError> {
        if found.is_empty() {
            return Ok(found);
        }
        self.read(|conn| {
            let sql = "SELECT count(*) FROM consumed c JOIN runs r ON r.number = c.run
                       WHERE r.id = ?1 AND c.mail = ?2";
            let mut known = conn.prepare_cached(sql)?;
            let mut fresh = Vec::with_capacity(found.len());
            for delivery in found {
                let params = params![delivery.run.as_str(), delivery.id.0];
                let consumed: u32 = known.query_row(params, |r| r.get(0))?;
                if consumed == 0 {
                    fresh.push(delivery);
                }
            }
            Ok(fresh)
        })
    }

    /// Clears the mail of a run that is gone.
    pub(crate) fn discard_all_mail(&self, run: &RunId) -> Result<(), ReadError> {
        if let Some(conn) = self.inbox(false)? {
            conn.execute("DELETE FROM mail WHERE run = ?1", [run.as_str()])?;
        }
        Ok(())
    }
}

fn unread(
    conn: &Connection,
    run: Option<&RunId>,
    wanted: impl Fn(&RunId) -> bool,
) -> Result<Vec<Delivery>, ReadError> {
    let sql = match run {
        Some(_) => "SELECT id, run, size, body FROM mail WHERE run = ?1 ORDER BY place",
        None => "SELECT id, run, size, body FROM mail WHERE ?1 IS NULL ORDER BY place",
    };
    let mut rows = conn.prepare_cached(sql)?;
    let mut rows = rows.query([run.map(RunId::as_str)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        match delivery(row, &wanted) {
            Ok(delivery) => found.extend(delivery),
            // One damaged entry must not keep the mail of other runs back; asked for by its run, it is named.
            Err(ReadError::Mail { .. }) if run.is_none() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn delivery(row: &Row<'_>, wanted: impl Fn(&RunId) -> bool) -> Result<Option<Delivery>, ReadError> {
    let id = MailId(row.get(0)?);
    let damaged = |message: String| ReadError::Mail { mail: id, message };
    let run = row.get::<_, String>(1)?.parse().map_err(|e: NotARunId| damaged(e.to_string()))?;
    if !wanted(&run) {
        return Ok(None);
    }
    let size = usize::try_from(row.get::<_, i64>(2)?).unwrap_or(usize::MAX);
    let json = codec::unpack(row.get_ref(3)?.as_blob().unwrap_or_default(), size);
    let json = json.map_err(|e| damaged(e.to_string()))?;
    let mail = serde_json::from_slice(&json).map_err(|e| damaged(e.to_string()))?;
    Ok(Some(Delivery { run, id, mail }))
}
