//! A run that works in the user's own checkout: what is written down when it begins and with every snapshot, and
//! the way back to the beginning. Nothing here changes the checkout but [`Workspace::go_back`], which a person
//! asks for.
//!
//! The way back leads from the state that is known to be the run's. What the run did not change is the user's and
//! stays; what it changed and the user changed again is a conflict, and then nothing is taken back.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use gadfly_engine::Digest;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::beside::{BesideWay, INDEX, KeptCopies, KeptFiles, Sight};
use super::checkout::Checkout;
use super::error::WorkspaceError;
use super::file_metadata::{Drift, FileMetadata, Passed};
use super::hooks::GitHooks;
use super::repository::Repository;
use super::store::checked;
use super::tree::off_thread;
use super::{Snapshot, Workspace, WorkspaceFacts};
use crate::save::write_atomically;

const OUTLINE: &str = "outline.json";
const HOOKS: &str = "hooks.json";
const KEPT: &str = "beside.json";

/// What going back would do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WayBack {
    /// Changed or deleted by the run: these get what they held when it began.
    pub restored: Vec<String>,
    /// New since the run began: these go.
    pub removed: Vec<String>,
    /// Changed by the run, and again since: as long as there is one, nothing is done.
    pub conflicts: Vec<String>,
    /// Different from the beginning, but not by the run: these stay.
    pub left_alone: Vec<String>,
    /// Repositories that were made inside since the run began, which no snapshot holds: these stay.
    pub repositories: Vec<String>,
    /// What git runs or obeys that is not what it was, and stays so.
    pub hooks: Vec<String>,
    /// The state it leads from.
    pub(super) from: String,
    /// The run's files, whether or not they are back already.
    pub(super) files: Vec<String>,
    pub(super) drift: Drift,
    /// What goes back of git's own files and of ignored ones; they are among those above, too.
    pub(super) beside: BesideWay,
}

impl WayBack {
    /// Everything is as it was when the run began.
    pub fn is_done(&self) -> bool {
        self.restored.is_empty() && self.removed.is_empty() && self.drift.0.is_empty()
    }

    fn add_beside(&mut self, beside: &KeptCopies, way: BesideWay) {
        self.restored.extend(way.restore.iter().map(|key| beside.shown(key)));
        self.removed.extend(way.remove.iter().map(|key| beside.shown(key)));
        if !way.objects.is_empty() {
            self.restored.push(format!(".git/objects ({} files)", way.objects.len()));
        }
        if way.pointer {
            self.restored.push(".git".to_owned());
        }
        let comes_back = |path: &String| self.restored.contains(path) || self.removed.contains(path);
        let stays: Vec<String> = self.hooks.iter().filter(|path| !comes_back(path)).cloned().collect();
        self.hooks = stays;
        self.left_alone.extend(way.left.iter().cloned());
        self.beside = way;
    }
}

impl Workspace {
    /// Writes down, and keeps, what no tree keeps of the beginning. Returns what could not be kept.
    pub(super) async fn note_beginning(&self) -> Result<Vec<String>, WorkspaceError> {
        let outline = self.outline().await?;
        self.put(OUTLINE, &outline)?;
        self.put(HOOKS, &GitHooks::of(&self.repositories()))?;
        let (beside, ignored) = (self.beside(), self.ignored().await?);
        let kept = off_thread(move || beside.keep(&ignored)).await;
        let mut kept = kept.map_err(WorkspaceError::io("kept", &self.home))?;
        self.tell_index(&mut kept.before).await;
        self.put(KEPT, &kept)?;
        Ok(kept.without)
    }

    /// Writes down what no tree keeps of this snapshot.
    pub(super) async fn note_drift(&self, tree: &str) -> Result<(), WorkspaceError> {
        if let Some(kept) = self.get_if_any::<KeptFiles>(KEPT)? {
            let sight = self.sight(&kept).await?;
            let dir = self.home.join("sights");
            fs::create_dir_all(&dir).map_err(WorkspaceError::io("made", &dir))?;
            self.put(&sight_of(checked(tree)?), &sight)?;
        }
        let drift = self.drift().await?;
        let name = drift_of(checked(tree)?);
        if drift == Drift::default() && !self.home.join(&name).exists() {
            return Ok(());
        }
        let dir = self.home.join("drift");
        fs::create_dir_all(&dir).map_err(WorkspaceError::io("made", &dir))?;
        self.put(&name, &drift)
    }

    /// Opens what was closed since the beginning, so that it can be read.
    pub(super) async fn open_closed(&self) -> Result<(), WorkspaceError> {
        let (outline, names) = (self.get::<FileMetadata>(OUTLINE)?, self.passed_over().await?);
        let (root, excluded) = (self.work(), self.excluded.clone());
        let path = root.clone();
        off_thread(move || outline.open_closed(&root, &Passed { excluded: &excluded, names }))
            .await
            .map_err(WorkspaceError::io("read", &path))
    }

    /// What git runs or obeys that is not what it was when the run began.
    pub fn hooks_changed(&self) -> Result<Vec<String>, WorkspaceError> {
        if !self.facts.in_place {
            return Ok(Vec::new());
        }
        let before: GitHooks = self.get(HOOKS)?;
        Ok(before.changed(&GitHooks::of(&self.repositories()), &self.facts.root))
    }

    /// How the checkout gets back to the beginning. `last` is the last state that is known to be the run's; none
    /// if everything that differs now is taken to be.
    pub async fn way_back(&self, last: Option<&str>) -> Result<WayBack, WorkspaceError> {
        if !self.facts.in_place {
            return Err(WorkspaceError::unusable(
                self.work().to_string_lossy(),
                "the run did not work in place",
            ));
        }
        // Looking does not change what was written down of the last state.
        let (now, found) = self.look_over().await?;
        let from = checked(last.unwrap_or(&now.tree))?.to_owned();
        let steps = self.store.steps(&from, &self.facts.base).await?;
        let conflicts = self.store.in_conflict(&steps, &self.facts.root).await?;
        let differing: HashSet<&str> = now.changes.iter().map(|c| c.path.as_str()).collect();
        let runs: HashSet<&str> = steps.iter().map(|s| s.path.as_str()).collect();
        let mut way = WayBack { hooks: self.hooks_changed()?, ..WayBack::default() };
        for step in steps.iter().filter(|s| differing.contains(s.path.as_str())) {
            let side = if step.to.is_some() { &mut way.restored } else { &mut way.removed };
            side.push(step.path.clone());
        }
        let mine = now.changes.iter().filter(|c| !runs.contains(c.path.as_str()));
        way.left_alone = mine.map(|c| c.path.clone()).collect();
        way.repositories =
            now.left_out.iter().filter(|r| !self.facts.left_out.contains(r)).cloned().collect();
        way.files = steps.iter().map(|s| s.path.clone()).collect();
        way.drift = match last {
            Some(last) => self.get_if_any(&drift_of(last))?.unwrap_or_default(),
            None => found,
        };
        if let Some(kept) = self.get_if_any::<KeptFiles>(KEPT)? {
            let now = self.sight(&kept).await?;
            let after: Option<Sight> = match last {
                Some(last) => self.get_if_any(&sight_of(last))?,
                None => None,
            };
            let beside = self.beside();
            let there = beside.clone();
            let found = move || there.way(&kept, after.as_ref().unwrap_or(&now), &now);
            way.add_beside(&beside, off_thread(found).await);
        }
        Ok(WayBack { conflicts, from, ..way })
    }

    /// Takes back what the run did, all of it or, if a file changed since, nothing. Cut off in the middle, doing
    /// it again finishes it.
    pub async fn go_back(&self, way: &WayBack) -> Result<(), WorkspaceError> {
        if !way.conflicts.is_empty() {
            return Err(WorkspaceError::Conflict { paths: way.conflicts.clone() });
        }
        let root = self.facts.root.clone();
        let io = |source| WorkspaceError::Io { doing: "written", path: root.clone(), source };
        let outline: FileMetadata = self.get(OUTLINE)?;
        let (at, drift, had, files) = (root.clone(), way.drift.clone(), outline.clone(), way.files.clone());
        let first = move || had.put_bits_back(&drift, &files, &Checkout::open(&at)?);
        off_thread(first).await.map_err(io)?;
        self.store.apply(&way.from, &self.facts.base, &root).await?;
        let (at, drift, files) = (root.clone(), way.drift.clone(), way.files.clone());
        let last = move || outline.finish(&drift, &files, &mut Checkout::open(&at)?);
        off_thread(last).await.map_err(io)?;
        let Some(kept) = self.get_if_any::<KeptFiles>(KEPT)? else { return Ok(()) };
        let (beside, way) = (self.beside(), way.beside.clone());
        off_thread(move || beside.go_back(&kept, &way)).await.map_err(io)
    }

    fn beside(&self) -> KeptCopies {
        KeptCopies::of(&self.home, &self.facts.root, self.facts.repository.as_ref())
    }

    /// What git ignores, by the rules of the beginning, and is not the run's own.
    async fn ignored(&self) -> Result<Vec<String>, WorkspaceError> {
        let mut ignored = self.store.ignored_by(&self.work(), &self.home.join("rules")).await?;
        ignored.retain(|path| !self.excluded.contains(path.trim_end_matches('/')));
        Ok(ignored)
    }

    async fn sight(&self, kept: &KeptFiles) -> Result<Sight, WorkspaceError> {
        let (beside, ignored, kept) = (self.beside(), self.ignored().await?, kept.clone());
        let mut sight = off_thread(move || beside.sight(&ignored, &kept)).await;
        self.tell_index(&mut sight).await;
        Ok(sight)
    }

    /// The index by what it lists, where git can read it.
    async fn tell_index(&self, sight: &mut Sight) {
        let Some(repository) = self.facts.repository.as_ref().filter(|_| sight.marks.contains_key(INDEX))
        else {
            return;
        };
        let Ok(place) = repository.place(&self.store.git, &self.facts.root).await else { return };
        if let Ok(listed) = Repository::index(&self.store.git, &place).await {
            sight.marks.insert(INDEX.to_owned(), Digest::of(format!("{listed:?}").as_bytes()).to_string());
        }
    }

    /// A snapshot, and what no tree keeps of it; nothing is written down of it.
    async fn look_over(&self) -> Result<(Snapshot, Drift), WorkspaceError> {
        let _turn = self.turn.lock().await;
        let (tree, left_out) = self.take_opened().await?;
        Ok((self.described(tree, left_out).await?, self.drift().await?))
    }

    async fn drift(&self) -> Result<Drift, WorkspaceError> {
        let before: FileMetadata = self.get(OUTLINE)?;
        Ok(before.drift(&self.outline().await?))
    }

    async fn outline(&self) -> Result<FileMetadata, WorkspaceError> {
        let names = self.passed_over().await?;
        let (root, excluded) = (self.work(), self.excluded.clone());
        let path = root.clone();
        off_thread(move || FileMetadata::of(&root, &Passed { excluded: &excluded, names }))
            .await
            .map_err(WorkspaceError::io("read", &path))
    }

    /// What was ignored in the beginning is ignored; repositories inside are not ours.
    async fn passed_over(&self) -> Result<HashSet<String>, WorkspaceError> {
        let ignored = self.store.ignored_by(&self.work(), &self.home.join("rules")).await?;
        let names = ignored.iter().map(|path| path.trim_end_matches('/').to_owned());
        Ok(names.chain(self.facts.left_out.iter().cloned()).collect())
    }

    /// The user's repository; of a linked worktree both its parts. One that is made where none was counts, too.
    fn repositories(&self) -> Vec<PathBuf> {
        let Some(repository) = &self.facts.repository else { return vec![self.facts.root.join(".git")] };
        let mut dirs = vec![repository.dir.clone(), repository.shared.clone()];
        dirs.dedup();
        dirs
    }

    pub(super) fn put(&self, name: &str, what: &impl Serialize) -> Result<(), WorkspaceError> {
        let path = self.home.join(name);
        let json = serde_json::to_vec(what)
            .map_err(|e| WorkspaceError::Damaged { path: path.clone(), reason: e.to_string() })?;
        write_atomically(&path, &json).map_err(WorkspaceError::io("written", &path))
    }

    fn get<T: DeserializeOwned>(&self, name: &str) -> Result<T, WorkspaceError> {
        let missing =
            || WorkspaceError::Damaged { path: self.home.clone(), reason: format!("{name} is gone") };
        self.get_if_any(name)?.ok_or_else(missing)
    }

    pub(super) fn get_if_any<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, WorkspaceError> {
        let path = self.home.join(name);
        match fs::read(&path) {
            Ok(json) => serde_json::from_slice(&json)
                .map(Some)
                .map_err(|e| WorkspaceError::Damaged { path, reason: e.to_string() }),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(WorkspaceError::Io { doing: "read", path, source }),
        }
    }
}

fn sight_of(tree: &str) -> String {
    format!("sights/{tree}.json")
}

fn drift_of(tree: &str) -> String {
    format!("drift/{tree}.json")
}

/// What a worker in place reads besides the checkout: the repository, if it is elsewhere (a linked worktree).
/// None if the run does not work in place.
pub(super) fn read_beside(run: &Path) -> Option<Vec<PathBuf>> {
    let facts = WorkspaceFacts::read(&run.join("tree")).ok().filter(|facts| facts.in_place)?;
    let mut dirs: Vec<PathBuf> = facts.repository.map(|r| vec![r.dir, r.shared]).unwrap_or_default();
    dirs.retain(|dir| !dir.starts_with(&facts.root) && dir.is_dir());
    dirs.dedup();
    Some(dirs)
}
