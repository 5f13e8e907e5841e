//! Looks: what the folder holds now, or files of an earlier state. Nothing unbounded comes out of it.
//!
//! A file that is no text, or has more bytes than a reader could be shown, is known by its digest only.

use std::collections::HashMap;

use gadfly_engine::tree::{Change, ChangeKind, FileContent, FileSeen, Look, Looked, Tree};
use gadfly_engine::{Digest, Text};

use super::{Folder, FolderError, Inside, from_project, from_top, listed};
use crate::workspace::{ChangeStatus, Snapshot, WorkspaceError};

/// More than this of one file is not read.
const LARGEST_FILE: u64 = 2 << 20;
/// What one look may bring of all files together; the rest is known by digest only.
const LARGEST_LOOK: u64 = 64 << 20;
const LARGEST_DIFF: u64 = 16 << 20;

impl Folder {
    /// Performs a look; the first one makes the folder.
    pub async fn look(
        &self,
        look: &Look,
        tell: &(dyn Fn(String) + Send + Sync),
    ) -> Result<(Looked, Vec<Text>), FolderError> {
        let mut texts = Vec::new();
        let (inside, tree_name, tree) = if let Some(digest) = &look.tree {
            (self.enter().await?, self.tree_of(digest)?, None)
        } else {
            let mut inside = if self.shows_the_project() {
                self.renewed(tell).await?
            } else {
                self.enter_or_make(tell).await?
            };
            inside.warn_of_hooks(tell)?;
            let now = inside.workspace.snapshot().await?;
            let known = inside.workspace.left_out();
            let new: Vec<String> = now.left_out.iter().filter(|r| !known.contains(r)).cloned().collect();
            if !new.is_empty() {
                tell(format!(
                    "repositories made inside the folder are left out: {}",
                    listed(&new).join(", ")
                ));
            }
            let over = inside.workspace.too_large(&now.tree).await?;
            if !over.is_empty() {
                tell(format!(
                    "git ignores these, and they are too large or too many to be judged and delivered: {}; an entry \
                     that PRODUCES one of them is not complete by it",
                    listed(&over).join(", ")
                ));
            }
            self.remember(now.digest, &now.tree)?;
            let mut tree = seen(&inside, &now, &mut texts).await?;
            if self.plan.per_node {
                let below = inside.workspace.below();
                tree.changes.iter_mut().for_each(|change| change.path = from_project(below, &change.path));
            }
            (inside, now.tree, Some(tree))
        };
        let mut paths = look.paths.clone();
        if self.plan.per_node {
            let below = inside.workspace.below();
            for path in &mut paths {
                *path = from_top(below, path);
            }
        }
        let mut files = files(&inside, &tree_name, &paths, &mut texts).await?;
        for (file, path) in files.iter_mut().zip(&look.paths) {
            file.path.clone_from(path);
        }
        Ok((Looked { tree, files }, texts))
    }
}

async fn seen(inside: &Inside, now: &Snapshot, texts: &mut Vec<Text>) -> Result<Tree, FolderError> {
    let workspace = &inside.workspace;
    let diff = match workspace.diff(workspace.base(), &now.tree, LARGEST_DIFF).await {
        Err(WorkspaceError::TooLarge { .. }) => {
            let message = format!(
                "what the worker changed is more than {} MB as a diff, which nobody could review; have it remove \
                 what it generated, or have git ignore that, and resume",
                LARGEST_DIFF >> 20
            );
            return Err(FolderError::Command(message));
        }
        other => Text::new(other?),
    };
    let mut left = LARGEST_LOOK;
    let wanted: Vec<&str> = now
        .changes
        .iter()
        .filter(|c| c.after.is_some() && !c.binary && fits(c.bytes, &mut left))
        .map(|c| c.path.as_str())
        .collect();
    let mut contents: HashMap<String, Text> = HashMap::new();
    for stored in workspace.read_many(&now.tree, &wanted, LARGEST_FILE).await? {
        if let Some(text) = stored.content.and_then(|bytes| String::from_utf8(bytes).ok()) {
            contents.insert(stored.path, Text::new(text));
        }
    }
    let mut changes = Vec::with_capacity(now.changes.len());
    for change in &now.changes {
        let text = contents.remove(&change.path).filter(|t| Some(t.digest()) == change.after);
        changes.push(Change {
            path: change.path.clone(),
            kind: match change.status {
                ChangeStatus::Added => ChangeKind::Added,
                ChangeStatus::Modified => ChangeKind::Modified,
                ChangeStatus::Deleted => ChangeKind::Deleted,
            },
            mode: change.mode,
            binary: if change.after.is_some() { text.is_none() } else { change.binary },
            bytes: change.bytes,
            lines: change.lines,
            before: change.before,
            after: change.after,
        });
        texts.extend(text);
    }
    let manifest = Text::new(now.manifest.clone());
    let tree = Tree { digest: now.digest, diff: diff.digest(), changes };
    texts.extend([manifest, diff]);
    Ok(tree)
}

async fn files(
    inside: &Inside,
    tree: &str,
    paths: &[String],
    texts: &mut Vec<Text>,
) -> Result<Vec<FileSeen>, FolderError> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let asked: std::collections::HashSet<&str> = paths.iter().map(String::as_str).collect();
    let mut left = LARGEST_LOOK;
    let entries = inside.workspace.entries(tree).await?;
    let there: HashMap<&str, bool> = entries
        .iter()
        .filter(|e| asked.contains(e.path.as_str()))
        .map(|e| (e.path.as_str(), fits(e.bytes, &mut left)))
        .collect();
    let wanted: Vec<&str> = there.iter().filter(|(_, fits)| **fits).map(|(path, _)| *path).collect();
    let mut contents: HashMap<String, Digest> = HashMap::new();
    for stored in inside.workspace.read_many(tree, &wanted, LARGEST_FILE).await? {
        if let Some(text) = stored.content.and_then(|bytes| String::from_utf8(bytes).ok()) {
            let text = Text::new(text);
            contents.insert(stored.path, text.digest());
            texts.push(text);
        }
    }
    let is_folder = |path: &str| {
        entries.iter().any(|e| e.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
    };
    let what = |path: &String| match contents.get(path) {
        Some(digest) => FileContent::Text(*digest),
        // A folder exists and has no text: what is said to be missing in it may well be.
        None if there.contains_key(path.as_str()) || is_folder(path) => FileContent::Opaque,
        None => FileContent::Missing,
    };
    Ok(paths.iter().map(|path| FileSeen { path: path.clone(), what: what(path) }).collect())
}

/// Whether a file may still come with this look.
const fn fits(bytes: u64, left: &mut u64) -> bool {
    if bytes > LARGEST_FILE || bytes > *left {
        return false;
    }
    *left -= bytes;
    true
}
