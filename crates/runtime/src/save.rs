//! Writes a run's draft to the user's file: atomically, and never over something that changed meanwhile.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use gadfly_engine::effect::Save;
use gadfly_engine::{CallFailure, Digest, FailureKind, Reply, Usage};

/// Performs a save. Doing it twice is doing it once.
pub fn perform(save: &Save, content: &str) -> Reply {
    let target = Path::new(&save.target.path);
    let result = if save.approved { accept(save, target, content) } else { put_beside(target, content) };
    match result {
        Ok(reply) => reply,
        Err(error) => Reply::Failed(CallFailure {
            kind: FailureKind::Misconfigured,
            message: format!("{} cannot be written: {error}", target.display()),
            usage: Usage::default(),
        }),
    }
}

fn accept(save: &Save, target: &Path, content: &str) -> io::Result<Reply> {
    let now = digest_of(target)?;
    let saved = Reply::Saved { path: save.target.path.clone() };
    if now == Some(save.content) {
        return Ok(saved);
    }
    if now != save.target.before {
        let message = format!(
            "{} changed since the run began, so it was left alone; put your version aside and resume, \
             or take the approved draft with `gadfly show RUN --draft`",
            target.display()
        );
        return Ok(Reply::Conflict { message });
    }
    write_atomically(target, content.as_bytes())?;
    Ok(saved)
}

fn put_beside(target: &Path, content: &str) -> io::Result<Reply> {
    let path = unapproved_path(target);
    write_atomically(&path, content.as_bytes())?;
    Ok(Reply::Saved { path: path.to_string_lossy().into_owned() })
}

/// `paper.md` → `paper.md.unapproved`.
pub fn unapproved_path(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".unapproved");
    PathBuf::from(name)
}

pub fn digest_of(path: &Path) -> io::Result<Option<Digest>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(Digest::of(&bytes))),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// A new file beside the target takes its place in one step; the target's permissions are kept, and a
/// symbolic link is followed to the file it names.
pub fn write_atomically(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
    let dir = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let temp = dir.join(format!(".{name}.gadfly-{}", std::process::id()));
    let result = (|| {
        let mut file = File::create(&temp)?;
        file.write_all(bytes)?;
        if let Ok(meta) = fs::metadata(&target) {
            file.set_permissions(meta.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&temp, &target)?;
        File::open(dir)?.sync_all()
    })();
    if result.is_err() {
        let _ = fs::remove_file(&temp);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use gadfly_engine::Target;

    fn save(path: &Path, before: Option<&str>, content: &str, approved: bool) -> Save {
        let target = Target {
            path: path.to_string_lossy().into_owned(),
            before: before.map(|b| Digest::of(b.as_bytes())),
        };
        Save { target, content: Digest::of(content.as_bytes()), approved }
    }

    #[test]
    fn an_approved_draft_replaces_exactly_the_file_the_run_began_with() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        fs::write(&path, "old").unwrap();
        let reply = perform(&save(&path, Some("old"), "new", true), "new");
        assert!(matches!(reply, Reply::Saved { .. }), "{reply:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        // Repeated after a crash: still fine.
        let again = perform(&save(&path, Some("old"), "new", true), "new");
        assert!(matches!(again, Reply::Saved { .. }), "{again:?}");
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        fs::write(&path, "the user's own edit").unwrap();
        let reply = perform(&save(&path, Some("old"), "new", true), "new");
        assert!(matches!(reply, Reply::Conflict { .. }), "{reply:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "the user's own edit");
        // Sabotage: bound to the digest it finds, the guard lets the write through.
        let unguarded = perform(&save(&path, Some("the user's own edit"), "new", true), "new");
        assert!(matches!(unguarded, Reply::Saved { .. }));
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn an_unapproved_draft_goes_beside_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        fs::write(&path, "old").unwrap();
        perform(&save(&path, Some("old"), "not good", false), "not good");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_to_string(dir.path().join("a.md.unapproved")).unwrap(), "not good");
    }

    #[test]
    fn a_missing_folder_is_a_clear_failure() {
        let dir = tempfile::tempdir().unwrap();
        let reply = perform(&save(&dir.path().join("no/such/a.md"), None, "x", true), "x");
        let Reply::Failed(failure) = reply else { panic!("{reply:?}") };
        assert!(failure.message.contains("cannot be written"), "{failure}");
    }
}
