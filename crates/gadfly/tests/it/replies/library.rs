//! Replies judged in this process: the engine, the readers and the journal of the binary, without starting it thousands of
//! times. What `audit` judges are files, which a review takes from a folder: those replies go through the binary.

use std::path::Path;
use std::sync::Arc;

use gadfly_engine::Outcome;
use gadfly_engine::deduction::DeductionTable;
use gadfly_project::{Config, Root};
use gadfly_runtime::prelude::*;
use tokio::task::JoinSet;

use super::{CRITERIA, Case, FIRST, Made, OPENING, REVISION, RUBRIC, SLEEP, TASKS, open_items};

/// How many are under way at once: they share the commits of one journal.
const AT_ONCE: usize = 32;

pub fn takes(case: &Case) -> bool {
    case.protocol != "audit"
}

/// What was made of each reply, in any order.
pub fn judged(cases: Vec<(Case, String)>) -> Vec<(Case, Made)> {
    let store = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let gadfly = Arc::new(opened(store.path()));
        let mut left = cases.into_iter();
        let (mut under_way, mut all) = (JoinSet::new(), Vec::new());
        loop {
            while under_way.len() < AT_ONCE
                && let Some((case, reply)) = left.next()
            {
                let gadfly = Arc::clone(&gadfly);
                under_way.spawn(async move {
                    let made = one(&case, reply, &gadfly).await;
                    (case, made)
                });
            }
            let Some(ended) = under_way.join_next().await else { return all };
            all.push(ended.unwrap());
        }
    })
}

async fn one(case: &Case, reply: String, gadfly: &Gadfly) -> Made {
    let critic = {
        let second_round = case.second_round;
        AgentFn::new(move |turn: AgentTurn| {
            let is_first = second_round && !turn.brief.contains("previous draft (rejected)");
            let said = if is_first { FIRST.to_owned() } else { reply.clone() };
            async move { Ok(said) }
        })
    };
    let worker = AgentFn::new(|turn: AgentTurn| {
        let again = turn.brief.contains("Mode: Revision");
        async move { Ok(if again { REVISION } else { OPENING }.to_owned()) }
    });
    let done = match case.protocol.as_str() {
        "revise" => {
            let run = RunBuilder::revise("Write it.", worker, critic);
            let run =
                CRITERIA.iter().skip(1).step_by(2).fold(run, |run, criterion| run.criterion(*criterion));
            let run = if case.second_round {
                run.rounds(2)
            } else {
                run.review("Sleep improved recall in several mice.\n")
            };
            run.run_in(gadfly).await
        }
        "score" => {
            let run = RunBuilder::score("Review d.md.", worker, critic).rubric(RUBRIC).deductions(table());
            run.review(SLEEP).run_in(gadfly).await
        }
        "converge" => {
            let run = RunBuilder::converge("Review d.md.", worker, critic).set("tasks");
            run.review(TASKS).run_in(gadfly).await
        }
        other => panic!("{other} goes through the binary"),
    };
    let done = done.unwrap_or_else(|error| panic!("{}/{}: {error}", case.protocol, case.id));
    let records = gadfly.journal().records(&done.run, 0, u32::MAX).unwrap();
    let events: Vec<_> = records.iter().flat_map(|record| &record.step.events).collect();
    let said = serde_json::to_value(&events).unwrap();
    let outcome = serde_json::to_value(&done.outcome).unwrap();
    let read = match &done.outcome {
        Outcome::Approved { overruled: true, .. } => 'O',
        Outcome::Approved { .. } => 'A',
        Outcome::Halted { .. } | Outcome::Rejected { .. } => 'R',
        Outcome::Unverified { .. } => 'X',
        Outcome::Waiting(_) => 'E',
        other => panic!("{}/{}: {other:?}", case.protocol, case.id),
    };
    let all = said.to_string();
    let newest = said.as_array().unwrap().iter().rev().find_map(open_items);
    Made {
        read,
        asked_again: all.contains("\"restating\":true"),
        open: open_items(&outcome).or(newest).unwrap_or_default(),
    }
}

fn table() -> DeductionTable {
    gadfly_project::deduction_table::from_markdown(RUBRIC, Path::new("r.md"), None).unwrap().table.unwrap()
}

fn opened(store: &Path) -> Gadfly {
    Gadfly::open(Root::at(store), Config::from_layers([]).0, store).unwrap()
}
