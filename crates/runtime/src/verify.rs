//! Whether a run's record proves itself: every link, seal and text fits, and the engine, given the same inputs, decides
//! the same again.

use gadfly_engine::machine::Engine;
use gadfly_engine::protocol::Protocols;
use gadfly_engine::replay::{ReplayError, replay_one};
use gadfly_journal::{Journal, Proof, ReadError, Record, RunId};

use crate::service::Gadfly;

/// What does not fit first.
#[derive(Debug, thiserror::Error)]
pub enum Unproven {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("what run `{run}` says it decided is not what follows from its inputs: {why}")]
    Decided { run: RunId, why: ReplayError },
}

impl Gadfly {
    pub fn verify(&self, run: &RunId) -> Result<Proof, Unproven> {
        verify(self.journal(), &self.protocols, run)
    }

    /// What follows records as they are taken in, and refuses one that was not decided so.
    pub fn follower(&self) -> impl FnMut(&Record) -> Result<(), String> + Send + 'static {
        let mut engine = Engine::new(self.protocols.clone());
        move |record| {
            let replayed = replay_one(&mut engine, u64::from(record.seq), &record.input, &record.step);
            replayed.map_err(|why| why.to_string())
        }
    }
}

pub(crate) fn verify(journal: &Journal, protocols: &Protocols, run: &RunId) -> Result<Proof, Unproven> {
    let proof = journal.proof(run)?;
    let mut engine = Engine::new(protocols.clone());
    for record in journal.replay(run) {
        let record = record?;
        replay_one(&mut engine, u64::from(record.seq), &record.input, &record.step)
            .map_err(|why| Unproven::Decided { run: run.clone(), why })?;
    }
    Ok(proof)
}
