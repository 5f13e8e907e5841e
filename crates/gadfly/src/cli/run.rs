//! The arguments of `run` and `batch`.

use std::path::PathBuf;

use clap::Args;

use super::report::{ReportTo, report};
use super::{Consent, Patience};

const RUN_EXAMPLES: &str = "\
Examples:
  gadfly run \"Write the abstract\" --rubric rubric.md --out abstract.md
  gadfly run abstract                        a loop of gadfly.toml
  gadfly run \"Tighten it\" --draft paper.md --criterion \"at most 150 words\"
  gadfly run \"Write the spec\" --protocol converge --criteria spec --out spec.md
  gadfly run \"Add search\" --protocol audit --criterion \"lists matches\" --verify \"cargo test\"
  gadfly run \"Write it\" --rubric r.md > it.md  the approved draft and nothing else";

/// What both `run` and `batch` take.
#[derive(Args, Debug, Clone, Default)]
pub struct LoopFlags {
    /// The protocol the loop follows
    #[arg(long, value_name = "NAME")]
    pub protocol: Option<String>,
    /// The agent that drafts
    #[arg(long, value_name = "AGENT")]
    pub worker: Option<String>,
    /// The agent that judges; given twice under `score`, both judge
    #[arg(long, value_name = "AGENT")]
    pub critic: Vec<String>,
    /// The agent that judges when the critic fails
    #[arg(long, value_name = "AGENT")]
    pub fallback_critic: Option<String>,
    /// How many rounds at most
    #[arg(long, value_name = "N")]
    pub rounds: Option<u64>,
    #[command(flatten)]
    pub consent: Consent,
}

#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub struct Run {
    /// The task, or the name of a loop of gadfly.toml, of a phase or of a task of the project; `-` reads the
    /// task from standard input
    #[arg(value_name = "TASK")]
    pub task: Option<String>,
    /// What the loop or phase that TASK names is to do
    #[arg(long = "task", value_name = "TEXT", conflicts_with = "task_file")]
    pub task_text: Option<String>,
    /// Read the task from a file
    #[arg(long, value_name = "FILE")]
    pub task_file: Option<PathBuf>,
    /// The plan of a nubos-pilot task, in place of its id
    #[arg(long, value_name = "FILE", conflicts_with_all = ["task", "task_text", "task_file"])]
    pub task_plan: Option<PathBuf>,
    /// Run a nubos-pilot task although it is done, skipped or parked
    #[arg(long)]
    pub allow_redo: bool,
    /// A file with the rubric; may be repeated
    #[arg(long, value_name = "FILE")]
    pub rubric: Vec<PathBuf>,
    /// One rubric item; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub criterion: Vec<String>,
    /// The phase of the project this belongs to
    #[arg(long, value_name = "NAME")]
    pub phase: Option<String>,
    /// Improve this file: it is the first draft, and the result replaces it on approval
    #[arg(long, value_name = "FILE")]
    pub draft: Option<PathBuf>,
    /// Reference material for worker and critic; may be repeated
    #[arg(long, value_name = "FILE")]
    pub with: Vec<PathBuf>,
    /// Where the approved draft goes
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Start anew from this run's last draft
    #[arg(long, value_name = "RUN", conflicts_with = "draft")]
    pub from: Option<String>,
    /// Let rejections stand that rest only on new requirements
    #[arg(long)]
    pub no_overrule: bool,
    /// Never wait for a person: park and exit
    #[arg(long)]
    pub unattended: bool,
    /// Stop before this many tokens are spent
    #[arg(long, value_name = "N")]
    pub budget_tokens: Option<u64>,
    /// Stop after this many active minutes
    #[arg(long, value_name = "N")]
    pub minutes: Option<u64>,
    /// Stop after this many calls
    #[arg(long, value_name = "N")]
    pub calls: Option<u32>,
    /// Print a report at the end, or write it: sarif, junit, markdown or json; may be repeated
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = report)]
    pub report: Vec<ReportTo>,
    #[command(flatten)]
    pub patience: Patience,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub working: Working,
    #[command(flatten)]
    pub flags: LoopFlags,
}

/// How the protocols judge that do not simply approve or reject. `run` and `review` take these.
#[derive(Args, Debug, Clone, Default)]
pub struct Judging {
    /// Success criteria or questions: a file, or a ready-made set of converge
    #[arg(long, value_name = "FILE|SET", help_heading = "Protocols audit and converge")]
    pub criteria: Option<String>,
    /// The least finding that blocks: nit, risk or fail
    #[arg(long, value_name = "SEVERITY", help_heading = "Protocol audit")]
    pub block_on: Option<String>,
    /// Files the work may touch; may be repeated
    #[arg(long, value_name = "GLOB", help_heading = "Protocol audit")]
    pub scope: Vec<String>,
    /// How much is said about code that could be less: off, lite, full or ultra
    #[arg(long, value_name = "LEVEL", help_heading = "Protocol audit")]
    pub economy: Option<String>,
    /// The score that passes
    #[arg(long, value_name = "POINTS", help_heading = "Protocol score")]
    pub threshold: Option<u64>,
    /// Into how many calls one judgement may be split
    #[arg(long, value_name = "N", help_heading = "Protocols score, audit and converge")]
    pub max_parts: Option<u64>,
}

/// How those protocols work. Only `run` takes these.
#[derive(Args, Debug, Clone, Default)]
pub struct Working {
    /// A command that must succeed before the critic is asked; may be repeated
    #[arg(long, value_name = "COMMAND", help_heading = "Protocol audit")]
    pub verify: Vec<String>,
    /// How often each must succeed
    #[arg(long, value_name = "N", help_heading = "Protocol audit")]
    pub verify_runs: Option<u64>,
    /// Make the folder ready by this command first, as `npm ci`: run once, and kept until a manifest or lock file changes
    #[arg(long, value_name = "COMMAND", help_heading = "Protocol audit")]
    pub prepare: Option<String>,
    /// Commit approved work to a branch of its own, in place of changing your files
    #[arg(long, help_heading = "Protocol audit")]
    pub commit: bool,
    /// The branch to commit to (implies --commit; default: gadfly/RUN)
    #[arg(long, value_name = "NAME", help_heading = "Protocol audit")]
    pub branch: Option<String>,
    /// Who decides when the rounds are used up: an agent, orchestrator or user
    #[arg(long, value_name = "WHO", help_heading = "Protocol score")]
    pub escalate_to: Option<String>,
    /// Stop as soon as there is no headway
    #[arg(long, help_heading = "Protocol score")]
    pub stop_early: bool,
}

#[derive(Args, Debug)]
pub struct Batch {
    /// Lines of {"id", "task", "rubric": […]}
    #[arg(value_name = "TASKS.jsonl")]
    pub tasks: PathBuf,
    /// Where result lines go (default: TASKS.results.jsonl)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// How many loops at once
    #[arg(long, short, value_name = "N", default_value_t = 4)]
    pub jobs: usize,
    /// Run tasks anew whose result is in FILE, where the store does not have their runs
    #[arg(long)]
    pub again: bool,
    #[command(flatten)]
    pub flags: LoopFlags,
}
