//! Writes a run's draft to the user's file: atomically, and never over something that changed meanwhile.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use gadfly_engine::effect::Save;
use gadfly_engine::{CallFailure, Digest, FailureKind, Reply, Usage};
use gadfly_project::{Problem, landing};

use crate::workspace::Checkout;

/// More than any draft or any file a run can begin with.
const LARGEST: u64 = 64 << 20;

/// As many as the kernel follows.
const MOST_LINKS: u32 = 40;

/// Performs a save. Doing it twice is doing it once.
pub fn perform(save: &Save, content: &str) -> Reply {
    let target = Path::new(&save.target.path);
    // A run may come from somebody else, and what a path leads to may have changed since it began.
    if landing::is_git(target) {
        let Problem { message, .. } = in_git(target);
        let (kind, usage) = (FailureKind::Misconfigured, Usage::default());
        return Reply::Failed(CallFailure { kind, message, usage });
    }
    let result = if save.approved { accept(save, target, content) } else { put_beside(target, content) };
    match result {
        Ok(reply) => reply,
        Err(error) => Reply::Failed(CallFailure {
            kind: FailureKind::Misconfigured,
            message: format!(
                "{} cannot be written: {error}; make it writable and resume, or take the draft with \
                 `gadfly show RUN --draft`",
                target.display()
            ),
            usage: Usage::default(),
        }),
    }
}

/// Why a result does not go there: git runs what stands in its own folder.
pub fn in_git(target: &Path) -> Problem {
    let real = landing::real(target);
    let leads = if real == target { String::new() } else { format!(", which leads to {},", real.display()) };
    let message = format!(
        "the output {}{leads} lies in git's own folder, and nothing is written there: git runs what it says",
        target.display()
    );
    Problem::error(message).help("name a file outside of .git")
}

fn accept(save: &Save, target: &Path, content: &str) -> io::Result<Reply> {
    sweep_beside(target);
    let now = digest_of(target)?;
    let saved = Reply::Saved { path: save.target.path.clone() };
    if now == Some(save.content) {
        return Ok(saved);
    }
    // Where nothing is, nothing can be lost: the user moved it away, perhaps because we asked for it.
    if now.is_some() && now != save.target.before {
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
    // Nobody chose this name, so a link that waits under it leads nowhere anybody wanted: it is replaced.
    replace(&path, content.as_bytes())?;
    Ok(Reply::Saved { path: path.to_string_lossy().into_owned() })
}

/// `paper.md` → `paper.md.unapproved`.
pub fn unapproved_path(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".unapproved");
    PathBuf::from(name)
}

/// None if there is no such file. What a run cannot have begun with, a pipe or something huge, is not read.
pub(crate) fn digest_of(path: &Path) -> io::Result<Option<Digest>> {
    match fs::metadata(path) {
        Ok(meta) if !meta.is_file() => return Err(io::Error::other("it is not a regular file any more")),
        Ok(_) => {}
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other(format!("it has grown over {LARGEST} bytes since the run began")));
    }
    Ok(Some(Digest::of(&bytes)))
}

/// A new file beside the target takes its place in one step; the target's permissions are kept, and a
/// symbolic link is followed to the file it names.
pub fn write_atomically(target: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(&followed(target)?, bytes)
}

/// As `write_atomically`, without following a link.
fn replace(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    // Random and new: two saves at once never share it, and nobody can put a link there beforehand.
    let temp = dir.join(format!(".gadfly-{:016x}", u64::from_le_bytes(random)));
    let mut file = File::create_new(&temp)?;
    // An acceptance at the same time sweeps away what nobody holds.
    let _ = file.try_lock();
    let result = (|| {
        file.write_all(bytes)?;
        if let Some(meta) = fs::symlink_metadata(target).ok().filter(fs::Metadata::is_file) {
            file.set_permissions(meta.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&temp, target)?;
        File::open(dir)?.sync_all()
    })();
    if result.is_err() {
        let _ = fs::remove_file(&temp);
    }
    result
}

/// Removes what a process that was killed left of its unfinished writes beside a file.
pub(crate) fn sweep_beside(target: &Path) {
    let Ok(target) = followed(target) else { return };
    let dir = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let (Ok(checkout), Some(name)) = (Checkout::open(dir), target.file_name().and_then(|n| n.to_str())) {
        checkout.sweep(std::iter::once(name));
    }
}

/// The file a path stands for, also through links whose last target does not exist yet.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gadfly_engine::Target;

    #[test]
    fn a_link_stays_a_link_whether_its_file_exists_or_not() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real.md"), dir.path().join("link.md"));
        std::os::unix::fs::symlink("real.md", &link).unwrap();
        for content in ["new", "newer"] {
            let before = fs::read_to_string(&real).ok();
            let reply = perform(&save(&link, before.as_deref(), content, true), content);
            assert!(matches!(reply, Reply::Saved { .. }), "{reply:?}");
            assert!(link.is_symlink(), "the link was replaced");
            assert_eq!(fs::read_to_string(&real).unwrap(), content);
        }
    }

    #[test]
    fn links_that_go_round_in_a_circle_are_a_failure() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("b", dir.path().join("a")).unwrap();
        std::os::unix::fs::symlink("a", dir.path().join("b")).unwrap();
        let reply = perform(&save(&dir.path().join("a"), None, "x", true), "x");
        assert!(matches!(reply, Reply::Failed(_)), "{reply:?}");
    }

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
        // Put aside, as the message says, it is in nobody's way.
        let aside = dir.path().join("mine.md");
        fs::rename(&path, &aside).unwrap();
        let reply = perform(&save(&path, Some("old"), "new", true), "new");
        assert!(matches!(reply, Reply::Saved { .. }), "{reply:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        fs::rename(&aside, &path).unwrap();
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

    #[cfg(unix)]
    #[test]
    fn a_link_that_waits_beside_the_file_is_not_written_through() {
        let dir = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (dir.path().join("a.md"), dir.path().join("elsewhere"));
        fs::write(&elsewhere, "precious").unwrap();
        std::os::unix::fs::symlink(&elsewhere, dir.path().join("a.md.unapproved")).unwrap();
        perform(&save(&path, None, "not good", false), "not good");
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
        assert_eq!(fs::read_to_string(dir.path().join("a.md.unapproved")).unwrap(), "not good");
        // Sabotage: the way that follows links, which is right for a file the user named, goes through it.
        std::os::unix::fs::symlink(&elsewhere, dir.path().join("linked")).unwrap();
        write_atomically(&dir.path().join("linked"), b"gone").unwrap();
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "gone");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_the_files_place_is_a_failure_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
            .unwrap();
        let reply = perform(&save(&path, None, "x", true), "x");
        let Reply::Failed(failure) = reply else { panic!("{reply:?}") };
        assert!(failure.message.contains("not a regular file"), "{failure}");
    }

    #[test]
    fn saves_at_once_leave_one_whole_file_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        let texts = ["a", "b", "c", "d"].map(|c| c.repeat(100_000));
        std::thread::scope(|s| {
            for text in &texts {
                s.spawn(|| (0..20).for_each(|_| write_atomically(&path, text.as_bytes()).unwrap()));
            }
        });
        assert!(texts.contains(&fs::read_to_string(&path).unwrap()));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_a_clear_failure() {
        let dir = tempfile::tempdir().unwrap();
        let reply = perform(&save(&dir.path().join("no/such/a.md"), None, "x", true), "x");
        let Reply::Failed(failure) = reply else { panic!("{reply:?}") };
        assert!(failure.message.contains("cannot be written"), "{failure}");
    }
}
