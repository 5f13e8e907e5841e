//! The arguments of `run` and `batch`.

use std::path::PathBuf;

use clap::Args;
use gadfly_project::config::keys::on;

use super::options::Options;
use super::report::{ReportTo, report};
use super::{ConsentArgs, Patience};

const RUN_EXAMPLES: &str = "\
Examples:
  gadfly run \"Write the abstract\" --rubric rubric.md --out abstract.md
  gadfly run abstract                        a loop of gadfly.toml
  gadfly run \"Tighten it\" --draft paper.md --criterion \"at most 150 words\"
  gadfly run \"Write the spec\" --protocol converge --criteria spec --out spec.md
  gadfly run \"Add search\" --protocol audit --criterion \"lists matches\" --verify \"cargo test\"
  gadfly run \"Write it\" --rubric r.md > it.md  the approved draft and nothing else";

#[derive(Args, Clone, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// The task, or the name of a loop of gadfly.toml, of a phase or of a task of the project, or of a slice or a
    /// milestone with several tasks, or of a skill or an agent (`"/review --code a.R"`); `-` reads the task from standard
    /// input
    #[arg(value_name = "TASK")]
    pub task: Option<String>,
    /// What the loop, phase, skill or agent that TASK names is to do
    #[arg(long = "task", value_name = "TEXT", conflicts_with = "task_file", allow_hyphen_values = true)]
    pub task_text: Option<String>,
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
    /// Start anew from this run's last draft
    #[arg(long, value_name = "RUN", conflicts_with = "draft")]
    pub from: Option<String>,
    /// Never wait for a person: park the run and exit
    #[arg(long)]
    pub unattended: bool,
    /// Print a report at the end, or write it: sarif, junit, markdown or json; may be repeated
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = report)]
    pub report: Vec<ReportTo>,
    #[command(flatten)]
    pub patience: Patience,
    #[command(flatten)]
    pub options: Options<{ on::RUN }>,
    #[command(flatten)]
    pub consent: ConsentArgs,
}

#[derive(Args, Debug)]
pub struct BatchArgs {
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
    pub options: Options<{ on::BATCH }>,
    #[command(flatten)]
    pub consent: ConsentArgs,
}
