//! `gadfly run`: from flags to a request, through trust and consent, to a driven run.

mod several;
mod task_argument;

use std::io::{Read as _, stdin};
use std::path::Path;

use gadfly_engine::input::InputKind;
use gadfly_engine::{Engine, Input, Money, RunManifest, Stamp};
use gadfly_journal::RunView;
use gadfly_project::config::keys::ConfigSection;
use gadfly_project::trust::judging;
use gadfly_project::{Problem, Sourced, file};
use gadfly_runtime::prepare::{Prepared, Request};
use gadfly_runtime::setup::Setup;
use serde_json::json;

use super::pipeline;
use crate::agreement::{self, Uses};
use crate::cli::{Patience, ReportTo, RunArgs};
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::output::{brief, consent, error, print, problems, safe, terminal};
use crate::session::Session;
use crate::{proposal, quota, report, telemetry};

pub async fn run(args: RunArgs, context: &Context) -> Code {
    let context = &context.preparing(args.options.word(ConfigSection::Workspace, "prepare"));
    if let Some(name) = args.task.as_deref().filter(|name| !task_argument::is_known(name, context)) {
        match pipeline::alone(name, context) {
            Ok(Some(alone)) => {
                let done = Box::pin(pipeline::run_alone(alone, &args, context)).await;
                return done.unwrap_or_else(|code| code);
            }
            Ok(None) => {}
            Err(code) => return code,
        }
    }
    let whole = several::is_meant(&args, context);
    let named =
        ["worker", "critic"].iter().any(|role| args.options.word(ConfigSection::Loop, role).is_some());
    let done = match proposal::for_nobody(context, named).await {
        Ok(proposed) => {
            let context = proposed.as_ref().unwrap_or(context);
            if whole {
                Box::pin(several::run(args, context)).await
            } else {
                Box::pin(go(args, context)).await
            }
        }
        Err(code) => Err(code),
    };
    done.unwrap_or_else(|code| code)
}

async fn go(args: RunArgs, context: &Context) -> Result<Code, Code> {
    let files = args.options.overrides(ConfigSection::Loop).files();
    context.not_led_out(files.iter().chain(&args.task_plan).chain(&args.rubric))?;
    let mut request = request(&args, context)?;
    let names_output = request.given.has("out");
    let mut inherited_rules = None;
    if let Some(from) = &args.from {
        let journal = context.journal()?;
        let from = find(&journal, from)?;
        let start = journal.start(&from).map_err(|e| error::usage(&e.to_string()))?;
        inherited_rules = judging::of_record(&RunManifest::of(&start.plan));
        let inherited = request.begin_from(&from, &journal, &context.config);
        inherited.map_err(|problem| problems::refuse(&[problem], &context.root.dir))?;
    }
    let (looped, found) = request.configured(&context.config);
    if context.problems.iter().any(Problem::is_error) {
        return Err(problems::refuse(&united(&context.problems, found), &context.root.dir));
    }
    if !found.iter().any(Problem::is_error) {
        // An output that no flag names stands in the other run's record.
        let recorded = request.given.path("out").filter(|_| !names_output && args.from.is_some());
        let outputs = recorded.map(|p| p.to_string_lossy().into_owned()).into_iter().collect();
        let mut uses = Uses { outputs, ..Uses::of(&looped, false, context) };
        uses.wanted.extend(inherited_rules);
        if let Some(work) = &request.described {
            uses = uses.described(work.as_ref(), context);
        }
        if request.described.as_ref().is_some_and(|work| work.names_output()) {
            // It stands in the project's files.
            let named = looped.options.out.as_ref().filter(|_| !names_output);
            uses.outputs.extend(named.map(|out| out.value.to_string_lossy().into_owned()));
        }
        agreement::trust(context, &uses, args.consent.trust)?;
    }
    let how = LaunchOptions {
        yes: args.consent.yes,
        dry_run: args.consent.dry_run,
        attended: !args.unattended,
        print_draft: true,
        reports: &args.report,
        patience: args.patience,
    };
    Ok(Box::pin(drive(&request, how, context)).await?.code)
}

/// How a prepared run is driven.
pub struct LaunchOptions<'a> {
    pub yes: bool,
    pub dry_run: bool,
    /// Wait for a person, if one is there.
    pub attended: bool,
    pub print_draft: bool,
    pub reports: &'a [ReportTo],
    /// What is done about a used-up quota.
    pub patience: Patience,
}

/// A run as it was left.
pub struct LaunchResult {
    pub code: Code,
    /// None if nothing was started.
    pub run: Option<RunView>,
}

/// Prepares a request, asks for consent, drives the run and reports on it.
pub async fn drive(
    request: &Request,
    how: LaunchOptions<'_>,
    context: &Context,
) -> Result<LaunchResult, Code> {
    reports_have_a_place(how.reports, context.global.json)?;
    let setup = context.setup();
    let prepared = setup.prepare(request).await;
    launch(setup, prepared, how, context).await
}

/// Asks for consent to what was prepared, drives the run and reports on it. The store is opened, and made, by a
/// run that starts: one that is only prepared leaves nothing behind.
pub async fn launch(
    setup: Setup,
    prepared: Result<Prepared, Vec<Problem>>,
    how: LaunchOptions<'_>,
    context: &Context,
) -> Result<LaunchResult, Code> {
    let root = &context.root.dir;
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(found) => {
            let code = problems::refuse(&united(&context.problems, found), root);
            no_agents(context);
            return Err(code);
        }
    };
    problems::draw(&united(&context.problems, prepared.warnings.clone()), root);
    if how.dry_run {
        print::err_lines(&consent::lines(&prepared.consent));
        print::err_lines(&telemetry::told(context));
        return show_briefs(prepared, context.global.json).map(|code| LaunchResult { code, run: None });
    }
    print::err_lines(&telemetry::told(context));
    agreement::start(&prepared.consent, how.yes)?;
    agreement::named(context, &prepared.start.plan);
    let gadfly = setup.open(&context.store()).map_err(|e| error::usage(&e.to_string()))?;
    if let Some(foreign) = gadfly.journal().foreign() {
        return Err(error::usage(&foreign.to_string()));
    }
    let run = prepared.run.clone();
    let session = Session {
        context,
        gadfly: &gadfly,
        run: run.clone(),
        attended: terminal::person_at_stdin() && how.attended,
        // A report there must be all there is.
        print_draft: how.print_draft && how.reports.iter().all(|r| r.file.is_some()),
        only_end: None,
    };
    let mut interrupts = Interrupts::catch();
    let code = session.drive(&mut interrupts, |driving| gadfly.start(prepared, driving)).await;
    let code = quota::wait(&session, how.patience, &mut interrupts, code).await;
    let Ok(state) = gadfly.journal().state(&run) else { return Ok(LaunchResult { code, run: None }) };
    write_reports(how.reports, &state, root)?;
    Ok(LaunchResult { code, run: Some(state) })
}

/// Nobody should pay for a report that cannot be written.
pub fn reports_have_a_place(reports: &[ReportTo], json: bool) -> Result<(), Code> {
    if json && reports.iter().any(|to| to.file.is_none()) {
        let why = "--json has standard output for itself: give the report a file, like --report sarif=FILE";
        return Err(error::usage(why));
    }
    for path in reports.iter().filter_map(|to| to.file.as_ref()) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if path.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
            let why = if path.is_dir() { "it is a folder" } else { "there is no such folder" };
            return Err(error::usage(&format!(
                "the report {} cannot be written: {why}; nothing was started",
                path.display()
            )));
        }
    }
    Ok(())
}

/// To their files, or to standard output.
pub fn write_reports(reports: &[ReportTo], state: &RunView, root: &Path) -> Result<(), Code> {
    for to in reports {
        let text = report::render(to.format, state, root);
        match &to.file {
            Some(path) => std::fs::write(path, text).map_err(|e| {
                error::usage(&format!("the report {} cannot be written: {e}", path.display()))
            })?,
            None => print::out(text.trim_end_matches('\n'))?,
        }
    }
    Ok(())
}

fn request(args: &RunArgs, context: &Context) -> Result<Request, Code> {
    let mut given = args.options.overrides(ConfigSection::Loop);
    let asked = task_argument::asked(args, context)?;
    given.remove("task_file");
    if let Some(file) = asked.task_file {
        given.set("task_file", file);
    }
    if let Some(task) = asked.task {
        given.set("task", task);
    }
    Ok(Request {
        loop_name: asked.loop_name,
        described: asked.described,
        given,
        rubrics: args.rubric.clone(),
        criteria: args.criterion.iter().cloned().map(Sourced::flag).collect(),
        store: Some(context.store()),
        ..Request::default()
    })
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
    Money::of_usd(amount).ok_or_else(|| error::usage("--budget-usd needs an amount of dollars, like 0.50"))
}

pub fn united(one: &[Problem], two: Vec<Problem>) -> Vec<Problem> {
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
    let what = InputKind::Started(Box::new(prepared.start));
    let input = Input { at: Stamp::default(), what, texts: prepared.texts };
    let step = engine.on(&input).map_err(|e| error::usage(&e.to_string()))?;
    let briefs = brief::asked(&step.effects, &engine);
    if briefs.is_empty() {
        print::err(
            "\nthe first brief is written once the worker's folder is there: there is none to show yet",
        );
    }
    for (turn, brief) in briefs {
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
