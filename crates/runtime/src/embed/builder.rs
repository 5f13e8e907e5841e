//! The builder of a run: what all protocols share, and how the run is started, or taken up after a crash.

use std::path::{Path, PathBuf};

use gadfly_engine::input::FORMAT;
use gadfly_engine::{Limits, Plan, Start};
use gadfly_journal::RunId;
use gadfly_project::{Config, Root, title};
use tokio::sync::{mpsc, watch};

use super::planning::{CRITIC, FALLBACK, JudgedLoop, PlanDraft, PlansRun, RunOptions, WORKER};
use super::{OwnAgent, RunError, RunResult};
use crate::driver::{Ended, Stop, Update};
use crate::prepare::seed;
use crate::service::{DriveOptions, Gadfly, Raise};

/// A run of one protocol, with agents of the program's own. `P` is the protocol: it has the options that only this
/// protocol has.
///
/// ```
/// use gadfly_runtime::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let store = std::env::temp_dir().join(format!("gadfly-doc-builder-{}", std::process::id()));
/// let worker = AgentFn::new(|_| async { Ok("Twelve mice were weighed.".to_owned()) });
/// let critic = CriticFn::new(|draft, rubric| {
///     assert_eq!((rubric.passes_at, draft.round), (Some(80), Some(1)));
///     CriticVerdict::approve("the sample size is named").points(95)
/// });
/// let run = RunBuilder::score("Describe the sample.", worker, critic)
///     .rubric("- The sample size is named: 20 points\n")
///     .reference("protocol.md", "Twelve mice.")
///     .limits(Limits { calls: Some(6), ..Limits::default() });
/// let done = run.run(&store).await?;
/// assert_eq!(done.outcome.label(), "approved");
/// # std::fs::remove_dir_all(store)?;
/// # Ok(())
/// # }
/// ```
pub struct RunBuilder<P> {
    pub(super) options: RunOptions,
    pub(super) protocol: P,
    pub(super) project: Option<PathBuf>,
    run: Option<RunId>,
    raise: Raise,
    attended: bool,
    stop: Option<watch::Receiver<Stop>>,
    updates: Option<mpsc::Sender<Update>>,
}

impl<P> RunBuilder<P> {
    pub(super) fn of(protocol: P, task: String, limits: Limits) -> Self {
        Self {
            options: RunOptions::new(task, limits),
            protocol,
            project: None,
            run: None,
            raise: Raise::default(),
            attended: false,
            stop: None,
            updates: None,
        }
    }

    pub(super) fn pair(
        protocol: P,
        task: String,
        worker: impl Into<OwnAgent>,
        critic: impl Into<OwnAgent>,
    ) -> Self {
        Self::of(protocol, task, gadfly_project::config::loop_default())
            .seat(WORKER, worker)
            .seat(CRITIC, critic)
    }

    pub(super) fn seat(mut self, name: &str, agent: impl Into<OwnAgent>) -> Self {
        let OwnAgent { card, agent } = agent.into();
        self.options.agents.add(name, card, agent);
        self
    }

    /// One line for lists and headings, in place of the task's beginning.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.options.title = Some(title.into());
        self
    }

    /// Adds reference material that worker and critic are shown.
    pub fn reference(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.options.references.push((name.into(), text.into()));
        self
    }

    /// Caps of the run. A cap that is not named stays as it is: 30 active minutes and 50 calls, for a goal 60 minutes,
    /// 300 steps and 400 turns.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = self.options.limits.with(limits);
        self
    }

    /// The run's id, where the program wants to know it before the run begins. It must be new to the store.
    pub fn id(mut self, run: RunId) -> Self {
        self.run = Some(run);
        self
    }

    /// Records as they become durable, and text as agents write it. Whoever reads slowly slows the run.
    pub fn updates(mut self, updates: mpsc::Sender<Update>) -> Self {
        self.updates = Some(updates);
        self
    }

    /// How the program stops the run in between; [`RunBuilder::resume`] goes on with it.
    pub fn stop(mut self, stop: watch::Receiver<Stop>) -> Self {
        self.stop = Some(stop);
        self
    }

    /// A person is at hand: the run waits for answers to its questions instead of parking.
    pub const fn attended(mut self) -> Self {
        self.attended = true;
        self
    }

    /// Caps and rounds that a resume raises.
    pub const fn raise(mut self, raise: Raise) -> Self {
        self.raise = raise;
        self
    }
}

#[allow(private_bounds)] // the bound is the list of shipped protocols
impl<P: JudgedLoop> RunBuilder<P> {
    /// Adds a criterion. Where criteria have names one may stand before it: `SC-1: the empty page has a test`.
    pub fn criterion(mut self, criterion: impl Into<String>) -> Self {
        self.options.criteria.push(criterion.into());
        self
    }

    /// How often the work may be judged.
    pub const fn rounds(mut self, rounds: u32) -> Self {
        self.options.rounds = Some(rounds);
        self
    }

    /// The critic that is asked when the first fails or cannot be read.
    pub fn fallback_critic(self, critic: impl Into<OwnAgent>) -> Self {
        self.seat(FALLBACK, critic)
    }
}

#[allow(private_bounds)] // programs use the protocols that there are
impl<P: PlansRun> RunBuilder<P> {
    /// Runs it in the store at `store`, journalled like any other run, until it ends or parks.
    pub async fn run(self, store: &Path) -> Result<RunResult, RunError> {
        let gadfly = self.open(store)?;
        self.run_in(&gadfly).await
    }

    /// As [`RunBuilder::run`], in a store that is open already.
    pub async fn run_in(self, gadfly: &Gadfly) -> Result<RunResult, RunError> {
        let wrong = |error: &dyn std::fmt::Display| RunError::Plan(error.to_string());
        let run = match self.run.clone() {
            Some(run) => run,
            None => RunId::random().map_err(|e| wrong(&e))?,
        };
        let mut draft = self.plan_draft(run.clone(), gadfly).await?;
        let project = draft.project.as_ref().map(|project| project.to_string_lossy().into_owned());
        let workspace = self.protocol.workspace(project.as_deref()).map_err(RunError::Plan)?;
        let root = self.protocol.node_plan(&self.options, &mut draft).map_err(RunError::Plan)?;
        let title = self.options.title.clone().unwrap_or_else(|| title::title(&self.options.task));
        let agents = self.options.agents.cards().into();
        let plan = Plan { caller: None, title, root, agents, limits: Limits::default(), workspace };
        let start = Start { format: FORMAT, plan, seed: seed().map_err(|e| wrong(&e))? };
        let agents = self.options.agents.clone();
        let (driving, _running) = self.driving();
        let ended = gadfly.start_plan(run.clone(), start, draft.texts, agents, driving).await?;
        result(gadfly, run, ended)
    }

    /// Takes up a run of this builder's protocol and agents that was interrupted, parked, or cut off with its process. What
    /// was answered stays answered; only what has no recorded reply is asked again.
    pub async fn resume(self, store: &Path, run: &RunId) -> Result<RunResult, RunError> {
        let gadfly = self.open(store)?;
        self.resume_in(&gadfly, run).await
    }

    /// As [`RunBuilder::resume`], in a store that is open already.
    pub async fn resume_in(self, gadfly: &Gadfly, run: &RunId) -> Result<RunResult, RunError> {
        let (agents, raise) = (self.options.agents.clone(), self.raise);
        let (driving, _running) = self.driving();
        let ended = gadfly.resume_with(run, raise, agents, driving).await?;
        result(gadfly, run.clone(), ended)
    }

    fn open(&self, store: &Path) -> Result<Gadfly, RunError> {
        let (config, _) = Config::from_layers([]);
        let root = Root::at(self.project.as_deref().unwrap_or(store));
        Ok(Gadfly::open(root, config, store)?.with_protocols(self.protocol.protocols()))
    }

    async fn plan_draft(&self, run: RunId, gadfly: &Gadfly) -> Result<PlanDraft, RunError> {
        let (run_dir, work_dir) = (gadfly.journal().run_dir(&run), gadfly.journal().work_dir(&run));
        let mut draft =
            PlanDraft { run, texts: Vec::new(), run_dir, work_dir, project: None, below: String::new() };
        if let Some(project) = &self.project {
            let project = project
                .canonicalize()
                .map_err(|error| RunError::Plan(format!("the folder {}: {error}", project.display())))?;
            draft.below = gadfly.lies_below(&project).await.map_err(RunError::Plan)?;
            draft.project = Some(project);
        }
        Ok(draft)
    }

    /// How it is driven; the sender is kept until it was.
    fn driving(self) -> (DriveOptions, Option<watch::Sender<Stop>>) {
        let (running, stop) = if let Some(stop) = self.stop {
            (None, stop)
        } else {
            let (running, stop) = watch::channel(Stop::No);
            (Some(running), stop)
        };
        (DriveOptions { attended: self.attended, stop, updates: self.updates }, running)
    }
}

fn result(gadfly: &Gadfly, run: RunId, ended: Ended) -> Result<RunResult, RunError> {
    let Ended::Outcome(outcome) = ended else { return Err(RunError::Interrupted { run }) };
    let draft = gadfly.journal().summary(&run).ok().and_then(|s| s.last_draft);
    let draft = draft.and_then(|d| gadfly.journal().text(&d).ok().flatten()).map(|t| t.to_string());
    Ok(RunResult { run, outcome, draft })
}
