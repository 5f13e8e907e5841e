//! A launcher just good enough for the suite. Programs of agents that are talked with are played in this process;
//! anything else is started. The real launcher, with its supervisor, is tested in the runtime.

use std::fmt::Write as _;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use gadfly_agents::{Command, Exit, Finished, LaunchError, Launcher, Peak, StdinSource, Talk};
use gadfly_testbed::{acp, cli};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_util::sync::CancellationToken;

/// Stands in for a CLI agent.
pub const FAKE_CLI: &str = "fake-cli";
/// Speaks the Agent Client Protocol.
pub const ACP_AGENT: &str = "acp-agent";

const PIPE: usize = 64 * 1024;

#[derive(Default)]
pub struct Plain {
    pub started: AtomicU64,
    /// Arguments and environments of everything that was started.
    pub handed: Mutex<String>,
}

impl Plain {
    fn starts(&self, command: &Command) {
        self.started.fetch_add(1, Ordering::SeqCst);
        let _ = writeln!(self.handed.lock().unwrap(), "{:?} {:?}", command.args, command.env);
    }
}

impl Launcher for Plain {
    fn launch(
        &self,
        command: Command,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Finished, LaunchError>> {
        Box::pin(async move {
            let mut child = spawn(&command)?;
            self.starts(&command);
            let mut stdin = child.stdin.take().unwrap();
            let mut stdout = child.stdout.take().unwrap().take(command.max_output as u64 + 1);
            let mut stderr = child.stderr.take().unwrap().take(64 * 1024);
            let brief = command.stdin;
            tokio::spawn(async move { stdin.write_all(&brief).await });
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let reading = async {
                stdout.read_to_end(&mut out).await.unwrap();
                if out.len() > command.max_output {
                    return Exit::Overflowed;
                }
                stderr.read_to_end(&mut err).await.unwrap();
                child.wait().await.unwrap().code().map_or(Exit::Signal(9), Exit::Code)
            };
            let exit = tokio::select! {
                exit = reading => exit,
                () = cancel.cancelled() => Exit::Cancelled,
                () = tokio::time::sleep(command.time.unwrap_or(Duration::MAX)) => Exit::TimedOut,
            };
            Ok(Finished { exit, stdout: out, stderr: err, peak: Peak::default(), beside: None })
        })
    }

    fn talk(
        &self,
        command: Command,
        input: StdinSource,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Talk, LaunchError>> {
        Box::pin(async move {
            self.starts(&command);
            let time = command.time.unwrap_or(Duration::MAX);
            let (to_program, stdin) = tokio::io::duplex(PIPE);
            let (output, stdout) = tokio::io::duplex(PIPE);
            let running = match command.program.as_str() {
                FAKE_CLI => fake_cli(command, stdout),
                ACP_AGENT => acp_agent(command, stdin, stdout),
                _ => child(&command, stdout)?,
            };
            // Stopped, the program is dropped, and its output ends.
            let end = tokio::spawn(async move {
                let (exit, stderr) = tokio::select! {
                    ended = running => ended,
                    () = cancel.cancelled() => (Exit::Cancelled, Vec::new()),
                    () = tokio::time::sleep(time) => (Exit::TimedOut, Vec::new()),
                };
                Ok(Finished { exit, stdout: Vec::new(), stderr, peak: Peak::default(), beside: None })
            });
            let input = (input == StdinSource::Open).then(|| Box::new(to_program) as Box<_>);
            Ok(Talk { input, output: Box::new(output), end: end.map(|ended| ended.unwrap()).boxed() })
        })
    }
}

type Running = BoxFuture<'static, (Exit, Vec<u8>)>;

fn fake_cli(command: Command, stdout: DuplexStream) -> Running {
    let (script, flags) = cli::CliScript::parse(command.args).unwrap();
    let asked = cli::ProgramInvocation {
        flags,
        env: command.env.into_iter().collect(),
        brief: String::from_utf8(command.stdin).unwrap(),
        folder: command.cwd.unwrap(),
    };
    Box::pin(async move {
        let ended = cli::play(script, asked, stdout).await;
        (Exit::Code(ended.code), ended.said.into_bytes())
    })
}

fn acp_agent(command: Command, stdin: DuplexStream, stdout: DuplexStream) -> Running {
    let script = acp::AcpScript::parse(command.args).unwrap();
    Box::pin(async move { (Exit::Code(acp::serve(script, stdin, stdout).await), Vec::new()) })
}

fn child(command: &Command, mut stdout: DuplexStream) -> Result<Running, LaunchError> {
    let mut child = spawn(command)?;
    let mut output = child.stdout.take().unwrap();
    Ok(Box::pin(async move {
        let _ = tokio::io::copy(&mut output, &mut stdout).await;
        (child.wait().await.unwrap().code().map_or(Exit::Signal(9), Exit::Code), Vec::new())
    }))
}

fn spawn(command: &Command) -> Result<tokio::process::Child, LaunchError> {
    tokio::process::Command::new(&command.program)
        .args(&command.args)
        .env_clear()
        .envs(command.env.clone())
        .current_dir(command.cwd.as_ref().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|_| LaunchError::NotFound { program: command.program.clone() })
}
