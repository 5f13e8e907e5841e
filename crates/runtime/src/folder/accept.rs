//! Brings an approved tree to the user: into the checkout, or as a commit on a branch. Twice is once. What to do
//! about files that changed on both sides is a person's to say: the answer comes with the next acceptance.

use std::fs;
use std::path::Path;

use gadfly_engine::Reply;
use gadfly_engine::effect::Committed;
use gadfly_engine::tree::{Accept, Acceptance};
use serde::{Deserialize, Serialize};

use super::{Folder, FolderError, Inside, from_top};
use crate::save::write_atomically;
use crate::workspace::{Landed, Landing, WorkspaceError};

/// What the name of a run's branch begins with.
pub const COMMIT_BRANCH: &str = "gadfly/";
const INTENT: &str = "commit.json";

/// Written before the branch is made: whoever finds the branch there later knows whose it is.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Intent {
    tree: String,
    branch: String,
    message: String,
}

impl Folder {
    pub async fn accept(&self, accept: &Accept) -> Result<Reply, FolderError> {
        if self.plan.in_place {
            return Err(FolderError::Command(
                "the work was done in the project itself: it is there already".into(),
            ));
        }
        let inside = self.enter().await?;
        let mut tree = self.tree_of(&accept.tree)?;
        if let Some(only) = &accept.only {
            let below = inside.workspace.below().to_owned();
            let only: Vec<String> = only.iter().map(|path| from_top(&below, path)).collect();
            tree = inside.workspace.narrowed(&tree, &only).await?;
        }
        match &accept.how {
            Acceptance::Checkout => {
                Ok(match inside.workspace.land(&tree, accept.resolution.as_ref()).await? {
                    Landing::Landed(Landed { paths, merged, kept }) => {
                        Reply::Accepted { paths, commit: None, merged, kept }
                    }
                    Landing::Conflicts(conflicts) => Reply::Conflicts(conflicts),
                })
            }
            Acceptance::Commit { branch, message } => {
                let branch = branch.clone().unwrap_or_else(|| format!("{COMMIT_BRANCH}{}", self.run));
                self.commit(&inside, Intent { tree, branch, message: message.clone() }).await
            }
        }
    }

    async fn commit(&self, inside: &Inside, intent: Intent) -> Result<Reply, FolderError> {
        let (path, meant) = (self.home.join(INTENT), read_intent(&self.home));
        let text = serde_json::to_vec(&intent).map_err(|e| FolderError::Command(e.to_string()))?;
        write_atomically(&path, &text).map_err(FolderError::io(&path))?;
        let workspace = &inside.workspace;
        let changes = workspace.changes(workspace.base(), &intent.tree).await?;
        let id = match workspace.commit(&intent.tree, &intent.branch, &intent.message).await {
            // Made by this run, just before the process that made it was killed?
            Err(exists @ WorkspaceError::BranchExists { .. }) if meant.as_ref() == Some(&intent) => {
                workspace.committed(&intent.branch, &intent.message).await?.ok_or(exists)?
            }
            other => other?,
        };
        let paths = changes.into_iter().map(|c| c.path).collect();
        let commit = Some(Committed { id, branch: intent.branch });
        Ok(Reply::Accepted { paths, commit, merged: Vec::new(), kept: Vec::new() })
    }
}

/// The branch that a commit of this run was to become, and its message; none if no commit was begun.
pub(crate) fn commit_begun(home: &Path) -> Option<(String, String)> {
    let Intent { branch, message, .. } = read_intent(home)?;
    Some((branch, message))
}

fn read_intent(home: &Path) -> Option<Intent> {
    serde_json::from_slice(&fs::read(home.join(INTENT)).ok()?).ok()
}
