//! What a protocol can do. Permissions are not among its parameters: they follow from the role.

use std::sync::Arc;

use super::calls::{CallSpec, HeldWork};
use super::going_on::CallProgress;
use super::run::{Pending, Run};
use crate::brief::{self, ColdView};
use crate::budget::{Account, CapScope, Limits, Reservation, Shortage, Spent};
use crate::digest::Digest;
use crate::effect::{CallFailure, EffectId, EffectKind, NodePath};
use crate::event::EventKind;
use crate::judging::{ColdCase, Piece};
use crate::outcome::Outcome;
use crate::pipeline::listing::Survey;
use crate::plan::{AgentCard, NodePlan};
use crate::protocol::PairResult;
use crate::question::Question;
use crate::reading::Unread;
use crate::reading::person::{self, PersonVerdict};
use crate::reading::quoted::Shown;
use crate::text::Texts;
use crate::tool::policy::OwnTools;
use crate::tool::{ToolCall, ToolUse};
use crate::tree::{Accept, CommitFiles, Look, Verify};
use crate::turn::{Message, Part, Role, VerdictAsked};

/// An agent's readable answer, with the call it belongs to.
#[derive(Clone, Debug)]
pub struct AgentAnswer {
    pub effect: EffectId,
    pub text: Digest,
    /// The file the call asked for, if the agent wrote it.
    pub report: Option<Digest>,
    /// The tools it wants to be used, in order.
    pub calls: Vec<ToolCall>,
    pub(super) call: CallSpec,
}

/// A call that failed, for a node that wants to know.
#[derive(Clone, Debug)]
pub struct FailedCall {
    pub effect: EffectId,
    pub failure: CallFailure,
    pub(super) call: CallSpec,
    pub(super) begun: CallProgress,
}

impl FailedCall {
    pub const fn role(&self) -> Role {
        self.call.role
    }

    pub const fn tag(&self) -> u32 {
        self.call.tag
    }
}

/// One turn of somebody a node leads itself, turn by turn. What it may do follows from the role.
#[derive(Clone, Debug)]
pub struct LedTurn<'a> {
    pub agent: &'a str,
    pub role: Role,
    pub messages: Vec<Message>,
    /// The tools a model is offered, as a stored text.
    pub tools: Option<Digest>,
    /// The state of the run's folder it works on, if it has tools of its own.
    pub tree: Option<Digest>,
    pub tag: u32,
    pub kept: CapScope,
    /// How many parts of the first message are the same in its next turn.
    pub settled: usize,
    /// The tools of its own that an autonomous worker may not use.
    pub own: Option<OwnTools>,
}

impl AgentAnswer {
    pub const fn role(&self) -> Role {
        self.call.role
    }

    pub fn agent(&self) -> &str {
        &self.call.agent
    }

    /// What the protocol said this call is about.
    pub const fn tag(&self) -> u32 {
        self.call.tag
    }

    /// It came after a request to restate.
    pub fn is_restated(&self) -> bool {
        self.call.is_restated()
    }
}

/// Whom to ask for a judgement.
#[derive(Clone, Copy, Debug)]
pub struct CriticCall<'a> {
    pub agent: &'a str,
    pub fallback: Option<&'a str>,
    /// Template texts, in order.
    pub instructions: &'a [&'static str],
    /// What its answer is held to, if it can be.
    pub schema: Option<&'static str>,
}

/// Whom to ask for work, or for advice.
#[derive(Clone, Debug)]
pub struct WorkerCall<'a> {
    pub agent: &'a str,
    pub messages: Vec<Message>,
    /// The agent works in the run's folder, which is put into this state first.
    pub tree: Option<Digest>,
    /// It only advises: read-only, and its answer is text for others.
    pub advice: bool,
    pub tag: u32,
}

fn spec(role: Role, agent: &str, messages: Vec<Message>) -> CallSpec {
    let brief = messages.len();
    let messages = messages.into();
    CallSpec {
        role,
        agent: agent.to_owned(),
        messages,
        brief,
        fallback: None,
        tag: 0,
        tree: None,
        schema: None,
        report: None,
        form: None,
        settled: 0,
        tools: None,
        kept: CapScope::All,
        own_failures: false,
        tool_loop: None,
        verdict: None,
        case: None,
        goes_on: false,
        own: None,
    }
}

pub struct Cx<'a> {
    pub(super) run: &'a mut Run,
    pub(super) node: &'a NodePath,
}

impl Cx<'_> {
    pub fn text(&self, digest: &Digest) -> &str {
        self.run.texts.get(digest)
    }

    pub const fn texts(&self) -> &Texts {
        &self.run.texts
    }

    /// Stores a text and gives its name.
    pub fn intern(&mut self, text: impl Into<std::borrow::Cow<'static, str>>) -> Digest {
        self.run.intern(text)
    }

    pub fn emit(&mut self, what: EventKind) {
        self.run.emit(self.node, what);
    }

    pub fn call_worker(&mut self, agent: &str, messages: Vec<Message>) -> EffectId {
        let id = self.run.next_id(self.node);
        let spec = spec(Role::Worker, agent, messages);
        self.run.request(id.clone(), spec, None);
        id
    }

    /// As `call_worker`, in the run's folder or as an advisor.
    pub fn call(&mut self, call: WorkerCall<'_>) -> EffectId {
        let id = self.run.next_id(self.node);
        let role = if call.advice { Role::Advisor } else { Role::Worker };
        let mut spec = spec(role, call.agent, call.messages);
        (spec.tag, spec.tree) = (call.tag, call.tree);
        self.run.request(id.clone(), spec, None);
        id
    }

    /// A turn of somebody this node leads. If the call fails, the node is told with `failed`.
    pub fn lead(&mut self, turn: LedTurn<'_>) -> EffectId {
        let id = self.run.next_id(self.node);
        let mut spec = spec(turn.role, turn.agent, turn.messages);
        (spec.tag, spec.tree, spec.tools) = (turn.tag, turn.tree, turn.tools);
        (spec.kept, spec.own_failures, spec.settled) = (turn.kept, true, turn.settled);
        spec.own = turn.own;
        self.run.request(id.clone(), spec, None);
        id
    }

    /// The fence around data in a critic's brief.
    pub fn fence(&self, enclosed: &[Digest]) -> String {
        brief::fence(&self.run.seed, Role::Critic, &self.run.texts, enclosed)
    }

    /// Can this agent be held to a schema?
    pub fn is_structured(&self, agent: &str) -> bool {
        self.run.plan.agents.get(agent).is_some_and(|card| card.structured)
    }

    /// Is this agent somebody who answers in person?
    pub fn is_person(&self, agent: &str) -> bool {
        self.run.plan.agents.get(agent).is_some_and(AgentCard::is_person)
    }

    /// Has something done. It comes back as `Learned::Tool`, or as `lost`.
    pub fn tool(&mut self, what: ToolUse) -> EffectId {
        self.task(EffectKind::Tool(what))
    }

    /// As `tool`, again: the earlier attempt was lost.
    pub fn tool_again(&mut self, what: ToolUse, lost: &EffectId) -> EffectId {
        let id = self.run.next_id(self.node);
        self.run.request_task(id.clone(), EffectKind::Tool(what), Some(lost.clone()));
        id
    }

    /// What follows from a failed call in every other protocol: the run parks, and the call is made again when
    /// it is resumed.
    pub fn give_up(&mut self, failed: FailedCall) {
        let FailedCall { effect, failure, call, begun } = failed;
        self.run.give_up(&effect, call, failure, begun);
    }

    /// This node's call of this role that is under way.
    pub fn at_work(&self, role: Role) -> Option<EffectId> {
        let mine = |o: &super::calls::OpenEffect| {
            o.effect.id.node == *self.node && !o.cancelled && o.call.as_ref().is_some_and(|c| c.role == role)
        };
        self.run.open.values().find(|o| mine(o)).map(|o| o.effect.id.clone())
    }

    /// Takes back a call of this node that waits for the run to go on. The node is told when it does, with
    /// `resumed`.
    pub fn recall(&mut self, role: Role) -> bool {
        let node = self.node;
        let before = self.run.held.len();
        self.run.held.retain(
            |held| !matches!(held, HeldWork::Call { node: of, call, .. } if of == node && call.role == role),
        );
        let recalled = self.run.held.len() < before;
        if recalled {
            self.run.held.push_back(HeldWork::Node(node.clone()));
        }
        recalled
    }

    /// What this node asks people is not asked any more.
    pub fn withdraw_questions(&mut self) {
        let node = self.node;
        self.run.open.retain(|id, open| id.node != *node || !matches!(open.effect.kind, EffectKind::Ask(_)));
        self.run.held.retain(
            |held| !matches!(held, HeldWork::Task { node: of, kind: EffectKind::Ask(_), .. } if of == node),
        );
    }

    /// What this node has spent, and what it may spend.
    pub fn spent(&self) -> (Spent, Limits) {
        let account = Account::Node(self.node.clone());
        (self.run.ledger.spent(&account), self.run.ledger.limits(&account))
    }

    /// The cap that would be in the way of making all of these calls, one after the other.
    pub fn shortage(&self, calls: &[(&str, &[Message], Option<Digest>)]) -> Option<Shortage> {
        let mut wanted = Reservation::default();
        let mut agents = Vec::new();
        for (agent, messages, tools) in calls {
            let card = self.run.plan.agents.get(*agent)?;
            let worst = self.run.worst_case(messages, tools.as_ref(), card);
            wanted.tokens = wanted.tokens.saturating_add(worst.tokens);
            wanted.money.0 = wanted.money.0.saturating_add(worst.money.0);
            agents.push(Account::Agent((*agent).to_owned()));
        }
        let mut accounts = Run::accounts(self.node, None);
        accounts.extend(agents);
        self.run.ledger.fits(&accounts, wanted, CapScope::All).err()
    }

    /// Whether this agent's last words can be paid for: they keep to no other cap.
    pub fn affords_last_words(&self, agent: &str, messages: &[Message]) -> bool {
        let Some(card) = self.run.plan.agents.get(agent) else { return false };
        let worst = self.run.worst_case(messages, None, card);
        let accounts = Run::accounts(self.node, Some(agent));
        self.run.ledger.fits(&accounts, worst, CapScope::MoneyOnly).is_ok()
    }

    /// How often the run was resumed so far.
    pub const fn resumes(&self) -> u32 {
        self.run.resumes
    }

    /// Whether this agent is offered tools of ours.
    pub fn is_offered_tools(&self, agent: &str) -> bool {
        self.run.plan.agents.get(agent).is_some_and(|card| card.tools)
    }

    /// The window of an agent, in tokens, and the most it may answer.
    pub fn window(&self, agent: &str) -> Option<(u64, u64)> {
        let card = self.run.plan.agents.get(agent)?;
        card.window.map(|window| (window, card.max_output_tokens))
    }

    /// Asks a critic one part of a case; see `judging`, which is the way protocols do it.
    pub(crate) fn call_judge(
        &mut self,
        (agent, fallback): (&str, Option<&str>),
        case: &ColdCase<'_>,
        pieces: &[Piece],
        tag: u32,
    ) -> EffectId {
        let id = self.run.next_id(self.node);
        let instructions = self.instructions(agent, case.instructions);
        let structured = case.structured.filter(|_| self.is_structured(agent));
        let held = case.structured.is_none() || structured.is_some();
        let schema = case.schema.filter(|_| held).map(|s| self.run.intern(s));
        let verdict = VerdictAsked { passes_at: case.passes_at };
        let form = if self.is_person(agent) {
            person::form(verdict)
        } else {
            structured.unwrap_or(case.form).to_owned()
        };
        let form = self.run.intern(form);
        let fence = brief::fence(&self.run.seed, Role::Critic, &self.run.texts, &case.enclosed(pieces));
        let (message, settled) = case.message(&instructions, pieces, &fence, form);
        let mut spec = spec(Role::Critic, agent, vec![message]);
        (spec.form, spec.settled) = (Some(form), settled);
        spec.fallback = fallback.map(ToOwned::to_owned);
        (spec.tag, spec.tree, spec.schema) = (tag, case.tree, schema);
        spec.verdict = Some(verdict);
        spec.case = self.typed_may_judge([Some(agent), fallback]).then(|| Arc::new(case.judged(pieces)));
        spec.report = case.report.map(ToOwned::to_owned);
        self.run.request(id.clone(), spec, None);
        id
    }

    /// How to judge, for a model. A person is shown the case and asked for a verdict.
    fn instructions(&mut self, agent: &str, texts: &[&'static str]) -> Vec<Digest> {
        let told: &[&'static str] = if self.is_person(agent) { &[] } else { texts };
        told.iter().map(|text| self.run.intern(*text)).collect()
    }

    /// Looks at the run's folder.
    pub fn look(&mut self, look: Look) -> EffectId {
        self.task(EffectKind::Look(look))
    }

    /// Has a command run in the run's folder.
    pub fn verify(&mut self, verify: Verify) -> EffectId {
        self.task(EffectKind::Verify(verify))
    }

    /// Asks a person. The answer comes as `Learned::Said`.
    pub fn ask(&mut self, question: Question) -> EffectId {
        let about = question.about;
        let id = self.task(EffectKind::Ask(question));
        self.emit(EventKind::Asked { effect: id.clone(), about });
        id
    }

    /// Looks at the user's project.
    pub fn survey(&mut self, survey: Survey) -> EffectId {
        self.task(EffectKind::Survey(survey))
    }

    /// Brings a judged tree of this node, or of one below it, to the user. The run's own result is brought when it
    /// ends.
    pub fn accept(&mut self, accept: Accept) -> EffectId {
        self.task(EffectKind::Accept(accept))
    }

    /// Puts files that were delivered on a branch.
    pub fn commit(&mut self, commit: CommitFiles) -> EffectId {
        self.task(EffectKind::Commit(commit))
    }

    /// What a node below this one, through or not, has come to.
    pub fn result_of(&self, child: &NodePath) -> Option<PairResult> {
        let protocol = self.run.nodes.get(child)?.protocol.as_ref()?;
        protocol.result(&self.run.texts)
    }

    pub(crate) fn task(&mut self, kind: EffectKind) -> EffectId {
        let id = self.run.next_id(self.node);
        self.run.request_task(id.clone(), kind, None);
        id
    }

    /// As `task`, although the time may be up: it gets a short time of its own.
    pub(crate) fn task_beyond_clock(&mut self, kind: EffectKind) -> EffectId {
        let id = self.run.next_id(self.node);
        self.run.request_beyond_clock(id.clone(), kind);
        id
    }

    /// Whether a task is the one that was first asked for under this id, perhaps again because its reply was lost.
    pub fn is_attempt_of(&self, task: &EffectId, first: &EffectId) -> bool {
        task == first || self.run.attempts.get(task) == Some(first)
    }

    /// Parks this node; when the run goes on the protocol is told with `resumed`.
    pub fn park(&mut self, outcome: Outcome) {
        self.run.held.push_back(HeldWork::Node(self.node.clone()));
        self.run.park(self.node, outcome);
    }

    /// Whether a node below this one can do nothing before a person does something.
    pub fn is_waiting(&self, child: &NodePath) -> bool {
        self.run.is_waiting(child)
    }

    /// Parks the run for a cap that is in the way of something of this node's, which is held.
    pub fn out_of_budget(&mut self, shortage: Shortage) {
        self.run.end_with(Outcome::OutOfBudget { shortage });
    }

    /// Asks a critic, who sees exactly this view.
    pub fn call_critic(&mut self, call: CriticCall<'_>, view: &ColdView<'_>) -> EffectId {
        let id = self.run.next_id(self.node);
        let instructions = self.instructions(call.agent, call.instructions);
        let schema = call.schema.map(|s| self.run.intern(s));
        let fence = brief::fence(&self.run.seed, Role::Critic, &self.run.texts, &view.enclosed());
        let (message, settled) = view.message(&instructions, &fence);
        let mut spec = spec(Role::Critic, call.agent, vec![message]);
        (spec.form, spec.settled, spec.schema) = (Some(view.form), settled, schema);
        spec.fallback = call.fallback.map(ToOwned::to_owned);
        spec.verdict = Some(VerdictAsked::default());
        let typed = self.typed_may_judge([Some(call.agent), call.fallback]);
        spec.case = typed.then(|| Arc::new(view.judged(&self.run.texts)));
        self.run.request(id.clone(), spec, None);
        id
    }

    /// The verdict of a person who was asked to judge, or of a typed critic; none if a model answered, or they wrote
    /// something else.
    pub fn person_verdict(&self, answered: &AgentAnswer) -> Option<PersonVerdict> {
        let typed = self.is_typed(answered.agent());
        let by_value = answered.call.verdict.is_some() && (typed || self.is_person(answered.agent()));
        let read = by_value.then(|| PersonVerdict::read(self.text(&answered.text))).flatten();
        read.map(|verdict| PersonVerdict { typed, ..verdict })
    }

    /// Why the reply of a typed critic is none: it is no value, and prose of such a critic is not read.
    pub(crate) fn no_value(&self, answered: &AgentAnswer) -> Option<Unread> {
        let asked = answered.call.verdict.is_some() && self.is_typed(answered.agent());
        let missing = asked && PersonVerdict::read(self.text(&answered.text)).is_none();
        missing.then(|| Unread::new("a typed critic's reply is a verdict as a value, and this is none"))
    }

    /// Is this agent a critic whose verdicts are values of the embedding program?
    fn is_typed(&self, agent: &str) -> bool {
        self.run.plan.agents.get(agent).is_some_and(AgentCard::is_typed)
    }

    /// Whether one of these, who may get the call, is typed: then the call carries what is judged as values.
    fn typed_may_judge(&self, agents: [Option<&str>; 2]) -> bool {
        agents.into_iter().flatten().any(|agent| self.is_typed(agent))
    }

    /// The answer cannot be read as a verdict: one short question, then the second critic, then `unverified`.
    pub fn malformed(&mut self, answered: AgentAnswer, round: u32, unread: &Unread) {
        let AgentAnswer { effect, call, .. } = answered;
        self.run.malformed(&effect, call, round, unread);
    }

    /// Every text from outside that the call of this answer showed, and the form it was asked to reply in.
    pub fn shown(&self, answered: &AgentAnswer) -> Shown {
        let brief = answered.call.messages.iter().take(answered.call.brief);
        let mut digests: Vec<Digest> = brief
            .flat_map(|message| &message.parts)
            .filter_map(|part| match part {
                Part::Data(_) | Part::Slice(_) => part.text(),
                _ => None,
            })
            .collect();
        digests.extend(answered.call.form);
        digests.sort();
        digests.dedup();
        Shown::new(digests.iter().filter_map(|digest| self.run.texts.held(digest)))
    }

    /// The worker's answer is no draft: the run parks as failed and the call is repeated on resume.
    pub fn unusable(&mut self, answered: AgentAnswer, failure: crate::effect::CallFailure) {
        let AgentAnswer { effect, call, .. } = answered;
        self.run.call_failed(&effect, call, failure, CallProgress::default());
    }

    /// The digest of the prompt as the agent got it.
    pub fn prompt_digest(&self, answered: &AgentAnswer) -> Digest {
        let texts = &self.run.texts;
        Digest::of_pieces(|add| {
            for (n, message) in answered.call.messages.iter().enumerate() {
                if n > 0 {
                    add("\n");
                }
                message.parts.iter().for_each(|part| part.said(texts, &mut *add));
            }
        })
    }

    pub fn cancel(&mut self, effect: &EffectId) {
        self.run.cancel(effect);
    }

    pub fn tell(&mut self, effect: &EffectId, text: impl Into<String>) {
        if self.run.open.get(effect).is_some_and(|o| !o.cancelled) {
            self.run.signal(self.node, EffectKind::Tell { target: effect.clone(), text: text.into() });
        }
    }

    /// Begins a node below this one. Its name has to be new: ids count per node.
    pub fn spawn(&mut self, name: &str, plan: &NodePlan) -> Result<NodePath, String> {
        let path = self.node.child(name);
        self.run.add_node(&path, plan).map_err(|refused| refused.to_string())?;
        Ok(path)
    }

    /// This node is through. At the root that ends the run, once its draft is saved.
    pub fn finish(&mut self, outcome: Outcome) {
        if self.run.has_ended(self.node) {
            return;
        }
        self.run.end_node(self.node);
        match self.node.parent() {
            None => self.run.end_with(outcome),
            Some(parent) => {
                self.run.pending.push_back(Pending::ChildEnded { parent, child: self.node.clone(), outcome });
            }
        }
    }
}
