//! A person's word for a score that was given elsewhere: it binds the score to the files as they are now, as a receipt
//! that says whose word it is. What was judged here has no need of it, and cannot be overruled by it.

use std::collections::BTreeMap;
use std::path::Path;

use gadfly_engine::plan::NamedBy;
use gadfly_engine::protocol::score::settings::THRESHOLD;
use gadfly_engine::{Digest, Manifest};
use gadfly_journal::pipeline::text::rfc3339;
use gadfly_journal::pipeline::{JudgedBy, Receipt, VerdictJudge};
use gadfly_journal::shared_file::SharedFileError;

use super::{ProjectStatus, ProofSource, VerdictProof};
use crate::clock::wall_ms;

/// What stands in a receipt where the run would: there was none.
pub const VOUCHED: &str = "vouched";

impl VerdictProof {
    /// Nobody judged here: a person vouches for it.
    pub fn is_vouched(&self) -> bool {
        self.run == VOUCHED
    }
}

#[derive(Debug, thiserror::Error)]
pub enum VouchError {
    #[error("the registry has no agent `{0}`")]
    NoAgent(String),
    #[error("[{0}] has no critic: there is no score of its work to vouch for")]
    NotScored(String),
    #[error("{0} is no score: it is from 0 to 100")]
    NoScore(u32),
    #[error("[{agent}] was judged here, in run {run}: have it judged again, a word does not overrule that")]
    Judged { agent: String, run: String },
    #[error("[{0}] has no work here that a score could be bound to")]
    NoWork(String),
    #[error("the work of [{agent}] is not complete: {gaps}")]
    Incomplete { agent: String, gaps: String },
    #[error(transparent)]
    Write(#[from] SharedFileError),
}

impl ProjectStatus {
    /// The receipt of a person's word for this score of an agent's work as it is. `said` is what the person goes by.
    pub fn vouched(&self, agent: &str, score: u32, said: &str) -> Result<Receipt, VouchError> {
        let facts = self.facts();
        let entry = self.known.registry.get(agent).ok_or_else(|| VouchError::NoAgent(agent.to_owned()))?;
        // Who judges the work of others would be bound to its own report alone, and never go stale with that work.
        let Some(critic) = entry.critic.clone() else { return Err(VouchError::NotScored(agent.to_owned())) };
        if score > 100 {
            return Err(VouchError::NoScore(score));
        }
        let judged = self.proofs.get(agent).filter(|proof| proof.source == ProofSource::Journal);
        if let Some(proof) = judged {
            return Err(VouchError::Judged { agent: agent.to_owned(), run: proof.run.clone() });
        }
        let gaps = facts.gaps_of_output(entry, &|_| true);
        // What a receipt of before named may be more or less than what is there now.
        let unjudged = gadfly_engine::pipeline::ProjectFacts { verdicts: &[], ..facts };
        let files = unjudged.work_there(entry);
        if files.is_empty() {
            return Err(VouchError::NoWork(agent.to_owned()));
        }
        if !gaps.is_empty() {
            return Err(VouchError::Incomplete { agent: agent.to_owned(), gaps: gaps.join("; ") });
        }
        let said = Digest::of(said.as_bytes());
        Ok(Receipt {
            artifact: Manifest::new(files.clone()).digest(),
            files,
            sha256: BTreeMap::new(),
            agent: agent.to_owned(),
            critic,
            lens: None,
            judge: VerdictJudge { kind: "person".to_owned(), model: None, layer: NamedBy::User },
            score,
            threshold: THRESHOLD,
            rounds: 0,
            escalated: false,
            rules: JudgedBy { protocol: VOUCHED.to_owned(), version: 1, rubric: said },
            reply: said,
            run: VOUCHED.to_owned(),
            at: rfc3339(wall_ms()),
            other: Vec::new(),
            open: Vec::new(),
            made: Vec::new(),
            base: None,
        })
    }

    /// Writes it to where the project keeps its receipts.
    pub fn vouch(&self, root: &Path, receipt: &Receipt) -> Result<(), VouchError> {
        let folder = root.join(self.known.files.layout.state_folder()).join("receipts");
        Ok(receipt.write(&folder, None)?)
    }
}
