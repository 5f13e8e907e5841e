//! Writes and edits files for a model: whole or not at all, keeping a file's mode, and never through a link.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read as _, Write as _};

use gadfly_engine::Digest;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fchmod, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::area::{Area, FileSpot, clipped};
use crate::edits::said;

/// What is edited is read whole.
const LARGEST: u64 = 32 << 20;
/// Changed lines that are shown.
const SHOWN_LINES: usize = 40;
const LINE_SHOWN: usize = 160;
/// Places of an edit that are shown.
const SHOWN_PLACES: usize = 3;

pub fn write(area: &Area, path: &str, content: &str) -> Result<String, String> {
    let spot = area.spot(path, true)?;
    put(&spot, content.as_bytes()).map_err(|why| format!("`{}`: {why}", clipped(path)))?;
    let bytes = if content.len() == 1 { "byte" } else { "bytes" };
    Ok(format!("wrote {} {bytes} to {path}\n", content.len()))
}

/// An edit: this text for that one, once or everywhere.
#[derive(Clone, Copy, Debug)]
pub struct TextEdit<'a> {
    pub old: &'a str,
    pub new: &'a str,
    pub all: bool,
}

pub fn edit(area: &Area, path: &str, edit: TextEdit<'_>) -> Result<String, String> {
    let shown = clipped(path);
    if edit.old.is_empty() {
        return Err("the text to be replaced is empty: give some lines of the file".to_owned());
    }
    if edit.old == edit.new {
        return Err("both texts are the same: there is nothing to change".to_owned());
    }
    let spot = area.spot(path, false).map_err(|why| missing(&why, path))?;
    let file = spot.open().map_err(|why| missing(&format!("`{shown}`: {why}"), path))?;
    let mut before = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut before).map_err(|e| format!("`{shown}`: {e}"))?;
    if u64::try_from(before.len()).unwrap_or(u64::MAX) > LARGEST {
        return Err(format!("`{shown}` has more than {} MB: change it with a command", LARGEST >> 20));
    }
    let places = places(&before, edit.old.as_bytes());
    match places.len() {
        0 => return Err(format!("`{shown}`: {}", not_found(&before, edit.old))),
        1 => {}
        _ if edit.all => {}
        many => {
            return Err(format!(
                "the text occurs {many} times in `{shown}`, in lines {}: give more of the lines around it, or \
                 replace all of them",
                lines_of(&before, &places)
            ));
        }
    }
    let after = replaced(&before, &places, edit);
    put(&spot, &after).map_err(|why| format!("`{shown}`: {why}"))?;
    Ok(changed(path, &before, &places, edit))
}

fn missing(why: &str, path: &str) -> String {
    let lost = std::io::Error::from(Errno::NOENT).to_string();
    if why.ends_with(&lost) {
        format!("there is no file `{}`: write_file makes one", clipped(path))
    } else {
        why.to_owned()
    }
}

/// Where the text begins, each time; what overlaps counts once.
fn places(bytes: &[u8], text: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    // A substring search of the standard library needs text, and a file may be none.
    while let Some(next) = bytes.get(at..).and_then(|rest| find(rest, text)) {
        found.push(at + next);
        at += next + text.len();
    }
    found
}

fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    let mut at = 0;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == first)?;
        let rest = bytes.get(at..)?;
        if rest.starts_with(text) {
            return Some(at);
        }
        at += 1;
    }
}

fn replaced(before: &[u8], places: &[usize], edit: TextEdit<'_>) -> Vec<u8> {
    let mut after = Vec::with_capacity(before.len());
    let mut from = 0;
    for at in places {
        after.extend_from_slice(before.get(from..*at).unwrap_or_default());
        after.extend_from_slice(edit.new.as_bytes());
        from = at + edit.old.len();
    }
    after.extend_from_slice(before.get(from..).unwrap_or_default());
    after
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

fn lines_of(bytes: &[u8], places: &[usize]) -> String {
    let numbers: Vec<String> = places.iter().take(8).map(|at| line_of(bytes, *at).to_string()).collect();
    let more = if places.len() > 8 { ", …" } else { "" };
    numbers.join(", ") + more
}

/// Why a text that a model believes to be there is not found, as far as that can be told.
fn not_found(before: &[u8], old: &str) -> String {
    let begins = "the text does not occur in it";
    let text = String::from_utf8_lossy(before);
    if text.contains("\r\n") && !old.contains('\r') && text.replace("\r\n", "\n").contains(old) {
        return format!("{begins} like this: its lines end with \\r\\n");
    }
    let first = old.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let near = text.lines().position(|line| !first.is_empty() && line.trim() == first);
    match near {
        Some(line) => format!(
            "{begins} like this; its first line is line {} there: read the file again, spaces and line breaks count",
            line + 1
        ),
        None => format!("{begins}: read the file again, it must be exactly the same"),
    }
}

/// What was changed, as lines that went and came.
fn changed(path: &str, before: &[u8], places: &[usize], edit: TextEdit<'_>) -> String {
    let times = if places.len() == 1 { "one place".to_owned() } else { format!("{} places", places.len()) };
    let mut said = format!("changed {path} in {times}\n");
    for at in places.iter().take(SHOWN_PLACES) {
        let end = at + edit.old.len();
        let from =
            before.get(..*at).unwrap_or_default().iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let to = before.get(end..).unwrap_or_default();
        let to = to.iter().position(|b| *b == b'\n').map_or(before.len(), |more| end + more);
        let part = |from: usize, to: usize| {
            String::from_utf8_lossy(before.get(from..to).unwrap_or_default()).into_owned()
        };
        let _ = writeln!(said, "@ line {}", line_of(before, *at));
        show(&mut said, '-', &part(from, to));
        show(&mut said, '+', &format!("{}{}{}", part(from, *at), edit.new, part(end, to)));
    }
    if places.len() > SHOWN_PLACES {
        let _ = writeln!(said, "[and {} more places]", places.len() - SHOWN_PLACES);
    }
    said
}

fn show(said: &mut String, mark: char, text: &str) {
    for line in text.lines().take(SHOWN_LINES / 2) {
        let shown = line.get(..line.floor_char_boundary(LINE_SHOWN)).unwrap_or_default();
        let cut = if shown.len() < line.len() { "…" } else { "" };
        let _ = writeln!(said, "{mark}{shown}{cut}");
    }
    let more = text.lines().count().saturating_sub(SHOWN_LINES / 2);
    if more > 0 {
        let _ = writeln!(said, "{mark}[{more} more lines]");
    }
}

/// Where a file is written before it takes its place. The same for the same file, so that whoever writes it anew after
/// a kill puts away what was left.
fn beside(name: &str) -> String {
    let digest = Digest::of(name.as_bytes()).to_string();
    format!(".gadfly-{}", digest.get(..16).unwrap_or(&digest))
}

/// Puts new content in a file's place at once. What is there must be a file, or nothing.
fn put(spot: &FileSpot, bytes: &[u8]) -> Result<(), String> {
    let mode = match statat(&spot.above, spot.name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
            Some(Mode::from_raw_mode(stat.st_mode))
        }
        Ok(_) => return Err("a folder, a link or something else that is no file has that name".to_owned()),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(said(error)),
    };
    let temp = beside(&spot.name);
    // Left by a process that was killed while it wrote this file.
    let _ = unlinkat(&spot.above, temp.as_str(), AtFlags::empty());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(&spot.above, temp.as_str(), flags, Mode::from_raw_mode(0o666)).map_err(said)?;
    let put = || -> Result<(), String> {
        if let Some(mode) = mode {
            fchmod(&file, mode).map_err(said)?;
        }
        let mut file = File::from(file);
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|e| e.to_string())?;
        renameat(&spot.above, temp.as_str(), &spot.above, spot.name.as_str()).map_err(said)
    };
    put().inspect_err(|_| {
        let _ = unlinkat(&spot.above, temp.as_str(), AtFlags::empty());
    })
}
