//! A fresh folder for checks: exactly what would be delivered, with what every folder of the project is given, and without
//! what the worker built or left behind. The commands of one check share it, as they share a clone; it is gone when the
//! worker's own folder is used again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Folder, FolderError, Inside};
use crate::os::remove_tree;

const PREFIX: &str = "fresh-";

pub(super) struct FreshFolder {
    /// The top of the tree.
    pub root: PathBuf,
    /// The project in it.
    pub dir: PathBuf,
}

impl Folder {
    fn beside(&self) -> PathBuf {
        self.home.join("work")
    }

    /// The fresh folder of a tree if there is one.
    pub(super) fn fresh_of(inside: &Inside, tree: &str) -> Option<Arc<FreshFolder>> {
        inside.state.fresh.as_ref().filter(|(of, _)| of == tree).map(|(_, fresh)| Arc::clone(fresh))
    }

    pub(super) async fn make_fresh(
        &self,
        inside: &Inside,
        tree: &str,
    ) -> Result<Arc<FreshFolder>, FolderError> {
        let root = self.beside().join(format!("{PREFIX}{:016x}", fastrand::u64(..)));
        let mut fresh = FreshFolder { root, dir: PathBuf::new() };
        fresh.dir = inside.workspace.fresh(tree, &fresh.root).await?;
        Ok(Arc::new(fresh))
    }

    /// Removes what a process that was killed left behind.
    pub(super) fn clear_fresh(&self) {
        let left = fs::read_dir(self.beside()).into_iter().flatten().flatten();
        for entry in left.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
            remove_tree(&entry.path());
        }
    }
}

impl Drop for FreshFolder {
    fn drop(&mut self) {
        remove_tree(&self.root);
    }
}

/// The home of one check, with its temporary files. Gone with it.
pub(super) struct CheckHome(PathBuf);

impl CheckHome {
    pub fn new(folder: &Folder) -> Self {
        Self(folder.beside().join(format!("verify-{:016x}", fastrand::u64(..))))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for CheckHome {
    fn drop(&mut self) {
        remove_tree(&self.0);
    }
}
