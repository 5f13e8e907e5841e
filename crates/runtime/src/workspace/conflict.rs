//! Finds what changed on both sides, and what could be done about each file: for a person to decide.
//!
//! It reads the checkout, without following a link, and writes only into the store. What a decision then
//! does is `landing`'s.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gadfly_engine::Digest;
use gadfly_engine::conflict::{Conflict, ConflictKind, Conflicts};

use super::Workspace;
use super::apply::{PathState, PathStep, parents};
use super::blobs::{BlobFacts, LARGEST_FILE};
use super::checkout::{Checkout, PathContent};
use super::error::WorkspaceError;
use super::landing::LandingOffer;
use super::merge::{LARGEST_MERGED, MergeResult};
use super::store::{EXECUTABLE_MODE, LINK_MODE, Side, SnapshotStore};
use super::tree::off_thread;
use crate::os::remove_tree;

const FILE_MODE: u32 = 0o100_644;
/// How many files a question names; of the others it says how many there are.
const MOST_NAMED: usize = 50;
/// Each merge is a program that is started.
const MOST_MERGES: usize = 200;

/// One file that changed on both sides.
struct Both {
    step: PathStep,
    /// The checkout's version; none if there is no file or link at the path, or one too large to be kept.
    here: Option<PathState>,
    in_the_way: bool,
}

impl Both {
    fn as_here(&self) -> (&str, Option<Side>) {
        let side = self.here.as_ref().map(|s| Side { mode: s.mode, oid: s.oid.clone() });
        (&self.step.path, side)
    }
}

/// What could become of it.
struct Outlook {
    kind: ConflictKind,
    merged: Option<Side>,
    shown: String,
}

impl Workspace {
    /// What of a judged tree is in conflict with the checkout now, and the trees that decisions lead to. None
    /// if nothing is.
    pub(super) async fn conflicts(
        &self,
        judged: &str,
    ) -> Result<Option<(Conflicts, LandingOffer)>, WorkspaceError> {
        let _turn = self.turn.lock().await;
        let desk = self.home.join("merging");
        let result = self.look_at_both(judged, &desk).await;
        off_thread(move || remove_tree(&desk)).await;
        result
    }

    async fn look_at_both(
        &self,
        judged: &str,
        desk: &Path,
    ) -> Result<Option<(Conflicts, LandingOffer)>, WorkspaceError> {
        let (store, root) = (&self.store, &self.facts.root);
        let steps = store.steps(&self.facts.base, judged).await?;
        let named = with_relations(&steps, store.in_conflict(&steps, root).await?);
        if named.is_empty() {
            return Ok(None);
        }
        let steps: Vec<PathStep> = steps.into_iter().filter(|s| named.contains(&s.path)).collect();
        let both = self.read_checkout(steps, desk).await?;
        let outlooks = self.outlooks(&both, desk).await?;

        let mine: Vec<(&str, Option<Side>)> = both.iter().map(Both::as_here).collect();
        let before = store.tree_with(&self.facts.base, &mine).await?;
        let kept = store.tree_with(judged, &mine).await?;
        let replaceable = self.leads(&before, judged).await?;
        let merged: Option<Vec<_>> = both
            .iter()
            .zip(&outlooks)
            .map(|(b, o)| o.merged.clone().map(|side| (b.step.path.as_str(), Some(side))))
            .collect();
        let merged = match merged {
            None => None,
            Some(sides) => {
                let tree = store.tree_with(judged, &sides).await?;
                self.leads(&before, &tree).await?.then_some(tree)
            }
        };
        let conflicts = Conflicts {
            seen: Digest::of(b""),
            more: both.len().saturating_sub(MOST_NAMED) as u64,
            mergeable: merged.is_some(),
            replaceable,
            files: both.iter().zip(outlooks).take(MOST_NAMED).map(told).collect(),
        };
        let paths = both.iter().map(|b| b.step.path.clone()).collect();
        let offer =
            LandingOffer { judged: judged.to_owned(), before, mine: kept, merged, replaceable, paths };
        Ok(Some((conflicts, offer)))
    }

    /// The checkout could be taken from the one tree to the other as it is.
    async fn leads(&self, before: &str, after: &str) -> Result<bool, WorkspaceError> {
        let steps = self.store.steps(before, after).await?;
        Ok(self.store.in_conflict(&steps, &self.facts.root).await?.is_empty())
    }

    /// What the checkout holds of these files, taken into the store.
    async fn read_checkout(&self, steps: Vec<PathStep>, desk: &Path) -> Result<Vec<Both>, WorkspaceError> {
        let (root, folder) = (self.facts.root.clone(), desk.join("here"));
        let to = folder.clone();
        let (mut both, kept) = off_thread(move || copy_out(&root, steps, &to))
            .await
            .map_err(WorkspaceError::io("read", &self.facts.root))?;
        let oids = self.store.take_in(&folder, kept.len()).await?;
        for (at, oid) in kept.into_iter().zip(oids) {
            if let Some(here) = both.get_mut(at).and_then(|b| b.here.as_mut()) {
                here.oid = oid;
            }
        }
        Ok(both)
    }

    async fn outlooks(&self, both: &[Both], desk: &Path) -> Result<Vec<Outlook>, WorkspaceError> {
        let states = both.iter().flat_map(|b| b.step.from.iter().chain(&b.step.to).chain(&b.here));
        let oids: Vec<&str> = states.map(|s| s.oid.as_str()).collect();
        let facts = self.store.facts(oids).await?;
        let mut outlooks = Vec::with_capacity(both.len());
        let mut merges = 0;
        // Texts that git merged, and whose they are.
        let (results, mut made) = (desk.join("merged"), Vec::new());
        make(&results)?;
        for (at, file) in both.iter().enumerate() {
            let kind = kind(file, &facts);
            let mut outlook = Outlook { kind, merged: None, shown: String::new() };
            if let Some((mode, content)) = mergeable(file, kind) {
                match content {
                    MergeContent::Of(oid) => outlook.merged = Some(Side { mode, oid }),
                    MergeContent::Both if merges < MOST_MERGES => {
                        merges += 1;
                        match self.store.merge_states(file, &desk.join("three")).await? {
                            MergeResult::Clean(bytes) => {
                                let path = results.join(made.len().to_string());
                                fs::write(&path, bytes).map_err(WorkspaceError::io("written", &path))?;
                                made.push((at, mode));
                            }
                            MergeResult::Conflicting(shown) => outlook.shown = shown,
                        }
                    }
                    MergeContent::Both => {}
                }
            }
            outlooks.push(outlook);
        }
        let oids = self.store.take_in(&results, made.len()).await?;
        for ((at, mode), oid) in made.into_iter().zip(oids) {
            if let Some(outlook) = outlooks.get_mut(at) {
                outlook.merged = Some(Side { mode, oid });
            }
        }
        Ok(outlooks)
    }
}

impl SnapshotStore {
    async fn merge_states(&self, file: &Both, folder: &Path) -> Result<MergeResult, WorkspaceError> {
        make(folder)?;
        let three = [("base", &file.step.from), ("run", &file.step.to), ("here", &file.here)];
        for (name, state) in three {
            let bytes = match state {
                Some(state) => self.contents(&[state.oid.as_str()]).await?.pop().unwrap_or_default(),
                None => Vec::new(),
            };
            let path = folder.join(name);
            fs::write(&path, bytes).map_err(WorkspaceError::io("written", &path))?;
        }
        self.merge(folder).await
    }
}

fn make(folder: &Path) -> Result<(), WorkspaceError> {
    fs::create_dir_all(folder).map_err(WorkspaceError::io("made", folder))
}

/// The paths in conflict, and every other step above or below one of them: a file cannot come where its folder
/// stays a file.
fn with_relations(steps: &[PathStep], conflicts: Vec<String>) -> HashSet<String> {
    let mut named: HashSet<String> = conflicts.into_iter().collect();
    let above: HashSet<String> = named.iter().flat_map(|p| parents(p)).map(ToOwned::to_owned).collect();
    if named.is_empty() {
        return named;
    }
    let related = |path: &str| above.contains(path) || parents(path).any(|p| named.contains(p));
    let more: Vec<String> = steps.iter().map(|s| s.path.clone()).filter(|p| related(p)).collect();
    named.extend(more);
    named
}

/// Copies what the checkout holds into files `0`, `1`, …; says whose each is.
fn copy_out(root: &Path, steps: Vec<PathStep>, to: &Path) -> io::Result<(Vec<Both>, Vec<usize>)> {
    fs::create_dir_all(to)?;
    let checkout = Checkout::open(root)?;
    let (mut both, mut kept): (Vec<Both>, Vec<usize>) = (Vec::new(), Vec::new());
    for step in steps {
        let found = checkout.look(&step.path)?;
        let (mode, bytes) = match &found {
            PathContent::Link(target) => (LINK_MODE, Some(target.clone())),
            PathContent::File { permissions, bytes } if *bytes <= LARGEST_FILE => {
                let mode = if PathContent::is_executable(*permissions) { EXECUTABLE_MODE } else { FILE_MODE };
                (mode, checkout.read(&step.path, *bytes)?)
            }
            _ => (FILE_MODE, None),
        };
        let here = match &bytes {
            Some(bytes) => {
                fs::write(numbered(to, kept.len()), bytes)?;
                kept.push(both.len());
                let digest = Digest::of(bytes);
                Some(PathState { mode, oid: String::new(), digest, bytes: bytes.len() as u64 })
            }
            None => None,
        };
        let in_the_way = here.is_none() && found != PathContent::Nothing;
        both.push(Both { step, here, in_the_way });
    }
    Ok((both, kept))
}

fn numbered(folder: &Path, n: usize) -> PathBuf {
    folder.join(n.to_string())
}

fn kind(file: &Both, facts: &HashMap<String, BlobFacts>) -> ConflictKind {
    let Both { step: PathStep { from, to, .. }, here, in_the_way } = file;
    let is_link = |state: &Option<PathState>| state.as_ref().is_some_and(|s| s.mode == LINK_MODE);
    let merges_not = |state: &Option<PathState>| {
        let facts = state.as_ref().and_then(|s| facts.get(&s.oid));
        facts.is_some_and(|f| f.binary || f.bytes > LARGEST_MERGED)
    };
    match (here, to) {
        _ if *in_the_way => ConflictKind::InTheWay,
        (None, None) => ConflictKind::InTheWay,
        (None, Some(_)) => ConflictKind::DeletedHere,
        (Some(_), None) => ConflictKind::DeletedByRun,
        _ if [from, to, here].into_iter().any(is_link) => ConflictKind::Form,
        (Some(here), Some(run)) if here.oid == run.oid => ConflictKind::Form,
        _ if [from, to, here].into_iter().any(merges_not) => ConflictKind::Binary,
        _ if from.is_none() => ConflictKind::BothAdded,
        _ => ConflictKind::BothChanged,
    }
}

/// Where the content of a merge comes from.
enum MergeContent {
    /// Only one side changed it.
    Of(String),
    Both,
}

/// The mode of a merge and where its content comes from; none if only a person could say.
fn mergeable(file: &Both, kind: ConflictKind) -> Option<(u32, MergeContent)> {
    let (Some(here), Some(run)) = (&file.here, &file.step.to) else { return None };
    let base = file.step.from.as_ref();
    if [Some(here), Some(run), base].into_iter().flatten().any(|s| s.mode == LINK_MODE) {
        return None;
    }
    let mode = match base {
        _ if here.mode == run.mode => here.mode,
        Some(base) if here.mode == base.mode => run.mode,
        Some(base) if run.mode == base.mode => here.mode,
        _ => return None,
    };
    let content = match base {
        _ if here.oid == run.oid => MergeContent::Of(here.oid.clone()),
        Some(base) if base.oid == here.oid => MergeContent::Of(run.oid.clone()),
        Some(base) if base.oid == run.oid => MergeContent::Of(here.oid.clone()),
        _ if kind == ConflictKind::Binary => return None,
        _ => MergeContent::Both,
    };
    Some((mode, content))
}

fn told((file, outlook): (&Both, Outlook)) -> Conflict {
    Conflict {
        path: file.step.path.clone(),
        kind: outlook.kind,
        merges: outlook.merged.is_some(),
        here: file.here.as_ref().map(|s| s.digest),
        run: file.step.to.as_ref().map(|s| s.digest),
        shown: outlook.shown,
    }
}
