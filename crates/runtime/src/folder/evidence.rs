//! What a check wrote as evidence of the thing it ran (a picture, a log, an answer): kept with the run, by its digest, which
//! the record binds to the state that was checked.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gadfly_engine::Digest;
use gadfly_engine::tree::Evidence;

use super::{Folder, FolderError};
use crate::save::write_atomically;

/// Below the run's own directory.
pub const EVIDENCE: &str = "evidence";
/// The largest file that is kept.
const LARGEST: u64 = 32 << 20;

/// What was at the places of the evidence before the check ran.
pub(super) struct EvidenceBefore<'a> {
    dir: &'a Path,
    was: Vec<(&'a String, Option<SystemTime>)>,
}

impl<'a> EvidenceBefore<'a> {
    /// In a fresh folder nothing may be there, so that whatever is there afterwards is the check's. The user's own files,
    /// in place, stay, and count if they were written since.
    pub fn of(dir: &'a Path, wanted: &'a [String], is_fresh: bool) -> Self {
        let was = wanted.iter().map(|path| {
            let file = dir.join(path);
            if is_fresh && is_inside(&file, dir) {
                let _ = fs::remove_file(&file);
            }
            (path, written(&file))
        });
        Self { dir, was: was.collect() }
    }
}

fn written(file: &Path) -> Option<SystemTime> {
    fs::symlink_metadata(file).and_then(|meta| meta.modified()).ok()
}

/// A link above it may lead anywhere.
fn is_inside(file: &Path, dir: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let above = file.parent().and_then(real);
    above.zip(real(dir)).is_some_and(|(above, dir)| above.starts_with(dir))
}

impl Folder {
    /// Keeps those of the wanted files that were written meanwhile, as plain files below the folder.
    pub(super) fn keep_evidence(&self, before: &EvidenceBefore<'_>) -> Result<Vec<Evidence>, FolderError> {
        let mut kept = Vec::new();
        for (path, was) in &before.was {
            let file = before.dir.join(path);
            let is_plain = |meta: &fs::Metadata| meta.is_file() && (1..=LARGEST).contains(&meta.len());
            let there = fs::symlink_metadata(&file).is_ok_and(|meta| is_plain(&meta));
            if !there || written(&file) == *was || !is_inside(&file, before.dir) {
                continue;
            }
            let bytes = fs::read(&file).map_err(FolderError::io(&file))?;
            let digest = Digest::of(&bytes);
            let to = self.evidence_of(&digest, path);
            let above = to.parent().unwrap_or(&self.home);
            fs::create_dir_all(above).map_err(FolderError::io(above))?;
            write_atomically(&to, &bytes).map_err(FolderError::io(&to))?;
            kept.push(Evidence { path: (*path).clone(), digest, bytes: bytes.len() as u64 });
        }
        Ok(kept)
    }

    fn evidence_of(&self, digest: &Digest, path: &str) -> PathBuf {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.home.join(EVIDENCE).join(format!("{}-{name}", digest.short()))
    }
}
