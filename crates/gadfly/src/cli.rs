//! The command line: one place that drives parser, help, completions and man page.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXIT_CODES: &str = "\
Exit codes:
  0  approved, or done                  4  waiting for a person or quota
  1  a call failed, or a fault of ours  5  unverified
  2  usage, configuration or input      6  out of budget
  3  halted                             7  aborted         130  interrupted";

const RUN_EXAMPLES: &str = "\
Examples:
  gadfly run \"Write the abstract\" --rubric rubric.md --out abstract.md
  gadfly run abstract                        a loop of gadfly.toml
  gadfly run \"Tighten it\" --draft paper.md --criterion \"at most 150 words\"
  gadfly run \"Write the spec\" --protocol converge --criteria spec --out spec.md
  gadfly run \"Add search\" --protocol audit --criterion \"lists matches\" --verify \"cargo test\"
  gadfly run \"Write it\" --rubric r.md > it.md  the approved draft and nothing else";

const REVIEW_EXAMPLES: &str = "\
Examples:
  gadfly review --diff main                       what this branch changes
  gadfly review --staged --block-on fail          before a commit
  gadfly review paper.md --rubric rubric.md       one text
  gadfly review src --criterion \"no panics\" --report sarif=review.sarif

Exit codes: 0 nothing that blocks, 3 findings, 5 not everything was seen or judged.";

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
    pub command: Option<Command>,
}

#[derive(Args, Debug, Clone)]
pub struct Global {
    /// Keep state here instead of in the project's .gadfly/
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub store: Option<PathBuf>,
    /// One JSON event per line on standard output, nothing else there
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub json: bool,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Play the protocols with scripted agents: no key, no network, seconds
    Demo(Demo),
    /// Write a gadfly.toml from what this machine has
    Init(Init),
    /// Say what works here and what does not
    Doctor(Doctor),
    /// Validate the configuration: all problems at once
    Check,
    /// Run one worker–critic loop
    Run(Box<Run>),
    /// Run the same loop over a file of tasks
    Batch(Box<Batch>),
    /// Have critics judge a file, a directory or a diff: findings and an exit code
    Review(Box<Review>),
    /// List runs
    Runs(Runs),
    /// Show one run
    Show(Show),
    /// Follow a run, wherever it is driven
    Follow(RunName),
    /// Take parked or interrupted runs up again
    Resume(Resume),
    /// Answer the question a run asks
    Answer(Answer),
    /// Pause a run after its calls under way
    Pause(RunName),
    /// End a run for good
    Cancel(RunName),
    /// Take back what an approved run changed in your files
    Undo(RunName),
    /// Remove old runs and texts nobody needs (shows what it would do)
    Gc(Gc),
    /// Write one run to a file
    Export(Export),
    /// Read a run from a file
    Import(Import),
    /// Print shell completions
    Completions(Completions),
    /// Print the manual page
    #[command(hide = true)]
    Man,
}

#[derive(Args, Debug)]
pub struct Demo {
    /// Keep the demo's store here
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
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
    /// Agree to the commands, agent files and keys the project's files name
    #[arg(long, requires = "try_agents")]
    pub trust: bool,
}

/// What to do about a provider that takes no calls for a while.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct Patience {
    /// Wait until a used-up quota comes back, and go on
    #[arg(long)]
    pub wait: bool,
    /// How long at most
    #[arg(
        long,
        value_name = "MINUTES",
        default_value_t = 720,
        requires = "wait",
        value_parser = clap::value_parser!(u64).range(1..=11_520)
    )]
    pub wait_at_most: u64,
}

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

/// What a person agrees to before anything is sent.
#[derive(Args, Debug, Clone, Default)]
pub struct Consent {
    /// Stop before this much money is spent
    #[arg(long, value_name = "USD")]
    pub budget_usd: Option<f64>,
    /// Agree to the commands, agent files and keys the project's files name
    #[arg(long)]
    pub trust: bool,
    /// Say what would be sent where, show the first brief, and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Start without asking
    #[arg(long, short)]
    pub yes: bool,
}

#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub struct Run {
    /// The task, or the name of a loop in gadfly.toml; `-` reads it from standard input
    #[arg(value_name = "TASK")]
    pub task: Option<String>,
    /// Read the task from a file
    #[arg(long, value_name = "FILE", conflicts_with = "task")]
    pub task_file: Option<PathBuf>,
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
#[command(after_help = REVIEW_EXAMPLES)]
pub struct Review {
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
    /// Leave these files out; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Take the settings of this loop of gadfly.toml
    #[arg(long = "loop", value_name = "NAME")]
    pub loop_name: Option<String>,
    /// What the work was meant to do
    #[arg(long, value_name = "TEXT")]
    pub task: Option<String>,
    /// The protocol (default: audit, and revise for a single file)
    #[arg(long, value_name = "NAME")]
    pub protocol: Option<String>,
    /// The agent that judges; given twice under `score`, both judge
    #[arg(long, value_name = "AGENT")]
    pub critic: Vec<String>,
    /// The agent that judges when the critic fails
    #[arg(long, value_name = "AGENT")]
    pub fallback_critic: Option<String>,
    /// A file with the rubric; may be repeated
    #[arg(long, value_name = "FILE")]
    pub rubric: Vec<PathBuf>,
    /// One criterion or rubric item; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub criterion: Vec<String>,
    /// Reference material for the critic; may be repeated
    #[arg(long, value_name = "FILE")]
    pub with: Vec<PathBuf>,
    /// The phase of the project this belongs to
    #[arg(long, value_name = "NAME")]
    pub phase: Option<String>,
    /// Go on into a loop that fixes what was found
    #[arg(long)]
    pub fix: bool,
    /// The agent that fixes
    #[arg(long, value_name = "AGENT", requires = "fix")]
    pub worker: Option<String>,
    /// Print a report at the end, or write it: sarif, junit, markdown or json; may be repeated
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = report)]
    pub report: Vec<ReportTo>,
    /// Stop after this many calls
    #[arg(long, value_name = "N")]
    pub calls: Option<u32>,
    #[command(flatten)]
    pub consent: Consent,
    #[command(flatten)]
    pub judging: Judging,
}

/// A format a report can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// `JUnit` XML, for continuous integration
    Junit,
    /// A comment for a pull request
    Markdown,
    /// Everything, in Gadfly's own stable schema
    Json,
}

/// A report and where it goes: standard output, or a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportTo {
    pub format: Format,
    pub file: Option<PathBuf>,
}

fn report(text: &str) -> Result<ReportTo, String> {
    let (name, file) = match text.split_once('=') {
        Some((_, "")) => return Err("name a file after the `=`, or leave it out".to_owned()),
        Some((name, file)) => (name, Some(PathBuf::from(file))),
        None => (text, None),
    };
    let format = Format::from_str(name, false).map_err(|_| {
        let known = Format::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let known: Vec<String> = known.map(|f| f.get_name().to_owned()).collect();
        format!("there is no report `{name}`; known: {}", known.join(", "))
    })?;
    Ok(ReportTo { format, file })
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
    #[command(flatten)]
    pub flags: LoopFlags,
}

#[derive(Args, Debug)]
pub struct Runs {
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
pub struct Show {
    #[command(flatten)]
    pub name: RunName,
    /// Its records, one after the other
    #[arg(long)]
    pub log: bool,
    /// How its drafts differ from round to round
    #[arg(long)]
    pub diff: bool,
    /// Print the last draft and nothing else
    #[arg(long)]
    pub draft: bool,
    /// Print critic-log.md as it is rendered from the journal
    #[arg(long)]
    pub critic_log: bool,
}

#[derive(Args, Debug)]
pub struct Resume {
    /// The run's id, or the beginning of it
    #[arg(value_name = "RUN", required_unless_present = "all")]
    pub run: Option<String>,
    /// Every run that can go on
    #[arg(long, conflicts_with = "run")]
    pub all: bool,
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
    #[arg(long, value_name = "N")]
    pub minutes: Option<u64>,
    /// Raise the cap of calls
    #[arg(long, value_name = "N")]
    pub calls: Option<u32>,
    /// Never wait for a person: park and exit
    #[arg(long)]
    pub unattended: bool,
    #[command(flatten)]
    pub patience: Patience,
    /// Agree to the commands, agent files and keys the project's files name
    #[arg(long)]
    pub trust: bool,
}

#[derive(Args, Debug)]
pub struct Answer {
    #[command(flatten)]
    pub name: RunName,
    /// The answer: a text, or a choice by its word or number; `-` reads standard input
    #[arg(value_name = "TEXT")]
    pub text: Option<String>,
    /// Read the answer from a file
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub file: Option<PathBuf>,
    /// Send it even if it cannot be read as a verdict
    #[arg(long)]
    pub force: bool,
}

#[derive(Args, Debug)]
pub struct Gc {
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
