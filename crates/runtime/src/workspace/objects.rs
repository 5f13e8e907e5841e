//! Shares the objects of a user's repository with a run: by hard links in one folder that nobody writes (where
//! that is not possible, by copies), from which the run's own repositories borrow.
//!
//! The other repository may be at work meanwhile: objects move from single files into packs, never away, so
//! a look that missed a file is repeated.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::snapshot::quoted;
use super::{OBJECTS, WorkspaceFacts, in_place};
use crate::os::remove_tree;

/// Somebody who repacks faster than this does nothing else.
const ATTEMPTS: usize = 5;
/// Chains of borrowed objects are followed this far, as git itself does.
const DEEPEST: usize = 5;

/// Makes every object of `from` available in `to` (both folders named `objects`).
pub(super) fn share(from: &Path, to: &Path) -> io::Result<()> {
    for _ in 0..ATTEMPTS {
        if share_once(from, to)? {
            break;
        }
    }
    let borrowed = borrowed_by(from);
    if borrowed.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(to.join("info"))?;
    fs::write(to.join("info/alternates"), borrowed.join("\n") + "\n")
}

/// Lets a repository (its folder named `objects`) find what it does not have in another such folder.
pub(super) fn borrow(from: &Path, objects: &Path) -> io::Result<()> {
    let info = objects.join("info");
    // A worker may have put anything in its place; nothing is written through a link.
    if !fs::symlink_metadata(&info).is_ok_and(|m| m.is_dir()) {
        remove_tree(&info);
        fs::create_dir_all(&info)?;
    }
    let path = info.join("alternates");
    remove_tree(&path);
    let from = from.to_str().ok_or_else(|| io::Error::other("its path is not valid UTF-8"))?;
    fs::write(path, quoted(from) + "\n")
}

/// False if something vanished while it was being shared.
fn share_once(from: &Path, to: &Path) -> io::Result<bool> {
    let mut whole = true;
    // Single objects before packs: what is packed meanwhile is then found in its pack.
    let mut folders: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(is_fan_out) && entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.push(from.join("pack"));
    for folder in folders {
        let Some(name) = folder.file_name() else { continue };
        let target = to.join(name);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        };
        fs::create_dir_all(&target)?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            // Half-written ones, and what keeps objects from a fetch alive, are the owner's.
            let passing = name.to_str().is_none_or(|n| n.starts_with("tmp_") || n.starts_with('.'));
            if passing || !entry.file_type()?.is_file() {
                continue;
            }
            match link_or_copy(&entry.path(), &target.join(name)) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => whole = false,
                other => other?,
            }
        }
    }
    Ok(whole)
}

fn is_fan_out(name: &str) -> bool {
    name.len() == 2 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

fn link_or_copy(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Err(e),
        // Another disk, too many links, somebody else's file: a copy is as good.
        Err(_) => fs::copy(from, to).map(drop),
        Ok(()) => Ok(()),
    }
}

/// The object folders this one borrows from, whole paths.
pub(super) fn borrowed_by(objects: &Path) -> Vec<String> {
    let text = fs::read_to_string(objects.join("info/alternates")).unwrap_or_default();
    let lines = text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).take(DEEPEST * 20);
    // Relative ones are meant from the folder that borrows.
    lines.filter_map(|line| objects.join(line).canonicalize().ok()?.to_str().map(ToOwned::to_owned)).collect()
}

/// What the worker's repository of a run reads besides its own folder: the objects of the past, and whatever the
/// user's repository borrows from.
pub fn read_beside(run: &Path) -> Vec<PathBuf> {
    if let Some(beside) = in_place::read_beside(run) {
        return beside;
    }
    let home = run.join("tree");
    let objects = of(&home);
    let borrowed = borrowed_by(&objects);
    let all = std::iter::once(objects).chain(borrowed.into_iter().map(PathBuf::from));
    let linked = WorkspaceFacts::read(&home).map(|facts| (facts.root, facts.bring.needed));
    let linked = linked.into_iter().flat_map(|(root, paths)| paths.into_iter().map(move |p| root.join(p)));
    all.filter(|path| path.is_dir()).chain(linked).collect()
}

/// Where a workspace keeps them.
pub(super) fn of(home: &Path) -> PathBuf {
    let shared = home.join(OBJECTS);
    // A workspace of an earlier version keeps them in its store.
    if shared.is_dir() { shared } else { home.join("store.git/objects") }
}
