//! A project, a home, a run's folder and its tools, for one test.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gadfly_agents::launcher::Launcher;
use gadfly_engine::tool::{ToolAction, ToolDone, ToolEnd, ToolUse};
use gadfly_engine::tree::{Look, WorkspacePlan};
use gadfly_engine::{Digest, EffectId, Observation, Reply, Text};
use gadfly_journal::RunId;
use gadfly_project::config::parse;
use gadfly_project::{Config, ConfigLayer, Source};
use gadfly_runtime::folder::Folder;
use gadfly_runtime::os::ProcessLauncher;
use gadfly_runtime::perform::{Back, Incoming};
use gadfly_runtime::process_env::ProcessEnv;
use gadfly_runtime::tools::{ToolTask, Tools};
use tokio_util::sync::CancellationToken;

pub struct Stage {
    pub dir: tempfile::TempDir,
    pub folder: Arc<Folder>,
    pub tools: Arc<Tools>,
    pub cancel: CancellationToken,
}

/// What came of a deed.
#[derive(Debug)]
pub struct Came {
    pub reply: Reply,
    pub shown: String,
    pub observed: Vec<Observation>,
}

impl Came {
    pub fn done(&self) -> &ToolDone {
        match &self.reply {
            Reply::Tool(done) => done,
            other => panic!("{other:?}"),
        }
    }

    pub fn end(&self) -> &ToolEnd {
        &self.done().end
    }

    /// The sentence of a deed that could not be done.
    #[track_caller]
    pub fn refused(&self) -> &str {
        assert_eq!(self.end(), &ToolEnd::Error, "{}", self.shown);
        &self.shown
    }

    #[track_caller]
    pub fn well(&self) -> &str {
        assert_eq!(self.end(), &ToolEnd::Done, "{}", self.shown);
        &self.shown
    }
}

impl Stage {
    pub fn new() -> Self {
        Self::with("project", |_| {})
    }

    /// The project is at this path, once all is laid out.
    pub fn with(project: &str, lay_out: impl FnOnce(&Path)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["project/src", "home", "elsewhere"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("project/a.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(dir.path().join("project/.gitignore"), "cache\n*.log\n").unwrap();
        fs::write(dir.path().join("project/src/main.rs"), "fn main() {}\n").unwrap();
        fs::write(dir.path().join("elsewhere/precious"), "precious\n").unwrap();
        fs::write(dir.path().join("home/.netrc"), "a password\n").unwrap();
        lay_out(dir.path());
        let project = dir.path().join(project);
        let plan =
            WorkspacePlan { project: project.to_str().unwrap().to_owned(), ..WorkspacePlan::default() };
        let run = dir.path().join("store/runs/one");
        let process_env = process_env(dir.path());
        let tools = Arc::new(Tools::new(&run, Some(&process_env)));
        let ours = vec![dir.path().join("store")];
        let folder = Folder::new(RunId::random().unwrap(), run, ours, plan, process_env.into());
        Self { folder: Arc::new(folder), tools, cancel: CancellationToken::new(), dir }
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// Where the run works.
    pub async fn work(&self) -> PathBuf {
        self.folder.enter_or_make(&|_| {}).await.unwrap().workspace.dir()
    }

    pub async fn state(&self) -> Digest {
        let (looked, _) = self.folder.look(&Look { tree: None, paths: Vec::new() }, &|_| {}).await.unwrap();
        looked.tree.unwrap().digest
    }

    pub async fn perform(&self, wanted: ToolUse, texts: &[&Text]) -> Came {
        let (incoming, mut coming) = Back::new(64);
        let task = ToolTask {
            effect: "run#1".parse::<EffectId>().unwrap(),
            wanted,
            time_ms: None,
            texts: texts.iter().map(|text| (text.digest(), Arc::from(text.as_str()))).collect(),
            tools: Arc::clone(&self.tools),
            folder: Ok(Arc::clone(&self.folder)),
            cancel: self.cancel.clone(),
            incoming,
        };
        task.run().await;
        let mut observed = Vec::new();
        loop {
            match *coming.recv().await.expect("a reply comes") {
                Incoming::Observed { observation, .. } => observed.push(observation),
                Incoming::Replied { reply, texts, .. } => {
                    let shown = texts.first().map(|text| text.as_str().to_owned()).unwrap_or_default();
                    if let Reply::Tool(done) = &reply {
                        assert_eq!(
                            texts.first().map(Text::digest),
                            Some(done.shown),
                            "what is shown comes along"
                        );
                    }
                    return Came { reply, shown, observed };
                }
            }
        }
    }

    pub async fn action(&self, action: ToolAction) -> Came {
        self.perform(ToolUse::new(action, 1), &[]).await
    }

    pub async fn sh(&self, line: &str) -> Came {
        self.action(command(line, 30_000)).await
    }

    pub async fn read(&self, path: &str) -> Came {
        self.action(ToolAction::ReadFile { path: path.into(), from: 1, lines: 0 }).await
    }

    pub async fn write(&self, path: &str, content: &str) -> Came {
        let text = Text::new(content.to_owned());
        let action = ToolAction::WriteFile { path: path.into(), content: text.digest() };
        self.perform(ToolUse::new(action, 1), &[&text]).await
    }

    pub async fn edit(&self, path: &str, old: &str, new: &str, all: bool) -> Came {
        let (old, new) = (Text::new(old.to_owned()), Text::new(new.to_owned()));
        let action = ToolAction::EditFile { path: path.into(), old: old.digest(), new: new.digest(), all };
        self.perform(ToolUse::new(action, 1), &[&old, &new]).await
    }

    pub async fn list(&self, path: &str) -> Came {
        self.action(ToolAction::ListFiles { path: path.into() }).await
    }

    pub async fn search(&self, pattern: &str, path: &str) -> Came {
        self.action(ToolAction::SearchFiles { pattern: pattern.into(), path: path.into() }).await
    }
}

pub fn command(line: &str, timeout_ms: u64) -> ToolAction {
    ToolAction::RunCommand { line: line.into(), timeout_ms }
}

fn process_env(dir: &Path) -> ProcessEnv {
    let mut env: HashMap<String, String> =
        HashMap::from([("PATH".to_owned(), std::env::var("PATH").unwrap())]);
    for (name, value) in [
        ("HOME", dir.join("home").to_str().unwrap()),
        ("OPENAI_API_KEY", "sk-1"),
        ("MY_TOKEN", "t-1"),
        ("MODEL_ACCESS", "m-1"),
        ("SSH_AUTH_SOCK", "/run/agent-1"),
        ("JAVA_HOME", "/opt/java"),
    ] {
        env.insert(name.to_owned(), value.to_owned());
    }
    let launcher: Arc<dyn Launcher> =
        Arc::new(ProcessLauncher::with_supervisor(env!("CARGO_BIN_EXE_launch-probe")));
    ProcessEnv::new(launcher, &env, &config())
}

/// An agent keeps its key in a variable whose name says nothing.
fn config() -> Config {
    let text = "[agents.a]\nkind = \"openai\"\nmodel = \"m\"\nkey_env = \"MODEL_ACCESS\"\n";
    let (partial, problems) = parse(&Source::new(ConfigLayer::User, "gadfly.toml", Path::new("/"), text));
    let (config, more) = Config::from_layers([partial]);
    assert!(
        problems.is_empty() && more.is_empty() && config.agents.contains_key("a"),
        "{problems:?} {more:?}"
    );
    config
}
