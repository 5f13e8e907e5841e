//! The command line: one place that drives parser, help, completions and man page. Commands with many
//! arguments have a file of their own, named by path because the tests of the documentation read this one from
//! where they are.

#[path = "cli/goal.rs"]
mod goal;
#[path = "cli/integrations.rs"]
mod integrations;
#[path = "cli/options.rs"]
mod options;
#[path = "cli/pipeline.rs"]
mod pipeline;
#[path = "cli/project_status.rs"]
mod project_status;
#[path = "cli/report.rs"]
mod report;
#[path = "cli/resume.rs"]
mod resume;
#[path = "cli/review.rs"]
mod review;
#[path = "cli/run.rs"]
mod run;
#[path = "cli/serve.rs"]
mod serve;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use goal::{GoalArgs, Reached};
pub use integrations::{Acp, Hook, HookCommand, HookProgram, Mcp, SessionJudge, StopHook};
pub use pipeline::PipelineArgs;
pub use project_status::{Adopt, GateArgs, LearnArgs, NextArgs, WhyArgs};
pub use report::{ReportFormat, ReportTo};
pub use resume::{AnswerArgs, ResumeArgs, SteerArgs};
pub use review::ReviewArgs;
pub use run::{BatchArgs, RunArgs};
pub use serve::Serve;

const EXIT_CODES: &str = "\
Exit codes:
  0  approved, or done                  4  waiting for a person or quota
  1  a call failed, or internal error   5  unverified
  2  usage, configuration or input      6  out of budget
  3  halted                             7  aborted         130  interrupted";

/// An independent critic between an agent's work and your repository.
#[derive(Parser, Debug)]
#[command(
    name = "gadfly",
    version,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = EXIT_CODES
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<CliCommand>,
}

#[derive(Args, Debug, Clone)]
pub struct Global {
    /// Keep state here instead of in the project's .gadfly/
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub store: Option<PathBuf>,
    /// Print JSON lines to standard output, and nothing else
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
}

#[derive(Subcommand, Debug)]
pub enum CliCommand {
    /// Play the protocols with scripted agents: no key, no network, seconds
    Demo(Demo),
    /// Write a gadfly.toml from what this machine has
    Init(Init),
    /// Check what works on this machine
    Doctor(Doctor),
    /// Validate the configuration: all problems at once
    Check(CheckArgs),
    /// Run one worker–critic loop
    Run(Box<RunArgs>),
    /// Run the same loop over a file of tasks
    Batch(Box<BatchArgs>),
    /// Have critics judge a file, a directory or a diff: findings and an exit code
    Review(Box<ReviewArgs>),
    /// Give a worker a goal: a critic watches its steps, and only a verified claim ends it
    Goal(Box<GoalArgs>),
    /// Run the project's agents in dependency order, each with its critic, up to a gate
    Pipeline(Box<PipelineArgs>),
    /// List what can run now, what is done and what is blocked
    Next(NextArgs),
    /// Explain, condition by condition, why an agent can run or cannot
    Why(WhyArgs),
    /// Say whether the project's scores open a gate, with the arithmetic
    Gate(GateArgs),
    /// Pick up an existing project
    Adopt(Adopt),
    /// Review the lessons that runs suggest
    Learn(LearnArgs),
    /// List runs
    Runs(RunsArgs),
    /// Show one run
    Show(Show),
    /// Follow a run, wherever it is driven
    Follow(RunName),
    /// Resume parked or interrupted runs
    Resume(ResumeArgs),
    /// Answer the question a run asks
    Answer(AnswerArgs),
    /// Send a message to a goal's worker
    Steer(SteerArgs),
    /// Pause a run once its current calls finish
    Pause(RunName),
    /// Cancel a run for good
    Cancel(RunName),
    /// Revert what a run changed in your files
    Undo(Undo),
    /// Serve a web page to follow, answer, steer and start runs
    Serve(Serve),
    /// Serve MCP on standard input and output, for Claude Code, Codex or an editor as the worker
    Mcp(Mcp),
    /// Be the Stop hook of Claude Code, Codex, Copilot, Gemini CLI or Cursor
    Hook(Hook),
    /// Stand between an editor and its agent: each turn's change is judged before the turn ends
    Acp(Box<Acp>),
    /// Remove old runs and unreferenced texts (dry run unless --apply)
    Gc(GcArgs),
    /// Write one run to a file
    Export(Export),
    /// Read a run from a file
    Import(Import),
    /// Take ownership of a store that came from another machine or was restored from a backup
    Own,
    /// Print shell completions
    Completions(Completions),
    /// Print the manual page
    #[command(hide = true)]
    Man,
}

#[derive(Args, Debug)]
pub struct Demo {
    /// One scene of all (default: the one that tells most in a few lines)
    #[arg(conflicts_with = "all")]
    pub scene: Option<String>,
    /// Every scene of every protocol, one after the other
    #[arg(long)]
    pub all: bool,
    /// Keep the demo's store here
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct CheckArgs {
    /// Every remark about the project's own files, each with its place
    #[arg(long)]
    pub all: bool,
}

#[derive(Args, Debug)]
pub struct Init {
    /// Write without asking
    #[arg(long, short)]
    pub yes: bool,
}

#[derive(Args, Debug)]
pub struct Doctor {
    /// Make a tiny call to these agents (default: every one that is configured, else every one found)
    #[arg(long = "try", value_name = "AGENT", num_args = 0..)]
    pub try_agents: Option<Vec<String>>,
    /// Write the gadfly.toml that is proposed, after asking, as `gadfly init` does
    #[arg(long, conflicts_with = "try_agents")]
    pub write: bool,
    /// Try or write without asking: calls may cost money
    #[arg(long, short)]
    pub yes: bool,
    /// Trust the commands, agent files and keys this project declares
    #[arg(long, requires = "try_agents")]
    pub trust: bool,
}

/// What to do about a provider that takes no calls for a while.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct Patience {
    /// Wait until a used-up quota resets, then continue
    #[arg(long)]
    pub wait: bool,
    /// Longest wait
    #[arg(
        long,
        value_name = "MINUTES",
        default_value_t = 720,
        requires = "wait",
        value_parser = clap::value_parser!(u64).range(1..=11_520)
    )]
    pub wait_at_most: u64,
}

/// What a person agrees to before anything is sent.
#[derive(Args, Debug, Clone, Default)]
pub struct ConsentArgs {
    /// Trust the commands, agent files and keys this project declares
    #[arg(long)]
    pub trust: bool,
    /// Show what would be sent where and the first brief, then stop
    #[arg(long)]
    pub dry_run: bool,
    /// Start without asking for confirmation for confirmation
    #[arg(long, short)]
    pub yes: bool,
}

#[derive(Args, Debug)]
pub struct RunsArgs {
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
    /// Only runs in this state, as `halted`, `waiting`, `interrupted`; may be repeated
    #[arg(long, value_name = "STATE")]
    pub state: Vec<String>,
    /// How many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: u32,
}

#[derive(Subcommand, Debug)]
pub enum RunsCommand {
    /// Remove runs
    Rm {
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
    },
}

#[derive(Args, Debug)]
pub struct RunName {
    /// The run's id, or the beginning of it
    #[arg(value_name = "RUN")]
    pub run: String,
}

#[derive(Args, Debug)]
pub struct Undo {
    #[command(flatten)]
    pub name: RunName,
    /// Say what would be taken back, and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask, although the run may not be the only one that changed these files
    #[arg(long, short)]
    pub yes: bool,
}

#[derive(Args, Debug)]
pub struct Show {
    #[command(flatten)]
    pub name: RunName,
    /// Its records, one after the other
    #[arg(long, group = "shown")]
    pub log: bool,
    /// How its drafts differ from round to round
    #[arg(long, group = "shown")]
    pub diff: bool,
    /// Print the last draft and nothing else
    #[arg(long, group = "shown")]
    pub draft: bool,
    /// Print critic-log.md as it is rendered from the journal
    #[arg(long, group = "shown")]
    pub critic_log: bool,
    /// Which files went into the briefs of a pipeline, at which level, with how many tokens
    #[arg(long, group = "shown")]
    pub briefs: bool,
    /// Who was called when, with what result: a diagram and tables (--json: the spans of its trace)
    #[arg(long, group = "shown", value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "markdown")]
    pub trace: Option<TraceFormat>,
    /// Check its records, seals and texts, decide everything again, and name the first difference
    #[arg(long, group = "shown")]
    pub verify: bool,
}

/// How a trace is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TraceFormat {
    /// The diagram, the calls and the verdicts
    Markdown,
    /// Only the source of the diagram
    Mermaid,
}

#[derive(Args, Debug)]
pub struct GcArgs {
    /// Ended runs older than this many days
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    pub older_than: u32,
    /// Also runs that could still be resumed: waiting, failed, interrupted
    #[arg(long)]
    pub abandoned: bool,
    /// Do it
    #[arg(long)]
    pub apply: bool,
}

#[derive(Args, Debug)]
pub struct Export {
    #[command(flatten)]
    pub name: RunName,
    /// The file to write (default: gadfly-RUN.jsonl.zst); `-` is standard output
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct Import {
    /// The file to read; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Take it only if it is signed with one of these keys: a public key, or a file of allowed signers
    #[arg(long, value_name = "KEYS")]
    pub verify: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct Completions {
    pub shell: Shell,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
}
