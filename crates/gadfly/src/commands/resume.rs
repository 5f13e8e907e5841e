//! `gadfly resume`: one run with raised limits, or every run that can go on.

use gadfly_engine::Limits;
use gadfly_engine::input::What;
use gadfly_journal::{ListFilter, RunId};
use gadfly_project::Problem;
use gadfly_runtime::Gadfly;
use gadfly_runtime::service::Raise;

use crate::agreement::{self, Uses};
use crate::cli::Resume;
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::output::table::counted;
use crate::output::{again, error, print, problems, safe, terminal};
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
    let limits = Limits {
        tokens: args.budget_tokens,
        money,
        active_ms: args.minutes.map(|m| m.saturating_mul(60_000)),
        calls: args.calls,
        ..Limits::default()
    };
    let raise = Raise { limits, rounds: args.rounds };
    let mut interrupts = Interrupts::catch();
    match &args.run {
        Some(typed) => {
            let run = find(gadfly.journal(), typed)?;
            let summary = gadfly.journal().summary(&run).map_err(|e| error::fault(&e.to_string()))?;
            if let Some(rounds) = args.rounds.filter(|n| *n <= summary.rounds_max && !summary.ended) {
                return Err(error::usage(&format!(
                    "run `{run}` has {} already, so --rounds {rounds} raises nothing",
                    counted(summary.rounds_max as usize, "round")
                )));
            }
            let planned = planned(&gadfly, [&run]);
            // Of a run that has ended nothing is asked: it is refused, below.
            if !summary.ended {
                agreement::trust(context, &planned, args.trust)?;
            }
            let attended = terminal::person_at_stdin() && !args.unattended;
            let session = Session { context, gadfly: &gadfly, run: run.clone(), attended, print_draft: true };
            let code = session.drive(&mut interrupts, |driving| gadfly.resume(&run, raise, driving)).await;
            Ok(quota::wait(&session, args.patience, &mut interrupts, code).await)
        }
        None => all(args, raise, context, &gadfly, &mut interrupts).await,
    }
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

/// What recorded runs were planned with, by their first records: a summary is only a rendering of them.
fn planned<'a>(gadfly: &Gadfly, runs: impl IntoIterator<Item = &'a RunId>) -> Uses {
    let mut planned = Uses::default();
    for run in runs {
        let first = gadfly.journal().records(run, 0, 1).unwrap_or_default();
        if let Some(What::Started(start)) = first.first().map(|r| &r.input.what) {
            planned = planned.and(Uses::recorded(&start.plan));
        }
    }
    planned
}
