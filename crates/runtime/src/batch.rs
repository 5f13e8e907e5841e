//! The same loop over a file of tasks: many runs in one process, each journalled and resumable by itself.
//!
//! A task's run id follows from its content, so the same batch finds its own runs again. Nothing about a
//! loop is decided here; how many are under way, what the batch may spend and what goes to the results
//! file is. To a surface it gives counts, notes and finished lines; it prints nothing.

mod funds;
mod jobs;
mod results;
mod survey;
mod template;
mod writing;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use gadfly_engine::Money;
use gadfly_project::tasks;
use gadfly_project::{Overrides, Problem};
use tokio::sync::watch;

pub use results::FinishedTask;
pub use survey::{BatchSurvey, Due};

use crate::consent::Consent;
use crate::driver::Stop;
use crate::service::Gadfly;
use funds::Funds;
use results::Results;
use template::Template;

/// What `batch` was asked to do.
#[derive(Clone, Debug)]
pub struct BatchRequest {
    pub tasks: PathBuf,
    pub out: PathBuf,
    pub jobs: usize,
    pub given: Overrides,
    /// Run a task anew although its result is in the file, where the store does not have its run.
    pub again: bool,
    /// For the whole batch, what its runs cost before included.
    pub budget: Option<Money>,
}

/// A batch that can be run: every line is valid, the agents can be reached.
pub struct Batch {
    pub survey: BatchSurvey,
    /// Of one loop: the largest.
    pub consent: Consent,
    /// What the loops still to be run can cost at most, where prices are known.
    pub worst_case: Money,
    pub budget: Option<Money>,
    pub warnings: Vec<Problem>,
    gadfly: Arc<Gadfly>,
    template: Template,
    results: Results,
    request: BatchRequest,
}

/// Counts a surface may look at while the batch runs.
#[derive(Debug, Default)]
pub struct BatchProgress {
    /// Tasks in the file.
    pub total: AtomicUsize,
    /// Finished, skipped or given up.
    pub done: AtomicUsize,
    pub running: AtomicUsize,
    nanos: AtomicU64,
    unknown: AtomicBool,
}

impl BatchProgress {
    /// Whether the true cost may be another: show it with `≥`.
    pub fn is_cost_unknown(&self) -> bool {
        self.unknown.load(Ordering::Relaxed)
    }

    /// What this batch has cost so far, earlier invocations included.
    pub fn cost(&self) -> Money {
        Money(self.nanos.load(Ordering::Relaxed))
    }

    fn add_cost(&self, cost: Money, unknown: bool) {
        self.nanos.fetch_add(cost.0, Ordering::Relaxed);
        self.unknown.fetch_or(unknown, Ordering::Relaxed);
    }
}

/// What a surface is told, in order, on a thread that may be waited on.
pub enum News<'a> {
    /// A result line is on disk; without its newline.
    Result { finished: &'a FinishedTask, line: &'a str },
    /// Something worth saying that stops nothing.
    Note(&'a str),
}

pub type Reporter = Box<dyn FnMut(News<'_>) + Send>;

/// How a batch stands when it is left.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BatchReport {
    /// Tasks by their outcome's label, those of earlier invocations included.
    pub outcomes: BTreeMap<String, usize>,
    /// Driven by another living process.
    pub elsewhere: usize,
    /// Stopped by the process's end.
    pub interrupted: usize,
    /// Not started because the batch's budget would not cover them.
    pub unaffordable: usize,
    /// Could not be driven, for a reason that was noted.
    pub errors: usize,
    /// Not reached before the batch was stopped.
    pub left: usize,
    pub cost: Money,
    /// The true cost may be another.
    pub cost_unknown: bool,
    /// When the last of those that wait for quota can go on, as far as a time was named.
    pub quota_until_ms: Option<u64>,
    /// Why the batch was given up, if it was.
    pub fault: Option<String>,
}

impl Batch {
    /// The first pass: every problem of file, agents and results before any call is made.
    pub async fn prepare(gadfly: Arc<Gadfly>, request: BatchRequest) -> Result<Self, Vec<Problem>> {
        let scan = tasks::scan(tasks::open(&request.tasks).map_err(|p| vec![p])?);
        let mut problems = scan.problems;
        if request.jobs == 0 {
            problems.push(
                Problem::error("--jobs is 0").help("give how many loops may run at once, like --jobs 4"),
            );
        }
        if same_file(&request.tasks, &request.out) {
            let message = format!("{} holds the tasks, results cannot go there", request.out.display());
            problems.push(Problem::error(message).help("name another file with --out"));
            return Err(problems);
        }
        if scan.tasks == 0 && problems.is_empty() {
            problems.push(Problem::error(format!("{} has no task in it", request.tasks.display())));
        }
        let template = match Template::new(&gadfly, &request).await {
            Ok(template) => template,
            Err(found) => {
                problems.extend(found);
                return Err(problems);
            }
        };
        if problems.iter().any(Problem::is_error) {
            return Err(problems);
        }
        let (results, seen) = Results::open(&request.out).map_err(|p| vec![p])?;
        let survey =
            BatchSurvey::take(&request.tasks, &template, gadfly.journal(), &seen).map_err(|p| vec![p])?;
        if survey.lost > 0 && !request.again {
            let (n, file) = (survey.lost, request.out.display());
            let message =
                format!("{n} of the tasks have a result in {file}, and this store does not have their runs");
            let help = "was the store removed? `--again` runs and pays for them again; else take them out of the tasks, or \
                        bring the store back";
            return Err(vec![Problem::error(message).help(help)]);
        }
        let consent = template.consent(survey.largest);
        let mut warnings = problems;
        warnings.extend(template.warnings.iter().cloned());
        Ok(Self {
            worst_case: survey.worst_case,
            budget: request.budget,
            consent,
            survey,
            warnings,
            gadfly,
            template,
            results,
            request,
        })
    }

    /// Servers on this machine that nobody could ask: looked for once somebody agreed to start.
    pub async fn unreachable(&self) -> Vec<Problem> {
        self.gadfly.unreachable(&self.template.agent_set.cards()).await
    }

    /// The brief the first task's worker would get.
    pub fn first_brief(&self) -> Option<String> {
        let task = tasks::open(&self.request.tasks).ok()?.next()?.ok()?;
        self.template.first_brief(&task)
    }

    /// The second pass: runs what is not ended, as many at once as was asked for.
    pub async fn run(
        self,
        stop: watch::Receiver<Stop>,
        progress: Arc<BatchProgress>,
        reporter: Reporter,
    ) -> BatchReport {
        let funds = Funds::new(self.budget, self.survey.spent);
        progress.total.store(self.survey.tasks, Ordering::Relaxed);
        progress.nanos.store(self.survey.spent.0, Ordering::Relaxed);
        jobs::run(self, funds, stop, progress, reporter).await
    }
}

fn same_file(one: &Path, two: &Path) -> bool {
    match (one.canonicalize(), two.canonicalize()) {
        (Ok(one), Ok(two)) => one == two,
        _ => false,
    }
}
