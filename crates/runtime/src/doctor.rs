//! What this machine offers and what of the configuration works: facts for `doctor`, `init` and `check`.
//! It reports; it writes nothing and asks no other machine. Only [`try_agent`] makes a call. A program that is asked
//! for its version may make its own folders.

mod found;
mod programs;
mod settings;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};

use gadfly_agents::probe::{self, ProbeError};
use gadfly_agents::{Notice, Script, VENDORS};
use gadfly_journal::{Custody, FORMAT, Journal, OpenError};
use gadfly_project::config::KeySource;
use gadfly_project::{AgentConfig, AgentKind, Config, ConfigLayer, Root};
use serde::Serialize;

pub use found::{NOTHING_FOUND, proposal};
pub use gadfly_agents::probe::LocalServer;
pub use programs::InstalledProgram;
pub use settings::check;
pub use trial::{TrialReport, TrialResult, try_agent};

use crate::agents::startable::{program, unstartable_agent};
use crate::agents::{Env, read_script};
use crate::os::ProcessLauncher;
use crate::provider_health::ProviderHealthFile;
use crate::user_dirs::UserDirs;

/// Everything `doctor` says.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    pub system: SystemInfo,
    pub root: PathBuf,
    pub configs: Vec<CheckedPath>,
    pub store: StoreInfo,
    pub work: WorkFolders,
    /// What to delete to be rid of Gadfly, beside the binary.
    pub leftovers: Vec<CheckedPath>,
    pub programs: Vec<InstalledProgram>,
    pub keys: Vec<KeyFact>,
    pub servers: Vec<ServerFact>,
    pub agents: Vec<AgentFact>,
    /// Providers that take no calls for a while, as runs of this user found out.
    pub left_alone: Vec<Notice>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SystemInfo {
    pub os: &'static str,
    pub arch: &'static str,
    /// Why process agents cannot be started here, if they cannot.
    pub no_process_agents: Option<String>,
    /// The version of Landlock that holds agents' processes.
    pub landlock: Option<u32>,
    pub no_landlock: Option<String>,
    pub note: Option<&'static str>,
}

#[derive(Clone, Debug, Serialize)]
pub struct CheckedPath {
    pub what: &'static str,
    pub path: PathBuf,
    pub exists: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct StoreInfo {
    pub path: PathBuf,
    pub exists: bool,
    pub format: u32,
    pub bytes: u64,
    pub runs: Option<u64>,
    pub problem: Option<String>,
}

/// Where the folders of this project's runs are.
#[derive(Clone, Debug, Serialize)]
pub struct WorkFolders {
    pub path: PathBuf,
    pub runs: usize,
    /// Stores whose runs left folders there, and that are not where they were.
    pub ownerless: Vec<PathBuf>,
    /// What lies above and tools may take for theirs, where the kernel gives commands no rooms of their own.
    pub seen_above: Vec<PathBuf>,
}

/// A vendor's key, by the name of its variable only.
#[derive(Clone, Debug, Serialize)]
pub struct KeyFact {
    pub variable: &'static str,
    pub vendor: &'static str,
    pub set: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct ServerFact {
    pub vendor: &'static str,
    pub base_url: String,
    pub models: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct AgentFact {
    pub name: String,
    pub kind: &'static str,
    pub sends_to: String,
    pub state: AgentHealth,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "is", content = "because")]
pub enum AgentHealth {
    Ready(String),
    /// Nothing speaks against it, but only a call would tell.
    Untried(String),
    Broken(String),
}

/// Looks around. `env` is the environment as this process has it.
pub async fn diagnose(root: &Root, config: &Config, store: &Path, user: &UserDirs, env: &Env) -> Diagnosis {
    let mut agents = Vec::new();
    for agent in config.agents.values() {
        let state = agent_state(agent, &root.dir, env).await;
        let (kind, sends_to) = (agent.kind.value.name(), agent.sends_to().to_owned());
        agents.push(AgentFact { name: agent.name.clone(), kind, sends_to, state });
    }
    let place = |what, path: PathBuf| CheckedPath { what, exists: path.exists(), path };
    let project = root.config.clone().unwrap_or_else(|| root.dir.join("gadfly.toml"));
    let own = user.config_file().map(|path| place("your own", path));
    let leftovers = [
        Some(("this project's store", store.to_owned())),
        user.config.clone().map(|path| ("your own configuration", path)),
        user.state
            .clone()
            .map(|path| ("what you trust, what is known of providers, and the folders of runs", path)),
    ];
    let (servers, programs) = tokio::join!(probe::local_servers(), programs::look(env));
    let left_alone =
        user.state.as_deref().map(|dir| ProviderHealthFile::below(dir).shut()).unwrap_or_default();
    Diagnosis {
        system: system(),
        root: root.dir.clone(),
        configs: own.into_iter().chain([place("the project's", project)]).collect(),
        store: look_at_store(store, &user.custody()),
        work: look_at_work(store, &user.custody()),
        leftovers: leftovers.into_iter().flatten().map(|(what, path)| place(what, path)).collect(),
        programs,
        left_alone,
        keys: keys(env),
        servers: servers
            .into_iter()
            .map(|s| ServerFact { vendor: s.vendor, base_url: s.base_url, models: s.models })
            .collect(),
        agents,
    }
}

fn system() -> SystemInfo {
    let note = match std::env::consts::OS {
        "linux" => None,
        "macos" => Some("agents' processes are held by nothing but themselves, and the record says so"),
        _ => Some("not supported: use Linux, macOS or WSL"),
    };
    let landlock = crate::os::landlock();
    SystemInfo {
        os: std::env::consts::OS,
        arch: std::env::consts::ARCH,
        no_process_agents: ProcessLauncher::this_program().err().map(|e| e.to_string()),
        landlock: landlock.as_ref().ok().copied(),
        no_landlock: landlock.err(),
        note,
    }
}

fn look_at_store(dir: &Path, custody: &Custody) -> StoreInfo {
    let exists = dir.join("journal.db").is_file();
    let mut store =
        StoreInfo { path: dir.to_owned(), exists, format: FORMAT, bytes: 0, runs: None, problem: None };
    if !exists {
        if let Err(linked @ OpenError::Linked { .. }) = Journal::open_existing_in(dir, custody) {
            store.problem = Some(linked.to_string());
        }
        return store;
    }
    for name in ["journal.db", "journal.db-wal", "inbox.db", "inbox.db-wal"] {
        store.bytes += fs::metadata(dir.join(name)).map_or(0, |m| m.len());
    }
    let counted = Journal::open_existing_in(dir, custody).map_err(|e| e.to_string());
    match counted.and_then(|j| j.count().map_err(|e| e.to_string())) {
        Ok(runs) => store.runs = Some(runs),
        Err(problem) => store.problem = Some(problem),
    }
    store
}

fn look_at_work(store: &Path, custody: &Custody) -> WorkFolders {
    /// What tools look for above the folder they are in.
    const MANIFESTS: [&str; 8] = [
        ".git",
        "Cargo.toml",
        ".cargo/config.toml",
        "package.json",
        "go.mod",
        "pyproject.toml",
        "pytest.ini",
        "setup.cfg",
    ];
    let path = custody.work_of(store);
    let folders = fs::read_dir(&path).into_iter().flatten().flatten();
    let runs = folders.filter(|entry| entry.path().is_dir()).count();
    let above = path.ancestors().skip(1).flat_map(|folder| MANIFESTS.map(|name| folder.join(name)));
    let seen_above =
        if crate::os::apart().is_ok() { Vec::new() } else { above.filter(|f| f.exists()).collect() };
    let ownerless = custody.ownerless_work().into_iter().map(|(_, store)| store).collect();
    WorkFolders { path, runs, ownerless, seen_above }
}

fn keys(env: &Env) -> Vec<KeyFact> {
    let keyed = VENDORS.iter().filter_map(|v| Some((v.name, v.key_env?)));
    let fact = |(vendor, variable)| KeyFact { variable, vendor, set: is_set(env, variable) };
    keyed.map(fact).collect()
}

fn is_set(env: &Env, variable: &str) -> bool {
    env.get(variable).is_some_and(|value| !value.trim().is_empty())
}

async fn agent_state(agent: &AgentConfig, root: &Path, env: &Env) -> AgentHealth {
    match agent.kind.value {
        AgentKind::Person => AgentHealth::Ready("answers come with `gadfly answer`".into()),
        AgentKind::Scripted => match scripted(agent) {
            Ok(_) => AgentHealth::Ready("its script can be read".into()),
            Err(why) => AgentHealth::Broken(why),
        },
        kind if kind.is_process() => {
            let named = agent.command.first().map(|word| program(&word.value, root, env));
            match (named, unstartable_agent(agent, root, env)) {
                (None, _) => AgentHealth::Broken("it names no command".into()),
                (Some(Err(why)), _) => AgentHealth::Broken(why),
                (Some(Ok(_)), Some(problem)) => AgentHealth::Broken(problem.message),
                (Some(Ok(path)), None) => AgentHealth::Ready(format!("runs {}", path.display())),
            }
        }
        _ => over_http(agent, env).await,
    }
}

fn scripted(agent: &AgentConfig) -> Result<Script, String> {
    let path = agent.script.as_ref().ok_or("it names no script")?;
    read_script(agent, &path.value).map_err(|p| p.message)
}

async fn over_http(agent: &AgentConfig, env: &Env) -> AgentHealth {
    if let Some(key) = agent.key.as_ref().filter(|_| agent.may_send_key())
        && let KeySource::Env(variable) = &key.value
        && !is_set(env, variable)
    {
        return AgentHealth::Broken(format!("its key is missing: export {variable}=…"));
    }
    let Some(base_url) = &agent.base_url else { return AgentHealth::Broken("it has no address".into()) };
    let model = agent.model.as_ref().map_or("", |m| m.value.as_str());
    // What a project's file names on this machine may be anything that listens here: it is asked once somebody agreed.
    if base_url.layer == ConfigLayer::Project
        && base_url.value.loopback
        && !VENDORS.iter().any(|vendor| vendor.base_url == base_url.value.url)
    {
        return AgentHealth::Untried(format!(
            "{} is named by the project's file, and was not asked; `gadfly doctor --try` does, once you agree",
            base_url.value.url
        ));
    }
    match probe::models(&base_url.value.url).await {
        Ok(models) if models.is_empty() || models.iter().any(|m| is_same_model(m, model)) => {
            AgentHealth::Ready(format!("{} answers", base_url.value.url))
        }
        Ok(models) => {
            let some: Vec<&str> = models.iter().take(5).map(String::as_str).collect();
            AgentHealth::Untried(format!(
                "{} answers, but does not list the model `{model}`; it has {}",
                base_url.value.url,
                some.join(", ")
            ))
        }
        Err(ProbeError::NotLocal) => AgentHealth::Untried(match agent.key {
            Some(_) => "its key is there; only a call would tell more".into(),
            None => "no key is configured; only a call would tell more".into(),
        }),
        // A server may well answer calls without having such a list.
        Err(error @ ProbeError::Strange(_)) => AgentHealth::Untried(error.to_string()),
        Err(error) => AgentHealth::Broken(format!("{}: {error}", base_url.value.url)),
    }
}

/// `qwen3` is also `qwen3:latest`.
fn is_same_model(listed: &str, wanted: &str) -> bool {
    listed == wanted || listed.strip_suffix(":latest") == Some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gadfly_project::config::parse;
    use gadfly_project::{ConfigLayer, Source};
    use gadfly_testbed::{Behaviour, Server};

    fn config(text: &str, dir: &Path) -> Config {
        let (partial, _) = parse(&Source::new(ConfigLayer::User, "gadfly.toml", dir, text));
        Config::from_layers([partial]).0
    }

    async fn state(text: &str, env: &[(&str, &str)]) -> AgentHealth {
        let dir = tempfile::tempdir().unwrap();
        let env: Env = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let config = config(&format!("[agents.a]\n{text}"), dir.path());
        agent_state(&config.agents["a"], dir.path(), &env).await
    }

    #[tokio::test]
    async fn a_local_server_is_asked_and_a_silent_one_is_broken() {
        let server = Server::start(Behaviour::default()).await.unwrap();
        let text = format!("kind = \"openai\"\nbase_url = \"{}\"\nmodel = \"worker\"", server.v1());
        assert!(!matches!(state(&text, &[]).await, AgentHealth::Broken(_)));
        drop(server);
        assert!(matches!(state(&text, &[]).await, AgentHealth::Broken(_)));
    }

    #[tokio::test]
    async fn a_missing_key_is_named_by_its_variable_and_its_value_never_shown() {
        let text = "kind = \"anthropic\"\nmodel = \"m\"\nkey_env = \"ANTHROPIC_API_KEY\"";
        let AgentHealth::Broken(why) = state(text, &[]).await else { panic!() };
        assert!(why.contains("ANTHROPIC_API_KEY"), "{why}");
        let with = state(text, &[("ANTHROPIC_API_KEY", "sk-secret-value")]).await;
        assert!(matches!(&with, AgentHealth::Untried(_)), "{with:?}");
        assert!(!format!("{with:?}").contains("sk-secret"));
    }

    #[tokio::test]
    async fn a_command_must_be_there_and_executable() {
        let path = [("PATH", "/usr/bin:/bin")];
        assert!(matches!(
            state("kind = \"command\"\ncommand = [\"sh\"]", &path).await,
            AgentHealth::Ready(_)
        ));
        for missing in ["no-such-program-here", "./no-such-file"] {
            let text = format!("kind = \"command\"\ncommand = [\"{missing}\"]");
            assert!(matches!(state(&text, &path).await, AgentHealth::Broken(_)), "{missing}");
        }
    }

    #[test]
    fn looking_at_a_store_that_is_not_there_makes_none() {
        let dir = tempfile::tempdir().unwrap();
        let store = look_at_store(&dir.path().join(".gadfly"), &Custody::none());
        assert!(!store.exists && store.runs.is_none());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
