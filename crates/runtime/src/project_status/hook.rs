//! A gate as the pre-commit hook of the user's repository. A hook that somebody else wrote stays as it is.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::ProjectStatusError;
use crate::save::write_atomically;
use crate::setup::Setup;
use crate::workspace::WorkspaceError;

/// The second line of a hook of ours.
const MARK: &str = "# A gate of Gadfly: `gadfly gate --install` wrote this file and may replace it.";
/// Longer than any hook of ours.
const LARGEST: u64 = 64 << 10;

#[derive(Debug, thiserror::Error)]
pub enum HookError {
    #[error("{} is somebody else's hook and was left as it is. To have the gate asked, add this line to it:\n  {line}", path.display())]
    Foreign { path: PathBuf, line: String },
    #[error("{} cannot be written: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Git(#[from] WorkspaceError),
    #[error(transparent)]
    Situation(#[from] ProjectStatusError),
    #[error("{} is no path a hook could name", path.display())]
    NotText { path: PathBuf },
}

/// Where the hook is, and whether it was there before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hooked {
    pub path: PathBuf,
    pub was_there: bool,
}

impl Setup {
    /// Has git ask a gate before every commit. `program` is this program, `store` the place of its runs if it is
    /// not the project's own.
    pub async fn install_gate(
        &self,
        gate: &str,
        program: &Path,
        store: Option<&Path>,
    ) -> Result<Hooked, HookError> {
        let (top, folder) = self.asking_git()?.hooks_folder(&self.root.dir).await?;
        let text = script(gate, program, store, self.root.dir.strip_prefix(&top).ok())?;
        let path = folder.join("pre-commit");
        let fail = |source| HookError::Io { path: path.clone(), source };
        fs::create_dir_all(&folder).map_err(fail)?;
        match fs::symlink_metadata(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let new = File::options().write(true).create_new(true).mode(0o755).open(&path);
                new.and_then(|mut file| file.write_all(text.as_bytes())).map_err(fail)?;
                Ok(Hooked { path, was_there: false })
            }
            Ok(found) if found.is_file() && is_ours(&path) => {
                write_atomically(&path, text.as_bytes()).map_err(fail)?;
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(fail)?;
                Ok(Hooked { path, was_there: true })
            }
            Ok(_) => Err(HookError::Foreign { path, line: format!("gadfly gate {gate} --staged || exit 1") }),
            Err(source) => Err(fail(source)),
        }
    }
}

fn is_ours(path: &Path) -> bool {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(LARGEST).read_to_string(&mut text));
    read.is_ok() && text.lines().nth(1) == Some(MARK)
}

/// The program is named by where it is now; if it moved, the one in PATH is taken.
fn script(
    gate: &str,
    program: &Path,
    store: Option<&Path>,
    below: Option<&Path>,
) -> Result<String, HookError> {
    let quoted = |path: &Path| {
        let text = path.to_str().filter(|text| !text.contains(['\n', '\0']));
        let text = text.ok_or_else(|| HookError::NotText { path: path.to_owned() })?;
        Ok::<_, HookError>(shell_word(text))
    };
    let mut text = format!("#!/bin/sh\n{MARK}\n");
    if let Some(below) = below.filter(|below| !below.as_os_str().is_empty()) {
        let _ = writeln!(text, "cd {} || exit 1", quoted(below)?);
    }
    let _ = writeln!(text, "gadfly={}\n[ -x \"$gadfly\" ] || gadfly=gadfly", quoted(program)?);
    let store = store.map(|store| Ok::<_, HookError>(format!(" --store {}", quoted(store)?))).transpose()?;
    let (store, gate) = (store.unwrap_or_default(), shell_word(gate));
    let _ = writeln!(text, "exec \"$gadfly\"{store} gate {gate} --staged");
    Ok(text)
}

fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn no_name_breaks_out_of_the_script() {
        let odd = Path::new("/it's; rm -rf $HOME/gadfly");
        let text = script("pr", odd, Some(Path::new("/s t")), Some(Path::new("paper"))).unwrap();
        assert_eq!(
            text.lines().skip(2).collect::<Vec<_>>(),
            [
                "cd 'paper' || exit 1",
                r"gadfly='/it'\''s; rm -rf $HOME/gadfly'",
                "[ -x \"$gadfly\" ] || gadfly=gadfly",
                "exec \"$gadfly\" --store '/s t' gate 'pr' --staged",
            ]
        );
        assert!(script("pr", Path::new("/a\nrm"), None, None).is_err());
    }
}
