//! What a folder holds, so that a change in it can be named: every file, hidden ones too, with modes and
//! where links lead. It follows no link and changes nothing; it needs no git.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use gadfly_engine::Digest;

/// Files are read in pieces of this size: a file of any length needs no more memory.
const PIECE: usize = 1 << 20;

/// A folder at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FolderState {
    entries: BTreeMap<Vec<u8>, FolderEntry>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct FolderEntry {
    /// Kind and permission bits.
    mode: u32,
    /// Of a file its content, of a link where it leads; none of anything else, and of what may not be read.
    content: Option<Digest>,
}

impl FolderState {
    /// Reads the whole folder. Waits for the disk.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let mut entries = BTreeMap::new();
        let mut waiting = vec![folder.to_owned()];
        while let Some(dir) = waiting.pop() {
            let listed = match fs::read_dir(&dir) {
                Ok(listed) => listed,
                // Its own entry says so: whoever took the permission away changed its mode.
                Err(e) if e.kind() == io::ErrorKind::PermissionDenied && dir != folder => continue,
                Err(e) => return Err(e),
            };
            for entry in listed {
                let path = entry?.path();
                let meta = fs::symlink_metadata(&path)?;
                let name = path.strip_prefix(folder).unwrap_or(&path).as_os_str().as_bytes().to_vec();
                entries.insert(name, FolderEntry { mode: meta.mode(), content: content(&path, &meta)? });
                if meta.is_dir() {
                    waiting.push(path);
                }
            }
        }
        Ok(Self { entries })
    }

    /// The same folder content gives the same digest wherever the folder is.
    pub fn digest(&self) -> Digest {
        let mut text = String::new();
        for (path, entry) in &self.entries {
            let content = entry.content.map_or_else(|| "-".to_owned(), |d| d.to_string());
            // The name by its digest: it may hold any byte, also a line break.
            let _ = writeln!(text, "{:o} {content} {}", entry.mode, Digest::of(path));
        }
        Digest::of(text.as_bytes())
    }

    /// The paths that are new, gone or different against `before`, sorted.
    pub fn changed_since(&self, before: &Self) -> Vec<String> {
        let here = self.entries.iter().filter(|(path, entry)| before.entries.get(*path) != Some(*entry));
        let gone = before.entries.keys().filter(|path| !self.entries.contains_key(*path));
        let mut paths: Vec<String> =
            here.map(|(path, _)| path).chain(gone).map(|p| String::from_utf8_lossy(p).into_owned()).collect();
        paths.sort();
        paths
    }
}

/// The digest of everything in a folder; see [`FolderState`].
pub fn hash_folder(folder: &Path) -> io::Result<Digest> {
    Ok(FolderState::of(folder)?.digest())
}

fn content(path: &Path, meta: &Metadata) -> io::Result<Option<Digest>> {
    if meta.is_symlink() {
        return Ok(Some(Digest::of(fs::read_link(path)?.as_os_str().as_bytes())));
    }
    if !meta.is_file() {
        return Ok(None);
    }
    let nofollow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
    match File::options().read(true).custom_flags(nofollow).open(path) {
        Ok(file) => in_pieces(file).map(Some),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        Err(e) => Err(e),
    }
}

fn in_pieces(file: File) -> io::Result<Digest> {
    let mut pieces = Vec::new();
    let mut piece = Vec::new();
    let mut file = file;
    loop {
        piece.clear();
        if (&mut file).take(PIECE as u64).read_to_end(&mut piece)? == 0 {
            return Ok(Digest::of(&pieces));
        }
        pieces.extend_from_slice(Digest::of(&piece).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/.hidden")).unwrap();
        fs::write(dir.path().join("a/.hidden/f"), "x").unwrap();
        fs::write(dir.path().join("big"), vec![7_u8; PIECE * 2 + 1]).unwrap();
        symlink("nowhere", dir.path().join("link")).unwrap();
        dir
    }

    #[test]
    fn the_same_content_elsewhere_has_the_same_digest() {
        let (one, two) = (folder(), folder());
        assert_eq!(hash_folder(one.path()).unwrap(), hash_folder(two.path()).unwrap());
    }

    #[test]
    fn every_kind_of_change_is_named() {
        type Act = fn(&Path);
        let table: [(Act, &str); 8] = [
            (|d| fs::write(d.join("a/.hidden/f"), "y").unwrap(), "a/.hidden/f"),
            (|d| fs::set_permissions(d.join("big"), fs::Permissions::from_mode(0o755)).unwrap(), "big"),
            (|d| fs::write(d.join("a/new"), "").unwrap(), "a/new"),
            (|d| fs::create_dir(d.join("empty")).unwrap(), "empty"),
            (|d| fs::remove_file(d.join("big")).unwrap(), "big"),
            (|d| fs::remove_file(d.join("link")).unwrap(), "link"),
            (
                |d| {
                    fs::remove_file(d.join("link")).unwrap();
                    symlink("elsewhere", d.join("link")).unwrap();
                },
                "link",
            ),
            (
                |d| {
                    let mut bytes = fs::read(d.join("big")).unwrap();
                    bytes[PIECE * 2] = 8;
                    fs::write(d.join("big"), bytes).unwrap();
                },
                "big",
            ),
        ];
        for (act, path) in table {
            let dir = folder();
            let before = FolderState::of(dir.path()).unwrap();
            act(dir.path());
            let after = FolderState::of(dir.path()).unwrap();
            assert_eq!(after.changed_since(&before), [path]);
            assert_ne!(after.digest(), before.digest(), "{path}");
        }
    }

    #[test]
    fn nothing_changed_is_nothing_named() {
        let dir = folder();
        let before = FolderState::of(dir.path()).unwrap();
        assert!(FolderState::of(dir.path()).unwrap().changed_since(&before).is_empty());
    }

    #[test]
    fn a_link_to_a_folder_is_not_entered() {
        let (dir, outside) = (folder(), folder());
        symlink(outside.path(), dir.path().join("out")).unwrap();
        let before = FolderState::of(dir.path()).unwrap();
        fs::write(outside.path().join("changed"), "x").unwrap();
        assert!(FolderState::of(dir.path()).unwrap().changed_since(&before).is_empty());
    }
}
