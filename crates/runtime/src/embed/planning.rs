//! From what a builder was given to a plan. What is common to all protocols is here; what one of them needs is with it.

use std::path::PathBuf;

use gadfly_engine::brief::Reference;
use gadfly_engine::judging::Seat;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::protocol::Protocols;
use gadfly_engine::tree::WorkspacePlan;
use gadfly_engine::work::Work;
use gadfly_engine::{Digest, Limits, Target, Text};
use gadfly_journal::RunId;
use gadfly_project::config::CriterionSetting;

use crate::agent_set::AgentSet;
use crate::prepare::target;

/// The names of the seats that every protocol has.
pub(super) const WORKER: &str = "worker";
pub(super) const CRITIC: &str = "critic";
pub(super) const FALLBACK: &str = "fallback critic";

/// What every run is built from.
pub struct RunOptions {
    pub(super) task: String,
    pub(super) title: Option<String>,
    pub(super) references: Vec<(String, String)>,
    pub(super) draft: Option<String>,
    /// Nobody works: what was brought is judged once.
    pub(super) review: bool,
    pub(super) criteria: Vec<String>,
    pub(super) rounds: Option<u32>,
    pub(super) out: Option<PathBuf>,
    pub(super) agents: AgentSet,
    pub(super) limits: Limits,
}

impl RunOptions {
    pub(super) fn new(task: String, limits: Limits) -> Self {
        Self {
            task,
            title: None,
            references: Vec::new(),
            draft: None,
            review: false,
            criteria: Vec::new(),
            rounds: None,
            out: None,
            agents: AgentSet::default(),
            limits,
        }
    }

    pub(super) fn worker(&self) -> Option<String> {
        (!self.review).then(|| WORKER.to_owned())
    }

    pub(super) fn seat(&self) -> Seat {
        let fallback = self.agents.get(FALLBACK).map(|_| FALLBACK.to_owned());
        Seat { agent: CRITIC.to_owned(), fallback, lens: None }
    }

    /// The criteria, each with its name if it begins with one: `SC-1: …`.
    pub(super) fn named_criteria(&self) -> impl Iterator<Item = CriterionSetting> {
        self.criteria.iter().map(|line| CriterionSetting::of_line(line))
    }
}

/// A plan in the making: the texts it names, and where its run will be.
pub struct PlanDraft {
    pub(super) run: RunId,
    pub(super) texts: Vec<Text>,
    /// Where reports of the run are kept.
    pub(super) run_dir: PathBuf,
    /// Where folders of the run are made.
    pub(super) work_dir: PathBuf,
    pub(super) project: Option<PathBuf>,
    /// The project below the top of its repository.
    pub(super) below: String,
}

impl PlanDraft {
    pub(super) fn keep(&mut self, text: impl Into<String>) -> Digest {
        let text = Text::new(text.into());
        let digest = text.digest();
        self.texts.push(text);
        digest
    }

    pub(super) fn references(&mut self, options: &RunOptions) -> Vec<Reference> {
        let named = options.references.iter();
        named.map(|(name, text)| Reference { name: name.clone(), text: self.keep(text.clone()) }).collect()
    }

    pub(super) fn draft(&mut self, options: &RunOptions) -> Option<Digest> {
        options.draft.as_ref().map(|draft| self.keep(draft.clone()))
    }

    pub(super) fn work(&mut self, options: &RunOptions) -> Option<Work> {
        self.draft(options).map(Work::Draft)
    }

    /// The file an approved draft is written to.
    pub(super) fn out(&mut self, options: &RunOptions) -> Result<Option<Target>, String> {
        let Some(path) = &options.out else { return Ok(None) };
        let (target, before) = target(path, false).map_err(|problem| problem.message)?;
        self.texts.extend(before);
        Ok(Some(target))
    }
}

/// What a protocol needs of a builder. Programs call the builder; they do not implement this.
pub trait PlansRun {
    /// Where the worker edits files, if it does.
    fn workspace(&self, _project: Option<&str>) -> Result<Option<WorkspacePlan>, String> {
        Ok(None)
    }

    fn node_plan(&self, options: &RunOptions, draft: &mut PlanDraft) -> Result<NodePlan, String>;

    /// The protocols an engine needs to know for this run.
    fn protocols(&self) -> Protocols {
        Protocols::shipped()
    }
}

/// The protocols whose critics judge a draft or files, round by round.
pub trait JudgedLoop: PlansRun {}

/// What settings that cannot be written come to.
pub(super) fn unwritable(error: &serde_json::Error) -> String {
    format!("the settings of this run cannot be written: {error}")
}
