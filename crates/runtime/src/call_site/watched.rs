//! A folder that somebody may only read: what it held, and what of that is different afterwards.
//!
//! Names, kinds, permissions and sizes are compared first: a reader that made a file without end is found out
//! by that, and its file is never read. Only if all of them are the same are contents compared.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::workspace::FolderState;

/// So many new entries are enough to know that it is too many.
const MOST_NEW: usize = 10_000;

pub struct SiteSnapshot {
    outline: ModesAndSizes,
    state: FolderState,
}

/// Mode and size of every entry; the size of a folder says nothing.
type ModesAndSizes = BTreeMap<Vec<u8>, (u32, u64)>;

impl SiteSnapshot {
    /// Reads the whole folder. Waits for the disk.
    pub fn of(folder: &Path) -> io::Result<Self> {
        Ok(Self { outline: outline(folder, usize::MAX)?, state: FolderState::of(folder)? })
    }

    /// The paths that are new, gone or different now. A folder that cannot be read any more is one of them.
    pub fn changes(&self, folder: &Path) -> Vec<String> {
        let unreadable = |e: io::Error| vec![format!("its folder, which cannot be read any more: {e}")];
        let now = match outline(folder, self.outline.len() + MOST_NEW) {
            Ok(now) => now,
            Err(e) => return unreadable(e),
        };
        let here = now.iter().filter(|(path, entry)| self.outline.get(*path) != Some(*entry));
        let gone = self.outline.keys().filter(|path| !now.contains_key(*path));
        let shown = |path: &Vec<u8>| String::from_utf8_lossy(path).into_owned();
        let changed: Vec<String> = here.map(|(path, _)| path).chain(gone).map(shown).collect();
        if !changed.is_empty() {
            return changed;
        }
        FolderState::of(folder).map_or_else(unreadable, |state| state.changed_since(&self.state))
    }
}

fn outline(folder: &Path, most: usize) -> io::Result<ModesAndSizes> {
    let mut entries = ModesAndSizes::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(dir) = waiting.pop() {
        let listed = match fs::read_dir(&dir) {
            Ok(listed) => listed,
            // Its own entry says so: whoever took the permission away changed its mode.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied && dir != folder => continue,
            Err(e) => return Err(e),
        };
        for entry in listed {
            let path = entry?.path();
            let meta = fs::symlink_metadata(&path)?;
            let name = path.strip_prefix(folder).unwrap_or(&path).as_os_str().as_bytes().to_vec();
            entries.insert(name, (meta.mode(), if meta.is_dir() { 0 } else { meta.size() }));
            if entries.len() >= most {
                return Ok(entries);
            }
            if meta.is_dir() {
                waiting.push(path);
            }
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn every_kind_of_change_is_named() {
        type Act = fn(&Path);
        let table: &[(Act, &str)] = &[
            (|d| fs::write(d.join("new"), "x").unwrap(), "new"),
            (|d| fs::write(d.join("a"), "2").unwrap(), "a"),
            (|d| fs::remove_file(d.join("a")).unwrap(), "a"),
            (|d| fs::set_permissions(d.join("a"), fs::Permissions::from_mode(0o600)).unwrap(), "a"),
            (
                |d| {
                    fs::remove_file(d.join("a")).unwrap();
                    symlink("/etc/hostname", d.join("a")).unwrap();
                },
                "a",
            ),
            (|d| fs::create_dir(d.join("sub/more")).unwrap(), "sub/more"),
            // A file without end is named, not read.
            (|d| fs::File::create(d.join("endless")).unwrap().set_len(1 << 50).unwrap_or(()), "endless"),
        ];
        for (act, path) in table {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join("a"), "1").unwrap();
            fs::create_dir(dir.path().join("sub")).unwrap();
            let before = SiteSnapshot::of(dir.path()).unwrap();
            assert!(before.changes(dir.path()).is_empty());
            act(dir.path());
            assert_eq!(before.changes(dir.path()), [*path]);
        }
    }

    #[test]
    fn a_folder_that_is_gone_is_a_change() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("at");
        fs::create_dir(&at).unwrap();
        let before = SiteSnapshot::of(&at).unwrap();
        fs::remove_dir(&at).unwrap();
        assert_eq!(before.changes(&at).len(), 1);
    }
}
