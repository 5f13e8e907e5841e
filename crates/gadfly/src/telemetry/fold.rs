//! Records in, spans out: the same records give the same spans with the same ids, whoever folds them and however often.
//! Pure; sending and drawing spans is done elsewhere.
//!
//! A run is one trace. Every stretch of driving it is a root; a node of a pipeline is a span below the stretch it was
//! sent out in; what an effect asked for is a span below its node, or below the stretch in which it was asked for.

mod calls;
mod content;
mod verdicts;

use std::collections::BTreeMap;
use std::sync::Arc;

use gadfly_engine::event::{Event, EventKind};
use gadfly_engine::input::InputKind;
use gadfly_engine::pipeline::PipelineEvent;
use gadfly_engine::{AgentCard, Class, Digest, EffectId, NodePath, Observation, Outcome};
use gadfly_journal::{Record, RunId};

use super::conventions as names;
use super::span::{Attributes, RecordTime, Span, SpanId};
use calls::OpenSpan;

pub use calls::LOST;

/// How a stretch ended that has no outcome.
const INTERRUPTED: &str = "interrupted";

/// What may be told of what agents are told and say.
#[derive(Clone, Copy)]
pub enum ContentPolicy<'t> {
    /// Nothing.
    Nothing,
    /// What records themselves hold: findings, reasons, messages.
    Words,
    /// Prompts and replies, too; texts are looked up here.
    All(&'t dyn Fn(&Digest) -> Option<Arc<str>>),
}

impl ContentPolicy<'_> {
    const fn has_words(self) -> bool {
        !matches!(self, Self::Nothing)
    }
}

/// One run as far as it was folded. What it holds grows with what is open at once, not with the run.
pub struct TraceFold {
    run: RunId,
    protocol: String,
    title: String,
    agents: BTreeMap<String, AgentCard>,
    stretch: Option<Stretch>,
    /// Agents of a pipeline at work.
    nodes: BTreeMap<NodePath, NodeWork>,
    open: BTreeMap<EffectId, OpenSpan>,
    /// Critics' calls that were answered: their verdicts may come with a later record.
    held: Vec<Closed>,
    /// The last worker's call of a node: what its critics judge.
    judged: BTreeMap<NodePath, SpanId>,
    rounds: BTreeMap<NodePath, u32>,
    protocols: BTreeMap<NodePath, String>,
    /// Not all that the run used is known.
    is_at_least: bool,
    outcome: Option<Outcome>,
    last: RecordTime,
}

struct Stretch {
    span: Span,
}

/// A node of a pipeline, and whose work is done there.
struct NodeWork {
    agent: String,
    span: Span,
}

/// An effect that has its reply.
struct Closed {
    effect: EffectId,
    /// Who was called, and whether to judge.
    agent: Option<String>,
    judging: bool,
    span: Span,
}

impl TraceFold {
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            protocol: String::new(),
            title: String::new(),
            agents: BTreeMap::new(),
            stretch: None,
            nodes: BTreeMap::new(),
            open: BTreeMap::new(),
            held: Vec::new(),
            judged: BTreeMap::new(),
            rounds: BTreeMap::new(),
            protocols: BTreeMap::new(),
            is_at_least: false,
            outcome: None,
            last: RecordTime::default(),
        }
    }

    /// The next record; what has come to its end is put into `out`.
    pub fn take(&mut self, record: &Record, content: ContentPolicy<'_>, out: &mut Vec<Span>) {
        let at = RecordTime { ms: record.input.at.wall_ms.max(self.last.ms), seq: record.seq };
        let mut closed = self.heard(&record.input.what, at, content, out);
        self.last = at;
        for event in &record.step.events {
            self.happened(event, at, content, &mut closed, out);
        }
        for one in closed {
            // A critic's verdict may come later: several critics are heard, and then the round is decided.
            if one.judging && one.span.failed.is_none() { self.held.push(one) } else { out.push(one.span) }
        }
        for effect in record.step.effects.iter().filter(|effect| effect.kind.has_reply()) {
            self.ask(effect, at, content, out);
        }
        self.outcome.clone_from(&record.step.outcome);
    }

    /// Nobody drives the run any more, or no more is known of it. What waits for a person stays open.
    pub fn finish(&mut self, content: ContentPolicy<'_>, out: &mut Vec<Span>) {
        out.extend(self.held.drain(..).map(|held| held.span));
        if self.outcome.as_ref().is_some_and(Outcome::is_ended) {
            for (_, open) in std::mem::take(&mut self.open) {
                let mut span = open.span;
                span.fail(calls::CANCELLED);
                out.push(self.ended(span));
            }
            for (_, sent) in std::mem::take(&mut self.nodes) {
                out.push(self.ended(sent.span));
            }
        }
        self.close_stretch(content, out);
    }

    /// Somebody drives the run: what was answered is told of, and nothing else has an end yet.
    pub fn look(&mut self, out: &mut Vec<Span>) {
        out.extend(self.held.drain(..).map(|held| held.span));
    }

    /// What has no end yet: the stretch, then effects in their order.
    pub fn under_way(&self) -> impl Iterator<Item = &Span> {
        let stretch = self.stretch.iter().map(|stretch| &stretch.span);
        stretch.chain(self.open.values().map(|open| &open.span))
    }

    /// Whether the last record says how the run stands: whoever drove it then has told of its stretch.
    pub const fn is_settled(&self) -> bool {
        self.outcome.is_some()
    }

    /// The moment of the last record.
    pub const fn last_ms(&self) -> u64 {
        self.last.ms
    }

    fn ended(&self, mut span: Span) -> Span {
        span.end_ms = self.last.ms.max(span.start_ms);
        span.seqs.end = self.last.seq;
        span
    }

    fn heard(
        &mut self,
        what: &InputKind,
        at: RecordTime,
        content: ContentPolicy<'_>,
        out: &mut Vec<Span>,
    ) -> Vec<Closed> {
        match what {
            InputKind::Started(start) => {
                self.protocol.clone_from(&start.plan.root.protocol);
                self.title = start.plan.title.chars().take(400).collect();
                (*start.plan.agents).clone_into(&mut self.agents);
                self.begin_stretch(at, false);
                Vec::new()
            }
            InputKind::Resumed { agents, .. } => {
                let lost = self.lose();
                self.close_stretch(content, out);
                self.agents.extend(agents.iter().map(|(name, card)| (name.clone(), card.clone())));
                self.begin_stretch(at, true);
                lost
            }
            InputKind::Observed { effect, observation } => {
                self.observed(effect, observation, at, content);
                Vec::new()
            }
            InputKind::Replied { effect, reply } => {
                self.close(effect, at, |open| open.replied(reply, content)).into_iter().collect()
            }
            InputKind::Answered { effect, text, .. } => {
                self.close(effect, at, |open| open.answered(text, content)).into_iter().collect()
            }
            InputKind::Controlled(_) => Vec::new(),
        }
    }

    fn begin_stretch(&mut self, at: RecordTime, resumed: bool) {
        let id = SpanId::of(&self.run, "stretch", &at.seq.to_string());
        let mut span = Span::new(&self.run, id, names::INVOKE_WORKFLOW, Some(&self.protocol));
        (span.start_ms, span.end_ms, span.seqs.begin) = (at.ms, at.ms, at.seq);
        span.attributes.text(names::OPERATION, names::INVOKE_WORKFLOW.as_str());
        span.attributes.text(names::WORKFLOW, &self.protocol);
        span.attributes.flag(names::RESUMED, resumed);
        self.stretch = Some(Stretch { span });
    }

    fn close_stretch(&mut self, content: ContentPolicy<'_>, out: &mut Vec<Span>) {
        let Some(Stretch { mut span }) = self.stretch.take() else { return };
        span.attributes.text(names::OUTCOME, &self.standing());
        match &self.outcome {
            Some(Outcome::Failed { failure }) => {
                span.fail(&calls::word(failure.kind));
                if content.has_words() {
                    span.attributes.text(names::MESSAGE, &failure.message);
                }
            }
            Some(Outcome::Unverified { reason, unseen, .. }) => {
                span.fail(verdicts::UNVERIFIED);
                if content.has_words() {
                    span.attributes.text(names::MESSAGE, reason);
                }
                let told = verdicts::unverified(&self.protocol, reason, unseen, content);
                span.happened(names::EVALUATION_RESULT, self.last, told);
            }
            None => span.fail(INTERRUPTED),
            Some(_) => {}
        }
        if content.has_words() {
            span.attributes.text(names::TITLE, &self.title);
        }
        out.push(self.ended(span));
    }

    /// How the run stands, as lists of runs say it.
    fn standing(&self) -> String {
        match &self.outcome {
            None => INTERRUPTED.to_owned(),
            Some(outcome @ Outcome::Approved { overruled: true, .. }) => {
                format!("{} (overruled)", outcome.label())
            }
            Some(outcome) => outcome.label(),
        }
    }

    /// A process died: what it had under way has no reply, unless a person gives it.
    fn lose(&mut self) -> Vec<Closed> {
        let (kept, lost): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut self.open).into_iter().partition(|(_, open)| open.class == Class::Person);
        self.open = kept;
        let lost = lost.into_iter().map(|(effect, open)| {
            let mut span = open.span;
            span.fail(calls::LOST);
            Closed { effect, agent: open.agent, judging: false, span: self.ended(span) }
        });
        lost.collect()
    }

    fn observed(
        &mut self,
        effect: &EffectId,
        observation: &Observation,
        at: RecordTime,
        content: ContentPolicy<'_>,
    ) {
        let Some(open) = self.open.get_mut(effect) else { return };
        match observation {
            Observation::Step { .. } => {
                open.steps += 1;
                open.span.attributes.whole(names::STEPS, open.steps);
            }
            Observation::Retrying { attempt, kind, message } => {
                let mut said = Attributes::default();
                said.whole(names::ATTEMPT, u64::from(*attempt));
                said.text(names::ERROR_TYPE, &calls::word(*kind));
                if content.has_words() {
                    said.text(names::MESSAGE, message);
                }
                open.span.happened(names::RETRY, at, said);
            }
            Observation::Session { session } => open.span.attributes.text(names::CONVERSATION, session),
            Observation::StepEnded { .. }
            | Observation::Note { .. }
            | Observation::Usage { .. }
            | Observation::Guarded { .. }
            | Observation::Stopped { .. }
            | Observation::Used { .. } => {}
        }
    }

    /// The span that what happens at a node is told on.
    fn span_at(&mut self, node: &NodePath) -> Option<&mut Span> {
        let sent = self.nodes.keys().rfind(|at| at.contains(node)).cloned();
        match sent {
            Some(at) => self.nodes.get_mut(&at).map(|sent| &mut sent.span),
            None => self.stretch.as_mut().map(|stretch| &mut stretch.span),
        }
    }

    fn tell(&mut self, node: &NodePath, name: names::EventName, at: RecordTime, said: Attributes) {
        if let Some(span) = self.span_at(node) {
            span.happened(name, at, said);
        }
    }

    fn happened(
        &mut self,
        event: &Event,
        at: RecordTime,
        content: ContentPolicy<'_>,
        closed: &mut [Closed],
        out: &mut Vec<Span>,
    ) {
        let node = &event.node;
        let mut said = Attributes::default();
        match &event.what {
            EventKind::NodeStarted { protocol } => {
                self.protocols.insert(node.clone(), protocol.clone());
            }
            EventKind::RoundStarted { round, .. } => {
                self.release(node, out);
                self.rounds.insert(node.clone(), *round);
                said.whole(names::ROUND, u64::from(*round));
                self.tell(node, names::ROUND_STARTED, at, said);
            }
            EventKind::Charged { effect, agent, usage, cost, run } => {
                let is_priced = self.agents.get(agent).is_none_or(|card| card.price.is_some() || card.person);
                let is_known = is_priced || usage.cost.is_some() || usage.tokens() == 0;
                if let Some(one) = closed.iter_mut().find(|one| one.effect == *effect) {
                    calls::charge(&mut one.span, usage, *cost, is_known);
                }
                self.is_at_least |= run.unknown || !is_known;
                if let Some(stretch) = &mut self.stretch {
                    let sums = &mut stretch.span.attributes;
                    sums.whole(names::CALLS, u64::from(run.calls));
                    sums.whole(names::TOKENS, run.tokens);
                    sums.number(names::COST, run.money.usd());
                    if self.is_at_least {
                        sums.flag(names::USAGE_UNKNOWN, true);
                    }
                }
            }
            EventKind::Violated { effect, agent, .. } => {
                said.text(names::CRITIC, agent);
                match closed.iter_mut().find(|one| one.effect == *effect) {
                    Some(one) => {
                        one.span.happened(names::VIOLATED, at, said);
                        one.span.fail("violation");
                    }
                    None => self.tell(node, names::VIOLATED, at, said),
                }
            }
            EventKind::FellBack { from, to, .. } => {
                said.text(names::FROM, from);
                said.text(names::TO, to);
                self.tell(node, names::FELL_BACK, at, said);
            }
            EventKind::Escalated { round, to, .. } => {
                said.whole(names::ROUND, u64::from(*round));
                said.text(names::TO, to);
                self.tell(node, names::ESCALATED, at, said);
            }
            EventKind::Stalled { round, stalls } => {
                said.whole(names::ROUND, u64::from(*round));
                let signs: Vec<String> = stalls.iter().map(ToString::to_string).collect();
                said.texts(names::SIGN, signs.iter().map(String::as_str));
                self.tell(node, names::STALLED, at, said);
            }
            EventKind::PauseRequested => self.tell(node, names::PAUSE_REQUESTED, at, said),
            EventKind::CancelRequested => self.tell(node, names::CANCEL_REQUESTED, at, said),
            EventKind::Steered { .. } => self.tell(node, names::STEERED, at, said),
            EventKind::Stepped { step } => self.stepped(node, step, at, content, out),
            EventKind::Pipeline(PipelineEvent::Dispatched { agent, at: path, critic, nth, .. }) => {
                self.dispatched(agent, path, critic.as_deref(), *nth, at);
            }
            _ => self.judged(event, at, content, closed, out),
        }
    }

    /// An agent of a pipeline is sent out.
    fn dispatched(&mut self, agent: &str, path: &NodePath, critic: Option<&str>, nth: u32, at: RecordTime) {
        let id = SpanId::of(&self.run, "node", &path.0);
        let mut span = Span::new(&self.run, id, names::INVOKE_AGENT, Some(agent));
        span.parent = self.stretch.as_ref().map(|stretch| stretch.span.id);
        (span.start_ms, span.end_ms, span.seqs.begin) = (at.ms, at.ms, at.seq);
        span.attributes.text(names::OPERATION, names::INVOKE_AGENT.as_str());
        span.attributes.text(names::AGENT, agent);
        span.attributes.text(names::NODE, &path.0);
        span.attributes.whole(names::ROUND, u64::from(nth));
        if let Some(critic) = critic {
            span.attributes.text(names::CRITIC, critic);
        }
        self.nodes.insert(path.clone(), NodeWork { agent: agent.to_owned(), span });
    }

    /// The critics' calls at a node are told of without a further word: the next draft is made there now.
    fn release(&mut self, node: &NodePath, out: &mut Vec<Span>) {
        let (gone, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.held).into_iter().partition(|held| held.effect.node == *node);
        self.held = kept;
        out.extend(gone.into_iter().map(|held| held.span));
    }
}

#[cfg(test)]
pub mod tests;
