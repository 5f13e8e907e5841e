//! All runs at a glance, newest first, a page at a time; and how many there are of each kind. From columns the journal
//! keeps: no record is read.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use gadfly_engine::protocol::{pipeline, watch};
use gadfly_journal::{Journal, ListFilter, Place, Summary};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Dashboard;
use super::refusal::Refusal;
use crate::background::Background;

const PAGE: u32 = 50;
const LONGEST_STATE: usize = 40;

/// Which runs to show.
#[derive(Clone, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    #[serde(default)]
    state: Option<String>,
    /// Only runs before this one: where the page before ended.
    #[serde(default)]
    before: Option<String>,
}

impl Filter {
    pub fn checked(self) -> Result<Self, Refusal> {
        let state = self.state.filter(|state| !state.is_empty() && state != "all");
        if state.as_ref().is_some_and(|state| state.len() > LONGEST_STATE) {
            return Err(Refusal::bad("that is no state of a run"));
        }
        Ok(Self { state, ..self })
    }

    fn found(&self, journal: &Journal) -> Result<Vec<Summary>, Refusal> {
        // One more than is shown tells whether there is more.
        let states = self.state.iter().cloned().collect();
        let filter = ListFilter { states, limit: PAGE + 1, ..ListFilter::default() };
        Ok(match &self.before {
            None => journal.list(&filter)?,
            Some(before) => {
                let place =
                    place(before).ok_or_else(|| Refusal::bad("`before` is not where a page ended"))?;
                journal.list_older(&filter, &place)?
            }
        })
    }
}

/// `1763300000000.5f7h…`: when the last run shown began, and which it is.
fn place(text: &str) -> Option<Place> {
    let (created, run) = text.split_once('.')?;
    Some(Place { created_ms: created.parse().ok()?, run: run.parse().ok()? })
}

pub fn newest(background: &Background, filter: &Filter) -> Result<Value, Refusal> {
    let gadfly = background.gadfly();
    let mut shown = runs(background, filter)?;
    let counts = gadfly.journal().counts()?;
    let root = &gadfly.root().dir;
    if let Some(fields) = shown.as_object_mut() {
        let name = root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        fields.insert("project".to_owned(), name.into());
        fields.insert("root".to_owned(), root.to_string_lossy().into());
        fields.insert("version".to_owned(), env!("CARGO_PKG_VERSION").into());
        fields.insert("counts".to_owned(), json!(counts));
    }
    Ok(shown)
}

fn runs(background: &Background, filter: &Filter) -> Result<Value, Refusal> {
    let mut found = filter.found(background.gadfly().journal())?;
    let more = found.len() > PAGE as usize;
    found.truncate(PAGE as usize);
    let next = found.last().filter(|_| more).map(|last| format!("{}.{}", last.created_ms, last.run));
    let runs: Vec<Value> = found.iter().map(|summary| card(background, summary)).collect();
    Ok(json!({ "runs": runs, "more": more, "next": next }))
}

/// A run as a list shows it.
pub fn card(background: &Background, summary: &Summary) -> Value {
    let mut card = serde_json::to_value(summary).unwrap_or_default();
    if let Some(fields) = card.as_object_mut() {
        fields.remove("deferrals");
        fields.insert("kind".to_owned(), kind(summary).into());
        fields.insert("cost_usd".to_owned(), summary.cost.usd().into());
        fields.insert("driven_here".to_owned(), background.is_driven_here(&summary.run).into());
    }
    card
}

pub fn kind(summary: &Summary) -> &'static str {
    match summary.protocol.as_str() {
        protocol if protocol == watch::RULE_BOOK.name => "goal",
        protocol if protocol == pipeline::RULE_BOOK.name => "pipeline",
        _ if summary.worker.is_none() => "review",
        _ => "loop",
    }
}

/// Runs before those that are shown.
pub async fn older(
    State(dashboard): State<Arc<Dashboard>>,
    Query(filter): Query<Filter>,
) -> Result<Json<Value>, Refusal> {
    let filter = filter.checked()?;
    let read = tokio::task::spawn_blocking(move || runs(&dashboard.background, &filter));
    read.await.map_err(Refusal::ours)?.map(Json)
}
