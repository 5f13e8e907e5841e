//! A project as this process can work on it, without a store: enough to make plans. Nothing is recorded here.

use std::path::Path;
use std::sync::Arc;

use gadfly_agents::AgentServices;
use gadfly_agents::launcher::Launcher;
use gadfly_journal::{Custody, Journal};
use gadfly_project::{Config, Problem, Root};

use crate::agents::{AgentResolver, Env, environment};
use crate::os::ProcessLauncher;
use crate::passed_agent::{self, AgentStreams};
use crate::prepare::{
    BaseFiles, GoalRequest, PipelineRequest, Prepared, Request, ReviewTarget, Submission, WatchedTree,
};
use crate::prepare::{base_of, load_submission, prepare, prepare_goal, prepare_pipeline};
use crate::provider_health::ProviderHealthFile;
use crate::service::{Gadfly, GadflyError};
use crate::witness::Witness;
use crate::workspace::{Git, Range};

/// Makes whoever witnesses the runs of a store, once the store is open.
pub type MakeWitness = Box<dyn FnOnce(&Journal) -> Arc<dyn Witness> + Send + Sync>;

pub struct Setup {
    pub(crate) root: Root,
    pub(crate) config: Config,
    pub(crate) services: AgentServices,
    env: Env,
    launcher: Option<Arc<dyn Launcher>>,
    witness: Option<MakeWitness>,
    pub(crate) custody: Custody,
}

impl Setup {
    pub fn new(root: Root, config: Config) -> Self {
        let env = environment();
        let launcher: Option<Arc<dyn Launcher>> = ProcessLauncher::this_program()
            .ok()
            .map(|l| Arc::new(l.working_in(&root.dir)) as Arc<dyn Launcher>);
        let mut services = AgentServices::new().with_base_env(env.clone().into_iter().collect());
        if let Some(launcher) = &launcher {
            services = services.with_launcher(Arc::clone(launcher));
        }
        Self { root, config, services, env, launcher, witness: None, custody: Custody::none() }
    }

    /// Shares with all runs of this user what is learned of providers: which take no calls, and until when. Without a
    /// state directory the runs of this process share it, and stores are chained with no machine's key.
    pub fn sharing(mut self, state_dir: Option<&Path>) -> Self {
        if let Some(dir) = state_dir {
            self.services = self.services.with_provider_health(Arc::new(ProviderHealthFile::below(dir)));
            self.custody = Custody::at(dir);
        }
        self
    }

    /// Another configuration in the same process: how many calls an agent takes at once is counted together.
    pub fn beside(mut self, other: &Self) -> Self {
        self.services = other.services.clone();
        self
    }

    /// Has every run that is driven with the store witnessed.
    pub fn witnessed(mut self, by: Option<MakeWitness>) -> Self {
        self.witness = by;
        self
    }

    /// Providers are asked although others were told to leave them alone.
    pub fn insisting(mut self) -> Self {
        self.services = self.services.insisting();
        self
    }

    /// Makes a plan; nothing is called and nothing recorded.
    pub async fn prepare(&self, request: &Request) -> Result<Prepared, Vec<Problem>> {
        prepare(request, &self.resolver()).await
    }

    /// Makes the plan of a goal; nothing is called and nothing recorded.
    pub async fn prepare_goal(&self, request: &GoalRequest) -> Result<Prepared, Vec<Problem>> {
        prepare_goal(request, &self.resolver()).await
    }

    /// Makes the plan of a pipeline; nothing is called and nothing recorded.
    pub async fn prepare_pipeline(&self, request: &PipelineRequest) -> Result<Prepared, Vec<Problem>> {
        prepare_pipeline(request, &self.resolver()).await
    }

    /// Reads what is to be reviewed; none if there is nothing. The project is only read.
    pub async fn bring(
        &self,
        wanted: &ReviewTarget,
        exclude: &[String],
    ) -> Result<Option<Submission>, Problem> {
        load_submission(self.git(), &self.root.dir, wanted, exclude).await
    }

    /// The project's files as they are before the change under review.
    pub async fn base_of(&self, range: &Range) -> Result<BaseFiles, Problem> {
        base_of(self.git(), &self.root.dir, range).await
    }

    /// The project, whose states are compared while an agent of somebody else's works in it.
    pub async fn watched_tree(&self) -> Result<WatchedTree, Problem> {
        WatchedTree::open(self.git(), &self.root.dir).await
    }

    /// Starts an agent that somebody else talks to.
    pub async fn start_agent(&self, words: &[String]) -> Result<AgentStreams, String> {
        passed_agent::start(self.launcher.as_ref(), &self.env, words).await
    }

    /// Why the folder of a worker that edits files cannot be made here, if it is for git.
    pub async fn git_fails(&self) -> Option<String> {
        let Some(git) = self.git() else { return Some("programs cannot be started here".to_owned()) };
        git.present(&self.root.dir).await.err().map(|error| error.to_string())
    }

    fn git(&self) -> Option<Git> {
        self.launcher.as_ref().map(|l| Git::new(Arc::clone(l), self.env.clone()))
    }

    /// Opens the store its runs are kept in, and makes it if there is none.
    pub fn open(mut self, store: &Path) -> Result<Gadfly, GadflyError> {
        let witness = self.witness.take();
        let gadfly = Gadfly::over(self, store)?;
        Ok(match witness {
            Some(make) => {
                let witness = make(gadfly.journal());
                gadfly.with_witness(witness)
            }
            None => gadfly,
        })
    }

    pub(crate) fn resolver(&self) -> AgentResolver<'_> {
        AgentResolver {
            config: &self.config,
            root: &self.root.dir,
            env: &self.env,
            services: &self.services,
            launcher: self.launcher.as_ref(),
            custody: &self.custody,
        }
    }
}
