//! Which places outside the run's folder a shell line names, by its words alone. Used where no kernel holds
//! commands to the folder: a person is then asked. A false alarm is a question too many; what a plain line
//! names must not be missed. What a program does once it runs is not known here.

mod words;

use super::place::{ToolPath, climbs};
use words::LinePiece;

/// A longer line is not read but asked about.
const LONGEST: usize = 64 * 1024;
/// The most of a place that is named.
const NAMED: usize = 200;
/// How deep lines within quotes of lines are read.
const DEEPEST: usize = 3;

/// Places that any program reads. Writing there counts all the same, as far as a line shows it.
const READABLE: [&str; 14] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
    "/snap",
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
];
/// Devices that keep nothing.
const HARMLESS: [&str; 10] = [
    "/dev/null",
    "/dev/zero",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/fd",
    "/dev/random",
    "/dev/urandom",
    "/dev/full",
];
/// Commands that change what they name, or go there.
const CHANGING: [&str; 24] = [
    "cp", "mv", "rm", "rmdir", "mkdir", "touch", "ln", "install", "dd", "chmod", "chown", "chgrp",
    "truncate", "rsync", "tee", "sed", "shred", "unlink", "mktemp", "cd", "pushd", "chdir", "tar", "unzip",
];
/// Commands whose first argument is a pattern or a script, not a path.
const SEARCHING: [&str; 7] = ["grep", "egrep", "fgrep", "rg", "ag", "sed", "awk"];
/// Variables that lead out of the folder.
const VARIABLES: [&str; 5] = ["HOME", "OLDPWD", "TMPDIR", "XDG_", "USERPROFILE"];

/// The first place outside the folder that the line names.
pub fn names_elsewhere(line: &str, root: &str) -> Option<String> {
    if line.len() > LONGEST {
        return Some("a line too long to be read".to_owned());
    }
    first_named(line, root, DEEPEST).map(|place| match place.char_indices().nth(NAMED) {
        Some((end, _)) => format!("{}…", &place[..end]),
        None => place,
    })
}

fn first_named(line: &str, root: &str, deeper: usize) -> Option<String> {
    let pieces = words::read(line);
    let below = is_a_chain(&pieces).then(String::new);
    let mut looked = LineReader { root, below, deeper, ..LineReader::default() };
    pieces.iter().find_map(|piece| looked.at(piece)).or_else(|| looked.end_of_command())
}

/// Only where every command must succeed for the next to run is it known where a `cd` has led.
fn is_a_chain(pieces: &[LinePiece]) -> bool {
    pieces.iter().all(|piece| match piece {
        LinePiece::Word(_) | LinePiece::Redirection { .. } => true,
        LinePiece::Operator(operator) => operator == "&&",
    })
}

/// Where the reading of a line stands.
#[derive(Default)]
struct LineReader<'a> {
    root: &'a str,
    /// The folder below the root the line has gone to, where that is certain.
    below: Option<String>,
    command: ShellCommand,
    /// The next word is written to.
    writes: bool,
    /// The next word is a folder something is done in (`git -C`).
    enters: bool,
    /// How much deeper quotes are read.
    deeper: usize,
}

/// The command a word belongs to.
#[derive(Default)]
struct ShellCommand {
    name: Option<String>,
    arguments: usize,
    /// The next word is a file of patterns.
    from_file: bool,
}

impl LineReader<'_> {
    fn at(&mut self, piece: &LinePiece) -> Option<String> {
        match piece {
            LinePiece::Operator(_) => self.end_of_command(),
            LinePiece::Redirection { writes } => {
                self.writes = *writes;
                None
            }
            LinePiece::Word(text) => self.word(text),
        }
    }

    /// `cd` alone goes home.
    fn end_of_command(&mut self) -> Option<String> {
        let command = std::mem::take(&mut self.command);
        (self.writes, self.enters) = (false, false);
        let goes_home = command.arguments == 0 && matches!(command.name.as_deref(), Some("cd" | "pushd"));
        goes_home.then(|| "~".to_owned())
    }

    fn word(&mut self, word: &str) -> Option<String> {
        let (writes, enters) = (std::mem::take(&mut self.writes), std::mem::take(&mut self.enters));
        if self.command.name.is_none() && !writes && !is_assignment(word) {
            self.command.name = Some(word.rsplit('/').next().unwrap_or(word).to_owned());
            return self.named_in(word, false);
        }
        let is_option = word.starts_with('-') && word.len() > 1;
        if !writes && !is_option {
            self.command.arguments += 1;
        }
        let name = self.command.name.as_deref().unwrap_or_default();
        let from_file = std::mem::replace(&mut self.command.from_file, matches!(word, "-f" | "--file"));
        let is_pattern = SEARCHING.contains(&name) && self.command.arguments == 1 && !writes && !is_option;
        if is_pattern && !from_file && !(name == "awk" && word.contains(['>', '|', '"'])) {
            return variable(word);
        }
        self.enters = word == "-C" || word == "--directory";
        let goes = enters || matches!(name, "cd" | "pushd" | "chdir");
        if goes && (word == "-" || word.contains(['$', '`'])) {
            return Some(word.to_owned());
        }
        let strict = writes || goes || CHANGING.contains(&name);
        let found = self.named_in(word, strict);
        if found.is_none() && matches!(name, "cd" | "pushd" | "chdir") && !is_option {
            self.go(word);
        }
        found
    }

    fn go(&mut self, folder: &str) {
        self.below = self.below.take().and_then(|below| {
            let path = if folder.starts_with('/') { folder.to_owned() } else { format!("{below}/{folder}") };
            match ToolPath::of(
                path.strip_prefix('/').filter(|_| !folder.starts_with('/')).unwrap_or(&path),
                self.root,
            ) {
                ToolPath::Inside(inside) => Some(inside),
                ToolPath::Outside(_) => None,
            }
        });
    }

    /// The first place outside that a word names, wherever in the word a path begins.
    fn named_in(&self, word: &str, strict: bool) -> Option<String> {
        if let Some(named) = variable(word).or_else(|| home(word)) {
            return Some(named);
        }
        if !word.contains(char::is_whitespace) {
            return self.path_in(word, strict);
        }
        // A text, a line for another shell, or a script: read as a line, and word by word.
        let inner = self.deeper.checked_sub(1).and_then(|deeper| first_named(word, self.root, deeper));
        inner.or_else(|| {
            let parts = word.split(|c: char| c.is_whitespace() || "'\"`(){}[],;<>|&".contains(c));
            parts
                .filter(|part| !part.trim_matches('/').is_empty())
                .find_map(|part| self.path_in(part, strict))
        })
    }

    fn path_in(&self, word: &str, strict: bool) -> Option<String> {
        let word = match word.split_once("://") {
            Some((scheme, rest)) if scheme.ends_with("file") => rest,
            // An address on the web; what stands before it may still be a path.
            Some((before, _)) => before.rsplit_once('=').map_or("", |(before, _)| before),
            None => word,
        };
        let option_value =
            word.strip_prefix('-').filter(|_| !word.starts_with("--")).and_then(|w| w.get(1..));
        let parts = word.split(['=', ':', ',', '@', '"', '\'', '(', ')', '}']);
        parts.chain(option_value).find_map(|part| self.path(part, strict))
    }

    fn path(&self, path: &str, strict: bool) -> Option<String> {
        if path.starts_with('/') {
            let ToolPath::Outside(full) = ToolPath::of(path, self.root) else { return None };
            let readable = !strict && READABLE.iter().any(|known| is_at_or_below(&full, known));
            let harmless = HARMLESS.iter().any(|known| is_at_or_below(&full, known));
            return (!readable && !harmless).then_some(full);
        }
        if !path.split('/').any(|name| name == "..") {
            return None;
        }
        let from_here =
            self.below.as_deref().map_or_else(|| path.to_owned(), |below| format!("{below}/{path}"));
        climbs(from_here.trim_start_matches('/')).then(|| path.to_owned())
    }
}

fn is_at_or_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// `~`, `~/x`, `~other/x`, also as a value; not `HEAD~1` nor `file~`.
fn home(word: &str) -> Option<String> {
    let begins = word.split(['=', ':']).find(|part| part.starts_with('~'))?;
    let rest = begins.trim_start_matches('~');
    // `~3` and the like are numbers of commits, `~=` compares.
    let is_place =
        rest.is_empty() || rest.starts_with(|c: char| c == '/' || c == '+' || c == '-' || c.is_alphabetic());
    is_place.then(|| begins.to_owned())
}

fn variable(word: &str) -> Option<String> {
    word.match_indices('$').find_map(|(at, _)| {
        let name = word[at + 1..].trim_start_matches('{');
        VARIABLES.iter().find(|known| name.starts_with(**known)).map(|known| format!("${known}"))
    })
}

#[cfg(test)]
mod tests;
