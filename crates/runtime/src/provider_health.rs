//! The board of providers as small files in the user's state directory, so that every run of this user sees
//! what one of them learned: one file per provider, named by a digest. It keeps notices and judges none.
//!
//! Nothing here may stop a run. What cannot be read counts as not there; what cannot be written is kept for
//! this process alone.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use gadfly_agents::{InMemoryHealth, Notice, ProviderHealth};
use gadfly_engine::Digest;

use crate::clock::wall_ms;

const FOLDER: &str = "quota";
const LOCK: &str = "lock";
const ENDING: &str = "json";
/// A notice is a few hundred bytes.
const LONGEST: u64 = 16 * 1024;
const MOST_FILES: usize = 128;
/// How often and how long a lock is waited for: whoever has it writes one small file.
const LOCK_TRIES: u32 = 250;
const LOCK_PAUSE: Duration = Duration::from_millis(2);
/// For so long what other processes learn of a provider may go unseen.
const QUIET: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct ProviderHealthFile {
    dir: PathBuf,
    /// Locks are per process: its own threads take turns here.
    turn: Mutex<()>,
    unwritten: InMemoryHealth,
    /// Providers that there was no notice of a moment ago. Thousands of calls a second need not ask the disk each.
    quiet: Mutex<HashMap<String, Instant>>,
}

impl ProviderHealthFile {
    /// Nothing is made before there is something to keep.
    pub fn below(state_dir: &Path) -> Self {
        Self {
            dir: state_dir.join(FOLDER),
            turn: Mutex::new(()),
            unwritten: InMemoryHealth::default(),
            quiet: Mutex::default(),
        }
    }

    /// Every provider that is left alone now.
    pub fn shut(&self) -> Vec<Notice> {
        let now = wall_ms();
        let mut shut: Vec<Notice> =
            self.files().iter().filter_map(|path| read(path)).filter(|n| n.is_shut(now)).collect();
        shut.sort_by(|a, b| (&a.provider, a.until_ms).cmp(&(&b.provider, b.until_ms)));
        shut
    }

    fn file(&self, provider: &str) -> PathBuf {
        let name: String = Digest::of(provider.as_bytes()).to_string().chars().take(32).collect();
        self.dir.join(name).with_extension(ENDING)
    }

    /// As the disk has it now.
    fn fresh(&self, provider: &str) -> Option<Notice> {
        read(&self.file(provider)).or_else(|| self.unwritten.notice(provider))
    }

    /// Bounded, whatever lies there.
    fn files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.dir) else { return Vec::new() };
        let paths = entries.take(MOST_FILES * 64).filter_map(|entry| Some(entry.ok()?.path()));
        paths.filter(|path| path.extension() == Some(OsStr::new(ENDING))).collect()
    }

    fn write(&self, path: &Path, notice: &Notice) -> io::Result<()> {
        if !path.exists() {
            self.make_room();
        }
        let text = serde_json::to_vec(notice)?;
        let beside = self.dir.join(format!(".{}-{}", std::process::id(), fastrand::u64(..)));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        // A notice that a power cut takes away costs one call: it is not synced.
        let written = file.write_all(&text).and_then(|()| fs::rename(&beside, path));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written
    }

    /// Notices that mean nothing any more go; if there are still too many, the oldest go.
    fn make_room(&self) {
        let now = wall_ms();
        let (stale, mut kept): (Vec<_>, Vec<_>) =
            self.files().into_iter().partition(|path| read(path).is_none_or(|n| n.is_stale(now)));
        let age =
            |path: &PathBuf| fs::metadata(path).and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        kept.sort_by_cached_key(age);
        let over = (kept.len() + 1).saturating_sub(MOST_FILES);
        for path in stale.iter().chain(kept.iter().take(over)) {
            let _ = fs::remove_file(path);
        }
    }

    /// The lock of all processes, if it can be had soon. A process that was stopped with it in its hands must
    /// not hold up the others, and a notice that is overwritten costs one call.
    fn lock(&self) -> Option<File> {
        let path = self.dir.join(LOCK);
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path).ok()?;
        for _ in 0..LOCK_TRIES {
            match file.try_lock() {
                Ok(()) => return Some(file),
                Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
                Err(TryLockError::Error(_)) => return None,
            }
        }
        None
    }
}

impl ProviderHealth for ProviderHealthFile {
    fn notice(&self, provider: &str) -> Option<Notice> {
        let quiet =
            |quiet: &mut HashMap<String, Instant>| quiet.get(provider).is_some_and(|at| at.elapsed() < QUIET);
        if quiet(&mut self.quiet.lock().unwrap_or_else(PoisonError::into_inner)) {
            return None;
        }
        let found = self.fresh(provider);
        if found.is_none() {
            self.quiet
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(provider.to_owned(), Instant::now());
        }
        found
    }

    fn update(&self, provider: &str, change: &mut dyn FnMut(Option<Notice>) -> Option<Notice>) {
        let path = self.file(provider);
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir);
        let _lock = self.lock();
        let changed = change(self.fresh(provider));
        let kept = match &changed {
            Some(notice) => self.write(&path, notice),
            None => match fs::remove_file(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
                _ => Ok(()),
            },
        };
        self.quiet.lock().unwrap_or_else(PoisonError::into_inner).remove(provider);
        let own = changed.filter(|_| kept.is_err());
        self.unwritten.update(provider, &mut |_| own.clone());
    }
}

/// What a file says, if a run of ours could have written it.
fn read(path: &Path) -> Option<Notice> {
    // A pipe would be waited for.
    if !fs::symlink_metadata(path).is_ok_and(|m| m.is_file()) {
        return None;
    }
    let mut text = Vec::new();
    File::open(path).ok()?.take(LONGEST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test that cannot go on should say so

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn shut(provider: &str, until_ms: u64) -> Notice {
        let set_ms = wall_ms();
        Notice { provider: provider.into(), set_ms, until_ms, times: 1, ..Notice::default() }
    }

    fn post(health: &ProviderHealthFile, key: &str, notice: &Notice) {
        health.update(key, &mut |_| Some(notice.clone()));
    }

    #[test]
    fn another_process_sees_what_one_posted_and_nothing_is_made_before() {
        let state = tempfile::tempdir().unwrap();
        let (one, two) = (ProviderHealthFile::below(state.path()), ProviderHealthFile::below(state.path()));
        assert!(one.notice("a").is_none() && one.shut().is_empty());
        assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
        let notice = shut("a.example", wall_ms() + 60_000);
        post(&one, "a", &notice);
        assert_eq!((two.notice("a"), two.notice("b")), (Some(notice.clone()), None));
        assert_eq!(two.shut(), [notice]);
        two.update("a", &mut |_| None);
        assert_eq!(one.notice("a"), None);
    }

    #[test]
    fn only_the_user_can_read_it_and_its_name_says_nothing() {
        let state = tempfile::tempdir().unwrap();
        let health = ProviderHealthFile::below(state.path());
        post(&health, "api.example.org OPENAI_API_KEY 12ab", &shut("api.example.org", wall_ms() + 60_000));
        for path in health.files() {
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            let all = format!("{} {}", path.display(), fs::read_to_string(&path).unwrap());
            assert!(!all.contains("OPENAI_API_KEY") && !all.contains("12ab"), "{all}");
        }
        assert_eq!(fs::metadata(&health.dir).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn whatever_lies_there_stops_no_run() {
        let state = tempfile::tempdir().unwrap();
        let health = ProviderHealthFile::below(state.path());
        fs::create_dir_all(&health.dir).unwrap();
        let path = health.file("a");
        let huge = "[".repeat(100_000);
        for text in ["", "{", "[]", "{\"until_ms\":-1}", "{\"until_ms\":\"soon\"}", "\u{0}", &huge] {
            fs::write(&path, text).unwrap();
            assert!(!health.notice("a").is_some_and(|n| n.is_shut(wall_ms())), "{text:.20}");
            let notice = shut("a", wall_ms() + 1_000);
            post(&health, "a", &notice);
            assert_eq!(health.notice("a"), Some(notice), "{text:.20}");
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(health.notice("a"), None);
        let notice = shut("a", wall_ms() + 1_000);
        post(&health, "a", &notice);
        assert_eq!(health.notice("a"), Some(notice), "it is kept for this process");
        health.update("a", &mut |_| None);
        assert_eq!(health.notice("a"), None);
    }

    #[test]
    fn without_a_place_to_write_it_is_this_processs_own() {
        let state = tempfile::tempdir().unwrap();
        let file = state.path().join("no-folder");
        fs::write(&file, "").unwrap();
        let health = ProviderHealthFile::below(&file);
        let notice = shut("a", wall_ms() + 1_000);
        post(&health, "a", &notice);
        assert_eq!(health.notice("a"), Some(notice));
    }

    #[test]
    fn there_are_never_many_files_and_stale_ones_go_first() {
        let state = tempfile::tempdir().unwrap();
        let health = ProviderHealthFile::below(state.path());
        post(&health, "old", &Notice { set_ms: 1, until_ms: 2, ..Notice::default() });
        post(&health, "new", &shut("new", wall_ms() + 60_000));
        assert!(health.notice("old").is_none() && health.notice("new").is_some());
        for n in 0..MOST_FILES + 40 {
            post(&health, &format!("n{n}"), &shut("n", wall_ms() + 60_000));
        }
        assert!(health.files().len() <= MOST_FILES);
    }

    #[test]
    fn a_process_that_holds_the_lock_for_ever_holds_up_nobody() {
        let state = tempfile::tempdir().unwrap();
        let health = ProviderHealthFile::below(state.path());
        post(&health, "a", &shut("a", wall_ms() + 60_000));
        let held = File::open(health.dir.join(LOCK)).unwrap();
        held.lock().unwrap();
        health.update("a", &mut |_| None);
        assert_eq!(health.notice("a"), None);
    }

    #[test]
    fn counts_of_many_writers_are_not_lost() {
        let state = tempfile::tempdir().unwrap();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    // Each as a process of its own would.
                    let health = ProviderHealthFile::below(state.path());
                    for _ in 0..8 {
                        health.update("a", &mut |found| {
                            let mut notice = found.unwrap_or_default();
                            notice.failures += 1;
                            Some(notice)
                        });
                    }
                });
            }
        });
        assert_eq!(ProviderHealthFile::below(state.path()).notice("a").unwrap().failures, 24);
    }
}
