//! What the words after `gadfly run` name: a loop of gadfly.toml, a phase or a task of the project's own layout, or
//! nothing but the task itself. Skills and agents of a registry are found before, by `pipeline`.

use std::path::{Path, PathBuf};

use gadfly_project::config::keys::ConfigSection;
use gadfly_project::neuroflow::NeuroflowProject;
use gadfly_project::{Problem, neuroflow, nubos, suggest};
use gadfly_runtime::prepare::Described;

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
    pub described: Option<Described>,
}

/// Finds out, and tells the person what was found where.
pub fn asked(args: &RunArgs, context: &Context) -> Result<TaskArgument, Code> {
    no_modules(args, context)?;
    let plugins = context.user.plugin("neuroflow", &context.root.dir);
    let mut asked = named(args, context, &plugins)?;
    if asked.described.is_none()
        && let Some(phase) = args
            .options
            .word(ConfigSection::Loop, "phase")
            .filter(|p| neuroflow::is_phase(neuroflow_of(context, &plugins), p))
        && asked.loop_name.is_none()
        && args.options.word(ConfigSection::Loop, "protocol").is_none_or(|p| p == "revise")
    {
        asked.described = Some(of_phase(phase, context, &plugins)?);
    }
    if asked.described.is_none() && asked.loop_name.is_none() && is_plain(args) {
        // A task of no phase in particular belongs to the one the project is in.
        if let Some(phase) = neuroflow::active_phase(neuroflow_of(context, &plugins)) {
            print::err(&format!("note: phase `{phase}` is active; --phase NAME takes another"));
            asked.described = Some(of_phase(&phase, context, &plugins)?);
        }
    }
    for note in asked.described.iter().flat_map(Described::notes) {
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
    context.config.loops.contains_key(name)
        || nubos::is_task_id(name)
        || (nubos::is_group_id(name) && nubos::is_here(&context.root.dir))
        || {
            let plugins = context.user.plugin("neuroflow", &context.root.dir);
            neuroflow::is_phase(neuroflow_of(context, &plugins), name)
        }
}

fn neuroflow_of<'a>(context: &'a Context, plugins: &'a [PathBuf]) -> NeuroflowProject<'a> {
    NeuroflowProject { root: &context.root.dir, plugins }
}

fn named(args: &RunArgs, context: &Context, plugins: &[PathBuf]) -> Result<TaskArgument, Code> {
    if let Some(plan) = &args.task_plan {
        return Ok(TaskArgument {
            described: Some(of_task(args, context, plan, true)?),
            ..TaskArgument::default()
        });
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
    if nubos::is_task_id(name) {
        return Ok(TaskArgument {
            described: Some(of_task(args, context, Path::new(name), false)?),
            ..asked
        });
    }
    if neuroflow::is_phase(neuroflow_of(context, plugins), name) {
        if !about {
            let why = format!("what is phase `{name}` to draft? Say it: gadfly run {name} --task \"…\"");
            return Err(error::usage(&why));
        }
        return Ok(TaskArgument { described: Some(of_phase(name, context, plugins)?), ..asked });
    }
    meant_as_name(name, context, plugins)?;
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

fn of_phase(name: &str, context: &Context, plugins: &[PathBuf]) -> Result<Described, Code> {
    let mut found = Vec::new();
    let phase = neuroflow::phase(neuroflow_of(context, plugins), name, &mut found);
    read(phase, &found, context).map(|phase| Described::Phase(Box::new(phase)))
}

fn of_task(args: &RunArgs, context: &Context, which: &Path, is_plan: bool) -> Result<Described, Code> {
    let mut found = Vec::new();
    let verified = args.options.word(ConfigSection::Loop, "verify").is_some();
    let judged = !args.criterion.is_empty() || args.options.word(ConfigSection::Loop, "criteria").is_some();
    let asked = nubos::TaskQuery { root: &context.root.dir, redo: args.allow_redo, verified, judged };
    let task = if is_plan {
        nubos::task_at(asked, which, &mut found)
    } else {
        nubos::task(asked, &which.to_string_lossy(), &mut found)
    };
    read(task, &found, context).map(|task| Described::Task(Box::new(task)))
}

fn read<T>(what: Option<T>, found: &[Problem], context: &Context) -> Result<T, Code> {
    let root = &context.root.dir;
    let what = what.ok_or_else(|| problems::refuse(found, root))?;
    problems::draw(found, root);
    Ok(what)
}

/// Modules of nubos-pilot's critic are files to be read, not agents.
fn no_modules(args: &RunArgs, context: &Context) -> Result<(), Code> {
    let root = &context.root.dir;
    if !nubos::is_here(root) {
        return Ok(());
    }
    let roles = ["worker", "critic", "fallback_critic"];
    let names = roles.iter().flat_map(|role| args.options.words(ConfigSection::Loop, role));
    let modules: Vec<Problem> =
        names.filter(|name| nubos::is_module(root, name)).map(|name| nubos::not_spawnable(name)).collect();
    if modules.is_empty() { Ok(()) } else { Err(problems::refuse(&modules, root)) }
}

/// A single word that is nearly the name of a loop or a phase was hardly meant as a task.
fn meant_as_name(task: &str, context: &Context, plugins: &[PathBuf]) -> Result<(), Code> {
    if task.contains(char::is_whitespace) {
        return Ok(());
    }
    let loops = context.config.loops.keys().map(String::as_str);
    if let Some(near) = suggest::nearest(task, loops) {
        return Err(error::usage(&format!("there is no loop `{task}`: did you mean `{near}`?")));
    }
    match neuroflow::nearest(neuroflow_of(context, plugins), task) {
        Some(near) => Err(error::usage(&format!("there is no phase `{task}`: did you mean `{near}`?"))),
        None => Ok(()),
    }
}
