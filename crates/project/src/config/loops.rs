//! A loop's settings: what `[loops.NAME]` says, over `[defaults]`, under the flags.

use std::path::PathBuf;

use gadfly_engine::budget::Limits;

use super::budget;
use super::keys::{self, KEYS, Section, Shape, Use};
use super::names::Protocol;
use super::value::{Table, Value};
use crate::file;
use crate::place::{Layer, Place, Problem, Sourced, brief};
use crate::suggest;

#[derive(Clone, PartialEq, Debug)]
pub struct LoopConfig {
    /// None for a loop made of defaults and flags only.
    pub name: Option<String>,
    pub place: Option<Place>,
    pub protocol: Sourced<Protocol>,
    pub worker: Option<Sourced<String>>,
    pub critic: Option<Sourced<String>>,
    pub fallback_critic: Option<Sourced<String>>,
    pub task: Option<Sourced<Task>>,
    pub phase: Option<Sourced<String>>,
    pub rubric: Option<Sourced<RubricSetting>>,
    pub rounds: Sourced<u64>,
    pub overrule: Sourced<bool>,
    pub draft: Option<Sourced<PathBuf>>,
    pub with: Vec<Sourced<PathBuf>>,
    pub out: Option<Sourced<PathBuf>>,
    /// This loop's caps: its own, else the run's, else the built-in ones.
    pub limits: Limits,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Task {
    Text(String),
    File(PathBuf),
}

impl Sourced<Task> {
    /// The task's text, read from its file if it has one. Never empty.
    pub fn text(&self) -> Result<String, Problem> {
        match &self.value {
            Task::Text(text) => Ok(text.clone()),
            Task::File(path) => {
                let wrong = |what: String| Problem::error(format!("task: {what}")).at(self.place.as_ref());
                let text = file::read_text(path).map_err(|error| wrong(error.to_string()))?;
                if text.trim().is_empty() {
                    return Err(wrong(format!("`{}` is empty", brief(&path.display().to_string()))));
                }
                Ok(text)
            }
        }
    }
}

/// A rubric as it is configured; `rubric::from_setting` reads it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RubricSetting {
    Items(Vec<Sourced<String>>),
    File(PathBuf),
}

/// What the command line says about one loop. Absent means: as configured.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Flags {
    pub protocol: Option<String>,
    pub worker: Option<String>,
    pub critic: Option<String>,
    pub fallback_critic: Option<String>,
    pub task: Option<String>,
    pub task_file: Option<PathBuf>,
    pub phase: Option<String>,
    pub rounds: Option<u64>,
    pub overrule: Option<bool>,
    pub draft: Option<PathBuf>,
    pub with: Vec<PathBuf>,
    pub out: Option<PathBuf>,
    /// Caps of the run.
    pub limits: Limits,
}

impl LoopConfig {
    /// `table` already has the defaults below it and the flags on top.
    pub(super) fn build(
        name: Option<&str>,
        table: &Table,
        run: Limits,
        agents: &[&str],
        problems: &mut Vec<Problem>,
    ) -> Self {
        let protocol = table.protocol("protocol").unwrap_or(Sourced::built_in(Protocol::default()));
        // With a protocol that was refused, what belongs to it is not wrong as well.
        if table.protocol("protocol").is_some() || !table.has("protocol") {
            later_keys(protocol.value, table, problems);
        }
        for role in ["worker", "critic", "fallback_critic"] {
            let Some(agent) = table.text(role) else { continue };
            if !agents.contains(&agent.value.as_str()) {
                problems.push(unknown_agent(role, &agent, agents));
            }
        }
        let text = table.text("task").map(|t| t.map(Task::Text));
        let items = table.texts("rubric").map(|r| r.map(RubricSetting::Items));
        Self {
            name: name.map(str::to_owned),
            place: table.place.clone(),
            protocol,
            worker: table.text("worker"),
            critic: table.text("critic"),
            fallback_critic: table.text("fallback_critic"),
            task: text.or_else(|| table.path("task_file").map(|t| t.map(Task::File))),
            phase: table.text("phase"),
            rubric: items.or_else(|| table.path("rubric").map(|r| r.map(RubricSetting::File))),
            rounds: table.whole("rounds").unwrap_or(Sourced::built_in(keys::ROUNDS)),
            overrule: table.flag("overrule").unwrap_or(Sourced::built_in(true)),
            draft: table.path("draft"),
            with: table.paths("with").map(|w| w.value).unwrap_or_default(),
            out: table.path("out"),
            limits: budget::loop_default()
                .with(run)
                .with(table.table("budget").map(budget::limits).unwrap_or_default()),
        }
    }
}

fn later_keys(protocol: Protocol, table: &Table, problems: &mut Vec<Problem>) {
    for (key, value) in table.keys() {
        let Some(Use::Protocols(names)) = keys::find(Section::Loop, key).map(|k| k.used) else { continue };
        let list: Vec<_> = names.iter().map(|n| format!("`{n}`")).collect();
        let word = if names.len() == 1 { "protocol" } else { "the protocols" };
        let message =
            format!("`{key}` belongs to {word} {}; this loop follows `{protocol}`", list.join(", "));
        let help = format!("remove `{key}`: it comes with a later version");
        problems.push(Problem::error(message).help(help).at(value.place.as_ref()));
    }
}

pub(super) fn unknown_agent(role: &str, agent: &Sourced<String>, agents: &[&str]) -> Problem {
    let key = match agent.layer {
        Layer::Flags => format!("--{}", role.replace('_', "-")),
        _ => role.to_owned(),
    };
    let help = suggest::did_you_mean(&agent.value, agents)
        .unwrap_or_else(|| format!("no agents are configured; add [agents.{}]", brief(&agent.value)));
    Problem::error(format!("`{key}` names agent `{}`, which is not configured", brief(&agent.value)))
        .help(help)
        .at(agent.place.as_ref())
}

impl Flags {
    /// The flags as the top layer of a loop's table.
    pub(super) fn table(&self, problems: &mut Vec<Problem>) -> Table {
        let mut table = Table::new(Section::Loop, Layer::Flags, None);
        let texts = [
            ("worker", &self.worker),
            ("critic", &self.critic),
            ("fallback_critic", &self.fallback_critic),
            ("task", &self.task),
            ("phase", &self.phase),
        ];
        for (key, value) in texts {
            match value {
                // No flag of that name: an empty task is no task, and that is said once.
                Some(text) if key == "task" && text.trim().is_empty() => {}
                Some(text) if text.trim().is_empty() => {
                    problems.push(Problem::error(format!("--{} is empty", key.replace('_', "-"))));
                }
                Some(text) => table.insert(key, Sourced::flag(Value::Text(text.clone()))),
                None => {}
            }
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
        if let Some(overrule) = self.overrule {
            table.insert("overrule", Sourced::flag(Value::Flag(overrule)));
        }
        if let Some(rounds) = self.rounds {
            match KEYS.iter().find(|k| k.section == Section::Loop && k.name == "rounds").map(|k| k.shape) {
                Some(shape @ Shape::Whole { min, max }) if !(min..=max).contains(&rounds) => {
                    problems
                        .push(Problem::error(format!("--rounds must be {}, not {rounds}", shape.expects())));
                }
                _ => table.insert("rounds", Sourced::flag(Value::Whole(rounds))),
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

fn unknown_protocol(name: &str) -> Problem {
    let now: Vec<&str> = Protocol::ALL.iter().map(|p| p.name()).collect();
    if Protocol::LATER.contains(&name) {
        return Problem::error(format!("protocol `{name}` comes with a later version"))
            .help(format!("available now: `{}`", now.join("`, `")));
    }
    let all: Vec<&str> = now.into_iter().chain(Protocol::LATER).collect();
    Problem::error(format!("unknown protocol `{}`", brief(name)))
        .maybe_help(suggest::did_you_mean(name, &all))
}
