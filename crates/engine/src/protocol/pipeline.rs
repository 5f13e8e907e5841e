//! `pipeline`: IDENTIFY → DISPATCH → REVIEW → VERIFY → SCORE over the agents of a registry, as one run.
//!
//! Only the decisions are here and in `pipeline/`. Who can run, who is done and why not are questions to
//! `crate::pipeline::World`; a pair is a `score` node below this one.

pub mod settings;

use crate::digest::Digest;
use crate::machine::{Answered, Cx};
use crate::plan::NodePlan;
use crate::protocol::{Protocol, RuleBook};

use settings::Settings;

/// Version 1 of the rules.
pub const RULE_BOOK: RuleBook = RuleBook { name: "pipeline", version: 1, begin };

fn begin(plan: &NodePlan) -> Result<Box<dyn Protocol>, String> {
    Ok(Box::new(Pipeline { settings: Settings::read(plan)? }))
}

struct Pipeline {
    settings: Settings,
}

impl Protocol for Pipeline {
    fn start(&mut self, _cx: &mut Cx<'_>) {}

    fn answered(&mut self, _answer: Answered, _cx: &mut Cx<'_>) {}

    fn material(&self) -> Vec<Digest> {
        self.settings.material()
    }
}
