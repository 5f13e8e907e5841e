//! Reads some lines of a file or of a kept output, as a model is shown them: numbered, and cut where it is too
//! much. A file may have any length and any content; it is read in pieces and never remembered whole.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};

use gadfly_engine::tool::{SHOWN, WHOLE};

use super::walk::WalkStop;

/// Characters of a line that are shown.
const LONGEST_LINE: usize = 2000;
/// As bytes: no character has more than four.
const LINE_KEPT: usize = LONGEST_LINE * 4;
/// And as many bytes as leave room to say that it was cut.
const LINE_SHOWN: usize = SHOWN - NOTE - 100;
/// A file with a zero byte near its beginning is no text.
const LOOKED_AT: usize = 8 * 1024;
/// Lines are counted so far and no further.
const COUNTED: u64 = 256 << 20;
/// Room for the line that says where this is in the file.
const NOTE: usize = 200;

/// Which lines, counted from 1; no number of lines means as many as there is room for.
#[derive(Clone, Copy, Debug)]
pub struct LineWindow {
    pub from: u32,
    pub lines: u32,
}

/// `binary` says whether what is no text is shown all the same.
pub fn read(file: File, window: LineWindow, binary: bool, stop: &WalkStop) -> Result<String, String> {
    let bytes = file.metadata().map(|meta| meta.len()).unwrap_or_default();
    let mut reader = BufReader::with_capacity(64 << 10, file);
    let begins = reader.fill_buf().map_err(|e| e.to_string())?;
    if !binary && begins.iter().take(LOOKED_AT).any(|byte| *byte == 0) {
        return Err(format!("it is a binary file of {bytes} bytes"));
    }
    let mut shown = ShownLines::new(window);
    let mut line = FileLine::default();
    let (mut number, mut passed) = (1_u64, 0_u64);
    let mut cut_short = false;
    loop {
        if passed > COUNTED || stop.now() {
            cut_short = true;
            break;
        }
        let chunk = reader.fill_buf().map_err(|e| e.to_string())?;
        if chunk.is_empty() {
            break;
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(chunk.len(), |end| end + 1);
        line.add(chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default());
        reader.consume(used);
        passed = passed.saturating_add(u64::try_from(used).unwrap_or(u64::MAX));
        if end.is_some() {
            shown.take(number, &line);
            line = FileLine::default();
            number += 1;
        }
    }
    if line.length > 0 {
        shown.take(number, &line);
        number += 1;
    }
    Ok(shown.finish(number - 1, cut_short))
}

/// All of a file, for a check.
pub fn whole(file: File) -> Result<String, String> {
    let most = u64::try_from(WHOLE).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() > WHOLE {
        return Err(format!("it has more than {WHOLE} bytes"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[derive(Default)]
struct FileLine {
    bytes: Vec<u8>,
    length: usize,
}

impl FileLine {
    fn add(&mut self, bytes: &[u8]) {
        let room = LINE_KEPT.saturating_sub(self.bytes.len()).min(bytes.len());
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or_default());
        self.length = self.length.saturating_add(bytes.len());
    }

    fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let text = text.strip_suffix('\r').unwrap_or(&text);
        let cut =
            text.char_indices().nth(LONGEST_LINE).map(|(at, _)| text.floor_char_boundary(at.min(LINE_SHOWN)));
        match cut.and_then(|at| text.get(..at)) {
            Some(part) => format!("{part} [the line has {} bytes; cut here]", self.length),
            None => text.to_owned(),
        }
    }
}

struct ShownLines {
    text: String,
    first: u64,
    /// The first line that is not asked for.
    end: u64,
    next: u64,
    full: bool,
}

impl ShownLines {
    fn new(LineWindow { from, lines }: LineWindow) -> Self {
        let first = u64::from(from.max(1));
        let end = if lines == 0 { u64::MAX } else { first + u64::from(lines) };
        Self { text: String::new(), first, end, next: first, full: false }
    }

    fn take(&mut self, number: u64, line: &FileLine) {
        if self.full || number < self.first || number >= self.end {
            return;
        }
        let line = format!("{number}\t{}\n", line.text());
        if self.text.len() + line.len() > SHOWN - NOTE && !self.text.is_empty() {
            self.full = true;
            return;
        }
        let room = line.floor_char_boundary(SHOWN - NOTE);
        self.text.push_str(line.get(..room).unwrap_or_default());
        self.next = number + 1;
    }

    fn finish(mut self, lines: u64, cut_short: bool) -> String {
        let all = if cut_short { format!("more than {lines}") } else { lines.to_string() };
        let note = if self.next > self.first {
            let last = self.next - 1;
            let rest = if last < lines || cut_short {
                format!("; go on with from = {}", self.next)
            } else {
                String::new()
            };
            if self.first == 1 && rest.is_empty() {
                return self.text;
            }
            format!("[lines {} to {last} of {all}{rest}]\n", self.first)
        } else if lines == 0 {
            "[it is empty]\n".to_owned()
        } else {
            format!("[it has {all} lines; none from {} on]\n", self.first)
        };
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text + &note
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use tokio_util::sync::CancellationToken;

    use super::*;

    fn reading(content: &[u8], from: u32, lines: u32) -> Result<String, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, content).unwrap();
        let stop =
            WalkStop { until: Instant::now() + Duration::from_mins(1), cancel: CancellationToken::new() };
        read(File::open(path).unwrap(), LineWindow { from, lines }, false, &stop)
    }

    #[test]
    fn lines_are_numbered_and_what_is_missing_is_said() {
        assert_eq!(reading(b"a\nb", 1, 0).unwrap(), "1\ta\n2\tb\n");
        assert_eq!(reading(b"a\r\nb\r\n", 1, 9).unwrap(), "1\ta\n2\tb\n");
        assert_eq!(reading(b"a\nb\nc\n", 2, 1).unwrap(), "2\tb\n[lines 2 to 2 of 3; go on with from = 3]\n");
        assert_eq!(reading(b"a\nb\n", 2, 5).unwrap(), "2\tb\n[lines 2 to 2 of 2]\n");
        assert_eq!(reading(b"a\n", 0, 1).unwrap(), "1\ta\n");
        assert_eq!(reading(b"", 1, 1).unwrap(), "[it is empty]\n");
        assert_eq!(reading(b"a\n", 7, 1).unwrap(), "[it has 1 lines; none from 7 on]\n");
        assert_eq!(reading("caf\u{e9} \n".as_bytes(), 1, 1).unwrap(), "1\tcafé \n");
        assert_eq!(reading(b"caf\xe9\n", 1, 1).unwrap(), "1\tcaf\u{fffd}\n");
    }

    #[test]
    fn what_is_shown_is_bounded_whatever_the_file_is_like() {
        let long = reading("€".repeat(100_000).as_bytes(), 1, 0).unwrap();
        assert!(long.len() <= SHOWN && long.contains("300000 bytes"), "{}", long.len());
        let many = reading("x\n".repeat(100_000).as_bytes(), 1, 0).unwrap();
        assert!(many.len() <= SHOWN && many.contains("of 100000; go on with from = "), "{many}");
        let mixed = format!("{}\n", "ä".repeat(1500)).repeat(50);
        assert!(reading(mixed.as_bytes(), 1, 0).unwrap().len() <= SHOWN);
        assert!(reading(b"\x7fELF\0\0", 1, 0).unwrap_err().contains("binary"));
    }

    #[test]
    fn going_on_where_it_stopped_shows_every_line_once() {
        let lines: Vec<String> = (1..=2000).map(|n| format!("line {n}")).collect();
        let text = lines.join("\n") + "\n";
        let (mut from, mut seen) = (1, String::new());
        loop {
            let part = reading(text.as_bytes(), from, 0).unwrap();
            for line in part.lines().filter(|line| !line.starts_with('[')) {
                seen.push_str(line.split_once('\t').unwrap().1);
                seen.push('\n');
            }
            let Some(next) =
                part.split_once("from = ").map(|(_, rest)| rest.trim_end().trim_end_matches(']'))
            else {
                break;
            };
            from = next.parse().unwrap();
        }
        assert!(seen == text);
    }
}
