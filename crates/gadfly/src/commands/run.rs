//! `gadfly run`: from flags to a request, through trust and consent, to a driven run.

use std::io::{Read as _, stdin};
use std::path::Path;

use gadfly_engine::input::What;
use gadfly_engine::{Engine, Input, Limits, Money, Stamp};
use gadfly_project::{Flags, Layer, Problem, Sourced, file, rubric, suggest};
use gadfly_runtime::prepare::{Prepared, Request};
use gadfly_runtime::setup::Setup;
use serde_json::json;

use crate::cli::Run;
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::output::{brief, consent, error, print, problems, safe, terminal};
use crate::session::Session;
use crate::{agreement, proposal};

pub async fn run(args: Run, context: &Context) -> Code {
    let unnamed = args.flags.worker.is_none() && args.flags.critic.is_none();
    let nothing = context.config.agents.is_empty() && !context.problems.iter().any(Problem::is_error);
    if !(unnamed && nothing && terminal::can_ask()) {
        return Box::pin(go(args, context)).await.unwrap_or_else(|code| code);
    }
    match proposal::take(context).await {
        Ok(None) => Box::pin(go(args, context)).await.unwrap_or_else(|code| code),
        Ok(Some(config)) => Box::pin(go(args, &context.with(config))).await.unwrap_or_else(|code| code),
        Err(code) => code,
    }
}

async fn go(args: Run, context: &Context) -> Result<Code, Code> {
    let (mut request, mut given) = request(&args, context)?;
    if let Some(from) = &args.from {
        let journal = context.journal()?;
        let from = find(&journal, from)?;
        let inherited = request.begin_from(&from, &journal, &context.config);
        inherited.map_err(|problem| problems::refuse(&[problem], &context.root.dir))?;
    }
    let (agents, found) = agents(&request, context);
    let root = &context.root.dir;
    if context.problems.iter().chain(&given).any(Problem::is_error) {
        given.extend(found);
        return Err(problems::refuse(&united(&context.problems, given), root));
    }
    if !found.iter().any(Problem::is_error) {
        let names: Vec<&str> = agents.iter().map(String::as_str).collect();
        // An output that no flag names stands in the other run's record.
        let recorded = request.flags.out.as_ref().filter(|_| args.out.is_none()).map(|p| p.to_string_lossy());
        let recorded: Vec<&str> = recorded.iter().map(AsRef::as_ref).collect();
        agreement::trust_recorded(context, &names, &recorded, args.flags.trust)?;
    }
    // The store is opened, and made, by a run that starts: one that is only prepared leaves nothing behind.
    let setup = Setup::new(context.root.clone(), context.config.clone());
    let prepared = match setup.prepare(&request).await {
        Ok(prepared) => prepared,
        Err(found) => {
            let code = problems::refuse(&united(&context.problems, found), root);
            no_agents(context);
            return Err(code);
        }
    };
    problems::draw(&united(&context.problems, prepared.warnings.clone()), root);
    if args.flags.dry_run {
        print::err_lines(&consent::lines(&prepared.consent));
        return show_briefs(prepared, context.global.json);
    }
    agreement::start(&prepared.consent, args.flags.yes)?;
    if let Some(out) =
        args.out.as_ref().or(args.draft.as_ref()).and_then(|path| std::path::absolute(path).ok())
    {
        agreement::named(context, &out.to_string_lossy());
    }
    let gadfly = setup.open(&context.store()).map_err(|e| error::usage(&e.to_string()))?;
    let session = Session {
        context,
        gadfly: &gadfly,
        run: prepared.run.clone(),
        attended: terminal::person_at_stdin() && !args.unattended,
        print_draft: true,
    };
    let mut interrupts = Interrupts::catch();
    Ok(session.drive(&mut interrupts, |driving| gadfly.start(prepared, driving)).await)
}

/// The request, and what is wrong with the files it names.
fn request(args: &Run, context: &Context) -> Result<(Request, Vec<Problem>), Code> {
    let mut flags = Flags {
        protocol: args.flags.protocol.clone(),
        worker: args.flags.worker.clone(),
        critic: args.flags.critic.clone(),
        fallback_critic: args.flags.fallback_critic.clone(),
        task: None,
        task_file: None,
        phase: args.phase.clone(),
        rounds: args.flags.rounds,
        overrule: args.no_overrule.then_some(false),
        draft: args.draft.clone(),
        with: args.with.clone(),
        out: args.out.clone(),
        limits: Limits {
            tokens: args.budget_tokens,
            money: args.flags.budget_usd.map(usd).transpose()?,
            active_ms: args.minutes.map(|m| m.saturating_mul(60_000)),
            calls: args.calls,
        },
    };
    let mut loop_name = None;
    match (&args.task, &args.task_file) {
        (Some(task), _) if task == "-" => flags.task = Some(read_stdin("the task")?),
        (Some(name), _) if context.config.loops.contains_key(name) => loop_name = Some(name.clone()),
        (Some(task), _) => {
            meant_as_loop(task, context)?;
            flags.task = Some(task.clone());
        }
        (None, Some(path)) if path == Path::new("-") => flags.task = Some(read_stdin("the task")?),
        (None, path) => flags.task_file.clone_from(path),
    }
    let (mut criteria, mut problems) = (Vec::new(), Vec::new());
    for path in &args.rubric {
        match rubric::read(path, Layer::Flags) {
            Ok(items) => criteria.extend(items),
            Err(problem) => problems.push(problem),
        }
    }
    criteria.extend(args.criterion.iter().cloned().map(Sourced::flag));
    Ok((Request { loop_name, flags, criteria, from: None }, problems))
}

/// A single word that is nearly a loop's name was hardly meant as a task.
fn meant_as_loop(task: &str, context: &Context) -> Result<(), Code> {
    if task.contains(char::is_whitespace) {
        return Ok(());
    }
    let loops = context.config.loops.keys().map(String::as_str);
    match suggest::nearest(task, loops) {
        Some(near) => Err(error::usage(&format!("there is no loop `{task}`: did you mean `{near}`?"))),
        None => Ok(()),
    }
}

/// Standard input as text, within what any file may have.
pub fn read_stdin(what: &str) -> Result<String, Code> {
    if terminal::person_at_stdin() {
        print::err(&format!("type {what}; Ctrl-D on an empty line ends it"));
    }
    let mut bytes = Vec::new();
    let read = stdin().lock().take(file::LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|e| error::usage(&format!("{what} cannot be read from standard input: {e}")))?;
    if bytes.len() as u64 > file::LARGEST {
        return Err(error::usage(&format!(
            "{what} on standard input is longer than {} bytes",
            file::LARGEST
        )));
    }
    String::from_utf8(bytes).map_err(|_| error::usage(&format!("{what} on standard input is not UTF-8 text")))
}

/// A sum a person typed.
pub fn usd(amount: f64) -> Result<Money, Code> {
    if amount.is_finite() && amount >= 0.0 {
        return Ok(Money::from_usd(amount));
    }
    Err(error::usage("--budget-usd needs an amount of dollars, like 0.50"))
}

/// The agents the run will use, as far as they are known, and what is wrong with the loop.
fn agents(request: &Request, context: &Context) -> (Vec<String>, Vec<Problem>) {
    let (config, found) = context.config.loop_for(request.loop_name.as_deref(), &request.flags);
    let used = [config.worker, config.critic, config.fallback_critic];
    (used.into_iter().flatten().map(|a| a.value).collect(), found)
}

fn united(one: &[Problem], two: Vec<Problem>) -> Vec<Problem> {
    let mut all = one.to_vec();
    for problem in two {
        if !all.contains(&problem) {
            all.push(problem);
        }
    }
    all
}

/// Nothing is configured: how to go on.
fn no_agents(context: &Context) {
    if !context.config.agents.is_empty() {
        return;
    }
    print::err("");
    print::err("no agents are configured here:");
    print::err("  gadfly doctor   finds what this machine has and says what to put into gadfly.toml");
    print::err("  gadfly init     writes that gadfly.toml");
    print::err("  then name two of them with --worker NAME and --critic NAME, or in [defaults]");
}

/// What the first calls would be given; nothing is recorded.
fn show_briefs(prepared: Prepared, json: bool) -> Result<Code, Code> {
    let mut engine = Engine::default();
    let what = What::Started(Box::new(prepared.start));
    let input = Input { at: Stamp::default(), what, texts: prepared.texts };
    let step = engine.on(&input).map_err(|e| error::usage(&e.to_string()))?;
    for (turn, brief) in brief::asked(&step.effects, &engine) {
        if json {
            print::out(
                &json!({ "dry_run": { "role": turn.role, "agent": turn.agent, "brief": brief } }).to_string(),
            )?;
        } else {
            print::err(&format!(
                "\nthe first brief, to {} {}:\n",
                turn.role.name(),
                safe::line(&turn.agent, 60)
            ));
            print::out(safe::block(&brief).trim_end())?;
        }
    }
    print::err("\ndry run: nothing was sent and nothing recorded");
    Ok(exit::OK)
}
