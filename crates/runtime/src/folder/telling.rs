//! What the user is told of a folder that was made: what it cost, and what of the project is not in it.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use super::{Folder, FolderError, NODES, from_project, listed};
use crate::workspace::Created;

/// What making a folder of this size costs is worth a line.
const MANY_FILES: usize = 500;
const MANY_BYTES: u64 = 20 << 20;
/// Says that it was told what git ignores.
const TOLD: &str = "told-ignored";
/// How many paths are named of what was brought and what was not.
const NAMED: usize = 6;

impl Folder {
    pub(super) async fn tell_of(
        &self,
        made: &Created,
        took: Duration,
        tell: &(dyn Fn(String) + Send + Sync),
    ) -> Result<(), FolderError> {
        let files = made.workspace.entries(made.workspace.base()).await?;
        let bytes = files.iter().fold(0_u64, |sum, f| sum.saturating_add(f.bytes));
        if files.len() >= MANY_FILES || bytes >= MANY_BYTES {
            let (files, bytes, took) = (files.len(), bytes >> 20, took.as_secs_f64());
            tell(format!("the run's folder: {files} files, {bytes} MB, made in {took:.1} s"));
        }
        let left_out = made.workspace.left_out();
        if !left_out.is_empty() {
            tell(format!("repositories inside the project are left out: {}", listed(left_out).join(", ")));
        }
        if !made.missing.is_empty() {
            tell(format!("the project does not have: {}", listed(&made.missing).join(", ")));
        }
        self.tell_of_ignored(made, tell);
        // Once for all the folders of a run.
        if self.plan.per_node && (self.states().exists() || !self.shows_the_project()) {
            return Ok(());
        }
        for (how, paths) in [("linked", &self.plan.link), ("copied", &self.plan.copy)] {
            let there: Vec<&String> = paths.iter().filter(|path| !made.missing.contains(path)).collect();
            if !there.is_empty() {
                tell(format!("{how} into the run's folder: {}", some(&there)));
            }
        }
        let below = made.workspace.below();
        let seen = |paths: &[String]| -> Vec<String> {
            paths.iter().map(|path| from_project(below, path)).collect()
        };
        let brought = made.workspace.brought();
        for (what, paths) in [
            ("dependencies, copied into the run's folder", &brought.dependencies),
            ("submodules, copied to be read; what is changed in them is not delivered", &brought.submodules),
            ("too large to be copied unasked; name it in `link` or make it by `prepare`", &made.too_large),
        ] {
            if !paths.is_empty() {
                tell(format!("{what}: {}", some(&seen(paths).iter().collect::<Vec<_>>())));
            }
        }
        // Work that needs what is not there would fail unexplained.
        let absent = seen(&made.not_brought);
        if !absent.is_empty() {
            tell(format!(
                "ignored by git and not in the run's folder: {}; if the work needs it, name it in `[workspace]` of \
                 gadfly.toml: `copy`, `link` or `prepare`",
                some(&absent.iter().collect::<Vec<_>>())
            ));
        }
        if are_apart(Path::new(&self.plan.project), &self.home) {
            tell(format!(
                "the run's folder is on another file system than the project, so git's objects are copied: {}",
                self.home.display()
            ));
        }
        Ok(())
    }

    /// Once for all the folders of a run, whichever comes first.
    fn tell_of_ignored(&self, made: &Created, tell: &(dyn Fn(String) + Send + Sync)) {
        let counted = made.workspace.counted().names();
        let below = made.workspace.below();
        let needed: Vec<String> =
            made.workspace.brought().needed.iter().map(|path| from_project(below, path)).collect();
        let nodes = self.home.parent().filter(|dir| dir.file_name().is_some_and(|name| name == NODES));
        let run = nodes.and_then(Path::parent).unwrap_or(&self.home);
        if counted.is_empty() && needed.is_empty() || File::create_new(run.join(TOLD)).is_err() {
            return;
        }
        if !counted.is_empty() {
            tell(format!(
                "git ignores what agents make in {}: it is judged, recorded and delivered all the same, and is in no \
                 commit",
                some(&counted.iter().collect::<Vec<_>>())
            ));
        }
        if !needed.is_empty() {
            tell(format!(
                "git ignores what agents need: linked into their folders and those of critics, to be read: {}",
                some(&needed.iter().collect::<Vec<_>>())
            ));
        }
    }
}

fn some(paths: &[&String]) -> String {
    let mut named: Vec<String> =
        paths.iter().take(NAMED).map(|path| path.trim_end_matches('/').to_owned()).collect();
    if paths.len() > NAMED {
        named.push(format!("{} more", paths.len() - NAMED));
    }
    named.join(", ")
}

/// Whether two folders are on different file systems; what cannot be told is not said.
fn are_apart(one: &Path, other: &Path) -> bool {
    let device = |path: &Path| fs::metadata(path).ok().map(|meta| meta.dev());
    matches!((device(one), device(other)), (Some(one), Some(other)) if one != other)
}
