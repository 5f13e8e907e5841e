//! The project as agents see it, and how its pipelines run: `[project]`, `[pipeline]`, `[[dual]]`, `[hooks]`,
//! `[gates.NAME]`, `[verify.AGENT]`. Only what is configured: what lies in the project's folders is `layout`'s.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use gadfly_engine::pipeline::gate::{Gate, GateCommand};

use super::Config;
use super::keys::{self, ConfigSection, Fixed, ROUND_COUNT, Shape, key, on};
use super::value::ConfigTable;
use crate::layout::Layout;
use crate::layout::naming::is_project_name;
use crate::options;
use crate::place::{ConfigLayer, Problem, SourceSpan, Sourced, brief};
use crate::suggest;

/// `[project]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProjectConfig {
    /// What `{project}` stands for: one part of a path.
    pub name: Option<Sourced<String>>,
    pub layout: Option<Sourced<Layout>>,
    /// In place of the layout's own.
    pub agents: Option<Sourced<PathBuf>>,
    pub skills: Option<Sourced<PathBuf>>,
    pub registry: Option<Sourced<PathBuf>>,
    /// Conditional agents that run.
    pub enable: Vec<Sourced<String>>,
    /// Globs of files any agent may write.
    pub also: Vec<Sourced<String>>,
    /// Globs of files no critic is shown.
    pub unjudged: Vec<Sourced<String>>,
    /// Of every pair without commands of its own.
    pub verify: VerifyConfig,
    pub verify_of: BTreeMap<String, VerifyConfig>,
}

/// Commands that have to succeed on a pair's files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyConfig {
    pub commands: Vec<Sourced<String>>,
    pub timeout: Sourced<Duration>,
    pub place: Option<SourceSpan>,
}

options! {
    /// `[pipeline]`.
    PipelineOptions, OPTIONS in Pipeline {
        jobs: Sourced<u64> = key(Shape::Whole { min: 1, max: 256 })
            .or(Fixed::Whole(keys::JOBS))
            .says("How many agents work at once")
            .flag(on::PIPELINE, "N")
            .short('j');
        rounds: Sourced<u64> = key(ROUND_COUNT)
            .or(Fixed::Whole(keys::PAIR_ROUNDS))
            .says("Rounds of one pair before it is escalated");
        overall: Sourced<u64> = key(ROUND_COUNT)
            .or(Fixed::Whole(keys::OVERALL_ROUNDS))
            .says("Overall rounds: from the first dispatch to the score of the whole");
        fixes: Sourced<u64> = key(Shape::Whole { min: 0, max: 100 })
            .or(Fixed::Whole(keys::FIXES))
            .says("Attempts to mend what verify commands find");
        gate: Sourced<String> = key(Shape::Text)
            .or(Fixed::Text(keys::GATE))
            .says("The gate the result has to pass: commit, pr, submission, exploration or one of [gates.NAME]")
            .flag(on::PIPELINE, "GATE");
        planner: Option<Sourced<String>> = key(Shape::Text)
            .says("Who drafts the plan")
            .more("Default: an agent named `planner`, else the worker of [defaults].")
            .like("\"critic\"");
    }
}

/// One row of `[[dual]]`: whose work a second critic judges, too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DualConfig {
    pub agent: Sourced<String>,
    pub critic: Sourced<String>,
    pub lens: Option<Sourced<String>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum HookEvent {
    PreDispatch,
    PostCompletion,
    PreCommit,
    PreCompact,
    BeforeResume,
}

impl HookEvent {
    pub const ALL: [Self; 5] =
        [Self::PreDispatch, Self::PostCompletion, Self::PreCommit, Self::PreCompact, Self::BeforeResume];

    pub const fn name(self) -> &'static str {
        match self {
            Self::PreDispatch => "pre-dispatch",
            Self::PostCompletion => "post-completion",
            Self::PreCommit => "pre-commit",
            Self::PreCompact => "pre-compact",
            Self::BeforeResume => "before-resume",
        }
    }
}

/// `[hooks]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HooksConfig {
    pub commands: BTreeMap<HookEvent, Vec<Sourced<String>>>,
    pub timeout: Sourced<Duration>,
}

/// A gate: one that is shipped, as the project changed it, or one of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GateConfig {
    pub name: String,
    pub place: Option<SourceSpan>,
    pub overall: Sourced<u64>,
    pub each: Option<Sourced<u64>>,
    pub complete: Sourced<bool>,
    pub commands: Vec<Sourced<GateCommand>>,
}

impl ProjectConfig {
    pub(super) fn build(merged: &ConfigTable, problems: &mut Vec<Problem>) -> Self {
        let empty = ConfigTable::new(ConfigSection::Project, ConfigLayer::BuiltIn, None);
        let table = merged.table("project").unwrap_or(&empty);
        let texts = |key| table.texts(key).map(|l| l.value).unwrap_or_default();
        let name = table.text("name").filter(|name| {
            let is_usable = is_project_name(&name.value);
            if !is_usable {
                let message = format!("`{}` cannot be the project's name", brief(&name.value));
                let help = "it becomes one part of a path: use letters, digits, `-`, `_` and `.`, at most 64, \
                            and begin with a letter or a digit";
                problems.push(Problem::error(message).help(help).at(name.place.as_ref()));
            }
            is_usable
        });
        let verify_of = merged.tables("verify").map(|(agent, table)| {
            if !table.has("commands") {
                let message = format!("[verify.{agent}] has no `commands`");
                let help = "like commands = [\"make test\"]";
                problems.push(Problem::error(message).help(help).at(table.place.as_ref()));
            }
            (agent.to_owned(), VerifyConfig::read(table, "commands", "timeout"))
        });
        let verify_of = verify_of.collect();
        let (also, unjudged) = (texts("also"), texts("unjudged"));
        for glob in also.iter().chain(&unjudged) {
            problems.extend(bad_glob(glob));
        }
        Self {
            name,
            layout: table.text("layout").and_then(|l| Layout::named(&l.value).map(|layout| l.with(layout))),
            agents: table.path("agents"),
            skills: table.path("skills"),
            registry: table.path("registry"),
            enable: texts("enable"),
            also,
            unjudged,
            verify: VerifyConfig::read(table, "verify", "verify_timeout"),
            verify_of,
        }
    }

    /// The commands that have to succeed on this agent's files: its own, else everybody's.
    pub fn verify_for(&self, agent: &str) -> &VerifyConfig {
        self.verify_of.get(agent).unwrap_or(&self.verify)
    }
}

impl VerifyConfig {
    fn read(table: &ConfigTable, commands: &str, timeout: &str) -> Self {
        Self {
            commands: table.texts(commands).map(|l| l.value).unwrap_or_default(),
            timeout: table.time(timeout).unwrap_or(Sourced::built_in(keys::VERIFY_TIMEOUT)),
            place: table.place.clone(),
        }
    }
}

impl DualConfig {
    pub(super) fn build_all(merged: &ConfigTable, problems: &mut Vec<Problem>) -> Option<Vec<Self>> {
        merged.has("dual").then(|| {
            let rows = merged.rows("dual").iter();
            rows.filter_map(|row| Self::build(row, problems)).collect()
        })
    }

    fn build(row: &ConfigTable, problems: &mut Vec<Problem>) -> Option<Self> {
        for key in ["agent", "critic"].into_iter().filter(|key| !row.has(key)) {
            let help =
                "like [[dual]] with agent = \"writer\", critic = \"strategist-critic\", lens = \"claims\"";
            let message = format!("a row of [[dual]] has no `{key}`");
            problems.push(Problem::error(message).help(help).at(row.place.as_ref()));
        }
        Some(Self { agent: row.text("agent")?, critic: row.text("critic")?, lens: row.text("lens") })
    }
}

impl HooksConfig {
    pub(super) fn read(table: Option<&ConfigTable>) -> Self {
        let of = |event: HookEvent| table?.texts(event.name()).map(|l| (event, l.value));
        let timeout = table.and_then(|t| t.time("timeout"));
        Self {
            commands: HookEvent::ALL.into_iter().filter_map(of).collect(),
            timeout: timeout.unwrap_or(Sourced::built_in(keys::HOOK_TIMEOUT)),
        }
    }

    pub fn of(&self, event: HookEvent) -> &[Sourced<String>] {
        self.commands.get(&event).map(Vec::as_slice).unwrap_or_default()
    }
}

impl GateConfig {
    pub(super) fn build_all(merged: &ConfigTable, problems: &mut Vec<Problem>) -> BTreeMap<String, Self> {
        let shipped = Gate::shipped().into_iter().map(|gate| (gate.name.clone(), Self::shipped(&gate)));
        let mut gates: BTreeMap<String, Self> = shipped.collect();
        for (name, table) in merged.tables("gates") {
            let under = gates.remove(name);
            gates.extend(Self::build(name, table, under, problems).map(|gate| (name.to_owned(), gate)));
        }
        gates
    }

    fn shipped(gate: &Gate) -> Self {
        Self {
            name: gate.name.clone(),
            place: None,
            overall: Sourced::built_in(gate.overall.into()),
            each: gate.each.map(|each| Sourced::built_in(each.into())),
            complete: Sourced::built_in(gate.complete),
            commands: Vec::new(),
        }
    }

    /// None if it would be a weaker gate than the one that was meant.
    fn build(
        name: &str,
        table: &ConfigTable,
        under: Option<Self>,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let before = problems.len();
        let (mut overall, mut each, mut complete) = (None, None, Sourced::built_in(false));
        if let Some(under) = under {
            (overall, each, complete) = (Some(under.overall), under.each, under.complete);
        }
        if overall.is_none() && !table.has("overall") {
            let message = format!("gate `{name}` has no `overall`");
            let help = "the weighted score it needs, 0 to 100; 0 for a gate of commands only";
            problems.push(Problem::error(message).help(help).at(table.place.as_ref()));
        }
        let rows = table.rows("commands").iter();
        let commands = rows.filter_map(|row| Self::command(name, row, problems)).collect();
        if problems.len() > before
            || table.is_spoiled()
            || table.rows("commands").iter().any(ConfigTable::is_spoiled)
        {
            return None;
        }
        Some(Self {
            name: name.to_owned(),
            place: table.place.clone(),
            overall: table.whole("overall").or(overall)?,
            each: table.whole("each").or(each),
            complete: table.flag("complete").unwrap_or(complete),
            commands,
        })
    }

    fn command(gate: &str, row: &ConfigTable, problems: &mut Vec<Problem>) -> Option<Sourced<GateCommand>> {
        if !row.has("command") {
            let message = format!("a command of gate `{gate}` has no `command`");
            let help = "like { name = \"lint\", command = \"make lint\", exit = 0 }";
            problems.push(Problem::error(message).help(help).at(row.place.as_ref()));
        }
        let command = row.text("command")?;
        let exit = row.whole("exit").and_then(|exit| i32::try_from(exit.value).ok()).unwrap_or(0);
        let name = row.text("name").map_or_else(|| command.value.clone(), |name| name.value);
        Some(command.clone().map(|command| GateCommand { name, command, exit }))
    }

    /// As the engine knows it.
    pub fn gate(&self) -> Gate {
        let points = |n: u64| u32::try_from(n).unwrap_or(100);
        Gate {
            name: self.name.clone(),
            overall: points(self.overall.value),
            each: self.each.as_ref().map(|each| points(each.value)),
            complete: self.complete.value,
            commands: self.commands.iter().map(|c| c.value.clone()).collect(),
        }
    }
}

impl Config {
    /// What no single table shows: a gate that is not there.
    pub(super) fn check_pipeline(&self, problems: &mut Vec<Problem>) {
        let gate = &self.pipeline.gate;
        // One that is there and cannot be used has been reported.
        let is_there = self.merged.tables("gates").any(|(name, _)| name == gate.value);
        if !self.gates.contains_key(&gate.value) && !is_there {
            let known: Vec<&str> = self.gates.keys().map(String::as_str).collect();
            let message = format!("there is no gate `{}`", brief(&gate.value));
            let help = suggest::did_you_mean(&gate.value, &known);
            problems.push(Problem::error(message).maybe_help(help).at(gate.place.as_ref()));
        }
    }
}

/// A glob is compared with paths from the project's root: one that leads elsewhere could never match.
fn bad_glob(glob: &Sourced<String>) -> Option<Problem> {
    let path = Path::new(&glob.value);
    let leaves = path.components().any(|c| !matches!(c, Component::Normal(_) | Component::CurDir));
    let unreadable = globset::Glob::new(&glob.value).is_err();
    if !leaves && !unreadable {
        return None;
    }
    let (what, help) = if leaves {
        ("leads out of the project", "write it from the project's root, like \"paper/figures/**\"")
    } else {
        ("is no glob that can be read", "like \"paper/figures/**\" or \"*.log\"")
    };
    let message = format!("`{}` {what}", brief(&glob.value));
    Some(Problem::error(message).help(help).at(glob.place.as_ref()))
}
