//! What the command line says about one loop, as the top layer of its table.

use std::path::PathBuf;

use gadfly_engine::budget::Limits;

use super::criteria::{CriteriaSetting, CriticSetting};
use super::keys::{self, Section, Shape};
use super::names::{GOALS_ARE_NO_LOOPS, Protocol};
use super::value::{Table, Value};
use crate::place::{Layer, Problem, Sourced, brief};
use crate::suggest;

/// What the command line says about one loop. Absent means: as configured.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Flags {
    pub protocol: Option<String>,
    pub worker: Option<String>,
    /// None: as configured. The second judges through another lens (`score`).
    pub critics: Vec<String>,
    pub fallback_critic: Option<String>,
    pub task: Option<String>,
    pub task_file: Option<PathBuf>,
    pub phase: Option<String>,
    pub rounds: Option<u64>,
    pub overrule: Option<bool>,
    pub draft: Option<PathBuf>,
    pub with: Vec<PathBuf>,
    pub out: Option<PathBuf>,
    /// A ready-made set, or a file.
    pub criteria: Option<String>,
    pub scope: Vec<String>,
    pub verify: Vec<String>,
    pub verify_runs: Option<u64>,
    pub block_on: Option<String>,
    pub threshold: Option<u64>,
    pub severity: Option<String>,
    pub escalate_to: Option<String>,
    pub economy: Option<String>,
    pub commit: Option<bool>,
    pub branch: Option<String>,
    pub max_parts: Option<u64>,
    pub stop_early: Option<bool>,
    /// A review: no worker, and no task, is needed.
    pub critics_only: bool,
    /// Caps of the run.
    pub limits: Limits,
}

impl Flags {
    /// The flags as the top layer of a loop's table.
    pub(super) fn table(&self, problems: &mut Vec<Problem>) -> Table {
        let mut table = Table::new(Section::Loop, Layer::Flags, None);
        let texts = [
            ("worker", &self.worker),
            ("fallback_critic", &self.fallback_critic),
            ("task", &self.task),
            ("phase", &self.phase),
            ("escalate_to", &self.escalate_to),
            ("block_on", &self.block_on),
            ("severity", &self.severity),
            ("economy", &self.economy),
            ("branch", &self.branch),
        ];
        for (key, value) in texts {
            match value {
                // No flag of that name: an empty task is no task, and that is said once.
                Some(text) if key == "task" && text.trim().is_empty() => {}
                Some(text) => insert(&mut table, key, Value::Text(text.clone()), problems),
                None => {}
            }
        }
        for (key, list) in [("scope", &self.scope), ("verify", &self.verify)] {
            if !list.is_empty() {
                let list = list.iter().cloned().map(Sourced::flag).collect();
                insert(&mut table, key, Value::Texts(list), problems);
            }
        }
        match self.critics.as_slice() {
            [] => {}
            [one] => insert(&mut table, "critic", Value::Text(one.clone()), problems),
            many => {
                let seat = |agent: &String| Sourced::flag(CriticSetting { agent: agent.clone(), lens: None });
                table.insert("critics", Sourced::flag(Value::Critics(many.iter().map(seat).collect())));
            }
        }
        if let Some(criteria) = &self.criteria
            && let Some(setting) = CriteriaSetting::named(criteria, |path| Some(PathBuf::from(path)))
        {
            table.insert("criteria", Sourced::flag(Value::Criteria(setting)));
        }
        let paths = [("task_file", &self.task_file), ("draft", &self.draft), ("out", &self.out)];
        for (key, value) in paths {
            if let Some(path) = value {
                table.insert(key, Sourced::flag(Value::Path(path.clone())));
            }
        }
        if !self.with.is_empty() {
            let paths = self.with.iter().cloned().map(Sourced::flag).collect();
            table.insert("with", Sourced::flag(Value::Paths(paths)));
        }
        let flags = [("overrule", self.overrule), ("commit", self.commit), ("stop_early", self.stop_early)];
        for (key, flag) in flags {
            if let Some(flag) = flag {
                table.insert(key, Sourced::flag(Value::Flag(flag)));
            }
        }
        let numbers = [
            ("rounds", self.rounds),
            ("verify_runs", self.verify_runs),
            ("threshold", self.threshold),
            ("max_parts", self.max_parts),
        ];
        for (key, number) in numbers {
            if let Some(number) = number {
                insert(&mut table, key, Value::Whole(number), problems);
            }
        }
        if let Some(name) = &self.protocol {
            let chosen = Protocol::ALL.iter().find(|p| p.name() == name);
            let value = chosen.map_or(Value::Unusable, |p| Value::Protocol(*p));
            table.insert("protocol", Sourced::flag(value));
            if chosen.is_none() {
                problems.push(unknown_protocol(name));
            }
        }
        if self.task.is_some() && self.task_file.is_some() {
            problems
                .push(Problem::error("a task and --task-file cannot both be given").help("keep one of them"));
        }
        table
    }
}

/// Puts a value into the table if it is one that the key may have.
pub(super) fn insert(table: &mut Table, key: &'static str, value: Value, problems: &mut Vec<Problem>) {
    let flag = format!("--{}", key.replace('_', "-"));
    let empty = |text: &str| text.trim().is_empty();
    let shape = keys::find(table.section, key).map(|k| k.shape);
    let wrong = match (&value, shape) {
        (Value::Text(text), _) if empty(text) => Some(format!("{flag} is empty")),
        (Value::Texts(list), _) if list.iter().any(|t| empty(&t.value)) => Some(format!("{flag} is empty")),
        (Value::Whole(n), Some(shape @ Shape::Whole { min, max })) if !(min..=max).contains(n) => {
            Some(format!("{flag} must be {}, not {n}", shape.expects()))
        }
        (Value::Text(text), Some(shape @ Shape::OneOf(words))) if !words.contains(&text.as_str()) => {
            Some(format!("{flag} must be {}, not `{}`", shape.expects(), brief(text)))
        }
        _ => None,
    };
    match wrong {
        Some(message) => problems.push(Problem::error(message)),
        None => table.insert(key, Sourced::flag(value)),
    }
}

fn unknown_protocol(name: &str) -> Problem {
    let now: Vec<&str> = Protocol::ALL.iter().map(|p| p.name()).collect();
    if Protocol::OF_GOALS.contains(&name) {
        return Problem::error(format!("protocol `{name}` is not for loops"))
            .help(format!("{GOALS_ARE_NO_LOOPS}; for loops there are `{}`", now.join("`, `")));
    }
    let all: Vec<&str> = now.into_iter().chain(Protocol::OF_GOALS).collect();
    Problem::error(format!("unknown protocol `{}`", brief(name)))
        .maybe_help(suggest::did_you_mean(name, &all))
}
