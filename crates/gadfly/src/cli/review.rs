//! The arguments of `review`.

use std::path::PathBuf;

use clap::Args;
use gadfly_project::config::keys::on;

use super::ConsentArgs;
use super::options::Options;
use super::report::{ReportTo, report};

const REVIEW_EXAMPLES: &str = "\
Examples:
  gadfly review --diff main                       what this branch changes
  gadfly review --staged --block-on fail          before a commit
  gadfly review --diff main --untrusted --yes     a stranger's change, in CI
  gadfly review paper.md --rubric rubric.md       one text
  gadfly review src --criterion \"no panics\" --report sarif=review.sarif

Without --protocol, several files are judged by `audit`, one by `revise`.
Exit codes: 0 nothing that blocks, 3 findings, 5 not everything was seen or judged.";

#[derive(Args, Debug)]
#[command(after_help = REVIEW_EXAMPLES)]
pub struct ReviewArgs {
    /// Files and directories; ignored files are passed over
    #[arg(value_name = "PATH", conflicts_with_all = ["diff", "uncommitted", "staged", "commit"])]
    pub paths: Vec<PathBuf>,
    /// Everything that changed since this branch left BASE, uncommitted and new files included
    #[arg(long, value_name = "BASE", conflicts_with_all = ["uncommitted", "staged", "commit"])]
    pub diff: Option<String>,
    /// What is not committed yet, new files included
    #[arg(long, conflicts_with_all = ["staged", "commit"])]
    pub uncommitted: bool,
    /// What is staged: exactly what a commit would take
    #[arg(long, conflicts_with_all = ["commit", "fix"])]
    pub staged: bool,
    /// What one commit changed
    #[arg(long, value_name = "REV")]
    pub commit: Option<String>,
    /// The change is a stranger's: judge, rubric and limits are read as they are before it
    #[arg(long, conflicts_with = "fix")]
    pub untrusted: bool,
    /// Leave these files out; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Take the settings of this loop of gadfly.toml
    #[arg(long = "loop", value_name = "NAME")]
    pub loop_name: Option<String>,
    /// What the work was meant to do
    #[arg(long, value_name = "TEXT")]
    pub task: Option<String>,
    /// A file with the rubric; may be repeated
    #[arg(long, value_name = "FILE")]
    pub rubric: Vec<PathBuf>,
    /// One criterion or rubric item; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub criterion: Vec<String>,
    /// Go on into a loop that fixes what was found
    #[arg(long)]
    pub fix: bool,
    /// The agent that fixes
    #[arg(long, value_name = "AGENT", requires = "fix")]
    pub worker: Option<String>,
    /// Print a report at the end, or write it: sarif, junit, markdown or json; may be repeated
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = report)]
    pub report: Vec<ReportTo>,
    #[command(flatten)]
    pub consent: ConsentArgs,
    #[command(flatten)]
    pub options: Options<{ on::REVIEW }>,
}
