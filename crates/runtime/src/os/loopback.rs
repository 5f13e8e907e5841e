//! A network with nothing but a loopback, which the commands of one run share: a server that one of them starts is
//! reached by the others, by who verifies the run, and by nobody else on this machine.
//!
//! A process makes it and goes; what keeps it is that this process holds it open. When this process ends, and the last
//! command in it, it is gone. Linux only.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gadfly_agents::launcher::Shared;
use rustix::process::geteuid;

use super::apart::{self, Rooms, separate};
use super::wire::ARGUMENT;

/// The hidden second argument that makes a supervisor's process make such a network.
pub(super) const LOOPBACK: &str = "__loopback";
const READY: &str = "ready";
const LONGEST_REASON: u64 = 400;

/// Held for as long as the network is to last.
#[derive(Debug)]
pub struct Loopback {
    /// Whose it is; root's is the machine's.
    user: Option<File>,
    net: File,
}

impl Loopback {
    /// The error says what the system did not allow.
    pub fn new() -> Result<Self, String> {
        let supervisor = apart::supervisor().ok_or("no supervisor was named that could make it")?;
        let mut process = Command::new(supervisor);
        process.args([ARGUMENT, LOOPBACK]).env_clear();
        process.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut maker = process.spawn().map_err(|error| error.to_string())?;
        let mut said = String::new();
        if let Some(out) = maker.stderr.take() {
            let _ = BufReader::new(out.take(LONGEST_REASON)).read_line(&mut said);
        }
        let open = |name: &str| {
            let path = Path::new("/proc").join(maker.id().to_string()).join("ns").join(name);
            File::open(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let made = match said.trim() {
            READY if geteuid().is_root() => open("net").map(|net| Self { user: None, net }),
            READY => open("user").and_then(|user| Ok(Self { user: Some(user), net: open("net")? })),
            why => Err(why.to_owned()),
        };
        drop(maker.stdin.take());
        let _ = maker.wait();
        made
    }

    /// Where a supervisor finds it.
    pub fn shared(&self) -> Shared {
        let path =
            |file: &File| PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()));
        Shared { user: self.user.as_ref().map(path), net: path(&self.net) }
    }
}

/// What the process does that makes one: it waits until somebody holds it.
pub(super) fn make(mut tell: impl io::Write) -> i32 {
    let made = separate(&Rooms { network: true, memory: false, joins: None });
    let line = made.as_ref().map_or_else(String::as_str, |()| READY);
    if tell.write_all(format!("{line}\n").as_bytes()).is_err() || made.is_err() {
        return 1;
    }
    let _ = io::stdin().read_to_end(&mut Vec::new());
    0
}
