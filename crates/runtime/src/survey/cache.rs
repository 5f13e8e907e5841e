//! What is known of files from earlier looks: a digest holds as long as the file's marks are what they were.
//!
//! A file that was changed in the same instant in which it was read could change again and look the same. So only
//! what is strictly older than the look that read it is written down; everything else is read once more. The
//! instant is taken from the file system's own clock, which is coarser than ours. A cache that is damaged, of
//! another version or cannot be written is none: everything is read.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use gadfly_engine::Digest;
use rustix::fs::{Stat, fstat};

use super::{FileBytes, OutlineState};
use crate::save::write_atomically;

const MAGIC: &[u8; 16] = b"gadfly survey 2\n";
const LARGEST: u64 = 256 << 20;
/// Entries of files nobody asked for this time are kept up to this many.
const MOST: usize = 400_000;
const SECOND: i128 = 1_000_000_000;
/// What is written of one file takes about this many bytes, or more.
const SHORTEST: usize = 100;
/// A longer outline is made anew each time.
const LONGEST_KEPT: usize = 64 << 10;
const UNREAD: u8 = 0;
const NONE: u8 = 1;
const TEXT: u8 = 2;
/// A file system that keeps no fractions of a second may keep only every other second.
const COARSE: i128 = 2 * SECOND;

/// By what a file is known to be the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FileStamp {
    pub bytes: u64,
    /// When its bytes changed, and when anything about it did: nanoseconds.
    modified: i128,
    changed: i128,
    inode: u64,
    device: u64,
}

impl FileStamp {
    pub fn of(file: &File) -> std::io::Result<Self> {
        Ok(Self::from_stat(&fstat(file)?))
    }

    #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss)] // the fields' types differ between systems
    pub fn from_stat(stat: &Stat) -> Self {
        let time = |seconds: i128, nanos: i128| seconds * SECOND + nanos;
        Self {
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
            modified: time(i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec)),
            changed: time(i128::from(stat.st_ctime), i128::from(stat.st_ctime_nsec)),
            inode: stat.st_ino as u64,
            device: stat.st_dev as u64,
        }
    }

    /// Nothing that is written from this instant on can leave the file with these marks.
    fn is_older_than(&self, instant: i128) -> bool {
        let last = self.modified.max(self.changed);
        let last = if last % SECOND == 0 { last + COARSE } else { last };
        last < instant
    }
}

pub(super) struct Cache {
    path: PathBuf,
    known: HashMap<String, (FileStamp, FileBytes)>,
    learned: HashMap<String, (FileStamp, FileBytes)>,
    store: PathBuf,
    /// When the first file was about to be read; none if nothing can be kept. A look that reads nothing asks no clock.
    began: OnceCell<Option<i128>>,
}

impl Cache {
    pub fn open(root: &Path, store: &Path) -> Self {
        // One store may serve several projects.
        let of = Digest::of(root.as_os_str().as_encoded_bytes()).short();
        let path = store.join(format!("survey-cache-{of}"));
        let known = read(&path).unwrap_or_default();
        Self { path, known, learned: HashMap::new(), store: store.to_owned(), began: OnceCell::new() }
    }

    /// Has to be called before a file is read that is to be learned.
    pub fn begin(&self) {
        let store = &self.store;
        self.began.get_or_init(|| {
            // A store that no run has used yet stays as it is: looking at a fresh clone leaves nothing behind.
            store.join("journal.db").is_file().then(|| instant(store)).flatten()
        });
    }

    pub fn known(&self, path: &str, mark: &FileStamp) -> Option<&FileBytes> {
        self.known.get(path).filter(|(known, _)| known == mark).map(|(_, content)| content)
    }

    pub fn learn(&mut self, path: &str, mark: FileStamp, mut content: FileBytes) {
        if matches!(&content.outline, OutlineState::Text(text) if text.len() > LONGEST_KEPT) {
            content.outline = OutlineState::Unread;
        }
        if self.began.get().copied().flatten().is_some_and(|began| mark.is_older_than(began)) {
            self.learned.insert(path.to_owned(), (mark, content));
        }
    }

    /// Writes down what is new. If that fails, the next look reads again.
    pub fn keep(mut self) {
        self.learned.retain(|path, new| self.known.get(path) != Some(new));
        if self.learned.is_empty() {
            return;
        }
        if self.known.len() + self.learned.len() > MOST {
            self.known.clear();
        }
        self.known.extend(self.learned);
        let _ = write_atomically(&self.path, &written(&self.known));
    }
}

/// Now, as the file system of the store writes it on a file.
fn instant(store: &Path) -> Option<i128> {
    let probe = store.join(format!(".survey-{:016x}", fastrand::u64(..)));
    let file = File::options().write(true).create_new(true).open(&probe).ok()?;
    let mark = FileStamp::of(&file);
    let _ = fs::remove_file(&probe);
    mark.ok().map(|mark| mark.modified)
}

fn written(known: &HashMap<String, (FileStamp, FileBytes)>) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for (path, (mark, content)) in known {
        let Ok(length) = u32::try_from(path.len()) else { continue };
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(path.as_bytes());
        bytes.extend_from_slice(&mark.bytes.to_le_bytes());
        bytes.extend_from_slice(&mark.modified.to_le_bytes());
        bytes.extend_from_slice(&mark.changed.to_le_bytes());
        bytes.extend_from_slice(&mark.inode.to_le_bytes());
        bytes.extend_from_slice(&mark.device.to_le_bytes());
        bytes.extend_from_slice(content.digest.as_bytes());
        match &content.outline {
            OutlineState::Unread => bytes.push(UNREAD),
            OutlineState::None => bytes.push(NONE),
            OutlineState::Text(text) => {
                bytes.push(TEXT);
                bytes.extend_from_slice(&u32::try_from(text.len()).unwrap_or(0).to_le_bytes());
                bytes.extend_from_slice(text.as_bytes());
            }
        }
    }
    let sum = Digest::of(&bytes);
    bytes.extend_from_slice(sum.as_bytes());
    bytes
}

/// None if it is not exactly what `written` wrote.
fn read(path: &Path) -> Option<HashMap<String, (FileStamp, FileBytes)>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    let (body, sum) = bytes.split_last_chunk::<32>()?;
    if bytes.len() as u64 > LARGEST || Digest::of(body) != Digest::from_bytes(*sum) {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC.as_slice())?;
    let mut known = HashMap::with_capacity(body.len() / SHORTEST);
    while !rest.is_empty() {
        let path = text(&mut rest)?;
        let mark = FileStamp {
            bytes: u64::from_le_bytes(*next(&mut rest)?),
            modified: i128::from_le_bytes(*next(&mut rest)?),
            changed: i128::from_le_bytes(*next(&mut rest)?),
            inode: u64::from_le_bytes(*next(&mut rest)?),
            device: u64::from_le_bytes(*next(&mut rest)?),
        };
        let digest = Digest::from_bytes(*next(&mut rest)?);
        let outline = match *next(&mut rest)? {
            [UNREAD] => OutlineState::Unread,
            [NONE] => OutlineState::None,
            [TEXT] => OutlineState::Text(text(&mut rest)?),
            _ => return None,
        };
        known.insert(path, (mark, FileBytes { digest, outline }));
    }
    Some(known)
}

fn text(rest: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(u32::from_le_bytes(*next(rest)?)).ok()?;
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    std::str::from_utf8(text).ok().map(str::to_owned)
}

fn next<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (first, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(first)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn mark(modified: i128, changed: i128) -> FileStamp {
        FileStamp { bytes: 3, modified, changed, inode: 7, device: 1 }
    }

    #[test]
    fn a_file_changed_in_the_instant_of_the_look_is_read_again() {
        let now = 50 * SECOND + 5;
        assert!(mark(now - 1, now - 1).is_older_than(now));
        assert!(!mark(now, now).is_older_than(now), "it may change again within that instant");
        assert!(!mark(now - 1, now + 1).is_older_than(now), "somebody set its time back");
        // Where only whole seconds are kept, an instant is that long.
        assert!(!mark(49 * SECOND, 49 * SECOND).is_older_than(now));
        assert!(mark(47 * SECOND, 47 * SECOND).is_older_than(now));
    }

    #[test]
    fn what_is_damaged_in_any_byte_is_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cache");
        let content = |outline| FileBytes { digest: Digest::of(b"x"), outline };
        let known = HashMap::from([
            ("a/ä.md".to_owned(), (mark(1, 2), content(OutlineState::Text("# ö\n".to_owned())))),
            ("b".to_owned(), (mark(1, 2), content(OutlineState::None))),
            ("c".to_owned(), (mark(1, 2), content(OutlineState::Unread))),
        ]);
        let whole = written(&known);
        fs::write(&path, &whole).unwrap();
        assert_eq!(read(&path), Some(known));
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(read(&path), None, "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(read(&path), None, "cut at {at}");
        }
    }
}
