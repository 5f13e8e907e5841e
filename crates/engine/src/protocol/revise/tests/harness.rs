//! A table at which scripted people sit: replies in, a compact transcript out. Every critic call that
//! passes over it is checked for what must hold in any run.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::budget::{Limits, Money, Price, Usage};
use crate::effect::{
    Answer, CallFailure, Class, Effect, EffectId, EffectKind, FailureKind, Reply, StopReason,
};
use crate::event::Happened;
use crate::input::{Control, FORMAT, Input, Stamp, Start, What};
use crate::machine::{Engine, Refused, Step};
use crate::plan::{AgentCard, Plan, Target};
use crate::protocol::revise::Settings;
use crate::text::Text;
use crate::turn::{Part, Permission, Role};

pub const SEED: &str = "5eed";
/// Stands in the task, which no critic may see.
pub const TASK: &str = "Write about the moon, says the person.";
/// Stands in workers' reasoning, which no critic may see.
pub const THOUGHT: &str = "a private thought";

pub struct Table {
    pub engine: Engine,
    pub records: Vec<(Input, Step)>,
    pub settings: Settings,
    pub limits: Limits,
    pub agents: BTreeMap<String, AgentCard>,
    texts: Vec<Text>,
    active_ms: u64,
    log: String,
}

pub fn card() -> AgentCard {
    AgentCard {
        kind: "scripted".into(),
        model: None,
        sends_to: "this machine".into(),
        price: Some(Price { input: 1, output: 1, ..Price::default() }),
        person: false,
        max_output_tokens: 1000,
        timeout_ms: 60_000,
        limits: Limits::default(),
        per_call: Limits { tokens: Some(100), money: Some(Money(100)), ..Limits::default() },
    }
}

impl Table {
    pub fn new() -> Self {
        let task = Text::new(TASK);
        let settings = Settings {
            task: task.digest(),
            phase: "paper".into(),
            rubric: vec!["Every number has a unit.".into()],
            references: Vec::new(),
            draft: None,
            worker: "ann".into(),
            critic: "cato".into(),
            fallback_critic: None,
            rounds: 3,
            overrule: true,
            out: None,
        };
        let agents = ["ann", "cato", "dora"].map(|name| (name.to_owned(), card())).into();
        Self {
            engine: Engine::default(),
            records: Vec::new(),
            settings,
            limits: Limits::default(),
            agents,
            texts: vec![task],
            active_ms: 0,
            log: String::new(),
        }
    }

    pub fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    pub fn saving(self) -> Self {
        self.with(|s| s.out = Some(Target { path: "out.md".into(), before: None }))
    }

    pub fn limited(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub fn person(mut self, name: &str) -> Self {
        self.agents.entry(name.into()).and_modify(|c| c.person = true);
        self
    }

    /// Brings a text of the user's.
    pub fn bring(&mut self, body: &str) -> crate::digest::Digest {
        let text = Text::new(body);
        self.texts.push(text.clone());
        text.digest()
    }

    pub fn start(mut self) -> Self {
        let root = self.settings.node_plan(Limits::default()).unwrap();
        let plan = Plan { title: "moon".into(), root, agents: self.agents.clone(), limits: self.limits };
        let start = Start { format: FORMAT, plan, seed: SEED.into() };
        let texts = std::mem::take(&mut self.texts);
        self.put("start", What::Started(Box::new(start)), texts);
        self
    }

    /// The one effect that is under way.
    pub fn open(&self) -> Effect {
        let open: Vec<&Effect> = self.engine.open_effects().collect();
        assert_eq!(open.len(), 1, "one open effect expected\n{}", self.log);
        open[0].clone()
    }

    pub fn says(&mut self, reply: &str) -> &mut Self {
        self.says_using(reply, Usage { input: 10, output: 10, ..Usage::default() })
    }

    pub fn says_using(&mut self, reply: &str, usage: Usage) -> &mut Self {
        self.done(reply, StopReason::EndTurn, usage)
    }

    pub fn stops(&mut self, reply: &str, stop: StopReason) -> &mut Self {
        self.done(reply, stop, Usage::default())
    }

    fn done(&mut self, reply: &str, stop: StopReason, usage: Usage) -> &mut Self {
        let text = Text::new(reply);
        let answer = Answer { parts: vec![Part::Blob(text.digest())], stop, usage, model: None, took_ms: 5 };
        let shown = crate::brief::one_line(reply);
        self.reply_with(&format!("“{shown}”"), Reply::Done(answer), vec![text])
    }

    pub fn fails(&mut self, kind: FailureKind) -> &mut Self {
        let failure = CallFailure { kind, message: "alas".into(), usage: Usage::default() };
        self.reply_with(&format!("failed({kind})"), Reply::Failed(failure), Vec::new())
    }

    pub fn replies(&mut self, reply: Reply) -> &mut Self {
        let shown = match &reply {
            Reply::DeniedQuota { .. } => "quota",
            Reply::Conflict { .. } => "conflict",
            Reply::Saved { .. } => "saved",
            Reply::Cancelled { sent: true } => "cancelled, sent",
            Reply::Cancelled { sent: false } => "cancelled, unsent",
            Reply::Done(_) | Reply::Failed(_) => "reply",
        };
        self.reply_with(shown, reply, Vec::new())
    }

    pub fn saved(&mut self) -> &mut Self {
        self.replies(Reply::Saved { path: "out.md".into() })
    }

    fn reply_with(&mut self, shown: &str, reply: Reply, texts: Vec<Text>) -> &mut Self {
        let effect = self.open().id;
        self.put(&format!("{effect} {shown}"), What::Replied { effect, reply }, texts)
    }

    pub fn answers(&mut self, reply: &str) -> &mut Self {
        let (effect, text) = (self.open().id, Text::new(reply));
        let shown = format!("{effect} person “{}”", crate::brief::one_line(reply));
        self.put(&shown, What::Answered { effect, text: text.digest(), by: "eve".into() }, vec![text])
    }

    pub fn control(&mut self, control: Control) -> &mut Self {
        let shown = format!("{control:?}").to_lowercase();
        self.put(&shown, What::Controlled(control), Vec::new())
    }

    pub fn resume(&mut self) -> &mut Self {
        self.resume_with(Limits::default(), None)
    }

    pub fn resume_with(&mut self, limits: Limits, rounds: Option<u32>) -> &mut Self {
        self.put("resume", What::Resumed { limits, rounds, agents: BTreeMap::new() }, Vec::new())
    }

    pub fn passes(&mut self, ms: u64) -> &mut Self {
        self.active_ms += ms;
        self
    }

    fn put(&mut self, shown: &str, what: What, texts: Vec<Text>) -> &mut Self {
        self.try_put(shown, what, texts).unwrap();
        self
    }

    pub fn try_put(&mut self, shown: &str, what: What, texts: Vec<Text>) -> Result<(), Refused> {
        let input = Input { at: Stamp { wall_ms: 0, active_ms: self.active_ms }, what, texts };
        let step = self.engine.on(&input)?;
        let _ = writeln!(self.log, "> {shown}");
        for event in &step.events {
            if let Some(line) = event_line(&event.what) {
                let _ = writeln!(self.log, "  {line}");
            }
        }
        for effect in &step.effects {
            let _ = writeln!(self.log, "  {}", effect_line(effect));
            self.check(effect);
        }
        if let Some(outcome) = &step.outcome {
            let _ = writeln!(self.log, "  = {}", outcome.label());
        }
        self.records.push((input, step));
        Ok(())
    }

    /// What holds for every call of every run: rules 2 and 3.
    fn check(&self, effect: &Effect) {
        let EffectKind::Turn(turn) = &effect.kind else { return };
        let expected = if turn.role == Role::Critic { Permission::ReadOnly } else { Permission::Write };
        assert_eq!(turn.permission, expected);
        if turn.role == Role::Critic {
            let prompt = self.prompt(effect);
            assert!(!prompt.contains(TASK), "the critic was shown the task:\n{prompt}");
            assert!(!prompt.contains(THOUGHT), "the critic was shown the worker's reasoning:\n{prompt}");
        }
    }

    pub fn prompt(&self, effect: &Effect) -> String {
        let EffectKind::Turn(turn) = &effect.kind else { return String::new() };
        let texts = self.engine.texts().unwrap();
        turn.messages.iter().map(|m| m.render(texts)).collect::<Vec<_>>().join("\n")
    }

    pub fn log(&self) -> &str {
        &self.log
    }

    pub fn class(&self) -> String {
        self.engine.outcome().map_or_else(|| "going".into(), crate::outcome::Outcome::label)
    }

    pub fn calls(&self, role: Role) -> usize {
        self.records
            .iter()
            .flat_map(|(_, step)| &step.effects)
            .filter(|e| matches!(&e.kind, EffectKind::Turn(t) if t.role == role))
            .count()
    }

    pub fn effect(&self, id: &str) -> Effect {
        let id: EffectId = id.parse().unwrap();
        self.records.iter().flat_map(|(_, s)| &s.effects).find(|e| e.id == id).unwrap().clone()
    }
}

fn effect_line(effect: &Effect) -> String {
    let what = match &effect.kind {
        EffectKind::Turn(turn) => format!("ask {} {}", turn.role.name(), turn.agent),
        EffectKind::Save(save) if save.approved => "save approved".to_owned(),
        EffectKind::Save(_) => "save unapproved".to_owned(),
        EffectKind::Cancel { target } => format!("cancel {target}"),
        EffectKind::Tell { target, .. } => format!("tell {target}"),
    };
    let person = if effect.class == Class::Person { " (person)" } else { "" };
    let repeats = effect.repeats.as_ref().map_or(String::new(), |r| format!(" again, for {r}"));
    format!("{} {what}{person}{repeats}", effect.id)
}

fn event_line(event: &Happened) -> Option<String> {
    Some(match event {
        Happened::RoundStarted { round, of } => format!("round {round} of {of}"),
        Happened::DraftMade { given: true, .. } => "draft given".into(),
        Happened::SelfVerdictNoted { line, .. } => format!("self verdict: {line}"),
        Happened::ChangedUnasked { sections, .. } => format!("changed unasked: {}", sections.join(", ")),
        Happened::Reviewed { review, .. } => {
            let open: Vec<String> =
                review.open.iter().map(|i| format!("{}. {} (since {})", i.number, i.text, i.since)).collect();
            format!("{:?} {}", review.verdict, open.join(" | ")).trim_end().to_owned()
        }
        Happened::ReplyMalformed { problem, restating, .. } => {
            let then = if *restating { ", restate" } else { "" };
            format!("malformed{then}: {}", problem.lines().next().unwrap_or_default())
        }
        Happened::Stalled { stalls, .. } => format!("stalled: {stalls:?}"),
        Happened::RejectionOverruled { notes, .. } => format!("overruled: {}", notes.join(" | ")),
        Happened::FellBack { from, to, because } => format!("{from} → {to}: {because}"),
        Happened::CallFailed { effect, failure, .. } => format!("{effect} failed: {failure}"),
        Happened::CallLost { effect, .. } => format!("{effect} lost"),
        Happened::Overran { shortage } => format!("overran: {shortage}"),
        Happened::SaveRefused { message, .. } => format!("save refused: {message}"),
        Happened::LimitsRaised { .. } => "limits raised".into(),
        Happened::NodeStarted { .. }
        | Happened::DraftMade { .. }
        | Happened::Charged { .. }
        | Happened::Saved { .. }
        | Happened::Warned { .. }
        | Happened::PauseRequested
        | Happened::CancelRequested
        | Happened::Resumed
        | Happened::AgentChanged { .. } => return None,
    })
}
