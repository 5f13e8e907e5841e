//! The arguments of the doors for other programs: `mcp`, `hook`, `acp`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Args, Debug)]
pub struct Mcp {
    /// Trust the commands, agent files and keys this project declares
    #[arg(long)]
    pub trust: bool,
    /// Let the host say who judges, itself (`host`) included, where gadfly.toml names another critic
    #[arg(long)]
    pub host_critic: bool,
    /// Let the host raise budgets and rounds above what gadfly.toml says
    #[arg(long)]
    pub allow_raise: bool,
}

#[derive(Args, Debug)]
pub struct Hook {
    #[command(subcommand)]
    pub command: HookCommand,
}

#[derive(Subcommand, Debug)]
pub enum HookCommand {
    /// Judge the change when a coding agent wants to stop; what the critic rejects is sent back to it, up to a cap
    Stop(Box<StopHook>),
    /// Print the settings that have a coding agent call it
    Print {
        /// The program whose settings are printed
        #[arg(long = "for", value_name = "PROGRAM", value_enum, default_value_t)]
        program: HookProgram,
    },
}

#[derive(Args, Debug)]
pub struct Acp {
    #[command(flatten)]
    pub by: SessionJudge,
    /// What no critic could judge is let through, with a word about it (the default)
    #[arg(long, conflicts_with = "fail_closed")]
    pub fail_open: bool,
    /// What no critic could judge is yours to decide, like what was rejected to the end
    #[arg(long)]
    pub fail_closed: bool,
    /// How long judging may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: u64,
    /// The agent and its arguments, as in: gadfly acp -- gemini --acp
    #[arg(last = true, value_name = "AGENT")]
    pub agent: Vec<String>,
}

/// The programs that call a hook when their agent wants to stop.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HookProgram {
    #[default]
    Claude,
    Codex,
    Copilot,
    Gemini,
    Cursor,
}

#[derive(Args, Debug)]
pub struct StopHook {
    /// The program that calls the hook: it says what is read and answered
    #[arg(long = "for", value_name = "PROGRAM", value_enum, default_value_t)]
    pub program: HookProgram,
    #[command(flatten)]
    pub by: SessionJudge,
    /// Judge what changed since this revision instead of what is not committed
    #[arg(long, value_name = "BASE")]
    pub diff: Option<String>,
    /// The session must not choose its judge: critic, rubric and limits are read as they are before the change
    #[arg(long)]
    pub untrusted: bool,
    /// How long judging may take; below the timeout that the settings give the hook
    #[arg(long, value_name = "SECONDS", default_value_t = 540, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: u64,
}

/// Who judges the change of a session, by what, and how far.
#[derive(Args, Debug)]
pub struct SessionJudge {
    /// A file with what the change is judged by (default: that it does what was asked, completely)
    #[arg(long, value_name = "FILE")]
    pub rubric: Vec<PathBuf>,
    /// One thing the change is judged by; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub criterion: Vec<String>,
    /// A loop of gadfly.toml whose rubric, critic and rounds are used
    #[arg(long = "loop", value_name = "NAME")]
    pub loop_name: Option<String>,
    /// Who judges (default: the configured critic)
    #[arg(long, value_name = "AGENT")]
    pub critic: Option<String>,
    /// How many states of the change are judged at most; after the last one it may stop in any case
    #[arg(long, alias = "max-rounds", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=20))]
    pub rounds: Option<u64>,
    /// Leave these files out; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Stop before this much money is spent
    #[arg(long, value_name = "USD")]
    pub budget_usd: Option<f64>,
    /// Trust the commands, agent files and keys this project declares
    #[arg(long)]
    pub trust: bool,
}
