//! What the user's index holds: paths and bytes of the next commit. The repository is only read, and nothing its
//! configuration names is started. Digests of contents are kept by git's name for them, which never changes.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use gadfly_engine::Digest;

use super::error::WorkspaceError;
use super::git::{Git, INDEX, text};
use super::repository::{Repository, enclosing};
use super::store::{EXECUTABLE_MODE, LINK_MODE, REPOSITORY_MODE, SnapshotStore};
use crate::save::write_atomically;

const CACHE: &str = "staged-cache";
const VERSION: &str = "gadfly staged 1";
const LARGEST_CACHE: u64 = 64 << 20;
const MOST_KEPT: usize = 400_000;

pub(crate) struct StagedIndex {
    store: SnapshotStore,
    cache: PathBuf,
    pub files: Vec<StagedFile>,
}

pub(crate) struct StagedFile {
    /// From the project's folder.
    pub path: String,
    pub executable: bool,
    oid: String,
}

/// Digest and size of each file, and how many contents were read for it.
pub(crate) struct StagedDigests {
    pub of: Vec<(Digest, u64)>,
    pub read: usize,
}

impl Git {
    /// The staged files of a project, without links and repositories within.
    pub(crate) async fn staged(&self, project: &Path, ours: &Path) -> Result<StagedIndex, WorkspaceError> {
        let canonical = project.canonicalize().ok().filter(|p| p.is_dir());
        let project = canonical.ok_or_else(|| WorkspaceError::NotADirectory { path: project.to_owned() })?;
        self.present(&project).await?;
        let root = enclosing(&project).ok_or(WorkspaceError::NotARepository)?;
        let (repository, place) = Repository::read(self, root).await?;
        // A hook's index is named from the top of the repository.
        let place = match self.env(INDEX) {
            Some(index) => place.with_index(&root.join(index)),
            None => place,
        };
        let below = text(project.strip_prefix(root).unwrap_or(Path::new("")))?;
        let below = if below.is_empty() { below } else { format!("{below}/") };
        let indexed = Repository::index(self, &place).await?;
        let files = indexed.into_iter().filter(|e| e.stage == 0).filter_map(|entry| {
            let path = entry.path.strip_prefix(&below)?.to_owned();
            let is_file = !matches!(entry.mode, LINK_MODE | REPOSITORY_MODE);
            is_file.then_some(StagedFile { path, executable: entry.mode == EXECUTABLE_MODE, oid: entry.oid })
        });
        let (files, store) = (files.collect(), SnapshotStore::at(self.clone(), repository.dir));
        Ok(StagedIndex { store, cache: ours.join(CACHE), files })
    }
}

impl StagedIndex {
    /// Of every file, in their order.
    pub async fn digests(&self) -> Result<StagedDigests, WorkspaceError> {
        let mut known = read(&self.cache).unwrap_or_default();
        let missing = self.files.iter().map(|f| f.oid.as_str()).filter(|oid| !known.contains_key(*oid));
        let new = self.store.facts(missing).await?;
        let read = new.len();
        if read > 0 {
            if known.len() + read > MOST_KEPT {
                known.retain(|oid, _| self.files.iter().any(|f| f.oid == *oid));
            }
            known.extend(new.into_iter().map(|(oid, facts)| (oid, (facts.digest, facts.bytes))));
            // Without it the next look reads again.
            let _ = write_atomically(&self.cache, &written(&known));
        }
        let of: Option<Vec<_>> = self.files.iter().map(|f| known.get(&f.oid).copied()).collect();
        let of = of.ok_or_else(|| self.store.damaged("cat-file", "a content is missing"))?;
        Ok(StagedDigests { of, read })
    }

    /// Those of these files that are text.
    pub async fn texts(&self, files: &[&StagedFile]) -> Result<Vec<(String, String)>, WorkspaceError> {
        let oids: Vec<&str> = files.iter().map(|f| f.oid.as_str()).collect();
        let mut contents = Vec::with_capacity(files.len());
        for group in self.store.groups(&oids).await? {
            contents.extend(self.store.contents(&group).await?);
        }
        let text = |(file, bytes): (&&StagedFile, Vec<u8>)| {
            Some((file.path.clone(), String::from_utf8(bytes).ok()?))
        };
        Ok(files.iter().zip(contents).filter_map(text).collect())
    }
}

fn written(known: &HashMap<String, (Digest, u64)>) -> Vec<u8> {
    use std::fmt::Write as _;
    let mut lines = format!("{VERSION}\n");
    for (oid, (digest, bytes)) in known {
        let _ = writeln!(lines, "{oid} {digest} {bytes}");
    }
    let sum = Digest::of(lines.as_bytes());
    let _ = writeln!(lines, "{sum}");
    lines.into_bytes()
}

/// None if it is damaged, or of another version.
fn read(path: &Path) -> Option<HashMap<String, (Digest, u64)>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LARGEST_CACHE).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (body, sum) = text.strip_suffix('\n')?.rsplit_once('\n')?;
    let body = format!("{body}\n");
    if sum.parse::<Digest>().ok()? != Digest::of(body.as_bytes()) {
        return None;
    }
    let lines = body.strip_prefix(VERSION)?.strip_prefix('\n')?;
    let entry = |line: &str| {
        let mut words = line.split(' ');
        let (oid, digest, bytes) = (words.next()?, words.next()?, words.next()?);
        Some((oid.to_owned(), (digest.parse().ok()?, bytes.parse().ok()?)))
    };
    lines.lines().map(entry).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::*;

    #[test]
    fn a_damaged_cache_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(CACHE);
        let known = HashMap::from([("ab".to_owned(), (Digest::of(b"x"), 1))]);
        let whole = written(&known);
        fs::write(&path, &whole).unwrap();
        assert_eq!(read(&path), Some(known));
        for at in 0..whole.len() {
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(read(&path), None, "cut at {at}");
        }
        fs::write(&path, String::from_utf8(whole).unwrap().replace("ab ", "ac ")).unwrap();
        assert_eq!(read(&path), None);
    }
}
