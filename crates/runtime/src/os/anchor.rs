//! The first process of a process table of its own: when it ends, by whatever, the kernel ends everything in that table,
//! whatever sessions it made and however often it forked. It ends when the pipe from its supervisor closes; so nothing
//! survives a supervisor that is killed, together with Gadfly or not, and nothing survives the anchor.
//!
//! It shows those inside the table they live in, at `/proc`, and waits for orphans. The command itself is the
//! supervisor's child, which hears how it ended. Linux only, and only where the kernel lets us: that is tried once.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::stdin::ended;
use super::wire::ARGUMENT;

/// The hidden second argument that makes a supervisor's child its anchor.
pub(super) const ANCHOR: &str = "__anchor";
const READY: &str = "ready";
/// How long an orphan that ended may wait to be reaped.
const REAP_EVERY: Duration = Duration::from_millis(900);
const LONGEST_REASON: u64 = 400;

/// Held for as long as the table is to last.
pub(super) struct Anchor {
    child: Child,
}

impl Anchor {
    /// Gives what this thread starts from now on a process table of its own, and its first process. The thread must have
    /// a mount table of its own. The error says what the system did not allow.
    pub fn drop_here() -> Result<Self, String> {
        imp::new_table()?;
        let lent = imp::lend_mounting()?;
        let mut anchor = Command::new("/proc/self/exe");
        anchor.args([ARGUMENT, ANCHOR]).env_clear();
        anchor.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let started = anchor.spawn();
        drop(lent);
        let mut child = started.map_err(|error| format!("its first process: {error}"))?;
        let mut said = String::new();
        if let Some(out) = child.stderr.take() {
            let _ = BufReader::new(out.take(LONGEST_REASON)).read_line(&mut said);
        }
        match said.trim() {
            READY => Ok(Self { child }),
            why => Err(if why.is_empty() { "its first process ended".to_owned() } else { why.to_owned() }),
        }
    }

    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap_or_default()
    }
}

/// What the anchor does until its supervisor is gone. It tells that supervisor, once, whether it stands.
pub(super) fn hold(mut tell: impl io::Write) -> i32 {
    let said = imp::show_table();
    let line = said.as_ref().map_or_else(String::as_str, |()| READY);
    if tell.write_all(format!("{line}\n").as_bytes()).is_err() || said.is_err() {
        return 1;
    }
    let stdin = io::stdin();
    while !ended(&stdin, REAP_EVERY) {
        imp::reap();
    }
    0
}

#[cfg(not(target_os = "linux"))]
mod imp {
    const NONE: &str = "only Linux has process tables of their own";

    pub fn new_table() -> Result<(), String> {
        Err(NONE.to_owned())
    }

    pub fn lend_mounting() -> Result<(), String> {
        Err(NONE.to_owned())
    }

    pub fn show_table() -> Result<(), String> {
        Err(NONE.to_owned())
    }

    pub fn reap() {}
}

#[cfg(target_os = "linux")]
mod imp {
    use std::{fs, io};

    use rustix::io::Errno;
    use rustix::mount::{MountFlags, mount};
    use rustix::process::{WaitId, WaitIdOptions, geteuid, waitid};
    use rustix::thread::{
        CapabilitySet, CapabilitySets, UnshareFlags, capabilities, clear_ambient_capability_set,
        configure_capability_in_ambient_set, set_capabilities,
    };

    use crate::os::apart::unshare;

    /// Below it are numbers of what runs for as long as a machine.
    const LOWEST: u32 = 1_000;

    pub fn new_table() -> Result<(), String> {
        unshare(UnshareFlags::NEWPID).map_err(|error| format!("a process table of its own: {error}"))
    }

    /// The right to mount goes to the program that is started next, and to no other.
    pub struct Lent(Option<CapabilitySets>);

    impl Drop for Lent {
        fn drop(&mut self) {
            if let Some(before) = self.0.take() {
                let _ = clear_ambient_capability_set();
                let _ = set_capabilities(None, before);
            }
        }
    }

    /// Root has the right anyway.
    pub fn lend_mounting() -> Result<Lent, String> {
        if geteuid().is_root() {
            return Ok(Lent(None));
        }
        let doing = |error: Errno| format!("the right to mount its process table: {error}");
        let before = capabilities(None).map_err(doing)?;
        let lent = Lent(Some(before));
        let inheritable = before.inheritable | CapabilitySet::SYS_ADMIN;
        set_capabilities(None, CapabilitySets { inheritable, ..before }).map_err(doing)?;
        configure_capability_in_ambient_set(CapabilitySet::SYS_ADMIN, true).map_err(doing)?;
        Ok(lent)
    }

    /// Mounts the table we are in, and gives up the right to.
    pub fn show_table() -> Result<(), String> {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount("proc", "/proc", "proc", flags, None)
            .map_err(|error| format!("a /proc of its own: {error}"))?;
        begin_anywhere().map_err(|error| format!("numbers for its processes: {error}"))?;
        let none = CapabilitySet::empty();
        let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
        set_capabilities(None, sets).map_err(|error| format!("giving up its rights: {error}"))
    }

    /// Programs name files by their numbers and take each other for dead or alive by them. Counted from 1, all tables
    /// would have the same ones.
    fn begin_anywhere() -> io::Result<()> {
        let most = fs::read_to_string("/proc/sys/kernel/pid_max")?;
        let most = most.trim().parse::<u32>().map_err(io::Error::other)?;
        let mut random = [0_u8; 4];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let first = LOWEST + u32::from_le_bytes(random) % most.saturating_sub(2 * LOWEST).max(1);
        fs::write("/proc/sys/kernel/ns_last_pid", first.to_string())
    }

    pub fn reap() {
        while let Ok(Some(_)) = waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {}
    }
}
