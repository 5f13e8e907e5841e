//! Runs as numbers: each number is one record, so that any list of them is a run. They hold every event that a
//! page shows, in orders that can happen: rounds of three nodes overlap, questions are asked again, agents change.
#![allow(dead_code, clippy::unwrap_used)] // a failing builder fails its test

use gadfly_engine::budget::{Limits, Reservation, Spent};
use gadfly_engine::deduction::Level;
use gadfly_engine::effect::EffectId;
use gadfly_engine::event::EventKind;
use gadfly_engine::goal::{Claimant, GoalStep, Nudge, ProgressVerdict, StepEnd};
use gadfly_engine::input::InputKind;
use gadfly_engine::pipeline::registry::RegistryEntry as Registered;
use gadfly_engine::pipeline::{Gate, PipelineEvent, Registry};
use gadfly_engine::plan::NodePlan;
use gadfly_engine::question::{About, Question};
use gadfly_engine::review::{Score, Verdict};
use gadfly_engine::tree::{Looked, Tree, Verified};
use gadfly_engine::turn::{Permission, Role};
use gadfly_engine::{
    AgentCard, Class, Digest, Effect, EffectKind, Event, Input, Money, NodePath, Observation, Outcome, Plan,
    Price, Reply, Stamp, Start, Step, Turn, Usage, Waiting,
};

use crate::sample;

#[derive(Clone, Copy, Debug)]
pub enum Protocol {
    Revise,
    Watch,
    Pipeline,
}

/// How many different records there are.
pub const KINDS: u8 = 30;
const AGENTS: [&str; 3] = ["librarian", "coder", "writer"];

pub struct Script {
    n: u32,
    active_ms: u64,
    effects: u32,
    steps: u32,
    rounds: [u32; 3],
    /// How many rounds had begun, of all nodes, when this node's last one did.
    begun: [u32; 3],
    all_begun: u32,
    judged: [bool; 3],
    /// Some round of this node was never judged: it would be taken up again.
    unjudged: [bool; 3],
    asked: Option<EffectId>,
    spent: Spent,
}

impl Script {
    pub fn of(protocol: Protocol, numbers: &[u8]) -> Vec<(Input, Step)> {
        let mut script = Self {
            n: 0,
            active_ms: 0,
            effects: 0,
            steps: 0,
            rounds: [0; 3],
            begun: [0; 3],
            all_begun: 0,
            judged: [true; 3],
            unjudged: [false; 3],
            asked: None,
            spent: Spent::default(),
        };
        let mut records = vec![script.begin(protocol)];
        records.extend(numbers.iter().map(|number| script.record(*number)));
        records
    }

    fn begin(&mut self, protocol: Protocol) -> (Input, Step) {
        let (name, settings, set) = match protocol {
            Protocol::Revise => {
                let settings = serde_json::json!({
                    "task": digest(), "phase": "", "rubric": ["is short"], "overrule": true,
                    "worker": "w", "critic": "c", "rounds": 3,
                });
                ("revise", settings, vec![])
            }
            Protocol::Watch => {
                let set = EventKind::GoalSet {
                    goal: digest(),
                    criterion: "`make` exits with 0".into(),
                    policy: "risk=write_local".into(),
                    interval: 5,
                    steps: 300,
                };
                let settings = serde_json::json!({
                    "goal": digest(), "worker": "w", "critic": "c", "interval": 5, "until": "manual",
                    "policy": { "risk": "write_local" }, "protect_tests": true, "held": true,
                });
                ("goal", settings, vec![set])
            }
            Protocol::Pipeline => ("pipeline", pipeline(), vec![]),
        };
        let limits = Limits { money: Some(Money(500)), ..Limits::default() };
        let root = NodePlan { protocol: name.into(), version: 1, limits, settings };
        let agents: std::collections::BTreeMap<_, _> =
            [("w".to_owned(), card(Some("m-1"), true)), ("c".to_owned(), card(None, false))].into();
        let limits = Limits { tokens: Some(9_000), money: Some(Money(900)), ..Limits::default() };
        let plan =
            Plan { caller: None, title: "t".into(), root, agents: agents.into(), limits, workspace: None };
        let start = Start { format: 1, plan, seed: "00".into() };
        self.told(InputKind::Started(Box::new(start)), 0, set, vec![])
    }

    fn told(
        &mut self,
        what: InputKind,
        node: usize,
        events: Vec<EventKind>,
        effects: Vec<Effect>,
    ) -> (Input, Step) {
        self.n += 1;
        self.active_ms += 70;
        let at = Stamp { wall_ms: 1_000 + u64::from(self.n) * 100, active_ms: self.active_ms };
        let events = events.into_iter().map(|what| Event { node: path(node), what }).collect();
        (Input { at, what, texts: vec![] }, Step { events, effects, ..Step::default() })
    }

    fn replied(&mut self) -> InputKind {
        let effect = format!("run#{}", self.effects).parse().unwrap();
        InputKind::Replied { effect, reply: Reply::Cancelled { sent: true } }
    }

    fn effect(&mut self, class: Class, kind: EffectKind) -> Effect {
        self.effects += 1;
        let id = format!("run#{}", self.effects).parse().unwrap();
        Effect { id, class, time_ms: None, reserve: Reservation::default(), repeats: None, kind }
    }

    fn turn(&mut self, agent: &str, role: Role) -> Effect {
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
        self.effect(Class::Paid, EffectKind::Turn(turn))
    }

    fn charged(&mut self, agent: &str) -> EventKind {
        let effect = format!("run#{}", self.effects).parse().unwrap();
        let usage = Usage { input: 7 + u64::from(self.n), ..Usage::default() };
        self.spent.calls += 1;
        self.spent.tokens += usage.tokens();
        self.spent.money.0 += 3;
        EventKind::Charged { effect, agent: agent.into(), usage, cost: Money(3), run: self.spent }
    }

    fn stepped(&mut self, end: StepEnd) -> EventKind {
        self.steps += 1;
        let (tool, args, preview) = ("edit".into(), "path=a".into(), "done".into());
        EventKind::Stepped { step: GoalStep { n: self.steps, tool, args, end, preview, took_ms: 3 } }
    }

    fn started(&mut self, node: usize) -> EventKind {
        // A loop that starts over counts from 1 again; one that was not judged begins its round once more.
        self.all_begun += 1;
        if self.judged[node] || self.all_begun - self.begun[node] > 3 {
            self.unjudged[node] |= !self.judged[node];
            let starts_over = self.rounds[node] == 4 && !self.unjudged[node];
            self.rounds[node] = if starts_over { 1 } else { self.rounds[node] + 1 };
            self.begun[node] = self.all_begun;
        }
        self.judged[node] = false;
        EventKind::RoundStarted { round: self.rounds[node], of: 4 }
    }

    fn reviewed(&mut self, node: usize, verdict: Verdict) -> EventKind {
        self.judged[node] = true;
        let mut event = sample::reviewed(self.rounds[node], verdict, &["Shorter."]);
        if let EventKind::Reviewed { review, .. } = &mut event {
            review.binding.critic = format!("{}-critic", AGENTS[node]);
            let (value, threshold, arithmetic) = (self.n % 100, 80, vec![]);
            let (unfloored, stated, computed) = (i64::from(value), None, true);
            review.score = Some(Score { value, unfloored, threshold, stated, computed, arithmetic });
        }
        event
    }

    #[allow(clippy::too_many_lines)] // one arm for each kind of record
    fn record(&mut self, number: u8) -> (Input, Step) {
        // Each node is at work by turns, so that none waits for long while the others go on.
        let node = self.n as usize % 3;
        let of_a_round = (22..=26).contains(&(number % KINDS));
        let is_over = self.judged[node] || self.all_begun - self.begun[node] > 35;
        let number = if of_a_round && is_over { 20 } else { number };
        let round = self.rounds[node].max(1);
        let (mut what, mut effects) = (self.replied(), vec![]);
        let mut outcome = None;
        let events = match number % KINDS {
            0..=2 => {
                let effect = format!("run#{}", self.effects).parse().unwrap();
                what =
                    InputKind::Observed { effect, observation: Observation::Note { line: "goes on".into() } };
                vec![]
            }
            3 => vec![self.stepped(StepEnd::Ok)],
            4 => vec![self.stepped(StepEnd::Err), self.stepped(StepEnd::Ok), watched(self.steps)],
            5 => {
                effects.push(self.turn("w", Role::Worker));
                vec![]
            }
            6 => {
                effects.push(self.turn("c", Role::Critic));
                vec![watched(self.steps)]
            }
            7 => vec![self.charged("w"), self.stepped(StepEnd::Blocked)],
            8 => vec![self.charged("c")],
            9 => vec![EventKind::Claimed { by: Claimant::Worker, rationale: "done".into() }],
            10 => vec![EventKind::VerificationFailed { detail: "red".into(), in_a_row: 2 }],
            11 => vec![EventKind::Warned { message: format!("warning {}", self.n) }],
            12 => {
                let question =
                    Question { about: About::Stuck, text: "Go on?".into(), choices: vec![], free: true };
                let repeats = self.asked.clone().filter(|_| self.n.is_multiple_of(2));
                let asked = self.effect(Class::Person, EffectKind::Ask(question));
                self.asked = Some(asked.id.clone());
                outcome = Some(Outcome::Waiting(Waiting::Question { effect: asked.id.clone() }));
                effects.push(Effect { repeats, ..asked });
                vec![]
            }
            13 => match self.asked.take() {
                Some(effect) => {
                    what = InputKind::Answered { effect: effect.clone(), text: digest(), by: "ada".into() };
                    vec![EventKind::PersonSaid { effect, by: "ada".into(), text: digest() }]
                }
                None => vec![],
            },
            14 => {
                self.active_ms += 5_000;
                what = InputKind::Resumed { limits: Limits::default(), rounds: None, agents: [].into() };
                let limits = Limits { money: Some(Money(1_000 + u64::from(self.n))), ..Limits::default() };
                vec![EventKind::Resumed, EventKind::LimitsRaised { limits, rounds: Some(5) }]
            }
            15 => {
                let card = Box::new(card(Some("m-9"), self.n.is_multiple_of(2)));
                vec![EventKind::AgentChanged { agent: "w".into(), card }]
            }
            16 => vec![EventKind::Saved { path: format!("/a/{}", self.n), approved: false }],
            17 => {
                let tree =
                    Tree { digest: digest(), diff: Digest::of(&self.n.to_le_bytes()), changes: vec![] };
                let effect = format!("run#{}", self.effects).parse().unwrap();
                let looked = Looked { tree: Some(tree), files: vec![] };
                what = InputKind::Replied { effect, reply: Reply::Looked(looked) };
                vec![]
            }
            18 => {
                outcome = Some(Outcome::Waiting(Waiting::Paused));
                vec![EventKind::PauseRequested, EventKind::Steered { by: "ada".into(), text: digest() }]
            }
            19 => vec![EventKind::Nudged { why: Nudge::Stuck, text: digest() }],
            20 | 21 => vec![self.started(node)],
            22 => {
                let blob = Digest::of(&self.n.to_le_bytes());
                let (bytes, given, diff) = (9, false, None);
                vec![EventKind::DraftMade { round, artifact: blob, blob, bytes, given, diff }]
            }
            23 => vec![self.charged("c"), self.reviewed(node, Verdict::Rejected), self.started(node)],
            24 => vec![self.reviewed(node, Verdict::Approved)],
            25 => vec![
                EventKind::Routed { round, route: "executor".into(), because: "it can".into() },
                EventKind::RoundEnded { round, line: format!("line {}", self.n) },
            ],
            26 => {
                let verified = Verified { runs: vec![], changed: vec![], evidence: Vec::new() };
                let round = if self.n.is_multiple_of(3) { 0 } else { round };
                vec![EventKind::VerifyRan { round, command: "make".into(), green: true, verified }]
            }
            27 => vec![
                EventKind::Summarised { line: format!("so far {}", self.n) },
                EventKind::Decided { by: "ada".into(), text: digest() },
            ],
            28 => {
                let (agent, critic) = (AGENTS[node].to_owned(), Some(format!("{}-critic", AGENTS[node])));
                let (phase, nth, loaded) = (None, self.n, vec![]);
                let sent = PipelineEvent::Dispatched { agent, at: path(node), critic, phase, nth, loaded };
                vec![EventKind::Pipeline(sent)]
            }
            _ => {
                let blocked = PipelineEvent::PairBlocked {
                    agent: AGENTS[node].into(),
                    because: format!("because {}", self.n),
                    score: None,
                    rounds: round,
                    open: vec!["mend it".into()],
                };
                vec![EventKind::Pipeline(blocked)]
            }
        };
        let (input, step) = self.told(what, node, events, effects);
        (input, Step { outcome, ..step })
    }
}

fn path(node: usize) -> NodePath {
    let root = NodePath::root();
    if node == 0 { root } else { root.child(AGENTS[node]) }
}

fn digest() -> Digest {
    Digest::of(b"x")
}

fn watched(to: u32) -> EventKind {
    let (critic, verdict) = ("c".into(), ProgressVerdict::Progressing);
    EventKind::Watched { critic, verdict, reason: "because".into(), from: 1, to }
}

fn card(model: Option<&str>, priced: bool) -> AgentCard {
    AgentCard {
        named_by: gadfly_engine::plan::NamedBy::User,
        kind: "openai".into(),
        model: model.map(str::to_owned),
        sends_to: "example.org".into(),
        price: priced.then(Price::default),
        person: false,
        max_output_tokens: 1_000,
        timeout_ms: 1_000,
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

fn pipeline() -> serde_json::Value {
    let entries = AGENTS.map(|agent| Registered {
        agent: agent.into(),
        line: 1,
        critic: Some(format!("{agent}-critic")),
        ..Registered::default()
    });
    let pair = |name: &str| {
        serde_json::json!({
            "worker": name, "identity": digest(), "task": digest(), "severity": Level::High, "threshold": 80,
        })
    };
    let pairs: serde_json::Map<_, _> = AGENTS.iter().map(|a| ((*a).to_owned(), pair(a))).collect();
    serde_json::json!({
        "project": "paper", "request": digest(), "registry": Registry { entries: entries.into() },
        "pairs": pairs, "gate": Gate::commit(), "mode": "pipeline", "jobs": 2,
    })
}
