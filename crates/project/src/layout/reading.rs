//! Files and folders of a project, read within bounds: nothing outside the project, nothing hidden, nothing endless.
//! What cannot be read is among the problems and ends nothing.

use std::fs;
use std::path::{Path, PathBuf};

use crate::file::{self, FileError};
use crate::place::{Problem, brief};

/// All texts of a project together: a project of instructions is far smaller.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// More entries of one folder are not looked at.
const MOST_ENTRIES: usize = 10_000;

pub(super) struct LayoutReader<'a> {
    pub root: &'a Path,
    pub problems: Vec<Problem>,
    real_root: Option<PathBuf>,
    left: usize,
}

pub(super) struct LayoutEntry {
    pub name: String,
    /// From the root.
    pub path: PathBuf,
    pub is_folder: bool,
}

impl<'a> LayoutReader<'a> {
    pub fn new(root: &'a Path) -> Self {
        Self { root, problems: Vec::new(), real_root: root.canonicalize().ok(), left: MOST_BYTES }
    }

    fn inside(&self, path: &Path) -> Result<PathBuf, FileError> {
        file::inside_real(self.root, self.real_root.as_deref(), path)
    }

    /// The text of a file, if it is there.
    pub fn text_if_there(&mut self, path: &Path) -> Option<String> {
        self.text(path, |why| Problem::warning(format!("{why} and was passed over")))
    }

    /// As [`Self::text_if_there`]; if it is there and cannot be read, nothing can go on without it.
    pub fn needed_if_there(&mut self, path: &Path) -> Option<String> {
        self.text(path, Problem::error)
    }

    fn text(&mut self, path: &Path, unreadable: impl FnOnce(String) -> Problem) -> Option<String> {
        let read = self.inside(path).and_then(|whole| file::read_text(&whole));
        match read {
            Ok(text) if text.len() <= self.left => {
                self.left -= text.len();
                Some(text)
            }
            Ok(_) => {
                let shown = brief(&path.display().to_string());
                let message = format!("`{shown}` was not read: the project's texts are too large together");
                self.problems.push(Problem::error(message));
                None
            }
            Err(FileError::Missing { .. }) => None,
            Err(error @ FileError::Outside { .. }) => {
                self.problems.push(Problem::error(error.to_string()).help(LINKS));
                None
            }
            Err(error) => {
                self.problems.push(unreadable(relative(&error, path)));
                None
            }
        }
    }

    pub fn is_file(&self, path: &Path) -> bool {
        self.inside(path).is_ok_and(|whole| whole.is_file())
    }

    pub fn is_folder(&self, path: &Path) -> bool {
        self.inside(path).is_ok_and(|whole| whole.is_dir())
    }

    /// What a folder holds, by name, without what is hidden; nothing if it is not there.
    pub fn entries_if_there(&mut self, folder: &Path) -> Vec<LayoutEntry> {
        let whole = match self.inside(folder) {
            Ok(whole) => whole,
            Err(error) => {
                self.problems.push(Problem::error(error.to_string()).help(LINKS));
                return Vec::new();
            }
        };
        let Ok(listing) = fs::read_dir(whole) else { return Vec::new() };
        let mut entries = Vec::new();
        for (n, entry) in listing.flatten().enumerate() {
            let shown = brief(&folder.display().to_string());
            if n >= MOST_ENTRIES {
                let message =
                    format!("`{shown}` holds more than {MOST_ENTRIES} entries; the rest was passed over");
                self.problems.push(Problem::warning(message));
                break;
            }
            let Ok(name) = entry.file_name().into_string() else {
                let message = format!("`{shown}` holds a name that is not UTF-8; it was passed over");
                self.problems.push(Problem::warning(message));
                continue;
            };
            if name.starts_with('.') {
                continue;
            }
            let path = folder.join(&name);
            // A link that leads out is told when its text is wanted; what it leads to is not looked at here.
            let is_folder = match entry.file_type() {
                Ok(kind) if !kind.is_symlink() => kind.is_dir(),
                _ => self.inside(&path).is_ok_and(|whole| whole.is_dir()),
            };
            entries.push(LayoutEntry { name, path, is_folder });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        entries
    }
}

const LINKS: &str = "a project's own files may not lie elsewhere; copy it into the project";

/// The error with the path as it is seen from the root.
fn relative(error: &FileError, path: &Path) -> String {
    let shown = brief(&path.display().to_string());
    match error {
        FileError::NotAFile { .. } => format!("`{shown}` is not a regular file"),
        FileError::TooLarge { most, .. } => format!("`{shown}` is larger than {most} bytes"),
        FileError::NotText { .. } => format!("`{shown}` is not UTF-8 text"),
        FileError::Io { source, .. } => format!("`{shown}` cannot be read: {source}"),
        FileError::Missing { .. } | FileError::Outside { .. } | FileError::LeadsOut { .. } => {
            error.to_string()
        }
    }
}
