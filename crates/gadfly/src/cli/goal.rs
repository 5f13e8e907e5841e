//! The arguments of `goal`, and how counts and times are read.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use gadfly_engine::protocol::goal::Criterion;
use gadfly_project::config::keys::on;
use gadfly_project::config::{self, NO_ZERO, until};

use super::options::Options;
use super::report::{ReportTo, report};
use super::{ConsentArgs, Patience};

const GOAL_EXAMPLES: &str = "\
Examples:
  gadfly goal \"make the test suite pass\" --until 'cargo test'
  gadfly goal \"make it start\" --until-http 'http://127.0.0.1:8080/health 200 contains ok'
  gadfly goal \"write the report\" --until-file 'report.md contains Results' --until-judge \"Is it complete?\"
  gadfly goal \"clean up the docs\" --critic NAME --critic-interval 5 --max-steps 300 --wall-clock 60m
  gadfly goal fix                            a goal of gadfly.toml

While it works: `gadfly follow RUN`, `gadfly steer RUN \"…\"`, `gadfly pause RUN`.
Exit codes: 0 reached and verified, 3 halted, 4 waiting for you, 6 at a cap, 7 given up.";

/// What is worked towards, and when it is reached.
#[derive(Args, Debug)]
#[command(after_help = GOAL_EXAMPLES)]
pub struct GoalArgs {
    /// The goal, or the name of one in gadfly.toml; `-` reads it from standard input
    #[arg(value_name = "GOAL")]
    pub text: Option<String>,
    /// Read the goal from a file
    #[arg(long = "goal-file", value_name = "FILE", conflicts_with = "text")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub reached: Reached,
    #[command(flatten)]
    pub options: Options<{ on::GOAL }>,
    /// Work even if the success criterion holds already
    #[arg(long)]
    pub work_anyway: bool,
    /// Never wait for a person: park the run and exit
    #[arg(long)]
    pub unattended: bool,
    /// Print a report at the end, or write it: sarif, junit, markdown or json; may be repeated
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = report)]
    pub report: Vec<ReportTo>,
    #[command(flatten)]
    pub patience: Patience,
    #[command(flatten)]
    pub consent: ConsentArgs,
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

/// A cap that is counted.
pub fn count(text: &str) -> Result<u32, String> {
    const MOST: u32 = 100_000;
    match text.parse() {
        Ok(0) => Err(format!("{NO_ZERO}: give a number from 1 to {MOST}")),
        Ok(number) if number <= MOST => Ok(number),
        _ => Err(format!("give a number from 1 to {MOST}")),
    }
}

/// `90s`, `60m`, `2h`; a plain number is minutes.
pub fn time(text: &str) -> Result<Duration, String> {
    const HOW: &str = config::TYPED_TIME;
    let text = text.trim();
    let plain = text.chars().all(|c| c.is_ascii_digit());
    let zero = text.chars().any(|c| c == '0') && !text.chars().any(|c| matches!(c, '1'..='9'));
    if zero && (plain || text.ends_with(['s', 'm', 'h'])) {
        return Err(format!("{NO_ZERO}; {HOW}"));
    }
    config::typed_time(text).ok_or_else(|| HOW.to_owned())
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
        assert_eq!(count("1"), Ok(1));
        assert!(count("100001").is_err() && count("-1").is_err() && count("x").is_err());
    }
}
