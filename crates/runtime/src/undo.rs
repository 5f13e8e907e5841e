//! Takes back what a run changed in the user's files, by being accepted or by working in place: all of it, or
//! nothing if any of it changed since. Once more is once.

use std::fs;
use std::path::{Path, PathBuf};

use gadfly_engine::effect::{Committed, Save};
use gadfly_engine::input::InputKind;
use gadfly_engine::tree::Accept;
use gadfly_engine::{Effect, EffectKind, Reply};
use gadfly_journal::pipeline::StateFiles;
use gadfly_journal::{Journal, ReadError, RunId};

use begun::BegunWrites;

use crate::folder::{FolderError, tree_of};
use crate::os::NoSupervisor;
use crate::save::{digest_of, sweep_beside, write_atomically};
use crate::service::Gadfly;
use crate::task_status::KeptStatus;
use crate::workspace::{CheckoutChanges, WayBack, Workspace, WorkspaceError};

mod already;
mod begun;
mod delivered;
mod in_place;

pub use already::undone_ms;
pub use begun::is_half_written;

/// What was taken back.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(clippy::large_enum_variant)] // there is one at a time
pub enum Undone {
    /// These files of the checkout are what they were before the run.
    Checkout {
        root: PathBuf,
        paths: Vec<String>,
        /// Of an acceptance that never came to its end: changed since by somebody else, so they stay.
        left: Vec<String>,
    },
    /// A file has its earlier content again.
    Restored { path: PathBuf },
    /// A file that did not exist before the run is gone again.
    Removed { path: PathBuf },
    /// Nothing: a commit that was made just before its process died is the user's to remove.
    BranchStays { name: String },
    /// The project the run worked in is what it was before.
    InPlace { root: PathBuf, way: WayBack },
}

/// What taking back would do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Preview {
    pub root: PathBuf,
    pub way: WayBack,
    /// Everything on the way is known to be the run's doing. Otherwise a person should see it first.
    pub sure: bool,
    pub in_place: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error("run `{0}` changed none of your files, so there is nothing to take back")]
    Nothing(RunId),
    #[error("run `{run}` was taken back already; nothing was done")]
    Already { run: RunId, at_ms: u64 },
    #[error("run `{run}` only made the branch `{branch}`; remove it with: git branch -D {branch}")]
    Committed { run: RunId, branch: String },
    #[error(
        "these changed since run `{run}` wrote them, so nothing was taken back: {}; put your version aside and try \
         again",
        paths.join(", ")
    )]
    Changed { run: RunId, paths: Vec<String> },
    #[error("run `{0}` is at work; stop it first: gadfly cancel {0}")]
    Driven(RunId),
    #[error("another run works in {} itself; let it end and try again", path.display())]
    Taken { path: PathBuf },
    #[error("what {} held before the run cannot be relied on: {why}; nothing was taken back", path.display())]
    Tampered { path: PathBuf, why: String },
    #[error("what `{}` held before the run is not in the journal any more", path.display())]
    Lost { path: PathBuf },
    #[error("{} cannot be written: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Program(#[from] NoSupervisor),
    #[error(
        "the folder of run `{run}` is gone, and with it what your files held before, so nothing can be taken back: {}",
        path.display()
    )]
    Gone { run: RunId, path: PathBuf },
    #[error("{0}")]
    Folder(String),
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// What a run brought to the user.
enum RunDelivery {
    /// What its nodes made in folders of their own, the oldest first.
    Delivered(Vec<Accept>),
    Tree {
        accept: Accept,
        commit: Option<Committed>,
    },
    File(Save),
}

/// What the journal tells of a run's acceptances.
#[derive(Default)]
struct AcceptanceHistory {
    /// Those that came to their end, the oldest first.
    accepted: Vec<Accept>,
    commit: Option<Committed>,
    saved: Option<Save>,
    /// The files by which a pipeline shows how it stands.
    shown_in: Option<StateFiles>,
    /// An acceptance was asked for, and nothing is known of how it ended.
    accepting: bool,
    /// The last file that was to be written, if nothing is known of how that ended.
    saving: Option<Save>,
}

impl AcceptanceHistory {
    fn by(journal: &Journal, run: &RunId) -> Result<Self, ReadError> {
        let (mut told, mut asked) = (Self::default(), Vec::<Effect>::new());
        for record in journal.replay(run) {
            let record = record?;
            match &record.input.what {
                InputKind::Started(start) => told.shown_in = StateFiles::of(&start.plan),
                InputKind::Replied { effect, reply } => {
                    if let Some(effect) = asked.iter().find(|e| e.id == *effect) {
                        told.replied(&effect.kind, reply);
                    }
                }
                _ => {}
            }
            for effect in record.step.effects {
                match &effect.kind {
                    EffectKind::Save(save) if save.approved => told.saving = Some(save.clone()),
                    EffectKind::Accept(_) => told.accepting = true,
                    _ => continue,
                }
                asked.push(effect);
            }
        }
        Ok(told)
    }

    fn replied(&mut self, kind: &EffectKind, reply: &Reply) {
        self.accepting &= !matches!(kind, EffectKind::Accept(_));
        match (kind, reply) {
            (EffectKind::Accept(accept), Reply::Accepted { commit, .. }) => {
                self.accepted.push(accept.clone());
                self.commit.clone_from(commit);
            }
            (EffectKind::Save(save), Reply::Saved { .. }) => {
                (self.saved, self.saving) = (Some(save.clone()), None);
            }
            (EffectKind::Save(_), _) => self.saving = None,
            _ => {}
        }
    }

    /// The last acceptance that came to its end or, where nodes have folders of their own, all of them.
    fn brought(&self) -> Option<RunDelivery> {
        let delivered: Vec<Accept> = self.accepted.iter().filter(|a| a.at.is_some()).cloned().collect();
        if !delivered.is_empty() {
            return Some(RunDelivery::Delivered(delivered));
        }
        let tree = self
            .accepted
            .last()
            .map(|accept| RunDelivery::Tree { accept: accept.clone(), commit: self.commit.clone() });
        tree.or_else(|| self.saved.clone().map(RunDelivery::File))
    }
}

impl Undone {
    /// A folder that a removed file was in could not be removed: doing it again does.
    fn left_a_folder(&self) -> bool {
        let Self::Checkout { root, paths, .. } = self else { return false };
        let is_empty = |path: &String| {
            let gone = root.join(path);
            let above = gone.parent().filter(|above| *above != root.as_path() && !gone.exists());
            above
                .and_then(|above| fs::read_dir(above).ok())
                .is_some_and(|mut entries| entries.next().is_none())
        };
        paths.iter().any(is_empty)
    }

    /// Both at once: what was half done, and what was whole.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (
                Self::Checkout { root, mut paths, mut left },
                Self::Checkout { paths: more, left: also, .. },
            ) => {
                paths.extend(more);
                left.extend(also);
                for list in [&mut paths, &mut left] {
                    list.sort();
                    list.dedup();
                }
                Self::Checkout { root, paths, left }
            }
            (_, other) => other,
        }
    }
}

impl Gadfly {
    /// Takes back what this run changed in the user's files. Of a run that worked in place `preview_undo` says
    /// whether a person should be asked first.
    pub async fn undo(&self, run: &RunId) -> Result<Undone, UndoError> {
        self.not_undone(run)?;
        let undone = self.undo_once(run).await?;
        if let Some(kept) = KeptStatus::of(&self.journal().start(run)?, run) {
            kept.pending(crate::clock::wall_ms());
        }
        if !undone.left_a_folder() {
            already::note(self.journal(), &self.journal().summary(run)?);
        }
        Ok(undone)
    }

    /// Once more would take back what was done since by somebody else.
    fn not_undone(&self, run: &RunId) -> Result<(), UndoError> {
        match undone_ms(self.journal(), &self.journal().summary(run)?) {
            Some(at_ms) => Err(UndoError::Already { run: run.clone(), at_ms }),
            None => Ok(()),
        }
    }

    async fn undo_once(&self, run: &RunId) -> Result<Undone, UndoError> {
        if let Some(told) = self.in_place(run)? {
            return self.undo_in_place(run, told).await;
        }
        let told = AcceptanceHistory::by(self.journal(), run)?;
        let begun = BegunWrites::of(self.journal(), run, &told);
        if !begun.is_nothing() && self.is_driven(run) {
            return Err(UndoError::Driven(run.clone()));
        }
        if let Some(files) = &told.shown_in {
            files.sweep();
        }
        if told.accepting {
            self.work_of(run)?;
        }
        let half = self.take_back(run, &begun).await?;
        let undone = match told.brought() {
            None => None,
            Some(RunDelivery::Tree { commit: Some(commit), .. }) => {
                return Err(UndoError::Committed { run: run.clone(), branch: commit.branch });
            }
            Some(RunDelivery::Tree { accept, commit: None }) => Some(self.undo_tree(run, &accept).await?),
            Some(RunDelivery::Delivered(accepts)) => Some(self.undo_delivered(run, &accepts).await?),
            Some(RunDelivery::File(save)) => Some(self.undo_file(run, &save)?),
        };
        match half.into_iter().chain(undone).reduce(Undone::and) {
            Some(undone) => Ok(undone),
            None => Err(self.nothing(run, &told).await),
        }
    }

    /// What `undo` would do. Changes no file of the user's.
    pub async fn preview_undo(&self, run: &RunId) -> Result<Preview, UndoError> {
        self.not_undone(run)?;
        if let Some(told) = self.in_place(run)? {
            return self.preview_in_place(run, told).await;
        }
        let told = AcceptanceHistory::by(self.journal(), run)?;
        let begun = self.way_of_begun(&BegunWrites::of(self.journal(), run, &told)).await?;
        let Some(brought) = told.brought() else {
            let Some((root, way)) = begun else { return Err(self.nothing(run, &told).await) };
            return Ok(Preview { root, way, sure: true, in_place: false });
        };
        let mut preview = self.preview_brought(run, brought).await?;
        if let Some((_, half)) = begun {
            preview.way.restored.extend(half.restored);
            preview.way.removed.extend(half.removed);
            preview.way.left_alone.extend(half.left_alone);
        }
        Ok(preview)
    }

    /// Why nothing is to be taken back.
    async fn nothing(&self, run: &RunId, told: &AcceptanceHistory) -> UndoError {
        match self.branch_begun(run, told).await {
            Ok(Some(branch)) => UndoError::Committed { run: run.clone(), branch },
            Ok(None) => UndoError::Nothing(run.clone()),
            Err(why) => why,
        }
    }

    async fn preview_brought(&self, run: &RunId, brought: RunDelivery) -> Result<Preview, UndoError> {
        match brought {
            RunDelivery::Tree { commit: Some(commit), .. } => {
                Err(UndoError::Committed { run: run.clone(), branch: commit.branch })
            }
            RunDelivery::Tree { accept, commit: None } => {
                let (workspace, tree) = self.accepted_tree(run, &accept)?;
                let way = workspace.way_to_take_back(&tree, accept.resolution.as_ref()).await;
                let way = way.map_err(|e| UndoError::Folder(e.to_string()))?;
                Ok(Preview { root: workspace.root().to_owned(), way, sure: true, in_place: false })
            }
            RunDelivery::Delivered(accepts) => self.preview_delivered(run, &accepts).await,
            RunDelivery::File(save) => Ok(preview_file(&save)),
        }
    }

    /// Where the run's folders are, which may have been removed.
    fn work_of(&self, run: &RunId) -> Result<PathBuf, UndoError> {
        let path = self.journal().work_dir(run);
        if path.is_dir() { Ok(path) } else { Err(UndoError::Gone { run: run.clone(), path }) }
    }

    fn accepted_tree(&self, run: &RunId, accept: &Accept) -> Result<(Workspace, String), UndoError> {
        let process_env = self.process_env().ok_or(NoSupervisor)?;
        let home = self.work_of(run)?;
        let failed = |e: FolderError| UndoError::Folder(e.to_string());
        let tree = tree_of(&home, &accept.tree).map_err(failed)?;
        let workspace = Workspace::open(process_env.git(), &home).map_err(|e| failed(e.into()))?;
        Ok((workspace, tree))
    }

    async fn undo_tree(&self, run: &RunId, accept: &Accept) -> Result<Undone, UndoError> {
        let (workspace, tree) = self.accepted_tree(run, accept)?;
        match workspace.take_back(&tree, accept.resolution.as_ref()).await {
            Ok(CheckoutChanges { paths }) => {
                Ok(Undone::Checkout { root: workspace.root().to_owned(), paths, left: Vec::new() })
            }
            Err(WorkspaceError::Conflict { paths }) => Err(UndoError::Changed { run: run.clone(), paths }),
            Err(other) => Err(UndoError::Folder(other.to_string())),
        }
    }

    fn undo_file(&self, run: &RunId, save: &Save) -> Result<Undone, UndoError> {
        let path = Path::new(&save.target.path).to_owned();
        sweep_beside(&path);
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

fn preview_file(save: &Save) -> Preview {
    let path = Path::new(&save.target.path);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let now = digest_of(path).ok().flatten();
    let mut way = WayBack::default();
    if now != Some(save.content) && now != save.target.before {
        way.conflicts.push(name.clone());
    }
    if now != save.target.before {
        let list = if save.target.before.is_some() { &mut way.restored } else { &mut way.removed };
        list.push(name);
    }
    let root = path.parent().unwrap_or(Path::new("")).to_owned();
    Preview { root, way, sure: true, in_place: false }
}
