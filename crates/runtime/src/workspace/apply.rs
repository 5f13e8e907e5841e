//! Carries one tree's changes into the user's checkout, or takes them back: both are the same act.
//!
//! Every path is looked at before the first is written, and must be exactly what the one tree says or
//! already what the other says; so a crash in the middle is repaired by doing it again. If anything fails
//! half-way, what this call wrote is taken back. The user's index, HEAD and stash are not touched: only files.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use gadfly_engine::Digest;

use super::blobs::BlobFacts;
use super::checkout::{Checkout, PathContent};
use super::error::WorkspaceError;
use super::store::{EXECUTABLE_MODE, LINK_MODE, Side, SnapshotStore, TreeDifference};
use super::tree::off_thread;

/// What was changed in the checkout, sorted by path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckoutChanges {
    pub paths: Vec<String>,
}

/// What one path must be before, and will be after.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PathStep {
    pub path: String,
    pub from: Option<PathState>,
    pub to: Option<PathState>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PathState {
    pub mode: u32,
    pub oid: String,
    pub digest: Digest,
    pub bytes: u64,
}

/// What could not be put back.
pub(super) struct NotRestored {
    pub why: WorkspaceError,
    pub paths: Vec<String>,
}

/// How the paths of some steps stand.
#[derive(Default)]
struct PathStates {
    /// Neither what they were nor what they shall be.
    conflicts: Vec<String>,
    /// Not yet what they shall be.
    pending: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Done,
    Pending,
    Not,
}

/// Why a write was not made.
#[derive(Debug)]
enum WriteStopped {
    Conflict(Vec<String>),
    Failed { path: String, source: io::Error },
}

/// Whether the checkout is looked at before it is written to. Only a test may look away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Care {
    Looking,
    #[cfg(test)]
    Blind,
}

impl SnapshotStore {
    /// Makes the checkout go from one tree to the other, where they differ.
    pub async fn apply(
        &self,
        from: &str,
        to: &str,
        project: &Path,
    ) -> Result<CheckoutChanges, WorkspaceError> {
        let steps = self.steps(from, to).await?;
        self.apply_steps(steps, project).await
    }

    pub async fn apply_steps(
        &self,
        steps: Vec<PathStep>,
        project: &Path,
    ) -> Result<CheckoutChanges, WorkspaceError> {
        self.apply_noting(steps, project, |_| Ok(())).await
    }

    /// As `apply_steps`. Before the first path is written `note` is told of those that are not yet what they shall be.
    pub async fn apply_noting(
        &self,
        steps: Vec<PathStep>,
        project: &Path,
        note: impl FnOnce(Vec<String>) -> Result<(), WorkspaceError>,
    ) -> Result<CheckoutChanges, WorkspaceError> {
        let PathStates { conflicts, pending } = self.check(&steps, project).await?;
        if !conflicts.is_empty() {
            return Err(WorkspaceError::Conflict { paths: conflicts });
        }
        note(pending)?;
        let sweeping = (project.to_owned(), steps.clone());
        off_thread(move || sweep(&sweeping.0, &sweeping.1)).await;
        let mut done = Vec::new();
        if let Err(stopped) = self.carry_out(project, in_order(&steps), &mut done).await {
            return Err(self.roll_back(done, project, stopped).await);
        }
        Ok(CheckoutChanges { paths: steps.into_iter().map(|s| s.path).collect() })
    }

    /// Puts back what an act wrote before it was stopped. Says why it was, and which files could not be put back.
    async fn roll_back(
        &self,
        done: Vec<PathStep>,
        project: &Path,
        stopped: WorkspaceError,
    ) -> WorkspaceError {
        match self.put_back(reversed(done), project).await {
            Ok(()) => stopped,
            Err(left) => WorkspaceError::half_written(stopped, left.paths),
        }
    }

    /// Carries out as many of these steps as can be: one that cannot keeps no other from it.
    pub async fn put_back(&self, steps: Vec<PathStep>, project: &Path) -> Result<(), NotRestored> {
        let Err(why) = self.carry_out(project, in_order(&steps), &mut Vec::new()).await else {
            return Ok(());
        };
        let mut paths = Vec::new();
        for step in in_order(&steps) {
            let path = step.path.clone();
            if self.carry_out(project, vec![step], &mut Vec::new()).await.is_err() {
                paths.push(path);
            }
        }
        if paths.is_empty() { Ok(()) } else { Err(NotRestored { why, paths }) }
    }

    /// Which of these steps were done, and the paths that are neither what they were nor what they shall be.
    pub async fn written(
        &self,
        steps: &[PathStep],
        project: &Path,
    ) -> Result<(Vec<PathStep>, Vec<String>), WorkspaceError> {
        let (root, steps) = (project.to_owned(), steps.to_vec());
        let look = move || {
            let checkout = open(&root)?;
            let (mut written, mut other) = (Vec::new(), Vec::new());
            for step in steps {
                let failed = |source| WriteStopped::Failed { path: step.path.clone(), source };
                let found = checkout.look(&step.path).map_err(failed)?;
                let is = |state: &Option<PathState>| is_as(&checkout, &step.path, &found, state.as_ref());
                if is(&step.to).map_err(failed)? {
                    written.push(step);
                } else if !is(&step.from).map_err(failed)? {
                    other.push(step.path);
                }
            }
            Ok((written, other))
        };
        off_thread(look).await.map_err(|s| error(s, project))
    }

    /// Removes what an act that was killed left beside these paths: files that were not in their place yet, and folders
    /// it made for them.
    pub async fn clear_beside(&self, steps: Vec<PathStep>, project: &Path) {
        let root = project.to_owned();
        let clear = move || {
            sweep(&root, &steps);
            let Ok(mut checkout) = open(&root) else { return };
            for step in steps.iter().filter(|step| step.from.is_none()) {
                checkout.remove_empty_above(&step.path);
            }
            let _ = checkout.sync();
        };
        off_thread(clear).await;
    }

    /// The paths of these steps that are neither what they were nor what they shall be.
    pub async fn in_conflict(
        &self,
        steps: &[PathStep],
        project: &Path,
    ) -> Result<Vec<String>, WorkspaceError> {
        Ok(self.check(steps, project).await?.conflicts)
    }

    async fn check(&self, steps: &[PathStep], project: &Path) -> Result<PathStates, WorkspaceError> {
        let (root, steps) = (project.to_owned(), steps.to_vec());
        off_thread(move || check(&root, &steps)).await.map_err(|s| error(s, project))
    }

    pub async fn steps(&self, from: &str, to: &str) -> Result<Vec<PathStep>, WorkspaceError> {
        let differences = self.between(from, to).await?;
        let sides = differences.iter().flat_map(|d| d.from.iter().chain(&d.to));
        let oids: Vec<&str> = sides.map(|s| s.oid.as_str()).collect();
        let facts = self.facts(oids).await?;
        Ok(differences.into_iter().map(|d| step(d, &facts)).collect())
    }

    async fn carry_out(
        &self,
        project: &Path,
        steps: Vec<PathStep>,
        done: &mut Vec<PathStep>,
    ) -> Result<(), WorkspaceError> {
        let wanted: Vec<&str> =
            steps.iter().filter_map(|s| s.to.as_ref()).map(|to| to.oid.as_str()).collect();
        let groups = self.groups(&wanted).await?;
        let leaving = leaving(&steps);
        let mut rest = steps.as_slice();
        let none = Vec::new();
        for group in groups.iter().chain([&none]) {
            // The steps of one group: its writes, and the removals between and behind them.
            let mut left = group.len();
            let writes = |s: &&PathStep| s.to.is_none() || left.checked_sub(1).map(|l| left = l).is_some();
            let now: Vec<PathStep> = rest.iter().take_while(writes).cloned().collect();
            rest = rest.get(now.len()..).unwrap_or_default();
            let contents = if group.is_empty() { Vec::new() } else { self.contents(group).await? };
            let (root, leaving) = (project.to_owned(), leaving.clone());
            let (result, finished) = off_thread(move || {
                let mut finished = Vec::new();
                let result = perform(&root, &now, contents, &leaving, Care::Looking, &mut finished);
                (result, finished)
            })
            .await;
            done.extend(finished);
            result.map_err(|s| error(s, project))?;
        }
        Ok(())
    }
}

fn error(stopped: WriteStopped, project: &Path) -> WorkspaceError {
    match stopped {
        WriteStopped::Conflict(paths) => WorkspaceError::Conflict { paths },
        WriteStopped::Failed { path, source } => {
            WorkspaceError::Io { doing: "written", path: project.join(path), source }
        }
    }
}

fn step(difference: TreeDifference, facts: &HashMap<String, BlobFacts>) -> PathStep {
    let state = |side: Option<Side>| {
        let Side { mode, oid } = side?;
        let facts = facts.get(&oid)?;
        Some(PathState { mode, oid, digest: facts.digest, bytes: facts.bytes })
    };
    PathStep { path: difference.path, from: state(difference.from), to: state(difference.to) }
}

/// What stands in the way goes first, then everything is written, then the rest goes: if the machine stops in
/// between, as much as possible is there.
fn in_order(steps: &[PathStep]) -> Vec<PathStep> {
    let written: HashSet<&str> = steps.iter().filter(|s| s.to.is_some()).map(|s| s.path.as_str()).collect();
    let mut needed: HashSet<&str> = HashSet::new();
    for path in &written {
        needed.extend(parents(path));
    }
    let in_the_way =
        |s: &&PathStep| needed.contains(s.path.as_str()) || parents(&s.path).any(|p| written.contains(p));
    let (first, rest): (Vec<&PathStep>, Vec<&PathStep>) =
        steps.iter().partition(|s| s.to.is_none() && in_the_way(s));
    let (last, writes): (Vec<&PathStep>, Vec<&PathStep>) = rest.into_iter().partition(|s| s.to.is_none());
    first.into_iter().chain(writes).chain(last).cloned().collect()
}

fn leaving(steps: &[PathStep]) -> HashSet<String> {
    steps.iter().filter(|s| s.to.is_none()).map(|s| s.path.clone()).collect()
}

pub(super) fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

fn check(root: &Path, steps: &[PathStep]) -> Result<PathStates, WriteStopped> {
    let checkout = open(root)?;
    let leaving = leaving(steps);
    let mut checked = PathStates::default();
    for step in steps {
        match fits(&checkout, step, &leaving)? {
            Fit::Done => {}
            Fit::Pending => checked.pending.push(step.path.clone()),
            Fit::Not => checked.conflicts.push(step.path.clone()),
        }
    }
    Ok(checked)
}

/// The same way back.
pub(super) fn reversed(steps: Vec<PathStep>) -> Vec<PathStep> {
    steps.into_iter().map(|PathStep { path, from, to }| PathStep { path, from: to, to: from }).collect()
}

/// An act that was cut off in the middle of a file left that file beside its place.
fn sweep(root: &Path, steps: &[PathStep]) {
    if let Ok(checkout) = open(root) {
        checkout.sweep(steps.iter().map(|step| step.path.as_str()));
    }
}

fn open(root: &Path) -> Result<Checkout, WriteStopped> {
    Checkout::open(root).map_err(|source| WriteStopped::Failed { path: String::new(), source })
}

fn fits(checkout: &Checkout, step: &PathStep, leaving: &HashSet<String>) -> Result<Fit, WriteStopped> {
    let failed = |source| WriteStopped::Failed { path: step.path.clone(), source };
    let found = checkout.look(&step.path).map_err(failed)?;
    let is = |state: &Option<PathState>| is_as(checkout, &step.path, &found, state.as_ref()).map_err(failed);
    if is(&step.to)? {
        return Ok(Fit::Done);
    }
    if !is(&step.from)? {
        return Ok(Fit::Not);
    }
    let has_room = match found {
        // Something is to be written where a folder is: it must hold nothing that stays.
        PathContent::Folder => {
            checkout.holds_only(&step.path, |path| leaving.contains(path)).map_err(failed)?
        }
        // What blocks the way must be one of ours to remove.
        PathContent::Blocked => {
            blocker(checkout, &step.path).map_err(failed)?.is_none_or(|b| leaving.contains(b))
        }
        _ => true,
    };
    Ok(if has_room { Fit::Pending } else { Fit::Not })
}

/// What stands where a folder of this path should be.
fn blocker<'a>(checkout: &Checkout, path: &'a str) -> io::Result<Option<&'a str>> {
    for parent in parents(path) {
        match checkout.look(parent)? {
            PathContent::Folder => {}
            PathContent::Nothing => return Ok(None),
            _ => return Ok(Some(parent)),
        }
    }
    Ok(None)
}

/// What is found is what the tree says. A folder is no entry of a tree: there is nothing at its path.
fn is_as(
    checkout: &Checkout,
    path: &str,
    found: &PathContent,
    state: Option<&PathState>,
) -> io::Result<bool> {
    let Some(state) = state else {
        return Ok(matches!(found, PathContent::Nothing | PathContent::Blocked | PathContent::Folder));
    };
    match found {
        PathContent::Link(target) => Ok(state.mode == LINK_MODE && Digest::of(target) == state.digest),
        PathContent::File { permissions, bytes } => {
            if state.mode == LINK_MODE
                || *bytes != state.bytes
                || PathContent::is_executable(*permissions) != (state.mode == EXECUTABLE_MODE)
            {
                return Ok(false);
            }
            Ok(checkout.read(path, state.bytes)?.is_some_and(|content| Digest::of(&content) == state.digest))
        }
        _ => Ok(false),
    }
}

/// Performs steps in the order given; `contents` belong to those that write, in the same order.
fn perform(
    root: &Path,
    steps: &[PathStep],
    contents: Vec<Vec<u8>>,
    leaving: &HashSet<String>,
    care: Care,
    finished: &mut Vec<PathStep>,
) -> Result<(), WriteStopped> {
    let mut checkout = open(root)?;
    let mut contents = contents.into_iter();
    for step in steps {
        let failed = |source| WriteStopped::Failed { path: step.path.clone(), source };
        let content = step.to.as_ref().and_then(|_| contents.next());
        // Somebody may have saved the file since all of them were checked.
        match fits(&checkout, step, leaving)? {
            _ if care != Care::Looking => {}
            Fit::Not => {
                let _ = checkout.sync();
                return Err(WriteStopped::Conflict(vec![step.path.clone()]));
            }
            Fit::Done => continue,
            Fit::Pending => {}
        }
        let found = checkout.look(&step.path).map_err(failed)?;
        match (&step.to, content) {
            (Some(to), Some(bytes)) => {
                if found == PathContent::Folder {
                    checkout.remove_empty(&step.path).map_err(failed)?;
                }
                if to.mode == LINK_MODE {
                    checkout.put_link(&step.path, &bytes).map_err(failed)?;
                } else {
                    let executable = to.mode == EXECUTABLE_MODE;
                    checkout.put_file(&step.path, &bytes, executable).map_err(failed)?;
                }
            }
            _ => checkout.remove(&step.path).map_err(failed)?,
        }
        finished.push(step.clone());
    }
    checkout.sync().map_err(|source| WriteStopped::Failed { path: String::new(), source })
}

#[cfg(test)]
mod tests;
