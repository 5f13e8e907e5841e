//! All runs at a glance, newest first, a page at a time; and how many there are of each kind. From columns the journal
//! keeps: no record is read.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use gadfly_engine::event::words;
use gadfly_engine::protocol::{goal, pipeline};
use gadfly_journal::{Journal, ListCursor, ListFilter, ReadError, RunId, Summary};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Dashboard;
use super::extract::QueryString;
use super::refusal::HttpRefusal;
use crate::background::Background;

const PAGE: u32 = 50;
const LONGEST_STATE: usize = 40;
/// Runs under way, and runs that wait for somebody, that are told although they began before the newest page: of each.
const FURTHER_BACK: u32 = 100;
/// Rows that are told anew at once, read in parts.
const MOST_AGAIN: usize = 2000;
const PART: u32 = 200;
/// Runs that are asked for by name at once.
const MOST_NAMED: usize = 50;
/// What is never left to a page that somebody may not ask for.
const UNDER_WAY: [&[&str]; 2] = [&["running"], &["waiting(question)", "waiting(approval)"]];

/// Which runs to show.
#[derive(Clone, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    #[serde(default)]
    state: Option<String>,
    /// Only runs before this one: where the page before ended.
    #[serde(default)]
    before: Option<String>,
    /// All of them down to this one, which a page had before, and not a page's worth.
    #[serde(default)]
    to: Option<String>,
    /// These runs, with commas between them, and no others.
    #[serde(default)]
    named: Option<String>,
}

impl Filter {
    pub fn checked(self) -> Result<Self, HttpRefusal> {
        let state = self.state.filter(|state| !state.is_empty() && state != "all");
        if state.as_ref().is_some_and(|state| state.len() > LONGEST_STATE) {
            return Err(HttpRefusal::bad("that is no state of a run"));
        }
        Ok(Self { state, ..self })
    }

    fn found(&self, journal: &Journal) -> Result<ListedRuns, HttpRefusal> {
        let before = self.before.as_deref().map(|before| place(before, "before")).transpose()?;
        Ok(match (&self.named, &self.to) {
            (Some(named), _) => ListedRuns { runs: by_name(journal, named)?, more: false },
            (None, Some(to)) => self.down_to(journal, before, &place(to, "to")?)?,
            (None, None) => ListedRuns::page(self.part(journal, before.as_ref(), PAGE + 1)?, PAGE as usize),
        })
    }

    fn part(
        &self,
        journal: &Journal,
        before: Option<&ListCursor>,
        limit: u32,
    ) -> Result<Vec<Summary>, ReadError> {
        let states = self.state.iter().cloned().collect();
        let filter = ListFilter { states, limit, ..ListFilter::default() };
        before.map_or_else(|| journal.list(&filter), |before| journal.list_older(&filter, before))
    }

    fn down_to(
        &self,
        journal: &Journal,
        mut before: Option<ListCursor>,
        to: &ListCursor,
    ) -> Result<ListedRuns, ReadError> {
        let mut runs: Vec<Summary> = Vec::new();
        loop {
            let part = self.part(journal, before.as_ref(), PART)?;
            let is_last = part.len() < PART as usize;
            runs.extend(part);
            // The run itself may be gone by now: then whatever began before it is past it.
            let end = runs
                .iter()
                .position(|run| run.run == to.run)
                .map(|at| at + 1)
                .or_else(|| runs.iter().position(|run| run.created_ms < to.created_ms));
            if end.is_some() || is_last || runs.len() > MOST_AGAIN {
                let mut found = ListedRuns::page(runs, end.unwrap_or(MOST_AGAIN).min(MOST_AGAIN));
                found.more |= !is_last;
                return Ok(found);
            }
            before =
                runs.last().map(|last| ListCursor { created_ms: last.created_ms, run: last.run.clone() });
        }
    }
}

/// Runs, newest first, and whether there are more behind them.
struct ListedRuns {
    runs: Vec<Summary>,
    more: bool,
}

impl ListedRuns {
    /// The first of these; one more than is shown tells whether there is more.
    fn page(mut runs: Vec<Summary>, most: usize) -> Self {
        let more = runs.len() > most;
        runs.truncate(most);
        Self { runs, more }
    }

    fn told(&self, background: &Background) -> Value {
        let last = self.runs.last().map(|last| format!("{}.{}", last.created_ms, last.run));
        let next = last.as_ref().filter(|_| self.more);
        json!({ "runs": cards(background, &self.runs), "more": self.more, "next": next, "last": last })
    }
}

/// `1763300000000.5f7h…`: when the last run shown began, and which it is.
fn place(text: &str, name: &str) -> Result<ListCursor, HttpRefusal> {
    let place = text.split_once('.').and_then(|(created, run)| {
        Some(ListCursor { created_ms: created.parse().ok()?, run: run.parse().ok()? })
    });
    place.ok_or_else(|| HttpRefusal::bad(format!("`{name}` is not where a page ended")))
}

/// Those of them that are there.
fn by_name(journal: &Journal, named: &str) -> Result<Vec<Summary>, HttpRefusal> {
    let asked: Vec<RunId> =
        named.split(',').take(MOST_NAMED + 1).filter_map(|run| run.parse().ok()).collect();
    if asked.len() > MOST_NAMED {
        return Err(HttpRefusal::bad(format!("`named` has more than {MOST_NAMED} runs")));
    }
    let mut runs = Vec::new();
    for run in asked {
        match journal.summary(&run) {
            Ok(summary) => runs.push(summary),
            Err(ReadError::NotFound(_)) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Ok(runs)
}

pub fn newest(background: &Background, filter: &Filter) -> Result<Value, HttpRefusal> {
    let gadfly = background.gadfly();
    let counts = gadfly.journal().counts()?;
    let found = filter.found(gadfly.journal())?;
    // A page that shows one state shows it alone.
    let further = if filter.state.is_none() {
        further_back(gadfly.journal(), &counts, &found.runs)?
    } else {
        Vec::new()
    };
    let mut shown = found.told(background);
    let root = &gadfly.root().dir;
    if let Some(fields) = shown.as_object_mut() {
        let name = root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        fields.insert("project".to_owned(), name.into());
        fields.insert("root".to_owned(), root.to_string_lossy().into());
        fields.insert("version".to_owned(), env!("CARGO_PKG_VERSION").into());
        fields.insert("counts".to_owned(), json!(counts));
        fields.insert("foreign".to_owned(), json!(gadfly.journal().foreign().map(ToString::to_string)));
        fields.insert("further".to_owned(), cards(background, &further));
    }
    Ok(shown)
}

/// What is under way or waits for somebody and is not on the newest page. The store is asked only if the numbers say that
/// there is some.
fn further_back(
    journal: &Journal,
    counts: &BTreeMap<String, u64>,
    page: &[Summary],
) -> Result<Vec<Summary>, ReadError> {
    let shown: HashSet<&RunId> = page.iter().map(|run| &run.run).collect();
    let mut further = Vec::new();
    for states in UNDER_WAY {
        let all: u64 = states.iter().filter_map(|state| counts.get(*state)).sum();
        let here = page.iter().filter(|run| states.contains(&run.state.as_str())).count();
        if all <= here as u64 {
            continue;
        }
        let states = states.iter().map(|&state| state.to_owned()).collect();
        let limit = FURTHER_BACK + PAGE;
        let found = journal.list(&ListFilter { states, limit, ..ListFilter::default() })?;
        further.extend(found.into_iter().filter(|run| !shown.contains(&run.run)).take(FURTHER_BACK as usize));
    }
    Ok(further)
}

fn cards(background: &Background, runs: &[Summary]) -> Value {
    runs.iter().map(|summary| card(background, summary)).collect()
}

/// A run as a list shows it.
fn card(background: &Background, summary: &Summary) -> Value {
    let mut card = serde_json::to_value(summary).unwrap_or_default();
    if let Some(fields) = card.as_object_mut() {
        fields.remove("deferrals");
        fields.insert("kind".to_owned(), kind(summary).into());
        fields.insert("says".to_owned(), says(summary));
        fields.insert("cost_usd".to_owned(), summary.cost.usd().into());
        fields.insert("driven_here".to_owned(), background.is_driven_here(&summary.run).into());
    }
    card
}

/// How a run stands, in words.
pub fn says(summary: &Summary) -> Value {
    json!(words::run_state(&summary.state, summary.overruled, kind(summary) == "goal"))
}

pub fn kind(summary: &Summary) -> &'static str {
    match summary.protocol.as_str() {
        protocol if protocol == goal::RULE_BOOK.name => "goal",
        protocol if protocol == pipeline::RULE_BOOK.name => "pipeline",
        _ if summary.worker.is_none() => "review",
        _ => "loop",
    }
}

/// Runs before those that are shown; or those that are shown, once more.
pub async fn older(
    State(dashboard): State<Arc<Dashboard>>,
    QueryString(filter): QueryString<Filter>,
) -> Result<Json<Value>, HttpRefusal> {
    let filter = filter.checked()?;
    let read = tokio::task::spawn_blocking(move || {
        let found = filter.found(dashboard.gadfly().journal())?;
        Ok(found.told(&dashboard.background))
    });
    read.await.map_err(HttpRefusal::ours)?.map(Json)
}
