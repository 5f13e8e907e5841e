//! Takes back what a run did in the user's own project. The journal says which state was last known to be the
//! run's; where it may have worked on after that, everything that differs from the beginning is taken to be its
//! doing, and a surface asks before it has that taken back.

use gadfly_engine::input::InputKind;
use gadfly_engine::tree::WorkspacePlan;
use gadfly_engine::{Class, Digest, Effect, EffectKind, Reply, Role};
use gadfly_journal::{ReadError, RunId};

use super::{Preview, UndoError, Undone};
use crate::folder::{Folder, FolderError, Inside};
use crate::os::NoSupervisor;
use crate::service::Gadfly;
use crate::workspace::{WayBack, WorkspaceError};

/// What the journal tells of a run that worked in place.
pub(super) struct InPlace {
    plan: WorkspacePlan,
    /// The last state that a look found.
    last: Option<Digest>,
    /// Nothing that could have changed files was done after that look.
    settled: bool,
}

impl InPlace {
    fn asked(&mut self, effect: &Effect) {
        let may_change = match &effect.kind {
            EffectKind::Turn(turn) => turn.role == Role::Worker && turn.tree.is_some(),
            EffectKind::Tool(_) => effect.class != Class::Read,
            // Until its reply says that it changed nothing.
            EffectKind::Verify(_) => true,
            _ => false,
        };
        self.settled &= !may_change;
    }

    fn replied(&mut self, reply: &Reply, was_settled: Option<bool>) {
        match reply {
            Reply::Looked(looked) => {
                if let Some(tree) = &looked.tree {
                    (self.last, self.settled) = (Some(tree.digest), true);
                }
            }
            Reply::Verified(verified) if verified.changed.is_empty() => {
                self.settled = was_settled.unwrap_or(self.settled);
            }
            _ => {}
        }
    }
}

impl Gadfly {
    /// None if the run did not work in place.
    pub(super) fn in_place(&self, run: &RunId) -> Result<Option<InPlace>, ReadError> {
        let mut found: Option<InPlace> = None;
        let mut verifying = None;
        for record in self.journal().replay(run) {
            let record = record?;
            if let InputKind::Started(start) = &record.input.what {
                let plan = start.plan.workspace.clone().filter(|plan| plan.in_place);
                found = plan.map(|plan| InPlace { plan, last: None, settled: true });
            }
            let Some(told) = &mut found else { return Ok(None) };
            if let InputKind::Replied { effect, reply } = &record.input.what {
                let was = verifying.take_if(|(id, _)| id == effect).map(|(_, settled)| settled);
                told.replied(reply, was);
            }
            for effect in &record.step.effects {
                if matches!(effect.kind, EffectKind::Verify(_)) {
                    verifying = Some((effect.id.clone(), told.settled));
                }
                told.asked(effect);
            }
        }
        Ok(found)
    }

    pub(super) async fn preview_in_place(&self, run: &RunId, told: InPlace) -> Result<Preview, UndoError> {
        let (inside, way, sure) = self.way_back(run, told).await?;
        Ok(Preview { root: inside.workspace.root().to_owned(), way, sure, in_place: true })
    }

    pub(super) async fn undo_in_place(&self, run: &RunId, told: InPlace) -> Result<Undone, UndoError> {
        let (inside, way, _) = self.way_back(run, told).await?;
        match inside.workspace.go_back(&way).await {
            Ok(()) => Ok(Undone::InPlace { root: inside.workspace.root().to_owned(), way }),
            Err(WorkspaceError::Conflict { paths }) => Err(UndoError::Changed { run: run.clone(), paths }),
            Err(other) => Err(UndoError::Folder(other.to_string())),
        }
    }

    /// Enters the project, so that nobody else works there, and finds the way back. `true` if everything on it is
    /// known to be the run's doing.
    async fn way_back(&self, run: &RunId, told: InPlace) -> Result<(Inside, WayBack, bool), UndoError> {
        if self.is_driven(run) {
            return Err(UndoError::Driven(run.clone()));
        }
        let process_env = self.process_env().ok_or(NoSupervisor)?;
        let (home, ours) = (self.journal().work_dir(run), self.journal().own_places());
        let folder = Folder::new(run.clone(), home, ours, told.plan, process_env);
        let inside = match folder.enter().await {
            Ok(inside) => inside,
            Err(FolderError::Gone { .. }) if told.last.is_none() => {
                return Err(UndoError::Nothing(run.clone()));
            }
            Err(FolderError::Gone { path }) => return Err(UndoError::Gone { run: run.clone(), path }),
            Err(FolderError::Taken { path }) => return Err(UndoError::Taken { path }),
            Err(other) => return Err(UndoError::Folder(other.to_string())),
        };
        let last = match &told.last {
            Some(digest) => Some(checked(&inside, digest).await?),
            None => None,
        };
        let sure = told.settled && self.journal().summary(run)?.ended && last.is_some();
        let way = inside.workspace.way_back(last.as_deref().filter(|_| sure)).await;
        let way = way.map_err(|e| UndoError::Folder(e.to_string()))?;
        Ok((inside, way, sure))
    }
}

/// The tree that the journal knows by this digest. What a run keeps may lie where it worked: if what is there is
/// not what was recorded, nothing of it is put into the user's files.
async fn checked(inside: &Inside, digest: &Digest) -> Result<String, UndoError> {
    let workspace = &inside.workspace;
    let broken = |why: String| UndoError::Tampered { path: workspace.root().to_owned(), why };
    let tree = inside.tree_of(digest).map_err(|e| broken(e.to_string()))?;
    match workspace.digest(&tree).await {
        Ok(found) if found == *digest => Ok(tree),
        Ok(_) => Err(broken("it is not what was recorded".to_owned())),
        Err(e) => Err(broken(e.to_string())),
    }
}
