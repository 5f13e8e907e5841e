//! The one table of options. A row says of an option what it is called, which shape and bounds it has, where it means
//! something, its default, and how each door offers it: a file, a flag, the page's form, an argument for a model. The
//! parser, the command line, the form, the schema and the reference are made from it.
//!
//! To add an option: one row with its typed field (`loops/options.rs`, `goals/options.rs`, `pipeline/options.rs`, or one of
//! the lists below), and the place that uses it.

mod agents;
mod others;

use std::time::Duration;

use gadfly_engine::protocol::{goal, pipeline};
use gadfly_engine::tool::Risk;

use super::names::AgentKind;
use super::protocols::LoopProtocol;
use super::{goals, loops};

/// A table of the file, by what it describes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ConfigSection {
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

impl ConfigSection {
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
    Table(ConfigSection),
    /// Tables of the given section by name.
    Named(ConfigSection),
    /// A list of tables of the given section.
    Rows(ConfigSection),
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
pub enum KeyScope {
    Always,
    /// Only for agents of these kinds.
    Kinds(&'static [AgentKind]),
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Key {
    pub section: ConfigSection,
    pub name: &'static str,
    pub shape: Shape,
    pub default: Option<Fixed>,
    pub used: KeyScope,
    /// One sentence without its full stop: the help of the flag, and the first line of the reference.
    pub says: &'static str,
    /// What the reference adds.
    pub more: &'static str,
    /// As it is written in a file; where there is a default, that is shown.
    pub like: &'static str,
    pub flag: Option<Flag>,
    /// Its name on the page's form.
    pub label: Option<&'static str>,
    /// What a model reads that may give it.
    pub model: Option<&'static str>,
    /// `[defaults]` may have it, too.
    pub shared: bool,
    /// A flag adds to the list that is configured, and takes nothing of it away.
    pub adds: bool,
    /// The option it becomes when a flag gives it more than once.
    pub several: Option<&'static str>,
}

/// How the command line offers an option.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Flag {
    /// Which commands: bits of [`on`].
    pub on: u8,
    pub value: &'static str,
    /// Where it is not the option's own name.
    pub named: Option<&'static str>,
    pub short: Option<char>,
    /// The heading it stands under in the help, where the protocol does not say.
    pub under: Option<&'static str>,
    /// What the flag says, if it says no.
    pub says_no: Option<&'static str>,
    /// Flags it cannot be given with.
    pub against: &'static [&'static str],
}

/// The commands that take options of the table.
pub mod on {
    pub const RUN: u8 = 1;
    pub const BATCH: u8 = 1 << 1;
    pub const REVIEW: u8 = 1 << 2;
    pub const GOAL: u8 = 1 << 3;
    pub const PIPELINE: u8 = 1 << 4;
}

pub const TIMEOUT: Duration = Duration::from_mins(10);
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_mins(5);
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
pub const CRITIC_INTERVAL: u64 = goal::settings::INTERVAL as u64;
pub const GOAL_STEPS: u64 = goal::settings::STEPS as u64;
pub const GOAL_TURNS: u64 = goal::settings::TURNS as u64;
pub const WALL_CLOCK: Duration = Duration::from_mins(goal::settings::MINUTES);

/// Of a pipeline.
pub const JOBS: u64 = pipeline::settings::JOBS as u64;
pub const PAIR_ROUNDS: u64 = pipeline::settings::ROUNDS as u64;
pub const OVERALL_ROUNDS: u64 = pipeline::settings::OVERALL as u64;
pub const FIXES: u64 = pipeline::settings::FIXES as u64;
pub const GATE: &str = "commit";
pub const HOOK_TIMEOUT: Duration = Duration::from_mins(1);

pub(super) const USD: Shape = Shape::Number { min: 0.0, max: 1e6 };
pub(super) const TOKENS: Shape = Shape::Whole { min: 1, max: 1_000_000_000 };
pub(super) const GOAL_COUNT: Shape = Shape::Whole { min: 1, max: 100_000 };
pub(super) const ROUND_COUNT: Shape = Shape::Whole { min: 1, max: 100 };

pub(super) const HTTP: KeyScope =
    KeyScope::Kinds(&[AgentKind::OpenAi, AgentKind::Anthropic, AgentKind::Google]);
pub(super) const OPENAI: KeyScope = KeyScope::Kinds(&[AgentKind::OpenAi]);
pub(super) const THINKING: KeyScope = KeyScope::Kinds(&[AgentKind::Anthropic, AgentKind::Google]);
pub(super) const CLI: [AgentKind; 4] =
    [AgentKind::ClaudeCode, AgentKind::Codex, AgentKind::Gemini, AgentKind::OpenCode];
pub(super) const PROCESS: KeyScope =
    KeyScope::Kinds(&[AgentKind::Command, CLI[0], CLI[1], CLI[2], CLI[3], AgentKind::Acp]);
pub(super) const CONVERSING: KeyScope = KeyScope::Kinds(&[CLI[0], CLI[1], CLI[2], CLI[3], AgentKind::Acp]);
pub(super) const PROMPTED: KeyScope = KeyScope::Kinds(&[
    AgentKind::OpenAi,
    AgentKind::Anthropic,
    AgentKind::Google,
    AgentKind::Command,
    CLI[0],
    CLI[1],
    CLI[2],
    CLI[3],
    AgentKind::Acp,
]);
pub(super) const SCRIPTED: KeyScope = KeyScope::Kinds(&[AgentKind::Scripted]);
pub(super) const MACHINE: KeyScope = KeyScope::Kinds(&[
    AgentKind::OpenAi,
    AgentKind::Anthropic,
    AgentKind::Google,
    AgentKind::Command,
    CLI[0],
    CLI[1],
    CLI[2],
    CLI[3],
    AgentKind::Acp,
    AgentKind::Scripted,
]);

pub(super) const COMMAND: KeyScope = KeyScope::Kinds(&[AgentKind::Command]);
pub(super) const ACP: KeyScope = KeyScope::Kinds(&[AgentKind::Acp]);

pub(super) const BRIEFS: Shape = Shape::OneOf(&["stdin", "argument", "file"]);
pub(super) const APIS: Shape = Shape::OneOf(&["chat", "responses"]);
pub(super) const EFFORTS: Shape = Shape::OneOf(&["none", "minimal", "low", "medium", "high", "xhigh", "max"]);
pub(super) const SANDBOX: Shape = Shape::OneOf(&["landlock", "own", "off"]);
pub(super) const SEVERITIES: Shape = Shape::OneOf(&["nit", "risk", "fail"]);
pub(super) const LEVELS: Shape = Shape::OneOf(&["low", "medium", "medium-high", "high", "maximum"]);
pub(super) const RISKS: Shape =
    Shape::OneOf(&["read_only", "write_local", "network_get", "network_write", "spends_money"]);
pub(super) const LAYOUTS: Shape = Shape::OneOf(&["native", "claude", "neuroflow", "nubos"]);
pub(super) const SCORE_POINTS: Shape = Shape::Whole { min: 0, max: 100 };
pub(super) const ECONOMY: Shape = Shape::OneOf(&["off", "lite", "full", "ultra"]);

pub const fn key(shape: Shape) -> Key {
    Key {
        section: ConfigSection::Top,
        name: "",
        shape,
        default: None,
        used: KeyScope::Always,
        says: "",
        more: "",
        like: "",
        flag: None,
        label: None,
        model: None,
        shared: false,
        adds: false,
        several: None,
    }
}

impl Key {
    pub const fn of(mut self, section: ConfigSection, name: &'static str) -> Self {
        self.section = section;
        self.name = name;
        self
    }

    pub const fn or(mut self, default: Fixed) -> Self {
        self.default = Some(default);
        self
    }

    pub(super) const fn only(mut self, used: KeyScope) -> Self {
        self.used = used;
        self
    }

    pub const fn says(mut self, says: &'static str) -> Self {
        self.says = says;
        self
    }

    pub const fn more(mut self, more: &'static str) -> Self {
        self.more = more;
        self
    }

    pub const fn like(mut self, like: &'static str) -> Self {
        self.like = like;
        self
    }

    /// A flag of these commands, which takes this value; `""` for none.
    pub const fn flag(mut self, on: u8, value: &'static str) -> Self {
        self.flag =
            Some(Flag { on, value, named: None, short: None, under: None, says_no: None, against: &[] });
        self
    }

    pub const fn flag_named(mut self, name: &'static str) -> Self {
        if let Some(flag) = &mut self.flag {
            flag.named = Some(name);
        }
        self
    }

    /// The flag switches off what is on by default.
    pub const fn says_no(mut self, name: &'static str, says: &'static str) -> Self {
        if let Some(flag) = &mut self.flag {
            flag.named = Some(name);
            flag.says_no = Some(says);
        }
        self
    }

    pub const fn short(mut self, short: char) -> Self {
        if let Some(flag) = &mut self.flag {
            flag.short = Some(short);
        }
        self
    }

    pub const fn under(mut self, heading: &'static str) -> Self {
        if let Some(flag) = &mut self.flag {
            flag.under = Some(heading);
        }
        self
    }

    pub const fn against(mut self, against: &'static [&'static str]) -> Self {
        if let Some(flag) = &mut self.flag {
            flag.against = against;
        }
        self
    }

    pub const fn label(mut self, label: &'static str) -> Self {
        self.label = Some(label);
        self
    }

    pub const fn model(mut self, model: &'static str) -> Self {
        self.model = Some(model);
        self
    }

    pub const fn shared(mut self) -> Self {
        self.shared = true;
        self
    }

    pub const fn adds(mut self) -> Self {
        self.adds = true;
        self
    }

    pub const fn several(mut self, other: &'static str) -> Self {
        self.several = Some(other);
        self
    }

    /// The flag, without its dashes.
    pub fn flag_name(&self) -> String {
        let named = self.flag.and_then(|flag| flag.named);
        named.map_or_else(|| self.name.replace('_', "-"), str::to_owned)
    }

    /// What it is called where arguments have no dashes.
    pub fn argument(&self) -> String {
        self.flag_name().replace('-', "_")
    }

    /// The protocols that know it, if not every loop does.
    pub fn protocols(&self) -> Vec<LoopProtocol> {
        let of_a_loop = matches!(self.section, ConfigSection::Loop);
        if of_a_loop { LoopProtocol::that_take(self.name) } else { Vec::new() }
    }

    /// A list: a flag that may be repeated.
    pub const fn is_list(&self) -> bool {
        matches!(self.shape, Shape::Texts | Shape::Paths | Shape::OneOrMore | Shape::Command | Shape::Critics)
            || self.several.is_some()
    }
}

/// All rows, in the order of the reference.
pub fn all() -> impl Iterator<Item = &'static Key> {
    let before: [&[Key]; 3] = [others::TOP, agents::AGENTS, loops::options::LOOP];
    let protocols = LoopProtocol::all().map(|protocol| protocol.card().options);
    let after: [&[Key]; 4] = [goals::options::GOAL, super::pipeline::OPTIONS, others::CAPS, others::OTHERS];
    before.into_iter().chain(protocols).chain(after).flatten()
}

/// The rows that a command takes as flags.
pub fn flags(command: u8) -> impl Iterator<Item = &'static Key> {
    all().filter(move |key| key.flag.is_some_and(|flag| flag.on & command != 0))
}

/// Pairs of which one excludes the other: a higher layer's choice replaces a lower layer's partner.
pub const EXCLUSIVE: &[(ConfigSection, &str, &str)] = &[
    (ConfigSection::Agent, "system", "file"),
    (ConfigSection::Agent, "key_env", "key_command"),
    (ConfigSection::Loop, "task", "task_file"),
    (ConfigSection::Loop, "critic", "critics"),
    (ConfigSection::Mcp, "command", "url"),
    (ConfigSection::Goal, "goal", "goal_file"),
];

/// The rows of one table. `[defaults]` has those of a loop that all loops can share.
pub fn of(section: ConfigSection) -> impl Iterator<Item = &'static Key> {
    all().filter(move |key| match section {
        ConfigSection::Defaults => key.section == ConfigSection::Loop && key.shared,
        _ => key.section == section,
    })
}

pub fn find(section: ConfigSection, name: &str) -> Option<&'static Key> {
    of(section).find(|key| key.name == name)
}

pub fn names(section: ConfigSection) -> Vec<&'static str> {
    of(section).map(|key| key.name).collect()
}

/// The partner that excludes this key, if it has one.
pub fn partner(section: ConfigSection, name: &str) -> Option<&'static str> {
    EXCLUSIVE.iter().filter(|(s, ..)| *s == section).find_map(|(_, a, b)| match name {
        n if n == *a => Some(*b),
        n if n == *b => Some(*a),
        _ => None,
    })
}
