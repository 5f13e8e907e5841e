//! A loop's settings: what `[loops.NAME]` says, over `[defaults]`, under the flags.

use std::path::PathBuf;

use gadfly_engine::budget::Limits;
use gadfly_engine::deduction::{Level, Phase};
use gadfly_engine::protocol::score::settings::{self as score, EscalateTo};

use super::budget;
use super::criteria::CriticSetting;

use super::protocols::LoopProtocol;
use super::value::ConfigTable;
use crate::file;
use crate::place::{ConfigLayer, Problem, SourceSpan, Sourced, brief, option};
use crate::suggest;

mod checks;
pub mod options;

pub(super) use checks::is_branch;
pub use options::{AuditOptions, LoopOptions, ReviseOptions, ScoreOptions};

/// A loop under everything that is configured and given for it.
#[derive(Clone, PartialEq, Debug)]
pub struct LoopConfig {
    /// None for a loop made of defaults and flags only.
    pub name: Option<String>,
    pub place: Option<SourceSpan>,
    pub options: LoopOptions,
    pub revise: ReviseOptions,
    pub score: ScoreOptions,
    pub audit: AuditOptions,
    /// Every seat, whether `critic` or `critics` named it.
    pub critics: Vec<Sourced<CriticSetting>>,
    pub task: Option<Sourced<TaskSource>>,
    /// This loop's caps: its own, else the run's, else the built-in ones.
    pub limits: Limits,
    /// All of it as it stands: what a protocol's own options are read from.
    pub table: ConfigTable,
    /// What of all this the project's files say.
    pub(crate) by_project: ConfigTable,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TaskSource {
    Text(String),
    File(PathBuf),
}

impl Sourced<TaskSource> {
    /// The task's text, read from its file if it has one. Never empty.
    pub fn text(&self) -> Result<String, Problem> {
        match &self.value {
            TaskSource::Text(text) => Ok(text.clone()),
            TaskSource::File(path) => {
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
        table: &ConfigTable,
        run: Limits,
        agents: &[&str],
        problems: &mut Vec<Problem>,
    ) -> Self {
        let options = LoopOptions::read(table);
        // With a protocol that was refused, what belongs to it is not wrong as well.
        if table.protocol("protocol").is_some() || !table.has("protocol") {
            foreign_keys(options.protocol.value, table, problems);
        }
        let seat =
            |critic: &Sourced<String>| critic.with(CriticSetting { agent: critic.value.clone(), lens: None });
        let critics = match options.critics.as_slice() {
            [] => options.critic.iter().map(seat).collect(),
            several => several.to_vec(),
        };
        let text = options.task.clone().map(|task| task.map(TaskSource::Text));
        let task = text.or_else(|| options.task_file.clone().map(|file| file.map(TaskSource::File)));
        let mut score = ScoreOptions::read(table);
        if !table.has("exploration") {
            let explores = |out: &Sourced<PathBuf>| out.value.iter().any(|part| part == "explorations");
            score.exploration.value = options.out.as_ref().is_some_and(explores);
        }
        let mut audit = AuditOptions::read(table);
        if !table.has("commit") {
            // Whoever names a branch wants a commit on it.
            audit.commit.value = audit.branch.is_some();
        }
        let limits = budget::loop_default().with(run).with(options.budget);
        let built = Self {
            name: name.map(str::to_owned),
            place: table.place.clone(),
            options,
            revise: ReviseOptions::read(table),
            score,
            audit,
            critics,
            task,
            limits,
            table: table.clone(),
            by_project: table.of_project(),
        };
        built.check(agents, problems);
        built
    }

    /// The first critic.
    pub fn critic(&self) -> Option<Sourced<String>> {
        self.critics.first().map(|seat| seat.with(seat.value.agent.clone()))
    }

    /// Who takes part, by role, as the roles are named in a file.
    pub fn roles(&self) -> Vec<(&'static str, Sourced<String>)> {
        let mut roles = Vec::new();
        let mut add = |role, agent: &Option<Sourced<String>>| {
            roles.extend(agent.iter().map(|agent| (role, agent.clone())));
        };
        add("worker", &self.options.worker);
        add("build_fixer", &self.audit.build_fixer);
        add("researcher", &self.audit.researcher);
        add("architect", &self.audit.architect);
        add("test_writer", &self.audit.test_writer);
        for seat in &self.critics {
            add("critic", &Some(seat.with(seat.value.agent.clone())));
        }
        add("fallback_critic", &self.options.fallback_critic);
        if let Some(to) = &self.score.escalate_to
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
        match self.score.escalate_to.as_ref().map(|to| to.value.as_str()) {
            None | Some("user") => EscalateTo::User,
            Some("orchestrator") => EscalateTo::Orchestrator,
            Some(agent) => EscalateTo::Agent(agent.to_owned()),
        }
    }

    /// The score that passes.
    pub fn pass_mark(&self) -> u32 {
        let usual = if self.score.exploration.value { score::EXPLORATION } else { score::THRESHOLD };
        self.score.threshold.as_ref().and_then(|t| u32::try_from(t.value).ok()).unwrap_or(usual)
    }

    /// How severe the critic is: as configured, else by the phase, else as in Execution.
    pub fn level(&self) -> Level {
        let by_phase = || self.options.phase.as_ref().and_then(|p| Phase::parse(&p.value)).map(Phase::level);
        self.score.severity.as_ref().map(|s| s.value).or_else(by_phase).unwrap_or(Phase::Execution.level())
    }
}

/// Whether a key means something in loops of this protocol.
pub(super) fn is_used(key: &str, protocol: LoopProtocol) -> bool {
    let protocols = LoopProtocol::that_take(key);
    protocols.is_empty() || protocols.contains(&protocol)
}

fn foreign_keys(protocol: LoopProtocol, table: &ConfigTable, problems: &mut Vec<Problem>) {
    for (key, value) in table.keys().filter(|(key, _)| !is_used(key, protocol)) {
        let protocols = LoopProtocol::that_take(key);
        let list: Vec<_> = protocols.iter().map(|p| format!("`{p}`")).collect();
        let word = if protocols.len() == 1 { "protocol" } else { "the protocols" };
        let shown = shown(key, value.layer);
        let message =
            format!("`{shown}` belongs to {word} {}; this loop follows `{protocol}`", list.join(", "));
        let help = match (value.layer, protocols.first()) {
            (ConfigLayer::Flags, Some(first)) => {
                format!("leave it out, or add {}", option(&format!("protocol {first}")))
            }
            (_, Some(first)) => format!("remove `{key}`, or set protocol = \"{first}\""),
            (_, None) => format!("remove `{key}`"),
        };
        problems.push(Problem::error(message).help(help).at(value.place.as_ref()));
    }
}

/// A key as the user wrote it: in a file, or as a flag.
pub(super) fn shown(key: &str, layer: ConfigLayer) -> String {
    match layer {
        ConfigLayer::Flags => option(key),
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
