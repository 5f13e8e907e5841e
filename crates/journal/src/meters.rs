//! What a run's records add up to, in bounded form: who cost what, the caps in force, the counts of a goal, how
//! a pipeline's agents stand. Kept in checkpoints, so that a page that shows a window of the
//! run has the numbers of the whole. No decision reads it.

use std::collections::{BTreeMap, BTreeSet};

use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::{Input, Limits, Step};
use serde::{Deserialize, Serialize};

use crate::state::{GoalMeters, GoalState, PipelineView, Share, note_models, tighter};

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Meters {
    pub(crate) limits: Limits,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) models: BTreeMap<String, String>,
    /// By agent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) shares: BTreeMap<String, Share>,
    /// Agents whose use cannot be priced.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    unpriced: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) goal: Option<GoalMeters>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pipeline: Option<PipelineView>,
}

impl Meters {
    pub(crate) fn apply(&mut self, seq: u32, input: &Input, step: &Step) {
        note_models(&mut self.models, input, step);
        if let InputKind::Started(start) = &input.what {
            self.limits = tighter(start.plan.limits, start.plan.root.limits);
            let unpriced = start.plan.agents.iter().filter(|(_, card)| card.price.is_none() && !card.person);
            self.unpriced = unpriced.map(|(name, _)| name.clone()).collect();
        }
        for event in &step.events {
            self.happened(&event.what);
        }
        let mut goal = self.goal.take().map(GoalState::from);
        GoalState::fold(&mut goal, seq, input, step);
        self.goal = goal.map(GoalMeters::from);
        PipelineView::fold(&mut self.pipeline, input, step);
        if let Some(pipeline) = &mut self.pipeline {
            pipeline.keep_standing();
        }
    }

    fn happened(&mut self, what: &EventKind) {
        match what {
            EventKind::Charged { agent, usage, cost, .. } => {
                let share = self.shares.entry(agent.clone()).or_default();
                let unknown = usage.cost.is_none() && usage.tokens() > 0 && self.unpriced.contains(agent);
                share.add(usage, *cost, unknown);
            }
            // What a lost call cost is not known.
            EventKind::CallLost { agent, .. } => {
                self.shares.entry(agent.clone()).or_default().unknown = true;
            }
            EventKind::LimitsRaised { limits, .. } => self.limits = self.limits.with(*limits),
            EventKind::AgentChanged { agent, card } => {
                if card.price.is_none() && !card.person {
                    self.unpriced.insert(agent.clone());
                } else {
                    self.unpriced.remove(agent);
                }
            }
            _ => {}
        }
    }
}
