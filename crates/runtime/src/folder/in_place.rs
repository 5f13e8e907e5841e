//! A folder that is the user's own project: one run at a time works there, its beginning is kept, and nothing is
//! put back but by `undo`. What others found changed is said, not undone.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Folder, FolderError, Inside, OpenedFolder, listed};
use crate::workspace::{Created, Workspace, WorkspaceError};

/// How often a lock is tried for, and how long between: half a second together.
const ATTEMPTS: u32 = 25;
const PAUSE: Duration = Duration::from_millis(20);

/// Held by whoever works in a checkout itself, or takes back what was done there; the kernel lets go of it when
/// the process dies. It is on the folder: no file appears in it, and every store of the user's sees it.
pub struct CheckoutLock(#[allow(dead_code)] File);

impl CheckoutLock {
    /// None if somebody else holds it.
    pub fn try_take(root: &Path) -> std::io::Result<Option<Self>> {
        let folder = File::open(root)?;
        for _ in 0..ATTEMPTS {
            match folder.try_lock() {
                Ok(()) => return Ok(Some(Self(folder))),
                // A process that is just being started holds what its parent held, for the moment of its start.
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(None)
    }
}

impl Folder {
    /// Before anything else is done there: the project is this run's alone.
    pub(super) fn take_project(&self, state: &mut OpenedFolder) -> Result<(), FolderError> {
        if !self.plan.in_place || state.taken.is_some() {
            return Ok(());
        }
        let root = lockable(Path::new(&self.plan.project));
        match CheckoutLock::try_take(&root).map_err(FolderError::io(&root))? {
            Some(taken) => state.taken = Some(taken),
            None => return Err(FolderError::Taken { path: root }),
        }
        Ok(())
    }

    /// A second beginning would put what the run did in the place of what the user had. So it is begun again only
    /// if no state but the first was ever seen, whatever became of the mark that says so.
    pub(super) fn was_worked_in(&self) -> bool {
        self.plan.in_place && std::fs::read_dir(self.states()).is_ok_and(|states| states.count() > 1)
    }

    pub(super) async fn make_in_place(
        &self,
        project: &Path,
        without: Vec<String>,
        tell: &(dyn Fn(String) + Send + Sync),
    ) -> Result<Created, WorkspaceError> {
        let made = Workspace::create_in_place(self.git(), project, &self.home, without).await?;
        let root = made.workspace.root();
        tell(format!(
            "it works in {} itself; to take back what it did: gadfly undo {}",
            root.display(),
            self.run
        ));
        let inside = made.workspace.left_out().iter().map(|path| format!("{path} (a repository inside)"));
        let not_kept: Vec<String> = made.not_kept.iter().cloned().chain(inside).collect();
        if !not_kept.is_empty() {
            tell(format!(
                "undoing it cannot bring back what it changes in: {}; all else comes back, git's own files and ignored \
                 ones too",
                listed(&not_kept).join(", ")
            ));
        }
        if self.home.canonicalize().is_ok_and(|home| home.starts_with(root)) {
            tell(format!(
                "the run's own records are in {}, where its commands can write; `XDG_STATE_HOME` keeps them elsewhere",
                self.home.display()
            ));
        }
        Ok(made)
    }
}

impl Inside {
    /// Says once what git would run, or obey, as the user and that is not what it was.
    pub(super) fn warn_of_hooks(&mut self, tell: &(dyn Fn(String) + Send + Sync)) -> Result<(), FolderError> {
        let changed = self.workspace.hooks_changed()?;
        if changed != self.state.hooks && !changed.is_empty() {
            tell(format!(
                "warning: what git runs or obeys as you was changed: {}; look at it before you use git here",
                listed(&changed).join(", ")
            ));
        }
        self.state.hooks = changed;
        Ok(())
    }

    /// What is different now from an earlier state; it stays so.
    pub(super) async fn differing(&self, tree: &str) -> Result<BTreeSet<String>, FolderError> {
        let now = self.workspace.snapshot().await?;
        if now.tree == tree {
            return Ok(BTreeSet::new());
        }
        let changed = self.workspace.changes(tree, &now.tree).await?;
        Ok(changed.into_iter().map(|c| c.path).collect())
    }
}

/// What is locked for a project: the top of its repository, so that two of its folders are not worked in at once.
pub fn lockable(project: &Path) -> PathBuf {
    let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
    let top = project.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok());
    top.map_or_else(|| project.clone(), Path::to_owned)
}
