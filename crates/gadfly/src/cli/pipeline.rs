//! The arguments of `pipeline`.

use std::path::PathBuf;

use clap::Args;
use gadfly_project::config::keys::on;

use super::options::Options;
use super::report::{ReportTo, report};
use super::{ConsentArgs, Patience};

const PIPELINE_EXAMPLES: &str = "\
Examples:
  gadfly pipeline \"Estimate the effect of the reform\"      plan, your yes, then every agent that can run
  gadfly pipeline \"Revise for the journal\" --gate submission --jobs 2
  gadfly pipeline \"Go on\" --plan plans/reform.md --yes     a plan of your own, agreed to
  gadfly pipeline \"Fix the typo\" --simple                  one worker, verify commands, one critic
  gadfly pipeline \"Finish it\" --just-do-it                 no pause at the end; a commit on a branch

While it works: `gadfly follow RUN`, `gadfly answer RUN \"…\"`. What could run: `gadfly next`, `gadfly why AGENT`.";

#[derive(Args, Debug)]
#[command(after_help = PIPELINE_EXAMPLES)]
pub struct PipelineArgs {
    /// What the project's agents are to do; `-` reads it from standard input
    #[arg(value_name = "REQUEST", required_unless_present = "task_file")]
    pub request: Option<String>,
    /// Read the request from a file
    #[arg(long, value_name = "FILE", conflicts_with = "request")]
    pub task_file: Option<PathBuf>,
    /// The plan, in place of one that is drafted
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_plan", "spec"])]
    pub plan: Option<PathBuf>,
    /// Begin without a plan
    #[arg(long, conflicts_with = "spec")]
    pub no_plan: bool,
    /// Have the requirements listed before the plan
    #[arg(long)]
    pub spec: bool,
    /// Take every condition that only a person can judge as true
    #[arg(long)]
    pub assume_manual: bool,
    /// No registry: one worker, verify commands, one critic
    #[arg(long, conflicts_with_all = ["gate", "plan", "spec", "jobs"])]
    pub simple: bool,
    /// Do not ask about plan and result, and commit the result
    #[arg(long)]
    pub just_do_it: bool,
    /// Commit the result to a branch of its own
    #[arg(long)]
    pub commit: bool,
    /// The branch to commit to (implies --commit; default: gadfly/RUN)
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// Never wait for a person: park the run and exit
    #[arg(long)]
    pub unattended: bool,
    /// Print a report at the end, or write it: sarif, junit, markdown or json; may be repeated
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = report)]
    pub report: Vec<ReportTo>,
    #[command(flatten)]
    pub options: Options<{ on::PIPELINE }>,
    #[command(flatten)]
    pub patience: Patience,
    #[command(flatten)]
    pub consent: ConsentArgs,
}
