//! Synthetic inputs and steps for the journal's tests. No engine decides them.
#![allow(dead_code, clippy::unwrap_used)] // each test file uses its part; a failing builder fails its test

use std::collections::BTreeMap;

use gadfly_engine::budget::{Limits, Spent};
use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::review::{Binding, Coverage, Review, ReviewItem, Verdict};
use gadfly_engine::{
    Answer, Digest, Event, Input, Money, NodePath, Outcome, Part, Plan, Reply, Stamp, Start, Step,
    StopReason, Text, Usage,
};
use gadfly_journal::{Journal, RunId, RunWriter};

pub fn started(title: &str, wall_ms: u64) -> Input {
    let settings = serde_json::json!({
        "task": Digest::of(b"task"), "phase": "paper", "rubric": ["is short"], "overrule": true,
        "worker": "writer", "critic": "reader", "rounds": 3,
        "out": { "path": "/tmp/paper.md" },
    });
    let root = NodePlan { protocol: "revise".into(), version: 1, limits: Limits::default(), settings };
    let plan = Plan {
        caller: None,
        title: title.into(),
        root,
        agents: BTreeMap::new().into(),
        limits: Limits::default(),
        workspace: None,
    };
    let start = Start { format: 1, plan, seed: "00ff".into() };
    let at = Stamp { wall_ms, active_ms: 0 };
    Input { at, what: InputKind::Started(Box::new(start)), texts: vec![Text::new(format!("task: {title}"))] }
}

pub fn replied(n: u32, text: &str, wall_ms: u64) -> Input {
    let text = Text::new(text);
    let answer = Answer {
        parts: vec![Part::Blob(text.digest())],
        stop: StopReason::EndTurn,
        usage: Usage { input: 1000, output: 500, ..Usage::default() },
        model: Some("model-1".into()),
        took_ms: 1200,
        report: None,
        violations: vec![],
        session: None,
    };
    let effect = format!("run#{n}").parse().unwrap();
    let at = Stamp { wall_ms, active_ms: wall_ms };
    Input { at, what: InputKind::Replied { effect, reply: Reply::Done(answer) }, texts: vec![text] }
}

pub fn step(events: Vec<EventKind>, outcome: Option<Outcome>) -> Step {
    let events = events.into_iter().map(|what| Event { node: NodePath::root(), what }).collect();
    Step { events, outcome, ..Step::default() }
}

pub fn drafted(round: u32, body: &str) -> Vec<EventKind> {
    let blob = Digest::of(body.as_bytes());
    let run = Spent { tokens: 1500, money: Money(42), calls: round, ..Spent::default() };
    vec![
        EventKind::RoundStarted { round, of: 3 },
        EventKind::DraftMade {
            round,
            artifact: blob,
            blob,
            bytes: body.len() as u64,
            given: false,
            diff: None,
        },
        EventKind::Charged {
            effect: "run#1".parse().unwrap(),
            agent: "writer".into(),
            usage: Usage::default(),
            cost: Money(42),
            run,
        },
    ]
}

pub fn reviewed(round: u32, verdict: Verdict, open: &[&str]) -> EventKind {
    let digest = Digest::of(b"x");
    let items =
        open.iter().zip(1..).map(|(t, number)| ReviewItem { number, text: (*t).into(), since: round });
    let review = Review {
        binding: Binding { round, artifact: digest, critic: "reader".into(), lens: None, rubric: digest },
        verdict,
        open: items.collect(),
        addressed: vec![],
        reason: String::new(),
        rendered: None,
        notes: vec![],
        deviations: vec![],
        coverage: Coverage { entries: vec![], unseen: vec![] },
        prompt: digest,
        reply: digest,
        more_calls: vec![],
        findings: vec![],
        fixed: vec![],
        criteria: vec![],
        score: None,
    };
    EventKind::Reviewed { round, review }
}

pub fn approved() -> Outcome {
    Outcome::Approved { draft: Digest::of(b"draft"), overruled: false, notes: vec![] }
}

/// A run with its first record committed.
pub fn begin(journal: &Journal, title: &str, wall_ms: u64) -> RunWriter {
    let mut writer = journal.create(RunId::random().unwrap()).unwrap();
    writer.append_and_wait(&started(title, wall_ms), &Step::default(), None).unwrap();
    writer
}

/// A run that ended approved in one round.
pub fn finished(journal: &Journal, title: &str, wall_ms: u64) -> RunId {
    let mut writer = begin(journal, title, wall_ms);
    let body = format!("the draft of {title}\n").repeat(300);
    writer.append_and_wait(&replied(1, &body, wall_ms + 1), &step(drafted(1, &body), None), None).unwrap();
    let verdict = step(vec![reviewed(1, Verdict::Approved, &[])], Some(approved()));
    writer.append_and_wait(&replied(2, "[STATUS: APPROVED] Good.", wall_ms + 2), &verdict, None).unwrap();
    writer.run().clone()
}
