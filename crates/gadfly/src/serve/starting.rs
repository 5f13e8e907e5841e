//! Forms that start a loop or a goal. What is filled in becomes the request a command line would make, and nothing is
//! started before the person has seen who is sent what, and agreed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use gadfly_engine::goal::Already;
use gadfly_engine::protocol::watch::Criterion;
use gadfly_engine::{Limits, Money};
use gadfly_project::config::until;
use gadfly_project::{Flags, GoalFlags, Protocol, Sourced, file, landing};
use gadfly_runtime::prepare::{GoalRequest, Prepared, Request};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Dashboard;
use super::asked::Body;
use super::refusal::Refusal;
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
    let protocols: Vec<Value> =
        OFFERED.iter().map(|(name, says)| json!({ "name": name, "says": says })).collect();
    let loops = config.loops.iter().map(|(name, l)| (name, l.protocol.value.name().to_owned()));
    let goals = config.goals.keys().map(|name| (name, "goal".to_owned()));
    let listed = |(name, says): (&String, String)| json!({ "name": name, "says": says });
    let problems: Vec<&str> =
        context.problems.iter().filter(|p| p.is_error()).map(|p| p.message.as_str()).collect();
    Json(json!({
        "agents": agents,
        "defaults": { "worker": named(&config.defaults.worker), "critic": named(&config.defaults.critic) },
        "protocols": protocols,
        "loops": loops.map(listed).collect::<Vec<_>>(),
        "goals": goals.map(listed).collect::<Vec<_>>(),
        "problems": problems,
    }))
}

/// The protocols a loop can be started with from a form.
const OFFERED: [(&str, &str); 4] = [
    ("revise", "the critic approves, or rejects with fixes"),
    ("score", "the critic takes off points by a rubric"),
    ("converge", "the critic answers named questions until nothing is left to fix"),
    ("audit", "the worker edits a copy of the project; every criterion is judged"),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loop {
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
    protocol: Option<String>,
    #[serde(default)]
    worker: Option<String>,
    #[serde(default)]
    critic: Option<String>,
    #[serde(default)]
    rounds: Option<u64>,
    #[serde(default)]
    budget_usd: Option<f64>,
    #[serde(default)]
    out: Option<String>,
    #[serde(default)]
    agree: Option<String>,
}

pub async fn start_loop(
    State(dashboard): State<Arc<Dashboard>>,
    Body(form): Body<Loop>,
) -> Result<Json<Value>, Refusal> {
    let context = dashboard.now();
    let agree = form.agree.clone();
    let request = form.request(&context)?;
    bounded(&context, &request)?;
    let gadfly = dashboard.background.under(&context);
    let prepare = || terms::of_loop(&context, gadfly.setup(), &request);
    let mut ready = prepare().await.map_err(|found| Refusal::problems(&found))?;
    if trusted(&context, &ready, agree.as_deref())? {
        ready = prepare().await.map_err(|found| Refusal::problems(&found))?;
    }
    begin(&dashboard, &context, ready, agree.as_deref()).await
}

/// What a page may start reads and writes the project's own files, and none that programs obey by themselves: whoever
/// sits at the page agrees to a run there, not to what it would do to the rest of the machine.
fn bounded(context: &Context, request: &Request) -> Result<(), Refusal> {
    let root = &context.root.dir;
    let looped = request.configured(&context.config).0;
    if let Some(out) = looped.out.as_ref().or(looped.draft.as_ref()) {
        writable(root, &out.value).map_err(|why| {
            Refusal::bad(format!("the result cannot go to {} from here: {why}", out.value.display()))
                .help("name a file of the project, or start it in a terminal")
        })?;
    }
    for rubric in &request.rubrics {
        file::inside(root, rubric).map_err(|e| Refusal::bad(format!("rubric: {e}")))?;
    }
    Ok(())
}

/// Why a page may not have this file written.
pub fn writable(root: &Path, path: &Path) -> Result<(), &'static str> {
    match landing::kind(root, path) {
        landing::Kind::Git => Err("it lies in git's own folder"),
        landing::Kind::Obeyed => Err("programs run or obey it by themselves"),
        landing::Kind::Ordinary if file::inside(root, path).is_err() => Err("it lies outside the project"),
        landing::Kind::Ordinary => Ok(()),
    }
}

impl Loop {
    fn request(self, context: &Context) -> Result<Request, Refusal> {
        let given = |text: Option<String>| text.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
        let (name, task) = (given(self.name), given(self.task));
        match (&name, &task) {
            (Some(name), _) if !context.config.loops.contains_key(name) => {
                return Err(Refusal::bad(format!("gadfly.toml has no loop `{name}`")));
            }
            (None, None) => return Err(Refusal::bad("what is to be done? The task is empty")),
            _ => {}
        }
        let protocol = given(self.protocol);
        if let Some(unknown) =
            protocol.as_deref().filter(|p| Protocol::ALL.iter().all(|known| known.name() != *p))
        {
            return Err(Refusal::bad(format!("there is no protocol `{unknown}`")));
        }
        let criteria = self.criteria.into_iter().map(|c| c.trim().to_owned()).filter(|c| !c.is_empty());
        let criteria: Vec<_> = criteria.take(MOST_CRITERIA).map(Sourced::flag).collect();
        let path = |text: Option<String>| given(text).map(|t| context.root.dir.join(t));
        let flags = Flags {
            protocol,
            task,
            worker: given(self.worker),
            critics: given(self.critic).into_iter().collect(),
            rounds: self.rounds,
            out: path(self.out),
            limits: Limits { money: self.budget_usd.map(usd).transpose()?, ..Limits::default() },
            ..Flags::default()
        };
        let rubrics: Vec<PathBuf> = path(self.rubric).into_iter().collect();
        Ok(Request {
            loop_name: name,
            flags,
            rubrics,
            criteria,
            store: Some(context.store()),
            ..Request::default()
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    #[serde(default)]
    named: Option<String>,
    #[serde(default, rename = "goal")]
    text: Option<String>,
    /// Commands that have to succeed.
    #[serde(default)]
    until: Vec<String>,
    #[serde(default)]
    worker: Option<String>,
    #[serde(default)]
    critic: Option<String>,
    #[serde(default)]
    max_steps: Option<u32>,
    #[serde(default)]
    minutes: Option<f64>,
    #[serde(default)]
    budget_usd: Option<f64>,
    #[serde(default)]
    agree: Option<String>,
}

pub async fn start_goal(
    State(dashboard): State<Arc<Dashboard>>,
    Body(form): Body<Goal>,
) -> Result<Json<Value>, Refusal> {
    let context = dashboard.now();
    let agree = form.agree.clone();
    let request = form.request(&context)?;
    let gadfly = dashboard.background.under(&context);
    let prepare = || terms::of_goal(&context, gadfly.setup(), &request);
    let mut ready = prepare().await.map_err(|found| Refusal::problems(&found))?;
    if trusted(&context, &ready, agree.as_deref())? {
        ready = prepare().await.map_err(|found| Refusal::problems(&found))?;
    }
    begin(&dashboard, &context, ready, agree.as_deref()).await
}

impl Goal {
    fn request(self, context: &Context) -> Result<GoalRequest, Refusal> {
        let given = |text: Option<String>| text.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
        let (named, goal) = (given(self.named), given(self.text));
        match (&named, &goal) {
            (Some(name), _) if !context.config.goals.contains_key(name) => {
                return Err(Refusal::bad(format!("gadfly.toml has no goal `{name}`")));
            }
            (None, None) => return Err(Refusal::bad("what is the goal? It is empty")),
            _ => {}
        }
        let commands = self.until.iter().map(|c| c.trim()).filter(|c| !c.is_empty()).take(MOST_CRITERIA);
        let checks: Vec<Criterion> = commands.map(|command| until::shell(command.to_owned())).collect();
        let flags = GoalFlags {
            goal,
            until: until::together(checks, false),
            worker: given(self.worker),
            critic: given(self.critic),
            limits: Limits {
                steps: self.max_steps,
                active_ms: self.minutes.map(minutes).transpose()?,
                money: self.budget_usd.map(usd).transpose()?,
                ..Limits::default()
            },
            ..GoalFlags::default()
        };
        Ok(GoalRequest { goal_name: named, flags, store: Some(context.store()), already: Already::Ask })
    }
}

pub fn usd(amount: f64) -> Result<Money, Refusal> {
    Money::of_usd(amount).ok_or_else(|| Refusal::bad("the budget has to be an amount of dollars, like 0.50"))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked
pub fn minutes(minutes: f64) -> Result<u64, Refusal> {
    if minutes.is_finite() && minutes > 0.0 && minutes < MOST_MINUTES {
        return Ok((minutes * 60_000.0) as u64);
    }
    Err(Refusal::bad("the time has to be a number of minutes, like 30"))
}

/// Remembers what the project's files want, if that is what was agreed to.
fn trusted(context: &Context, ready: &Ready, agree: Option<&str>) -> Result<bool, Refusal> {
    let Ready::Untrusted(terms) = ready else { return Ok(false) };
    if agree != Some(terms.digest().as_str()) {
        return Ok(false);
    }
    terms.trust(context).map_err(Refusal::ours)?;
    Ok(true)
}

/// Starts what was agreed to; else says what has to be.
async fn begin(
    dashboard: &Dashboard,
    context: &Context,
    ready: Ready,
    agree: Option<&str>,
) -> Result<Json<Value>, Refusal> {
    match ready {
        Ready::Prepared(prepared, terms) if agree == Some(terms.digest().as_str()) => {
            let prepared: Prepared = *prepared;
            agreement::named(context, &prepared.start.plan);
            let run = dashboard.background.start(context, prepared).await?;
            Ok(Json(json!({ "run": run })))
        }
        Ready::Untrusted(terms) | Ready::Prepared(_, terms) => Err(Refusal::terms(&terms)),
    }
}

impl Dashboard {
    /// The project as it is configured now: a person may have edited `gadfly.toml` since.
    pub fn now(&self) -> Context {
        Context::read(self.context.global.clone())
    }
}
