//! What a run's records add up to: its summary, caps, who cost what, what was asked of it, which replies of critics were no
//! review. Bounded however long the run is: a checkpoint holds all of it.

use std::collections::{BTreeMap, BTreeSet};

use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::manifest::{Job, RunManifest};
use gadfly_engine::pipeline::PipelineEvent;
use gadfly_engine::protocol::pipeline::RULE_BOOK;
use gadfly_engine::turn::{Part, Role};
use gadfly_engine::{Digest, Effect, EffectId, EffectKind, Input, Limits, Money, Plan, Reply, Step, Usage};
use serde::{Deserialize, Serialize};

use crate::deferred::Deferrals;
use crate::summary::{Summary, is_zero};

/// Of replies that were no review, the newest so many.
const MOST_UNREAD: usize = 20;

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RunTotals {
    /// The caps in force, as raised.
    pub limits: Limits,
    /// What each agent used.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shares: BTreeMap<String, Share>,
    /// What a person asked of the run that is not done yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wish: Option<Wish>,
    /// What critics replied that was no review, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreviewedReply>,
    /// How often the run was taken up again since a critic judged it last.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub taken_up: u32,
    /// Agents without a price: what they use cannot be priced.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    unpriced: BTreeSet<String>,
    /// The seats of critics, where the protocol has several; the first is the primary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    seats: Vec<String>,
    /// Calls of critics that are under way, and whose they are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    asked: BTreeMap<EffectId, String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Share {
    pub calls: u32,
    pub tokens: u64,
    pub money: Money,
    pub unknown: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    Pause,
    Cancel,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UnreviewedReply {
    pub agent: String,
    pub reply: Digest,
}

impl Share {
    pub(crate) fn add(&mut self, usage: &Usage, cost: Money, unknown: bool) {
        self.calls = self.calls.saturating_add(1);
        self.tokens = self.tokens.saturating_add(usage.tokens());
        self.money.0 = self.money.0.saturating_add(cost.0);
        self.unknown |= unknown || usage.estimated;
    }
}

impl RunTotals {
    /// Adds a record up, here and in the run's summary.
    pub(super) fn apply(
        &mut self,
        summary: &mut Summary,
        input: &Input,
        step: &Step,
        planned: Option<&RunManifest>,
    ) {
        summary.updated_ms = input.at.wall_ms;
        summary.active_ms = summary.active_ms.max(input.at.active_ms);
        match &input.what {
            InputKind::Started(start) => {
                summary.created_ms = input.at.wall_ms;
                summary.begin(&start.plan, planned);
                self.begin(&start.plan, planned);
            }
            InputKind::Resumed { .. } => {
                summary.outcome_cleared();
                self.taken_up = self.taken_up.saturating_add(1);
                // Calls that were under way are asked for again, under other ids.
                self.asked.clear();
            }
            InputKind::Answered { .. } => summary.outcome_cleared(),
            InputKind::Replied { effect, reply } => self.replied(effect, reply),
            InputKind::Observed { .. } | InputKind::Controlled(_) => {}
        }
        summary.judged(step);
        for event in &step.events {
            self.happened(summary, &event.what);
        }
        Deferrals::apply(&mut summary.deferrals, input, step, planned);
        for effect in &step.effects {
            self.asks(summary, effect);
        }
        if let Some(outcome) = &step.outcome {
            summary.decided(outcome);
        }
    }

    fn begin(&mut self, plan: &Plan, planned: Option<&RunManifest>) {
        self.limits = tighter(plan.limits, plan.root.limits);
        let unpriced = plan.agents.iter().filter(|(_, card)| card.price.is_none() && !card.person);
        self.unpriced = unpriced.map(|(name, _)| name.clone()).collect();
        // A pipeline has many critics, none of them the run's.
        if let Some(planned) = planned.filter(|_| plan.root.protocol != RULE_BOOK.name) {
            let seats: Vec<String> = planned.all_seated(Job::Critic).map(str::to_owned).collect();
            self.seats = if seats.len() > 1 { seats } else { Vec::new() };
        }
    }

    fn replied(&mut self, effect: &EffectId, reply: &Reply) {
        if let (Some(agent), Reply::Done(answer)) = (self.asked.remove(effect), reply) {
            let texts = answer.parts.iter().filter_map(Part::text);
            self.unread.extend(texts.map(|reply| UnreviewedReply { agent: agent.clone(), reply }));
            self.unread.drain(..self.unread.len().saturating_sub(MOST_UNREAD));
        }
    }

    fn happened(&mut self, summary: &mut Summary, what: &EventKind) {
        match what {
            // The rounds and drafts of a pipeline's pairs are not the run's.
            EventKind::RoundStarted { .. } | EventKind::DraftMade { .. } if summary.is_pipeline() => {}
            EventKind::Pipeline(PipelineEvent::OverallRound { round, of, .. })
            | EventKind::RoundStarted { round, of } => {
                (summary.rounds, summary.rounds_max) = ((*round).max(summary.rounds), *of);
            }
            EventKind::DraftMade { blob, diff, .. } => {
                (summary.last_draft, summary.last_diff) = (Some(*blob), *diff);
            }
            EventKind::Reviewed { review, .. } => {
                self.unread.retain(|one| one.reply != review.reply);
                self.taken_up = 0;
            }
            EventKind::RejectionOverruled { .. } => summary.open_items = 0,
            EventKind::GoalSet { steps, .. } => summary.steps_max = *steps,
            // Workers of other protocols take steps, too; only a goal counts them.
            EventKind::Stepped { step } if summary.steps_max > 0 => {
                summary.steps = summary.steps.max(step.n);
            }
            EventKind::Charged { agent, usage, cost, run, .. } => {
                let unpriced = self.is_unpriced(agent, usage);
                self.share(agent).add(usage, *cost, unpriced);
                (summary.calls, summary.tokens, summary.cost) = (run.calls, run.tokens, run.money);
                summary.cached = summary.cached.saturating_add(usage.cache_read);
                summary.cost_unknown |= run.unknown || unpriced;
            }
            // What a lost call cost is not known.
            EventKind::CallLost { agent, .. } => {
                self.share(agent).unknown = true;
                summary.cost_unknown = true;
            }
            EventKind::LimitsRaised { limits, rounds } => {
                self.limits = self.limits.with(*limits);
                // As the protocol takes it: a lower number changes nothing.
                summary.rounds_max = summary.rounds_max.max(rounds.unwrap_or(0));
                if let Some(steps) = limits.steps.filter(|_| summary.steps_max > 0) {
                    summary.steps_max = steps;
                }
            }
            EventKind::AgentChanged { agent, card } => {
                if card.price.is_none() && !card.person {
                    self.unpriced.insert(agent.clone());
                } else {
                    self.unpriced.remove(agent);
                }
            }
            EventKind::CancelRequested => self.wish = Some(Wish::Cancel),
            EventKind::PauseRequested => self.wish = Some(Wish::Pause),
            EventKind::Resumed => self.wish = None,
            _ => {}
        }
    }

    fn asks(&mut self, summary: &mut Summary, effect: &Effect) {
        if let EffectKind::Turn(turn) = &effect.kind {
            let of_run = !summary.is_pipeline();
            match turn.role {
                Role::Worker if of_run => summary.worker = Some(turn.agent.clone()),
                Role::Critic => {
                    self.asked.insert(effect.id.clone(), turn.agent.clone());
                    // A second seat is no other critic; a fallback is.
                    if of_run && !self.seats.iter().skip(1).any(|seat| *seat == turn.agent) {
                        summary.critic = Some(turn.agent.clone());
                    }
                }
                Role::Worker | Role::Advisor => {}
            }
        }
        if effect.kind.has_reply() {
            summary.outcome_cleared();
        }
    }

    fn share(&mut self, agent: &str) -> &mut Share {
        self.shares.entry(agent.to_owned()).or_default()
    }

    /// Whether what this call used has no price.
    pub(crate) fn is_unpriced(&self, agent: &str, usage: &Usage) -> bool {
        usage.cost.is_none() && usage.tokens() > 0 && self.unpriced.contains(agent)
    }
}

/// Of every cap the lower one.
fn tighter(a: Limits, b: Limits) -> Limits {
    fn lower<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
        match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
    Limits {
        tokens: lower(a.tokens, b.tokens),
        money: lower(a.money, b.money),
        active_ms: lower(a.active_ms, b.active_ms),
        calls: lower(a.calls, b.calls),
        steps: lower(a.steps, b.steps),
        turns: lower(a.turns, b.turns),
    }
}

#[cfg(test)]
mod tests;
