//! From a goal that was asked for to a plan: what it is judged by, who watches, what is allowed, where it is
//! worked on. Every problem at once, or a run ready to start.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gadfly_agents::{Network, Unheld, kind_edits_files};
use gadfly_engine::brief::Reference;
use gadfly_engine::goal::Already;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::protocol::goal::{self, Criterion, GoalSettings, Policy, ToolServer};
use gadfly_engine::tool::Risk;
use gadfly_engine::tool::policy::{self, OwnTools};
use gadfly_engine::tree::Acceptance;
use gadfly_engine::{Limits, Text};
use gadfly_journal::RunId;
use gadfly_project::config::TaskSource;
use gadfly_project::place::{ConfigLayer, option};
use gadfly_project::{AgentKind, Config, GoalConfig, Overrides, Problem, SourceSpan, Sourced, file, title};

use super::settings::{RoleAssignment, RunPlace, RunSettings, small};
use super::{PlanBuilder, Prepared, folder};
use crate::agent_set::AgentSet;
use crate::agents::{AgentResolver, startable};
use crate::consent::GoalTerms;
use crate::sandbox;
use crate::workspace::Git;

/// What `goal` was asked to do.
#[derive(Clone, Debug)]
pub struct GoalRequest {
    /// A goal named in `gadfly.toml`.
    pub goal_name: Option<String>,
    /// What it was given besides what is configured.
    pub given: Overrides,
    /// Where runs are kept: the worker's folder is made there.
    pub store: Option<PathBuf>,
    /// What follows if the goal is met before anything was done.
    pub already: Already,
}

impl Default for GoalRequest {
    fn default() -> Self {
        Self { goal_name: None, given: Overrides::of_goal(), store: None, already: Already::default() }
    }
}

impl GoalRequest {
    /// The goal this is about, with everything that is wrong with its configuration.
    pub fn configured(&self, config: &Config) -> (GoalConfig, Vec<Problem>) {
        config.goal_for(self.goal_name.as_deref(), &self.given)
    }
}

/// A goal's settings, and where its worker will be.
#[derive(Clone, PartialEq, Debug)]
pub struct PreparedGoal {
    pub settings: GoalSettings,
    /// The project, if it is worked on in place.
    pub in_place: Option<PathBuf>,
    /// Where the runs of the store have their folders.
    work: Option<PathBuf>,
    /// The project below the top of the worker's own tree.
    below: String,
    steps: u32,
    turns: u32,
}

/// The most a worker's conversation, and what a critic or a judge is shown of it, adds to a brief.
const CONVERSATION: u64 = 96 << 10;
const WINDOW: u64 = 48 << 10;

/// Makes the plan of one goal.
pub async fn prepare_goal(
    request: &GoalRequest,
    resolver: &AgentResolver<'_>,
) -> Result<Prepared, Vec<Problem>> {
    let (config, mut problems) = request.configured(resolver.config);
    let texts = GoalTexts::read(&config, &mut problems);
    if !problems.iter().any(Problem::is_error) {
        problems.extend(cannot_begin(&config, resolver).await);
    }
    let until = config.options.until.as_ref().map_or(Criterion::Manual, |until| until.value.clone());
    if let Some(why) = until.problem() {
        let place = config.options.until.as_ref().and_then(|until| until.place.as_ref());
        problems.push(Problem::error(format!("this cannot be checked: {why}")).at(place));
    }
    let (Some(texts), Some(worker)) = (texts, &config.options.worker) else { return Err(problems) };
    if problems.iter().any(Problem::is_error) {
        return Err(problems);
    }
    problems.extend(config.options.mcp.iter().filter_map(|name| {
        let server = resolver.config.mcp.get(&name.value)?;
        let who = format!("the MCP server `{}`", server.name);
        startable::unstartable(&who, &server.command, resolver.root, resolver.env)
    }));
    worth_saying(&config, &mut problems);
    let run_limits = resolver.config.limits.with(request.given.limits());
    let capped = run_limits.money.is_some() || config.limits.money.is_some();
    let settings = GoalSettings {
        goal: texts.goal.digest(),
        worker: worker.value.clone(),
        critic: config.options.critic.as_ref().filter(|_| config.watches()).map(|c| c.value.clone()),
        interval: small(config.options.critic_interval.value),
        strict_critic: config.options.strict_critic.value,
        judge: judge(&config),
        until,
        policy: Policy {
            risk: config.options.risk.value,
            deny: plain(&config.options.deny),
            allow: plain(&config.options.allow),
        },
        protect: plain(&config.options.protect),
        protect_tests: config.options.protect_tests.value,
        references: texts.references.iter().map(|(reference, _)| reference.clone()).collect(),
        servers: servers(&config, resolver.config),
        root: String::new(),
        below: String::new(),
        held: sandbox::kernel().is_ok(),
        already: Some(request.already),
        examine: config.options.protect_tests.value,
        acceptance: (!config.options.in_place.value).then(|| acceptance(&config, texts.goal.as_str())),
    };
    let others = [&settings.critic, &settings.judge].into_iter().flatten();
    let names: Vec<&str> = std::iter::once(&settings.worker).chain(others).map(String::as_str).collect();
    let agent_set = match resolver.resolve(&names, capped).await {
        Ok(agent_set) => agent_set,
        Err(found) => {
            problems.extend(found);
            return Err(problems);
        }
    };
    problems.extend(without_tools(worker, &agent_set));
    if problems.iter().any(Problem::is_error) {
        return Err(problems);
    }
    match held_to(&settings.policy, &config, worker, &agent_set) {
        Some(problem) if problem.is_error() => {
            problems.push(problem);
            return Err(problems);
        }
        warning => problems.extend(warning),
    }
    let project = resolver.root.canonicalize().unwrap_or_else(|_| resolver.root.to_owned());
    let goal = title::title(texts.goal.as_str());
    let mut workspace = folder(resolver);
    workspace.in_place = config.options.in_place.value;
    let draft = PlanBuilder {
        folders: Vec::new(),
        reports: None,
        keeps_status: false,
        settings: Box::new(PreparedGoal {
            settings,
            in_place: config.options.in_place.value.then(|| project.clone()),
            work: request.store.as_deref().map(|store| resolver.custody.work_of(store)),
            below: below(resolver, &project).await,
            steps: config.limits.steps.unwrap_or(u32::MAX),
            turns: config.limits.turns.unwrap_or(u32::MAX),
        }),
        title: config.name.as_ref().map_or_else(|| goal.clone(), |name| format!("{name}: {goal}")),
        agent_set,
        run_limits,
        loop_limits: config.limits,
        texts: texts.all(),
        warnings: problems,
        workspace: Some(workspace),
        store: request.store.clone(),
    };
    draft.finish().map_err(|p| vec![p])
}

impl RunSettings for PreparedGoal {
    fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error> {
        let settings = serde_json::to_value(&self.settings)?;
        let book = goal::RULE_BOOK;
        Ok(NodePlan { protocol: book.name.into(), version: book.version, limits, settings })
    }

    fn cast(&self) -> Vec<RoleAssignment> {
        let GoalSettings { worker, critic, judge, interval, .. } = &self.settings;
        let part = |role, agent: &String, calls, grows| RoleAssignment {
            role,
            agent: agent.clone(),
            lens: None,
            calls,
            grows,
        };
        // The last words come after the last turn; a critic may be asked to restate.
        let mut cast = vec![part("worker", worker, self.turns.saturating_add(1), CONVERSATION)];
        let looks = self.steps.checked_div(*interval).unwrap_or(0).saturating_mul(2);
        // It looks at the whole change, and again after an objection: each as much as four windows.
        let looks = looks.saturating_add(2 * 4);
        cast.extend(critic.iter().map(|critic| part("critic", critic, looks, WINDOW)));
        // Every turn may claim.
        let claims = self.turns.saturating_mul(judged(&self.settings.until));
        cast.extend(judge.iter().map(|judge| part("judge", judge, claims, WINDOW)));
        cast
    }

    fn rounds(&self) -> u32 {
        0
    }

    fn needs_folder(&self) -> bool {
        true
    }

    fn own_tools(&self) -> Option<OwnTools> {
        Some(OwnTools::of(&self.settings.policy))
    }

    fn goal_terms(&self) -> Option<GoalTerms> {
        let set = &self.settings;
        Some(GoalTerms {
            until: set.until.humanised(),
            policy: policy::describe(&set.policy, &set.root),
            interval: set.critic.as_ref().map(|_| set.interval),
            root: set.root.clone(),
            in_place: self.in_place.is_some(),
            commits: matches!(set.acceptance, Some(Acceptance::Commit { .. })),
        })
    }

    /// Where the worker will be is known once the run has its name.
    fn belong_to(&mut self, run: &RunId, _: &RunPlace<'_>) {
        let tree = self.work.as_ref().map(|work| work.join(run.as_str()).join("tree/work"));
        // Joining nothing would leave a slash at the end.
        let below = |tree: PathBuf| if self.below.is_empty() { tree } else { tree.join(&self.below) };
        let root = self.in_place.clone().or_else(|| tree.map(below));
        self.settings.below.clone_from(&self.below);
        self.settings.root = root.map(|root| root.to_string_lossy().into_owned()).unwrap_or_default();
    }
}

/// How many checks ask a model.
fn judged(until: &Criterion) -> u32 {
    let asks = |leaf: &&&Criterion| matches!(leaf, Criterion::Judge { .. } | Criterion::Vision { .. });
    small(until.leaves().iter().filter(asks).count() as u64)
}

/// Who answers `judge` and `vision`, if anybody has to.
fn judge(config: &GoalConfig) -> Option<String> {
    let named = config.options.judge.as_ref().or(config.options.critic.as_ref());
    named.filter(|_| config.is_judged()).map(|agent| agent.value.clone())
}

fn acceptance(config: &GoalConfig, goal: &str) -> Acceptance {
    if !config.options.commit.value {
        return Acceptance::Checkout;
    }
    let message = format!("{}\n", title::title(goal));
    Acceptance::Commit { branch: config.options.branch.as_ref().map(|b| b.value.clone()), message }
}

fn servers(config: &GoalConfig, all: &Config) -> Vec<ToolServer> {
    let known = |name: &Sourced<String>| {
        let risk = all.mcp.get(&name.value)?.risk.value;
        Some(ToolServer { name: name.value.clone(), risk })
    };
    config.options.mcp.iter().filter_map(known).collect()
}

fn plain(list: &[Sourced<String>]) -> Vec<String> {
    list.iter().map(|text| text.value.clone()).collect()
}

/// What stops nothing, and is better known now than found out later.
fn worth_saying(config: &GoalConfig, problems: &mut Vec<Problem>) {
    let mut warn = |message: &str, help: &str| {
        problems.push(Problem::warning(message).help(help).at(config.place.as_ref()));
    };
    if config.options.until.is_none() {
        warn(
            "no success criterion is given: you will be asked whether the goal is reached",
            &format!("add {}, or `until = \"COMMAND\"`", option("until 'COMMAND'")),
        );
    }
    if config.options.critic.is_none() {
        warn(
            "nobody watches: no critic specified, so drift and repetition are noticed by fixed rules only",
            &format!("add {}, or set `critic` in [defaults]", option("critic NAME")),
        );
    } else if config.options.critic_interval.value == 0 {
        warn(
            "nobody watches: the critic's interval is 0",
            &format!("5 steps are usual: {}", option("critic_interval 5")),
        );
    }
    if config.options.judge.is_some() && !config.is_judged() {
        warn(
            "the judge has nothing to say: no `judge` or `vision` is among the success criteria",
            &format!("add {}, or leave {} out", option("until_judge QUESTION"), option("judge")),
        );
    }
    if config.is_judged() && config.options.judge.is_none() && config.options.critic.is_none() {
        warn(
            "the worker's own model will say whether the goal is reached",
            &format!("name another with {}", option("judge NAME")),
        );
    }
}

/// An agent that could only talk.
fn without_tools(worker: &Sourced<String>, agent_set: &AgentSet) -> Option<Problem> {
    let member = agent_set.get(&worker.value)?;
    let able = member.agent.as_ref().is_some_and(|a| a.is_offered_tools() || a.works_in_a_folder());
    if able {
        return None;
    }
    let message = format!(
        "worker `{}` of kind `{}` has neither tools nor a folder it could work in",
        worker.value, member.card.kind
    );
    let help = if member.card.kind == AgentKind::Scripted.name() {
        "give its script a reply with `calls` or `files`".to_owned()
    } else {
        let able = AgentKind::ALL.iter().filter(|kind| kind.is_http() || kind.is_process());
        format!("name one of kind {}", able.map(|kind| kind.name()).collect::<Vec<_>>().join(", "))
    };
    Some(Problem::error(message).help(help).at(worker.place.as_ref()))
}

/// A worker with tools of its own must be held to the policy by something other than a question before each step. What
/// cannot be held is refused now, a network that stays open to its commands as well, unless no risk was stated: then it is
/// only said.
fn held_to(
    policy: &Policy,
    config: &GoalConfig,
    worker: &Sourced<String>,
    agent_set: &AgentSet,
) -> Option<Problem> {
    let member = agent_set.get(&worker.value)?;
    let agent = member.agent.as_ref().filter(|agent| !agent.is_offered_tools())?;
    let kind = &member.card.kind;
    let place = worker.place.as_ref();
    let own = OwnTools::of(policy);
    if let Some(Unheld { why, fix }) = sandbox::unheld(agent.as_ref(), &own) {
        let message = format!("worker `{}` ({kind}) cannot be held to this policy: {why}", worker.value);
        return Some(Problem::error(message).help(fix).at(place));
    }
    let is_program = agent.can_be_sandboxed() || kind_edits_files(kind);
    if policy.risk >= Risk::NetworkWrite
        || member.needs.network == Network::None
        || !is_program
        || !sandbox::has_networked_commands(agent.as_ref(), &own)
    {
        return None;
    }
    let message = format!(
        "risk={} does not keep `{}` ({kind}) from the network: it reaches its model from where its commands run",
        policy.risk, worker.value
    );
    // A project cannot take back what its user states.
    let (risk, open) = (&config.options.risk, &config.options.open_network);
    let left_open = open.value && (open.layer != ConfigLayer::Project || risk.layer == ConfigLayer::Project);
    if risk.layer == ConfigLayer::BuiltIn || left_open {
        let help = "commands of a worker behind an API have no network";
        return Some(Problem::warning(message).help(help).at(place));
    }
    let help = format!(
        "leave it open with {} or {}, or take a worker behind an API: its commands have no network",
        option("open_network"),
        option("risk network_write")
    );
    Some(Problem::error(message).help(help).at(risk.place.as_ref().or(place)))
}

/// Why a worker's folder could not be made, or its work not be committed: better said now than when all is done.
async fn cannot_begin(config: &GoalConfig, resolver: &AgentResolver<'_>) -> Option<Problem> {
    let Some(launcher) = resolver.launcher else {
        let help = "start it with the installed gadfly";
        return Some(Problem::error("programs cannot be started here, and a goal needs them").help(help));
    };
    let git = Git::new(Arc::clone(launcher), resolver.env.clone());
    if !config.options.commit.value || config.options.in_place.value {
        let error = git.present(resolver.root).await.err()?;
        return Some(Problem::error(format!("a goal needs git to keep its work apart: {error}")));
    }
    let branch = config.options.branch.as_ref();
    let error = git.could_commit(resolver.root, branch.map(|b| b.value.as_str())).await.err()?;
    let place = branch.map_or(config.options.commit.place.as_ref(), |b| b.place.as_ref());
    Some(Problem::error(format!("the work could not be committed: {error}")).at(place))
}

/// Where the project lies in the worker's tree. A mistake is found, and said, when the tree is made.
async fn below(resolver: &AgentResolver<'_>, project: &Path) -> String {
    let Some(launcher) = resolver.launcher else { return String::new() };
    let git = Git::new(Arc::clone(launcher), resolver.env.clone());
    git.lies_below(project).await.unwrap_or_default()
}

/// What the user brings.
struct GoalTexts {
    goal: Text,
    references: Vec<(Reference, Text)>,
}

impl GoalTexts {
    fn read(config: &GoalConfig, problems: &mut Vec<Problem>) -> Option<Self> {
        let goal = config.goal.as_ref().and_then(|goal| match &goal.value {
            TaskSource::Text(text) => Some(text.clone()),
            TaskSource::File(path) => read("goal", path, goal.place.as_ref(), problems),
        });
        let mut references = Some(Vec::new());
        for path in &config.options.with {
            let read = read("with", &path.value, path.place.as_ref(), problems).map(|text| {
                let text = Text::new(text);
                let name = path.value.file_name().unwrap_or(path.value.as_os_str());
                (Reference { name: name.to_string_lossy().into_owned(), text: text.digest() }, text)
            });
            references = references.zip(read).map(|(mut all, read)| {
                all.push(read);
                all
            });
        }
        let goal = goal?;
        if goal.trim().is_empty() {
            problems.push(Problem::error("the goal is empty").help("say what is to be reached"));
            return None;
        }
        Some(Self { goal: Text::new(goal), references: references? })
    }

    fn all(self) -> Vec<Text> {
        std::iter::once(self.goal).chain(self.references.into_iter().map(|(_, text)| text)).collect()
    }
}

fn read(what: &str, path: &Path, place: Option<&SourceSpan>, problems: &mut Vec<Problem>) -> Option<String> {
    file::read_text(path).map_err(|e| problems.push(Problem::error(format!("{what}: {e}")).at(place))).ok()
}
