//! Forms that start a loop or a goal. What is filled in becomes the request a command line would make, and nothing is
//! started before the person has seen who is sent what, and agreed.

use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use gadfly_engine::Money;
use gadfly_engine::goal::Already;
use gadfly_engine::protocol::goal::Criterion;
use gadfly_project::config::keys::{self, ConfigSection, Key, Shape};
use gadfly_project::config::until;
use gadfly_project::{LoopProtocol, Overrides, Sourced, file, landing, reference};
use gadfly_runtime::prepare::{GoalRequest, Prepared, Request};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::Dashboard;
use super::extract::JsonBody;
use super::refusal::HttpRefusal;
use crate::agreement;
use crate::context::Context;
use crate::terms::{self, Ready};

const MOST_CRITERIA: usize = 100;
/// Nobody waits longer for a goal, and a typo should not.
const MOST_MINUTES: f64 = 100_000.0;

/// What a form can offer.
pub async fn choices(State(dashboard): State<Arc<Dashboard>>) -> Json<Value> {
    let context = dashboard.now();
    let config = &context.config;
    // One that is not configured is among the problems, and nothing to choose.
    let named = |name: &Option<Sourced<String>>| {
        name.as_ref().map(|n| n.value.clone()).filter(|name| config.agents.contains_key(name))
    };
    let agents: Vec<Value> = config
        .agents
        .values()
        .map(|agent| {
            let sends_to = agent.base_url.as_ref().map_or("this machine", |url| url.value.host.as_str());
            let model = agent.model.as_ref().map(|m| &m.value);
            json!({ "name": agent.name, "kind": agent.kind.value.name(), "model": model, "sends_to": sends_to })
        })
        .collect();
    let protocols = LoopProtocol::all().map(|p| json!({ "name": p.name(), "says": p.card().says }));
    let loops = config.loops.iter().map(|(name, l)| (name, l.options.protocol.value.name().to_owned()));
    let goals = config.goals.keys().map(|name| (name, "goal".to_owned()));
    let listed = |(name, says): (&String, String)| json!({ "name": name, "says": says });
    let problems: Vec<&str> =
        context.problems.iter().filter(|p| p.is_error()).map(|p| p.message.as_str()).collect();
    Json(json!({
        "agents": agents,
        "defaults": { "worker": named(&config.defaults.worker), "critic": named(&config.defaults.critic) },
        "protocols": protocols.collect::<Vec<_>>(),
        "fields": { "loop": fields(ConfigSection::Loop), "goal": fields(ConfigSection::Goal) },
        "loops": loops.map(listed).collect::<Vec<_>>(),
        "goals": goals.map(listed).collect::<Vec<_>>(),
        "problems": problems,
    }))
}

/// The fields of a form: the options of the table that have a label.
fn fields(section: ConfigSection) -> Vec<Value> {
    let offered = keys::all().filter(|key| [section, ConfigSection::Budget].contains(&key.section));
    let field = |key: &Key| {
        let kind = match key.shape {
            Shape::Whole { .. } | Shape::Number { .. } | Shape::Time => "number",
            Shape::Protocol | Shape::OneOf(_) => "choice",
            _ if key.flag.is_some_and(|flag| flag.value == "AGENT") => "agent",
            _ => "line",
        };
        let (least, step) = match key.shape {
            Shape::Whole { min, .. } => (min.to_string(), "1"),
            Shape::Number { min, .. } => (min.to_string(), "any"),
            _ => ("1".to_owned(), "any"),
        };
        json!({ "name": key.argument(), "label": key.label, "kind": kind, "min": least, "step": step, "like": key.like.trim_matches('"'), "choices": reference::names(key.shape) })
    };
    offered.filter(|key| key.label.is_some()).map(field).collect()
}

/// What a form sends: its options, and what only a form has.
fn read<T: DeserializeOwned>(
    section: ConfigSection,
    mut sent: Map<String, Value>,
    root: &Path,
) -> Result<(Overrides, T), HttpRefusal> {
    let mut given = Overrides::of(section);
    given.take(&mut sent, |key| key.label.is_some(), Some(root));
    let own = serde_json::from_value(Value::Object(sent))
        .map_err(|e| HttpRefusal::new(StatusCode::UNPROCESSABLE_ENTITY, e.to_string()))?;
    Ok((given, own))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartLoopBody {
    /// One that `gadfly.toml` names.
    #[serde(default, rename = "loop")]
    name: Option<String>,
    #[serde(default)]
    task: Option<String>,
    #[serde(default)]
    criteria: Vec<String>,
    #[serde(default)]
    rubric: Option<String>,
    #[serde(default)]
    agree: Option<String>,
}

pub async fn start_loop(
    State(dashboard): State<Arc<Dashboard>>,
    JsonBody(sent): JsonBody<Map<String, Value>>,
) -> Result<Json<Value>, HttpRefusal> {
    let context = dashboard.now();
    let (given, form) = read::<StartLoopBody>(ConfigSection::Loop, sent, &context.root.dir)?;
    let agree = form.agree.clone();
    let request = form.request(given, &context)?;
    bounded(&context, &request)?;
    let gadfly = dashboard.background.under(&context);
    let prepare = || terms::of_loop(&context, gadfly.setup(), &request);
    let mut ready = prepare().await.map_err(|found| HttpRefusal::problems(&found))?;
    if trusted(&context, &ready, agree.as_deref())? {
        ready = prepare().await.map_err(|found| HttpRefusal::problems(&found))?;
    }
    begin(&dashboard, &context, ready, agree.as_deref()).await
}

/// What a page may start reads and writes the project's own files, and none that programs obey by themselves: whoever
/// sits at the page agrees to a run there, not to what it would do to the rest of the machine.
fn bounded(context: &Context, request: &Request) -> Result<(), HttpRefusal> {
    let root = &context.root.dir;
    let looped = request.configured(&context.config).0;
    if let Some(out) = looped.options.out.as_ref().or(looped.options.draft.as_ref()) {
        writable(root, &out.value).map_err(|why| {
            HttpRefusal::bad(format!("the result cannot go to {} from here: {why}", out.value.display()))
                .help("name a file of the project, or start it in a terminal")
        })?;
    }
    for rubric in &request.rubrics {
        file::inside(root, rubric).map_err(|e| HttpRefusal::bad(format!("rubric: {e}")))?;
    }
    Ok(())
}

/// Why a page may not have this file written.
pub fn writable(root: &Path, path: &Path) -> Result<(), &'static str> {
    match landing::kind(root, path) {
        landing::LandingKind::Git => Err("it lies in git's own folder"),
        landing::LandingKind::Obeyed => Err("programs run or obey it by themselves"),
        landing::LandingKind::Ordinary if file::inside(root, path).is_err() => {
            Err("it lies outside the project")
        }
        landing::LandingKind::Ordinary => Ok(()),
    }
}

impl StartLoopBody {
    fn request(self, mut given: Overrides, context: &Context) -> Result<Request, HttpRefusal> {
        let filled = |text: Option<String>| text.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
        let (name, task) = (filled(self.name), filled(self.task));
        match (&name, &task) {
            (Some(name), _) if !context.config.loops.contains_key(name) => {
                return Err(HttpRefusal::bad(format!("gadfly.toml has no loop `{name}`")));
            }
            (None, None) => return Err(HttpRefusal::bad("what is to be done? The task is empty")),
            _ => {}
        }
        let criteria = self.criteria.into_iter().map(|c| c.trim().to_owned()).filter(|c| !c.is_empty());
        let criteria: Vec<_> = criteria.take(MOST_CRITERIA).map(Sourced::flag).collect();
        if let Some(task) = task {
            given.set("task", task);
        }
        let rubrics = filled(self.rubric).map(|path| context.root.dir.join(path)).into_iter().collect();
        Ok(Request {
            loop_name: name,
            given,
            rubrics,
            criteria,
            store: Some(context.store()),
            ..Request::default()
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartGoalBody {
    #[serde(default)]
    named: Option<String>,
    #[serde(default, rename = "goal")]
    text: Option<String>,
    /// Commands that have to succeed.
    #[serde(default)]
    until: Vec<String>,
    #[serde(default)]
    agree: Option<String>,
}

pub async fn start_goal(
    State(dashboard): State<Arc<Dashboard>>,
    JsonBody(sent): JsonBody<Map<String, Value>>,
) -> Result<Json<Value>, HttpRefusal> {
    let context = dashboard.now();
    let (given, form) = read::<StartGoalBody>(ConfigSection::Goal, sent, &context.root.dir)?;
    let agree = form.agree.clone();
    let request = form.request(given, &context)?;
    let gadfly = dashboard.background.under(&context);
    let prepare = || terms::of_goal(&context, gadfly.setup(), &request);
    let mut ready = prepare().await.map_err(|found| HttpRefusal::problems(&found))?;
    if trusted(&context, &ready, agree.as_deref())? {
        ready = prepare().await.map_err(|found| HttpRefusal::problems(&found))?;
    }
    begin(&dashboard, &context, ready, agree.as_deref()).await
}

impl StartGoalBody {
    fn request(self, mut given: Overrides, context: &Context) -> Result<GoalRequest, HttpRefusal> {
        let filled = |text: Option<String>| text.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
        let (named, goal) = (filled(self.named), filled(self.text));
        match (&named, &goal) {
            (Some(name), _) if !context.config.goals.contains_key(name) => {
                return Err(HttpRefusal::bad(format!("gadfly.toml has no goal `{name}`")));
            }
            (None, None) => return Err(HttpRefusal::bad("what is the goal? It is empty")),
            _ => {}
        }
        let commands = self.until.iter().map(|c| c.trim()).filter(|c| !c.is_empty()).take(MOST_CRITERIA);
        let checks: Vec<Criterion> = commands.map(|command| until::shell(command.to_owned())).collect();
        if let Some(until) = until::together(checks, false) {
            given.set("until", until);
        }
        if let Some(goal) = goal {
            given.set("goal", goal);
        }
        Ok(GoalRequest { goal_name: named, given, store: Some(context.store()), already: Already::Ask })
    }
}

pub fn usd(amount: f64) -> Result<Money, HttpRefusal> {
    Money::of_usd(amount)
        .ok_or_else(|| HttpRefusal::bad("the budget has to be an amount of dollars, like 0.50"))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked
pub fn minutes(minutes: f64) -> Result<u64, HttpRefusal> {
    if minutes.is_finite() && minutes > 0.0 && minutes < MOST_MINUTES {
        return Ok((minutes * 60_000.0) as u64);
    }
    Err(HttpRefusal::bad("the time has to be a number of minutes, like 30"))
}

/// Remembers what the project's files want, if that is what was agreed to.
fn trusted(context: &Context, ready: &Ready, agree: Option<&str>) -> Result<bool, HttpRefusal> {
    let Ready::Untrusted(terms) = ready else { return Ok(false) };
    if agree != Some(terms.digest().as_str()) {
        return Ok(false);
    }
    terms.trust(context).map_err(HttpRefusal::ours)?;
    Ok(true)
}

/// Starts what was agreed to; else says what has to be.
async fn begin(
    dashboard: &Dashboard,
    context: &Context,
    ready: Ready,
    agree: Option<&str>,
) -> Result<Json<Value>, HttpRefusal> {
    match ready {
        Ready::Prepared(prepared, terms) if agree == Some(terms.digest().as_str()) => {
            let prepared: Prepared = *prepared;
            agreement::named(context, &prepared.start.plan);
            let run = dashboard.background.start(context, prepared).await?;
            Ok(Json(json!({ "run": run })))
        }
        Ready::Untrusted(terms) | Ready::Prepared(_, terms) => Err(HttpRefusal::terms(&terms)),
    }
}

impl Dashboard {
    /// The project as it is configured now: a person may have edited `gadfly.toml` since.
    pub fn now(&self) -> Context {
        Context::read(self.context.global.clone())
    }
}
