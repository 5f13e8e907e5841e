//! What each tool takes, with the words a model reads. Everything here comes from outside: sizes are bounded where it
//! is used, and an unknown argument is refused.

use std::time::Duration;

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

/// How long a call waits if it does not say.
const USUAL_WAIT: u64 = 45;
const LONGEST_WAIT: u64 = 600;

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Draft, verdict, revision, until the critic approves or the rounds are used up.
    Revise,
    /// The critic deducts points by a rubric; a threshold passes.
    Score,
    /// A list of questions that all have to pass.
    Converge,
    /// Files in a folder of the run's own, judged against criteria, with checks.
    Audit,
}

impl Protocol {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Revise => "revise",
            Self::Score => "score",
            Self::Converge => "converge",
            Self::Audit => "audit",
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartLoop {
    /// What the work is supposed to be, in the user's own words. Needed unless `loop` names one that has a task.
    pub task: Option<String>,
    /// What the critic judges by, one requirement per entry. Give these, or `rubric`, or `loop`.
    pub criteria: Option<Vec<String>>,
    /// A file of the project with the requirements, one per line or bullet.
    pub rubric: Option<String>,
    /// A loop by its name in gadfly.toml.
    #[serde(rename = "loop")]
    pub loop_name: Option<String>,
    /// How the loop goes; `revise` if nothing else is said or configured.
    pub protocol: Option<Protocol>,
    /// Who works: `host` is you (the default, unless `loop` names a worker), else an agent of gadfly.toml.
    pub worker: Option<String>,
    /// Leave it out: the configured critic judges. Another one counts only if gadfly.toml names it as a critic or the user
    /// agrees; so does `host`, a fresh sub-agent of yours that judges through `open_review` and `submit_report`.
    pub critic: Option<String>,
    /// How many rounds at most. More than configured only if the user agrees.
    pub rounds: Option<u64>,
    /// Your first draft, complete, at most 16 MiB. It is submitted at once. Only where the worker is `host`.
    pub draft: Option<String>,
    /// Stop before this much money is spent. More than configured only if the user agrees.
    pub budget_usd: Option<f64>,
    /// How long to wait for a verdict, in seconds (default 45, at most 600).
    pub wait_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitDraft {
    /// The run's id.
    pub run: String,
    /// The whole draft, not a description of what changed; at most 16 MiB.
    pub draft: String,
    /// How long to wait for the verdict, in seconds (default 45, at most 600).
    pub wait_seconds: Option<u64>,
}

/// One run, and how long to wait for it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunAndWait {
    /// The run's id.
    pub run: String,
    /// How long to wait while it is at work, in seconds (default 45, at most 600).
    pub wait_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListFindings {
    /// The run's id.
    pub run: String,
    /// Leave out what was fixed.
    pub open_only: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneRun {
    /// The run's id.
    pub run: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitReport {
    /// The single-use token that `open_review` gave with the brief. Without it no report counts.
    pub token: Option<String>,
    /// The critic's whole report, in the form the brief asks for; at most 16 MiB.
    pub report: String,
    /// How long to wait for what follows, in seconds (default 45, at most 600).
    pub wait_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListQuestions {
    /// Only of this run; else of all runs that wait.
    pub run: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerQuestion {
    /// The run's id.
    pub run: String,
    /// Which question, as `list_questions` names it; needed only where a run asks several.
    pub effect: Option<String>,
    /// What the user decided: one of the question's choices with what has to follow it, or their own words.
    pub answer: String,
    /// How long to wait for what follows, in seconds (default 45, at most 600).
    pub wait_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRuns {
    /// Only runs in these states, as `waiting`, `halted`, `approved`, `interrupted`.
    pub states: Option<Vec<String>>,
    /// How many, newest first (default 20, at most 200).
    pub limit: Option<u32>,
    /// How many of the newest to leave out.
    pub offset: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeRun {
    /// The run's id.
    pub run: String,
    /// Raise the number of rounds to this, if the user agrees.
    pub rounds: Option<u32>,
    /// Raise the money cap to this, if the user agrees.
    pub budget_usd: Option<f64>,
    /// How long to wait for what follows, in seconds (default 45, at most 600).
    pub wait_seconds: Option<u64>,
}

/// How long a call waits.
pub fn wait(seconds: Option<u64>) -> Duration {
    Duration::from_secs(seconds.unwrap_or(USUAL_WAIT).min(LONGEST_WAIT))
}
