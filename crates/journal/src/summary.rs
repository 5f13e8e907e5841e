//! How one run stands, in a line's worth of facts: the part of a [`crate::RunView`] that lists show. No
//! decision reads it. Its numbers are added up in `view/totals.rs`.

use std::collections::{BTreeMap, HashSet};

use gadfly_engine::event::EventKind;
use gadfly_engine::manifest::{Job, RunManifest};
use gadfly_engine::protocol::pipeline;
use gadfly_engine::review::{Review, Verdict};
use gadfly_engine::{Digest, EffectId, Money, Outcome, Plan, Step, Waiting};
use serde::{Deserialize, Serialize};

use crate::deferred::Deferrals;
use crate::run_id::RunId;

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

pub(crate) fn is_zero<N: Default + PartialEq>(n: &N) -> bool {
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

    pub(crate) fn begin(&mut self, plan: &Plan, planned: Option<&RunManifest>) {
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
    pub(crate) fn judged(&mut self, step: &Step) {
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

    pub(crate) fn is_pipeline(&self) -> bool {
        self.protocol == pipeline::RULE_BOOK.name
    }

    pub(crate) fn outcome_cleared(&mut self) {
        if !self.ended {
            self.outcome = None;
            self.waiting_for = None;
            RUNNING.clone_into(&mut self.state);
        }
    }

    pub(crate) fn decided(&mut self, outcome: &Outcome) {
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
