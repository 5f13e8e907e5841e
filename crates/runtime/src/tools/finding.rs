//! Lists and searches files for a model, without what the project's ignore files leave out.

use std::fmt::Write as _;
use std::io::Read as _;
use std::ops::ControlFlow;

use regex::bytes::{Regex, RegexBuilder};

use super::area::{Area, Named, clipped};
use super::walk::{WalkStop, walk};

const MOST_LISTED: usize = 500;
const MOST_HITS: usize = 200;
/// Characters of a line that are shown.
const LINE_SHOWN: usize = 300;
/// Larger files are passed over, and that is said.
const LARGEST: u64 = 16 << 20;
const LONGEST_PATTERN: usize = 2000;
/// What a pattern may take up when it is made ready: `(x{1000}){1000}` is short and huge.
const LARGEST_PATTERN: usize = 4 << 20;
/// A file with a zero byte near its beginning is no text.
const LOOKED_AT: usize = 8 * 1024;

pub fn list(area: &Area, path: &str, stop: &WalkStop) -> Result<String, String> {
    let begin = match area.named(path)? {
        Named::Folder(begin) => begin,
        Named::File(_) => return Err(format!("`{}` is no folder", clipped(path))),
    };
    let (mut text, mut listed, mut beyond) = (String::new(), 0_usize, 0_usize);
    let more = walk(begin, stop, |entry| {
        if listed == MOST_LISTED {
            beyond += 1;
            return ControlFlow::Continue(());
        }
        listed += 1;
        let _ = if entry.is_folder {
            writeln!(text, "{}/", one_line(&entry.path))
        } else {
            writeln!(text, "{}  {}", one_line(&entry.path), size(entry.bytes))
        };
        ControlFlow::Continue(())
    });
    if listed == 0 && !more {
        text.push_str("[nothing but what is ignored]\n");
    }
    if beyond > 0 || more {
        let least = if more { "at least " } else { "" };
        let _ = writeln!(text, "[{least}{beyond} more; list a folder below to see them]");
    }
    Ok(text)
}

/// A name may hold anything, a line break too.
fn one_line(path: &str) -> String {
    path.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{} KB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

pub fn search(area: &Area, pattern: &str, path: &str, stop: &WalkStop) -> Result<String, String> {
    let regex = ready(pattern)?;
    let mut search = Search { regex, text: String::new(), hits: 0, too_large: 0 };
    let more = match area.named(path)? {
        Named::File(spot) => {
            let file = spot.open().map_err(|why| format!("`{}`: {why}", clipped(path)))?;
            let bytes = file.metadata().map(|meta| meta.len()).unwrap_or_default();
            search.file(path, bytes, || Some(file));
            false
        }
        Named::Folder(begin) => walk(begin, stop, |entry| {
            if !entry.is_folder {
                search.file(&entry.path, entry.bytes, || entry.open());
            }
            if search.hits > MOST_HITS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }),
    };
    Ok(search.said(more))
}

fn ready(pattern: &str) -> Result<Regex, String> {
    if pattern.is_empty() || pattern.len() > LONGEST_PATTERN {
        return Err(format!("a pattern has between 1 and {LONGEST_PATTERN} bytes"));
    }
    let made = RegexBuilder::new(pattern).size_limit(LARGEST_PATTERN).dfa_size_limit(LARGEST_PATTERN).build();
    made.map_err(|error| {
        let why = error.to_string();
        let why = why.get(..why.floor_char_boundary(600)).unwrap_or_default();
        format!("the pattern is no regular expression that can be used: {why}")
    })
}

struct Search {
    regex: Regex,
    text: String,
    hits: usize,
    too_large: usize,
}

impl Search {
    fn file(&mut self, path: &str, bytes: u64, open: impl FnOnce() -> Option<std::fs::File>) {
        if bytes > LARGEST {
            self.too_large += 1;
            return;
        }
        let mut content = Vec::new();
        let Some(file) = open() else { return };
        // It may have grown since its size was asked for.
        if file.take(LARGEST).read_to_end(&mut content).is_err() {
            return;
        }
        if content.iter().take(LOOKED_AT).any(|byte| *byte == 0) {
            return;
        }
        // What stands behind the last line break is no line.
        let lines = content.strip_suffix(b"\n").unwrap_or(&content);
        for (n, line) in lines.split(|byte| *byte == b'\n').enumerate() {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !self.regex.is_match(line) {
                continue;
            }
            self.hits += 1;
            if self.hits > MOST_HITS {
                return;
            }
            let shown = String::from_utf8_lossy(line.get(..LINE_SHOWN * 4).unwrap_or(line));
            let cut: String = shown.chars().take(LINE_SHOWN).collect();
            let more = if cut.len() < line.len() { "…" } else { "" };
            let _ = writeln!(self.text, "{}:{}: {cut}{more}", one_line(path), n + 1);
        }
    }

    fn said(mut self, more: bool) -> String {
        if self.hits == 0 {
            self.text.push_str("[no line matches]\n");
        }
        if self.hits > MOST_HITS {
            let _ = writeln!(self.text, "[and more than these {MOST_HITS}: narrow the pattern or the path]");
        } else if more {
            self.text.push_str("[not everything could be searched: narrow the path]\n");
        }
        if self.too_large > 0 {
            let (files, mb) = (self.too_large, LARGEST >> 20);
            let _ = writeln!(self.text, "[passed over: {files} files of more than {mb} MB]");
        }
        self.text
    }
}
