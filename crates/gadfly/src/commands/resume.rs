//! `gadfly resume`: one run with raised limits, or every run that can go on.

use gadfly_engine::Limits;
use gadfly_engine::input::What;
use gadfly_engine::protocol::{pipeline, watch};
use gadfly_journal::{ListFilter, RunId, Summary};
use gadfly_project::Problem;
use gadfly_project::config::until;
use gadfly_runtime::Gadfly;
use gadfly_runtime::service::Raise;

use crate::agreement::{self, Uses};
use crate::cli::Resume;
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::output::table::counted;
use crate::output::{again, error, judged, print, problems, safe, terminal};
use crate::quota;
use crate::session::Session;

/// States from which `--all` goes on.
const PARKED: [&str; 5] = ["interrupted", "waiting", "unverified", "out_of_budget", "failed"];
const MOST: u32 = 10_000;

pub async fn resume(args: Resume, context: &Context) -> Code {
    match go(&args, context).await {
        Ok(code) | Err(code) => code,
    }
}

async fn go(args: &Resume, context: &Context) -> Result<Code, Code> {
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
            let session = Session { context, gadfly: &gadfly, run: run.clone(), attended, print_draft: true };
            let code = session.drive(&mut interrupts, |driving| gadfly.resume(&run, raise, driving)).await;
            Ok(quota::wait(&session, args.patience, &mut interrupts, code).await)
        }
        None => all(args, raise, context, &gadfly, &mut interrupts).await,
    }
}

/// A cap that is there already, or that the run does not have, is not raised: better said than passed over.
fn raises_something(args: &Resume, gadfly: &Gadfly, summary: &Summary) -> Result<(), Code> {
    let run = &summary.run;
    let wanted = [("--max-steps", args.max_steps, "step"), ("--max-turns", args.max_turns, "turn")];
    let mut wanted = wanted.into_iter().filter_map(|(flag, cap, what)| Some((flag, cap?, what))).peekable();
    if wanted.peek().is_none() || summary.ended {
        return Ok(());
    }
    if summary.protocol != watch::RULE_BOOK.name {
        let (flag, ..) = wanted.next().unwrap_or_default();
        return Err(error::usage(&format!("run `{run}` is no goal, so {flag} raises nothing")));
    }
    let mut limits = Limits::default();
    for record in gadfly.journal().replay(run) {
        match record.map_err(|e| error::fault(&e.to_string()))?.input.what {
            What::Started(start) => limits = start.plan.root.limits,
            What::Resumed { limits: raised, .. } => limits = limits.with(raised),
            _ => {}
        }
    }
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

async fn all(
    args: &Resume,
    raise: Raise,
    context: &Context,
    gadfly: &Gadfly,
    interrupts: &mut Interrupts,
) -> Result<Code, Code> {
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
    let mut codes = Vec::new();
    for summary in &parked {
        let run = &summary.run;
        print::err(&format!("\n{run}  {}", safe::line(&summary.title, 72)));
        let unread = gadfly.journal().mail(run).is_ok_and(|mail| !mail.is_empty());
        if summary.waiting_for.is_some() && !unread {
            print::err(&format!("  still waits for an answer: {}", again::command(&format!("answer {run}"))));
            codes.push(exit::WAITING);
            continue;
        }
        if let Err(code) = hooked(gadfly, summary).await {
            codes.push(code);
            continue;
        }
        // Where there are as many rounds already, nothing is raised.
        let raise = Raise { rounds: raise.rounds.filter(|n| *n > summary.rounds_max), ..raise };
        let session = Session { context, gadfly, run: run.clone(), attended: false, print_draft: false };
        let code = session.drive(interrupts, |driving| gadfly.resume(run, raise, driving)).await;
        let code = quota::wait(&session, args.patience, interrupts, code).await;
        codes.push(code);
        if code == exit::INTERRUPTED {
            break;
        }
    }
    let approved = codes.iter().filter(|c| **c == exit::OK).count();
    print::err(&format!("\n{} of {} approved", approved, counted(codes.len(), "run")));
    Ok(exit::of_many(&codes))
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
            planned = planned.and(Uses::recorded(&start.plan));
        }
    }
    planned
}
