//! How often a loop asks the allocator, counted: a change that makes a step dearer is red here.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests may fail loudly, and say what they measured

use std::alloc::System;

use gadfly_engine::Outcome;
use gadfly_runtime::embed::{AgentFn, AgentTurn, RunBuilder};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Of one loop of three rounds, the opening of its store included.
const MOST_CALLS: usize = 1_600;
const MOST_BYTES: usize = 352_000;

async fn one(dir: &std::path::Path, n: usize) {
    let worker = AgentFn(|_| async { Ok("Twelve mice were weighed, in grams.".to_owned()) });
    let critic = AgentFn(|turn: AgentTurn| async move {
        let is_last = turn.brief.contains("Iteration: 3");
        let said = if is_last {
            "[STATUS: APPROVED]\nIt meets the rubric."
        } else {
            "[STATUS: REJECTED]\n- Name the unit."
        };
        Ok(said.to_owned())
    });
    let looped = RunBuilder::revise(format!("Write about cohort {n}."), worker, critic)
        .criterion("It names the unit.");
    let finished = looped.rounds(3).run(dir).await.unwrap();
    assert!(
        matches!(finished.outcome, Outcome::Approved { .. } | Outcome::Halted { .. }),
        "{:?}",
        finished.outcome
    );
}

#[tokio::test]
async fn a_loop_asks_the_allocator_seldom() {
    let dir = tempfile::tempdir().unwrap();
    // What is made once, is made.
    for n in 0..5 {
        one(dir.path(), n).await;
    }
    let region = Region::new(COUNTING);
    for n in 5..25 {
        one(dir.path(), n).await;
    }
    let found = region.change();
    let (calls, bytes) = (found.allocations / 20, found.bytes_allocated / 20);
    println!("{calls} allocations, {bytes} bytes a loop");
    assert!(calls <= MOST_CALLS && bytes <= MOST_BYTES, "{calls} allocations, {bytes} bytes a loop");
    assert!(calls > MOST_CALLS / 3, "{calls} allocations a loop: lower the budget to what it takes");
}
