//! Takes back what an accepted run changed in the user's files: all of it, or nothing if any of it changed
//! since. Once more is once.

use std::fs;
use std::path::{Path, PathBuf};

use gadfly_engine::effect::{Committed, Save};
use gadfly_engine::input::What;
use gadfly_engine::tree::Accept;
use gadfly_engine::{Effect, EffectKind, Reply};
use gadfly_journal::{ReadError, RunId};

use crate::folder::{FolderError, tree_of};
use crate::os::NoSupervisor;
use crate::save::{digest_of, write_atomically};
use crate::service::Gadfly;
use crate::workspace::{Git, Workspace, WorkspaceError};

/// What was taken back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Undone {
    /// These files of the checkout are what they were before the run.
    Checkout { root: PathBuf, paths: Vec<String> },
    /// A file has its earlier content again.
    Restored { path: PathBuf },
    /// A file that did not exist before the run is gone again.
    Removed { path: PathBuf },
}

#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error("run `{0}` changed none of your files, so there is nothing to take back")]
    Nothing(RunId),
    #[error("run `{run}` only made the branch `{branch}`; remove it with: git branch -D {branch}")]
    Committed { run: RunId, branch: String },
    #[error(
        "these changed since run `{run}` was accepted, so nothing was taken back: {}; put your version aside and \
         try again",
        paths.join(", ")
    )]
    Changed { run: RunId, paths: Vec<String> },
    #[error("what `{}` held before the run is not in the journal any more", path.display())]
    Lost { path: PathBuf },
    #[error("{} cannot be written: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Program(#[from] NoSupervisor),
    #[error("{0}")]
    Folder(String),
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// What a run brought to the user.
enum Brought {
    Tree { accept: Accept, commit: Option<Committed> },
    File(Save),
}

impl Gadfly {
    /// Takes back what this run's acceptance changed.
    pub async fn undo(&self, run: &RunId) -> Result<Undone, UndoError> {
        match self.brought(run)?.ok_or_else(|| UndoError::Nothing(run.clone()))? {
            Brought::Tree { commit: Some(commit), .. } => {
                Err(UndoError::Committed { run: run.clone(), branch: commit.branch })
            }
            Brought::Tree { accept, commit: None } => self.undo_tree(run, &accept).await,
            Brought::File(save) => self.undo_file(run, &save),
        }
    }

    /// The last acceptance that came to its end.
    fn brought(&self, run: &RunId) -> Result<Option<Brought>, ReadError> {
        let mut asked: Vec<Effect> = Vec::new();
        let mut brought = None;
        for record in self.journal().replay(run) {
            let record = record?;
            if let What::Replied { effect, reply } = &record.input.what
                && let Some(effect) = asked.iter().find(|e| e.id == *effect)
            {
                match (&effect.kind, reply) {
                    (EffectKind::Accept(accept), Reply::Accepted { commit, .. }) => {
                        brought = Some(Brought::Tree { accept: accept.clone(), commit: commit.clone() });
                    }
                    (EffectKind::Save(save), Reply::Saved { .. }) if save.approved => {
                        brought = Some(Brought::File(save.clone()));
                    }
                    _ => {}
                }
            }
            let writes = |e: &Effect| matches!(e.kind, EffectKind::Accept(_) | EffectKind::Save(_));
            asked.extend(record.step.effects.into_iter().filter(writes));
        }
        Ok(brought)
    }

    async fn undo_tree(&self, run: &RunId, accept: &Accept) -> Result<Undone, UndoError> {
        let means = self.means().ok_or(NoSupervisor)?;
        let home = self.journal().run_dir(run);
        let failed = |e: FolderError| UndoError::Folder(e.to_string());
        let tree = tree_of(&home, &accept.tree).map_err(failed)?;
        let workspace =
            Workspace::open(Git::new(means.launcher, means.env), &home).map_err(|e| failed(e.into()))?;
        match workspace.take_back(&tree, accept.resolution.as_ref()).await {
            Ok(undone) => Ok(Undone::Checkout { root: workspace.root().to_owned(), paths: undone.paths }),
            Err(WorkspaceError::Conflict { paths }) => Err(UndoError::Changed { run: run.clone(), paths }),
            Err(other) => Err(failed(other.into())),
        }
    }

    fn undo_file(&self, run: &RunId, save: &Save) -> Result<Undone, UndoError> {
        let path = Path::new(&save.target.path).to_owned();
        let io = |source| UndoError::Io { path: path.clone(), source };
        let now = digest_of(&path).map_err(io)?;
        let changed = now != Some(save.content) && now != save.target.before;
        if changed {
            return Err(UndoError::Changed { run: run.clone(), paths: vec![save.target.path.clone()] });
        }
        let Some(before) = save.target.before else {
            if now.is_some() {
                fs::remove_file(&path).map_err(io)?;
            }
            return Ok(Undone::Removed { path });
        };
        let text = self.journal().text(&before)?.ok_or_else(|| UndoError::Lost { path: path.clone() })?;
        if now != Some(before) {
            write_atomically(&path, text.as_bytes()).map_err(io)?;
        }
        Ok(Undone::Restored { path })
    }
}
