//! What git knows of files already is not found out again: an index of ours begins as the user's, whose entries say by
//! size and time which files are unchanged, and the worker's begins as the one its tree was written with. In a large
//! repository reading every file takes a good part of the time until a worker can begin.
//!
//! The user's index may speak of other bytes than those on disk: of a file as its repository keeps it (line ends, filters),
//! or of one that git was told not to look at. Such an entry is taken out, and the file is read.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, FileTimes};
use std::io;
use std::path::Path;

use super::error::WorkspaceError;
use super::git::{GitTarget, zero_ended, zero_separated};
use super::repository::{Indexed, Repository};
use super::store::{REPOSITORY_MODE, SnapshotStore};
use super::tree::off_thread;

/// Attributes whose conversions may keep a file's size. Those of line ends and keywords only ever take bytes away.
const CONVERTING: [&str; 2] = ["filter", "working-tree-encoding"];

impl SnapshotStore {
    /// Lets the index `name` begin with what the user's says of the files that count. Where that cannot be told, it begins
    /// empty, and everything is read.
    pub async fn seed(
        &self,
        name: &str,
        (repository, users, root): (&Repository, &GitTarget, &Path),
        indexed: &[Indexed],
        counted: &HashSet<&str>,
    ) {
        let index = self.index(name);
        let seeded = async {
            let files: Vec<&Indexed> =
                indexed.iter().filter(|e| e.is_plain() && counted.contains(e.path.as_str())).collect();
            let exact = self.exact(users, root, &files).await?;
            let (from, to) = (repository.dir.join("index"), index.clone());
            let path = from.clone();
            off_thread(move || copy_index_file(&from, &to))
                .await
                .map_err(WorkspaceError::io("read", &path))?;
            let others = indexed.iter().map(|e| e.path.as_str()).filter(|path| !exact.contains(path));
            let place = self.place().with_index(&index).over(root);
            self.git.feed(&place, &["update-index", "-z", "--index-info"], removals(others, indexed)).await
        };
        if seeded.await.is_err() {
            let _ = fs::remove_file(&index);
        }
    }

    /// The paths whose entry speaks of the very bytes on disk, as long as the file is the one git has looked at.
    async fn exact<'a>(
        &self,
        users: &GitTarget,
        root: &Path,
        files: &[&'a Indexed],
    ) -> Result<HashSet<&'a str>, WorkspaceError> {
        // Asked of the store: it fetches nothing that is missing.
        let asked = files.iter().flat_map(|e| [e.oid.as_str(), "\n"]).collect::<String>().into_bytes();
        let sizes = self.git.feed(&self.place(), &["cat-file", "--batch-check=%(objectsize)"], asked).await?;
        let sizes: Vec<Option<u64>> =
            String::from_utf8_lossy(&sizes).lines().map(|line| line.parse().ok()).collect();
        if sizes.len() != files.len() {
            return Err(self.damaged("cat-file", "fewer lines than were asked for"));
        }
        let mut asking = users.clone();
        asking.as_user = true;
        let mut args = vec!["check-attr", "-z", "--stdin"];
        args.extend(CONVERTING);
        let paths = zero_ended(files.iter().map(|e| e.path.as_str()));
        let told = zero_separated(&self.git.feed(&asking, &args, paths).await?)?;
        let converted: HashSet<&str> = told
            .chunks_exact(3)
            .filter(|told| !matches!(told[2].as_str(), "unspecified" | "unset"))
            .map(|told| told[0].as_str())
            .collect();
        let (root, paths) = (root.to_owned(), files.iter().map(|e| e.path.clone()).collect::<Vec<_>>());
        let on_disk = off_thread(move || {
            let size = |path: &String| fs::symlink_metadata(root.join(path)).map(|meta| meta.len()).ok();
            paths.iter().map(size).collect::<Vec<_>>()
        })
        .await;
        let same =
            files.iter().zip(sizes).zip(on_disk).filter(|((_, kept), disk)| kept.is_some() && kept == disk);
        Ok(same.map(|((e, _), _)| e.path.as_str()).filter(|path| !converted.contains(path)).collect())
    }

    /// Gives the worker's clone the user's index, so that `git status` there says what it says in the checkout. The files
    /// must be in place, as the index `written` has them.
    pub async fn copy_index(
        &self,
        written: &str,
        base: &HashMap<String, (u32, String)>,
        indexed: &[Indexed],
        work: &Path,
    ) -> Result<(), WorkspaceError> {
        let own = work.join(".git/index");
        copy_index_file(&self.index(written), &own).map_err(WorkspaceError::io("written", &own))?;
        let place = GitTarget::bare(&work.join(".git")).over(work);
        let same = |e: &&Indexed| {
            e.stage == 0 && base.get(&e.path).is_some_and(|(mode, oid)| (*mode, oid) == (e.mode, &e.oid))
        };
        let kept: HashSet<&str> = indexed.iter().filter(same).map(|e| e.path.as_str()).collect();
        let others = base.keys().map(String::as_str).filter(|path| !kept.contains(path));
        let nobodys = in_every_folder(base.keys().map(String::as_str));
        let mut entries = removals(others.chain(nobodys.iter().map(String::as_str)), indexed);
        let mut skipped = Vec::new();
        for entry in indexed {
            if !same(&entry) {
                let line = format!("{:o} {} {}\t{}\0", entry.mode, entry.oid, entry.stage, entry.path);
                entries.extend_from_slice(line.as_bytes());
            }
            if entry.skipped {
                skipped.push(entry.path.as_str());
            }
        }
        if !entries.is_empty() {
            self.git.feed(&place, &["update-index", "-z", "--index-info"], entries).await?;
        }
        if !skipped.is_empty() {
            self.git
                .feed(&place, &["update-index", "--skip-worktree", "-z", "--stdin"], zero_ended(skipped))
                .await?;
        }
        // So that the worker's first `git status` need not read what differs. It says no if files differ.
        self.git.try_feed(&place, &["update-index", "-q", "--refresh"], Vec::new(), 1 << 20).await.map(drop)
    }
}

/// Takes entries out of an index, in the form of `--index-info`. Names in it are as long as those of `indexed`.
fn removals<'a>(paths: impl Iterator<Item = &'a str>, indexed: &[Indexed]) -> Vec<u8> {
    let zero = "0".repeat(indexed.first().map_or(40, |e| e.oid.len()));
    paths.flat_map(|path| format!("0 {zero}\t{path}\0").into_bytes()).collect()
}

/// A path in each folder that no file has. An index also remembers the trees of folders, and those of the store are not in the
/// worker's repository; removing such a path makes git forget them.
fn in_every_folder<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<String> {
    const NOBODYS: &str = ".gadfly-nobodys";
    let mut folders: HashSet<&str> = HashSet::from([""]);
    for path in paths {
        let mut folder = path;
        while let Some((above, _)) = folder.rsplit_once('/') {
            if !folders.insert(above) {
                break;
            }
            folder = above;
        }
    }
    let path =
        |folder: &str| if folder.is_empty() { NOBODYS.to_owned() } else { format!("{folder}/{NOBODYS}") };
    folders.into_iter().map(path).collect()
}

/// With its time: git trusts entries that are older than their index.
fn copy_index_file(from: &Path, to: &Path) -> io::Result<()> {
    let modified = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    File::options().write(true).open(to)?.set_times(FileTimes::new().set_modified(modified))
}

impl Indexed {
    fn is_plain(&self) -> bool {
        self.stage == 0 && !self.hidden && self.mode != REPOSITORY_MODE
    }
}
