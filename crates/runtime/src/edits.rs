//! Reads and changes files for agents that ask us to: files below one folder, never outside it and never
//! through a link.
//!
//! The agent is at work meanwhile and may put a link in the place of a folder between a look and a use. So
//! nothing is looked at by its path: the folder is opened before the agent is started, and every step below it
//! is opened from the one before.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use gadfly_agents::{Edit, Files, FolderFiles, MAX_REPLY};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, ftruncate, mkdirat, openat, unlinkat};
use rustix::io::Errno;

/// None if there is no such folder.
struct FolderBelow(Option<Arc<OwnedFd>>);

/// The files below this folder, which must be there already, and still ours.
pub fn in_folder(folder: &Path) -> Files {
    Files::of(Arc::new(FolderBelow(open_folder(CWD, folder).ok().map(Arc::new))))
}

impl FolderBelow {
    fn folder(&self) -> Result<Arc<OwnedFd>, String> {
        self.0.clone().ok_or_else(|| "there is no folder for it".to_owned())
    }
}

impl FolderFiles for FolderBelow {
    fn apply(&self, edits: Vec<Edit>) -> BoxFuture<'static, Result<(), String>> {
        let folder = self.folder();
        off_thread(move || {
            let folder = folder?;
            edits.iter().try_for_each(|edit| carry_out(&folder, edit))
        })
    }

    fn read(&self, path: String) -> BoxFuture<'static, Result<String, String>> {
        let folder = self.folder();
        off_thread(move || read(&*folder?, &path).map_err(|why| format!("`{path}`: {why}")))
    }
}

fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> BoxFuture<'static, Result<T, String>> {
    Box::pin(async { tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| Err(e.to_string())) })
}

fn read(folder: &OwnedFd, path: &str) -> Result<String, String> {
    let (above, name) = above(folder, path, false)?;
    let file = open_file(&above, name, OFlags::RDONLY)?;
    let most = u64::try_from(MAX_REPLY).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() > MAX_REPLY {
        return Err(format!("it has more than {MAX_REPLY} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

fn carry_out(folder: &OwnedFd, edit: &Edit) -> Result<(), String> {
    let (path, result) = match edit {
        Edit::Write { path, content } => (path, write(folder, path, content)),
        Edit::Delete { path } => (path, delete(folder, path)),
    };
    result.map_err(|why| format!("`{path}`: {why}"))
}

fn write(folder: &OwnedFd, path: &str, content: &str) -> Result<(), String> {
    let (above, name) = above(folder, path, true)?;
    let mut file = open_file(&above, name, OFlags::WRONLY | OFlags::CREATE)?;
    let written =
        ftruncate(&file, 0).map_err(io::Error::from).and_then(|()| file.write_all(content.as_bytes()));
    written.map_err(|e| e.to_string())
}

fn delete(folder: &OwnedFd, path: &str) -> Result<(), String> {
    let (above, name) = above(folder, path, false)?;
    open_file(&above, name, OFlags::PATH)?;
    unlinkat(&above, name, AtFlags::empty()).map_err(said)
}

/// The folder above a path, opened, and the last part of the path.
pub(crate) fn above<'a>(folder: &OwnedFd, path: &'a str, make: bool) -> Result<(OwnedFd, &'a str), String> {
    if path.split('/').any(|part| matches!(part, "" | "." | "..") || part.contains('\0')) {
        return Err("it is not a path below the folder".to_owned());
    }
    let (folders, name) = path.rsplit_once('/').map_or((None, path), |(above, name)| (Some(above), name));
    let mut at = folder.try_clone().map_err(|e| e.to_string())?;
    for part in folders.into_iter().flat_map(|folders| folders.split('/')) {
        at = match open_folder(&at, part) {
            Err(Errno::NOENT) if make => match mkdirat(&at, part, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => open_folder(&at, part),
                Err(error) => Err(error),
            },
            other => other,
        }
        .map_err(said)?;
    }
    Ok((at, name))
}

pub(crate) fn open_folder(at: impl AsFd, name: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    openat(at, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// A file, and nothing else: neither a link nor a pipe that nobody writes to.
pub(crate) fn open_file(above: &OwnedFd, name: &str, flags: OFlags) -> Result<File, String> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(above, name, flags, Mode::from_raw_mode(0o666)).map_err(said)?;
    let kind = fstat(&file).map_err(said)?.st_mode;
    if FileType::from_raw_mode(kind) != FileType::RegularFile {
        return Err("there is something that is not a file".to_owned());
    }
    Ok(File::from(file))
}

pub(crate) fn said(error: Errno) -> String {
    match error {
        Errno::LOOP | Errno::NOTDIR => "a file or a link is in the place of a folder or a file".to_owned(),
        other => io::Error::from(other).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn writing(path: &str) -> Edit {
        Edit::Write { path: path.into(), content: "new".into() }
    }

    fn opened(folder: &Path) -> OwnedFd {
        open_folder(CWD, folder).unwrap()
    }

    #[test]
    fn files_are_written_and_deleted_below_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let folder = opened(dir.path());
        fs::create_dir(dir.path().join("a")).unwrap();
        for _ in 0..2 {
            carry_out(&folder, &writing("a/b/c.txt")).unwrap();
            assert_eq!(read(&folder, "a/b/c.txt").unwrap(), "new");
        }
        fs::write(dir.path().join("longer"), "a longer text").unwrap();
        carry_out(&folder, &writing("longer")).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("longer")).unwrap(), "new");
        carry_out(&folder, &Edit::Delete { path: "a/b/c.txt".into() }).unwrap();
        assert!(!dir.path().join("a/b/c.txt").exists());
        assert!(carry_out(&folder, &Edit::Delete { path: "a/b/c.txt".into() }).is_err());
        assert!(carry_out(&folder, &writing("a")).is_err(), "a folder is no file");
        assert!(carry_out(&folder, &writing("longer/x")).is_err(), "a file is no folder");
    }

    #[test]
    fn nothing_outside_the_folder_is_touched() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, outside) = (dir.path().join("in"), dir.path().join("out"));
        fs::create_dir(&inside).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("f"), "precious").unwrap();
        symlink(&outside, inside.join("link")).unwrap();
        symlink(outside.join("f"), inside.join("file")).unwrap();
        let (absolute, folder) = (outside.join("f"), opened(&inside));
        for path in ["../out/f", "link/f", "file", "link/../../out/f", absolute.to_str().unwrap()] {
            let deleting = Edit::Delete { path: path.into() };
            assert!(carry_out(&folder, &writing(path)).is_err(), "{path}");
            assert!(carry_out(&folder, &deleting).is_err(), "{path}");
            assert!(read(&folder, path).is_err(), "{path}");
            assert_eq!(fs::read_to_string(&absolute).unwrap(), "precious", "{path}");
        }
        // Sabotage: a plain write goes through the link.
        fs::write(inside.join("link/f"), "gone").unwrap();
        assert_eq!(fs::read_to_string(&absolute).unwrap(), "gone");
    }

    /// A project may lie below the top of the worker's tree: its folder is then the worker's to replace.
    #[tokio::test]
    async fn a_folder_that_the_agent_replaces_by_a_link_leads_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, outside) = (dir.path().join("in"), dir.path().join("out"));
        fs::create_dir(&inside).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("f"), "precious").unwrap();
        let files = in_folder(&inside);
        fs::rename(&inside, dir.path().join("away")).unwrap();
        symlink(&outside, &inside).unwrap();
        assert!(files.read("f").await.is_err());
        files.apply(vec![writing("f")]).await.unwrap();
        assert_eq!(fs::read_to_string(outside.join("f")).unwrap(), "precious");
        assert_eq!(fs::read_to_string(dir.path().join("away/f")).unwrap(), "new");
        assert!(in_folder(&inside).apply(vec![writing("f")]).await.is_err(), "it is a link by now");
    }

    /// Would go red, sooner or later, if paths were looked at first and used afterwards.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_agent_that_swaps_a_folder_and_a_link_all_the_time_gains_nothing() {
        use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

        use rustix::fs::{RenameFlags, renameat_with};
        let dir = tempfile::tempdir().unwrap();
        let (inside, outside) = (dir.path().join("in"), dir.path().join("out"));
        fs::create_dir_all(inside.join("d")).unwrap();
        fs::create_dir(&outside).unwrap();
        symlink(&outside, inside.join("l")).unwrap();
        let (folder, over) = (opened(&inside), AtomicBool::new(false));
        std::thread::scope(|s| {
            s.spawn(|| {
                while !over.load(Relaxed) {
                    let (d, l) = (inside.join("d"), inside.join("l"));
                    renameat_with(CWD, d, CWD, l, RenameFlags::EXCHANGE).unwrap();
                }
            });
            for _ in 0..2_000 {
                let _ = carry_out(&folder, &writing("d/f"));
            }
            over.store(true, Relaxed);
        });
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }

    #[test]
    fn a_pipe_is_no_file_and_nobody_waits_for_it() {
        let dir = tempfile::tempdir().unwrap();
        rustix::fs::mkfifoat(CWD, dir.path().join("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        let folder = opened(dir.path());
        assert!(read(&folder, "pipe").is_err());
        assert!(carry_out(&folder, &writing("pipe")).is_err());
    }
}
