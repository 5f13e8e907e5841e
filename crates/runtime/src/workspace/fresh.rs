//! A folder made of exactly what would be delivered: a tree of the run as a fresh clone of the user's repository would
//! have it, with what was brought into the worker's, and nothing that the worker left beside it.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::WorkspaceError;
use super::tree::{Excluded, off_thread};
use super::{WORK, Workspace, clone, copying};

impl Workspace {
    /// Makes `to`, which must be new, and returns the project's folder in it.
    pub async fn fresh(&self, tree: &str, to: &Path) -> Result<PathBuf, WorkspaceError> {
        self.export(tree, to).await?;
        let (into, root, bring) = (to.to_owned(), self.facts.root.clone(), self.facts.bring.clone());
        // Refs, index and settings as the worker found them: what it did to its own clone is not delivered.
        let clone = self.is_repository().then(|| (self.kept(&self.facts.base), self.objects()));
        off_thread(move || {
            if let Some((kept, objects)) = clone {
                clone::put_back(&into, &kept, &objects).map_err(WorkspaceError::io("made", &into))?;
            }
            bring.perform(&root, &into).map(drop)
        })
        .await?;
        let dir = to.join(&self.facts.project);
        fs::create_dir_all(&dir).map_err(WorkspaceError::io("made", &dir))?;
        Ok(dir)
    }

    /// What a command of the user's made in the worker's tree that was not there before, and which of it git does not ignore,
    /// by whatever ignore file.
    pub async fn made_beside(&self) -> Result<(Vec<String>, Vec<String>), WorkspaceError> {
        let mut made = self.store.not_in(&self.work(), WORK).await?;
        made.retain(|path| !self.facts.bring.covers(path) && !path.starts_with(".git/"));
        let ignored = self.store.ignored(&self.work()).await?;
        let is_ignored =
            |path: &str| ignored.iter().any(|one| one == path || one.ends_with('/') && path.starts_with(one));
        let plain = |path: &str| path.trim_end_matches('/').to_owned();
        let unignored = made.iter().filter(|path| !is_ignored(path)).map(|path| plain(path)).collect();
        Ok((made.iter().map(|path| plain(path)).collect(), unignored))
    }

    /// From now on these paths are no part of any snapshot, and survive every restore.
    pub fn adopt(&mut self, made: Vec<String>) -> Result<(), WorkspaceError> {
        self.facts.bring.made = made;
        self.excluded = Excluded::new(self.facts.bring.all().cloned());
        self.write_facts()
    }
}

/// Copies paths from one tree to another, where they lead to what is there now.
pub(crate) fn copy_paths(
    paths: &[String],
    from: &Path,
    to: &Path,
    made_at: &Path,
    is: &Path,
) -> std::io::Result<()> {
    for path in paths {
        let target = to.join(path);
        if let Some(above) = target.parent() {
            fs::create_dir_all(above)?;
        }
        copying::copy(&from.join(path), &target, &|_| true)?;
        copying::at_home(&target, made_at, is)?;
    }
    Ok(())
}
