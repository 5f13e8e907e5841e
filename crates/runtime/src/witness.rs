//! Whoever wants to know of every record of every run that this process drives, whichever command drives it. A
//! witness sees what is durable already; it can neither slow a run nor fail it, and nothing is decided by it.

use std::fmt;
use std::sync::Arc;

use gadfly_journal::{Record, RunId};

/// Both calls come from the driver itself: they have to return at once, whatever became of what they were told.
pub trait Witness: Send + Sync {
    /// A record is in the journal.
    fn recorded(&self, run: &RunId, record: &Arc<Record>);

    /// The run is not driven here any more: it ended, it waits, or this process stops.
    fn left(&self, run: &RunId);
}

/// The witness of a `Gadfly`, or none.
#[derive(Clone, Default)]
pub(crate) struct OptionalWitness(Option<Arc<dyn Witness>>);

impl OptionalWitness {
    pub(crate) const fn by(witness: Arc<dyn Witness>) -> Self {
        Self(Some(witness))
    }

    pub(crate) fn recorded(&self, run: &RunId, record: &Arc<Record>) {
        if let Some(witness) = &self.0 {
            witness.recorded(run, record);
        }
    }

    pub(crate) fn left(&self, run: &RunId) {
        if let Some(witness) = &self.0 {
            witness.left(run);
        }
    }
}

impl fmt::Debug for OptionalWitness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Watched" } else { "Unwatched" })
    }
}
