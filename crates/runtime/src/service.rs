//! The one façade: start, resume, answer, steer, pause, cancel, list, follow; taking back is `undo`. Surfaces call it and read records.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gadfly_agents::World;
use gadfly_agents::launcher::Launcher;
use gadfly_engine::input::What;
use gadfly_engine::machine::Engine;
use gadfly_engine::protocol::Protocols;
use gadfly_engine::question::{Picked, Question};
use gadfly_engine::replay::{ReplayError, replay_one};
use gadfly_engine::{AgentCard, Control, EffectId, EffectKind, Limits, NodePath, Start, Text};
use gadfly_journal::{
    ClaimError, Custody, Journal, Mail, MailId, MailKind, OpenError, PostError, ReadError, RunId, RunWriter,
};
use gadfly_project::{Config, Problem, Root};
use tokio::sync::{mpsc, watch};

use crate::agents::Recruiter;
use crate::clock::wall_ms;
use crate::driver::{DriveError, Driver, Ended, Stop, Update};
use crate::folder::home_of;
use crate::host::Host;
use crate::log_file::LogWritten;
use crate::means::Means;
use crate::prepare::{GoalRequest, Member, PipelineRequest, Prepared, Request};
use crate::setup::Setup;
use crate::team::Team;
use crate::undo::{UndoError, Undone};
use crate::witness::{Watched, Witness};
use crate::workspace::{Git, Workspace};

/// One project's Gadfly in this process.
pub struct Gadfly {
    host: Arc<Host>,
    setup: Setup,
    /// Agents this program brings itself; they go before configured ones of the same name.
    own: Team,
    pub(crate) protocols: Protocols,
    /// Starts programs for runs, in place of this program's own launcher.
    launcher: Option<Arc<dyn Launcher>>,
    watched: Watched,
    /// Why what the last run left here is not signed.
    unsigned: Mutex<Option<String>>,
}

#[derive(Debug, thiserror::Error)]
pub enum GadflyError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("a thread could not be started: {0}")]
    Thread(#[from] std::io::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    #[error(transparent)]
    Claim(#[from] ClaimError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("run `{run}` cannot be rebuilt from its records: {why}")]
    Replay { run: RunId, why: ReplayError },
    #[error("run `{run}` has ended ({outcome}); to go on from its last draft: gadfly run --from {run}")]
    Ended { run: RunId, outcome: String },
    #[error("the agents of run `{run}` cannot be reached as configured now")]
    Agents { run: RunId, problems: Vec<Problem> },
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// What the run began in the user's files is still there.
    #[error("run `{run}` was not ended, because what it began to write could not be taken back: {why}")]
    HalfWritten { run: RunId, why: UndoError },
}

#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    #[error("run `{run}` asks nothing: it is {state}")]
    NothingAsked { run: RunId, state: String },
    /// The question names its ways out, and this is none of them.
    #[error("that is no answer to what run `{run}` asks: {why}")]
    NoAnswer { run: RunId, why: String },
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Post(#[from] PostError),
}

#[derive(Debug, thiserror::Error)]
pub enum SteerError {
    #[error("run `{run}` is no goal: it follows `{protocol}`, and only the worker of a goal can be steered")]
    NoGoal { run: RunId, protocol: String },
    #[error("run `{run}` has ended ({outcome}): there is nobody left to steer")]
    Ended { run: RunId, outcome: String },
    #[error("there is nothing to say to the worker: the text is empty")]
    Empty,
    #[error("{bytes} bytes are too many for the worker to be told at once; the limit is {MOST_STEERED}")]
    TooLong { bytes: usize },
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Post(#[from] PostError),
}

/// The most a person says to a worker at once: it is part of every later prompt.
pub const MOST_STEERED: usize = 16 * 1024;

/// How a run is driven here.
#[derive(Clone)]
pub struct Driving {
    /// A person is at hand: wait for answers instead of parking.
    pub attended: bool,
    pub stop: watch::Receiver<Stop>,
    pub updates: Option<mpsc::Sender<Update>>,
}

/// What a resume may raise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Raise {
    pub limits: Limits,
    pub rounds: Option<u32>,
}

impl Gadfly {
    pub fn open(root: Root, config: Config, store: &Path) -> Result<Self, GadflyError> {
        Setup::new(root, config).open(store)
    }

    pub(crate) fn over(setup: Setup, store: &Path) -> Result<Self, GadflyError> {
        let host = Host::new(Journal::open_in(store, &setup.custody)?)?;
        let protocols = Protocols::shipped();
        Ok(Self {
            host,
            setup,
            own: Team::default(),
            protocols,
            launcher: None,
            watched: Watched::default(),
            unsigned: Mutex::default(),
        })
    }

    /// Brings protocols of the program's own, beside those shipped.
    pub fn with_protocols(mut self, protocols: Protocols) -> Self {
        self.protocols = protocols;
        self
    }

    /// Has the programs of runs (git, verify commands) started by this launcher.
    pub fn with_launcher(mut self, launcher: Arc<dyn Launcher>) -> Self {
        self.launcher = Some(launcher);
        self
    }

    /// Brings agents of the program's own.
    pub fn with_team(mut self, own: Team) -> Self {
        self.own = own;
        self
    }

    /// The same store and the same runs, under a configuration that was read since.
    pub fn under(&self, setup: Setup) -> Self {
        Self {
            host: Arc::clone(&self.host),
            setup: setup.beside(&self.setup),
            own: self.own.clone(),
            protocols: self.protocols.clone(),
            launcher: self.launcher.clone(),
            watched: self.watched.clone(),
            unsigned: Mutex::default(),
        }
    }

    /// What makes plans for it.
    pub const fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Tells this witness of every record of the runs driven here.
    pub fn with_witness(mut self, witness: Arc<dyn Witness>) -> Self {
        self.watched = Watched::by(witness);
        self
    }

    pub fn journal(&self) -> &Journal {
        self.host.journal()
    }

    pub const fn config(&self) -> &Config {
        &self.setup.config
    }

    pub const fn root(&self) -> &Root {
        &self.setup.root
    }

    pub const fn world(&self) -> &World {
        &self.setup.world
    }

    pub fn recruiter(&self) -> Recruiter<'_> {
        self.setup.recruiter()
    }

    /// Makes a plan; nothing is called and nothing recorded.
    pub async fn prepare(&self, request: &Request) -> Result<Prepared, Vec<Problem>> {
        self.setup.prepare(request).await
    }

    /// Makes the plan of a goal; nothing is called and nothing recorded.
    pub async fn prepare_goal(&self, request: &GoalRequest) -> Result<Prepared, Vec<Problem>> {
        self.setup.prepare_goal(request).await
    }

    /// Makes the plan of a pipeline; nothing is called and nothing recorded.
    pub async fn prepare_pipeline(&self, request: &PipelineRequest) -> Result<Prepared, Vec<Problem>> {
        self.setup.prepare_pipeline(request).await
    }

    /// Starts a prepared run and drives it until it ends, parks or the process stops.
    pub async fn start(&self, prepared: Prepared, driving: Driving) -> Result<Ended, ResumeError> {
        let Prepared { run, start, texts, team, folders, .. } = prepared;
        for folder in &folders {
            // If it cannot be made, saving says so, and the run can be taken up.
            let _ = std::fs::create_dir_all(folder);
        }
        self.start_plan(run, start, texts, team, driving).await
    }

    /// As `start`, with a plan that was made elsewhere.
    pub async fn start_plan(
        &self,
        run: RunId,
        start: Start,
        texts: Vec<Text>,
        team: Team,
        driving: Driving,
    ) -> Result<Ended, ResumeError> {
        let writer = self.journal().create(run)?;
        let driver = self.driver(Engine::new(self.protocols.clone()), writer, team, driving);
        Box::pin(self.drive(driver, What::Started(Box::new(start)), texts)).await
    }

    /// Takes a parked or interrupted run up again.
    pub async fn resume(&self, run: &RunId, raise: Raise, driving: Driving) -> Result<Ended, ResumeError> {
        let (engine, writer) = self.rebuild(run)?;
        let cards = engine.plan().map(|p| p.agents.clone()).unwrap_or_default();
        let money = engine.plan().is_some_and(|p| p.limits.with(raise.limits).money.is_some());
        let mut team = self.own.clone();
        let missing = cards.iter().filter(|(name, _)| team.get(name).is_none());
        let members: Vec<Member> = missing.map(|(name, card)| self.member(name, card)).collect();
        let configured = self
            .recruiter()
            .standing_in(&members, money)
            .await
            .map_err(|problems| ResumeError::Agents { run: run.clone(), problems })?;
        team.extend(configured);
        let agents = team
            .cards()
            .into_iter()
            .filter(|(name, card)| cards.get(name).is_some_and(|c| c != card))
            .collect();
        let first = What::Resumed { limits: raise.limits, rounds: raise.rounds, agents };
        let driver = self.driver(engine, writer, team, driving);
        Box::pin(self.drive(driver, first, Vec::new())).await
    }

    /// Drives a run, and signs what it leaves.
    async fn drive(&self, driver: Driver, first: What, texts: Vec<Text>) -> Result<Ended, ResumeError> {
        let run = driver.run().clone();
        let ended = Box::pin(driver.drive(first, texts)).await?;
        if matches!(ended, Ended::Outcome(_)) {
            let why = self.sign_off(&run).await.err().map(|why| why.to_string());
            *self.unsigned.lock().unwrap_or_else(PoisonError::into_inner) = why;
        }
        Ok(ended)
    }

    /// Why what the last run left here is not signed, though the user names a key. Says it once.
    pub fn unsigned(&self) -> Option<String> {
        self.unsigned.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// How an agent of a run is reached now: by settings of its own, if it has any meanwhile.
    fn member(&self, name: &str, card: &AgentCard) -> Member {
        let own = self.config().agents.contains_key(name);
        let reached_as = card.reached_as.clone().filter(|_| !own).unwrap_or_else(|| name.to_owned());
        let withheld = card.withheld.clone();
        Member { name: name.to_owned(), reached_as, model: card.model.clone(), withheld }
    }

    /// Asks a run to pause or cancel. A run that nobody drives is cancelled here and now.
    pub async fn control(&self, run: &RunId, control: Control, by: &str) -> Result<Controlled, ResumeError> {
        // Asking takes nobody's place: a run that is only looked at can be taken up at once.
        if control == Control::Pause && !self.journal().is_owned(run)? {
            let summary = self.journal().summary(run)?;
            if summary.ended {
                return Err(ResumeError::Ended { run: run.clone(), outcome: summary.state });
            }
            return Ok(Controlled::NotDriven);
        }
        match self.rebuild(run) {
            Ok((engine, writer)) if control == Control::Cancel => {
                // The run is ours now, so nobody writes for it meanwhile.
                let taken_back = self.take_back_begun(run).await;
                let taken_back =
                    taken_back.map_err(|why| ResumeError::HalfWritten { run: run.clone(), why })?;
                let (_quiet, stop) = watch::channel(Stop::No);
                let driving = Driving { attended: false, stop, updates: None };
                let driver = self.driver(engine, writer, Team::default(), driving);
                let ended = Box::pin(self.drive(driver, What::Controlled(control), Vec::new())).await?;
                Ok(Controlled::Done { ended, taken_back })
            }
            Ok(_) => Ok(Controlled::NotDriven),
            Err(ResumeError::Claim(ClaimError::Owned { .. })) => {
                let what = match control {
                    Control::Pause => MailKind::Pause,
                    Control::Cancel => MailKind::Cancel,
                    Control::Steer { text, .. } => MailKind::Steer { text },
                };
                let mail = Mail { by: by.to_owned(), at_ms: wall_ms(), what };
                match self.journal().post(run, &mail) {
                    Ok(_) => Ok(Controlled::Asked),
                    Err(PostError::Ended { run, outcome }) => Err(ResumeError::Ended { run, outcome }),
                    Err(PostError::NotFound(run)) => Err(ClaimError::NotFound(run).into()),
                    Err(PostError::Store(e)) => Err(ClaimError::Store(e).into()),
                    Err(other) => {
                        Err(ClaimError::Damaged { run: run.clone(), message: other.to_string() }.into())
                    }
                }
            }
            Err(other) => Err(other),
        }
    }

    /// Leaves a person's answer for the question a run asks; whoever drives it takes it up. Of several it is the one
    /// the run waits for, else the first.
    pub fn answer(&self, run: &RunId, text: String, by: &str) -> Result<Asked, AnswerError> {
        let summary = self.journal().summary(run)?;
        let waiting = summary.waiting_for.filter(|_| !summary.ended);
        let effect = match waiting {
            Some(effect) => Some(effect),
            // Others of the run are still at work: it asks, and does not wait yet.
            None if self.is_driven(run) => {
                self.open_questions(run)?.into_iter().next().map(|(effect, _)| effect)
            }
            None => None,
        };
        match effect {
            Some(effect) => self.answer_to(run, &effect, text, by),
            None => Err(AnswerError::NothingAsked { run: run.clone(), state: summary.state }),
        }
    }

    /// The questions of a run that nobody has answered yet, in the order they were asked.
    pub fn open_questions(&self, run: &RunId) -> Result<Vec<(EffectId, Question)>, ReadError> {
        let state = self.journal().state(run)?;
        if state.summary.ended {
            return Ok(Vec::new());
        }
        let open = state.questions.into_iter().filter(|asked| asked.answer.is_none());
        Ok(open.map(|asked| (asked.effect, asked.question)).collect())
    }

    /// As [`Self::answer`], to one question of several. An earlier answer that nobody has read yet is taken back: the
    /// last word is the one that was meant.
    pub fn answer_to(
        &self,
        run: &RunId,
        effect: &EffectId,
        text: String,
        by: &str,
    ) -> Result<Asked, AnswerError> {
        let effect = effect.clone();
        self.fits(run, &effect, &text)?;
        let earlier = self.unread_answers(run, &effect)?;
        let what = MailKind::Answer { effect: effect.clone(), text };
        self.journal().post(run, &Mail { by: by.to_owned(), at_ms: wall_ms(), what })?;
        for mail in &earlier {
            self.journal().put_mail_away(*mail).map_err(PostError::from)?;
        }
        // After the letter: a driver that lets go of the run looks for letters then, so one of the two sees the other.
        let driven = self.is_driven(run);
        Ok(Asked { effect, driven, replaced: !earlier.is_empty() })
    }

    /// As [`Self::answer_to`], where nobody's answer may be taken back: for doors that several people, or programs, use
    /// at once. Of two answers the second is refused.
    pub fn answer_first(
        &self,
        run: &RunId,
        effect: &EffectId,
        text: String,
        by: &str,
    ) -> Result<Asked, AnswerError> {
        self.fits(run, effect, &text)?;
        let what = MailKind::Answer { effect: effect.clone(), text };
        self.journal().post_first_answer(run, &Mail { by: by.to_owned(), at_ms: wall_ms(), what })?;
        let driven = self.is_driven(run);
        Ok(Asked { effect: effect.clone(), driven, replaced: false })
    }

    /// Whether an answer lies there for a run that waits for one.
    pub fn has_unread_answer(&self, run: &RunId) -> bool {
        let waiting = self.journal().summary(run).ok().filter(|summary| !summary.ended);
        let asked = waiting.and_then(|summary| summary.waiting_for);
        asked.is_some_and(|effect| self.unread_answers(run, &effect).is_ok_and(|mail| !mail.is_empty()))
    }

    /// A question that names its ways out takes one of them.
    fn fits(&self, run: &RunId, effect: &EffectId, text: &str) -> Result<(), AnswerError> {
        if let Some(question) = self.question(run, effect)?
            && let Picked::Neither(why) = question.pick(text)
        {
            return Err(AnswerError::NoAnswer { run: run.clone(), why });
        }
        Ok(())
    }

    /// Leaves a person's word for the worker of a goal, which is told it at its next turn. True if a living
    /// process will; else it is when the run is resumed.
    pub fn steer(&self, run: &RunId, text: &str, by: &str) -> Result<bool, SteerError> {
        let summary = self.journal().summary(run)?;
        if summary.protocol != gadfly_engine::protocol::watch::RULE_BOOK.name {
            return Err(SteerError::NoGoal { run: run.clone(), protocol: summary.protocol });
        }
        if summary.ended {
            return Err(SteerError::Ended { run: run.clone(), outcome: summary.state });
        }
        let text = text.trim();
        match text.len() {
            0 => return Err(SteerError::Empty),
            bytes if bytes > MOST_STEERED => return Err(SteerError::TooLong { bytes }),
            _ => {}
        }
        let what = MailKind::Steer { text: text.to_owned() };
        let posted = self.journal().post(run, &Mail { by: by.to_owned(), at_ms: wall_ms(), what });
        match posted {
            // It ended between the look and the letter.
            Err(PostError::Ended { run, outcome }) => Err(SteerError::Ended { run, outcome }),
            other => other.map(|_| self.is_driven(run)).map_err(SteerError::Post),
        }
    }

    /// The question behind an effect; none if an agent's turn is what a person is asked for.
    pub fn question(&self, run: &RunId, asked: &EffectId) -> Result<Option<Question>, ReadError> {
        Ok(self.journal().effect(run, asked)?.and_then(|effect| match effect.kind {
            EffectKind::Ask(question) => Some(question),
            _ => None,
        }))
    }

    fn unread_answers(&self, run: &RunId, to: &EffectId) -> Result<Vec<MailId>, ReadError> {
        let answers = |mail: &Mail| matches!(&mail.what, MailKind::Answer { effect, .. } if effect == to);
        Ok(self
            .journal()
            .mail(run)?
            .into_iter()
            .filter(|(_, mail)| answers(mail))
            .map(|(id, _)| id)
            .collect())
    }

    /// Whether a living process drives the run.
    pub fn is_driven(&self, run: &RunId) -> bool {
        self.journal().is_owned(run).unwrap_or(false)
    }

    /// Rebuilds a run from its records and takes ownership of it.
    pub(crate) fn rebuild(&self, run: &RunId) -> Result<(Engine, RunWriter), ResumeError> {
        let writer = self.journal().claim(run)?;
        let mut engine = Engine::new(self.protocols.clone());
        for record in self.journal().replay(run) {
            let record = record?;
            replay_one(&mut engine, u64::from(record.seq), &record.input, &record.step)
                .map_err(|why| ResumeError::Replay { run: run.clone(), why })?;
        }
        if let Some(outcome) = engine.outcome().filter(|o| o.is_ended()) {
            return Err(ResumeError::Ended { run: run.clone(), outcome: outcome.label() });
        }
        Ok((engine, writer))
    }

    pub(crate) fn driver(&self, engine: Engine, writer: RunWriter, team: Team, driving: Driving) -> Driver {
        let Driving { attended, stop, updates } = driving;
        Driver {
            host: Arc::clone(&self.host),
            engine,
            writer,
            team,
            attended,
            stop,
            updates,
            log: LogWritten::All,
            means: self.means(),
            watched: self.watched.clone(),
        }
    }

    /// What starting programs for a run needs; none if this program can start none.
    pub(crate) fn means(&self) -> Option<Means> {
        let recruiter = self.recruiter();
        let launcher = self.launcher.as_ref().or(recruiter.launcher)?;
        Some(Means::new(Arc::clone(launcher), recruiter.env, recruiter.config))
    }

    /// Where the worker of a run works, once its folder was made: what a person who edits is told.
    pub fn folder(&self, run: &RunId) -> Option<PathBuf> {
        self.folder_at(run, &NodePath::root())
    }

    /// As [`Self::folder`], of one node of a run whose nodes have their own.
    pub fn folder_at(&self, run: &RunId, node: &NodePath) -> Option<PathBuf> {
        let means = self.means()?;
        let run = self.journal().run_dir(run);
        let home = Some(home_of(&run, node)).filter(|home| home.is_dir()).unwrap_or(run);
        let workspace = Workspace::open(Git::new(means.launcher, means.env), &home).ok()?;
        Some(workspace.dir()).filter(|dir| dir.is_dir())
    }
}

/// What became of a pause or a cancel.
#[derive(Clone, PartialEq, Debug)]
pub enum Controlled {
    /// The process that drives the run will read it.
    Asked,
    Done {
        ended: Ended,
        /// What had been begun in the user's files.
        taken_back: Vec<Undone>,
    },
    /// Nobody drives the run, so there is nothing to pause.
    NotDriven,
}

/// A question that was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    pub effect: EffectId,
    /// A living process will take it up; else `resume` does.
    pub driven: bool,
    /// An earlier answer that nobody had read was taken back.
    pub replaced: bool,
}

/// The user's own directories: config and state.
pub struct UserDirs {
    pub config: Option<PathBuf>,
    pub state: Option<PathBuf>,
}

impl UserDirs {
    /// By the XDG variables, else under HOME.
    pub fn from_env() -> Self {
        let dir = |variable: &str, fallback: &str| {
            let set = std::env::var_os(variable).map(PathBuf::from).filter(|p| p.is_absolute());
            set.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(fallback)))
                .map(|base| base.join("gadfly"))
        };
        Self { config: dir("XDG_CONFIG_HOME", ".config"), state: dir("XDG_STATE_HOME", ".local/state") }
    }

    /// Where the key of this machine's journals is kept, and their newest seals.
    pub fn custody(&self) -> Custody {
        self.state.as_deref().map_or_else(Custody::none, Custody::at)
    }

    pub fn config_file(&self) -> Option<PathBuf> {
        self.config.as_ref().map(|d| d.join("gadfly.toml"))
    }
}
