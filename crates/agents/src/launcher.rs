//! How an agent asks for a child process. The launcher itself lives in the runtime: agents never spawn.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

pub use crate::beside::ErrorNote;

/// A command to run once.
#[derive(Clone, Debug, Default)]
pub struct Command {
    pub program: String,
    pub args: Vec<String>,
    /// The whole environment of the child: nothing is inherited.
    pub env: Vec<(String, String)>,
    pub cwd: Option<PathBuf>,
    pub stdin: Vec<u8>,
    pub time: Option<Duration>,
    /// Bytes of standard output after which the child is stopped.
    pub max_output: usize,
    /// What the command and everything it starts may touch. A launcher that cannot hold it to that refuses to
    /// start it. None: whatever this user may.
    pub sandbox: Option<Sandbox>,
    /// How much the command and everything it starts may use together, by sampling.
    pub most: Most,
}

/// The files and the network that a command may use; everything else is refused by the kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sandbox {
    /// Files and folders it may read and execute. One that does not exist is left out.
    pub read: Vec<PathBuf>,
    /// Files and folders it may also write.
    pub write: Vec<PathBuf>,
    pub network: Network,
    /// It gets rooms of its own: pseudo-terminals and shared memory that nobody else has and, without the
    /// network, a loopback that nobody else has. Without such rooms it has no pseudo-terminals and no loopback.
    pub apart: bool,
    /// The loopback it gets without the network is one that it shares with others of its run. Only in rooms of its own.
    pub shares: Option<SharedNetwork>,
    /// A command of the user's own, with the user's rights: only the terminals are kept from it. Signals,
    /// sockets and what root may do are left as they are.
    pub own: bool,
}

/// A network that several commands share, by where the kernel shows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SharedNetwork {
    /// Whose it is, unless it is root's.
    pub user: Option<PathBuf>,
    pub net: PathBuf,
}

/// What of the network a command may use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// No TCP; in rooms of its own no protocol at all, but everything on a loopback of its own.
    #[default]
    None,
    /// TCP connections to others. It listens nowhere: a port of this machine that it held could be taken for
    /// the one of a program that is not running just now. Nothing is said of other protocols.
    Out,
    /// The same, and it may listen on ports that the system chooses.
    FreePorts,
    Open,
}

/// Bounds on all processes of a command together. They are looked at now and then: a short peak may pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Most {
    /// Resident memory, in bytes.
    pub memory_bytes: Option<u64>,
    pub processes: Option<u64>,
}

/// The most that was seen in use at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Peak {
    pub memory_bytes: u64,
    pub processes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    TimedOut,
    Cancelled,
    /// More than `max_output` on standard output.
    Overflowed,
    /// More memory than `most` allows.
    TooMuchMemory,
    /// More processes than `most` allows.
    TooManyProcesses,
}

#[derive(Clone, Debug)]
pub struct Finished {
    pub exit: Exit,
    pub stdout: Vec<u8>,
    /// The end of standard error.
    pub stderr: Vec<u8>,
    pub peak: Peak,
    /// What is to be said beside its error if it failed in a sandbox, from what it said on standard error.
    pub beside: Option<ErrorNote>,
}

/// A command at work whose output is read as it comes. Dropped, it ends the command and all it started.
pub struct Talk {
    /// What the command reads. Shut down, the command's input has ended; the command goes on. None if
    /// `Command::stdin` was to be all it gets.
    pub input: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    /// Its standard output, to be read steadily: a command that nobody listens to waits. It ends with the
    /// command, or when the command was stopped.
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// How it ended, with no `stdout`. Goes on by itself, whether it is polled or not.
    pub end: BoxFuture<'static, Result<Finished, LaunchError>>,
}

impl fmt::Debug for Talk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Talk")
    }
}

/// Where what a talking command reads comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StdinSource {
    /// `Command::stdin`, then nothing.
    Given,
    /// `Command::stdin`, then whatever is written to `Talk::input`.
    Open,
}

/// Why a command did not even start.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("there is no command `{program}`: install it, or correct `command` in gadfly.toml")]
    NotFound { program: String },
    #[error("`{program}` may not be executed: {reason}")]
    NotExecutable { program: String, reason: String },
    #[error("`{program}` could not be started: {reason}")]
    Failed { program: String, reason: String },
}

/// Starts commands, with their whole tree of descendants under control.
pub trait Launcher: Send + Sync {
    fn launch(
        &self,
        command: Command,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Finished, LaunchError>>;

    /// Starts a command and talks with it while it works. Its time, its output limit and `cancel` hold as for
    /// [`Self::launch`]; output beyond the limit ends it.
    fn talk(
        &self,
        command: Command,
        _input: StdinSource,
        _cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Talk, LaunchError>> {
        let reason = "this launcher only runs commands to their end".to_owned();
        Box::pin(async move { Err(LaunchError::Failed { program: command.program, reason }) })
    }

    /// The same launcher, whose commands hold this file's lock until all they started is gone. None if it
    /// can hold none.
    fn holding(&self, _lock: &Path) -> Option<Arc<dyn Launcher>> {
        None
    }
}
