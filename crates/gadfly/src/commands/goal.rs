//! `gadfly goal`: from flags to a request, through trust and consent, to a driven goal.

use std::path::Path;

use gadfly_engine::goal::Already;
use gadfly_engine::protocol::goal::Criterion;
use gadfly_project::config::keys::ConfigSection;
use gadfly_project::config::until;
use gadfly_project::{Problem, suggest};
use gadfly_runtime::prepare::GoalRequest;

use super::run::{LaunchOptions, launch, read_stdin, reports_have_a_place, united};
use crate::agreement::{self, Uses};
use crate::cli::{GoalArgs, Reached};
use crate::context::Context;
use crate::exit::Code;
use crate::output::{error, problems, terminal};
use crate::proposal;

pub async fn goal(args: GoalArgs, context: &Context) -> Code {
    let context = &context.preparing(args.options.word(ConfigSection::Workspace, "prepare"));
    let named =
        ["worker", "critic"].iter().any(|role| args.options.word(ConfigSection::Goal, role).is_some());
    let done = match proposal::for_nobody(context, named).await {
        Ok(Some(proposed)) => Box::pin(go(args, &proposed)).await,
        Ok(None) => Box::pin(go(args, context)).await,
        Err(code) => Err(code),
    };
    done.unwrap_or_else(|code| code)
}

async fn go(args: GoalArgs, context: &Context) -> Result<Code, Code> {
    reports_have_a_place(&args.report, context.global.json)?;
    let files = args.options.overrides(ConfigSection::Goal).files();
    context.not_led_out(args.file.iter().chain(&files))?;
    let request = request(&args, context)?;
    let (configured, found) = request.configured(&context.config);
    if context.problems.iter().any(Problem::is_error) {
        return Err(problems::refuse(&united(&context.problems, found), &context.root.dir));
    }
    if !found.iter().any(Problem::is_error) {
        agreement::trust(context, &Uses::of_goal(&configured, context), args.consent.trust)?;
    }
    let how = LaunchOptions {
        yes: args.consent.yes,
        dry_run: args.consent.dry_run,
        attended: !args.unattended,
        print_draft: true,
        reports: &args.report,
        patience: args.patience,
    };
    let setup = context.setup();
    let prepared = setup.prepare_goal(&request).await;
    Ok(launch(setup, prepared, how, context).await?.code)
}

fn request(args: &GoalArgs, context: &Context) -> Result<GoalRequest, Code> {
    let mut given = args.options.overrides(ConfigSection::Goal);
    given.check_timeout = args.reached.check_timeout;
    if let Some(until) = args.reached.criterion()? {
        given.set("until", until);
    }
    let mut goal_name = None;
    match (&args.text, &args.file) {
        (Some(goal), _) if goal == "-" => given.set("goal", read_stdin("the goal")?),
        (Some(name), _) if context.config.goals.contains_key(name) => goal_name = Some(name.clone()),
        (Some(goal), _) => {
            meant_as_name(goal, context)?;
            given.set("goal", goal.clone());
        }
        (None, Some(path)) if path == Path::new("-") => given.set("goal", read_stdin("the goal")?),
        (None, Some(path)) => given.set("goal_file", path.clone()),
        (None, None) => {}
    }
    let already = match (args.work_anyway, !args.unattended && terminal::person_at_stdin()) {
        (true, _) => Already::Work,
        (false, true) => Already::Ask,
        (false, false) => Already::Stop,
    };
    Ok(GoalRequest { goal_name, given, store: Some(context.store()), already })
}

impl Reached {
    /// All of them together; none if none is given.
    fn criterion(&self) -> Result<Option<Criterion>, Code> {
        let exits = |shell: &Criterion| until::exiting(shell.clone(), self.until_exit, &self.evidence);
        let others =
            [&self.until_json, &self.until_file, &self.until_http, &self.until_judge, &self.until_vision];
        let mut checks: Vec<Criterion> = self.until.iter().map(exits).collect();
        checks.extend(others.into_iter().flatten().cloned());
        checks.extend(self.manual.then_some(Criterion::Manual));
        if self.any && checks.len() < 2 {
            return Err(error::usage("--any chooses between success criteria: give two or more of them"));
        }
        Ok(until::together(checks, self.any))
    }
}

/// A single word that is nearly a goal's name was hardly meant as a goal.
fn meant_as_name(goal: &str, context: &Context) -> Result<(), Code> {
    if goal.contains(char::is_whitespace) {
        return Ok(());
    }
    let goals = context.config.goals.keys().map(String::as_str);
    match suggest::nearest(goal, goals) {
        Some(near) => Err(error::usage(&format!("there is no goal `{goal}`: did you mean `{near}`?"))),
        None => Ok(()),
    }
}
