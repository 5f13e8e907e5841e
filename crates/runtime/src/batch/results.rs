//! The results file: one line per finished task, appended whole, the latest of an id wins.
//!
//! Several processes may append to one file: each write is one call under the file's lock.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gadfly_engine::Digest;
use gadfly_journal::RunId;
use gadfly_project::Problem;
use serde::{Deserialize, Serialize};

/// A longer line is no result of ours: drafts are bounded far below.
const LONGEST_LINE: u64 = 64 * 1024 * 1024;
/// What a line that was cut off begins with, as far as it goes.
const BEGINNING: &[u8] = b"{\"id\":\"";
const LOCK_ATTEMPTS: u32 = 200;
const LOCK_PAUSE: Duration = Duration::from_millis(25);

/// A finished task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FinishedTask {
    pub id: String,
    pub run: RunId,
    pub outcome: String,
    pub rounds: u32,
    pub calls: u32,
    pub draft: Option<std::sync::Arc<str>>,
}

/// What is read back of a line.
#[derive(Deserialize)]
struct ResultLine {
    id: String,
    run: RunId,
    outcome: String,
}

/// The last line of each id.
#[derive(Debug, Default)]
pub struct SeenResults(HashMap<Digest, (RunId, Box<str>)>);

impl SeenResults {
    pub fn run_of(&self, id: &str) -> Option<&RunId> {
        self.0.get(&Digest::of(id.as_bytes())).map(|(run, _)| run)
    }

    pub fn has(&self, id: &str, run: &RunId, outcome: &str) -> bool {
        self.0.get(&Digest::of(id.as_bytes())).is_some_and(|(r, o)| r == run && **o == *outcome)
    }
}

#[derive(Debug)]
pub struct Results {
    file: File,
    path: PathBuf,
    /// Whether a line was found that an earlier process did not finish.
    pub mended: bool,
}

impl Results {
    /// Opens or makes the file, reads which results it has and cuts a torn last line.
    pub fn open(path: &Path) -> Result<(Self, SeenResults), Problem> {
        let wrong = |e: &io::Error| {
            Problem::error(format!("the results file {} cannot be used: {e}", path.display()))
                .help("name another file with --out")
        };
        if path.exists() && !path.is_file() {
            let message = format!("the results file {} is not a regular file", path.display());
            return Err(Problem::error(message).help("name another file with --out"));
        }
        let file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(|e| wrong(&e))?;
        lock(&file).map_err(|e| wrong(&e))?;
        let mut results = Self { file, path: path.to_owned(), mended: false };
        let seen = results.read();
        let _ = results.file.unlock();
        Ok((results, seen?))
    }

    fn read(&mut self) -> Result<SeenResults, Problem> {
        let shown = self.path.display().to_string();
        let wrong = |e: &io::Error| Problem::error(format!("the results file {shown} cannot be read: {e}"));
        let foreign = |line: usize| {
            Problem::error(format!("line {line} of {shown} is not a result of a batch"))
                .help("name another file with --out: results are not mixed with other lines")
        };
        self.file.seek(SeekFrom::Start(0)).map_err(|e| wrong(&e))?;
        let mut reader = BufReader::new(&self.file);
        let mut seen = SeenResults::default();
        let (mut start, mut number, mut bytes) = (0_u64, 0_usize, Vec::new());
        let mut mend = None;
        loop {
            bytes.clear();
            number += 1;
            let length = (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut bytes);
            let length = length.map_err(|e| wrong(&e))? as u64;
            if length == 0 {
                break;
            }
            let whole = bytes.last() == Some(&b'\n');
            match serde_json::from_slice::<ResultLine>(&bytes) {
                Ok(line) => {
                    seen.0.insert(Digest::of(line.id.as_bytes()), (line.run, line.outcome.into()));
                    if !whole {
                        mend = Some(Mend::End);
                    }
                }
                Err(_) if !whole && length < LONGEST_LINE && begins_like_ours(&bytes) => {
                    mend = Some(Mend::CutAt(start));
                }
                Err(_) if whole && bytes.iter().all(u8::is_ascii_whitespace) => {}
                Err(_) => return Err(foreign(number)),
            }
            start += length;
        }
        drop(reader);
        match mend {
            Some(Mend::CutAt(at)) => self.file.set_len(at).map_err(|e| wrong(&e))?,
            Some(Mend::End) => self.file.write_all(b"\n").map_err(|e| wrong(&e))?,
            None => {}
        }
        self.mended = mend.is_some();
        Ok(seen)
    }

    /// Appends whole lines in one call, or none of them.
    pub fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.append_up_to(lines, usize::MAX)
    }

    /// `most` stands for a disk that takes no more than that.
    fn append_up_to(&mut self, lines: &[u8], most: usize) -> io::Result<()> {
        lock(&self.file)?;
        let before = self.file.metadata()?.len();
        let offered = lines.get(..most).unwrap_or(lines);
        let result = match self.file.write(offered) {
            Ok(written) if written == lines.len() => Ok(()),
            Ok(_) => Err(io::Error::other("the disk took only a part of a line; is it full?")),
            Err(error) => Err(error),
        };
        if result.is_err() {
            let _ = self.file.set_len(before);
        }
        self.file.unlock()?;
        result
    }

    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

enum Mend {
    CutAt(u64),
    /// A whole line that only lacks its end.
    End,
}

fn begins_like_ours(bytes: &[u8]) -> bool {
    let common = bytes.len().min(BEGINNING.len());
    bytes.get(..common) == BEGINNING.get(..common)
}

fn lock(file: &File) -> io::Result<()> {
    for _ in 0..LOCK_ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "another process kept it locked for five seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn line(id: &str, outcome: &str) -> String {
        let run = RunId::derived(&Digest::of(id.as_bytes()));
        let done =
            FinishedTask { id: id.into(), run, outcome: outcome.into(), rounds: 1, calls: 2, draft: None };
        format!("{}\n", serde_json::to_string(&done).unwrap())
    }

    fn with(text: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.jsonl");
        fs::write(&path, text).unwrap();
        (dir, path)
    }

    #[test]
    fn a_torn_last_line_is_cut_at_every_byte_and_the_lines_before_stay() {
        let (good, torn) = (line("a", "approved"), line("b", "approved"));
        for cut in 1..torn.len() - 1 {
            let (_dir, path) = with(&format!("{good}{}", &torn[..cut]));
            let (mut results, seen) = Results::open(&path).unwrap();
            assert!(results.mended && seen.run_of("a").is_some());
            results.append(torn.as_bytes()).unwrap();
            let text = fs::read_to_string(&path).unwrap();
            // With the closing brace there the line is whole and only gets its end.
            assert!(
                text == format!("{good}{torn}") || text == format!("{good}{torn}{torn}"),
                "{cut}: {text}"
            );
        }
    }

    #[test]
    fn the_latest_line_of_an_id_wins() {
        let (_dir, path) = with(&format!("{}{}", line("a", "failed"), line("a", "approved")));
        let (_, seen) = Results::open(&path).unwrap();
        let run = RunId::derived(&Digest::of(b"a"));
        assert!(seen.has("a", &run, "approved") && !seen.has("a", &run, "failed"));
    }

    #[test]
    fn a_file_with_other_lines_is_left_alone() {
        for text in ["my notes", "my notes\n", "{\"x\":1}\n", "{\"id\":\"a\"}\n{\"id\":\"b"] {
            let (_dir, path) = with(text);
            let problem = Results::open(&path).unwrap_err();
            assert!(problem.message.contains("line 1"), "{text}: {}", problem.message);
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn a_write_that_the_disk_cuts_short_leaves_no_torn_line() {
        let (_dir, path) = with(&line("a", "approved"));
        let (mut results, _) = Results::open(&path).unwrap();
        assert!(results.append_up_to(line("b", "approved").as_bytes(), 7).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), line("a", "approved"));
        // The guard is what cut it: with room for the line it is there.
        results.append_up_to(line("b", "approved").as_bytes(), usize::MAX).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
    }
}
