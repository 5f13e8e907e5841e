//! How one run stands, in a line's worth of facts: the part of a [`crate::RunView`] that lists show. No decision reads it.

use std::collections::{BTreeMap, HashSet};

use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::manifest::{Job, RunManifest};
use gadfly_engine::pipeline::PipelineEvent;
use gadfly_engine::protocol::pipeline;
use gadfly_engine::review::{Review, Verdict};
use gadfly_engine::turn::Role;
use gadfly_engine::{Digest, EffectId, EffectKind, Input, Money, Outcome, Plan, Step, Waiting};
use serde::{Deserialize, Serialize};

use crate::deferred::Deferrals;
use crate::run_id::RunId;
use crate::view::RunTotals;

/// No outcome yet, and a living process drives it.
pub const RUNNING: &str = "running";
/// No outcome yet, and nobody drives it.
pub const INTERRUPTED: &str = "interrupted";
/// It cannot be read as it was written; the title says why.
pub const DAMAGED: &str = "damaged";

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Summary {
    pub run: RunId,
    pub title: String,
    pub protocol: String,
    /// Milliseconds since 1970.
    pub created_ms: u64,
    pub updated_ms: u64,
    /// `running`, `interrupted`, or the outcome's label.
    pub state: String,
    /// The outcome's label, once there is one and until the run is resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Over for good; a parked run is not.
    pub ended: bool,
    /// Approved although the last verdict was a rejection.
    pub overruled: bool,
    pub rounds: u32,
    pub rounds_max: u32,
    /// Of a goal: what its worker did, and what it may do at most. 0 of any other run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub steps: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub steps_max: u32,
    pub calls: u32,
    pub tokens: u64,
    /// Of these tokens, those that a provider read from its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached: u64,
    pub cost: Money,
    /// The true cost is this or more: show it with `≥`.
    pub cost_unknown: bool,
    pub open_items: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_verdict: Option<Verdict>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critic: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critic_model: Option<String>,
    /// The file an approved draft is saved to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
    /// The last draft's text; of files and folders the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_draft: Option<Digest>,
    /// Of a folder: the diff of the last draft against the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_diff: Option<Digest>,
    /// The effect a person's answer is awaited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<EffectId>,
    /// Active time as of the last record.
    pub active_ms: u64,
    /// What was put off and what was settled; see `Journal::deferred`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deferrals: Option<Box<Deferrals>>,
}

fn is_zero<N: Default + PartialEq>(n: &N) -> bool {
    *n == N::default()
}

impl Summary {
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            title: String::new(),
            protocol: String::new(),
            created_ms: 0,
            updated_ms: 0,
            state: RUNNING.to_owned(),
            outcome: None,
            ended: false,
            overruled: false,
            rounds: 0,
            rounds_max: 0,
            steps: 0,
            steps_max: 0,
            calls: 0,
            tokens: 0,
            cached: 0,
            cost: Money(0),
            cost_unknown: false,
            open_items: 0,
            last_verdict: None,
            worker: None,
            worker_model: None,
            critic: None,
            critic_model: None,
            out: None,
            last_draft: None,
            last_diff: None,
            waiting_for: None,
            active_ms: 0,
            deferrals: None,
        }
    }

    /// Of a run that cannot be read as it was written.
    pub(crate) fn damaged(run: RunId, created_ms: u64, why: String) -> Self {
        Self { created_ms, state: DAMAGED.to_owned(), title: why, ..Self::new(run) }
    }

    /// Takes in a record that `totals` have taken in already.
    pub(crate) fn apply(
        &mut self,
        input: &Input,
        step: &Step,
        planned: Option<&RunManifest>,
        totals: &RunTotals,
    ) {
        self.updated_ms = input.at.wall_ms;
        self.active_ms = self.active_ms.max(input.at.active_ms);
        match &input.what {
            InputKind::Started(start) => {
                self.created_ms = input.at.wall_ms;
                self.begin(&start.plan, planned);
            }
            InputKind::Resumed { .. } | InputKind::Answered { .. } => self.outcome_cleared(),
            InputKind::Replied { .. } | InputKind::Observed { .. } | InputKind::Controlled(_) => {}
        }
        self.judged(step);
        for event in &step.events {
            self.happened(&event.what, totals);
        }
        Deferrals::apply(&mut self.deferrals, input, step, planned);
        for effect in &step.effects {
            if let EffectKind::Turn(turn) = &effect.kind
                && !self.is_pipeline()
            {
                match turn.role {
                    Role::Worker => self.worker = Some(turn.agent.clone()),
                    // A second seat is no other critic; a fallback is.
                    Role::Critic if totals.is_second_seat(&turn.agent) => {}
                    Role::Critic => self.critic = Some(turn.agent.clone()),
                    Role::Advisor => {}
                }
            }
            if effect.kind.has_reply() {
                self.outcome_cleared();
            }
        }
        if let Some(outcome) = &step.outcome {
            self.decided(outcome);
        }
    }

    fn begin(&mut self, plan: &Plan, planned: Option<&RunManifest>) {
        self.title.clone_from(&plan.title);
        self.protocol.clone_from(&plan.root.protocol);
        let Some(planned) = planned else { return };
        // A pipeline has many of each: the summary names none.
        if !self.is_pipeline() {
            self.worker = planned.worker().map(str::to_owned);
            self.critic = planned.seated(Job::Critic).map(str::to_owned);
        }
        self.out.clone_from(&planned.file);
        self.rounds_max = planned.rounds.unwrap_or(self.rounds_max);
    }

    /// Names the models behind worker and critic.
    pub(crate) fn name_models(&mut self, models: &BTreeMap<String, String>) {
        let of = |agent: &Option<String>| agent.as_ref().and_then(|agent| models.get(agent));
        for (named, agent) in [(&mut self.worker_model, &self.worker), (&mut self.critic_model, &self.critic)]
        {
            if named.as_ref() != of(agent) {
                *named = of(agent).cloned();
            }
        }
    }

    /// The critics of one round are heard in one step: approved only if all of them approve.
    fn judged(&mut self, step: &Step) {
        let reviews = step.events.iter().filter_map(|e| match &e.what {
            EventKind::Reviewed { review, .. } => Some(review),
            _ => None,
        });
        let reviews: Vec<&Review> = reviews.collect();
        if reviews.is_empty() {
            return;
        }
        self.last_verdict = reviews.iter().map(|r| r.verdict).max();
        let open: HashSet<u32> = reviews.iter().flat_map(|r| &r.open).map(|item| item.number).collect();
        self.open_items = u32::try_from(open.len()).unwrap_or(u32::MAX);
    }

    fn happened(&mut self, what: &EventKind, totals: &RunTotals) {
        match what {
            EventKind::Pipeline(PipelineEvent::OverallRound { round, of, .. }) => {
                (self.rounds, self.rounds_max) = ((*round).max(self.rounds), *of);
            }
            // The rounds and drafts of a pipeline's pairs are not the run's.
            EventKind::RoundStarted { .. } | EventKind::DraftMade { .. } if self.is_pipeline() => {}
            EventKind::RoundStarted { round, of } => {
                self.rounds = (*round).max(self.rounds);
                self.rounds_max = *of;
            }
            EventKind::DraftMade { blob, diff, .. } => {
                self.last_draft = Some(*blob);
                self.last_diff = *diff;
            }
            EventKind::GoalSet { steps, .. } => self.steps_max = *steps,
            // Workers of other protocols take steps, too; only a goal counts them.
            EventKind::Stepped { step } if self.steps_max > 0 => self.steps = self.steps.max(step.n),
            EventKind::RejectionOverruled { .. } => self.open_items = 0,
            EventKind::Charged { agent, usage, run, .. } => {
                self.calls = run.calls;
                self.tokens = run.tokens;
                self.cached = self.cached.saturating_add(usage.cache_read);
                self.cost = run.money;
                self.cost_unknown |= run.unknown || totals.is_unpriced(agent, usage);
            }
            EventKind::CallLost { .. } => self.cost_unknown = true,
            // As the protocol takes it: a lower number changes nothing.
            EventKind::LimitsRaised { limits, rounds } => {
                self.rounds_max = self.rounds_max.max(rounds.unwrap_or(0));
                if let Some(steps) = limits.steps.filter(|_| self.steps_max > 0) {
                    self.steps_max = steps;
                }
            }
            _ => {}
        }
    }

    fn is_pipeline(&self) -> bool {
        self.protocol == pipeline::RULE_BOOK.name
    }

    fn outcome_cleared(&mut self) {
        if !self.ended {
            self.outcome = None;
            self.waiting_for = None;
            RUNNING.clone_into(&mut self.state);
        }
    }

    fn decided(&mut self, outcome: &Outcome) {
        self.state = outcome.label();
        self.outcome = Some(outcome.label());
        self.ended = outcome.is_ended();
        self.overruled = matches!(outcome, Outcome::Approved { overruled: true, .. });
        self.waiting_for = match outcome {
            Outcome::Waiting(Waiting::Question { effect }) => Some(effect.clone()),
            _ => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_raised_and_never_lowered() {
        let mut summary = Summary { rounds_max: 3, ..Summary::new(RunId::random().unwrap()) };
        for (asked, has) in [(5, 5), (2, 5)] {
            let limits = gadfly_engine::Limits::default();
            let raised = EventKind::LimitsRaised { limits, rounds: Some(asked) };
            summary.happened(&raised, &RunTotals::default());
            assert_eq!(summary.rounds_max, has);
        }
    }
}
