//! From a project and a request to the plan of a pipeline: who is dispatched how, judged by what, up to which gate. Every
//! problem at once, or a run ready to start.
//!
//! The registry and the project's files are `project`'s to read; what goes into a brief is `briefs`; who is called how is
//! `cast`.

mod alone;
mod briefs;
mod cast;
mod earlier;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use gadfly_engine::deduction::Phase;
use gadfly_engine::pipeline::registry::{Check, PairWeight, Product, Registry, RegistryEntry};
use gadfly_engine::pipeline::{Gate, PairVerdict, Pattern};
use gadfly_engine::plan::NodePlan;
use gadfly_engine::protocol::pipeline::settings::{
    Commit, Hooks, PairSettings, PipelineMode, PipelineSettings, Planning,
};
use gadfly_engine::protocol::score::files::{ProjectCommand, WorkerOutput};
use gadfly_engine::protocol::score::settings::{EXPLORATION, EscalateTo, OwnRubric, THRESHOLD};
use gadfly_engine::{Digest, Limits, Text};
use gadfly_project::config::{HookEvent, VerifyConfig};
use gadfly_project::layout::{self, Layout, ProjectFiles};
use gadfly_project::{Config, Problem, Sourced, deduction_table, file, registry, suggest, title};

use super::settings::{RoleAssignment, RunSettings, small};
use super::{PlanBuilder, Prepared, folder};
use crate::agents::AgentResolver;
use crate::consent::PipelineTerms;
use briefs::PlanTexts;
use cast::Cast;

pub use cast::AliasedAgent;
pub use earlier::{Earlier, state_files};

/// The agents that stand in for those known only by their file.
pub const DEFAULT: &str = "default";
pub const DEFAULT_CRITIC: &str = "default-critic";

/// What `pipeline`, or `run` with a skill or an agent, was asked to do.
#[derive(Clone, Debug, Default)]
pub struct PipelineRequest {
    pub request: String,
    /// Only these, without dependencies: standalone. Critics among them judge what is there.
    pub only: Vec<String>,
    /// Those it is about only judge.
    pub reviews: bool,
    /// What those who only judge are to look at. Empty: what they usually judge.
    pub judged: Vec<String>,
    /// Where the skill saves their reports, as it writes it.
    pub reports: Vec<String>,
    /// The skill that was invoked.
    pub skill: Option<String>,
    /// One worker, verify commands, one critic.
    pub simple: bool,
    pub gate: Option<String>,
    pub jobs: Option<u32>,
    pub assume_manual: bool,
    pub planning: PlanWanted,
    /// A list of requirements first.
    pub spec: bool,
    /// Agreed to in advance: the plan.
    pub yes: bool,
    /// Agreed to in advance: the result, which is committed.
    pub just_do_it: bool,
    pub commit: bool,
    pub branch: Option<String>,
    pub limits: Limits,
    pub store: Option<PathBuf>,
    /// What is known from earlier runs.
    pub verdicts: Vec<PairVerdict>,
    pub manual: BTreeMap<String, bool>,
    /// The project a state file names.
    pub state_project: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum PlanWanted {
    #[default]
    Drafted,
    Given(PathBuf),
    /// Nothing is planned: one agent, or the user knows.
    No,
}

/// A project whose registry can be asked, with its placeholders filled in.
pub struct ProjectRegistry {
    pub files: ProjectFiles,
    pub registry: Registry,
    pub project: String,
    pub warnings: Vec<Problem>,
}

/// Reads a project for a pipeline, or for questions about one.
pub fn known(
    root: &std::path::Path,
    config: &Config,
    state_project: Option<&str>,
) -> Result<ProjectRegistry, Vec<Problem>> {
    let files = layout::read(root, config);
    let mut problems: Vec<Problem> = files.problems.clone();
    let Some(file) = &files.registry else {
        let help = match files.layout {
            Layout::Claude => "declare the agents in .claude/rules/permissions.md",
            _ => "declare the agents in permissions.md, or name the file: [project] registry = \"…\"",
        };
        let message = format!("no agent registry found ({})", files.because);
        problems.push(Problem::error(message).help(help));
        return Err(problems);
    };
    problems.extend(file.problems.iter().cloned());
    problems.extend(layout::check(&files, config));
    let name = files.project_name(state_project);
    if name.is_none() && needs_project(&file.registry) {
        problems.push(
            Problem::error("`{project}` is used in the registry but not set")
                .help("add to gadfly.toml: [project] name = \"my-paper\""),
        );
    }
    if problems.iter().any(Problem::is_error) {
        return Err(problems);
    }
    let project = name.map_or_else(|| root_name(root), |name| name.name);
    let registry = registry::resolved(&file.registry, &project);
    Ok(ProjectRegistry { registry, project, warnings: problems, files })
}

fn needs_project(registry: &Registry) -> bool {
    let products = registry.entries.iter().flat_map(|entry| &entry.produces);
    let mut made = products.flat_map(|product| product.patterns.iter().chain(&product.files));
    let needed = registry.entries.iter().flat_map(|entry| entry.requires.atoms());
    made.any(|pattern| pattern.0.contains("{project}"))
        || needed.into_iter().any(|atom| atom.text.contains("{project}"))
}

fn root_name(root: &std::path::Path) -> String {
    root.file_name().map_or_else(|| "project".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The gate of this name.
pub fn gate(config: &Config, name: &str) -> Result<Gate, Problem> {
    config.gates.get(name).map(gadfly_project::config::GateConfig::gate).ok_or_else(|| {
        let known: Vec<&str> = config.gates.keys().map(String::as_str).collect();
        Problem::error(format!("there is no gate `{name}`")).maybe_help(suggest::did_you_mean(name, &known))
    })
}

/// Makes the plan of one pipeline.
pub async fn prepare_pipeline(
    request: &PipelineRequest,
    resolver: &AgentResolver<'_>,
) -> Result<Prepared, Vec<Problem>> {
    let config = resolver.config;
    let mut known = if request.simple {
        simple(resolver)
    } else {
        // A review makes nothing that would have to be found under the project's name.
        let fallback = request.reviews.then(|| root_name(resolver.root));
        known(resolver.root, config, request.state_project.as_deref().or(fallback.as_deref()))?
    };
    let mut problems = std::mem::take(&mut known.warnings);
    if request.request.trim().is_empty() {
        problems.push(Problem::error("there is nothing to do: say what the pipeline is for"));
    }
    let gate = gate(config, request.gate.as_deref().unwrap_or(&config.pipeline.gate.value));
    let gate = gate.map_err(|problem| problems.push(problem)).unwrap_or_else(|()| Gate::commit());
    let mut shelf = PlanTexts::new(&known, request);
    let planning = shelf.planning(request, config, &mut problems);
    let registry = alone::entries(&known, request, &mut problems);
    let mut cast = Cast::default();
    let mut pairs = BTreeMap::new();
    for entry in &registry.entries {
        if let Some(pair) = pair(entry, &known, request, config, &mut shelf, &mut cast, &mut problems) {
            pairs.insert(entry.agent.clone(), pair);
        }
    }
    if let Planning::Drafted { by, .. } = &planning {
        cast.add(by, false, &known.files, config, &mut problems);
    }
    if problems.iter().any(Problem::is_error) {
        return Err(problems);
    }
    let run_limits = config.limits.with(request.limits);
    let agent_set = match resolver.resolve_aliased(&cast.members(), run_limits.money.is_some()).await {
        Ok(agent_set) => agent_set,
        Err(found) => {
            problems.extend(found);
            return Err(problems);
        }
    };
    problems.extend(cast.unheld(&agent_set));
    let commits = request.commit || request.branch.is_some() || request.just_do_it;
    let what = title::title(&request.request);
    // Of one agent, or of none of the registry's, the project's state is not told.
    let mut files = state_files(resolver.root, &known.files);
    files.state = mode(request) == PipelineMode::Pipeline;
    let mut workspace = folder(resolver);
    workspace.per_node = true;
    (workspace.makes, workspace.needs) = registry.places();
    let settings = PipelineSettings {
        state_files: (mode(request) != PipelineMode::Simple).then(|| files.places()),
        project: known.project.clone(),
        request: shelf.keep(request.request.clone()),
        registry,
        enabled: config.project.enable.iter().map(|name| name.value.clone()).collect(),
        pairs,
        gate,
        mode: mode(request),
        jobs: request.jobs.unwrap_or_else(|| small(config.pipeline.jobs.value)),
        rounds: small(config.pipeline.rounds.value),
        overall: small(config.pipeline.overall.value),
        fixes: small(config.pipeline.fixes.value),
        manual: with_request(&known.registry, request),
        assume_manual: request.assume_manual,
        verdicts: request.verdicts.clone(),
        skills: skills(&known.files),
        also: patterns(&config.project.also),
        unjudged: patterns(&config.project.unjudged),
        plan: planning,
        plan_agreed: request.yes || request.just_do_it,
        result_agreed: request.yes || request.just_do_it || mode(request) != PipelineMode::Pipeline,
        commit: commits.then(|| Commit { branch: request.branch.clone(), message: what.clone() }),
        hooks: hooks(config),
        pair_limits: gadfly_project::config::loop_default().with(config.limits),
    };
    let named = match (&request.skill, request.only.as_slice()) {
        (Some(skill), _) => format!("/{skill}: {what}"),
        (None, [agent]) => format!("{agent}: {what}"),
        _ => format!("{}: {what}", known.project),
    };
    let draft = PlanBuilder {
        folders: Vec::new(),
        reports: None,
        keeps_status: false,
        settings: Box::new(settings),
        title: named,
        agent_set,
        run_limits,
        loop_limits: Limits::default(),
        texts: shelf.into_texts(),
        warnings: problems,
        workspace: Some(workspace),
        store: request.store.clone(),
    };
    draft.finish().map_err(|p| vec![p])
}

/// What people said before; and whoever types a request has the idea that the first agents wait for.
fn with_request(registry: &Registry, request: &PipelineRequest) -> BTreeMap<String, bool> {
    const IDEAS: [&str; 4] = ["research idea", "research question", "research spec", "idea de investigación"];
    let mut manual = request.manual.clone();
    let atoms = registry.entries.iter().flat_map(|entry| entry.requires.atoms());
    for atom in atoms.filter(|atom| atom.check == Check::Manual) {
        let text = atom.text.to_lowercase();
        if IDEAS.iter().any(|idea| text.starts_with(idea)) {
            manual.entry(atom.text.clone()).or_insert(true);
        }
    }
    manual
}

fn mode(request: &PipelineRequest) -> PipelineMode {
    if request.simple {
        PipelineMode::Simple
    } else if request.only.is_empty() {
        PipelineMode::Pipeline
    } else {
        PipelineMode::Standalone
    }
}

/// One worker and one critic, without a registry.
fn simple(resolver: &AgentResolver<'_>) -> ProjectRegistry {
    let entry = RegistryEntry {
        agent: DEFAULT.to_owned(),
        critic: Some(DEFAULT_CRITIC.to_owned()),
        escalate_to: EscalateTo::User,
        weight: PairWeight::Share { points: 10_000, component: "work".to_owned(), binary: false },
        ..RegistryEntry::default()
    };
    let files = layout::read(resolver.root, resolver.config);
    let project = files.project_name(None).map_or_else(|| root_name(resolver.root), |name| name.name);
    ProjectRegistry { files, registry: Registry { entries: vec![entry] }, project, warnings: Vec::new() }
}

/// How one agent is dispatched.
fn pair(
    entry: &RegistryEntry,
    known: &ProjectRegistry,
    request: &PipelineRequest,
    config: &Config,
    shelf: &mut PlanTexts<'_>,
    cast: &mut Cast,
    problems: &mut Vec<Problem>,
) -> Option<PairSettings> {
    let (files, agent) = (&known.files, entry.agent.as_str());
    let judges = entry.judges();
    cast.add(agent, judges, files, config, problems)?;
    let mut critics: Vec<String> = entry.critic.iter().cloned().collect();
    if judges {
        critics.push(entry.agent.clone());
    }
    let second = files.duals(config).into_iter().find(|dual| dual.agent == agent && !judges);
    let mut seats = Vec::new();
    for critic in &critics {
        cast.add(critic, true, files, config, problems)?;
        seats.push(gadfly_engine::judging::Seat { agent: critic.clone(), fallback: None, lens: None });
    }
    if let Some(dual) = second.filter(|_| mode(request) == PipelineMode::Pipeline && !seats.is_empty()) {
        cast.add(&dual.critic, true, files, config, problems)?;
        let lens = Some(dual.lens.unwrap_or_else(|| dual.critic.clone()));
        seats.push(gadfly_engine::judging::Seat { agent: dual.critic, fallback: None, lens });
    }
    let mut known_by_file: Vec<String> = seats.iter().map(|seat| seat.agent.clone()).collect();
    if let EscalateTo::Agent(target) = &entry.escalate_to {
        cast.add(target, true, files, config, problems)?;
        known_by_file.push(target.clone());
    }
    let (rubric, table) = match critics.first() {
        Some(critic) => {
            let (text, table) = rubric_of(critic, known, problems)?;
            (Some(shelf.keep(text)), table)
        }
        None => (None, None),
    };
    let mut own_rubrics = BTreeMap::new();
    for seat in seats.iter().skip(1) {
        // Critics of one work reply in one form: by rows, or with a number.
        let own = rubric_of(&seat.agent, known, problems);
        if let Some((text, own)) = own.filter(|(_, own)| own.is_some() == table.is_some()) {
            own_rubrics.insert(seat.agent.clone(), OwnRubric { rubric: shelf.keep(text), table: own });
        }
    }
    let identities = known_by_file.into_iter().filter_map(|name| Some((name.clone(), shelf.critic(&name)?)));
    let identities: BTreeMap<String, Digest> = identities.collect();
    let (identity, task, loaded) = shelf.worker(entry, request);
    Some(PairSettings {
        worker: entry.agent.clone(),
        identity,
        task,
        rubric,
        table,
        severity: entry.phase.as_deref().and_then(Phase::parse).unwrap_or(Phase::Execution).level(),
        own_rubrics,
        critic_identities: identities,
        invariants: shelf.invariants(),
        critics: seats,
        threshold: threshold(entry),
        output: output(entry, files),
        // Of those who judge, only whoever says that all works is shown what commands say.
        verify: if judges && !is_binary(entry) {
            Vec::new()
        } else {
            commands(config.project.verify_for(agent))
        },
        loaded,
    })
}

const fn is_binary(entry: &RegistryEntry) -> bool {
    matches!(entry.weight, PairWeight::Share { binary: true, .. })
}

/// What a critic deducts by: its rubric, else what its own file says.
fn rubric_of(
    critic: &str,
    known: &ProjectRegistry,
    problems: &mut Vec<Problem>,
) -> Option<(String, Option<gadfly_engine::deduction::DeductionTable>)> {
    let files = &known.files;
    let Some(rubric) = files.rubric_for(critic) else {
        let own = files.agents.get(critic).map(|agent| agent.body.clone());
        let text =
            own.unwrap_or_else(|| format!("Judge as {critic} would: is the work right, complete and clear?"));
        return Some((text, None));
    };
    match deduction_table::read(&files.root.join(&rubric.path), rubric.section.as_deref()) {
        Ok(reading) => {
            problems.extend(reading.warnings);
            let mut table = reading.table;
            if let Some(table) = &mut table {
                deduction_table::scale(table, &known.files.scales);
            }
            Some((rubric.text, table))
        }
        Err(found) => {
            problems.extend(found);
            None
        }
    }
}

/// Explorations need less.
fn threshold(entry: &RegistryEntry) -> u32 {
    let patterns = entry.produces.iter().flat_map(|product| &product.patterns);
    let mut patterns = patterns.peekable();
    let explores =
        patterns.peek().is_some() && patterns.all(|pattern| pattern.0.starts_with("explorations/"));
    if explores { EXPLORATION } else { THRESHOLD }
}

/// Whoever has no tool to write with says what it has to say, and that becomes its one file.
fn output(entry: &RegistryEntry, files: &ProjectFiles) -> WorkerOutput {
    let is_one = matches!(entry.produces.as_slice(), [Product { patterns, files, .. }]
        if patterns.len() == 1 && patterns[0].is_plain_file() && files.len() <= 1);
    let cannot_write = files.agents.get(&entry.agent).is_some_and(|agent| !agent.can_write());
    if is_one && cannot_write { WorkerOutput::Reply } else { WorkerOutput::Files }
}

fn commands(verify: &VerifyConfig) -> Vec<ProjectCommand> {
    let timeout_ms = u64::try_from(verify.timeout.value.as_millis()).unwrap_or(u64::MAX);
    verify.commands.iter().map(|c| ProjectCommand { line: c.value.clone(), timeout_ms }).collect()
}

fn hooks(config: &Config) -> Hooks {
    let timeout_ms = u64::try_from(config.hooks.timeout.value.as_millis()).unwrap_or(u64::MAX);
    let of = |event| -> Vec<ProjectCommand> {
        config.hooks.of(event).iter().map(|c| ProjectCommand { line: c.value.clone(), timeout_ms }).collect()
    };
    Hooks {
        pre_dispatch: of(HookEvent::PreDispatch),
        post_completion: of(HookEvent::PostCompletion),
        pre_commit: of(HookEvent::PreCommit),
    }
}

fn patterns(globs: &[Sourced<String>]) -> Vec<Pattern> {
    globs.iter().map(|glob| Pattern(glob.value.clone())).collect()
}

/// The skill that dispatches an agent, by agent.
pub fn skills(files: &ProjectFiles) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let agents: BTreeSet<&String> = files.agents.keys().collect();
    for agent in agents {
        if let Some(skill) = files.skills_for(agent).first() {
            all.insert(agent.clone(), skill.name.clone());
        }
    }
    all
}

/// A plan the user brings.
fn given_plan(path: &std::path::Path, problems: &mut Vec<Problem>) -> Option<Text> {
    match file::read_text(path) {
        Ok(text) if text.trim().is_empty() => {
            problems.push(Problem::error(format!("the plan `{}` is empty", path.display())));
            None
        }
        Ok(text) => Some(Text::new(text)),
        Err(error) => {
            problems.push(Problem::error(format!("plan: {error}")));
            None
        }
    }
}

impl RunSettings for PipelineSettings {
    fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error> {
        Self::node_plan(self, limits)
    }

    fn cast(&self) -> Vec<RoleAssignment> {
        parts(self)
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn needs_folder(&self) -> bool {
        true
    }

    fn pipeline_terms(&self) -> Option<PipelineTerms> {
        let is_on = |agent: &String| {
            let entry = self.registry.get(agent);
            entry.is_some_and(|entry| entry.conditional.is_none() || self.enabled.contains(agent))
        };
        Some(PipelineTerms {
            agents: small(self.pairs.keys().filter(|agent| is_on(agent)).count() as u64),
            gate: (self.mode == PipelineMode::Pipeline).then(|| self.gate.name.clone()),
            jobs: self.jobs,
            overall: self.overall,
            planner: match &self.plan {
                Planning::Drafted { by, .. } => Some(by.clone()),
                Planning::None | Planning::Given { .. } => None,
            },
            commits: self.commit.as_ref().map(|commit| commit.branch.clone().unwrap_or_default()),
        })
    }
}

/// Everybody who may be called, for what a run can cost at worst.
fn parts(settings: &PipelineSettings) -> Vec<RoleAssignment> {
    let mut parts: Vec<RoleAssignment> = Vec::new();
    let mut add = |role: &'static str, agent: &str, calls: u32| match parts
        .iter_mut()
        .find(|part| part.role == role && part.agent == agent)
    {
        Some(part) => part.calls = part.calls.saturating_add(calls),
        None => parts.push(RoleAssignment { role, agent: agent.to_owned(), lens: None, calls, grows: 0 }),
    };
    // An escalated pair begins once more; what is incomplete or red is mended.
    let rounds = settings.rounds.saturating_mul(2).saturating_add(settings.fixes).saturating_add(2);
    let rounds = rounds.saturating_mul(settings.overall);
    for (agent, pair) in &settings.pairs {
        let judges = settings.registry.get(agent).is_some_and(RegistryEntry::judges);
        if !judges {
            add("worker", agent, rounds);
        }
        for seat in &pair.critics {
            add("critic", &seat.agent, rounds.saturating_mul(2));
        }
        let target = settings.registry.get(agent).map(|entry| &entry.escalate_to);
        if let Some(EscalateTo::Agent(target)) = target {
            add("decides", target, 1);
        }
    }
    if let Planning::Drafted { by, .. } = &settings.plan {
        add("decides", by, 2);
    }
    parts
}
