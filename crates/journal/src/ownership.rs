//! Questions about who drives a run, and putting away mail that its driver could not use.

use rusqlite::OptionalExtension as _;

use crate::inbox::MailId;
use crate::journal::Journal;
use crate::lock;
use crate::read::ReadError;
use crate::run_id::RunId;
use crate::schema::{self, ConnectionUse};
use crate::store_error::StoreError;

impl Journal {
    /// Whether a living process, this one included, owns the run.
    pub fn is_owned(&self, run: &RunId) -> Result<bool, ReadError> {
        self.read(|conn| {
            let sql = "SELECT owner FROM runs WHERE id = ?1";
            let row = conn.prepare_cached(sql)?.query_row([run.as_str()], |r| r.get::<_, Option<String>>(0));
            let owner = row.optional()?.flatten();
            Ok(owner.is_some_and(|o| lock::live(self.inner.lock.dir()).contains(&o)))
        })
    }

    /// Removes one entry without a record of it: it answers a question that is no longer open.
    pub fn discard_mail(&self, mail: MailId) -> Result<(), StoreError> {
        let conn = schema::connect(self.inbox_path(), ConnectionUse::Sweep)?;
        conn.execute("DELETE FROM mail WHERE id = ?1", [mail.0])?;
        Ok(())
    }
}
