//! `gadfly runs`: the list, newest first, and forgetting single runs.

use gadfly_journal::{ListFilter, RemoveError, Summary};
use gadfly_runtime::clock::wall_ms;

use crate::cli::{Runs, RunsCommand};
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::output::{error, print, table};

const STATES: [&str; 9] = [
    "running",
    "interrupted",
    "approved",
    "halted",
    "waiting",
    "unverified",
    "out_of_budget",
    "failed",
    "aborted",
];

pub fn runs(args: &Runs, context: &Context) -> Code {
    let done = match &args.command {
        None => list(args, context),
        Some(RunsCommand::Rm { runs }) => remove(runs, context),
    };
    match done {
        Ok(()) => exit::OK,
        Err(code) => code,
    }
}

fn list(args: &Runs, context: &Context) -> Result<(), Code> {
    for state in &args.state {
        let class = state.split('(').next().unwrap_or_default();
        if !STATES.contains(&class) {
            let known = STATES.join(", ");
            return Err(error::usage(&format!("there is no state `{state}`; known: {known}")));
        }
    }
    let store = context.store();
    if !store.join("journal.db").exists() {
        if !context.global.json {
            print::err("no runs here yet; start one with `gadfly run`, or see `gadfly demo`");
        }
        return Ok(());
    }
    let filter = ListFilter { states: args.state.clone(), limit: args.limit, offset: 0 };
    let found = context.journal()?.list(&filter).map_err(|e| error::fault(&e.to_string()))?;
    if context.global.json {
        return found.iter().try_for_each(json);
    }
    if found.is_empty() {
        print::err("no such runs");
        return Ok(());
    }
    table::runs(&found, wall_ms()).iter().try_for_each(|line| print::out(line))
}

fn json(summary: &Summary) -> Result<(), Code> {
    let line = serde_json::to_string(summary).map_err(|e| error::fault(&e.to_string()))?;
    print::out(&line)
}

fn remove(typed: &[String], context: &Context) -> Result<(), Code> {
    let journal = context.journal()?;
    // All or none: a mistyped id must not leave half of the work done.
    let runs = typed.iter().map(|t| find(&journal, t)).collect::<Result<Vec<_>, Code>>()?;
    for run in &runs {
        journal.remove(run).map_err(|e| match e {
            RemoveError::NotFound(_) | RemoveError::Owned { .. } => error::usage(&e.to_string()),
            RemoveError::Store(_) => error::fault(&e.to_string()),
        })?;
        print::err(&format!("removed {run}"));
    }
    Ok(())
}
