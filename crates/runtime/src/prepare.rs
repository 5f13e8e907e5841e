//! From what the user asked for to a plan: every problem at once, or a run ready to start.
//!
//! What is common to all protocols is here and in `material`; what one protocol needs is in its own file, which `protocols`
//! lists. A goal, which is no loop, is prepared by `goal`.

mod audit;
mod converge;
mod goal;
mod inherited;
mod material;
pub mod pipeline;
pub mod protocols;
mod review_input;
mod revise;
mod score;
pub mod settings;

use std::path::PathBuf;
use std::sync::Arc;

use gadfly_engine::input::{FORMAT, Start};
use gadfly_engine::tree::WorkspacePlan;
use gadfly_engine::work::Work;
use gadfly_engine::{Limits, Plan, Text};
use gadfly_journal::RunId;
use gadfly_project::adapter::DescribedWork;
use gadfly_project::place::option;
use gadfly_project::{Config, ConfigLayer, LoopConfig, LoopProtocol, Overrides, Problem, Sourced, title};

use crate::agent_set::AgentSet;
use crate::agents::AgentResolver;
use crate::consent::Consent;
use crate::workspace::Git;

pub use audit::REVIEW_CRITERIA;
pub(crate) use audit::numbered;
pub use goal::{GoalRequest, PreparedGoal, prepare_goal};
pub use inherited::{EarlierRun, Inherited, SharedSettings};
pub use material::Material;
pub(crate) use material::target;
pub use pipeline::{AliasedAgent, PipelineRequest, PlanWanted, prepare_pipeline};
pub use protocols::{ProtocolEntry, declare, rule_books};
pub use review_input::{BaseFiles, ReviewTarget, ReviewedState, WatchedTree};
pub(crate) use review_input::{base_of, load_submission};
pub use settings::{RoleAssignment, RoleList, RunPlace, RunSettings, rounds_of, seats, small};

/// What `run` or `review` was asked to do.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// A loop named in `gadfly.toml`.
    pub loop_name: Option<String>,
    /// What it was given besides what is configured.
    pub given: Overrides,
    /// Rubric files the user named.
    pub rubrics: Vec<PathBuf>,
    /// Rubric items, or criteria, the user gave beside the configured ones.
    pub criteria: Vec<Sourced<String>>,
    /// A phase or a task of the project's own, which says most of the rest.
    pub described: Option<Arc<dyn DescribedWork>>,
    /// Start anew from another run's last draft; see [`Request::begin_from`].
    pub from: Option<Inherited>,
    /// Work that is judged as it is, by critics only.
    pub review: Option<Submission>,
    /// Where runs are kept: what earlier ones put off is looked up there, and reports are said to be there.
    pub store: Option<PathBuf>,
}

/// Work the user brought to have it judged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Submission {
    pub work: Work,
    /// The texts it names.
    pub texts: Vec<Text>,
    /// What it is, for people: `src/lib.rs`, `the changes since main`.
    pub what: String,
    /// The file, if it is one.
    pub file: Option<PathBuf>,
    /// The project as it is with the change, for critics that look around.
    pub reviewed: Option<ReviewedState>,
}

/// A run that can be started.
pub struct Prepared {
    pub run: RunId,
    pub start: Start,
    pub texts: Vec<Text>,
    pub agent_set: AgentSet,
    pub consent: Consent,
    /// Things worth saying that do not stop it.
    pub warnings: Vec<Problem>,
    /// Folders to be made before it starts: what it saves goes there.
    pub folders: Vec<PathBuf>,
    /// What its critics find in their folders.
    pub reviewed: Option<ReviewedState>,
}

impl Request {
    /// The loop this is about, with everything that is wrong with its configuration.
    pub fn configured(&self, config: &Config) -> (LoopConfig, Vec<Problem>) {
        let mut given = self.given.clone();
        if let Some(brought) = &self.review {
            given.critics_only = true;
            if self.loop_name.is_none() && config.defaults.protocol.layer == ConfigLayer::BuiltIn {
                given.or_set("protocol", usual_protocol(&brought.work));
            }
        }
        let mut said = Vec::new();
        if let Some(work) = &self.described {
            work.fill(config, &mut given, &mut said);
        }
        let (mut looped, mut problems) = config.loop_for(self.loop_name.as_deref(), &given);
        if let Some(work) = &self.described {
            work.lay_over(config, &given, &mut looped);
        }
        problems.extend(said);
        (looped, problems)
    }
}

/// How a review judges if nobody says: a text by its rubric, files and changes by criteria.
const fn usual_protocol(work: &Work) -> LoopProtocol {
    match work {
        Work::Draft(_) => LoopProtocol::REVISE,
        Work::Files(files) if files.len() == 1 => LoopProtocol::REVISE,
        Work::Files(_) | Work::Tree(_) => LoopProtocol::AUDIT,
    }
}

/// Makes the plan of one loop or review.
pub async fn prepare(request: &Request, resolver: &AgentResolver<'_>) -> Result<Prepared, Vec<Problem>> {
    let (config, mut problems) = request.configured(resolver.config);
    let material = Material::read(&config, request, &mut problems);
    let settings = material.and_then(|mut material| {
        let settings = protocols::settings_of(&config, request, &mut material, &mut problems)?;
        Some((settings, material))
    });
    let Some((settings, material)) = settings else { return Err(problems) };
    problems.extend(cannot_commit(settings.needs_folder(), &config, resolver).await);
    let asked = resolver.config.workspace.prepare.as_ref().filter(|line| line.layer == ConfigLayer::Flags);
    if asked.is_some() && !settings.needs_folder() {
        let message =
            format!("{} makes a worker's folder ready, and this protocol has none", option("prepare"));
        let help = format!("leave it out, or take {}", option("protocol audit"));
        problems.push(Problem::error(message).help(help));
    }
    if problems.iter().any(Problem::is_error) {
        return Err(problems);
    }
    let run_limits = resolver.config.limits.with(request.given.limits());
    let capped = run_limits.money.is_some() || config.limits.money.is_some();
    let names: Vec<String> = settings.cast().into_iter().map(|part| part.agent).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let agent_set = match resolver.resolve(&names, capped).await {
        Ok(agent_set) => agent_set,
        Err(found) => {
            problems.extend(found);
            return Err(problems);
        }
    };
    let title = match (&request.review, &config.name) {
        (Some(brought), _) => format!("review: {}", brought.what),
        (None, Some(name)) => format!("{name}: {}", title::title(material.task.as_str())),
        (None, None) => title::title(material.task.as_str()),
    };
    let draft = PlanBuilder {
        workspace: settings.needs_folder().then(|| folder(resolver)),
        settings,
        title,
        agent_set,
        run_limits,
        loop_limits: config.limits,
        folders: material.folders(),
        texts: material.into_texts(),
        warnings: problems,
        store: request.store.clone(),
        reports: request.described.as_ref().and_then(|work| work.reports()),
        keeps_status: request.described.as_ref().is_some_and(|work| work.keeps_status()),
    };
    let prepared = draft.finish().map_err(|p| vec![p])?;
    let reviewed = request.review.as_ref().and_then(|brought| brought.reviewed.clone());
    Ok(Prepared { reviewed, ..prepared })
}

/// Why approved work could not become the commit that is wanted: better said now than when all is done.
async fn cannot_commit(in_files: bool, config: &LoopConfig, resolver: &AgentResolver<'_>) -> Option<Problem> {
    let launcher = resolver.launcher.filter(|_| in_files && config.audit.commit.value)?;
    let git = Git::new(Arc::clone(launcher), resolver.env.clone());
    let branch = config.audit.branch.as_ref();
    let error = git.could_commit(resolver.root, branch.map(|b| b.value.as_str())).await.err()?;
    let place = branch.map_or(config.audit.commit.place.as_ref(), |b| b.place.as_ref());
    Some(Problem::error(format!("the work could not be committed: {error}")).at(place))
}

/// What the folder of a worker that edits files is made from.
fn folder(resolver: &AgentResolver<'_>) -> WorkspacePlan {
    let configured = &resolver.config.workspace;
    let texts = |list: &[Sourced<String>]| list.iter().map(|t| t.value.clone()).collect();
    WorkspacePlan {
        project: resolver.root.to_string_lossy().into_owned(),
        link: texts(&configured.link),
        copy: texts(&configured.copy),
        prepare: configured.prepare.as_ref().map(|s| s.value.clone()),
        ..WorkspacePlan::default()
    }
}

/// Puts a plan together from settings and a team.
pub fn assemble(
    settings: Box<dyn RunSettings>,
    title: String,
    agent_set: AgentSet,
    run_limits: Limits,
    loop_limits: Limits,
    texts: Vec<Text>,
    warnings: Vec<Problem>,
) -> Result<Prepared, Problem> {
    let draft = PlanBuilder {
        settings,
        title,
        agent_set,
        run_limits,
        loop_limits,
        texts,
        warnings,
        workspace: None,
        store: None,
        folders: Vec::new(),
        reports: None,
        keeps_status: false,
    };
    draft.finish()
}

/// Collects the parts of a plan.
struct PlanBuilder {
    settings: Box<dyn RunSettings>,
    title: String,
    agent_set: AgentSet,
    run_limits: Limits,
    loop_limits: Limits,
    texts: Vec<Text>,
    warnings: Vec<Problem>,
    workspace: Option<WorkspacePlan>,
    store: Option<PathBuf>,
    folders: Vec<PathBuf>,
    /// Where the project itself wants the run's reports, below its root.
    reports: Option<&'static str>,
    /// The project has a list of its own with the task's status.
    keeps_status: bool,
}

impl PlanBuilder {
    fn finish(mut self) -> Result<Prepared, Problem> {
        let wrong = |e: &dyn std::fmt::Display| Problem::error(e.to_string());
        let run = RunId::random().map_err(|e| wrong(&e))?;
        let (store, reports, keeps_status) = (self.store.as_deref(), self.reports, self.keeps_status);
        self.settings.belong_to(&run, &RunPlace { store, reports, keeps_status });
        let root = self.settings.node_plan(self.loop_limits).map_err(|e| wrong(&e))?;
        let plan = Plan {
            caller: None,
            title: self.title,
            root,
            agents: self.agent_set.cards().into(),
            limits: self.run_limits,
            workspace: self.workspace,
        };
        let given: u64 = self.texts.iter().map(|t| t.as_str().len() as u64).sum();
        let consent = Consent::of(&plan, self.settings.as_ref(), given, &self.agent_set);
        let start = Start { format: FORMAT, plan, seed: seed().map_err(|e| wrong(&e))? };
        let Self { texts, agent_set, warnings, folders, .. } = self;
        Ok(Prepared { run, start, texts, agent_set, consent, warnings, folders, reviewed: None })
    }
}

/// What a run's random choices come from.
pub(crate) fn seed() -> Result<String, getrandom::Error> {
    let mut seed = [0u8; 16];
    getrandom::fill(&mut seed)?;
    Ok(format!("{:032x}", u128::from_le_bytes(seed)))
}
