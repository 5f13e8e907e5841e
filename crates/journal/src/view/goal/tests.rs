//! What is kept of a goal: in the order it happened, counted once, and charged to whoever caused it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use gadfly_engine::budget::{Reservation, Spent};
use gadfly_engine::goal::{Claimant, Nudge};
use gadfly_engine::plan::NodePlan;
use gadfly_engine::tree::{Look, Looked, Tree};
use gadfly_engine::{AgentCard, Event, Input, Permission, Stamp, Start, Step, Turn};

use super::*;
use crate::view::RunView;

fn digest() -> Digest {
    Digest::of(b"x")
}

fn card() -> AgentCard {
    AgentCard {
        named_by: gadfly_engine::plan::NamedBy::User,
        kind: "openai".into(),
        model: None,
        sends_to: "example.org".into(),
        price: Some(gadfly_engine::Price::default()),
        person: false,
        max_output_tokens: 1000,
        timeout_ms: 1000,
        limits: Limits::default(),
        window: None,
        per_call: Limits::default(),
        continues: false,
        tools: true,
        withheld: Vec::new(),
        structured: false,
        reached_as: None,
    }
}

fn begun() -> InputKind {
    let settings = serde_json::json!({
        "goal": digest(), "worker": "w", "critic": "c", "root": "/work/here", "interval": 5, "until": "manual",
        "policy": { "risk": "write_local" }, "protect_tests": true, "held": true,
    });
    let limits = Limits { steps: Some(300), active_ms: Some(60_000), ..Limits::default() };
    let root = NodePlan { protocol: WATCH.into(), version: 1, limits, settings };
    let limits = Limits { active_ms: Some(90_000), money: Some(Money(5)), ..Limits::default() };
    let agents: std::collections::BTreeMap<_, _> =
        [("w".to_owned(), card()), ("c".to_owned(), card())].into();
    let plan = Plan { caller: None, title: "t".into(), root, agents: agents.into(), limits, workspace: None };
    InputKind::Started(Box::new(Start { format: 1, plan, seed: "00".into() }))
}

/// Records of one run, at one second of active time each.
struct Told {
    view: RunView,
    seq: u32,
}

impl Told {
    fn new() -> Self {
        let mut told = Self { view: RunView::new("0123456789".parse().unwrap()), seq: 0 };
        let set = EventKind::GoalSet {
            goal: digest(),
            criterion: "`make test` exits with 0".into(),
            policy: "risk=write_local".into(),
            interval: 5,
            steps: 300,
        };
        told.record(begun(), vec![set], vec![]);
        told
    }

    fn record(&mut self, what: InputKind, events: Vec<EventKind>, effects: Vec<Effect>) -> &GoalState {
        let at =
            Stamp { wall_ms: 1_000_000 + u64::from(self.seq) * 1000, active_ms: u64::from(self.seq) * 1000 };
        let events = events.into_iter().map(|what| Event { node: NodePath::root(), what }).collect();
        let input = Input { at, what, texts: vec![] };
        let record = Record { seq: self.seq, input, step: Step { events, effects, ..Step::default() } };
        self.view.apply(&record);
        self.seq += 1;
        self.view.goal.as_ref().unwrap()
    }

    fn replied(&mut self, effect: &str, events: Vec<EventKind>, effects: Vec<Effect>) -> &GoalState {
        let effect = effect.parse().unwrap();
        let what = InputKind::Replied { effect, reply: Reply::Cancelled { sent: false } };
        self.record(what, events, effects)
    }
}

fn effect(id: &str, class: Class, kind: EffectKind) -> Effect {
    let (id, reserve) = (id.parse().unwrap(), Reservation::default());
    Effect { id, class, time_ms: None, reserve, repeats: None, kind }
}

fn turn(id: &str, agent: &str, role: Role) -> Effect {
    let turn = Turn {
        agent: agent.into(),
        role,
        permission: Permission::ReadOnly,
        messages: std::sync::Arc::default(),
        nth: 0,
        max_output_tokens: 1,
        tree: None,
        schema: None,
        case: None,
        report: None,
        session: None,
        tools: None,
        settled: 0,
        verdict: None,
        goes_on: false,
        own: None,
    };
    effect(id, Class::Paid, EffectKind::Turn(turn))
}

fn charged(id: &str, agent: &str, cost: u64) -> EventKind {
    let usage = Usage { input: 10, ..Usage::default() };
    let run = Spent { tokens: 40, money: Money(99), ..Spent::default() };
    EventKind::Charged { effect: id.parse().unwrap(), agent: agent.into(), usage, cost: Money(cost), run }
}

fn step(n: u32, end: StepEnd) -> EventKind {
    let (tool, args, preview) = ("run_command".into(), "command=make".into(), "exit code 1".into());
    EventKind::Stepped { step: GoalStep { n, tool, args, end, preview, took_ms: 3 } }
}

fn watched(verdict: ProgressVerdict, from: u32, to: u32) -> EventKind {
    EventKind::Watched { critic: "c".into(), verdict, reason: "because".into(), from, to }
}

fn claimed() -> EventKind {
    EventKind::Claimed { by: Claimant::Worker, rationale: "done".into() }
}

#[test]
fn the_rail_is_one_list_by_time_and_every_entry_knows_its_step() {
    let mut told = Told::new();
    let failed = |n| EventKind::VerificationFailed { detail: "red".into(), in_a_row: n };
    told.replied("run#1", vec![step(1, StepEnd::Err)], vec![]);
    told.replied("run#2", vec![claimed()], vec![]);
    told.replied("run#3", vec![failed(1)], vec![]);
    told.replied("run#4", vec![step(2, StepEnd::Ok), watched(ProgressVerdict::Stuck, 1, 2)], vec![]);
    told.replied("run#5", vec![EventKind::Nudged { why: Nudge::Stuck, text: digest() }], vec![]);
    told.replied("run#6", vec![claimed(), failed(2)], vec![]);
    let goal = told.replied("run#7", vec![watched(ProgressVerdict::Error, 2, 2)], vec![]);
    let order: Vec<(u32, u32, String)> = goal
        .rail
        .iter()
        .map(|entry| {
            let event = serde_json::to_value(&entry.what).unwrap()["event"].as_str().unwrap().to_owned();
            (entry.seq, entry.after, event)
        })
        .collect();
    let order: Vec<(u32, u32, &str)> =
        order.iter().map(|(seq, after, e)| (*seq, *after, e.as_str())).collect();
    assert_eq!(
        order,
        [
            (2, 1, "claimed"),
            (3, 1, "verification_failed"),
            (4, 2, "watched"),
            (5, 2, "nudged"),
            (6, 2, "claimed"),
            (6, 2, "verification_failed"),
            (7, 2, "watched"),
        ]
    );
    assert!(goal.rail.windows(2).all(|pair| pair[0].at_ms <= pair[1].at_ms));
    let counts = goal.counts;
    assert_eq!((counts.claims, counts.failed_claims, counts.failed_in_a_row), (2, 2, 2));
    assert_eq!((counts.ok, counts.err, counts.stuck, counts.error), (1, 1, 1, 1));
    assert_eq!((goal.steps.len(), goal.steps[1].seq, goal.steps[1].at_ms), (2, 4, 1_004_000));
}

#[test]
fn the_critics_cost_is_told_apart_from_the_workers_and_the_judges() {
    let mut told = Told::new();
    told.replied("run#1", vec![], vec![turn("run#2", "w", Role::Worker)]);
    let look = turn("run#3", "c", Role::Critic);
    told.replied("run#2", vec![charged("run#2", "w", 50), step(1, StepEnd::Ok)], vec![look]);
    // The same agent judges: what it is asked while a claim is verified is the judge's.
    let achieved = vec![charged("run#3", "c", 7), watched(ProgressVerdict::Achieved, 1, 1), claimed()];
    told.replied("run#3", achieved, vec![turn("run#4", "c", Role::Critic)]);
    let failed = EventKind::VerificationFailed { detail: "no".into(), in_a_row: 1 };
    told.replied("run#4", vec![charged("run#4", "c", 3), failed], vec![turn("run#5", "w", Role::Worker)]);
    let goal = told.replied("run#5", vec![charged("run#5", "w", 1)], vec![turn("run#6", "c", Role::Critic)]);
    let money = |share: Share| (share.calls, share.money.0);
    assert_eq!(money(goal.costs.worker), (2, 51));
    assert_eq!(money(goal.costs.critic), (1, 7));
    assert_eq!(money(goal.costs.judge), (1, 3));
    assert_eq!((goal.used.turns, goal.used.money, goal.used.tokens), (2, Money(99), 40));
    let goal = told.replied("run#6", vec![charged("run#6", "c", 7)], vec![]);
    assert_eq!(money(goal.costs.critic), (2, 14), "after the verification the critic is a critic again");
    told.replied("run#7", vec![], vec![turn("run#8", "w", Role::Advisor)]);
    let goal = told.replied("run#8", vec![charged("run#8", "w", 1)], vec![]);
    assert_eq!((money(goal.costs.worker), money(goal.costs.critic)), ((3, 52), (2, 14)), "last words");
}

#[test]
fn time_passes_only_while_something_other_than_a_person_is_at_work() {
    let mut told = Told::new();
    told.replied("run#1", vec![], vec![turn("run#2", "w", Role::Worker)]);
    assert_eq!(told.replied("run#9", vec![], vec![]).used.active_ms, 1000);
    let question = gadfly_engine::question::Question {
        about: gadfly_engine::question::About::Stuck,
        text: "?".into(),
        choices: vec![],
        free: true,
    };
    let goal = told.replied("run#2", vec![], vec![effect("run#3", Class::Person, EffectKind::Ask(question))]);
    assert_eq!(goal.used.active_ms, 2000);
    assert!(!goal.is_at_work(), "a person is waited for");
    assert_eq!(told.replied("run#9", vec![], vec![]).used.active_ms, 2000);
    told.replied("run#9", vec![], vec![turn("run#4", "w", Role::Worker)]);
    let resumed = InputKind::Resumed {
        limits: Limits::default(),
        rounds: None,
        agents: std::collections::BTreeMap::new(),
    };
    let goal = told.record(resumed, vec![EventKind::Resumed], vec![]);
    assert!(!goal.is_at_work(), "what was open when the process died is not at work any more");
}

#[test]
fn caps_are_the_tighter_ones_and_can_be_raised() {
    let mut told = Told::new();
    let goal = told.replied("run#1", vec![], vec![]);
    assert_eq!(
        (goal.caps.active_ms, goal.caps.steps, goal.caps.money),
        (Some(60_000), Some(300), Some(Money(5)))
    );
    assert_eq!((goal.root.as_deref(), goal.interval, goal.goal), (Some("/work/here"), 5, Some(digest())));
    let limits = Limits { steps: Some(600), ..Limits::default() };
    let goal = told.replied("run#1", vec![EventKind::LimitsRaised { limits, rounds: None }], vec![]);
    assert_eq!(goal.caps.steps, Some(600));
}

#[test]
fn the_folder_is_as_it_was_last_seen() {
    let mut told = Told::new();
    told.replied(
        "run#1",
        vec![],
        vec![effect("run#2", Class::Read, EffectKind::Look(Look { tree: None, paths: vec![] }))],
    );
    let tree = Tree { digest: digest(), diff: Digest::of(b"diff"), changes: vec![] };
    let looked = Reply::Looked(Looked { tree: Some(tree), files: vec![] });
    let goal =
        told.record(InputKind::Replied { effect: "run#2".parse().unwrap(), reply: looked }, vec![], vec![]);
    assert_eq!(goal.folder.as_ref().map(|seen| seen.diff), Some(Digest::of(b"diff")));
    let goal = told.replied("run#3", vec![], vec![]);
    let json = serde_json::to_string(goal).unwrap();
    assert_eq!(serde_json::from_str::<GoalState>(&json).unwrap().folder, goal.folder);
}

#[test]
fn steps_of_a_worker_in_another_protocol_make_no_goal() {
    let mut view = RunView::new("0123456789".parse().unwrap());
    let at = Stamp::default();
    let what =
        InputKind::Replied { effect: "run#1".parse().unwrap(), reply: Reply::Cancelled { sent: false } };
    let events = vec![Event { node: NodePath::root(), what: step(1, StepEnd::Ok) }];
    let input = Input { at, what, texts: vec![] };
    view.apply(&Record { seq: 1, input, step: Step { events, ..Step::default() } });
    assert_eq!(view.goal, None);
}
