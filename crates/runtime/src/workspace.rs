//! A worker's own tree of the project's files: snapshot, restore, diff, accept, undo.
//!
//! A workspace begins with what the user sees (the *base*): HEAD with uncommitted and untracked files, without
//! what is ignored. The worker works in a private copy; the user's checkout changes only on acceptance, and
//! its index, HEAD and stash never. Git is the snapshot engine, for plain folders too, in a private store
//! whose own settings are the only ones that apply. On request the work is done *in place*: then the user's
//! checkout is the tree, and nothing here ever restores it unasked; `in_place` has what differs.
//!
//! Choices a user can notice:
//! - What is ignored is what was ignored in the base: a worker that edits `.gitignore` hides nothing by it.
//! - Ignored files (build caches) survive a restore, and so do folders that mark themselves as caches.
//! - Repositories inside the project are left out, and named; of submodules the files are there, to be read.
//!
//! It decides nothing about a run, and runs no command but git: `prepare` is the folder's.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use apply::CheckoutChanges;
pub use bring::Bring;
pub(crate) use checkout::Checkout;
pub(crate) use commit_files::Intent as CommitIntent;
pub use error::WorkspaceError;
pub use folder::{FolderState, hash_folder};
pub(crate) use fresh::copy_paths;
pub use git::Git;
pub(crate) use ignored::CountedOutputs;
pub use ignored::ignored_and_needed;
pub use in_place::WayBack;
pub use intent::{TakenBack, is_begun};
pub use landing::{Landed, Landing};
pub use objects::read_beside;
pub use partial::{PastAcceptance, take_all_back, way_to_take_all_back};
pub use recent::Recent;
pub use reviewed::{Range, Reviewed};
pub use snapshot::{ChangeStatus, Snapshot, SnapshotChange};
pub use store::TreeEntry;

use gadfly_engine::Digest;
use store::SnapshotStore;
use tree::{Excluded, IgnoreRules, make_accessible, make_accessible_or_remove, off_thread};

use crate::os::remove_tree;

mod apply;
mod beside;
mod blobs;
mod bring;
mod caches;
mod checkout;
mod clone;
mod commit;
mod commit_files;
mod conflict;
mod copying;
mod create;
mod dependencies;
mod diff;
mod error;
mod file_metadata;
mod folder;
mod fresh;
mod git;
mod hooks;
mod ignore_rules;
mod ignored;
mod in_place;
mod intent;
mod landing;
mod merge;
mod objects;
mod partial;
mod recent;
mod repository;
mod reviewed;
mod seeded;
mod snapshot;
mod staged;
mod store;
mod tree;

/// The index of the worker's tree, in the store.
const WORK: &str = "work";
/// What the run shares with the user's repository, by hard links: outside the worker's folder, never written.
const OBJECTS: &str = "objects";
const VERSION: u32 = 1;
const IN_PLACE: &str =
    "the run works in your project itself, which is not restored; `gadfly undo` takes back what it did";

/// A private tree of one run, with its store.
pub struct Workspace {
    /// `<run>/tree`: everything below is ours.
    home: PathBuf,
    store: SnapshotStore,
    facts: WorkspaceFacts,
    excluded: Excluded,
    /// Paths that count although they are ignored, because the user's repository tracks them.
    tracked: Vec<String>,
    /// One at a time may use the index of the worker's tree.
    turn: tokio::sync::Mutex<()>,
}

/// What another process needs to go on with this workspace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct WorkspaceFacts {
    version: u32,
    /// The top folder of the tree: the project's, or the repository's it lies in.
    root: PathBuf,
    /// The project below the root; empty if they are the same.
    project: String,
    repository: Option<repository::Repository>,
    base: String,
    /// From the root, as are all paths of a tree.
    bring: Bring,
    /// What git ignores and counts all the same.
    #[serde(default, skip_serializing_if = "CountedOutputs::is_empty")]
    counted: CountedOutputs,
    left_out: Vec<String>,
    /// The tree is the user's own checkout.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    in_place: bool,
}

impl WorkspaceFacts {
    fn read(home: &Path) -> Result<Self, String> {
        let path = home.join("workspace.json");
        let text = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        serde_json::from_slice(&text).map_err(|e| e.to_string())
    }
}

/// A new workspace, and what its user should know of it.
pub struct Created {
    pub workspace: Workspace,
    /// Paths of `link` and `copy` that the project does not have.
    pub missing: Vec<String>,
    /// What git ignores and was not asked for, seen from the top of the tree.
    pub not_brought: Vec<String>,
    /// Dependencies and submodules that are too large to be copied unasked.
    pub too_large: Vec<String>,
    /// Of a run in place: what undoing it could not bring back.
    pub not_kept: Vec<String>,
}

/// A file of a snapshot, from the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stored {
    pub path: String,
    pub mode: u32,
    pub bytes: u64,
    /// None if it is larger than was asked for.
    pub content: Option<Vec<u8>>,
}

impl Workspace {
    /// The workspace of a run that began earlier, perhaps in another process.
    pub fn open(git: Git, run: &Path) -> Result<Self, WorkspaceError> {
        let home = home_of(run)?;
        let damaged = |reason: String| WorkspaceError::Damaged { path: home.clone(), reason };
        let facts = WorkspaceFacts::read(&home).map_err(damaged)?;
        if facts.version != VERSION {
            let reason =
                format!("it was made by another version (format {}, ours is {VERSION})", facts.version);
            return Err(damaged(reason));
        }
        let tracked =
            fs::read(home.join("tracked")).map_err(WorkspaceError::io("read", &home.join("tracked")))?;
        let tracked = git::zero_separated(&tracked)?;
        Ok(Self::over(git, home, facts, tracked))
    }

    fn over(git: Git, home: PathBuf, facts: WorkspaceFacts, tracked: Vec<String>) -> Self {
        let store = SnapshotStore::at(git, home.join("store.git"));
        let excluded = Excluded::new(facts.bring.all().cloned());
        Self { home, store, facts, excluded, tracked, turn: tokio::sync::Mutex::default() }
    }

    /// Where the worker works: the project's folder in its private tree, or the project itself.
    pub fn dir(&self) -> PathBuf {
        self.work().join(&self.facts.project)
    }

    /// The top of the tree that is worked in. Paths of changes are relative to it.
    pub fn work(&self) -> PathBuf {
        if self.facts.in_place { self.facts.root.clone() } else { self.home.join("work") }
    }

    /// The project below the top of the tree; empty if they are the same.
    pub fn below(&self) -> &str {
        &self.facts.project
    }

    pub const fn is_in_place(&self) -> bool {
        self.facts.in_place
    }

    /// What a run that is over needs no more; of a run in place nothing, for its tree is the user's.
    pub fn disposable(&self) -> Vec<PathBuf> {
        if self.facts.in_place { Vec::new() } else { vec![self.home.join("work"), self.home.join("kept")] }
    }

    /// What the worker's repository reads besides its own folder: the objects of the past. Nobody may write
    /// there: they are shared with the user's repository.
    pub fn objects(&self) -> PathBuf {
        objects::of(&self.home)
    }

    /// The user's folder that corresponds to [`Self::work`]; acceptance writes there.
    pub fn root(&self) -> &Path {
        &self.facts.root
    }

    /// The tree the run began with.
    pub fn base(&self) -> &str {
        &self.facts.base
    }

    /// The commit HEAD named when the run began.
    pub fn head(&self) -> Option<&str> {
        self.facts.repository.as_ref()?.head.as_deref()
    }

    pub const fn is_repository(&self) -> bool {
        self.facts.repository.is_some()
    }

    pub fn left_out(&self) -> &[String] {
        &self.facts.left_out
    }

    /// What was brought into the tree beside the project's files.
    pub const fn brought(&self) -> &Bring {
        &self.facts.bring
    }

    /// What the worker's tree holds now.
    pub async fn snapshot(&self) -> Result<Snapshot, WorkspaceError> {
        let _turn = self.turn.lock().await;
        let (tree, left_out) = self.take_opened().await?;
        if self.facts.in_place {
            self.note_drift(&tree).await?;
        } else if self.is_repository() {
            let (work, kept) = (self.work(), self.kept(&tree));
            let path = kept.clone();
            off_thread(move || clone::keep(&work, &kept)).await.map_err(WorkspaceError::io("kept", &path))?;
        }
        self.described(tree, left_out).await
    }

    async fn take_opened(&self) -> Result<(String, Vec<String>), WorkspaceError> {
        match self.take().await {
            // A worker may have closed a folder or a file; they are ours to open.
            Err(WorkspaceError::GitFailed { .. }) => {
                self.open_up().await?;
                self.take().await
            }
            other => other,
        }
    }

    async fn described(&self, tree: String, left_out: Vec<String>) -> Result<Snapshot, WorkspaceError> {
        let changes = self.store.changes(&self.facts.base, &tree).await?;
        let manifest = snapshot::manifest(&self.facts.base, &changes);
        Ok(Snapshot { digest: Digest::of(manifest.as_bytes()), tree, manifest, changes, left_out })
    }

    /// The digest of any tree of this workspace, as its snapshot had it.
    pub async fn digest(&self, tree: &str) -> Result<Digest, WorkspaceError> {
        let changes = self.store.changes(&self.facts.base, tree).await?;
        Ok(Digest::of(snapshot::manifest(&self.facts.base, &changes).as_bytes()))
    }

    async fn take(&self) -> Result<(String, Vec<String>), WorkspaceError> {
        let work = self.work();
        if !fs::symlink_metadata(&work).is_ok_and(|m| m.is_dir()) {
            return Err(WorkspaceError::NotADirectory { path: work });
        }
        let rules = self.home.join("rules");
        let mut listing = self.store.listing(&work, IgnoreRules::List(&rules), &self.excluded).await?;
        listing.add(self.store.counted(&work, &self.facts.counted, &self.excluded).await?.0);
        self.leave_out_caches(&mut listing).await?;
        let tree = self.store.take(&work, WORK, &listing.files, &self.tracked).await?;
        Ok((tree, listing.repositories))
    }

    /// Leaves out what tools made for themselves since the run began. In place everything counts: what is not seen there
    /// is in the user's folder all the same.
    async fn leave_out_caches(&self, listing: &mut tree::FolderListing) -> Result<(), WorkspaceError> {
        if self.facts.in_place {
            return Ok(());
        }
        let (work, files) = (self.work(), std::mem::take(&mut listing.files));
        let (mut found, mut files) = off_thread(move || (caches::among(&work, &files), files)).await;
        if !found.is_empty() {
            let base = self.store.entries(&self.facts.base).await?;
            found.retain(|cache| !base.iter().any(|entry| caches::is_below(&entry.path, cache)));
            files.retain(|path| !found.iter().any(|cache| caches::is_below(path, cache)));
        }
        listing.files = files;
        Ok(())
    }

    async fn open_up(&self) -> Result<(), WorkspaceError> {
        if self.facts.in_place {
            return self.open_closed().await;
        }
        let work = self.work();
        let path = work.clone();
        off_thread(move || make_accessible(&work)).await.map_err(WorkspaceError::io("read", &path))
    }

    /// Makes the worker's tree exactly this one again, whatever happened to it. Ignored files stay where
    /// nothing of the tree must be. The clone's refs, index and stash become what they were at that snapshot.
    pub async fn restore(&self, tree: &str) -> Result<(), WorkspaceError> {
        let tree = store::checked(tree)?;
        if self.facts.in_place {
            // The last line of defence: what would be lost are the user's own files.
            return Err(WorkspaceError::unusable(self.work().to_string_lossy(), IN_PLACE));
        }
        let _turn = self.turn.lock().await;
        let entries = self.store.entries(tree).await?;
        let (work, kept) = (self.work(), self.kept(tree));
        let objects = self.objects();
        let (is_repository, path) = (self.is_repository(), work.clone());
        off_thread(move || {
            if !fs::symlink_metadata(&work).is_ok_and(|m| m.is_dir()) {
                clear(&work);
                fs::create_dir(&work)?;
            }
            make_accessible_or_remove(&work)?;
            if is_repository {
                clone::put_back(&work, &kept, &objects)?;
            }
            make_way(&work, entries.iter().map(|e| e.path.as_str()));
            Ok(())
        })
        .await
        .map_err(WorkspaceError::io("restored", &path))?;
        let (found, repositories) = self.take().await?;
        if found == tree && repositories.is_empty() {
            return Ok(());
        }
        let work = self.work();
        off_thread(move || repositories.iter().for_each(|r| clear(&work.join(r)))).await;
        // The index says what the tree holds, so git changes only what differs.
        let place = self.store.place().with_index(&self.store.index(WORK)).over(&self.work());
        self.store.git.run(&place, &["read-tree", "--reset", "-u", tree]).await?;
        let (now, _) = self.take().await?;
        if now == tree {
            return Ok(());
        }
        let reason = format!("its files could not be restored: they make {now}, not {tree}");
        Err(WorkspaceError::Damaged { path: self.work(), reason })
    }

    /// Gives the clone back the refs, index, settings and hooks it had at that snapshot; true if it had others.
    pub async fn restore_clone(&self, tree: &str) -> Result<bool, WorkspaceError> {
        let _turn = self.turn.lock().await;
        let (work, kept, objects) = (self.work(), self.kept(store::checked(tree)?), self.objects());
        let path = work.clone();
        let has_clone = self.is_repository() && !self.facts.in_place;
        if !has_clone || !fs::symlink_metadata(&work).is_ok_and(|m| m.is_dir()) {
            return Ok(false);
        }
        let put_back = move || {
            // What cannot be read any more was changed.
            if clone::is_as_kept(&work, &kept).unwrap_or(false) {
                return Ok(false);
            }
            make_accessible_or_remove(&work)?;
            clone::put_back(&work, &kept, &objects).map(|()| true)
        };
        off_thread(put_back).await.map_err(WorkspaceError::io("restored", &path))
    }

    /// All files of a tree.
    pub async fn entries(&self, tree: &str) -> Result<Vec<TreeEntry>, WorkspaceError> {
        self.store.entries(tree).await
    }

    /// What `to` changes against `from`.
    pub async fn changes(&self, from: &str, to: &str) -> Result<Vec<SnapshotChange>, WorkspaceError> {
        self.store.changes(from, to).await
    }

    /// One file of a tree; none if the tree does not have it, an error if it is larger than `max`.
    pub async fn read(&self, tree: &str, path: &str, max: u64) -> Result<Option<Vec<u8>>, WorkspaceError> {
        let Some(stored) = self.read_many(tree, &[path], max).await?.pop() else { return Ok(None) };
        match stored.content {
            Some(content) => Ok(Some(content)),
            None => Err(WorkspaceError::TooLarge { what: format!("`{path}`"), limit: max }),
        }
    }

    /// Several files of a tree, from the store and not from the disk, sorted by path. Those the tree does not
    /// have are missing from the answer; the content of one larger than `max` is left out.
    pub async fn read_many(
        &self,
        tree: &str,
        paths: &[&str],
        max: u64,
    ) -> Result<Vec<Stored>, WorkspaceError> {
        let asked: HashSet<&str> = paths.iter().copied().collect();
        let mut entries = self.store.entries(tree).await?;
        entries.retain(|e| asked.contains(e.path.as_str()) && e.mode != store::REPOSITORY_MODE);
        let wanted: Vec<&str> = entries.iter().filter(|e| e.bytes <= max).map(|e| e.oid.as_str()).collect();
        let mut contents = Vec::with_capacity(wanted.len());
        for group in self.store.groups(&wanted).await? {
            contents.extend(self.store.contents(&group).await?);
        }
        let mut contents = contents.into_iter();
        let stored = entries.into_iter().map(|TreeEntry { path, mode, bytes, .. }| {
            let content = if bytes <= max { contents.next() } else { None };
            Stored { path, mode, bytes, content }
        });
        Ok(stored.collect())
    }

    /// The difference as a unified diff of at most `max` bytes; longer is an error, never a cut.
    pub async fn diff(&self, from: &str, to: &str, max: u64) -> Result<String, WorkspaceError> {
        let changes = self.store.between(from, to).await?;
        let without = self.not_in_diffs(changes.iter().map(|change| change.path.as_str()));
        self.store.diff(from, to, &without, max).await
    }

    /// The files of a tree in a folder of their own, without a repository. The folder must be empty or new.
    pub async fn export(&self, tree: &str, to: &Path) -> Result<(), WorkspaceError> {
        fs::create_dir_all(to).map_err(WorkspaceError::io("made", to))?;
        let mut there = fs::read_dir(to).map_err(WorkspaceError::io("read", to))?;
        if there.next().is_some() {
            return Err(WorkspaceError::unusable(to.to_string_lossy(), "it is not empty: name a new folder"));
        }
        self.store.export(tree, to).await
    }

    /// Carries what was judged into the user's checkout, all of it or, on a conflict, nothing. Again is once.
    /// See `land` for what can be done about a conflict.
    pub async fn accept(&self, judged: &str) -> Result<CheckoutChanges, WorkspaceError> {
        self.carry(&self.facts.base, judged).await
    }

    /// Takes an acceptance back, all of it or, if a file changed since, nothing. Again is once.
    pub async fn undo(&self, judged: &str) -> Result<CheckoutChanges, WorkspaceError> {
        self.take_back(judged, None).await
    }

    /// Where the clone's own state at a snapshot is kept.
    fn kept(&self, tree: &str) -> PathBuf {
        self.home.join("kept").join(tree)
    }

    /// Tracked paths whose content the workspace never held.
    fn unseen(&self) -> Result<HashSet<String>, WorkspaceError> {
        Ok(self.list("unseen")?.into_iter().collect())
    }

    /// (path, its content as it was on disk, the same as the user's repository keeps it)
    fn kept_in_another_form(&self) -> Result<Vec<(String, String, String)>, WorkspaceError> {
        let list = self.list("converted")?;
        Ok(list
            .chunks_exact(3)
            .filter_map(|c| <[String; 3]>::try_from(c.to_vec()).ok())
            .map(Into::into)
            .collect())
    }

    fn list(&self, name: &str) -> Result<Vec<String>, WorkspaceError> {
        let path = self.home.join(name);
        git::zero_separated(&fs::read(&path).map_err(WorkspaceError::io("read", &path))?)
    }
}

fn home_of(run: &Path) -> Result<PathBuf, WorkspaceError> {
    let run = run.canonicalize().map_err(WorkspaceError::io("found", run))?;
    Ok(run.join("tree"))
}

/// Removes what is at a path, also if that takes long; gives up only if nothing more goes.
fn clear(path: &Path) {
    for _ in 0..100 {
        if fs::symlink_metadata(path).is_err() {
            return;
        }
        remove_tree(path);
    }
}

/// Takes away what stands where a file of the tree, or a folder above it, must be.
fn make_way<'a>(work: &Path, paths: impl Iterator<Item = &'a str>) {
    let mut seen = HashSet::new();
    for path in paths {
        for (at, _) in path.match_indices('/') {
            let above = &path[..at];
            if seen.insert(above.to_owned()) {
                let there = work.join(above);
                if fs::symlink_metadata(&there).is_ok_and(|m| !m.is_dir()) {
                    clear(&there);
                }
            }
        }
        let there = work.join(path);
        if fs::symlink_metadata(&there).is_ok_and(|m| !m.is_file() && !m.is_symlink()) {
            clear(&there);
        }
    }
}
