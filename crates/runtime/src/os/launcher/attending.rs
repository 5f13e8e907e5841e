//! One call, from its spec to its end: bounds its time and output, ends it on request, and says how it ended
//! (by itself, out of time, cancelled, too much output, what its supervisor reports).

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use gadfly_agents::launcher::{Command, Exit, Finished, LaunchError, Peak, Sandbox};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::ProcessLauncher;
use crate::os::apart::alone;
use crate::os::capture::{Tail, keep_last};
use crate::os::processes::kill_left_by;
use crate::os::wire::{
    self, CallEnding, ExitReport, Kernel, MAX_BRIEF, MAX_FRAME, MAX_REPORT, Spec, StartRefusal, VERSION,
};

/// How much of the end of stderr is kept.
const STDERR_TAIL: usize = 64 << 10;
/// From closing the pipe to the supervisor's end: its grace, its killing twice, and some air.
const ENDING: Duration = Duration::from_secs(6);
/// After the supervisor's end its pipes are empty at once, unless somebody who could not be killed holds them.
const DRAINING: Duration = Duration::from_secs(1);

/// What one call needs to remember while it is under way.
pub(super) struct AttendedCall {
    pub program: String,
    cwd: PathBuf,
    token: String,
    frame: Vec<u8>,
    brief: Vec<u8>,
    time: Option<Duration>,
    pub max_output: usize,
    sandbox: Option<Sandbox>,
}

impl AttendedCall {
    /// With `more`, input follows what the command itself brings.
    pub fn new(launcher: &ProcessLauncher, command: Command, more: bool) -> Result<Self, LaunchError> {
        let Command { program, args, env, cwd, stdin: brief, time, max_output, sandbox, most } = command;
        if brief.len() > MAX_BRIEF {
            return Err(too_long(&program, "what it is to read on stdin", brief.len(), MAX_BRIEF));
        }
        let Some(cwd) = cwd.or_else(|| launcher.folder.clone()) else {
            return Err(failed(&program, "no folder to work in was named".to_owned()));
        };
        let token = random_token().map_err(|reason| failed(&program, reason))?;
        let spec = Spec {
            version: VERSION,
            token: token.clone(),
            program: program.clone(),
            args,
            env,
            cwd: cwd.as_path().into(),
            lock: launcher.lock.as_deref().map(Into::into),
            limits: launcher.limits.with_started_open_files(),
            brief_len: brief.len(),
            more,
            sandbox: sandbox.as_ref().map(Into::into),
            alone: sandbox.as_ref().is_some_and(|sandbox| sandbox.apart) && alone().is_ok(),
            max_memory_bytes: most.memory_bytes,
            max_processes: most.processes,
            subreaper: true,
            kernel: Kernel::AsItIs,
        };
        let frame = wire::encode(&spec)
            .map_err(|length| too_long(&program, "its arguments and environment", length, wire::MAX_SPEC))?;
        Ok(Self { program, cwd, token, frame, brief, time, max_output, sandbox })
    }

    /// Returns when everything is gone, without the command's stdout: that is `reading`'s, which is told when
    /// the command has ended and says through `overflowed` that more came than it keeps. `input` is what the
    /// command is given after its brief.
    pub async fn attend(
        self,
        mut supervisor: Child,
        reading: impl AsyncFnOnce(ChildStdout, CancellationToken),
        mut overflowed: oneshot::Receiver<()>,
        input: Option<DuplexStream>,
        cancel: CancellationToken,
    ) -> Result<Finished, LaunchError> {
        let (Some(control), Some(out), Some(err), Some(pid)) =
            (supervisor.stdin.take(), supervisor.stdout.take(), supervisor.stderr.take(), supervisor.id())
        else {
            return Err(failed(&self.program, "the pipes to its supervisor are missing".to_owned()));
        };
        let mut stderr = Tail::new(STDERR_TAIL + MAX_REPORT);
        let began = Instant::now();

        let (stopped, status) = {
            let hurry = CancellationToken::new();
            let reading = async {
                tokio::join!(reading(out, hurry.clone()), stderr.fill(err));
            };
            let mut gone = std::pin::pin!(gone(&mut supervisor, reading, &hurry));
            let mut feeding = Box::pin(feed(control, &self.frame, &self.brief, input));
            let stopping = async {
                tokio::select! {
                    () = cancel.cancelled() => Exit::Cancelled,
                    () = until(began, self.time) => Exit::TimedOut,
                    Ok(()) = &mut overflowed => Exit::Overflowed,
                }
            };
            tokio::select! {
                status = &mut gone => (None, Some(status)),
                never = &mut feeding => match never {},
                exit = stopping => {
                    // The pipe closes here, and the supervisor ends everything.
                    drop(feeding);
                    (Some(exit), timeout(ENDING, &mut gone).await.ok())
                }
            }
        };

        let mut stderr = stderr.into_bytes();
        let ending = wire::cut_report(&mut stderr, &self.token);
        keep_last(&mut stderr, STDERR_TAIL);
        if ending.is_none() {
            clear_up(supervisor, pid).await;
        }
        let peak =
            ending.as_ref().map_or_else(Peak::default, |CallEnding { memory_bytes, processes, .. }| Peak {
                memory_bytes: *memory_bytes,
                processes: *processes,
            });
        let exit = match (stopped, ending.map(|ending| ending.report)) {
            (_, Some(ExitReport::Lost(reason))) => return Err(failed(&self.program, reason)),
            (Some(exit), _) => exit,
            (None, Some(ExitReport::Refused { why, detail })) => return Err(self.refused(why, detail)),
            (None, Some(ExitReport::TooMuchMemory)) => Exit::TooMuchMemory,
            (None, Some(ExitReport::TooManyProcesses)) => Exit::TooManyProcesses,
            // It may have ended by itself before the cut was noticed; the output is cut all the same.
            (None, Some(_)) if overflowed.try_recv().is_ok() => Exit::Overflowed,
            (None, Some(ExitReport::Exited(code))) => Exit::Code(code),
            (None, Some(ExitReport::Signalled(signal))) => Exit::Signal(signal),
            (None, None) => return Err(self.unreported(status, &stderr)),
        };
        let beside = self.sandbox.as_ref().and_then(|sandbox| sandbox.beside(exit, &stderr));
        Ok(Finished { exit, stdout: Vec::new(), stderr, peak, beside })
    }

    fn refused(&self, why: StartRefusal, detail: String) -> LaunchError {
        let program = self.program.clone();
        let unexecutable =
            |reason: &str| LaunchError::NotExecutable { program: program.clone(), reason: reason.to_owned() };
        match why {
            StartRefusal::ProgramMissing => LaunchError::NotFound { program },
            StartRefusal::NotExecutable => unexecutable("permission denied; make it executable (`chmod +x`)"),
            StartRefusal::InterpreterMissing => unexecutable(
                "the interpreter its first line names is missing; install it, or correct that line",
            ),
            StartRefusal::DirectoryMissing => {
                failed(&program, format!("its folder `{}` does not exist; create it", self.cwd.display()))
            }
            StartRefusal::LockUnusable => {
                failed(&program, format!("its workspace could not be locked: {detail}"))
            }
            StartRefusal::NoSandbox => failed(&program, format!("its sandbox could not be put up: {detail}")),
            StartRefusal::OutsideSandbox => unexecutable(
                "its sandbox does not let it, or what it needs to start, be read; name the folder in `read`",
            ),
            StartRefusal::Abandoned => failed(&program, "it was called off before it began".to_owned()),
            StartRefusal::System => failed(&program, detail),
        }
    }

    fn unreported(&self, status: Option<io::Result<ExitStatus>>, stderr: &[u8]) -> LaunchError {
        let ended = match status {
            Some(Ok(status)) => format!("ended with {status} and no report"),
            Some(Err(error)) => format!("could not be waited for: {error}"),
            None => "did not answer".to_owned(),
        };
        let last = stderr.get(stderr.len().saturating_sub(400)..).unwrap_or_default();
        let said = String::from_utf8_lossy(last).trim().to_owned();
        let said = if said.is_empty() { said } else { format!("; the last words on stderr: {said}") };
        failed(&self.program, format!("its supervisor {ended}{said}"))
    }
}

pub(super) fn failed(program: &str, reason: String) -> LaunchError {
    LaunchError::Failed { program: program.to_owned(), reason }
}

fn too_long(program: &str, what: &str, length: usize, at_most: usize) -> LaunchError {
    failed(
        program,
        format!("{what}: {length} bytes are more than the {at_most} that can be passed on; shorten it"),
    )
}

/// The supervisor's end, with everything that was in its pipes.
async fn gone(
    supervisor: &mut Child,
    reading: impl Future<Output = ()>,
    hurry: &CancellationToken,
) -> io::Result<ExitStatus> {
    let mut reading = std::pin::pin!(reading);
    tokio::select! {
        status = supervisor.wait() => {
            hurry.cancel();
            // Late or never, the answer is the same: what has been read is what there is.
            let _ = timeout(DRAINING, reading).await;
            status
        }
        () = &mut reading => supervisor.wait().await,
    }
}

/// Sends the spec, the brief and the input as it comes, and holds the pipe open until dropped. A supervisor
/// that ended early left its reasons in its report, so a broken pipe is no news.
async fn feed(
    mut control: ChildStdin,
    frame: &[u8],
    brief: &[u8],
    input: Option<DuplexStream>,
) -> std::convert::Infallible {
    let _ = send(&mut control, frame, brief, input).await;
    std::future::pending().await
}

async fn send(
    control: &mut ChildStdin,
    frame: &[u8],
    brief: &[u8],
    input: Option<DuplexStream>,
) -> io::Result<()> {
    control.write_all(frame).await?;
    control.write_all(brief).await?;
    let Some(mut input) = input else { return Ok(()) };
    let mut chunk = vec![0_u8; MAX_FRAME];
    loop {
        let read = input.read(&mut chunk).await?;
        // The end of the input is the empty frame.
        control.write_all(&u32::try_from(read).unwrap_or_default().to_le_bytes()).await?;
        control.write_all(chunk.get(..read).unwrap_or_default()).await?;
        if read == 0 {
            return Ok(());
        }
    }
}

async fn until(began: Instant, time: Option<Duration>) {
    match time {
        Some(time) => sleep(time.saturating_sub(began.elapsed())).await,
        None => std::future::pending().await,
    }
}

/// The supervisor said nothing: it was killed, it is stopped, or it is no supervisor. What it may have left
/// running is found by its session and its descendants.
async fn clear_up(mut supervisor: Child, pid: u32) {
    if let Ok(pid) = i32::try_from(pid) {
        let _ = tokio::task::spawn_blocking(move || kill_left_by(pid)).await;
    }
    let _ = supervisor.start_kill();
    let _ = timeout(DRAINING, supervisor.wait()).await;
}

fn random_token() -> Result<String, String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system gave no random bytes: {error}"))?;
    Ok(format!("gadfly-report-{:032x}", u128::from_le_bytes(bytes)))
}
