//! How an agent asks for a child process. The launcher itself lives in the runtime: agents never spawn.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

/// A command to run once.
#[derive(Clone, Debug)]
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
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    TimedOut,
    Cancelled,
    /// More than `max_output` on standard output.
    Overflowed,
}

#[derive(Clone, Debug)]
pub struct Finished {
    pub exit: Exit,
    pub stdout: Vec<u8>,
    /// The end of standard error.
    pub stderr: Vec<u8>,
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

    /// The same launcher, whose commands hold this file's lock until all they started is gone. None if it
    /// can hold none.
    fn holding(&self, _lock: &Path) -> Option<Arc<dyn Launcher>> {
        None
    }
}
