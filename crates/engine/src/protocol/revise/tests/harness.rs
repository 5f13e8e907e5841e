//! The table of `revise`: its usual game.

use crate::budget::Limits;
use crate::plan::{NodePlan, Target};
use crate::protocol::harness;
pub use crate::protocol::harness::{Plays, SEED, TASK, card};
use crate::protocol::revise::ReviseSettings;
use crate::text::Text;

pub type Table = harness::Table<ReviseSettings>;

impl Plays for ReviseSettings {
    fn root(&self) -> NodePlan {
        self.node_plan(Limits::default()).unwrap()
    }
}

impl Table {
    pub fn new() -> Self {
        Self::seated(ReviseSettings {
            task: Text::new(TASK).digest(),
            phase: "paper".into(),
            rubric: vec!["Every number has a unit.".into()],
            references: Vec::new(),
            draft: None,
            worker: Some("ann".into()),
            critic: "cato".into(),
            fallback_critic: None,
            rounds: 3,
            overrule: true,
            out: None,
            project: super::super::ProjectPhase::default(),
        })
    }

    pub fn saving(self) -> Self {
        self.with(|s| s.out = Some(Target { path: "out.md".into(), before: None }))
    }
}
