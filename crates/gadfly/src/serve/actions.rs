//! What a person does to a run from its page: each is one call of the façade, and what became of it is said.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use gadfly_engine::reading::person::{self, PersonVerdict};
use gadfly_engine::turn::Role;
use gadfly_engine::{Control, EffectId, Limits};
use gadfly_journal::{RunId, Window};
use gadfly_project::trust::What;
use gadfly_runtime::service::{AnswerError, Controlled, Raise, ResumeError, SteerError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::extract::JsonBody;
use super::refusal::HttpRefusal;
use super::start::{minutes, usd};
use super::{Dashboard, page, questions};
use crate::context::Context;
use crate::session::{only_by_token, unreadable};
use crate::{terms, verdict};

/// How long a run that has stopped may take to be let go of.
const STOPPING: Duration = Duration::from_secs(2);

/// Who answers and steers, as the record has it.
const BY: &str = "dashboard";

type ActionResult = Result<Json<Value>, HttpRefusal>;

#[allow(clippy::unnecessary_wraps)] // every act ends with it
fn said(what: &str) -> ActionResult {
    Ok(Json(json!({ "said": what })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerBody {
    effect: String,
    text: String,
    /// Of a critic's turn: then the text is a reason, or one fix per line.
    #[serde(default)]
    verdict: Option<VerdictWord>,
    /// With a verdict, where points count.
    #[serde(default)]
    points: Option<u32>,
    /// The digest of the terms that were shown, if some were.
    #[serde(default)]
    agree: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum VerdictWord {
    Approve,
    Reject,
}

/// Leaves the answer, and takes the run up with it if nobody drives it.
pub async fn answer(
    State(dashboard): State<Arc<Dashboard>>,
    Path(run): Path<String>,
    JsonBody(AnswerBody { effect, mut text, verdict, points, agree }): JsonBody<AnswerBody>,
) -> ActionResult {
    let run = page::named(&run)?;
    let effect: EffectId = effect.parse().map_err(|_| HttpRefusal::bad("`effect` names no question"))?;
    if text.trim().is_empty() && verdict.is_none() {
        return Err(HttpRefusal::bad("the answer is empty"));
    }
    let context = dashboard.now();
    agreed(&dashboard, &context, &run, agree.as_deref())?;
    let gadfly = dashboard.gadfly();
    let unfit = |why: String| HttpRefusal::new(axum::http::StatusCode::UNPROCESSABLE_ENTITY, why);
    let turn = questions::turn(gadfly, &run, &effect)?;
    if verdict.is_some() && turn.as_ref().is_none_or(|turn| turn.role != Role::Critic) {
        return Err(HttpRefusal::bad("`verdict` is for a critic's turn"));
    }
    if let Some(turn) = turn {
        if let Some(why) = only_by_token(&turn, &run) {
            return Err(HttpRefusal::conflict(why));
        }
        if let Some(word) = verdict {
            let person = match word {
                VerdictWord::Approve => person::Word::Approves,
                VerdictWord::Reject => person::Word::Rejects,
            };
            text = verdict::composed(&turn, &PersonVerdict::given(person, text, points)).map_err(unfit)?;
        } else if let Some(why) = unreadable(gadfly.journal(), &run, &text, turn.role) {
            return Err(unfit(why));
        }
    }
    let asked = gadfly.answer_first(&run, &effect, text, BY).map_err(|e| match e {
        AnswerError::NothingAsked { .. } => HttpRefusal::conflict(e.to_string()),
        AnswerError::NoAnswer { .. } => unfit(e.to_string()),
        AnswerError::Read(e) => e.into(),
        AnswerError::Post(e) => e.into(),
    })?;
    if asked.driven {
        return said("answered");
    }
    match dashboard.background.resume(&context, &run, Raise::default()).await {
        Ok(()) => said("answered; the run goes on here"),
        Err(why) => said(&format!("the answer is kept, and the run was not taken up: {why}")),
    }
}

pub async fn pause(State(dashboard): State<Arc<Dashboard>>, Path(run): Path<String>) -> ActionResult {
    let run = page::named(&run)?;
    match control(&dashboard, &run, Control::Pause).await? {
        Controlled::NotDriven => {
            Err(HttpRefusal::conflict("the run is not active, so there is nothing to pause"))
        }
        Controlled::Asked | Controlled::Done { .. } => said("it pauses after its calls under way"),
    }
}

pub async fn cancel(State(dashboard): State<Arc<Dashboard>>, Path(run): Path<String>) -> ActionResult {
    let run = page::named(&run)?;
    match control(&dashboard, &run, Control::Cancel).await? {
        Controlled::Asked => said("the process that drives the run ends it"),
        Controlled::Done { .. } | Controlled::NotDriven => said("ended"),
    }
}

async fn control(dashboard: &Dashboard, run: &RunId, control: Control) -> Result<Controlled, HttpRefusal> {
    dashboard.gadfly().journal().summary(run)?;
    dashboard.gadfly().control(run, control, BY).await.map_err(|e| match e {
        ResumeError::Ended { .. } => HttpRefusal::conflict(e.to_string()),
        other => HttpRefusal::ours(other),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SteerBody {
    text: String,
}

pub async fn steer(
    State(dashboard): State<Arc<Dashboard>>,
    Path(run): Path<String>,
    JsonBody(SteerBody { text }): JsonBody<SteerBody>,
) -> ActionResult {
    let run = page::named(&run)?;
    let driven = dashboard.gadfly().steer(&run, &text, BY).map_err(|e| match e {
        SteerError::NoGoal { .. } | SteerError::Ended { .. } => HttpRefusal::conflict(e.to_string()),
        SteerError::Empty | SteerError::TooLong { .. } => HttpRefusal::bad(e.to_string()),
        SteerError::Read(e) => e.into(),
        SteerError::Post(e) => e.into(),
    })?;
    said(if driven {
        "the worker reads it at its next turn"
    } else {
        "the worker reads it when the run is resumed"
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResumeBody {
    #[serde(default)]
    agree: Option<String>,
    /// Higher caps to go on with.
    #[serde(default)]
    raise: Caps,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Caps {
    rounds: Option<u32>,
    steps: Option<u32>,
    calls: Option<u32>,
    tokens: Option<u64>,
    usd: Option<f64>,
    minutes: Option<f64>,
}

impl Caps {
    fn raise(&self) -> Result<Raise, HttpRefusal> {
        let limits = Limits {
            tokens: self.tokens,
            money: self.usd.map(usd).transpose()?,
            active_ms: self.minutes.map(minutes).transpose()?,
            calls: self.calls,
            steps: self.steps,
            ..Limits::default()
        };
        Ok(Raise { limits, rounds: self.rounds })
    }
}

pub async fn resume(
    State(dashboard): State<Arc<Dashboard>>,
    Path(run): Path<String>,
    JsonBody(ResumeBody { agree, raise }): JsonBody<ResumeBody>,
) -> ActionResult {
    let run = page::named(&run)?;
    let summary = dashboard.gadfly().journal().summary(&run)?;
    if summary.ended {
        return Err(HttpRefusal::conflict(format!("the run has ended ({})", summary.state)));
    }
    // One that has just stopped is let go of in a moment.
    if summary.outcome.is_some() {
        dashboard.background.settled(&run, STOPPING).await;
    }
    if dashboard.gadfly().is_driven(&run) {
        return Err(HttpRefusal::conflict("the run is at work already"));
    }
    let page = dashboard.gadfly().journal().page(&run, &Window::default())?;
    if questions::wants_answer(&summary, &questions::open(dashboard.gadfly(), &page.state)?) {
        return Err(HttpRefusal::conflict("it still waits for an answer"));
    }
    let raise = raise.raise()?;
    let context = dashboard.now();
    agreed(&dashboard, &context, &run, agree.as_deref())?;
    dashboard.background.resume(&context, &run, raise).await?;
    said("the run goes on here")
}

/// What the run's plan wants of this machine was agreed to before, or is by what this request says.
fn agreed(
    dashboard: &Dashboard,
    context: &Context,
    run: &RunId,
    agree: Option<&str>,
) -> Result<(), HttpRefusal> {
    dashboard.gadfly().journal().summary(run)?;
    let terms = terms::of_resume(context, dashboard.gadfly(), run).map_err(HttpRefusal::conflict)?;
    if terms.wanted.is_empty() {
        return Ok(());
    }
    // Where a recorded run writes outside of the project is no page's to agree to.
    if let Some(out) = terms.wanted.iter().find(|entry| entry.what == What::Output) {
        return Err(HttpRefusal::conflict(format!("the run wants to {}", out.text))
            .help(format!("in a terminal, where it can be agreed to: gadfly resume {run}")));
    }
    if agree != Some(terms.digest().as_str()) {
        return Err(HttpRefusal::terms(&terms));
    }
    terms.trust(context).map_err(HttpRefusal::ours)
}
