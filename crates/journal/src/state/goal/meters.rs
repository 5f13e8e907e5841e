//! The part of a goal that counts: what is left of it without steps, rail and words. It is stored with the run,
//! so that a window of the steps is shown with the numbers of all of them.

use gadfly_engine::{Limits, NodePath};
use serde::{Deserialize, Serialize};

use super::{CapsUsed, Costs, Folding, GoalCounts, GoalState, RailEntry, StepTaken};
use crate::read::Record;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct GoalMeters {
    node: NodePath,
    counts: GoalCounts,
    caps: Limits,
    used: CapsUsed,
    costs: Costs,
    folding: Folding,
}

impl From<GoalState> for GoalMeters {
    fn from(goal: GoalState) -> Self {
        let GoalState { node, counts, caps, used, costs, folding, .. } = goal;
        Self { node, counts, caps, used, costs, folding }
    }
}

impl From<GoalMeters> for GoalState {
    fn from(meters: GoalMeters) -> Self {
        let GoalMeters { node, counts, caps, used, costs, folding } = meters;
        Self { counts, caps, used, costs, folding, ..Self::new(node) }
    }
}

impl GoalState {
    /// Puts the numbers of the whole goal in the place of those of a part. Records that only say how something
    /// goes on do not store their meters: the time up to `active_ms` passed since.
    pub(crate) fn count_as(&mut self, meters: GoalMeters, active_ms: u64) {
        let GoalMeters { node: _, counts, caps, used, costs, folding } = meters;
        (self.counts, self.caps, self.used, self.costs, self.folding) = (counts, caps, used, costs, folding);
        self.pass(active_ms);
    }

    /// Steps and rail of these records alone, when `before` steps came before them.
    pub(crate) fn stretch<'a>(
        &self,
        before: u32,
        records: impl Iterator<Item = &'a Record>,
    ) -> (Vec<StepTaken>, Vec<RailEntry>) {
        let mut goal = Self::new(self.node.clone());
        goal.used.steps = before;
        for Record { seq, input, step } in records {
            for event in &step.events {
                goal.happened(&event.node, &event.what, *seq, input.at.wall_ms);
            }
        }
        (goal.steps, goal.rail)
    }
}
