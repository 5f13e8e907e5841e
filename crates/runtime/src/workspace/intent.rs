//! What an acceptance is about to write, on disk before its first byte: whoever finds the run stopped half-way knows
//! which files may be the run's, and that all others are the user's. It stays after an acceptance that came to its
//! end, for taking that back; whether it did is the journal's to say ([decision
//! 17](../../../../docs/decisions/0017-nothing-lost-at-the-edges.md)).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::apply::{NotRestored, PathStep, reversed};
use super::error::WorkspaceError;
use super::{CheckoutChanges, WayBack, Workspace};

const INTENT: &str = "accepting.json";

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Intent {
    /// The trees the checkout goes from and to.
    pub before: String,
    pub after: String,
    /// What was not yet as it shall be. All else the user had made the same: it is theirs.
    pub paths: BTreeSet<String>,
}

impl Intent {
    /// Of the steps between its trees, those that are the run's.
    pub fn own(&self, steps: Vec<PathStep>) -> Vec<PathStep> {
        steps.into_iter().filter(|step| self.paths.contains(&step.path)).collect()
    }
}

/// What was taken back of an acceptance that never came to its end, by path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TakenBack {
    pub paths: Vec<String>,
    /// Neither what was there before nor what the run writes: somebody changed it since, and it stays.
    pub left: Vec<String>,
}

/// Whether an acceptance of this workspace's run was begun and not taken back.
pub fn is_begun(run: &Path) -> bool {
    run.join("tree").join(INTENT).exists()
}

impl Workspace {
    /// Carries the checkout from one tree to the other. Whatever stops it, nothing of it stays, nor of an earlier
    /// attempt that was killed.
    pub(super) async fn carry(&self, before: &str, after: &str) -> Result<CheckoutChanges, WorkspaceError> {
        if self.intent()?.is_some_and(|earlier| earlier.before != before || earlier.after != after) {
            self.take_back_begun().await?;
        }
        let steps = self.store.steps(before, after).await?;
        let intend = |pending| self.intend(before, after, pending);
        match self.store.apply_noting(steps, &self.facts.root, intend).await {
            Err(stopped) => Err(match (self.take_back_begun().await, stopped) {
                // Once more, and now it could be put back.
                (Ok(_), WorkspaceError::HalfWritten { why, .. }) => *why,
                (Ok(_), stopped) => stopped,
                (Err(WorkspaceError::HalfWritten { left, .. }), stopped) => {
                    WorkspaceError::half_written(stopped, left)
                }
                (Err(other), _) => other,
            }),
            done => done,
        }
    }

    /// Takes back what is in the checkout of an acceptance that was begun. What somebody changed since stays. Again is
    /// once.
    pub async fn take_back_begun(&self) -> Result<TakenBack, WorkspaceError> {
        let Some(intent) = self.intent()? else { return Ok(TakenBack::default()) };
        let root = &self.facts.root;
        let steps = intent.own(self.store.steps(&intent.before, &intent.after).await?);
        let (written, mut left) = self.store.written(&steps, root).await?;
        let mut back = reversed(written);
        let blocked = self.store.in_conflict(&back, root).await?;
        back.retain(|step| !blocked.contains(&step.path));
        left.extend(blocked);
        let paths = back.iter().map(|step| step.path.clone()).collect();
        let done = self.store.put_back(back, root).await;
        self.store.clear_beside(steps, root).await;
        if let Err(NotRestored { why, paths }) = done {
            return Err(WorkspaceError::half_written(why, paths));
        }
        let path = self.home.join(INTENT);
        fs::remove_file(&path).map_err(WorkspaceError::io("removed", &path))?;
        left.sort();
        Ok(TakenBack { paths, left })
    }

    /// What `take_back_begun` would do.
    pub async fn way_of_begun(&self) -> Result<WayBack, WorkspaceError> {
        let mut way = WayBack::default();
        let Some(intent) = self.intent()? else { return Ok(way) };
        let steps = intent.own(self.store.steps(&intent.before, &intent.after).await?);
        let (written, left) = self.store.written(&steps, &self.facts.root).await?;
        for step in written {
            let list = if step.from.is_some() { &mut way.restored } else { &mut way.removed };
            list.push(step.path);
        }
        way.left_alone = left;
        Ok(way)
    }

    /// None if nothing was begun, or all of it was taken back.
    pub(super) fn intent(&self) -> Result<Option<Intent>, WorkspaceError> {
        self.get_if_any(INTENT)
    }

    /// Durable when this returns.
    fn intend(&self, before: &str, after: &str, pending: Vec<String>) -> Result<(), WorkspaceError> {
        let earlier = self.intent()?;
        let mut paths = earlier.as_ref().map(|earlier| earlier.paths.clone()).unwrap_or_default();
        paths.extend(pending);
        let intent = Intent { before: before.to_owned(), after: after.to_owned(), paths };
        if intent.paths.is_empty() || earlier.as_ref() == Some(&intent) {
            return Ok(());
        }
        self.put(INTENT, &intent)
    }
}
