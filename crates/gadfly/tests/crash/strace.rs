//! A command whose system calls are watched, made to fail, or met with a signal.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// How long a command may take that has nobody to wait for.
const LONGEST_S: &str = "60";
/// What threads wake each other with.
const WAKE_UP: &str = "<anon_inode:[eventfd]>";

/// Whether there is one here; says so if not.
pub fn is_there() -> bool {
    let there = Command::new("strace").arg("-V").output().is_ok_and(|done| done.status.success());
    if !there {
        say!("SKIPPED: strace is not installed, so no system call was interfered with");
    }
    there
}

pub struct Traced {
    pub output: Output,
    /// A line for each call that was watched, with the process it was made by and the files it was about.
    log: String,
}

impl Traced {
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// Whether it was killed: by a fault, or since it did not end.
    pub fn was_killed(&self) -> bool {
        self.output.status.signal() == Some(9) || self.output.status.code() == Some(137)
    }

    /// The calls that were made to fail.
    pub fn met(&self) -> impl Iterator<Item = &str> {
        self.log.lines().filter(|line| line.contains("(INJECTED)"))
    }

    /// Which calls about files there were, by name and by how many of that name their thread had made: what `when=`
    /// counts. Two threads may have the same; left out is what is also the number of a wake-up, which never fails.
    pub fn operations(&self) -> BTreeMap<String, BTreeSet<usize>> {
        let (mut made, mut found) = (BTreeMap::<_, usize>::new(), BTreeMap::<_, BTreeSet<_>>::new());
        let mut woken = Vec::new();
        for line in self.log.lines() {
            let Some((thread, call)) = line.split_once(' ') else { continue };
            let Some((name, about)) = call.trim_start().split_once('(') else { continue };
            if !name.bytes().all(|b| b.is_ascii_alphanumeric()) {
                continue;
            }
            let nth = made.entry((thread, name)).or_default();
            *nth += 1;
            if is_about_a_file(about) {
                found.entry(name.to_owned()).or_default().insert(*nth);
            } else if about.contains(WAKE_UP) {
                woken.push((name, *nth));
            }
        }
        for (name, nth) in woken {
            found.get_mut(name).map(|nths| nths.remove(&nth));
        }
        found.retain(|_, nths| !nths.is_empty());
        found
    }
}

/// Pipes, sockets and what wakes a thread are no files, and no disk makes them fail. A call that was traced in two halves
/// names nothing in its second.
pub fn is_about_a_file(call: &str) -> bool {
    let about = call.rsplit_once(" = ").map_or(call, |(about, _)| about);
    about.contains('/') && !about.contains("</dev/")
}

/// Runs a command to its end. `calls` are watched, those about this path only if there is one; `faults` are added to
/// some of them, as `strace` writes them: `fsync:error=EIO:when=3`.
pub fn run(plain: &Command, calls: &[&str], faults: &[&str], path: Option<&Path>) -> Traced {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-y", "-s", "0", "-o"]).arg(log.path());
    // Faster, but then no signal is sent.
    if !faults.iter().any(|fault| fault.contains(":signal=")) {
        traced.arg("--seccomp-bpf");
    }
    if let Some(path) = path {
        traced.arg("-P").arg(path);
    }
    traced.arg("-e").arg(format!("trace={}", calls.join(",")));
    for fault in faults {
        traced.arg("-e").arg(format!("inject={fault}"));
    }
    traced.args(["--", "timeout", "-s", "KILL", LONGEST_S]).arg(plain.get_program()).args(plain.get_args());
    traced.current_dir(plain.get_current_dir().unwrap()).env_clear().env("PATH", "/usr/bin:/bin");
    traced.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = traced.stdin(Stdio::null()).output().unwrap();
    Traced { output, log: fs::read_to_string(log.path()).unwrap() }
}
