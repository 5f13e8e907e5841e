//! Servers with a launcher that runs the scripted one in this process and any other program as a child.

use std::process::Stdio;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use gadfly_agents::{
    Command, Exit, Finished, LaunchError, Launcher, McpSaid, McpServers, McpSpec, Peak, StdinSource, Talk,
};
use gadfly_testbed::mcp::serve;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

pub struct Stage {
    pub servers: McpServers,
    pub launcher: Arc<Launches>,
}

#[derive(Default)]
pub struct Launches {
    pub started: AtomicUsize,
    pub alive: Arc<AtomicI64>,
    pub commands: Mutex<Vec<Command>>,
}

impl Stage {
    /// One server `s`, told these words.
    pub fn new(words: &[&str]) -> Self {
        let command = std::iter::once("mcp-server").chain(words.iter().copied());
        Self::of(McpSpec {
            name: "s".into(),
            command: command.map(str::to_owned).collect(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("TOKEN".into(), "t-1".into())],
            ..McpSpec::default()
        })
    }

    pub fn of(spec: McpSpec) -> Self {
        let launcher = Arc::<Launches>::default();
        let servers = McpServers::new([spec], Arc::clone(&launcher) as Arc<dyn Launcher>);
        Self { servers, launcher }
    }

    pub fn impatient(mut self) -> Self {
        self.servers = self.servers.starting_within(Duration::from_millis(300));
        self
    }

    pub async fn call(&self, tool: &str, args: &str) -> Result<McpSaid, String> {
        self.call_within(tool, args, Duration::from_mins(1)).await
    }

    pub async fn call_within(&self, tool: &str, args: &str, time: Duration) -> Result<McpSaid, String> {
        self.servers.call("s", tool, args, time, &CancellationToken::new()).await
    }

    pub fn started(&self) -> usize {
        self.launcher.started.load(Ordering::SeqCst)
    }

    pub fn alive(&self) -> i64 {
        self.launcher.alive.load(Ordering::SeqCst)
    }
}

/// Counts a program for as long as it lives.
struct Alive(Arc<AtomicI64>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Launcher for Launches {
    fn launch(&self, command: Command, _: CancellationToken) -> BoxFuture<'_, Result<Finished, LaunchError>> {
        Box::pin(async move { Err(LaunchError::NotFound { program: command.program }) })
    }

    fn talk(
        &self,
        command: Command,
        _input: StdinSource,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Talk, LaunchError>> {
        Box::pin(async move {
            if command.program == "missing" {
                return Err(LaunchError::NotFound { program: command.program });
            }
            self.started.fetch_add(1, Ordering::SeqCst);
            self.alive.fetch_add(1, Ordering::SeqCst);
            let alive = Alive(Arc::clone(&self.alive));
            let (input, output, running) =
                if command.program == "mcp-server" { in_process(&command) } else { child(&command) };
            self.commands.lock().unwrap().push(command);
            let (tell, told) = oneshot::channel();
            tokio::spawn(async move {
                let exit = tokio::select! {
                    exit = running => exit,
                    () = cancel.cancelled() => Exit::Cancelled,
                };
                drop(alive);
                let stderr = b"last words".to_vec();
                let _ = tell.send(Ok(Finished {
                    exit,
                    stdout: vec![],
                    stderr,
                    peak: Peak::default(),
                    beside: None,
                }));
            });
            Ok(Talk { input: Some(input), output, end: Box::pin(async move { told.await.unwrap() }) })
        })
    }
}

type Started =
    (Box<dyn AsyncWrite + Send + Unpin>, Box<dyn AsyncRead + Send + Unpin>, BoxFuture<'static, Exit>);

fn in_process(command: &Command) -> Started {
    let words = command.args.clone();
    let (to_server, input) = tokio::io::duplex(64 * 1024);
    let (output, from_server) = tokio::io::duplex(64 * 1024);
    let running = async move { Exit::Code(serve(words, input, output).await) };
    (Box::new(to_server), Box::new(from_server), Box::pin(running))
}

fn child(command: &Command) -> Started {
    let mut child = tokio::process::Command::new(&command.program)
        .args(&command.args)
        .env_clear()
        .envs(command.env.clone())
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
