//! The clock, the spending and the usual inputs of a made-up run, shared by loops and goals.

use std::collections::BTreeMap;

use gadfly_engine::budget::{Limits, Spent};
use gadfly_engine::effect::{EffectId, Reply};
use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::{
    AgentCard, Answer, Digest, Event, Input, Money, NodePath, Observation, Outcome, Part, Plan, Price, Stamp,
    Start, Step, StopReason, Text, Usage,
};

use super::begins_ms;

/// One run as it is told, a record at a time.
pub(super) struct Telling {
    wall_ms: u64,
    active_ms: u64,
    effect: u32,
    spent: Spent,
}

impl Telling {
    pub(super) fn new(n: u32) -> Self {
        Self { wall_ms: begins_ms(n), active_ms: 0, effect: 0, spent: Spent::default() }
    }

    fn input(&mut self, what: InputKind, texts: Vec<Text>) -> Input {
        let at = Stamp { wall_ms: self.wall_ms, active_ms: self.active_ms };
        self.wall_ms += 1_300;
        self.active_ms += 1_300;
        Input { at, what, texts }
    }

    pub(super) fn begin(&mut self, title: &str, protocol: &str, settings: serde_json::Value) -> Input {
        let limits = Limits {
            tokens: Some(50_000_000),
            money: Some(Money(20_000_000_000)),
            active_ms: Some(86_400_000),
            ..Limits::default()
        };
        let root = NodePlan { protocol: protocol.into(), version: 1, limits: Limits::default(), settings };
        let agents = BTreeMap::from([("writer".to_owned(), card("m-1")), ("reader".to_owned(), card("m-2"))]);
        let plan =
            Plan { caller: None, title: title.into(), root, agents: agents.into(), limits, workspace: None };
        let start = Start { format: 1, plan, seed: "00ff".into() };
        self.input(InputKind::Started(Box::new(start)), vec![Text::new(format!("The task of {title}."))])
    }

    /// The effect that the next reply belongs to.
    pub(super) fn open(&self) -> EffectId {
        EffectId { node: NodePath::root(), n: self.effect + 1 }
    }

    /// An agent's answer, and the event that charges it.
    pub(super) fn answered(&mut self, agent: &str, text: Text) -> (Input, EventKind) {
        let effect = self.open();
        self.effect += 1;
        let usage = Usage { input: 1_800, output: 420, ..Usage::default() };
        let cost = Money(2_000_000);
        self.spent.calls += 1;
        self.spent.tokens += usage.tokens();
        self.spent.money.0 += cost.0;
        self.spent.active_ms = self.active_ms;
        let answer = Answer {
            parts: vec![Part::Blob(text.digest())],
            stop: StopReason::EndTurn,
            usage,
            model: Some("m-1".into()),
            took_ms: 1_200,
            report: None,
            violations: vec![],
            session: None,
        };
        let charged =
            EventKind::Charged { effect: effect.clone(), agent: agent.into(), usage, cost, run: self.spent };
        let what = InputKind::Replied { effect, reply: Reply::Done(answer) };
        (self.input(what, vec![text]), charged)
    }

    pub(super) fn observed(&mut self, line: String) -> Input {
        let effect = self.open();
        self.input(InputKind::Observed { effect, observation: Observation::step(line) }, vec![])
    }
}

pub(super) fn step(events: Vec<EventKind>, outcome: Option<Outcome>) -> Step {
    let events = events.into_iter().map(|what| Event { node: NodePath::root(), what }).collect();
    Step { events, outcome, ..Step::default() }
}

/// Words in an order that differs from one text to the next.
pub(super) fn prose(of: &str, n: u32, sentences: u32) -> Text {
    const WORDS: [&str; 16] = [
        "signal", "method", "we", "measured", "the", "result", "and", "table", "response", "latency",
        "however", "model", "paper", "section", "shows", "clearly",
    ];
    let mut text = format!("# {of}, version {n}\n\n");
    for sentence in 0..sentences {
        for byte in &Digest::of(format!("{of} {n} {sentence}").as_bytes()).as_bytes()[..12] {
            text.push_str(WORDS[usize::from(byte % 16)]);
            text.push(' ');
        }
        text.push_str(if sentence % 4 == 3 { ".\n\n" } else { ".\n" });
    }
    Text::new(text)
}

fn card(model: &str) -> AgentCard {
    AgentCard {
        named_by: gadfly_engine::plan::NamedBy::User,
        kind: "openai".into(),
        model: Some(model.into()),
        sends_to: "api.example.org".into(),
        price: Some(Price { input: 500, output: 2_000, as_of: "2026-11-01".into(), ..Price::default() }),
        person: false,
        max_output_tokens: 4_000,
        timeout_ms: 600_000,
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
