//! What a state of the folder has done to tests: both versions of every changed file are read, within bounds, and held
//! against each other.

use std::collections::{BTreeMap, HashSet};

use gadfly_engine::finding::{ENGINE, Finding, Location, Severity};
use gadfly_engine::protocol::audit::checks::test_files::is_test_file;
use gadfly_engine::protocol::audit::routes::SILENCED_FAILURE;
use gadfly_engine::tree::{Examine, Examined};
use gadfly_syntax::{ChangedFile, Version};

use super::{Folder, FolderError, Inside};

/// What is read of all files together; the rest cannot be judged.
const LARGEST: u64 = 64 << 20;
const FIX: &str =
    "Put it back as it was, and make the check pass by the work; if it has to be so, a person must agree.";

impl Folder {
    pub async fn examine(&self, examine: &Examine) -> Result<Examined, FolderError> {
        let inside = self.enter().await?;
        let now = self.tree_of(&examine.tree)?;
        let base = inside.workspace.base().to_owned();
        let differing = inside.workspace.changes(&base, &now).await?;
        let paths: Vec<String> = differing.into_iter().map(|change| change.path).collect();
        let (mut before, _) = versions(&inside, &base, &paths).await?;
        let (mut after, there) = versions(&inside, &now, &paths).await?;
        drop(inside);
        let changed: Vec<ChangedFile> = paths
            .into_iter()
            .map(|path| ChangedFile {
                is_test: is_test_file(&path),
                before: before.remove(&path).unwrap_or_default(),
                after: after.remove(&path).unwrap_or_default(),
                path,
            })
            .collect();
        let examined = tokio::task::spawn_blocking(move || {
            let examined = gadfly_syntax::examine(&changed, &|path| there.contains(path));
            let findings = examined.found.iter().map(|found| finding(found, there.contains(&found.path)));
            Examined { findings: findings.collect(), read: examined.read }
        });
        examined.await.map_err(|e| FolderError::Command(format!("the change could not be examined: {e}")))
    }
}

/// The versions of these files in a tree, and all paths it has.
async fn versions(
    inside: &Inside,
    tree: &str,
    paths: &[String],
) -> Result<(BTreeMap<String, Version>, HashSet<String>), FolderError> {
    const LINK: u32 = 0o120_000;
    const KIND: u32 = 0o170_000;
    let asked: HashSet<&str> = paths.iter().map(String::as_str).collect();
    let entries = inside.workspace.entries(tree).await?;
    let mut left = LARGEST;
    let mut found = BTreeMap::new();
    let mut wanted = Vec::new();
    for entry in entries.iter().filter(|entry| asked.contains(entry.path.as_str())) {
        found.insert(entry.path.clone(), Version::Opaque);
        if entry.mode & KIND != LINK && entry.bytes <= left.min(gadfly_syntax::LARGEST as u64) {
            left -= entry.bytes;
            wanted.push(entry.path.as_str());
        }
    }
    for stored in inside.workspace.read_many(tree, &wanted, gadfly_syntax::LARGEST as u64).await? {
        if let Some(text) = stored.content.and_then(|bytes| String::from_utf8(bytes).ok()) {
            found.insert(stored.path, Version::Text(text));
        }
    }
    Ok((found, entries.into_iter().map(|entry| entry.path).collect()))
}

fn finding(found: &gadfly_syntax::Weakening, is_there: bool) -> Finding {
    let mut finding = Finding::new(SILENCED_FAILURE, Severity::Fail, found.says.clone(), ENGINE);
    finding.place = Some(Location { path: found.path.clone(), line: found.line, end: None });
    finding.absent = !is_there;
    FIX.clone_into(&mut finding.fix);
    finding
}
