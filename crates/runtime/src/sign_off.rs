//! Signs what a run leaves when it parks or ends, where the user names a key: the newest seal of the store, which covers
//! every run that stopped before, and the run's receipts. After the records, never between them: what cannot be signed
//! costs the run nothing, and is told.

use std::io::Read as _;
use std::path::Path;

use gadfly_engine::input::InputKind;
use gadfly_journal::RunId;
use gadfly_journal::pipeline::{FoundReceipt, PROTOCOL, ProjectView, Receipt, read_receipts};
use gadfly_journal::signature::{Signature, sha256};
use gadfly_project::file;

use crate::log_file::pipeline_files;
use crate::service::Gadfly;
use crate::setup::Setup;
use crate::signing::{Signer, SigningError};

/// A judged file larger than this goes by its own digest only.
const LARGEST_HASHED: u64 = 256 << 20;

/// What could not be signed.
#[derive(Debug, thiserror::Error)]
pub enum SignOffError {
    #[error(transparent)]
    Signing(#[from] SigningError),
    #[error(transparent)]
    Read(#[from] gadfly_journal::ReadError),
    #[error(transparent)]
    Store(#[from] gadfly_journal::StoreError),
    #[error(transparent)]
    File(#[from] gadfly_journal::shared_file::SharedFileError),
    #[error("a receipt cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Setup {
    /// The user's key, if one is named.
    pub fn signer(&self) -> Option<Signer> {
        let named = self.config.signing.key.as_ref()?;
        let resolver = self.resolver();
        Some(Signer::new(&named.value, resolver.launcher.cloned(), resolver.env.clone()))
    }
}

impl Gadfly {
    /// The user's key, if one is named.
    pub fn signer(&self) -> Option<Signer> {
        self.setup().signer()
    }

    /// Signs the newest seal of the store.
    pub async fn sign_seal(&self, signer: &Signer) -> Result<Option<Signature>, SignOffError> {
        let Some(seal) = self.journal().seal_to_sign()? else { return Ok(None) };
        let (kind, payload) = seal.payload();
        let signature = signer.sign(kind, payload).await?;
        self.journal().keep_signature(&seal, &signature)?;
        Ok(Some(signature))
    }

    /// Signs what a run left. It has parked or ended.
    pub(crate) async fn sign_off(&self, run: &RunId) -> Result<(), SignOffError> {
        let Some(signer) = self.signer() else { return Ok(()) };
        let sealed = self.sign_seal(&signer).await?;
        // What came from elsewhere is not this user's word.
        if self.journal().summary(run)?.protocol != PROTOCOL || !self.journal().counts_here(run)? {
            return Ok(());
        }
        let first = self.journal().records(run, 0, 1)?;
        let Some(InputKind::Started(start)) = first.first().map(|record| &record.input.what) else {
            return Ok(());
        };
        let files = pipeline_files(self.journal(), run, &start.plan);
        // From the records, not from the files: those lie where others write.
        let view = self.journal().history(run)?;
        let receipts = view.project().map(ProjectView::receipts).unwrap_or_default();
        let (there, _) = read_receipts(&files.places().receipts(), None);
        let ours = sealed.map(|signature| signature.key());
        let is_signed = |receipt: &Receipt| {
            let same = |found: &&FoundReceipt| found.receipt.says_the_same(receipt);
            let by = there.iter().find(same).and_then(|found| found.signed_by.as_ref());
            by.is_some_and(|by| ours.as_ref() == Some(&by.key))
        };
        let git = self.process_env().map(|process_env| process_env.git());
        for mut receipt in receipts.into_iter().filter(|receipt| !is_signed(receipt)) {
            receipt.base = match &git {
                Some(git) => git.checked_out(&files.places().root).await,
                None => None,
            };
            look_up(&mut receipt, &files.places().root);
            let (kind, payload) = receipt.payload()?;
            let signature = signer.sign(kind, &payload).await?;
            files.keep_receipt(&receipt, &signature)?;
        }
        Ok(())
    }
}

/// The digests that other tools know, of files that are still what was judged.
fn look_up(receipt: &mut Receipt, root: &Path) {
    for entry in &receipt.files {
        let mut bytes = Vec::new();
        let read = file::open_regular(&root.join(&entry.path))
            .is_ok_and(|file| file.take(LARGEST_HASHED).read_to_end(&mut bytes).is_ok());
        if read && gadfly_engine::Digest::of(&bytes) == entry.blob {
            receipt.sha256.insert(entry.path.clone(), sha256(&bytes));
        }
    }
}
