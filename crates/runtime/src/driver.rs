//! Drives one run: input → engine → journal → effects → replies → input, until an outcome.
//!
//! Nothing is performed before the step that asks for it is durable. If a commit fails the driver stops
//! and the engine is dropped: the journal still holds the last whole step.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use gadfly_agents::agent::Progress;
use gadfly_engine::input::What;
use gadfly_engine::machine::Refused;
use gadfly_engine::{
    Class, Control, Effect, EffectId, EffectKind, Engine, Input, Outcome, Reply, Role, Text, Turn, Waiting,
};
use gadfly_journal::{AppendError, Delivery, MailId, MailKind, Record, RunId, RunWriter, Summary};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::clock::ActiveClock;
use crate::folder::Folder;
use crate::host::Host;
use crate::log_file::{LogFile, LogToWrite, LogWritten};
use crate::means::Means;
use crate::os::NoSupervisor;
use crate::perform::{self, FolderTask, Incoming, TurnTask};
use crate::place::Place;
use crate::team::Team;

/// How long the first Ctrl-C waits for paid replies in flight.
const DRAIN: Duration = Duration::from_secs(5);
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

pub struct Driver {
    pub host: Arc<Host>,
    pub engine: Engine,
    pub writer: RunWriter,
    pub team: Team,
    /// Keep waiting while a person is asked.
    pub attended: bool,
    pub stop: watch::Receiver<Stop>,
    pub updates: Option<mpsc::Sender<Update>>,
    pub log: LogWritten,
    /// What starting programs for the run needs; none where this program can start none.
    pub(crate) means: Option<Means>,
}

/// How driving a run ended, with what a list of results needs, so that nobody has to ask the journal.
#[derive(Clone, Debug)]
pub struct Driven {
    pub ended: Ended,
    pub summary: Summary,
    /// The last draft's text.
    pub draft: Option<Arc<str>>,
    /// The run's log, if writing it was left to the caller.
    pub log: Option<LogToWrite>,
}

struct AtWork {
    cancel: CancellationToken,
    tell: mpsc::Sender<String>,
    task: tokio::task::JoinHandle<()>,
}

struct Driving {
    driver: Driver,
    run: RunId,
    clock: ActiveClock,
    at_work: HashMap<EffectId, AtWork>,
    incoming_in: mpsc::Sender<Incoming>,
    /// Replies this driver gives by itself, taken before any that come in.
    own_replies: VecDeque<(EffectId, Reply)>,
    stopping: Stop,
    seen_mail: HashSet<MailId>,
    log: LogFile,
    /// The run's folder, once something is done in it.
    folder: Option<Arc<Folder>>,
    /// Whoever is told of records was waited for in vain; it is not waited for again before it takes one.
    unheard: bool,
}

impl Driver {
    /// Drives the run from `first` (its start, or a resume) until it ends, parks or the process stops.
    pub async fn drive(self, first: What, texts: Vec<Text>) -> Result<Ended, DriveError> {
        Ok(self.drive_and_tell(first, texts).await?.ended)
    }

    /// As `drive`, and says how the run stands then.
    pub async fn drive_and_tell(self, first: What, texts: Vec<Text>) -> Result<Driven, DriveError> {
        let run = self.writer.run().clone();
        let mut mail = self.host.mailbox(&run);
        let (incoming_in, mut incoming) = mpsc::channel(QUEUE);
        let clock = ActiveClock::from(self.engine.active_ms());
        let log = LogFile::of(self.host.journal(), &run, self.writer.next_seq() > 0, self.log);
        let host = Arc::clone(&self.host);
        let mut driving = Driving {
            driver: self,
            run: run.clone(),
            clock,
            at_work: HashMap::new(),
            incoming_in,
            own_replies: VecDeque::new(),
            stopping: Stop::No,
            seen_mail: HashSet::new(),
            log,
            folder: None,
            unheard: false,
        };
        let result = driving.go(first, texts, &mut mail, &mut incoming).await;
        for work in driving.at_work.values() {
            work.cancel.cancel();
            work.task.abort();
        }
        host.close_mailbox(&run);
        let ended = result?;
        driving.clear_away(&ended).await;
        let log = driving.log.rest();
        let summary = driving.driver.writer.summary().clone();
        let texts = driving.driver.engine.texts();
        let draft = summary.last_draft.and_then(|d| texts.and_then(|t| t.shared(&d)));
        // Whoever is told that the run stopped here can take it up.
        let (tell, told) = oneshot::channel();
        driving.driver.writer.release(move || {
            let _ = tell.send(());
        });
        let _ = told.await;
        Ok(Driven { ended, summary, draft, log })
    }
}

impl Driving {
    async fn go(
        &mut self,
        first: What,
        texts: Vec<Text>,
        mail: &mut mpsc::Receiver<Delivery>,
        incoming: &mut mpsc::Receiver<Incoming>,
    ) -> Result<Ended, DriveError> {
        let is_new = self.driver.writer.next_seq() == 0;
        self.feed(first, texts, None).await?;
        // Mail that came while nobody drove the run; a run that did not exist has none.
        let waiting =
            if is_new { Vec::new() } else { self.driver.host.journal().mail(&self.run).unwrap_or_default() };
        for (id, mail) in waiting {
            self.mail(Delivery { run: self.run.clone(), id, mail }).await?;
        }
        let mut stop = self.driver.stop.clone();
        loop {
            if let Some(ended) = self.ended() {
                return Ok(ended);
            }
            if let Some((effect, reply)) = self.own_replies.pop_front() {
                self.take(Incoming::Replied { effect, reply, texts: Vec::new() }).await?;
                continue;
            }
            tokio::select! {
                biased;
                Ok(()) = stop.changed(), if self.stopping != Stop::Now => {
                    let wanted = *stop.borrow_and_update();
                    if let Some(ended) = self.stop(wanted, incoming).await? {
                        return Ok(ended);
                    }
                }
                Some(next) = incoming.recv() => self.take(next).await?,
                Some(delivery) = mail.recv() => self.mail(delivery).await?,
                else => return Err(DriveError::Closed),
            }
        }
    }

    fn ended(&self) -> Option<Ended> {
        match self.driver.engine.outcome() {
            Some(Outcome::Waiting(Waiting::Question { .. } | Waiting::Approval { .. }))
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
    async fn feed(&mut self, what: What, texts: Vec<Text>, mail: Option<MailId>) -> Result<(), DriveError> {
        let mut next = Some((what, texts, mail));
        let mut unsent: Vec<EffectId> = Vec::new();
        loop {
            let (what, texts, mail) = match next.take() {
                Some(given) => given,
                None => match unsent.pop() {
                    Some(effect) => {
                        let reply = Reply::Cancelled { sent: false };
                        (What::Replied { effect, reply }, Vec::new(), None)
                    }
                    None => return Ok(()),
                },
            };
            let record = self.commit(what, texts, mail).await?;
            for effect in &record.step.effects {
                if self.stopping != Stop::No && matches!(effect.class, Class::Paid | Class::Read) {
                    unsent.push(effect.id.clone());
                } else {
                    self.perform(effect);
                }
            }
        }
    }

    async fn commit(
        &mut self,
        what: What,
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
        if let Some(updates) = &self.driver.updates {
            let update = Update::Record { run: self.run.clone(), record: Arc::clone(&record) };
            self.unheard = if self.unheard {
                matches!(updates.try_send(update), Err(TrySendError::Full(_)))
            } else {
                tokio::time::timeout(PATIENCE, updates.send(update)).await.is_err()
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
                self.feed(What::Observed { effect, observation }, Vec::new(), None).await
            }
            Incoming::Replied { effect, reply, texts } => {
                self.at_work.remove(&effect);
                match self.feed(What::Replied { effect, reply }, texts, None).await {
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
            MailKind::Pause => (What::Controlled(Control::Pause), Vec::new()),
            MailKind::Cancel => (What::Controlled(Control::Cancel), Vec::new()),
            MailKind::Answer { effect, text } => {
                let text = Text::new(text);
                let what = What::Answered { effect, text: text.digest(), by: delivery.mail.by };
                (what, vec![text])
            }
        };
        match self.feed(what, texts, Some(delivery.id)).await {
            // An answer to a question that is no longer open: said to nobody, so it is put away.
            Err(DriveError::Refused(_)) => {
                let _ = self.driver.host.journal().put_mail_away(delivery.id);
                Ok(())
            }
            other => other,
        }
    }

    fn perform(&mut self, effect: &Effect) {
        match &effect.kind {
            EffectKind::Turn(turn) if effect.class == Class::Person => self.lay_out(turn),
            EffectKind::Turn(_) => self.begin_turn(effect),
            EffectKind::Save(save) => {
                let content = self.driver.engine.texts().and_then(|t| t.shared(&save.content));
                let (save, id, incoming) = (save.clone(), effect.id.clone(), self.incoming_in.clone());
                let task = tokio::spawn(async move {
                    let write = move || perform_save(&save, content.as_deref());
                    let reply = tokio::task::spawn_blocking(write)
                        .await
                        .unwrap_or_else(|e| perform::impossible(e.to_string()));
                    let _ = incoming.send(Incoming::Replied { effect: id, reply, texts: Vec::new() }).await;
                });
                let (tell, _) = mpsc::channel(1);
                self.at_work
                    .insert(effect.id.clone(), AtWork { cancel: CancellationToken::new(), tell, task });
            }
            // Answered by a person, through the inbox.
            EffectKind::Ask(_) => {}
            EffectKind::Look(_) | EffectKind::Verify(_) | EffectKind::Accept(_) => {
                let folder = match self.folder() {
                    Ok(folder) => folder,
                    Err(message) => {
                        let reply = perform::impossible(message);
                        return self.own_replies.push_back((effect.id.clone(), reply));
                    }
                };
                let cancel = CancellationToken::new();
                let work = FolderTask {
                    effect: effect.clone(),
                    folder,
                    cancel: cancel.clone(),
                    incoming: self.incoming_in.clone(),
                };
                let (tell, _) = mpsc::channel(1);
                let task = tokio::spawn(work.run());
                self.at_work.insert(effect.id.clone(), AtWork { cancel, tell, task });
            }
            EffectKind::Cancel { target } => self.cancel(target),
            EffectKind::Tell { target, text } => {
                if let Some(work) = self.at_work.get(target) {
                    let _ = work.tell.try_send(text.clone());
                }
            }
        }
    }

    fn begin_turn(&mut self, effect: &Effect) {
        let EffectKind::Turn(turn) = &effect.kind else { return };
        let place = match self.place(effect, turn) {
            Ok(place) => place,
            Err(message) => {
                return self.own_replies.push_back((effect.id.clone(), perform::impossible(message)));
            }
        };
        let agent = self.driver.team.get(&turn.agent).and_then(|m| m.agent.clone());
        let (Some(agent), Some(texts)) = (agent, self.driver.engine.texts()) else {
            let reply = perform::impossible(format!("agent `{}` cannot be reached from here", turn.agent));
            self.own_replies.push_back((effect.id.clone(), reply));
            return;
        };
        let call = perform::call(effect, turn, texts);
        let (tell, told) = mpsc::channel(4);
        let cancel = CancellationToken::new();
        let work = TurnTask {
            effect: effect.id.clone(),
            agent,
            call,
            place,
            cancel: cancel.clone(),
            told,
            progress: self.progress(&effect.id),
            incoming: self.incoming_in.clone(),
        };
        let task = tokio::spawn(work.run());
        self.at_work.insert(effect.id.clone(), AtWork { cancel, tell, task });
    }

    /// The run's folder, or why there is none.
    fn folder(&mut self) -> Result<Arc<Folder>, String> {
        if let Some(folder) = &self.folder {
            return Ok(Arc::clone(folder));
        }
        let plan = self.driver.engine.plan().and_then(|p| p.workspace.clone());
        let plan = plan.ok_or_else(|| "this run has no folder".to_owned())?;
        let means = self.driver.means.clone().ok_or_else(|| NoSupervisor.to_string())?;
        let journal = self.driver.host.journal();
        let (home, store) = (journal.run_dir(&self.run), journal.dir().to_owned());
        let folder = Arc::new(Folder::new(self.run.clone(), home, store, plan, means));
        self.folder = Some(Arc::clone(&folder));
        Ok(folder)
    }

    fn has_folder(&self) -> bool {
        self.driver.engine.plan().is_some_and(|p| p.workspace.is_some())
    }

    /// Where a call takes place. Never in a folder that nobody made for it: the launcher's own is the user's
    /// checkout.
    fn place(&mut self, effect: &Effect, turn: &Turn) -> Result<Place, String> {
        let Some(member) = self.driver.team.get(&turn.agent) else { return Ok(Place::Nowhere) };
        let in_a_folder = member.agent.as_ref().is_some_and(|a| a.works_in_a_folder());
        let edits = gadfly_agents::kind_edits_files(&member.card.kind) || in_a_folder;
        let tree = turn.tree.filter(|_| self.has_folder());
        if let (Role::Worker, Some(tree)) = (turn.role, tree) {
            if !edits {
                return Err(format!(
                    "agent `{}` ({}) answers with text and cannot edit files: name a worker of kind `command`",
                    turn.agent, member.card.kind
                ));
            }
            return Ok(Place::Folder { folder: self.folder()?, tree });
        }
        if !in_a_folder {
            return Ok(Place::Nowhere);
        }
        let name = effect.id.to_string().replace(['/', '#'], "-");
        let at = self.driver.host.journal().run_dir(&self.run).join("work").join(name);
        if turn.role == Role::Worker {
            return Ok(Place::Empty(at));
        }
        let of = match tree {
            Some(tree) => Some((self.folder()?, tree)),
            None => None,
        };
        Ok(Place::Reader { at, of, report: turn.report.clone() })
    }

    /// A person who is to change files finds the folder as the round begins. If that fails the next look says
    /// why.
    fn lay_out(&mut self, turn: &Turn) {
        let Some(tree) = turn.tree.filter(|_| turn.role == Role::Worker && self.has_folder()) else { return };
        if let Ok(folder) = self.folder() {
            tokio::spawn(async move { folder.restored(&tree).await.map(drop) });
        }
    }

    /// What nobody needs any more when the run is through: copies that were lent, and the worker's folder once
    /// its content is with the user. What undoing needs stays.
    async fn clear_away(&mut self, ended: &Ended) {
        let Ended::Outcome(outcome) = ended else { return };
        if outcome.is_ended() {
            let lent = self.driver.host.journal().run_dir(&self.run).join("work");
            if lent.exists() {
                let _ = tokio::task::spawn_blocking(move || crate::os::remove_tree(&lent)).await;
            }
        }
        if matches!(outcome, Outcome::Approved { .. })
            && let Some(folder) = &self.folder
        {
            folder.tidy().await;
        }
    }

    fn progress(&self, effect: &EffectId) -> Progress {
        let Some(updates) = self.driver.updates.clone() else { return Progress::none() };
        let (run, effect) = (self.run.clone(), effect.clone());
        Progress::to(move |text| {
            let _ = updates.try_send(Update::Progress {
                run: run.clone(),
                effect: effect.clone(),
                text: text.to_owned(),
            });
        })
    }

    fn cancel(&mut self, target: &EffectId) {
        if let Some(work) = self.at_work.get(target) {
            work.cancel.cancel();
        } else {
            // Not at work here (a person, or lost in a crash): its end is said for it.
            self.own_replies.push_back((target.clone(), Reply::Cancelled { sent: true }));
        }
    }

    /// The first Ctrl-C drains: replies in flight are recorded, nothing new is sent. The second ends it.
    async fn stop(
        &mut self,
        wanted: Stop,
        incoming: &mut mpsc::Receiver<Incoming>,
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
                Some(next) = incoming.recv() => self.take(next).await?,
            }
        }
        Ok(Some(match self.driver.engine.outcome() {
            Some(outcome) => Ended::Outcome(outcome.clone()),
            None => Ended::Interrupted,
        }))
    }
}

fn perform_save(save: &gadfly_engine::effect::Save, content: Option<&str>) -> Reply {
    match content {
        Some(content) => crate::save::perform(save, content),
        None => perform::impossible("the draft to save is not in memory".into()),
    }
}
