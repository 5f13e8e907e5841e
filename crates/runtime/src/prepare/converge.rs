//! The settings of a `converge` loop: named questions, the safety cap that comes with them, and what earlier
//! runs on the same file put off.

use gadfly_engine::Limits;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::protocol::converge::RULE_BOOK;
use gadfly_engine::protocol::converge::sets::{self, ConvergeCriterion, PASSES};
use gadfly_engine::protocol::converge::settings::{ConvergeSettings, DeferredEarlier};
use gadfly_journal::{Deferred, Journal, OpenError};
use gadfly_project::config::{CriteriaSetting, CriterionSetting, criteria};
use gadfly_project::place::option;
use gadfly_project::{ConfigLayer, LoopConfig, LoopProtocol, Overrides, Problem};

use super::inherited::{EarlierRun, Inherited, SharedSettings};
use super::protocols::ProtocolEntry;
use super::settings::{RoleAssignment, RoleList, RunSettings, rounds_of, seats, small};
use super::{Material, Request};
use crate::user_dirs::UserDirs;

pub(super) const ENTRY: ProtocolEntry = ProtocolEntry {
    card: LoopProtocol::CONVERGE.card(),
    book: RULE_BOOK,
    settings,
    of_task: None,
    inherits: Some(inherits),
};

impl RunSettings for ConvergeSettings {
    fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error> {
        Self::node_plan(self, limits)
    }

    fn cast(&self) -> Vec<RoleAssignment> {
        RoleList::new(self.worker.as_ref(), self.rounds).judged_by(&self.critics)
    }

    fn rounds(&self) -> u32 {
        rounds_of(self.worker.as_ref(), self.rounds)
    }
}

fn inherits(earlier: &EarlierRun<'_>, inherited: &mut Inherited) -> Result<SharedSettings, Problem> {
    let old: ConvergeSettings = earlier.settings()?;
    inherited.questions = old.criteria;
    inherited.passes = Some(old.rounds);
    let (task, references, critics) = (old.task, old.references, old.critics);
    let (worker, out, more) = (old.worker, old.out, Box::new(|_: &mut Overrides| {}));
    Ok(SharedSettings { task, references, worker, critics, out, more })
}

fn settings(
    config: &LoopConfig,
    request: &Request,
    material: &mut Material,
    problems: &mut Vec<Problem>,
) -> Option<Box<dyn RunSettings>> {
    if !request.rubrics.is_empty() {
        let message = "`converge` goes by named criteria, not by a rubric";
        problems.push(
            Problem::error(message)
                .help(format!("give the file, or the name of a set, with {}", option("criteria"))),
        );
    }
    let criteria = criteria_of(config, request, problems)?;
    let rounds = match config.options.rounds.layer {
        ConfigLayer::BuiltIn => cap(config, request),
        _ => small(config.options.rounds.value),
    };
    Some(Box::new(ConvergeSettings {
        task: material.task.digest(),
        criteria,
        references: material.named_references(),
        deferred: deferred(request, material, problems),
        given: material.given.clone(),
        worker: config.options.worker.as_ref().filter(|_| request.review.is_none()).map(|w| w.value.clone()),
        critics: seats(config),
        rounds,
        out: material.target.clone(),
        max_parts: small(config.options.max_parts.value),
    }))
}

/// What earlier runs on the same file put off. A ledger that cannot be read is said, and stops nothing.
fn deferred(request: &Request, material: &Material, problems: &mut Vec<Problem>) -> Vec<DeferredEarlier> {
    let (Some(store), Some(target)) = (&request.store, &material.target) else { return Vec::new() };
    let journal = match Journal::open_existing_in(store, &UserDirs::from_env().custody()) {
        Ok(journal) => journal,
        Err(OpenError::Missing(_)) => return Vec::new(),
        Err(error) => {
            problems.push(Problem::warning(format!("what earlier runs put off cannot be read: {error}")));
            return Vec::new();
        }
    };
    let found = journal.deferred(&target.path).unwrap_or_else(|error| {
        problems.push(Problem::warning(format!("what earlier runs put off cannot be read: {error}")));
        Vec::new()
    });
    let line =
        |d: Deferred| DeferredEarlier { id: d.id, criterion: d.criterion, reason: d.reason, by: d.who };
    found.into_iter().map(line).collect()
}

/// A ready-made set brings its own cap.
fn cap(config: &LoopConfig, request: &Request) -> u32 {
    match config.options.criteria.as_ref().map(|c| &c.value) {
        Some(CriteriaSetting::Set(name)) => sets::set(name).map_or(PASSES, |set| set.passes),
        Some(_) => PASSES,
        None => request.from.as_ref().and_then(|old| old.passes).unwrap_or(PASSES),
    }
}

fn criteria_of(
    config: &LoopConfig,
    request: &Request,
    problems: &mut Vec<Problem>,
) -> Option<Vec<ConvergeCriterion>> {
    let mut given: Vec<CriterionSetting> = match config.options.criteria.as_ref().map(criteria::read) {
        Some(Err(problem)) => {
            problems.push(problem);
            return None;
        }
        Some(Ok(items)) => items.into_iter().map(|i| i.value).collect(),
        None => Vec::new(),
    };
    given.extend(request.criteria.iter().map(|c| CriterionSetting::of_line(&c.value)));
    let named = |(n, c): (usize, CriterionSetting)| ConvergeCriterion {
        name: c.name.unwrap_or_else(|| format!("CRITERION_{}", n + 1)),
        question: c.text,
    };
    let mut criteria: Vec<ConvergeCriterion> = given.into_iter().enumerate().map(named).collect();
    if criteria.is_empty() {
        criteria = request.from.as_ref().map(|old| old.questions.clone()).unwrap_or_default();
    }
    if criteria.is_empty() {
        let sets: Vec<&str> = sets::names().collect();
        problems.push(
            Problem::error("there are no criteria")
                .help(format!(
                    "name a set with {} ({}), or a file with questions",
                    option("criteria"),
                    sets.join(", ")
                ))
                .at(config.place.as_ref()),
        );
        return None;
    }
    let place = config.options.criteria.as_ref().and_then(|c| c.place.as_ref());
    problems.extend(sets::problems(&criteria).into_iter().map(|message| Problem::error(message).at(place)));
    Some(criteria)
}
