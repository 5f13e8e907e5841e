//! A stage for CLI agents: one launcher that plays streams from memory, one that starts scripts. The real
//! launcher, with its supervisor, is tested in the runtime.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use gadfly_agents::agent::observing;
use gadfly_agents::{
    AgentServices, AgentSpec, Call, CallError, CallReply, Command, Exit, Files, Finished, LaunchError,
    Launcher, Link, Peak, ProcessSpec, Progress, Spoken, StdinSource, Talk, build,
};
use gadfly_engine::goal::StepEnd;
use gadfly_engine::{Observation, Role, Speaker, Usage};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

pub const KINDS: [&str; 4] = ["claude-code", "codex", "gemini", "opencode"];

pub fn recorded(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/streams").join(format!("{name}.jsonl"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// What a program writes, and how it ends.
#[derive(Clone)]
pub struct Played {
    stream: String,
    exit: Exit,
}

impl Played {
    pub fn new(stream: String, exit: Exit) -> Self {
        Self { stream, exit }
    }
}

/// All that came of a call.
pub struct Heard {
    pub result: Result<CallReply, CallError>,
    pub observed: Vec<Observation>,
    pub commands: Vec<Command>,
}

impl Heard {
    pub fn steps(&self) -> Vec<&str> {
        let step = |o: &'_ Observation| matches!(o, Observation::Step { .. });
        self.observed.iter().filter(|o| step(o)).map(line).collect()
    }

    /// How its steps ended, in the order in which that was told.
    pub fn ends(&self) -> Vec<(StepEnd, &str)> {
        let ended = self.observed.iter().filter_map(|o| match o {
            Observation::StepEnded { end, said, .. } => Some((*end, said.as_str())),
            _ => None,
        });
        ended.collect()
    }

    pub fn notes(&self) -> Vec<&str> {
        let note = |o: &'_ Observation| matches!(o, Observation::Note { .. });
        self.observed.iter().filter(|o| note(o)).map(line).collect()
    }

    /// The names of the conversation, as they were told on the way.
    pub fn sessions(&self) -> Vec<&str> {
        let named = |o: &'_ Observation| matches!(o, Observation::Session { .. });
        self.observed.iter().filter(|o| named(o)).map(line).collect()
    }

    pub fn stopped(&self) -> Vec<&str> {
        let stopped = |o: &'_ Observation| matches!(o, Observation::Stopped { .. });
        self.observed.iter().filter(|o| stopped(o)).map(line).collect()
    }

    pub fn last_usage(&self) -> Option<Usage> {
        self.observed.iter().rev().find_map(|o| match o {
            Observation::Usage { usage } => Some(*usage),
            _ => None,
        })
    }
}

fn line(observation: &Observation) -> &str {
    match observation {
        Observation::Step { line, .. }
        | Observation::Note { line }
        | Observation::Session { session: line }
        | Observation::Stopped { what: line, .. } => line,
        _ => "",
    }
}

pub async fn heard(kind: &'static str, role: Role, plays: &[Played]) -> Heard {
    Stage::new(kind, role).play(plays).await
}

pub struct Stage {
    kind: &'static str,
    pub call: Call,
    pub max_steps: u32,
    pub cancel_at_first_byte: bool,
}

impl Stage {
    pub fn new(kind: &'static str, role: Role) -> Self {
        let call = Call {
            max_output_tokens: 100,
            time: Some(Duration::from_mins(1)),
            ..Call::new("run#1", role, vec![Spoken::new(Speaker::User, "Task: write.")])
        };
        Self { kind, call, max_steps: 200, cancel_at_first_byte: false }
    }

    pub async fn play(self, plays: &[Played]) -> Heard {
        let launcher =
            Arc::new(FromMemory { plays: Mutex::new(plays.to_vec().into()), ..FromMemory::default() });
        let mut heard = self.call_with(Arc::clone(&launcher) as Arc<dyn Launcher>, &["fake-program"]).await;
        heard.commands = std::mem::take(&mut *launcher.commands.lock().unwrap());
        heard
    }

    /// With a program that is started.
    pub async fn run(self, program: &[&str]) -> Heard {
        let cancel_early = self.cancel_at_first_byte;
        self.call_with(Arc::new(Starting { cancel_early }), program).await
    }

    async fn call_with(self, launcher: Arc<dyn Launcher>, program: &[&str]) -> Heard {
        let spec = AgentSpec {
            name: "tried".into(),
            command: program.iter().map(|&word| word.into()).collect(),
            env: vec![("PATH".into(), std::env::var("PATH").unwrap())],
            process: ProcessSpec { max_steps: self.max_steps, ..ProcessSpec::default() },
            ..AgentSpec::default()
        };
        let agent = build(self.kind, spec, &AgentServices::new().with_launcher(launcher)).unwrap();
        let (observe, mut observed) = observing(10_000);
        let link = Link {
            observe,
            progress: Progress::none(),
            cancel: CancellationToken::new(),
            told: None,
            files: Files::none(),
            tmp: Files::none(),
        };
        let cancel = link.cancel.clone();
        let result = if self.cancel_at_first_byte {
            CANCEL.scope(cancel, agent.call(self.call, link)).await
        } else {
            agent.call(self.call, link).await
        };
        let mut all = Vec::new();
        while let Some(observation) = observed.try_recv() {
            all.push(observation);
        }
        Heard { result, observed: all, commands: Vec::new() }
    }
}

tokio::task_local! {
    /// The call's own token, so that a launcher can cancel the call when its program has begun to speak.
    static CANCEL: CancellationToken;
}

#[derive(Default)]
struct FromMemory {
    plays: Mutex<VecDeque<Played>>,
    commands: Mutex<Vec<Command>>,
}

impl Launcher for FromMemory {
    fn launch(&self, _: Command, _: CancellationToken) -> BoxFuture<'_, Result<Finished, LaunchError>> {
        unreachable!("CLI agents are talked with")
    }

    fn talk(
        &self,
        command: Command,
        input: StdinSource,
        _: CancellationToken,
    ) -> BoxFuture<'_, Result<Talk, LaunchError>> {
        assert_eq!(input, StdinSource::Given);
        self.commands.lock().unwrap().push(command);
        let Played { stream, exit } = self.plays.lock().unwrap().pop_front().expect("started once too often");
        let finished =
            Finished { exit, stdout: Vec::new(), stderr: Vec::new(), peak: Peak::default(), beside: None };
        let output = Box::new(std::io::Cursor::new(stream.into_bytes()));
        async move { Ok(Talk { input: None, output, end: async move { Ok(finished) }.boxed() }) }.boxed()
    }
}

struct Starting {
    cancel_early: bool,
}

impl Launcher for Starting {
    fn launch(&self, _: Command, _: CancellationToken) -> BoxFuture<'_, Result<Finished, LaunchError>> {
        unreachable!("CLI agents are talked with")
    }

    fn talk(
        &self,
        command: Command,
        _: StdinSource,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Talk, LaunchError>> {
        async move {
            let mut child = tokio::process::Command::new(&command.program)
                .args(&command.args)
                .env_clear()
                .envs(command.env)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .process_group(0)
                .kill_on_drop(true)
                .spawn()
                .map_err(|_| LaunchError::NotFound { program: command.program.clone() })?;
            let mut stdin = child.stdin.take().unwrap();
            tokio::spawn(async move { stdin.write_all(&command.stdin).await });
            let mut stdout = child.stdout.take().unwrap();
            let (mut ours, theirs) = tokio::io::duplex(64 << 10);
            let call = if self.cancel_early { CANCEL.try_with(Clone::clone).ok() } else { None };
            let end = tokio::spawn(async move {
                let copying = async {
                    let mut first = [0];
                    let n = stdout.read(&mut first).await.unwrap_or(0);
                    let _ = ours.write_all(&first[..n]).await;
                    if let Some(call) = call {
                        call.cancel();
                    }
                    let _ = tokio::io::copy(&mut stdout, &mut ours).await;
                    child.wait().await.unwrap().code().map_or(Exit::Signal(9), Exit::Code)
                };
                let exit = tokio::select! {
                    biased;
                    () = cancel.cancelled() => Exit::Cancelled,
                    () = tokio::time::sleep(command.time.unwrap()) => Exit::TimedOut,
                    exit = copying => exit,
                };
                Ok(Finished {
                    exit,
                    stdout: Vec::new(),
                    stderr: Vec::new(),
                    peak: Peak::default(),
                    beside: None,
                })
            });
            let end = end.map(|joined| joined.unwrap()).boxed();
            Ok(Talk { input: None, output: Box::new(theirs), end })
        }
        .boxed()
    }
}

/// A shell script that is gone when dropped.
pub struct Script(PathBuf);

impl Script {
    /// Read by a shell: a file just written cannot always be executed while other tests fork.
    pub fn command(&self) -> [&str; 2] {
        ["/bin/sh", self.0.to_str().unwrap()]
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub fn script(body: &str) -> Script {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = format!("gadfly-cli-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, body).unwrap();
    Script(path)
}
