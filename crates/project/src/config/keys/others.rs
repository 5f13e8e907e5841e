//! The rows of tables that no command takes options of, and the caps that most of them take.

use super::{
    CALLS, ConfigSection, Fixed, HOOK_TIMEOUT, Key, LAYOUTS, MCP_RISK, MCP_TIMEOUT, MINUTES, RISKS,
    SCORE_POINTS, Shape, USD, VERIFY_TIMEOUT, on,
};

const fn key(section: ConfigSection, name: &'static str, shape: Shape) -> Key {
    super::key(shape).of(section, name)
}

const fn named(name: &'static str, section: ConfigSection) -> Key {
    key(ConfigSection::Top, name, Shape::Named(section))
}

const fn table(name: &'static str, section: ConfigSection) -> Key {
    key(ConfigSection::Top, name, Shape::Table(section))
}

const fn hook(name: &'static str, says: &'static str, like: &'static str) -> Key {
    key(ConfigSection::Hooks, name, Shape::OneOrMore).says(says).like(like)
}

pub const TOP: &[Key] = &[
    named("agents", ConfigSection::Agent),
    table("defaults", ConfigSection::Defaults),
    named("loops", ConfigSection::Loop),
    named("goals", ConfigSection::Goal),
    table("budget", ConfigSection::Budget),
    table("workspace", ConfigSection::Workspace),
    table("commands", ConfigSection::Commands),
    named("mcp", ConfigSection::Mcp),
    table("project", ConfigSection::Project),
    table("pipeline", ConfigSection::Pipeline),
    key(ConfigSection::Top, "dual", Shape::Rows(ConfigSection::Dual)),
    table("hooks", ConfigSection::Hooks),
    named("gates", ConfigSection::Gate),
    named("verify", ConfigSection::Verify),
    table("signing", ConfigSection::Signing),
    table("telemetry", ConfigSection::Telemetry),
];

pub const CAPS: &[Key] = &[
    key(ConfigSection::Budget, "usd", USD)
        .says("Stop before this much money is spent")
        .more("Absent: no cap. 0: nothing may be spent.")
        .like("2.0")
        .flag(on::RUN | on::BATCH | on::REVIEW | on::GOAL | on::PIPELINE, "USD")
        .flag_named("budget-usd")
        .label("Budget in US$")
        .model("Stop before this much money is spent. More than configured only if the user agrees."),
    key(ConfigSection::Budget, "tokens", Shape::Whole { min: 0, max: 1_000_000_000_000 })
        .says("Stop before this many tokens are spent")
        .more("Absent: no cap.")
        .like("200000")
        .flag(on::RUN | on::GOAL | on::PIPELINE, "N")
        .flag_named("budget-tokens"),
    key(ConfigSection::Budget, "minutes", Shape::Number { min: 0.0, max: 525_600.0 })
        .or(Fixed::Whole(MINUTES))
        .says("Stop after this many active minutes")
        .more("Waiting for a person does not count.")
        .flag(on::RUN | on::PIPELINE, "N"),
    key(ConfigSection::Budget, "calls", Shape::Whole { min: 0, max: 1_000_000 })
        .or(Fixed::Whole(CALLS as u64))
        .says("Stop after this many calls")
        .flag(on::RUN | on::REVIEW | on::PIPELINE, "N"),
];

pub const OTHERS: &[Key] = &[
    key(ConfigSection::Workspace, "link", Shape::Texts)
        .says("Ignored paths that are linked into it")
        .like("[\"node_modules\"]"),
    key(ConfigSection::Workspace, "copy", Shape::Texts)
        .says("Ignored paths that are copied into it")
        .like("[\".env\"]"),
    key(ConfigSection::Workspace, "prepare", Shape::Text)
        .says(
            "Make the folder ready by this command first, as `npm ci`: run once, and kept until a manifest or lock file changes",
        )
        .like("\"npm ci\"")
        .flag(on::RUN | on::GOAL, "COMMAND")
        .against(&["in_place"]),
    key(ConfigSection::Commands, "env", Shape::Texts)
        .says("Names of variables they get besides the usual ones (PATH, HOME, LANG, homes of toolchains …)")
        .like("[\"DATABASE_URL\"]"),
    key(ConfigSection::Commands, "terminals", Shape::Flag)
        .or(Fixed::Flag(false))
        .says("Whether your own commands (not what a model runs) may open your terminals")
        .more("It also lets them use sudo."),
    key(ConfigSection::Mcp, "command", Shape::Command)
        .says("The program and its arguments, spoken with over standard input and output")
        .more("There is no shell.")
        .like("[\"npx\", \"-y\", \"tracker-mcp-server\"]"),
    key(ConfigSection::Mcp, "url", Shape::Text)
        .says("Where a server is reached over HTTP, in place of `command`")
        .like("\"http://127.0.0.1:3000/mcp\""),
    key(ConfigSection::Mcp, "env", Shape::Texts)
        .says("Names of variables passed through")
        .more("The program sees no others but the usual ones (PATH, HOME, LANG …).")
        .like("[\"TRACKER_TOKEN\"]"),
    key(ConfigSection::Mcp, "risk", RISKS)
        .or(Fixed::Text(MCP_RISK.name()))
        .says("What a call of its tools may do at most; above the goal's own `risk` a person is asked"),
    key(ConfigSection::Mcp, "timeout", Shape::Time)
        .or(Fixed::Time(MCP_TIMEOUT))
        .says("The most time one call gets"),
    key(ConfigSection::Project, "name", Shape::Text)
        .says("What {project} stands for in the registry: one part of a path")
        .more(
            "Default: the project of the state file, else what CLAUDE.md says under **Project:**, else the only folder \
             there is in its place.",
        )
        .like("\"minwage\""),
    key(ConfigSection::Project, "layout", LAYOUTS)
        .says("How the project's files are laid out")
        .more(
            "Default: the most specific of .nubos-pilot/, .neuroflow/, .claude/ that holds its own files, else native.",
        )
        .like("\"claude\""),
    key(ConfigSection::Project, "agents", Shape::Path)
        .says("The folder of the agents' files")
        .more("Default: the layout's own; agents/ in the native one, that of .claude/ in others.")
        .like("\"agents\""),
    key(ConfigSection::Project, "skills", Shape::Path)
        .says("The folder of the skills")
        .more("Default: the layout's own.")
        .like("\"skills\""),
    key(ConfigSection::Project, "registry", Shape::Path)
        .says("The file that says which agent needs and writes what")
        .more("Default: the layout's own.")
        .like("\"permissions.md\""),
    key(ConfigSection::Project, "enable", Shape::Texts)
        .says("Conditional agents of the registry that run")
        .like("[\"theorist\"]"),
    key(ConfigSection::Project, "also", Shape::Texts)
        .says("Files any agent may write besides what its entry names")
        .like("[\"logs/**\"]"),
    key(ConfigSection::Project, "unjudged", Shape::Texts)
        .says("Files that no critic is shown: pictures, data")
        .like("[\"paper/figures/**\"]"),
    key(ConfigSection::Project, "verify", Shape::OneOrMore)
        .says("Commands that have to succeed on the files of every pair that has none of its own")
        .like("[\"make check\"]"),
    key(ConfigSection::Project, "verify_timeout", Shape::Time)
        .or(Fixed::Time(VERIFY_TIMEOUT))
        .says("The most time one of them gets"),
    key(ConfigSection::Verify, "commands", Shape::OneOrMore)
        .says("Commands that have to succeed on this agent's files")
        .like("[\"Rscript scripts/R/main.R\"]"),
    key(ConfigSection::Verify, "timeout", Shape::Time)
        .or(Fixed::Time(VERIFY_TIMEOUT))
        .says("The most time one of them gets"),
    key(ConfigSection::Dual, "agent", Shape::Text).says("Whose work").like("\"writer\""),
    key(ConfigSection::Dual, "critic", Shape::Text).says("Who judges it, too").like("\"strategist-critic\""),
    key(ConfigSection::Dual, "lens", Shape::Text)
        .says("What that critic looks at in particular")
        .like("\"claims against the strategy\""),
    hook("pre-dispatch", "Before an agent is called", "\"./hooks/ready.sh\""),
    hook("post-completion", "After an agent's work", "[\"./hooks/lint.sh\"]"),
    hook("pre-commit", "Before the result is committed", "[\"make lint\", \"make test\"]"),
    hook("pre-compact", "Before a brief is shortened", "\"./hooks/checklist.sh\""),
    hook("before-resume", "Before a pipeline goes on", "\"./hooks/fresh.sh\""),
    key(ConfigSection::Hooks, "timeout", Shape::Time)
        .or(Fixed::Time(HOOK_TIMEOUT))
        .says("The most time one of them gets"),
    key(ConfigSection::Gate, "overall", SCORE_POINTS)
        .says("The weighted score of the whole")
        .more("Needed for a gate of your own.")
        .like("92"),
    key(ConfigSection::Gate, "each", SCORE_POINTS)
        .says("What every component has to reach")
        .more("Default: nothing in particular.")
        .like("85"),
    key(ConfigSection::Gate, "complete", Shape::Flag)
        .or(Fixed::Flag(false))
        .says("Every weighted component that is not conditional has to be scored"),
    key(ConfigSection::Gate, "commands", Shape::Rows(ConfigSection::GateCommand))
        .says("Commands that have to end with this exit code, besides")
        .more("`name` is what people are shown.")
        .like("[{ name = \"links\", command = \"make links\", exit = 0 }]"),
    key(ConfigSection::GateCommand, "name", Shape::Text),
    key(ConfigSection::GateCommand, "command", Shape::Text),
    key(ConfigSection::GateCommand, "exit", Shape::Whole { min: 0, max: 255 }).or(Fixed::Whole(0)),
    key(ConfigSection::Signing, "key", Shape::Text)
        .says("A private SSH key; or, where ssh-agent or a hardware token holds it, the .pub file of its public half")
        .more("Absent: nothing is signed.")
        .like("\"~/.ssh/id_ed25519\""),
    key(ConfigSection::Telemetry, "endpoint", Shape::Text)
        .says("A collector that takes OTLP over HTTP; /v1/traces is added")
        .more("Absent: nothing is sent anywhere.")
        .like("\"http://127.0.0.1:4318\""),
    key(ConfigSection::Telemetry, "headers_env", Shape::Text)
        .says("The variable that holds headers to send along, as name=value,name=value")
        .more("Headers of the environment do not go here.")
        .like("\"COLLECTOR_HEADERS\""),
    key(ConfigSection::Telemetry, "content", Shape::Flag)
        .or(Fixed::Flag(false))
        .says("With prompts, replies and findings")
        .more("Without, traces have names, models, times, counts and verdicts."),
];
