//! Where a value comes from and what is wrong with it: layers, places in files, problems as plain data.
//!
//! Nothing here draws: the binary turns a `Problem` into a picture with the line and a caret.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use gadfly_engine::masked::masked;
use serde::Serialize;

/// Who wrote a value. A later layer wins over an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ConfigLayer {
    BuiltIn,
    /// The user's own config file: trusted.
    User,
    /// Files of the project, which may come from anyone.
    Project,
    /// The command line: trusted.
    Flags,
}

/// A piece of configuration text, with what is needed to point into it.
#[derive(Clone, Debug)]
pub struct Source {
    pub layer: ConfigLayer,
    /// The name shown to people.
    pub file: PathBuf,
    /// What relative paths in it are relative to.
    pub dir: PathBuf,
    pub text: String,
}

impl Source {
    pub fn new(
        layer: ConfigLayer,
        file: impl Into<PathBuf>,
        dir: impl Into<PathBuf>,
        text: impl Into<String>,
    ) -> Self {
        Self { layer, file: file.into(), dir: dir.into(), text: text.into() }
    }

    pub(crate) fn place(&self, span: Range<usize>) -> SourceSpan {
        SourceSpan::new(&self.file, &self.text, span)
    }
}

/// A stretch of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SourceSpan {
    pub file: PathBuf,
    /// Bytes.
    pub span: Range<usize>,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub col: usize,
}

impl SourceSpan {
    /// The span is clamped to the text and to character boundaries, so that whoever draws it can slice.
    pub fn new(file: &Path, text: &str, span: Range<usize>) -> Self {
        let start = text.floor_char_boundary(span.start.min(text.len()));
        let end = text.ceil_char_boundary(span.end.clamp(start, text.len()));
        let before = text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            file: file.to_owned(),
            span: start..end,
            line: before.matches('\n').count() + 1,
            col: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        }
    }
}

impl fmt::Display for SourceSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.col)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemLevel {
    Warning,
    Error,
}

/// One thing that is wrong, where, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Problem {
    pub severity: ProblemLevel,
    pub message: String,
    pub help: Option<String>,
    pub at: Option<SourceSpan>,
    /// Message and help before options were named as the command line does, where they name any.
    #[serde(skip)]
    unworded: Option<Box<[Option<String>; 2]>>,
}

impl Problem {
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(ProblemLevel::Error, &message.into())
    }

    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(ProblemLevel::Warning, &message.into())
    }

    /// A key that stands where none belongs is not repeated, whoever is told.
    fn new(severity: ProblemLevel, message: &str) -> Self {
        let raw = masked(message);
        let message = worded(&raw, flag);
        let unworded = (message != raw).then(|| Box::new([Some(raw), None]));
        Self { severity, message, help: None, at: None, unworded }
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        let raw = masked(&help.into());
        let help = worded(&raw, flag);
        if help != raw {
            self.unworded.get_or_insert_default()[1] = Some(raw);
        }
        self.help = Some(help);
        self
    }

    pub fn maybe_help(self, help: Option<String>) -> Self {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }

    /// The same with options named as somebody else than the command line names them.
    #[must_use]
    pub fn in_words_of(mut self, name: impl Fn(&str, &str) -> String) -> Self {
        if let Some([message, help]) = self.unworded.as_deref() {
            if let Some(message) = message {
                self.message = worded(message, &name);
            }
            if let Some(help) = help {
                self.help = Some(worded(help, &name));
            }
        }
        self
    }

    pub fn at(mut self, place: Option<&SourceSpan>) -> Self {
        self.at = place.cloned();
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == ProblemLevel::Error
    }
}

/// `error: message` with place and help on lines of their own; the binary draws something nicer.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            ProblemLevel::Warning => "warning",
            ProblemLevel::Error => "error",
        };
        write!(f, "{severity}: {}", self.message)?;
        if let Some(at) = &self.at {
            write!(f, "\n  at {at}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

const OPTION: char = '\u{2}';
const OPTION_END: char = '\u{3}';

/// An option in a problem's text, perhaps with a value (`rounds`, `rubric FILE`, `protocol audit`): whoever shows the problem
/// puts in the name that its reader knows.
pub fn option(named: &str) -> String {
    format!("{OPTION}{named}{OPTION_END}")
}

fn worded(text: &str, name: impl Fn(&str, &str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPTION) {
        let Some((option, after)) = after.split_once(OPTION_END) else { break };
        let (option, value) = option.split_once(' ').unwrap_or((option, ""));
        out.push_str(before);
        out.push_str(&name(option, value));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// As the command line has it.
fn flag(option: &str, value: &str) -> String {
    let dashed = option.replace('_', "-");
    if value.is_empty() { format!("--{dashed}") } else { format!("--{dashed} {value}") }
}

/// A value that remembers who wrote it and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sourced<T> {
    pub value: T,
    pub layer: ConfigLayer,
    /// None for built-in values and flags.
    pub place: Option<SourceSpan>,
}

impl<T> Sourced<T> {
    pub const fn built_in(value: T) -> Self {
        Self { value, layer: ConfigLayer::BuiltIn, place: None }
    }

    pub const fn flag(value: T) -> Self {
        Self { value, layer: ConfigLayer::Flags, place: None }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Sourced<U> {
        Sourced { value: f(self.value), layer: self.layer, place: self.place }
    }

    /// Another value with this one's origin.
    pub fn with<U>(&self, value: U) -> Sourced<U> {
        Sourced { value, layer: self.layer, place: self.place.clone() }
    }
}

/// Text that came from outside, safe to show: what would move the cursor, hide or reorder characters is
/// written as an escape.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_invisible(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// `visible`, cut to a length that fits into a sentence.
pub fn brief(text: &str) -> String {
    const MOST: usize = 60;
    let mut cut: String = text.chars().take(MOST).collect();
    if text.chars().nth(MOST).is_some() {
        cut.push('…');
    }
    visible(&cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_lines_and_characters_from_one() {
        let text = "a = 1\nü = \"x\"\n";
        let place = SourceSpan::new(Path::new("gadfly.toml"), text, 11..14);
        assert_eq!((place.line, place.col), (2, 5));
        assert_eq!(&text[place.span.clone()], "\"x\"");
        assert_eq!(place.to_string(), "gadfly.toml:2:5");
    }

    #[test]
    fn a_span_outside_the_text_or_inside_a_character_is_clamped() {
        let text = "ü";
        assert_eq!(SourceSpan::new(Path::new("f"), text, 1..1).span, 0..2);
        assert_eq!(SourceSpan::new(Path::new("f"), text, 90..99).span, 2..2);
    }

    #[test]
    fn text_that_would_deceive_a_reader_is_shown_as_escapes() {
        assert_eq!(visible("rm\u{202e} \u{1b}[2Jx"), "rm\\u{202e} \\u{1b}[2Jx");
        assert_eq!(visible("naïve – ok"), "naïve – ok");
    }
}
