//! The protocols whose work is one text: `revise`, `score`, `converge`.

use std::path::PathBuf;

use gadfly_engine::deduction::{DeductionTable, Phase};
use gadfly_engine::judging::PARTS;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::protocol::converge::sets::{self, ConvergeCriterion, PASSES};
use gadfly_engine::protocol::converge::settings::ConvergeSettings;
use gadfly_engine::protocol::revise::{self, ProjectPhase, ReviseSettings};
use gadfly_engine::protocol::score::settings::{self as score, EscalateTo, ScoreSettings};

use super::planning::{CRITIC, FALLBACK, JudgedLoop, PlanDraft, PlansRun, RunOptions, unwritable};
use super::{OwnAgent, RunBuilder};

/// The loops whose work is one text.
trait OneText {}

/// `revise`: a worker drafts, a critic approves or says what to fix.
#[derive(Clone, Debug)]
pub struct ReviseLoop {
    overrule: bool,
}

/// `score`: a critic gives points by a rubric; enough of them pass.
#[derive(Clone, Debug)]
pub struct ScoreLoop {
    rubric: String,
    table: Option<DeductionTable>,
    threshold: u32,
}

/// `converge`: a critic answers named questions until every answer is a pass.
#[derive(Clone, Debug, Default)]
pub struct ConvergeLoop {
    set: Option<String>,
}

impl OneText for ReviseLoop {}
impl OneText for ScoreLoop {}
impl OneText for ConvergeLoop {}
impl JudgedLoop for ReviseLoop {}
impl JudgedLoop for ScoreLoop {}
impl JudgedLoop for ConvergeLoop {}

#[allow(private_bounds)] // programs use the protocols that there are
impl<P: OneText> RunBuilder<P> {
    /// A draft to begin with: the critic speaks first.
    pub fn draft(mut self, draft: impl Into<String>) -> Self {
        self.options.draft = Some(draft.into());
        self
    }

    /// Nobody works: this draft is judged once, and the worker is never called.
    pub fn review(mut self, draft: impl Into<String>) -> Self {
        self.options.review = true;
        self.draft(draft)
    }

    /// The file an approved draft is written to. What is there is kept in the record.
    pub fn out(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.out = Some(path.into());
        self
    }
}

impl RunBuilder<ReviseLoop> {
    /// A `revise` loop: it needs at least one [`criterion`](RunBuilder::criterion), and has three rounds.
    pub fn revise(task: impl Into<String>, worker: impl Into<OwnAgent>, critic: impl Into<OwnAgent>) -> Self {
        Self::pair(ReviseLoop { overrule: true }, task.into(), worker, critic)
    }

    /// Whether a rejection that names only new requirements, from the second round on, is overruled. It is, unless this
    /// says otherwise.
    pub const fn overrule(mut self, overrule: bool) -> Self {
        self.protocol.overrule = overrule;
        self
    }
}

impl PlansRun for ReviseLoop {
    fn node_plan(&self, options: &RunOptions, draft: &mut PlanDraft) -> Result<NodePlan, String> {
        let settings = ReviseSettings {
            task: draft.keep(options.task.clone()),
            phase: "general".into(),
            rubric: options.criteria.clone(),
            references: draft.references(options),
            draft: draft.draft(options),
            worker: options.worker(),
            critic: CRITIC.into(),
            fallback_critic: options.agents.get(FALLBACK).map(|_| FALLBACK.to_owned()),
            rounds: options.rounds.unwrap_or(revise::ROUNDS),
            overrule: self.overrule,
            out: draft.out(options)?,
            project: ProjectPhase::default(),
        };
        settings.node_plan(options.limits).map_err(|e| unwritable(&e))
    }
}

impl RunBuilder<ScoreLoop> {
    /// A `score` loop: it needs a [`rubric`](RunBuilder::rubric) or criteria; 80 points pass. When its rounds are used up a
    /// person decides how to go on.
    pub fn score(task: impl Into<String>, worker: impl Into<OwnAgent>, critic: impl Into<OwnAgent>) -> Self {
        let protocol = ScoreLoop { rubric: String::new(), table: None, threshold: score::THRESHOLD };
        Self::pair(protocol, task.into(), worker, critic)
    }

    /// The rubric, as critics are shown it.
    pub fn rubric(mut self, text: impl Into<String>) -> Self {
        self.protocol.rubric = text.into();
        self
    }

    /// The deductions by which a model's score is computed. A typed critic's points count as they are.
    pub fn deductions(mut self, table: DeductionTable) -> Self {
        self.protocol.table = Some(table);
        self
    }

    /// The points out of 100 that pass.
    pub const fn threshold(mut self, points: u32) -> Self {
        self.protocol.threshold = points;
        self
    }
}

impl PlansRun for ScoreLoop {
    fn node_plan(&self, options: &RunOptions, draft: &mut PlanDraft) -> Result<NodePlan, String> {
        let items = options.criteria.iter().map(|item| format!("- {item}\n"));
        let rubric: String = std::iter::once(self.rubric.clone()).chain(items).collect();
        if rubric.trim().is_empty() {
            return Err("the rubric is empty: a critic needs something to give points by".to_owned());
        }
        let settings = ScoreSettings {
            task: draft.keep(options.task.clone()),
            rubric: draft.keep(rubric),
            table: self.table.clone(),
            severity: Phase::Execution.level(),
            invariants: None,
            references: draft.references(options),
            given: draft.work(options),
            worker: options.worker(),
            critics: vec![options.seat()],
            rounds: options.rounds.unwrap_or(score::ROUNDS),
            threshold: self.threshold,
            escalate_to: EscalateTo::User,
            stop_early: false,
            out: draft.out(options)?,
            max_parts: PARTS,
            escalates: true,
            own_rubrics: std::collections::BTreeMap::new(),
            files: None,
        };
        settings.node_plan(options.limits).map_err(|e| unwritable(&e))
    }
}

impl RunBuilder<ConvergeLoop> {
    /// A `converge` loop: it needs criteria, `NAME: question`, or a [`set`](RunBuilder::set) of them.
    pub fn converge(
        task: impl Into<String>,
        worker: impl Into<OwnAgent>,
        critic: impl Into<OwnAgent>,
    ) -> Self {
        Self::pair(ConvergeLoop::default(), task.into(), worker, critic)
    }

    /// A ready-made set of criteria, by its name: it brings its own cap of passes.
    pub fn set(mut self, name: impl Into<String>) -> Self {
        self.protocol.set = Some(name.into());
        self
    }
}

impl PlansRun for ConvergeLoop {
    fn node_plan(&self, options: &RunOptions, draft: &mut PlanDraft) -> Result<NodePlan, String> {
        let set = match &self.set {
            None => None,
            Some(name) => Some(sets::set(name).ok_or_else(|| {
                let known: Vec<&str> = sets::names().collect();
                format!("there is no set of criteria `{name}`: the sets are {}", known.join(", "))
            })?),
        };
        let own = options.named_criteria().enumerate().map(|(n, criterion)| ConvergeCriterion {
            name: criterion.name.unwrap_or_else(|| format!("CRITERION_{}", n + 1)),
            question: criterion.text,
        });
        let of_set = set.iter().flat_map(|set| set.criteria.iter().cloned());
        let settings = ConvergeSettings {
            task: draft.keep(options.task.clone()),
            criteria: of_set.chain(own).collect(),
            references: draft.references(options),
            deferred: Vec::new(),
            given: draft.work(options),
            worker: options.worker(),
            critics: vec![options.seat()],
            rounds: options.rounds.or(set.map(|set| set.passes)).unwrap_or(PASSES),
            out: draft.out(options)?,
            max_parts: PARTS,
        };
        settings.node_plan(options.limits).map_err(|e| unwritable(&e))
    }
}
