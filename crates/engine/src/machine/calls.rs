//! Calls: reserving, issuing, charging, repeating. The rules here hold for every protocol.

use std::sync::Arc;

use super::cx::FailedCall;
use super::going_on::{self, CallProgress};
use super::run::{Pending, Run, RunMode};
use crate::budget::{Account, Cap, CapScope, Money, Reservation, Shortage, Usage, brief_tokens};
use crate::digest::Digest;
use crate::effect::{CallFailure, Class, Effect, EffectId, EffectKind, FailureKind, NodePath, Reply};
use crate::event::EventKind;
use crate::outcome::Outcome;
use crate::plan::AgentCard;
use crate::reading::Unread;
use crate::tool::policy::OwnTools;
use crate::turn::{JudgedCase, Message, Part, Role, Speaker, Turn, VerdictAsked};

/// A call as a protocol asked for it, independent of how often it had to be made.
#[derive(Clone, Debug)]
pub struct CallSpec {
    pub role: Role,
    pub agent: String,
    pub messages: Arc<Vec<Message>>,
    /// How many of `messages` belong to the original brief; the rest is a request to restate.
    pub brief: usize,
    /// A second critic for when this one fails.
    pub fallback: Option<String>,
    /// The protocol's own name for what this call is about; it comes back with the answer.
    pub tag: u32,
    pub tree: Option<Digest>,
    pub schema: Option<Digest>,
    pub report: Option<String>,
    /// The form of the reply, as it stands at the end of the brief: repeated when a critic is asked again.
    pub form: Option<Digest>,
    /// How many parts of the first message are the same in the next call of this role.
    pub settled: usize,
    /// The tools a model is offered, as a stored text.
    pub tools: Option<Digest>,
    /// Which caps it keeps to.
    pub kept: CapScope,
    /// The node is told if it fails, and says what follows.
    pub own_failures: bool,
    /// A turn of a tool loop: the id of the call that the loop works on.
    pub tool_loop: Option<EffectId>,
    /// What the agent is asked for if it is a person, or a typed critic. None: it does not judge.
    pub verdict: Option<VerdictAsked>,
    /// What it judges, for a typed critic.
    pub case: Option<Arc<JudgedCase>>,
    /// It goes on with work that was broken off: the folder is not put back.
    pub goes_on: bool,
    /// What an agent with tools of its own may not use of them.
    pub own: Option<OwnTools>,
}

/// What the file of an agent with tools of its own does not give it. Tools of ours are withheld where they are offered.
fn kept_from(card: &AgentCard, role: Role) -> Option<OwnTools> {
    let is_held = role == Role::Worker && !card.tools && !card.withheld.is_empty();
    is_held.then(|| OwnTools { denied: card.withheld.clone(), beyond: Vec::new() })
}

/// The time for the last words of somebody whose time is up, beyond the clock.
const LAST_WORDS_MS: u64 = 30_000;

impl CallSpec {
    pub fn is_restated(&self) -> bool {
        self.messages.len() > self.brief
    }

    /// The call as it was first made.
    pub fn afresh(mut self) -> Self {
        if self.is_restated() {
            Arc::make_mut(&mut self.messages).truncate(self.brief);
        }
        self
    }
}

pub(super) struct OpenEffect {
    pub effect: Effect,
    /// None for everything that is not an agent's turn.
    pub call: Option<CallSpec>,
    /// The engine asked for its end.
    pub cancelled: bool,
    /// What it has told of its usage so far.
    pub used: Usage,
    /// What it has told of its work so far.
    pub begun: CallProgress,
}

impl OpenEffect {
    pub fn new(effect: Effect, call: Option<CallSpec>) -> Self {
        Self { effect, call, cancelled: false, used: Usage::default(), begun: CallProgress::default() }
    }

    /// It brings the result to the user: waited for, whatever else is called off.
    pub const fn is_delivery(&self) -> bool {
        matches!(self.effect.kind, EffectKind::Save(_) | EffectKind::Accept(_) | EffectKind::Commit(_))
    }
}

/// Something that goes on when the run does.
pub(super) enum HeldWork {
    Call {
        id: Option<EffectId>,
        node: NodePath,
        call: CallSpec,
        repeats: Option<EffectId>,
    },
    /// A worker's call that goes on where it was broken off.
    GoOn {
        id: EffectId,
        call: CallSpec,
        begun: CallProgress,
    },
    /// Something else a node asked for.
    Task {
        id: Option<EffectId>,
        node: NodePath,
        kind: EffectKind,
        repeats: Option<EffectId>,
    },
    /// A tool that was at work when the host stopped.
    Lost {
        id: EffectId,
        kind: EffectKind,
    },
    /// A node that parked the run and is told when it goes on.
    Node(NodePath),
    /// An ending whose save was refused.
    Ending(Option<Outcome>),
}

impl HeldWork {
    pub fn again(call: CallSpec, lost: &EffectId) -> Self {
        Self::Call { id: None, node: lost.node.clone(), call, repeats: Some(lost.clone()) }
    }
}

impl Run {
    pub fn next_id(&mut self, node: &NodePath) -> EffectId {
        let n = self.nodes.get_mut(node).map_or(0, |node| {
            let n = node.next_effect;
            node.next_effect += 1;
            n
        });
        EffectId { node: node.clone(), n }
    }

    /// Everyone who pays for a call of this node.
    pub fn accounts(node: &NodePath, agent: Option<&str>) -> Vec<Account> {
        let mut accounts = vec![Account::Run];
        let mut at = Some(node.clone());
        while let Some(path) = at {
            at = path.parent();
            accounts.push(Account::Node(path));
        }
        accounts.extend(agent.map(|a| Account::Agent(a.to_owned())));
        accounts
    }

    /// Issues a call, or holds it while the run is pausing or cannot afford it.
    pub fn request(&mut self, id: EffectId, call: CallSpec, repeats: Option<EffectId>) {
        let node = id.node.clone();
        let call = self.with_tools(&id, call);
        if self.mode != RunMode::Going || self.ending.is_some() {
            self.held.push_back(HeldWork::Call { id: Some(id), node, call, repeats });
            return;
        }
        let agents = Arc::clone(&self.plan.agents);
        let Some(card) = agents.get(&call.agent) else {
            let failure = CallFailure {
                kind: FailureKind::Misconfigured,
                message: format!("no agent `{}` in this run's plan", call.agent),
                usage: Usage::default(),
            };
            self.held.push_back(HeldWork::Call { id: Some(id), node, call, repeats });
            return self.end_with(Outcome::Failed { failure });
        };
        let accounts = Self::accounts(&node, Some(&call.agent));
        let (class, time_ms, reserve) = if card.person {
            (Class::Person, None, Reservation::default())
        } else {
            let left = match call.kept {
                CapScope::MoneyOnly => LAST_WORDS_MS,
                CapScope::All | CapScope::ExceptCalls => self.ledger.time_left(&accounts).unwrap_or(u64::MAX),
            };
            let reserve = self.worst_case(&call.messages, call.tools.as_ref(), card);
            (Class::Paid, Some(left.min(card.timeout_ms)), reserve)
        };
        if let Err(shortage) = self.ledger.reserve_keeping(&id, accounts, reserve, call.kept) {
            let is_last_words = call.kept == CapScope::MoneyOnly;
            self.held.push_back(HeldWork::Call { id: Some(id), node: node.clone(), call, repeats });
            if is_last_words {
                return self.end_with(Outcome::OutOfBudget { shortage });
            }
            return self.short_of(&node, shortage);
        }
        let nth = self.ordinal(&call);
        // A repeated call begins anew: the lost one may have left its traces in the conversation, while what
        // it did to files was undone.
        let goes_on = call.role == Role::Worker && card.continues && repeats.is_none();
        let session = self.sessions.get(&(node, call.agent.clone())).filter(|_| goes_on).cloned();
        let turn = Turn {
            agent: call.agent.clone(),
            role: call.role,
            permission: call.role.permission(),
            messages: Arc::clone(&call.messages),
            nth,
            max_output_tokens: card.max_output_tokens,
            tree: call.tree,
            schema: call.schema,
            report: call.report.clone(),
            session,
            tools: call.tools,
            settled: call.settled,
            verdict: call.verdict.filter(|_| card.is_person() || card.is_typed()),
            case: call.case.clone().filter(|_| card.is_typed()),
            goes_on: call.goes_on,
            own: call.own.clone().or_else(|| kept_from(card, call.role)),
        };
        let effect =
            Effect { id: id.clone(), class, time_ms, reserve, repeats, kind: EffectKind::Turn(turn) };
        self.step.effects.push(effect.clone());
        let open = OpenEffect::new(effect, Some(call));
        self.open.insert(id, Box::new(open));
    }

    /// A cap is in the way of something a node asked for, which is held. The run parks for it, after the node's
    /// last words if it has any.
    pub fn short_of(&mut self, node: &NodePath, shortage: Shortage) {
        if self.nodes.get(node).is_some_and(|node| node.wants_final_turn) {
            return self.pending.push_back(Pending::Capped { node: node.clone(), shortage });
        }
        self.end_with(Outcome::OutOfBudget { shortage });
    }

    /// Answered calls of this agent before this one, and those under way beside it.
    fn ordinal(&self, call: &CallSpec) -> u32 {
        let answered = self.replies.get(&(call.agent.clone(), call.role)).copied().unwrap_or(0);
        let same =
            |o: &OpenEffect| o.call.as_ref().is_some_and(|c| c.agent == call.agent && c.role == call.role);
        let beside = self.open.values().filter(|o| same(o)).count();
        answered.saturating_add(u32::try_from(beside).unwrap_or(u32::MAX))
    }

    /// What a call can cost at most. Text makes at most one token per two bytes with the tokenisers in
    /// use; where that is exceeded all the same, the overrun is recorded and stops the run. What an agent
    /// states for one call comes before any estimate.
    pub fn worst_case(&self, messages: &[Message], tools: Option<&Digest>, card: &AgentCard) -> Reservation {
        let stated = &card.per_call;
        if let (Some(tokens), Some(money)) = (stated.tokens, stated.money) {
            return Reservation { tokens, money };
        }
        if let Some(tokens) = stated.tokens {
            let money = card.price.as_ref().map_or(Money(0), |price| price.at_most(tokens));
            return Reservation { tokens, money };
        }
        let said: usize = messages.iter().flat_map(|m| &m.parts).map(|p| p.size(&self.texts)).sum();
        let bytes = said.saturating_add(tools.map_or(0, |tools| self.texts.get(tools).len()));
        let (input, output) = (brief_tokens(bytes as u64), card.max_output_tokens);
        let money = card.price.as_ref().map_or(Money(0), |price| price.worst(input, output));
        Reservation { tokens: input.saturating_add(output), money: stated.money.unwrap_or(money) }
    }

    pub fn signal(&mut self, node: &NodePath, kind: EffectKind) {
        let id = self.next_id(node);
        self.step.effects.push(Effect {
            id,
            class: Class::Read,
            time_ms: None,
            reserve: Reservation::default(),
            repeats: None,
            kind,
        });
    }

    pub fn cancel(&mut self, target: &EffectId) {
        let target = &self.at_work_for(target);
        let Some(open) = self.open.get_mut(target).filter(|o| !o.cancelled) else { return };
        open.cancelled = true;
        let node = target.node.clone();
        self.signal(&node, EffectKind::Cancel { target: target.clone() });
    }

    /// Calls off whatever this node and those below have under way. A person is not waited for; a save
    /// is, since a file half decided on helps nobody.
    pub fn cancel_calls_of(&mut self, node: &NodePath) {
        let ids: Vec<EffectId> = self
            .open
            .values()
            .filter(|o| !o.is_delivery() && node.contains(&o.effect.id.node))
            .map(|o| o.effect.id.clone())
            .collect();
        for id in ids {
            self.cancel(&id);
            if self.open.get(&id).is_some_and(|o| o.effect.class == Class::Person) {
                self.open.remove(&id);
                self.ledger.release(&id);
            }
        }
    }

    /// Turns the reservation into what the reply says was used.
    pub fn charge(&mut self, open: &OpenEffect, reply: &Reply) {
        let (Some(call), id) = (&open.call, &open.effect.id) else { return };
        let usage = match reply {
            Reply::Done(answer) => answer.usage,
            // Nobody knows what a call that never came back has cost; what it told before is a part of it.
            Reply::Failed(f)
                if matches!(f.kind, FailureKind::Timeout | FailureKind::BrokenOff)
                    && !f.usage.estimated
                    && self.is_within(open, &f.usage) =>
            {
                return self.charge_unknown(open);
            }
            Reply::Failed(failure) => failure.usage,
            Reply::Cancelled { sent: true } if open.effect.class != Class::Person => {
                return self.charge_unknown(open);
            }
            Reply::Cancelled { .. } => return self.ledger.release(id),
            Reply::DeniedQuota { usage, .. } if *usage == Usage::default() => return self.ledger.release(id),
            Reply::DeniedQuota { usage, .. } => *usage,
            Reply::Conflict { .. }
            | Reply::Saved { .. }
            | Reply::Looked(_)
            | Reply::Examined(_)
            | Reply::Surveyed(_)
            | Reply::Verified(_)
            | Reply::Accepted { .. }
            | Reply::Conflicts(_)
            | Reply::Tool(_) => Usage::default(),
        };
        self.book(id, &call.agent, usage);
    }

    /// Turns a reservation into what was used, and stops the run if that was more than it may.
    fn book(&mut self, id: &EffectId, agent: &str, usage: Usage) {
        let card = self.plan.agents.get(agent);
        let cost = usage.cost_at(card.and_then(|c| c.price.as_ref()));
        let beyond = card.and_then(|card| beyond_its_call(agent, card, usage.tokens(), cost));
        let over = if usage.estimated {
            self.ledger.settle_estimated(id, usage.tokens(), cost)
        } else {
            self.ledger.settle(id, usage.tokens(), cost)
        };
        let run = self.ledger.spent(&Account::Run);
        let agent = agent.to_owned();
        let node = id.node.clone();
        self.emit(&node, EventKind::Charged { effect: id.clone(), agent, usage, cost, run });
        if let Some(shortage) = over {
            // The next call is not affordable: that stops the run.
            self.emit(&node, EventKind::Overran { shortage });
        } else if let Some(shortage) = beyond {
            // What is held back for the next call would mean nothing: a person has a look first.
            self.emit(&node, EventKind::Overran { shortage: shortage.clone() });
            self.end_with(Outcome::OutOfBudget { shortage });
        }
    }

    /// Whether this is no more than what is held back for the call.
    fn is_within(&self, open: &OpenEffect, usage: &Usage) -> bool {
        let card = open.call.as_ref().and_then(|call| self.plan.agents.get(&call.agent));
        let cost = usage.cost_at(card.and_then(|card| card.price.as_ref()));
        usage.tokens() <= open.effect.reserve.tokens && cost <= open.effect.reserve.money
    }

    /// Keeps the reservation of a call without an answer as spent, and says so. One that said, when it was stopped, what it had
    /// used by then costs that.
    fn charge_unknown(&mut self, open: &OpenEffect) {
        let Effect { id, reserve, .. } = &open.effect;
        if let Some(call) = open.call.as_ref().filter(|_| open.used.estimated) {
            return self.book(id, &call.agent, open.used);
        }
        let card = open.call.as_ref().and_then(|call| self.plan.agents.get(&call.agent));
        let told = open.used.cost_at(card.and_then(|card| card.price.as_ref()));
        // What it told before may be more than was thought possible.
        let least = Reservation { tokens: open.used.tokens(), money: told };
        self.ledger.lose(id, least);
        let Some(call) = &open.call else { return };
        let (run, cost) = (self.ledger.spent(&Account::Run), reserve.money.max(told));
        // Nobody knows of which kind the tokens were.
        let input = reserve.tokens.max(open.used.tokens());
        let usage = Usage { input, cost: Some(cost), estimated: true, ..Usage::default() };
        let (effect, agent) = (id.clone(), call.agent.clone());
        self.emit(&id.node, EventKind::Charged { effect, agent, usage, cost, run });
    }

    /// A connection that broke in the middle of a reply says nothing of the next: the call is made once more, as any
    /// other that has to be afforded. What the first cost is not known.
    pub fn try_again(&mut self, id: &EffectId, call: CallSpec, failure: &CallFailure) {
        let message = format!("{}: {failure}; it is called once more", call.agent);
        self.emit(&id.node, EventKind::Warned { message });
        let next = self.next_id(&id.node);
        self.request(next, call, Some(id.clone()));
    }

    /// A call that failed for good: the second critic if there is one, else the run parks and the
    /// call is repeated when it is resumed. A critic's failure is never a verdict. A worker that did something until the
    /// bounds of its call were reached has not failed.
    pub fn call_failed(&mut self, id: &EffectId, call: CallSpec, failure: CallFailure, begun: CallProgress) {
        let node = id.node.clone();
        if let Some(because) = going_on::cut_short(&failure).filter(|_| self.has_own_hands(&call)) {
            if call.own_failures {
                let failed = FailedCall { effect: id.clone(), failure, call, begun };
                return self.tell(&node, |protocol, cx| protocol.failed(failed, cx));
            }
            if begun.steps > 0 {
                return self.go_on(id, call, &begun, because);
            }
        }
        let (agent, role) = (call.agent.clone(), call.role);
        self.emit(&node, EventKind::CallFailed { effect: id.clone(), agent, role, failure: failure.clone() });
        if call.own_failures {
            let failed = FailedCall { effect: id.clone(), failure, call, begun };
            return self.tell(&node, |protocol, cx| protocol.failed(failed, cx));
        }
        self.give_up(id, call, failure, begun);
    }

    /// What follows from a failed call if its node does not say otherwise.
    pub fn give_up(&mut self, id: &EffectId, call: CallSpec, failure: CallFailure, begun: CallProgress) {
        let (node, role) = (id.node.clone(), call.role);
        let accounts = Self::accounts(&node, Some(&call.agent));
        if failure.kind == FailureKind::Timeout
            && let Some(shortage) = self.ledger.out_of_time(&accounts)
        {
            self.hold(id, call, begun);
            return self.short_of(&node, shortage);
        }
        if role == Role::Critic {
            return self.critic_unusable(id, call, failure.to_string());
        }
        self.hold(id, call.afresh(), begun);
        self.park(&node, Outcome::Failed { failure });
    }

    /// Rule 4: a critic that cannot be read is asked one short question, then replaced by the second critic, then the work
    /// is unverified: never passed, never rejected. Its reply is not sent back to it.
    pub fn malformed(&mut self, id: &EffectId, call: CallSpec, round: u32, unread: &Unread) {
        let restating = !call.is_restated();
        let problem = in_one_line(&unread.to_string());
        let event = EventKind::ReplyMalformed {
            round,
            critic: call.agent.clone(),
            problem: problem.clone(),
            restating,
        };
        self.emit(&id.node.clone(), event);
        if restating {
            let template = self.intern(crate::brief::RESTATE);
            let mut again = call;
            let form = again.form;
            let messages = Arc::make_mut(&mut again.messages);
            messages.push(Message {
                from: Speaker::Assistant,
                parts: vec![Part::Text(crate::brief::LEFT_OUT.into())],
            });
            let mut parts = vec![
                Part::Blob(template),
                Part::Text(format!(
                    "{}\n\nDo you approve or reject? State one verdict, on the same work.\n\n",
                    unread.told()
                )),
            ];
            parts.extend(form.map(Part::Blob));
            messages.push(Message { from: Speaker::User, parts });
            let next = self.next_id(&id.node);
            return self.request(next, again, None);
        }
        self.critic_unusable(id, call, format!("two malformed replies: {problem}"));
    }

    pub fn critic_unusable(&mut self, id: &EffectId, call: CallSpec, because: String) {
        let mut call = call.afresh();
        let node = id.node.clone();
        if let Some(second) = call.fallback.take() {
            let from = std::mem::replace(&mut call.agent, second);
            self.emit(&node, EventKind::FellBack { from, to: call.agent.clone(), because });
            let next = self.next_id(&node);
            return self.request(next, call, None);
        }
        let reason = format!("critic `{}`: {because}", call.agent);
        self.held.push_back(HeldWork::again(call, id));
        self.park(&node, Outcome::Unverified { reason, draft: None, unseen: Vec::new() });
    }

    /// After a crash: what has no recorded reply is lost and will be repeated; persons are still asked. Where an agent is
    /// no person any more, a person's answer is nobody's: it is asked itself.
    pub fn take_up_lost(&mut self) {
        let agents = &self.plan.agents;
        let is_no_person = |call: &CallSpec| agents.get(&call.agent).is_some_and(|card| !card.person);
        let is_lost =
            |o: &OpenEffect| o.effect.class != Class::Person || o.call.as_ref().is_some_and(is_no_person);
        let lost: Vec<EffectId> =
            self.open.values().filter(|o| is_lost(o)).map(|o| o.effect.id.clone()).collect();
        for id in lost {
            let Some(open) = self.open.remove(&id) else { continue };
            self.charge_unknown(&open);
            if self.delivery.as_ref() == Some(&id) {
                // What the end of the run still lacks is asked for again when it ends.
                self.delivery = None;
                continue;
            }
            if self.has_ended(&id.node) {
                continue;
            }
            let dispatch =
                open.call.as_ref().map_or_else(|| self.dispatch_of(&id), |call| call.tool_loop.clone());
            let Some(call) = open.call else {
                if let Some(dispatch) = dispatch.filter(|_| open.cancelled) {
                    self.hands_off(&dispatch);
                } else if open.effect.class == Class::Acts && self.mode != RunMode::Cancelling {
                    self.tool_lost(&id, open.effect.kind);
                } else if self.mode != RunMode::Cancelling && !open.cancelled {
                    let (node, kind) = (id.node.clone(), open.effect.kind);
                    self.held.push_back(HeldWork::Task { id: None, node, kind, repeats: Some(id) });
                }
                continue;
            };
            let (agent, role) = (call.agent.clone(), call.role);
            self.emit(&id.node.clone(), EventKind::CallLost { effect: id.clone(), agent, role });
            if self.mode == RunMode::Cancelling {
                continue;
            }
            if let Some(dispatch) = dispatch.filter(|_| open.cancelled) {
                self.hands_off(&dispatch);
            } else if open.cancelled {
                self.tell(&id.node, |protocol, cx| protocol.cancelled(&id, cx));
            } else {
                self.hold(&id, call, open.begun);
            }
        }
    }

    pub fn release_held(&mut self) {
        for held in std::mem::take(&mut self.held) {
            match held {
                HeldWork::Ending(ending) => self.ending = ending,
                HeldWork::Lost { id, kind } => self.tool_lost(&id, kind),
                HeldWork::GoOn { id, call, begun } => self.take_up(&id, call, &begun),
                HeldWork::Node(node) => self.tell(&node, |protocol, cx| protocol.resumed(cx)),
                HeldWork::Task { id, node, kind, repeats } => {
                    let id = id.unwrap_or_else(|| self.next_id(&node));
                    self.request_task(id, kind, repeats);
                }
                HeldWork::Call { id, node, call, repeats } => {
                    let id = id.unwrap_or_else(|| self.next_id(&node));
                    self.request(id, call, repeats);
                }
            }
        }
    }
}

/// What one call used beyond what its agent states for one.
fn beyond_its_call(agent: &str, card: &AgentCard, tokens: u64, cost: Money) -> Option<Shortage> {
    let over = |cap, limit: Option<u64>, committed: u64| {
        let limit = limit.filter(|limit| committed > *limit)?;
        Some(Shortage { account: Account::Call(agent.to_owned()), cap, limit, committed, wanted: 0 })
    };
    let money = card.per_call.money.map(|m| m.0);
    over(Cap::Money, money, cost.0).or_else(|| over(Cap::Tokens, card.per_call.tokens, tokens))
}

/// A list of problems as people are told of them. Any other text stays as it is.
fn in_one_line(problem: &str) -> String {
    let items: Option<Vec<&str>> = problem.lines().map(|line| line.strip_prefix("- ")).collect();
    items.map_or_else(|| problem.to_owned(), |items| items.join("; "))
}
