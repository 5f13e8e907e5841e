//! The jobs at work: each takes the next task, drives its run to an outcome and takes the next one.

use std::fs::File;
use std::io::BufReader;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use gadfly_engine::input::InputKind;
use gadfly_engine::machine::Engine;
use gadfly_engine::{Money, Outcome, Waiting};
use gadfly_journal::{AppendError, ClaimError, RunId, RunWriter};
use gadfly_project::tasks::{self, BatchTask, Tasks};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::funds::{Affordable, Funds};
use super::results::FinishedTask;
use super::survey::Due;
use super::writing::{BatchUpdate, write_results};
use super::{Batch, BatchProgress, BatchReport, Reporter, Template};
use crate::driver::{DriveError, Driver, Ended, RunReport, Stop};
use crate::log_file::{LogFile, LogWritten};
use crate::prepare::rule_books;
use crate::service::{DriveOptions, Gadfly, ResumeError};

/// Results that may wait for the file.
const QUEUE: usize = 256;
/// Notes of one kind that are said in full.
const MOST_NOTES: usize = 20;

struct JobsShared {
    gadfly: Arc<Gadfly>,
    template: Template,
    funds: Funds,
    stop: watch::Receiver<Stop>,
    progress: Arc<BatchProgress>,
    source: Mutex<JobSource>,
    report: Mutex<BatchReport>,
    /// Runs that other processes drove when their turn came.
    skipped: Mutex<Vec<RunId>>,
    /// Set when going on makes no sense: the journal or the results cannot be written.
    broken: Arc<AtomicBool>,
    tell: mpsc::Sender<BatchUpdate>,
}

struct JobSource {
    tasks: Tasks<BufReader<File>>,
    due: std::collections::HashMap<RunId, Due>,
    /// Taken, but not affordable yet.
    held: Option<JobWork>,
    /// Nothing more is started: the money is spent.
    dry: bool,
    over: bool,
}

struct JobWork {
    task: BatchTask,
    run: RunId,
    /// What the run cost before; none for a new one.
    resumes: Option<Money>,
    /// What is held back for it.
    worst: Option<Money>,
}

/// A run that is being driven.
type Driving = BoxFuture<'static, Result<RunReport, DriveError>>;

enum NextJob {
    Work(Box<JobWork>),
    /// A result that is missing in the file.
    Line {
        id: String,
        run: RunId,
        outcome: String,
    },
    Wait,
    Over,
}

pub async fn run(
    batch: Batch,
    funds: Funds,
    stop: watch::Receiver<Stop>,
    progress: Arc<BatchProgress>,
    reporter: Reporter,
) -> BatchReport {
    let Batch { mut survey, gadfly, template, results, request, .. } = batch;
    let tasks = match tasks::open(&request.tasks) {
        Ok(tasks) => tasks,
        Err(problem) => return BatchReport { fault: Some(problem.message), ..BatchReport::default() },
    };
    let broken = Arc::new(AtomicBool::new(false));
    let (tell, told) = mpsc::channel(QUEUE);
    let writing = {
        let broken = Arc::clone(&broken);
        let write = move || write_results(results, told, reporter, &broken);
        std::thread::Builder::new().name("gadfly-results".into()).spawn(write)
    };
    let writing = match writing {
        Ok(writing) => writing,
        Err(e) => return BatchReport { fault: Some(e.to_string()), ..BatchReport::default() },
    };
    let jobs = request.jobs.min(survey.tasks).max(1);
    let due = std::mem::take(&mut survey.due);
    let shared = Arc::new(JobsShared {
        gadfly,
        template,
        funds,
        stop,
        progress,
        source: Mutex::new(JobSource { tasks, due, held: None, dry: false, over: false }),
        report: Mutex::new(BatchReport::default()),
        skipped: Mutex::default(),
        broken,
        tell,
    });
    let mut at_work = JoinSet::new();
    for _ in 0..jobs {
        at_work.spawn(work(Arc::clone(&shared)));
    }
    while let Some(joined) = at_work.join_next().await {
        if let Err(error) = joined {
            shared.fail(format!("a job broke off, which is a defect in Gadfly: {error}"));
        }
    }
    // One signature over the newest seal covers all before it.
    if let Some(signer) = shared.gadfly.signer()
        && let Err(why) = shared.gadfly.sign_seal(&signer).await
    {
        shared.note(format!("what this batch recorded is not signed: {why}"));
    }
    let total = shared.progress.total.load(Ordering::Relaxed);
    let done = shared.progress.done.load(Ordering::Relaxed);
    let mut report = std::mem::take(&mut *shared.report());
    shared.look_again(&mut report);
    report.cost = shared.progress.cost();
    report.cost_unknown = shared.progress.is_cost_unknown();
    report.left = total.saturating_sub(done).saturating_sub(report.interrupted);
    drop(shared);
    // The last sender is gone with the jobs: the writer ends after what is queued.
    let written = tokio::task::spawn_blocking(move || writing.join()).await;
    if let Ok(Ok(Some(fault))) = written {
        report.fault = Some(fault);
    }
    report
}

async fn work(shared: Arc<JobsShared>) {
    loop {
        let mut freed = pin!(shared.funds.freed());
        // Listening before looking: a settlement in between is not missed.
        freed.as_mut().enable();
        match shared.next() {
            NextJob::Work(work) => {
                shared.progress.running.fetch_add(1, Ordering::Relaxed);
                shared.carry_out(*work).await;
                shared.progress.running.fetch_sub(1, Ordering::Relaxed);
            }
            NextJob::Line { id, run, outcome } => Box::pin(shared.repeat_line(id, run, outcome)).await,
            NextJob::Wait => {
                let mut stop = shared.stop.clone();
                tokio::select! {
                    () = freed => {}
                    Ok(()) = stop.changed() => {}
                }
            }
            NextJob::Over => return,
        }
    }
}

impl JobsShared {
    fn report(&self) -> MutexGuard<'_, BatchReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopping(&self) -> bool {
        *self.stop.borrow() != Stop::No || self.broken.load(Ordering::Relaxed)
    }

    fn done(&self) {
        self.progress.done.fetch_add(1, Ordering::Relaxed);
    }

    fn note(&self, text: String) {
        // A full queue means a busy file; a note less is better than a job that waits for a note.
        let _ = self.tell.try_send(BatchUpdate::Note(text));
    }

    /// Gives the whole batch up.
    fn fail(&self, why: String) {
        self.broken.store(true, Ordering::Relaxed);
        self.report().fault.get_or_insert(why);
    }

    /// The next thing to do. The file is read and the money held back under one lock, in the order of
    /// the file.
    fn next(&self) -> NextJob {
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.is_stopping() {
                return NextJob::Over;
            }
            let work = match source.held.take() {
                Some(work) => work,
                None => match self.read_on(&mut source) {
                    Ok(work) => work,
                    Err(Some(next)) => return next,
                    Err(None) => continue,
                },
            };
            if let Some(next) = self.afford(&mut source, work) {
                return next;
            }
        }
    }

    /// The next task that needs a loop; else what its line asks for, or nothing.
    fn read_on(&self, source: &mut JobSource) -> Result<JobWork, Option<NextJob>> {
        if source.over {
            return Err(Some(NextJob::Over));
        }
        let task = match source.tasks.next() {
            Some(Ok(task)) => task,
            Some(Err(problem)) => {
                // It was valid in the first pass: the file changed meanwhile.
                self.note(format!("{problem}"));
                self.report().errors += 1;
                self.done();
                return Err(None);
            }
            None => {
                source.over = true;
                return Err(Some(NextJob::Over));
            }
        };
        let run = self.template.run_id(&task);
        let resumes = match source.due.remove(&run) {
            None => None,
            Some(Due::Resume { cost }) => Some(cost),
            Some(Due::Ended { outcome, written: true }) => {
                self.count(&outcome);
                return Err(None);
            }
            Some(Due::Ended { outcome, .. }) => {
                return Err(Some(NextJob::Line { id: task.id, run, outcome }));
            }
            Some(Due::Elsewhere) => {
                self.elsewhere(&task.id, &run);
                return Err(None);
            }
        };
        Ok(JobWork { task, run, resumes, worst: None })
    }

    fn afford(&self, source: &mut JobSource, mut work: JobWork) -> Option<NextJob> {
        if !self.funds.is_capped() {
            return Some(NextJob::Work(Box::new(work)));
        }
        let worst = self.template.worst_case(Template::bytes(&work.task));
        let affordable = if source.dry { Affordable::No } else { self.funds.reserve(&work.run, worst) };
        match affordable {
            Affordable::Yes => {
                work.worst = Some(worst);
                Some(NextJob::Work(Box::new(work)))
            }
            Affordable::Later => {
                source.held = Some(work);
                Some(NextJob::Wait)
            }
            Affordable::No => {
                // The rest is still looked through: results of ended tasks may be missing.
                source.dry = true;
                self.report().unaffordable += 1;
                self.done();
                None
            }
        }
    }

    fn count(&self, outcome: &str) {
        let mut report = self.report();
        match report.outcomes.get_mut(outcome) {
            Some(n) => *n += 1,
            None => {
                report.outcomes.insert(outcome.to_owned(), 1);
            }
        }
        drop(report);
        self.done();
    }

    fn elsewhere(&self, id: &str, run: &RunId) {
        let mut skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        skipped.push(run.clone());
        let said = skipped.len() <= MOST_NOTES;
        drop(skipped);
        if said {
            self.note(format!("task `{id}` is skipped: another process drives its run {run}"));
        }
        self.done();
    }

    /// Others may have come to an end with what they drove. How that ended is as good as if it had been driven here.
    fn look_again(&self, report: &mut BatchReport) {
        for run in self.skipped.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let journal = self.gadfly.journal();
            match journal.summary(run) {
                Ok(summary) if summary.ended || !journal.is_owned(run).unwrap_or(true) => {
                    *report.outcomes.entry(summary.state).or_default() += 1;
                }
                _ => report.elsewhere += 1,
            }
        }
    }

    fn error(&self, id: &str, run: &RunId, why: &str) {
        let mut report = self.report();
        report.errors += 1;
        let said = report.errors <= MOST_NOTES;
        drop(report);
        if said {
            self.note(format!("task `{id}` (run {run}): {why}"));
        }
        self.done();
    }

    async fn carry_out(&self, work: JobWork) {
        let before = work.resumes.unwrap_or_default();
        let shown = Arc::new(AtomicU64::new(before.0));
        let result = self.drive(&work, &shown).await;
        let cost = result.as_ref().map_or(before, |driven| driven.summary.cost);
        let unknown = result.as_ref().is_ok_and(|driven| driven.summary.cost_unknown);
        // Most of it was shown while it was spent.
        let unseen = cost.0.saturating_sub(shown.load(Ordering::Relaxed));
        self.progress.add_cost(Money(unseen), unknown);
        let cost = Money(cost.0.saturating_sub(before.0));
        self.funds.settle(&work.run, cost);
        let JobWork { task, run, .. } = work;
        match result {
            Ok(RunReport { ended: Ended::Outcome(outcome), summary, draft, log }) => {
                if let Outcome::Waiting(Waiting::Quota { until_ms, .. }) = &outcome {
                    let mut report = self.report();
                    report.quota_until_ms = report.quota_until_ms.max(*until_ms);
                }
                let outcome = outcome.label();
                self.count(&outcome);
                let (rounds, calls) = (summary.rounds, summary.calls);
                let finished = FinishedTask { id: task.id, run, outcome, rounds, calls, draft };
                let _ = self.tell.send(BatchUpdate::Finished(finished, log)).await;
            }
            Ok(RunReport { ended: Ended::Interrupted, log, .. }) => {
                self.report().interrupted += 1;
                if let Some(log) = log {
                    let _ = self.tell.send(BatchUpdate::Log(log)).await;
                }
            }
            Err(
                ResumeError::Claim(ClaimError::Owned { .. })
                | ResumeError::Drive(DriveError::Journal(AppendError::Exists(_) | AppendError::Lost(_))),
            ) => self.elsewhere(&task.id, &run),
            Err(ResumeError::Drive(error @ (DriveError::Journal(_) | DriveError::Closed))) => {
                self.error(&task.id, &run, &error.to_string());
                self.fail(error.to_string());
            }
            Err(error) => self.error(&task.id, &run, &error.to_string()),
        }
    }

    async fn drive(&self, work: &JobWork, shown: &Arc<AtomicU64>) -> Result<RunReport, ResumeError> {
        let driving = match work.resumes {
            None => self.begin(work, shown)?,
            Some(_) => Box::pin(self.take_up(work, shown)).await?,
        };
        Ok(driving.await?)
    }

    fn driver(&self, engine: Engine, writer: RunWriter, shown: &Arc<AtomicU64>) -> Driver {
        let driving = DriveOptions { attended: false, stop: self.stop.clone(), updates: None };
        let mut driver = self.gadfly.driver(engine, writer, self.template.agent_set.clone(), driving);
        driver.log = LogWritten::ForOthers;
        let (progress, shown) = (Arc::clone(&self.progress), Arc::clone(shown));
        driver.meter = Some(Box::new(move |spent| {
            let before = shown.fetch_max(spent.money.0, Ordering::Relaxed);
            progress.add_cost(Money(spent.money.0.saturating_sub(before)), spent.unknown);
        }));
        driver
    }

    /// Nothing of a driver but the driving: thousands of these wait at once.
    fn begin(&self, work: &JobWork, shown: &Arc<AtomicU64>) -> Result<Driving, ResumeError> {
        let damaged = |message| ClaimError::Damaged { run: work.run.clone(), message };
        let (start, texts) = self.template.start(&work.task, work.worst).map_err(damaged)?;
        let writer = self.gadfly.journal().create(work.run.clone())?;
        let driver = self.driver(Engine::new(rule_books()), writer, shown);
        Ok(driver.drive_and_tell(InputKind::Started(Box::new(start)), texts))
    }

    async fn take_up(&self, work: &JobWork, shown: &Arc<AtomicU64>) -> Result<Driving, ResumeError> {
        let (gadfly, run) = (Arc::clone(&self.gadfly), work.run.clone());
        // Reading a run back is work for a thread that may wait.
        let rebuilt = tokio::task::spawn_blocking(move || gadfly.rebuild(&run)).await;
        let (engine, writer) = rebuilt.map_err(|_| DriveError::Closed)??;
        let plan = engine.plan().ok_or(DriveError::Closed)?;
        let first = self.template.resume(plan, engine.spent().money, work.worst);
        Ok(self.driver(engine, writer, shown).drive_and_tell(first, Vec::new()))
    }

    /// Writes the result of a run that ended before its line was written.
    async fn repeat_line(&self, id: String, run: RunId, outcome: String) {
        let (gadfly, asked) = (Arc::clone(&self.gadfly), run.clone());
        let read = tokio::task::spawn_blocking(move || {
            let summary = gadfly.journal().summary(&asked)?;
            let draft = match &summary.last_draft {
                Some(digest) => gadfly.journal().text(digest)?,
                None => None,
            };
            // Whoever was stopped before the line may have been stopped before what others read.
            LogFile::whole(gadfly.journal(), &asked, LogWritten::ForOthers)?.write();
            Ok::<_, gadfly_journal::ReadError>((summary, draft))
        });
        match read.await {
            Ok(Ok((summary, draft))) => {
                self.count(&outcome);
                let (rounds, calls) = (summary.rounds, summary.calls);
                let finished = FinishedTask { id, run, outcome, rounds, calls, draft };
                let _ = self.tell.send(BatchUpdate::Finished(finished, None)).await;
            }
            Ok(Err(error)) => self.error(&id, &run, &error.to_string()),
            Err(error) => self.error(&id, &run, &error.to_string()),
        }
    }
}
