//! What this process lends to whoever starts programs for a run: the launcher, an environment in which no key
//! is, and the servers whose tools a worker may be given.
//!
//! A verify command runs what a worker wrote, so it gets the user's environment without anything that looks
//! like a secret, and `CI=1`, which keeps tools from asking questions.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gadfly_agents::launcher::Launcher;
use gadfly_agents::{McpSpec, Vendor};
use gadfly_project::Config;
use gadfly_project::config::{Key, McpConfig};

/// A variable with one of these in its name is taken for a secret.
const SECRET: [&str; 7] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "API_KEY", "ACCESS_KEY"];

/// What every program needs and none is told in secret.
const BASE_ENV: [&str; 5] = ["PATH", "HOME", "LANG", "TERM", "TMPDIR"];

#[derive(Clone)]
pub struct Means {
    pub launcher: Arc<dyn Launcher>,
    /// The user's environment without secrets.
    pub env: Vec<(String, String)>,
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

impl Means {
    /// From the environment of this process, without what any configured agent or known vendor keeps a key in.
    pub fn new<'a>(
        launcher: Arc<dyn Launcher>,
        env: impl IntoIterator<Item = (&'a String, &'a String)>,
        config: &Config,
    ) -> Self {
        let keys: Vec<&str> = config
            .agents
            .values()
            .filter_map(|agent| match &agent.key.as_ref()?.value {
                Key::Env(name) => Some(name.as_str()),
                Key::Command(_) => None,
            })
            .collect();
        let secret = |name: &str| keys.contains(&name) || looks_secret(name);
        let mut all: Vec<(String, String)> = env.into_iter().map(|(n, v)| (n.clone(), v.clone())).collect();
        all.sort();
        let servers = config.mcp.values().map(|server| served(server, &all)).collect();
        all.retain(|(name, _)| !secret(name));
        Self { launcher, env: all, servers }
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
    let listed = |name: &str| BASE_ENV.contains(&name) || server.env.iter().any(|n| n.value == name);
    let spec = McpSpec {
        name: server.name.clone(),
        command: server.command.iter().map(|word| word.value.clone()).collect(),
        env: env.iter().filter(|(name, _)| listed(name)).cloned().collect(),
        url: server.url.as_ref().map(|url| url.value.url.clone()),
        cwd: None,
    };
    Served { spec, time: server.timeout.value }
}

fn looks_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    Vendor::by_key_env(name).is_some()
        || SECRET.iter().any(|word| upper.contains(word))
        || upper.ends_with("_KEY")
}
