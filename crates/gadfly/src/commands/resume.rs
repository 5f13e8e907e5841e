//! `gadfly resume`: one run with raised limits, or every run that can go on.

use std::cell::Cell;

use futures_util::{StreamExt as _, stream};
use gadfly_engine::Limits;
use gadfly_engine::protocol::{goal, pipeline};
use gadfly_journal::{ListFilter, RunId, Summary};
use gadfly_project::Problem;
use gadfly_project::config::until;
use gadfly_runtime::Gadfly;
use gadfly_runtime::service::Raise;

use crate::agreement::{self, Uses};
use crate::cli::ResumeArgs;
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::output::table::counted;
use crate::output::{error, judged, next_command, print, problems, safe, terminal};
use crate::quota;
use crate::session::Session;

/// States from which `--all` goes on.
const PARKED: [&str; 5] = ["interrupted", "waiting", "unverified", "out_of_budget", "failed"];
const MOST: u32 = 10_000;

pub async fn resume(args: ResumeArgs, context: &Context) -> Code {
    match go(&args, context).await {
        Ok(code) | Err(code) => code,
    }
}

async fn go(args: &ResumeArgs, context: &Context) -> Result<Code, Code> {
    // Nothing is asked here: the flag is taken because `run` has it.
    let _ = args.yes;
    let gadfly = context.open_existing()?;
    if context.problems.iter().any(Problem::is_error) {
        return Err(problems::refuse(&context.problems, &context.root.dir));
    }
    let money = args.budget_usd.map(super::run::usd).transpose()?;
    let minutes = args.minutes.map(|m| m.saturating_mul(60_000));
    let limits = Limits {
        tokens: args.budget_tokens,
        money,
        active_ms: minutes.or(args.wall_clock.map(until::millis)),
        calls: args.calls,
        steps: args.max_steps,
        turns: args.max_turns,
    };
    let raise = Raise { limits, rounds: args.rounds };
    let mut interrupts = Interrupts::catch();
    match &args.run {
        Some(typed) => {
            let run = find(gadfly.journal(), typed)?;
            let summary = gadfly.journal().summary(&run).map_err(|e| error::fault(&e.to_string()))?;
            if summary.ended && summary.protocol == pipeline::RULE_BOOK.name {
                let why = format!("run `{run}` has ended ({}); its verdicts count on", summary.state);
                return Err(error::usage(&format!("{why}: gadfly pipeline \"…\" goes on from there")));
            }
            if let Some(rounds) = args.rounds.filter(|n| *n <= summary.rounds_max && !summary.ended) {
                return Err(error::usage(&format!(
                    "run `{run}` has {} already, so --rounds {rounds} raises nothing",
                    counted(summary.rounds_max as usize, "round")
                )));
            }
            raises_something(args, &gadfly, &summary)?;
            let planned = planned(&gadfly, [&run]);
            // Of a run that has ended nothing is asked: it is refused, below.
            if !summary.ended {
                agreement::trust(context, &planned, args.trust)?;
                hooked(&gadfly, &summary).await?;
            }
            let attended = terminal::person_at_stdin() && !args.unattended;
            let session = Session {
                context,
                gadfly: &gadfly,
                run: run.clone(),
                attended,
                print_draft: true,
                only_end: None,
            };
            let code = session.drive(&mut interrupts, |driving| gadfly.resume(&run, raise, driving)).await;
            Ok(quota::wait(&session, args.patience, &mut interrupts, code).await)
        }
        None => all(args, raise, context, &gadfly).await,
    }
}

/// A cap that is there already, or that the run does not have, is not raised: better said than passed over.
fn raises_something(args: &ResumeArgs, gadfly: &Gadfly, summary: &Summary) -> Result<(), Code> {
    let run = &summary.run;
    let wanted = [("--max-steps", args.max_steps, "step"), ("--max-turns", args.max_turns, "turn")];
    let mut wanted = wanted.into_iter().filter_map(|(flag, cap, what)| Some((flag, cap?, what))).peekable();
    if wanted.peek().is_none() || summary.ended {
        return Ok(());
    }
    if summary.protocol != goal::RULE_BOOK.name {
        let (flag, ..) = wanted.next().unwrap_or_default();
        return Err(error::usage(&format!("run `{run}` is no goal, so {flag} raises nothing")));
    }
    let limits = gadfly.journal().totals(run).map_err(|e| error::fault(&e.to_string()))?.limits;
    for (flag, cap, what) in wanted {
        let now = if what == "step" { limits.steps } else { limits.turns };
        if let Some(now) = now.filter(|now| cap <= *now) {
            return Err(error::usage(&format!(
                "run `{run}` has {} already, so {flag} {cap} raises nothing",
                counted(now as usize, what)
            )));
        }
    }
    Ok(())
}

async fn all(args: &ResumeArgs, raise: Raise, context: &Context, gadfly: &Gadfly) -> Result<Code, Code> {
    let filter = ListFilter { states: PARKED.map(str::to_owned).to_vec(), limit: MOST, offset: 0 };
    let mut parked = gadfly.journal().list(&filter).map_err(|e| error::fault(&e.to_string()))?;
    // Those that have waited longest go first.
    parked.reverse();
    if parked.is_empty() {
        print::err("nothing to resume: no run is parked or interrupted");
        return Ok(exit::OK);
    }
    let planned = planned(gadfly, parked.iter().map(|s| &s.run));
    agreement::trust(context, &planned, args.trust)?;
    let many = Many { args, raise, context, gadfly, at_once: args.jobs.min(parked.len()) };
    let codes = many.resume(&parked).await;
    let approved = codes.iter().filter(|c| **c == exit::OK).count();
    print::err(&format!("\n{} of {} approved", approved, counted(codes.len(), "run")));
    Ok(exit::of_many(&codes))
}

/// Several runs taken up, some of them at once.
struct Many<'a> {
    args: &'a ResumeArgs,
    raise: Raise,
    context: &'a Context,
    gadfly: &'a Gadfly,
    at_once: usize,
}

impl Many<'_> {
    /// How each was left; those that an interruption came before are not among them.
    async fn resume(&self, parked: &[Summary]) -> Vec<Code> {
        let stopped = Cell::new(false);
        let one = |summary| {
            let stopped = &stopped;
            async move {
                if stopped.get() {
                    return None;
                }
                let code = self.one(summary).await;
                stopped.set(stopped.get() || code == exit::INTERRUPTED);
                Some(code)
            }
        };
        let codes = stream::iter(parked).map(one).buffer_unordered(self.at_once.max(1));
        codes.filter_map(std::future::ready).collect().await
    }

    async fn one(&self, summary: &Summary) -> Code {
        let (gadfly, run) = (self.gadfly, &summary.run);
        let head = format!("\n{run}  {}", safe::line(&summary.title, 72));
        let only_end = (self.at_once > 1).then(|| head.clone());
        let unread = gadfly.journal().mail(run).is_ok_and(|mail| !mail.is_empty());
        if summary.waiting_for.is_some() && !unread {
            let how = next_command::command(&format!("answer {run}"));
            print::err(&format!("{head}\n  still waits for an answer: {how}"));
            return exit::WAITING;
        }
        if only_end.is_none() {
            print::err(&head);
        }
        if let Err(code) = hooked(gadfly, summary).await {
            return code;
        }
        // Each hears of every signal.
        let mut interrupts = Interrupts::catch();
        // Where there are as many rounds already, nothing is raised.
        let raise = Raise { rounds: self.raise.rounds.filter(|n| *n > summary.rounds_max), ..self.raise };
        let (context, attended, print_draft) = (self.context, false, false);
        let session = Session { context, gadfly, run: run.clone(), attended, print_draft, only_end };
        let code = session.drive(&mut interrupts, |driving| gadfly.resume(run, raise, driving)).await;
        quota::wait(&session, self.args.patience, &mut interrupts, code).await
    }
}

/// What the project wants done before a pipeline goes on. If that fails, the run stays as it is.
async fn hooked(gadfly: &Gadfly, summary: &Summary) -> Result<(), Code> {
    if summary.protocol != pipeline::RULE_BOOK.name {
        return Ok(());
    }
    gadfly.before_resume().await.map_err(|failed| {
        let run = &summary.run;
        error::usage(&safe::line(&format!("{failed}; run `{run}` was not taken up"), 600));
        print::err_lines(&judged::tail(&failed.output));
        exit::HALTED
    })
}

/// What recorded runs were planned with, by their first records: a summary is only a rendering of them.
fn planned<'a>(gadfly: &Gadfly, runs: impl IntoIterator<Item = &'a RunId>) -> Uses {
    let mut planned = Uses::default();
    for run in runs {
        if let Ok(start) = gadfly.journal().start(run) {
            planned = planned.and(Uses::recorded(&start.plan).unless_made_here(gadfly.journal(), run));
        }
    }
    planned
}
