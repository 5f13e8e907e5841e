//! A task of a nubos-pilot project as an `audit`: the plan's criteria, scope, verify commands and decisions, under
//! what the user says. What stands in the project's files stays the project's: its commands need trust.

use gadfly_project::config::CriteriaSetting;
use gadfly_project::nubos::Task;
use gadfly_project::{Config, Flags, Layer, LoopConfig, Place, Problem, Protocol, Sourced};

use super::phase::usual;

/// Where the project keeps its critics' reports; each run in a folder of its own.
pub(super) const REPORTS: &str = ".nubos-pilot/.tmp";

/// Fills in what the user did not say.
pub(super) fn flags(task: &Task, config: &Config, flags: &mut Flags, problems: &mut Vec<Problem>) {
    let protocol = Protocol::Audit.name();
    if flags.protocol.as_deref().is_some_and(|given| given != protocol) {
        let message = format!("task {} is an `{protocol}`", task.id);
        problems.push(Problem::error(message).help("leave --protocol out"));
    }
    flags.protocol = Some(protocol.to_owned());
    if flags.task.is_none() && flags.task_file.is_none() {
        flags.task = Some(task.text.clone());
    }
    flags.rounds.get_or_insert(task.settings.rounds);
    flags.verify_runs.get_or_insert(task.settings.verify_runs);
    flags.economy.get_or_insert_with(|| task.settings.economy.name().to_owned());
    flags.with.extend(task.references.iter().cloned());
    let seat = |named: &str, role: &str, default: Option<&Sourced<String>>| {
        let own = config.agents.contains_key(named).then(|| named.to_owned());
        own.or_else(|| usual(role, default, config))
    };
    if flags.worker.is_none() {
        flags.worker = seat("np-executor", "worker", config.defaults.worker.as_ref());
    }
    if flags.critics.is_empty() {
        flags.critics.extend(seat("np-critic", "critic", config.defaults.critic.as_ref()));
    }
}

/// What no flag can say, or what has to stay the project's.
pub(super) fn lay_over(task: &Task, config: &Config, flags: &Flags, looped: &mut LoopConfig) {
    let place = Some(Place::new(&task.plan, "", 0..0));
    let own = |value: String| Sourced { value, layer: Layer::Project, place: place.clone() };
    looped.task_id = Some(own(task.id.clone()));
    if flags.verify.is_empty() {
        looped.verify.clone_from(&task.verify);
    }
    if flags.scope.is_empty() {
        looped.scope.clone_from(&task.scope);
    }
    if flags.criteria.is_none() && !task.criteria.is_empty() {
        let items = CriteriaSetting::Items(task.criteria.clone());
        looped.criteria = Some(Sourced { value: items, layer: Layer::Project, place: place.clone() });
    }
    looped.decisions.extend(task.decisions.iter().cloned());
    let configured = |name: &str| config.agents.contains_key(name).then(|| own(name.to_owned()));
    if looped.build_fixer.is_none() {
        looped.build_fixer = configured("np-build-fixer");
    }
    if looped.researcher.is_none() {
        looped.researcher = configured("np-researcher");
    }
}
