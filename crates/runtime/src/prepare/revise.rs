//! The settings of a `revise` loop: a rubric both agents are given, and the agents.

use gadfly_engine::judging::Seat;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::protocol::revise::{ProjectPhase, RULE_BOOK, ReviseSettings};
use gadfly_engine::work::Work;
use gadfly_engine::{Digest, Limits, Text};
use gadfly_project::place::option;
use gadfly_project::rubric::{self, Contributor, Rubric, RubricSource};
use gadfly_project::{ConfigLayer, LoopConfig, LoopProtocol, Overrides, Problem, Sourced};

use super::inherited::{EarlierRun, Inherited, SharedSettings};
use super::protocols::ProtocolEntry;
use super::settings::{RoleAssignment, RoleList, RunSettings, rounds_of, small};
use super::{Material, Request};

pub(super) const ENTRY: ProtocolEntry = ProtocolEntry {
    card: LoopProtocol::REVISE.card(),
    book: RULE_BOOK,
    settings,
    of_task: Some(|config, task| Some(Box::new(bare(config, task)?))),
    inherits: Some(inherits),
};

impl RunSettings for ReviseSettings {
    fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error> {
        Self::node_plan(self, limits)
    }

    fn cast(&self) -> Vec<RoleAssignment> {
        let seat = Seat { agent: self.critic.clone(), fallback: self.fallback_critic.clone(), lens: None };
        RoleList::new(self.worker.as_ref(), self.rounds).judged_by(&[seat])
    }

    fn rounds(&self) -> u32 {
        rounds_of(self.worker.as_ref(), self.rounds)
    }

    fn about(&self, task: Digest, rubric: &[String]) -> Option<(Box<dyn RunSettings>, Option<Text>)> {
        Some((Box::new(Self { task, rubric: rubric.to_vec(), ..self.clone() }), None))
    }
}

fn inherits(earlier: &EarlierRun<'_>, inherited: &mut Inherited) -> Result<SharedSettings, Problem> {
    let old: ReviseSettings = earlier.settings()?;
    inherited.rubric = old.rubric;
    let seat = Seat { agent: old.critic, fallback: old.fallback_critic, lens: None };
    let more = move |given: &mut Overrides| {
        given.or_set("phase", old.phase);
        if !old.overrule {
            given.or_set("overrule", false);
        }
    };
    let (task, references) = (old.task, old.references);
    let (worker, out, more) = (old.worker, old.out, Box::new(more));
    Ok(SharedSettings { task, references, worker, critics: vec![seat], out, more })
}

fn settings(
    config: &LoopConfig,
    request: &Request,
    material: &mut Material,
    problems: &mut Vec<Problem>,
) -> Option<Box<dyn RunSettings>> {
    let rubric = rubric(config, request, problems)?;
    let draft = match &material.given {
        Some(Work::Draft(draft)) => Some(*draft),
        None => None,
        Some(Work::Files(_) | Work::Tree(_)) => {
            problems.push(
                Problem::error("`revise` judges one text, and here are several files or changes")
                    .help(format!("add {}, or name one file", option("protocol audit"))),
            );
            return None;
        }
    };
    let mut settings = bare(config, material.task.digest())?;
    settings.rubric = rubric.items.iter().map(|i| i.value.clone()).collect();
    settings.references = material.named_references();
    settings.draft = draft;
    settings.out.clone_from(&material.target);
    if let Some(work) = &request.described {
        settings.project = work.phase(config, &mut |text| material.keep(Text::new(text)));
    }
    if request.review.is_some() {
        settings.worker = None;
    }
    Some(Box::new(settings))
}

/// The settings of a loop about this task, without rubric and material. None without a critic.
fn bare(config: &LoopConfig, task: Digest) -> Option<ReviseSettings> {
    Some(ReviseSettings {
        task,
        phase: config.options.phase.as_ref().map_or_else(|| "general".to_owned(), |p| p.value.clone()),
        rubric: Vec::new(),
        references: Vec::new(),
        draft: None,
        worker: config.options.worker.as_ref().map(|w| w.value.clone()),
        critic: config.critic()?.value,
        fallback_critic: config.options.fallback_critic.as_ref().map(|f| f.value.clone()),
        rounds: small(config.options.rounds.value),
        overrule: config.revise.overrule.value,
        out: None,
        project: ProjectPhase::default(),
    })
}

fn rubric(config: &LoopConfig, request: &Request, problems: &mut Vec<Problem>) -> Option<Rubric> {
    let mut wrong = Vec::new();
    let mut read = |items: Result<Vec<Sourced<String>>, Problem>| {
        items.map_err(|problem| wrong.push(problem)).unwrap_or_default()
    };
    let configured =
        config.options.rubric.as_ref().map(|s| read(rubric::from_setting(s))).unwrap_or_default();
    let mut user: Vec<_> =
        request.rubrics.iter().flat_map(|path| read(rubric::read(path, ConfigLayer::Flags))).collect();
    user.extend(request.criteria.iter().cloned());
    if !wrong.is_empty() {
        problems.extend(wrong);
        return None;
    }
    if let Some(old) = request.from.as_ref().filter(|_| configured.is_empty() && user.is_empty()) {
        user.extend(old.rubric.iter().cloned().map(Sourced::built_in));
    }
    let mut sources = vec![
        RubricSource { from: Contributor::Config, items: configured },
        RubricSource { from: Contributor::User, items: user },
    ];
    if let Some(work) = &request.described {
        sources.extend(work.rubric().iter().cloned());
    }
    let (rubric, found) = Rubric::build(sources);
    problems.extend(found);
    rubric
}
