//! Removing what a command left in its folder: of any depth, and never through a link to somewhere else.
//!
//! The standard library descends by calling itself; a command can make a tree so deep that this ends the
//! whole process.

use std::ffi::CStr;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, chmodat, fchmod, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::path::Arg;

/// A disk can take minutes for what a command made in seconds; nobody waits longer for it than this. What is
/// left goes with its run.
const LONGEST: Duration = Duration::from_secs(2);

/// Removes what is at `path` as far and as quickly as it can be removed. Waits for the disk.
pub fn remove_tree(path: &Path) {
    remove_within(path, LONGEST);
}

/// The same for somebody who asked for it and waits: as long as it takes.
pub fn remove_whole_tree(path: &Path) {
    remove_within(path, Duration::from_hours(24));
}

fn remove_within(path: &Path, time: Duration) {
    match open(CWD, path) {
        Ok(base) => clear(&base, Instant::now() + time),
        Err(Errno::LOOP | Errno::NOTDIR) => drop(fs::remove_file(path)),
        Err(_) => {}
    }
    let _ = fs::remove_dir(path);
}

/// Every folder below comes up into `base` before its turn, so that depth costs nothing.
fn clear(base: &OwnedFd, until: Instant) {
    let mut moved = fastrand::u64(..);
    let mut progress = true;
    while std::mem::take(&mut progress) && Instant::now() < until {
        each(base, until, |name| {
            if gone(base, name) {
                progress = true;
                return;
            }
            let Ok(folder) = open(base, name) else { return };
            each(&folder, until, |below| {
                if gone(&folder, below) {
                    progress = true;
                    return;
                }
                moved = moved.wrapping_add(1);
                let up = format!(".{moved:016x}");
                let lift = || renameat(&folder, below, base, up.as_str());
                let lifted = match lift() {
                    // A folder that may not be written to cannot be moved either.
                    Err(Errno::ACCESS) => {
                        chmodat(&folder, below, Mode::RWXU, AtFlags::empty()).and_then(|()| lift())
                    }
                    other => other,
                };
                progress |= lifted.is_ok();
            });
            progress |= gone(base, name);
        });
    }
}

fn gone(folder: &OwnedFd, name: &CStr) -> bool {
    unlinkat(folder, name, AtFlags::empty()).is_ok() || unlinkat(folder, name, AtFlags::REMOVEDIR).is_ok()
}

fn each(folder: &OwnedFd, until: Instant, mut act: impl FnMut(&CStr)) {
    let Ok(entries) = Dir::read_from(folder) else { return };
    for entry in entries.flatten().take_while(|_| Instant::now() < until) {
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            act(entry.file_name());
        }
    }
}

/// A folder, and nothing that only leads to one; it may be emptied from now on.
fn open(dir: impl AsFd, name: impl Arg + Copy) -> Result<OwnedFd, Errno> {
    let dir = dir.as_fd();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match openat(dir, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            chmodat(dir, name, Mode::RWXU, AtFlags::empty())?;
            openat(dir, name, flags, Mode::empty())?
        }
        other => other?,
    };
    let _ = fchmod(&folder, Mode::RWXU);
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_too_deep_to_descend_is_removed_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, outside) = (dir.path().join("tree"), dir.path().join("outside"));
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "x").unwrap();
        fs::create_dir(&tree).unwrap();
        std::os::unix::fs::symlink(&outside, tree.join("link")).unwrap();
        let mut at = openat(CWD, &tree, OFlags::DIRECTORY, Mode::empty()).unwrap();
        for depth in 0..3_000 {
            rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
            if depth % 1000 == 0 {
                openat(&at, "f", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
            }
            at = openat(&at, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        drop(at);
        // So little stack that descending by recursion would end this process.
        std::thread::scope(|s| {
            let small = std::thread::Builder::new().stack_size(96 << 10);
            small.spawn_scoped(s, || remove_within(&tree, Duration::from_mins(5))).unwrap();
        });
        assert!(!tree.exists());
        assert!(outside.join("kept").exists());
    }

    #[test]
    fn folders_that_may_not_be_written_or_read_are_removed_with_what_is_in_them() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().join("tree");
        let folders = ["", "read", "read/below", "none", "none/below", "none/below/again"];
        for folder in folders {
            fs::create_dir(tree.join(folder)).unwrap();
            fs::write(tree.join(folder).join("file"), "x").unwrap();
        }
        for (at, folder) in folders.iter().enumerate().rev() {
            let mode = if at % 2 == 0 { 0o555 } else { 0o000 };
            fs::set_permissions(tree.join(folder), fs::Permissions::from_mode(mode)).unwrap();
        }
        remove_tree(&tree);
        assert!(!tree.exists());
    }

    #[test]
    fn a_link_in_the_folders_place_is_taken_away_and_what_it_names_stays() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("kept"), "x").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        remove_tree(&link);
        assert!(!link.is_symlink() && dir.path().join("kept").exists());
        remove_tree(&dir.path().join("nothing here"));
    }
}
