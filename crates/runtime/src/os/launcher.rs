//! The launcher: starts a command under a supervisor and hands back what it said, all at once or as it comes.
//!
//! How a call is held and ended is in `attending`, what it and its command say to each other in `talking`.
//! Killing is the supervisor's work: the launcher closes the pipe between them, and so does its own death.

mod attending;

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use gadfly_agents::launcher::{Command, Exit, Finished, LaunchError, Launcher, Peak, StdinSource, Talk};
use tokio::io::duplex;
use tokio::process::Child;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use self::attending::{AttendedCall, failed};
use super::apart::asked_through;
use super::capture::OutputHead;
use super::limits::ChildLimits;
use super::supervisor::offered;
use super::talking::relay;
use super::wire::{ARGUMENT, MAX_FRAME};

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
        let supervisor = supervisor.into();
        asked_through(&supervisor);
        Self { supervisor, folder: None, lock: None, limits: ChildLimits::default() }
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
        let call = AttendedCall::new(self, command, false)?;
        if cancel.is_cancelled() {
            return Ok(not_begun());
        }
        let (over, overflowed) = oneshot::channel();
        let mut stdout = OutputHead::new(call.max_output);
        let held = self.spawn(&call.program)?;
        let reading = async |out, _: CancellationToken| stdout.fill(out, over).await;
        let ended = call.attend(held, reading, overflowed, None, cancel).await?;
        Ok(Finished { stdout: stdout.bytes, ..ended })
    }

    fn converse(
        &self,
        command: Command,
        input: StdinSource,
        cancel: &CancellationToken,
    ) -> Result<Talk, LaunchError> {
        let call = AttendedCall::new(self, command, input == StdinSource::Open)?;
        let (ours, theirs) = duplex(MAX_FRAME);
        let (ours, theirs) = match input {
            StdinSource::Given => (None, None),
            StdinSource::Open => (Some(Box::new(ours) as _), Some(theirs)),
        };
        let (mut relayed, output) = relay(call.max_output);
        if cancel.is_cancelled() {
            // Dropped here, the other ends say that nothing is written, and nothing read.
            let end = std::future::ready(Ok(not_begun())).boxed();
            return Ok(Talk { input: ours, output: Box::new(output), end });
        }
        let held = self.spawn(&call.program)?;
        // What is cancelled below ends the call: somebody else's wish, or this talk being dropped.
        let stop = cancel.child_token();
        let dropped = stop.clone().drop_guard();
        let program = call.program.clone();
        let task = tokio::spawn(async move {
            let (over, overflowed) = oneshot::channel();
            let reading = async |out, hurry| relayed.fill(out, over, hurry).await;
            call.attend(held, reading, overflowed, theirs, stop).await
        });
        let end = async move {
            let ended = task.await;
            drop(dropped);
            ended.unwrap_or_else(|lost| Err(failed(&program, format!("its task was lost: {lost}"))))
        };
        Ok(Talk { input: ours, output: Box::new(output), end: end.boxed() })
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

    fn talk(
        &self,
        command: Command,
        input: StdinSource,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Talk, LaunchError>> {
        async move { self.converse(command, input, &cancel) }.boxed()
    }

    fn holding(&self, lock: &Path) -> Option<Arc<dyn Launcher>> {
        Some(Arc::new(self.clone().locking(lock)))
    }
}

fn not_begun() -> Finished {
    Finished {
        exit: Exit::Cancelled,
        stdout: Vec::new(),
        stderr: Vec::new(),
        peak: Peak::default(),
        beside: None,
    }
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
