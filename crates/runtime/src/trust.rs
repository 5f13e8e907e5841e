//! What the user has agreed to let a project's files do, remembered by digest in the user's own state. For one project:
//! the same words in another one, `./check.sh`, name another program.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gadfly_engine::Digest;
use gadfly_project::trust::TrustEntry;

/// The remembered digests.
#[derive(Clone, Debug)]
pub struct Trust {
    file: PathBuf,
    project: PathBuf,
    known: BTreeSet<Digest>,
}

#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be {done}: {source}", path = path.display())]
pub struct TrustError {
    path: PathBuf,
    done: &'static str,
    source: io::Error,
}

impl Trust {
    /// Reads what is remembered under the user's state directory about this project. Lines that are no digest are
    /// passed over.
    pub fn load(state_dir: &Path, project: &Path) -> Result<Self, TrustError> {
        let file = state_dir.join("trusted");
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(TrustError { path: file, done: "read", source }),
        };
        let known = text.lines().filter_map(|l| l.split_whitespace().next()?.parse().ok()).collect();
        let project = fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
        Ok(Self { file, project, known })
    }

    /// The entries nobody has agreed to yet.
    pub fn missing(&self, entries: Vec<TrustEntry>) -> Vec<TrustEntry> {
        entries.into_iter().filter(|e| !self.known.contains(&self.key(e))).collect()
    }

    /// What is remembered: the thing, in this project.
    fn key(&self, entry: &TrustEntry) -> Digest {
        let place = Digest::of(self.project.as_os_str().as_encoded_bytes());
        Digest::of(format!("{place} {}", entry.digest).as_bytes())
    }

    pub fn remember(&mut self, entries: &[TrustEntry]) -> Result<(), TrustError> {
        let keys: Vec<Digest> = entries.iter().map(|e| self.key(e)).collect();
        self.known.extend(keys);
        let text: Vec<String> = self.known.iter().map(ToString::to_string).collect();
        let write = || {
            if let Some(dir) = self.file.parent() {
                fs::create_dir_all(dir)?;
            }
            crate::save::write_atomically(&self.file, format!("{}\n", text.join("\n")).as_bytes())
        };
        write().map_err(|source| TrustError { path: self.file.clone(), done: "written", source })
    }
}
