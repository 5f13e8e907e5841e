//! The arguments of `goal`, and how counts and times are read.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use gadfly_engine::protocol::watch::Criterion;
use gadfly_project::config::{self, until};

use super::report::{ReportTo, report};
use super::{Consent, Patience};

const GOAL_EXAMPLES: &str = "\
Examples:
  gadfly goal \"make the test suite pass\" --until 'cargo test'
  gadfly goal \"make it start\" --until-http 'http://127.0.0.1:8080/health 200 contains ok'
  gadfly goal \"write the report\" --until-file 'report.md contains Results' --until-judge \"Is it complete?\"
  gadfly goal \"clean up the docs\" --critic NAME --critic-interval 5 --max-steps 300 --wall-clock 60m
  gadfly goal fix                            a goal of gadfly.toml

While it works: `gadfly follow RUN`, `gadfly steer RUN \"…\"`, `gadfly pause RUN`.
Exit codes: 0 reached and verified, 3 halted, 4 waiting for you, 6 at a cap, 7 given up.";

const RISK: &str = "How far without asking: read_only, write_local, network_get, network_write or spends_money \
                    (default: write_local)";

/// What is worked towards, and when it is reached.
#[derive(Args, Debug)]
#[command(after_help = GOAL_EXAMPLES)]
pub struct Goal {
    /// The goal, or the name of one in gadfly.toml; `-` reads it from standard input
    #[arg(value_name = "GOAL")]
    pub text: Option<String>,
    /// Read the goal from a file
    #[arg(long = "goal-file", value_name = "FILE", conflicts_with = "text")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub reached: Reached,
    /// The agent that works
    #[arg(long, value_name = "AGENT")]
    pub worker: Option<String>,
    #[command(flatten)]
    pub watching: Watching,
    #[command(flatten)]
    pub allowed: Allowed,
    #[command(flatten)]
    pub caps: Caps,
    /// Work in your own files, of which a snapshot is kept, in place of a folder apart
    #[arg(long, conflicts_with_all = ["commit", "branch"])]
    pub in_place: bool,
    /// Commit verified work to a branch of its own, in place of changing your files
    #[arg(long)]
    pub commit: bool,
    /// The branch to commit to (implies --commit; default: gadfly/RUN)
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// Make the folder ready by this command first, as `npm ci`: run once, and kept until a manifest or lock file changes
    #[arg(long, value_name = "COMMAND", conflicts_with = "in_place")]
    pub prepare: Option<String>,
    /// Reference material for the worker; may be repeated
    #[arg(long, value_name = "FILE")]
    pub with: Vec<PathBuf>,
    /// Work even if the success criterion holds already
    #[arg(long)]
    pub work_anyway: bool,
    /// Never wait for a person: park and exit
    #[arg(long)]
    pub unattended: bool,
    /// Print a report at the end, or write it: sarif, junit, markdown or json; may be repeated
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = report)]
    pub report: Vec<ReportTo>,
    #[command(flatten)]
    pub patience: Patience,
    #[command(flatten)]
    pub consent: Consent,
}

/// Success criteria. Several must all hold.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Reached when")]
pub struct Reached {
    /// This command succeeds; may be repeated, as all of these
    #[arg(long, value_name = "COMMAND", value_parser = until::read_shell)]
    pub until: Vec<Criterion>,
    /// The code that the commands must end with
    #[arg(long, value_name = "CODE", requires = "until", value_parser = clap::value_parser!(i32).range(0..=255))]
    pub until_exit: Option<i32>,
    /// A file that the command must write when it runs on what would be delivered; it is kept; may be repeated
    #[arg(long, value_name = "FILE", requires = "until")]
    pub evidence: Vec<String>,
    /// A JSON file holds this, as 'out.json: results.passed >= 3'
    #[arg(long, value_name = "FILE: PREDICATE", value_parser = until::read_json)]
    pub until_json: Vec<Criterion>,
    /// A file is there, or 'PATH contains TEXT', or 'PATH matches REGEX'
    #[arg(long, value_name = "PATH", value_parser = until::read_file)]
    pub until_file: Vec<Criterion>,
    /// A server answers, as 'URL', 'URL 204' or 'URL 200 contains TEXT'
    #[arg(long, value_name = "URL", value_parser = until::read_http)]
    pub until_http: Vec<Criterion>,
    /// A model that sees the evidence says yes to this
    #[arg(long, value_name = "QUESTION", value_parser = until::read_judge)]
    pub until_judge: Vec<Criterion>,
    /// A model that sees a picture says yes, as './shot.sh -> shot.png: the list is not empty'
    #[arg(long, value_name = "COMMAND -> FILE: EXPECTED", value_parser = until::read_vision)]
    pub until_vision: Vec<Criterion>,
    /// You say so
    #[arg(long)]
    pub manual: bool,
    /// One of them is enough
    #[arg(long)]
    pub any: bool,
    /// How long one of the commands may take, as 90s, 10m, 1h (a number is minutes; default: 10m)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub check_timeout: Option<Duration>,
}

/// Who looks at the worker's steps.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Watched by")]
pub struct Watching {
    /// The agent that watches
    #[arg(long, value_name = "AGENT")]
    pub critic: Option<String>,
    /// How many steps from one look to the next; 0 switches it off (default: 5)
    #[arg(long, value_name = "N")]
    pub critic_interval: Option<u64>,
    /// Pause if the critic fails three times in a row, in place of going on without it
    #[arg(long)]
    pub strict_critic: bool,
    /// The agent that answers --until-judge and --until-vision (default: the critic, else the worker)
    #[arg(long, value_name = "AGENT")]
    pub judge: Option<String>,
}

/// What the worker may do without asking.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Allowed")]
pub struct Allowed {
    #[arg(long, value_name = "LEVEL", help = RISK)]
    pub risk: Option<String>,
    /// A tool that is never used; may be repeated
    #[arg(long, value_name = "TOOL")]
    pub deny: Vec<String>,
    /// A tool that may be used without asking; may be repeated (default: all)
    #[arg(long, value_name = "TOOL")]
    pub allow: Vec<String>,
    /// A server of [mcp.NAME] whose tools are offered; may be repeated
    #[arg(long, value_name = "SERVER")]
    pub mcp: Vec<String>,
    /// Files by which the goal is judged: you are told if they change; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub protect: Vec<String>,
    /// Test files are not among them
    #[arg(long)]
    pub no_protect_tests: bool,
}

/// When it ends in any case.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Caps")]
pub struct Caps {
    /// Steps at most (default: 300)
    #[arg(long, value_name = "N", value_parser = count)]
    pub max_steps: Option<u32>,
    /// Turns of the worker at most, those without a step included (default: 400)
    #[arg(long, value_name = "N", value_parser = count)]
    pub max_turns: Option<u32>,
    /// Active time at most, as 90s, 60m, 2h (a number is minutes; default: 60m)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub wall_clock: Option<Duration>,
    /// Stop before this many tokens are spent
    #[arg(long, value_name = "N", value_parser = tokens)]
    pub budget_tokens: Option<u64>,
}

const NO_ZERO: &str = "0 would allow nothing at all; it never means without limit";

/// A cap that is counted.
pub fn count(text: &str) -> Result<u32, String> {
    const MOST: u32 = 100_000;
    match text.parse() {
        Ok(0) => Err(format!("{NO_ZERO}: give a number from 1 to {MOST}")),
        Ok(number) if number <= MOST => Ok(number),
        _ => Err(format!("give a number from 1 to {MOST}")),
    }
}

fn tokens(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err(format!("{NO_ZERO}: give a number of tokens")),
        Ok(number) => Ok(number),
        Err(_) => Err("give a number of tokens".to_owned()),
    }
}

/// `90s`, `60m`, `2h`; a plain number is minutes.
pub fn time(text: &str) -> Result<Duration, String> {
    const HOW: &str = "write a time like 90s, 60m, 2h or 1h30m, at most 168h; a plain number is minutes";
    let text = text.trim();
    let plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let zero = text.chars().any(|c| c == '0') && !text.chars().any(|c| matches!(c, '1'..='9'));
    if zero && (plain || text.ends_with(['s', 'm', 'h'])) {
        return Err(format!("{NO_ZERO}; {HOW}"));
    }
    let read = if plain { config::time(&format!("{text}m")) } else { config::time(text) };
    read.ok_or_else(|| HOW.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_minutes_unless_they_say_otherwise() {
        for (text, seconds) in [("90s", 90), ("60m", 3600), ("60", 3600), ("2h", 7200), ("1h30m", 5400)] {
            assert_eq!(time(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for bad in ["", "m", "-5", "1d", "999h", "5 parsecs", "99999999999999999999"] {
            assert!(time(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn zero_is_refused_as_a_cap_and_never_means_without_limit() {
        for zero in ["0", "0m", "00s"] {
            assert!(time(zero).is_err_and(|why| why.contains("never means without limit")), "{zero}");
        }
        assert!(count("0").is_err_and(|why| why.contains("never means without limit")));
        assert!(tokens("0").is_err_and(|why| why.contains("never means without limit")));
        assert_eq!((count("1"), tokens("1")), (Ok(1), Ok(1)));
        assert!(count("100001").is_err() && count("-1").is_err() && count("x").is_err());
    }
}
