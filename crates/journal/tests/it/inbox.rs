//! Mail reaches the process that drives a run, in order, and each entry exactly once.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // also in what tests call

use crate::sample;

use gadfly_engine::Step;
use gadfly_journal::{AppendError, Journal, Mail, MailKind, PostError, RunId};
use sample::{begin, finished, replied};

fn mail(what: MailKind) -> Mail {
    Mail { by: "a person".into(), at_ms: 5, what }
}

fn answer(text: &str) -> Mail {
    mail(MailKind::Answer { effect: "run#3".parse().unwrap(), text: text.into() })
}

#[test]
fn mail_is_read_in_order_and_consumed_by_the_record_that_carries_it() {
    let dir = tempfile::tempdir().unwrap();
    let (driver, other) = (Journal::open(dir.path()).unwrap(), Journal::open(dir.path()).unwrap());
    let mut writer = begin(&driver, "one", 1);
    let run = writer.run().clone();
    other.post(&run, &answer("yes")).unwrap();
    other.post(&run, &mail(MailKind::Pause)).unwrap();
    let unread = driver.mail(&run).unwrap();
    assert_eq!(
        unread.iter().map(|(_, m)| m.clone()).collect::<Vec<_>>(),
        [answer("yes"), mail(MailKind::Pause)]
    );
    writer.append_and_wait(&replied(3, "yes", 6), &Step::default(), Some(unread[0].0)).unwrap();
    assert_eq!(other.mail(&run).unwrap(), unread[1..]);
    drop((writer, driver, other));
    let inbox = rusqlite::Connection::open(dir.path().join("inbox.db")).unwrap();
    let left: u32 = inbox.query_row("SELECT count(*) FROM mail", [], |r| r.get(0)).unwrap();
    assert_eq!(left, 1, "consumed mail takes no space");
}

#[test]
fn a_crash_between_commit_and_clearing_delivers_nothing_twice() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut writer = begin(&journal, "one", 1);
    let run = writer.run().clone();
    let id = journal.post(&run, &answer("once")).unwrap();
    let inbox = rusqlite::Connection::open(dir.path().join("inbox.db")).unwrap();
    inbox.execute_batch("CREATE TABLE kept AS SELECT * FROM mail").unwrap();
    writer.append_and_wait(&replied(3, "once", 6), &Step::default(), Some(id)).unwrap();
    drop((writer, journal));
    // As a crash leaves it: the record is committed, the entry still lies in the inbox.
    inbox.execute_batch("INSERT OR REPLACE INTO mail SELECT * FROM kept").unwrap();

    let journal = Journal::open(dir.path()).unwrap();
    assert!(journal.mail(&run).unwrap().is_empty());
    let mut writer = journal.claim(&run).unwrap();
    assert_eq!(journal.poll_mail().unwrap(), Some(vec![]));
    let again = writer.append_and_wait(&replied(3, "once", 6), &Step::default(), Some(id));
    assert_eq!(again, Err(AppendError::MailConsumed { run: run.clone(), mail: id }));
    assert_eq!(journal.replay(&run).count(), 2, "the refused record left nothing behind");

    // Sabotage: without the note in the journal the entry would come again.
    let conn = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    conn.execute_batch("DELETE FROM consumed").unwrap();
    assert_eq!(journal.mail(&run).unwrap().len(), 1);
}

#[test]
fn a_failed_append_leaves_the_mail_unread() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut writer = begin(&journal, "one", 1);
    let run = writer.run().clone();
    let id = journal.post(&run, &answer("still there")).unwrap();
    let conn = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    conn.execute_batch("UPDATE runs SET owner = NULL").unwrap();
    writer.append_and_wait(&replied(3, "x", 6), &Step::default(), Some(id)).unwrap_err();
    assert_eq!(journal.mail(&run).unwrap().len(), 1);
}

#[test]
fn one_poll_serves_all_runs_and_says_nothing_when_nothing_came() {
    let dir = tempfile::tempdir().unwrap();
    let (driver, other) = (Journal::open(dir.path()).unwrap(), Journal::open(dir.path()).unwrap());
    let writers: Vec<_> = (0..20).map(|n| begin(&driver, "driven", n)).collect();
    let foreign = begin(&other, "foreign", 1);
    assert_eq!(driver.poll_mail().unwrap(), None);
    other.post(writers[7].run(), &mail(MailKind::Cancel)).unwrap();
    other.post(foreign.run(), &mail(MailKind::Cancel)).unwrap();
    let found = driver.poll_mail().unwrap().unwrap();
    assert_eq!(found.iter().map(|d| &d.run).collect::<Vec<_>>(), [writers[7].run()]);
    assert_eq!(driver.poll_mail().unwrap(), None);

    let run = foreign.run().clone();
    drop((foreign, other));
    let _taken = driver.claim(&run).unwrap();
    let found = driver.poll_mail().unwrap().unwrap();
    assert!(found.iter().any(|d| d.run == run), "mail that came before the claim is seen after it");
}

#[test]
fn mail_for_nobody_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let none: RunId = "0000000000".parse().unwrap();
    assert!(matches!(journal.post(&none, &mail(MailKind::Pause)), Err(PostError::NotFound(_))));
    let over = finished(&journal, "over", 1);
    let error = journal.post(&over, &mail(MailKind::Pause)).unwrap_err();
    assert!(error.to_string().contains("ended as approved"), "{error}");
    let writer = begin(&journal, "one", 1);
    let long = answer(&"x".repeat(17 << 20));
    assert!(matches!(journal.post(writer.run(), &long), Err(PostError::TooLarge { .. })));
}

#[test]
fn posting_works_while_the_journal_is_locked_by_a_writer() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let writer = begin(&journal, "one", 1);
    let busy = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    busy.execute_batch("BEGIN IMMEDIATE").unwrap();
    journal.post(writer.run(), &mail(MailKind::Pause)).unwrap();
    assert_eq!(journal.mail(writer.run()).unwrap().len(), 1);
    busy.execute_batch("ROLLBACK").unwrap();
}

#[test]
fn one_damaged_entry_keeps_no_other_runs_mail_back() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let (one, two) = (begin(&journal, "one", 1), begin(&journal, "two", 2));
    journal.post(one.run(), &answer("lost")).unwrap();
    let inbox = rusqlite::Connection::open(dir.path().join("inbox.db")).unwrap();
    inbox.execute_batch("UPDATE mail SET body = x'00'").unwrap();
    journal.post(two.run(), &answer("heard")).unwrap();
    let polled = journal.poll_mail().unwrap().unwrap();
    assert_eq!(polled.iter().map(|d| &d.run).collect::<Vec<_>>(), [two.run()]);
    // Asked for by its run, the damage is named.
    assert!(journal.mail(one.run()).is_err());
}
