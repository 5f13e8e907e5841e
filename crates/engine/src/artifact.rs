//! What a worker makes and a critic judges: a manifest of entries. A text draft has one entry.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// One file of an artifact.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct ArtifactFile {
    pub path: String,
    /// Unix permission bits.
    pub mode: u32,
    pub blob: Digest,
}

/// A sorted list of entries. Its digest is the artifact's identity wherever a verdict is bound.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    entries: Vec<ArtifactFile>,
}

impl Manifest {
    pub fn new(mut entries: Vec<ArtifactFile>) -> Self {
        entries.sort();
        entries.dedup_by(|a, b| a.path == b.path);
        Self { entries }
    }

    /// The manifest of a draft that is one text.
    pub fn of_text(blob: Digest) -> Self {
        Self { entries: vec![ArtifactFile { path: "draft".to_owned(), mode: 0o644, blob }] }
    }

    pub fn entries(&self) -> &[ArtifactFile] {
        &self.entries
    }

    pub fn digest(&self) -> Digest {
        Digest::of(self.listing().as_bytes())
    }

    /// The manifest as a text, a line per entry. Stored, it is found under the manifest's digest.
    pub fn listing(&self) -> String {
        let mut lines = String::new();
        for e in &self.entries {
            use std::fmt::Write as _;
            let _ = writeln!(lines, "{:o} {} {}", e.mode, e.blob, e.path);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_the_same_whatever_order_its_entries_came_in() {
        let entry =
            |path: &str| ArtifactFile { path: path.into(), mode: 0o644, blob: Digest::of(path.as_bytes()) };
        let one = Manifest::new(vec![entry("b"), entry("a")]);
        let two = Manifest::new(vec![entry("a"), entry("b")]);
        assert_eq!(one.digest(), two.digest());
        assert_ne!(one.digest(), Manifest::new(vec![entry("a")]).digest());
    }
}
