//! What of a checkout is in no tree and is taken back all the same, when a run worked in place: git's own files
//! (refs, HEAD, stash, index, settings, hooks, objects), and what git ignores, up to a bound.
//!
//! A copy is kept when the run begins, and what each file looks like is written down then and with every snapshot. On the
//! way back only what the run changed is touched; what somebody changed since stays, and is named. Waits for the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::checkout::{Checkout, PathContent};
use super::clone::copy_file;
use super::repository::Repository;
use crate::os::remove_tree;

/// What one ignored path, or one part of git's own folder, may have so that it is kept.
const ENTRY_BYTES: u64 = 64 << 20;
const ENTRY_FILES: usize = 20_000;
/// What all of them may have together.
const ALL_BYTES: u64 = 256 << 20;
/// Git's objects are copied up to this size; beyond it they are shared by hard links.
const OBJECT_BYTES: u64 = 512 << 20;

const OBJECTS: &str = "objects";
const BITS: u32 = 0o7777;

/// Where the kept copies are, and what they are copies of.
#[derive(Clone, Debug)]
pub(super) struct KeptCopies {
    kept: PathBuf,
    root: PathBuf,
    parts: Vec<KeptFolder>,
    /// Git's objects, if there is a repository.
    objects: Option<PathBuf>,
}

/// One folder whose files are named from it.
#[derive(Clone, Debug)]
struct KeptFolder {
    name: &'static str,
    at: PathBuf,
}

const FILES: &str = "files";
const GIT: &str = "git";
const SHARED: &str = "shared";
/// The index is told by what it lists, not by its bytes: every `git status` writes it anew.
pub(super) const INDEX: &str = "git/index";

/// What every file, link and folder looks like: by part and path.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Sight {
    pub marks: BTreeMap<String, String>,
    /// Entries that are over the bound, or cannot be read.
    pub over: BTreeSet<String>,
}

/// What was kept when the run began.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct KeptFiles {
    pub before: Sight,
    /// The text of a `.git` that is a file.
    pub pointer: Option<String>,
    /// What could not be kept, for people.
    pub without: Vec<String>,
}

/// What goes back, by part and path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct BesideWay {
    pub restore: Vec<String>,
    pub remove: Vec<String>,
    /// Changed by the run, and again since, or grown too large to tell.
    pub left: Vec<String>,
    /// Objects of git's that are gone.
    pub objects: Vec<String>,
    pub pointer: bool,
}

impl KeptCopies {
    /// `home` is the workspace's, `root` the checkout.
    pub fn of(home: &Path, root: &Path, repository: Option<&Repository>) -> Self {
        let mut parts = vec![KeptFolder { name: FILES, at: root.to_owned() }];
        if let Some(repository) = repository {
            parts.push(KeptFolder { name: GIT, at: repository.dir.clone() });
            if repository.shared != repository.dir {
                parts.push(KeptFolder { name: SHARED, at: repository.shared.clone() });
            }
        }
        let objects = repository.map(|repository| repository.shared.join(OBJECTS));
        Self { kept: home.join("beside"), root: root.to_owned(), parts, objects }
    }

    /// Copies what is there now. `ignored` are the paths that git ignores.
    pub fn keep(&self, ignored: &[String]) -> io::Result<KeptFiles> {
        remove_tree(&self.kept);
        fs::create_dir_all(&self.kept)?;
        let mut kept = KeptFiles { pointer: self.pointer(), ..KeptFiles::default() };
        let mut bytes = 0;
        for (part, entry) in self.entries(ignored) {
            let found = scan(&part.at, &entry)
                .filter(|found| bytes + found.bytes <= ALL_BYTES || part.name != FILES)
                .filter(|found| self.copy(part, found).is_ok());
            let key = format!("{}/{entry}", part.name);
            let Some(found) = found else {
                kept.without.push(self.shown(&key));
                kept.before.over.insert(key);
                continue;
            };
            bytes += if part.name == FILES { found.bytes } else { 0 };
            kept.before.marks.extend(found.named(part.name));
        }
        if let Some(objects) = &self.objects
            && self.keep_objects(objects).is_err()
        {
            remove_tree(&self.kept.join(OBJECTS));
            kept.without.push(format!("{} that a command deletes", shown_below(objects, &self.root)));
        }
        Ok(kept)
    }

    /// What is there now, entries aside that were too large in the beginning.
    pub fn sight(&self, ignored: &[String], kept: &KeptFiles) -> Sight {
        let mut sight = Sight { over: kept.before.over.clone(), ..Sight::default() };
        for (part, entry) in self.entries(ignored) {
            let key = format!("{}/{entry}", part.name);
            if sight.over.contains(&key) {
                continue;
            }
            match scan(&part.at, &entry) {
                Some(found) => sight.marks.extend(found.named(part.name)),
                None => drop(sight.over.insert(key)),
            }
        }
        sight
    }

    /// How that gets back to the beginning, if `after` is the last that is known to be the run's doing.
    pub fn way(&self, kept: &KeptFiles, after: &Sight, now: &Sight) -> BesideWay {
        let mut way = BesideWay::default();
        let grown: BTreeSet<&String> =
            after.over.union(&now.over).filter(|entry| !kept.before.over.contains(*entry)).collect();
        way.left.extend(grown.iter().map(|entry| self.shown(entry)));
        let is_within = |key: &str, entry: &str| {
            key.strip_prefix(entry).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let before = &kept.before.marks;
        let keys: BTreeSet<&String> = before.keys().chain(after.marks.keys()).collect();
        for key in keys {
            let (was, became, is) = (before.get(key), after.marks.get(key), now.marks.get(key));
            if was == became || was == is || grown.iter().any(|entry| is_within(key, entry)) {
                continue;
            }
            if was.is_some() && self.is_as_kept(key) {
                continue;
            }
            if is != became {
                way.left.push(self.shown(key));
            } else if was.is_some() {
                way.restore.push(key.clone());
            } else {
                way.remove.push(key.clone());
            }
        }
        way.objects = self.objects_gone();
        way.pointer = kept.pointer.is_some() && self.pointer() != kept.pointer;
        way
    }

    /// Takes the run's changes back. Doing it again finishes what was cut off.
    pub fn go_back(&self, kept: &KeptFiles, way: &BesideWay) -> io::Result<()> {
        for part in &self.parts {
            let prefix = format!("{}/", part.name);
            let mine = |keys: &[String]| -> Vec<String> {
                keys.iter().filter_map(|key| key.strip_prefix(&prefix)).map(str::to_owned).collect()
            };
            let (restore, remove) = (mine(&way.restore), mine(&way.remove));
            let needs_objects =
                self.objects.as_ref().is_some_and(|objects| objects.parent() == Some(&part.at))
                    && !way.objects.is_empty();
            if restore.is_empty() && remove.is_empty() && !needs_objects {
                continue;
            }
            make_real_folder(&part.at)?;
            let mut checkout = Checkout::open(&part.at)?;
            for path in remove.iter().rev() {
                match checkout.look(path)? {
                    PathContent::Folder => checkout.remove_folder_if_empty(path),
                    PathContent::Nothing | PathContent::Blocked => {}
                    _ => checkout.remove(path)?,
                }
            }
            for path in &restore {
                self.put_back(&mut checkout, part, path, &kept.before.marks)?;
            }
            checkout.sync()?;
        }
        self.put_objects_back(&way.objects)?;
        if let Some(text) = kept.pointer.as_ref().filter(|_| way.pointer) {
            let path = self.root.join(".git");
            remove_tree(&path);
            fs::write(path, text)?;
        }
        Ok(())
    }

    /// As people know it: from the top of the checkout.
    pub fn shown(&self, key: &str) -> String {
        let (name, path) = key.split_once('/').unwrap_or((FILES, key));
        let at = self.parts.iter().find(|part| part.name == name).map_or(&self.root, |part| &part.at);
        shown_below(&at.join(path), &self.root)
    }

    fn entries(&self, ignored: &[String]) -> Vec<(&KeptFolder, String)> {
        let mut entries = Vec::new();
        for part in &self.parts {
            if part.name == FILES {
                entries.extend(ignored.iter().map(|path| (part, path.trim_end_matches('/').to_owned())));
            } else if is_folder(&part.at) {
                let names = fs::read_dir(&part.at).into_iter().flatten().flatten();
                let mut names: Vec<String> =
                    names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
                // Other worktrees are others' checkouts.
                names.retain(|name| name != OBJECTS && !(name == "worktrees" && part.name == SHARED));
                names.sort();
                entries.extend(names.into_iter().map(|name| (part, name)));
            }
        }
        entries
    }

    fn copy(&self, part: &KeptFolder, found: &Scanned) -> io::Result<()> {
        for (path, mark) in &found.marks {
            let to = self.kept.join(part.name).join(path);
            if mark.starts_with(FOLDER) {
                fs::create_dir_all(to)?;
            } else {
                fs::create_dir_all(to.parent().unwrap_or(&self.kept))?;
                copy_file(&part.at.join(path), &to)?;
            }
        }
        Ok(())
    }

    /// Whether a file holds what was kept of it, and may be used as before. A link on the way to it is not followed.
    fn is_as_kept(&self, key: &str) -> bool {
        let named = key.split_once('/').and_then(|(name, path)| {
            Some((self.parts.iter().find(|part| part.name == name && is_folder(&part.at))?, path))
        });
        let Some((part, path)) = named else { return false };
        let kept = self.kept.join(key);
        let same = || {
            let (checkout, was) = (Checkout::open(&part.at)?, fs::symlink_metadata(&kept)?);
            io::Result::Ok(match checkout.look(path)? {
                PathContent::Link(target) => {
                    was.is_symlink() && fs::read_link(&kept)?.as_os_str().as_bytes() == target
                }
                PathContent::File { permissions, bytes } => {
                    was.is_file()
                        && was.permissions().mode() & BITS == permissions
                        && was.len() == bytes
                        && checkout.read(path, bytes)? == Some(fs::read(&kept)?)
                }
                _ => false,
            })
        };
        same().unwrap_or(false)
    }

    fn put_back(
        &self,
        checkout: &mut Checkout,
        part: &KeptFolder,
        path: &str,
        before: &BTreeMap<String, String>,
    ) -> io::Result<()> {
        let key = format!("{}/{path}", part.name);
        let bits = before.get(&key).and_then(|mark| mark.strip_prefix(FOLDER));
        if let Some(bits) = bits.and_then(|bits| u32::from_str_radix(bits, 8).ok()) {
            if !matches!(checkout.look(path)?, PathContent::Folder | PathContent::Nothing) {
                checkout.remove(path)?;
            }
            checkout.make_folder(path, bits)?;
            return checkout.set_bits(path, bits);
        }
        if checkout.look(path)? == PathContent::Folder {
            checkout.remove_empty(path)?;
        }
        let kept = self.kept.join(&key);
        let meta = fs::symlink_metadata(&kept)?;
        if meta.is_symlink() {
            return checkout.put_link(path, fs::read_link(&kept)?.as_os_str().as_bytes());
        }
        let bits = meta.permissions().mode() & BITS;
        checkout.put_file(path, &fs::read(&kept)?, PathContent::is_executable(bits))?;
        checkout.set_bits(path, bits)
    }

    fn keep_objects(&self, objects: &Path) -> io::Result<()> {
        let files = files_below(objects)?;
        let bytes: u64 = files.iter().map(|(_, meta)| meta.len()).sum();
        for (path, _) in files {
            let to = self.kept.join(OBJECTS).join(&path);
            fs::create_dir_all(to.parent().unwrap_or(&self.kept))?;
            if bytes <= OBJECT_BYTES {
                fs::copy(objects.join(&path), to)?;
            } else {
                fs::hard_link(objects.join(&path), to)?;
            }
        }
        Ok(())
    }

    fn objects_gone(&self) -> Vec<String> {
        let Some(objects) = &self.objects else { return Vec::new() };
        let kept = files_below(&self.kept.join(OBJECTS)).unwrap_or_default();
        let is_there = objects.parent().is_some_and(is_folder) && is_folder(objects);
        let gone = kept.into_iter().filter(|(path, was)| {
            !is_there
                || !fs::symlink_metadata(objects.join(path))
                    .is_ok_and(|is| is.is_file() && is.len() == was.len())
        });
        gone.map(|(path, _)| path).collect()
    }

    fn put_objects_back(&self, gone: &[String]) -> io::Result<()> {
        let Some(objects) = self.objects.as_ref().filter(|_| !gone.is_empty()) else { return Ok(()) };
        make_real_folder(objects)?;
        for path in gone {
            let to = objects.join(path);
            // At most two names deep: `ab/…`, `pack/…`.
            let mut above = objects.clone();
            for name in Path::new(path).parent().into_iter().flat_map(Path::components) {
                above.push(name);
                make_real_folder(&above)?;
            }
            remove_tree(&to);
            fs::copy(self.kept.join(OBJECTS).join(path), to)?;
        }
        Ok(())
    }

    /// What a `.git` that is a file says.
    fn pointer(&self) -> Option<String> {
        let path = self.root.join(".git");
        let is_file = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() < 64 << 10);
        is_file.then(|| fs::read_to_string(path).ok())?
    }
}

/// What is below one entry.
struct Scanned {
    marks: Vec<(String, String)>,
    bytes: u64,
}

impl Scanned {
    fn named(self, part: &'static str) -> impl Iterator<Item = (String, String)> {
        self.marks.into_iter().map(move |(path, mark)| (format!("{part}/{path}"), mark))
    }
}

const FOLDER: &str = "folder ";

/// None if there is too much of it, or it cannot be read.
fn scan(at: &Path, entry: &str) -> Option<Scanned> {
    let mut scanned = Scanned { marks: Vec::new(), bytes: 0 };
    let mut waiting = vec![entry.to_owned()];
    while let Some(path) = waiting.pop() {
        let meta = match fs::symlink_metadata(at.join(&path)) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(_) => return None,
        };
        if meta.is_dir() {
            for below in fs::read_dir(at.join(&path)).ok()? {
                let name = below.ok()?.file_name().into_string().ok()?;
                // A repository inside is another's.
                if name.eq_ignore_ascii_case(".git") {
                    return None;
                }
                waiting.push(format!("{path}/{name}"));
            }
        } else if meta.is_file() {
            scanned.bytes += meta.len();
        }
        scanned.marks.extend(mark(&at.join(&path), &meta).map(|mark| (path, mark)));
        if scanned.bytes > ENTRY_BYTES || scanned.marks.len() + waiting.len() > ENTRY_FILES {
            return None;
        }
    }
    scanned.marks.sort();
    Some(scanned)
}

/// None of what has no content: a pipe, a socket.
fn mark(path: &Path, meta: &Metadata) -> Option<String> {
    let bits = meta.permissions().mode() & BITS;
    if meta.is_dir() {
        Some(format!("{FOLDER}{bits:o}"))
    } else if meta.is_symlink() {
        Some(format!("link {}", fs::read_link(path).ok()?.display()))
    } else if meta.is_file() {
        let (seconds, nanos) = (meta.mtime(), meta.mtime_nsec());
        Some(format!("file {bits:o} {} {seconds}.{nanos:09} {}", meta.len(), meta.ino()))
    } else {
        None
    }
}

/// Every regular file below a folder, by its path from there.
fn files_below(folder: &Path) -> io::Result<Vec<(String, Metadata)>> {
    let mut found = Vec::new();
    let mut waiting = vec![String::new()];
    while let Some(path) = waiting.pop() {
        for entry in fs::read_dir(folder.join(&path))? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let below = if path.is_empty() { name } else { format!("{path}/{name}") };
            let meta = entry.metadata()?;
            if meta.is_dir() {
                waiting.push(below);
            } else if meta.is_file() {
                found.push((below, meta));
            }
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found)
}

/// A folder, in the place of a link or a file that stands there.
fn make_real_folder(path: &Path) -> io::Result<()> {
    if is_folder(path) {
        return Ok(());
    }
    remove_tree(path);
    fs::create_dir(path)
}

/// A folder itself, not what leads to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

fn shown_below(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
