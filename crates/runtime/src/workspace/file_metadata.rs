//! What git keeps of no tree: the exact permissions of files and folders, and folders that hold nothing. A run
//! that works in the user's own checkout is taken back to these, too.
//!
//! Ignored entries are no part of it. Links are not followed, and have no permissions of their own.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::checkout::Checkout;
use super::tree::Excluded;

/// A project with more entries is outlined only so far: its files are still all in the snapshot.
const MOST_ENTRIES: usize = 2_000_000;
const KIND: u32 = 0o170_000;
const FOLDER: u32 = 0o040_000;
const BITS: u32 = 0o7777;
const EXECUTION: u32 = 0o111;

/// Kind and permissions of every file and folder, by path from the root.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct FileMetadata(pub BTreeMap<String, u32>);

/// Where an outline differs from an earlier one: what is there now. Files that came or went are not in it: trees
/// tell of them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Drift(pub BTreeMap<String, Option<u32>>);

/// What is looked over: everything but these.
pub(super) struct Passed<'a> {
    pub excluded: &'a Excluded,
    /// Ignored files and folders, and repositories inside; folders without a slash at the end.
    pub names: HashSet<String>,
}

impl Passed<'_> {
    fn over(&self, path: &str, name: &str) -> bool {
        name.eq_ignore_ascii_case(".git") || self.names.contains(path) || self.excluded.contains(path)
    }
}

impl FileMetadata {
    /// Reads the folder. Waits for the disk. A folder that may not be entered is an entry like any other.
    pub fn of(root: &Path, passed: &Passed<'_>) -> io::Result<Self> {
        let mut found = BTreeMap::new();
        visit(root, passed, |path, mode| {
            found.insert(path.to_owned(), mode);
            Ok(())
        })?;
        Ok(Self(found))
    }

    /// Gives back the right to read and enter what was closed since. What this outline knows gets the
    /// permissions it had.
    pub fn open_closed(&self, root: &Path, passed: &Passed<'_>) -> io::Result<()> {
        visit(root, passed, |path, mode| {
            let needed = if mode & KIND == FOLDER { 0o700 } else { 0o400 };
            if mode & needed == needed {
                return Ok(());
            }
            let had = self.0.get(path).filter(|had| **had & KIND == mode & KIND);
            let bits = had.map_or((mode & BITS) | needed, |had| had & BITS);
            fs::set_permissions(root.join(path), fs::Permissions::from_mode(bits))
        })
    }

    pub fn drift(&self, now: &Self) -> Drift {
        let is_folder = |mode: &u32| mode & KIND == FOLDER;
        let mut drift = BTreeMap::new();
        for (path, had) in &self.0 {
            let there = now.0.get(path).filter(|mode| **mode & KIND == had & KIND);
            match there {
                None if is_folder(had) => drop(drift.insert(path.clone(), None)),
                Some(mode) if mode != had => drop(drift.insert(path.clone(), Some(*mode))),
                _ => {}
            }
        }
        let new = now.0.iter().filter(|(path, mode)| is_folder(mode) && !self.0.contains_key(*path));
        drift.extend(new.map(|(path, mode)| (path.clone(), Some(*mode))));
        Drift(drift)
    }

    /// Before files are put back: permissions become what they were, where nobody changed them since. Whether the
    /// run's files may be executed is what trees tell, and they are compared with one first: that stays as it is.
    pub fn put_bits_back(&self, drift: &Drift, files: &[String], checkout: &Checkout) -> io::Result<()> {
        let runs: HashSet<&str> = files.iter().map(String::as_str).collect();
        for (path, drifted) in &drift.0 {
            let (Some(had), Some(drifted)) = (self.0.get(path), drifted) else { continue };
            let told_by_trees = if runs.contains(path.as_str()) { EXECUTION } else { 0 };
            if checkout.mode(path)? == Some(*drifted) {
                checkout.set_bits(path, (had & BITS & !told_by_trees) | (drifted & told_by_trees))?;
            }
        }
        Ok(())
    }

    /// After files were put back: they get the permissions they had, folders that went come back, and folders
    /// that came go if they hold nothing.
    pub fn finish(&self, drift: &Drift, files: &[String], checkout: &mut Checkout) -> io::Result<()> {
        for (path, drifted) in &drift.0 {
            if let (Some(had), None) = (self.0.get(path), drifted) {
                checkout.make_folder(path, had & BITS)?;
                checkout.set_bits(path, had & BITS)?;
            }
        }
        let above =
            |path: &String| path.match_indices('/').map(|(at, _)| path[..at].to_owned()).collect::<Vec<_>>();
        let folders: HashSet<String> = files.iter().flat_map(above).collect();
        // A folder that was empty went with the last file that was put into it.
        for folder in self.0.keys().filter(|path| folders.contains(*path)) {
            let bits = self.0.get(folder).copied().unwrap_or(FOLDER | 0o755);
            if bits & KIND == FOLDER {
                checkout.make_folder(folder, bits & BITS)?;
            }
        }
        for path in files {
            let had = self.0.get(path).copied().unwrap_or_default();
            if checkout.mode(path)?.is_some_and(|mode| mode & KIND == had & KIND && mode != had) {
                checkout.set_bits(path, had & BITS)?;
            }
        }
        for path in drift.0.keys().rev().filter(|path| !self.0.contains_key(*path)) {
            checkout.remove_folder_if_empty(path);
        }
        checkout.sync()
    }
}

/// Every file and folder below the root that is not passed over; a folder before what it holds.
fn visit(
    root: &Path,
    passed: &Passed<'_>,
    mut act: impl FnMut(&str, u32) -> io::Result<()>,
) -> io::Result<()> {
    let mut waiting = vec![String::new()];
    let mut seen = 0_usize;
    while let Some(folder) = waiting.pop() {
        let entries = match fs::read_dir(root.join(&folder)) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied && !folder.is_empty() => continue,
            Err(e) => return Err(e),
        };
        for entry in entries {
            let entry = entry?;
            // A name that is no text cannot be in a snapshot either, and making that says so.
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let Ok(meta) = entry.metadata() else { continue };
            if passed.over(&path, &name) || !(meta.is_dir() || meta.is_file()) {
                continue;
            }
            seen += 1;
            if seen > MOST_ENTRIES {
                return Ok(());
            }
            act(&path, meta.mode())?;
            if meta.is_dir() {
                waiting.push(path);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlined(root: &Path) -> FileMetadata {
        let names = HashSet::from(["ignored".to_owned()]);
        FileMetadata::of(root, &Passed { excluded: &Excluded::default(), names }).unwrap()
    }

    #[test]
    fn what_git_does_not_keep_comes_back_and_what_changed_since_stays() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        let set = |path: &str, bits| fs::set_permissions(at(path), fs::Permissions::from_mode(bits)).unwrap();
        let bits = |path: &str| fs::metadata(at(path)).unwrap().permissions().mode() & BITS;
        fs::create_dir_all(at("empty/deep")).unwrap();
        fs::create_dir_all(at("ignored/cache")).unwrap();
        for file in ["secret", "open"] {
            fs::write(at(file), file).unwrap();
            set(file, 0o600);
        }
        let before = outlined(dir.path());
        assert!(!before.0.keys().any(|path| path.starts_with("ignored")), "{before:?}");
        fs::remove_dir(at("empty/deep")).unwrap();
        fs::create_dir_all(at("made/below")).unwrap();
        set("secret", 0o644);
        set("open", 0o640);
        let drift = before.drift(&outlined(dir.path()));
        // Since then the user changed one of them again.
        set("open", 0o666);
        let mut checkout = Checkout::open(dir.path()).unwrap();
        for _ in 0..2 {
            before.put_bits_back(&drift, &[], &checkout).unwrap();
            before.finish(&drift, &[], &mut checkout).unwrap();
            assert_eq!((bits("secret"), bits("open")), (0o600, 0o666));
            assert!(at("empty/deep").is_dir() && !at("made").exists());
        }
    }

    #[test]
    fn what_was_closed_is_opened_again_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let (known, new) = (dir.path().join("known"), dir.path().join("new"));
        fs::write(&known, "").unwrap();
        fs::set_permissions(&known, fs::Permissions::from_mode(0o640)).unwrap();
        let before = outlined(dir.path());
        fs::write(&new, "").unwrap();
        for path in [&known, &new] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
        }
        let passed = Passed { excluded: &Excluded::default(), names: HashSet::new() };
        before.open_closed(dir.path(), &passed).unwrap();
        let bits = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & BITS;
        assert_eq!((bits(&known), bits(&new)), (0o640, 0o400));
    }
}
