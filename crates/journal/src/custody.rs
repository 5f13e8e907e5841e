//! What a machine keeps outside its stores, in the user's state directory: the key that records are chained with,
//! the newest seal of every store, and the folders in which runs work. A store that came with a repository was chained
//! with another key; one whose tail was cut lacks the seal that is kept here.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::chain::{Chain, Mac};

const KEY_FILE: &str = "journal.key";
const SEALS: &str = "seals";
const WORK: &str = "work";
/// In the folder for the runs of a store: where that store is.
const OF_STORE: &str = "store";
const KEY_LENGTH: usize = 32;
/// The store's id, the seal's number, its value.
const SEAL_LENGTH: usize = 16 + 8 + 16;

/// Where the key and the seals are kept.
#[derive(Clone, Debug, Default)]
pub struct Custody {
    dir: Option<PathBuf>,
}

/// The newest seal of a store, as kept outside of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KeptSeal {
    pub(crate) store: Mac,
    pub(crate) number: i64,
    pub(crate) value: Mac,
}

impl Custody {
    /// In the user's state directory.
    pub fn at(state_dir: &Path) -> Self {
        Self { dir: Some(state_dir.to_owned()) }
    }

    /// Without one: damage to a store is noticed, but anybody could have made it, so no gate counts what is in it.
    pub fn none() -> Self {
        Self::default()
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.dir.is_some()
    }

    /// The key; none where it was never made or cannot be read.
    pub(crate) fn chain(&self) -> Option<Chain> {
        match &self.dir {
            None => Some(Chain::new([0; KEY_LENGTH])),
            Some(dir) => read_key(&dir.join(KEY_FILE)).ok().map(Chain::new),
        }
    }

    /// The key, made if there is none.
    pub(crate) fn make_chain(&self) -> io::Result<Chain> {
        let Some(dir) = &self.dir else { return Ok(Chain::new([0; KEY_LENGTH])) };
        let path = dir.join(KEY_FILE);
        match read_key(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            other => return other.map(Chain::new),
        }
        make_private(dir)?;
        let mut key = [0; KEY_LENGTH];
        getrandom::fill(&mut key).map_err(|e| io::Error::other(e.to_string()))?;
        let new = dir.join(format!("{KEY_FILE}.{:016x}", crate::run_id::random_u64()?));
        let written = private(&new).and_then(|mut file| {
            file.write_all(&key)?;
            file.sync_all()?;
            // Whoever was first made the key.
            match fs::hard_link(&new, &path) {
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
                _ => File::open(dir)?.sync_all(),
            }
        });
        let _ = fs::remove_file(&new);
        written?;
        read_key(&path).map(Chain::new)
    }

    /// The newest seal of the store in `dir`; none where none is kept.
    pub(crate) fn kept(&self, store: &Path) -> Option<KeptSeal> {
        let file = File::open(self.seal_file(store)?).ok()?;
        read_seal(&file)
    }

    /// The file that the newest seal of the store in `dir` is kept in, made if it is not there.
    pub(crate) fn seal_kept_in(&self, store: &Path) -> Option<File> {
        let path = self.seal_file(store)?;
        make_private(path.parent()?).ok()?;
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path).ok()
    }

    /// Forgets what was kept of the store in `dir`: a person takes it as it is.
    pub(crate) fn forget(&self, store: &Path) -> io::Result<()> {
        match self.seal_file(store).map(fs::remove_file) {
            Some(Err(e)) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }

    /// By the store's place: a copy elsewhere goes its own way.
    fn seal_file(&self, store: &Path) -> Option<PathBuf> {
        let name = place_name(&store.canonicalize().ok()?);
        Some(self.dir.as_ref()?.join(SEALS).join(name))
    }

    /// Where the runs of the store in `dir` have their folders, whether or not the store was made yet: outside the
    /// project, so that tools which look for a project above the folder they are in do not find it. Without a state
    /// directory they are in the store.
    pub fn work_of(&self, store: &Path) -> PathBuf {
        let store = real(store);
        match &self.dir {
            // Short: some tools make sockets there, and the path of a socket may have 107 bytes.
            Some(dir) => real(dir).join(WORK).join(&place_name(&store)[..12]),
            None => store.join("runs"),
        }
    }

    /// Whether a run of any store works here.
    pub fn is_work(&self, place: &Path) -> bool {
        self.dir.as_deref().is_some_and(|dir| place.starts_with(real(dir).join(WORK)))
    }

    /// The user's state directory, by its real path.
    pub(crate) fn state_dir(&self) -> Option<PathBuf> {
        self.dir.as_deref().map(real)
    }

    /// Makes the folder of [`Self::work_of`], with a note of whose it is.
    pub(crate) fn make_work(&self, work: &Path, store: &Path) -> io::Result<()> {
        make_private(work)?;
        let note = work.join(OF_STORE);
        if self.dir.is_none() || note.exists() {
            return Ok(());
        }
        let new = work.join(format!("{OF_STORE}.{:016x}", crate::run_id::random_u64()?));
        fs::write(&new, real(store).as_os_str().as_encoded_bytes())?;
        fs::rename(new, note)
    }

    /// Folders of runs whose store is not where it was, and where that is: it was removed, or moved.
    pub fn ownerless_work(&self) -> Vec<(PathBuf, PathBuf)> {
        let Some(dir) = &self.dir else { return Vec::new() };
        let folders = fs::read_dir(dir.join(WORK)).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut found: Vec<_> = folders.filter_map(|work| Some((store_of(&work)?, work))).collect();
        found.retain(
            |(store, _)| matches!(fs::metadata(store), Err(e) if e.kind() == io::ErrorKind::NotFound),
        );
        found.sort();
        found.into_iter().map(|(store, work)| (work, store)).collect()
    }
}

fn store_of(work: &Path) -> Option<PathBuf> {
    let note = fs::read(work.join(OF_STORE)).ok()?;
    Some(PathBuf::from(OsString::from_vec(note)))
}

fn place_name(real: &Path) -> String {
    let hash = blake3::hash(real.as_os_str().as_encoded_bytes()).to_hex();
    hash.as_str()[..32].to_owned()
}

/// The real path of what may not be there yet: that will be made as it is named.
pub(crate) fn real(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (mut there, mut rest) = (path.as_path(), Vec::new());
    let real = loop {
        match (there.canonicalize(), there.file_name(), there.parent()) {
            (Ok(real), _, _) => break real,
            (Err(_), Some(name), Some(above)) => {
                rest.push(name);
                there = above;
            }
            (Err(_), _, _) => return path,
        }
    };
    rest.into_iter().rev().fold(real, |path, name| path.join(name))
}

impl KeptSeal {
    /// Keeps a seal. What was sealed is durable already, so losing this to a power cut only means knowing an older seal.
    pub(crate) fn write(&self, file: &File) -> io::Result<()> {
        // Another process may have sealed since.
        file.lock()?;
        if read_seal(file).is_none_or(|kept| kept.store != self.store || kept.number < self.number) {
            let mut bytes = [0; SEAL_LENGTH];
            bytes[..16].copy_from_slice(&self.store);
            bytes[16..24].copy_from_slice(&self.number.to_le_bytes());
            bytes[24..].copy_from_slice(&self.value);
            file.write_all_at(&bytes, 0)?;
        }
        file.unlock()
    }
}

fn read_key(path: &Path) -> io::Result<[u8; KEY_LENGTH]> {
    let mut bytes = Vec::with_capacity(KEY_LENGTH + 1);
    File::open(path)?.take(KEY_LENGTH as u64 + 1).read_to_end(&mut bytes)?;
    bytes.try_into().map_err(|_| {
        let message = format!("{} is no key: it must have {KEY_LENGTH} bytes", path.display());
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

fn read_seal(file: &File) -> Option<KeptSeal> {
    let mut bytes = [0; SEAL_LENGTH];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let (store, rest) = bytes.split_first_chunk()?;
    let (number, value) = rest.split_first_chunk()?;
    Some(KeptSeal { store: *store, number: i64::from_le_bytes(*number), value: *value.first_chunk()? })
}

fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn make_private(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(builder.recursive(true), 0o700);
    builder.create(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_made_once_and_is_the_users_alone() {
        let dir = tempfile::tempdir().unwrap();
        let custody = Custody::at(&dir.path().join("state"));
        assert!(custody.chain().is_none(), "looking makes none");
        let chain = custody.make_chain().unwrap();
        assert!(custody.chain().unwrap() == chain && custody.make_chain().unwrap() == chain);
        let mode = std::os::unix::fs::MetadataExt::mode(
            &fs::metadata(dir.path().join("state").join(KEY_FILE)).unwrap(),
        );
        assert_eq!(mode & 0o777, 0o600);
        let left = fs::read_dir(dir.path().join("state")).unwrap().count();
        assert_eq!(left, 1, "nothing but the key");
        fs::write(dir.path().join("state").join(KEY_FILE), b"short").unwrap();
        assert!(custody.make_chain().is_err(), "a damaged key is not replaced: every store would be foreign");
    }

    #[test]
    fn runs_have_their_folders_outside_the_store_and_two_stores_never_share_them() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let (state, one) = (top.join("state"), top.join("one/.gadfly"));
        let custody = Custody::at(&state);
        let before = custody.work_of(&one);
        assert!(before.starts_with(&state) && before != custody.work_of(&top.join("two/.gadfly")));
        fs::create_dir_all(&one).unwrap();
        std::os::unix::fs::symlink(top.join("one"), top.join("link")).unwrap();
        assert_eq!(custody.work_of(&top.join("link/.gadfly")), before, "by its real place, made or not");
        custody.make_work(&before, &one).unwrap();
        assert_eq!(custody.ownerless_work(), []);
        fs::remove_dir_all(&one).unwrap();
        assert_eq!(custody.ownerless_work(), [(before, one.clone())]);
        assert_eq!(Custody::none().work_of(&one), one.join("runs"));
    }

    #[test]
    fn an_older_seal_never_replaces_a_newer_one() {
        let dir = tempfile::tempdir().unwrap();
        let (custody, store) = (Custody::at(&dir.path().join("state")), dir.path());
        let seal = |number, value| KeptSeal { store: [1; 16], number, value: [value; 16] };
        let keep = |seal: KeptSeal| seal.write(&custody.seal_kept_in(store).unwrap()).unwrap();
        keep(seal(5, 5));
        keep(seal(4, 4));
        assert_eq!(custody.kept(store), Some(seal(5, 5)));
        keep(KeptSeal { store: [2; 16], number: 1, value: [1; 16] });
        assert_eq!(custody.kept(store).unwrap().store, [2; 16], "another store in the same place");
        custody.forget(store).unwrap();
        assert_eq!(custody.kept(store), None);
    }
}
