//! Finding and killing processes by what `/proc` says about them. Linux; elsewhere nothing is found.
//!
//! Two cases: the supervisor sweeps its own children (a pid cannot be reused before it has reaped it),
//! and the launcher clears up after a supervisor that was itself killed or stopped.

use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpgrp, getpid, kill_process, kill_process_group,
    waitid, waitpid,
};

/// One line of `/proc/*/stat`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Process {
    pid: i32,
    zombie: bool,
    parent: i32,
    group: i32,
    session: i32,
}

/// Kills and reaps every child of this process, again and again, because the orphans of a killed child
/// become children of a subreaper. Returns how many are left when the time is up.
pub fn sweep(within: Duration) -> usize {
    let (me, my_group) = (getpid().as_raw_pid(), getpgrp().as_raw_pid());
    let until = Instant::now() + within;
    let mut pause = Duration::from_millis(1);
    loop {
        let children: Vec<Process> = all().into_iter().filter(|process| process.parent == me).collect();
        for child in &children {
            if child.zombie {
                reap(child.pid);
                continue;
            }
            // A whole group dies at once: a chain of processes that fork and exit cannot outrun it. Every
            // group below us was made in our session or in a descendant's, so no stranger is in it.
            if child.group != my_group {
                kill_group(child.group, Signal::KILL);
            }
            kill(child.pid);
        }
        if children.is_empty() || Instant::now() >= until {
            return children.len();
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
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

fn descendants_or_session(processes: &[Process], root: i32) -> Vec<i32> {
    let mut found = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for child in processes.iter().filter(|p| p.parent == parent) {
            // Listings taken while processes come and go could, in theory, hold a circle.
            if !found.contains(&child.pid) {
                found.push(child.pid);
                parents.push(child.pid);
            }
        }
    }
    let session = processes.iter().filter(|p| p.session == root && p.pid != root).map(|p| p.pid);
    found.extend(session);
    found.retain(|pid| processes.iter().any(|p| p.pid == *pid && !p.zombie));
    found.sort_unstable();
    found.dedup();
    found
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

fn reap(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

#[cfg(target_os = "linux")]
fn all() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            entry.file_name().to_str()?.parse::<u32>().ok()?;
            parse(&std::fs::read(entry.path().join("stat")).ok()?)
        })
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn all() -> Vec<Process> {
    Vec::new()
}

/// The name in parentheses is chosen by the process and may hold anything, parentheses included, so the
/// fields are counted from the last one.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn parse(stat: &[u8]) -> Option<Process> {
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(stat.get(..open)?).ok()?.trim().parse().ok()?;
    let mut fields = std::str::from_utf8(stat.get(close + 1..)?).ok()?.split_ascii_whitespace();
    let zombie = matches!(fields.next()?, "Z" | "X");
    let mut number = || fields.next()?.parse().ok();
    Some(Process { pid, zombie, parent: number()?, group: number()?, session: number()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_cannot_hide_behind_its_name() {
        let parsed = parse(b"42 (a) S 1 1 1) Z 7 8 9 0 -1").unwrap();
        assert_eq!(parsed, Process { pid: 42, zombie: true, parent: 7, group: 8, session: 9 });
        assert_eq!(parse(b"42 (\xff\xfe) R 7 8 9").unwrap().parent, 7);
        for broken in [&b""[..], b"42", b"42 (x", b") (", b"42 (x) S 1", b"x (x) S 1 2 3"] {
            assert_eq!(parse(broken), None);
        }
    }

    #[test]
    fn descendants_are_followed_across_sessions_and_strangers_are_spared() {
        let process = |pid, parent, session| Process { pid, zombie: false, parent, group: pid, session };
        let processes = [
            process(10, 1, 10),
            process(11, 10, 10),
            process(12, 11, 12),
            process(13, 1, 10),
            process(14, 1, 14),
            Process { zombie: true, ..process(15, 10, 10) },
        ];
        assert_eq!(descendants_or_session(&processes, 10), [11, 12, 13]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_among_all() {
        assert!(all().iter().any(|p| p.pid == getpid().as_raw_pid() && !p.zombie));
    }
}
