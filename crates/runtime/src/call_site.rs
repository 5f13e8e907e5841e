//! Where a call takes place: nowhere, in an empty folder, in the run's own folder, or, for whoever may only
//! read, in a copy that is looked at before and after.
//!
//! A reader never works in the user's checkout. Its copy is thrown away, so what it changed there is undone
//! by that; that it changed something is what matters, because it makes its reply void. A call's temporary
//! folder is no part of its place and not looked at.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gadfly_engine::turn::SCRATCH;
use gadfly_engine::{Digest, Text};

use crate::folder::{Folder, FolderError, Inside, listed};
use crate::os::remove_tree;
use crate::sandbox::Mounts;
use watched::SiteSnapshot;

mod report;
pub mod settings;
mod watched;

/// Where a call takes place, before it begins.
pub enum CallSite {
    Nowhere,
    /// A worker that writes no files of the run.
    Empty(PathBuf),
    /// A worker in the run's folder, which is put into this state first. None: it goes on with what is there.
    Folder {
        folder: Arc<Folder>,
        tree: Option<Digest>,
    },
    /// Somebody who may only read.
    Reader {
        at: PathBuf,
        of: Option<(Arc<Folder>, Digest)>,
        /// Files that are copied there, where it is no copy of a folder of the run.
        files: Option<PathBuf>,
        /// What git ignores and is to be read: links to it.
        beside: Vec<BesideReader>,
        report: Option<String>,
    },
}

/// Where something is, and what it is called in a copy of the whole tree, and of the project's files.
pub type BesideReader = (PathBuf, String, String);

/// Where in a run's place the state under review is.
pub const REVIEWED: &str = "reviewed";

/// A place that was made ready; it lasts until it is left.
pub struct Entered {
    pub workdir: Option<PathBuf>,
    pub lock: Option<PathBuf>,
    /// What is there for the call's processes; none if the call has no place.
    pub mounts: Option<Mounts>,
    what: SiteState,
}

enum SiteState {
    Nothing,
    Empty,
    /// Held so that nobody else works there meanwhile.
    Folder(#[allow(dead_code)] Inside),
    Reader {
        before: SiteSnapshot,
        of: Option<(Arc<Folder>, Digest)>,
        report: Option<String>,
    },
}

/// What was found when a call was over.
#[derive(Debug, Default)]
pub struct SiteReport {
    pub report: Option<Text>,
    /// What a reader changed, sorted; not more than can be read.
    pub violations: Vec<String>,
}

impl CallSite {
    /// What is compared before and after, for people; none if nothing is.
    pub const fn compared(&self) -> Option<&'static str> {
        match self {
            Self::Nowhere | Self::Empty(_) | Self::Folder { .. } => None,
            Self::Reader { of, .. } => Some(Self::what_is_compared(of.is_some())),
        }
    }

    /// Of a reader's place: everything it was given and, if that is a copy of the run's folder, that folder.
    pub const fn what_is_compared(with_a_folder: bool) -> &'static str {
        if with_a_folder { "its copy, the worker's folder" } else { "its folder" }
    }

    /// A reader's place with nothing in it that leads to the user's own files.
    pub fn without_links(self) -> Self {
        match self {
            Self::Reader { at, of, files, report, .. } => {
                Self::Reader { at, of, files, beside: Vec::new(), report }
            }
            other => other,
        }
    }

    /// Makes the place ready. `tmp` becomes an empty folder for the call alone.
    pub async fn enter(self, tmp: Option<&Path>) -> Result<Entered, FolderError> {
        if let Some(tmp) = tmp {
            make_empty(tmp).await?;
        }
        let mut entered = match self.enter_place().await {
            Ok(entered) => entered,
            Err(error) => {
                if let Some(tmp) = tmp.map(Path::to_owned) {
                    off_thread(move || remove_tree(&tmp)).await;
                }
                return Err(error);
            }
        };
        if let (Some(mounts), Some(tmp)) = (&mut entered.mounts, tmp) {
            tmp.clone_into(&mut mounts.tmp);
        }
        Ok(entered)
    }

    async fn enter_place(self) -> Result<Entered, FolderError> {
        match self {
            Self::Nowhere => {
                Ok(Entered { workdir: None, lock: None, mounts: None, what: SiteState::Nothing })
            }
            Self::Empty(at) => {
                make_empty(&at).await?;
                let mounts = Some(Mounts { tree: at.clone(), ..Mounts::default() });
                Ok(Entered { workdir: Some(at), lock: None, mounts, what: SiteState::Empty })
            }
            Self::Folder { folder, tree } => {
                let inside = match &tree {
                    Some(tree) => folder.restored(tree).await?,
                    None => folder.enter().await?,
                };
                let workdir = Some(inside.workspace.dir());
                let mounts =
                    Mounts { tree: inside.workspace.work(), linked: folder.linked(), ..Mounts::default() };
                let (lock, mounts) = (Some(folder.lock()), Some(mounts));
                Ok(Entered { workdir, lock, mounts, what: SiteState::Folder(inside) })
            }
            Self::Reader { at, of, files, beside, report } => {
                make_empty(&at).await?;
                if let Some(files) = files {
                    let to = at.clone();
                    let copied = off_thread(move || copy(&files, &to)).await;
                    let copied = copied.unwrap_or_else(|| Err(std::io::Error::other("the task was ended")));
                    copied.map_err(|source| FolderError::Io { path: at.clone(), source })?;
                }
                let lock = of.as_ref().map(|(folder, _)| folder.readers_lock());
                if let Some((folder, tree)) = &of {
                    folder.lend(tree, &at).await?;
                }
                let linked = link_beside(&at, &beside, of.is_some());
                let before = match ready(&at).await {
                    Ok(before) => before,
                    Err(error) => {
                        if let Some((folder, tree)) = &of {
                            let _ = folder.readers_gone(tree).await;
                        }
                        return Err(error);
                    }
                };
                let scratch = Some(at.join(SCRATCH));
                let mounts = Some(Mounts { tree: at.clone(), scratch, linked, ..Mounts::default() });
                Ok(Entered {
                    workdir: Some(at),
                    lock,
                    mounts,
                    what: SiteState::Reader { before, of, report },
                })
            }
        }
    }
}

impl Entered {
    /// Looks at what the call left, and clears it away. `Err` says why the call's reply cannot be used.
    pub async fn leave(self) -> Result<SiteReport, String> {
        let tmp = self.mounts.map(|mounts| mounts.tmp).filter(|tmp| !tmp.as_os_str().is_empty());
        if let Some(tmp) = tmp {
            off_thread(move || remove_tree(&tmp)).await;
        }
        let Some(at) = self.workdir else { return Ok(SiteReport::default()) };
        match self.what {
            SiteState::Nothing | SiteState::Folder(_) => Ok(SiteReport::default()),
            SiteState::Empty => {
                off_thread(move || remove_tree(&at)).await;
                Ok(SiteReport::default())
            }
            SiteState::Reader { before, of, report } => {
                let found = off_thread(move || examine(&at, &before, report.as_deref())).await;
                let (mut violations, report) = found.unwrap_or_else(|| (vec!["its folder".into()], Ok(None)));
                if let Some((folder, tree)) = of {
                    let reached = folder.readers_gone(&tree).await.map_err(|e| e.to_string())?;
                    violations
                        .extend(reached.into_iter().map(|path| format!("{path} (in the worker's folder)")));
                }
                violations.sort();
                Ok(SiteReport { report: report?.map(Text::new), violations: listed(&violations) })
            }
        }
    }
}

/// What changed, and the report that was asked for; then everything is removed.
fn examine(
    at: &Path,
    before: &SiteSnapshot,
    report: Option<&str>,
) -> (Vec<String>, Result<Option<String>, String>) {
    // Moved aside first: what is in it may be changed, and there may be any amount of it.
    let scratch = aside(at);
    let is_dir = fs::symlink_metadata(at.join(SCRATCH)).is_ok_and(|m| m.is_dir());
    let moved = is_dir && fs::rename(at.join(SCRATCH), &scratch).is_ok();
    let violations = before.changes(at);
    let report = report.filter(|_| moved).map_or(Ok(None), |name| report::read(&scratch, name));
    remove_tree(at);
    remove_tree(&scratch);
    (violations, report)
}

fn aside(at: &Path) -> PathBuf {
    let mut name = at.as_os_str().to_owned();
    name.push(".scratch");
    PathBuf::from(name)
}

/// A new folder; what a call left that was killed with its process is cleared away.
async fn make_empty(at: &Path) -> Result<(), FolderError> {
    let dir = at.to_owned();
    let made = off_thread(move || {
        if let Some(above) = dir.parent() {
            fs::create_dir_all(above)?;
        }
        remove_tree(&dir);
        remove_tree(&aside(&dir));
        fs::create_dir(&dir)
    });
    let made = made.await.unwrap_or_else(|| Err(std::io::Error::other("the task was ended")));
    made.map_err(|source| FolderError::Io { path: at.to_owned(), source })
}

/// Links what is beside into a reader's place; says where it leads. What stands in the way, or is reached through a link
/// of the worker's, is left out.
fn link_beside(at: &Path, beside: &[BesideReader], whole: bool) -> Vec<PathBuf> {
    let mut linked = Vec::new();
    for (from, of_tree, of_project) in beside {
        let path = if whole { of_tree } else { of_project };
        let is_clear = |end: usize| {
            let above = path.get(..end).map(|above| at.join(above));
            above.is_some_and(|above| fs::symlink_metadata(above).map_or(true, |meta| meta.is_dir()))
        };
        if path.is_empty() || !path.match_indices('/').all(|(end, _)| is_clear(end)) {
            continue;
        }
        let to = at.join(path);
        let made = to.parent().map_or(Ok(()), fs::create_dir_all);
        if made.and_then(|()| std::os::unix::fs::symlink(from, &to)).is_ok() {
            linked.push(from.clone());
        }
    }
    linked
}

/// Writes down what the folder holds, then adds the one folder a reader may write to.
async fn ready(at: &Path) -> Result<SiteSnapshot, FolderError> {
    let dir = at.to_owned();
    let ready = off_thread(move || {
        let scratch = dir.join(SCRATCH);
        // A tree may have something of that name: a reader's own folder takes its place.
        if fs::symlink_metadata(&scratch).is_ok() {
            remove_tree(&scratch);
        }
        let before = SiteSnapshot::of(&dir)?;
        fs::create_dir(&scratch)?;
        Ok(before)
    });
    let ready = ready.await.unwrap_or_else(|| Err(std::io::Error::other("the task was ended")));
    ready.map_err(|source| FolderError::Io { path: at.to_owned(), source })
}

/// Copies what a folder holds, links as links.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut left = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = left.pop() {
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let (kind, to) = (entry.file_type()?, to.join(entry.file_name()));
            if kind.is_dir() {
                fs::create_dir(&to)?;
                left.push((entry.path(), to));
            } else if kind.is_symlink() {
                std::os::unix::fs::symlink(fs::read_link(entry.path())?, &to)?;
            } else if kind.is_file() {
                fs::copy(entry.path(), &to)?;
            }
        }
    }
    Ok(())
}

async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
