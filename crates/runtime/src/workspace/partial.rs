//! Acceptances of parts: only some of what changed in a tree comes into the checkout, and what several of them
//! brought, each from a workspace of its own, is taken back at once: all of it or nothing.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;

use gadfly_engine::conflict::Resolution;

use super::apply::{PathState, PathStep};
use super::error::WorkspaceError;
use super::store::{Side, SnapshotStore, checked};
use super::tree::off_thread;
use super::{CheckoutChanges, WayBack, Workspace};
use crate::os::remove_tree;

/// An acceptance that came to its end.
pub struct PastAcceptance {
    pub workspace: Workspace,
    /// The tree that landed, narrowed if only a part of it did.
    pub judged: String,
    pub resolution: Option<Resolution>,
}

impl Workspace {
    /// What the run began with, and of a tree's changes only those at these paths. The same every time.
    pub async fn narrowed(&self, judged: &str, only: &[String]) -> Result<String, WorkspaceError> {
        let _turn = self.turn.lock().await;
        let only: HashSet<&str> = only.iter().map(String::as_str).collect();
        let base = &self.facts.base;
        let between = self.store.between(base, checked(judged)?).await?;
        let wanted = between.iter().filter(|d| only.contains(d.path.as_str()));
        let changed: Vec<(&str, Option<Side>)> = wanted.map(|d| (d.path.as_str(), d.to.clone())).collect();
        let tree = self.store.tree_with(base, &changed).await?;
        let other =
            self.store.between(base, &tree).await?.into_iter().find(|d| !only.contains(d.path.as_str()));
        match other {
            None => Ok(tree),
            Some(other) => {
                let reason =
                    "a file or a folder that is accepted would take its place: accept both or neither";
                Err(WorkspaceError::unusable(other.path, reason))
            }
        }
    }
}

/// What became of one path over several acceptances.
struct PathHistory {
    /// The acceptance that has the bytes of `first`.
    by: usize,
    first: Option<PathState>,
    steps: Vec<PathStep>,
    /// Somebody else changed it between two of them.
    broken: bool,
}

/// Of several acceptances, the oldest first: the steps back to before the first, each with the acceptance that has
/// the bytes, and the paths somebody else changed in between.
async fn steps_back(
    past: &[PastAcceptance],
) -> Result<(Vec<(usize, PathStep)>, Vec<String>), WorkspaceError> {
    let mut chains: BTreeMap<String, PathHistory> = BTreeMap::new();
    for (by, PastAcceptance { workspace, judged, resolution }) in past.iter().enumerate() {
        for step in workspace.landed(judged, resolution.as_ref()).await? {
            let first = step.from.clone();
            let new = || PathHistory { by, first, steps: Vec::new(), broken: false };
            let chain = chains.entry(step.path.clone()).or_insert_with(new);
            let is_again = chain.steps.last().is_some_and(|last| {
                same(last.from.as_ref(), step.from.as_ref()) && same(last.to.as_ref(), step.to.as_ref())
            });
            if !is_again {
                chain.broken |=
                    chain.steps.last().is_some_and(|last| !same(last.to.as_ref(), step.from.as_ref()));
                chain.steps.push(step);
            }
        }
    }
    let (mut back, mut broken) = (Vec::new(), Vec::new());
    for (path, chain) in chains {
        let last = chain.steps.last().and_then(|step| step.to.clone());
        if chain.broken {
            broken.push(path);
        } else if !same(last.as_ref(), chain.first.as_ref()) {
            back.push((chain.by, PathStep { path, from: last, to: chain.first }));
        }
    }
    Ok((back, broken))
}

/// The same file, whatever store names it how.
fn same(one: Option<&PathState>, other: Option<&PathState>) -> bool {
    let known = |state: &PathState| (state.mode, state.digest);
    one.map(known) == other.map(known)
}

/// The workspace through which everything is written: the last one's.
fn writer(past: &[PastAcceptance]) -> Result<&Workspace, WorkspaceError> {
    let last = past.last().ok_or_else(|| WorkspaceError::unusable("run", "it accepted nothing"))?;
    match past.iter().find(|p| p.workspace.root() != last.workspace.root()) {
        None => Ok(&last.workspace),
        Some(other) => {
            let path = other.workspace.root().to_string_lossy();
            Err(WorkspaceError::unusable(path, "the run wrote here and elsewhere, too: take it back by hand"))
        }
    }
}

/// What taking all of it back would do.
pub async fn way_to_take_all_back(past: &[PastAcceptance]) -> Result<WayBack, WorkspaceError> {
    let writer = writer(past)?;
    let (steps, broken) = steps_back(past).await?;
    let steps: Vec<PathStep> = steps.into_iter().map(|(_, step)| step).collect();
    let mut conflicts = writer.store.in_conflict(&steps, writer.root()).await?;
    conflicts.extend(broken);
    conflicts.sort();
    let mut way = WayBack { conflicts, ..WayBack::default() };
    for step in steps {
        let list = if step.to.is_some() { &mut way.restored } else { &mut way.removed };
        list.push(step.path);
    }
    Ok(way)
}

/// Takes back what several acceptances brought, the oldest of them first in the list: every file is what it was
/// before the first that wrote it, or, if one changed since, nothing is done. Again is once.
pub async fn take_all_back(past: &[PastAcceptance]) -> Result<CheckoutChanges, WorkspaceError> {
    let writer = writer(past)?;
    let (mut steps, broken) = steps_back(past).await?;
    let plain: Vec<PathStep> = steps.iter().map(|(_, step)| step.clone()).collect();
    let mut conflicts = writer.store.in_conflict(&plain, writer.root()).await?;
    conflicts.extend(broken);
    if !conflicts.is_empty() {
        conflicts.sort();
        return Err(WorkspaceError::Conflict { paths: conflicts });
    }
    let desk = writer.home.join("taking-back");
    let brought = bring(past, &mut steps, &writer.store, &desk).await;
    off_thread(move || remove_tree(&desk)).await;
    brought?;
    writer.store.apply_steps(steps.into_iter().map(|(_, step)| step).collect(), writer.root()).await
}

/// Has the writing store know all the bytes that are to be written.
async fn bring(
    past: &[PastAcceptance],
    steps: &mut [(usize, PathStep)],
    to: &SnapshotStore,
    desk: &Path,
) -> Result<(), WorkspaceError> {
    for (at, PastAcceptance { workspace, .. }) in past.iter().enumerate() {
        let wanted = steps.iter().filter(|(by, _)| *by == at).filter_map(|(_, step)| step.to.as_ref());
        let oids: HashSet<String> = wanted.map(|state| state.oid.clone()).collect();
        if workspace.store.dir == to.dir || oids.is_empty() {
            continue;
        }
        let oids: Vec<&str> = oids.iter().map(String::as_str).collect();
        let mut known: HashMap<String, String> = HashMap::new();
        for group in workspace.store.groups(&oids).await? {
            let contents = workspace.store.contents(&group).await?;
            let folder = desk.to_owned();
            off_thread(move || {
                remove_tree(&folder);
                fs::create_dir_all(&folder)?;
                contents
                    .iter()
                    .enumerate()
                    .try_for_each(|(n, bytes)| fs::write(folder.join(n.to_string()), bytes))
            })
            .await
            .map_err(WorkspaceError::io("written", desk))?;
            let taken = to.take_in(desk, group.len()).await?;
            known.extend(group.iter().map(|oid| (*oid).to_owned()).zip(taken));
        }
        for (_, step) in steps.iter_mut().filter(|(by, _)| *by == at) {
            if let Some(state) = &mut step.to
                && let Some(oid) = known.get(&state.oid).cloned()
            {
                state.oid = oid;
            }
        }
    }
    Ok(())
}
