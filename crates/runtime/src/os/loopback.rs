//! A network with nothing but a loopback, which the commands of one run share: a server that one of them starts is
//! reached by the others, by who verifies the run, and by nobody else on this machine.
//!
//! A process makes it, and stays for as long as it is to last: by that process it is found, which everybody of this user may
//! look at; this process itself lets nobody look at what it holds. The maker ends when this process does. Linux only.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use gadfly_agents::launcher::SharedNetwork;
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
    /// Its standard input is open for as long as it is wanted.
    maker: Child,
}

impl Loopback {
    /// The error says what the system did not allow.
    pub fn new() -> Result<Self, String> {
        let supervisor = apart::supervisor().ok_or("no supervisor was named that could make it")?;
        let mut process = Command::new(supervisor);
        process.args([ARGUMENT, LOOPBACK]).env_clear();
        process.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut made = Self { maker: process.spawn().map_err(|error| error.to_string())? };
        let mut said = String::new();
        if let Some(out) = made.maker.stderr.take() {
            let _ = BufReader::new(out.take(LONGEST_REASON)).read_line(&mut said);
        }
        if said.trim() != READY {
            return Err(said.trim().to_owned());
        }
        let SharedNetwork { user, net } = made.place();
        for path in user.iter().chain([&net]) {
            File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(made)
    }

    /// Where a supervisor finds it; none if somebody ended what made it.
    pub fn shared(&self) -> Option<SharedNetwork> {
        let place = self.place();
        place.net.exists().then_some(place)
    }

    /// Root's belongs to no other user.
    fn place(&self) -> SharedNetwork {
        let path = |name: &str| PathBuf::from(format!("/proc/{}/ns/{name}", self.maker.id()));
        SharedNetwork { user: (!geteuid().is_root()).then(|| path("user")), net: path("net") }
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        drop(self.maker.stdin.take());
        let _ = self.maker.kill();
        let _ = self.maker.wait();
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
