//! The questions a pipeline is made of: does this hold, who can run, who is done, and why not.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

mod conditions;
mod look;
mod naming;
mod output;
mod work;

use self::look::{FactsIndex, JudgedState};
use super::aggregate::Aggregate;
use super::gate::{Gate, GateReport};
use super::listing::Listing;
use super::registry::{Registry, RegistryEntry};
use super::verdict::PairVerdict;

/// The facts of a project at one moment.
#[derive(Clone, Copy)]
pub struct ProjectFacts<'a> {
    pub registry: &'a Registry,
    pub listing: &'a Listing,
    /// Normalised headings of the files that were read, by path.
    pub headings: &'a BTreeMap<String, Vec<String>>,
    /// The oldest first; of an agent the last one counts.
    pub verdicts: &'a [PairVerdict],
    /// What people said about conditions only they can judge, by their text.
    pub manual: &'a BTreeMap<String, bool>,
    /// All such conditions are taken as true.
    pub assume_manual: bool,
    /// Conditional agents that run here.
    pub enabled: &'a BTreeSet<String>,
    /// The skill that dispatches an agent, by agent.
    pub skills: &'a BTreeMap<String, String>,
}

/// Whether an agent is done, can run, or what it waits for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "standing")]
pub enum AgentReadiness {
    /// Its outputs carry a current verdict that passes, or need none and are there.
    Done {
        score: Option<u32>,
    },
    /// It could run now.
    Ready,
    /// All that is missing is a person's word on these conditions.
    Asking {
        conditions: Vec<String>,
    },
    Blocked {
        gaps: Vec<Gap>,
    },
    /// Conditional, and not enabled.
    Off {
        because: String,
    },
}

/// What is in the way of an agent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Gap {
    /// Follows `Cannot dispatch [coder]: `, as in `missing quality_reports/strategy/x/strategy_memo.md`.
    pub what: String,
    /// Without the arrow: `Run /strategize first to produce the strategy memo.`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// One condition of an agent, and how it stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Explained {
    pub text: String,
    pub line: u32,
    pub holds: Holds,
    pub because: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    Yes,
    No,
    /// A person has to say.
    Unknown,
}

impl<'a> ProjectFacts<'a> {
    /// The last verdict on an agent's work, current or not.
    pub fn verdict(&self, agent: &str) -> Option<&'a PairVerdict> {
        self.verdicts.iter().rev().find(|verdict| verdict.agent == agent)
    }

    /// The verdict that counts, if there is one.
    pub fn current(&self, agent: &str) -> Option<&'a PairVerdict> {
        let (entry, verdict) = (self.registry.get(agent), self.verdict(agent)?);
        let counts = match entry {
            Some(entry) => JudgedState::by(entry, verdict, self.listing).counting().is_some(),
            None => verdict.stale(self.listing).is_none(),
        };
        counts.then_some(verdict)
    }

    pub fn is_on(&self, entry: &RegistryEntry) -> bool {
        entry.conditional.is_none() || self.enabled.contains(&entry.agent)
    }

    /// How one agent stands. For all of them take [`Self::standings`].
    pub fn standing(&self, entry: &'a RegistryEntry) -> AgentReadiness {
        FactsIndex::at(*self).standing(entry)
    }

    /// How every agent stands, in the order of the registry.
    pub fn standings(&self) -> Vec<(String, AgentReadiness)> {
        let look = FactsIndex::at(*self);
        let stand = |entry: &'a RegistryEntry| (entry.agent.clone(), look.standing(entry));
        self.registry.entries.iter().map(stand).collect()
    }

    /// Atom by atom.
    pub fn explain(&self, entry: &'a RegistryEntry) -> Vec<Explained> {
        FactsIndex::at(*self).explain(entry)
    }

    /// What an agent's outputs lack, in the words of `output is incomplete: {gaps}`. `changed` says whether a path
    /// was created or changed since the dispatch.
    pub fn gaps_of_output(&self, entry: &RegistryEntry, changed: &dyn Fn(&str) -> bool) -> Vec<String> {
        let mut gaps = Vec::new();
        for product in &entry.produces {
            let lacking = output::lacking(self, product);
            let unchanged = if lacking.is_empty() { output::unchanged(self, product, changed) } else { None };
            gaps.extend(lacking);
            gaps.extend(unchanged);
        }
        gaps
    }

    pub fn aggregate(&self) -> Aggregate {
        FactsIndex::at(*self).aggregate(None)
    }

    /// Without the gate's commands: those have to be run.
    pub fn gate(&self, gate: &Gate) -> GateReport {
        let look = FactsIndex::at(*self);
        gate.report(look.aggregate(None), &look.unjudged())
    }
}

/// `Cannot dispatch [coder]: …`, and what to do about it, in one or two lines each.
pub fn refusal(agent: &str, gaps: &[Gap]) -> Vec<String> {
    let mut lines = Vec::new();
    for gap in gaps {
        lines.push(format!("Cannot dispatch [{agent}]: {}", gap.what));
        lines.extend(gap.hint.as_ref().map(|hint| format!("→ {hint}")));
    }
    lines
}

/// `Agent [x] completed but output is incomplete: …`
pub fn incomplete(agent: &str, gaps: &[String]) -> String {
    format!("Agent [{agent}] completed but output is incomplete: {}", gaps.join("; "))
}

#[cfg(test)]
mod tests;
