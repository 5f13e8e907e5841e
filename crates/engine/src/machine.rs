//! The machine under every protocol: a run as a tree of nodes, one entry point, [`Engine::on`].
//!
//! What it owns: ids, permissions by role, budgets, active time, pausing, cancelling, parking and
//! repeating calls, restating malformed replies, the tool loop of workers behind an API, saving the result. What a protocol owns: whom to call
//! with what, and what a readable answer means. What the host owns: journalling each input with its
//! step before performing anything, performing effects, stamping inputs, deadlines.

mod calls;
mod cx;
mod going_on;
mod replies;
mod run;
mod saving;
mod tasks;
mod tool_loop;

pub use cx::{AgentAnswer, CriticCall, Cx, FailedCall, LedTurn, WorkerCall};
pub use going_on::{cut_short, told};
pub use tasks::TaskResult;

use serde::{Deserialize, Serialize};

use crate::budget::{Account, Spent};
use crate::digest::Digest;
use crate::effect::{Effect, EffectId};
use crate::event::Event;
use crate::input::{FORMAT, Input, InputKind};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::protocol::Protocols;
use crate::text::{Text, Texts};
use run::Run;

/// The engine's answer to one input.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Step {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Texts the engine wrote in this step. Stored beside the record, by digest.
    #[serde(skip)]
    pub texts: Vec<Text>,
}

/// An input that makes no sense in the run's present state. Nothing changed; do not record it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refused {
    #[error("the run has not started")]
    NotStarted,
    #[error("the run has started already")]
    AlreadyStarted,
    #[error("the run has ended ({0}); start a new one, or use `--from` to go on from its last draft")]
    Ended(String),
    #[error("effect {0} is not open: it was answered before, or never asked for")]
    NotOpen(EffectId),
    #[error("effect {0} does not wait for a person")]
    NotAPerson(EffectId),
    #[error("{0}")]
    NoSuchChoice(String),
    #[error("this record names text {0} without bringing it")]
    TextMissing(Digest),
    #[error("{0}")]
    BadPlan(String),
    #[error(
        "this run was written in format {found}; this program reads formats up to {FORMAT}: use a newer gadfly"
    )]
    NewerFormat { found: u32 },
}

/// A run in memory. It can be dropped at any time and rebuilt from its recorded inputs.
pub struct Engine {
    protocols: Protocols,
    run: Option<Run>,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new(Protocols::shipped())
    }
}

impl Engine {
    pub const fn new(protocols: Protocols) -> Self {
        Self { protocols, run: None }
    }

    /// The one entry point: an input in, a step out. A refused input changes nothing.
    pub fn on(&mut self, input: &Input) -> Result<Step, Refused> {
        if let InputKind::Started(start) = &input.what {
            if self.run.is_some() {
                return Err(Refused::AlreadyStarted);
            }
            if start.format > FORMAT {
                return Err(Refused::NewerFormat { found: start.format });
            }
            let (run, step) = Run::start(start, input, &self.protocols)?;
            self.run = Some(run);
            return Ok(step);
        }
        let run = self.run.as_mut().ok_or(Refused::NotStarted)?;
        run.check(input)?;
        Ok(run.on(input))
    }

    pub fn outcome(&self) -> Option<&Outcome> {
        self.run.as_ref().and_then(|r| r.outcome.as_ref())
    }

    pub fn plan(&self) -> Option<&Plan> {
        self.run.as_ref().map(|r| &r.plan)
    }

    /// Effects that have no reply yet, in the order of their ids.
    pub fn open_effects(&self) -> impl Iterator<Item = &Effect> {
        self.run.iter().flat_map(|r| r.open.values().map(|o| &o.effect))
    }

    /// Whether the folder of a node was looked at: then it was made.
    pub fn has_looked(&self, node: &crate::effect::NodePath) -> bool {
        self.run.as_ref().is_some_and(|run| run.looked.contains(node))
    }

    pub fn texts(&self) -> Option<&Texts> {
        self.run.as_ref().map(|r| &r.texts)
    }

    pub fn spent(&self) -> Spent {
        self.run.as_ref().map_or_else(Spent::default, |r| r.ledger.spent(&Account::Run))
    }

    /// Active milliseconds at the last input: where the clock goes on after a resume.
    pub fn active_ms(&self) -> u64 {
        self.run.as_ref().map_or(0, |r| r.last_active_ms)
    }
}

#[cfg(test)]
mod task_tests;
#[cfg(test)]
mod tests;
