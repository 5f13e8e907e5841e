//! Files below a folder that others may change at the same time, reached without ever following a link.
//!
//! Every step of a path is opened by itself and must be a real folder; so a link that appears in the middle
//! of a path leads nowhere. It does not decide what may be written: see `apply`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use gadfly_engine::Digest;
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, chmodat, fchmod, fsync, mkdirat, openat, readlinkat,
    renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

/// How deep a folder is looked into that must become empty; deeper is somebody else's.
const DEEPEST: usize = 200;

pub(crate) struct Checkout {
    root: OwnedFd,
    /// Folders whose entries changed and are not on disk yet.
    unsynced: BTreeSet<String>,
}

/// What stands at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum PathContent {
    Nothing,
    /// Something that is no folder stands where a folder of the path should be.
    Blocked,
    Folder,
    File {
        permissions: u32,
        bytes: u64,
    },
    Link(Vec<u8>),
    /// A pipe, a device, a socket.
    Other,
}

impl PathContent {
    pub const fn is_executable(permissions: u32) -> bool {
        permissions & 0o100 != 0
    }
}

impl Checkout {
    pub fn open(root: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { root: openat(CWD, root, flags, Mode::empty())?, unsynced: BTreeSet::new() })
    }

    pub fn look(&self, path: &str) -> io::Result<PathContent> {
        let (parent, name) = match self.parent(path) {
            Ok(found) => found,
            Err(Errno::NOENT) => return Ok(PathContent::Nothing),
            Err(Errno::LOOP | Errno::NOTDIR) => return Ok(PathContent::Blocked),
            Err(other) => return Err(other.into()),
        };
        look_at(&parent, name)
    }

    /// The bytes of a regular file of about this size; none if it is something else by now.
    pub fn read(&self, path: &str, bytes: u64) -> io::Result<Option<Vec<u8>>> {
        let (parent, name) = self.parent(path)?;
        // A pipe must not be waited for: it may have come since the look.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match openat(&parent, name, flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => return Ok(None),
            Err(other) => return Err(other.into()),
        };
        if !file.metadata()?.is_file() {
            return Ok(None);
        }
        let mut content = Vec::new();
        file.take(bytes.saturating_add(1)).read_to_end(&mut content)?;
        Ok(Some(content))
    }

    /// A new file takes the path's place in one step. Missing folders are made.
    pub fn put_file(&mut self, path: &str, bytes: &[u8], executable: bool) -> io::Result<()> {
        let (parent, name) = self.make_parent(path)?;
        let before = look_at(&parent, name)?;
        let temp = temporary()?;
        let mode = if executable { 0o777 } else { 0o666 };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&parent, temp.as_str(), flags, Mode::from_raw_mode(mode))?);
        // Held until this process lets go of it or dies: that is how `sweep` knows what is abandoned.
        let _ = file.try_lock();
        let result = (|| {
            file.write_all(bytes)?;
            if let PathContent::File { permissions, .. } = before {
                fchmod(file.as_fd(), Mode::from_raw_mode(with_execution(permissions, executable)))?;
            }
            file.sync_all()?;
            Ok(renameat(&parent, temp.as_str(), &parent, name)?)
        })();
        self.placed(path, &parent, &temp, result)
    }

    pub fn put_link(&mut self, path: &str, target: &[u8]) -> io::Result<()> {
        let (parent, name) = self.make_parent(path)?;
        let temp = temporary_link(name);
        // Left by a process that was killed while it made this link.
        let _ = unlinkat(&parent, temp.as_str(), AtFlags::empty());
        let result = symlinkat(target, &parent, temp.as_str())
            .and_then(|()| renameat(&parent, temp.as_str(), &parent, name))
            .map_err(io::Error::from);
        self.placed(path, &parent, &temp, result)
    }

    fn placed(&mut self, path: &str, parent: &OwnedFd, temp: &str, result: io::Result<()>) -> io::Result<()> {
        if result.is_err() {
            let _ = unlinkat(parent, temp, AtFlags::empty());
        }
        self.unsynced.insert(folder_of(path).to_owned());
        result
    }

    /// Removes what a process that was killed left of its unfinished writes beside these paths.
    pub fn sweep<'a>(&self, paths: impl Iterator<Item = &'a str>) {
        let mut folders: BTreeSet<&str> = BTreeSet::new();
        for path in paths {
            folders.insert(folder_of(path));
            let Ok((parent, name)) = self.parent(path) else { continue };
            let link = temporary_link(name);
            if matches!(look_at(&parent, &link), Ok(PathContent::Link(_))) {
                let _ = unlinkat(&parent, link.as_str(), AtFlags::empty());
            }
        }
        for dir in folders.into_iter().filter_map(|folder| self.folder(folder).ok()) {
            let Ok(entries) = Dir::read_from(&dir) else { continue };
            for entry in entries.flatten() {
                let Ok(name) = entry.file_name().to_str() else { continue };
                if is_temporary(name) && is_abandoned(&dir, name) {
                    let _ = unlinkat(&dir, name, AtFlags::empty());
                }
            }
        }
    }

    /// Removes a file or link, and every folder above that is empty now.
    pub fn remove(&mut self, path: &str) -> io::Result<()> {
        let (parent, name) = self.parent(path)?;
        unlinkat(&parent, name, AtFlags::empty())?;
        self.remove_empty_above(path);
        Ok(())
    }

    /// Removes every folder above a path that is empty.
    pub fn remove_empty_above(&mut self, path: &str) {
        let mut folder = folder_of(path);
        while !folder.is_empty() {
            let removed =
                self.parent(folder).and_then(|(above, name)| unlinkat(&above, name, AtFlags::REMOVEDIR));
            // One that is not there was never made; those above it may have been.
            if !matches!(removed, Ok(()) | Err(Errno::NOENT)) {
                break;
            }
            folder = folder_of(folder);
        }
        self.unsynced.insert(folder.to_owned());
    }

    /// Every file and link below a folder is in `allowed`; nothing else is there.
    pub fn holds_only(&self, folder: &str, allowed: impl Fn(&str) -> bool) -> io::Result<bool> {
        let mut waiting = vec![(folder.to_owned(), 0)];
        while let Some((path, depth)) = waiting.pop() {
            let (parent, name) = self.parent(&path)?;
            let dir = open_folder(&parent, name)?;
            for entry in Dir::read_from(&dir)? {
                let entry = entry?;
                let Ok(name) = entry.file_name().to_str() else { return Ok(false) };
                if matches!(name, "." | "..") {
                    continue;
                }
                let below = format!("{path}/{name}");
                match look_at(&dir, name)? {
                    PathContent::Folder if depth < DEEPEST => waiting.push((below, depth + 1)),
                    PathContent::File { .. } | PathContent::Link(_) if allowed(&below) => {}
                    _ => return Ok(false),
                }
            }
        }
        Ok(true)
    }

    /// Removes a folder that holds nothing but empty folders.
    pub fn remove_empty(&mut self, folder: &str) -> io::Result<()> {
        let mut folders = vec![folder.to_owned()];
        let mut at = 0;
        while let Some(path) = folders.get(at).cloned() {
            let (parent, name) = self.parent(&path)?;
            let dir = open_folder(&parent, name)?;
            for entry in Dir::read_from(&dir)? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if !matches!(name.as_str(), "." | "..") {
                    folders.push(format!("{path}/{name}"));
                }
            }
            at += 1;
        }
        for path in folders.iter().rev() {
            let (parent, name) = self.parent(path)?;
            unlinkat(&parent, name, AtFlags::REMOVEDIR)?;
        }
        self.unsynced.insert(folder_of(folder).to_owned());
        Ok(())
    }

    /// Kind and permissions of what stands at a path; none if nothing does, or it cannot be reached.
    pub fn mode(&self, path: &str) -> io::Result<Option<u32>> {
        let (parent, name) = match self.parent(path) {
            Ok(found) => found,
            Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR) => return Ok(None),
            Err(other) => return Err(other.into()),
        };
        match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat.st_mode)),
            Err(Errno::NOENT) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }

    /// Sets the permissions of a file or folder. A link has none.
    pub fn set_bits(&self, path: &str, bits: u32) -> io::Result<()> {
        let (parent, name) = self.parent(path)?;
        match look_at(&parent, name)? {
            PathContent::File { .. } | PathContent::Folder => {
                Ok(chmodat(&parent, name, Mode::from_raw_mode(bits), AtFlags::empty())?)
            }
            _ => Ok(()),
        }
    }

    /// Makes a folder where nothing is, and those above it.
    pub fn make_folder(&mut self, path: &str, bits: u32) -> io::Result<()> {
        if self.look(path)? != PathContent::Nothing {
            return Ok(());
        }
        let (parent, name) = self.make_parent(path)?;
        mkdirat(&parent, name, Mode::from_raw_mode(0o777))?;
        self.unsynced.insert(folder_of(path).to_owned());
        self.set_bits(path, bits)
    }

    /// Removes a folder that holds nothing; any other stays.
    pub fn remove_folder_if_empty(&mut self, path: &str) {
        let Ok((parent, name)) = self.parent(path) else { return };
        if unlinkat(&parent, name, AtFlags::REMOVEDIR).is_ok() {
            self.unsynced.insert(folder_of(path).to_owned());
        }
    }

    /// What was changed survives a loss of power.
    pub fn sync(&mut self) -> io::Result<()> {
        for folder in std::mem::take(&mut self.unsynced) {
            // A folder that was removed again needs no sync: the one above is in the list.
            if let Ok(fd) = self.folder(&folder) {
                fsync(fd)?;
            }
        }
        Ok(())
    }

    /// A folder by its path; the empty one is the root.
    fn folder(&self, path: &str) -> Result<OwnedFd, Errno> {
        if path.is_empty() {
            return openat(&self.root, ".", FOLDER, Mode::empty());
        }
        let (above, name) = self.parent(path)?;
        open_folder(&above, name)
    }

    /// The folder a path is in, and its last name.
    fn parent<'a>(&self, path: &'a str) -> Result<(OwnedFd, &'a str), Errno> {
        self.descend(path, false)
    }

    fn make_parent<'a>(&mut self, path: &'a str) -> io::Result<(OwnedFd, &'a str)> {
        let mut above = folder_of(path);
        // Made folders are entries too.
        while !above.is_empty() && self.look(above)? == PathContent::Nothing {
            above = folder_of(above);
            self.unsynced.insert(above.to_owned());
        }
        Ok(self.descend(path, true)?)
    }

    fn descend<'a>(&self, path: &'a str, make: bool) -> Result<(OwnedFd, &'a str), Errno> {
        let mut at = openat(&self.root, ".", FOLDER, Mode::empty())?;
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            // No tree of ours holds such names; this is the last line of defence before the user's files.
            if matches!(name, "" | "." | "..") || name.eq_ignore_ascii_case(".git") {
                return Err(Errno::INVAL);
            }
            if names.peek().is_none() {
                return Ok((at, name));
            }
            at = match open_folder(&at, name) {
                Err(Errno::NOENT) if make => {
                    mkdirat(&at, name, Mode::from_raw_mode(0o777))?;
                    open_folder(&at, name)?
                }
                other => other?,
            };
        }
        Err(Errno::INVAL)
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn open_folder(dir: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    openat(dir, name, FOLDER, Mode::empty())
}

fn look_at(parent: &OwnedFd, name: &str) -> io::Result<PathContent> {
    let stat: Stat = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(PathContent::Nothing),
        Err(other) => return Err(other.into()),
    };
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => PathContent::Folder,
        FileType::RegularFile => PathContent::File {
            permissions: Mode::from_raw_mode(stat.st_mode).as_raw_mode() & 0o7777,
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
        },
        FileType::Symlink => PathContent::Link(readlinkat(parent, name, Vec::new())?.into_bytes()),
        _ => PathContent::Other,
    })
}

/// The user's own permissions stay; who may read may execute, or nobody may.
const fn with_execution(permissions: u32, executable: bool) -> u32 {
    if executable == PathContent::is_executable(permissions) {
        permissions
    } else if executable {
        permissions | ((permissions & 0o444) >> 2)
    } else {
        permissions & !0o111
    }
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Random and new: nobody can put something there beforehand.
fn temporary() -> io::Result<String> {
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(format!("{TEMPORARY}{:016x}", u64::from_le_bytes(random)))
}

/// A link cannot be locked. So its name is the same for the same path: whoever makes it anew, or takes it back,
/// finds what was left of it.
fn temporary_link(name: &str) -> String {
    let digest = Digest::of(name.as_bytes()).to_string();
    format!("{TEMPORARY}{}", digest.get(..16).unwrap_or(&digest))
}

const TEMPORARY: &str = ".gadfly-";

fn is_temporary(name: &str) -> bool {
    let digits = name.strip_prefix(TEMPORARY).unwrap_or_default();
    digits.len() == 16 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// A regular file whose writer lives no more: nobody holds its lock.
fn is_abandoned(dir: &OwnedFd, name: &str) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let Ok(file) = openat(dir, name, flags, Mode::empty()).map(File::from) else { return false };
    file.metadata().is_ok_and(|m| m.is_file()) && file.try_lock().is_ok()
}
