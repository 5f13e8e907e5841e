//! `gadfly runs`: the list, newest first, and forgetting single runs.

use gadfly_journal::{Journal, ListFilter, OpenError, RemoveError, RunId, Summary};
use gadfly_runtime::clock::wall_ms;
use gadfly_runtime::os::remove_whole_tree;
use gadfly_runtime::undo::{is_half_written, undone_ms};

use crate::cli::{RunsArgs, RunsCommand};
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

pub fn runs(args: &RunsArgs, context: &Context) -> Code {
    let done = match &args.command {
        None => list(args, context),
        Some(RunsCommand::Rm { runs }) => remove(runs, context),
    };
    match done {
        Ok(()) => exit::OK,
        Err(code) => code,
    }
}

fn list(args: &RunsArgs, context: &Context) -> Result<(), Code> {
    for state in &args.state {
        let class = state.split('(').next().unwrap_or_default();
        if !STATES.contains(&class) {
            let known = STATES.join(", ");
            return Err(error::usage(&format!("there is no state `{state}`; known: {known}")));
        }
    }
    let journal = match context.existing() {
        Ok(journal) => journal,
        Err(OpenError::Missing(_)) => {
            nothing(args, context);
            return Ok(());
        }
        Err(other) => return Err(error::usage(&other.to_string())),
    };
    // One more than is shown tells whether there are more.
    let filter = ListFilter { states: args.state.clone(), limit: args.limit.saturating_add(1), offset: 0 };
    let mut found = journal.list(&filter).map_err(|e| error::fault(&e.to_string()))?;
    let shown = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let more = found.len() > shown;
    found.truncate(shown);
    say_missing(&journal)?;
    if context.global.json {
        return found.iter().try_for_each(|summary| json(summary, undone_ms(&journal, summary)));
    }
    if found.is_empty() && !more {
        nothing(args, context);
        return Ok(());
    }
    let undone = |summary: &Summary| undone_ms(&journal, summary).is_some();
    table::runs(&found, wall_ms(), undone).iter().try_for_each(|line| print::out(line))?;
    if more {
        print::err(&format!("the newest {}; for more: gadfly runs -n {}", args.limit, wider(args.limit)));
    }
    Ok(())
}

/// Rows that somebody took out are noticed by their number.
fn say_missing(journal: &Journal) -> Result<(), Code> {
    match journal.missing().map_err(|e| error::fault(&e.to_string()))? {
        0 => {}
        n => print::err(&format!(
            "{} that stopped here {} gone from the journal, and nobody removed {} with `gadfly runs rm` or `gadfly gc`: \
             the journal was changed",
            table::counted(usize::try_from(n).unwrap_or(usize::MAX), "run"),
            if n == 1 { "is" } else { "are" },
            if n == 1 { "it" } else { "them" },
        )),
    }
    Ok(())
}

fn wider(limit: u32) -> u32 {
    limit.max(1).saturating_mul(10)
}

fn nothing(args: &RunsArgs, context: &Context) {
    if !context.global.json {
        print::err(if args.state.is_empty() {
            "no runs here yet; start one with `gadfly run`, or see `gadfly demo`"
        } else {
            "no such runs"
        });
    }
}

fn json(summary: &Summary, undone_ms: Option<u64>) -> Result<(), Code> {
    let mut line = serde_json::to_value(summary).map_err(|e| error::fault(&e.to_string()))?;
    if let (Some(fields), Some(at_ms)) = (line.as_object_mut(), undone_ms) {
        fields.insert("undone_ms".to_owned(), at_ms.into());
    }
    print::out(&line.to_string())
}

fn remove(typed: &[String], context: &Context) -> Result<(), Code> {
    let journal = context.journal()?;
    // All or none: a mistyped id must not leave half of the work done.
    let runs = typed.iter().map(|t| find(&journal, t)).collect::<Result<Vec<_>, Code>>()?;
    for run in &runs {
        refuse_half_written(&journal, run)?;
    }
    for run in &runs {
        journal.remove(run, remove_whole_tree).map_err(|e| match e {
            RemoveError::NotFound(_) | RemoveError::Owned { .. } | RemoveError::Foreign(_) => {
                error::usage(&e.to_string())
            }
            RemoveError::Store(_) => error::fault(&e.to_string()),
        })?;
        print::err(&format!("removed {run}"));
    }
    Ok(())
}

/// Nobody forgets a run that alone has what it overwrote of the user's files.
pub(super) fn refuse_half_written(journal: &Journal, run: &RunId) -> Result<(), Code> {
    match is_half_written(journal, run) {
        Ok(false) => Ok(()),
        Ok(true) => Err(error::usage(&format!(
            "run `{run}` was stopped while it wrote into your files, and only it has what was there before; finish it \
             with `gadfly resume {run}`, or take it back with `gadfly undo {run}`, then remove it"
        ))),
        Err(why) => Err(error::fault(&why.to_string())),
    }
}
