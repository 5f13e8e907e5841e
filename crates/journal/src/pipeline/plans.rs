//! Plans and lists of requirements as files of the project, with a line that says how far they are. Only that line is
//! changed later: people write into their plans.

use std::path::{Path, PathBuf};

use gadfly_engine::Outcome;

use super::ProjectView;
use super::series::own_file;
use super::text::{LocalZone, slug};
use crate::shared_file::{self, SharedFileError};
use crate::view::Drafted;

const STATUS: &str = "**Status:** ";

/// Where a plan is kept, under the state folder.
pub fn folder(drafted: &Drafted) -> &'static str {
    if drafted.spec { "specs" } else { "plans" }
}

/// Writes the plan, or brings the status of its file up to date. The file's path comes back.
pub fn write(
    dir: &Path,
    state: ProjectView<'_>,
    drafted: &Drafted,
    text: &str,
    zone: &LocalZone,
) -> Result<PathBuf, SharedFileError> {
    let mark = format!("<!-- gadfly: run {}, {} -->", state.run.summary.run, drafted.text.short());
    let folder = dir.join(folder(drafted));
    let stem = format!("{}_{}", zone.date(drafted.at_ms), slug(&state.run.summary.title));
    std::fs::create_dir_all(&folder)
        .map_err(|source| SharedFileError::Io { path: folder.clone(), source })?;
    let _lock = shared_file::lock(&folder)?;
    let path = own_file(&folder, &stem, &mark)?;
    let status = status(state, drafted);
    let current = shared_file::read(&path)?;
    let next = match &current {
        None => format!("{mark}\n{STATUS}{status}\n\n{}\n", text.trim_end()).into_bytes(),
        Some(bytes) => restated(bytes, &mark, status),
    };
    if current.as_ref() != Some(&next) {
        shared_file::replace(&path, &next)?;
    }
    Ok(path)
}

fn status(state: ProjectView<'_>, drafted: &Drafted) -> &'static str {
    let last = state.history.drafted.iter().rfind(|other| other.spec == drafted.spec);
    if last.is_some_and(|last| last.text != drafted.text) {
        return "SUPERSEDED";
    }
    // Requirements have no approval of their own.
    let approved = drafted.approved.is_some()
        || (drafted.spec && state.history.drafted.iter().any(|d| d.approved.is_some()));
    match state.run.outcome {
        Some(Outcome::Approved { .. }) if approved => "COMPLETED",
        _ if approved => "APPROVED",
        _ => "DRAFT",
    }
}

/// The same bytes with another status in the line after our mark.
fn restated(bytes: &[u8], mark: &str, status: &str) -> Vec<u8> {
    let mut next = Vec::with_capacity(bytes.len());
    let mut marked = false;
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let bare = line.trim_ascii_end();
        if marked && bare.starts_with(STATUS.as_bytes()) {
            next.extend_from_slice(STATUS.as_bytes());
            next.extend_from_slice(status.as_bytes());
            next.extend_from_slice(&line[bare.len()..]);
        } else {
            next.extend_from_slice(line);
        }
        marked = bare == mark.as_bytes();
    }
    next
}
