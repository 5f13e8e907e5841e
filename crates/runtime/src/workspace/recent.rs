//! What happened lately in the user's repository, for people, and where its hooks are. Only read; nothing that the
//! repository's configuration names is started.

use std::path::{Path, PathBuf};

use super::error::WorkspaceError;
use super::git::{Git, GitTarget};
use super::repository::{Repository, enclosing};

/// Of what git prints about one question.
const MOST_SAID: usize = 256 << 10;

/// The last commits and what is not committed, as git says it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recent {
    pub commits: Vec<String>,
    pub changes: Vec<String>,
}

impl Git {
    /// `git log --oneline -10` and `git diff --stat`.
    pub async fn recent(&self, project: &Path) -> Result<Recent, WorkspaceError> {
        let root = enclosing(project).ok_or(WorkspaceError::NotARepository)?;
        let (repository, place) = Repository::read(self, root).await?;
        if repository.head.is_none() {
            return Ok(Recent::default());
        }
        let log = ["log", "--oneline", "-10", "--no-color", "--no-show-signature"];
        let diff =
            ["diff", "--stat", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules", "HEAD"];
        Ok(Recent { commits: self.said(&place, &log).await?, changes: self.said(&place, &diff).await? })
    }

    /// The top of the repository a project is in, and the folder its hooks are in: as the user set it up.
    pub(crate) async fn hooks_folder(&self, project: &Path) -> Result<(PathBuf, PathBuf), WorkspaceError> {
        self.present(project).await?;
        let root = enclosing(project).ok_or(WorkspaceError::NotARepository)?;
        let mut place = GitTarget::bare(&root.join(".git")).over(root);
        place.as_user = true;
        let asked = ["rev-parse", "--path-format=absolute", "--git-path", "hooks"];
        let folder = self.line(&place, &asked).await?;
        Ok((root.to_owned(), PathBuf::from(folder)))
    }

    async fn said(&self, place: &GitTarget, args: &[&str]) -> Result<Vec<String>, WorkspaceError> {
        let done = self.try_feed(place, args, Vec::new(), MOST_SAID).await?;
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        Ok(text.lines().map(str::to_owned).collect())
    }
}
