//! Long outputs: how much of one is shown, and where the whole of it is kept so that it can be read later.
//!
//! An output is bytes of any length and kind. Of a command's the end is kept, where its errors are; of
//! everything else the beginning. Nothing here knows what an output means.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use gadfly_engine::tool::{KEPT, SHOWN};

/// What all kept outputs of a run may have together; the oldest go first.
const ALL_KEPT: u64 = 200 << 20;
/// How a kept output is named where a path is expected.
const PREFIX: &str = "output:";
/// How much of what is shown is the beginning of a cut output, if its end is shown, too.
const HEAD: usize = 2 * 1024;
/// Room for the line that says what is missing.
const NOTE: usize = 256;

/// An output as far as it is remembered, which is a bounded part of it.
#[derive(Debug, Default)]
pub struct KeptOutput {
    head: Vec<u8>,
    kept: Vec<u8>,
    whole: u64,
    /// Of a flood the end is kept, not the beginning.
    ends: bool,
}

impl KeptOutput {
    /// Of what comes in pieces, the end.
    pub fn of_a_command() -> Self {
        Self { ends: true, ..Self::default() }
    }

    /// A text that is there already.
    pub fn text(text: impl Into<Vec<u8>>) -> Self {
        let mut kept = text.into();
        let whole = length(kept.len());
        kept.truncate(KEPT);
        Self { head: Vec::new(), kept, whole, ends: false }
    }

    /// Of a longer text only this beginning is there.
    pub fn beginning_of(text: String, whole: u64) -> Self {
        let known = Self::text(text);
        Self { whole: whole.max(known.whole), ..known }
    }

    pub fn add(&mut self, bytes: &[u8]) {
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(bytes.get(..room).unwrap_or_default());
        self.whole = self.whole.saturating_add(length(bytes.len()));
        self.kept.extend_from_slice(bytes);
        // Cutting only at twice the size moves every byte at most once on average.
        if self.kept.len() > KEPT * 2 {
            self.forget();
        }
    }

    /// Its end, as far as it is remembered.
    pub fn end(&self) -> &[u8] {
        &self.kept
    }

    fn forget(&mut self) {
        self.kept.drain(..self.kept.len().saturating_sub(KEPT));
    }

    /// What is shown of it, and how long the whole is; if that is more, the rest is kept under this number.
    pub fn show(mut self, outputs: &Outputs, number: u32) -> (String, u64) {
        self.forget();
        let whole = self.whole;
        if length(self.kept.len()) == whole && self.kept.len() <= SHOWN {
            let text = String::from_utf8_lossy(&self.kept);
            if text.len() <= SHOWN {
                return (text.into_owned(), whole);
            }
        }
        let kept = outputs.keep(number, &self.kept);
        let room = SHOWN - NOTE;
        let (head, tail) = if self.ends {
            (first(&self.head, HEAD), last(&self.kept, room - HEAD))
        } else {
            (first(&self.kept, room), String::new())
        };
        let missing = whole.saturating_sub(length(head.len() + tail.len()));
        let place = if self.ends { "here" } else { "after this" };
        let how = match kept {
            Ok(()) if length(self.kept.len()) == whole => {
                format!("all of it is kept: read_file with path \"{PREFIX}{number}\"")
            }
            Ok(()) => {
                let part = if self.ends { "last" } else { "first" };
                let bytes = self.kept.len();
                format!("its {part} {bytes} bytes are kept: read_file with path \"{PREFIX}{number}\"")
            }
            Err(error) => format!("and could not be kept: {}", error.kind()),
        };
        let newline = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        (
            format!("{head}{newline}[about {missing} of {whole} bytes are left out {place}; {how}]\n{tail}"),
            whole,
        )
    }
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The beginning as text. A character that was cut in two is none, and what is no text takes more room as text.
fn first(bytes: &[u8], most: usize) -> String {
    let mut text = String::from_utf8_lossy(bytes.get(..most).unwrap_or(bytes)).into_owned();
    if text.ends_with('\u{fffd}') && bytes.len() > most {
        text.pop();
    }
    text.truncate(text.floor_char_boundary(most));
    text
}

fn last(bytes: &[u8], most: usize) -> String {
    let kept = bytes.get(bytes.len().saturating_sub(most)..).unwrap_or(bytes);
    let begins = kept.iter().take(4).position(|b| b & 0b1100_0000 != 0b1000_0000).unwrap_or(0);
    let text = String::from_utf8_lossy(kept.get(begins..).unwrap_or_default()).into_owned();
    let from = text.ceil_char_boundary(text.len().saturating_sub(most));
    text.get(from..).unwrap_or_default().to_owned()
}

/// The outputs a run keeps, in a folder of their own that nobody else may read.
#[derive(Clone, Debug)]
pub struct Outputs {
    dir: PathBuf,
}

impl Outputs {
    pub const fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The number of a kept output, if this is how one is named.
    pub fn number(path: &str) -> Option<Result<u32, String>> {
        let number = path.strip_prefix(PREFIX)?;
        let wrong = || format!("`{path}` names no kept output: it is written as in `{PREFIX}3`");
        Some(number.parse().map_err(|_| wrong()))
    }

    pub fn open(&self, number: u32) -> Result<File, String> {
        File::open(self.file(number)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                format!("{PREFIX}{number} is not kept: it was short, or old and made room for later ones")
            }
            other => format!("{PREFIX}{number} cannot be read: {other}"),
        })
    }

    fn file(&self, number: u32) -> PathBuf {
        self.dir.join(format!("{number}.txt"))
    }

    fn keep(&self, number: u32, bytes: &[u8]) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let path = self.file(number);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        if let Err(error) = file.write_all(bytes) {
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        self.make_room(number);
        Ok(())
    }

    /// Removes the oldest beyond what all may have together, never the newest.
    fn make_room(&self, newest: u32) {
        let Ok(entries) = fs::read_dir(&self.dir) else { return };
        let mut files: Vec<(u32, u64)> = entries
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name();
                let number = name.to_str()?.strip_suffix(".txt")?.parse().ok()?;
                Some((number, entry.metadata().ok()?.len()))
            })
            .collect();
        files.sort_unstable();
        let mut all = files.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        for (number, bytes) in files.into_iter().filter(|(number, _)| *number != newest) {
            if all <= ALL_KEPT {
                break;
            }
            let _ = fs::remove_file(self.file(number));
            all = all.saturating_sub(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs() -> (tempfile::TempDir, Outputs) {
        let dir = tempfile::tempdir().unwrap();
        let outputs = Outputs::at(dir.path().join("outputs"));
        (dir, outputs)
    }

    #[test]
    fn what_fits_is_shown_whole_and_nothing_is_kept() {
        let (_dir, outputs) = outputs();
        for text in ["", "short\n", &"x".repeat(SHOWN)] {
            let (shown, whole) = KeptOutput::text(text).show(&outputs, 1);
            assert_eq!((shown.as_str(), whole), (text, length(text.len())));
        }
        assert!(outputs.open(1).unwrap_err().contains("not kept"));
    }

    #[test]
    fn what_does_not_fit_is_kept_and_what_is_shown_stays_within_its_bounds() {
        let (_dir, outputs) = outputs();
        let many = "ä€😀\n".repeat(KEPT / 4);
        let noise = vec![0xff_u8; SHOWN - 1];
        for bytes in [many.as_bytes(), &noise, &vec![0x80; KEPT * 3]] {
            for command in [true, false] {
                let output = if command {
                    let mut output = KeptOutput::of_a_command();
                    bytes.chunks(1000).for_each(|chunk| output.add(chunk));
                    output
                } else {
                    KeptOutput::text(bytes)
                };
                let (shown, whole) = output.show(&outputs, 7);
                assert!(shown.len() <= SHOWN, "{}", shown.len());
                assert_eq!(whole, length(bytes.len()));
                assert!(shown.contains("read_file with path \"output:7\""), "{shown}");
                let kept = fs::read(outputs.file(7)).unwrap();
                let expected = if command {
                    &bytes[bytes.len().saturating_sub(KEPT)..]
                } else {
                    &bytes[..bytes.len().min(KEPT)]
                };
                assert!(kept == expected, "{} bytes were kept", kept.len());
            }
        }
    }

    #[test]
    fn a_run_keeps_no_more_than_its_share_and_the_oldest_go_first() {
        let (_dir, outputs) = outputs();
        let bytes = vec![b'x'; KEPT];
        let fit = u32::try_from(ALL_KEPT / length(KEPT)).unwrap();
        for number in 1..=fit + 2 {
            outputs.keep(number, &bytes).unwrap();
        }
        assert!(outputs.open(2).is_err() && outputs.open(3).is_ok() && outputs.open(fit + 2).is_ok());
    }

    #[test]
    fn nobody_else_reads_what_is_kept() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_dir, outputs) = outputs();
        outputs.keep(1, b"x").unwrap();
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&outputs.dir), mode(&outputs.file(1))), (0o700, 0o600));
    }

    #[test]
    fn only_a_number_names_a_kept_output() {
        assert!(Outputs::number("src/output:1").is_none());
        assert_eq!(Outputs::number("output:12"), Some(Ok(12)));
        for wrong in ["output:", "output:../x", "output:-1", "output:99999999999"] {
            assert!(Outputs::number(wrong).unwrap().is_err(), "{wrong}");
        }
    }
}
