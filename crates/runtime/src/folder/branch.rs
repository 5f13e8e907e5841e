//! Puts files that are in the checkout already on a branch, as one commit. Twice is once.

use std::path::Path;
use std::sync::Arc;

use gadfly_engine::Reply;
use gadfly_engine::effect::Committed;
use gadfly_engine::tree::CommitFiles;

use super::accept::COMMIT_BRANCH;
use super::{Folder, FolderError};
use crate::workspace::CommitIntent;

impl Folder {
    pub async fn commit_files(&self, wanted: &CommitFiles) -> Result<Reply, FolderError> {
        // One at a time, as for everything else here.
        let _state = Arc::clone(&self.state).lock_owned().await;
        std::fs::create_dir_all(&self.home).map_err(FolderError::io(&self.home))?;
        let CommitFiles { files, deleted, branch, message } = wanted.clone();
        let branch = branch.unwrap_or_else(|| format!("{COMMIT_BRANCH}{}", self.run));
        let paths = files.iter().map(|file| file.path.clone()).chain(deleted.iter().cloned()).collect();
        let intent = CommitIntent { files, deleted, branch: branch.clone(), message };
        let id = self.git().commit_files(Path::new(&self.plan.project), &self.home, intent).await?;
        Ok(Reply::Accepted {
            paths,
            commit: Some(Committed { id, branch }),
            merged: Vec::new(),
            kept: Vec::new(),
        })
    }
}
