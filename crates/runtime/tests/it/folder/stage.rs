//! A project, its run's folder and a launcher, for one test.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gadfly_agents::launcher::{Command, Exit, Launcher};
use gadfly_engine::Text;
use gadfly_engine::tree::{Look, Tree, WorkspacePlan};
use gadfly_journal::RunId;
use gadfly_project::Config;
use gadfly_runtime::folder::Folder;
use gadfly_runtime::os::ProcessLauncher;
use gadfly_runtime::process_env::ProcessEnv;
use tokio_util::sync::CancellationToken;

pub struct Stage {
    pub dir: tempfile::TempDir,
    pub folder: Arc<Folder>,
    plan: WorkspacePlan,
    run: RunId,
}

pub fn launcher() -> Arc<dyn Launcher> {
    Arc::new(ProcessLauncher::with_supervisor(env!("CARGO_BIN_EXE_launch-probe")))
}

/// The files every test begins with.
pub fn lay_out(project: &Path) {
    fs::create_dir_all(project).unwrap();
    for (name, content) in [("a.txt", "one\n"), ("b.txt", "b\n"), (".gitignore", "cache\n")] {
        fs::write(project.join(name), content).unwrap();
    }
}

fn process_env() -> ProcessEnv {
    let mut env: HashMap<String, String> =
        ["PATH", "HOME"].into_iter().filter_map(|n| Some((n.to_owned(), std::env::var(n).ok()?))).collect();
    for (name, value) in [
        ("GIT_AUTHOR_NAME", "Ann"),
        ("GIT_AUTHOR_EMAIL", "ann@example.org"),
        ("GIT_COMMITTER_NAME", "Ann"),
        ("GIT_COMMITTER_EMAIL", "ann@example.org"),
        ("OPENAI_API_KEY", "sk-1"),
        ("MY_TOKEN", "t-1"),
        ("JAVA_HOME", "/opt/java"),
    ] {
        env.insert(name.to_owned(), value.to_owned());
    }
    let (config, _) = Config::from_layers([]);
    ProcessEnv::new(launcher(), &env, &config)
}

impl Stage {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut WorkspacePlan)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        lay_out(&project);
        let mut plan =
            WorkspacePlan { project: project.to_string_lossy().into_owned(), ..WorkspacePlan::default() };
        change(&mut plan);
        let run = RunId::random().unwrap();
        let folder = Arc::new(make(dir.path(), &plan, &run));
        Self { dir, folder, plan, run }
    }

    pub fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    /// The same folder, as a process finds it that knows only what is on disk.
    pub fn another(&self) -> Arc<Folder> {
        Arc::new(make(self.dir.path(), &self.plan, &self.run))
    }

    pub fn run(&self) -> &RunId {
        &self.run
    }

    pub async fn look(&self) -> (Tree, Vec<Text>) {
        let (looked, texts) =
            self.folder.look(&Look { tree: None, paths: Vec::new() }, &|_| {}).await.unwrap();
        (looked.tree.unwrap(), texts)
    }

    /// As a worker would.
    pub async fn write(&self, path: &str, content: &str) {
        let dir = self.folder.enter().await.unwrap().workspace.dir();
        fs::write(dir.join(path), content).unwrap();
    }

    pub async fn read(&self, path: &str) -> Option<String> {
        let dir = self.folder.enter().await.unwrap().workspace.dir();
        fs::read_to_string(dir.join(path)).ok()
    }
}

fn make(dir: &Path, plan: &WorkspacePlan, run: &RunId) -> Folder {
    Folder::new(run.clone(), dir.join("runs/one"), vec![dir.to_owned()], plan.clone(), process_env().into())
}

/// Runs a script in a folder, as an agent of kind `command` would.
pub async fn sh(script: &str, cwd: &Path) -> Exit {
    let command = Command {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), script.to_owned()],
        env: vec![("PATH".to_owned(), std::env::var("PATH").unwrap())],
        cwd: Some(cwd.to_owned()),
        stdin: Vec::new(),
        time: Some(Duration::from_secs(20)),
        max_output: 1 << 20,
        ..Command::default()
    };
    launcher().launch(command, CancellationToken::new()).await.unwrap().exit
}

pub fn git(dir: &Path, args: &[&str]) -> String {
    let done = std::process::Command::new("git")
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}
