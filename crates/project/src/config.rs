//! The configuration of a project: layers in, one set of typed settings and all problems out.
//!
//! `parse` reads one layer, `Config::from_layers` lays them over each other (built-in < the user's own
//! config < project; flags come last, per loop, in `Config::loop_for`) and checks what no layer can know
//! alone. Deciding what a problem means for a command is the caller's business.

mod agent;
mod budget;
mod commands;
pub mod criteria;
mod endpoint;
mod goals;
pub mod keys;
mod loops;
mod mcp;
mod names;
mod options;
mod output_form;
mod overrides;
mod parse;
mod pipeline;
mod protocols;
mod signing;
mod telemetry;
#[cfg(test)]
mod tests;
pub(crate) mod value;

use std::collections::BTreeMap;
use std::path::Path;

use gadfly_engine::budget::Limits;

pub use agent::{AgentConfig, HeaderSource, KeySource, ProcessConfig, SandboxChoice, SystemPrompt};
pub use budget::loop_default;
pub use commands::CommandsConfig;
pub use criteria::{CriteriaSetting, CriterionSetting, CriticSetting, is_set};
pub use endpoint::{BadEndpoint, Endpoint};
pub use goals::{GoalConfig, GoalOptions, TOOLS, until};
pub use loops::{AuditOptions, LoopConfig, LoopOptions, RubricSetting, ScoreOptions, TaskSource};
pub use mcp::McpConfig;
pub use names::{AgentKind, ArtifactSource, HOST, vendor_host};
pub use options::Setting;
pub use output_form::OutputSettings;
pub use overrides::{NO_ZERO, Overrides};
pub use parse::{LayerConfig, parse};
pub use pipeline::{
    DualConfig, GateConfig, HookEvent, HooksConfig, PipelineOptions, ProjectConfig, VerifyConfig,
};
pub use protocols::{LoopProtocol, ProtocolCard};
pub use signing::SigningConfig;
pub use telemetry::TelemetryConfig;
pub use value::{TYPED_TIME, time, typed_time};

use crate::file;
use crate::place::{ConfigLayer, Problem, Source, Sourced, brief, option};
use crate::root::Root;
use crate::suggest;
use keys::ConfigSection;
pub use value::ConfigTable;

/// Everything that is configured.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Agents that can be used; what is wrong with others is among the problems.
    pub agents: BTreeMap<String, AgentConfig>,
    /// `[defaults]`: what every loop starts from.
    pub defaults: LoopOptions,
    /// As configured, over the defaults; `loop_for` adds flags and checks what a run needs.
    pub loops: BTreeMap<String, LoopConfig>,
    /// As configured; `goal_for` adds flags.
    pub goals: BTreeMap<String, GoalConfig>,
    /// Caps of a run.
    pub limits: Limits,
    pub workspace: WorkspaceConfig,
    pub commands: CommandsConfig,
    /// Servers that can be used; what is wrong with others is among the problems.
    pub mcp: BTreeMap<String, McpConfig>,
    pub project: ProjectConfig,
    pub pipeline: PipelineOptions,
    /// None: nothing is said, and the layout's own may count.
    pub duals: Option<Vec<DualConfig>>,
    pub hooks: HooksConfig,
    /// The shipped ones, as the project changed them, and its own.
    pub gates: BTreeMap<String, GateConfig>,
    pub signing: SigningConfig,
    pub telemetry: TelemetryConfig,
    merged: ConfigTable,
}

/// `[workspace]`: what a worker's own tree gets besides what git knows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WorkspaceConfig {
    pub link: Vec<Sourced<String>>,
    pub copy: Vec<Sourced<String>>,
    pub prepare: Option<Sourced<String>>,
}

const SEE_CHECK: &str = "see the other problems, or run `gadfly check`";

impl Config {
    /// Reads the user's own config, if there is one, and the project's `gadfly.toml`, if there is one.
    pub fn load(root: &Root, user: Option<&Path>) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut layers = Vec::new();
        let user = user.filter(|path| path.exists()).map(|path| (ConfigLayer::User, path));
        let project = root.config.as_deref().map(|path| (ConfigLayer::Project, path));
        for (layer, path) in user.into_iter().chain(project) {
            let dir = path.parent().unwrap_or(&root.dir);
            let text = match layer {
                // One that came with a repository may be a link to a key, whose lines an error would print.
                ConfigLayer::Project => {
                    file::stays_inside(&root.dir, path).and_then(|()| file::read_text(path))
                }
                _ => file::read_text(path),
            };
            match text {
                Ok(text) => {
                    let shown = path.strip_prefix(&root.dir).unwrap_or(path);
                    let (partial, found) = parse(&Source::new(layer, shown, dir, text));
                    layers.push(partial);
                    problems.extend(found);
                }
                Err(error) => problems.push(Problem::error(error.to_string())),
            }
        }
        let (config, found) = Self::from_layers(layers);
        problems.extend(found);
        // In the order in which a reader goes through the files.
        problems.sort_by(|a, b| {
            let key = |p: &Problem| p.at.as_ref().map(|at| (at.file.clone(), at.span.start));
            key(a).cmp(&key(b))
        });
        (config, problems)
    }

    /// Lays layers over each other, the first lowest. The problems are those of the whole, not those of
    /// each layer, which `parse` has given.
    pub fn from_layers(layers: impl IntoIterator<Item = LayerConfig>) -> (Self, Vec<Problem>) {
        let bottom = ConfigTable::new(ConfigSection::Top, ConfigLayer::BuiltIn, None);
        let mut problems = Vec::new();
        let mut merged = bottom;
        for LayerConfig(mut high) in layers {
            if high.layer == ConfigLayer::Project {
                if let Some(named) = high.remove("signing") {
                    problems.push(SigningConfig::withheld(named.place.as_ref()));
                }
                for (section, what) in [("agents", "agent"), ("mcp", "server")] {
                    for (name, place) in high.withhold(section, &merged) {
                        problems.push(
                            Problem::warning(format!(
                                "the {what} `{name}` is your own: what this project says of it is not used"
                            ))
                            .at(place.as_ref())
                            .help(format!(
                                "to use the project's, give one of the two another name than `{name}`"
                            )),
                        );
                    }
                }
            }
            merged = merged.overlaid(high);
        }
        let mut agents = BTreeMap::new();
        for (name, table) in merged.tables("agents") {
            if let Some(agent) = AgentConfig::build(name, table, &mut problems) {
                agents.insert(name.to_owned(), agent);
            }
        }
        let none = ConfigTable::new(ConfigSection::Defaults, ConfigLayer::BuiltIn, None);
        let defaults = LoopOptions::read(merged.table("defaults").unwrap_or(&none));
        let workspace = merged.table("workspace").map(WorkspaceConfig::read).unwrap_or_default();
        let limits = merged.table("budget").map(budget::limits).unwrap_or_default();
        let mut mcp = BTreeMap::new();
        for (name, table) in merged.tables("mcp") {
            if let Some(server) = McpConfig::build(name, table, &mut problems) {
                mcp.insert(name.to_owned(), server);
            }
        }
        let mut config = Self {
            agents,
            defaults,
            loops: BTreeMap::new(),
            goals: BTreeMap::new(),
            limits,
            workspace,
            commands: CommandsConfig::build(merged.table("commands"), &mut problems),
            mcp,
            project: ProjectConfig::build(&merged, &mut problems),
            pipeline: PipelineOptions::read(merged.table("pipeline").unwrap_or(&none)),
            duals: DualConfig::build_all(&merged, &mut problems),
            hooks: HooksConfig::read(merged.table("hooks")),
            gates: GateConfig::build_all(&merged, &mut problems),
            signing: SigningConfig::read(merged.table("signing")),
            telemetry: TelemetryConfig::build(merged.table("telemetry"), &mut problems),
            merged,
        };
        config.check_pipeline(&mut problems);
        config.check_defaults(&mut problems);
        let names: Vec<String> = config.merged.tables("loops").map(|(name, _)| name.to_owned()).collect();
        for name in names {
            let table = config.loop_table(Some(&name), None);
            let agents = config.agent_names();
            let (mut found, mut own) = (Vec::new(), Vec::new());
            let built = LoopConfig::build(Some(&name), &table, limits, &agents, &mut found);
            // A wrong default is reported once, where it stands, and not again for every loop.
            own.extend(found.into_iter().filter(|p| !problems.contains(p)));
            problems.extend(own);
            config.loops.insert(name, built);
        }
        config.build_goals(&mut problems);
        (config, problems)
    }

    /// The loop of this name (or one made of defaults only) under these flags, with everything checked
    /// that a run needs. The rubric is checked where it is built.
    pub fn loop_for(&self, name: Option<&str>, given: &Overrides) -> (LoopConfig, Vec<Problem>) {
        let mut problems = Vec::new();
        if let Some(name) = name.filter(|n| !self.loops.contains_key(*n)) {
            let known: Vec<&str> = self.loops.keys().map(String::as_str).collect();
            let help = suggest::did_you_mean(name, &known).unwrap_or_else(|| {
                format!("no loops are configured; give a task and {} instead", option("rubric"))
            });
            problems.push(Problem::error(format!("there is no loop `{}`", brief(name))).help(help));
        }
        let table = self.loop_table(name, Some(given.layer(None, &mut problems)));
        let agents = self.agent_names();
        let mut built = LoopConfig::build(name, &table, self.limits, &agents, &mut problems);
        built.by_project = self.with_shared_caps(built.by_project);
        let needed = [("worker", built.options.worker.clone()), ("critic", built.critic())];
        for (role, agent) in needed.into_iter().skip(usize::from(given.critics_only)) {
            if agent.is_none() && !table.has(role) && !(role == "critic" && table.has("critics")) {
                problems.push(
                    Problem::error(format!("no {role} specified"))
                        .help(format!(
                            "use {}, or set `{role}` in [defaults]",
                            option(&format!("{role} NAME"))
                        ))
                        .at(built.place.as_ref()),
                );
            }
        }
        let roles = if given.critics_only { built.judges() } else { built.roles() };
        for (role, agent) in roles {
            match self.agents.get(&agent.value) {
                Some(found) => problems.extend(built.unfit(role, found).map(|p| p.at(agent.place.as_ref()))),
                None if agents.contains(&agent.value.as_str()) => {
                    let role = role.replace('_', " ");
                    let message = format!("{role} `{}` cannot be used as it is configured", agent.value);
                    problems.push(Problem::error(message).help(SEE_CHECK).at(agent.place.as_ref()));
                }
                None => {}
            }
        }
        // Never without what was meant: a cap that was mistyped is not a cap that was left out.
        let own = self.merged.tables("loops").find(|(n, _)| Some(*n) == name);
        let own =
            own.filter(|(_, table)| table.is_spoiled()).map(|(n, table)| (format!("loop `{n}`"), table));
        let shared = self.merged.filtered(|key| key == "defaults" || key == "budget");
        let shared = shared.is_spoiled().then(|| ("[defaults] or [budget]".to_owned(), &shared));
        for (what, table) in own.into_iter().chain(shared) {
            let message = format!("{what} cannot be used as it is configured");
            problems.push(Problem::error(message).help(SEE_CHECK).at(table.place.as_ref()));
        }
        if !given.critics_only && built.task.is_none() && !table.has("task") && !table.has("task_file") {
            let help =
                format!("give it as an argument, with {}, or as `task` of a loop", option("task_file FILE"));
            problems.push(Problem::error("there is no task").help(help).at(built.place.as_ref()));
        }
        (built, problems)
    }

    /// What the project's files say in a loop's or a goal's table, over what they say in `[budget]` for every run.
    fn with_shared_caps(&self, own: ConfigTable) -> ConfigTable {
        let mut shared = self.merged.filtered(|key| key == "budget").of_project();
        shared.section = own.section;
        shared.overlaid(own)
    }

    /// What the project's files say in all tables.
    pub(crate) fn of_project(&self) -> ConfigTable {
        self.merged.of_project()
    }

    /// All agents by name, also those that cannot be used.
    fn agent_names(&self) -> Vec<&str> {
        self.merged.tables("agents").map(|(name, _)| name).collect()
    }

    /// The loop's own keys and the flags over the defaults, of which only those count that its protocol knows.
    fn loop_table(&self, name: Option<&str>, flags: Option<ConfigTable>) -> ConfigTable {
        let mut base = ConfigTable::new(ConfigSection::Loop, ConfigLayer::BuiltIn, None);
        for (key, value) in self.merged.table("defaults").into_iter().flat_map(ConfigTable::keys) {
            base.insert(key, value.clone());
        }
        let own = name.and_then(|n| self.merged.tables("loops").find(|(name, _)| *name == n));
        let mut own = own.map_or_else(
            || ConfigTable::new(ConfigSection::Loop, ConfigLayer::BuiltIn, None),
            |(_, table)| table.clone(),
        );
        if let Some(flags) = flags {
            own = own.overlaid(flags);
        }
        let protocol = own.protocol("protocol").or_else(|| base.protocol("protocol"));
        let protocol = protocol.map(|p| p.value).unwrap_or_default();
        base.filtered(|key| loops::is_used(key, protocol)).overlaid(own)
    }

    fn check_defaults(&self, problems: &mut Vec<Problem>) {
        let agents = self.agent_names();
        let LoopOptions { worker, critic, fallback_critic, .. } = &self.defaults;
        for (role, agent) in [("worker", worker), ("critic", critic), ("fallback_critic", fallback_critic)] {
            let unknown = |a: &&Sourced<String>| a.value != HOST && !agents.contains(&a.value.as_str());
            if let Some(agent) = agent.as_ref().filter(unknown) {
                problems.push(loops::unknown_agent(role, agent, &agents));
            }
        }
    }
}

impl WorkspaceConfig {
    fn read(table: &ConfigTable) -> Self {
        let list = |key| table.texts(key).map(|l| l.value).unwrap_or_default();
        Self { link: list("link"), copy: list("copy"), prepare: table.text("prepare") }
    }
}
