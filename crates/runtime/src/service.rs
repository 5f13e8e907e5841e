//! The one façade: start, resume, answer, steer, pause, cancel, list, follow; taking back is `undo`. Surfaces call it and read records.

mod answering;
mod following;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gadfly_agents::AgentServices;
use gadfly_agents::launcher::Launcher;
use gadfly_engine::input::InputKind;
use gadfly_engine::machine::Engine;
use gadfly_engine::protocol::Protocols;
use gadfly_engine::replay::{ReplayError, replay_one};
use gadfly_engine::{AgentCard, Control, Limits, NodePath, Start, Text};
use gadfly_journal::{
    ClaimError, Journal, Mail, MailKind, OpenError, PostError, ReadError, RunId, RunWriter,
};
use gadfly_project::{Config, Problem, Root};
use tokio::sync::{mpsc, watch};

use crate::agent_set::AgentSet;
use crate::agents::{AgentResolver, startable};
use crate::call_site::REVIEWED;
use crate::clock::wall_ms;
use crate::driver::{DriveError, Driver, Ended, Stop, Update};
use crate::folder::home_of;
use crate::host::Host;
use crate::log_file::LogWritten;
use crate::os::{NoSupervisor, remove_tree};
use crate::prepare::rule_books;
use crate::prepare::{AliasedAgent, GoalRequest, PipelineRequest, Prepared, Request};
use crate::process_env::ProcessEnv;
use crate::setup::Setup;
use crate::undo::{UndoError, Undone};
use crate::witness::{OptionalWitness, Witness};
use crate::workspace::Workspace;

pub use answering::{AnswerError, AnsweredQuestion, MOST_STEERED, SteerError};

/// One project's Gadfly in this process.
pub struct Gadfly {
    host: Arc<Host>,
    setup: Setup,
    /// Agents this program brings itself; they go before configured ones of the same name.
    own: AgentSet,
    pub(crate) protocols: Protocols,
    /// Starts programs for runs, in place of this program's own launcher.
    launcher: Option<Arc<dyn Launcher>>,
    process_env: OnceLock<Option<Arc<ProcessEnv>>>,
    watched: OptionalWitness,
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

/// Options of driving a run in this process.
#[derive(Clone)]
pub struct DriveOptions {
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
        let protocols = rule_books();
        Ok(Self {
            host,
            setup,
            own: AgentSet::default(),
            protocols,
            launcher: None,
            process_env: OnceLock::new(),
            watched: OptionalWitness::default(),
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
        (self.launcher, self.process_env) = (Some(launcher), OnceLock::new());
        self
    }

    /// Brings agents of the program's own.
    pub fn with_agents(mut self, own: AgentSet) -> Self {
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
            process_env: OnceLock::new(),
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
        self.watched = OptionalWitness::by(witness);
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

    pub const fn services(&self) -> &AgentServices {
        &self.setup.services
    }

    pub fn resolver(&self) -> AgentResolver<'_> {
        self.setup.resolver()
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
    pub async fn start(&self, prepared: Prepared, driving: DriveOptions) -> Result<Ended, ResumeError> {
        let Prepared { run, start, texts, agent_set, folders, reviewed, .. } = prepared;
        if let Some(reviewed) = reviewed.filter(|_| agent_set.any_works_in_a_folder()) {
            // Without it critics judge by the change alone, as those behind an API do.
            let at = self.journal().make_work_dir(&run).map(|dir| dir.join(REVIEWED));
            if let Ok(at) = at
                && reviewed.export(&at).await.is_err()
            {
                remove_tree(&at);
            }
        }
        for folder in &folders {
            // If it cannot be made, saving says so, and the run can be taken up.
            let _ = std::fs::create_dir_all(folder);
        }
        self.start_plan(run, start, texts, agent_set, driving).await
    }

    /// As `start`, with a plan that was made elsewhere.
    pub async fn start_plan(
        &self,
        run: RunId,
        start: Start,
        texts: Vec<Text>,
        agent_set: AgentSet,
        driving: DriveOptions,
    ) -> Result<Ended, ResumeError> {
        self.reach(&run, &start.plan.agents).await?;
        let writer = self.journal().create(run)?;
        let driver = self.driver(Engine::new(self.protocols.clone()), writer, agent_set, driving);
        Box::pin(self.drive(driver, InputKind::Started(Box::new(start)), texts)).await
    }

    /// Takes a parked or interrupted run up again.
    pub async fn resume(
        &self,
        run: &RunId,
        raise: Raise,
        driving: DriveOptions,
    ) -> Result<Ended, ResumeError> {
        self.resume_with(run, raise, self.own.clone(), driving).await
    }

    /// As [`Self::resume`], with these agents of the program's own; the others of the run are reached as configured.
    pub async fn resume_with(
        &self,
        run: &RunId,
        raise: Raise,
        own: AgentSet,
        driving: DriveOptions,
    ) -> Result<Ended, ResumeError> {
        let (engine, writer) = self.rebuild(run)?;
        let cards = engine.plan().map(|p| p.agents.clone()).unwrap_or_default();
        let money = engine.plan().is_some_and(|p| p.limits.with(raise.limits).money.is_some());
        let mut agent_set = own;
        let missing = cards.iter().filter(|(name, _)| agent_set.get(name).is_none());
        let members: Vec<AliasedAgent> = missing.map(|(name, card)| self.member(name, card)).collect();
        let configured = self
            .resolver()
            .resolve_aliased(&members, money)
            .await
            .map_err(|problems| ResumeError::Agents { run: run.clone(), problems })?;
        agent_set.extend(configured);
        self.reach(run, &cards).await?;
        let agents = agent_set
            .cards()
            .into_iter()
            .filter(|(name, card)| cards.get(name).is_some_and(|c| c != card))
            .collect();
        let first = InputKind::Resumed { limits: raise.limits, rounds: raise.rounds, agents };
        let driver = self.driver(engine, writer, agent_set, driving);
        Box::pin(self.drive(driver, first, Vec::new())).await
    }

    /// Nobody is paid before everybody can be asked: servers on this machine are looked for. Whoever calls this has
    /// agreed to the agents.
    async fn reach(&self, run: &RunId, cards: &BTreeMap<String, AgentCard>) -> Result<(), ResumeError> {
        let problems = self.unreachable(cards).await;
        if problems.is_empty() {
            return Ok(());
        }
        Err(ResumeError::Agents { run: run.clone(), problems })
    }

    /// What is wrong with the servers on this machine that these agents ask.
    pub(crate) async fn unreachable(&self, cards: &BTreeMap<String, AgentCard>) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (name, card) in cards.iter().filter(|(name, _)| self.own.get(name).is_none()) {
            let reached_as = self.member(name, card).reached_as;
            if let Some(agent) = self.config().agents.get(&reached_as) {
                let found = startable::unreachable(agent).await;
                problems.extend(found.filter(|problem| !problems.contains(problem)));
            }
        }
        problems
    }

    /// Drives a run, and signs what it leaves.
    async fn drive(&self, driver: Driver, first: InputKind, texts: Vec<Text>) -> Result<Ended, ResumeError> {
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
    fn member(&self, name: &str, card: &AgentCard) -> AliasedAgent {
        let own = self.config().agents.contains_key(name);
        let reached_as = card.reached_as.clone().filter(|_| !own).unwrap_or_else(|| name.to_owned());
        let withheld = card.withheld.clone();
        AliasedAgent { name: name.to_owned(), reached_as, model: card.model.clone(), withheld }
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
                let driving = DriveOptions { attended: false, stop, updates: None };
                let driver = self.driver(engine, writer, AgentSet::default(), driving);
                let ended = Box::pin(self.drive(driver, InputKind::Controlled(control), Vec::new())).await?;
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

    pub(crate) fn driver(
        &self,
        engine: Engine,
        writer: RunWriter,
        agent_set: AgentSet,
        driving: DriveOptions,
    ) -> Driver {
        let DriveOptions { attended, stop, updates } = driving;
        Driver {
            host: Arc::clone(&self.host),
            engine,
            writer,
            agent_set,
            attended,
            stop,
            updates,
            log: LogWritten::All,
            meter: None,
            process_env: self.process_env(),
            watched: self.watched.clone(),
        }
    }

    /// What starting programs for a run needs; none if this program can start none.
    pub(crate) fn process_env(&self) -> Option<Arc<ProcessEnv>> {
        let process_env = self.process_env.get_or_init(|| {
            let resolver = self.resolver();
            let launcher = self.launcher.as_ref().or(resolver.launcher)?;
            Some(Arc::new(ProcessEnv::new(Arc::clone(launcher), resolver.env, resolver.config)))
        });
        process_env.clone()
    }

    /// Where a project lies below the top of its repository, or why no folder can be made of it here.
    pub(crate) async fn lies_below(&self, project: &Path) -> Result<String, String> {
        let process_env = self.process_env().ok_or_else(|| NoSupervisor.to_string())?;
        process_env.git().lies_below(project).await.map_err(|error| error.to_string())
    }

    /// Where the worker of a run works, once its folder was made: what a person who edits is told.
    pub fn folder(&self, run: &RunId) -> Option<PathBuf> {
        self.folder_at(run, &NodePath::root())
    }

    /// As [`Self::folder`], of one node of a run whose nodes have their own.
    pub fn folder_at(&self, run: &RunId, node: &NodePath) -> Option<PathBuf> {
        let process_env = self.process_env()?;
        let run = self.journal().work_dir(run);
        let home = Some(home_of(&run, node)).filter(|home| home.is_dir()).unwrap_or(run);
        let workspace = Workspace::open(process_env.git(), &home).ok()?;
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
