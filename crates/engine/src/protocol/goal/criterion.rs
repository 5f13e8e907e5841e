//! When a goal is reached, as a value: its shape, what may be wrong with it, how it reads. How it is checked is the
//! protocol's.

use crate::masked::masked;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use super::predicate;
use crate::tool::place::climbs;
use crate::tool::request::is_web_address;

/// How deep `all` and `any` go into each other, and how many things are checked.
pub const DEEPEST: usize = 8;
pub const MOST_LEAVES: usize = 64;
/// The most a compiled pattern may take.
const LARGEST_PATTERN: usize = 1024 * 1024;
/// The most files that a command may have to leave as evidence.
const MOST_EVIDENCE: usize = 8;
/// The most of a text that is shown in a sentence.
const SHOWN: usize = 120;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// A command ends with this code.
    Shell {
        command: String,
        exit_code: i32,
        timeout_ms: u64,
        /// Files that the command must have written, below the worker's folder: what the running thing showed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        evidence: Vec<String>,
    },
    /// `dot.path op literal`, of a JSON file.
    Json {
        file: String,
        predicate: String,
    },
    File {
        path: String,
        check: FileCheck,
    },
    Http {
        url: String,
        status: u16,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        contains: Option<String>,
    },
    /// A model that sees the evidence says yes.
    Judge {
        question: String,
    },
    /// A model that sees a picture says yes. The command writes the picture to `file`, below the worker's folder.
    Vision {
        command: String,
        file: String,
        expected: String,
    },
    /// A person says so.
    Manual,
    All(Vec<Criterion>),
    Any(Vec<Criterion>),
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileCheck {
    Exists,
    Contains(String),
    /// A regular expression; `^` and `$` stand for the ends of a line.
    Matches(String),
}

impl Criterion {
    /// What keeps it from ever being checked.
    pub fn problem(&self) -> Option<String> {
        if self.depth() > DEEPEST {
            return Some(format!("the success criterion is nested more than {DEEPEST} deep"));
        }
        if self.leaves().len() > MOST_LEAVES {
            return Some(format!("the success criterion has more than {MOST_LEAVES} parts"));
        }
        let mut open = vec![self];
        while let Some(one) = open.pop() {
            if let Some(problem) = one.own_problem() {
                return Some(problem);
            }
            open.extend(one.parts().iter().rev());
        }
        None
    }

    fn own_problem(&self) -> Option<String> {
        let blank = |text: &str, what: &str| text.trim().is_empty().then(|| format!("{what} is empty"));
        match self {
            Self::Shell { command, timeout_ms, evidence, .. } => {
                blank(command, "the command of a success criterion")
                    .or_else(|| (*timeout_ms == 0).then(|| format!("`{}` is given no time", short(command))))
                    .or_else(|| evidence.iter().find_map(|path| wrong_path(path)))
                    .or_else(|| {
                        let too_many = evidence.len() > MOST_EVIDENCE;
                        too_many
                            .then(|| format!("a command may leave at most {MOST_EVIDENCE} files as evidence"))
                    })
            }
            Self::Json { file, predicate } => wrong_path(file).or_else(|| predicate::parse(predicate).err()),
            Self::File { path, check } => wrong_path(path).or_else(|| match check {
                FileCheck::Exists => None,
                FileCheck::Contains(text) => {
                    text.is_empty().then(|| format!("what `{}` should contain is empty", short(path)))
                }
                FileCheck::Matches(pattern) => compiled(pattern).err(),
            }),
            Self::Http { url, status, .. } => {
                if !is_web_address(url) {
                    Some(format!("`{}` is no http or https address", short(url)))
                } else if !(100..600).contains(status) {
                    Some(format!("{status} is no status a server answers with"))
                } else {
                    None
                }
            }
            Self::Judge { question } => blank(question, "the question of a success criterion"),
            Self::Vision { command, file, expected } => {
                blank(command, "the command that makes the picture of a success criterion")
                    .or_else(|| wrong_path(file))
                    .or_else(|| blank(expected, "what a picture should show"))
            }
            Self::Manual => None,
            Self::All(parts) => parts.is_empty().then(|| "`all` of no criteria".to_owned()),
            Self::Any(parts) => parts.is_empty().then(|| "`any` of no criteria".to_owned()),
        }
    }

    /// One line for prompts and people.
    pub fn humanised(&self) -> String {
        match self {
            Self::Shell { command, exit_code, evidence, .. } if evidence.is_empty() => {
                format!("`{}` exits with {exit_code}", line(command))
            }
            Self::Shell { command, exit_code, evidence, .. } => {
                let written = line(&evidence.join(", "));
                format!("`{}` exits with {exit_code} and writes {written}", line(command))
            }
            Self::Json { file, predicate } => format!("in {}: {}", line(file), line(predicate)),
            Self::File { path, check } => match check {
                FileCheck::Exists => format!("{} exists", line(path)),
                FileCheck::Contains(text) => format!("{} contains `{}`", line(path), line(text)),
                FileCheck::Matches(pattern) => format!("{} matches `{}`", line(path), line(pattern)),
            },
            Self::Http { url, status, contains } => {
                let answers = format!("{} answers with {status}", masked(&line(url)));
                contains
                    .as_ref()
                    .map_or_else(|| answers.clone(), |c| format!("{answers} and contains `{}`", line(c)))
            }
            Self::Judge { question } => format!("a judge says yes to: {}", line(question)),
            Self::Vision { command, expected, .. } => {
                format!("the picture made by `{}` shows: {}", line(command), line(expected))
            }
            Self::Manual => "a person says that it is done".to_owned(),
            Self::All(parts) => format!("all of: {}", list(parts)),
            Self::Any(parts) => format!("any of: {}", list(parts)),
        }
    }

    /// Everything that is checked, in the order it is written.
    pub fn leaves(&self) -> Vec<&Self> {
        let mut leaves = Vec::new();
        let mut open = vec![self];
        while let Some(one) = open.pop() {
            match one {
                Self::All(parts) | Self::Any(parts) => open.extend(parts.iter().rev()),
                leaf => leaves.push(leaf),
            }
        }
        leaves
    }

    /// Whether checking this leaf costs neither money nor a person's time.
    pub const fn is_free(&self) -> bool {
        !matches!(self, Self::Judge { .. } | Self::Vision { .. } | Self::Manual)
    }

    fn parts(&self) -> &[Self] {
        match self {
            Self::All(parts) | Self::Any(parts) => parts,
            _ => &[],
        }
    }

    fn depth(&self) -> usize {
        let mut deepest = 0;
        let mut open = vec![(self, 0)];
        while let Some((one, depth)) = open.pop() {
            deepest = deepest.max(depth);
            open.extend(one.parts().iter().map(|part| (part, depth + 1)));
        }
        deepest
    }
}

/// Whether a file is as it should be; `content` is none if there is no such file. The error goes on from the file's
/// name: `src/a.rs does not exist`.
pub fn file_holds(check: &FileCheck, content: Option<&str>) -> Result<(), String> {
    let Some(content) = content else { return Err("does not exist".to_owned()) };
    match check {
        FileCheck::Exists => Ok(()),
        FileCheck::Contains(text) if content.contains(text) => Ok(()),
        FileCheck::Contains(text) => Err(format!("does not contain `{}`", short(text))),
        FileCheck::Matches(pattern) if compiled(pattern)?.is_match(content) => Ok(()),
        FileCheck::Matches(pattern) => Err(format!("has nothing that matches `{}`", short(pattern))),
    }
}

fn compiled(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .multi_line(true)
        .size_limit(LARGEST_PATTERN)
        .dfa_size_limit(LARGEST_PATTERN)
        .nest_limit(64)
        .build()
        .map_err(|_| format!("`{}` is no regular expression, or too large a one", short(pattern)))
}

fn wrong_path(path: &str) -> Option<String> {
    if path.trim().is_empty() {
        return Some("the file of a success criterion has no name".to_owned());
    }
    if path.chars().any(char::is_control) {
        return Some(format!("`{}` holds a control character", short(path)));
    }
    (path.starts_with('/') || path.starts_with('~') || climbs(path))
        .then(|| format!("`{}` must be a path below the project's folder", short(path)))
}

fn list(parts: &[Criterion]) -> String {
    let said: Vec<String> = parts
        .iter()
        .map(
            |part| if part.parts().is_empty() { part.humanised() } else { format!("({})", part.humanised()) },
        )
        .collect();
    said.join("; ")
}

/// In one line.
fn line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|w| !w.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn short(text: &str) -> String {
    let text = line(text);
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests;
