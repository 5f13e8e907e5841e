//! What a run costs on disk, and how fast many runs append (measured on request only).
#![allow(clippy::unwrap_used, clippy::print_stdout)] // also in what tests call

use crate::sample;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Instant;

use gadfly_engine::review::Verdict;
use gadfly_engine::{Digest, Step};
use gadfly_journal::Journal;
use sample::{begin, drafted, replied, reviewed, step};

/// Prose-like text: words from a small vocabulary in an order that does not repeat.
fn prose(seed: u32, bytes: usize) -> String {
    const WORDS: [&str; 32] = [
        "signal",
        "cortex",
        "we",
        "measured",
        "the",
        "of",
        "and",
        "participants",
        "response",
        "latency",
        "however",
        "model",
        "a",
        "in",
        "significant",
        "effect",
        "was",
        "condition",
        "between",
        "increased",
        "stimulus",
        "trial",
        "observed",
        "that",
        "with",
        "neural",
        "population",
        "decoding",
        "to",
        "rate",
        "behavioural",
        "noise",
    ];
    let mut text = String::new();
    let mut n = 0_u32;
    while text.len() < bytes {
        for byte in Digest::of(&[seed.to_le_bytes(), n.to_le_bytes()].concat()).as_bytes() {
            text.push_str(WORDS[usize::from(byte % 32)]);
            text.push(if byte / 32 == 7 { '\n' } else { ' ' });
        }
        n += 1;
    }
    text
}

fn folder_size(dir: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    entries
        .map(|e| if e.path().is_dir() { folder_size(&e.path()) } else { e.metadata().unwrap().len() })
        .sum()
}

#[test]
fn ten_rounds_cost_little_more_than_each_distinct_text_once() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut writer = begin(&journal, "long paper", 1);
    let mut draft = prose(1, 100_000);
    let mut distinct = 0;
    for round in 1..=10 {
        draft.insert_str(5000 * round as usize, &prose(100 + round, 200));
        let reply = prose(200 + round, 2000);
        for text in [&draft, &reply] {
            distinct += zstd::bulk::compress(text.as_bytes(), 3).unwrap().len() as u64;
        }
        let mut made = step(drafted(round, &draft), None);
        made.texts.push(gadfly_engine::Text::new(draft.as_str()));
        writer.append_and_wait(&replied(round * 2, &draft, 1), &made, None).unwrap();
        let rejected = step(vec![reviewed(round, Verdict::Rejected, &["Shorter.", "Clearer."])], None);
        writer.append_and_wait(&replied(round * 2 + 1, &reply, 1), &rejected, None).unwrap();
    }
    drop((writer, journal));
    let used = folder_size(dir.path());
    println!("used {used} bytes for {distinct} of compressed text");
    assert!(used * 10 <= distinct * 12, "{used} bytes for {distinct} of compressed text");
}

/// Run with `cargo test -p gadfly-journal --test it storage:: -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn throughput() {
    const CALLERS: u32 = 500;
    const EACH: u32 = 60;
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let (tell, told) = mpsc::channel::<usize>();
    let mut writers: Vec<_> = (0..CALLERS).map(|n| begin(&journal, "fast", u64::from(n))).collect();
    let failed = Arc::new(AtomicU32::new(0));
    let append = |writer: &mut gadfly_journal::RunWriter, at: usize| {
        let (tell, failed) = (tell.clone(), Arc::clone(&failed));
        let n = writer.next_seq();
        let text = format!("reply {n} of {at}: {}", "a sentence about it. ".repeat(20));
        writer.append(&replied(n, &text, 1), &Step::default(), None, move |result| {
            failed.fetch_add(u32::from(result.is_err()), Ordering::Relaxed);
            let _ = tell.send(at);
        });
    };
    let begun = Instant::now();
    for (at, writer) in writers.iter_mut().enumerate() {
        append(writer, at);
    }
    // Each caller waits for its own commit before its next append, as runs do.
    for _ in 0..CALLERS * EACH {
        let at = told.recv().unwrap();
        if writers[at].next_seq() <= EACH {
            append(&mut writers[at], at);
        }
    }
    let rate = f64::from(CALLERS * EACH) / begun.elapsed().as_secs_f64();
    println!("{rate:.0} appends/s from {CALLERS} callers");
    assert_eq!(failed.load(Ordering::Relaxed), 0);
}
