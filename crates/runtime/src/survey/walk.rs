//! Finds the files that patterns name, each folder once, beginning where the patterns stop being plain. It opens
//! every folder from the project's own, step by step and never through a link, so nothing outside is ever seen.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use gadfly_engine::pipeline::Pattern;
use gadfly_engine::pipeline::listing::Survey;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

use super::SurveyError;
use super::cache::FileStamp;
use super::names::NamedPaths;
use crate::edits::open_folder;

/// Files and folders that are passed on the way; more is no project of texts.
const MOST_SEEN: usize = 2_000_000;
const DEEPEST: usize = 100;
/// Folders inside each other that are open at once; nothing is looked for below.
const MOST_OPEN: usize = 200;

/// A file that a pattern names.
pub(super) struct WalkedFile {
    pub path: String,
    pub mark: FileStamp,
    /// 644 or 755.
    pub mode: u32,
}

/// Where the files of patterns can lie: below these folders, so many levels deep.
struct Starts<'a>(BTreeMap<&'a str, usize>);

impl<'a> Starts<'a> {
    fn of(patterns: &[&'a Pattern]) -> Self {
        let mut starts: BTreeMap<&str, usize> = BTreeMap::new();
        for pattern in patterns {
            let deepest = starts.entry(pattern.fixed()).or_default();
            *deepest = (*deepest).max(levels(pattern));
        }
        Self(starts)
    }

    /// Whether something that is named can be in this folder, whose path ends in a slash.
    fn reach(&self, folder: &str) -> bool {
        let above = std::iter::once(0).chain(folder.match_indices('/').map(|(at, _)| at + 1));
        let above = above.filter_map(|at| folder.split_at_checked(at));
        above.into_iter().any(|(fixed, rest)| {
            let is_near = |levels: &usize| rest.matches('/').count() <= *levels;
            self.0.get(fixed).is_some_and(is_near) && !rest.split('/').any(|part| part.starts_with('.'))
        })
    }
}

pub(super) fn open_root(root: &Path) -> Result<OwnedFd, SurveyError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(CWD, root, flags, Mode::empty()).map_err(|_| SurveyError::NoProject { path: root.to_owned() })
}

/// Every file that one of the survey's patterns names, by path, and how many paths were compared with patterns.
pub(super) fn files(
    root: &Path,
    store: &Path,
    survey: &Survey,
    cancel: &CancellationToken,
) -> Result<(Vec<WalkedFile>, usize), SurveyError> {
    let mut patterns: Vec<&Pattern> =
        survey.patterns.iter().chain(&survey.read).filter(|p| stays_inside(p)).collect();
    patterns.sort();
    patterns.dedup();
    let (plain, others): (Vec<&Pattern>, Vec<&Pattern>) =
        patterns.into_iter().partition(|p| p.is_plain_file());
    let walk = Walk {
        top: Rc::new(open_root(root)?),
        root,
        store: below(root, store),
        starts: Starts::of(&others),
        names: NamedPaths::of(others.iter().copied()),
        way: RefCell::default(),
    };
    let by_path = |a: &WalkedFile, b: &WalkedFile| a.path.cmp(&b.path);
    let mut found = Vec::new();
    walk.below_the_starts(cancel, &mut found)?;
    found.sort_unstable_by(by_path);
    // What is written out is often below a pattern, too. Both are in order.
    let (mut named, mut at) = (Vec::new(), 0);
    for pattern in plain {
        while found.get(at).is_some_and(|file: &WalkedFile| file.path < pattern.0) {
            at += 1;
        }
        if found.get(at).is_none_or(|file| file.path != pattern.0) {
            named.extend(walk.named(&pattern.0)?);
        }
    }
    if !named.is_empty() {
        found.append(&mut named);
        found.sort_by(by_path);
    }
    Ok((found, walk.names.compared()))
}

/// A path that leaves the project, or enters git's own folder, names nothing.
fn stays_inside(pattern: &Pattern) -> bool {
    let text = pattern.0.strip_suffix('/').unwrap_or(&pattern.0);
    let is_fine = |part: &str| {
        !matches!(part, "" | "." | "..") && !part.contains('\0') && !part.eq_ignore_ascii_case(".git")
    };
    text.split('/').all(is_fine)
}

/// How many folders below its fixed part a pattern can reach.
fn levels(pattern: &Pattern) -> usize {
    let rest = pattern.0.strip_prefix(pattern.fixed()).unwrap_or_default();
    if pattern.is_folder() || rest.contains("**") {
        return DEEPEST;
    }
    // A class can stand for a slash.
    rest.matches(['/', '[']).count().min(DEEPEST)
}

/// The store's path in the project, with a slash, if it lies there.
fn below(root: &Path, store: &Path) -> Option<String> {
    let inside = store.strip_prefix(root).map(Path::to_owned).ok().or_else(|| {
        let (root, store) = (root.canonicalize().ok()?, store.canonicalize().ok()?);
        store.strip_prefix(root).map(Path::to_owned).ok()
    });
    inside.and_then(|path| path.to_str().map(|p| format!("{p}/"))).filter(|path| path != "/")
}

struct Walk<'a> {
    top: Rc<OwnedFd>,
    root: &'a Path,
    store: Option<String>,
    starts: Starts<'a>,
    names: NamedPaths<'a>,
    /// The way to the folder that was opened last: the next one mostly shares it.
    way: RefCell<Vec<(String, Rc<OwnedFd>)>>,
}

impl Walk<'_> {
    /// A file that is written out.
    fn named(&self, path: &str) -> Result<Option<WalkedFile>, SurveyError> {
        let (folder, name) = path.rsplit_once('/').map_or(("", path), |(above, name)| (above, name));
        if self.is_ours(&format!("{path}/")) {
            return Ok(None);
        }
        let Some(folder) = self.folder(folder)? else { return Ok(None) };
        self.file(&folder, name, path.to_owned())
    }

    fn below_the_starts(
        &self,
        cancel: &CancellationToken,
        found: &mut Vec<WalkedFile>,
    ) -> Result<(), SurveyError> {
        let mut waiting: Vec<String> = self.starts.0.keys().map(|fixed| (*fixed).to_owned()).collect();
        let mut entered: HashSet<String> = HashSet::new();
        let mut seen = 0_usize;
        while let Some(path) = waiting.pop() {
            if cancel.is_cancelled() {
                return Err(SurveyError::Cancelled);
            }
            if self.is_ours(&path) || !entered.insert(path.clone()) {
                continue;
            }
            let Some(folder) = self.folder(path.trim_end_matches('/'))? else { continue };
            let failed = |e: Errno| SurveyError::Io { path: self.root.join(&path), source: e.into() };
            for entry in Dir::read_from(&*folder).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                // What is no text no pattern can name.
                let Ok(name) = entry.file_name().to_str() else { continue };
                if matches!(name, "." | "..") || name.eq_ignore_ascii_case(".git") {
                    continue;
                }
                seen += 1;
                if seen > MOST_SEEN {
                    return Err(SurveyError::TooWide { seen: MOST_SEEN });
                }
                let whole = format!("{path}{name}");
                let kind = match entry.file_type() {
                    FileType::Unknown => self.kind(&folder, name, &whole)?,
                    known => known,
                };
                if kind == FileType::Directory {
                    let below = format!("{whole}/");
                    if self.starts.reach(&below) {
                        waiting.push(below);
                    }
                } else if kind == FileType::RegularFile && self.names.matches(&whole) {
                    found.extend(self.file(&folder, name, whole)?);
                }
            }
        }
        Ok(())
    }

    fn is_ours(&self, folder: &str) -> bool {
        self.store.as_ref().is_some_and(|store| folder.starts_with(store.as_str()))
    }

    fn kind(&self, folder: &OwnedFd, name: &str, path: &str) -> Result<FileType, SurveyError> {
        match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(FileType::from_raw_mode(stat.st_mode)),
            Err(Errno::NOENT) => Ok(FileType::Unknown),
            Err(e) => Err(self.failed(path, e)),
        }
    }

    /// None if there is no file: nothing, a folder, a link.
    fn file(&self, folder: &OwnedFd, name: &str, path: String) -> Result<Option<WalkedFile>, SurveyError> {
        let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(None),
            Err(e) => return Err(self.failed(&path, e)),
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(None);
        }
        let mode = if stat.st_mode & 0o100 == 0 { 0o644 } else { 0o755 };
        Ok(Some(WalkedFile { path, mark: FileStamp::from_stat(&stat), mode }))
    }

    /// A folder by its path from the root; none if there is no such folder, or a link is on the way.
    fn folder(&self, path: &str) -> Result<Option<Rc<OwnedFd>>, SurveyError> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        if parts.len() > MOST_OPEN {
            return Ok(None);
        }
        let mut way = self.way.borrow_mut();
        let shared = way.iter().zip(&parts).take_while(|((name, _), part)| name == *part).count();
        way.truncate(shared);
        for part in parts.into_iter().skip(shared) {
            let above = way.last().map_or(&self.top, |(_, folder)| folder);
            match open_folder(above, part) {
                Ok(folder) => way.push((part.to_owned(), Rc::new(folder))),
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
                Err(e) => return Err(self.failed(path, e)),
            }
        }
        Ok(Some(Rc::clone(way.last().map_or(&self.top, |(_, folder)| folder))))
    }

    fn failed(&self, path: &str, error: Errno) -> SurveyError {
        let path: PathBuf = self.root.join(path);
        SurveyError::Io { path, source: io::Error::from(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_leaves_the_project_names_nothing() {
        for (text, is) in [
            ("paper/a.tex", true),
            ("paper/", true),
            ("**/*.tex", true),
            ("../a.tex", false),
            ("paper/../../a.tex", false),
            ("/etc/passwd", false),
            ("paper//a.tex", false),
            (".git/config", false),
            ("", false),
        ] {
            assert_eq!(stays_inside(&Pattern::new(text)), is, "{text}");
        }
    }

    #[test]
    fn a_walk_goes_no_deeper_than_its_pattern_can_reach() {
        for (text, deep) in [("*.md", 0), ("a/*/b.md", 1), ("a/{b/c,d}/*.md", 2), ("a/**/b", DEEPEST)] {
            assert_eq!(levels(&Pattern::new(text)), deep, "{text}");
        }
        let patterns = [Pattern::new("a/*/b.md"), Pattern::new("a/*.md"), Pattern::new(".c/d/")];
        let starts = Starts::of(&patterns.iter().collect::<Vec<_>>());
        assert!(starts.reach("a/b/") && !starts.reach("a/b/c/") && !starts.reach("a/.b/"));
        assert!(!starts.reach("b/") && starts.reach(".c/d/e/f/") && !starts.reach(".c/e/"));
    }
}
