//! Signatures over the seals of a store: somebody vouches, with a key of theirs, for all that was sealed up to there. A
//! seal's value covers every seal before it, so one signature covers every run that had stopped by then.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::chain::Mac;
use crate::journal::Journal;
use crate::read::ReadError;
use crate::rows::RunRow;
use crate::run_id::RunId;
use crate::seal;
use crate::signature::{Signature, SignatureError, hex};
use crate::store_error::StoreError;

const PAYLOAD: &str = "application/vnd.gadfly.seal";
const TABLE: &str = "signatures";

/// A seal that can be signed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SealToSign {
    number: i64,
    payload: Vec<u8>,
}

impl SealToSign {
    fn new(store: &Mac, number: i64, value: &Mac) -> Self {
        let payload =
            format!("{{\"store\":\"{}\",\"seal\":{number},\"value\":\"{}\"}}", hex(store), hex(value));
        Self { number, payload: payload.into_bytes() }
    }

    /// What is signed: its type and its bytes.
    pub fn payload(&self) -> (&'static str, &[u8]) {
        (PAYLOAD, &self.payload)
    }
}

/// A signature that covers a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vouched {
    /// The seal that was signed.
    pub seal: i64,
    /// The key's fingerprint.
    pub key: String,
}

impl Journal {
    /// The newest seal, if nobody has signed it.
    pub fn seal_to_sign(&self) -> Result<Option<SealToSign>, ReadError> {
        self.own_chain()?;
        let store = self.inner.identity.store;
        self.read(|conn| {
            let newest = seal::newest(conn)?;
            let is_new = newest.number > 0 && at(conn, newest.number)?.is_none();
            Ok(is_new.then(|| SealToSign::new(&store, newest.number, &newest.value)))
        })
    }

    pub fn keep_signature(&self, seal: &SealToSign, signature: &Signature) -> Result<(), StoreError> {
        let (number, key, armored) = (seal.number, signature.key(), signature.armored().to_owned());
        self.write(move |conn| {
            let sql = format!("INSERT OR IGNORE INTO {TABLE} VALUES(?1, ?2, ?3)");
            conn.execute(&sql, params![number, key, armored.as_bytes()])?;
            Ok(())
        })
    }

    /// The first signature over the last seal of a run, checked; none if nobody signed since. The seals themselves are
    /// checked by [`Journal::proof`].
    pub fn vouched(&self, run: &RunId) -> Result<Option<Vouched>, ReadError> {
        let (chain, store) = (self.own_chain()?, self.inner.identity.store);
        self.read(|conn| {
            let row = RunRow::find(conn, Some(chain), run)?;
            let sql = "SELECT max(number) FROM seals WHERE run = ?1";
            let sealed: Option<i64> = conn.query_row(sql, [row.number], |r| r.get(0))?;
            let Some(sealed) = sealed else { return Ok(None) };
            let sql = format!("SELECT seal FROM {TABLE} WHERE seal >= ?1 ORDER BY seal LIMIT 1");
            let first: Option<i64> = conn.query_row(&sql, [sealed], |r| r.get(0)).optional()?;
            let Some(number) = first else { return Ok(None) };
            let wrong = |why: SignatureError| ReadError::Signature { seal: number, why };
            let value = seal::value(conn, number)?.ok_or_else(|| wrong(SignatureError::Wrong))?;
            let kept = at(conn, number)?.unwrap_or_default();
            let signature = Signature::read(&String::from_utf8_lossy(&kept.1)).map_err(wrong)?;
            let signed = SealToSign::new(&store, number, &value);
            signature.check(PAYLOAD, &signed.payload).map_err(wrong)?;
            if signature.key() != kept.0 {
                return Err(wrong(SignatureError::Wrong));
            }
            Ok(Some(Vouched { seal: number, key: kept.0 }))
        })
    }
}

fn at(conn: &Connection, seal: i64) -> rusqlite::Result<Option<(String, Vec<u8>)>> {
    let sql = format!("SELECT key, signature FROM {TABLE} WHERE seal = ?1");
    conn.query_row(&sql, [seal], |r| Ok((r.get(0)?, r.get(1)?))).optional()
}
