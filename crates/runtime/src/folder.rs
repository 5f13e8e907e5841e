//! The run's folder, as effects use it: made by the first look, put into a recorded state before anything
//! works in it, one user at a time. How trees are kept, compared and accepted is the workspace's business.
//!
//! States are known to the engine by digest and to the workspace by the name of a tree; which is which is
//! written down before anybody hears of the digest, so that another process finds it after a crash.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use gadfly_agents::launcher::Launcher;
use gadfly_engine::tree::WorkspacePlan;
use gadfly_engine::{CallFailure, Digest, FailureKind, Reply, Usage};
use gadfly_journal::RunId;
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::os::{Loopback, children_ended, remove_tree};
use crate::process_env::ProcessEnv;
use crate::save::write_atomically;
use crate::workspace::{Bring, Git, Workspace, WorkspaceError, read_beside};

mod accept;
mod branch;
mod command;
mod evidence;
mod examine;
mod fresh;
mod held;
mod in_place;
mod look;
mod nodes;
mod prepared;
mod telling;

pub(crate) use accept::commit_begun;
pub(crate) use command::noted;
pub use in_place::{CheckoutLock, lockable};
pub use nodes::{NODES, home_of};
pub use prepared::unused_layers;

/// Children of a process that was killed are gone within two seconds; a slow machine gets more.
const ENDING: Duration = Duration::from_secs(30);
/// How many paths of a list are named one by one.
const NAMED: usize = 50;

pub struct Folder {
    run: RunId,
    /// The run's own directory, or its node's; the workspace is in `tree` below it.
    home: PathBuf,
    /// Gadfly's own places, which are never part of the project: its store, the user's state directory.
    ours: Vec<PathBuf>,
    plan: WorkspacePlan,
    process_env: Arc<ProcessEnv>,
    /// It is in the record that there was one.
    was_made: bool,
    state: Arc<Mutex<OpenedFolder>>,
    /// The network that its commands share, once there is one.
    loopback: OnceLock<Option<Loopback>>,
}

#[derive(Default)]
struct OpenedFolder {
    workspace: Option<Arc<Workspace>>,
    /// Readers at work now: they have copies, and this folder must not change meanwhile.
    readers: usize,
    /// What was found changed although only readers were at work.
    meddled: BTreeSet<String>,
    /// Of a run in place: the project is its alone.
    taken: Option<CheckoutLock>,
    /// Of a run in place: what the folder held when the first reader came.
    lent: Option<String>,
    /// What was found changed of what git runs or obeys.
    hooks: Vec<String>,
    /// A fresh folder, with the tree it was made from.
    fresh: Option<(String, Arc<fresh::FreshFolder>)>,
}

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error("processes of an earlier attempt still work in the run's folder; end them and resume")]
    Busy,
    #[error(
        "another run works in {} itself, or is being undone; let it end, or leave out `--in-place`, and resume",
        path.display()
    )]
    Taken { path: PathBuf },
    #[error("the run's folder is gone: {}; the run cannot go on, start it again", path.display())]
    Gone { path: PathBuf },
    #[error("the run's folder was never in the state {}", digest.short())]
    UnknownState { digest: Digest },
    #[error("{} cannot be used: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// A command of the user's did what it should not.
    #[error("{0}")]
    Command(String),
    #[error("called off")]
    Cancelled,
}

impl FolderError {
    fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    /// What the engine is told.
    pub fn reply(self) -> Reply {
        match self {
            Self::Cancelled => Reply::Cancelled { sent: true },
            Self::Workspace(conflict @ WorkspaceError::Conflict { .. }) => {
                Reply::Conflict { message: conflict.to_string() }
            }
            other => Reply::Failed(CallFailure {
                kind: FailureKind::Misconfigured,
                message: other.to_string(),
                usage: Usage::default(),
            }),
        }
    }
}

/// The folder, for as long as this is held: nobody else looks at it or changes it.
pub struct Inside {
    pub workspace: Arc<Workspace>,
    home: PathBuf,
    state: OwnedMutexGuard<OpenedFolder>,
}

impl Folder {
    pub fn new(
        run: RunId,
        home: PathBuf,
        ours: Vec<PathBuf>,
        plan: WorkspacePlan,
        process_env: Arc<ProcessEnv>,
    ) -> Self {
        Self {
            run,
            home,
            ours,
            plan,
            process_env,
            was_made: false,
            state: Arc::default(),
            loopback: OnceLock::new(),
        }
    }

    /// Whether there was one: a second one would not have the work that was done in it.
    pub fn recorded(mut self, was_made: bool) -> Self {
        self.was_made = was_made;
        self
    }

    /// Held by everything that works in the folder.
    pub fn lock(&self) -> PathBuf {
        self.home.join("tree.lock")
    }

    /// What is read from the folder although it is not in it: the user's own files it has links to, and the
    /// objects of the past that its repository borrows.
    pub fn linked(&self) -> Vec<PathBuf> {
        let links = self.plan.link.iter().map(|path| Path::new(&self.plan.project).join(path));
        links.chain(read_beside(&self.home)).collect()
    }

    /// Held by processes that may only read: they work beside the folder.
    pub fn readers_lock(&self) -> PathBuf {
        self.home.join("readers.lock")
    }

    pub(crate) fn launcher(&self) -> Arc<dyn Launcher> {
        self.process_env
            .launcher
            .holding(&self.lock())
            .unwrap_or_else(|| Arc::clone(&self.process_env.launcher))
    }

    fn git(&self) -> Git {
        Git::new(self.launcher(), self.process_env.env.iter().cloned())
    }

    /// Written when the folder was made and is ready to be worked in.
    fn ready(&self) -> PathBuf {
        self.home.join("tree-ready")
    }

    /// Waits for whoever is inside, here or in a process that was killed, and goes in. The folder must exist.
    pub async fn enter(&self) -> Result<Inside, FolderError> {
        let mut state = self.settled().await?;
        if state.workspace.is_none() {
            if !self.ready().exists() {
                return Err(FolderError::Gone { path: self.home.join("tree") });
            }
            self.clear_fresh();
            state.workspace = Some(Arc::new(Workspace::open(self.git(), &self.home)?));
        }
        self.inside(state)
    }

    /// As `enter`, making the folder if there is none. Says what the user should know of it.
    pub async fn enter_or_make(&self, tell: &(dyn Fn(String) + Send + Sync)) -> Result<Inside, FolderError> {
        if self.ready().exists() {
            return self.enter().await;
        }
        let mut state = self.settled().await?;
        if self.was_made || state.workspace.is_some() || self.was_worked_in() {
            return Err(FolderError::Gone { path: self.home.join("tree") });
        }
        state.workspace = Some(Arc::new(self.make(tell).await?));
        self.inside(state)
    }

    /// Nobody works at the root of a run whose nodes have folders of their own: what it looks at is the project.
    fn shows_the_project(&self) -> bool {
        self.plan.per_node && self.home.parent().and_then(Path::file_name).is_none_or(|name| name != NODES)
    }

    /// The folder made anew, as the project is now.
    async fn renewed(&self, tell: &(dyn Fn(String) + Send + Sync)) -> Result<Inside, FolderError> {
        let mut state = self.settled().await?;
        state.workspace = None;
        let (ready, tree) = (self.ready(), self.home.join("tree"));
        let _ = tokio::task::spawn_blocking(move || {
            let _ = fs::remove_file(ready);
            remove_tree(&tree);
        })
        .await;
        state.workspace = Some(Arc::new(self.make(tell).await?));
        self.inside(state)
    }

    fn inside(&self, state: OwnedMutexGuard<OpenedFolder>) -> Result<Inside, FolderError> {
        let Some(workspace) = state.workspace.clone() else {
            return Err(FolderError::Gone { path: self.home.join("tree") });
        };
        Ok(Inside { workspace, home: self.home.clone(), state })
    }

    async fn settled(&self) -> Result<OwnedMutexGuard<OpenedFolder>, FolderError> {
        let mut state = Arc::clone(&self.state).lock_owned().await;
        self.take_project(&mut state)?;
        fs::create_dir_all(&self.home).map_err(FolderError::io(&self.home))?;
        let mut locks = vec![self.lock()];
        if state.workspace.is_none() {
            locks.push(self.readers_lock());
        }
        for lock in locks {
            if !children_ended(&lock, ENDING).await.map_err(FolderError::io(&lock))? {
                return Err(FolderError::Busy);
            }
        }
        Ok(state)
    }

    async fn make(&self, tell: &(dyn Fn(String) + Send + Sync)) -> Result<Workspace, FolderError> {
        let project = Path::new(&self.plan.project);
        let inside = self.ours.iter().filter_map(|ours| ours.strip_prefix(project).ok()?.to_str());
        let bring = Bring {
            link: self.plan.link.clone(),
            copy: self.plan.copy.clone(),
            prepared: self.plan.prepare.is_some(),
            makes: self.plan.makes.clone(),
            needs: self.plan.needs.clone(),
            without: inside.filter(|path| !path.is_empty()).map(ToOwned::to_owned).collect(),
            ..Bring::default()
        };
        let begun = Instant::now();
        // It never became ready, so nobody worked in it.
        let unfinished = self.home.join("tree");
        let _ = tokio::task::spawn_blocking(move || remove_tree(&unfinished)).await;
        let made = if self.plan.in_place {
            self.make_in_place(project, bring.without, tell).await?
        } else {
            Workspace::create(self.git(), project, &self.home, &bring).await?
        };
        self.tell_of(&made, begun.elapsed(), tell).await?;
        let mut workspace = made.workspace;
        if !self.plan.in_place {
            self.prepare(&mut workspace, tell).await?;
        }
        let base = workspace.base().to_owned();
        self.remember(workspace.digest(&base).await?, &base)?;
        let ready = self.ready();
        write_atomically(&ready, b"").map_err(FolderError::io(&ready))?;
        Ok(workspace)
    }

    fn states(&self) -> PathBuf {
        self.home.join("states")
    }

    /// Writes down which tree a digest stands for.
    fn remember(&self, digest: Digest, tree: &str) -> Result<(), FolderError> {
        let dir = self.states();
        let path = dir.join(digest.to_string());
        if path.exists() {
            return Ok(());
        }
        fs::create_dir_all(&dir)
            .and_then(|()| write_atomically(&path, tree.as_bytes()))
            .map_err(FolderError::io(&path))
    }

    /// The tree that a digest stands for.
    pub fn tree_of(&self, digest: &Digest) -> Result<String, FolderError> {
        tree_of(&self.home, digest)
    }

    /// Puts the folder into this state, whatever happened to it. The user's own project stays as it is.
    pub async fn restored(&self, digest: &Digest) -> Result<Inside, FolderError> {
        let mut inside = self.enter().await?;
        if self.plan.in_place {
            return Ok(inside);
        }
        let fresh = inside.state.fresh.take();
        let _ = tokio::task::spawn_blocking(move || drop(fresh)).await;
        inside.workspace.restore(&self.tree_of(digest)?).await?;
        Ok(inside)
    }

    /// A copy of this state in an empty folder. From now on until [`Self::readers_gone`] the folder itself
    /// must stay in it, too.
    pub async fn lend(&self, digest: &Digest, to: &Path) -> Result<(), FolderError> {
        let tree = self.tree_of(digest)?;
        let mut inside = self.enter().await?;
        inside.workspace.export(&tree, to).await?;
        if self.plan.in_place {
            if inside.state.readers == 0 {
                inside.state.meddled.clear();
                inside.state.lent = Some(inside.workspace.snapshot().await?.tree);
            }
        } else if inside.state.readers > 0 {
            // Whoever is at work already must not profit from what is put back for the next.
            inside.note_meddling(&tree).await?;
        } else {
            inside.state.meddled.clear();
            inside.workspace.restore(&tree).await?;
        }
        inside.state.readers += 1;
        Ok(())
    }

    /// A reader has ended: what changed in the folder itself while only readers were at work. It is put back,
    /// but not in the user's own project. Which of several did it cannot be told, so each is told of it.
    pub async fn readers_gone(&self, digest: &Digest) -> Result<Vec<String>, FolderError> {
        let tree = self.tree_of(digest)?;
        let mut inside = self.enter().await?;
        let noted = if self.plan.in_place {
            inside.note_difference().await
        } else {
            inside.note_meddling(&tree).await
        };
        inside.state.readers = inside.state.readers.saturating_sub(1);
        noted?;
        Ok(inside.state.meddled.iter().cloned().collect())
    }

    /// Removes what an accepted run needs no more. The store stays: it is what undoing needs.
    pub async fn tidy(&self) {
        let Ok(mut inside) = self.enter().await else { return };
        let (gone, fresh) = (inside.workspace.disposable(), inside.state.fresh.take());
        let _ = tokio::task::spawn_blocking(move || {
            drop(fresh);
            for dir in gone {
                remove_tree(&dir);
            }
        })
        .await;
    }
}

impl Inside {
    /// What differs in the user's own project from what it held when the first reader came.
    async fn note_difference(&mut self) -> Result<(), FolderError> {
        let Some(lent) = self.state.lent.clone() else { return Ok(()) };
        let found = self.differing(&lent).await?;
        self.state.meddled.extend(found);
        Ok(())
    }

    /// What differs from a tree now, and puts it back.
    async fn note_meddling(&mut self, tree: &str) -> Result<(), FolderError> {
        // No snapshot has it, and the next would keep it as it is by then: a hook left there the worker runs.
        if self.workspace.restore_clone(tree).await? {
            self.state.meddled.insert(".git".to_owned());
        }
        let found = self.put_back(tree).await?;
        self.state.meddled.extend(found);
        Ok(())
    }

    /// Restores a tree and says what differed from it. The user's own project is only compared.
    async fn put_back(&self, tree: &str) -> Result<Vec<String>, FolderError> {
        if self.workspace.is_in_place() {
            return Ok(self.differing(tree).await?.into_iter().collect());
        }
        let now = match self.workspace.snapshot().await {
            Ok(now) => now,
            // Somebody took the folder itself away.
            Err(WorkspaceError::NotADirectory { .. }) => {
                self.workspace.restore(tree).await?;
                return Ok(vec![self.workspace.work().display().to_string()]);
            }
            Err(other) => return Err(other.into()),
        };
        if now.tree == tree {
            return Ok(Vec::new());
        }
        let changed = self.workspace.changes(tree, &now.tree).await?;
        self.workspace.restore(tree).await?;
        Ok(changed.into_iter().map(|c| c.path).collect())
    }

    pub fn tree_of(&self, digest: &Digest) -> Result<String, FolderError> {
        tree_of(&self.home, digest)
    }
}

/// The tree that a digest of a run's folder stands for.
pub fn tree_of(home: &Path, digest: &Digest) -> Result<String, FolderError> {
    let path = home.join("states").join(digest.to_string());
    match fs::read_to_string(&path) {
        Ok(tree) => Ok(tree),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Err(FolderError::UnknownState { digest: *digest })
        }
        Err(source) => Err(FolderError::Io { path, source }),
    }
}

/// A list that names at most so many, and how many more there are.
pub fn listed(paths: &[String]) -> Vec<String> {
    let mut named: Vec<String> = paths.iter().take(NAMED).cloned().collect();
    if let Some(more) = paths.len().checked_sub(NAMED).filter(|more| *more > 0) {
        named.push(format!("and {more} more"));
    }
    named
}

/// A path from the top of the tree, seen from the project below it.
fn from_project(below: &str, path: &str) -> String {
    let within = path.strip_prefix(below).and_then(|rest| rest.strip_prefix('/'));
    match within {
        _ if below.is_empty() => path.to_owned(),
        Some(within) => within.to_owned(),
        None => format!("{}{path}", "../".repeat(below.split('/').count())),
    }
}

/// The way back.
fn from_top(below: &str, path: &str) -> String {
    let up = "../".repeat(below.split('/').count());
    match path.strip_prefix(&up) {
        _ if below.is_empty() => path.to_owned(),
        Some(outside) => outside.to_owned(),
        None => format!("{below}/{path}"),
    }
}
