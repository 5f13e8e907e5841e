//! Blocks of ours in files that others write, too. A block is exactly the bytes we wrote last: found
//! verbatim they are replaced, otherwise a new block is appended. Every other byte stays.

mod entries;

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::run_id::random_u64;

pub use entries::{append_entries, replace};

const MAX_FILE: u64 = 64 << 20;
const LOCK_ATTEMPTS: u32 = 500;
const LOCK_PAUSE: Duration = Duration::from_millis(20);
const WRITE_ATTEMPTS: u32 = 5;
const REMEMBERED: usize = 8;

/// Why a shared file was left as it is.
#[derive(Debug, thiserror::Error)]
pub enum SharedFileError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path} has more than {MAX_FILE} bytes: move it away so that a new one can be started")]
    TooLarge { path: PathBuf },
    #[error("{path} is kept busy by another program: it will be written with the next round")]
    Busy { path: PathBuf },
}

/// Puts `block` into the file at `path`. `memory` is a file of ours that remembers which bytes we
/// wrote last; `heading` is a line that stands once per file, before our first block.
pub fn write_block(
    path: &Path,
    memory: &Path,
    heading: Option<&str>,
    block: &str,
) -> Result<(), SharedFileError> {
    write_block_before(path, memory, heading, block, || {})
}

fn write_block_before(
    path: &Path,
    memory: &Path,
    heading: Option<&str>,
    block: &str,
    // What tests do between the reading and the replacing.
    mut meanwhile: impl FnMut(),
) -> Result<(), SharedFileError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| SharedFileError::Io { path, source }
    };
    // A link is followed: replacing it would cut the user's file off.
    let real = match fs::canonicalize(path) {
        Ok(real) => real,
        Err(e) if e.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(e) => return Err(fail(path)(e)),
    };
    let folder = parent(&real);
    fs::create_dir_all(folder).map_err(fail(folder))?;
    let _lock = lock(folder)?;
    let mut ours = recall(memory)?;
    for _ in 0..WRITE_ATTEMPTS {
        let current = read(&real)?;
        let next = compose(current.as_deref().unwrap_or_default(), &ours, heading, block);
        if current.as_deref() != Some(&next) {
            // Noted before and after, so that a crash in between leaves both known.
            ours.retain(|known| known != block);
            ours.push(block.to_owned());
            remember(memory, &ours).map_err(fail(memory))?;
            let staged = PendingFile::new(&real, &next).map_err(fail(&real))?;
            meanwhile();
            if read(&real)? != current {
                continue;
            }
            staged.publish(&real).map_err(fail(&real))?;
        }
        return remember(memory, &[block.to_owned()]).map_err(fail(memory));
    }
    Err(SharedFileError::Busy { path: real })
}

fn compose(current: &[u8], ours: &[String], heading: Option<&str>, block: &str) -> Vec<u8> {
    let mut known: Vec<&[u8]> = ours.iter().map(String::as_bytes).filter(|o| !o.is_empty()).collect();
    // A block that grew begins with its former self, so the longest is looked for first.
    known.sort_by_key(|o| std::cmp::Reverse(o.len()));
    for old in known {
        if let Some(at) = find_last(current, old) {
            return [&current[..at], block.as_bytes(), &current[at + old.len()..]].concat();
        }
    }
    let mut next = current.to_vec();
    if !next.is_empty() {
        if !next.ends_with(b"\n") {
            next.push(b'\n');
        }
        next.push(b'\n');
    }
    if let Some(heading) = heading.map(str::trim_end)
        && !current.split(|b| *b == b'\n').any(|line| line.trim_ascii_end() == heading.as_bytes())
    {
        next.extend_from_slice(heading.as_bytes());
        next.extend_from_slice(b"\n\n");
    }
    next.extend_from_slice(block.as_bytes());
    next
}

fn find_last(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let last = haystack.len().checked_sub(needle.len())?;
    (0..=last).rev().find(|at| haystack[*at..].starts_with(needle))
}

pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The folder itself is locked, so that no lock file is left among the user's files.
pub(crate) fn lock(folder: &Path) -> Result<File, SharedFileError> {
    let fail = |source| SharedFileError::Io { path: folder.to_owned(), source };
    let file = File::open(folder).map_err(fail)?;
    for _ in 0..LOCK_ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(e)) => return Err(fail(e)),
        }
    }
    Err(SharedFileError::Busy { path: folder.to_owned() })
}

pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, SharedFileError> {
    let fail = |source| SharedFileError::Io { path: path.to_owned(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(fail(e)),
    };
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(SharedFileError::TooLarge { path: path.to_owned() });
    }
    Ok(Some(bytes))
}

/// What we may have written last. A memory that cannot be understood is none: then we append.
fn recall(memory: &Path) -> Result<Vec<String>, SharedFileError> {
    let bytes = read(memory)?.unwrap_or_default();
    Ok(serde_json::from_slice(&bytes).unwrap_or_default())
}

fn remember(memory: &Path, blocks: &[String]) -> io::Result<()> {
    fs::create_dir_all(parent(memory))?;
    let recent = &blocks[blocks.len().saturating_sub(REMEMBERED)..];
    let json = serde_json::to_vec(recent).map_err(io::Error::other)?;
    PendingFile::new(memory, &json)?.publish(memory)
}

const STAGED: &str = ".gadfly-";
const STAGED_END: &str = ".tmp";

/// Removes what a process that was killed left of its unfinished writes in this folder.
pub(crate) fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let middle = name.to_str().and_then(|n| n.strip_prefix(STAGED)?.strip_suffix(STAGED_END));
        let is_staged = middle.is_some_and(|m| m.len() == 16 && m.bytes().all(|b| b.is_ascii_hexdigit()));
        if is_staged
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// New content beside its target, on disk and not yet in place. Dropped, it is gone.
struct PendingFile {
    path: PathBuf,
    /// Locked for as long as its writer lives: whoever finds it unlocked may take it away.
    _file: File,
}

impl PendingFile {
    fn new(target: &Path, bytes: &[u8]) -> io::Result<Self> {
        let name = format!("{STAGED}{:016x}{STAGED_END}", random_u64()?);
        let path = parent(target).join(name);
        let mut file = File::create_new(&path)?;
        let _ = file.try_lock();
        let staged = Self { path, _file: file.try_clone()? };
        file.write_all(bytes)?;
        if let Ok(old) = fs::metadata(target) {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        Ok(staged)
    }

    fn publish(self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        File::open(parent(target))?.sync_all()
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests;
