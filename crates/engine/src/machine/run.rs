//! One run's state and how each kind of input moves it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::calls::{HeldWork, OpenEffect};
use super::cx::{AgentAnswer, Cx};
use super::replies::{bad_reply, stopped_short};
use super::saving::Merging;
use super::tool_loop::ToolLoop;
use super::{Refused, Step};
use crate::budget::{Account, Ledger, Limits, Shortage};
use crate::digest::Digest;
use crate::effect::{
    Answer, CallFailure, Class, EffectId, EffectKind, FailureKind, NodePath, Observation, Reply, StopReason,
};
use crate::event::{Event, EventKind};
use crate::input::{Control, Input, InputKind, Start};
use crate::manifest::RunManifest;
use crate::outcome::{Outcome, Waiting};
use crate::plan::{AgentCard, NodePlan, Plan};
use crate::protocol::{Protocol, Protocols};
use crate::question::Picked;
use crate::text::{Text, Texts};
use crate::turn::{Part, Role};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RunMode {
    Going,
    Pausing,
    Cancelling,
}

pub(super) struct Node {
    /// Taken out while it is being told something, so that it can act on the run.
    pub protocol: Option<Box<dyn Protocol>>,
    pub next_effect: u32,
    /// What was done for models at work for this node, counted.
    pub steps: u32,
    pub ended: bool,
    /// It is told of a cap before the run parks for it.
    pub wants_final_turn: bool,
}

pub(super) struct Run {
    protocols: Protocols,
    pub plan: Plan,
    /// What the protocol said it would do.
    pub manifest: RunManifest,
    pub seed: String,
    pub texts: Texts,
    pub nodes: BTreeMap<NodePath, Node>,
    pub open: BTreeMap<EffectId, Box<OpenEffect>>,
    /// Calls that wait for the run to go on: requested while pausing, failed, lost or unaffordable.
    pub held: VecDeque<HeldWork>,
    /// Nodes whose folder was seen, so that it must be there.
    pub looked: BTreeSet<NodePath>,
    /// Tasks that were asked for again, with the id they were first asked for under.
    pub attempts: BTreeMap<EffectId, EffectId>,
    pub ledger: Ledger,
    pub mode: RunMode,
    /// How often it was resumed.
    pub resumes: u32,
    /// Why the run will park or end as soon as nothing is under way.
    pub ending: Option<Outcome>,
    /// Nodes below the root that wait for the run to be resumed, each with its reason. The others go on.
    pub parked: Vec<(NodePath, Outcome)>,
    pub outcome: Option<Outcome>,
    pub last_active_ms: u64,
    /// Replies recorded per agent and role: the ordinal a call carries.
    pub replies: BTreeMap<(String, Role), u32>,
    /// The conversation a worker of a node may go on with.
    pub sessions: BTreeMap<(NodePath, String), String>,
    /// Workers that work with tools of ours, by the id their call was first made under.
    pub tool_loop: BTreeMap<EffectId, ToolLoop>,
    /// What was last written to `FILE.unapproved`.
    pub unapproved_saved: Option<Digest>,
    /// The approved draft is on disk.
    pub approved_saved: bool,
    /// The effect that brings the result of the whole run to the user, while it is under way.
    pub delivery: Option<EffectId>,
    /// What a person is asked, or decided, about files that changed on both sides.
    pub merging: Option<Merging>,
    pub step: Step,
    /// Nodes created or ended during this step, told about in order.
    pub pending: VecDeque<Pending>,
}

pub(super) enum Pending {
    Start(NodePath),
    ChildEnded {
        parent: NodePath,
        child: NodePath,
        outcome: Outcome,
    },
    /// A node can do nothing before a person does something.
    ChildWaits {
        parent: NodePath,
        child: NodePath,
    },
    Capped {
        node: NodePath,
        shortage: Shortage,
    },
}

impl Run {
    pub fn start(start: &Start, input: &Input, protocols: &Protocols) -> Result<(Self, Step), Refused> {
        let mut run = Self {
            protocols: protocols.clone(),
            plan: start.plan.clone(),
            manifest: RunManifest::default(),
            seed: start.seed.clone(),
            texts: Texts::default(),
            nodes: BTreeMap::new(),
            open: BTreeMap::new(),
            held: VecDeque::new(),
            looked: BTreeSet::new(),
            attempts: BTreeMap::new(),
            ledger: Ledger::default(),
            mode: RunMode::Going,
            resumes: 0,
            ending: None,
            parked: Vec::new(),
            outcome: None,
            last_active_ms: input.at.active_ms,
            replies: BTreeMap::new(),
            sessions: BTreeMap::new(),
            tool_loop: BTreeMap::new(),
            unapproved_saved: None,
            approved_saved: false,
            delivery: None,
            merging: None,
            step: Step::default(),
            pending: VecDeque::new(),
        };
        for text in &input.texts {
            run.texts.insert(text);
        }
        run.ledger.limit(Account::Run, start.plan.limits);
        for (name, card) in &*start.plan.agents {
            run.ledger.limit(Account::Agent(name.clone()), card.limits);
        }
        let root = NodePath::root();
        run.add_node(&root, &start.plan.root)?;
        run.manifest = protocols.manifest(&start.plan).map_err(Refused::BadPlan)?;
        run.unlisted_target()?;
        run.drain();
        run.conclude();
        let step = std::mem::take(&mut run.step);
        Ok((run, step))
    }

    /// The file a result goes to is one that the manifest names: it is what the user agreed to.
    fn unlisted_target(&self) -> Result<(), Refused> {
        let Some(target) = self.root().and_then(Protocol::target) else { return Ok(()) };
        if self.manifest.worker().is_none() || self.manifest.result() == Some(target.path.as_str()) {
            return Ok(());
        }
        Err(Refused::BadPlan(format!("its manifest does not name the file it writes, {}", target.path)))
    }

    pub fn add_node(&mut self, path: &NodePath, plan: &NodePlan) -> Result<(), Refused> {
        if self.nodes.contains_key(path) {
            // Its ids would begin at 1 again, and two effects would share a name.
            return Err(Refused::BadPlan(format!(
                "a node `{path}` exists already: give the new one another name"
            )));
        }
        let protocol = self.protocols.begin(plan).map_err(Refused::BadPlan)?;
        if let Some(missing) = protocol.material().into_iter().find(|d| !self.texts.contains(d)) {
            return Err(Refused::TextMissing(missing));
        }
        let wants_final_turn = protocol.wants_final_turn();
        self.ledger.limit(Account::Node(path.clone()), plan.limits);
        let node =
            Node { protocol: Some(protocol), next_effect: 1, steps: 0, ended: false, wants_final_turn };
        self.nodes.insert(path.clone(), node);
        self.emit(path, EventKind::NodeStarted { protocol: plan.protocol.clone() });
        self.pending.push_back(Pending::Start(path.clone()));
        Ok(())
    }

    /// Would this input be accepted? Everything after this cannot fail.
    pub fn check(&self, input: &Input) -> Result<(), Refused> {
        if let Some(outcome) = self.outcome.as_ref().filter(|o| o.is_ended()) {
            return Err(Refused::Ended(outcome.label()));
        }
        let brought = |d: &Digest| self.texts.contains(d) || input.texts.iter().any(|t| t.digest() == *d);
        match &input.what {
            InputKind::Started(_) => Err(Refused::AlreadyStarted),
            InputKind::Observed { effect, .. } => self.must_be_open(effect).map(|_| ()),
            InputKind::Replied { effect, reply } => {
                self.must_be_open(effect)?;
                match super::tasks::named_texts(reply).into_iter().find(|d| !brought(d)) {
                    Some(missing) => Err(Refused::TextMissing(missing)),
                    None => Ok(()),
                }
            }
            InputKind::Answered { effect, text, .. } => {
                let open = self.must_be_open(effect)?;
                if open.effect.class != Class::Person {
                    return Err(Refused::NotAPerson(effect.clone()));
                }
                if !brought(text) {
                    return Err(Refused::TextMissing(*text));
                }
                let said = input.texts.iter().find(|t| t.digest() == *text);
                let said = said.map_or_else(|| self.texts.get(text), Text::as_str);
                match &open.effect.kind {
                    EffectKind::Ask(question) => match question.pick(said) {
                        Picked::Neither(why) => Err(Refused::NoSuchChoice(why)),
                        _ => Ok(()),
                    },
                    _ => Ok(()),
                }
            }
            InputKind::Controlled(_) | InputKind::Resumed { .. } => Ok(()),
        }
    }

    fn must_be_open(&self, effect: &EffectId) -> Result<&OpenEffect, Refused> {
        self.open.get(effect).map(|open| &**open).ok_or_else(|| Refused::NotOpen(effect.clone()))
    }

    pub fn on(&mut self, input: &Input) -> Step {
        for text in &input.texts {
            self.texts.insert(text);
        }
        self.pass_time(input.at.active_ms);
        self.outcome = None;
        match &input.what {
            InputKind::Started(_) => {}
            InputKind::Observed { effect, observation } => self.observed(effect, observation),
            InputKind::Replied { effect, reply } => self.replied(effect, reply),
            InputKind::Answered { effect, text, by } if self.is_question(effect) => {
                self.person_said(effect, *text, by);
            }
            InputKind::Answered { effect, text, .. } => {
                let answer = Answer {
                    parts: vec![Part::Blob(*text)],
                    stop: StopReason::EndTurn,
                    usage: crate::budget::Usage::default(),
                    model: None,
                    took_ms: 0,
                    report: None,
                    violations: Vec::new(),
                    session: None,
                };
                self.replied(effect, &Reply::Done(answer));
            }
            InputKind::Controlled(control) => self.controlled(control),
            InputKind::Resumed { limits, rounds, agents } => self.resumed(*limits, *rounds, agents),
        }
        self.drain();
        self.conclude();
        std::mem::take(&mut self.step)
    }

    /// A node is charged only while something other than a person is at work for it.
    fn pass_time(&mut self, active_ms: u64) {
        let passed = active_ms.saturating_sub(self.last_active_ms);
        self.last_active_ms = self.last_active_ms.max(active_ms);
        if passed == 0 {
            return;
        }
        let mut accounts: Vec<Account> = self
            .open
            .values()
            .filter(|o| o.effect.class != Class::Person)
            .flat_map(|o| Self::accounts(&o.effect.id.node, o.call.as_ref().map(|c| c.agent.as_str())))
            .collect();
        accounts.sort();
        accounts.dedup();
        self.ledger.tick(&accounts, passed);
    }

    fn observed(&mut self, effect: &EffectId, observation: &Observation) {
        let node = effect.node.clone();
        if let Some(open) = self.open.get_mut(effect) {
            open.begun.hear(observation);
            if let Observation::Usage { usage } = observation {
                open.used = *usage;
            }
        }
        if let Observation::Session { session } = observation
            && let Some(call) = self.open.get(effect).and_then(|o| o.call.as_ref())
            && call.role == Role::Worker
        {
            self.sessions.insert((node.clone(), call.agent.clone()), session.clone());
        }
        self.tell(&node, |protocol, cx| protocol.observed(effect, observation, cx));
    }

    fn replied(&mut self, id: &EffectId, reply: &Reply) {
        let Some(open) = self.open.remove(id) else { return };
        self.charge(&open, reply);
        let OpenEffect { effect, call, cancelled, begun, .. } = *open;
        let Some(call) = call else { return self.task_replied(effect, reply, cancelled) };
        if !matches!(reply, Reply::Cancelled { .. }) {
            let count = self.replies.entry((call.agent.clone(), call.role)).or_insert(0);
            *count = count.saturating_add(1);
        }
        let node = id.node.clone();
        if self.mode == RunMode::Cancelling || self.has_ended(&node) {
            return;
        }
        if let Some(dispatch) = call.tool_loop.as_ref().filter(|_| cancelled) {
            return self.hands_off(dispatch);
        }
        let failure = match reply {
            Reply::Done(answer) if !answer.violations.is_empty() => {
                return self.violated(id, call, &answer.violations);
            }
            Reply::Done(answer) => match stopped_short(answer, call.role) {
                None => {
                    if let Some(session) = answer.session.clone().filter(|_| call.role == Role::Worker) {
                        self.sessions.insert((node.clone(), call.agent.clone()), session);
                    }
                    let text = self.answer_text(answer);
                    let calls = answer.calls();
                    if let Some(dispatch) = call.tool_loop {
                        return self.hands_said(id, dispatch, text, calls);
                    }
                    let answered =
                        AgentAnswer { effect: id.clone(), text, report: answer.report, calls, call };
                    return self.tell(&node, |protocol, cx| protocol.answered(answered, cx));
                }
                Some(_) if cancelled => return self.tell(&node, |protocol, cx| protocol.cancelled(id, cx)),
                Some(failure) => failure,
            },
            // The node wanted no answer any more: how the call ended without one is the same to it.
            _ if cancelled => return self.tell(&node, |protocol, cx| protocol.cancelled(id, cx)),
            Reply::Failed(failure) if failure.kind == FailureKind::BrokenOff && effect.repeats.is_none() => {
                return self.try_again(id, call, failure);
            }
            Reply::Failed(failure) => failure.clone(),
            // The host stopped before the call was through: it is repeated when the run is resumed.
            Reply::Cancelled { .. } => return self.hold(id, call, begun),
            // Who only watches is no reason to stand still.
            Reply::DeniedQuota { message, usage, .. } if call.own_failures && call.role == Role::Critic => {
                CallFailure { kind: FailureKind::RateLimited, message: message.clone(), usage: *usage }
            }
            Reply::DeniedQuota { until_ms, message, .. } => {
                self.hold(id, call, begun);
                self.end_with(Outcome::Waiting(Waiting::Quota {
                    until_ms: *until_ms,
                    message: message.clone(),
                }));
                return;
            }
            Reply::Conflict { message } => {
                bad_reply(format!("an agent's call was answered as a save: {message}"))
            }
            Reply::Saved { .. }
            | Reply::Looked(_)
            | Reply::Examined(_)
            | Reply::Verified(_)
            | Reply::Accepted { .. }
            | Reply::Surveyed(_)
            | Reply::Tool(_)
            | Reply::Conflicts(_) => bad_reply("an agent's call was answered as something else".to_owned()),
        };
        self.call_failed(id, call, failure, begun);
    }

    fn controlled(&mut self, control: &Control) {
        let root = NodePath::root();
        match control {
            Control::Pause => {
                self.emit(&root, EventKind::PauseRequested);
                if self.mode == RunMode::Going {
                    self.mode = RunMode::Pausing;
                }
            }
            Control::Steer { text, by } => {
                let (text, by) = (self.intern(text.clone()), by.clone());
                self.emit(&root, EventKind::Steered { by, text });
                self.tell(&root, |protocol, cx| protocol.steered(text, cx));
            }
            Control::Cancel => {
                self.emit(&root, EventKind::CancelRequested);
                self.mode = RunMode::Cancelling;
                if self.delivery.is_some() && self.ending.as_ref().is_some_and(Outcome::is_ended) {
                    // The verdict is in and its draft is being written: that is not broken off. If the reply says
                    // that it was not, the run ends without it.
                    return;
                }
                self.ending = Some(Outcome::Aborted);
                self.held.clear();
                self.tool_loop.clear();
                self.merging = None;
                self.cancel_calls_of(&root);
            }
        }
    }

    fn resumed(&mut self, limits: Limits, rounds: Option<u32>, agents: &BTreeMap<String, AgentCard>) {
        let root = NodePath::root();
        self.emit(&root, EventKind::Resumed);
        self.resumes = self.resumes.saturating_add(1);
        if self.mode != RunMode::Cancelling {
            self.mode = RunMode::Going;
            // A reached end stays one: only its save may have been lost.
            self.ending = self.ending.take().filter(Outcome::is_ended);
        }
        self.parked.clear();
        if limits != Limits::default() || rounds.is_some() {
            self.emit(&root, EventKind::LimitsRaised { limits, rounds });
            self.ledger.raise(&Account::Run, limits);
            self.ledger.raise(&Account::Node(root.clone()), limits);
            self.plan.limits = self.plan.limits.with(limits);
        }
        for (name, card) in agents {
            self.emit(&root, EventKind::AgentChanged { agent: name.clone(), card: Box::new(card.clone()) });
            self.ledger.limit(Account::Agent(name.clone()), card.limits);
            Arc::make_mut(&mut self.plan.agents).insert(name.clone(), card.clone());
        }
        if let Some(rounds) = rounds {
            self.tell(&root, |protocol, _| protocol.raise_rounds(rounds));
        }
        self.take_up_lost();
        self.release_held();
    }

    /// Tells one node something, with a context through which it can act.
    pub fn tell(&mut self, path: &NodePath, say: impl FnOnce(&mut dyn Protocol, &mut Cx<'_>)) {
        let Some(node) = self.nodes.get_mut(path).filter(|n| !n.ended) else { return };
        let Some(mut protocol) = node.protocol.take() else { return };
        say(protocol.as_mut(), &mut Cx { run: self, node: path });
        if let Some(node) = self.nodes.get_mut(path) {
            node.protocol = Some(protocol);
        }
    }

    pub fn has_ended(&self, path: &NodePath) -> bool {
        self.nodes.get(path).is_none_or(|n| n.ended)
    }

    /// A node is through, and so is everything below it: what it still asked for is called off.
    pub fn end_node(&mut self, path: &NodePath) {
        for (_, node) in self.nodes.iter_mut().filter(|(p, _)| path.contains(p)) {
            node.ended = true;
        }
        self.parked.retain(|(parked, _)| !path.contains(parked));
        self.tool_loop.retain(|dispatch, _| !path.contains(&dispatch.node));
        self.held.retain(|h| {
            let of = match h {
                HeldWork::Call { node, .. } | HeldWork::Task { node, .. } | HeldWork::Node(node) => node,
                HeldWork::Lost { id, .. } | HeldWork::GoOn { id, .. } => &id.node,
                HeldWork::Ending(_) => return true,
            };
            !path.contains(of)
        });
        self.cancel_calls_of(path);
    }

    fn drain(&mut self) {
        while let Some(next) = self.pending.pop_front() {
            match next {
                Pending::Start(path) => self.tell(&path, |protocol, cx| protocol.start(cx)),
                Pending::Capped { node, shortage }
                    if self.mode == RunMode::Going && self.ending.is_none() =>
                {
                    self.tell(&node, |protocol, cx| protocol.budget_exhausted(shortage, cx));
                }
                // Nothing can be said now.
                Pending::Capped { shortage, .. } => self.end_with(Outcome::OutOfBudget { shortage }),
                Pending::ChildEnded { parent, child, outcome } => {
                    self.tell(&parent, |protocol, cx| protocol.child_ended(&child, &outcome, cx));
                }
                Pending::ChildWaits { parent, child } => {
                    self.tell(&parent, |protocol, cx| protocol.child_waits(&child, cx));
                }
            }
        }
    }

    /// Ends or parks the run if nothing is under way any more; saves the draft first.
    fn conclude(&mut self) {
        if self.open.values().any(|o| o.effect.class != Class::Person) {
            return;
        }
        if let Some(effect) = self.asked_about_conflicts().cloned() {
            return self.reach(Outcome::Waiting(Waiting::Question { effect }));
        }
        if let Some(ending) = self.ending.clone() {
            if let Some(save) = self.save_before(&ending) {
                self.issue_save(save);
                return;
            }
            return self.reach(ending);
        }
        if self.mode == RunMode::Pausing {
            return self.reach(Outcome::Waiting(Waiting::Paused));
        }
        if let Some(effect) = self.open.keys().next().cloned() {
            return self.reach(Outcome::Waiting(Waiting::Question { effect }));
        }
        if let Some((_, outcome)) = self.parked.first().cloned() {
            return self.reach(outcome);
        }
        if !self.held.is_empty() {
            // The host stopped with calls unsent: the run is interrupted, which is no outcome.
            return;
        }
        let message = "the protocol asked for nothing and did not finish: this is a defect of the protocol";
        self.reach(Outcome::Failed { failure: bad_reply(message.to_owned()) });
    }

    fn reach(&mut self, mut outcome: Outcome) {
        if let Outcome::Unverified { draft, .. } = &mut outcome {
            *draft = self.root().and_then(Protocol::draft);
        }
        self.outcome = Some(outcome.clone());
        self.step.outcome = Some(outcome);
    }

    /// A node cannot go on before the run is resumed. Of the root, the run stops; of a node below it, only that one does,
    /// and the run parks when nobody else has anything left to do.
    pub fn park(&mut self, node: &NodePath, outcome: Outcome) {
        let Some(parent) = node.parent() else { return self.end_with(outcome) };
        if self.has_ended(node) || self.parked.iter().any(|(parked, _)| parked == node) {
            return;
        }
        self.parked.push((node.clone(), outcome));
        self.pending.push_back(Pending::ChildWaits { parent, child: node.clone() });
    }

    /// Whether all that is open for a node is a question to a person, or its own parking.
    pub fn is_waiting(&self, node: &NodePath) -> bool {
        let mut open = self.open.values().filter(|open| node.contains(&open.effect.id.node)).peekable();
        let is_parked = self.parked.iter().any(|(parked, _)| node.contains(parked));
        let has_open = open.peek().is_some();
        (is_parked || has_open) && open.all(|open| open.effect.class == Class::Person)
    }

    /// The first reason to stop wins, but an end wins over a parking.
    pub fn end_with(&mut self, outcome: Outcome) {
        if self.ending.as_ref().is_none_or(|e| !e.is_ended() && outcome.is_ended()) {
            self.ending = Some(outcome);
        }
    }

    pub fn root(&self) -> Option<&dyn Protocol> {
        self.nodes.get(&NodePath::root()).and_then(|n| n.protocol.as_deref())
    }

    pub fn emit(&mut self, node: &NodePath, what: EventKind) {
        self.step.events.push(Event { node: node.clone(), what });
    }

    /// Stores a text the engine wrote.
    pub fn intern(&mut self, body: impl Into<Cow<'static, str>>) -> Digest {
        let text = match body.into() {
            Cow::Borrowed(shipped) => Text::shipped(shipped),
            Cow::Owned(body) => Text::new(body),
        };
        let digest = text.digest();
        if !self.texts.contains(&digest) {
            self.texts.insert(&text);
            self.step.texts.push(text);
        }
        digest
    }
}
