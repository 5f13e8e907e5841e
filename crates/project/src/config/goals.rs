//! `[goals.NAME]`: what an autonomous worker is set to, as it is configured. Not the plan of a run: who can be
//! called, and what is read from files, is the runtime's business.

pub mod options;
pub mod until;

use gadfly_engine::budget::Limits;

pub use options::GoalOptions;

use super::keys::ConfigSection;
use super::loops::{self, TaskSource, is_branch};
use super::names::AgentKind;
use super::value::ConfigTable;
use super::{AgentConfig, Config, Overrides, SEE_CHECK};
use crate::place::{ConfigLayer, Problem, SourceSpan, Sourced, brief, option};
use crate::suggest;

/// The tools a worker is offered besides those of servers.
pub const TOOLS: [&str; 11] = [
    "run_command",
    "read_file",
    "write_file",
    "edit_file",
    "list_files",
    "search_files",
    "fetch_url",
    "start_process",
    "list_processes",
    "read_process_log",
    "stop_process",
];
/// By these a worker ends a goal: no policy takes them away.
const LAST_TOOLS: [&str; 2] = ["claim_complete", "abort_with_report"];

/// A goal under everything that is configured and given for it.
#[derive(Clone, PartialEq, Debug)]
pub struct GoalConfig {
    pub name: Option<String>,
    pub place: Option<SourceSpan>,
    pub options: GoalOptions,
    pub goal: Option<Sourced<TaskSource>>,
    /// Steps, turns, active time, money and tokens.
    pub limits: Limits,
    /// What of all this the project's files say.
    pub(crate) by_project: ConfigTable,
}

impl Config {
    /// The goal of this name (or one made of flags only) under these flags, with everything checked that a run
    /// needs to know of its configuration.
    pub fn goal_for(&self, name: Option<&str>, given: &Overrides) -> (GoalConfig, Vec<Problem>) {
        let mut problems = Vec::new();
        if let Some(name) = name.filter(|n| !self.goals.contains_key(*n)) {
            let known: Vec<&str> = self.goals.keys().map(String::as_str).collect();
            let help =
                suggest::did_you_mean(name, &known).unwrap_or_else(|| "no goals are configured".into());
            problems.push(Problem::error(format!("there is no goal `{}`", brief(name))).help(help));
        }
        let mut table = self.goal_table(name);
        let layer = given.layer(Some(&table), &mut problems);
        table = table.overlaid(layer);
        let mut built = self.build_goal(name, &table, self.limits, &mut problems);
        built.by_project = self.with_shared_caps(built.by_project);
        if let (Some(until), Some(time)) = (&mut built.options.until, given.check_timeout) {
            until::timed(&mut until.value, time);
        }
        self.check_cast(&built, &table, &mut problems);
        let own = self.merged.tables("goals").find(|(n, _)| Some(*n) == name);
        let own = own.filter(|(_, t)| t.is_spoiled()).map(|(n, t)| (format!("goal `{n}`"), t.place.clone()));
        let shared = self.merged.filtered(|key| key == "defaults" || key == "budget");
        let shared = shared.is_spoiled().then(|| ("[defaults] or [budget]".to_owned(), shared.place.clone()));
        for (what, place) in own.into_iter().chain(shared) {
            let message = format!("{what} cannot be used as it is configured");
            problems.push(Problem::error(message).help(SEE_CHECK).at(place.as_ref()));
        }
        if built.goal.is_none() && !table.has("goal") && !table.has("goal_file") {
            let help = format!(
                "give it as an argument, with {}, or as `goal` of a table [goals.NAME]",
                option("goal_file FILE")
            );
            problems.push(Problem::error("there is no goal").help(help).at(built.place.as_ref()));
        }
        (built, problems)
    }

    /// Every goal as configured, with what is wrong that no other table shows.
    pub(super) fn build_goals(&mut self, problems: &mut Vec<Problem>) {
        let names: Vec<String> = self.merged.tables("goals").map(|(name, _)| name.to_owned()).collect();
        for name in names {
            let mut found = Vec::new();
            let table = self.goal_table(Some(&name));
            let built = self.build_goal(Some(&name), &table, self.limits, &mut found);
            // A wrong default is reported once, where it stands, and not again for every goal.
            let own: Vec<Problem> = found.into_iter().filter(|p| !problems.contains(p)).collect();
            problems.extend(own);
            self.goals.insert(name, built);
        }
    }

    /// The goal's own keys over the two defaults that it shares with loops.
    fn goal_table(&self, name: Option<&str>) -> ConfigTable {
        let mut base = ConfigTable::new(ConfigSection::Goal, ConfigLayer::BuiltIn, None);
        for (key, value) in self.merged.table("defaults").into_iter().flat_map(ConfigTable::keys) {
            if matches!(key, "worker" | "critic") {
                base.insert(key, value.clone());
            }
        }
        let own = name.and_then(|n| self.merged.tables("goals").find(|(name, _)| *name == n));
        match own {
            Some((_, own)) => base.overlaid(own.clone()),
            None => base,
        }
    }

    fn build_goal(
        &self,
        name: Option<&str>,
        table: &ConfigTable,
        run: Limits,
        problems: &mut Vec<Problem>,
    ) -> GoalConfig {
        let mut options = GoalOptions::read(table);
        if !table.has("commit") {
            // Whoever names a branch wants a commit on it.
            options.commit.value = options.branch.is_some();
        }
        let text = options.goal.clone().map(|goal| goal.map(TaskSource::Text));
        let goal = text.or_else(|| options.goal_file.clone().map(|file| file.map(TaskSource::File)));
        let limits = limits(&options, run);
        let by_project = table.of_project();
        let name = name.map(str::to_owned);
        let built = GoalConfig { name, place: table.place.clone(), options, goal, limits, by_project };
        self.check_goal(&built, table, problems);
        built
    }

    fn check_goal(&self, built: &GoalConfig, table: &ConfigTable, problems: &mut Vec<Problem>) {
        let agents = self.agent_names();
        for (role, agent) in built.roles() {
            if !agents.contains(&agent.value.as_str()) {
                problems.push(loops::unknown_agent(role, &agent, &agents));
            }
        }
        let servers: Vec<&str> = self.merged.tables("mcp").map(|(name, _)| name).collect();
        for server in built.options.mcp.iter().filter(|s| !servers.contains(&s.value.as_str())) {
            let help = suggest::did_you_mean(&server.value, &servers)
                .unwrap_or_else(|| format!("no servers are configured; add [mcp.{}]", brief(&server.value)));
            let key = loops::shown("mcp", server.layer);
            let message = format!("`{key}` names server `{}`, which is not configured", brief(&server.value));
            problems.push(Problem::error(message).help(help).at(server.place.as_ref()));
        }
        for (key, tools) in [("deny", &built.options.deny), ("allow", &built.options.allow)] {
            problems.extend(tools.iter().filter_map(|tool| unknown_tool(key, tool, &built.options.mcp)));
        }
        if let Some(minutes) = table.table("budget").filter(|b| b.has("minutes")) {
            let message = "the time of a goal is its `wall_clock`, not `minutes` of its budget";
            let place = minutes.place_of("minutes");
            problems.push(Problem::error(message).help("write wall_clock = \"60m\"").at(place));
        }
        if built.options.in_place.value && built.options.commit.value {
            let message = "work in place cannot become a commit: it is in your checkout already";
            let place = built
                .options
                .branch
                .as_ref()
                .map_or(built.options.commit.place.as_ref(), |b| b.place.as_ref());
            problems.push(Problem::error(message).help("leave `in_place` or `commit` out").at(place));
        }
        if let Some(branch) = &built.options.branch {
            if !built.options.commit.value {
                let message = "`branch` has no effect while `commit` is false";
                problems.push(Problem::error(message).help("remove one of them").at(branch.place.as_ref()));
            }
            if !is_branch(&branch.value) {
                let message = format!("`{}` is no name for a branch", brief(&branch.value));
                let help = "like feature/search: no spaces, no `..`, none of ~^:?*[\\";
                problems.push(Problem::error(message).help(help).at(branch.place.as_ref()));
            }
        }
    }

    /// What is wrong with those who would take part.
    fn check_cast(&self, built: &GoalConfig, table: &ConfigTable, problems: &mut Vec<Problem>) {
        if built.options.worker.is_none() && !table.has("worker") {
            let help = format!("use {}, or set `worker` in [defaults]", option("worker NAME"));
            problems.push(Problem::error("no worker specified").help(help).at(built.place.as_ref()));
        }
        let agents = self.agent_names();
        for (role, agent) in built.roles() {
            match self.agents.get(&agent.value) {
                Some(found) => {
                    problems.extend(built.unfit(role, found).map(|p| p.at(agent.place.as_ref())));
                }
                None if agents.contains(&agent.value.as_str()) => {
                    let message = format!("{role} `{}` cannot be used as it is configured", agent.value);
                    problems.push(Problem::error(message).help(SEE_CHECK).at(agent.place.as_ref()));
                }
                None => {}
            }
        }
    }
}

impl GoalConfig {
    /// Who takes part, by role. A critic that never looks takes no part, except as a judge.
    pub fn roles(&self) -> Vec<(&'static str, Sourced<String>)> {
        let critic = self.options.critic.as_ref().filter(|_| self.watches());
        let judge =
            self.options.judge.as_ref().or_else(|| self.options.critic.as_ref().filter(|_| self.is_judged()));
        let judge = judge.filter(|judge| critic.is_none_or(|critic| critic.value != judge.value));
        let roles = [("worker", self.options.worker.as_ref()), ("critic", critic), ("judge", judge)];
        roles.into_iter().filter_map(|(role, agent)| Some((role, agent?.clone()))).collect()
    }

    /// Somebody looks at the steps.
    pub fn watches(&self) -> bool {
        self.options.critic_interval.value > 0 && self.options.critic.is_some()
    }

    /// A model is asked whether the goal is reached.
    pub fn is_judged(&self) -> bool {
        self.options.until.as_ref().is_some_and(|until| until::is_judged(&until.value))
    }

    /// Why this agent cannot have this role here.
    fn unfit(&self, role: &str, agent: &AgentConfig) -> Option<Problem> {
        let kind = agent.kind.value;
        let sees = self.options.until.as_ref().is_some_and(|until| until::is_shown(&until.value));
        let asked = match (&self.options.judge, &self.options.critic) {
            (Some(judge), _) => judge.value == agent.name,
            (None, Some(critic)) => critic.value == agent.name,
            (None, None) => true,
        };
        let (message, help) = match (role, kind) {
            ("worker", AgentKind::Person) => (
                format!("worker `{}` is a person, and a person is not watched", agent.name),
                format!("name an agent with {}; you are heard with `gadfly steer`", option("worker")),
            ),
            ("critic", AgentKind::Person) => (
                format!("critic `{}` is a person, who cannot be asked every few steps", agent.name),
                format!(
                    "name another critic, or none with {}; you watch with `gadfly follow`",
                    option("critic_interval 0")
                ),
            ),
            ("judge", AgentKind::Person) => (
                format!("judge `{}` is a person", agent.name),
                "to be asked yourself: --manual, or { manual = true }".to_owned(),
            ),
            (_, kind) if sees && asked && kind.is_process() => (
                format!("{role} `{}` of kind `{kind}` cannot be shown a picture", agent.name),
                "name a judge of kind openai or anthropic".to_owned(),
            ),
            _ => return None,
        };
        Some(Problem::error(message).help(help))
    }
}

/// The caps of a goal: its own, else the run's, else the built-in ones. There is none on the number of calls:
/// turns are counted.
fn limits(options: &GoalOptions, run: Limits) -> Limits {
    let count = |number: &Sourced<u64>| Some(u32::try_from(number.value).unwrap_or(u32::MAX));
    let time = until::millis(options.wall_clock.value);
    let budget = options.budget;
    Limits {
        tokens: budget.tokens.or(run.tokens),
        money: budget.money.or(run.money),
        active_ms: Some(match options.wall_clock.layer {
            ConfigLayer::BuiltIn => run.active_ms.unwrap_or(time),
            _ => time,
        }),
        calls: budget.calls,
        steps: count(&options.max_steps),
        turns: count(&options.max_turns),
    }
}

/// A tool that is not there cannot be denied: what was meant stays allowed.
fn unknown_tool(key: &str, tool: &Sourced<String>, servers: &[Sourced<String>]) -> Option<Problem> {
    let name = tool.value.as_str();
    let of_server = name
        .split_once("__")
        .is_some_and(|(server, rest)| !rest.is_empty() && servers.iter().any(|s| s.value == server));
    if TOOLS.contains(&name) || of_server {
        return None;
    }
    let shown = loops::shown(key, tool.layer);
    let problem = if LAST_TOOLS.contains(&name) {
        Problem::error(format!("`{shown}`: `{name}` is how a worker ends a goal, and is always there"))
            .help("leave it out")
    } else {
        Problem::error(format!("`{shown}` names tool `{}`, which there is not", brief(name))).help(
            suggest::nearest(name, TOOLS).map_or_else(
                || {
                    format!(
                        "known: {}; a tool of a server is SERVER__TOOL, with that server in `mcp`",
                        TOOLS.join(", ")
                    )
                },
                |near| format!("did you mean `{near}`?"),
            ),
        )
    };
    Some(problem.at(tool.place.as_ref()))
}
