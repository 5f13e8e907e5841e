//! One run as its page shows it: the newest part of what its records tell, what may be done about it, and how much of its
//! caps is used. Long texts are named by their digest and asked for when somebody opens them.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use gadfly_engine::manifest::RunManifest;
use gadfly_engine::protocol::goal;
use gadfly_engine::protocol::pipeline::settings::PipelineSettings;
use gadfly_engine::{Limits, Outcome, Plan};
use gadfly_journal::summary::RUNNING;
use gadfly_journal::view::{UnreviewedReply, Wish};
use gadfly_journal::{MailKind, ReadError, RunId, RunPage, RunView, Summary, Window};
use gadfly_runtime::Gadfly;
use serde::Deserialize;
use serde_json::{Value, json};

use super::extract::QueryString;
use super::refusal::HttpRefusal;
use super::{Dashboard, overview, questions};
use crate::background::Background;

/// What one text of a page may have; the rest is in the journal.
const LONGEST: usize = 8 << 10;
/// More agents than this are listed and not drawn.
const MOST_DRAWN: usize = 200;
/// Rubric items and criteria that are shown.
const MOST_CRITERIA: usize = 100;

pub fn named(run: &str) -> Result<RunId, HttpRefusal> {
    run.parse().map_err(|_| HttpRefusal::no_such_run())
}

pub fn newest(background: &Background, run: &RunId) -> Result<Value, HttpRefusal> {
    let gadfly = background.gadfly();
    let page = gadfly.journal().page(run, &Window::default())?;
    let summary = &page.state.summary;
    let driven = gadfly.is_driven(run);
    let questions = questions::open(gadfly, &page.state)?;
    let (steers, ended) = (summary.protocol == goal::RULE_BOOK.name, summary.ended);
    let wants_answer = questions::wants_answer(summary, &questions);
    Ok(json!({
        "kind": overview::kind(summary),
        "seq": page.next.saturating_sub(1),
        "before": earlier(&page),
        "all_told": page.all_told,
        "plan": planned(&page.plan),
        "graph": graph(&page.plan),
        "meters": meters(&page),
        "shares": shares(&page),
        "questions": questions,
        "driven": driven,
        "driven_here": background.is_driven_here(run),
        "trouble": background.reason(run),
        "wish": wish(gadfly, &page.state)?,
        "unread": unread(&page.state),
        "can": {
            "pause": driven && !ended,
            "resume": !driven && !ended && !wants_answer,
            "steer": steers && !ended,
            "cancel": !ended,
            "answer": !questions.is_empty() && !ended,
        },
        "state": state(&page),
    }))
}

/// What somebody asked of a run under way that is not done yet: it lies in its inbox, or the run knows it and waits for its
/// calls.
fn wish(gadfly: &Gadfly, view: &RunView) -> Result<Option<Wish>, ReadError> {
    if view.summary.state != RUNNING {
        return Ok(None);
    }
    let mail = gadfly.journal().mail(&view.summary.run)?;
    let posted = mail.iter().rev().find_map(|(_, mail)| match mail.what {
        MailKind::Cancel => Some(Wish::Cancel),
        MailKind::Pause => Some(Wish::Pause),
        _ => None,
    });
    Ok(posted.or(view.totals.wish))
}

/// What critics replied last that was no review, where that is how a run ended: somebody may want to read it.
fn unread(view: &RunView) -> &[UnreviewedReply] {
    match view.outcome {
        Some(Outcome::Unverified { .. }) => &view.totals.unread,
        _ => &[],
    }
}

/// The state in words and numbers, with every text cut to what a page can bear.
fn state(page: &RunPage) -> Value {
    let mut state = serde_json::to_value(&page.state).unwrap_or_default();
    if let Some(summary) = state.get_mut("summary").and_then(Value::as_object_mut) {
        summary.remove("deferrals");
        summary.insert("cost_usd".to_owned(), page.state.summary.cost.usd().into());
        summary.insert("says".to_owned(), overview::says(&page.state.summary));
    }
    if let (Some(goal), Some(rail)) = (&page.state.goal, state.pointer_mut("/goal/rail")) {
        let told = rail.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut);
        for (entry, fields) in goal.rail.iter().zip(told) {
            fields.insert("says".to_owned(), json!(entry.what.describe(&|agent| agent.to_owned())));
        }
    }
    shorten(&mut state);
    state
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > LONGEST => {
            let more = text.len() - LONGEST;
            text.truncate(text.floor_char_boundary(LONGEST));
            let _ = write!(text, "… ({more} bytes more; `gadfly show --log` has them)");
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        _ => {}
    }
}

fn planned(plan: &Plan) -> Value {
    let manifest = RunManifest::of(plan);
    let mut criteria: Vec<Value> =
        manifest.criteria.into_iter().take(MOST_CRITERIA).map(Value::String).collect();
    criteria.iter_mut().for_each(shorten);
    let agents = plan.agents.iter().map(|(name, card)| {
        let (kind, model) = (&card.kind, &card.model);
        let about = json!({
            "kind": kind, "model": model, "sends_to": card.sends_to, "person": card.person,
            "priced": card.price.is_some(),
        });
        (name.clone(), about)
    });
    json!({
        "title": plan.title, "protocol": plan.root.protocol, "task": manifest.task, "criteria": criteria,
        "agents": Value::Object(agents.collect()), "folder": plan.workspace.as_ref().map(|w| &w.project),
    })
}

/// Who needs what whom makes.
fn graph(plan: &Plan) -> Option<Value> {
    let settings: PipelineSettings = serde_json::from_value(plan.root.settings.clone()).ok()?;
    let entries: Vec<_> =
        settings.registry.entries.iter().filter(|e| settings.pairs.contains_key(&e.agent)).collect();
    if entries.len() > MOST_DRAWN {
        return None;
    }
    let pairs = entries.iter().flat_map(|after| entries.iter().map(move |before| (before, after)));
    let feeds = pairs.filter(|(before, after)| before.agent != after.agent && before.feeds(after));
    let edges: Vec<[&str; 2]> = feeds.map(|(before, after)| [&*before.agent, &*after.agent]).collect();
    Some(json!({ "edges": edges }))
}

fn meters(page: &RunPage) -> Vec<Value> {
    let (s, caps): (&Summary, &Limits) = (&page.state.summary, &page.state.totals.limits);
    let at_most = |n: u32| (n > 0).then_some(n);
    let unknown = s.cost_unknown;
    let meter = |name: &str, used: Value, cap: Value, lower_bound: bool| json!({ "name": name, "used": used, "cap": cap, "lower_bound": lower_bound });
    let mut meters = Vec::new();
    // A review is one round: nothing of it can be used up.
    if s.rounds_max > 0 && s.steps_max == 0 && overview::kind(s) != "review" {
        meters.push(meter("rounds", s.rounds.into(), at_most(s.rounds_max).into(), false));
    }
    if s.steps_max > 0 {
        meters.push(meter("steps", s.steps.into(), at_most(s.steps_max).into(), false));
    }
    meters.push(meter("time", s.active_ms.into(), caps.active_ms.into(), false));
    meters.push(meter("calls", s.calls.into(), caps.calls.into(), false));
    let mut tokens = meter("tokens", s.tokens.into(), caps.tokens.into(), unknown);
    tokens["cached"] = s.cached.into();
    meters.push(tokens);
    meters.push(meter(
        "money",
        s.cost.usd().into(),
        caps.money.map(gadfly_engine::Money::usd).into(),
        unknown,
    ));
    meters
}

/// Who cost what.
fn shares(page: &RunPage) -> Vec<Value> {
    let share = |(agent, share): (&String, &gadfly_journal::view::Share)| {
        json!({
            "agent": agent, "calls": share.calls, "tokens": share.tokens, "usd": share.money.usd(),
            "lower_bound": share.unknown,
        })
    };
    page.state.totals.shares.iter().map(share).collect()
}

/// Where the part that is shown begins, as a page asks for what was before it: `30.512`, rounds and entries; `-` if there
/// is no more of them.
fn earlier(page: &RunPage) -> Option<String> {
    let part = |seq: Option<u32>| seq.map_or_else(|| "-".to_owned(), |seq| seq.to_string());
    (page.rounds_before.is_some() || page.entries_before.is_some())
        .then(|| format!("{}.{}", part(page.rounds_before), part(page.entries_before)))
}

fn window(before: &str) -> Option<Window> {
    let part = |text: &str| if text == "-" { Some(Some(0)) } else { text.parse().ok().map(Some) };
    let (rounds, entries) = before.split_once('.')?;
    Some(Window { rounds_before: part(rounds)?, entries_before: part(entries)?, ..Window::default() })
}

#[derive(Deserialize)]
pub struct BeforeQuery {
    before: String,
}

/// What was before the part that is shown.
pub async fn older(
    State(dashboard): State<Arc<Dashboard>>,
    Path(run): Path<String>,
    QueryString(BeforeQuery { before }): QueryString<BeforeQuery>,
) -> Result<Json<Value>, HttpRefusal> {
    let run = named(&run)?;
    let window = window(&before).ok_or_else(|| HttpRefusal::bad("`before` is not where a page began"))?;
    let read = tokio::task::spawn_blocking(move || {
        let page = dashboard.gadfly().journal().page(&run, &window)?;
        Ok(json!({ "before": earlier(&page), "state": state(&page) }))
    });
    read.await.map_err(HttpRefusal::ours)?.map(Json)
}
