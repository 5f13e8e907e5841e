//! Drives one run: input → engine → journal → effects → replies → input, until an outcome.
//!
//! Nothing is performed before the step that asks for it is durable. If a commit fails the driver stops
//! and the engine is dropped: the journal still holds the last whole step.

mod effects;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use gadfly_engine::budget::Spent;
use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::machine::Refused;
use gadfly_engine::{Class, Control, EffectId, Engine, Input, Outcome, Reply, Text, Waiting};
use gadfly_journal::{AppendError, Delivery, MailId, MailKind, Record, RunId, RunWriter, Summary};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::agent_set::AgentSet;
use crate::call_site::REVIEWED;
use crate::clock::ActiveClock;
use crate::folder::{self, Folder};
use crate::host::Host;
use crate::log_file::{LogFile, LogToWrite, LogWritten};
use crate::os::remove_tree;
use crate::perform::{Back, Incoming};
use crate::process_env::ProcessEnv;
use crate::tools::Tools;
use crate::witness::OptionalWitness;

/// How long the first Ctrl-C waits for paid replies in flight.
const DRAIN: Duration = Duration::from_secs(5);
/// How long those that are then stopped may take to say what they used.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How long a surface that takes no more records is waited for. What it then misses is in the journal.
const PATIENCE: Duration = Duration::from_secs(10);
/// Replies and observations that may wait for the journal.
const QUEUE: usize = 64;

/// Whether the process wants to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stop {
    #[default]
    No,
    /// Start nothing new, wait briefly for replies in flight.
    Drain,
    Now,
}

/// What a surface is told while a run is driven in its own process.
#[derive(Clone, Debug)]
pub enum Update {
    /// A durable record.
    Record { run: RunId, record: Arc<Record> },
    /// Text as an agent writes it; may be lost.
    Progress { run: RunId, effect: EffectId, text: String },
}

/// How driving a run ended here.
#[derive(Clone, PartialEq, Debug)]
pub enum Ended {
    Outcome(Outcome),
    /// This process stopped first; `resume` goes on.
    Interrupted,
}

#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    #[error("the run could not be recorded, so it was stopped before doing anything more: {0}")]
    Journal(#[from] AppendError),
    #[error("{0}")]
    Refused(#[from] Refused),
    #[error("the journal closed")]
    Closed,
}

/// Told what a run has spent.
pub type SpentMeter = Box<dyn Fn(Spent) + Send + Sync>;

pub struct Driver {
    pub host: Arc<Host>,
    pub engine: Engine,
    pub writer: RunWriter,
    pub agent_set: AgentSet,
    /// Keep waiting while a person is asked.
    pub attended: bool,
    pub stop: watch::Receiver<Stop>,
    pub updates: Option<mpsc::Sender<Update>>,
    pub log: LogWritten,
    /// Told what the run has spent whenever that changes.
    pub meter: Option<SpentMeter>,
    /// What starting programs for the run needs; none where this program can start none.
    pub(crate) process_env: Option<Arc<ProcessEnv>>,
    pub(crate) watched: OptionalWitness,
}

/// How driving a run ended, with all that a list of results needs, so that the batch need not ask the journal.
#[derive(Clone, Debug)]
pub struct RunReport {
    pub ended: Ended,
    pub summary: Summary,
    /// The last draft's text.
    pub draft: Option<Arc<str>>,
    /// The run's log, if writing it was left to the caller.
    pub log: Option<LogToWrite>,
}

struct RunningEffect {
    cancel: CancellationToken,
    /// To an agent that hears while it works.
    tell: Option<mpsc::Sender<String>>,
    task: tokio::task::JoinHandle<()>,
}

impl RunningEffect {
    const fn of(cancel: CancellationToken, task: tokio::task::JoinHandle<()>) -> Self {
        Self { cancel, tell: None, task }
    }
}

struct RunLoop {
    driver: Driver,
    run: RunId,
    clock: ActiveClock,
    at_work: HashMap<EffectId, RunningEffect>,
    incoming_in: Back,
    /// Replies this driver gives by itself, taken before any that come in.
    own_replies: VecDeque<(EffectId, Reply)>,
    stopping: Stop,
    seen_mail: HashSet<MailId>,
    log: LogFile,
    /// The folders of the run, by their homes, once something is done in them: one, or one for each node.
    folders: HashMap<PathBuf, Arc<Folder>>,
    /// What does tools' work, once one is used; as many as there are folders.
    tools: HashMap<PathBuf, Arc<Tools>>,
    /// Acceptances under way of what a node made in a folder of its own.
    delivering: HashMap<EffectId, Arc<Folder>>,
    /// Folders that are being laid out for a person: ready before the run is taken up, or said to wait.
    laying_out: Vec<tokio::task::JoinHandle<()>>,
    /// The subscriber to updates did not take the last one in time; the driver waits for it again once it takes one.
    subscriber_stalled: bool,
}

impl Driver {
    pub fn run(&self) -> &RunId {
        self.writer.run()
    }

    /// Drives the run from `first` (its start, or a resume) until it ends, parks or the process stops.
    pub async fn drive(self, first: InputKind, texts: Vec<Text>) -> Result<Ended, DriveError> {
        Ok(self.drive_and_tell(first, texts).await?.ended)
    }

    /// As `drive`, and says how the run stands then.
    pub fn drive_and_tell(
        self,
        first: InputKind,
        texts: Vec<Text>,
    ) -> BoxFuture<'static, Result<RunReport, DriveError>> {
        let run = self.writer.run().clone();
        let mail = self.host.mailbox(&run);
        let (incoming_in, incoming) = Back::new(QUEUE);
        let clock = ActiveClock::from(self.engine.active_ms());
        let log = LogFile::of(self.host.journal(), &run, self.writer.next_seq() > 0, self.log);
        // On the heap and once: a future that takes it as an argument would hold it twice.
        let driving = Box::new(RunLoop {
            driver: self,
            run: run.clone(),
            clock,
            at_work: HashMap::new(),
            incoming_in,
            own_replies: VecDeque::new(),
            stopping: Stop::No,
            seen_mail: HashSet::new(),
            log,
            folders: HashMap::new(),
            tools: HashMap::new(),
            delivering: HashMap::new(),
            laying_out: Vec::new(),
            subscriber_stalled: false,
        });
        Box::pin(driving.drive(Box::new(first), texts, mail, incoming))
    }
}

impl RunLoop {
    async fn drive(
        mut self: Box<Self>,
        first: Box<InputKind>,
        texts: Vec<Text>,
        mut mail: mpsc::Receiver<Box<Delivery>>,
        mut incoming: mpsc::Receiver<Box<Incoming>>,
    ) -> Result<RunReport, DriveError> {
        let result = self.go(first, texts, &mut mail, &mut incoming).await;
        for work in self.at_work.values() {
            work.cancel.cancel();
            work.task.abort();
        }
        for tools in self.tools.values() {
            Box::pin(tools.close()).await;
        }
        for laid_out in self.laying_out.drain(..) {
            let _ = laid_out.await;
        }
        self.driver.host.close_mailbox(&self.run);
        self.driver.watched.left(&self.run);
        let ended = result?;
        Box::pin(self.clean_up(&ended)).await;
        let log = self.log.rest();
        let summary = self.driver.writer.summary().clone();
        let texts = self.driver.engine.texts();
        let draft = summary.last_draft.and_then(|d| texts.and_then(|t| t.shared(&d)));
        // Whoever is told that the run stopped here can take it up.
        let (tell, told) = oneshot::channel();
        self.driver.writer.release(move || {
            let _ = tell.send(());
        });
        let _ = told.await;
        Ok(RunReport { ended, summary, draft, log })
    }

    async fn go(
        &mut self,
        first: Box<InputKind>,
        texts: Vec<Text>,
        mail: &mut mpsc::Receiver<Box<Delivery>>,
        incoming: &mut mpsc::Receiver<Box<Incoming>>,
    ) -> Result<Ended, DriveError> {
        let is_new = self.driver.writer.next_seq() == 0;
        // Mail that came while nobody drove the run; a run that did not exist has none.
        let waiting =
            if is_new { Vec::new() } else { self.driver.host.journal().mail(&self.run).unwrap_or_default() };
        let still = self.stands_still();
        let (before, after): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(_, mail)| still && matches!(mail.what, MailKind::Steer { .. }));
        // On the heap, as everything here that seldom happens: each run that waits carries what stands in its future.
        for (id, mail) in before {
            Box::pin(self.mail(Delivery { run: self.run.clone(), id, mail })).await?;
        }
        let is_cancelled = matches!(*first, InputKind::Controlled(Control::Cancel));
        // What an input needs while it is taken is not carried along while the next one is waited for.
        Box::pin(self.feed(*first, texts, None)).await?;
        if is_cancelled {
            self.give_up_lost();
        }
        for (id, mail) in after {
            Box::pin(self.mail(Delivery { run: self.run.clone(), id, mail })).await?;
        }
        let mut stop = self.driver.stop.clone();
        loop {
            if let Some(ended) = self.ended() {
                return Ok(ended);
            }
            if let Some((effect, reply)) = self.own_replies.pop_front() {
                Box::pin(self.take(Incoming::Replied { effect, reply, texts: Vec::new() })).await?;
                continue;
            }
            tokio::select! {
                biased;
                Ok(()) = stop.changed(), if self.stopping != Stop::Now => {
                    let wanted = *stop.borrow_and_update();
                    if let Some(ended) = Box::pin(self.stop(wanted, incoming)).await? {
                        return Ok(ended);
                    }
                }
                Some(next) = incoming.recv() => Box::pin(self.take(*next)).await?,
                Some(delivery) = mail.recv() => Box::pin(self.mail(*delivery)).await?,
                else => return Err(DriveError::Closed),
            }
        }
    }

    /// A run that nobody drove is called off: what was under way when its process died gets no reply from anybody.
    fn give_up_lost(&mut self) {
        let open =
            self.driver.engine.open_effects().filter(|e| e.class != Class::Person).map(|e| e.id.clone());
        let lost: Vec<EffectId> = open.filter(|id| !self.at_work.contains_key(id)).collect();
        self.own_replies.extend(lost.into_iter().map(|id| (id, Reply::Cancelled { sent: true })));
    }

    /// Parked, and not for an answer: a word to the worker is heard before the run goes on, so that it is in the
    /// first call.
    fn stands_still(&self) -> bool {
        let asks = |o: &Outcome| matches!(o, Outcome::Waiting(Waiting::Question { .. }));
        self.driver.engine.outcome().is_some_and(|outcome| !asks(outcome))
    }

    fn ended(&self) -> Option<Ended> {
        match self.driver.engine.outcome() {
            Some(Outcome::Waiting(Waiting::Question { .. }))
                if self.driver.attended && self.stopping == Stop::No =>
            {
                None
            }
            Some(outcome) => Some(Ended::Outcome(outcome.clone())),
            None if self.stopping != Stop::No && self.at_work.is_empty() => Some(Ended::Interrupted),
            None => None,
        }
    }

    /// One input: the engine's step is durable before anything of it is done.
    async fn feed(
        &mut self,
        what: InputKind,
        texts: Vec<Text>,
        mail: Option<MailId>,
    ) -> Result<(), DriveError> {
        let mut next = Some((what, texts, mail));
        let mut unsent: Vec<EffectId> = Vec::new();
        loop {
            let (what, texts, mail) = match next.take() {
                Some(given) => given,
                None => match unsent.pop() {
                    Some(effect) => {
                        let reply = Reply::Cancelled { sent: false };
                        (InputKind::Replied { effect, reply }, Vec::new(), None)
                    }
                    None => return Ok(()),
                },
            };
            let record = self.commit(what, texts, mail).await?;
            for effect in &record.step.effects {
                if self.stopping != Stop::No
                    && matches!(effect.class, Class::Paid | Class::Read | Class::Acts)
                {
                    unsent.push(effect.id.clone());
                } else {
                    self.perform(effect);
                }
            }
        }
    }

    async fn commit(
        &mut self,
        what: InputKind,
        texts: Vec<Text>,
        mail: Option<MailId>,
    ) -> Result<Arc<Record>, DriveError> {
        let input = Input { at: self.clock.stamp(), what, texts };
        let step = self.driver.engine.on(&input)?;
        let seq = self.driver.writer.next_seq();
        let (tell, told) = oneshot::channel();
        self.driver.writer.append(&input, &step, mail, move |result| {
            let _ = tell.send(result);
        });
        told.await.map_err(|_| DriveError::Closed)??;
        let record = Arc::new(Record { seq, input, step });
        self.log.follow(&record);
        self.driver.watched.recorded(&self.run, &record);
        if let Some(meter) = &self.driver.meter
            && record.step.events.iter().any(|event| matches!(event.what, EventKind::Charged { .. }))
        {
            meter(self.driver.engine.spent());
        }
        if let Some(updates) = &self.driver.updates {
            let update = Update::Record { run: self.run.clone(), record: Arc::clone(&record) };
            self.subscriber_stalled = if self.subscriber_stalled {
                matches!(updates.try_send(update), Err(TrySendError::Full(_)))
            } else {
                Box::pin(tokio::time::timeout(PATIENCE, updates.send(update))).await.is_err()
            };
        }
        Ok(record)
    }

    async fn take(&mut self, incoming: Incoming) -> Result<(), DriveError> {
        match incoming {
            Incoming::Observed { effect, observation } => {
                if !self.at_work.contains_key(&effect) {
                    return Ok(());
                }
                self.feed(InputKind::Observed { effect, observation }, Vec::new(), None).await
            }
            Incoming::Replied { effect, reply, texts } => {
                self.at_work.remove(&effect);
                let delivered =
                    self.delivering.remove(&effect).filter(|_| matches!(reply, Reply::Accepted { .. }));
                if let Some(folder) = delivered {
                    // Nobody works there any more, and a pipeline may have many.
                    tokio::spawn(async move { folder.tidy().await });
                }
                match self.feed(InputKind::Replied { effect, reply }, texts, None).await {
                    // Its effect is closed already: a cancel and the answer crossed.
                    Err(DriveError::Refused(Refused::NotOpen(_))) => Ok(()),
                    other => other,
                }
            }
        }
    }

    async fn mail(&mut self, delivery: Delivery) -> Result<(), DriveError> {
        if !self.seen_mail.insert(delivery.id) {
            return Ok(());
        }
        let (what, texts) = match delivery.mail.what {
            MailKind::Pause => (InputKind::Controlled(Control::Pause), Vec::new()),
            MailKind::Cancel => (InputKind::Controlled(Control::Cancel), Vec::new()),
            MailKind::Steer { text } => {
                (InputKind::Controlled(Control::Steer { text, by: delivery.mail.by }), Vec::new())
            }
            MailKind::Answer { effect, text } => {
                let text = Text::new(text);
                let what = InputKind::Answered { effect, text: text.digest(), by: delivery.mail.by };
                (what, vec![text])
            }
        };
        match self.feed(what, texts, Some(delivery.id)).await {
            // An answer to a question that is no longer open: said to nobody, so it is put away.
            Err(DriveError::Refused(_)) => {
                let _ = self.driver.host.journal().discard_mail(delivery.id);
                Ok(())
            }
            other => other,
        }
    }

    /// What nobody needs any more when the run is through: copies that were lent, and the workers' folders once
    /// their content is with the user. What undoing needs stays.
    async fn clean_up(&mut self, ended: &Ended) {
        let Ended::Outcome(outcome) = ended else { return };
        if outcome.is_ended() {
            let run = self.driver.host.journal().work_dir(&self.run);
            let is_over = matches!(outcome, Outcome::Approved { .. });
            // Most runs have no folder: finding that out is not worth a thread.
            if run.exists() {
                let _ = tokio::task::spawn_blocking(move || clear_homes(&run, is_over)).await;
            }
        }
        if matches!(outcome, Outcome::Approved { .. }) {
            for folder in self.folders.values() {
                folder.tidy().await;
            }
        }
    }

    /// The first Ctrl-C drains: replies in flight are recorded, nothing new is sent. The second ends it.
    async fn stop(
        &mut self,
        wanted: Stop,
        incoming: &mut mpsc::Receiver<Box<Incoming>>,
    ) -> Result<Option<Ended>, DriveError> {
        self.stopping = wanted;
        let mut stop = self.driver.stop.clone();
        let deadline = tokio::time::sleep(DRAIN);
        let mut deadline = std::pin::pin!(deadline);
        while self.stopping == Stop::Drain && !self.at_work.is_empty() {
            tokio::select! {
                biased;
                Ok(()) = stop.changed() => self.stopping = *stop.borrow_and_update(),
                () = &mut deadline => break,
                Some(next) = incoming.recv() => self.take(*next).await?,
            }
        }
        // What is still under way is paid for: it is stopped, and says what it used by then.
        self.at_work.values().for_each(|work| work.cancel.cancel());
        let last_words = tokio::time::sleep(LAST_WORDS);
        let mut last_words = std::pin::pin!(last_words);
        while self.stopping == Stop::Drain && !self.at_work.is_empty() {
            tokio::select! {
                biased;
                Ok(()) = stop.changed() => self.stopping = *stop.borrow_and_update(),
                () = &mut last_words => break,
                Some(next) = incoming.recv() => self.take(*next).await?,
            }
        }
        Ok(Some(match self.driver.engine.outcome() {
            Some(outcome) => Ended::Outcome(outcome.clone()),
            None => Ended::Interrupted,
        }))
    }
}

/// Removes what was lent in a run's folders and, if all that counts is with the user, what its nodes worked in.
fn clear_homes(run: &Path, is_over: bool) {
    let nodes = std::fs::read_dir(run.join(folder::NODES)).into_iter().flatten().flatten().map(|e| e.path());
    for home in nodes {
        let gone: &[&str] = if is_over { &["work", "tree/work", "tree/kept"] } else { &["work"] };
        gone.iter().map(|name| home.join(name)).filter(|dir| dir.exists()).for_each(|dir| remove_tree(&dir));
    }
    // What was under review is looked at again if the run goes on.
    for name in ["work", REVIEWED].into_iter().take(if is_over { 2 } else { 1 }) {
        let lent = run.join(name);
        if lent.exists() {
            remove_tree(&lent);
        }
    }
}
