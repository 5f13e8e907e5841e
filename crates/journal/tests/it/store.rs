//! A journal is opened, written, read back, listed and found; what is not one is refused by name.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // also in what tests call

use crate::sample;

use gadfly_engine::review::Verdict;
use gadfly_engine::{Digest, EffectId, Outcome, Step, Text, Waiting};
use gadfly_journal::{FindError, Journal, ListFilter, OpenError, ReadError, RunId};
use sample::{approved, begin, drafted, finished, replied, reviewed, started, step};

fn sql(dir: &std::path::Path, statement: &str) {
    let conn = rusqlite::Connection::open(dir.join("journal.db")).unwrap();
    conn.execute_batch(statement).unwrap();
}

#[test]
fn what_was_appended_comes_back_with_its_texts_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(&dir.path().join(".gadfly")).unwrap();
    let mut writer = begin(&journal, "one", 1000);
    let run = writer.run().clone();
    let mut second = step(drafted(1, "a draft"), None);
    second.texts.push(Text::new("a text the engine wrote"));
    let input = replied(1, "a draft", 2000);
    writer.append_and_wait(&input, &second, None).unwrap();
    drop((writer, journal));

    let journal = Journal::open_existing(&dir.path().join(".gadfly")).unwrap();
    let records = journal.records(&run, 0, 10).unwrap();
    assert_eq!(records.len(), 2);
    assert_eq!(records[0].input, started("one", 1000));
    assert_eq!((&records[1].input, &records[1].step), (&input, &second));
    assert_eq!(journal.records(&run, 1, 10).unwrap()[0].seq, 1);
    assert_eq!(journal.replay(&run).count(), 2);
    let digest = Digest::of(b"a draft");
    assert_eq!(journal.text(&digest).unwrap().as_deref(), Some("a draft"));
    assert_eq!(journal.text(&Digest::of(b"never seen")).unwrap(), None);
}

#[test]
fn long_runs_are_streamed_whole() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut writer = begin(&journal, "long", 1);
    for n in 1..100 {
        writer.append(&replied(n, &format!("reply {n}"), 1), &Step::default(), None, |r| r.unwrap());
    }
    writer.append_and_wait(&replied(100, "last", 1), &Step::default(), None).unwrap();
    let seqs: Vec<u32> = journal.replay(writer.run()).map(|r| r.unwrap().seq).collect();
    assert_eq!(seqs, (0..=100).collect::<Vec<_>>());
}

#[cfg(unix)]
#[test]
fn the_folder_is_private_and_ignored_by_git() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join(".gadfly");
    let journal = Journal::open(&store).unwrap();
    assert_eq!(std::fs::metadata(&store).unwrap().permissions().mode() & 0o777, 0o700);
    let database = std::fs::metadata(store.join("journal.db")).unwrap();
    assert_eq!(database.permissions().mode() & 0o777, 0o600, "private also in a folder others may enter");
    assert_eq!(std::fs::read_to_string(store.join(".gitignore")).unwrap(), "*\n");
    drop(journal);
    assert!(!store.join("journal.db-wal").exists(), "a closed journal has no side files");
}

#[test]
fn a_reader_is_told_that_there_is_no_journal() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(Journal::open_existing(dir.path()), Err(OpenError::Missing(_))));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "looking makes nothing");
}

#[test]
fn a_newer_format_is_refused_naming_both_versions_and_keeps_its_bytes() {
    let dir = tempfile::tempdir().unwrap();
    drop(Journal::open(dir.path()).unwrap());
    sql(dir.path(), "PRAGMA user_version = 7");
    let before = std::fs::read(dir.path().join("journal.db")).unwrap();
    let error = Journal::open(dir.path()).err().unwrap();
    assert!(matches!(error, OpenError::OtherFormat { found: 7, known: 2, .. }));
    let text = error.to_string();
    assert!(text.contains("format 7") && text.contains("format 2") && text.contains("newer"), "{text}");
    assert_eq!(std::fs::read(dir.path().join("journal.db")).unwrap(), before);
    sql(dir.path(), "PRAGMA user_version = 1");
    let text = Journal::open(dir.path()).err().unwrap().to_string();
    assert!(text.contains("format 1") && !text.contains("newer"), "older ones, too: {text}");
    sql(dir.path(), "PRAGMA user_version = 2");
    assert!(Journal::open(dir.path()).is_ok(), "only the version stood in the way");
}

#[test]
fn files_of_others_are_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    std::fs::write(&path, "this is certainly not a database, it is a longer text\n".repeat(40)).unwrap();
    assert!(matches!(Journal::open(dir.path()), Err(OpenError::NotAJournal(_))));
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("this is certainly"));

    let dir = tempfile::tempdir().unwrap();
    sql(dir.path(), "CREATE TABLE theirs(x)");
    assert!(matches!(Journal::open(dir.path()), Err(OpenError::NotAJournal(_))));
}

#[test]
fn a_damaged_text_is_named_and_the_rest_still_reads() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let (bad, good) = (finished(&journal, "bad", 1), finished(&journal, "good", 2));
    let digest = Digest::of("the draft of bad\n".repeat(300).as_bytes());
    let hash = digest.to_string();
    // Other bytes in a valid frame: only the digest can tell.
    sql(dir.path(), &format!("UPDATE blobs SET body = x'006f6f', size = 2 WHERE hash = x'{hash}'"));
    let error = journal.text(&digest).unwrap_err();
    assert!(matches!(error, ReadError::Text { .. }));
    assert!(error.to_string().contains(&digest.short()), "{error}");
    assert!(journal.replay(&bad).any(|r| matches!(r, Err(ReadError::Text { digest: d, .. }) if d == digest)));
    assert!(journal.replay(&good).all(|r| r.is_ok()));
}

#[test]
fn a_damaged_or_missing_record_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let (one, two) = (finished(&journal, "one", 1), finished(&journal, "two", 2));
    sql(dir.path(), "UPDATE records SET body = x'01ffff' WHERE run = 1 AND seq = 1");
    sql(dir.path(), "DELETE FROM records WHERE run = 2 AND seq = 1");
    assert!(matches!(journal.records(&one, 0, 9), Err(ReadError::Record { seq: 1, .. })));
    let error = journal.records(&two, 0, 9).unwrap_err().to_string();
    assert!(error.contains("record 1 is missing"), "{error}");
}

#[test]
fn the_summary_follows_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut writer = begin(&journal, "essay", 1000);
    let run = writer.run().clone();
    writer
        .append_and_wait(&replied(1, "draft one", 2000), &step(drafted(1, "draft one"), None), None)
        .unwrap();
    let rejected = reviewed(1, Verdict::Rejected, &["Shorter.", "Clearer."]);
    writer.append_and_wait(&replied(2, "no", 3000), &step(vec![rejected], None), None).unwrap();
    let summary = journal.summary(&run).unwrap();
    assert_eq!((summary.title.as_str(), summary.protocol.as_str()), ("essay", "revise"));
    assert_eq!((summary.created_ms, summary.updated_ms), (1000, 3000));
    assert_eq!((summary.state.as_str(), summary.rounds, summary.rounds_max), ("running", 1, 3));
    assert_eq!((summary.open_items, summary.last_verdict), (2, Some(Verdict::Rejected)));
    assert_eq!((summary.calls, summary.tokens, summary.cost.0), (1, 1500, 42));
    assert_eq!(summary.last_draft, Some(Digest::of(b"draft one")));
    assert_eq!(summary.worker_model.as_deref(), Some("model-1"));
    assert_eq!(summary.out.as_deref(), Some("/tmp/paper.md"));

    let effect: EffectId = "run#3".parse().unwrap();
    let waiting = Outcome::Waiting(Waiting::Question { effect: effect.clone() });
    writer.append_and_wait(&replied(2, "?", 4000), &step(vec![], Some(waiting)), None).unwrap();
    let summary = journal.summary(&run).unwrap();
    assert_eq!((summary.state.as_str(), summary.waiting_for), ("waiting(question)", Some(effect)));
    assert!(!summary.ended);

    drop(writer);
    let mut writer = journal.claim(&run).unwrap();
    assert_eq!(writer.next_seq(), 4);
    writer.append_and_wait(&replied(3, "yes", 5000), &step(vec![], Some(approved())), None).unwrap();
    let state = journal.state(&run).unwrap();
    assert_eq!(state.summary, journal.summary(&run).unwrap());
    assert_eq!((state.rounds.len(), state.rounds[0].open.len()), (1, 2));
    assert!(state.summary.ended && state.outcome == Some(approved()));
}

#[test]
fn runs_are_listed_newest_first_and_filtered_by_state() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let old = finished(&journal, "old", 10);
    let writer = begin(&journal, "driven", 20);
    let driven = writer.run().clone();
    let left = begin(&journal, "left", 30).run().clone();
    let new = finished(&journal, "new", 40);
    let ids = |states: &[&str], limit, offset| {
        let states = states.iter().map(|s| (*s).to_owned()).collect();
        let found = journal.list(&ListFilter { states, limit, offset }).unwrap();
        found.into_iter().map(|s| s.run).collect::<Vec<RunId>>()
    };
    assert_eq!(ids(&[], 10, 0), [new.clone(), left.clone(), driven.clone(), old.clone()]);
    assert_eq!(ids(&[], 2, 1), [left.clone(), driven.clone()]);
    assert_eq!(ids(&["approved"], 10, 0), [new, old]);
    assert_eq!(ids(&["running"], 10, 0), std::slice::from_ref(&driven));
    assert_eq!(ids(&["interrupted"], 10, 0), std::slice::from_ref(&left));
    assert_eq!(ids(&["running", "interrupted"], 10, 0), [left, driven]);
    assert!(ids(&["halted", "waiting"], 10, 0).is_empty());
}

#[test]
fn a_run_is_found_by_a_unique_prefix() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    for id in ["abc0000000", "abd0000000"] {
        let mut writer = journal.create(id.parse().unwrap()).unwrap();
        writer.append_and_wait(&started(id, 1), &Step::default(), None).unwrap();
    }
    assert_eq!(journal.find("ABC").unwrap().as_str(), "abc0000000");
    let error = journal.find("ab").unwrap_err();
    assert!(matches!(&error, FindError::Ambiguous { candidates, .. } if candidates.len() == 2));
    assert!(error.to_string().contains("`abc0000000`, `abd0000000`"), "{error}");
    for none in ["x", "", "%", "abc00000000"] {
        assert!(matches!(journal.find(none), Err(FindError::NotFound(_))), "{none}");
    }
}

#[test]
fn a_text_over_the_limit_is_refused_and_the_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut writer = begin(&journal, "big", 1);
    let big = "x".repeat((32 << 20) + 1);
    let error = writer.append_and_wait(&replied(1, &big, 2), &Step::default(), None).unwrap_err();
    assert!(error.to_string().contains("over the limit"), "{error}");
    let run = writer.run().clone();
    drop(writer);
    let mut writer = journal.claim(&run).unwrap();
    writer.append_and_wait(&replied(1, "small", 2), &Step::default(), None).unwrap();
    assert_eq!(journal.replay(&run).count(), 2);
}

#[test]
fn a_callback_may_panic_or_drop_the_last_handle_without_harm() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut writer = begin(&journal, "one", 1);
    let run = writer.run().clone();
    writer.append(&replied(1, "a", 2), &Step::default(), None, |_| panic!("a caller's own trouble"));
    let (tell, told) = std::sync::mpsc::channel();
    let mut last = begin(&journal, "two", 1);
    drop((journal, writer));
    let handle = std::sync::Arc::new(std::sync::Mutex::new(None::<gadfly_journal::RunWriter>));
    let inside = std::sync::Arc::clone(&handle);
    last.append(&replied(1, "b", 2), &Step::default(), None, move |r| {
        tell.send(r).unwrap();
        drop(inside.lock().unwrap().take());
    });
    *handle.lock().unwrap() = Some(last);
    assert_eq!(told.recv().unwrap(), Ok(()));
    drop(handle);
    assert_eq!(Journal::open(dir.path()).unwrap().replay(&run).count(), 2);
}

#[test]
fn a_store_that_cannot_be_made_says_where_and_why() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "not a folder").unwrap();
    let error = Journal::open(&file.join(".gadfly")).err().unwrap();
    assert!(matches!(error, OpenError::Folder { .. }));
    assert!(error.to_string().contains("file"), "{error}");
}

#[test]
fn an_append_that_fails_half_way_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut writer = begin(&journal, "one", 1);
    sql(dir.path(), "CREATE TRIGGER no BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'no'); END");
    writer.append_and_wait(&replied(1, "x", 2), &Step::default(), None).unwrap_err();
    let run = writer.run().clone();
    drop(writer);
    assert_eq!(journal.replay(&run).count(), 1, "the failed append left no half");
    assert_eq!(journal.text(&Digest::of(b"x")).unwrap(), None);
    assert_eq!(journal.summary(&run).unwrap().updated_ms, 1);
    sql(dir.path(), "DROP TRIGGER no");
    let mut writer = journal.claim(&run).unwrap();
    writer.append_and_wait(&replied(1, "x", 2), &Step::default(), None).unwrap();
}

#[cfg(unix)]
#[test]
fn a_full_store_fails_the_append_says_so_and_loses_nothing() {
    // A file size limit stands in for the full disk; a child has it, so that this process does not.
    let dir = tempfile::tempdir().unwrap();
    if let Ok(dir) = std::env::var("GADFLY_TEST_FULL") {
        let journal = Journal::open(std::path::Path::new(&dir)).unwrap();
        let mut writer = journal.create("abc0000000".parse().unwrap()).unwrap();
        writer.append_and_wait(&started("full", 1), &Step::default(), None).unwrap();
        for n in 1..10_000_u32 {
            // Incompressible, so that the limit is near.
            let body: String = (0..200_u32)
                .map(|i| Digest::of(&[n.to_le_bytes(), i.to_le_bytes()].concat()).to_string())
                .collect();
            if let Err(error) = writer.append_and_wait(&replied(n, &body, 2), &Step::default(), None) {
                println!("COMMITTED {n}");
                println!("ERROR {error:?}");
                return;
            }
        }
        panic!("the limit was never reached");
    }
    let exe = std::env::current_exe().unwrap();
    let script = "trap '' XFSZ; ulimit -f 1500; exec \"$0\" --exact \
                  store::a_full_store_fails_the_append_says_so_and_loses_nothing --nocapture";
    let mut child = std::process::Command::new("sh");
    child.arg("-c").arg(script).arg(exe).env("GADFLY_TEST_FULL", dir.path());
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let committed: usize = said
        .lines()
        .find_map(|l| l.strip_prefix("COMMITTED "))
        .unwrap_or_else(|| panic!("{said}{}", String::from_utf8_lossy(&output.stderr)))
        .parse()
        .unwrap();
    assert!(said.contains("ERROR Store("), "{said}");
    let journal = Journal::open(dir.path()).unwrap();
    let run = journal.find("abc").unwrap();
    let read: Vec<_> = journal.replay(&run).collect::<Result<_, _>>().unwrap();
    assert_eq!(read.len(), committed, "exactly what was acknowledged is there");
    let mut writer = journal.claim(&run).unwrap();
    writer.append_and_wait(&replied(9, "space again", 3), &Step::default(), None).unwrap();
}
