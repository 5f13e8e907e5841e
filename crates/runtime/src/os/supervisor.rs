//! The supervisor: this program, re-executed, holding one command and everything that command starts.
//!
//! It locks the workspace, lowers its own limits, becomes the parent of every orphan below it, starts the
//! command in a group of its own and waits for the first of three things: the command ends, it uses more than
//! it may, or the pipe from the launcher closes because the launcher wants an end or is dead. Whichever comes,
//! nothing below it survives. It knows nothing of time-outs or output: that is the launcher's part.

mod starting;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use gadfly_agents::launcher::Network;
use gadfly_agents::local_get::{GET, get};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, getsid, waitid};

use super::above::hide;
use super::anchor::{self, ANCHOR, Anchor};
use super::apart::{ALONE_TRIAL, Rooms, TRIAL, separate};
use super::loopback::{self, LOOPBACK};
use super::processes::{keep_proc, kill_group, reap_orphans, sweep};
use super::sampling::Gauge;
use super::stdin::{Carrier, ended};
use super::wire::{self, ARGUMENT, CallEnding, ExitReport, Spec, StartRefusal, VERSION};
use starting::Started;

/// Between asking the command's group to end and killing it.
const GRACE: Duration = Duration::from_millis(300);
/// How long nothing may change below us after the killing. Only what is stuck in the kernel, or not ours to
/// kill, needs it.
const KILLING: Duration = Duration::from_secs(2);
const REAP_EVERY: Duration = Duration::from_secs(2);
const LOCK_EVERY: Duration = Duration::from_millis(25);
/// What the system says goes into the report up to this length, so that the report stays short.
const MAX_DETAIL: usize = 400;

static OFFERED: OnceLock<()> = OnceLock::new();

/// Call this first in `main`, before any thread exists. If this process was started as a supervisor it does
/// that work and exits; otherwise it returns at once, and this program can be used as its own supervisor.
pub fn supervise() {
    OFFERED.get_or_init(|| ());
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == ARGUMENT) {
        match (args.next(), args.next()) {
            (None, _) => std::process::exit(serve()),
            (Some(second), None) if second == TRIAL => std::process::exit(try_apart(false)),
            (Some(second), None) if second == ALONE_TRIAL => std::process::exit(try_apart(true)),
            (Some(second), None) if second == LOOPBACK => std::process::exit(loopback::make(io::stderr())),
            (Some(second), Some(url)) if second == GET => {
                std::process::exit(get(&url.to_string_lossy(), io::stdout(), io::stderr()))
            }
            (Some(second), None) if second == ANCHOR => std::process::exit(anchor::hold(io::stderr())),
            _ => {}
        }
    }
}

/// True if `main` of this program called [`supervise`].
pub(super) fn offered() -> bool {
    OFFERED.get().is_some()
}

/// This program, if it can be started as one of our own helpers.
pub fn own_program() -> Option<std::path::PathBuf> {
    if offered() { std::env::current_exe().ok() } else { None }
}

/// Says whether this process can be taken into rooms of its own, and what it starts into a process table.
fn try_apart(alone: bool) -> i32 {
    let here = std::env::current_dir().unwrap_or_default();
    let tried = separate(&Rooms { network: true, memory: true, joins: None }).and_then(|()| {
        hide(&here, None, std::slice::from_ref(&here)) // as every call has it
    });
    match tried.and_then(|()| if alone { Anchor::drop_here().map(drop) } else { Ok(()) }) {
        Ok(()) => 0,
        Err(why) => {
            let _ = io::stderr().write_all(why.as_bytes());
            1
        }
    }
}

fn serve() -> i32 {
    // Unbuffered on purpose: the pipe is polled for its end, and a buffer would hide bytes from the poll.
    let Ok(mut control) = io::stdin().as_fd().try_clone_to_owned().map(File::from) else { return 2 };
    let Ok((spec, brief)) = wire::decode(&mut control) else {
        // Nobody holds a token yet, so this reaches only a person who typed the command, or a log.
        let _ = io::stderr().write_all(b"gadfly: this is the internal supervisor; start it through gadfly\n");
        return 2;
    };
    let refused = |report| CallEnding { report, memory_bytes: 0, processes: 0 };
    let ending = hold(&spec, brief, control).unwrap_or_else(refused);
    // If the launcher is gone nobody reads this; everything below is dead all the same.
    let _ = io::stderr().write_all(&wire::trailer(&spec.token, &ending));
    0
}

fn hold(spec: &Spec, brief: Vec<u8>, control: File) -> Result<CallEnding, ExitReport> {
    if spec.version != VERSION {
        let detail = format!("this supervisor speaks version {VERSION}, the launcher {}", spec.version);
        return Err(ExitReport::Refused { why: StartRefusal::System, detail });
    }
    // Out of the terminal's reach: Ctrl-C is the launcher's to act on, and the command cannot prompt or type
    // there. It also keeps every process group below us free of strangers. Fails only for a group leader,
    // which a shell's job is; then there is no launcher to protect.
    let alone = rustix::process::setsid().is_ok();
    if !alone && spec.sandbox.is_some() && getsid(None) != Ok(getpid()) {
        return Err(no_sandbox("it has no session of its own, and so the terminal of who started it"));
    }
    let _lock = spec.lock.as_ref().map(|path| take_lock(&path.to_path(), &control)).transpose()?;
    spec.limits.apply().map_err(|error| system("setting resource limits", &error))?;
    if spec.subreaper {
        become_subreaper().map_err(|error| system("becoming the parent of orphans", &error))?;
    }
    if ended(&control, Duration::ZERO) {
        return Err(abandoned());
    }
    let found = starting::find_program(spec);
    // While there is one thread: the kernel takes no other process there.
    if let Some(confines) = spec.sandbox.as_ref().filter(|confines| confines.apart) {
        let (network, joins) = (confines.network == Network::None, confines.shares.clone());
        let rooms = Rooms { network, memory: !confines.own, joins };
        separate(&rooms).map_err(|why| no_sandbox(&why))?;
        if !confines.own {
            let home = spec.env.iter().find(|(name, _)| name == "HOME").map(|(_, home)| Path::new(home));
            hide(&spec.cwd.to_path(), home, &confines.paths()).map_err(|why| no_sandbox(&why))?;
        }
    }
    keep_proc();
    let reads = !brief.is_empty() || spec.more;
    let Started { child, stdin, anchor } = starting::start(spec, found.as_deref(), reads)?;
    let carrier = Carrier::new(control, stdin, brief, spec.more)
        .map_err(|error| give_up(child, "preparing its stdin", &error))?;
    let mut gauge = Gauge::new(spec, anchor.as_ref().map(Anchor::pid));
    let report = attend(child, carrier, &mut gauge);
    Ok(CallEnding { report, memory_bytes: gauge.memory_bytes, processes: gauge.processes })
}

/// Shared: several commands may work in one workspace; who waits for all of them to end locks exclusively.
fn take_lock(path: &Path, control: &File) -> Result<File, ExitReport> {
    let unusable = |error: io::Error| ExitReport::Refused {
        why: StartRefusal::LockUnusable,
        detail: shortened(&format!("{}: {error}", path.display())),
    };
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(unusable)?;
    loop {
        match file.try_lock_shared() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if ended(control, LOCK_EVERY) => return Err(abandoned()),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
    }
}

#[cfg(target_os = "linux")]
fn become_subreaper() -> io::Result<()> {
    // Any process id switches it on; the kernel reads it as a flag.
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

#[cfg(not(target_os = "linux"))]
fn become_subreaper() -> io::Result<()> {
    Ok(())
}

enum SupervisorEvent {
    /// The command ended. It is not reaped yet, so its id, which is also its group's, cannot be reused.
    Ended(ExitReport),
    PipeClosed,
}

fn attend(child: Pid, carrier: Carrier, gauge: &mut Gauge) -> ExitReport {
    let (tell, events) = mpsc::channel();
    let told = tell.clone();
    let carrying = thread::Builder::new().spawn(move || {
        carrier.carry();
        let _ = told.send(SupervisorEvent::PipeClosed);
    });
    let waiting = thread::Builder::new().spawn(move || wait_for(child, &tell));
    if let Err(error) = carrying.and(waiting) {
        return give_up(child, "starting the threads that watch the command", &error);
    }
    let group = child.as_raw_pid();
    let mut report = None;
    while report.is_none() {
        match events.recv_timeout(gauge.pause(REAP_EVERY)) {
            Ok(SupervisorEvent::Ended(ended)) => report = Some(ended),
            Ok(SupervisorEvent::PipeClosed) | Err(RecvTimeoutError::Disconnected) => {
                kill_group(group, Signal::TERM);
                report = events.recv_timeout(GRACE).ok().and_then(ended_report);
                kill_group(group, Signal::KILL);
                report = report.or_else(|| events.recv_timeout(KILLING).ok().and_then(ended_report));
                break;
            }
            Err(RecvTimeoutError::Timeout) => {
                reap_orphans(group);
                report = gauge.look();
            }
        }
    }
    kill_group(group, Signal::KILL);
    let left = sweep(KILLING);
    match report {
        _ if left > 0 => ExitReport::Lost(format!("{left} processes did not end when killed")),
        Some(report) => report,
        // Its status came too late to be heard; nobody wants it from a command that was to be ended.
        None => ExitReport::Signalled(Signal::KILL.as_raw()),
    }
}

fn ended_report(event: SupervisorEvent) -> Option<ExitReport> {
    match event {
        SupervisorEvent::Ended(report) => Some(report),
        SupervisorEvent::PipeClosed => None,
    }
}

fn wait_for(child: Pid, tell: &Sender<SupervisorEvent>) {
    let report = loop {
        match waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(Some(status)) => {
                let exited = status.exit_status().map(ExitReport::Exited);
                let signalled = status.terminating_signal().map(ExitReport::Signalled);
                break exited.or(signalled).unwrap_or_else(|| ExitReport::Lost("no status".to_owned()));
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => break ExitReport::Lost(format!("its status could not be read: {error}")),
        }
    };
    let _ = tell.send(SupervisorEvent::Ended(report));
}

/// The command runs and we cannot attend to it: end it again.
fn give_up(child: Pid, doing: &str, error: &io::Error) -> ExitReport {
    kill_group(child.as_raw_pid(), Signal::KILL);
    sweep(KILLING);
    system(doing, error)
}

fn no_sandbox(why: &str) -> ExitReport {
    ExitReport::Refused { why: StartRefusal::NoSandbox, detail: shortened(why) }
}

fn system(doing: &str, error: &io::Error) -> ExitReport {
    ExitReport::Refused { why: StartRefusal::System, detail: shortened(&format!("{doing}: {error}")) }
}

const fn abandoned() -> ExitReport {
    ExitReport::Refused { why: StartRefusal::Abandoned, detail: String::new() }
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_DETAIL).collect()
}
