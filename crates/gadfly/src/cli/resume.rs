//! The arguments of the commands by which a person goes on with a run: `resume`, `answer`, `steer`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::goal::{count, time};
use super::{Patience, RunName};

#[derive(Args, Debug)]
pub struct ResumeArgs {
    /// The run's id, or the beginning of it
    #[arg(value_name = "RUN", required_unless_present = "all")]
    pub run: Option<String>,
    /// As `run` has it: what was agreed to when a run began is not asked again
    #[arg(long, short = 'y', hide = true)]
    pub yes: bool,
    /// Every run that can go on
    #[arg(long, conflicts_with = "run")]
    pub all: bool,
    /// How many runs at once, with --all
    #[arg(long, short, value_name = "N", default_value_t = 4, requires = "all")]
    pub jobs: usize,
    /// Raise the number of rounds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,
    /// Raise the money cap
    #[arg(long, value_name = "USD")]
    pub budget_usd: Option<f64>,
    /// Raise the token cap
    #[arg(long, value_name = "N")]
    pub budget_tokens: Option<u64>,
    /// Raise the cap of active minutes
    #[arg(long, value_name = "N", conflicts_with = "wall_clock")]
    pub minutes: Option<u64>,
    /// Raise the cap of active time, as 90s, 60m, 2h (a number is minutes)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub wall_clock: Option<Duration>,
    /// Raise the cap of a goal's steps
    #[arg(long, value_name = "N", value_parser = count)]
    pub max_steps: Option<u32>,
    /// Raise the cap of a goal's turns
    #[arg(long, value_name = "N", value_parser = count)]
    pub max_turns: Option<u32>,
    /// Raise the cap of calls
    #[arg(long, value_name = "N")]
    pub calls: Option<u32>,
    /// Never wait for a person: park the run and exit
    #[arg(long)]
    pub unattended: bool,
    #[command(flatten)]
    pub patience: Patience,
    /// Trust the commands, agent files and keys this project declares
    #[arg(long)]
    pub trust: bool,
}

#[derive(Args, Debug)]
pub struct AnswerArgs {
    #[command(flatten)]
    pub name: RunName,
    /// The answer: a text, or a choice by its word or number; `-` reads standard input
    #[arg(value_name = "TEXT")]
    pub text: Vec<String>,
    /// Read the answer from a file
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub file: Option<PathBuf>,
    /// Approve, as the critic; the reason may follow
    #[arg(long, value_name = "REASON", num_args = 0..=1, default_missing_value = "",
          conflicts_with_all = ["text", "file", "reject", "effect"])]
    pub approve: Option<String>,
    /// Reject, as the critic: what has to be fixed, one fix per line or per `--reject`; `-` reads standard input
    #[arg(long, value_name = "FIX", conflicts_with_all = ["text", "file", "effect"])]
    pub reject: Vec<String>,
    /// With either, where the loop goes by points: how many of 100 it gets
    #[arg(long, value_name = "N")]
    pub points: Option<u32>,
    /// Of several open questions the one with this id, as `show` lists them (default: the one the run waits for)
    #[arg(long, value_name = "ID")]
    pub effect: Option<String>,
    /// Send it even if it cannot be read as a verdict
    #[arg(long)]
    pub force: bool,
}

#[derive(Args, Debug)]
pub struct SteerArgs {
    #[command(flatten)]
    pub name: RunName,
    /// What the worker is told at its next turn; `-` reads standard input
    #[arg(value_name = "TEXT", required_unless_present = "file")]
    pub text: Vec<String>,
    /// Read it from a file
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub file: Option<PathBuf>,
}
