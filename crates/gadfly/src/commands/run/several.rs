//! A group of a project's tasks, one after the other, each a run of its own. Groups follow each other; within one, what depends on a task that is not done is left, and what does not is done all the same.

use std::path::Path;

use gadfly_project::adapter::{self, TaskGroup, WorkName};

use super::go;
use crate::cli::RunArgs;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{error, print, problems};

/// Whether the words after `gadfly run` name several tasks.
pub fn is_meant(args: &RunArgs, context: &Context) -> bool {
    let named = args.task.as_deref().and_then(|name| adapter::named(context.place(), name));
    named.is_some_and(|(_, what)| what == WorkName::Group)
}

pub async fn run(args: RunArgs, context: &Context) -> Result<Code, Code> {
    let root = &context.root.dir;
    if args.task_text.is_some() {
        return Err(error::usage("the tasks of a slice say themselves what is to be done: leave --task out"));
    }
    let mut found = Vec::new();
    let name = args.task.as_deref().unwrap_or_default();
    let slices: Vec<TaskGroup> = adapter::named(context.place(), name)
        .map(|(adapter, _)| adapter.groups(root, name, &mut found))
        .unwrap_or_default();
    if found.iter().any(gadfly_project::Problem::is_error) {
        return Err(problems::refuse(&found, root));
    }
    let (mut codes, mut told) = (Vec::new(), Vec::new());
    for slice in &slices {
        codes.extend(Box::pin(one_slice(slice, &args, context, &mut told)).await);
        if codes.contains(&exit::INTERRUPTED) {
            return Ok(exit::INTERRUPTED);
        }
        if !args.consent.dry_run && slice.tasks.iter().any(|task| !is_settled(root, &task.id)) {
            break;
        }
    }
    print::err("");
    for line in told {
        print::err(&line);
    }
    let left = slices.iter().flat_map(|s| &s.tasks).filter(|task| !is_settled(root, &task.id)).count();
    if left > 0 && !args.consent.dry_run {
        let tasks = if left == 1 { "1 task is" } else { &format!("{left} tasks are") };
        print::err(&format!("{tasks} not done; the same command goes on with them"));
        if codes.iter().all(|code| *code == exit::OK) {
            codes.push(exit::HALTED);
        }
    }
    Ok(exit::of_many(&codes))
}

/// What became of a slice's tasks: each a line of `told`, and the code of each that ran.
async fn one_slice(
    slice: &TaskGroup,
    args: &RunArgs,
    context: &Context,
    told: &mut Vec<String>,
) -> Vec<Code> {
    let root = &context.root.dir;
    let mut codes = Vec::new();
    for task in &slice.tasks {
        if task.is_over {
            told.push(format!("{}  {}", task.id, task.status));
            continue;
        }
        let waits = task.depends_on.iter().find(|on| !is_settled(root, on));
        if let (Some(on), false) = (waits, args.consent.dry_run) {
            told.push(format!("{}  waits for {on}", task.id));
            continue;
        }
        print::err(&format!("\n{}", task.id));
        let own = RunArgs { task: Some(task.id.clone()), ..args.clone() };
        let code = Box::pin(go(own, context)).await.unwrap_or_else(|code| code);
        let end = if is_settled(root, &task.id) { "done" } else { "not done" };
        told.push(format!("{}  {end}", task.id));
        codes.push(code);
        if code == exit::INTERRUPTED {
            break;
        }
    }
    codes
}

/// Whether nobody waits for a task any more, as its plan says now.
fn is_settled(root: &Path, id: &str) -> bool {
    adapter::all().find_map(|it| it.row(root, id)).is_some_and(|row| row.is_settled)
}
