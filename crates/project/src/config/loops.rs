//! A loop's settings: what `[loops.NAME]` says, over `[defaults]`, under the flags.

use std::path::PathBuf;
use std::time::Duration;

use gadfly_engine::Severity;
use gadfly_engine::budget::Limits;
use gadfly_engine::deduction::{Level, Phase};
use gadfly_engine::protocol::audit::economy::Economy;
use gadfly_engine::protocol::score::settings::{self as score, EscalateTo};

use super::budget;
use super::criteria::{CriteriaSetting, CriticSetting};
use super::keys::{self, Section, Use};
use super::names::Protocol;
use super::value::Table;
use crate::file;
use crate::place::{Layer, Place, Problem, Sourced, brief};
use crate::suggest;

mod checks;

pub(super) use checks::is_branch;

#[derive(Clone, PartialEq, Debug)]
pub struct LoopConfig {
    /// None for a loop made of defaults and flags only.
    pub name: Option<String>,
    pub place: Option<Place>,
    pub protocol: Sourced<Protocol>,
    pub worker: Option<Sourced<String>>,
    /// The first critic.
    pub critic: Option<Sourced<String>>,
    /// Every seat, the first critic's too.
    pub critics: Vec<Sourced<CriticSetting>>,
    pub fallback_critic: Option<Sourced<String>>,
    pub task: Option<Sourced<Task>>,
    pub phase: Option<Sourced<String>>,
    pub rubric: Option<Sourced<RubricSetting>>,
    pub rounds: Sourced<u64>,
    pub overrule: Sourced<bool>,
    pub draft: Option<Sourced<PathBuf>>,
    pub with: Vec<Sourced<PathBuf>>,
    pub out: Option<Sourced<PathBuf>>,
    pub criteria: Option<Sourced<CriteriaSetting>>,
    /// Calls one critic's judgement may be split into.
    pub max_parts: Sourced<u64>,
    /// None: by whether it is an exploration.
    pub threshold: Option<Sourced<u64>>,
    pub exploration: Sourced<bool>,
    /// None: by the phase.
    pub severity: Option<Sourced<Level>>,
    pub invariants: Option<Sourced<PathBuf>>,
    /// An agent, `orchestrator` or `user`.
    pub escalate_to: Option<Sourced<String>>,
    pub stop_early: Sourced<bool>,
    pub task_id: Option<Sourced<String>>,
    pub scope: Vec<Sourced<String>>,
    pub verify: Vec<Sourced<String>>,
    pub verify_runs: Sourced<u64>,
    pub verify_timeout: Sourced<Duration>,
    pub block_on: Sourced<Severity>,
    pub economy: Sourced<Economy>,
    pub decisions: Vec<Sourced<String>>,
    pub build_fixer: Option<Sourced<String>>,
    pub researcher: Option<Sourced<String>>,
    /// An approved tree becomes a commit instead of changes in the checkout.
    pub commit: Sourced<bool>,
    pub branch: Option<Sourced<String>>,
    /// This loop's caps: its own, else the run's, else the built-in ones.
    pub limits: Limits,
    /// What of all this the project's files say.
    pub(crate) by_project: Table,
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
            foreign_keys(protocol.value, table, problems);
        }
        let critics = table.critics("critics").map(|c| c.value).or_else(|| {
            let critic = table.text("critic")?;
            Some(vec![critic.map(|agent| CriticSetting { agent, lens: None })])
        });
        let critics = critics.unwrap_or_default();
        let text = table.text("task").map(|t| t.map(Task::Text));
        let items = table.texts("rubric").map(|r| r.map(RubricSetting::Items));
        let texts = |key| table.texts(key).map(|list| list.value).unwrap_or_default();
        let whole = |key, default| table.whole(key).unwrap_or(Sourced::built_in(default));
        let flag = |key, default| table.flag(key).unwrap_or(Sourced::built_in(default));
        let out = table.path("out");
        let explores = out.as_ref().is_some_and(|o| o.value.iter().any(|part| part == "explorations"));
        let branch = table.text("branch");
        let built = Self {
            name: name.map(str::to_owned),
            place: table.place.clone(),
            protocol,
            worker: table.text("worker"),
            critic: critics.first().map(|seat| seat.with(seat.value.agent.clone())),
            critics,
            fallback_critic: table.text("fallback_critic"),
            task: text.or_else(|| table.path("task_file").map(|t| t.map(Task::File))),
            phase: table.text("phase"),
            rubric: items.or_else(|| table.path("rubric").map(|r| r.map(RubricSetting::File))),
            rounds: whole("rounds", keys::ROUNDS),
            overrule: flag("overrule", true),
            draft: table.path("draft"),
            with: table.paths("with").map(|w| w.value).unwrap_or_default(),
            out,
            criteria: table.criteria("criteria"),
            max_parts: whole("max_parts", keys::MAX_PARTS),
            threshold: table.whole("threshold"),
            exploration: flag("exploration", explores),
            severity: word(table, "severity", Level::parse),
            invariants: table.path("invariants"),
            escalate_to: table.text("escalate_to"),
            stop_early: flag("stop_early", false),
            task_id: table.text("task_id"),
            scope: texts("scope"),
            verify: texts("verify"),
            verify_runs: whole("verify_runs", keys::VERIFY_RUNS),
            verify_timeout: table.time("verify_timeout").unwrap_or(Sourced::built_in(keys::VERIFY_TIMEOUT)),
            block_on: word(table, "block_on", Severity::parse).unwrap_or(Sourced::built_in(Severity::Nit)),
            economy: word(table, "economy", Economy::parse).unwrap_or(Sourced::built_in(Economy::Off)),
            decisions: texts("decisions"),
            build_fixer: table.text("build_fixer"),
            researcher: table.text("researcher"),
            // Whoever names a branch wants a commit on it.
            commit: flag("commit", branch.is_some()),
            branch,
            limits: budget::loop_default()
                .with(run)
                .with(table.table("budget").map(budget::limits).unwrap_or_default()),
            by_project: table.of_project(),
        };
        built.check(agents, problems);
        built
    }

    /// Who takes part, by role, as the roles are named in a file.
    pub fn roles(&self) -> Vec<(&'static str, Sourced<String>)> {
        let mut roles = Vec::new();
        let mut add = |role, agent: &Option<Sourced<String>>| {
            roles.extend(agent.iter().map(|agent| (role, agent.clone())));
        };
        add("worker", &self.worker);
        add("build_fixer", &self.build_fixer);
        add("researcher", &self.researcher);
        for seat in &self.critics {
            add("critic", &Some(seat.with(seat.value.agent.clone())));
        }
        add("fallback_critic", &self.fallback_critic);
        if let Some(to) = &self.escalate_to
            && matches!(self.escalation(), EscalateTo::Agent(_))
        {
            add("escalate_to", &Some(to.clone()));
        }
        roles
    }

    /// Who takes part in a review: critics judge, nobody works.
    pub fn judges(&self) -> Vec<(&'static str, Sourced<String>)> {
        self.roles().into_iter().filter(|(role, _)| matches!(*role, "critic" | "fallback_critic")).collect()
    }

    pub fn escalation(&self) -> EscalateTo {
        match self.escalate_to.as_ref().map(|to| to.value.as_str()) {
            None | Some("user") => EscalateTo::User,
            Some("orchestrator") => EscalateTo::Orchestrator,
            Some(agent) => EscalateTo::Agent(agent.to_owned()),
        }
    }

    /// The score that passes.
    pub fn pass_mark(&self) -> u32 {
        let usual = if self.exploration.value { score::EXPLORATION } else { score::THRESHOLD };
        self.threshold.as_ref().and_then(|t| u32::try_from(t.value).ok()).unwrap_or(usual)
    }

    /// How severe the critic is: as configured, else by the phase, else as in Execution.
    pub fn level(&self) -> Level {
        let by_phase = || self.phase.as_ref().and_then(|p| Phase::parse(&p.value)).map(Phase::level);
        self.severity.as_ref().map(|s| s.value).or_else(by_phase).unwrap_or(Phase::Execution.level())
    }
}

/// A word that the parser has let through.
fn word<T>(table: &Table, key: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Sourced<T>> {
    let text = table.text(key)?;
    parse(&text.value).map(|value| text.with(value))
}

/// Whether a key means something in loops of this protocol.
pub(super) fn is_used(key: &str, protocol: Protocol) -> bool {
    match keys::find(Section::Loop, key).map(|k| k.used) {
        Some(Use::Protocols(protocols)) => protocols.contains(&protocol),
        _ => true,
    }
}

fn foreign_keys(protocol: Protocol, table: &Table, problems: &mut Vec<Problem>) {
    for (key, value) in table.keys().filter(|(key, _)| !is_used(key, protocol)) {
        let Some(Use::Protocols(protocols)) = keys::find(Section::Loop, key).map(|k| k.used) else {
            continue;
        };
        let list: Vec<_> = protocols.iter().map(|p| format!("`{p}`")).collect();
        let word = if protocols.len() == 1 { "protocol" } else { "the protocols" };
        let shown = shown(key, value.layer);
        let message =
            format!("`{shown}` belongs to {word} {}; this loop follows `{protocol}`", list.join(", "));
        let help = match (value.layer, protocols.first()) {
            (Layer::Flags, Some(first)) => format!("leave it out, or add --protocol {first}"),
            (_, Some(first)) => format!("remove `{key}`, or set protocol = \"{first}\""),
            (_, None) => format!("remove `{key}`"),
        };
        problems.push(Problem::error(message).help(help).at(value.place.as_ref()));
    }
}

/// A key as the user wrote it: in a file, or as a flag.
pub(super) fn shown(key: &str, layer: Layer) -> String {
    match layer {
        Layer::Flags => format!("--{}", key.replace('_', "-")),
        _ => key.to_owned(),
    }
}

pub(super) fn unknown_agent(role: &str, agent: &Sourced<String>, agents: &[&str]) -> Problem {
    let key = shown(role, agent.layer);
    let help = suggest::did_you_mean(&agent.value, agents)
        .unwrap_or_else(|| format!("no agents are configured; add [agents.{}]", brief(&agent.value)));
    Problem::error(format!("`{key}` names agent `{}`, which is not configured", brief(&agent.value)))
        .help(help)
        .at(agent.place.as_ref())
}
