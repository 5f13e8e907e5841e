//! Takes back what a run's nodes delivered, each from a folder of its own: every file is what it was before the
//! first of them wrote it.

use gadfly_engine::NodePath;
use gadfly_engine::tree::Accept;
use gadfly_journal::RunId;

use super::{Preview, UndoError, Undone};
use crate::folder::{home_of, tree_of};
use crate::os::NoSupervisor;
use crate::service::Gadfly;
use crate::workspace::{PastAcceptance, Workspace, WorkspaceError, take_all_back, way_to_take_all_back};

impl Gadfly {
    pub(super) async fn undo_delivered(&self, run: &RunId, accepts: &[Accept]) -> Result<Undone, UndoError> {
        if self.is_driven(run) {
            return Err(UndoError::Driven(run.clone()));
        }
        let past = self.past(run, accepts).await?;
        let root = past.first().map(|p| p.workspace.root().to_owned()).unwrap_or_default();
        match take_all_back(&past).await {
            Ok(undone) => Ok(Undone::Checkout { root, paths: undone.paths, left: Vec::new() }),
            Err(WorkspaceError::Conflict { paths }) => Err(UndoError::Changed { run: run.clone(), paths }),
            Err(other) => Err(UndoError::Folder(other.to_string())),
        }
    }

    pub(super) async fn preview_delivered(
        &self,
        run: &RunId,
        accepts: &[Accept],
    ) -> Result<Preview, UndoError> {
        let past = self.past(run, accepts).await?;
        let root = past.first().map(|p| p.workspace.root().to_owned()).unwrap_or_default();
        let way = way_to_take_all_back(&past).await.map_err(|e| UndoError::Folder(e.to_string()))?;
        Ok(Preview { root, way, sure: true, in_place: false })
    }

    async fn past(&self, run: &RunId, accepts: &[Accept]) -> Result<Vec<PastAcceptance>, UndoError> {
        let process_env = self.process_env().ok_or(NoSupervisor)?;
        let git = process_env.git();
        let failed = |e: WorkspaceError| UndoError::Folder(e.to_string());
        let run = self.work_of(run)?;
        let mut past = Vec::with_capacity(accepts.len());
        for accept in accepts {
            let node = accept.at.clone().unwrap_or_else(NodePath::root);
            let home = home_of(&run, &node);
            let tree = tree_of(&home, &accept.tree).map_err(|e| UndoError::Folder(e.to_string()))?;
            let workspace = Workspace::open(git.clone(), &home).map_err(failed)?;
            let judged = match &accept.only {
                Some(only) => workspace.narrowed(&tree, only).await.map_err(failed)?,
                None => tree,
            };
            past.push(PastAcceptance { workspace, judged, resolution: accept.resolution.clone() });
        }
        Ok(past)
    }
}
