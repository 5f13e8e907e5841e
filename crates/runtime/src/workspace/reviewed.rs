//! What a review is about, read from the user's project: changes between two states, or files that git does
//! not ignore. The project is only read; a scratch store takes the few objects that are new.
//!
//! Nothing the repository's configuration names is started, and no setting of the user changes what is seen.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use gadfly_engine::tree::{self, ChangeKind, Tree};
use gadfly_engine::{Digest, Text};

use super::error::WorkspaceError;
use super::git::{Git, GitTarget, text, zero_ended, zero_separated};
use super::repository::{Indexed, Repository, enclosing, global_excludes};
use super::snapshot::{ChangeStatus, manifest};
use super::store::SnapshotStore;
use super::tree::{Excluded, IgnoreRules};

/// More than this of one file is not read: it counts as one that cannot be shown.
const LARGEST_FILE: u64 = 2 << 20;
const LARGEST_DIFF: u64 = 16 << 20;
/// What all files of one review may have together.
const LARGEST_REVIEW: u64 = 64 << 20;

/// Between which states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Range {
    /// From where this branch left another one to what the user sees.
    Since(String),
    /// From HEAD to what the user sees.
    Uncommitted,
    /// From HEAD to what is staged: exactly what a commit would take.
    Staged,
    /// What one commit did.
    Commit(String),
}

/// A project's repository, with a store of our own beside it.
pub struct Reviewed {
    root: PathBuf,
    /// The project below the root, with a slash; empty if they are the same.
    below: String,
    store: SnapshotStore,
    /// The user's repository, to be read, and what its index holds.
    repository: Option<(GitTarget, Vec<Indexed>)>,
}

impl Reviewed {
    /// `scratch` is an empty folder that the caller removes.
    pub async fn open(git: Git, project: &Path, scratch: &Path) -> Result<Self, WorkspaceError> {
        let canonical = project.canonicalize().ok().filter(|p| p.is_dir());
        let project = canonical.ok_or_else(|| WorkspaceError::NotADirectory { path: project.to_owned() })?;
        git.present(&project).await?;
        let store = SnapshotStore::at(git.clone(), scratch.join("store.git"));
        let Some(root) = enclosing(&project) else {
            store.init("sha1").await?;
            store.configure(&global_excludes(&git, &store.place()).await?, &[])?;
            return Ok(Self { root: project, below: String::new(), store, repository: None });
        };
        let (repository, place) = Repository::read(&git, root).await?;
        store.init(&repository.object_format).await?;
        let info = store.dir.join("objects/info");
        fs::create_dir_all(&info).map_err(WorkspaceError::io("made", &info))?;
        let alternates = format!("{}\n", text(&repository.shared.join("objects"))?);
        fs::write(info.join("alternates"), alternates).map_err(WorkspaceError::io("written", &info))?;
        store.configure(&global_excludes(&git, &place).await?, &repository.own_excludes())?;
        let indexed = Repository::index(&git, &place).await?;
        let below = text(project.strip_prefix(root).unwrap_or(Path::new("")))?;
        let below = if below.is_empty() { below } else { format!("{below}/") };
        Ok(Self { root: root.to_owned(), below, store, repository: Some((place, indexed)) })
    }

    /// The project's files, tracked or not ignored, by their paths in the project.
    pub async fn files(&self) -> Result<Vec<String>, WorkspaceError> {
        let listing = self.store.listing(&self.root, IgnoreRules::OfFolder, &Excluded::new([])).await?;
        let tracked = self.repository.iter().flat_map(|(_, indexed)| indexed);
        let tracked = tracked.filter(|e| !e.is_repository() && !e.skipped).map(|e| e.path.clone());
        let all = listing.files.into_iter().chain(tracked);
        let mut inside: Vec<String> = all
            .filter(|path| !is_ours(path))
            .filter_map(|path| path.strip_prefix(&self.below).map(str::to_owned))
            .collect();
        inside.sort_unstable();
        inside.dedup();
        inside.retain(|path| {
            fs::symlink_metadata(self.root.join(&self.below).join(path)).is_ok_and(|m| m.is_file())
        });
        Ok(inside)
    }

    /// The project's changes that `keep` lets through (by their paths from the root), with the texts they name.
    pub async fn changes(
        &self,
        range: &Range,
        keep: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<(Tree, Vec<Text>), WorkspaceError> {
        let (from, to) = self.states(range).await?;
        self.changes_between(&from, &to, keep).await
    }

    /// What a range compares, as trees.
    pub async fn states(&self, range: &Range) -> Result<(String, String), WorkspaceError> {
        let Some((place, indexed)) = &self.repository else {
            let reason = "not a git repository: name files to review";
            return Err(WorkspaceError::unusable(self.root.to_string_lossy(), reason));
        };
        self.ends(range, place, indexed).await
    }

    /// Writes a state into a folder.
    pub async fn export(&self, tree: &str, to: &Path) -> Result<(), WorkspaceError> {
        self.store.export(tree, to).await
    }

    /// What the user sees at this moment, as a tree that [`Self::changes_between`] compares.
    pub async fn seen(&self) -> Result<String, WorkspaceError> {
        let Some((place, _)) = &self.repository else {
            let reason = "not a git repository, so no change can be seen";
            return Err(WorkspaceError::unusable(self.root.to_string_lossy(), reason));
        };
        // What was staged or committed since, and what is gone since.
        let indexed = Repository::index(&self.store.git, place).await?;
        let last = self.store.index("seen");
        if last.exists() {
            fs::remove_file(&last).map_err(WorkspaceError::io("removed", &last))?;
        }
        self.checkout(place, &indexed).await
    }

    /// As [`Self::changes`], between two states.
    pub async fn changes_between(
        &self,
        from: &str,
        to: &str,
        keep: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<(Tree, Vec<Text>), WorkspaceError> {
        let to = self.kept(from, to, keep).await?;
        let mut changes = self.store.changes(from, &to).await?;
        let manifest = Text::new(manifest(from, &changes));
        let diff = Text::new(self.store.diff(from, &to, &[], LARGEST_DIFF).await?);
        let mut left = LARGEST_REVIEW;
        let mut fits = |bytes: u64| {
            let fits = bytes <= LARGEST_FILE && bytes <= left;
            left = left.saturating_sub(if fits { bytes } else { 0 });
            fits
        };
        let entries = self.store.entries(&to).await?;
        let shown: HashSet<String> = changes
            .iter()
            .filter(|c| !c.binary && c.after.is_some() && fits(c.bytes))
            .map(|c| c.path.clone())
            .collect();
        let wanted: Vec<&str> =
            entries.iter().filter(|e| shown.contains(&e.path)).map(|e| e.oid.as_str()).collect();
        let mut texts = Vec::new();
        for group in self.store.groups(&wanted).await? {
            let contents = self.store.contents(&group).await?;
            texts.extend(
                contents.into_iter().filter_map(|bytes| String::from_utf8(bytes).ok()).map(Text::new),
            );
        }
        let known: HashSet<Digest> = texts.iter().map(Text::digest).collect();
        let changes = changes.drain(..).map(|change| tree::Change {
            kind: match change.status {
                ChangeStatus::Added => ChangeKind::Added,
                ChangeStatus::Modified => ChangeKind::Modified,
                ChangeStatus::Deleted => ChangeKind::Deleted,
            },
            mode: change.mode,
            // What cannot be given as a text can be shown to nobody.
            binary: change.after.map_or(change.binary, |after| !known.contains(&after)),
            bytes: change.bytes,
            lines: change.lines,
            before: change.before,
            after: change.after,
            path: change.path,
        });
        let tree = Tree { digest: manifest.digest(), diff: diff.digest(), changes: changes.collect() };
        texts.extend([manifest, diff]);
        Ok((tree, texts))
    }

    /// The project as it is before the change, written below `to`: on the branch the change is for, or at its parent.
    /// Gives the project's folder there.
    pub async fn base(&self, range: &Range, to: &Path) -> Result<PathBuf, WorkspaceError> {
        let Some((place, _)) = &self.repository else {
            let reason = "not a git repository, so there is no state before the change";
            return Err(WorkspaceError::unusable(self.root.to_string_lossy(), reason));
        };
        let commit = match range {
            Range::Since(base) => self.commit(place, base).await?,
            Range::Uncommitted | Range::Staged => "HEAD".to_owned(),
            Range::Commit(rev) => format!("{}^1", self.commit(place, rev).await?),
        };
        let tree = format!("{commit}^{{tree}}");
        let tree = self.store.git.line_if_any(place, &["rev-parse", "--verify", "--quiet", &tree]).await?;
        let tree = self.or_empty(tree).await?;
        fs::create_dir_all(to).map_err(WorkspaceError::io("made", to))?;
        self.store.export(&tree, to).await?;
        Ok(to.join(&self.below))
    }

    /// The trees at both ends.
    async fn ends(
        &self,
        range: &Range,
        place: &GitTarget,
        indexed: &[Indexed],
    ) -> Result<(String, String), WorkspaceError> {
        let git = &self.store.git;
        Ok(match range {
            Range::Uncommitted => {
                let head =
                    git.line_if_any(place, &["rev-parse", "--verify", "--quiet", "HEAD^{tree}"]).await?;
                (self.or_empty(head).await?, self.checkout(place, indexed).await?)
            }
            Range::Staged => {
                let head =
                    git.line_if_any(place, &["rev-parse", "--verify", "--quiet", "HEAD^{tree}"]).await?;
                (self.or_empty(head).await?, self.staged(place).await?)
            }
            Range::Since(base) => {
                let commit = self.commit(place, base).await?;
                let args = ["merge-base", commit.as_str(), "HEAD"];
                let Some(left) = git.line_if_any(place, &args).await? else {
                    let reason =
                        "it shares no commit with HEAD; in a shallow clone, fetch more of the history first";
                    return Err(WorkspaceError::unusable(base, reason));
                };
                let from = git.line(place, &["rev-parse", "--verify", &format!("{left}^{{tree}}")]).await?;
                (from, self.checkout(place, indexed).await?)
            }
            Range::Commit(rev) => {
                let commit = self.commit(place, rev).await?;
                let tree = |of: String| format!("{of}^{{tree}}");
                let before = tree(format!("{commit}^1"));
                let before = git.line_if_any(place, &["rev-parse", "--verify", "--quiet", &before]).await?;
                let to = git.line(place, &["rev-parse", "--verify", &tree(commit)]).await?;
                (self.or_empty(before).await?, to)
            }
        })
    }

    /// What the next commit would hold. Inside a hook git names the index it is about to commit.
    async fn staged(&self, place: &GitTarget) -> Result<String, WorkspaceError> {
        let git = &self.store.git;
        let named = git.env(super::git::INDEX).map(|index| self.root.join(index));
        let place = named.map_or_else(|| place.clone(), |index| place.clone().with_index(&index));
        let indexed = Repository::index(git, &place).await?;
        let ours = self.store.place().with_index(&self.store.index("staged")).over(&self.root);
        git.feed(&ours, &["update-index", "-z", "--index-info"], index_lines(&indexed)).await?;
        git.line(&ours, &["write-tree", "--missing-ok"]).await
    }

    async fn or_empty(&self, tree: Option<String>) -> Result<String, WorkspaceError> {
        match tree {
            Some(tree) => Ok(tree),
            None => self.store.git.line(&self.store.place(), &["mktree"]).await,
        }
    }

    async fn commit(&self, place: &GitTarget, rev: &str) -> Result<String, WorkspaceError> {
        let unknown = || WorkspaceError::unusable(rev, "unknown revision; `git fetch` may bring it");
        if rev.is_empty() || rev.starts_with('-') {
            return Err(unknown());
        }
        let name = format!("{rev}^{{commit}}");
        let found = self.store.git.line_if_any(place, &["rev-parse", "--verify", "--quiet", &name]).await?;
        found.ok_or_else(unknown)
    }

    /// What the user sees: unchanged files as the repository keeps them, changed and new ones as they are.
    async fn checkout(&self, place: &GitTarget, indexed: &[Indexed]) -> Result<String, WorkspaceError> {
        let git = &self.store.git;
        let ours = self.store.place().with_index(&self.store.index("seen")).over(&self.root);
        git.feed(&ours, &["update-index", "-z", "--index-info"], index_lines(indexed)).await?;
        let changed = git.run(place, &["diff-files", "--name-only", "-z", "--no-renames"]).await?;
        let mut paths = zero_separated(&changed)?;
        let tracked: HashSet<&str> = indexed.iter().map(|e| e.path.as_str()).collect();
        // Of a submodule git knows only its commit.
        let modules: HashSet<&str> =
            indexed.iter().filter(|e| e.is_repository()).map(|e| e.path.as_str()).collect();
        let listing = self.store.listing(&self.root, IgnoreRules::OfFolder, &Excluded::new([])).await?;
        paths.extend(listing.files.into_iter().filter(|path| !tracked.contains(path.as_str())));
        paths.retain(|path| !is_ours(path) && !modules.contains(path.as_str()));
        paths.sort_unstable();
        paths.dedup();
        let args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
        git.feed(&ours, &args, zero_ended(paths.iter().map(String::as_str))).await?;
        git.line(&ours, &["write-tree", "--missing-ok"]).await
    }

    /// `to` with everything put back that is not asked for.
    async fn kept(
        &self,
        from: &str,
        to: &str,
        keep: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<String, WorkspaceError> {
        let git = &self.store.git;
        let zero = "0".repeat(from.len());
        let mut lines = Vec::new();
        for difference in self.store.between(from, to).await? {
            let path = &difference.path;
            let wanted = path.starts_with(&self.below) && !is_ours(path) && keep(path);
            let module = |side: &Option<super::store::Side>| {
                side.as_ref().is_some_and(|s| s.mode == super::store::REPOSITORY_MODE)
            };
            if !wanted || module(&difference.from) || module(&difference.to) {
                continue;
            }
            let line = match &difference.to {
                Some(side) => format!("{:o} {} 0\t{path}\0", side.mode, side.oid),
                None => format!("0 {zero}\t{path}\0"),
            };
            lines.extend_from_slice(line.as_bytes());
        }
        let place = self.store.place().with_index(&self.store.index("kept"));
        git.run(&place, &["read-tree", from]).await?;
        git.feed(&place, &["update-index", "-z", "--index-info"], lines).await?;
        git.line(&place, &["write-tree", "--missing-ok"]).await
    }
}

/// Gadfly's own state is never work to be judged.
fn is_ours(path: &str) -> bool {
    path.split('/').any(|part| part == ".gadfly")
}

/// Entries as `update-index --index-info` reads them.
fn index_lines(indexed: &[Indexed]) -> Vec<u8> {
    let line = |e: &Indexed| format!("{:o} {} 0\t{}\0", e.mode, e.oid, e.path);
    indexed.iter().filter(|e| e.stage == 0).map(line).collect::<String>().into_bytes()
}
