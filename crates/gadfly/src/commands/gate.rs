//! `gadfly gate NAME`: whether the project's scores open a gate, with the arithmetic; and the gate as a git hook.

use gadfly_engine::pipeline::{Gate as Wanted, GateReport};
use gadfly_project::layout;
use gadfly_project::trust::{self, judging};
use gadfly_runtime::prepare::pipeline;
use gadfly_runtime::project_status::{CommandRan, HookError, ProjectStatus, ProofPolicy, StatusQuery};
use serde_json::json;

use crate::agreement::{self, Uses};
use crate::cli::GateArgs;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{error, gate as shown, print, problems, safe};
use crate::project_status;

pub async fn gate(args: &GateArgs, context: &Context) -> Code {
    let said = if args.install { install(args, context).await } else { ask(args, context).await };
    said.unwrap_or_else(|code| code)
}

async fn ask(args: &GateArgs, context: &Context) -> Result<Code, Code> {
    let wanted = wanted(args, context)?;
    let word = match &args.verify {
        Some(keys) => ProofPolicy::Signed(project_status::signers(keys)?),
        None if args.strict => ProofPolicy::Journal,
        None => ProofPolicy::Any,
    };
    let asked = StatusQuery { staged: args.staged, word, assume_manual: false };
    let status = project_status::project_status(context, asked).await?;
    let mut report = status.facts().gate(&wanted);
    // One that is closed whoever wrote its marks runs nothing and lets nothing pass.
    if report.is_open() || !wanted.commands.is_empty() {
        agree(&wanted, args, context)?;
    }
    if args.strict && !status.has_journal {
        let why = format!("--strict needs the journal, and there is none at {}", context.store().display());
        report.blocking.insert(0, why);
    }
    let ran = context.setup().gate_commands(&wanted).await;
    report.blocking.extend(ran.iter().filter_map(CommandRan::blocking));
    if context.global.json {
        print::out(&as_json(&report, &ran, &status).to_string())?;
    } else {
        if !args.strict && args.verify.is_none() {
            project_status::say_source(&status);
        }
        project_status::say_refused(&status);
        shown::report(&report, &ran, &status.proofs).iter().try_for_each(|line| print::out(line))?;
    }
    Ok(if report.is_open() { exit::OK } else { exit::HALTED })
}

fn wanted(args: &GateArgs, context: &Context) -> Result<Wanted, Code> {
    pipeline::gate(&context.config, &args.name)
        .map_err(|problem| problems::refuse(std::slice::from_ref(&problem), &context.root.dir))
}

/// Only the commands and marks of this gate, and who judges whom, as far as they stand in the project's files.
fn agree(gate: &Wanted, args: &GateArgs, context: &Context) -> Result<(), Code> {
    let mut config = context.config.clone();
    config.hooks.commands.clear();
    config.project.verify.commands.clear();
    config.project.verify_of.clear();
    config.gates.retain(|name, _| *name == gate.name);
    let mut wanted = trust::pipeline::of_pipeline(&config);
    wanted.extend(judging::of_gate(&config, &gate.name));
    wanted.extend(judging::of_registry(&layout::read(&context.root.dir, &config)));
    let uses = Uses { wanted, ..Uses::default() };
    agreement::trust(&context.with(config), &uses, args.trust)
}

fn as_json(report: &GateReport, ran: &[CommandRan], status: &ProjectStatus) -> serde_json::Value {
    json!({
        "open": report.is_open(),
        "report": report,
        "judged": shown::judged_json(report, &status.proofs),
        "commands": ran,
        "source": project_status::source_json(status),
    })
}

async fn install(args: &GateArgs, context: &Context) -> Result<Code, Code> {
    wanted(args, context)?;
    let program = std::env::current_exe()
        .map_err(|e| error::fault(&format!("where this program is cannot be told: {e}")))?;
    let store = context.global.store.as_ref().map(std::path::absolute).transpose();
    let store = store.map_err(|e| error::usage(&format!("--store: {e}")))?;
    let installed = context.setup().install_gate(&args.name, &program, store.as_deref()).await;
    let hook = installed.map_err(|e| match e {
        HookError::Io { .. } => error::fault(&e.to_string()),
        other => error::usage(&other.to_string()),
    })?;
    let path = safe::line(&hook.path.display().to_string(), 400);
    let again = if hook.was_there { "written anew" } else { "installed" };
    print::out(&format!("{again}: {path} asks the gate `{}` before every commit", args.name))?;
    Ok(exit::OK)
}
