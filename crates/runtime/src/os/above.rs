//! What lies above a command's folder and is none of its business is not there for it: tools climb from the folder they are
//! in and take the first `Cargo.toml`, `package.json` or `.git` they see for theirs. Landlock keeps them from opening it,
//! not from seeing it, and a tool that sees what it may not open gives up.
//!
//! So in rooms of its own an empty folder is mounted over the topmost folder above, and what the command may use is put back
//! into it at the same paths. Nothing is taken away that the sandbox would let it touch.

use std::path::Path;

/// Empties the topmost folder above `cwd`, but for `granted` and for `home`, which is an empty folder unless it is granted.
/// This process must have mounts of its own. The error says what the system did not allow.
pub(super) fn hide(cwd: &Path, home: Option<&Path>, granted: &[std::path::PathBuf]) -> Result<(), String> {
    imp::hide(cwd, home, granted)
}

#[cfg(not(target_os = "linux"))]
mod imp {
    pub fn hide(
        _: &std::path::Path,
        _: Option<&std::path::Path>,
        _: &[std::path::PathBuf],
    ) -> Result<(), String> {
        Ok(())
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use std::fs::{self, DirBuilder, File};
    use std::os::fd::{AsRawFd as _, OwnedFd};
    use std::os::unix::fs::DirBuilderExt as _;
    use std::path::{Component, Path, PathBuf};

    use rustix::fs::{Mode, OFlags, open};
    use rustix::mount::{MountFlags, mount, mount_bind_recursive};

    /// These are made by the kernel: no project lies in them.
    const KERNELS: [&str; 3] = ["/dev", "/proc", "/sys"];

    pub fn hide(cwd: &Path, home: Option<&Path>, granted: &[PathBuf]) -> Result<(), String> {
        let Some((above, kept)) = plan(cwd, granted) else { return Ok(()) };
        // Opened before they are covered. What cannot be opened is of no use to the command either.
        let kept: Vec<(PathBuf, bool, OwnedFd)> = kept
            .into_iter()
            .filter_map(|path| {
                let opened = open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
                Some((path.clone(), path.is_dir(), opened))
            })
            .collect();
        let failed = |path: &Path, why: &dyn std::fmt::Display| {
            format!("an empty folder above its own, {}: {why}", path.display())
        };
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("tmpfs", &above, "tmpfs", flags, Some(c"mode=0755")).map_err(|e| failed(&above, &e))?;
        let folder = |path: &Path| DirBuilder::new().recursive(true).mode(0o755).create(path);
        for (path, is_dir, opened) in kept {
            let parent = path.parent().unwrap_or(&above);
            let made = folder(if is_dir { &path } else { parent })
                .and_then(|()| if is_dir { Ok(()) } else { File::create(&path).map(drop) });
            made.map_err(|e| failed(&path, &e))?;
            let source = format!("/proc/self/fd/{}", opened.as_raw_fd());
            mount_bind_recursive(source, &path).map_err(|e| failed(&path, &e))?;
        }
        if let Some(home) = home.filter(|home| home.starts_with(&above) && !home.exists()) {
            folder(home).map_err(|e| failed(home, &e))?;
        }
        Ok(())
    }

    /// The folder to be emptied and what is put back into it, no path below another. None where nothing is to be hidden.
    fn plan(cwd: &Path, granted: &[PathBuf]) -> Option<(PathBuf, Vec<PathBuf>)> {
        let cwd = cwd.canonicalize().ok()?;
        let mut parts = cwd.components().filter(|part| matches!(part, Component::Normal(_)));
        let above = Path::new("/").join(parts.next()?);
        let real = granted.iter().filter_map(|path| path.canonicalize().ok());
        let mut kept: Vec<PathBuf> =
            granted.iter().filter(|path| fs::metadata(path).is_ok()).cloned().chain(real).collect();
        let is_needed = kept.iter().any(|granted| above.starts_with(granted));
        if is_needed || KERNELS.iter().any(|own| above == Path::new(own)) {
            return None;
        }
        kept.retain(|path| path.starts_with(&above));
        kept.sort();
        kept.dedup_by(|path, before| path.starts_with(&*before));
        Some((above, kept))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_topmost_folder_above_is_emptied_and_what_may_be_used_is_put_back() {
            let dir = tempfile::tempdir().unwrap();
            let top = dir.path().canonicalize().unwrap();
            let [work, tool, link] = ["a/work", "tool", "link"].map(|name| top.join(name));
            fs::create_dir_all(&work).unwrap();
            fs::create_dir_all(tool.join("bin")).unwrap();
            std::os::unix::fs::symlink(&tool, &link).unwrap();
            let granted =
                [PathBuf::from("/usr"), tool.join("bin"), work.clone(), link.clone(), top.join("none")];
            let (above, kept) = plan(&work, &granted).unwrap();
            assert_eq!(above, Path::new("/").join(top.components().nth(1).unwrap()));
            assert_eq!(kept, [work.clone(), link, tool]);
            assert_eq!(plan(&work, &[above]), None, "all of it may be used");
            assert_eq!(plan(Path::new("/"), &granted), None);
            assert_eq!(plan(Path::new("/proc/self"), &granted), None);
        }
    }
}
