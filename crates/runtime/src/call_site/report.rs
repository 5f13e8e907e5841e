//! The file a reader was asked to write, read as something hostile: it may be a link, a pipe, or huge.

use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The most bytes a report may have.
pub const LARGEST_REPORT: u64 = 8 << 20;

/// The report's text; none if it was not written. `Err` says why what is there cannot be taken.
pub fn read(scratch: &Path, name: &str) -> Result<Option<String>, String> {
    if name.is_empty() || name.contains(['/', '\0']) || matches!(name, "." | "..") {
        return Err(format!("the report `{name}` is not the name of a file"));
    }
    let path = scratch.join(name);
    let bad = |why: &str| format!("the report `{name}` {why}");
    match fs::symlink_metadata(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(bad(&format!("cannot be read: {e}"))),
        Ok(meta) if !meta.is_file() => return Err(bad("is a link or something else that is not a file")),
        Ok(_) => {}
    }
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(&path);
    let mut bytes = Vec::new();
    file.and_then(|file| file.take(LARGEST_REPORT + 1).read_to_end(&mut bytes))
        .map_err(|e| bad(&format!("cannot be read: {e}")))?;
    if bytes.len() as u64 > LARGEST_REPORT {
        return Err(bad(&format!("has more than the {LARGEST_REPORT} bytes a report may have")));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| bad("is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_a_regular_file_of_bounded_size_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path();
        assert_eq!(read(at, "r.json"), Ok(None));
        fs::write(at.join("r.json"), "{}").unwrap();
        assert_eq!(read(at, "r.json"), Ok(Some("{}".to_owned())));
        std::os::unix::fs::symlink(at.join("r.json"), at.join("link")).unwrap();
        fs::create_dir(at.join("dir")).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, at.join("pipe"), mode).unwrap();
        fs::write(at.join("bytes"), [0xff, 0xfe]).unwrap();
        // Of 50 MB on disk nothing but the bound is ever read.
        fs::File::create(at.join("huge")).unwrap().set_len(50 << 20).unwrap();
        for (name, why) in [
            ("link", "is a link"),
            ("dir", "is a link or something else"),
            ("pipe", "is a link or something else"),
            ("bytes", "is not UTF-8"),
            ("huge", "has more than the 8388608 bytes"),
            ("../r.json", "is not the name of a file"),
            ("..", "is not the name of a file"),
        ] {
            let said = read(at, name).unwrap_err();
            assert!(said.contains(why), "{name}: {said}");
        }
    }
}
