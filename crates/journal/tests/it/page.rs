//! A page of a run: it says what the whole run says, and what it costs to read does not grow with the run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::script;

use gadfly_journal::{Journal, RunId, RunPage, RunView, RunWriter, Window};
use proptest::prelude::*;
use script::{KINDS, Protocol, Script};

fn write(journal: &Journal, protocol: Protocol, numbers: &[u8]) -> RunId {
    let run = RunId::random().unwrap();
    let mut writer = journal.create(run.clone()).unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    for (input, step) in Script::of(protocol, numbers) {
        let tell = tell.clone();
        writer.append(&input, &step, None, move |result| tell.send(result).unwrap());
    }
    drop(tell);
    for result in told {
        result.unwrap();
    }
    release(writer);
    run
}

fn release(writer: RunWriter) {
    let (done, released) = std::sync::mpsc::channel();
    writer.release(move || done.send(()).unwrap());
    released.recv().unwrap();
}

/// Every page from the newest back to the oldest.
fn pages(journal: &Journal, run: &RunId, rounds: u32, entries: u32) -> Vec<RunPage> {
    let mut window = Window { rounds, entries, ..Window::default() };
    let mut pages = vec![journal.page(run, &window).unwrap()];
    while let Some(last) = pages.last()
        && (last.rounds_before.is_some() || last.entries_before.is_some())
    {
        assert!(pages.len() < 1_000, "the cursor does not move");
        window.rounds_before = last.rounds_before.or(Some(0));
        window.entries_before = last.entries_before.or(Some(0));
        pages.push(journal.page(run, &window).unwrap());
    }
    pages
}

/// All but rounds, steps and rail.
fn rest(state: &RunView) -> RunView {
    let mut rest = state.clone();
    rest.rounds.clear();
    if let Some(goal) = &mut rest.goal {
        goal.steps.clear();
        goal.rail.clear();
    }
    rest
}

fn agrees(journal: &Journal, run: &RunId, rounds: u32, entries: u32) -> Result<(), TestCaseError> {
    let whole = journal.state(run).unwrap();
    let pages = pages(journal, run, rounds, entries);
    for page in &pages {
        prop_assert_eq!(rest(&page.state), rest(&whole));
        prop_assert!(page.all_told);
        prop_assert_eq!(page.next, journal.next_seq(run).unwrap());
        let money: u64 = page.state.totals.shares.values().map(|share| share.money.0).sum();
        prop_assert_eq!(money, whole.summary.cost.0);
    }
    let joined: Vec<_> = pages.iter().rev().flat_map(|page| page.state.rounds.clone()).collect();
    prop_assert_eq!(joined, whole.rounds);
    if let Some(goal) = whole.goal {
        let of = |page: &RunPage| page.state.goal.clone().unwrap();
        let steps: Vec<_> = pages.iter().rev().flat_map(|page| of(page).steps).collect();
        prop_assert_eq!(steps, goal.steps);
        let rail: Vec<_> = pages.iter().rev().flat_map(|page| of(page).rail).collect();
        prop_assert_eq!(rail, goal.rail);
        prop_assert_eq!(pages[0].state.totals.limits.money, goal.caps.money);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_put_together_are_the_run(
        numbers in prop::collection::vec(0..KINDS, 0..220),
        protocol in prop::sample::select(vec![Protocol::Revise, Protocol::Watch, Protocol::Pipeline]),
        rounds in 1_u32..8,
        entries in 2_u32..24,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(dir.path()).unwrap();
        let run = write(&journal, protocol, &numbers);
        agrees(&journal, &run, rounds, entries)?;
        // A window that holds the whole run shows what the full fold shows.
        let page = journal.page(&run, &Window { rounds: 200, entries: 1_000, ..Window::default() }).unwrap();
        prop_assert_eq!(page.state, journal.state(&run).unwrap());
        prop_assert_eq!((page.rounds_before, page.entries_before), (None, None));
    }
}

/// Steps, looks of the critic and observations, as a goal has them; and rounds, as a loop has them.
fn repeated(pattern: &[u8], times: usize) -> Vec<u8> {
    pattern.repeat(times)
}

#[test]
fn a_long_run_takes_no_more_reading_than_one_that_fills_the_window() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let window = Window { rounds: 10, entries: 50, ..Window::default() };
    for (protocol, pattern) in
        [(Protocol::Watch, &[0, 3, 0, 5, 7, 6, 8, 12, 13, 11][..]), (Protocol::Revise, &[20, 0, 22, 23, 25])]
    {
        let some = write(&journal, protocol, &repeated(pattern, 250));
        let many = write(&journal, protocol, &repeated(pattern, 1_000));
        let (some, many) = (journal.page(&some, &window).unwrap(), journal.page(&many, &window).unwrap());
        assert_eq!(many.records_read, some.records_read, "of a run four times as long");
        assert!(many.records_read < many.next / 5, "{} of {}", many.records_read, many.next);
        let numbers = (many.state.summary.tokens, many.state.goal.as_ref().map(|goal| goal.used.steps));
        assert!(numbers > (some.state.summary.tokens, some.state.goal.as_ref().map(|goal| goal.used.steps)));
    }
}

#[test]
fn what_is_left_out_of_a_page_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let few = write(&journal, Protocol::Revise, &repeated(&[11], 200));
    let many = write(&journal, Protocol::Revise, &repeated(&[11], 500));
    let few = journal.page(&few, &Window::default()).unwrap();
    assert!(few.all_told);
    assert_eq!(few.state.warnings.len(), 200);
    let many = journal.page(&many, &Window::default()).unwrap();
    assert!(!many.all_told);
    assert!(many.state.warnings.len() < 250);
    assert_eq!(many.state.warnings.last().map(String::as_str), Some("warning 500"));
}

#[test]
fn checkpoints_that_are_damaged_or_gone_cost_time_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let run = write(&journal, Protocol::Watch, &repeated(&[5, 7, 0, 6, 8], 60));
    let good = (journal.page(&run, &Window::default()).unwrap(), journal.summary(&run).unwrap());
    let conn = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    for damage in [
        "UPDATE checkpoints SET body = x'00ff'",
        "UPDATE checkpoints SET kinds = zeroblob(length(kinds))",
        "UPDATE checkpoints SET upto = upto - 1",
        "DELETE FROM checkpoints WHERE place % 2 = 0",
        "DELETE FROM checkpoints",
    ] {
        conn.execute_batch(damage).unwrap();
        let now = (journal.page(&run, &Window::default()).unwrap(), journal.summary(&run).unwrap());
        assert_eq!(now, good, "{damage}");
    }
    let mut writer = journal.claim(&run).unwrap();
    let (input, step) = Script::of(Protocol::Watch, &[11]).pop().unwrap();
    writer.append_and_wait(&input, &step, None).unwrap();
    assert_eq!(journal.page(&run, &Window::default()).unwrap().state.warnings.len(), 1);
}

#[test]
fn a_run_that_was_given_up_and_taken_again_has_its_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let records = Script::of(Protocol::Watch, &repeated(&[5, 0, 0, 7, 6, 8, 14, 9, 10], 12));
    let run = RunId::random().unwrap();
    let mut writer = journal.create(run.clone()).unwrap();
    for (n, (input, step)) in records.iter().enumerate() {
        if n % 7 == 6 {
            release(writer);
            writer = journal.claim(&run).unwrap();
        }
        writer.append_and_wait(input, step, None).unwrap();
    }
    release(writer);
    assert!(journal.page(&run, &Window::default()).unwrap().records_read < 90);
    agrees(&journal, &run, 5, 5).unwrap();
}

#[test]
fn an_imported_run_has_pages_too() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let journal = Journal::open(dir.path()).unwrap();
    let run = write(&journal, Protocol::Pipeline, &repeated(&[28, 20, 0, 22, 24, 29], 40));
    let mut file = Vec::new();
    journal.export(&run, &mut file).unwrap();
    let imported = Journal::open(other.path()).unwrap();
    imported.import(file.as_slice(), None, |_| Ok(())).unwrap();
    let window = Window { rounds: 3, ..Window::default() };
    assert_eq!(imported.page(&run, &window).unwrap().state.rounds.len(), 3);
    assert_eq!(
        imported.page(&run, &window).unwrap().records_read,
        journal.page(&run, &window).unwrap().records_read
    );
    agrees(&imported, &run, 4, 4).unwrap();
}
