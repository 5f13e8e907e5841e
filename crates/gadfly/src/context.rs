//! Where a command runs: the project, its configuration, its store.

use std::path::PathBuf;

use gadfly_project::{Config, Problem, Root};
use gadfly_runtime::Gadfly;
use gadfly_runtime::service::UserDirs;

use crate::cli::Global;
use crate::exit::Code;
use crate::output;

pub struct Context {
    pub global: Global,
    pub root: Root,
    pub config: Config,
    pub problems: Vec<Problem>,
    pub user: UserDirs,
}

impl Context {
    /// Reads the configuration; its problems are kept for the command to judge.
    pub fn read(global: Global) -> Self {
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let root = Root::find(&here);
        let user = UserDirs::from_env();
        let (config, problems) = Config::load(&root, user.config_file().as_deref());
        Self { global, root, config, problems, user }
    }

    pub fn store(&self) -> PathBuf {
        self.global.store.clone().unwrap_or_else(|| self.root.store.clone())
    }

    /// Opens Gadfly for this project, creating its store if need be.
    pub fn open(&self) -> Result<Gadfly, Code> {
        Gadfly::open(self.root.clone(), self.config.clone(), &self.store())
            .map_err(|e| output::error::usage(&e.to_string()))
    }
}
