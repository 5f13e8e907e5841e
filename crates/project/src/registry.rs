//! Reads a registry of agents (`permissions.md`): who needs what, makes what, is judged by whom.
//!
//! Any text can be read: what is wrong is listed, all of it, each thing with its place, and whatever is not understood
//! for certain stays a condition for a person. Nothing here looks at other files or decides who runs: that is the
//! engine's. The user's file is never written.

mod check;
mod entry;
mod field;
mod need;
mod path;
mod product;
mod resolve;
mod section;
pub mod usual;
mod value;
mod weight;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use gadfly_engine::digest::Digest;
use gadfly_engine::pipeline::Registry;

pub use check::{CheckContext, check, notes};
pub use field::Field;
pub use resolve::{named, resolved};

use crate::file;
use crate::place::{Problem, SourceSpan};

/// More problems than these are only counted.
const MOST_PROBLEMS: usize = 50;
/// Real registries have a dozen agents; comparing all with all stays cheap up to here.
const MOST_ENTRIES: usize = 2_000;
const MOST_CONDITIONS: usize = 20_000;

/// A registry as it was read.
#[derive(Clone, Debug, Default)]
pub struct RegistryFile {
    /// The name shown to people.
    pub path: PathBuf,
    pub registry: Registry,
    pub coverage: ConditionCoverage,
    /// What is wrong with the text by itself; what is wrong with the graph comes from [`check`].
    pub problems: Vec<Problem>,
    /// Fields that mean nothing here, with their lines.
    pub unknown: Vec<(String, u32)>,
    /// What was read and is nothing a machine could use: `data codebooks` among the products.
    pub notes: Vec<RegistryNote>,
    /// It has more agents than are read. Then nothing is told of it but that.
    pub too_many: bool,
    text: String,
    /// Where its lines begin: finding a place must not cost the length of the file.
    line_starts: Vec<usize>,
    /// One for each entry.
    spans: Vec<Spans>,
}

/// How many conditions a machine can check. What stands under a heading with several names is counted once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConditionCoverage {
    pub checked: usize,
    pub manual: usize,
}

impl std::fmt::Display for ConditionCoverage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} conditions machine-checked", self.checked, self.checked + self.manual)
    }
}

/// Worth knowing, and nothing to mend.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegistryNote {
    pub text: String,
    /// From 1.
    pub line: u32,
}

/// Where the parts of an entry stand.
#[derive(Clone, Debug, Default)]
struct Spans {
    name: Range<usize>,
    values: BTreeMap<Field, Range<usize>>,
    /// In the order of `Need::atoms`.
    atoms: Vec<Range<usize>>,
    products: Vec<Range<usize>>,
}

impl RegistryFile {
    /// Of its text: what is agreed to when it is.
    pub fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }

    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(Problem::is_error)
    }

    /// A whole line, from 1.
    pub(crate) fn line(&self, line: u32) -> SourceSpan {
        let nth = usize::try_from(line).unwrap_or(1).saturating_sub(1);
        let start = self.line_starts.get(nth).copied().unwrap_or(self.text.len());
        let length = self.text.get(start..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
        self.place(&(start..start + length))
    }

    fn place(&self, span: &Range<usize>) -> SourceSpan {
        place(&self.path, &self.text, &self.line_starts, span)
    }
}

/// As [`SourceSpan::new`], without counting lines.
fn place(path: &Path, text: &str, line_starts: &[usize], span: &Range<usize>) -> SourceSpan {
    let before = line_starts.partition_point(|start| *start <= span.start.min(text.len())).max(1) - 1;
    let line_start = line_starts.get(before).copied().unwrap_or(0);
    let local = |at: usize| at.saturating_sub(line_start);
    let place =
        SourceSpan::new(path, text.get(line_start..).unwrap_or_default(), local(span.start)..local(span.end));
    let span = place.span.start + line_start..place.span.end + line_start;
    SourceSpan { span, line: place.line + before, ..place }
}

/// Reads the text of the file at `path`; the path is only what people are shown.
pub fn parse(path: &Path, text: &str) -> RegistryFile {
    let mut reading = RegistryReader::new(path, text);
    if u64::try_from(text.len()).is_ok_and(|length| length <= file::LARGEST) {
        let sections = section::all(text, &mut reading);
        reading.names = sections.iter().flat_map(entry::people).collect();
        for section in sections {
            entry::read(section, &mut reading);
            if reading.file.too_many {
                break;
            }
        }
        if reading.file.registry.entries.is_empty() && !reading.file.has_errors() {
            let help = "an agent is a heading with its name, and under it `- **REQUIRES:** …` and `- **PRODUCES:** …`";
            reading.problem(Problem::warning("no agent is declared here").help(help), &(0..0));
        }
    } else {
        let message = format!("the registry is larger than {} bytes", file::LARGEST);
        reading.problem(Problem::error(message), &(0..0));
    }
    reading.finish()
}

/// Collects what is read and what is wrong.
struct RegistryReader<'a> {
    text: &'a str,
    line_starts: Vec<usize>,
    file: RegistryFile,
    /// Who has a heading or is a critic, in lower case.
    names: HashSet<String>,
    conditions: usize,
    unnamed: usize,
    unnamed_error: bool,
}

impl<'a> RegistryReader<'a> {
    fn new(path: &Path, text: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self {
            text,
            line_starts: std::iter::once(0).chain(breaks).collect(),
            file: RegistryFile { path: path.to_owned(), ..RegistryFile::default() },
            names: HashSet::new(),
            conditions: 0,
            unnamed: 0,
            unnamed_error: false,
        }
    }

    /// Too many agents: that is all there is to say. What else is wrong cannot be told of a part.
    fn overflow(&mut self, at: &Range<usize>) {
        let path = std::mem::take(&mut self.file.path);
        self.file = RegistryFile { path, too_many: true, ..RegistryFile::default() };
        (self.unnamed, self.unnamed_error) = (0, false);
        let message = format!("this registry has more than {MOST_ENTRIES} agents");
        self.error(message, "split the project", at);
    }

    /// From 1.
    fn line(&self, at: usize) -> u32 {
        u32::try_from(self.line_starts.partition_point(|start| *start <= at)).unwrap_or(u32::MAX)
    }

    fn problem(&mut self, problem: Problem, span: &Range<usize>) {
        if self.file.problems.len() < MOST_PROBLEMS {
            let place = place(&self.file.path, self.text, &self.line_starts, span);
            self.file.problems.push(problem.at(Some(&place)));
        } else {
            self.unnamed += 1;
            self.unnamed_error |= problem.is_error();
        }
    }

    fn error(&mut self, message: impl Into<String>, help: impl Into<String>, span: &Range<usize>) {
        self.problem(Problem::error(message).help(help), span);
    }

    fn warning(&mut self, message: impl Into<String>, help: impl Into<String>, span: &Range<usize>) {
        self.problem(Problem::warning(message).help(help), span);
    }

    fn note(&mut self, text: &str, at: usize) {
        let line = self.line(at);
        if !text.is_empty() && self.file.notes.len() < MOST_CONDITIONS {
            self.file.notes.push(RegistryNote { text: text.to_owned(), line });
        }
    }

    /// Whether there is room for one more condition or product; the first that has none is an error.
    fn room(&mut self, span: &Range<usize>) -> bool {
        self.conditions += 1;
        if self.conditions == MOST_CONDITIONS + 1 {
            let message = format!("this registry has more than {MOST_CONDITIONS} conditions and products");
            self.error(message, "split the project", span);
        }
        self.conditions <= MOST_CONDITIONS
    }

    fn count(&mut self, is_checked: bool) {
        let coverage = &mut self.file.coverage;
        if is_checked {
            coverage.checked += 1;
        } else {
            coverage.manual += 1;
        }
    }

    fn finish(mut self) -> RegistryFile {
        self.file.problems.sort_by_key(|problem| problem.at.as_ref().map(|at| at.span.start));
        if self.unnamed > 0 {
            let message = format!("and {} more problems", self.unnamed);
            let more = if self.unnamed_error { Problem::error(message) } else { Problem::warning(message) };
            self.file.problems.push(more);
        }
        self.file.text = self.text.to_owned();
        self.file.line_starts = self.line_starts;
        self.file
    }
}
