//! What this process lends to whoever starts programs for a run: the launcher, an environment in which no key
//! is, and the servers whose tools a worker may be given.
//!
//! A verify command runs what a worker wrote, so of the user's environment it gets what is on the one list of what is
//! usual and what the user lists for commands, and `CI=1`, which keeps tools from asking questions.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gadfly_agents::launcher::{Launcher, Most};
use gadfly_agents::{McpSpec, is_usual};
use gadfly_project::Config;
use gadfly_project::config::McpConfig;

use crate::sandbox;
use crate::tools::confined::Confined;
use crate::workspace::Git;

/// What git asks of the user's environment: who commits, and, in its hooks, what is being committed. No other
/// command gets it.
const FOR_GIT: [&str; 6] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_CONFIG_GLOBAL",
    "GIT_INDEX_FILE",
];

#[derive(Clone)]
pub struct ProcessEnv {
    pub launcher: Arc<dyn Launcher>,
    /// What commands get of the user's environment, and git.
    pub env: Vec<(String, String)>,
    /// Whether the user's own commands may open the user's terminals.
    pub terminals: bool,
    /// The servers the user configured.
    pub servers: Vec<Served>,
}

/// A configured server. Its environment may hold a secret: what the user listed for it.
#[derive(Clone)]
pub struct Served {
    pub spec: McpSpec,
    /// The most time one call gets.
    pub time: Duration,
}

impl ProcessEnv {
    /// From the environment of this process: what is usual, and what the user lists for commands.
    pub fn new<'a>(
        launcher: Arc<dyn Launcher>,
        env: impl IntoIterator<Item = (&'a String, &'a String)>,
        config: &Config,
    ) -> Self {
        let listed = |name: &str| config.commands.env.iter().any(|n| n.value == name);
        let mut all: Vec<(String, String)> = env.into_iter().map(|(n, v)| (n.clone(), v.clone())).collect();
        all.sort();
        let servers = config.mcp.values().map(|server| served(server, &all)).collect();
        all.retain(|(name, value)| is_usual(name, value) || listed(name) || FOR_GIT.contains(&name.as_str()));
        Self { launcher, env: all, terminals: config.commands.terminals.value, servers }
    }

    pub fn git(&self) -> Git {
        Git::new(Arc::clone(&self.launcher), self.env.iter().cloned())
    }

    /// What a command of the user's own gets: the user's rights, but for the terminals. In rooms of its own it
    /// has other ones; what asks who owns the system's files (ssh) works only outside of them.
    pub fn own_command(&self, dir: &Path, rooms: bool) -> Confined {
        let sandbox = if self.terminals { None } else { sandbox::without_terminals(rooms) };
        Confined { env: self.command_env(dir), sandbox, unheld: None, most: Most::default() }
    }

    /// The environment of a command of the user's in this folder. What points git elsewhere is left out: the
    /// folder often lies inside the user's own repository.
    pub fn command_env(&self, dir: &Path) -> Vec<(String, String)> {
        let ours = |name: &str| name == "CI" || name.starts_with("GIT_") || name == "PWD" || name == "OLDPWD";
        let mut env: Vec<_> = self.env.iter().filter(|(name, _)| !ours(name)).cloned().collect();
        env.push(("CI".to_owned(), "1".to_owned()));
        env.push(("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned()));
        if let Some(above) = dir.parent().and_then(Path::to_str) {
            env.push(("GIT_CEILING_DIRECTORIES".to_owned(), above.to_owned()));
        }
        env
    }
}

fn served(server: &McpConfig, env: &[(String, String)]) -> Served {
    let given = |(name, value): &&(String, String)| {
        is_usual(name, value) || server.env.iter().any(|listed| listed.value == *name)
    };
    let spec = McpSpec {
        name: server.name.clone(),
        command: server.command.iter().map(|word| word.value.clone()).collect(),
        env: env.iter().filter(given).cloned().collect(),
        url: server.url.as_ref().map(|url| url.value.url.clone()),
        cwd: None,
    };
    Served { spec, time: server.timeout.value }
}
