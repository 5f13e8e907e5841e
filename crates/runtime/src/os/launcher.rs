//! The launcher: starts a command under a supervisor, bounds its time and output, and ends it on request.
//!
//! It decides only how a call ended (by itself, out of time, cancelled, too much output). Killing is the
//! supervisor's work: the launcher closes the pipe between them, and so does its own death.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use gadfly_agents::launcher::{Command, Exit, Finished, LaunchError, Launcher, Peak};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::capture::{Head, Tail, keep_last};
use super::limits::ChildLimits;
use super::processes::kill_left_by;
use super::supervisor::offered;
use super::wire::{self, ARGUMENT, MAX_BRIEF, MAX_REPORT, Refusal, Report, Spec, VERSION};

/// How much of the end of stderr is kept.
const STDERR_TAIL: usize = 64 << 10;
/// From closing the pipe to the supervisor's end: its grace, its killing twice, and some air.
const ENDING: Duration = Duration::from_secs(6);
/// After the supervisor's end its pipes are empty at once, unless somebody who could not be killed holds them.
const DRAINING: Duration = Duration::from_secs(1);
const LOCK_EVERY: Duration = Duration::from_millis(25);

/// There is no program that could act as the supervisor.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "agents that are processes need a supervisor: call `gadfly_runtime::supervise()` first in `main`, \
     or name an installed `gadfly`"
)]
pub struct NoSupervisor;

/// Starts commands, each under a supervisor of its own. Cheap to clone; one per workspace.
#[derive(Clone, Debug)]
pub struct ProcessLauncher {
    supervisor: PathBuf,
    folder: Option<PathBuf>,
    lock: Option<PathBuf>,
    limits: ChildLimits,
}

impl ProcessLauncher {
    /// This program is the supervisor; its `main` must have called [`super::supervise`].
    pub fn this_program() -> Result<Self, NoSupervisor> {
        if !offered() {
            return Err(NoSupervisor);
        }
        // The link works even after the file was replaced by a newer version, and a supervisor started through
        // it bears another name: who kills every `gadfly` by name spares those that will clear up.
        let link = Path::new("/proc/self/exe");
        let supervisor = if link.exists() {
            link.to_owned()
        } else {
            std::env::current_exe().map_err(|_| NoSupervisor)?
        };
        Ok(Self::with_supervisor(supervisor))
    }

    /// An installed `gadfly`, or any program whose `main` calls [`super::supervise`] first.
    pub fn with_supervisor(supervisor: impl Into<PathBuf>) -> Self {
        Self { supervisor: supervisor.into(), folder: None, lock: None, limits: ChildLimits::default() }
    }

    /// Where a command works that names no folder of its own. There is no other default: our own working
    /// directory is the user's checkout, and no command gets that by oversight.
    pub fn working_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Every command holds this file's lock (shared) until all it started is gone; see [`children_ended`].
    pub fn locking(mut self, lock: impl Into<PathBuf>) -> Self {
        self.lock = Some(lock.into());
        self
    }

    pub fn limited(mut self, limits: ChildLimits) -> Self {
        self.limits = limits;
        self
    }

    async fn run(&self, command: Command, cancel: CancellationToken) -> Result<Finished, LaunchError> {
        let call = Call::new(self, command)?;
        if cancel.is_cancelled() {
            return Ok(Finished {
                exit: Exit::Cancelled,
                stdout: Vec::new(),
                stderr: Vec::new(),
                peak: Peak::default(),
            });
        }
        let supervisor = self.spawn(&call.program)?;
        call.attend(supervisor, cancel).await
    }

    /// Never `kill_on_drop`: a killed supervisor could no longer kill. Dropping its stdin ends it properly.
    fn spawn(&self, program: &str) -> Result<Child, LaunchError> {
        tokio::process::Command::new(&self.supervisor)
            .arg(ARGUMENT)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| {
                let path = self.supervisor.display();
                failed(
                    program,
                    format!(
                        "the supervisor `{path}` could not be started ({error}): name an installed `gadfly`"
                    ),
                )
            })
    }
}

impl Launcher for ProcessLauncher {
    fn launch(
        &self,
        command: Command,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Finished, LaunchError>> {
        self.run(command, cancel).boxed()
    }

    fn holding(&self, lock: &Path) -> Option<Arc<dyn Launcher>> {
        Some(Arc::new(self.clone().locking(lock)))
    }
}

/// What one call needs to remember while it is under way.
struct Call {
    program: String,
    cwd: PathBuf,
    token: String,
    frame: Vec<u8>,
    brief: Vec<u8>,
    time: Option<Duration>,
    max_output: usize,
}

impl Call {
    fn new(launcher: &ProcessLauncher, command: Command) -> Result<Self, LaunchError> {
        let Command { program, args, env, cwd, stdin: brief, time, max_output, .. } = command;
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
            subreaper: true,
        };
        let frame = wire::encode(&spec)
            .map_err(|length| too_long(&program, "its arguments and environment", length, wire::MAX_SPEC))?;
        Ok(Self { program, cwd, token, frame, brief, time, max_output })
    }

    async fn attend(self, mut supervisor: Child, cancel: CancellationToken) -> Result<Finished, LaunchError> {
        let (Some(control), Some(out), Some(err), Some(pid)) =
            (supervisor.stdin.take(), supervisor.stdout.take(), supervisor.stderr.take(), supervisor.id())
        else {
            return Err(failed(&self.program, "the pipes to its supervisor are missing".to_owned()));
        };
        let mut stdout = Head::new(self.max_output);
        let mut stderr = Tail::new(STDERR_TAIL + MAX_REPORT);
        let (over, overflowed) = oneshot::channel();
        let began = Instant::now();

        let (stopped, status) = {
            let reading = async {
                tokio::join!(stdout.fill(out, over), stderr.fill(err));
            };
            let mut gone = std::pin::pin!(gone(&mut supervisor, reading));
            let mut feeding = Box::pin(feed(control, &self.frame, &self.brief));
            let stopping = async {
                tokio::select! {
                    () = cancel.cancelled() => Exit::Cancelled,
                    () = until(began, self.time) => Exit::TimedOut,
                    Ok(()) = overflowed => Exit::Overflowed,
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
        let report = wire::cut_report(&mut stderr, &self.token);
        keep_last(&mut stderr, STDERR_TAIL);
        if report.is_none() {
            clear_up(supervisor, pid).await;
        }
        let exit = match (stopped, report) {
            (_, Some(Report::Lost(reason))) => return Err(failed(&self.program, reason)),
            (Some(exit), _) => exit,
            // It may have ended by itself before the cut was noticed; the output is cut all the same.
            (None, Some(_)) if stdout.overflowed => Exit::Overflowed,
            (None, Some(Report::Exited(code))) => Exit::Code(code),
            (None, Some(Report::Signalled(signal))) => Exit::Signal(signal),
            (None, Some(Report::Refused { why, detail })) => return Err(self.refused(why, detail)),
            (None, None) => return Err(self.unreported(status, &stderr)),
        };
        Ok(Finished { exit, stdout: stdout.bytes, stderr, peak: Peak::default() })
    }

    fn refused(&self, why: Refusal, detail: String) -> LaunchError {
        let program = self.program.clone();
        let unexecutable =
            |reason: &str| LaunchError::NotExecutable { program: program.clone(), reason: reason.to_owned() };
        match why {
            Refusal::ProgramMissing => LaunchError::NotFound { program },
            Refusal::NotExecutable => unexecutable("permission denied; make it executable (`chmod +x`)"),
            Refusal::InterpreterMissing => unexecutable(
                "the interpreter its first line names is missing; install it, or correct that line",
            ),
            Refusal::DirectoryMissing => {
                failed(&program, format!("its folder `{}` does not exist; create it", self.cwd.display()))
            }
            Refusal::LockUnusable => failed(&program, format!("its workspace could not be locked: {detail}")),
            Refusal::Abandoned => failed(&program, "it was called off before it began".to_owned()),
            Refusal::System => failed(&program, detail),
        }
    }

    fn unreported(&self, status: Option<io::Result<ExitStatus>>, stderr: &[u8]) -> LaunchError {
        let ended = match status {
            Some(Ok(status)) => format!("ended with {status} and no report"),
            Some(Err(error)) => format!("could not be waited for: {error}"),
            None => "did not answer".to_owned(),
        };
        let said = String::from_utf8_lossy(&stderr[stderr.len().saturating_sub(400)..]).trim().to_owned();
        let said = if said.is_empty() { said } else { format!("; the last words on stderr: {said}") };
        failed(&self.program, format!("its supervisor {ended}{said}"))
    }
}

fn failed(program: &str, reason: String) -> LaunchError {
    LaunchError::Failed { program: program.to_owned(), reason }
}

fn too_long(program: &str, what: &str, length: usize, at_most: usize) -> LaunchError {
    failed(
        program,
        format!("{what}: {length} bytes are more than the {at_most} that can be passed on; shorten it"),
    )
}

/// The supervisor's end, with everything that was in its pipes.
async fn gone(supervisor: &mut Child, reading: impl Future<Output = ()>) -> io::Result<ExitStatus> {
    let mut reading = std::pin::pin!(reading);
    tokio::select! {
        status = supervisor.wait() => {
            // Late or never, the answer is the same: what has been read is what there is.
            let _ = timeout(DRAINING, reading).await;
            status
        }
        () = &mut reading => supervisor.wait().await,
    }
}

/// Sends the spec and the brief, then holds the pipe open until dropped. A supervisor that ended early left
/// its reasons in its report, so a broken pipe is no news.
async fn feed(mut control: ChildStdin, frame: &[u8], brief: &[u8]) -> std::convert::Infallible {
    if control.write_all(frame).await.is_ok() {
        let _ = control.write_all(brief).await;
    }
    std::future::pending().await
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

/// Waits until no command of an earlier process holds the workspace's lock any more. False if one still does
/// when the time is up. A resume calls this before it touches the tree.
pub async fn children_ended(lock: &Path, within: Duration) -> io::Result<bool> {
    let file: File = OpenOptions::new().create(true).truncate(false).write(true).open(lock)?;
    let until = Instant::now() + within;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => return Ok(false),
            Err(TryLockError::WouldBlock) => sleep(LOCK_EVERY).await,
        }
    }
}

fn random_token() -> Result<String, String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system gave no random bytes: {error}"))?;
    Ok(format!("gadfly-report-{:032x}", u128::from_le_bytes(bytes)))
}
