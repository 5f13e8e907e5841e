//! Removing runs gives their space back and takes nothing that another run still needs.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // also in what tests call

use crate::sample;

use std::path::Path;

use gadfly_engine::{Digest, Outcome, Step, Waiting};
use gadfly_journal::{GcOptions, Journal, ListFilter, Mail, MailKind, RemoveError};
use sample::{begin, finished, replied, step};

fn noise(seed: u32, bytes: u32) -> String {
    (0..bytes / 64).map(|i| Digest::of(&[seed.to_le_bytes(), i.to_le_bytes()].concat()).to_string()).collect()
}

fn wipe(folder: &Path) {
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_dry_run_counts_exactly_what_the_real_one_takes() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let old: Vec<_> = (0..3).map(|n| finished(&journal, &format!("old {n}"), 10)).collect();
    let new = finished(&journal, "new", 1000);
    let dry = journal.gc(&GcOptions { before_ms: 100, ..GcOptions::default() }, wipe).unwrap();
    assert_eq!(journal.list(&ListFilter::default()).unwrap().len(), 4, "nothing went yet");
    let real =
        journal.gc(&GcOptions { before_ms: 100, dry_run: false, ..GcOptions::default() }, wipe).unwrap();
    assert_eq!(dry, real);
    assert_eq!(real.runs, old);
    assert!(real.blobs > 0 && real.bytes > 0);
    let left = journal.list(&ListFilter::default()).unwrap();
    assert_eq!(left.iter().map(|s| &s.run).collect::<Vec<_>>(), [&new]);
    assert!(journal.replay(&new).all(|r| r.is_ok()));
    let none =
        journal.gc(&GcOptions { before_ms: 100, dry_run: false, ..GcOptions::default() }, wipe).unwrap();
    assert_eq!(none, gadfly_journal::GcReport::default());
}

#[test]
fn a_text_that_another_run_needs_stays() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    // The critic's reply is the same in both runs, so it is stored once.
    let (one, two) = (finished(&journal, "one", 1), finished(&journal, "two", 2));
    journal.remove(&one, wipe).unwrap();
    journal.gc(&GcOptions { dry_run: false, ..GcOptions::default() }, wipe).unwrap();
    assert!(journal.replay(&two).all(|r| r.is_ok()));
    assert_eq!(journal.text(&Digest::of("the draft of one\n".repeat(300).as_bytes())).unwrap(), None);
}

#[test]
fn a_writer_at_work_keeps_the_texts_it_relies_on() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let over = finished(&journal, "over", 1);
    let mut writer = begin(&journal, "at work", 1);
    writer.append_and_wait(&replied(2, "[STATUS: APPROVED] Good.", 2), &Step::default(), None).unwrap();
    let report =
        journal.gc(&GcOptions { before_ms: 100, dry_run: false, ..GcOptions::default() }, wipe).unwrap();
    assert_eq!(report.runs, [over]);
    // The writer sent this text before and does not send its body again.
    writer.append_and_wait(&replied(4, "[STATUS: APPROVED] Good.", 3), &Step::default(), None).unwrap();
    assert!(journal.replay(writer.run()).all(|r| r.is_ok()));
}

#[test]
fn parked_and_driven_runs_stay() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut parked = begin(&journal, "parked", 1);
    let waiting = step(vec![], Some(Outcome::Waiting(Waiting::Paused)));
    parked.append_and_wait(&replied(1, "x", 2), &waiting, None).unwrap();
    let run = parked.run().clone();
    let all = GcOptions { before_ms: 100, keep_parked: false, dry_run: false };
    assert!(journal.gc(&all, wipe).unwrap().runs.is_empty(), "its owner lives");
    assert!(matches!(journal.remove(&run, wipe), Err(RemoveError::Owned { .. })));
    drop(parked);
    let interrupted = begin(&journal, "interrupted", 1).run().clone();
    assert!(journal.gc(&GcOptions { keep_parked: true, ..all.clone() }, wipe).unwrap().runs.is_empty());
    assert!(journal.summary(&interrupted).is_ok(), "it can be resumed");
    assert_eq!(journal.gc(&all, wipe).unwrap().runs, [run.clone(), interrupted], "forced");
    assert!(matches!(journal.remove(&run, wipe), Err(RemoveError::NotFound(_))));
}

#[test]
fn removing_takes_records_mail_and_files_and_the_store_shrinks() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut writer = begin(&journal, "big", 1);
    for n in 1..20 {
        writer.append_and_wait(&replied(n, &noise(n, 100_000), 2), &Step::default(), None).unwrap();
    }
    let run = writer.run().clone();
    journal.post(&run, &Mail { by: "p".into(), at_ms: 1, what: MailKind::Pause }).unwrap();
    std::fs::create_dir_all(journal.run_dir(&run)).unwrap();
    std::fs::write(journal.run_dir(&run).join("critic-log.md"), "x").unwrap();
    drop(writer);
    journal.remove(&run, wipe).unwrap();
    assert!(!journal.run_dir(&run).exists());
    assert!(journal.mail(&run).unwrap().is_empty());
    let size = || std::fs::metadata(dir.path().join("journal.db")).unwrap().len();
    let report = journal.gc(&GcOptions { dry_run: false, ..GcOptions::default() }, wipe).unwrap();
    assert_eq!(report.blobs, 20);
    assert!(size() < 100_000, "{} bytes are left", size());
}

#[test]
fn a_folder_that_stays_is_named_and_keeps_neither_the_rows_nor_the_other_folders() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let runs: Vec<_> = (0..3).map(|n| finished(&journal, &format!("old {n}"), 10)).collect();
    for run in &runs {
        std::fs::create_dir_all(journal.run_dir(run)).unwrap();
    }
    let stuck = journal.run_dir(&runs[0]);
    let all = GcOptions { before_ms: 100, dry_run: false, ..GcOptions::default() };
    let told = journal
        .gc(&all, |folder| {
            if folder != stuck {
                wipe(folder);
            }
        })
        .unwrap_err()
        .to_string();
    assert!(told.contains(&stuck.display().to_string()), "{told}");
    assert!(journal.list(&ListFilter::default()).unwrap().is_empty());
    assert!(runs[1..].iter().all(|run| !journal.run_dir(run).exists()));
}

#[test]
fn the_folder_of_a_run_that_was_removed_goes_later_a_folder_of_no_run_stays_and_the_space_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let (gone, kept) = (finished(&journal, "gone", 1), begin(&journal, "kept", 1));
    // As it came with a repository, or where a link led: it only looks like a run's.
    let foreign = gadfly_journal::RunId::random().unwrap();
    for run in [&gone, &foreign, kept.run()] {
        std::fs::create_dir_all(journal.run_dir(run).join("tree")).unwrap();
        std::fs::write(journal.run_dir(run).join("tree/f"), vec![1_u8; 100_000]).unwrap();
    }
    // Shared with somebody, such as a user's objects: removing it frees nothing.
    std::fs::write(dir.path().join("theirs"), vec![1_u8; 900_000]).unwrap();
    std::fs::hard_link(dir.path().join("theirs"), journal.run_dir(&gone).join("tree/shared")).unwrap();
    std::fs::create_dir(dir.path().join("runs/not-a-run")).unwrap();
    // Whoever removed it died before its folder was gone.
    assert!(journal.remove(&gone, |_| {}).is_err());
    assert!(journal.run_dir(&gone).exists());
    let old = GcOptions { before_ms: u64::MAX, keep_parked: true, dry_run: false };
    let dry = journal.gc(&GcOptions { dry_run: true, ..old.clone() }, wipe).unwrap();
    let real = journal.gc(&old, wipe).unwrap();
    assert_eq!(dry, real);
    assert!((100_000..500_000).contains(&real.folders), "{}", real.folders);
    assert!(!journal.run_dir(&gone).exists() && journal.run_dir(kept.run()).exists());
    assert!(dir.path().join("runs/not-a-run").exists(), "nothing of ours");
    assert!(journal.run_dir(&foreign).join("tree/f").exists(), "nothing of ours either");
    assert_eq!(journal.gc(&old, wipe).unwrap().folders, 0, "it is gone");
}
