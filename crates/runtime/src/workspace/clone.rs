//! The worker's own repository: the user's history with refs, index and stash of its own.
//!
//! Nothing leads from it back to the user's repository: it has no remote, and it borrows the objects of the
//! past from a folder beside the worker's, which the worker only reads. Only there are hard links: in its own
//! folder a worker may overwrite any byte. Its state can be kept and put back, because a worker commits, switches branches and stashes.
//! Git is run in it only before the worker was: afterwards its configuration is the worker's.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::WorkspaceError;
use super::git::{Git, GitTarget, text};
use super::objects;
use super::repository::Repository;
use super::store::quoted;
use crate::os::remove_tree;

/// A repository's state without its objects is small; more than this is something else, and is not kept.
const MOST_STATE: u64 = 1 << 30;
const MOST_FILES: usize = 200_000;

/// Makes `<work>/.git` from the user's repository. The files of the tree are the caller's to put there.
pub(super) async fn make(
    git: &Git,
    repository: &Repository,
    users: &GitTarget,
    work: &Path,
    shared: &Path,
) -> Result<(), WorkspaceError> {
    let format = format!("--object-format={}", repository.object_format);
    let args = ["init", "--quiet", "--template=", &format, &text(work)?];
    git.outside(work, &args).await?;
    let own = work.join(".git");
    objects::borrow(shared, &own.join("objects")).map_err(WorkspaceError::io("written", &own))?;
    let refs = Repository::packed_refs(git, users).await?;
    let write = |name: &str, bytes: &[u8]| {
        let path = own.join(name);
        fs::write(&path, bytes).map_err(WorkspaceError::io("written", &path))
    };
    write("packed-refs", refs.as_bytes())?;
    if let Ok(shallow) = fs::read(repository.shared.join("shallow")) {
        write("shallow", &shallow)?;
    }
    let head = match (&repository.branch, &repository.head) {
        (Some(branch), _) => format!("ref: {branch}\n"),
        (None, Some(commit)) => format!("{commit}\n"),
        (None, None) => "ref: refs/heads/main\n".to_owned(),
    };
    write("HEAD", head.as_bytes())?;
    let info = own.join("info");
    fs::create_dir_all(&info).map_err(WorkspaceError::io("made", &info))?;
    write("info/exclude", &repository.own_excludes())?;
    let attributes = repository.shared.join("info/attributes");
    if let Ok(attributes) = fs::read(attributes) {
        write("info/attributes", &attributes)?;
    }
    let config = own.join("config");
    let mut settings = fs::read_to_string(&config).map_err(WorkspaceError::io("read", &config))?;
    for (key, value) in Repository::harmless_settings(git, users).await? {
        let Some((section, name)) = key.split_once('.') else { continue };
        let result = writeln!(settings, "[{section}]\n\t{name} = {}", quoted(&value));
        debug_assert!(result.is_ok(), "writing to a String cannot fail");
    }
    settings.push_str("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n");
    write("config", settings.as_bytes())
}

pub(super) async fn share(from: PathBuf, to: PathBuf) -> Result<(), WorkspaceError> {
    let path = from.clone();
    super::tree::off_thread(move || objects::share(&from, &to))
        .await
        .map_err(WorkspaceError::io("read", &path))
}

/// Keeps the clone's refs, index, stash and settings (not its objects) in `kept`. A clone that is too large
/// to be one is not kept.
pub(super) fn keep(work: &Path, kept: &Path) -> io::Result<()> {
    let own = work.join(".git");
    // A link in its place leads to what the worker may not read; kept, and put back, it would be given it.
    if !is_folder(&own) {
        return Ok(());
    }
    let mut copies = Vec::new();
    let (mut bytes, mut waiting) = (0, vec![own.clone()]);
    while let Some(dir) = waiting.pop() {
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(_) if dir == own => return Ok(()),
            Err(e) => return Err(e),
        };
        for entry in entries {
            let entry = entry?;
            let (path, meta) = (entry.path(), entry.metadata()?);
            if path == own.join("objects") || path.extension().is_some_and(|e| e == "lock") {
                continue;
            }
            if meta.is_dir() {
                waiting.push(path.clone());
            }
            bytes += meta.len();
            copies.push((path, meta));
            if bytes > MOST_STATE || copies.len() > MOST_FILES {
                return Ok(());
            }
        }
    }
    let fresh = kept.with_extension("new");
    remove_tree(&fresh);
    fs::create_dir_all(&fresh)?;
    for (path, meta) in copies {
        let to = fresh.join(path.strip_prefix(&own).unwrap_or(&path));
        if meta.is_dir() {
            fs::create_dir_all(to)?;
        } else if meta.is_file() {
            fs::copy(path, to)?;
        }
    }
    remove_tree(kept);
    fs::rename(fresh, kept)
}

/// Puts back what [`keep`] kept. If nothing was kept, at least no lock of a dead git is left.
pub(super) fn put_back(work: &Path, kept: &Path, shared: &Path) -> io::Result<()> {
    let own = work.join(".git");
    if fs::symlink_metadata(&own).is_ok_and(|m| m.is_symlink()) {
        remove_tree(&own);
    }
    if !kept.is_dir() {
        for name in ["index.lock", "HEAD.lock", "packed-refs.lock", "config.lock"] {
            let _ = fs::remove_file(own.join(name));
        }
        return Ok(());
    }
    if !is_folder(&own) {
        remove_tree(&own);
        fs::create_dir(&own)?;
    }
    for entry in fs::read_dir(&own)? {
        let entry = entry?;
        if entry.file_name() != "objects" {
            remove_tree(&entry.path());
        }
    }
    if !is_folder(&own.join("objects")) {
        remove_tree(&own.join("objects"));
        fs::create_dir(own.join("objects"))?;
    }
    objects::borrow(shared, &own.join("objects"))?;
    copy_folder(kept, &own)
}

/// Whether the clone's state is what [`keep`] kept, byte by byte, its objects aside. What was not kept cannot be
/// told apart.
pub(super) fn is_as_kept(work: &Path, kept: &Path) -> io::Result<bool> {
    let own = work.join(".git");
    if !is_folder(kept) {
        return Ok(true);
    }
    let mut waiting = vec![(own.clone(), kept.to_owned())];
    while let Some((there, was)) = waiting.pop() {
        if !is_folder(&there) {
            return Ok(false);
        }
        let mut names = names_in(&there)?;
        if there == own {
            names.remove(OsStr::new("objects"));
        }
        if names != names_in(&was)? {
            return Ok(false);
        }
        for name in names {
            let (there, was) = (there.join(&name), was.join(&name));
            let (now, before) = (fs::symlink_metadata(&there)?, fs::symlink_metadata(&was)?);
            if before.is_dir() {
                waiting.push((there, was));
            } else if !now.is_file()
                || now.permissions() != before.permissions()
                || now.len() != before.len()
                || fs::read(&there)? != fs::read(&was)?
            {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn names_in(folder: &Path) -> io::Result<BTreeSet<OsString>> {
    fs::read_dir(folder)?.map(|entry| entry.map(|e| e.file_name())).collect()
}

/// A folder itself, not what leads to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|m| m.is_dir())
}

/// Copies files, folders and links, with their permissions; into folders that are there already too.
pub(super) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    let mut waiting = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = waiting.pop() {
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
            if kind.is_dir() {
                waiting.push((entry.path(), target));
            } else {
                copy_file(&entry.path(), &target)?;
            }
        }
    }
    Ok(())
}

/// A file or a link; anything else (a pipe, a socket) has no content to copy.
pub(super) fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(from)?;
    if kind.is_symlink() {
        let _ = fs::remove_file(to);
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    if kind.is_file() {
        fs::copy(from, to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Both run outside the worker's sandbox: through the link they would bring it what it may not read, and
    /// take away what it may not change.
    #[test]
    fn a_link_in_the_place_of_the_repository_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let [work, secret, kept] = ["work", "secret", "kept"].map(|name| dir.path().join(name));
        fs::create_dir(&work).unwrap();
        fs::create_dir(&secret).unwrap();
        fs::write(secret.join("id_rsa"), "key").unwrap();
        fs::write(secret.join("index.lock"), "").unwrap();
        symlink(&secret, work.join(".git")).unwrap();
        keep(&work, &kept).unwrap();
        assert!(!kept.exists(), "nothing of the other folder is kept");
        put_back(&work, &kept, &dir.path().join("objects")).unwrap();
        assert!(secret.join("index.lock").exists(), "nothing is removed there");
        assert!(fs::symlink_metadata(work.join(".git")).is_err());
        // What was kept before comes back in the link's place.
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("HEAD"), "ref").unwrap();
        symlink(&secret, work.join(".git")).unwrap();
        put_back(&work, &kept, &dir.path().join("objects")).unwrap();
        assert!(work.join(".git/HEAD").is_file() && !secret.join("HEAD").exists());
    }
}
