//! What there is of an agent's own work: its products, without what belongs to others, what a template brings, and what
//! was said about it.

use std::collections::{BTreeMap, BTreeSet};

use super::ProjectFacts;
use super::output::{begun, sets_tools_up};
use crate::artifact::ArtifactFile;
use crate::pipeline::inputs::is_history;
use crate::pipeline::listing::ListedFile;
use crate::pipeline::registry::RegistryEntry;

impl ProjectFacts<'_> {
    /// Everything at the places of an agent's products.
    pub fn made(&self, entry: &RegistryEntry) -> Vec<ArtifactFile> {
        let mut found: BTreeMap<&str, ListedFile> = BTreeMap::new();
        for pattern in entry.produces.iter().flat_map(|product| product.patterns.iter().chain(&product.files))
        {
            found.extend(self.listing.matching(pattern));
        }
        let file = |(path, found): (&str, ListedFile)| ArtifactFile {
            path: path.to_owned(),
            mode: found.mode,
            blob: found.digest,
        };
        found.into_iter().map(file).collect()
    }

    /// Its work as it is; empty if it was not begun. Of work that was judged before, the files that were.
    pub fn work_there(&self, entry: &RegistryEntry) -> Vec<ArtifactFile> {
        if begun(self, entry).is_none() {
            return Vec::new();
        }
        let made = self.made(entry).into_iter();
        if let Some(verdict) = self.verdict(&entry.agent) {
            let before: BTreeSet<&str> = verdict.files.iter().map(|file| file.path.as_str()).collect();
            return made.filter(|file| before.contains(file.path.as_str())).collect();
        }
        let others = self.verdicts.iter().filter(|verdict| verdict.agent != entry.agent);
        let owned: BTreeSet<&str> =
            others.flat_map(|verdict| &verdict.files).map(|file| file.path.as_str()).collect();
        let is_work = |path: &str| entry.names(path) || !(is_history(path) || sets_tools_up(path));
        made.filter(|file| !owned.contains(file.path.as_str()) && is_work(&file.path)).collect()
    }
}
