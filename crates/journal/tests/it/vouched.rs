//! Signatures over seals: one covers every run that had stopped by then, and none that was changed passes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::sample;

use std::path::PathBuf;

use gadfly_journal::signature::{Signature, SigningKey};
use gadfly_journal::{Custody, Journal};
use rusqlite::Connection;
use sample::finished;
use ssh_key::private::{Ed25519Keypair, PrivateKey};

struct Desk {
    dir: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn store(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    fn custody(&self) -> Custody {
        Custody::at(&self.dir.path().join("state"))
    }

    fn journal(&self) -> Journal {
        Journal::open_in(&self.store(), &self.custody()).unwrap()
    }

    fn edit(&self, sql: &str) {
        Connection::open(self.store().join("journal.db")).unwrap().execute_batch(sql).unwrap();
    }
}

fn key(seed: u8) -> SigningKey {
    let key = PrivateKey::new(Ed25519Keypair::from_seed(&[seed; 32]).into(), "").unwrap();
    SigningKey::read(&key.to_openssh(ssh_key::LineEnding::LF).unwrap()).unwrap()
}

fn sign(journal: &Journal, seed: u8) -> Option<Signature> {
    let seal = journal.seal_to_sign().unwrap()?;
    let (kind, payload) = seal.payload();
    let signature = key(seed).sign(kind, payload).unwrap();
    journal.keep_signature(&seal, &signature).unwrap();
    Some(signature)
}

#[test]
fn one_signature_covers_all_before_it_and_nothing_after() {
    let desk = Desk::new();
    let journal = desk.journal();
    assert!(sign(&journal, 1).is_none(), "nothing was sealed yet");
    let runs: Vec<_> = (0..5).map(|n| finished(&journal, &format!("loop {n}"), n)).collect();
    assert_eq!(journal.vouched(&runs[0]).unwrap(), None);
    let signature = sign(&journal, 1).unwrap();
    assert!(sign(&journal, 1).is_none(), "it is signed");
    let last = finished(&journal, "after", 9);
    for run in &runs {
        assert_eq!(journal.vouched(run).unwrap().unwrap().key, signature.key());
    }
    assert_eq!(journal.vouched(&last).unwrap(), None);
}

#[test]
fn a_signature_that_was_changed_or_moved_is_named() {
    let desk = Desk::new();
    let run = finished(&desk.journal(), "loop", 1);
    sign(&desk.journal(), 1).unwrap();
    finished(&desk.journal(), "another", 2);
    // The same, in another store.
    let other = Desk::new();
    finished(&other.journal(), "loop", 1);
    let strange = sign(&other.journal(), 1).unwrap();
    let (own, kept) = (desk.store().join("journal.db"), desk.dir.path().join("kept"));
    std::fs::copy(&own, &kept).unwrap();
    for sql in [
        "UPDATE signatures SET key = 'SHA256:somebody'".to_owned(),
        "UPDATE signatures SET seal = seal + 1".to_owned(),
        "UPDATE signatures SET seal = seal + 7".to_owned(),
        "UPDATE signatures SET signature = x''".to_owned(),
        "UPDATE signatures SET signature = CAST(replace(CAST(signature AS TEXT), 'A', 'B') AS BLOB)"
            .to_owned(),
        format!("UPDATE signatures SET signature = CAST('{}' AS BLOB)", strange.armored()),
        "UPDATE seals SET value = zeroblob(16) WHERE number = (SELECT seal FROM signatures)".to_owned(),
    ] {
        std::fs::copy(&kept, &own).unwrap();
        assert!(desk.journal().vouched(&run).unwrap().is_some());
        desk.edit(&sql);
        let journal = Journal::open_existing_in(&desk.store(), &desk.custody()).unwrap();
        assert!(journal.vouched(&run).is_err(), "{sql}");
    }
}

#[test]
fn a_store_that_another_machine_takes_loses_the_signatures_over_seals_it_no_longer_has() {
    let desk = Desk::new();
    let run = finished(&desk.journal(), "loop", 1);
    sign(&desk.journal(), 1).unwrap();
    let elsewhere = Custody::at(&desk.dir.path().join("elsewhere"));
    Journal::own(&desk.store(), &elsewhere).unwrap();
    let journal = Journal::open_existing_in(&desk.store(), &elsewhere).unwrap();
    assert_eq!(journal.vouched(&run).unwrap(), None);
    assert!(journal.seal_to_sign().unwrap().is_some(), "it can be signed anew");
}
