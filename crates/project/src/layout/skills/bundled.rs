//! The files in a skill's folder, and which of them a path in SKILL.md means. A path that leaves the project means
//! none, and is refused.

use std::path::{Component, Path, PathBuf};

use gadfly_engine::pipeline::Pattern;

use super::SkillFolders;
use crate::file::{self, FileError};
use crate::layout::reading::LayoutReader;
use crate::place::{Problem, brief};

const DEEPEST: usize = 6;
const MOST_FILES: usize = 1_000;

/// Everything in a skill's folder besides SKILL.md and its gotchas.
pub(super) fn files(reader: &mut LayoutReader<'_>, folder: &Path, main: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in reader.entries_if_there(&folder) {
            let is_own = entry.path == main || (depth == 0 && entry.name.eq_ignore_ascii_case("gotchas.md"));
            let is_link = reader.root.join(&entry.path).is_symlink();
            // A folder behind a link may lead in a circle.
            if entry.is_folder && depth < DEEPEST && !is_link {
                folders.push((entry.path, depth + 1));
            } else if !entry.is_folder && !is_own && reader.is_file(&entry.path) {
                found.push(entry.path);
            }
            if found.len() >= MOST_FILES {
                let shown = brief(&folder.display().to_string());
                let message =
                    format!("`{shown}` holds more than {MOST_FILES} files; the rest was passed over");
                reader.problems.push(Problem::warning(message));
                found.sort();
                return found;
            }
        }
    }
    found.sort();
    found
}

/// What paths of one SKILL.md are looked up in.
pub(super) struct Bundle<'a> {
    pub shelf: &'a SkillFolders<'a>,
    pub folder: &'a Path,
    pub files: &'a [PathBuf],
}

pub(super) enum Meaning {
    /// No file of the skill's or the project's instructions: an artifact, a word.
    Nothing,
    Files(Vec<PathBuf>),
    /// A file that lies outside the project. If it is sure that it is meant to be read, that is an error.
    Outside {
        is_sure: bool,
    },
}

impl Bundle<'_> {
    /// A path is tried from the skill's folder, then from the folder of all skills, then from the root.
    pub fn meaning(&self, root: &Path, written: &str) -> Meaning {
        let path = Path::new(written);
        if path.is_absolute() || written.starts_with("~/") {
            // A command (`/review`), an example or a device is no fault; nor is `/usr/bin/env` meant to be handed to anybody.
            let is_meant = path.extension().is_some() && path.is_file();
            return if is_meant { Meaning::Outside { is_sure: false } } else { Meaning::Nothing };
        }
        if written.contains('*') {
            return self.globbed(written);
        }
        let bases = [self.folder, self.shelf.folder, Path::new("")];
        let mut leads_to_file = false;
        for base in bases {
            let Some(inner) = normal(&base.join(path)) else {
                leads_to_file |= root.join(base).join(path).is_file();
                continue;
            };
            match file::inside(root, &inner) {
                Err(FileError::Outside { .. }) => return Meaning::Outside { is_sure: true },
                Ok(whole) if whole.is_file() && self.is_instruction(&inner) => {
                    return Meaning::Files(vec![inner]);
                }
                _ => {}
            }
        }
        // From the skill's own folder the way out is longest: if even that leaves, nothing inside was meant.
        let leaves_anyway = normal(&self.folder.join(path)).is_none();
        if leads_to_file || leaves_anyway { Meaning::Outside { is_sure: true } } else { Meaning::Nothing }
    }

    fn globbed(&self, written: &str) -> Meaning {
        let within = self.folder.join(written);
        let pattern = Pattern::new(&within.to_string_lossy());
        let matcher = pattern.matcher();
        let matching = self.files.iter().filter(|file| matcher.matches(&file.to_string_lossy()));
        let files: Vec<PathBuf> = matching.cloned().collect();
        if files.is_empty() { Meaning::Nothing } else { Meaning::Files(files) }
    }

    /// Files that instruct, as opposed to the work itself, which SKILL.md speaks of all the time.
    fn is_instruction(&self, path: &Path) -> bool {
        let is_home = !self.shelf.home.as_os_str().is_empty() && path.starts_with(self.shelf.home);
        is_home
            || path.starts_with(self.shelf.folder)
            || path.starts_with("templates")
            || path.starts_with("references")
    }
}

/// Without `.` and `..`; none if it leads above where it begins.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => clean.push(part),
            Component::CurDir => {}
            Component::ParentDir => {
                if !clean.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(clean)
}
