//! A task as an `audit`: the plan's criteria, scope, verify commands and decisions, under what the user says. What stands
//! in the project's files stays the project's: its commands need trust.

use std::path::Path;

use gadfly_project::adapter::DescribedWork;
use gadfly_project::config::CriteriaSetting;
use gadfly_project::place::option;
use gadfly_project::trust::{TrustEntry, judging};
use gadfly_project::{
    Config, ConfigLayer, LoopConfig, LoopProtocol, Overrides, Problem, SourceSpan, Sourced,
};

use super::{NubosTask, REPORTS, plan_path};
use crate::seat::usual;

impl DescribedWork for NubosTask {
    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn needs_trust(&self, root: &Path) -> Vec<TrustEntry> {
        judged_by(self, root)
    }

    fn fill(&self, config: &Config, given: &mut Overrides, problems: &mut Vec<Problem>) {
        let protocol = LoopProtocol::AUDIT;
        if given.protocol().is_some_and(|given| given != protocol) {
            let message = format!("task {} is an `{protocol}`", self.id);
            problems.push(Problem::error(message).help(format!("leave {} out", option("protocol"))));
        }
        given.set("protocol", protocol);
        if !given.has("task") && !given.has("task_file") {
            given.set("task", self.text.clone());
        }
        given.or_set("rounds", self.settings.rounds);
        given.or_set("verify_runs", self.settings.verify_runs);
        given.or_set("economy", self.settings.economy.name());
        let with: Vec<_> = given.paths("with").into_iter().chain(self.references.iter().cloned()).collect();
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

    fn lay_over(&self, config: &Config, given: &Overrides, looped: &mut LoopConfig) {
        let place = Some(SourceSpan::new(&self.plan, "", 0..0));
        let own = |value: String| Sourced { value, layer: ConfigLayer::Project, place: place.clone() };
        looped.audit.task_id = Some(own(self.id.clone()));
        if !given.has("verify") {
            looped.audit.verify.clone_from(&self.verify);
        }
        if !given.has("scope") {
            looped.audit.scope.clone_from(&self.scope);
        }
        if !given.has("criteria") && !self.criteria.is_empty() {
            let items = CriteriaSetting::Items(self.criteria.clone());
            looped.options.criteria =
                Some(Sourced { value: items, layer: ConfigLayer::Project, place: place.clone() });
        }
        looped.audit.decisions.extend(self.decisions.iter().cloned());
        let configured = |name: &str| config.agents.contains_key(name).then(|| own(name.to_owned()));
        if looped.audit.build_fixer.is_none() {
            looped.audit.build_fixer = configured("np-build-fixer");
        }
        if looped.audit.researcher.is_none() {
            looped.audit.researcher = configured("np-researcher");
        }
        if looped.audit.architect.is_none() && self.settings.architect {
            looped.audit.architect = configured("np-task-architect").or_else(|| configured("np-architect"));
        }
        if looped.audit.test_writer.is_none() && self.settings.test_writer {
            looped.audit.test_writer = configured("np-test-writer");
        }
    }

    fn reports(&self) -> Option<&'static str> {
        Some(REPORTS)
    }

    /// Where its plan lies where the project's own tools look for its status.
    fn keeps_status(&self) -> bool {
        plan_path(&self.id).as_deref() == Some(self.plan.as_path())
    }
}

/// By what it wants its work judged.
fn judged_by(task: &NubosTask, root: &Path) -> Vec<TrustEntry> {
    let criteria: Vec<&str> = task.criteria.iter().map(|item| item.value.text.as_str()).collect();
    let scope: Vec<&str> = task.scope.iter().map(|item| item.value.as_str()).collect();
    let decisions: Vec<&str> = task.decisions.iter().map(|item| item.value.as_str()).collect();
    let with: Vec<String> = task.references.iter().map(|path| judging::content_of(path, root)).collect();
    let set = &task.settings;
    let limits = [set.rounds.to_string(), set.verify_runs.to_string(), set.economy.name().to_owned()];
    let place = SourceSpan::new(&task.plan, "", 0..0);
    let plan = judging::short(&task.plan.strip_prefix(root).unwrap_or(&task.plan).display().to_string());
    let parts: Vec<Vec<&str>> = vec![
        vec![&task.text],
        criteria,
        scope,
        decisions,
        with.iter().map(String::as_str).collect(),
        limits.iter().map(String::as_str).collect(),
    ];
    // How many there are of each keeps one from passing as another.
    let counts: Vec<String> = parts.iter().map(|part| part.len().to_string()).collect();
    let content: Vec<&str> =
        counts.iter().map(String::as_str).chain(parts.iter().flatten().copied()).collect();
    vec![judging::of_work("task", &format!("{plan}, rounds {}", set.rounds), &content, Some(place))]
}
