//! Where a tool finds files: below the run's folder, or at one place outside that a person allowed.
//!
//! A model chooses the paths, and what it started earlier may have put links in their way. So no path is used
//! as it stands: every step is opened from the one before, and a link is an error, not a way.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, OFlags};
use rustix::io::Errno;

use super::walk::FolderIgnores;
use crate::edits::{above, open_file, open_folder, said};

const LONGEST: usize = 4096;

/// The files a tool may touch.
pub enum Area {
    Below(OpenTree),
    /// Absolute paths, each allowed by a person.
    Beyond,
}

/// The run's folder, held open.
pub struct OpenTree {
    top: OwnedFd,
    /// The project below the top.
    project: Vec<String>,
    dir: OwnedFd,
    /// What lies below the project and is ours: nobody's to read or write.
    ours: Vec<String>,
}

/// A file's place: the folder above it, and its name there.
pub struct FileSpot {
    pub above: OwnedFd,
    pub name: String,
}

/// A folder to begin a walk in.
pub struct Begin {
    pub folder: OwnedFd,
    /// Its path as the model names it; empty for the run's folder itself.
    pub path: String,
    /// Its path from the top of the tree, which ignore rules are about.
    pub from_top: PathBuf,
    pub rules: FolderIgnores,
    pub ours: Vec<String>,
}

/// What a path names.
pub enum Named {
    File(FileSpot),
    Folder(Begin),
}

impl Area {
    /// The project `dir` in the tree whose top is `work`. `ours` is where Gadfly keeps its own.
    pub fn below(work: &Path, dir: &Path, ours: &[PathBuf]) -> Result<Self, String> {
        let lost = |why: String| format!("the run's folder cannot be used: {why}");
        let project = dir.strip_prefix(work).map_err(|e| lost(e.to_string()))?;
        let project: Option<Vec<String>> =
            project.iter().map(|part| part.to_str().map(str::to_owned)).collect();
        let project = project.ok_or_else(|| lost("its name is no text".to_owned()))?;
        let top = open_folder(CWD, work).map_err(|e| lost(said(e)))?;
        let mut at = top.try_clone().map_err(|e| lost(e.to_string()))?;
        for part in &project {
            at = open_folder(&at, part.as_str()).map_err(|e| lost(said(e)))?;
        }
        let ours = ours.iter().filter_map(|ours| ours.strip_prefix(dir).ok()?.to_str());
        let ours = ours.filter(|ours| !ours.is_empty()).map(str::to_owned).collect();
        Ok(Self::Below(OpenTree { top, project, dir: at, ours }))
    }

    /// The place of a file, which may not exist yet. `make` makes the folders above it.
    pub fn spot(&self, path: &str, make: bool) -> Result<FileSpot, String> {
        let said_of = |why: String| format!("`{}`: {why}", clipped(path));
        match self {
            Self::Below(tree) => {
                let path = tree.allowed(path).map_err(said_of)?;
                if path.is_empty() {
                    return Err(said_of("it names the folder itself, not a file".to_owned()));
                }
                let (above, name) = above(&tree.dir, &path, make).map_err(said_of)?;
                Ok(FileSpot { above, name: name.to_owned() })
            }
            // A person agreed to this place. Where a link leads nobody was asked, and whoever put it there may
            // turn it elsewhere.
            Self::Beyond => {
                let whole = absolute(path).map_err(said_of)?;
                let root = open_folder(CWD, "/").map_err(|e| said_of(said(e)))?;
                let names = whole.to_str().unwrap_or_default().trim_matches('/');
                let names = names.split('/').filter(|name| !name.is_empty()).collect::<Vec<_>>().join("/");
                let (above, name) = above(&root, &names, false)
                    .map_err(|why| said_of(through_a_link(whole).unwrap_or(why)))?;
                Ok(FileSpot { above, name: name.to_owned() })
            }
        }
    }

    /// A file or a folder, whichever is there. An empty path is the run's folder.
    pub fn named(&self, path: &str) -> Result<Named, String> {
        match self {
            Self::Below(tree) => {
                let plain = tree.allowed(path).map_err(|why| format!("`{}`: {why}", clipped(path)))?;
                match tree.begin(&plain) {
                    Ok(begin) => Ok(Named::Folder(begin)),
                    Err(Errno::NOTDIR | Errno::LOOP) if !plain.is_empty() => {
                        Ok(Named::File(self.spot(&plain, false)?))
                    }
                    Err(error) => Err(format!("`{plain}`: {}", said(error))),
                }
            }
            Self::Beyond => {
                let spot = self.spot(path, false)?;
                match open_folder(&spot.above, spot.name.as_str()) {
                    Ok(folder) => {
                        let path = path.trim_end_matches('/').to_owned();
                        Ok(Named::Folder(Begin {
                            folder,
                            path,
                            from_top: PathBuf::new(),
                            rules: FolderIgnores::default(),
                            ours: Vec::new(),
                        }))
                    }
                    Err(_) => Ok(Named::File(spot)),
                }
            }
        }
    }
}

impl OpenTree {
    /// The path without what says nothing, if it may be used at all.
    fn allowed(&self, path: &str) -> Result<String, String> {
        let path = plain(path)?;
        let is_ours = |ours: &String| {
            path == *ours || path.strip_prefix(ours.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        if self.ours.iter().any(is_ours) {
            return Err("Gadfly keeps its runs there; it is not part of the project".to_owned());
        }
        Ok(path)
    }

    /// Opens a folder below the project, with the ignore rules that hold there.
    fn begin(&self, path: &str) -> Result<Begin, Errno> {
        let mut at = self.top.try_clone().map_err(|_| Errno::MFILE)?;
        let mut from_top = PathBuf::new();
        let mut rules = FolderIgnores::default().with(&at, &from_top);
        let below = path.split('/').filter(|part| !part.is_empty());
        for part in self.project.iter().map(String::as_str).chain(below) {
            at = open_folder(&at, part)?;
            from_top.push(part);
            rules = rules.with(&at, &from_top);
        }
        Ok(Begin { folder: at, path: path.to_owned(), from_top, rules, ours: self.ours.clone() })
    }
}

impl FileSpot {
    /// The file, to be read.
    pub fn open(&self) -> Result<File, String> {
        open_file(&self.above, &self.name, OFlags::RDONLY)
    }
}

/// A path below a folder: no way up, no root; what says nothing (`./`, a slash too many) is left out.
fn plain(path: &str) -> Result<String, String> {
    if path.starts_with('/') {
        return Err("paths are given from the run's folder, as in `src/main.rs`".to_owned());
    }
    if path.len() > LONGEST || path.contains('\0') {
        return Err("it is no path".to_owned());
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err("it leads out of the run's folder".to_owned());
    }
    Ok(parts.join("/"))
}

fn absolute(path: &str) -> Result<&Path, String> {
    let is_plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    let plain = path.len() <= LONGEST && !path.contains('\0');
    let path = Path::new(path);
    if plain && path.is_absolute() && path.components().all(is_plain) {
        return Ok(path);
    }
    Err("outside the run's folder only a whole path without `..` names a file".to_owned())
}

/// What is said of a place whose folder has another name in truth.
fn through_a_link(path: &Path) -> Option<String> {
    let (folder, name) = (path.parent()?, path.file_name()?);
    let real = folder.canonicalize().ok().filter(|real| real != folder)?.join(name);
    Some(format!("a link leads from there to `{}`: ask for that", real.display()))
}

/// Enough of a path that a model made up to know which is meant.
pub fn clipped(path: &str) -> &str {
    path.get(..path.floor_char_boundary(200)).unwrap_or_default()
}
