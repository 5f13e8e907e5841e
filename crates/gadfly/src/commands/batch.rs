//! `gadfly batch`: the same loop over a file of tasks. It shows and counts; the work is the runtime's.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use gadfly_engine::Money;
use gadfly_project::Overrides;
use gadfly_project::config::keys::ConfigSection;
use gadfly_runtime::batch::{Batch, BatchProgress, BatchReport, BatchRequest, News, Reporter};
use gadfly_runtime::{Stop, os};
use tokio::sync::watch;

use crate::agreement::{self, Uses};
use crate::cli;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::output::feed::Feed;
use crate::output::table::{self, moment};
use crate::output::{ask, consent, error, next_command, print, problems, safe, terminal};
use crate::telemetry;

/// How often the line on a terminal, and how often a line elsewhere, is written.
const REDRAW: Duration = Duration::from_millis(200);
const PLAIN: Duration = Duration::from_secs(5);
/// The label of a run that waits for quota.
const QUOTA: &str = "waiting(quota)";
/// Open files beside one connection per loop.
const OTHER_FILES: u64 = 64;

pub async fn batch(args: cli::BatchArgs, context: &Context) -> Code {
    match prepare(&args, context).await {
        Ok(Some(batch)) => run(batch, &args, context).await,
        Ok(None) => exit::OK,
        Err(code) => code,
    }
}

/// Everything that comes before the first call; none if that is all that was asked for.
async fn prepare(args: &cli::BatchArgs, context: &Context) -> Result<Option<Batch>, Code> {
    let root = &context.root.dir;
    if problems::draw(&context.problems, root) > 0 {
        return Err(exit::USAGE);
    }
    context.not_led_out([&args.tasks])?;
    let (given, budget) = given(args);
    let (looped, _) = context.config.loop_for(None, &given);
    agreement::trust(context, &Uses::of(&looped, false, context), args.consent.trust)?;
    let jobs = args.jobs;
    let out = args.out.clone().unwrap_or_else(|| results_beside(&args.tasks));
    let request = BatchRequest { tasks: args.tasks.clone(), out, jobs, given, again: args.again, budget };
    raise_limits(jobs);
    let gadfly = Arc::new(context.open()?);
    if let Some(foreign) = gadfly.journal().foreign() {
        return Err(error::usage(&foreign.to_string()));
    }
    let batch = Batch::prepare(gadfly, request).await.map_err(|found| problems::refuse(&found, root))?;
    problems::draw(&batch.warnings, root);
    announce(&batch, jobs);
    print::err_lines(&telemetry::told(context));
    if args.consent.dry_run {
        if let Some(brief) = batch.first_brief() {
            print::out(&safe::block(&brief))?;
        }
        return Ok(None);
    }
    let due = batch.survey.to_start + batch.survey.to_resume;
    if due > 0
        && consent::needs_a_word(&batch.consent)
        && !args.consent.yes
        && terminal::can_ask()
        && !ask::yes("Start?", true)
    {
        print::err("nothing was started");
        return Ok(None);
    }
    let unreachable = if due > 0 { batch.unreachable().await } else { Vec::new() };
    if !unreachable.is_empty() {
        return Err(problems::refuse(&unreachable, root));
    }
    Ok(Some(batch))
}

/// The money cap is the whole batch's, not one run's.
fn given(args: &cli::BatchArgs) -> (Overrides, Option<Money>) {
    let mut given = args.options.overrides(ConfigSection::Loop);
    let budget = given.limits().money;
    given.remove("budget");
    (given, budget)
}

/// `tasks.jsonl` → `tasks.results.jsonl`.
fn results_beside(tasks: &Path) -> PathBuf {
    let stem = tasks.file_stem().unwrap_or(tasks.as_os_str());
    let mut name = stem.to_owned();
    name.push(".results.jsonl");
    tasks.with_file_name(name)
}

fn raise_limits(jobs: usize) {
    let wanted = (jobs as u64).saturating_add(OTHER_FILES);
    match os::raise_open_files() {
        Ok(limit) if limit >= wanted => {}
        Ok(limit) => error::warn(&format!(
            "only {limit} files may be open at once; {jobs} loops may need {wanted}: raise `ulimit -n` or lower --jobs"
        )),
        Err(e) => error::warn(&format!("the limit of open files cannot be raised: {e}")),
    }
}

fn announce(batch: &Batch, jobs: usize) {
    let survey = &batch.survey;
    for line in consent::lines(&batch.consent) {
        print::err(&line);
    }
    let ended: usize = survey.ended.values().sum();
    let parts = [
        (survey.to_start, "to start"),
        (survey.to_resume, "to resume"),
        (ended, "done before"),
        (survey.elsewhere, "driven elsewhere"),
    ];
    let parts = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
    print::err(&format!("tasks   {}: {}", survey.tasks, parts.collect::<Vec<_>>().join(", ")));
    let sign = if batch.consent.open_ended { "≥" } else { "at most" };
    let cap = batch.budget.map(|m| format!(", budget {m}")).unwrap_or_default();
    let spent = if survey.spent.0 > 0 { format!(", {} spent before", survey.spent) } else { String::new() };
    print::err(&format!("batch   {sign} {} for all, {jobs} at once{cap}{spent}", batch.worst_case));
    for id in &survey.changed {
        let id = safe::line(id, 80);
        print::err(&format!("task `{id}` changed since its last result; running again"));
    }
    if survey.changed_unnamed > 0 {
        print::err(&format!("and {} more tasks like these", survey.changed_unnamed));
    }
}

async fn run(batch: Batch, args: &cli::BatchArgs, context: &Context) -> Code {
    let (tell_stop, stop) = watch::channel(Stop::No);
    let mut interrupts = Interrupts::catch();
    let signals = tokio::spawn(async move {
        for wanted in [Stop::Drain, Stop::Now] {
            interrupts.next().await;
            let _ = tell_stop.send(wanted);
        }
        // Whatever it is that does not end: a third one ends it.
        interrupts.next().await;
        std::process::exit(exit::INTERRUPTED.0.into())
    });
    let live = terminal::is_live() && !context.global.json;
    let progress = Arc::new(BatchProgress::default());
    let showing = tokio::spawn(show(Arc::clone(&progress), live));
    let (feed, taken) = Feed::new();
    let reporter = reporter(feed, context.global.json, live);
    let report = batch.run(stop.clone(), Arc::clone(&progress), reporter).await;
    let _ = taken.await;
    showing.abort();
    signals.abort();
    if live {
        print::err_part("\r\u{1b}[2K");
    }
    print::err(&counts(&report));
    let stopped = *stop.borrow() != Stop::No && report.left + report.interrupted > 0;
    if stopped {
        let spent = table::cost(report.cost, report.cost_unknown);
        print::err(&format!("{spent} is spent; to go on: {}", next_command::command_line()));
    }
    if report.unaffordable > 0 {
        let cap = given(args).1.unwrap_or_default();
        print::err(&format!(
            "the budget of {cap} does not cover the worst case of the next loop; {} is spent; raise --budget-usd to go on",
            table::cost(report.cost, report.cost_unknown)
        ));
    }
    if let Some(waits) = quota(&report).filter(|_| !stopped) {
        print::err(&waits);
    }
    if let Some(fault) = &report.fault {
        return error::fault(fault);
    }
    if stopped { exit::INTERRUPTED } else { code(&report) }
}

fn reporter(mut feed: Feed, json: bool, live: bool) -> Reporter {
    let clear = if live { "\r\u{1b}[2K" } else { "" };
    Box::new(move |news| match news {
        News::Note(text) => print::err(&format!("{clear}{}", safe::block(text))),
        News::Result { line, .. } if json => feed.line(line),
        News::Result { .. } => {}
    })
}

async fn show(progress: Arc<BatchProgress>, live: bool) {
    let began = Instant::now();
    let mut ticks = tokio::time::interval(if live { REDRAW } else { PLAIN });
    // The first tick comes at once and has nothing to show.
    ticks.tick().await;
    let at_start = progress.done.load(Ordering::Relaxed);
    loop {
        ticks.tick().await;
        let done = progress.done.load(Ordering::Relaxed);
        let total = progress.total.load(Ordering::Relaxed);
        let running = progress.running.load(Ordering::Relaxed);
        let rate = done.saturating_sub(at_start) as f64 / began.elapsed().as_secs_f64().max(0.001);
        let cost = table::cost(progress.cost(), progress.is_cost_unknown());
        let text = format!("{done}/{total} done · {running} running · {cost} · {rate:.1}/s");
        if live {
            let cut: String = text.chars().take(terminal::width()).collect();
            print::err_part(&format!("\r\u{1b}[2K{cut}"));
        } else {
            print::err(&text);
        }
    }
}

/// `97 approved · 2 halted(cap) · 1 unverified`.
fn counts(report: &BatchReport) -> String {
    let mut labels: Vec<(&str, usize)> = report.outcomes.iter().map(|(l, n)| (l.as_str(), *n)).collect();
    labels.sort_by_key(|(label, n)| (*label != "approved", std::cmp::Reverse(*n)));
    let more = [
        ("driven elsewhere", report.elsewhere),
        ("interrupted", report.interrupted),
        ("not started (budget)", report.unaffordable),
        ("not driven (error)", report.errors),
        ("not reached", report.left),
    ];
    labels.extend(more.into_iter().filter(|(_, n)| *n > 0));
    let parts: Vec<String> = labels.iter().map(|(label, n)| format!("{n} {label}")).collect();
    if parts.is_empty() { "nothing was done".to_owned() } else { parts.join(" · ") }
}

/// When and how to go on with what waits for quota.
fn quota(report: &BatchReport) -> Option<String> {
    report.outcomes.get(QUOTA).filter(|n| **n > 0)?;
    let until = report.quota_until_ms.map_or_else(
        || "the provider names no time for its quota; when it is back".to_owned(),
        |until| format!("the provider's quota comes back at {}; then", moment(until)),
    );
    Some(format!("{until}, to go on: {}", next_command::command_line()))
}

/// 0 if every task is approved; else the code of the others if they are of one kind, otherwise 3.
fn code(report: &BatchReport) -> Code {
    let mut kinds: BTreeSet<u8> = report.outcomes.keys().map(|label| of_label(label).0).collect();
    let others = [
        (report.elsewhere, exit::WAITING),
        (report.interrupted, exit::INTERRUPTED),
        (report.unaffordable, exit::OUT_OF_BUDGET),
        (report.errors + report.left, exit::FAILED),
    ];
    kinds.extend(others.iter().filter(|(n, _)| *n > 0).map(|(_, code)| code.0));
    kinds.remove(&exit::OK.0);
    match (kinds.len(), kinds.first()) {
        (0, _) => exit::OK,
        (1, Some(only)) => Code(*only),
        _ => exit::HALTED,
    }
}

fn of_label(label: &str) -> Code {
    match label.split('(').next().unwrap_or_default() {
        "approved" => exit::OK,
        "halted" => exit::HALTED,
        "waiting" => exit::WAITING,
        "unverified" => exit::UNVERIFIED,
        "out_of_budget" => exit::OUT_OF_BUDGET,
        "aborted" => exit::ABORTED,
        _ => exit::FAILED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(outcomes: &[(&str, usize)]) -> BatchReport {
        let outcomes = outcomes.iter().map(|(label, n)| ((*label).to_owned(), *n)).collect();
        BatchReport { outcomes, ..BatchReport::default() }
    }

    #[test]
    fn the_code_is_that_of_the_only_kind_that_is_not_approved() {
        assert_eq!(code(&report(&[("approved", 3)])), exit::OK);
        assert_eq!(code(&report(&[("approved", 3), ("unverified", 1)])), exit::UNVERIFIED);
        assert_eq!(code(&report(&[("halted(cap)", 1), ("halted(plateau)", 1)])), exit::HALTED);
        assert_eq!(code(&report(&[("failed", 1), ("unverified", 1)])), exit::HALTED);
        assert_eq!(code(&BatchReport { unaffordable: 2, ..report(&[("approved", 1)]) }), exit::OUT_OF_BUDGET);
        assert_eq!(code(&BatchReport { elsewhere: 1, ..BatchReport::default() }), exit::WAITING);
    }

    #[test]
    fn approved_comes_first_then_the_most_frequent() {
        let shown = counts(&report(&[("halted(cap)", 2), ("approved", 97), ("unverified", 1)]));
        assert_eq!(shown, "97 approved · 2 halted(cap) · 1 unverified");
    }

    #[test]
    fn every_outcome_has_the_code_it_has_in_run() {
        use gadfly_engine::{Digest, Halt, Outcome, Waiting};
        let outcomes = [
            Outcome::Approved { draft: Digest::of(b""), overruled: false, notes: vec![] },
            Outcome::Halted { reason: Halt::Cap, draft: None, open: vec![] },
            Outcome::Waiting(Waiting::Paused),
            Outcome::Waiting(Waiting::Quota { until_ms: None, message: String::new() }),
            Outcome::Unverified { reason: String::new(), draft: None, unseen: Vec::new() },
            Outcome::Aborted,
        ];
        for outcome in outcomes {
            assert_eq!(of_label(&outcome.label()), exit::of_outcome(&outcome), "{}", outcome.label());
        }
    }

    #[test]
    fn results_stand_beside_the_tasks() {
        assert_eq!(results_beside(Path::new("a/tasks.jsonl")), Path::new("a/tasks.results.jsonl"));
    }
}
