//! Runs this process drives while nobody sits at a terminal: for the dashboard and the MCP server. Bounded in number;
//! what becomes of each run is in the journal, and whoever asks reads it there.
//!
//! A run that asks a person something is parked, not held: its answer takes it up again, here or anywhere.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gadfly_engine::protocol::pipeline;
use gadfly_journal::RunId;
use gadfly_project::Problem;
use gadfly_runtime::prepare::Prepared;
use gadfly_runtime::service::{DriveOptions, Raise, ResumeError};
use gadfly_runtime::{Ended, Gadfly, Stop, Update};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use crate::context::Context;

/// More than this many at once would only be in each other's way on one machine.
const MOST: usize = 16;
/// Reasons that are kept for runs that could not be driven.
const MOST_REASONS: usize = 64;
/// Answers in a row that come while a run parks.
const MOST_LATE: u32 = 16;
const UPDATES: usize = 64;
/// How long replies under way are waited for when the process is to end, and how long it then takes to stop.
const DRAIN: Duration = Duration::from_secs(8);
const STOPPING: Duration = Duration::from_secs(3);

/// Why a run is not driven here.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NotDriven {
    #[error(
        "{MOST} runs are at work here already: wait until one has ended, or start this one in a terminal"
    )]
    Crowded,
    #[error("this process is about to end: it starts nothing new")]
    Closing,
    #[error("{0}")]
    Failed(String),
}

pub struct Background {
    gadfly: Arc<Gadfly>,
    room: Arc<Semaphore>,
    stop: watch::Sender<Stop>,
    at_work: Mutex<HashMap<RunId, watch::Receiver<bool>>>,
    reasons: Mutex<BTreeMap<RunId, String>>,
}

impl Background {
    pub fn new(gadfly: Gadfly) -> Arc<Self> {
        let (stop, _) = watch::channel(Stop::No);
        Arc::new(Self {
            gadfly: Arc::new(gadfly),
            room: Arc::new(Semaphore::new(MOST)),
            stop,
            at_work: Mutex::default(),
            reasons: Mutex::default(),
        })
    }

    pub fn gadfly(&self) -> &Gadfly {
        &self.gadfly
    }

    /// As the project is configured now. A configuration that was mended counts; one that is broken does not.
    pub fn under(&self, context: &Context) -> Arc<Gadfly> {
        if context.problems.iter().any(Problem::is_error) {
            return Arc::clone(&self.gadfly);
        }
        Arc::new(self.gadfly.under(context.setup()))
    }

    /// Starts a prepared run and drives it here. It exists once this returns.
    pub async fn start(self: &Arc<Self>, context: &Context, prepared: Prepared) -> Result<RunId, NotDriven> {
        let run = prepared.run.clone();
        let place = self.place()?;
        let gadfly = self.under(context);
        let begin = |gadfly: Arc<Gadfly>, driving| async move { gadfly.start(prepared, driving).await };
        self.drive(gadfly, &run, place, begin).await?;
        Ok(run)
    }

    /// Takes a parked or interrupted run up here, unless a living process drives it.
    pub async fn resume(
        self: &Arc<Self>,
        context: &Context,
        run: &RunId,
        raise: Raise,
    ) -> Result<(), NotDriven> {
        let failed = |e: &dyn std::fmt::Display| NotDriven::Failed(e.to_string());
        let summary = self.gadfly.journal().summary(run).map_err(|e| failed(&e))?;
        if self.is_driven_here(run) {
            return Ok(());
        }
        let place = self.place()?;
        let (gadfly, id) = (self.under(context), run.clone());
        if summary.protocol == pipeline::RULE_BOOK.name {
            gadfly.before_resume().await.map_err(|e| failed(&e))?;
        }
        let again = |gadfly: Arc<Gadfly>, driving| async move { gadfly.resume(&id, raise, driving).await };
        self.drive(gadfly, run, place, again).await
    }

    pub fn is_driven_here(&self, run: &RunId) -> bool {
        self.at_work().contains_key(run)
    }

    /// Why the last attempt to drive this run here failed, if it did.
    pub fn reason(&self, run: &RunId) -> Option<String> {
        locked(&self.reasons).get(run).cloned()
    }

    /// Waits until the run is not at work here, at most so long. False if it still is.
    pub async fn settled(&self, run: &RunId, at_most: Duration) -> bool {
        let Some(mut over) = self.at_work().get(run).cloned() else { return true };
        // The sender goes with the run's task: an error means that it is over, too.
        tokio::time::timeout(at_most, over.wait_for(|over| *over)).await.is_ok()
    }

    /// Starts nothing new, waits briefly for replies in flight, and stops. What is not done then can be resumed.
    pub async fn close(&self) {
        self.room.close();
        for (how, patience) in [(Stop::Drain, DRAIN), (Stop::Now, STOPPING)] {
            self.stop.send_replace(how);
            let all: Vec<_> = self.at_work().values().cloned().collect();
            let ended = async {
                for mut over in all {
                    let _ = over.wait_for(|over| *over).await;
                }
            };
            if tokio::time::timeout(patience, ended).await.is_ok() {
                return;
            }
        }
    }

    fn place(&self) -> Result<OwnedSemaphorePermit, NotDriven> {
        if self.room.is_closed() {
            return Err(NotDriven::Closing);
        }
        Arc::clone(&self.room).try_acquire_owned().map_err(|_| NotDriven::Crowded)
    }

    fn at_work(&self) -> MutexGuard<'_, HashMap<RunId, watch::Receiver<bool>>> {
        locked(&self.at_work)
    }

    /// Returns once the run has recorded something here, or could not.
    async fn drive<F, D>(
        self: &Arc<Self>,
        gadfly: Arc<Gadfly>,
        run: &RunId,
        place: OwnedSemaphorePermit,
        begin: F,
    ) -> Result<(), NotDriven>
    where
        F: FnOnce(Arc<Gadfly>, DriveOptions) -> D,
        D: Future<Output = Result<Ended, ResumeError>> + Send + 'static,
    {
        let (tell, updates) = mpsc::channel(UPDATES);
        let how = DriveOptions { attended: false, stop: self.stop.subscribe(), updates: Some(tell) };
        let (over, is_over) = watch::channel(false);
        let (tell_begun, first) = oneshot::channel();
        let (mut ended_here, held) = (is_over.clone(), is_over.clone());
        // One task at a time: of two, the one that came too late would take the other's place.
        match self.at_work().entry(run.clone()) {
            Entry::Occupied(_) => return Ok(()),
            Entry::Vacant(place) => drop(place.insert(is_over)),
        }
        locked(&self.reasons).remove(run);
        let again = how.clone();
        let driven = begin(Arc::clone(&gadfly), how);
        let (me, id) = (Arc::clone(self), run.clone());
        tokio::spawn(async move {
            let listening = tokio::spawn(first_record(updates, tell_begun));
            let mut ended = driven.await;
            for _ in 0..MOST_LATE {
                if ended.is_err() || me.room.is_closed() || me.let_go(&gadfly, &id, &held) {
                    break;
                }
                ended = gadfly.resume(&id, Raise::default(), again.clone()).await;
            }
            drop(again);
            if let Err(why) = &ended {
                me.remember(&id, &said(why));
            }
            // Its records are told by now; a run that is over quickly has begun all the same.
            let _ = listening.await;
            me.forget(&id, &held);
            over.send_replace(true);
            drop(place);
        });
        if first.await.is_ok() {
            return Ok(());
        }
        // Nothing was recorded: why is noted before the task says that it is over.
        let _ = ended_here.wait_for(|over| *over).await;
        let why = self.reason(run);
        Err(NotDriven::Failed(
            why.unwrap_or_else(|| "the run stopped before it recorded anything".to_owned()),
        ))
    }

    /// Lets go of a run that parked, unless an answer came meanwhile. Who leaves one looks afterwards whether the run is
    /// at work here; this looks for one afterwards, too: one of the two sees the other.
    fn let_go(&self, gadfly: &Gadfly, run: &RunId, held: &watch::Receiver<bool>) -> bool {
        if gadfly.has_unread_answer(run) {
            return false;
        }
        self.forget(run, held);
        if !gadfly.has_unread_answer(run) {
            return true;
        }
        match self.at_work().entry(run.clone()) {
            // Whoever left the answer has taken the run up.
            Entry::Occupied(_) => true,
            Entry::Vacant(place) => {
                place.insert(held.clone());
                false
            }
        }
    }

    /// The run may be at work here in another task by now.
    fn forget(&self, run: &RunId, held: &watch::Receiver<bool>) {
        let mut at_work = self.at_work();
        if at_work.get(run).is_some_and(|there| there.same_channel(held)) {
            at_work.remove(run);
        }
    }

    fn remember(&self, run: &RunId, why: &str) {
        let mut reasons = locked(&self.reasons);
        if reasons.len() >= MOST_REASONS {
            reasons.pop_first();
        }
        reasons.insert(run.clone(), why.to_owned());
    }
}

/// Says that the run has recorded something, and takes the rest so that nobody waits for a reader.
async fn first_record(mut updates: mpsc::Receiver<Update>, begun: oneshot::Sender<()>) {
    let mut begun = Some(begun);
    while let Some(update) = updates.recv().await {
        if matches!(update, Update::Record { .. })
            && let Some(begun) = begun.take()
        {
            let _ = begun.send(());
        }
    }
}

/// With every problem of the agents, where that is what is wrong.
fn said(why: &ResumeError) -> String {
    match why {
        ResumeError::Agents { problems, .. } => {
            let all = problems.iter().map(|problem| problem.message.as_str());
            format!("{why}: {}", all.collect::<Vec<_>>().join("; "))
        }
        other => other.to_string(),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
