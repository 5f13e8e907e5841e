//! The reading room: how what a critic replied becomes typed values. Protocols say what they need; none of them takes
//! text apart itself, and nothing here decides what follows from a reply.
//!
//! A reply is cleaned of what transports leave in it (`clean`, `envelope`), quotations of the work are set aside (`quoted`), thinking
//! and what tools print are cut (`reasoning`, `log`), markup is read as lines or fields (`markup`, `wire`). Then one
//! reader each: verdict words (`forms`), lists, tables, headings and fences (`lines`), JSON reports (`json`, `relaxed`), places
//! (`place`), quantities (`quantity`), quotes (`quote`), and what speaks against an approval (`doubt`). `shown` makes data harmless before it goes into a brief, from the same table of forms. `person` goes the
//! other way: it puts a person's verdict in the form that is read.
//!
//! Reading is asymmetric. What may be read as approval is closed; leniency beyond it only rejects.

pub mod audit;
mod beside;
pub mod citations;
pub mod clean;
pub mod doubt;
mod english;
mod envelope;
pub mod forms;
pub mod json;
pub mod lines;
mod log;
mod markup;
pub mod pass;
pub mod person;
pub mod place;
pub mod quantity;
pub mod quote;
pub mod quoted;
pub mod reasoning;
pub mod relaxed;
pub mod score;
pub mod shown;
pub mod status;
mod wire;
pub mod word;

use std::borrow::Cow;

use crate::brief::one_line;

/// A longer reply is not read: no critic writes that much.
pub const LONGEST_REPLY: usize = 4 << 20;
/// The most of a passage that is shown to the critic again, in characters.
const LONGEST_PASSAGE: usize = 240;
/// The most of a problem that is told, in bytes.
const LONGEST_PROBLEM: usize = 1_200;

/// What a critic says in a text: without what it thought, and what its tools printed. HTML and elements are read as lines.
fn said(text: &str, states: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let said = reasoning::without_thinking(text, states);
    let lines = if said.trim_start().starts_with('<') { markup::html(&said) } else { None };
    let said = lines.map_or(said, Cow::Owned);
    let said = markup::elements(&said).map_or(said, Cow::Owned);
    let said = unquoted(&said).map_or(said, Cow::Owned);
    let kept = log::without(&said);
    kept.map_or(said, Cow::Owned)
}

/// A reply that is set off as a whole: every line of it begins with `>`, and it has more than one.
fn unquoted(text: &str) -> Option<String> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    if !text.trim_start().starts_with('>') || !lines.all(|line| line.trim_start().starts_with('>')) {
        return None;
    }
    let inner: Vec<&str> = text.lines().map(|line| line.trim_start().trim_start_matches('>')).collect();
    let several = inner.iter().filter(|line| !line.trim().is_empty()).count() > 1;
    several.then(|| {
        inner.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
    })
}

/// Why a reply is no verdict: what is wrong with it and, where it contradicts itself, the two passages that do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unread {
    pub problem: String,
    pub passages: Vec<String>,
}

impl Unread {
    pub fn new(problem: impl Into<String>) -> Self {
        let problem: String = problem.into();
        let end = problem.floor_char_boundary(LONGEST_PROBLEM);
        let problem = if end < problem.len() { format!("{}…", &problem[..end]) } else { problem };
        Self { problem, passages: Vec::new() }
    }

    /// It says one thing here and another there.
    pub fn torn(problem: impl Into<String>, one: &str, other: &str) -> Self {
        Self { passages: vec![passage(one), passage(other)], ..Self::new(problem) }
    }

    /// What was said, for whoever is asked again: the problem, and the passages.
    pub fn told(&self) -> String {
        match self.passages.as_slice() {
            [] => self.problem.clone(),
            passages => format!(
                "{}. You wrote:\n{}",
                self.problem,
                passages.iter().map(|p| format!("  “{p}”")).collect::<Vec<_>>().join("\n")
            ),
        }
    }
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.problem)?;
        match self.passages.as_slice() {
            [one, other] => write!(f, ": “{one}” and “{other}”"),
            _ => Ok(()),
        }
    }
}

fn passage(text: &str) -> String {
    let start: String = text.chars().take(LONGEST_PASSAGE * 4).collect();
    let line = one_line(&start);
    match line.char_indices().nth(LONGEST_PASSAGE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
