//! Finding and killing processes by what `/proc` says about them. Linux; elsewhere nothing is found.
//!
//! The supervisor sweeps what is below it, and may ask what that uses; the launcher clears up after a
//! supervisor that was itself killed or stopped. The id of a child of ours cannot be reused before it was
//! reaped; deeper ones are known from a listing that is a moment old, which is far too short for an id to
//! come round again.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::fs::{Dir, Mode, OFlags, open, openat};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpgrp, getpid, kill_process, kill_process_group,
    waitid, waitpid,
};

/// However many keep coming, a sweep does not go on longer.
const LONGEST_SWEEP: Duration = Duration::from_secs(20);
const ENOUGH_LOOKS: u32 = 10;
/// A chain of processes that fork and exit could be reaped for ever; killing it comes before more of it ends.
const REAPED_AT_ONCE: u32 = 64;
/// The fields that count stand at the beginning of `/proc/*/stat`, behind a name of at most 64 bytes.
const STAT_READ: usize = 512;
const STATUS_READ: u64 = 64 << 10;

/// One line of `/proc/*/stat`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ProcessStat {
    pid: i32,
    zombie: bool,
    parent: i32,
    group: i32,
    session: i32,
}

/// Kills everything below this process and reaps what became its child, again and again, because the orphans
/// of a killed process become children of a subreaper. Gives up when nothing has changed for this long, or
/// [`LONGEST_SWEEP`] in all, and returns how many are left.
pub fn sweep(patience: Duration) -> usize {
    let (me, my_group) = (getpid().as_raw_pid(), getpgrp().as_raw_pid());
    let began = Instant::now();
    let (mut changed, mut looks, mut before) = (began, 0, HashSet::new());
    let mut pause = Duration::from_millis(1);
    loop {
        // Asking the kernel costs one call; a listing of every process of the machine costs hundreds.
        if childless() {
            return 0;
        }
        let listing = all();
        let mut below = descendants(&listing, me);
        if below.is_empty() {
            return 0;
        }
        for process in listing.iter().filter(|process| below.contains(&process.pid)).collect::<Vec<_>>() {
            if process.zombie {
                if process.parent == me && reap(process.pid) {
                    below.remove(&process.pid);
                }
                continue;
            }
            // A whole group dies at once: a chain of processes that fork and exit cannot outrun it. Every
            // group below us was made in our session or in a descendant's, so no stranger is in it.
            if process.group != my_group {
                kill_group(process.group, Signal::KILL);
            }
            kill(process.pid);
        }
        looks += 1;
        if below != before {
            (changed, looks) = (Instant::now(), 0);
        }
        // On a busy machine much time passes between two looks, and the killed have had none to end.
        let stuck = looks >= ENOUGH_LOOKS && changed.elapsed() >= patience && !below.is_empty();
        if stuck || began.elapsed() >= LONGEST_SWEEP {
            return below.len();
        }
        before = below;
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Reaps children that ended. True if none is left: then nothing at all is below us, because the kernel hands
/// every process that loses its parent to the next subreaper above in the same moment.
fn childless() -> bool {
    for _ in 0..REAPED_AT_ONCE {
        match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return false,
            Err(error) => return error == Errno::CHILD,
        }
    }
    false
}

/// Reaps orphans that ended, except `child`, whose status somebody still wants. Cheap when there are none.
pub fn reap_orphans(child: i32) {
    let ended = waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT);
    if !matches!(ended, Ok(Some(_))) {
        return;
    }
    let me = getpid().as_raw_pid();
    for orphan in all().into_iter().filter(|p| p.zombie && p.parent == me && p.pid != child) {
        reap(orphan.pid);
    }
}

/// Kills everything that a supervisor left behind: its descendants while it can still be followed, and the
/// members of its session. Used only after a supervisor was killed or did not answer.
pub fn kill_left_by(supervisor: i32) {
    for _ in 0..20 {
        let left = descendants_or_session(&all(), supervisor);
        if left.is_empty() {
            return;
        }
        for pid in left {
            kill(pid);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn descendants_or_session(processes: &[ProcessStat], root: i32) -> Vec<i32> {
    let mut found = descendants(processes, root);
    found.extend(processes.iter().filter(|p| p.session == root && p.pid != root).map(|p| p.pid));
    let mut left: Vec<i32> =
        processes.iter().filter(|p| !p.zombie && found.contains(&p.pid)).map(|p| p.pid).collect();
    left.sort_unstable();
    left
}

fn descendants(processes: &[ProcessStat], root: i32) -> HashSet<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(process.pid);
    }
    let mut found = HashSet::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        // Listings taken while processes come and go could, in theory, hold a circle.
        parents.extend(children.remove(&parent).into_iter().flatten().filter(|pid| found.insert(*pid)));
    }
    found
}

/// The processes as this one sees them now, whatever is mounted there later.
static PROC: OnceLock<Option<OwnedFd>> = OnceLock::new();

/// Remembers where processes are listed. A command with a process table of its own has another list in that place.
pub fn keep_proc() {
    proc();
}

fn proc() -> Option<&'static OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    PROC.get_or_init(|| open("/proc", flags, Mode::empty()).ok()).as_ref()
}

/// What is told of a process.
fn told(pid: i32, what: &str) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    openat(proc()?, format!("{pid}/{what}"), flags, Mode::empty()).ok().map(File::from)
}

/// What everything below this process uses now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ResourceUse {
    pub memory_bytes: u64,
    pub processes: u64,
}

pub fn use_below(except: Option<i32>) -> ResourceUse {
    let mut below = descendants(&all(), getpid().as_raw_pid());
    below.retain(|pid| Some(*pid) != except);
    let memory_bytes = below.iter().map(|pid| resident(*pid)).fold(0, u64::saturating_add);
    ResourceUse { memory_bytes, processes: below.len() as u64 }
}

/// In `status` rather than in `statm`, because it is in a unit there and not in pages of unknown size.
fn resident(pid: i32) -> u64 {
    let mut status = Vec::new();
    let read = told(pid, "status").and_then(|file| file.take(STATUS_READ).read_to_end(&mut status).ok());
    read.and_then(|_| parse_resident(&status)).unwrap_or(0)
}

/// The name on the first line is chosen by the process; it cannot hold a line's end, the kernel escapes it.
fn parse_resident(status: &[u8]) -> Option<u64> {
    let line = status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"VmRSS:"))?;
    let kib = std::str::from_utf8(line).ok()?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    kib.checked_mul(1024)
}

/// Signals a group; a group that is already gone is what was wanted.
pub fn kill_group(group: i32, signal: Signal) {
    if let Some(group) = Pid::from_raw(group).filter(|pid| !pid.is_init()) {
        let _ = kill_process_group(group, signal);
    }
}

fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid).filter(|pid| !pid.is_init()) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn reap(pid: i32) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(Some(_))))
}

#[cfg(target_os = "linux")]
fn all() -> Vec<ProcessStat> {
    let Some(entries) = proc().and_then(|proc| Dir::read_from(proc).ok()) else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str().ok()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        let mut stat = [0_u8; STAT_READ];
        let read = told(pid, "stat")?.read(&mut stat).ok()?;
        parse(stat.get(..read)?)
    })
    .collect()
}

#[cfg(not(target_os = "linux"))]
fn all() -> Vec<ProcessStat> {
    Vec::new()
}

/// The name in parentheses is chosen by the process and may hold anything, parentheses included, so the
/// fields are counted from the last one.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn parse(stat: &[u8]) -> Option<ProcessStat> {
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(stat.get(..open)?).ok()?.trim().parse().ok()?;
    let mut fields = std::str::from_utf8(stat.get(close + 1..)?).ok()?.split_ascii_whitespace();
    let zombie = matches!(fields.next()?, "Z" | "X");
    let mut number = || fields.next()?.parse().ok();
    Some(ProcessStat { pid, zombie, parent: number()?, group: number()?, session: number()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_cannot_hide_behind_its_name() {
        let parsed = parse(b"42 (a) S 1 1 1) Z 7 8 9 0 -1").unwrap();
        assert_eq!(parsed, ProcessStat { pid: 42, zombie: true, parent: 7, group: 8, session: 9 });
        assert_eq!(parse(b"42 (\xff\xfe) R 7 8 9").unwrap().parent, 7);
        for broken in [&b""[..], b"42", b"42 (x", b") (", b"42 (x) S 1", b"x (x) S 1 2 3"] {
            assert_eq!(parse(broken), None);
        }
    }

    #[test]
    fn descendants_are_followed_across_sessions_and_strangers_are_spared() {
        let process = |pid, parent, session| ProcessStat { pid, zombie: false, parent, group: pid, session };
        let processes = [
            process(10, 1, 10),
            process(11, 10, 10),
            process(12, 11, 12),
            process(13, 1, 10),
            process(14, 1, 14),
            ProcessStat { zombie: true, ..process(15, 10, 10) },
        ];
        assert_eq!(descendants_or_session(&processes, 10), [11, 12, 13]);
    }

    #[test]
    fn resident_memory_is_read_in_bytes_and_a_name_cannot_pose_as_it() {
        let status = b"Name:\tx\\nVmRSS: 9 kB\nVmHWM:\t 999 kB\nVmRSS:\t    1234 kB\nThreads:\t1\n";
        assert_eq!(parse_resident(status), Some(1234 * 1024));
        for broken in [&b""[..], b"Name:\tkthread\n", b"VmRSS:\t kB", b"VmRSS:\t-1 kB", b"VmRSS:\t1 MB"] {
            assert_eq!(parse_resident(broken), None);
        }
    }

    #[test]
    fn a_circle_in_a_listing_ends() {
        let process = |pid, parent| ProcessStat { pid, zombie: false, parent, group: pid, session: 1 };
        let mut found: Vec<i32> =
            descendants(&[process(2, 1), process(3, 2), process(1, 3)], 1).into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, [1, 2, 3]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_among_all() {
        assert!(all().iter().any(|p| p.pid == getpid().as_raw_pid() && !p.zombie));
    }
}
