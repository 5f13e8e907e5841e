//! A walk through a folder: what is there, without what the project's ignore files leave out, `.git` and links.
//!
//! It goes level by level, so that what is cut off is what lies deepest; it is bounded in depth, in number and
//! in time, and opens every folder from the one above it. It decides nothing about what it finds.

use std::collections::VecDeque;
use std::ffi::{CString, OsStr};
use std::io::Read as _;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, Dir, FileType, OFlags, statat};
use tokio_util::sync::CancellationToken;

use super::area::Begin;
use crate::edits::{open_file, open_folder};

/// Nobody looks for files deeper than this; every level costs an opened folder on the way.
const DEEPEST: usize = 64;
const MOST_IN_A_FOLDER: usize = 20_000;
const MOST: usize = 200_000;
/// Folders that may wait for their turn.
const MOST_WAITING: usize = 50_000;
const LARGEST_RULES: u64 = 1 << 20;
const RULES: [&str; 2] = [".gitignore", ".ignore"];

/// When to stop: called off, or out of time.
#[derive(Clone, Debug)]
pub struct WalkStop {
    pub until: Instant,
    pub cancel: CancellationToken,
}

impl WalkStop {
    pub fn now(&self) -> bool {
        self.cancel.is_cancelled() || Instant::now() >= self.until
    }
}

/// Ignore rules of a folder and of those above it; the nearest that says something decides.
#[derive(Clone, Default)]
pub struct FolderIgnores(Option<Arc<IgnoreLevel>>);

struct IgnoreLevel {
    above: FolderIgnores,
    own: Gitignore,
}

impl FolderIgnores {
    /// With the rules that this folder brings. `path` is from the top of the tree.
    pub fn with(self, folder: &OwnedFd, path: &Path) -> Self {
        let mut builder = GitignoreBuilder::new(Path::new("/").join(path));
        let mut any = false;
        for name in RULES {
            let Ok(file) = open_file(folder, name, OFlags::RDONLY) else { continue };
            let mut text = Vec::new();
            if file.take(LARGEST_RULES).read_to_end(&mut text).is_err() {
                continue;
            }
            for line in String::from_utf8_lossy(&text).lines() {
                // A line that is no pattern ignores nothing; that is how git reads it, too.
                any |= builder.add_line(None, line).is_ok();
            }
        }
        match builder.build() {
            Ok(own) if any => Self(Some(Arc::new(IgnoreLevel { above: self, own }))),
            _ => self,
        }
    }

    fn ignore(&self, path: &Path, is_folder: bool) -> bool {
        let path = Path::new("/").join(path);
        let mut at = self;
        while let Some(level) = &at.0 {
            match level.own.matched(&path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => at = &level.above,
            }
        }
        false
    }
}

/// Something found.
pub struct WalkEntry<'a> {
    /// As the model names it.
    pub path: String,
    pub is_folder: bool,
    pub bytes: u64,
    above: &'a OwnedFd,
    name: &'a CString,
}

impl WalkEntry<'_> {
    pub fn open(&self) -> Option<std::fs::File> {
        open_file(self.above, self.name.to_str().ok()?, OFlags::RDONLY).ok()
    }
}

struct WaitingFolder {
    /// From where the walk began.
    path: PathBuf,
    rules: FolderIgnores,
}

/// Shows everything to `visit` until it has seen enough. True if there was more than could be looked at.
pub fn walk(begin: Begin, stop: &WalkStop, mut visit: impl FnMut(&WalkEntry<'_>) -> ControlFlow<()>) -> bool {
    let Begin { folder: first, path: prefix, from_top, rules, ours } = begin;
    let mut waiting = VecDeque::from([WaitingFolder { path: PathBuf::new(), rules }]);
    let (mut seen, mut more) = (0_usize, false);
    let shown = |path: &Path| {
        let path = path.to_string_lossy();
        if prefix.is_empty() { path.into_owned() } else { format!("{prefix}/{path}") }
    };
    while let Some(WaitingFolder { path, rules }) = waiting.pop_front() {
        if stop.now() {
            return true;
        }
        let Some(folder) = opened(&first, &path) else { continue };
        // The rules of the first folder were read on the way to it.
        let rules =
            if path.as_os_str().is_empty() { rules } else { rules.with(&folder, &from_top.join(&path)) };
        let (names, all) = names(&folder);
        more |= !all;
        for name in &names {
            if seen >= MOST || stop.now() {
                return true;
            }
            let Ok(stat) = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let kind = FileType::from_raw_mode(stat.st_mode);
            let (is_folder, is_file) = (kind == FileType::Directory, kind == FileType::RegularFile);
            let below = path.join(OsStr::from_bytes(name.to_bytes()));
            let entry = WalkEntry {
                path: shown(&below),
                is_folder,
                bytes: u64::try_from(stat.st_size).unwrap_or(0),
                above: &folder,
                name,
            };
            let left_out = ours.contains(&entry.path);
            if left_out || !(is_folder || is_file) || rules.ignore(&from_top.join(&below), is_folder) {
                continue;
            }
            seen += 1;
            if visit(&entry).is_break() {
                return more;
            }
            if is_folder {
                let deep = below.iter().count() >= DEEPEST || waiting.len() >= MOST_WAITING;
                more |= deep;
                if !deep {
                    waiting.push_back(WaitingFolder { path: below, rules: rules.clone() });
                }
            }
        }
    }
    more
}

fn opened(start: &OwnedFd, path: &Path) -> Option<OwnedFd> {
    let mut at = start.try_clone().ok()?;
    for part in path {
        at = open_folder(&at, part).ok()?;
    }
    Some(at)
}

/// Sorted, and whether these are all.
fn names(folder: &OwnedFd) -> (Vec<CString>, bool) {
    let Ok(entries) = Dir::read_from(folder) else { return (Vec::new(), true) };
    let is_one = |name: &CString| !matches!(name.to_bytes(), b"." | b".." | b".git");
    let entries = entries.flatten().map(|entry| entry.file_name().to_owned()).filter(is_one);
    let mut names: Vec<CString> = entries.take(MOST_IN_A_FOLDER + 1).collect();
    let all = names.len() <= MOST_IN_A_FOLDER;
    names.truncate(MOST_IN_A_FOLDER);
    names.sort();
    (names, all)
}
