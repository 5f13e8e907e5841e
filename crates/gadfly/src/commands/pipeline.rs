//! `gadfly pipeline`: from flags to a request, through trust and consent, to a driven pipeline. `gadfly run` with the name of
//! a skill or an agent is `alone`.

mod alone;

use std::path::Path;

use gadfly_engine::protocol::score::settings::EscalateTo;
use gadfly_journal::OpenError;
use gadfly_project::config::keys::ConfigSection;
use gadfly_project::trust::judging;
use gadfly_project::trust::pipeline::instructions;
use gadfly_project::{Overrides, Problem, file, layout};
use gadfly_runtime::prepare::pipeline::{DEFAULT, DEFAULT_CRITIC, Earlier};
use gadfly_runtime::prepare::{PipelineRequest, PlanWanted};

pub use alone::{alone, run_alone};

use super::run::{LaunchOptions, launch, read_stdin, reports_have_a_place};
use crate::agreement::{self, Uses};
use crate::cli::PipelineArgs;
use crate::context::Context;
use crate::exit::Code;
use crate::output::table::counted;
use crate::output::{error, print, problems, safe};

/// More of what was refused is counted.
const MOST_REFUSED: usize = 10;

pub async fn pipeline(args: PipelineArgs, context: &Context) -> Code {
    Box::pin(go(&args, context)).await.unwrap_or_else(|code| code)
}

async fn go(args: &PipelineArgs, context: &Context) -> Result<Code, Code> {
    reports_have_a_place(&args.report, context.global.json)?;
    context.not_led_out([&args.task_file, &args.plan].into_iter().flatten())?;
    let planning = match &args.plan {
        Some(file) => PlanWanted::Given(file.clone()),
        None if args.no_plan || args.simple => PlanWanted::No,
        None => PlanWanted::Drafted,
    };
    let given = checked(args.options.overrides(ConfigSection::Pipeline), context)?;
    let request = PipelineRequest {
        request: asked_for(args.request.as_deref(), args.task_file.as_deref())?,
        simple: args.simple,
        gate: given.text("gate"),
        jobs: given.whole("jobs").and_then(|jobs| u32::try_from(jobs).ok()),
        assume_manual: args.assume_manual,
        planning,
        spec: args.spec,
        yes: args.consent.yes,
        just_do_it: args.just_do_it,
        commit: args.commit,
        branch: args.branch.clone(),
        limits: given.limits(),
        store: Some(context.store()),
        ..PipelineRequest::default()
    };
    let how = LaunchOptions {
        yes: args.consent.yes,
        dry_run: args.consent.dry_run,
        attended: !args.unattended,
        print_draft: false,
        reports: &args.report,
        patience: args.patience,
    };
    Box::pin(start(request, how, args.consent.trust, context)).await
}

/// Takes up what is known, asks what has to be asked, and drives it.
pub async fn start(
    mut request: PipelineRequest,
    how: LaunchOptions<'_>,
    trusted: bool,
    context: &Context,
) -> Result<Code, Code> {
    let root = &context.root.dir;
    if context.problems.iter().any(Problem::is_error) {
        return Err(problems::refuse(&context.problems, root));
    }
    if !request.simple {
        let journal = match context.existing() {
            Ok(journal) => Some(journal),
            Err(OpenError::Missing(_)) => None,
            Err(other) => return Err(error::usage(&other.to_string())),
        };
        let earlier = request.recall(root, &context.config, journal.as_ref());
        say(&earlier.map_err(|e| error::fault(&e.to_string()))?);
    }
    agreement::trust(context, &uses(&request, context), trusted)?;
    let setup = context.setup();
    let prepared = setup.prepare_pipeline(&request).await;
    Ok(launch(setup, prepared, how, context).await?.code)
}

/// What is taken up that is not this journal's own.
fn say(earlier: &Earlier) {
    if earlier.receipts {
        let verdicts = counted(earlier.verdicts, "verdict");
        print::err(&format!("note: the journal has no verdicts; {verdicts} from committed receipts"));
    }
    for refused in earlier.refused.iter().take(MOST_REFUSED) {
        print::err(&format!("note: a receipt does not count: {}", safe::line(refused, 300)));
    }
    if let Some(more) = earlier.refused.len().checked_sub(MOST_REFUSED).filter(|more| *more > 0) {
        print::err(&format!("note: and {more} more receipts do not count"));
    }
}

/// Everybody a pipeline of this project may call, and what its files want.
fn uses(request: &PipelineRequest, context: &Context) -> Uses {
    let mut uses = Uses { folder: true, pipeline: true, ..Uses::default() };
    uses.agents = [DEFAULT, DEFAULT_CRITIC, "planner"].map(str::to_owned).to_vec();
    let planner = &context.config.pipeline.planner;
    uses.agents.extend(planner.iter().map(|planner| planner.value.clone()));
    uses.judges.push(DEFAULT_CRITIC.to_owned());
    if request.simple {
        return uses;
    }
    let files = layout::read(&context.root.dir, &context.config);
    let entries = files.registry.iter().flat_map(|file| &file.registry.entries);
    for entry in entries.filter(|e| request.only.is_empty() || request.only.contains(&e.agent)) {
        uses.agents.push(entry.agent.clone());
        uses.agents.extend(entry.critic.clone());
        // Whoever is named as a critic, or judges as an agent of its own.
        uses.judges.extend(entry.critic.clone().or_else(|| entry.judges().then(|| entry.agent.clone())));
        if let EscalateTo::Agent(agent) = &entry.escalate_to {
            uses.agents.push(agent.clone());
        }
    }
    // Critics that are asked for by themselves have no entry.
    let is_critic = |name: &&String| !uses.agents.contains(name);
    let critics: Vec<String> = request.only.iter().filter(is_critic).cloned().collect();
    uses.judges.extend(critics.iter().cloned());
    uses.agents.extend(critics);
    let second: Vec<String> = files.duals(&context.config).into_iter().map(|dual| dual.critic).collect();
    uses.judges.extend(second.iter().cloned());
    uses.agents.extend(second);
    let instructed = files.agents.values().filter(|agent| uses.agents.contains(&agent.name));
    uses.wanted.extend(instructed.map(instructions));
    let gate = request.gate.as_ref().unwrap_or(&context.config.pipeline.gate.value);
    uses.wanted.extend(judging::of_pipeline(&context.config, &files, &uses.judges, gate));
    uses
}

/// What was given for a pipeline, once nothing is wrong with it.
fn checked(given: Overrides, context: &Context) -> Result<Overrides, Code> {
    match given.problems() {
        [] => Ok(given),
        wrong => Err(problems::refuse(wrong, &context.root.dir)),
    }
}

/// A text of the command line, of a file, or of standard input.
fn asked_for(text: Option<&str>, path: Option<&Path>) -> Result<String, Code> {
    match (text, path) {
        (Some("-"), _) => read_stdin("the request"),
        (Some(text), _) => Ok(text.to_owned()),
        (None, Some(path)) if path == Path::new("-") => read_stdin("the request"),
        (None, Some(path)) => file::read_text(path).map_err(|e| error::usage(&e.to_string())),
        (None, None) => Err(error::usage("there is nothing to do: say what it is for")),
    }
}
