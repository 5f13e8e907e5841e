//! From what the user asked for to a plan: every problem at once, or a run ready to start.
//!
//! What is common to all protocols is here and in `material`; what one protocol needs is in its own file. To
//! add a protocol: a file with the function that makes its settings, and a line in `settings`. A goal, which is no
//! loop, is prepared by `watch`.

mod audit;
mod brought;
mod converge;
mod inherited;
mod material;
mod nubos;
mod phase;
pub mod pipeline;
mod revise;
mod score;
mod settings;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;

use gadfly_engine::input::{FORMAT, Start};
use gadfly_engine::tree::WorkspacePlan;
use gadfly_engine::work::Work;
use gadfly_engine::{Limits, Plan, Text};
use gadfly_journal::RunId;
use gadfly_project::neuroflow::Phase;
use gadfly_project::nubos::Task;
use gadfly_project::place::option;
use gadfly_project::{Config, Layer, LoopConfig, Overrides, Problem, Protocol, Sourced, title};

use crate::agents::Recruiter;
use crate::consent::Consent;
use crate::team::Team;
use crate::workspace::Git;

pub use audit::REVIEW_CRITERIA;
pub use brought::{BaseFiles, Wanted};
pub(crate) use brought::{base_of, bring};
pub use inherited::Inherited;
pub(crate) use material::Material;
pub use pipeline::{Member, PipelineRequest, PlanWanted, prepare_pipeline};
pub use settings::LoopSettings;
use settings::small;
pub use watch::{GoalRequest, GoalSettings, prepare_goal};

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
    pub described: Option<Described>,
    /// Start anew from another run's last draft; see [`Request::begin_from`].
    pub from: Option<Inherited>,
    /// Work that is judged as it is, by critics only.
    pub review: Option<Brought>,
    /// Where runs are kept: what earlier ones put off is looked up there, and reports are said to be there.
    pub store: Option<PathBuf>,
}

/// Work that the project's own files describe, in the manner of a framework.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Described {
    /// A phase of neuroflow: a `revise` loop.
    Phase(Box<Phase>),
    /// A task of nubos-pilot: an `audit`.
    Task(Box<Task>),
}

impl Described {
    /// What was taken from where, for the person.
    pub fn notes(&self) -> &[String] {
        match self {
            Self::Phase(phase) => &phase.notes,
            Self::Task(task) => &task.notes,
        }
    }
}

/// Work the user brought to have it judged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Brought {
    pub work: Work,
    /// The texts it names.
    pub texts: Vec<Text>,
    /// What it is, for people: `src/lib.rs`, `the changes since main`.
    pub what: String,
    /// The file, if it is one.
    pub file: Option<PathBuf>,
}

/// A run that can be started.
pub struct Prepared {
    pub run: RunId,
    pub start: Start,
    pub texts: Vec<Text>,
    pub team: Team,
    pub consent: Consent,
    /// Things worth saying that do not stop it.
    pub warnings: Vec<Problem>,
    /// Folders to be made before it starts: what it saves goes there.
    pub folders: Vec<PathBuf>,
}

impl Request {
    /// The loop this is about, with everything that is wrong with its configuration.
    pub fn configured(&self, config: &Config) -> (LoopConfig, Vec<Problem>) {
        let mut given = self.given.clone();
        if let Some(brought) = &self.review {
            given.critics_only = true;
            if self.loop_name.is_none() && config.defaults.protocol.layer == Layer::BuiltIn {
                given.or_set("protocol", usual_protocol(&brought.work));
            }
        }
        let mut said = Vec::new();
        match &self.described {
            Some(Described::Phase(phase)) => phase::fill(phase, config, &mut given, &mut said),
            Some(Described::Task(task)) => nubos::fill(task, config, &mut given, &mut said),
            None => {}
        }
        let (mut looped, mut problems) = config.loop_for(self.loop_name.as_deref(), &given);
        if let Some(Described::Task(task)) = &self.described {
            nubos::lay_over(task, config, &given, &mut looped);
        }
        problems.extend(said);
        (looped, problems)
    }
}

/// How a review judges if nobody says: a text by its rubric, files and changes by criteria.
const fn usual_protocol(work: &Work) -> Protocol {
    match work {
        Work::Draft(_) => Protocol::Revise,
        Work::Files(files) if files.len() == 1 => Protocol::Revise,
        Work::Files(_) | Work::Tree(_) => Protocol::Audit,
    }
}

/// Makes the plan of one loop or review.
pub async fn prepare(request: &Request, recruiter: &Recruiter<'_>) -> Result<Prepared, Vec<Problem>> {
    let (config, mut problems) = request.configured(recruiter.config);
    let material = Material::read(&config, request, &mut problems);
    let settings = material.and_then(|mut material| {
        let settings = settings::of(&config, request, &mut material, &mut problems)?;
        Some((settings, material))
    });
    let Some((settings, material)) = settings else { return Err(problems) };
    problems.extend(cannot_commit(&settings, &config, recruiter).await);
    let asked = recruiter.config.workspace.prepare.as_ref().filter(|line| line.layer == Layer::Flags);
    if asked.is_some() && !settings.needs_folder() {
        let message =
            format!("{} makes a worker's folder ready, and this protocol has none", option("prepare"));
        let help = format!("leave it out, or take {}", option("protocol audit"));
        problems.push(Problem::error(message).help(help));
    }
    if problems.iter().any(Problem::is_error) {
        return Err(problems);
    }
    let run_limits = recruiter.config.limits.with(request.given.limits());
    let capped = run_limits.money.is_some() || config.limits.money.is_some();
    let names: Vec<String> = settings.cast().into_iter().map(|part| part.agent).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let team = match recruiter.team(&names, capped).await {
        Ok(team) => team,
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
    let draft = Draft {
        workspace: settings.needs_folder().then(|| folder(recruiter)),
        settings,
        title,
        team,
        run_limits,
        loop_limits: config.limits,
        folders: material.folders(),
        texts: material.into_texts(),
        warnings: problems,
        store: request.store.clone(),
        reports: matches!(request.described, Some(Described::Task(_))).then_some(nubos::REPORTS),
    };
    draft.finish().map_err(|p| vec![p])
}

/// Why approved work could not become the commit that is wanted: better said now than when all is done.
async fn cannot_commit(
    settings: &LoopSettings,
    config: &LoopConfig,
    recruiter: &Recruiter<'_>,
) -> Option<Problem> {
    let launcher = recruiter.launcher.filter(|_| settings.needs_folder() && config.audit.commit.value)?;
    let git = Git::new(Arc::clone(launcher), recruiter.env.clone());
    let branch = config.audit.branch.as_ref();
    let error = git.could_commit(recruiter.root, branch.map(|b| b.value.as_str())).await.err()?;
    let place = branch.map_or(config.audit.commit.place.as_ref(), |b| b.place.as_ref());
    Some(Problem::error(format!("the work could not be committed: {error}")).at(place))
}

/// What the folder of a worker that edits files is made from.
fn folder(recruiter: &Recruiter<'_>) -> WorkspacePlan {
    let configured = &recruiter.config.workspace;
    let texts = |list: &[Sourced<String>]| list.iter().map(|t| t.value.clone()).collect();
    WorkspacePlan {
        project: recruiter.root.to_string_lossy().into_owned(),
        link: texts(&configured.link),
        copy: texts(&configured.copy),
        prepare: configured.prepare.as_ref().map(|s| s.value.clone()),
        in_place: false,
        per_node: false,
    }
}

/// Puts a plan together from settings and a team.
pub fn assemble(
    settings: impl Into<LoopSettings>,
    title: String,
    team: Team,
    run_limits: Limits,
    loop_limits: Limits,
    texts: Vec<Text>,
    warnings: Vec<Problem>,
) -> Result<Prepared, Problem> {
    let settings = settings.into();
    let draft = Draft {
        settings,
        title,
        team,
        run_limits,
        loop_limits,
        texts,
        warnings,
        workspace: None,
        store: None,
        folders: Vec::new(),
        reports: None,
    };
    draft.finish()
}

/// All that a plan is made of.
struct Draft {
    settings: LoopSettings,
    title: String,
    team: Team,
    run_limits: Limits,
    loop_limits: Limits,
    texts: Vec<Text>,
    warnings: Vec<Problem>,
    workspace: Option<WorkspacePlan>,
    store: Option<PathBuf>,
    folders: Vec<PathBuf>,
    /// Where the project itself wants the run's reports, below its root.
    reports: Option<&'static str>,
}

impl Draft {
    fn finish(mut self) -> Result<Prepared, Problem> {
        let wrong = |e: &dyn std::fmt::Display| Problem::error(e.to_string());
        let run = RunId::random().map_err(|e| wrong(&e))?;
        self.settings.belong_to(&run, self.store.as_deref());
        if let (LoopSettings::Audit(settings), Some(reports)) = (&mut self.settings, self.reports) {
            settings.report_dir = format!("{reports}/{run}");
        }
        let root = self.settings.node_plan(self.loop_limits).map_err(|e| wrong(&e))?;
        let plan = Plan {
            caller: None,
            title: self.title,
            root,
            agents: self.team.cards().into(),
            limits: self.run_limits,
            workspace: self.workspace,
        };
        let given: u64 = self.texts.iter().map(|t| t.as_str().len() as u64).sum();
        let consent = Consent::of(&plan, &self.settings, given, &self.team);
        let start = Start { format: FORMAT, plan, seed: seed().map_err(|e| wrong(&e))? };
        let Self { texts, team, warnings, folders, .. } = self;
        Ok(Prepared { run, start, texts, team, consent, warnings, folders })
    }
}

/// What a run's random choices come from.
pub(crate) fn seed() -> Result<String, getrandom::Error> {
    let mut seed = [0u8; 16];
    getrandom::fill(&mut seed)?;
    Ok(format!("{:032x}", u128::from_le_bytes(seed)))
}
