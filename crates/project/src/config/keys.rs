//! The one table of configuration keys. It drives the parser (what is known, what shape, which default),
//! the nearest-name guesses and the check of the reference file.
//!
//! To add a key: one row here, its line in `reference.toml`, and the field that reads it.

use std::time::Duration;

use gadfly_engine::protocol::{pipeline, watch};

use gadfly_engine::tool::Risk;

use super::names::{Kind, Protocol};

/// A table of the file, by what it describes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Section {
    Top,
    Agent,
    Price,
    Defaults,
    Loop,
    Goal,
    Budget,
    Workspace,
    Commands,
    Mcp,
    Project,
    Pipeline,
    Dual,
    Hooks,
    Gate,
    GateCommand,
    Verify,
    Signing,
    Telemetry,
}

impl Section {
    /// As it is written in a file.
    pub const fn header(self) -> &'static str {
        match self {
            Self::Top => "the top of the file",
            Self::Agent => "[agents.NAME]",
            Self::Price => "[agents.NAME.price]",
            Self::Defaults => "[defaults]",
            Self::Loop => "[loops.NAME]",
            Self::Goal => "[goals.NAME]",
            Self::Budget => "[budget]",
            Self::Workspace => "[workspace]",
            Self::Commands => "[commands]",
            Self::Mcp => "[mcp.NAME]",
            Self::Project => "[project]",
            Self::Pipeline => "[pipeline]",
            Self::Dual => "[[dual]]",
            Self::Hooks => "[hooks]",
            Self::Gate => "[gates.NAME]",
            Self::GateCommand => "[[gates.NAME.commands]]",
            Self::Verify => "[verify.AGENT]",
            Self::Signing => "[signing]",
            Self::Telemetry => "[telemetry]",
        }
    }
}

/// What a value must look like.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    /// A string with something in it.
    Text,
    /// A list of such strings, perhaps empty.
    Texts,
    /// A command and its arguments: a list that is not empty.
    Command,
    Path,
    Paths,
    /// A string, or a list of strings that is not empty.
    OneOrMore,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A path, or a list of strings.
    Rubric,
    /// The name of a set, a path, or a list of strings and tables.
    Criteria,
    /// A list of agents, each perhaps with a lens.
    Critics,
    /// When a goal is reached: a command, a table, or a list of them.
    Until,
    Whole {
        min: u64,
        max: u64,
    },
    Number {
        min: f64,
        max: f64,
    },
    Flag,
    /// `"90s"`, `"5m"`, or whole seconds; more than none.
    Time,
    Kind,
    Protocol,
    Output,
    /// A table of the given section.
    Table(Section),
    /// Tables of the given section by name.
    Named(Section),
    /// A list of tables of the given section.
    Rows(Section),
}

/// A built-in value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fixed {
    Whole(u64),
    Time(Duration),
    Flag(bool),
    Text(&'static str),
}

/// Where a key means something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    Always,
    /// Only for agents of these kinds.
    Kinds(&'static [Kind]),
    /// Only in loops of these protocols.
    Protocols(&'static [Protocol]),
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Key {
    pub section: Section,
    pub name: &'static str,
    pub shape: Shape,
    pub default: Option<Fixed>,
    pub used: Use,
}

pub const TIMEOUT: Duration = Duration::from_mins(10);
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
pub const IDLE_TIMEOUT: Duration = Duration::from_mins(2);
pub const MAX_TOKENS: u64 = 8192;
pub const CONCURRENT: u64 = 4;
pub const MAX_MEMORY_MB: u64 = 8192;
pub const MAX_PROCESSES: u64 = 500;
pub const MAX_STEPS: u64 = 200;
pub const ROUNDS: u64 = 3;
pub const CONTEXT: u64 = 128_000;
pub const VERIFY_RUNS: u64 = 1;
pub const VERIFY_TIMEOUT: Duration = Duration::from_mins(10);
pub const MAX_PARTS: u64 = 40;
pub const MINUTES: u64 = 30;
pub const MCP_RISK: Risk = Risk::NetworkWrite;
pub const MCP_TIMEOUT: Duration = Duration::from_mins(2);
pub const CALLS: u32 = 50;
/// Of a goal.
pub const CRITIC_INTERVAL: u64 = watch::settings::INTERVAL as u64;
pub const GOAL_STEPS: u64 = watch::settings::STEPS as u64;
pub const GOAL_TURNS: u64 = watch::settings::TURNS as u64;
pub const WALL_CLOCK: Duration = Duration::from_mins(watch::settings::MINUTES);

/// Of a pipeline.
pub const JOBS: u64 = pipeline::settings::JOBS as u64;
pub const PAIR_ROUNDS: u64 = pipeline::settings::ROUNDS as u64;
pub const OVERALL_ROUNDS: u64 = pipeline::settings::OVERALL as u64;
pub const FIXES: u64 = pipeline::settings::FIXES as u64;
pub const GATE: &str = "commit";
pub const HOOK_TIMEOUT: Duration = Duration::from_mins(1);

const USD: Shape = Shape::Number { min: 0.0, max: 1e6 };
const TOKENS: Shape = Shape::Whole { min: 1, max: 1_000_000_000 };
const GOAL_COUNT: Shape = Shape::Whole { min: 1, max: 100_000 };
const ROUND_COUNT: Shape = Shape::Whole { min: 1, max: 100 };

const HTTP: Use = Use::Kinds(&[Kind::OpenAi, Kind::Anthropic]);
const CLI: [Kind; 4] = [Kind::ClaudeCode, Kind::Codex, Kind::Gemini, Kind::OpenCode];
const PROCESS: Use = Use::Kinds(&[Kind::Command, CLI[0], CLI[1], CLI[2], CLI[3], Kind::Acp]);
const CONVERSING: Use = Use::Kinds(&[CLI[0], CLI[1], CLI[2], CLI[3], Kind::Acp]);
const PROMPTED: Use =
    Use::Kinds(&[Kind::OpenAi, Kind::Anthropic, Kind::Command, CLI[0], CLI[1], CLI[2], CLI[3], Kind::Acp]);
const SCRIPTED: Use = Use::Kinds(&[Kind::Scripted]);
const MACHINE: Use = Use::Kinds(&[
    Kind::OpenAi,
    Kind::Anthropic,
    Kind::Command,
    CLI[0],
    CLI[1],
    CLI[2],
    CLI[3],
    Kind::Acp,
    Kind::Scripted,
]);

const REVISE: Use = Use::Protocols(&[Protocol::Revise]);
const SCORE: Use = Use::Protocols(&[Protocol::Score]);
const AUDIT: Use = Use::Protocols(&[Protocol::Audit]);
const JUDGING: Use = Use::Protocols(&[Protocol::Score, Protocol::Audit, Protocol::Converge]);
const BY_CRITERIA: Use = Use::Protocols(&[Protocol::Audit, Protocol::Converge]);
const BY_RUBRIC: Use = Use::Protocols(&[Protocol::Revise, Protocol::Score]);
const OF_A_TEXT: Use = Use::Protocols(&[Protocol::Revise, Protocol::Score, Protocol::Converge]);

const SANDBOX: Shape = Shape::OneOf(&["landlock", "own", "off"]);
const SEVERITIES: Shape = Shape::OneOf(&["nit", "risk", "fail"]);
const LEVELS: Shape = Shape::OneOf(&["low", "medium", "medium-high", "high", "maximum"]);
const RISKS: Shape =
    Shape::OneOf(&["read_only", "write_local", "network_get", "network_write", "spends_money"]);
const LAYOUTS: Shape = Shape::OneOf(&["native", "claude", "neuroflow", "nubos"]);
const SCORE_POINTS: Shape = Shape::Whole { min: 0, max: 100 };
const ECONOMY: Shape = Shape::OneOf(&["off", "lite", "full", "ultra"]);

const fn key(section: Section, name: &'static str, shape: Shape) -> Key {
    Key { section, name, shape, default: None, used: Use::Always }
}

impl Key {
    const fn or(mut self, default: Fixed) -> Self {
        self.default = Some(default);
        self
    }

    const fn only(mut self, used: Use) -> Self {
        self.used = used;
        self
    }
}

pub const KEYS: &[Key] = &[
    key(Section::Top, "agents", Shape::Named(Section::Agent)),
    key(Section::Top, "defaults", Shape::Table(Section::Defaults)),
    key(Section::Top, "loops", Shape::Named(Section::Loop)),
    key(Section::Top, "goals", Shape::Named(Section::Goal)),
    key(Section::Top, "budget", Shape::Table(Section::Budget)),
    key(Section::Top, "workspace", Shape::Table(Section::Workspace)),
    key(Section::Top, "commands", Shape::Table(Section::Commands)),
    key(Section::Top, "mcp", Shape::Named(Section::Mcp)),
    key(Section::Top, "project", Shape::Table(Section::Project)),
    key(Section::Top, "pipeline", Shape::Table(Section::Pipeline)),
    key(Section::Top, "dual", Shape::Rows(Section::Dual)),
    key(Section::Top, "hooks", Shape::Table(Section::Hooks)),
    key(Section::Top, "gates", Shape::Named(Section::Gate)),
    key(Section::Top, "verify", Shape::Named(Section::Verify)),
    key(Section::Top, "signing", Shape::Table(Section::Signing)),
    key(Section::Top, "telemetry", Shape::Table(Section::Telemetry)),
    // Agents
    key(Section::Agent, "kind", Shape::Kind),
    key(Section::Agent, "base_url", Shape::Text).only(HTTP),
    key(Section::Agent, "model", Shape::Text).only(MACHINE),
    key(Section::Agent, "vendor", Shape::Text),
    key(Section::Agent, "key_env", Shape::Text).only(HTTP),
    key(Section::Agent, "key_command", Shape::Command).only(HTTP),
    key(Section::Agent, "send_key_to", Shape::Text).only(HTTP),
    key(Section::Agent, "system", Shape::Text).only(PROMPTED),
    key(Section::Agent, "file", Shape::Path).only(PROMPTED),
    key(Section::Agent, "command", Shape::Command).only(PROCESS),
    key(Section::Agent, "args", Shape::Texts).only(PROCESS),
    key(Section::Agent, "env", Shape::Texts).only(PROCESS),
    key(Section::Agent, "sandbox", SANDBOX).or(Fixed::Text("landlock")).only(PROCESS),
    key(Section::Agent, "read", Shape::Texts).only(PROCESS),
    key(Section::Agent, "state", Shape::Texts).only(PROCESS),
    key(Section::Agent, "network", Shape::Flag).or(Fixed::Flag(true)).only(PROCESS),
    key(Section::Agent, "listen", Shape::Flag).or(Fixed::Flag(false)).only(PROCESS),
    key(Section::Agent, "max_memory_mb", Shape::Whole { min: 16, max: 1 << 24 })
        .or(Fixed::Whole(MAX_MEMORY_MB))
        .only(PROCESS),
    key(Section::Agent, "max_processes", Shape::Whole { min: 1, max: 100_000 })
        .or(Fixed::Whole(MAX_PROCESSES))
        .only(PROCESS),
    key(Section::Agent, "max_steps", Shape::Whole { min: 1, max: 100_000 })
        .or(Fixed::Whole(MAX_STEPS))
        .only(CONVERSING),
    key(Section::Agent, "continue", Shape::Flag).or(Fixed::Flag(true)).only(CONVERSING),
    key(Section::Agent, "script", Shape::Path).only(SCRIPTED),
    key(Section::Agent, "timeout", Shape::Time).or(Fixed::Time(TIMEOUT)).only(MACHINE),
    key(Section::Agent, "connect_timeout", Shape::Time).or(Fixed::Time(CONNECT_TIMEOUT)).only(HTTP),
    key(Section::Agent, "idle_timeout", Shape::Time).or(Fixed::Time(IDLE_TIMEOUT)).only(HTTP),
    key(Section::Agent, "max_tokens", TOKENS).or(Fixed::Whole(MAX_TOKENS)).only(MACHINE),
    key(Section::Agent, "temperature", Shape::Number { min: 0.0, max: 2.0 }).only(HTTP),
    key(Section::Agent, "concurrent", Shape::Whole { min: 1, max: 256 })
        .or(Fixed::Whole(CONCURRENT))
        .only(MACHINE),
    key(Section::Agent, "price", Shape::Table(Section::Price)).only(MACHINE),
    key(Section::Agent, "max_usd_per_call", USD).only(PROCESS),
    key(Section::Agent, "max_tokens_per_call", TOKENS).only(PROCESS),
    key(Section::Agent, "context", Shape::Whole { min: 1000, max: 100_000_000 })
        .or(Fixed::Whole(CONTEXT))
        .only(MACHINE),
    key(Section::Agent, "output", Shape::Output).or(Fixed::Text("reply")),
    key(Section::Agent, "budget", Shape::Table(Section::Budget)),
    key(Section::Price, "input", USD),
    key(Section::Price, "output", USD),
    key(Section::Price, "cache_read", USD),
    key(Section::Price, "cache_write", USD),
    // What every loop starts from
    key(Section::Defaults, "worker", Shape::Text),
    key(Section::Defaults, "critic", Shape::Text),
    key(Section::Defaults, "fallback_critic", Shape::Text),
    key(Section::Defaults, "protocol", Shape::Protocol).or(Fixed::Text("revise")),
    key(Section::Defaults, "rounds", ROUND_COUNT).or(Fixed::Whole(ROUNDS)),
    key(Section::Defaults, "overrule", Shape::Flag).or(Fixed::Flag(true)),
    // Loops
    key(Section::Loop, "protocol", Shape::Protocol).or(Fixed::Text("revise")),
    key(Section::Loop, "worker", Shape::Text),
    key(Section::Loop, "critic", Shape::Text),
    key(Section::Loop, "fallback_critic", Shape::Text),
    key(Section::Loop, "task", Shape::Text),
    key(Section::Loop, "task_file", Shape::Path),
    key(Section::Loop, "rounds", ROUND_COUNT).or(Fixed::Whole(ROUNDS)),
    key(Section::Loop, "with", Shape::Paths),
    key(Section::Loop, "budget", Shape::Table(Section::Budget)),
    key(Section::Loop, "phase", Shape::Text).only(BY_RUBRIC),
    key(Section::Loop, "rubric", Shape::Rubric).only(BY_RUBRIC),
    key(Section::Loop, "draft", Shape::Path).only(OF_A_TEXT),
    key(Section::Loop, "out", Shape::Path).only(OF_A_TEXT),
    key(Section::Loop, "overrule", Shape::Flag).or(Fixed::Flag(true)).only(REVISE),
    key(Section::Loop, "critics", Shape::Critics).only(JUDGING),
    key(Section::Loop, "max_parts", Shape::Whole { min: 1, max: 1000 })
        .or(Fixed::Whole(MAX_PARTS))
        .only(JUDGING),
    key(Section::Loop, "threshold", Shape::Whole { min: 1, max: 100 }).or(Fixed::Whole(80)).only(SCORE),
    key(Section::Loop, "exploration", Shape::Flag).or(Fixed::Flag(false)).only(SCORE),
    key(Section::Loop, "severity", LEVELS).only(SCORE),
    key(Section::Loop, "invariants", Shape::Path).only(SCORE),
    key(Section::Loop, "escalate_to", Shape::Text).or(Fixed::Text("user")).only(SCORE),
    key(Section::Loop, "stop_early", Shape::Flag).or(Fixed::Flag(false)).only(SCORE),
    key(Section::Loop, "criteria", Shape::Criteria).only(BY_CRITERIA),
    key(Section::Loop, "task_id", Shape::Text).only(AUDIT),
    key(Section::Loop, "scope", Shape::OneOrMore).only(AUDIT),
    key(Section::Loop, "verify", Shape::OneOrMore).only(AUDIT),
    key(Section::Loop, "verify_runs", Shape::Whole { min: 1, max: 100 })
        .or(Fixed::Whole(VERIFY_RUNS))
        .only(AUDIT),
    key(Section::Loop, "verify_timeout", Shape::Time).or(Fixed::Time(VERIFY_TIMEOUT)).only(AUDIT),
    key(Section::Loop, "block_on", SEVERITIES).or(Fixed::Text("nit")).only(AUDIT),
    key(Section::Loop, "economy", ECONOMY).or(Fixed::Text("off")).only(AUDIT),
    key(Section::Loop, "decisions", Shape::Texts).only(AUDIT),
    key(Section::Loop, "build_fixer", Shape::Text).only(AUDIT),
    key(Section::Loop, "researcher", Shape::Text).only(AUDIT),
    key(Section::Loop, "commit", Shape::Flag).or(Fixed::Flag(false)).only(AUDIT),
    key(Section::Loop, "branch", Shape::Text).only(AUDIT),
    // Goals
    key(Section::Goal, "goal", Shape::Text),
    key(Section::Goal, "goal_file", Shape::Path),
    key(Section::Goal, "until", Shape::Until),
    key(Section::Goal, "worker", Shape::Text),
    key(Section::Goal, "critic", Shape::Text),
    key(Section::Goal, "judge", Shape::Text),
    key(Section::Goal, "critic_interval", Shape::Whole { min: 0, max: 1000 })
        .or(Fixed::Whole(CRITIC_INTERVAL)),
    key(Section::Goal, "strict_critic", Shape::Flag).or(Fixed::Flag(false)),
    key(Section::Goal, "risk", RISKS).or(Fixed::Text("write_local")),
    key(Section::Goal, "deny", Shape::Texts),
    key(Section::Goal, "allow", Shape::Texts),
    key(Section::Goal, "mcp", Shape::Texts),
    key(Section::Goal, "protect", Shape::Texts),
    key(Section::Goal, "protect_tests", Shape::Flag).or(Fixed::Flag(true)),
    key(Section::Goal, "max_steps", GOAL_COUNT).or(Fixed::Whole(GOAL_STEPS)),
    key(Section::Goal, "max_turns", GOAL_COUNT).or(Fixed::Whole(GOAL_TURNS)),
    key(Section::Goal, "wall_clock", Shape::Time).or(Fixed::Time(WALL_CLOCK)),
    key(Section::Goal, "in_place", Shape::Flag).or(Fixed::Flag(false)),
    key(Section::Goal, "commit", Shape::Flag).or(Fixed::Flag(false)),
    key(Section::Goal, "branch", Shape::Text),
    key(Section::Goal, "with", Shape::Paths),
    key(Section::Goal, "budget", Shape::Table(Section::Budget)),
    // Caps of a run, a loop or an agent
    key(Section::Budget, "usd", USD),
    key(Section::Budget, "tokens", Shape::Whole { min: 0, max: 1_000_000_000_000 }),
    key(Section::Budget, "minutes", Shape::Number { min: 0.0, max: 525_600.0 }).or(Fixed::Whole(MINUTES)),
    key(Section::Budget, "calls", Shape::Whole { min: 0, max: 1_000_000 }).or(Fixed::Whole(CALLS as u64)),
    // Workspaces
    key(Section::Workspace, "link", Shape::Texts),
    key(Section::Workspace, "copy", Shape::Texts),
    key(Section::Workspace, "prepare", Shape::Text),
    // Commands
    key(Section::Commands, "env", Shape::Texts),
    key(Section::Commands, "terminals", Shape::Flag).or(Fixed::Flag(false)),
    // Servers whose tools a goal may use
    key(Section::Mcp, "command", Shape::Command),
    key(Section::Mcp, "url", Shape::Text),
    key(Section::Mcp, "env", Shape::Texts),
    key(Section::Mcp, "risk", RISKS).or(Fixed::Text(MCP_RISK.name())),
    key(Section::Mcp, "timeout", Shape::Time).or(Fixed::Time(MCP_TIMEOUT)),
    // The project as agents see it
    key(Section::Project, "name", Shape::Text),
    key(Section::Project, "layout", LAYOUTS),
    key(Section::Project, "agents", Shape::Path),
    key(Section::Project, "skills", Shape::Path),
    key(Section::Project, "registry", Shape::Path),
    key(Section::Project, "enable", Shape::Texts),
    key(Section::Project, "also", Shape::Texts),
    key(Section::Project, "unjudged", Shape::Texts),
    key(Section::Project, "verify", Shape::OneOrMore),
    key(Section::Project, "verify_timeout", Shape::Time).or(Fixed::Time(VERIFY_TIMEOUT)),
    key(Section::Verify, "commands", Shape::OneOrMore),
    key(Section::Verify, "timeout", Shape::Time).or(Fixed::Time(VERIFY_TIMEOUT)),
    // Pipelines
    key(Section::Pipeline, "jobs", Shape::Whole { min: 1, max: 256 }).or(Fixed::Whole(JOBS)),
    key(Section::Pipeline, "rounds", ROUND_COUNT).or(Fixed::Whole(PAIR_ROUNDS)),
    key(Section::Pipeline, "overall", ROUND_COUNT).or(Fixed::Whole(OVERALL_ROUNDS)),
    key(Section::Pipeline, "fixes", Shape::Whole { min: 0, max: 100 }).or(Fixed::Whole(FIXES)),
    key(Section::Pipeline, "gate", Shape::Text).or(Fixed::Text(GATE)),
    key(Section::Pipeline, "planner", Shape::Text),
    key(Section::Dual, "agent", Shape::Text),
    key(Section::Dual, "critic", Shape::Text),
    key(Section::Dual, "lens", Shape::Text),
    key(Section::Hooks, "pre-dispatch", Shape::OneOrMore),
    key(Section::Hooks, "post-completion", Shape::OneOrMore),
    key(Section::Hooks, "pre-commit", Shape::OneOrMore),
    key(Section::Hooks, "pre-compact", Shape::OneOrMore),
    key(Section::Hooks, "before-resume", Shape::OneOrMore),
    key(Section::Hooks, "timeout", Shape::Time).or(Fixed::Time(HOOK_TIMEOUT)),
    key(Section::Gate, "overall", SCORE_POINTS),
    key(Section::Gate, "each", SCORE_POINTS),
    key(Section::Gate, "complete", Shape::Flag).or(Fixed::Flag(false)),
    key(Section::Gate, "commands", Shape::Rows(Section::GateCommand)),
    key(Section::GateCommand, "name", Shape::Text),
    key(Section::GateCommand, "command", Shape::Text),
    key(Section::GateCommand, "exit", Shape::Whole { min: 0, max: 255 }).or(Fixed::Whole(0)),
    // Whose word receipts, seals and exports are
    key(Section::Signing, "key", Shape::Text),
    // Traces
    key(Section::Telemetry, "endpoint", Shape::Text),
    key(Section::Telemetry, "headers_env", Shape::Text),
    key(Section::Telemetry, "content", Shape::Flag).or(Fixed::Flag(false)),
];

/// Pairs of which one excludes the other: a higher layer's choice replaces a lower layer's partner.
pub const EXCLUSIVE: &[(Section, &str, &str)] = &[
    (Section::Agent, "system", "file"),
    (Section::Agent, "key_env", "key_command"),
    (Section::Loop, "task", "task_file"),
    (Section::Loop, "critic", "critics"),
    (Section::Mcp, "command", "url"),
    (Section::Goal, "goal", "goal_file"),
];

pub fn find(section: Section, name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|k| k.section == section && k.name == name)
}

pub fn names(section: Section) -> Vec<&'static str> {
    KEYS.iter().filter(|k| k.section == section).map(|k| k.name).collect()
}

/// The partner that excludes this key, if it has one.
pub fn partner(section: Section, name: &str) -> Option<&'static str> {
    EXCLUSIVE.iter().filter(|(s, ..)| *s == section).find_map(|(_, a, b)| match name {
        n if n == *a => Some(*b),
        n if n == *b => Some(*a),
        _ => None,
    })
}
