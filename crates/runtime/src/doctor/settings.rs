//! What of the configuration only shows when its files are opened: scripts, rubrics, tasks, programs.
//! Reading the configuration itself finds the rest; both together are `check`.

use std::path::Path;

use gadfly_project::config::{RubricSetting, TaskSource, criteria};
use gadfly_project::{
    AgentConfig, Config, LoopConfig, LoopProtocol, Overrides, Problem, SourceSpan, deduction_table, file,
    rubric,
};

use crate::agents::startable::unstartable_agent;
use crate::agents::{Env, read_script};

/// Everything that is wrong with the files the configuration names. `known` are problems found before:
/// they are not said again.
pub fn check(config: &Config, root: &Path, env: &Env, known: &[Problem]) -> Vec<Problem> {
    let mut found: Vec<Problem> = Vec::new();
    for agent in config.agents.values() {
        found.extend(of_agent(agent, root, env));
    }
    for name in config.loops.keys() {
        let (looped, problems) = config.loop_for(Some(name), &Overrides::default());
        // A task may come from the command line; the loop itself is not wrong without one.
        found.extend(problems.into_iter().filter(|_| looped.task.is_some()));
        found.extend(of_loop(&looped));
    }
    let mut fresh: Vec<Problem> = Vec::new();
    for problem in found {
        if !known.contains(&problem) && !fresh.contains(&problem) {
            fresh.push(problem);
        }
    }
    fresh
}

fn of_agent(agent: &AgentConfig, root: &Path, env: &Env) -> Option<Problem> {
    if let Some(script) = &agent.script {
        return read_script(agent, &script.value).err();
    }
    let form = gadfly_agents::check_output(&agent.name, &crate::agents::output_form(agent));
    let unreadable = form.err().map(|error| Problem::error(error.to_string()).at(agent.place.as_ref()));
    unreadable.or_else(|| unstartable_agent(agent, root, env))
}

fn of_loop(looped: &LoopConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Some(setting) = &looped.options.rubric {
        let is_scored = looped.options.protocol.value == LoopProtocol::SCORE;
        problems.extend(match (is_scored, &setting.value) {
            (true, RubricSetting::File(path)) => {
                let found = deduction_table::read(path, None).map_or_else(|e| e, |reading| reading.warnings);
                let placed = |p: Problem| if p.at.is_some() { p } else { p.at(setting.place.as_ref()) };
                found.into_iter().map(placed).collect()
            }
            (true, RubricSetting::Items(_)) => Vec::new(),
            (false, _) => rubric::for_loop(Some(setting), Vec::new()).1,
        });
    }
    problems.extend(looped.options.criteria.as_ref().and_then(|setting| criteria::read(setting).err()));
    let mut readable = |what: &str, path: &Path, place: Option<&SourceSpan>| {
        if let Err(error) = file::read_text(path) {
            problems.push(Problem::error(format!("{what}: {error}")).at(place));
        }
    };
    if let Some(task) = &looped.task
        && let TaskSource::File(path) = &task.value
    {
        readable("task", path, task.place.as_ref());
    }
    if let Some(draft) = &looped.options.draft {
        readable("draft", &draft.value, draft.place.as_ref());
    }
    if let Some(invariants) = &looped.score.invariants {
        readable("invariants", &invariants.value, invariants.place.as_ref());
    }
    for with in &looped.options.with {
        readable("with", &with.value, with.place.as_ref());
    }
    problems
}
