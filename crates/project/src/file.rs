//! Reading files that others wrote: bounded, regular files only, and inside the project where they must be.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// Configuration, prompts and rubrics are written by hand; more than this is a mistake or an attack.
pub const LARGEST: u64 = 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("`{path}` does not exist")]
    Missing { path: String },
    #[error("`{path}` is not a regular file")]
    NotAFile { path: String },
    #[error("`{path}` is larger than {most} bytes")]
    TooLarge { path: String, most: u64 },
    #[error("`{path}` is not UTF-8 text")]
    NotText { path: String },
    #[error("`{path}` is a link that leads out of the project, to {target}: it was not read")]
    LeadsOut { path: String, target: String },
    #[error("`{path}` lies outside the project")]
    Outside { path: String },
    #[error("`{path}` cannot be read: {source}")]
    Io { path: String, source: io::Error },
}

/// A small text file, whole.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    read_text_up_to(path, LARGEST)
}

/// A text file of at most `most` bytes, whole.
pub fn read_text_up_to(path: &Path, most: u64) -> Result<String, FileError> {
    let mut bytes = Vec::new();
    // One byte more than allowed tells "exactly full" from "too large"; the size in the metadata may lie.
    open_regular(path)?
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| FileError::Io { path: name(path), source })?;
    if bytes.len() as u64 > most {
        return Err(FileError::TooLarge { path: name(path), most });
    }
    String::from_utf8(bytes).map_err(|_| FileError::NotText { path: name(path) })
}

/// Opens a regular file. A pipe or a device would block or never end.
pub fn open_regular(path: &Path) -> Result<File, FileError> {
    let io_error = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => FileError::Missing { path: name(path) },
        _ => FileError::Io { path: name(path), source },
    };
    // Looked at before opening, because opening a pipe already waits.
    if !std::fs::metadata(path).map_err(io_error)?.is_file() {
        return Err(FileError::NotAFile { path: name(path) });
    }
    File::open(path).map_err(io_error)
}

/// `path`, taken relative to `dir`, if it stays inside `dir`: by its name, and after symbolic links as far
/// as it exists.
pub fn inside(dir: &Path, path: &Path) -> Result<PathBuf, FileError> {
    inside_real(dir, dir.canonicalize().ok().as_deref(), path)
}

/// As [`inside`], where `dir` was made canonical before: that is the dear part. None if it is not there.
pub(crate) fn inside_real(dir: &Path, real_dir: Option<&Path>, path: &Path) -> Result<PathBuf, FileError> {
    let outside = || FileError::Outside { path: name(path) };
    let joined = dir.join(path);
    let rest = joined.strip_prefix(dir).map_err(|_| outside())?;
    if rest.components().any(|c| !matches!(c, Component::Normal(_) | Component::CurDir)) {
        return Err(outside());
    }
    let Some(real_dir) = real_dir else { return Ok(joined) };
    for ancestor in joined.ancestors().take_while(|a| a.starts_with(dir)) {
        match ancestor.canonicalize() {
            Ok(real) if real.starts_with(real_dir) => return Ok(joined),
            Ok(_) => return Err(outside()),
            // A link whose target does not exist yet could be written through later.
            Err(_) if ancestor.is_symlink() => return Err(outside()),
            Err(_) => {}
        }
    }
    Ok(joined)
}

/// A path that somebody typed, relative to where they stand: if by its name it is a file of the project, it must be one
/// after links, too. What came with a repository may be called `paper.md` and lead to a key.
pub fn not_led_out(project: &Path, path: &Path) -> Result<(), FileError> {
    if path.is_absolute() {
        return Ok(());
    }
    let (Ok(named), Ok(real_project)) = (std::path::absolute(path), project.canonicalize()) else {
        return Ok(());
    };
    let mut plain = PathBuf::new();
    for part in named.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    if !plain.starts_with(project) && !plain.starts_with(&real_project) {
        return Ok(());
    }
    let real = crate::landing::real(&named);
    if real.starts_with(&real_project) {
        return Ok(());
    }
    Err(FileError::LeadsOut { path: name(path), target: name(&real) })
}

/// A file of the project that lies in it after links, too.
pub(crate) fn stays_inside(project: &Path, path: &Path) -> Result<(), FileError> {
    let real = crate::landing::real(path);
    if project.canonicalize().is_ok_and(|project| !real.starts_with(project)) {
        return Err(FileError::LeadsOut { path: name(path), target: name(&real) });
    }
    Ok(())
}

fn name(path: &Path) -> String {
    crate::place::visible(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn too_large_missing_and_foreign_files_are_told_apart() {
        let tmp = tempfile::tempdir().unwrap();
        let file = tmp.path().join("r.md");
        fs::write(&file, "12345").unwrap();
        assert_eq!(read_text_up_to(&file, 5).unwrap(), "12345");
        assert!(matches!(read_text_up_to(&file, 4), Err(FileError::TooLarge { most: 4, .. })));
        assert!(matches!(read_text(&tmp.path().join("none")), Err(FileError::Missing { .. })));
        assert!(matches!(read_text(tmp.path()), Err(FileError::NotAFile { .. })));
        fs::write(&file, [0xff, 0xfe]).unwrap();
        assert!(matches!(read_text(&file), Err(FileError::NotText { .. })));
    }

    #[test]
    fn paths_that_leave_the_project_are_refused() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().join("project");
        fs::create_dir_all(dir.join("sub")).unwrap();
        fs::write(tmp.path().join("secret"), "x").unwrap();
        for bad in ["../secret", "sub/../../secret", "/etc/passwd"] {
            assert!(matches!(inside(&dir, Path::new(bad)), Err(FileError::Outside { .. })), "{bad}");
        }
        assert_eq!(inside(&dir, Path::new("./sub/new.md")).unwrap(), dir.join("./sub/new.md"));
    }

    #[cfg(unix)]
    #[test]
    fn links_that_leave_the_project_are_refused() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().join("project");
        fs::create_dir_all(dir.join("real")).unwrap();
        fs::write(tmp.path().join("secret"), "x").unwrap();
        let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, dir.join(name)).unwrap();
        link(&tmp.path().join("secret"), "notes.md");
        link(tmp.path(), "up");
        link(&tmp.path().join("not-yet"), "dangling");
        link(&dir.join("real"), "alias");
        for bad in ["notes.md", "up/secret", "up/new", "dangling"] {
            assert!(matches!(inside(&dir, Path::new(bad)), Err(FileError::Outside { .. })), "{bad}");
        }
        assert!(inside(&dir, Path::new("alias/new.md")).is_ok());
    }
}
