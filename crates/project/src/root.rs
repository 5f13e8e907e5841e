//! Where the project begins and where its state lives. It looks; it creates nothing.

use std::path::{Path, PathBuf};

/// The project's root folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Root {
    pub dir: PathBuf,
    /// The project's `gadfly.toml`, if it has one.
    pub config: Option<PathBuf>,
    /// Where state lives; `--store` is the caller's to put in its place.
    pub store: PathBuf,
}

pub const CONFIG_NAME: &str = "gadfly.toml";
pub const STORE_NAME: &str = ".gadfly";

impl Root {
    /// The nearest folder from `start` upwards with a `gadfly.toml`, a `.gadfly/` or a git root; if there
    /// is none, `start` itself.
    pub fn find(start: &Path) -> Self {
        // Resolved first: the parent of `a/..` by name would be `a`.
        let start = start.canonicalize().or_else(|_| std::path::absolute(start)).unwrap_or(start.to_owned());
        let start = if start.is_file() { start.parent().unwrap_or(&start).to_owned() } else { start };
        let dir = start.ancestors().find(|dir| is_root(dir)).unwrap_or(&start);
        Self::at(dir)
    }

    /// This folder and no other.
    pub fn at(dir: &Path) -> Self {
        let config = dir.join(CONFIG_NAME);
        Self { config: config.is_file().then_some(config), store: dir.join(STORE_NAME), dir: dir.to_owned() }
    }
}

fn is_root(dir: &Path) -> bool {
    // `.git` is a file in a worktree or a submodule.
    dir.join(CONFIG_NAME).is_file() || dir.join(STORE_NAME).is_dir() || dir.join(".git").exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_nearest_mark_upwards_is_the_root() {
        let tmp = tempfile::tempdir().unwrap();
        let repo = tmp.path().canonicalize().unwrap().join("repo");
        let deep = repo.join("paper/drafts");
        fs::create_dir_all(&deep).unwrap();
        fs::create_dir(repo.join(".git")).unwrap();
        assert_eq!(Root::find(&deep), Root { dir: repo.clone(), config: None, store: repo.join(".gadfly") });

        fs::create_dir(repo.join("paper/.gadfly")).unwrap();
        assert_eq!(Root::find(&deep).dir, repo.join("paper"));

        fs::write(deep.join("gadfly.toml"), "").unwrap();
        let root = Root::find(&deep);
        assert_eq!(root.dir, deep);
        assert_eq!(root.config, Some(deep.join("gadfly.toml")));
    }

    #[test]
    fn a_file_stands_for_its_folder_and_a_git_file_is_a_git_root() {
        let tmp = tempfile::tempdir().unwrap();
        let sub = tmp.path().join("a/b");
        fs::create_dir_all(&sub).unwrap();
        fs::write(tmp.path().join("a/.git"), "gitdir: elsewhere").unwrap();
        fs::write(sub.join("x.md"), "").unwrap();
        assert_eq!(Root::find(&sub.join("x.md")).dir, tmp.path().canonicalize().unwrap().join("a"));
    }

    #[test]
    fn a_folder_named_like_the_config_or_a_file_named_like_the_store_is_no_mark() {
        let tmp = tempfile::tempdir().unwrap();
        let sub = tmp.path().join("a/b");
        fs::create_dir_all(sub.join("gadfly.toml")).unwrap();
        fs::write(tmp.path().join("a/.gadfly"), "").unwrap();
        fs::create_dir(tmp.path().join(".git")).unwrap();
        assert_eq!(Root::find(&sub).dir, tmp.path().canonicalize().unwrap());
    }

    #[test]
    fn a_mark_below_the_start_does_not_count() {
        let tmp = tempfile::tempdir().unwrap();
        let sub = tmp.path().join("a/b");
        fs::create_dir_all(sub.join(".gadfly")).unwrap();
        fs::create_dir(tmp.path().join(".git")).unwrap();
        assert_eq!(Root::find(&sub.join("..")).dir, tmp.path().canonicalize().unwrap());
    }
}
