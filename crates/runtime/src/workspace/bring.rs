//! Brings what git does not keep into a worker's tree: `link` and `copy` of the workspace's settings, folders of
//! dependencies, the files of submodules.
//!
//! What is brought is no part of any snapshot. A link leads to the user's own folder: who writes there
//! writes to the user's files, so it is for what is only read.

use std::fs;
use std::io;
use std::path::{Component, Path};

use gadfly_engine::pipeline::Pattern;
use serde::{Deserialize, Serialize};

use super::copying;
use super::error::WorkspaceError;

/// Paths relative to the project.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Bring {
    pub link: Vec<String>,
    pub copy: Vec<String>,
    /// Folders of dependencies that were found; as `copy`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// Submodules of the repository: their files are copied, and not their repositories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submodules: Vec<String>,
    /// What the user's `prepare` made, which another layer keeps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<String>,
    /// A command makes what the work needs: no dependencies are looked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prepared: bool,
    /// What a registry's agents make and need, from the project: see `ignored`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub makes: Vec<Pattern>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Pattern>,
    /// What git ignores of what they need; as `link`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needed: Vec<String>,
    /// Folders of Gadfly's own inside the project, beside `.gadfly`, which are never part of it.
    pub without: Vec<String>,
}

impl Bring {
    /// Checks that every path stays inside the project, and returns them in their plainest form.
    pub fn checked(&self) -> Result<Self, WorkspaceError> {
        let all = |paths: &[String]| paths.iter().map(|p| inside(p)).collect::<Result<Vec<_>, _>>();
        let (link, copy, without) = (all(&self.link)?, all(&self.copy)?, all(&self.without)?);
        let checked = Self { link, copy, without, ..self.clone() };
        if let Some(path) = checked.link.iter().find(|p| checked.copy.contains(p)) {
            return Err(WorkspaceError::unusable(path, "it stands in both `link` and `copy`: keep one"));
        }
        Ok(checked)
    }

    /// Everything that no snapshot contains.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        let asked = self.link.iter().chain(&self.copy).chain(&self.without);
        asked.chain(&self.dependencies).chain(&self.submodules).chain(&self.made).chain(&self.needed)
    }

    /// Whether a path, or something below it, is brought.
    pub fn covers(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let below =
            |brought: &str| brought.strip_prefix(path).is_some_and(|p| p.is_empty() || p.starts_with('/'));
        self.all().any(|brought| below(brought))
    }

    /// Whether a path is brought, or something above or below it.
    pub fn overlaps(&self, path: &str) -> bool {
        let above =
            |brought: &String| path.strip_prefix(brought.as_str()).is_some_and(|p| p.starts_with('/'));
        self.covers(path) || self.all().any(above)
    }

    /// Puts everything into the tree; returns what the project does not have. Waits for the disk.
    pub fn perform(&self, project: &Path, work: &Path) -> Result<Vec<String>, WorkspaceError> {
        let mut missing = Vec::new();
        let copied = self.copy.iter().chain(&self.dependencies).map(|path| (path, CopyMode::Copy));
        let all = self.link.iter().chain(&self.needed).map(|path| (path, CopyMode::Link)).chain(copied);
        for (path, how) in all.chain(self.submodules.iter().map(|path| (path, CopyMode::WithoutGit))) {
            let (from, to) = (project.join(path), work.join(path));
            let Ok(real) = from.canonicalize() else {
                missing.push(path.clone());
                continue;
            };
            if !real.starts_with(project) {
                let reason = "it leads out of the project: name a path inside it";
                return Err(WorkspaceError::unusable(path, reason));
            }
            how.bring(&from, &to, project, work)
                .map_err(WorkspaceError::io("brought into the workspace", &from))?;
        }
        Ok(missing)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CopyMode {
    Link,
    Copy,
    WithoutGit,
}

impl CopyMode {
    fn bring(self, from: &Path, to: &Path, project: &Path, work: &Path) -> io::Result<()> {
        if let Some(above) = to.parent() {
            fs::create_dir_all(above)?;
        }
        match self {
            Self::Link => std::os::unix::fs::symlink(from, to),
            Self::Copy => {
                copying::copy(from, to, &|_| true)?;
                copying::at_home(to, project, work)
            }
            Self::WithoutGit => copying::copy(from, to, &|name| name != ".git"),
        }
    }
}

/// The path with `/` between plain names only.
fn inside(path: &str) -> Result<String, WorkspaceError> {
    let mut names = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => names.push(name.to_string_lossy().into_owned()),
            Component::CurDir => {}
            _ => {
                return Err(WorkspaceError::unusable(
                    path,
                    "it must be a path inside the project, without `..`",
                ));
            }
        }
    }
    if names.is_empty() {
        return Err(WorkspaceError::unusable(path, "it must name something inside the project"));
    }
    if names.iter().any(|n| n.eq_ignore_ascii_case(".git")) {
        return Err(WorkspaceError::unusable(path, "the repository itself cannot be brought in"));
    }
    Ok(names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leaves_the_project_is_refused() {
        for path in ["..", "../x", "a/../../x", "/etc", "", ".", ".git", "a/.GIT/hooks"] {
            let bring = Bring { link: vec![path.to_owned()], ..Bring::default() };
            assert!(bring.checked().is_err(), "{path:?}");
        }
        let bring = Bring { copy: vec!["./a//b/".to_owned()], ..Bring::default() };
        assert_eq!(bring.checked().unwrap().copy, ["a/b"]);
    }

    #[test]
    fn a_link_that_leads_out_of_the_project_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (project, work) = (root.join("project"), root.join("work"));
        for folder in [&project, &work, &root.join("secret")] {
            fs::create_dir(folder).unwrap();
        }
        std::os::unix::fs::symlink("../secret", project.join("out")).unwrap();
        for bring in [
            Bring { link: vec!["out".to_owned()], ..Bring::default() },
            Bring { copy: vec!["out".to_owned()], ..Bring::default() },
        ] {
            assert!(bring.perform(&project, &work).is_err(), "{bring:?}");
            assert_eq!(fs::read_dir(&work).unwrap().count(), 0);
        }
    }

    #[test]
    fn what_is_missing_is_named_and_the_rest_is_brought() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (project, work) = (root.join("project"), root.join("work"));
        fs::create_dir_all(project.join("deps/a")).unwrap();
        fs::write(project.join("deps/a/f"), "x").unwrap();
        fs::write(project.join(".env"), "K=v").unwrap();
        fs::create_dir(&work).unwrap();
        let bring = Bring {
            link: vec!["deps".to_owned()],
            copy: vec![".env".to_owned(), "none".to_owned()],
            ..Bring::default()
        };
        assert_eq!(bring.perform(&project, &work).unwrap(), ["none"]);
        assert!(work.join("deps").is_symlink() && work.join("deps/a/f").is_file());
        assert_eq!(fs::read_to_string(work.join(".env")).unwrap(), "K=v");
        assert!(!work.join(".env").is_symlink());
    }
}
