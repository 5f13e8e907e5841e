//! One locked file per open journal. The kernel unlocks it when the process dies, so that whoever
//! finds it unlocked knows its owner is gone. It holds no data: the name says the process.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::UNIX_EPOCH;

use crate::run_id::random_u64;

const ATTEMPTS: u32 = 20;
const SUFFIX: &str = ".owner";

/// The lock of this open journal, taken at the first run it owns.
pub(crate) struct ProcessLock {
    dir: PathBuf,
    held: Mutex<Option<HeldLock>>,
}

struct HeldLock {
    name: String,
    path: PathBuf,
    file: File,
}

impl ProcessLock {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir, held: Mutex::new(None) }
    }

    /// The name that owner rows carry.
    pub(crate) fn name(&self) -> io::Result<String> {
        let mut held = self.held.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(held) = &*held {
            return Ok(held.name.clone());
        }
        fs::create_dir_all(&self.dir)?;
        sweep(&self.dir);
        let taken = take(&self.dir)?;
        let name = taken.name.clone();
        *held = Some(taken);
        Ok(name)
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

impl Drop for ProcessLock {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(held) = held.take() {
            let _ = fs::remove_file(&held.path);
            drop(held.file);
        }
    }
}

fn take(dir: &Path) -> io::Result<HeldLock> {
    for _ in 0..ATTEMPTS {
        let name = format!("{}-{:016x}{SUFFIX}", std::process::id(), random_u64()?);
        let path = dir.join(&name);
        let file = File::create_new(&path)?;
        // Someone sweeping dead locks may hold or have removed the file between these two lines;
        // its name is random, so nobody else makes it again.
        if file.try_lock().is_ok() && path.exists() {
            return Ok(HeldLock { name, path, file });
        }
        let _ = fs::remove_file(&path);
    }
    Err(io::Error::other(format!(
        "no lock file could be taken in {}: does its file system support locks?",
        dir.display()
    )))
}

/// True while the process that made this lock file lives.
pub(crate) fn is_live(dir: &Path, name: &str) -> bool {
    if !well_formed(name) {
        return false;
    }
    match File::open(dir.join(name)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => false,
        // A lock that cannot be examined is taken for held: two owners are worse than a refusal.
        Err(_) => true,
        // Shared, so that two who look at a dead lock at once do not take each other for its owner.
        Ok(file) => file.try_lock_shared().is_err(),
    }
}

/// The names of all locks whose processes live.
pub(crate) fn live(dir: &Path) -> HashSet<String> {
    let Ok(entries) = fs::read_dir(dir) else { return HashSet::new() };
    let names = entries.flatten().filter_map(|e| e.file_name().into_string().ok());
    names.filter(|name| is_live(dir, name)).collect()
}

/// Removes the lock files of dead processes.
fn sweep(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for name in entries.flatten().filter_map(|e| e.file_name().into_string().ok()) {
        bury(dir, &name);
    }
}

/// Removes a lock file if its process is dead.
pub(crate) fn bury(dir: &Path, name: &str) {
    let path = dir.join(name);
    // Removed while we hold it, so that it cannot be one that is just being taken.
    if well_formed(name)
        && let Ok(file) = File::open(&path)
        && file.try_lock_shared().is_ok()
    {
        let _ = fs::remove_file(&path);
    }
}

fn well_formed(name: &str) -> bool {
    name.strip_suffix(SUFFIX).is_some_and(|n| n.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-'))
}

/// The process id and the time of making that a lock's name and file tell.
pub(crate) fn describe(dir: &Path, name: &str) -> (u32, u64) {
    let pid = name.split('-').next().and_then(|p| p.parse().ok()).unwrap_or(0);
    let made = fs::metadata(dir.join(name)).and_then(|m| m.modified()).ok();
    let since = made.and_then(|t| t.duration_since(UNIX_EPOCH).ok());
    (pid, since.map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_lives_as_long_as_its_holder_and_dead_ones_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let lock = ProcessLock::new(dir.path().into());
        let name = lock.name().unwrap();
        assert!(is_live(dir.path(), &name));
        assert_eq!(live(dir.path()), HashSet::from([name.clone()]));

        let dead = "1-00ff.owner";
        fs::write(dir.path().join(dead), "").unwrap();
        fs::write(dir.path().join("notes.txt"), "").unwrap();
        assert!(!is_live(dir.path(), dead));
        let other = ProcessLock::new(dir.path().into());
        other.name().unwrap();
        assert!(!dir.path().join(dead).exists());
        assert!(dir.path().join("notes.txt").exists());

        drop(lock);
        assert!(!is_live(dir.path(), &name));
    }

    #[test]
    fn whoever_looks_at_a_dead_lock_is_not_taken_for_its_owner() {
        let dir = tempfile::tempdir().unwrap();
        let dead = "1-00ff.owner";
        fs::write(dir.path().join(dead), "").unwrap();
        let looking = File::open(dir.path().join(dead)).unwrap();
        looking.try_lock_shared().unwrap();
        assert!(!is_live(dir.path(), dead), "another process is just looking");
        // Sabotage: had that look been exclusive, the dead would seem to live.
        looking.unlock().unwrap();
        looking.try_lock().unwrap();
        assert!(is_live(dir.path(), dead));
    }

    #[test]
    fn a_name_from_a_damaged_row_never_leaves_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_live(dir.path(), "../../etc/passwd"));
    }
}
