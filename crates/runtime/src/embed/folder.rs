//! The protocols whose worker edits files: `audit`, and goals. Both need git, and a program that calls
//! [`supervise`](crate::supervise) first in `main`.

use std::path::PathBuf;

use gadfly_engine::goal::Already;
use gadfly_engine::judging::PARTS;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::protocol::audit::economy::Economy;
use gadfly_engine::protocol::audit::settings::{self as audit, AuditSettings};
use gadfly_engine::protocol::goal::settings::{INTERVAL, MINUTES, STEPS, TURNS};
use gadfly_engine::protocol::goal::{self, Criterion, GoalSettings, Policy};
use gadfly_engine::tool::Risk;
use gadfly_engine::tree::{Acceptance, WorkspacePlan};
use gadfly_engine::{Limits, Severity};
use gadfly_project::title;

use super::planning::{CRITIC, JudgedLoop, PlanDraft, PlansRun, RunOptions, WORKER, unwritable};
use super::{OwnAgent, RunBuilder};
use crate::prepare::numbered;
use crate::sandbox;

const JUDGE: &str = "judge";

/// The branch of the commit that approved work becomes; without a name it is named after the run.
#[derive(Clone, Debug)]
struct NewBranch(Option<String>);

/// `audit`: a worker edits files in a folder of its own, commands verify them, a critic judges each criterion.
#[derive(Clone, Debug, Default)]
pub struct AuditLoop {
    verify: Vec<String>,
    scope: Vec<String>,
    commit: Option<NewBranch>,
}

/// A goal: a worker works until a criterion holds.
#[derive(Clone, Debug)]
pub struct GoalRun {
    until: Criterion,
    risk: Risk,
    protect: Vec<String>,
    interval: u32,
    in_place: bool,
    commit: Option<NewBranch>,
}

/// The runs whose work becomes a commit, if they are asked to.
trait Commits {
    fn commit(&mut self, branch: Option<String>);
}

impl Commits for AuditLoop {
    fn commit(&mut self, branch: Option<String>) {
        self.commit = Some(NewBranch(branch));
    }
}

impl Commits for GoalRun {
    fn commit(&mut self, branch: Option<String>) {
        self.commit = Some(NewBranch(branch));
    }
}

#[allow(private_bounds)] // programs use the protocols that there are
impl<P: Commits> RunBuilder<P> {
    /// Approved work becomes one commit on a new branch, and the checkout stays as it is. Without a name the branch is
    /// `gadfly/RUN`.
    pub fn commit(mut self, branch: Option<String>) -> Self {
        self.protocol.commit(branch);
        self
    }
}

fn acceptance(commit: Option<&NewBranch>, task: &str) -> Acceptance {
    match commit {
        None => Acceptance::Checkout,
        Some(branch) => {
            Acceptance::Commit { branch: branch.0.clone(), message: format!("{}\n", title::title(task)) }
        }
    }
}

fn folder(project: Option<&str>, in_place: bool) -> Result<Option<WorkspacePlan>, String> {
    let project = project.ok_or("the folder that is worked on is not named")?.to_owned();
    Ok(Some(WorkspacePlan { project, in_place, ..WorkspacePlan::default() }))
}

impl JudgedLoop for AuditLoop {}

impl RunBuilder<AuditLoop> {
    /// An `audit` of work on the project at `project`. The worker edits a copy of it; approved changes go into the checkout.
    /// It has to be able to edit files, like [`AgentFn::in_folder`](super::AgentFn::in_folder). Without a criterion the run
    /// asks for a plan first.
    pub fn audit(
        task: impl Into<String>,
        project: impl Into<PathBuf>,
        worker: impl Into<OwnAgent>,
        critic: impl Into<OwnAgent>,
    ) -> Self {
        let mut run = Self::pair(AuditLoop::default(), task.into(), worker, critic);
        run.project = Some(project.into());
        run
    }

    /// A command for `sh -c` that has to succeed before the critic is asked.
    pub fn verify(mut self, command: impl Into<String>) -> Self {
        self.protocol.verify.push(command.into());
        self
    }

    /// A pattern of files the task may touch; without any it may touch all.
    pub fn scope(mut self, pattern: impl Into<String>) -> Self {
        self.protocol.scope.push(pattern.into());
        self
    }
}

impl PlansRun for AuditLoop {
    fn workspace(&self, project: Option<&str>) -> Result<Option<WorkspacePlan>, String> {
        folder(project, false)
    }

    fn node_plan(&self, options: &RunOptions, draft: &mut PlanDraft) -> Result<NodePlan, String> {
        let settings = AuditSettings {
            task_id: title::slug(&title::title(&options.task)),
            task: draft.keep(options.task.clone()),
            criteria: numbered(options.named_criteria().collect()),
            scope: self.scope.clone(),
            verify: self.verify.clone(),
            verify_runs: 1,
            verify_timeout_ms: audit::VERIFY_TIMEOUT_MS,
            decisions: Vec::new(),
            references: draft.references(options),
            given: None,
            folder: true,
            worker: options.worker(),
            build_fixer: None,
            researcher: None,
            architect: None,
            test_writer: None,
            critics: vec![options.seat()],
            rounds: options.rounds.unwrap_or(audit::ROUNDS),
            block_on: Severity::Nit,
            economy: Economy::default(),
            examine: true,
            acceptance: Some(acceptance(self.commit.as_ref(), &options.task)),
            max_parts: PARTS,
            keeps_status: false,
            run_id: draft.run.to_string(),
            report_dir: draft.run_dir.to_string_lossy().into_owned(),
        };
        settings.node_plan(options.limits).map_err(|e| unwritable(&e))
    }
}

impl RunBuilder<GoalRun> {
    /// A goal on the project at `project`. The worker has tools of its own, like
    /// [`AgentFn::in_folder`](super::AgentFn::in_folder), or is offered ours. It works in a copy, and the result goes into
    /// the checkout. Unless [`until`](RunBuilder::until) says otherwise, a person says when the goal is reached.
    pub fn goal(goal: impl Into<String>, project: impl Into<PathBuf>, worker: impl Into<OwnAgent>) -> Self {
        let protocol = GoalRun {
            until: Criterion::Manual,
            risk: Risk::default(),
            protect: Vec::new(),
            interval: INTERVAL,
            in_place: false,
            commit: None,
        };
        let limits = Limits {
            active_ms: Some(MINUTES * 60_000),
            steps: Some(STEPS),
            turns: Some(TURNS),
            ..Limits::default()
        };
        let mut run = Self::of(protocol, goal.into(), limits).seat(WORKER, worker);
        run.project = Some(project.into());
        run
    }

    /// When the goal is reached.
    pub fn until(mut self, until: Criterion) -> Self {
        self.protocol.until = until;
        self
    }

    /// Who watches every few steps.
    pub fn critic(self, critic: impl Into<OwnAgent>) -> Self {
        self.seat(CRITIC, critic)
    }

    /// Who answers `judge` and `vision` criteria, in place of the critic.
    pub fn judge(self, judge: impl Into<OwnAgent>) -> Self {
        self.seat(JUDGE, judge)
    }

    /// Steps from one look of the critic to the next.
    pub const fn critic_interval(mut self, steps: u32) -> Self {
        self.protocol.interval = steps;
        self
    }

    /// How far the worker may go without asking. A function of the program is held to it by nothing but the program.
    pub const fn risk(mut self, risk: Risk) -> Self {
        self.protocol.risk = risk;
        self
    }

    /// A pattern of files that the goal is judged by: a change to one of them is shown to a person. Tests are among them.
    pub fn protect(mut self, pattern: impl Into<String>) -> Self {
        self.protocol.protect.push(pattern.into());
        self
    }

    /// The work is done in the project itself, after a snapshot.
    pub const fn in_place(mut self) -> Self {
        self.protocol.in_place = true;
        self
    }
}

impl PlansRun for GoalRun {
    fn workspace(&self, project: Option<&str>) -> Result<Option<WorkspacePlan>, String> {
        folder(project, self.in_place)
    }

    fn node_plan(&self, options: &RunOptions, draft: &mut PlanDraft) -> Result<NodePlan, String> {
        let seated = |name: &str| options.agents.get(name).map(|_| name.to_owned());
        let tree = draft.work_dir.join("tree/work");
        // Joining nothing would leave a slash at the end.
        let own = if draft.below.is_empty() { tree } else { tree.join(&draft.below) };
        let root = draft.project.clone().filter(|_| self.in_place).unwrap_or(own);
        let settings = GoalSettings {
            goal: draft.keep(options.task.clone()),
            worker: WORKER.to_owned(),
            critic: seated(CRITIC),
            interval: self.interval,
            strict_critic: false,
            judge: seated(JUDGE),
            until: self.until.clone(),
            policy: Policy { risk: self.risk, ..Policy::default() },
            protect: self.protect.clone(),
            protect_tests: true,
            references: draft.references(options),
            servers: Vec::new(),
            root: root.to_string_lossy().into_owned(),
            below: draft.below.clone(),
            held: sandbox::kernel().is_ok(),
            already: Some(Already::Stop),
            examine: true,
            acceptance: (!self.in_place).then(|| acceptance(self.commit.as_ref(), &options.task)),
        };
        if let Some(why) = settings.problem() {
            return Err(why);
        }
        let book = goal::RULE_BOOK;
        let settings = serde_json::to_value(&settings).map_err(|e| unwritable(&e))?;
        Ok(NodePlan { protocol: book.name.into(), version: book.version, limits: options.limits, settings })
    }
}
