//! What a run began to write into the user's files without coming to its end: found by the intent that lies on disk
//! and by what the journal does not hold, and taken back. What somebody changed since stays, and is named.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use gadfly_engine::effect::Save;
use gadfly_journal::{Journal, ReadError, RunId};

use super::{AcceptanceHistory, UndoError, Undone};
use crate::folder::{NODES, commit_begun, home_of};
use crate::os::NoSupervisor;
use crate::save::{digest_of, sweep_beside};
use crate::service::Gadfly;
use crate::workspace::{TakenBack, WayBack, Workspace, WorkspaceError, is_begun};

/// What was begun.
#[derive(Default)]
pub(super) struct BegunWrites {
    /// The homes of workspaces whose acceptance is not in the journal.
    homes: Vec<PathBuf>,
    /// A file that may have been written.
    file: Option<Save>,
}

impl BegunWrites {
    pub fn of(journal: &Journal, run: &RunId, told: &AcceptanceHistory) -> Self {
        let home = journal.work_dir(run);
        let begun = begun_in(&home);
        let recorded: HashSet<PathBuf> = told
            .accepted
            .iter()
            .map(|accept| accept.at.as_ref().map_or_else(|| home.clone(), |node| home_of(&home, node)))
            .collect();
        let homes = begun.into_iter().filter(|home| !recorded.contains(home)).collect();
        Self { homes, file: told.saving.clone() }
    }

    /// The file is what the run writes there, and was something else before.
    fn is_written(save: &Save) -> bool {
        save.target.before != Some(save.content)
            && digest_of(save.target.path.as_ref()).is_ok_and(|now| now == Some(save.content))
    }

    pub fn is_nothing(&self) -> bool {
        self.homes.is_empty() && !self.file.as_ref().is_some_and(Self::is_written)
    }
}

/// Every home of the run with an acceptance that was begun, whether or not it came to its end.
fn begun_in(run: &Path) -> Vec<PathBuf> {
    let nodes = fs::read_dir(run.join(NODES)).into_iter().flatten().flatten().map(|entry| entry.path());
    std::iter::once(run.to_owned()).chain(nodes).filter(|home| is_begun(home)).collect()
}

/// Whether something of a run is in the user's files that never came to its end. As long as it is, only the run has
/// what was there before.
pub fn is_half_written(journal: &Journal, run: &RunId) -> Result<bool, ReadError> {
    // A run that ended knows how its last file was written.
    if journal.summary(run)?.ended && begun_in(&journal.work_dir(run)).is_empty() {
        return Ok(false);
    }
    Ok(!BegunWrites::of(journal, run, &AcceptanceHistory::by(journal, run)?).is_nothing())
}

impl Gadfly {
    /// Takes back what the run began to write; whoever calls this sees to it that nobody drives the run.
    pub(crate) async fn take_back_begun(&self, run: &RunId) -> Result<Vec<Undone>, UndoError> {
        let told = AcceptanceHistory::by(self.journal(), run)?;
        let mut undone = self.take_back(run, &BegunWrites::of(self.journal(), run, &told)).await?;
        undone.extend(self.branch_begun(run, &told).await?.map(|name| Undone::BranchStays { name }));
        Ok(undone)
    }

    /// A branch that the run made without living to say so in its record.
    pub(super) async fn branch_begun(
        &self,
        run: &RunId,
        told: &AcceptanceHistory,
    ) -> Result<Option<String>, UndoError> {
        let home = self.journal().work_dir(run);
        let Some((branch, message)) = commit_begun(&home).filter(|_| told.commit.is_none()) else {
            return Ok(None);
        };
        let made = self.workspace_in(&home)?.committed(&branch, &message).await;
        Ok(made.map_err(|e| UndoError::Folder(e.to_string()))?.map(|_| branch))
    }

    pub(super) async fn take_back(&self, run: &RunId, begun: &BegunWrites) -> Result<Vec<Undone>, UndoError> {
        let mut undone = Vec::new();
        for home in &begun.homes {
            let workspace = self.workspace_in(home)?;
            let TakenBack { paths, left } =
                workspace.take_back_begun().await.map_err(|e| UndoError::Folder(e.to_string()))?;
            undone.push(Undone::Checkout { root: workspace.root().to_owned(), paths, left });
        }
        if let Some(save) = &begun.file {
            sweep_beside(save.target.path.as_ref());
            undone.extend(BegunWrites::is_written(save).then(|| self.undo_file(run, save)).transpose()?);
        }
        Ok(undone)
    }

    /// What taking it back would do, and where.
    pub(super) async fn way_of_begun(
        &self,
        begun: &BegunWrites,
    ) -> Result<Option<(PathBuf, WayBack)>, UndoError> {
        let mut found: Option<(PathBuf, WayBack)> = None;
        for home in &begun.homes {
            let workspace = self.workspace_in(home)?;
            let more = workspace.way_of_begun().await.map_err(|e| UndoError::Folder(e.to_string()))?;
            let (_, way) = found.get_or_insert_with(|| (workspace.root().to_owned(), WayBack::default()));
            way.restored.extend(more.restored);
            way.removed.extend(more.removed);
            way.left_alone.extend(more.left_alone);
        }
        if let Some(save) =
            begun.file.as_ref().filter(|save| found.is_none() && BegunWrites::is_written(save))
        {
            let preview = super::preview_file(save);
            found = Some((preview.root, preview.way));
        }
        Ok(found)
    }

    fn workspace_in(&self, home: &Path) -> Result<Workspace, UndoError> {
        let process_env = self.process_env().ok_or(NoSupervisor)?;
        let failed = |e: WorkspaceError| UndoError::Folder(e.to_string());
        Workspace::open(process_env.git(), home).map_err(failed)
    }
}
