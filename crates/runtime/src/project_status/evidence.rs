//! Whose word there is for a score: the journal's, or a receipt's. The journal goes first; a receipt counts where the
//! journal says nothing about the files as they are now, as in a clone or after somebody else's work was fetched.

use std::collections::BTreeMap;
use std::path::Path;

use gadfly_engine::pipeline::{Listing, PairVerdict};
use gadfly_journal::pipeline::{FoundReceipt, RefusedReceipt, VerdictJudge, read_receipts};
use gadfly_journal::signature::{SignedBy, Signers};
use gadfly_journal::{Journal, ReadError, RunId};
use gadfly_project::layout::Layout;

use crate::clock::wall_ms;
use crate::prepare::rule_books;
use crate::verify::verify;

/// Whose word counts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum ProofPolicy {
    /// The journal's, and where it is silent any receipt's.
    #[default]
    Any,
    /// This machine's journal's alone: a receipt proves which bytes were judged, not by whom.
    Journal,
    /// Receipts' alone, and of those only what one of these signed.
    Signed(Signers),
}

/// Where a verdict is from, and who gave it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerdictProof {
    pub run: String,
    pub judge: VerdictJudge,
    pub source: ProofSource,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProofSource {
    Journal,
    Receipt { at: String, signed_by: Option<SignedBy> },
}

impl VerdictProof {
    pub fn is_receipt(&self) -> bool {
        matches!(self.source, ProofSource::Receipt { .. })
    }
}

/// All that is known, before anything was looked at.
#[derive(Clone, Debug, Default)]
pub struct StatusEvidence {
    /// The newest of each agent.
    journal: BTreeMap<String, (PairVerdict, VerdictProof)>,
    receipts: BTreeMap<String, (PairVerdict, VerdictProof)>,
    refused: Vec<RefusedProof>,
}

/// Something that does not count: a receipt, a run, a whole store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedProof {
    pub what: String,
    pub why: String,
}

impl StatusEvidence {
    pub fn read(
        root: &Path,
        layout: Layout,
        journal: Option<&Journal>,
        word: &ProofPolicy,
    ) -> Result<Self, ReadError> {
        let mut evidence = Self::default();
        let signers = match word {
            ProofPolicy::Signed(signers) => Some((signers, wall_ms())),
            ProofPolicy::Any | ProofPolicy::Journal => None,
        };
        if let Some(journal) = journal.filter(|_| signers.is_none()) {
            evidence.recorded(journal, *word == ProofPolicy::Journal)?;
        }
        if *word != ProofPolicy::Journal {
            let folder = root.join(layout.state_folder()).join("receipts");
            let (found, refused) = read_receipts(&folder, signers);
            for RefusedReceipt { file, why } in refused {
                evidence.refuse(format!("receipt {file}"), &why);
            }
            for FoundReceipt { receipt, signed_by } in found {
                let source = ProofSource::Receipt { at: receipt.at.clone(), signed_by };
                let proof = VerdictProof { run: receipt.run.clone(), judge: receipt.judge.clone(), source };
                evidence.receipts.insert(receipt.agent.clone(), (receipt.verdict(), proof));
            }
        }
        Ok(evidence)
    }

    /// What the journal says, as far as it was written here and proves itself.
    fn recorded(&mut self, journal: &Journal, strict: bool) -> Result<(), ReadError> {
        if let Some(foreign) = journal.foreign() {
            self.refuse(journal.dir().display().to_string(), foreign);
            return Ok(());
        }
        let mut believed: BTreeMap<RunId, bool> = BTreeMap::new();
        // Replies that were ready before the work was are nobody's judgement.
        for recorded in
            journal.verdicts()?.into_iter().filter(|recorded| !(strict && recorded.judge.is_canned()))
        {
            let is_believed = match believed.get(&recorded.run) {
                Some(known) => *known,
                None => self.believe(journal, &recorded.run)?,
            };
            believed.insert(recorded.run.clone(), is_believed);
            if is_believed {
                let (run, judge) = (recorded.run.to_string(), recorded.judge);
                let proof = VerdictProof { run, judge, source: ProofSource::Journal };
                self.journal.insert(recorded.verdict.agent.clone(), (recorded.verdict, proof));
            }
        }
        Ok(())
    }

    fn believe(&mut self, journal: &Journal, run: &RunId) -> Result<bool, ReadError> {
        if !journal.counts_here(run)? {
            self.refuse(format!("run {run}"), &"it came from another machine");
            return Ok(false);
        }
        match verify(journal, &rule_books(), run) {
            Ok(_) => Ok(true),
            Err(why) => {
                self.refuse(format!("run {run}"), &why);
                Ok(false)
            }
        }
    }

    fn refuse(&mut self, what: String, why: &impl ToString) {
        self.refused.push(RefusedProof { what, why: why.to_string() });
    }

    /// Every verdict, also of those that will not count.
    pub fn all(&self) -> impl Iterator<Item = &PairVerdict> {
        self.journal.values().chain(self.receipts.values()).map(|(verdict, _)| verdict)
    }

    /// One for each agent: the journal's, unless only the receipt is about the files as they are.
    pub fn counting(
        self,
        now: &Listing,
    ) -> (Vec<PairVerdict>, BTreeMap<String, VerdictProof>, Vec<RefusedProof>) {
        let mut chosen = self.receipts;
        for (agent, recorded) in self.journal {
            let is_current = recorded.0.stale(now).is_none();
            let has_current = chosen.get(&agent).is_some_and(|(verdict, _)| verdict.stale(now).is_none());
            if is_current || !has_current {
                chosen.insert(agent, recorded);
            }
        }
        let (mut verdicts, mut proofs) = (Vec::new(), BTreeMap::new());
        for (agent, (verdict, proof)) in chosen {
            verdicts.push(verdict);
            proofs.insert(agent, proof);
        }
        (verdicts, proofs, self.refused)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use gadfly_engine::artifact::ArtifactFile;
    use gadfly_engine::pipeline::listing::ListedFile;
    use gadfly_engine::{Digest, Manifest};

    use super::*;

    fn verdict(score: u32, bytes: &[u8]) -> PairVerdict {
        let files = vec![ArtifactFile { path: "memo.md".into(), mode: 0o644, blob: Digest::of(bytes) }];
        PairVerdict {
            agent: "a".into(),
            critic: "c".into(),
            lens: None,
            score,
            threshold: 80,
            rounds: 1,
            escalated: false,
            artifact: Manifest::new(files.clone()).digest(),
            files,
            rubric: Digest::of(b"r"),
            reply: Digest::of(b"y"),
            open: Vec::new(),
            other: Vec::new(),
            rejected: false,
            made: Vec::new(),
        }
    }

    fn score(journal: Option<PairVerdict>, receipt: Option<PairVerdict>) -> u32 {
        let mut now = Listing::default();
        now.insert("memo.md".into(), ListedFile { digest: Digest::of(b"now"), mode: 0o644 });
        let of = |verdict: Option<PairVerdict>, source: ProofSource| {
            let proof = VerdictProof { run: "r".into(), judge: VerdictJudge::default(), source };
            verdict.map(|verdict| ("a".to_owned(), (verdict, proof))).into_iter().collect()
        };
        let evidence = StatusEvidence {
            journal: of(journal, ProofSource::Journal),
            receipts: of(receipt, ProofSource::Receipt { at: "now".into(), signed_by: None }),
            refused: Vec::new(),
        };
        evidence.counting(&now).0[0].score
    }

    #[test]
    fn the_journal_goes_before_a_receipt_unless_only_the_receipt_is_about_these_bytes() {
        let (low, high) = (verdict(60, b"now"), verdict(99, b"now"));
        assert_eq!(score(Some(low.clone()), Some(high.clone())), 60, "a receipt overrules no record");
        assert_eq!(score(Some(verdict(60, b"then")), Some(high.clone())), 99);
        assert_eq!(score(Some(verdict(60, b"then")), Some(verdict(99, b"then"))), 60, "both are stale");
        assert_eq!(score(None, Some(high)), 99);
    }
}
