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

impl Folder {
    /// Keeps those of the wanted files that were written since, as plain files below the folder.
    pub(super) fn keep_evidence(
        &self,
        dir: &Path,
        wanted: &[String],
        since: SystemTime,
    ) -> Result<Vec<Evidence>, FolderError> {
        let mut kept = Vec::new();
        for path in wanted {
            let file = dir.join(path);
            let new = fs::symlink_metadata(&file).ok().filter(|meta| {
                let fresh = meta.modified().is_ok_and(|at| at >= since);
                meta.is_file() && fresh && (1..=LARGEST).contains(&meta.len())
            });
            // A link above it may lead anywhere.
            let inside =
                file.canonicalize().ok().zip(dir.canonicalize().ok()).is_some_and(|(f, d)| f.starts_with(d));
            if new.is_none() || !inside {
                continue;
            }
            let bytes = fs::read(&file).map_err(FolderError::io(&file))?;
            let digest = Digest::of(&bytes);
            let to = self.evidence_of(&digest, path);
            let above = to.parent().unwrap_or(dir);
            fs::create_dir_all(above).map_err(FolderError::io(above))?;
            write_atomically(&to, &bytes).map_err(FolderError::io(&to))?;
            kept.push(Evidence { path: path.clone(), digest, bytes: bytes.len() as u64 });
        }
        Ok(kept)
    }

    fn evidence_of(&self, digest: &Digest, path: &str) -> PathBuf {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.home.join(EVIDENCE).join(format!("{}-{name}", digest.short()))
    }
}
