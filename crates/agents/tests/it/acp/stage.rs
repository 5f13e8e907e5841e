//! A call of an ACP agent with everything around it: a folder, its files, a launcher that runs the scripted
//! agent in this process and any other program as a child.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use gadfly_agents::agent::observing;
use gadfly_agents::{
    Agent, AgentServices, AgentSpec, Call, CallError, CallReply, Command, Edit, Exit, Files, Finished,
    FolderFiles, LaunchError, Launcher, Link, Peak, Progress, Sandbox, Spoken, StdinSource, Talk, build,
};
use gadfly_engine::{Guard, Observation, Role, Speaker};
use gadfly_testbed::acp::{AcpScript, serve};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

pub struct Stage {
    pub spec: AgentSpec,
    pub role: Role,
    pub session: Option<String>,
    pub sandboxed: bool,
    pub time: Option<Duration>,
    pub cancel: CancellationToken,
    pub folder: PathBuf,
    launcher: Arc<Launches>,
    guard: Scratch,
}

pub struct Done {
    pub answer: Result<CallReply, CallError>,
    pub seen: Vec<Observation>,
    pub progress: Vec<String>,
    pub folder: PathBuf,
    /// Commands started beside the agent.
    pub launched: Arc<AtomicU64>,
    /// Agents and commands that have not ended.
    pub alive: Arc<AtomicI64>,
    _guard: Scratch,
}

pub fn critic(words: &[&str]) -> Stage {
    Stage::new(Role::Critic, words)
}

pub fn worker(words: &[&str]) -> Stage {
    Stage::new(Role::Worker, words)
}

impl Stage {
    pub fn new(role: Role, words: &[&str]) -> Self {
        let guard = Scratch::new();
        let folder = guard.0.join("work");
        std::fs::create_dir_all(&folder).unwrap();
        let spec = AgentSpec {
            name: "agent".into(),
            system: Some("For this agent.".into()),
            command: vec!["acp-agent".into()],
            args: words.iter().map(|word| (*word).to_owned()).collect(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            ..AgentSpec::default()
        };
        Self {
            spec,
            role,
            session: None,
            sandboxed: false,
            time: None,
            cancel: CancellationToken::new(),
            folder,
            launcher: Arc::default(),
            guard,
        }
    }

    fn agent(&self) -> Arc<dyn Agent> {
        let world = AgentServices::new().with_launcher(Arc::clone(&self.launcher) as Arc<dyn Launcher>);
        build("acp", self.spec.clone(), &world).unwrap()
    }

    pub fn guards(&self) -> Vec<Guard> {
        self.agent().guards(self.role.permission(), false)
    }

    pub async fn call(self) -> Done {
        self.call_telling(|| {}).await
    }

    /// Runs `then` as soon as the program was started.
    pub async fn call_started(self, then: impl FnOnce() + Send + 'static) -> Done {
        *self.launcher.started.lock().unwrap() = Some(Box::new(then));
        self.call().await
    }

    /// Runs `then` at the first text of the answer.
    pub async fn call_telling(self, then: impl FnOnce() + Send + 'static) -> Done {
        let agent = self.agent();
        let (observe, mut seen) = observing(8);
        let progress = Arc::new(Mutex::new(Vec::new()));
        let (heard, then) = (Arc::clone(&progress), Mutex::new(Some(then)));
        let link = Link {
            observe,
            progress: Progress::to(move |text| {
                heard.lock().unwrap().push(text.to_owned());
                if let Some(then) = then.lock().unwrap().take() {
                    then();
                }
            }),
            cancel: self.cancel.clone(),
            told: None,
            files: Files::of(Arc::new(Below(self.folder.clone()))),
            tmp: Files::none(),
        };
        let call = Call {
            system: Some("For all.".into()),
            max_output_tokens: 1000,
            time: self.time,
            workdir: Some(self.folder.clone()),
            lock: Some(self.guard.0.join("lock")),
            session: self.session.clone(),
            sandbox: self.sandboxed.then(Sandbox::default),
            ..Call::new("run#1", self.role, vec![Spoken::new(Speaker::User, "The brief.")])
        };
        let watching = async {
            let mut all = Vec::new();
            while let Some(observation) = seen.recv().await {
                all.push(observation);
            }
            all
        };
        let (answer, seen) = tokio::join!(agent.call(call, link), watching);
        let progress = progress.lock().unwrap().clone();
        Done {
            answer,
            seen,
            progress,
            folder: self.folder,
            launched: Arc::clone(&self.launcher.commands),
            alive: Arc::clone(&self.launcher.alive),
            _guard: self.guard,
        }
    }
}

impl Done {
    pub fn steps(&self) -> Vec<String> {
        let line =
            |o: &Observation| if let Observation::Step { line, .. } = o { Some(line.clone()) } else { None };
        self.seen.iter().filter_map(line).collect()
    }

    pub fn notes(&self) -> Vec<String> {
        let line =
            |o: &Observation| if let Observation::Note { line } = o { Some(line.clone()) } else { None };
        self.seen.iter().filter_map(line).collect()
    }

    /// The names of the conversation, as they were told on the way.
    pub fn sessions(&self) -> Vec<String> {
        let name = |o: &Observation| {
            if let Observation::Session { session } = o { Some(session.clone()) } else { None }
        };
        self.seen.iter().filter_map(name).collect()
    }

    pub fn guards(&self) -> Vec<String> {
        let guards = self.seen.iter().filter_map(|o| match o {
            Observation::Guarded { guards } => Some(guards),
            _ => None,
        });
        guards.flatten().map(ToString::to_string).collect()
    }

    pub fn stopped(&self) -> Vec<String> {
        let what = |o: &Observation| {
            if let Observation::Stopped { what, .. } = o { Some(what.clone()) } else { None }
        };
        self.seen.iter().filter_map(what).collect()
    }
}

/// Waits until something holds that tasks of others bring about.
pub async fn eventually(holds: impl Fn() -> bool) {
    for _ in 0..10_000 {
        if holds() {
            return;
        }
        tokio::task::yield_now().await;
        std::thread::yield_now();
    }
    panic!("it never held");
}

struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let n = MADE.fetch_add(1, Ordering::SeqCst);
        let at = std::env::temp_dir().join(format!("gadfly-acp-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&at).unwrap();
        Self(at.canonicalize().unwrap())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Below(PathBuf);

impl FolderFiles for Below {
    fn apply(&self, edits: Vec<Edit>) -> BoxFuture<'static, Result<(), String>> {
        let root = self.0.clone();
        Box::pin(async move {
            for edit in edits {
                let Edit::Write { path, content } = edit else { return Err("only writing".into()) };
                assert!(Path::new(&path).is_relative() && !path.contains(".."), "{path}");
                std::fs::write(root.join(path), content).map_err(|e| e.to_string())?;
            }
            Ok(())
        })
    }

    fn read(&self, path: String) -> BoxFuture<'static, Result<String, String>> {
        let at = self.0.join(path);
        Box::pin(async move { std::fs::read_to_string(at).map_err(|e| e.to_string()) })
    }
}

#[derive(Default)]
struct Launches {
    commands: Arc<AtomicU64>,
    alive: Arc<AtomicI64>,
    started: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

/// Counts a program for as long as it lives.
struct Alive(Arc<AtomicI64>);

impl Alive {
    fn new(count: &Arc<AtomicI64>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Launcher for Launches {
    fn launch(
        &self,
        command: Command,
        _cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Finished, LaunchError>> {
        Box::pin(async move { Err(LaunchError::NotFound { program: command.program }) })
    }

    fn talk(
        &self,
        command: Command,
        _input: StdinSource,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Talk, LaunchError>> {
        Box::pin(async move {
            let alive = Alive::new(&self.alive);
            let time = command.time.unwrap_or(Duration::from_hours(1));
            let (input, output, running) = if command.program == "acp-agent" {
                in_process(&command)
            } else {
                self.commands.fetch_add(1, Ordering::SeqCst);
                child(&command)
            };
            let (tell, told) = oneshot::channel();
            tokio::spawn(async move {
                let exit = tokio::select! {
                    exit = running => exit,
                    () = cancel.cancelled() => Exit::Cancelled,
                    () = tokio::time::sleep(time) => Exit::TimedOut,
                };
                drop(alive);
                let done = Finished {
                    exit,
                    stdout: vec![],
                    stderr: b"last words".to_vec(),
                    peak: Peak::default(),
                    beside: None,
                };
                let _ = tell.send(Ok(done));
            });
            if let Some(then) = self.started.lock().unwrap().take() {
                then();
            }
            Ok(Talk { input: Some(input), output, end: Box::pin(async move { told.await.unwrap() }) })
        })
    }
}

type Started =
    (Box<dyn AsyncWrite + Send + Unpin>, Box<dyn AsyncRead + Send + Unpin>, BoxFuture<'static, Exit>);

fn in_process(command: &Command) -> Started {
    let script = AcpScript::parse(command.args.iter().cloned()).unwrap();
    let (to_agent, input) = tokio::io::duplex(64 * 1024);
    let (output, from_agent) = tokio::io::duplex(64 * 1024);
    let running = async move { Exit::Code(serve(script, input, output).await) };
    (Box::new(to_agent), Box::new(from_agent), Box::pin(running))
}

fn child(command: &Command) -> Started {
    let mut child = tokio::process::Command::new(&command.program)
        .args(&command.args)
        .env_clear()
        .envs(command.env.clone())
        .current_dir(command.cwd.as_ref().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let running = async move { child.wait().await.unwrap().code().map_or(Exit::Signal(9), Exit::Code) };
    (Box::new(input), Box::new(output), Box::pin(running))
}
