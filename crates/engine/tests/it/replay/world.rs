//! A host and a world for the machine: answers are a function of what is asked and how often it was
//! answered before, so that a run cut anywhere meets the same world again.

use std::collections::{BTreeMap, BTreeSet};

use gadfly_engine::budget::{Money, Usage};
use gadfly_engine::effect::{Class, EffectId, FailureKind, Observation, Reply};
use gadfly_engine::input::{FORMAT, Input, InputKind, Stamp, Start};
use gadfly_engine::machine::Refused;
use gadfly_engine::protocol::Protocols;
use gadfly_engine::{
    AgentCard, Answer, CallFailure, Control, Digest, Effect, EffectKind, Engine, Limits, Outcome, Part,
    Permission, Plan, Role, Step, StopReason, Text, Waiting,
};

use super::fan::{RULE_BOOK, Shape};

/// What one call reserves and the most it uses.
pub const PER_CALL: u64 = 50;
/// Far more inputs than any of these runs needs.
const BOUND: usize = 3_000;

/// A small generator (splitmix64): a case is one number.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }
}

pub fn protocols() -> Protocols {
    Protocols::shipped().with(RULE_BOOK)
}

/// How unruly the host is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Host {
    /// Only answers and resumes.
    Diligent,
    /// Also observes, pauses and dies.
    Unruly,
    /// Also cancels the run once.
    Cancelling,
}

pub struct World {
    pub engine: Engine,
    pub records: Vec<(Input, Step)>,
    seed: u64,
    dice: Dice,
    cap: u64,
    active_ms: u64,
    answered: BTreeSet<EffectId>,
    /// How often each brief was answered.
    attempts: BTreeMap<Digest, u64>,
    /// The host stopped a call by itself since the run was last taken up.
    interrupted: bool,
}

impl World {
    pub fn start(shape: &Shape, seed: u64, cap: u64) -> Self {
        let card = |person| AgentCard {
            named_by: gadfly_engine::plan::NamedBy::User,
            kind: "scripted".into(),
            model: None,
            sends_to: "this machine".into(),
            price: None,
            person,
            max_output_tokens: 10,
            timeout_ms: 1000,
            limits: Limits::default(),
            window: None,
            per_call: Limits { tokens: Some(PER_CALL), money: Some(Money(0)), ..Limits::default() },
            continues: false,
            tools: false,
            withheld: Vec::new(),
            structured: false,
            reached_as: None,
        };
        let agents = [("worker", false), ("critic", false), ("person", true)]
            .map(|(name, person)| (name.to_owned(), card(person)));
        let limits = Limits { tokens: Some(cap), ..Limits::default() };
        let plan = Plan {
            caller: None,
            title: "fan".into(),
            root: shape.plan(),
            agents: std::sync::Arc::new(agents.into()),
            limits,
            workspace: None,
        };
        let mut world = Self::around(Engine::new(protocols()), seed, cap);
        world.put(
            InputKind::Started(Box::new(Start { format: FORMAT, plan, seed: "5eed".into() })),
            Vec::new(),
        );
        world
    }

    fn around(engine: Engine, seed: u64, cap: u64) -> Self {
        Self {
            engine,
            records: Vec::new(),
            seed,
            dice: Dice(seed),
            cap,
            active_ms: 0,
            answered: BTreeSet::new(),
            attempts: BTreeMap::new(),
            interrupted: false,
        }
    }

    /// Takes a run up after the process died behind these records.
    pub fn take_up(engine: Engine, prefix: &[(Input, Step)], seed: u64, cap: u64) -> Self {
        let mut world = Self::around(engine, seed, cap);
        for (input, step) in prefix {
            world.remember(input);
            world.records.push((input.clone(), step.clone()));
        }
        world.active_ms = world.engine.active_ms();
        world
    }

    /// What the world itself knows from the record: which briefs it answered, which caps were raised.
    fn remember(&mut self, input: &Input) {
        self.interrupted = match &input.what {
            InputKind::Replied { reply: Reply::Cancelled { .. }, .. } => true,
            InputKind::Resumed { .. } => false,
            _ => self.interrupted,
        };
        match &input.what {
            InputKind::Replied { effect, .. } | InputKind::Answered { effect, .. } => {
                assert!(self.answered.insert(effect.clone()), "{effect} was answered twice");
                if let Some(asked) = self.asked(effect) {
                    *self.attempts.entry(asked).or_default() += 1;
                }
            }
            InputKind::Resumed { limits, .. } => self.cap = limits.tokens.unwrap_or(self.cap),
            _ => {}
        }
    }

    fn asked(&self, id: &EffectId) -> Option<Digest> {
        let effects = self.records.iter().flat_map(|(_, step)| &step.effects);
        brief(effects.rev().find(|e| e.id == *id)?)
    }

    pub fn put(&mut self, what: InputKind, texts: Vec<Text>) {
        self.active_ms += 1;
        let input = Input { at: Stamp { wall_ms: 0, active_ms: self.active_ms }, what, texts };
        let step = self.engine.on(&input).unwrap();
        self.remember(&input);
        self.check(&step);
        self.records.push((input, step));
    }

    /// What must hold after every step.
    fn check(&self, step: &Step) {
        for effect in &step.effects {
            if let EffectKind::Turn(turn) = &effect.kind {
                let expected =
                    if turn.role == Role::Critic { Permission::ReadOnly } else { Permission::Write };
                assert_eq!(turn.permission, expected);
            }
            let known = self.records.iter().flat_map(|(_, s)| &s.effects).any(|e| e.id == effect.id);
            assert!(!known, "{} was given out twice", effect.id);
        }
        let reserved: u64 = self.engine.open_effects().map(|e| e.reserve.tokens).sum();
        let spent = self.engine.spent().tokens;
        assert!(spent + reserved <= self.cap, "{spent} spent, {reserved} reserved, cap {}", self.cap);
        let stuck = self.engine.open_effects().next().is_none() && self.engine.outcome().is_none();
        assert!(!stuck || self.interrupted, "nothing is under way and nothing came of it");
    }

    /// Runs to an end. Says how it ended.
    pub fn run(&mut self, host: Host) -> String {
        let mut unruly = if host == Host::Diligent { 0 } else { 40 };
        let mut cancel_in = (host == Host::Cancelling).then(|| self.dice.roll(25));
        for _ in 0..BOUND {
            if let Some(outcome) = self.engine.outcome().filter(|o| o.is_ended()) {
                return outcome.label();
            }
            if cancel_in == Some(0) {
                self.put(InputKind::Controlled(Control::Cancel), Vec::new());
                cancel_in = None;
                continue;
            }
            cancel_in = cancel_in.map(|n| n - 1);
            if unruly > 0 {
                unruly -= 1;
                if self.mischief() {
                    continue;
                }
            }
            self.go_on();
        }
        panic!("no end after {BOUND} inputs: {:?}", self.engine.outcome());
    }

    fn mischief(&mut self) -> bool {
        match self.dice.roll(10) {
            0 => self.put(InputKind::Controlled(Control::Pause), Vec::new()),
            1 => self.resume(),
            2..=4 => {
                let working: Vec<EffectId> = self
                    .engine
                    .open_effects()
                    .filter(|e| matches!(&e.kind, EffectKind::Turn(t) if t.role == Role::Worker))
                    .map(|e| e.id.clone())
                    .collect();
                if working.is_empty() {
                    return false;
                }
                let at = usize::try_from(self.dice.roll(working.len() as u64)).unwrap();
                let line = if self.dice.roll(2) == 0 { "goes astray" } else { "goes well" };
                let observation = Observation::step(line);
                self.put(InputKind::Observed { effect: working[at].clone(), observation }, Vec::new());
            }
            5 => self.answer_twice(),
            _ => return false,
        }
        true
    }

    /// A second reply is refused and changes nothing.
    fn answer_twice(&mut self) {
        let Some(effect) = self.answered.last().cloned() else { return };
        let what = InputKind::Replied { effect: effect.clone(), reply: Reply::Cancelled { sent: true } };
        let input = Input { at: Stamp::default(), what, texts: Vec::new() };
        assert_eq!(self.engine.on(&input), Err(Refused::NotOpen(effect)));
    }

    pub fn resume(&mut self) {
        let short = matches!(self.engine.outcome(), Some(Outcome::OutOfBudget { .. }));
        let limits = Limits { tokens: short.then_some(self.cap + 10 * PER_CALL), ..Limits::default() };
        self.put(InputKind::Resumed { limits, rounds: None, agents: BTreeMap::new() }, Vec::new());
    }

    /// Resumes a parked run, or answers something that is open.
    fn go_on(&mut self) {
        let parked = self.engine.outcome().is_some();
        let question = matches!(self.engine.outcome(), Some(Outcome::Waiting(Waiting::Question { .. })));
        let open: Vec<Effect> = self.engine.open_effects().cloned().collect();
        if open.is_empty() || (parked && !question) {
            return self.resume();
        }
        let effect = &open[usize::try_from(self.dice.roll(open.len() as u64)).unwrap()];
        let tried = brief(effect).and_then(|b| self.attempts.get(&b).copied()).unwrap_or(0);
        let cancelled = self
            .records
            .iter()
            .flat_map(|(_, s)| &s.effects)
            .any(|e| matches!(&e.kind, EffectKind::Cancel { target } if *target == effect.id));
        let (reply, text) = self.reply(effect, tried, cancelled);
        let what = match text {
            Some(text) if effect.class == Class::Person => {
                InputKind::Answered { effect: effect.id.clone(), text, by: "eve".into() }
            }
            _ => InputKind::Replied { effect: effect.id.clone(), reply: reply.0 },
        };
        self.put(what, reply.1);
    }

    /// The world's answer: it may fail or babble twice, then it says what it always says.
    fn reply(&self, effect: &Effect, tried: u64, cancelled: bool) -> ((Reply, Vec<Text>), Option<Digest>) {
        let bare = |reply| ((reply, Vec::new()), None);
        let EffectKind::Turn(turn) = &effect.kind else {
            return bare(Reply::Saved { path: "out.md".into() });
        };
        let asked = brief(effect).unwrap_or_else(|| Digest::of(b""));
        let hash = |salt: u64| Dice(u64::from(asked.as_bytes()[0]) ^ self.seed ^ (salt << 8)).roll(12);
        let mood = hash(tried + 1);
        if effect.class != Class::Person {
            if cancelled && mood < 8 {
                return bare(Reply::Cancelled { sent: mood % 2 == 0 });
            }
            let failed = |kind| {
                let usage = Usage { input: PER_CALL / 2, ..Usage::default() };
                bare(Reply::Failed(CallFailure { kind, message: "alas".into(), usage }))
            };
            match mood {
                _ if tried >= 2 => {}
                0 => return failed(FailureKind::Unavailable),
                1 => return failed(FailureKind::Timeout),
                2 => {
                    return bare(Reply::DeniedQuota {
                        until_ms: None,
                        message: "later".into(),
                        usage: Usage::default(),
                    });
                }
                3 => return bare(Reply::Cancelled { sent: tried == 0 }),
                _ => {}
            }
        }
        let said = match turn.role {
            Role::Worker | Role::Advisor => format!("work on {asked}"),
            Role::Critic if tried < 2 && mood == 4 => "Hm.".into(),
            Role::Critic if hash(0) < 8 => "[STATUS: APPROVED]\nGood.".into(),
            Role::Critic => "[STATUS: REJECTED]\n- fix it".into(),
        };
        let text = Text::new(said);
        let digest = text.digest();
        let answer = Answer {
            parts: vec![Part::Blob(digest)],
            stop: StopReason::EndTurn,
            usage: Usage { input: PER_CALL / 2, output: mood, ..Usage::default() },
            model: None,
            report: None,
            violations: Vec::new(),
            session: None,
            took_ms: 1,
        };
        ((Reply::Done(answer), vec![text]), Some(digest))
    }
}

/// What a call is about, whatever it is named and however often it was repeated. Marks differ with the
/// effect's id, stored texts do not.
fn brief(effect: &Effect) -> Option<Digest> {
    let EffectKind::Turn(turn) = &effect.kind else { return None };
    let parts = &turn.messages.first()?.parts;
    let stored = parts.iter().filter(|p| !matches!(p, Part::Text(_)));
    let named = if turn.role == Role::Critic { stored.collect() } else { parts.iter().collect::<Vec<_>>() };
    Some(Digest::of(&serde_json::to_vec(&named).unwrap()))
}
