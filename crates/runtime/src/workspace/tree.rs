//! Takes a folder's files into the store: which of them count, and the name of the tree they make.
//!
//! Git lists and hashes; what counts is decided by the rules it is given. Gadfly's own folders, what was
//! brought in by `link` and `copy`, and repositories inside the folder never count.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use gadfly_agents::launcher::Exit;

use super::error::WorkspaceError;
use super::git::{GitTarget, MOST_OUTPUT, failure, zero_ended, zero_separated};
use super::store::SnapshotStore;
use crate::os::remove_whole_tree;

/// The folder of Gadfly's own records, wherever it is in the project.
const OWN_FOLDER: &str = ".gadfly";

/// The files of a folder that count, and the repositories inside it, which do not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct FolderListing {
    pub files: Vec<String>,
    pub repositories: Vec<String>,
}

impl FolderListing {
    pub fn add(&mut self, files: Vec<String>) {
        let there: HashSet<&str> = self.files.iter().map(String::as_str).collect();
        let new: Vec<String> = files.into_iter().filter(|path| !there.contains(path.as_str())).collect();
        self.files.extend(new);
    }
}

/// Paths from the root of the tree that never count, with everything below them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Excluded {
    exact: HashSet<String>,
}

impl Excluded {
    pub fn new(paths: impl IntoIterator<Item = String>) -> Self {
        Self { exact: paths.into_iter().collect() }
    }

    pub fn contains(&self, path: &str) -> bool {
        if path.split('/').any(|name| name == OWN_FOLDER) {
            return true;
        }
        if self.exact.is_empty() {
            return false;
        }
        self.exact.contains(path) || path.match_indices('/').any(|(at, _)| self.exact.contains(&path[..at]))
    }
}

/// Whose ignore rules hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum IgnoreRules<'a> {
    /// Those of the folder, the repository and the user: what git itself would say.
    OfFolder,
    /// A list made when the run began.
    List(&'a Path),
}

impl SnapshotStore {
    pub async fn listing(
        &self,
        folder: &Path,
        rules: IgnoreRules<'_>,
        excluded: &Excluded,
    ) -> Result<FolderListing, WorkspaceError> {
        let from = match rules {
            IgnoreRules::OfFolder => "--exclude-standard".to_owned(),
            IgnoreRules::List(path) => format!("--exclude-from={}", super::git::text(path)?),
        };
        let args = ["ls-files", "--others", "-z", "--exclude=.gadfly/", &from];
        let place = self.unindexed(folder);
        let finished = self.git.try_feed(&place, &args, Vec::new(), MOST_OUTPUT).await?;
        // A folder that may not be read is only warned about, and everything in it would be missing.
        if finished.exit != Exit::Code(0) || !finished.stderr.is_empty() {
            return Err(failure(&args, &finished));
        }
        let mut listing = FolderListing::default();
        for path in zero_separated(&finished.stdout)? {
            if excluded.contains(path.trim_end_matches('/')) {
                continue;
            }
            match path.strip_suffix('/') {
                Some(repository) => listing.repositories.push(repository.to_owned()),
                None => listing.files.push(path),
            }
        }
        Ok(listing)
    }

    /// What is ignored in a folder: single files, and folders (with a slash) of which everything is.
    pub async fn ignored(&self, folder: &Path) -> Result<Vec<String>, WorkspaceError> {
        self.ignored_with(folder, "--exclude-standard").await
    }

    /// The same, by a list of rules.
    pub async fn ignored_by(&self, folder: &Path, rules: &Path) -> Result<Vec<String>, WorkspaceError> {
        self.ignored_with(folder, &format!("--exclude-from={}", super::git::text(rules)?)).await
    }

    async fn ignored_with(&self, folder: &Path, rules: &str) -> Result<Vec<String>, WorkspaceError> {
        let args = ["ls-files", "--others", "--ignored", "-z", rules, "--directory", "--no-empty-directory"];
        zero_separated(&self.git.run(&self.unindexed(folder), &args).await?)
    }

    /// What lies in a folder and not in the index `name`, ignored or not: single files, and folders (with a slash) of which
    /// nothing is in it.
    pub async fn not_in(&self, folder: &Path, name: &str) -> Result<Vec<String>, WorkspaceError> {
        let place = self.place().with_index(&self.index(name)).over(folder);
        let args = ["ls-files", "--others", "-z", "--directory", "--no-empty-directory"];
        zero_separated(&self.git.run(&place, &args).await?)
    }

    /// A place whose index is always empty.
    pub(super) fn unindexed(&self, folder: &Path) -> GitTarget {
        self.place().with_index(&self.index("none")).over(folder)
    }

    /// Makes the index `name` say what the folder holds, and returns the tree. `listed` counts, and so does
    /// every path of `tracked` and of the index that is still there, ignored or not.
    pub async fn take(
        &self,
        folder: &Path,
        name: &str,
        listed: &[String],
        tracked: &[String],
    ) -> Result<String, WorkspaceError> {
        let index = self.index(name);
        // Ours alone, and this process holds it: a lock here was left by one that died.
        let _ = fs::remove_file(index.with_extension("lock"));
        let _ = fs::remove_file(lock_of(&index));
        let place = self.place().with_index(&index).over(folder);
        let indexed = zero_separated(&self.git.run(&place, &["ls-files", "-z"]).await?)?;
        let counted: HashSet<&str> = listed.iter().map(String::as_str).collect();
        let others: HashSet<String> =
            indexed.iter().chain(tracked).filter(|p| !counted.contains(p.as_str())).cloned().collect();
        let root = folder.to_owned();
        let (present, gone) =
            off_thread(move || others.into_iter().partition::<Vec<String>, _>(|path| stands(&root, path)))
                .await;
        let gone: HashSet<String> = gone.into_iter().collect();
        let removed: Vec<&String> = indexed.iter().filter(|p| gone.contains(p.as_str())).collect();
        if !removed.is_empty() {
            let zero = "0".repeat(self.hash_length(&place).await?);
            let mut removals = Vec::new();
            for path in removed {
                removals.extend_from_slice(format!("0 {zero}\t{path}\0").as_bytes());
            }
            self.git.feed(&place, &["update-index", "-z", "--index-info"], removals).await?;
        }
        let mut paths: Vec<&str> = counted.into_iter().chain(present.iter().map(String::as_str)).collect();
        paths.sort_unstable();
        let args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
        self.git.feed(&place, &args, zero_ended(paths)).await?;
        self.git.line(&place, &["write-tree"]).await
    }

    async fn hash_length(&self, place: &GitTarget) -> Result<usize, WorkspaceError> {
        let format = self.git.line(place, &["rev-parse", "--show-object-format"]).await?;
        Ok(if format == "sha256" { 64 } else { 40 })
    }
}

fn lock_of(index: &Path) -> PathBuf {
    let mut name = index.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

/// A file or link is at this path, and the way to it leads through folders only.
pub(super) fn stands(root: &Path, path: &str) -> bool {
    let real = |p: &str| fs::symlink_metadata(root.join(p)).is_ok_and(|m| m.is_dir());
    let there = fs::symlink_metadata(root.join(path)).is_ok_and(|m| m.is_file() || m.is_symlink());
    there && path.match_indices('/').all(|(at, _)| real(&path[..at]))
}

pub(super) async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(stopped) => std::panic::resume_unwind(stopped.into_panic()),
    }
}

/// Gives us back what a worker may have taken away: the right to enter, read and change every folder, and to
/// read every file. Links are not followed.
pub(super) fn make_accessible(root: &Path) -> io::Result<()> {
    open_all(root).map_err(|(_, error)| error)
}

/// The same before a tree is restored. What lies so deep that no path can name it is not ours: it goes, with
/// the folder at the top that holds it.
pub(super) fn make_accessible_or_remove(root: &Path) -> io::Result<()> {
    while let Err((at, error)) = open_all(root) {
        let below = at.strip_prefix(root).ok().and_then(|below| below.components().next());
        let top = below.filter(|_| error.kind() == io::ErrorKind::InvalidFilename).map(|top| root.join(top));
        let Some(top) = top else { return Err(error) };
        remove_whole_tree(&top);
        if fs::symlink_metadata(&top).is_ok() {
            return Err(error);
        }
    }
    Ok(())
}

/// Where it got stuck, and why.
fn open_all(root: &Path) -> Result<(), (PathBuf, io::Error)> {
    let mut waiting = vec![root.to_owned()];
    while let Some(dir) = waiting.pop() {
        let opened = (|| {
            permit(&dir, 0o700)?;
            for entry in fs::read_dir(&dir)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    waiting.push(entry.path());
                } else if kind.is_file() {
                    permit(&entry.path(), 0o400)?;
                }
            }
            Ok(())
        })();
        opened.map_err(|error| (dir, error))?;
    }
    Ok(())
}

fn permit(path: &Path, needed: u32) -> io::Result<()> {
    let meta = fs::symlink_metadata(path)?;
    let mode = meta.permissions().mode();
    if meta.is_symlink() || mode & needed == needed {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode | needed))
}

#[cfg(test)]
mod tests {
    use rustix::fs::{Mode, OFlags};

    use super::*;

    #[test]
    fn what_no_path_can_name_goes_and_the_rest_stays() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("tree");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("kept"), "x").unwrap();
        let mut at = rustix::fs::openat(rustix::fs::CWD, &root, OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..300 {
            rustix::fs::mkdirat(&at, "fifteen-letters", Mode::RWXU).unwrap();
            at = rustix::fs::openat(&at, "fifteen-letters", OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        assert!(make_accessible(&root).is_err(), "what this test is about");
        make_accessible_or_remove(&root).unwrap();
        let left: Vec<_> = fs::read_dir(&root).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["kept"]);
    }

    #[test]
    fn what_is_excluded_is_excluded_with_everything_below() {
        let excluded = Excluded::new(["node_modules".to_owned(), "a/b".to_owned()]);
        for path in [".gadfly/x", "sub/.gadfly/x", "node_modules", "node_modules/x/y", "a/b", "a/b/c"] {
            assert!(excluded.contains(path), "{path}");
        }
        for path in ["gadfly", "x.gadfly", "node_modules2", "a/bc", "a", "b"] {
            assert!(!excluded.contains(path), "{path}");
        }
    }

    #[test]
    fn folders_and_files_closed_by_a_worker_are_opened_again_and_links_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (inner, outside) = (dir.path().join("tree/a"), dir.path().join("outside"));
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("f"), "x").unwrap();
        fs::write(&outside, "x").unwrap();
        std::os::unix::fs::symlink(&outside, inner.join("link")).unwrap();
        for (path, mode) in [(inner.join("f"), 0o000), (outside.clone(), 0o200), (inner.clone(), 0o000)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        make_accessible(&dir.path().join("tree")).unwrap();
        let mode = |p: &Path| fs::symlink_metadata(p).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&inner), mode(&inner.join("f")), mode(&outside)), (0o700, 0o400, 0o200));
    }
}
