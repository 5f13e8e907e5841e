//! What can be said of one run besides its records: whether its seals fit, and whether its texts are there.

use crate::journal::Journal;
use crate::read::ReadError;
use crate::rows::{self, RunRow};
use crate::run_id::RunId;
use crate::seal;

/// What the store proves of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proof {
    /// Its last seal covers all its records.
    Sealed,
    /// Its records fit, and those from `from` on came after its last seal: who cuts them off is not noticed.
    Unsealed { from: u32 },
}

impl Journal {
    /// Checks a run's row and the seals of the store. Records and texts are checked by whoever reads them.
    pub fn proof(&self, run: &RunId) -> Result<Proof, ReadError> {
        let chain = self.own_chain()?;
        self.read(|conn| {
            let snapshot = conn.unchecked_transaction()?;
            if let Some(number) = seal::first_broken(&snapshot, chain)? {
                return Err(ReadError::Seal { number });
            }
            let row = RunRow::find(&snapshot, Some(chain), run)?;
            let (next, sealed) = (rows::next(&snapshot, row.number)?, row.standing.sealed);
            if sealed > next || sealed > 0 && !seal::covers(&snapshot, chain, &row, sealed - 1)? {
                return Err(ReadError::Cut { run: run.clone(), there: next, sealed });
            }
            Ok(if sealed == next { Proof::Sealed } else { Proof::Unsealed { from: sealed } })
        })
    }
}
