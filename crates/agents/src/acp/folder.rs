//! Where an agent's paths lead: below its folder, below its folder for temporary files, or outside. By the
//! path's text alone; links are the business of whoever opens the file.

use std::path::{Component, Path, PathBuf};

/// The folders of a call.
#[derive(Clone, Debug)]
pub(super) struct CallFolders {
    pub root: PathBuf,
    pub tmp: Option<PathBuf>,
}

/// A path of ours, by its name below the folder it is in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Below {
    Folder(String),
    Tmp(String),
}

impl CallFolders {
    /// None for what is outside of both folders. The folder itself has the empty name.
    pub fn find(&self, path: &Path) -> Option<Below> {
        if let Some(name) = below(&self.root, path) {
            return Some(Below::Folder(name));
        }
        self.tmp.as_deref().and_then(|tmp| below(tmp, path)).map(Below::Tmp)
    }

    pub fn holds(&self, path: &Path) -> bool {
        self.find(path).is_some()
    }

    /// A path as people should see it.
    pub fn shown(&self, path: &Path) -> String {
        match self.find(path) {
            Some(Below::Folder(name)) if name.is_empty() => ".".to_owned(),
            Some(Below::Folder(name)) => name,
            _ => path.display().to_string(),
        }
    }
}

fn below(root: &Path, path: &Path) -> Option<String> {
    let path = plain(&root.join(path))?;
    let rest = path.strip_prefix(plain(root)?).ok()?;
    let parts: Option<Vec<&str>> = rest.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

/// The path without `.` and `..`. None if it climbs above the root.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !out.pop() {
                    return None;
                }
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => out.push(part),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_naming_a_path_is_inside_or_outside() {
        let folder = CallFolders { root: "/work/run".into(), tmp: Some("/work/tmp".into()) };
        let inside = |name: &str| Some(Below::Folder(name.into()));
        for (path, expected) in [
            ("/work/run/a/b.txt", inside("a/b.txt")),
            ("a/b.txt", inside("a/b.txt")),
            ("/work/run/a/../b.txt", inside("b.txt")),
            ("/work/run/./a//b.txt", inside("a/b.txt")),
            ("/work/run", inside("")),
            ("/work/tmp/x", Some(Below::Tmp("x".into()))),
            ("/work/run/../tmp/x", Some(Below::Tmp("x".into()))),
            ("/work/running/a", None),
            ("/work/run/../other/a", None),
            ("../../etc/passwd", None),
            ("/../../etc/passwd", None),
            ("/etc/passwd", None),
            ("/", None),
        ] {
            assert_eq!(folder.find(Path::new(path)), expected, "{path}");
        }
    }
}
