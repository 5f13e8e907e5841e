//! Entries that are appended to a file others write, too, each once; and files that are ours alone, replaced whole.
//!
//! How many entries were written is remembered. One whose writing a crash left in doubt is looked for verbatim: found,
//! it is not written again.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use super::{PendingFile, SharedFileError, WRITE_ATTEMPTS, fs, lock, parent, read};

/// Appends those of `entries` that are not in the file yet. `memory` is a file of ours that remembers how many were
/// written; `heading` begins a file that is not there. Each entry begins with a line of its own (`### …`).
pub fn append_entries(
    path: &Path,
    memory: &Path,
    heading: Option<&str>,
    entries: &[String],
) -> Result<(), SharedFileError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| SharedFileError::Io { path, source }
    };
    let real = match fs::canonicalize(path) {
        Ok(real) => real,
        Err(e) if e.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(e) => return Err(fail(path)(e)),
    };
    let written = recall(memory)?;
    let Some(due) = entries.get(written..).filter(|due| !due.is_empty()) else { return Ok(()) };
    let folder = parent(&real);
    fs::create_dir_all(folder).map_err(fail(folder))?;
    let _lock = lock(folder)?;
    for _ in 0..WRITE_ATTEMPTS {
        let current = read(&real)?;
        let missing = missing(current.as_deref().unwrap_or_default(), due);
        if !missing.is_empty() {
            let next = appended(current.as_deref().unwrap_or_default(), heading, &missing);
            let staged = PendingFile::new(&real, &next).map_err(fail(&real))?;
            if read(&real)? != current {
                continue;
            }
            staged.publish(&real).map_err(fail(&real))?;
        }
        return replace(memory, entries.len().to_string().as_bytes());
    }
    Err(SharedFileError::Busy { path: real })
}

/// Puts a file of ours in place, atomically. Its folder is made.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), SharedFileError> {
    let fail = |source| SharedFileError::Io { path: path.to_owned(), source };
    fs::create_dir_all(parent(path)).map_err(fail)?;
    PendingFile::new(path, bytes).and_then(|staged| staged.publish(path)).map_err(fail)
}

fn recall(memory: &Path) -> Result<usize, SharedFileError> {
    let bytes = read(memory)?.unwrap_or_default();
    Ok(std::str::from_utf8(&bytes).ok().and_then(|n| n.trim().parse().ok()).unwrap_or(0))
}

/// The entries that do not stand in the file as often as they should.
fn missing<'a>(current: &[u8], due: &'a [String]) -> Vec<&'a str> {
    let first = |entry: &'a str| entry.lines().next().unwrap_or_default().as_bytes();
    let mut by_heading: HashMap<&[u8], Vec<(&str, usize)>> = HashMap::new();
    for entry in due {
        let same = by_heading.entry(first(entry)).or_default();
        if !same.iter().any(|(known, _)| known == entry) {
            same.push((entry, 0));
        }
    }
    let mut at = 0;
    for line in current.split_inclusive(|b| *b == b'\n') {
        if let Some(same) = by_heading.get_mut(line.trim_ascii_end()) {
            for (entry, seen) in same.iter_mut() {
                *seen += usize::from(current[at..].starts_with(entry.trim_end().as_bytes()));
            }
        }
        at += line.len();
    }
    let mut left: HashMap<&str, usize> = by_heading.into_values().flatten().collect();
    due.iter()
        .map(String::as_str)
        .filter(|entry| match left.get_mut(*entry) {
            Some(seen) if *seen > 0 => {
                *seen -= 1;
                false
            }
            _ => true,
        })
        .collect()
}

fn appended(current: &[u8], heading: Option<&str>, missing: &[&str]) -> Vec<u8> {
    let mut next = current.to_vec();
    if let Some(heading) = heading.filter(|_| current.trim_ascii().is_empty()) {
        next = format!("{}\n", heading.trim_end()).into_bytes();
    }
    for entry in missing {
        if !next.is_empty() {
            if !next.ends_with(b"\n") {
                next.push(b'\n');
            }
            next.push(b'\n');
        }
        next.extend_from_slice(entry.as_bytes());
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(n: u32) -> String {
        format!("### 2026-05-09 14:30 — coder\n**Score:** {n}/100\n")
    }

    #[test]
    fn entries_are_appended_once_and_other_bytes_stay() {
        let dir = tempfile::tempdir().unwrap();
        let (path, memory) = (dir.path().join("j.md"), dir.path().join("m"));
        fs::write(&path, "# Mine\r\n\nnotes, no newline").unwrap();
        append_entries(&path, &memory, Some("# Journal"), &[entry(1)]).unwrap();
        append_entries(&path, &memory, Some("# Journal"), &[entry(1), entry(2)]).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("# Mine\r\n\nnotes, no newline\n\n{}\n{}", entry(1), entry(2)));
    }

    #[test]
    fn an_entry_that_a_crash_left_in_doubt_is_looked_for() {
        let dir = tempfile::tempdir().unwrap();
        let (path, memory) = (dir.path().join("j.md"), dir.path().join("m"));
        let twice = [entry(1), entry(1), entry(2)];
        append_entries(&path, &memory, None, &twice).unwrap();
        let before = fs::read_to_string(&path).unwrap();
        assert_eq!(before.matches("1/100").count(), 2);
        // The file was written, and what remembers it was not.
        fs::remove_file(&memory).unwrap();
        append_entries(&path, &memory, None, &twice).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
        // Only one of two made it.
        fs::remove_file(&memory).unwrap();
        fs::write(&path, entry(1)).unwrap();
        append_entries(&path, &memory, None, &twice).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
    }

    #[test]
    fn what_a_person_took_out_stays_out() {
        let dir = tempfile::tempdir().unwrap();
        let (path, memory) = (dir.path().join("j.md"), dir.path().join("m"));
        append_entries(&path, &memory, None, &[entry(1)]).unwrap();
        fs::write(&path, "emptied\n").unwrap();
        append_entries(&path, &memory, None, &[entry(1), entry(2)]).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("emptied\n") && !text.contains("1/100") && text.contains("2/100"), "{text}");
    }
}
