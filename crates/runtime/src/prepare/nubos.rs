//! A task of a nubos-pilot project as an `audit`: the plan's criteria, scope, verify commands and decisions, under
//! what the user says. What stands in the project's files stays the project's: its commands need trust.

use gadfly_project::config::CriteriaSetting;
use gadfly_project::nubos::{NubosTask, plan_path};
use gadfly_project::place::option;
use gadfly_project::{
    Config, ConfigLayer, LoopConfig, LoopProtocol, Overrides, Problem, SourceSpan, Sourced,
};

use super::Described;
use super::phase::usual;

/// Where the project keeps its critics' reports; each run in a folder of its own.
pub(super) const REPORTS: &str = ".nubos-pilot/.tmp";

/// Whether the work is a task whose plan lies where the project's own tools look for its status.
pub(super) fn keeps_status(described: Option<&Described>) -> bool {
    let Some(Described::Task(task)) = described else { return false };
    plan_path(&task.id).as_deref() == Some(task.plan.as_path())
}

/// Fills in what the user did not say.
pub(super) fn fill(task: &NubosTask, config: &Config, given: &mut Overrides, problems: &mut Vec<Problem>) {
    let protocol = LoopProtocol::AUDIT;
    if given.protocol().is_some_and(|given| given != protocol) {
        let message = format!("task {} is an `{protocol}`", task.id);
        problems.push(Problem::error(message).help(format!("leave {} out", option("protocol"))));
    }
    given.set("protocol", protocol);
    if !given.has("task") && !given.has("task_file") {
        given.set("task", task.text.clone());
    }
    given.or_set("rounds", task.settings.rounds);
    given.or_set("verify_runs", task.settings.verify_runs);
    given.or_set("economy", task.settings.economy.name());
    let with: Vec<_> = given.paths("with").into_iter().chain(task.references.iter().cloned()).collect();
    given.set("with", with);
    let seat = |named: &str, role: &str, default: Option<&Sourced<String>>| {
        let own = config.agents.contains_key(named).then(|| named.to_owned());
        own.or_else(|| usual(role, default, config))
    };
    let worker = seat("np-executor", "worker", config.defaults.worker.as_ref());
    if let Some(worker) = worker.filter(|_| !given.has("worker")) {
        given.set("worker", worker);
    }
    let critic = seat("np-critic", "critic", config.defaults.critic.as_ref());
    if let Some(critic) = critic.filter(|_| given.critics().is_empty()) {
        given.set("critic", critic);
    }
}

/// What no flag can say, or what has to stay the project's.
pub(super) fn lay_over(task: &NubosTask, config: &Config, given: &Overrides, looped: &mut LoopConfig) {
    let place = Some(SourceSpan::new(&task.plan, "", 0..0));
    let own = |value: String| Sourced { value, layer: ConfigLayer::Project, place: place.clone() };
    looped.audit.task_id = Some(own(task.id.clone()));
    if !given.has("verify") {
        looped.audit.verify.clone_from(&task.verify);
    }
    if !given.has("scope") {
        looped.audit.scope.clone_from(&task.scope);
    }
    if !given.has("criteria") && !task.criteria.is_empty() {
        let items = CriteriaSetting::Items(task.criteria.clone());
        looped.options.criteria =
            Some(Sourced { value: items, layer: ConfigLayer::Project, place: place.clone() });
    }
    looped.audit.decisions.extend(task.decisions.iter().cloned());
    let configured = |name: &str| config.agents.contains_key(name).then(|| own(name.to_owned()));
    if looped.audit.build_fixer.is_none() {
        looped.audit.build_fixer = configured("np-build-fixer");
    }
    if looped.audit.researcher.is_none() {
        looped.audit.researcher = configured("np-researcher");
    }
    if looped.audit.architect.is_none() && task.settings.architect {
        looped.audit.architect = configured("np-task-architect").or_else(|| configured("np-architect"));
    }
    if looped.audit.test_writer.is_none() && task.settings.test_writer {
        looped.audit.test_writer = configured("np-test-writer");
    }
}
