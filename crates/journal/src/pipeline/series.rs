//! Files of one day that several runs write: each run finds its own again by a mark inside it, and takes a free name
//! the first time. What carries another mark, or none, is never touched.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::shared_file::SharedFileError;

const LONGEST_SERIES: u32 = 1000;
/// A mark stands at the beginning.
const HEAD: u64 = 4096;

/// `STEM.md`, `STEM-2.md`…: the one with this mark, else the first that is not there.
pub fn own_file(folder: &Path, stem: &str, mark: &str) -> Result<PathBuf, SharedFileError> {
    for n in 1..=LONGEST_SERIES {
        let more = if n == 1 { String::new() } else { format!("-{n}") };
        let path = folder.join(format!("{stem}{more}.md"));
        match head(&path) {
            Ok(None) => return Ok(path),
            Ok(Some(head)) if head.lines().any(|line| line.trim_end() == mark) => return Ok(path),
            Ok(Some(_)) => {}
            Err(source) => return Err(SharedFileError::Io { path, source }),
        }
    }
    let source = io::Error::new(io::ErrorKind::AlreadyExists, "there are too many files of this day");
    Err(SharedFileError::Io { path: folder.join(stem), source })
}

fn head(path: &Path) -> io::Result<Option<String>> {
    // A link that leads nowhere is something that is there.
    if path.symlink_metadata().is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
        return Ok(None);
    }
    if !path.metadata().is_ok_and(|found| found.is_file()) {
        return Ok(Some(String::new()));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut bytes)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
