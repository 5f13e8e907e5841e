//! A run leaves one journal as a file and enters another; what was tampered with stays outside.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // also in what tests call

use crate::sample;

use std::io::{Read, Write};

use gadfly_engine::Step;
use gadfly_journal::{ImportError, Journal, ListFilter, RunId};
use sample::{finished, replied};

fn journal() -> (tempfile::TempDir, Journal) {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    (dir, journal)
}

fn exported() -> (Vec<u8>, RunId) {
    let (_dir, journal) = journal();
    let run = finished(&journal, "exported", 7);
    let mut file = Vec::new();
    journal.export(&run, &mut file).unwrap();
    (file, run)
}

fn unpacked(file: &[u8]) -> String {
    let mut text = String::new();
    zstd::stream::read::Decoder::new(file).unwrap().read_to_string(&mut text).unwrap();
    text
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// The lines that pass, each whole.
fn kept(text: &str, pass: impl Fn(&str) -> bool) -> String {
    text.split_inclusive('\n').filter(|l| pass(l)).collect()
}

/// The text with its last line recomputed, as someone who knows the format would.
fn resealed(text: &str) -> Vec<u8> {
    let body = kept(text, |l| !l.starts_with("{\"footer\""));
    let records = body.lines().filter(|l| l.starts_with("{\"record\"")).count();
    let checksum = blake3::hash(body.as_bytes());
    packed(&format!("{body}{{\"footer\":{{\"records\":{records},\"checksum\":\"{checksum}\"}}}}\n"))
}

#[test]
fn an_exported_run_is_the_same_run_elsewhere() {
    let (file, run) = exported();
    let (_dir, there) = journal();
    assert_eq!(there.import(file.as_slice(), None, |_| Ok(())).unwrap().run, run);
    let mut again = Vec::new();
    there.export(&run, &mut again).unwrap();
    assert_eq!(unpacked(&file), unpacked(&again));
    let summary = there.summary(&run).unwrap();
    assert_eq!((summary.title.as_str(), summary.state.as_str()), ("exported", "approved"));
    assert_eq!(there.replay(&run).map(Result::unwrap).count(), 3);
}

#[test]
fn the_same_run_twice_is_nothing_new_and_a_different_one_is_refused() {
    let (file, run) = exported();
    let (_dir, there) = journal();
    there.import(file.as_slice(), None, |_| Ok(())).unwrap();
    assert_eq!(there.import(file.as_slice(), None, |_| Ok(())).unwrap().run, run);
    assert_eq!(there.list(&ListFilter::default()).unwrap().len(), 1);
    let mut writer = there.claim(&run).unwrap();
    writer.append_and_wait(&replied(9, "more", 9), &Step::default(), None).unwrap();
    drop(writer);
    assert!(matches!(there.import(file.as_slice(), None, |_| Ok(())), Err(ImportError::Different(_))));
    assert_eq!(there.replay(&run).count(), 4);
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let (file, _) = exported();
    let (dir, there) = journal();
    for part in [0, 1, 10, file.len() / 2, file.len() - 1] {
        let error = there.import(&file[..part], None, |_| Ok(())).unwrap_err();
        assert!(matches!(error, ImportError::NotAnExport(_) | ImportError::Damaged(_)), "{part}: {error}");
    }
    // Cut between two lines and packed again: well-formed, but without its end.
    let text = unpacked(&file);
    let lines: Vec<&str> = text.lines().collect();
    for keep in 1..lines.len() {
        let error = there
            .import(packed(&(lines[..keep].join("\n") + "\n")).as_slice(), None, |_| Ok(()))
            .unwrap_err();
        assert!(matches!(error, ImportError::Damaged(_)), "{error}");
    }
    assert!(there.list(&ListFilter::default()).unwrap().is_empty());
    let left = std::fs::read_dir(dir.path()).unwrap();
    assert!(!left.flatten().any(|e| e.path().extension() == Some("tmp".as_ref())), "no spool is left");
}

#[test]
fn tampered_content_is_refused() {
    let (file, _) = exported();
    let text = unpacked(&file);
    let (_dir, there) = journal();
    // With the old checksum.
    let changed = text.replace("the draft of exported", "the craft of exported");
    assert!(matches!(
        there.import(packed(&changed).as_slice(), None, |_| Ok(())),
        Err(ImportError::Damaged(_))
    ));
    // With a new checksum the text's own digest still tells.
    let error = there.import(resealed(&changed).as_slice(), None, |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("does not have this digest"), "{error}");
    // A record without its text.
    let gone = kept(&text, |l| !l.starts_with("{\"text\""));
    let error = there.import(resealed(&gone).as_slice(), None, |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("is missing"), "{error}");
    // A gap.
    let gap = kept(&text, |l| !l.contains("\"seq\":1"));
    assert!(matches!(
        there.import(resealed(&gap).as_slice(), None, |_| Ok(())),
        Err(ImportError::Damaged(_))
    ));
    // Sabotage: resealing alone is not what was refused.
    assert!(there.import(resealed(&text).as_slice(), None, |_| Ok(())).is_ok());
}

#[test]
fn newer_and_foreign_files_are_refused_by_name() {
    let (file, _) = exported();
    let (_dir, there) = journal();
    let newer = unpacked(&file).replacen("\"format\":2", "\"format\":9", 1);
    let error = there.import(resealed(&newer).as_slice(), None, |_| Ok(())).unwrap_err();
    assert!(matches!(error, ImportError::OtherFormat { found: 9, known: 2 }), "{error}");
    for foreign in [b"plain text".to_vec(), packed("{\"a\":1}\n"), packed("no newline")] {
        let error = there.import(foreign.as_slice(), None, |_| Ok(())).unwrap_err();
        assert!(matches!(error, ImportError::NotAnExport(_)), "{error}");
    }
}
