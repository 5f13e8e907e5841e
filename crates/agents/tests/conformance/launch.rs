//! A launcher just good enough for the suite. The real one, with its supervisor, is tested in the runtime.

use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use gadfly_agents::{Command, Exit, Finished, LaunchError, Launcher, Peak};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

#[derive(Default)]
pub struct Plain {
    pub started: AtomicU64,
}

impl Launcher for Plain {
    fn launch(
        &self,
        command: Command,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Finished, LaunchError>> {
        Box::pin(async move {
            let mut child = tokio::process::Command::new(&command.program)
                .args(&command.args)
                .env_clear()
                .envs(command.env)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .kill_on_drop(true)
                .spawn()
                .map_err(|_| LaunchError::NotFound { program: command.program.clone() })?;
            self.started.fetch_add(1, Ordering::SeqCst);
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
            Ok(Finished { exit, stdout: out, stderr: err, peak: Peak::default() })
        })
    }
}
