//! What the words after `gadfly run` name: a loop of gadfly.toml, a phase or a task of the project's own layout, or
//! nothing but the task itself. Skills and agents of a registry are found before, by `pipeline`.

use std::path::PathBuf;
use std::sync::Arc;

use gadfly_project::adapter::{self, Adapter, DescribedWork, WorkName, WorkQuery};
use gadfly_project::config::keys::ConfigSection;
use gadfly_project::{Problem, suggest};

use super::read_stdin;
use crate::cli::RunArgs;
use crate::context::Context;
use crate::exit::Code;
use crate::output::{error, print, problems, safe};

#[derive(Default)]
pub struct TaskArgument {
    pub loop_name: Option<String>,
    pub task: Option<String>,
    pub task_file: Option<PathBuf>,
    pub described: Option<Arc<dyn DescribedWork>>,
}

/// Finds out, and tells the person what was found where.
pub fn asked(args: &RunArgs, context: &Context) -> Result<TaskArgument, Code> {
    no_modules(args, context)?;
    let mut asked = named(args, context)?;
    if asked.described.is_none()
        && let Some(phase) = args.options.word(ConfigSection::Loop, "phase")
        && let Some((adapter, WorkName::Phase)) = adapter::named(context.place(), phase)
        && asked.loop_name.is_none()
        && args.options.word(ConfigSection::Loop, "protocol").is_none_or(|p| p == "revise")
    {
        asked.described = Some(work(adapter, phase, args, context)?);
    }
    if asked.described.is_none() && asked.loop_name.is_none() && is_plain(args) {
        // A task of no phase in particular belongs to the one the project is in.
        let active = adapter::all().find_map(|it| Some((it, it.active(context.place())?)));
        if let Some((adapter, phase)) = active {
            print::err(&format!("note: phase `{phase}` is active; --phase NAME takes another"));
            asked.described = Some(work(adapter, &phase, args, context)?);
        }
    }
    for note in asked.described.iter().flat_map(|work| work.notes()) {
        print::err(&format!("note: {}", safe::line(note, 200)));
    }
    Ok(asked)
}

/// Nothing was said that a phase would say otherwise.
fn is_plain(args: &RunArgs) -> bool {
    let word = |key: &str| args.options.word(ConfigSection::Loop, key);
    word("phase").is_none() && word("protocol").is_none_or(|p| p == "revise") && args.from.is_none()
}

/// Whether a name is something else than a skill or an agent of a registry.
pub fn is_known(name: &str, context: &Context) -> bool {
    context.config.loops.contains_key(name) || adapter::named(context.place(), name).is_some()
}

fn named(args: &RunArgs, context: &Context) -> Result<TaskArgument, Code> {
    if let Some(plan) = &args.task_plan
        && let Some(adapter) = adapter::all().find(|it| it.has_plans())
    {
        let mut found = Vec::new();
        let work = adapter.work_at(query(args, context), plan, &mut found);
        return Ok(TaskArgument { described: Some(read(work, &found, context)?), ..TaskArgument::default() });
    }
    let mut asked = TaskArgument { task: args.task_text.clone(), ..TaskArgument::default() };
    let task_file = args.options.word(ConfigSection::Loop, "task_file");
    match task_file {
        Some("-") => asked.task = Some(read_stdin("the task")?),
        other => asked.task_file = other.map(PathBuf::from),
    }
    let about = asked.task.is_some() || asked.task_file.is_some();
    let Some(name) = &args.task else { return Ok(asked) };
    if context.config.loops.contains_key(name) {
        if task_file.is_some() {
            return Err(error::usage(&format!("loop `{name}` has its own task: leave --task-file out")));
        }
        return Ok(TaskArgument { loop_name: Some(name.clone()), ..asked });
    }
    if let Some((adapter, what)) = adapter::named(context.place(), name) {
        if what == WorkName::Phase && !about {
            let why = format!("what is phase `{name}` to draft? Say it: gadfly run {name} --task \"…\"");
            return Err(error::usage(&why));
        }
        return Ok(TaskArgument { described: Some(work(adapter, name, args, context)?), ..asked });
    }
    meant_as_name(name, context)?;
    if about {
        let name = safe::line(name, 60);
        let why = format!(
            "`{name}` names no loop, phase or task of this project, so it is a task itself: leave --task and \
             --task-file out"
        );
        return Err(error::usage(&why));
    }
    let task = if name == "-" { read_stdin("the task")? } else { name.clone() };
    Ok(TaskArgument { task: Some(task), ..asked })
}

fn work(
    adapter: &dyn Adapter,
    name: &str,
    args: &RunArgs,
    context: &Context,
) -> Result<Arc<dyn DescribedWork>, Code> {
    let mut found = Vec::new();
    let work = adapter.work(query(args, context), name, &mut found);
    read(work, &found, context)
}

fn query<'a>(args: &RunArgs, context: &'a Context) -> WorkQuery<'a> {
    let has = |key: &str| args.options.word(ConfigSection::Loop, key).is_some();
    let judged = !args.criterion.is_empty() || has("criteria");
    WorkQuery { at: context.place(), redo: args.allow_redo, verified: has("verify"), judged }
}

fn read<T>(what: Option<T>, found: &[Problem], context: &Context) -> Result<T, Code> {
    let root = &context.root.dir;
    let what = what.ok_or_else(|| problems::refuse(found, root))?;
    problems::draw(found, root);
    Ok(what)
}

/// A project may have files that look like an agent's and are none.
fn no_modules(args: &RunArgs, context: &Context) -> Result<(), Code> {
    let root = &context.root.dir;
    let roles = ["worker", "critic", "fallback_critic"];
    let names = roles.iter().flat_map(|role| args.options.words(ConfigSection::Loop, role));
    let modules: Vec<Problem> =
        names.filter_map(|name| adapter::all().find_map(|it| it.no_agent(root, name))).collect();
    if modules.is_empty() { Ok(()) } else { Err(problems::refuse(&modules, root)) }
}

/// A single word that is nearly the name of a loop or a phase was hardly meant as a task.
fn meant_as_name(task: &str, context: &Context) -> Result<(), Code> {
    if task.contains(char::is_whitespace) {
        return Ok(());
    }
    let loops = context.config.loops.keys().map(String::as_str);
    if let Some(near) = suggest::nearest(task, loops) {
        return Err(error::usage(&format!("there is no loop `{task}`: did you mean `{near}`?")));
    }
    match adapter::all().find_map(|it| it.nearest(context.place(), task)) {
        Some(near) => Err(error::usage(&format!("there is no phase `{task}`: did you mean `{near}`?"))),
        None => Ok(()),
    }
}
