//! Starting the one command, in its sandbox if it has one, and saying why it could not be started.

use std::env::split_paths;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::{self, ScopedJoinHandle};

use rustix::fs::{Access, access};
use rustix::process::Pid;

use super::{no_sandbox, shortened, system};
use crate::os::anchor::Anchor;
use crate::os::sandbox::confine;
use crate::os::wire::{Confines, ExitReport, Spec, StartRefusal};

/// A command that runs.
pub struct Started {
    pub child: Pid,
    /// Our end of its stdin, if it is to be given anything.
    pub stdin: Option<ChildStdin>,
    /// The first process of its own process table, if it has one.
    pub anchor: Option<Anchor>,
}

/// The program of a command in a sandbox. It is sought outside: inside, one out of reach would give way to the next of
/// its name.
pub fn find_program(spec: &Spec) -> Option<PathBuf> {
    spec.sandbox.as_ref().and_then(|_| find(spec, Access::EXEC_OK))
}

/// Starts the command; `found` is what [`find_program`] found.
pub fn start(spec: &Spec, found: Option<&Path>, reads: bool) -> Result<Started, ExitReport> {
    let cwd = spec.cwd.to_path();
    if !cwd.is_dir() {
        return Err(ExitReport::Refused { why: StartRefusal::DirectoryMissing, detail: String::new() });
    }
    // Opened here, outside the sandbox: `/dev/null` may be out of its reach.
    let nothing = || File::open("/dev/null").map_err(|error| system("opening `/dev/null`", &error));
    let mut command = Command::new(found.unwrap_or_else(|| Path::new(&spec.program)));
    command.arg0(&spec.program).args(&spec.args).env_clear().envs(spec.env.iter().cloned());
    command.current_dir(&cwd).process_group(0);
    command.stdin(if reads { Stdio::piped() } else { nothing()?.into() });
    let spawned = match &spec.sandbox {
        None => (command.spawn(), None),
        Some(confines) => in_sandbox(command, confines, &cwd, spec)?,
    };
    let (child, anchor) = spawned;
    let mut child = child.map_err(|error| diagnose(spec, found, &error))?;
    Ok(Started { child: Pid::from_child(&child), stdin: child.stdin.take(), anchor })
}

/// On a thread of its own: the sandbox binds the thread that puts it up and whatever that thread starts, and
/// this process must stay free to end them. So does a process table: a thread that gives one to what it starts can
/// start no thread any more.
fn in_sandbox(
    mut command: Command,
    confines: &Confines,
    cwd: &Path,
    spec: &Spec,
) -> Result<(io::Result<Child>, Option<Anchor>), ExitReport> {
    let started = thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, || {
            // Before the sandbox: our own program may be out of its reach.
            let anchor = spec.alone.then(Anchor::drop_here).transpose().map_err(|why| no_sandbox(&why))?;
            confine(confines, cwd, spec.kernel).map_err(|why| no_sandbox(&why))?;
            Ok((command.spawn(), anchor))
        });
        thread.map(ScopedJoinHandle::join)
    });
    let lost =
        || ExitReport::Refused { why: StartRefusal::NoSandbox, detail: "its thread was lost".to_owned() };
    started.map_err(|error| system("starting the thread for the sandbox", &error))?.map_err(|_| lost())?
}

/// "No such file" and "permission denied" are said of different things; the person can mend each in another way.
fn diagnose(spec: &Spec, found: Option<&Path>, error: &io::Error) -> ExitReport {
    let why = match error.kind() {
        io::ErrorKind::NotFound if found.is_some_and(|file| !file.exists()) => StartRefusal::OutsideSandbox,
        io::ErrorKind::NotFound if find(spec, Access::EXISTS).is_some() => StartRefusal::InterpreterMissing,
        io::ErrorKind::NotFound => StartRefusal::ProgramMissing,
        io::ErrorKind::PermissionDenied
            if spec.sandbox.is_some() && find(spec, Access::EXEC_OK).is_some() =>
        {
            StartRefusal::OutsideSandbox
        }
        io::ErrorKind::PermissionDenied => StartRefusal::NotExecutable,
        _ => StartRefusal::System,
    };
    ExitReport::Refused { why, detail: shortened(&error.to_string()) }
}

/// Where the program is, relative to where it will be started.
fn find(spec: &Spec, how: Access) -> Option<PathBuf> {
    let cwd = spec.cwd.to_path();
    let path = spec.env.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value.as_str());
    let folders = if spec.program.contains('/') { vec![PathBuf::new()] } else { split_paths(path).collect() };
    let mut candidates = folders.into_iter().map(|folder| cwd.join(folder).join(&spec.program));
    candidates.find(|file| file.is_file() && access(file, how).is_ok())
}
