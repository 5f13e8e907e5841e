//! Reads and changes files for agents that ask us to: files below one folder, never outside it and never
//! through a link.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use std::sync::Arc;

use futures_util::future::BoxFuture;
use gadfly_agents::{Edit, Files, FolderFiles, MAX_REPLY};

struct Below(PathBuf);

/// The files below this folder.
pub fn in_folder(folder: &Path) -> Files {
    Files::of(Arc::new(Below(folder.to_owned())))
}

impl FolderFiles for Below {
    fn apply(&self, edits: Vec<Edit>) -> BoxFuture<'static, Result<(), String>> {
        let folder = self.0.clone();
        off_thread(move || edits.iter().try_for_each(|edit| carry_out(&folder, edit)))
    }

    fn read(&self, path: String) -> BoxFuture<'static, Result<String, String>> {
        let folder = self.0.clone();
        off_thread(move || read(&folder, &path).map_err(|why| format!("`{path}`: {why}")))
    }
}

fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> BoxFuture<'static, Result<T, String>> {
    Box::pin(async { tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| Err(e.to_string())) })
}

fn read(folder: &Path, path: &str) -> Result<String, String> {
    let (_, target) = resolved(folder, path)?;
    let most = u64::try_from(MAX_REPLY).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let file = File::open(&target).map_err(|e| e.to_string())?;
    file.take(most + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() > MAX_REPLY {
        return Err(format!("it has more than {MAX_REPLY} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

fn carry_out(folder: &Path, edit: &Edit) -> Result<(), String> {
    let (Edit::Write { path, .. } | Edit::Delete { path }) = edit;
    let (above, target) = resolved(folder, path).map_err(|why| format!("`{path}`: {why}"))?;
    let result = match edit {
        Edit::Write { content, .. } => fs::create_dir_all(above).and_then(|()| write(&target, content)),
        Edit::Delete { .. } => fs::remove_file(&target),
    };
    result.map_err(|e| format!("`{path}`: {e}"))
}

/// The folder above a path and the path itself, if nothing on the way leads elsewhere.
fn resolved(folder: &Path, path: &str) -> Result<(PathBuf, PathBuf), &'static str> {
    let (mut above, mut at) = (folder.to_owned(), folder.to_owned());
    for part in path.split('/') {
        if matches!(part, "" | "." | "..") || part.contains('\0') {
            return Err("it is not a path below the folder");
        }
        if at != folder && fs::symlink_metadata(&at).is_ok_and(|m| !m.is_dir()) {
            return Err("a file or a link is in the place of a folder above it");
        }
        above.clone_from(&at);
        at.push(part);
    }
    if fs::symlink_metadata(&at).is_ok_and(|m| !m.is_file()) {
        return Err("there is something that is not a file");
    }
    Ok((above, at))
}

fn write(target: &Path, content: &str) -> io::Result<()> {
    File::create(target)?.write_all(content.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &str) -> Edit {
        Edit::Write { path: path.into(), content: "new".into() }
    }

    #[test]
    fn files_are_written_and_deleted_below_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        carry_out(dir.path(), &write("a/b/c.txt")).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("a/b/c.txt")).unwrap(), "new");
        carry_out(dir.path(), &Edit::Delete { path: "a/b/c.txt".into() }).unwrap();
        assert!(!dir.path().join("a/b/c.txt").exists());
        assert!(carry_out(dir.path(), &Edit::Delete { path: "a/b/c.txt".into() }).is_err());
    }

    #[test]
    fn nothing_outside_the_folder_is_touched() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, outside) = (dir.path().join("in"), dir.path().join("out"));
        fs::create_dir(&inside).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("f"), "precious").unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        std::os::unix::fs::symlink(outside.join("f"), inside.join("file")).unwrap();
        let absolute = outside.join("f");
        for path in ["../out/f", "link/f", "file", "link/../../out/f", absolute.to_str().unwrap()] {
            let deleting = Edit::Delete { path: path.into() };
            assert!(carry_out(&inside, &write(path)).is_err(), "{path}");
            assert!(carry_out(&inside, &deleting).is_err(), "{path}");
            assert!(read(&inside, path).is_err(), "{path}");
            assert_eq!(fs::read_to_string(&absolute).unwrap(), "precious", "{path}");
        }
        // Sabotage: without the look at what is there, a plain write goes through the link.
        super::write(&inside.join("link/f"), "gone").unwrap();
        assert_eq!(fs::read_to_string(&absolute).unwrap(), "gone");
    }
}
