//! The ledger of deferred items, and the reports of a run, as they are read back from a store.
#![allow(clippy::unwrap_used)] // tests may fail loudly

use crate::sample;

use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::review::{CriterionVerdict, Verdict};
use gadfly_engine::{Input, Step, Text};
use gadfly_journal::{Journal, RunId, RunWriter};
use sample::{approved, replied, reviewed, started, step};
use serde_json::json;

fn converge(journal: &Journal, out: &str, earlier: &[&str], wall_ms: u64) -> RunWriter {
    let mut input: Input = started("a spec", wall_ms);
    if let InputKind::Started(start) = &mut input.what {
        start.plan.root.protocol = "converge".into();
        let earlier: Vec<_> =
            earlier.iter().map(|c| json!({ "id": "x", "criterion": c, "reason": "r", "by": "b" })).collect();
        start.plan.root.settings = json!({
            "task": gadfly_engine::Digest::of(b"task"), "criteria": [{ "name": "RISK", "question": "?" }], "rounds": 5,
            "worker": "writer", "out": { "path": out }, "deferred": earlier, "critics": [{ "agent": "reader" }],
        });
    }
    let mut writer = journal.create(RunId::random().unwrap()).unwrap();
    writer.append_and_wait(&input, &Step::default(), None).unwrap();
    writer
}

fn deferred(criterion: &str, reason: &str) -> EventKind {
    EventKind::Deferred { round: 1, criterion: criterion.into(), reason: reason.into(), by: "ann".into() }
}

fn judged(criterion: &str, verdict: &str, clean: bool) -> EventKind {
    let mut event = reviewed(1, Verdict::Approved, &[]);
    if let EventKind::Reviewed { review, .. } = &mut event {
        let (id, verdict) = (criterion.to_owned(), verdict.to_owned());
        let (claim, because) = (String::new(), String::new());
        review.criteria.push(CriterionVerdict { id, claim, verdict, clean, because });
    }
    event
}

fn append(writer: &mut RunWriter, wall_ms: u64, events: Vec<EventKind>, ends: bool) {
    let outcome = ends.then(approved);
    writer.append_and_wait(&replied(1, "said", wall_ms), &step(events, outcome), None).unwrap();
}

fn shown(journal: &Journal, path: &str) -> Vec<(String, String)> {
    journal.deferred(path).unwrap().into_iter().map(|d| (d.criterion, d.reason)).collect()
}

#[test]
fn an_item_stays_in_the_ledger_until_a_later_run_judges_it_clean() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut first = converge(&journal, "/p/spec.md", &[], 1000);
    append(&mut first, 1001, vec![deferred("RISK", "no data yet"), deferred("SCOPE", "next year")], true);
    sample::finished(&journal, "another run", 1500);
    assert_eq!(shown(&journal, "/p/spec.md").len(), 2);
    assert_eq!(shown(&journal, "/p/other.md"), [], "another artifact has its own ledger");
    let line = &journal.deferred("/p/spec.md").unwrap()[0];
    assert_eq!((line.who.as_str(), line.when_ms, line.artifact.as_str()), ("ann", 1001, "/p/spec.md"));
    assert_eq!(line.id, format!("{}/{}", first.run(), line.criterion));

    let mut second = converge(&journal, "/p/spec.md", &["RISK", "SCOPE"], 2000);
    append(&mut second, 2001, vec![judged("RISK", "DEFER", true), judged("SCOPE", "FAIL", false)], false);
    assert_eq!(shown(&journal, "/p/spec.md").len(), 2, "neither DEFER nor FAIL resolves an item");
    append(&mut second, 2002, vec![judged("RISK", "PASS", true), deferred("SCOPE", "asked again")], true);
    assert_eq!(shown(&journal, "/p/spec.md"), [("SCOPE".to_owned(), "asked again".to_owned())]);
}

#[test]
fn an_item_that_the_same_run_resolves_never_reaches_the_ledger() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut run = converge(&journal, "/p/spec.md", &[], 1000);
    append(&mut run, 1001, vec![deferred("RISK", "no data yet")], false);
    append(&mut run, 1002, vec![judged("RISK", "PASS", true)], true);
    assert_eq!(shown(&journal, "/p/spec.md"), []);
}

#[test]
fn a_report_is_a_file_of_the_run_and_cannot_leave_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut run = sample::begin(&journal, "audit", 1000);
    let text = Text::new("{\"verdict\":\"passed\"}");
    let reported = |name: &str| EventKind::Reported {
        round: 1,
        name: name.into(),
        report: text.digest(),
        envelope: text.digest(),
    };
    let mut made = step(vec![reported("critic-t-r1.json"), reported("../../evil.json")], None);
    made.texts = vec![text.clone()];
    run.append_and_wait(&replied(1, "said", 1001), &made, None).unwrap();
    // The same report again: its text is not part of this record.
    run.append_and_wait(&replied(2, "said", 1002), &step(vec![reported("critic-t-r2.json")], None), None)
        .unwrap();
    let files = journal.reports(run.run()).unwrap();
    let names: Vec<&str> = files.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["critic-t-r1.json", "critic-t-r2.json"], "a path is no file name");
    assert!(files.iter().all(|f| f.content == text.as_str()));
}
