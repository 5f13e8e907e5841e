//! Where a command runs: the project, its configuration, its store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gadfly_journal::{FindError, Journal, ListFilter, OpenError, RunId};
use gadfly_project::adapter::ProjectPlace;
use gadfly_project::{Config, Problem, Root, Sourced, file, suggest};
use gadfly_runtime::Gadfly;
use gadfly_runtime::prepare::BaseFiles;
use gadfly_runtime::setup::Setup;
use gadfly_runtime::user_dirs::UserDirs;

use crate::cli::Global;
use crate::exit::Code;
use crate::output;
use crate::telemetry;

pub struct Context {
    pub global: Global,
    pub root: Root,
    pub config: Config,
    pub problems: Vec<Problem>,
    pub user: UserDirs,
    /// Under `--untrusted`, the project's files as they are before the change: what its configuration was read from.
    pub base: Option<Arc<BaseFiles>>,
}

/// How many recent runs a mistyped id is compared with.
const COMPARED: u32 = 200;

impl Context {
    /// The project, as adapters are asked about it.
    pub fn place(&self) -> ProjectPlace<'_> {
        self.user.beside(&self.root.dir)
    }

    /// Reads the configuration; its problems are kept for the command to judge.
    pub fn read(global: Global) -> Self {
        Self::read_at(global, &std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")))
    }

    /// The same for a command that works elsewhere.
    pub fn read_at(global: Global, here: &Path) -> Self {
        let root = Root::find(here);
        let user = UserDirs::from_env();
        let (config, problems) = Config::load(&root, user.config_file().as_deref());
        Self { global, root, config, problems, user, base: None }
    }

    /// The same place under another configuration.
    pub fn with(&self, config: Config) -> Self {
        Self {
            global: self.global.clone(),
            root: self.root.clone(),
            config,
            problems: Vec::new(),
            user: UserDirs::from_env(),
            base: self.base.clone(),
        }
    }

    /// The same, with what the command line says makes a worker's folder ready.
    pub fn preparing(&self, command: Option<&str>) -> Self {
        let mut config = self.config.clone();
        if let Some(command) = command {
            config.workspace.prepare = Some(Sourced::flag(command.to_owned()));
        }
        Self { problems: self.problems.clone(), ..self.with(config) }
    }

    /// Files that flags name: one of the project's may not lead out of it by a link that came with it.
    pub fn not_led_out<'p>(&self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<(), Code> {
        for path in paths {
            file::not_led_out(&self.root.dir, path).map_err(|e| {
                output::error::usage(&format!("{e}\n  if you mean that file, name it by its own path"))
            })?;
        }
        Ok(())
    }

    /// Where the project's files are read: the project, or a copy of the state before a stranger's change.
    pub fn files_root(&self) -> &Path {
        self.base.as_ref().map_or(&self.root.dir, |base| &base.dir)
    }

    pub fn store(&self) -> PathBuf {
        self.global.store.clone().unwrap_or_else(|| self.root.store.clone())
    }

    /// This project, with what all runs of this user know of providers, and whoever is told of its runs.
    pub fn setup(&self) -> Setup {
        Setup::new(self.root.clone(), self.config.clone())
            .sharing(self.user.state.as_deref())
            .witnessed(telemetry::witness(self))
    }

    /// Opens Gadfly for this project, creating its store if need be.
    pub fn open(&self) -> Result<Gadfly, Code> {
        self.open_at(&self.store())
    }

    pub fn open_at(&self, store: &std::path::Path) -> Result<Gadfly, Code> {
        self.setup().open(store).map_err(|e| output::error::usage(&e.to_string()))
    }

    /// Opens Gadfly only if there are runs here.
    pub fn open_existing(&self) -> Result<Gadfly, Code> {
        self.journal()?;
        self.open()
    }

    /// The journal of a store that may not be there. One that is not this machine's is read, and that is said.
    pub fn existing(&self) -> Result<Journal, OpenError> {
        let journal = Journal::open_existing_in(&self.store(), &self.user.custody())?;
        if let Some(foreign) = journal.foreign() {
            output::print::err(&foreign.to_string());
        }
        Ok(journal)
    }

    /// The journal of a store that must be there.
    pub fn journal(&self) -> Result<Journal, Code> {
        self.existing().map_err(|e| match e {
            OpenError::Missing(dir) => output::error::usage(&format!(
                "there are no runs here: {} does not exist. Start one with `gadfly run`, or name another place \
                 with --store",
                dir.display()
            )),
            other => output::error::usage(&other.to_string()),
        })
    }
}

/// The run a person means by an id or its beginning.
pub fn find(journal: &Journal, typed: &str) -> Result<RunId, Code> {
    journal.find(typed).map_err(|error| match error {
        FindError::NotFound(typed) => {
            let filter = ListFilter { limit: COMPARED, ..ListFilter::default() };
            let runs = journal.list(&filter).unwrap_or_default();
            let ids: Vec<&str> = runs.iter().map(|s| s.run.as_str()).collect();
            let near =
                suggest::nearest(&typed, ids).map(|id| format!(" Did you mean `{id}`?")).unwrap_or_default();
            output::error::usage(&format!("no run starts with `{typed}`.{near} `gadfly runs` lists them"))
        }
        other @ FindError::Ambiguous { .. } => output::error::usage(&other.to_string()),
        FindError::Store(e) => output::error::fault(&e.to_string()),
    })
}
