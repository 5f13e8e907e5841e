//! The numbers of a view on their way into a checkpoint and back: with what only the fold needs, which nobody is shown.

use serde::{Deserialize, Serialize};

use super::goal::{Folding, GoalState};
use super::{Keep, RunTotals, RunView};

/// The numbers of a view as a checkpoint stores them: with what only the fold needs.
#[derive(Serialize)]
pub(crate) struct TotalsToStore<'a> {
    view: &'a RunView,
    totals: &'a RunTotals,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<&'a Folding>,
}

impl<'a> From<&'a RunView> for TotalsToStore<'a> {
    fn from(view: &'a RunView) -> Self {
        Self { view, totals: &view.totals, goal: view.goal.as_ref().map(GoalState::folding) }
    }
}

#[derive(Deserialize)]
pub(crate) struct StoredTotals {
    view: RunView,
    totals: RunTotals,
    #[serde(default)]
    goal: Option<Folding>,
}

impl From<StoredTotals> for RunView {
    fn from(stored: StoredTotals) -> Self {
        let mut view = Self { totals: stored.totals, keep: Keep::Totals, ..stored.view };
        if let (Some(goal), Some(folding)) = (&mut view.goal, stored.goal) {
            goal.go_on_with(folding);
        }
        view
    }
}
