//! One child process from start to end: how long it took, what it used, how large it grew. It knows
//! nothing of what the child does.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::baseline::BenchError;

/// How often the child is looked at.
const LOOK: Duration = Duration::from_millis(5);
/// A child that takes longer is hung.
const LONGEST: Duration = Duration::from_mins(5);
/// Linux counts CPU time for `/proc` in hundredths of a second on every architecture.
const TICKS_PER_SECOND: f64 = 100.0;

pub struct Measured {
    /// When it was started, by the wall clock.
    pub started: SystemTime,
    pub wall: Duration,
    /// User and system time of all its threads.
    pub cpu: Duration,
    /// The most memory that was resident at once.
    pub peak_kb: u64,
}

/// Runs a command to its end; what it says on standard error goes to `said`.
pub fn run(command: &mut Command, said: &Path) -> Result<Measured, BenchError> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(said)?);
    let (started, began) = (SystemTime::now(), Instant::now());
    let mut child = command.spawn()?;
    let watched = watch(&child, began);
    let cpu = cpu(child.id());
    if watched.is_err() {
        let _ = child.kill();
    }
    let status = child.wait()?;
    let (wall, peak_kb) = watched?;
    if !status.success() {
        let said = fs::read_to_string(said).unwrap_or_default();
        return Err(format!("{} ended with {status}:\n{said}", command.get_program().display()).into());
    }
    Ok(Measured { started, wall, cpu: cpu?, peak_kb })
}

/// Waits for the end without collecting the child, so that its times can still be read.
fn watch(child: &Child, began: Instant) -> Result<(Duration, u64), BenchError> {
    let pid = Pid::from_child(child);
    let mut peak = 0;
    loop {
        peak = peak_kb(child.id()).unwrap_or(0).max(peak);
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if waitid(WaitId::Pid(pid), options)?.is_some() {
            return Ok((began.elapsed(), peak));
        }
        if began.elapsed() > LONGEST {
            return Err("a measured program did not end".into());
        }
        sleep(LOOK);
    }
}

/// None once the process has given its memory back.
fn peak_kb(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

fn cpu(pid: u32) -> Result<Duration, BenchError> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name is in parentheses and may hold anything; user and system time are fields 14 and 15.
    let rest = stat.rsplit_once(')').ok_or("/proc has no stat line")?.1;
    let mut fields = rest.split_whitespace().skip(11).map(str::parse::<f64>);
    let (user, system) = fields.next().zip(fields.next()).ok_or("/proc has a short stat line")?;
    Ok(Duration::from_secs_f64((user? + system?) / TICKS_PER_SECOND))
}
