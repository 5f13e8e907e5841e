//! One look at a world: what several questions share is worked out once. Not kept: the next moment has its own.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use super::naming::Makers;
use super::{AgentReadiness, ProjectFacts, output};
use crate::pipeline::aggregate::{Aggregate, ScoreRow};
use crate::pipeline::gate::Unjudged;
use crate::pipeline::listing::{Listing, Pattern};
use crate::pipeline::registry::{Check, PairWeight, RegistryEntry};
use crate::pipeline::verdict::PairVerdict;

pub(super) struct FactsIndex<'a> {
    pub(super) facts: ProjectFacts<'a>,
    judged: BTreeMap<&'a str, JudgedState<'a>>,
    judged_by: BTreeMap<&'a str, Vec<&'a RegistryEntry>>,
    makers: OnceCell<Makers<'a>>,
    whole: OnceCell<Aggregate>,
    /// Globs over a large folder are compared with it once.
    there: RefCell<BTreeMap<&'a str, bool>>,
}

/// What is known about an agent's work.
#[derive(Clone, Copy)]
pub(super) enum JudgedState<'a> {
    Never,
    /// The newest verdict is about another state of this file.
    Stale(&'a str),
    /// The newest verdict is about nothing that the agent makes.
    Elsewhere,
    Now(&'a PairVerdict),
}

impl<'a> JudgedState<'a> {
    pub(super) fn by(entry: &RegistryEntry, verdict: &'a PairVerdict, listing: &Listing) -> Self {
        if let Some(path) = verdict.stale(listing) {
            return Self::Stale(path);
        }
        let mut files = verdict.files.iter().chain(&verdict.made).map(|file| file.path.as_str());
        let patterns =
            || entry.produces.iter().flat_map(|product| product.patterns.iter().chain(&product.files));
        // A verdict that is bound to no file of the agent would never go stale.
        let is_bound = if entry.judges() || patterns().next().is_none() {
            !entry.judges() || files.next().is_some()
        } else {
            let matchers: Vec<_> = patterns().map(Pattern::matcher).collect();
            files.any(|path| matchers.iter().any(|matcher| matcher.matches(path)))
        };
        if is_bound { Self::Now(verdict) } else { Self::Elsewhere }
    }

    pub(super) const fn counting(self) -> Option<&'a PairVerdict> {
        match self {
            Self::Now(verdict) => Some(verdict),
            _ => None,
        }
    }

    /// Why no score counts; none if one does.
    pub(super) fn because(self) -> Option<String> {
        match self {
            Self::Now(_) => None,
            Self::Never => Some("not judged yet".into()),
            Self::Stale(path) => Some(format!("stale: {path} changed since it was judged")),
            Self::Elsewhere => Some("not judged yet: the last verdict is about other files".into()),
        }
    }
}

impl<'a> FactsIndex<'a> {
    pub(super) fn at(facts: ProjectFacts<'a>) -> Self {
        let newest: BTreeMap<&str, &PairVerdict> =
            facts.verdicts.iter().map(|verdict| (verdict.agent.as_str(), verdict)).collect();
        let mut judged = BTreeMap::new();
        let mut judged_by: BTreeMap<&str, Vec<&RegistryEntry>> = BTreeMap::new();
        for entry in &facts.registry.entries {
            if let Some(verdict) = newest.get(entry.agent.as_str()) {
                judged.insert(entry.agent.as_str(), JudgedState::by(entry, verdict, facts.listing));
            }
            if let Some(critic) = &entry.critic {
                judged_by.entry(critic.as_str()).or_default().push(entry);
            }
        }
        Self {
            facts,
            judged,
            judged_by,
            makers: OnceCell::new(),
            whole: OnceCell::new(),
            there: RefCell::default(),
        }
    }

    pub(super) fn judged(&self, entry: &RegistryEntry) -> JudgedState<'a> {
        self.judged.get(entry.agent.as_str()).copied().unwrap_or(JudgedState::Never)
    }

    /// Whom this critic is the critic of, as far as they run here.
    pub(super) fn judged_by(&self, critic: &str) -> Vec<&'a RegistryEntry> {
        let all = self.judged_by.get(critic).map(Vec::as_slice).unwrap_or_default();
        all.iter().copied().filter(|entry| self.facts.is_on(entry)).collect()
    }

    pub(super) fn makers(&self) -> &Makers<'a> {
        self.makers.get_or_init(|| Makers::of(self.facts.registry))
    }

    pub(super) fn is_there(&self, pattern: &'a Pattern) -> bool {
        if !pattern.is_glob() {
            return self.facts.listing.has(pattern);
        }
        let known = self.there.borrow().get(pattern.0.as_str()).copied();
        known.unwrap_or_else(|| {
            let is = self.facts.listing.has(pattern);
            self.there.borrow_mut().insert(&pattern.0, is);
            is
        })
    }

    pub(super) fn standing(&self, entry: &'a RegistryEntry) -> AgentReadiness {
        if let Some(condition) = entry.conditional.as_ref().filter(|_| !self.facts.is_on(entry)) {
            return AgentReadiness::Off {
                because: format!("it is conditional and not enabled: {condition}"),
            };
        }
        self.done(entry).unwrap_or_else(|| self.requirements(entry))
    }

    /// None of an agent that is not done.
    fn done(&self, entry: &RegistryEntry) -> Option<AgentReadiness> {
        let is_complete = || entry.produces.iter().all(|made| output::lacking(&self.facts, made).is_empty());
        if entry.critic.is_none() && !entry.judges() {
            // Nothing that could be looked at says nothing about whether it ran.
            let is_checked =
                entry.produces.iter().any(|made| !made.patterns.is_empty() || !made.files.is_empty());
            return (is_checked && is_complete()).then_some(AgentReadiness::Done { score: None });
        }
        let verdict = self.judged(entry).counting()?;
        let is_enough = entry.judges() || entry.is_advisory() || verdict.passes();
        (is_enough && is_complete()).then_some(AgentReadiness::Done { score: Some(verdict.score) })
    }

    /// The sum an agent is checked against: without itself, if it waits for that sum.
    pub(super) fn aggregate_for(&self, entry: &RegistryEntry) -> Aggregate {
        let counts = matches!(entry.weight, PairWeight::Share { .. });
        let waits = |check: &Check| matches!(check, Check::Overall { .. } | Check::Components { .. });
        if counts && entry.requires.atoms().iter().any(|atom| waits(&atom.check)) {
            return self.aggregate(Some(&entry.agent));
        }
        self.whole.get_or_init(|| self.aggregate(None)).clone()
    }

    /// Work that may not pass any gate. What is not begun is nothing yet; what was judged and is not what it was, or is
    /// gone, is damage. Advice is asked of nobody.
    pub(super) fn unjudged(&self) -> Vec<Unjudged> {
        let is_asked = |entry: &&'a RegistryEntry| {
            self.facts.is_on(entry) && !entry.is_advisory() && (entry.critic.is_some() || entry.judges())
        };
        let entries = self.facts.registry.entries.iter().filter(is_asked);
        entries
            .filter_map(|entry| {
                let why = self.why_unjudged(entry)?;
                Some(Unjudged { agent: entry.agent.clone(), why })
            })
            .collect()
    }

    fn why_unjudged(&self, entry: &RegistryEntry) -> Option<String> {
        match self.judged(entry) {
            JudgedState::Stale(path) if self.facts.listing.get(path).is_none() => {
                Some(format!("{path} is gone since it was judged"))
            }
            JudgedState::Stale(path) => Some(format!("{path} changed since it was judged")),
            JudgedState::Now(verdict) if verdict.rejected => {
                let path = output::begun(&self.facts, entry)?;
                Some(format!("{path} is there, and the last draft did not pass ({})", verdict.score))
            }
            JudgedState::Now(_) => None,
            JudgedState::Never | JudgedState::Elsewhere => {
                let path = output::begun(&self.facts, entry)?;
                Some(format!("{path} is there and was never judged"))
            }
        }
    }

    pub(super) fn aggregate(&self, without: Option<&str>) -> Aggregate {
        let mut rows = Vec::new();
        for entry in &self.facts.registry.entries {
            let PairWeight::Share { points, component, binary } = &entry.weight else { continue };
            if !self.facts.is_on(entry) || without == Some(entry.agent.as_str()) {
                continue;
            }
            let judged = self.judged(entry);
            let score = judged.counting().map(|verdict| match (binary, verdict.score >= verdict.threshold) {
                (true, true) => 100,
                (true, false) => 0,
                (false, _) => verdict.score.min(100),
            });
            let row = ScoreRow {
                agent: entry.agent.clone(),
                points: *points,
                score,
                because: judged.because(),
                optional: entry.conditional.is_some(),
            };
            rows.push((component.as_str(), row));
        }
        Aggregate::of(rows)
    }
}
