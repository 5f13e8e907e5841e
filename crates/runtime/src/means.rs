//! What this process lends to whoever starts programs for a run: the launcher, and an environment in which
//! no key is.
//!
//! A verify command runs what a worker wrote, so it gets the user's environment without anything that looks
//! like a secret, and `CI=1`, which keeps tools from asking questions.

use std::path::Path;
use std::sync::Arc;

use gadfly_agents::Vendor;
use gadfly_agents::launcher::Launcher;
use gadfly_project::Config;
use gadfly_project::config::Key;

/// A variable with one of these in its name is taken for a secret.
const SECRET: [&str; 7] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "API_KEY", "ACCESS_KEY"];

#[derive(Clone)]
pub struct Means {
    pub launcher: Arc<dyn Launcher>,
    /// The user's environment without secrets.
    pub env: Vec<(String, String)>,
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
        let env = env.into_iter().filter(|(name, _)| !secret(name));
        let mut env: Vec<_> = env.map(|(name, value)| (name.clone(), value.clone())).collect();
        env.sort();
        Self { launcher, env }
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

fn looks_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    Vendor::by_key_env(name).is_some()
        || SECRET.iter().any(|word| upper.contains(word))
        || upper.ends_with("_KEY")
}
