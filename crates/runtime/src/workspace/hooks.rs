//! What git runs, or may be made to run, as the user: hooks, settings and attributes of a repository. A worker in
//! the user's own checkout may write there, and it would be run later, by somebody else; so it is said.
//!
//! It only compares, and puts nothing back.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use gadfly_engine::Digest;
use serde::{Deserialize, Serialize};

/// Larger than any hook that somebody wrote; of the rest only the size is compared.
const LARGEST: u64 = 4 << 20;
const MOST_HOOKS: usize = 1000;
const FILES: [&str; 3] = ["config", "config.worktree", "info/attributes"];

/// By path; what each is: its kind, whether it may be executed, and its content.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct GitHooks(BTreeMap<PathBuf, String>);

impl GitHooks {
    /// Of these repositories, each named by its `.git` folder.
    pub fn of(repositories: &[PathBuf]) -> Self {
        let mut found = BTreeMap::new();
        for dir in repositories {
            let mut paths: Vec<PathBuf> = FILES.iter().map(|name| dir.join(name)).collect();
            let hooks = fs::read_dir(dir.join("hooks")).into_iter().flatten().flatten();
            paths.extend(hooks.take(MOST_HOOKS).map(|entry| entry.path()));
            for path in paths {
                if let Some(what) = what_is(&path) {
                    found.insert(path, what);
                }
            }
            let kind = fs::symlink_metadata(dir.join("hooks")).map(|m| format!("{:?}", m.file_type()));
            found.extend(kind.ok().map(|kind| (dir.join("hooks"), kind)));
        }
        Self(found)
    }

    /// What is new, gone or different now, from the root of the checkout if it is below it.
    pub fn changed(&self, now: &Self, root: &Path) -> Vec<String> {
        let shown = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
        let here = now.0.iter().filter(|(path, what)| self.0.get(*path) != Some(*what));
        let gone = self.0.keys().filter(|path| !now.0.contains_key(*path));
        let mut changed: Vec<String> =
            here.map(|(path, _)| shown(path)).chain(gone.map(|path| shown(path))).collect();
        changed.sort();
        changed
    }
}

fn what_is(path: &Path) -> Option<String> {
    let meta = fs::symlink_metadata(path).ok()?;
    if meta.is_symlink() {
        return Some(format!("link to {}", fs::read_link(path).ok()?.display()));
    }
    let bits = meta.permissions().mode() & 0o111;
    if !meta.is_file() || meta.len() > LARGEST {
        return Some(format!("{:?} {bits:o} of {} bytes", meta.file_type(), meta.len()));
    }
    let mut content = Vec::new();
    File::open(path).ok()?.take(LARGEST).read_to_end(&mut content).ok()?;
    Some(format!("{bits:o} {}", Digest::of(&content)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_hook_and_a_changed_setting_are_named_and_samples_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join(".git");
        fs::create_dir_all(git.join("hooks")).unwrap();
        fs::write(git.join("config"), "[core]\n").unwrap();
        fs::write(git.join("hooks/pre-push.sample"), "#!/bin/sh\n").unwrap();
        let before = GitHooks::of(std::slice::from_ref(&git));
        let changed = || before.changed(&GitHooks::of(std::slice::from_ref(&git)), dir.path());
        assert_eq!(changed(), Vec::<String>::new());
        fs::write(git.join("config"), "[core]\n\thooksPath = evil\n").unwrap();
        fs::write(git.join("hooks/pre-commit"), "evil\n").unwrap();
        assert_eq!(changed(), [".git/config", ".git/hooks/pre-commit"]);
        fs::remove_dir_all(git.join("hooks")).unwrap();
        std::os::unix::fs::symlink("/elsewhere", git.join("hooks")).unwrap();
        assert!(changed().contains(&".git/hooks".to_owned()), "{:?}", changed());
    }
}
