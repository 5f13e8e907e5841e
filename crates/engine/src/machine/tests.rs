//! The machine with parallel calls and children: what no shipped protocol exercises yet.

use std::collections::BTreeMap;

use super::*;
use crate::budget::Limits;
use crate::effect::{Answer, CallFailure, EffectKind, FailureKind, NodePath, Observation, Reply, StopReason};
use crate::input::{Control, Stamp, Start};
use crate::plan::{AgentCard, NodePlan, Target};
use crate::protocol::{Protocol, RuleBook};
use crate::turn::{Message, Part, Speaker};

/// Makes two calls at once and takes orders from what they say: `end`, `call`, `idle`, `child`.
struct Pair {
    draft: Option<Digest>,
    missing: Option<Digest>,
}

const PAIR: RuleBook = RuleBook {
    manifest: |_| Ok(crate::RunManifest::default()),
    name: "pair",
    version: 1,
    begin: |plan| {
        let missing = serde_json::from_value(plan.settings.clone()).ok();
        Ok(Box::new(Pair { draft: None, missing }))
    },
};

fn call(cx: &mut Cx<'_>) {
    let message = Message { from: Speaker::User, parts: vec![Part::Text("work".into())] };
    cx.call_worker("ann", vec![message]);
}

impl Protocol for Pair {
    fn start(&mut self, cx: &mut Cx<'_>) {
        call(cx);
        call(cx);
    }

    fn answered(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        let order = cx.text(&answer.text).to_owned();
        match order.as_str() {
            "end" => {
                self.draft = Some(answer.text);
                cx.finish(Outcome::Approved { draft: answer.text, overruled: false, notes: Vec::new() });
            }
            "call" => call(cx),
            "child" => {
                let result = cx.spawn("child", &pair(serde_json::Value::Null));
                cx.emit(crate::event::EventKind::Warned { message: format!("{result:?}") });
            }
            _ => {}
        }
    }

    fn observed(&mut self, effect: &EffectId, observation: &Observation, cx: &mut Cx<'_>) {
        if matches!(observation, Observation::Step { line, .. } if line == "stop") {
            cx.cancel(effect);
        } else {
            cx.tell(effect, "go on");
        }
    }

    fn cancelled(&mut self, effect: &EffectId, cx: &mut Cx<'_>) {
        cx.emit(crate::event::EventKind::Warned { message: format!("{effect} called off") });
    }

    fn draft(&self) -> Option<Digest> {
        self.draft
    }

    fn target(&self) -> Option<Target> {
        Some(Target { path: "out.md".into(), before: None })
    }

    fn material(&self) -> Vec<Digest> {
        self.missing.into_iter().collect()
    }
}

fn pair(settings: serde_json::Value) -> NodePlan {
    NodePlan { protocol: "pair".into(), version: 1, limits: Limits::default(), settings }
}

fn start_of(root: NodePlan, person: bool) -> Start {
    let card = AgentCard {
        named_by: crate::plan::NamedBy::User,
        kind: "scripted".into(),
        model: None,
        sends_to: "this machine".into(),
        price: None,
        person,
        max_output_tokens: 10,
        timeout_ms: 1000,
        limits: Limits::default(),
        window: None,
        per_call: Limits::default(),
        continues: false,
        tools: false,
        withheld: Vec::new(),
        structured: false,
        reached_as: None,
    };
    let plan = Plan {
        caller: None,
        title: "pair".into(),
        root,
        agents: BTreeMap::from([("ann".to_owned(), card)]).into(),
        limits: Limits::default(),
        workspace: None,
    };
    Start { format: FORMAT, plan, seed: "5eed".into() }
}

fn input(what: InputKind, texts: Vec<Text>) -> Input {
    Input { at: Stamp::default(), what, texts }
}

fn begun(person: bool) -> Engine {
    let mut engine = Engine::new(Protocols::shipped().with(PAIR));
    let start = start_of(pair(serde_json::Value::Null), person);
    engine.on(&input(InputKind::Started(Box::new(start)), Vec::new())).unwrap();
    engine
}

fn id(id: &str) -> EffectId {
    id.parse().unwrap()
}

fn reply(engine: &mut Engine, effect: &str, reply: Reply, texts: Vec<Text>) -> Step {
    engine.on(&input(InputKind::Replied { effect: id(effect), reply }, texts)).unwrap()
}

fn says(engine: &mut Engine, effect: &str, said: &str) -> Step {
    let text = Text::new(said);
    let answer = Answer {
        parts: vec![Part::Blob(text.digest())],
        stop: StopReason::EndTurn,
        usage: crate::budget::Usage::default(),
        model: None,
        took_ms: 1,
        report: None,
        violations: Vec::new(),
        session: None,
    };
    reply(engine, effect, Reply::Done(answer), vec![text])
}

fn observe(engine: &mut Engine, effect: &str, line: &str) -> Step {
    let observation = Observation::step(line);
    engine.on(&input(InputKind::Observed { effect: id(effect), observation }, Vec::new())).unwrap()
}

fn resume(engine: &mut Engine) -> Step {
    let what = InputKind::Resumed { limits: Limits::default(), rounds: None, agents: BTreeMap::new() };
    engine.on(&input(what, Vec::new())).unwrap()
}

fn failed(kind: FailureKind) -> Reply {
    Reply::Failed(CallFailure { kind, message: "alas".into(), usage: crate::budget::Usage::default() })
}

fn asked(step: &Step) -> Vec<String> {
    step.effects.iter().map(|e| format!("{} {}", e.id, e.kind.name())).collect()
}

fn class(engine: &Engine) -> String {
    engine.outcome().map_or_else(|| "going".into(), Outcome::label)
}

fn nth(step: &Step) -> Vec<u32> {
    let turns = step.effects.iter();
    turns.filter_map(|e| if let EffectKind::Turn(t) = &e.kind { Some(t.nth) } else { None }).collect()
}

#[test]
fn parallel_calls_of_one_agent_carry_different_ordinals() {
    let mut engine = Engine::new(Protocols::shipped().with(PAIR));
    let start = start_of(pair(serde_json::Value::Null), false);
    let step = engine.on(&input(InputKind::Started(Box::new(start)), Vec::new())).unwrap();
    assert_eq!(nth(&step), [0, 1]);
    assert_eq!(nth(&says(&mut engine, "run#1", "call")), [2]);
    assert_eq!(nth(&resume(&mut engine)), [1, 2], "a lost call keeps its number");
}

#[test]
fn an_ended_node_waits_for_nobody_it_called() {
    let mut engine = begun(false);
    assert_eq!(asked(&says(&mut engine, "run#1", "end")), ["run#3 cancel"]);
    assert_eq!(class(&engine), "going", "the other call is still under way");
    let step = reply(&mut engine, "run#2", failed(FailureKind::Crashed), Vec::new());
    assert_eq!(asked(&step), ["run#4 save"], "its failure is nobody's any more");
    reply(&mut engine, "run#4", Reply::Saved { path: "out.md".into() }, Vec::new());
    assert_eq!(class(&engine), "approved");
}

#[test]
fn an_ended_node_asks_no_person_any_more() {
    let mut engine = begun(true);
    assert_eq!(class(&engine), "waiting(question)");
    let text = Text::new("end");
    let what = InputKind::Answered { effect: id("run#1"), text: text.digest(), by: "eve".into() };
    assert_eq!(asked(&engine.on(&input(what, vec![text])).unwrap()), ["run#3 cancel", "run#4 save"]);
    assert_eq!(engine.open_effects().count(), 1);
}

#[test]
fn a_call_that_was_called_off_is_not_repeated_after_a_crash() {
    let mut engine = begun(false);
    assert_eq!(asked(&observe(&mut engine, "run#1", "stop")), ["run#3 cancel"]);
    assert_eq!(asked(&observe(&mut engine, "run#1", "stop")), Vec::<String>::new(), "once is enough");
    assert_eq!(asked(&observe(&mut engine, "run#1", "hm")), Vec::<String>::new(), "nothing to tell it");
    assert_eq!(asked(&observe(&mut engine, "run#2", "hm")), ["run#4 tell"]);
    let step = resume(&mut engine);
    assert_eq!(asked(&step), ["run#5 turn"]);
    assert_eq!(step.effects[0].repeats, Some(id("run#2")));
}

#[test]
fn however_a_called_off_call_ends_the_run_goes_on() {
    for end in [failed(FailureKind::Timeout), Reply::Cancelled { sent: true }] {
        let mut engine = begun(false);
        observe(&mut engine, "run#1", "stop");
        let step = reply(&mut engine, "run#1", end, Vec::new());
        assert!(format!("{:?}", step.events).contains("run#1 called off"));
        assert_eq!(class(&engine), "going");
    }
    let mut engine = begun(false);
    observe(&mut engine, "run#1", "stop");
    assert_eq!(
        asked(&says(&mut engine, "run#1", "call")),
        ["run#4 turn"],
        "an answer that came first counts"
    );
}

#[test]
fn one_failure_lets_the_others_finish_and_holds_what_they_ask_for() {
    let mut engine = begun(false);
    reply(&mut engine, "run#1", failed(FailureKind::Crashed), Vec::new());
    assert_eq!(class(&engine), "going");
    assert_eq!(asked(&says(&mut engine, "run#2", "call")), Vec::<String>::new());
    assert_eq!(class(&engine), "failed");
    assert_eq!(asked(&resume(&mut engine)), ["run#4 turn", "run#3 turn"]);
}

#[test]
fn two_nodes_never_share_a_name() {
    let mut engine = begun(false);
    assert_eq!(asked(&says(&mut engine, "run#1", "child")), ["run/child#1 turn", "run/child#2 turn"]);
    let step = says(&mut engine, "run#2", "child");
    assert!(format!("{:?}", step.events).contains("exists already"));
    assert!(step.effects.is_empty());
}

#[test]
fn a_protocol_that_forgets_to_finish_is_told_on() {
    let mut engine = begun(false);
    says(&mut engine, "run#1", "idle");
    says(&mut engine, "run#2", "idle");
    assert_eq!(class(&engine), "failed");
}

#[test]
fn cancelling_calls_off_children_too() {
    let mut engine = begun(false);
    says(&mut engine, "run#1", "child");
    let step = engine.on(&input(InputKind::Controlled(Control::Cancel), Vec::new())).unwrap();
    assert_eq!(asked(&step), ["run#3 cancel", "run/child#3 cancel", "run/child#4 cancel"]);
    for effect in ["run/child#1", "run/child#2", "run#2"] {
        assert_eq!(class(&engine), "going");
        reply(&mut engine, effect, Reply::Cancelled { sent: false }, Vec::new());
    }
    assert_eq!((class(&engine).as_str(), engine.spent().calls), ("aborted", 1));
}

#[test]
fn refused_inputs_say_why_and_change_nothing() {
    let mut engine = Engine::new(Protocols::shipped().with(PAIR));
    let resumed = InputKind::Resumed { limits: Limits::default(), rounds: None, agents: BTreeMap::new() };
    assert_eq!(engine.on(&input(resumed, Vec::new())), Err(Refused::NotStarted));

    let absent = Digest::of(b"absent");
    let start = start_of(pair(serde_json::to_value(absent).unwrap()), false);
    let what = InputKind::Started(Box::new(start));
    assert_eq!(engine.on(&input(what, Vec::new())), Err(Refused::TextMissing(absent)));

    let mut newer = start_of(pair(serde_json::Value::Null), false);
    newer.format = FORMAT + 1;
    let what = InputKind::Started(Box::new(newer));
    assert_eq!(engine.on(&input(what, Vec::new())), Err(Refused::NewerFormat { found: FORMAT + 1 }));

    let mut later = start_of(pair(serde_json::Value::Null), false);
    later.plan.root.version = 2;
    let what = InputKind::Started(Box::new(later));
    assert!(matches!(engine.on(&input(what, Vec::new())), Err(Refused::BadPlan(_))));

    let mut engine = begun(false);
    let what = InputKind::Started(Box::new(start_of(pair(serde_json::Value::Null), false)));
    assert_eq!(engine.on(&input(what, Vec::new())), Err(Refused::AlreadyStarted));
    let nobody = InputKind::Answered { effect: id("run#1"), text: absent, by: "eve".into() };
    assert_eq!(engine.on(&input(nobody, Vec::new())), Err(Refused::NotAPerson(id("run#1"))));
    let answer = Answer {
        parts: vec![Part::Blob(absent)],
        stop: StopReason::EndTurn,
        usage: crate::budget::Usage::default(),
        model: None,
        took_ms: 1,
        report: None,
        violations: Vec::new(),
        session: None,
    };
    let what = InputKind::Replied { effect: id("run#1"), reply: Reply::Done(answer) };
    assert_eq!(engine.on(&input(what, Vec::new())), Err(Refused::TextMissing(absent)));
    assert_eq!(engine.open_effects().count(), 2);
}

#[test]
fn a_node_path_contains_itself_and_what_is_below() {
    let run = NodePath::root();
    assert!(run.contains(&run) && run.contains(&run.child("a")));
    assert!(!run.child("a").contains(&run.child("ab")));
}
