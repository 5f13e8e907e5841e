//! `pipeline`: IDENTIFY → DISPATCH → REVIEW → VERIFY → SCORE over the agents of a registry, as one run.
//!
//! Only the decisions are here and in `pipeline/`. Who can run, who is done and why not are questions to
//! `crate::pipeline::ProjectFacts`; a pair is a `score` node below this one, which reviews and verifies in its own folder.
//! `planning` comes before the first survey, `dispatching` is IDENTIFY and DISPATCH, `taking` brings a pair's result to
//! the project, `scoring` is the gate and what follows from it, `checking` runs commands on the whole project, `questions` is what
//! people are asked.

mod checking;
mod dispatching;
mod planning;
mod questions;
mod scoring;
pub mod settings;
mod taking;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::artifact::ArtifactFile as FileEntry;
use crate::digest::Digest;
use crate::effect::{EffectId, NodePath};
use crate::event::EventKind;
use crate::machine::{AgentAnswer, Cx, TaskResult};
use crate::manifest::RunManifest;
use crate::outcome::Outcome;
use crate::pipeline::event::{AlreadyDone, PipelineEvent};
use crate::pipeline::facts::AgentReadiness;
use crate::pipeline::headings::headings;
use crate::pipeline::listing::{Survey, Surveyed};
use crate::pipeline::registry::{Check, RegistryEntry};
use crate::pipeline::{Listing, PairVerdict, Pattern, ProjectFacts};
use crate::plan::NodePlan;
use crate::protocol::{Protocol, RuleBook};

use checking::Checks;
use planning::Stage;
use questions::PipelineQuestion;
use settings::{PipelineMode, PipelineSettings};
use taking::Taking;

/// Version 1 of the rules.
pub const RULE_BOOK: RuleBook = RuleBook { name: "pipeline", version: 1, begin, manifest };

fn manifest(plan: &NodePlan) -> Result<RunManifest, String> {
    const WORK: &[&str] =
        &["request", "jobs", "state_files", "commit", "plan", "plan_agreed", "result_agreed"];
    Ok(PipelineSettings::read(plan)?.manifest().ruled_by(plan, WORK))
}

fn begin(plan: &NodePlan) -> Result<Box<dyn Protocol>, String> {
    let settings = PipelineSettings::read(plan)?;
    Ok(Box::new(PipelineProtocol {
        overall: settings.overall,
        verdicts: settings.verdicts.clone(),
        manual: settings.manual.clone(),
        settings,
        stage: Stage::Planning,
        plan: None,
        round: 0,
        wave: 0,
        listing: Listing::default(),
        headings: BTreeMap::new(),
        at_work: BTreeMap::new(),
        ended: BTreeMap::new(),
        queue: VecDeque::new(),
        taking: None,
        surveying: false,
        asks: BTreeMap::new(),
        tried: BTreeSet::new(),
        again: BTreeMap::new(),
        blocked: BTreeMap::new(),
        dispatches: BTreeMap::new(),
        escalated: BTreeSet::new(),
        told: BTreeSet::new(),
        delivered: BTreeMap::new(),
        deleted: BTreeSet::new(),
        hopeless: BTreeSet::new(),
        spec: None,
        told_what_is_done: false,
        decided_on: BTreeMap::new(),
        passes: Vec::new(),
        checks: None,
    }))
}

struct PipelineProtocol {
    settings: PipelineSettings,
    stage: Stage,
    /// The plan everybody works by.
    plan: Option<Digest>,
    /// Overall rounds so far, and allowed.
    round: u32,
    overall: u32,
    /// Times somebody was dispatched at once.
    wave: u32,
    listing: Listing,
    headings: BTreeMap<String, Vec<String>>,
    verdicts: Vec<PairVerdict>,
    manual: BTreeMap<String, bool>,
    at_work: BTreeMap<NodePath, AtWork>,
    /// Pairs that are through and wait for the others of their group.
    ended: BTreeMap<NodePath, (AtWork, Outcome)>,
    /// Pairs whose results are taken next, one after the other.
    queue: VecDeque<(NodePath, AtWork, Outcome)>,
    taking: Option<Taking>,
    surveying: bool,
    asks: BTreeMap<EffectId, PipelineQuestion>,
    /// Who was dispatched in this overall round.
    tried: BTreeSet<String>,
    /// Who is sent out although done.
    again: BTreeMap<String, Again>,
    blocked: BTreeMap<String, String>,
    dispatches: BTreeMap<String, u32>,
    /// Whose question somebody else has decided: once per run.
    escalated: BTreeSet<String>,
    /// What was said already about agents that cannot be dispatched.
    told: BTreeSet<String>,
    /// Every file this run brought to the user, by path.
    delivered: BTreeMap<String, FileEntry>,
    deleted: BTreeSet<String>,
    /// Whose output a program refused for good: not sent out again by itself.
    hopeless: BTreeSet<String>,
    /// The list of requirements, once there is one.
    spec: Option<Digest>,
    told_what_is_done: bool,
    /// The reports each agent that decides on some was dispatched with.
    decided_on: BTreeMap<String, Vec<(String, Digest)>>,
    /// How each dispatch went, for what can be learned from it.
    passes: Vec<EndedDispatch>,
    /// Commands on the whole project, while they run.
    checks: Option<Checks>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct AtWork {
    agent: String,
    group: Option<String>,
    wave: u32,
    /// It was sent out although there is a verdict that counts.
    again: Option<Again>,
}

/// Why somebody is sent out once more.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Again {
    /// What is open.
    open: Vec<String>,
    /// It is others who found it: its own score need not rise for it.
    for_others: bool,
}

/// One dispatch, as it ended.
#[derive(Clone, PartialEq, Eq, Debug)]
struct EndedDispatch {
    agent: String,
    score: Option<u32>,
    rounds: u32,
    passed: bool,
    escalated_to_user: bool,
    escalated_after: Option<u32>,
    open: Vec<String>,
}

impl Protocol for PipelineProtocol {
    fn start(&mut self, cx: &mut Cx<'_>) {
        let agents = self.settings.registry.entries.iter().filter(|entry| self.takes_part(entry)).count();
        let begun = PipelineEvent::Begun {
            project: self.settings.project.clone(),
            agents: u32::try_from(agents).unwrap_or(u32::MAX),
            gate: self.settings.gate.name.clone(),
            jobs: self.settings.jobs,
        };
        cx.emit(EventKind::Pipeline(begun));
        let verifies = self.settings.pairs.values().any(|pair| !pair.verify.is_empty());
        if !verifies && self.settings.mode == PipelineMode::Pipeline {
            let message =
                "no verify command is configured: nothing is compiled or run before it counts".to_owned();
            cx.emit(EventKind::Warned { message });
        }
        self.begin_planning(cx);
    }

    fn answered(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        self.planned(answer, cx);
    }

    fn task_done(&mut self, effect: &EffectId, what: TaskResult, cx: &mut Cx<'_>) {
        match what {
            TaskResult::Surveyed(surveyed) => self.surveyed(&surveyed, cx),
            TaskResult::Said { text, by } => self.told_by_person(effect, text, &by, cx),
            TaskResult::Accepted { .. } | TaskResult::Conflicts(_) | TaskResult::NotAccepted { .. } => {
                self.delivery_replied(what, cx);
            }
            TaskResult::Looked(looked) => self.looked(&looked, cx),
            TaskResult::Verified(verified) => self.checked(&verified, cx),
            TaskResult::Tool(_) | TaskResult::Examined(_) => {}
        }
    }

    fn child_ended(&mut self, child: &NodePath, outcome: &Outcome, cx: &mut Cx<'_>) {
        self.pair_ended(child, outcome, cx);
    }

    fn child_waits(&mut self, _child: &NodePath, cx: &mut Cx<'_>) {
        self.take_whole_groups(cx);
    }

    fn raise_rounds(&mut self, rounds: u32) {
        self.overall = self.overall.max(rounds);
    }

    fn material(&self) -> Vec<Digest> {
        self.settings.material()
    }
}

impl PipelineProtocol {
    fn facts(&self) -> ProjectFacts<'_> {
        ProjectFacts {
            registry: &self.settings.registry,
            listing: &self.listing,
            headings: &self.headings,
            verdicts: &self.verdicts,
            manual: &self.manual,
            assume_manual: self.settings.assume_manual,
            enabled: &self.settings.enabled,
            skills: &self.settings.skills,
        }
    }

    /// Enabled, and somebody is there to do it.
    fn takes_part(&self, entry: &RegistryEntry) -> bool {
        let is_on = entry.conditional.is_none() || self.settings.enabled.contains(&entry.agent);
        is_on && self.settings.pairs.contains_key(&entry.agent)
    }

    /// What the project holds is looked at before anything is decided.
    fn survey(&mut self, cx: &mut Cx<'_>) {
        if !self.surveying {
            self.surveying = true;
            cx.survey(self.wanted());
        }
    }

    fn wanted(&self) -> Survey {
        let mut patterns: BTreeSet<Pattern> = BTreeSet::new();
        let mut read: BTreeSet<Pattern> = BTreeSet::new();
        for entry in &self.settings.registry.entries {
            for product in &entry.produces {
                patterns.extend(product.patterns.iter().chain(&product.files).cloned());
                read.extend(product.sectioned().cloned());
            }
            for atom in entry.requires.atoms() {
                match &atom.check {
                    Check::Path(pattern) | Check::Contains { folder: pattern, .. } => {
                        patterns.insert(pattern.clone());
                    }
                    Check::Manual
                    | Check::Score { .. }
                    | Check::Overall { .. }
                    | Check::Components { .. } => {}
                }
            }
        }
        for verdict in &self.verdicts {
            let files = verdict.files.iter().chain(&verdict.made);
            patterns.extend(files.map(|file| Pattern(file.path.clone())));
        }
        Survey { patterns: patterns.into_iter().collect(), read: read.into_iter().collect() }
    }

    fn surveyed(&mut self, surveyed: &Surveyed, cx: &mut Cx<'_>) {
        self.surveying = false;
        self.listing = Listing::parse(cx.text(&surveyed.listing));
        let read = surveyed.read.iter().map(|(path, text)| (path.clone(), headings(cx.text(text))));
        self.headings = read.collect();
        self.tell_what_is_done(cx);
        self.identify(cx);
    }
}

impl PipelineProtocol {
    /// Once, before anybody is dispatched.
    fn tell_what_is_done(&mut self, cx: &mut Cx<'_>) {
        if std::mem::replace(&mut self.told_what_is_done, true)
            || self.settings.mode != PipelineMode::Pipeline
        {
            return;
        }
        let done = self.facts().standings().into_iter().filter_map(|(agent, standing)| match standing {
            AgentReadiness::Done { score } => Some(AlreadyDone { agent, score }),
            _ => None,
        });
        let agents: Vec<AlreadyDone> = done.collect();
        if !agents.is_empty() {
            cx.emit(EventKind::Pipeline(PipelineEvent::FoundDone { agents }));
        }
    }
}

#[cfg(test)]
mod tests;
