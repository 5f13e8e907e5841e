//! Lists for a model: the findings of a run with their numbers and lineage, open questions, runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gadfly_engine::finding::FindingStatus;
use gadfly_journal::view::RoundState;
use gadfly_journal::{ListFilter, Summary};
use rmcp::schemars::{self, JsonSchema};
use serde::Serialize;

use super::arguments::{ListFindings, ListQuestions, ListRuns};
use super::asking::OpenQuestion;
use super::reply::{ToolError, ToolReply, refused};
use super::state::{self, ServerState};
use super::{render, status};
use crate::output::safe;

const USUAL_RUNS: u32 = 20;
const MOST_RUNS: u32 = 200;
/// What a list can be narrowed to.
const STATES: [&str; 10] = [
    gadfly_journal::summary::RUNNING,
    gadfly_journal::summary::INTERRUPTED,
    "waiting",
    "approved",
    "rejected",
    "halted",
    "unverified",
    "out_of_budget",
    "aborted",
    "failed",
];
const MOST_FINDINGS: usize = 500;
const MOST_QUESTIONS: usize = 100;

#[derive(Debug, Serialize, JsonSchema)]
#[allow(clippy::struct_field_names)] // the name a client reads
pub struct Findings {
    pub run: String,
    pub state: String,
    pub findings: Vec<FindingHistory>,
    /// How many there are beside these.
    pub left_out: usize,
}

/// One point of criticism, followed through the rounds by its number.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FindingHistory {
    pub number: u32,
    /// `new`, `recurring`, `regressed`, `unmatched` in the last judgement; `fixed` if it is gone.
    pub standing: String,
    pub severity: String,
    pub rule: String,
    pub says: String,
    pub fix: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    pub by: String,
    pub since_round: u32,
    /// The rounds in which it was raised.
    pub rounds: Vec<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Questions {
    pub questions: Vec<OpenQuestion>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[allow(clippy::struct_field_names)] // what a client reads
pub struct RunsList {
    pub runs: Vec<ListedRun>,
    /// There are older ones: call again with a higher offset.
    pub more: bool,
    /// Why nothing here counts as approved: this store was not made by the user on this machine. Tell the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedRun {
    pub run: String,
    pub title: String,
    pub protocol: String,
    pub state: String,
    pub ended: bool,
    /// Approved although the last verdict is a rejection.
    pub overruled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critic: Option<String>,
    /// Its verdicts are the host's own.
    pub judged_by_host: bool,
    pub round: u32,
    pub rounds_max: u32,
    pub open_items: u32,
    pub spent_usd: f64,
}

impl From<&Summary> for ListedRun {
    fn from(summary: &Summary) -> Self {
        Self {
            run: summary.run.to_string(),
            title: summary.title.clone(),
            protocol: summary.protocol.clone(),
            state: summary.state.clone(),
            ended: summary.ended,
            overruled: summary.overruled,
            critic: summary.critic.clone(),
            judged_by_host: render::is_own_word(summary),
            round: summary.rounds,
            rounds_max: summary.rounds_max,
            open_items: summary.open_items,
            spent_usd: summary.cost.usd(),
        }
    }
}

pub fn list_findings(server: &ServerState, args: &ListFindings) -> Result<ToolReply, ToolError> {
    let (background, run) = server.run(&args.run)?;
    let state = background.gadfly().journal().state(&run).map_err(|e| refused(e.to_string()))?;
    let mut all = found(&state.rounds);
    if args.open_only.unwrap_or(false) {
        all.retain(|one| one.standing != "fixed");
    }
    let left_out = all.len().saturating_sub(MOST_FINDINGS);
    all.truncate(MOST_FINDINGS);
    let how_many = render::counted(all.len(), "finding");
    let mut text = format!("run {run}: {}, {how_many}", render::state(&state.summary));
    if render::is_own_word(&state.summary) {
        let _ = write!(text, "\n{}", render::own_word(state.summary.worker.as_deref()));
    }
    for one in &all {
        let place = one.place.as_ref().map(|place| format!(" {place}")).unwrap_or_default();
        let fix = if one.fix.is_empty() { String::new() } else { format!(" → {}", one.fix) };
        let _ =
            write!(text, "\n{}. [{}] {}{place}: {}{fix}", one.number, one.standing, one.severity, one.says);
    }
    if left_out > 0 {
        let _ = write!(text, "\nand {left_out} more");
    }
    ToolReply::new(
        text,
        &Findings { run: run.to_string(), state: state.summary.state, findings: all, left_out },
    )
}

/// Every point that was raised, as it was last seen. `revise` has numbered items instead of findings: each is one.
fn found(rounds: &[RoundState]) -> Vec<FindingHistory> {
    let mut all: BTreeMap<(String, u32), FindingHistory> = BTreeMap::new();
    let judged = rounds.iter().filter(|round| !round.reviews.is_empty());
    for round in judged.clone() {
        for one in of_round(round) {
            let key = (round.node.to_string(), one.number);
            let mut before = all.remove(&key).map(|found| found.rounds).unwrap_or_default();
            if before.last() != Some(&round.round) {
                before.push(round.round);
            }
            all.insert(key, FindingHistory { rounds: before, ..one });
        }
    }
    // What the last judgement of its node no longer holds against the work is gone.
    let mut last: BTreeMap<String, &RoundState> = BTreeMap::new();
    last.extend(judged.map(|round| (round.node.to_string(), round)));
    for ((node, number), one) in &mut all {
        let holds = last.get(node).is_some_and(|round| of_round(round).iter().any(|f| f.number == *number));
        if !holds {
            "fixed".clone_into(&mut one.standing);
        }
    }
    all.into_values().collect()
}

fn of_round(round: &RoundState) -> Vec<FindingHistory> {
    let findings: Vec<FindingHistory> = round
        .findings()
        .map(|finding| FindingHistory {
            number: finding.number,
            standing: finding.standing.name().to_owned(),
            severity: finding.severity.name().to_owned(),
            rule: finding.rule.clone(),
            says: finding.says.clone(),
            fix: finding.fix.clone(),
            place: finding.place.as_ref().map(shown_place),
            by: finding.by.clone(),
            since_round: finding.since,
            rounds: Vec::new(),
        })
        .collect();
    if !findings.is_empty() || round.overruled {
        return findings;
    }
    let by = round.reviews.first().map(|review| review.binding.critic.clone()).unwrap_or_default();
    let item = |item: &gadfly_engine::review::ReviewItem| FindingHistory {
        number: item.number,
        standing: if item.since < round.round { FindingStatus::Recurring } else { FindingStatus::New }
            .name()
            .to_owned(),
        severity: "fail".to_owned(),
        rule: "critic-feedback".to_owned(),
        says: item.text.clone(),
        fix: String::new(),
        place: None,
        by: by.clone(),
        since_round: item.since,
        rounds: Vec::new(),
    };
    round.open.iter().map(item).collect()
}

/// `src/a.rs:12`.
fn shown_place(place: &gadfly_engine::Location) -> String {
    match place.line {
        Some(line) => format!("{}:{line}", place.path),
        None => place.path.clone(),
    }
}

pub fn list_questions(server: &ServerState, args: &ListQuestions) -> Result<ToolReply, ToolError> {
    let mut open = Vec::new();
    let Some(background) = server.if_any()? else {
        return ToolReply::new("there are no runs here yet".to_owned(), &Questions { questions: open });
    };
    let runs = if let Some(run) = &args.run {
        vec![server.run(run)?.1]
    } else {
        // A run at work may ask, too, while others of it go on.
        let states = vec!["waiting".to_owned(), gadfly_journal::summary::RUNNING.to_owned()];
        let filter = ListFilter { states, limit: MOST_RUNS, offset: 0 };
        let runs = background.gadfly().journal().list(&filter).map_err(|e| refused(e.to_string()))?;
        runs.into_iter().map(|run| run.run).collect()
    };
    for run in runs {
        let asked = status::questions(&background, &run)?;
        open.extend(asked.iter().map(|(effect, question)| OpenQuestion::new(&run, effect, question)));
        if open.len() >= MOST_QUESTIONS {
            open.truncate(MOST_QUESTIONS);
            break;
        }
    }
    let mut text = render::counted(open.len(), "open question");
    for one in &open {
        let _ = write!(text, "\n\nrun {}, question {}: {}", one.run, one.effect, one.text());
    }
    ToolReply::new(text, &Questions { questions: open })
}

/// One of the states there are, with or without what stands in brackets.
fn is_state(text: &str) -> bool {
    let word = text.split_once('(').filter(|_| text.ends_with(')')).map_or(text, |(word, _)| word);
    STATES.contains(&word)
}

pub fn list_runs(server: &ServerState, args: ListRuns) -> Result<ToolReply, ToolError> {
    let limit = args.limit.unwrap_or(USUAL_RUNS).clamp(1, MOST_RUNS);
    let states: Vec<String> = args.states.unwrap_or_default().into_iter().take(20).collect();
    if let Some(unknown) = states.iter().find(|state| !is_state(state)) {
        let unknown = safe::line(unknown, 40);
        return Err(refused(format!("there is no state `{unknown}`; there are {}", STATES.join(", "))));
    }
    let Some(background) = server.if_any()? else {
        return ToolReply::new(
            "there are no runs here yet".to_owned(),
            &RunsList { runs: Vec::new(), more: false, foreign: None },
        );
    };
    let offset = args.offset.unwrap_or(0);
    // One more, to know whether there are more.
    let filter = ListFilter { states, limit: limit + 1, offset };
    let mut runs = background.gadfly().journal().list(&filter).map_err(|e| refused(e.to_string()))?;
    let more = runs.len() > limit as usize;
    runs.truncate(limit as usize);
    let mut text = format!("{}, newest first", render::counted(runs.len(), "run"));
    for run in &runs {
        let (state, progress) = (render::state(run), render::progress(run));
        let own = if render::is_own_word(run) { ", judged by the host itself" } else { "" };
        let _ = write!(text, "\n{} {state}{progress}{own}: {}", run.run, run.title);
    }
    if more {
        let _ = write!(text, "\nolder ones: offset {}", offset.saturating_add(limit));
    }
    let foreign = state::foreign(&background);
    if let Some(why) = &foreign {
        let _ = write!(text, "\n{why}");
    }
    let runs = runs.iter().map(ListedRun::from).collect();
    ToolReply::new(text, &RunsList { runs, more, foreign })
}
