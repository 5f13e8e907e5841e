//! Resource limits: of this process, of the commands it starts, and how much memory is in use.
//!
//! Not the sandbox: a limit bounds how much, not what.

use std::io;
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// The soft limit this process was started with, before it was raised.
static STARTED_WITH: OnceLock<Option<u64>> = OnceLock::new();

/// Raises the soft limit of open files to the hard limit and returns the limit now in force
/// (`u64::MAX` for none). Commands still get the limit this process was started with.
pub fn raise_open_files() -> io::Result<u64> {
    let now = getrlimit(Resource::Nofile);
    STARTED_WITH.get_or_init(|| now.current);
    if now.current != now.maximum {
        setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum })?;
    }
    Ok(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX))
}

/// Keeps what is in this process's memory and environment, keys among it, from core dumps and from the
/// commands it starts, which could otherwise read them through `/proc`. Does nothing where there is no such
/// switch. The supervisor and its commands are not affected: the next program begins anew.
pub fn keep_memory_private() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Bounds on a command and everything it starts. No core dumps, always; the rest on request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ChildLimits {
    pub open_files: Option<u64>,
    pub file_bytes: Option<u64>,
    pub memory_bytes: Option<u64>,
    pub cpu_seconds: Option<u64>,
}

impl ChildLimits {
    /// Gives the command the open-file limit this process was started with, unless one is named:
    /// old programs fail in strange ways under a limit raised for us.
    pub(super) fn with_started_open_files(mut self) -> Self {
        self.open_files = self.open_files.or_else(|| STARTED_WITH.get().copied().flatten());
        self
    }

    /// Applies the limits to this process and so to everything it starts afterwards.
    pub(super) fn apply(&self) -> io::Result<()> {
        lower(Resource::Core, Some(0))?;
        lower(Resource::Nofile, self.open_files)?;
        lower(Resource::Fsize, self.file_bytes)?;
        lower(Resource::Cpu, self.cpu_seconds)?;
        #[cfg(target_os = "linux")]
        lower(Resource::As, self.memory_bytes)?;
        Ok(())
    }
}

fn lower(resource: Resource, to: Option<u64>) -> io::Result<()> {
    let Some(to) = to else { return Ok(()) };
    let maximum = getrlimit(resource).maximum;
    let current = Some(maximum.map_or(to, |hard| hard.min(to)));
    // Open files keep their hard limit, as a login shell has it; the others are meant to bind.
    let maximum = if resource == Resource::Nofile { maximum } else { current };
    Ok(setrlimit(resource, Rlimit { current, maximum })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_of_open_files_reaches_the_hard_one() {
        let raised = raise_open_files().unwrap();
        assert_eq!(raised, getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX));
        assert_eq!(raise_open_files().unwrap(), raised);
    }
}
