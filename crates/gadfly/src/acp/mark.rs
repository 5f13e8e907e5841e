//! The mark of a turn under way: a file of the user's own that is there from the prompt until the turn was answered. One
//! that is found when a session is taken up again tells of a turn that was cut off and never judged, also where the crash
//! came before the first record of a run.

use std::path::{Path, PathBuf};

use gadfly_runtime::user_dirs::UserDirs;

/// None: there is no place for it, and nothing is marked.
pub struct TurnMark(Option<PathBuf>);

impl TurnMark {
    pub fn of(session: &str, folder: &Path) -> Self {
        Self::below(UserDirs::from_env().state.as_deref(), session, folder)
    }

    fn below(state: Option<&Path>, session: &str, folder: &Path) -> Self {
        let mut key = blake3::Hasher::new();
        // The length keeps the two apart.
        key.update(&session.len().to_le_bytes()).update(session.as_bytes());
        key.update(folder.as_os_str().as_encoded_bytes());
        let name = key.finalize().to_hex();
        Self(state.map(|state| state.join("acp-turns").join(name.as_str())))
    }

    pub fn set(&self) -> std::io::Result<()> {
        let Some(path) = &self.0 else { return Ok(()) };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::File::create(path)?.sync_all()
    }

    /// Whether it was there.
    pub fn lift(&self) -> bool {
        self.0.as_ref().is_some_and(|path| std::fs::remove_file(path).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_of_one_session_in_one_folder_and_is_found_once() {
        let state = tempfile::tempdir().unwrap();
        let mark = |session, folder| TurnMark::below(Some(state.path()), session, Path::new(folder));
        mark("../s", "/p").set().unwrap();
        assert!(!mark("../s", "/q").lift() && !mark("../s/", "p").lift());
        assert!(mark("../s", "/p").lift() && !mark("../s", "/p").lift());
        let nowhere = TurnMark::below(None, "s", Path::new("/p"));
        assert!(nowhere.set().is_ok() && !nowhere.lift());
    }
}
