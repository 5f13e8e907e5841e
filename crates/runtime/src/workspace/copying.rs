//! Copies of folders that stand in for the original: contents, permissions, links and times, so that build tools find
//! nothing new in them, and never a hard link: whoever gets a copy may overwrite every byte of it.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::io;
use std::path::Path;

use super::dependencies::VENV;

/// A script longer than this is a program of another kind.
const LONGEST_SCRIPT: u64 = 1 << 20;

/// Copies a file, a link or a folder with everything in it whose name counts; into folders that are there already too.
pub(super) fn copy(from: &Path, to: &Path, counts: &dyn Fn(&OsStr) -> bool) -> io::Result<()> {
    let mut waiting = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = waiting.pop() {
        let meta = fs::symlink_metadata(&from)?;
        if meta.is_symlink() {
            let _ = fs::remove_file(&to);
            std::os::unix::fs::symlink(fs::read_link(&from)?, &to)?;
        } else if meta.is_dir() {
            fs::create_dir_all(&to)?;
            for entry in fs::read_dir(&from)? {
                let entry = entry?;
                if counts(&entry.file_name()) {
                    waiting.push((entry.path(), to.join(entry.file_name())));
                }
            }
        } else if meta.is_file() {
            fs::copy(&from, &to)?;
            if let Ok(modified) = meta.modified() {
                // A file that only its owner may not write cannot be opened for it; its time is of less weight.
                if let Ok(file) = File::options().write(true).open(&to) {
                    file.set_times(FileTimes::new().set_modified(modified))?;
                }
            }
        }
        // Anything else (a pipe, a socket) has no content to copy.
    }
    Ok(())
}

/// A virtual environment of Python names the folder it was made in: its scripts begin with the path of its interpreter,
/// and packages under development are found by theirs. In a copy they must lead to the copy.
pub(super) fn at_home(venv: &Path, was: &Path, is: &Path) -> io::Result<()> {
    if !venv.join(VENV).is_file() {
        return Ok(());
    }
    let (was, is) = (was.as_os_str().as_encoded_bytes(), is.as_os_str().as_encoded_bytes());
    rewrite(&venv.join(VENV), was, is)?;
    let scripts = ["bin", "Scripts"].map(|name| venv.join(name));
    for script in scripts.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten()) {
        rewrite(&script.path(), was, is)?;
    }
    let versions = ["lib", "lib64"].map(|name| venv.join(name));
    // The second is often a link to the first.
    let versions = versions.iter().filter(|folder| !folder.is_symlink());
    for version in versions.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten()) {
        for package in fs::read_dir(version.path().join("site-packages")).into_iter().flatten().flatten() {
            let name = package.file_name();
            let name = name.to_string_lossy();
            if name.ends_with(".pth") || name.ends_with(".egg-link") || name.starts_with("__editable__") {
                rewrite(&package.path(), was, is)?;
            } else if name.ends_with(".dist-info") {
                rewrite(&package.path().join("direct_url.json"), was, is)?;
            }
        }
    }
    Ok(())
}

/// Puts one path in the place of another, where it stands whole, in a small file of text.
fn rewrite(path: &Path, was: &[u8], is: &[u8]) -> io::Result<()> {
    let Ok(meta) = fs::symlink_metadata(path) else { return Ok(()) };
    if !meta.is_file() || meta.len() > LONGEST_SCRIPT {
        return Ok(());
    }
    let old = fs::read(path)?;
    if old.contains(&0) {
        return Ok(());
    }
    let ends = |next: Option<&u8>| next.is_none_or(|b| !b.is_ascii_alphanumeric() && !b"-_.~".contains(b));
    let mut new = Vec::with_capacity(old.len());
    let mut rest = old.as_slice();
    while let Some(first) = rest.first() {
        if let Some(after) = rest.strip_prefix(was).filter(|after| ends(after.first())) {
            new.extend_from_slice(is);
            rest = after;
        } else {
            new.push(*first);
            rest = &rest[1..];
        }
    }
    if new == old { Ok(()) } else { fs::write(path, new) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn a_copy_has_contents_links_and_times_and_shares_no_byte() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        fs::create_dir_all(from.join("a/.git")).unwrap();
        fs::write(from.join("a/f"), "x").unwrap();
        let then = UNIX_EPOCH + Duration::from_secs(1_000_000);
        File::options()
            .write(true)
            .open(from.join("a/f"))
            .unwrap()
            .set_times(FileTimes::new().set_modified(then))
            .unwrap();
        std::os::unix::fs::symlink("a/f", from.join("link")).unwrap();
        copy(&from, &to, &|name| name != ".git").unwrap();
        assert_eq!(fs::read_to_string(to.join("link")).unwrap(), "x");
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("a/f"));
        let meta = fs::metadata(to.join("a/f")).unwrap();
        assert_eq!((meta.modified().unwrap(), meta.nlink()), (then, 1));
        assert!(!to.join("a/.git").exists());
    }

    #[test]
    fn an_environment_of_python_leads_to_its_own_folder() {
        let dir = tempfile::tempdir().unwrap();
        let venv = dir.path().join("new/.venv");
        let packages = venv.join("lib/python3.12/site-packages");
        fs::create_dir_all(venv.join("bin")).unwrap();
        fs::create_dir_all(&packages).unwrap();
        fs::write(venv.join(VENV), "home = /usr/bin\n").unwrap();
        fs::write(venv.join("bin/pytest"), "#!/old/.venv/bin/python\nother = '/old2/x'\n").unwrap();
        fs::write(venv.join("bin/program"), b"\x7fELF\0/old/.venv").unwrap();
        fs::write(packages.join("here.pth"), "/old/src\n/old\n").unwrap();
        at_home(&venv, Path::new("/old"), &dir.path().join("new")).unwrap();
        let new = dir.path().join("new");
        let new = new.display();
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        let script = read(&venv.join("bin/pytest"));
        assert_eq!(script, format!("#!{new}/.venv/bin/python\nother = '/old2/x'\n"));
        assert_eq!(read(&packages.join("here.pth")), format!("{new}/src\n{new}\n"));
        assert_eq!(fs::read(venv.join("bin/program")).unwrap(), b"\x7fELF\0/old/.venv");
    }
}
