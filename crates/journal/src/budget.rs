//! What an append costs, counted: a change that makes a step dearer is red here. What a whole loop costs is counted in
//! `gadfly/tests/budgets.rs`.

use std::cell::Cell;

use gadfly_engine::input::InputKind;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::{
    Answer, Input, Limits, Outcome, Part, Plan, Reply, Stamp, Start, Step, StopReason, Text, Usage,
};
use gadfly_engine::{Digest, Waiting};
use rusqlite::trace::TraceEvent;

use crate::{Custody, Journal, RunId, RunWriter, StoreError};

/// What asking the writer thread for its count runs by itself.
const ASKING: u64 = 5;

thread_local! {
    static STATEMENTS: Cell<u64> = const { Cell::new(0) };
}

/// Called by the connection of a writer, on its thread.
#[allow(clippy::needless_pass_by_value)] // as SQLite calls it
pub(crate) fn count(event: TraceEvent<'_>) {
    if matches!(event, TraceEvent::Stmt(..)) {
        STATEMENTS.set(STATEMENTS.get() + 1);
    }
}

fn counted(journal: &Journal) -> u64 {
    let counted: Result<u64, StoreError> = journal.write(|_| Ok(STATEMENTS.get()));
    counted.unwrap()
}

fn started() -> Input {
    let settings = serde_json::json!({
        "task": Digest::of(b"task"), "phase": "paper", "rubric": ["is short"], "overrule": true, "worker": "writer",
        "critic": "reader", "rounds": 3, "out": { "path": "/tmp/paper.md" },
    });
    let root = NodePlan { protocol: "revise".into(), version: 1, limits: Limits::default(), settings };
    let (agents, limits) = (std::collections::BTreeMap::new(), Limits::default());
    let plan =
        Plan { caller: None, title: "a paper".into(), root, agents: agents.into(), limits, workspace: None };
    let start = Start { format: 1, plan, seed: "00ff".into() };
    let what = InputKind::Started(Box::new(start));
    Input { at: Stamp { wall_ms: 1, active_ms: 0 }, what, texts: vec![Text::new("the task")] }
}

fn replied(n: u32) -> Input {
    let text = Text::new(format!("reply {n}"));
    let answer = Answer {
        parts: vec![Part::Blob(text.digest())],
        stop: StopReason::EndTurn,
        usage: Usage::default(),
        model: None,
        took_ms: 1,
        report: None,
        violations: vec![],
        session: None,
    };
    let effect = format!("run#{n}").parse().unwrap();
    let what = InputKind::Replied { effect, reply: Reply::Done(answer) };
    Input { at: Stamp { wall_ms: 1, active_ms: 0 }, what, texts: vec![text] }
}

/// The statements of one append that is alone in its transaction.
fn cost(journal: &Journal, writer: &mut RunWriter, input: &Input, step: &Step) -> u64 {
    let before = counted(journal);
    writer.append_and_wait(input, step, None).unwrap();
    counted(journal) - before - ASKING
}

#[test]
fn a_step_runs_as_many_statements_as_it_has_things_to_write() {
    let dir = tempfile::tempdir().unwrap();
    let journal =
        Journal::open_in(&dir.path().join("store"), &Custody::at(&dir.path().join("state"))).unwrap();
    let mut writer = journal.create(RunId::random().unwrap()).unwrap();
    let parked = Step { outcome: Some(Outcome::Waiting(Waiting::Paused)), ..Step::default() };
    // Begin and commit, the record, and one text: whether it is there, and the text.
    assert_eq!(cost(&journal, &mut writer, &started(), &Step::default()), 6, "with the row of the run");
    for n in 1..60 {
        assert_eq!(cost(&journal, &mut writer, &replied(n), &Step::default()), 5, "record {n}");
    }
    assert_eq!(cost(&journal, &mut writer, &replied(7), &Step::default()), 3, "a text that was sent before");
    assert_eq!(
        cost(&journal, &mut writer, &replied(70), &parked),
        10,
        "the row, the last seal, the new one, the checkpoint, and a look at the newest seal to keep it"
    );
    assert_eq!(cost(&journal, &mut writer, &replied(71), &Step::default()), 5);
    assert_eq!(
        cost(&journal, &mut writer, &replied(72), &Step::default()),
        6,
        "a chunk is full: its checkpoint"
    );
    assert_eq!(cost(&journal, &mut writer, &replied(73), &Step::default()), 5);
}
