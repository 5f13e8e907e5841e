//! Where the approved draft of a phase goes: as the phase's pages say, else where neuroflow puts it.

use std::path::{Component, Path, PathBuf};

use gadfly_project::file;
use gadfly_project::place::{Problem, Sourced, brief, option};

use super::FOLDER;
use super::page::Page;

/// Where neuroflow puts what no page says anything about.
const USUAL: [(&str, &str); 6] = [
    ("experiment", "paradigm/"),
    ("tool-build", "tools/"),
    ("tool-validate", "tools/"),
    ("data-preprocess", "scripts/preprocessing/"),
    ("data-analyze", "scripts/analysis/"),
    ("paper", "manuscript/"),
];
/// Phases whose results stay with their notes.
const INSIDE: [&str; 2] = ["review", "grant-proposal"];

/// `pages` come with the one that counts most first.
pub(super) fn of(
    root: &Path,
    phase: &str,
    pages: [Option<&Page>; 3],
    notes: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) -> Option<PathBuf> {
    let said = pages.into_iter().flatten().find_map(|page| {
        page.values("output_path").into_iter().next().or_else(|| page.cell("output paths", phase))
    });
    let Some(said) = said else {
        let usual = USUAL.iter().find(|(p, _)| *p == phase).map(|(_, path)| root.join(path));
        return usual.or_else(|| INSIDE.contains(&phase).then(|| root.join(FOLDER).join(phase)));
    };
    match resolved(root, &said) {
        Ok(path) => {
            let from = said.place.as_ref().map(|p| format!(", by {}:{}", p.file.display(), p.line));
            notes.push(format!("the approved draft goes to {}{}", said.value, from.unwrap_or_default()));
            Some(path)
        }
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}

/// A path that begins with `..` is meant from `.neuroflow/`, any other from the project's root.
fn resolved(root: &Path, said: &Sourced<String>) -> Result<PathBuf, Problem> {
    let outside = || {
        Problem::error(format!("output_path `{}` leaves the project", brief(&said.value)))
            .help(format!("name a folder of the project, or give {}", option("out FILE")))
            .at(said.place.as_ref())
    };
    let path = Path::new(&said.value);
    let mut parts: Vec<&std::ffi::OsStr> = Vec::new();
    if path.components().next() == Some(Component::ParentDir) {
        parts.push(FOLDER.as_ref());
    }
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop().ok_or_else(outside)?;
            }
            Component::RootDir | Component::Prefix(_) => return Err(outside()),
        }
    }
    let inner: PathBuf = parts.into_iter().collect();
    file::inside(root, &inner).map_err(|_| outside())
}
