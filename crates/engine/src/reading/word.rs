//! Finds the one word a model was asked to begin its answer with, however it is dressed: `**STUCK**`,
//! `Verdict: STUCK`, a code fence above it, the reason on the same line. A word somewhere in a sentence is none.

use super::{clean, forms, reasoning};

/// More of a reply is not looked at.
const LONGEST: usize = 64 * 1024;
/// The most of a reason that is kept, in characters.
pub const LONGEST_REASON: usize = 300;

/// What models put around and before the word.
const DRESS: [char; 22] = [
    '*', '_', '`', '#', '>', '"', '\'', '“', '”', '‘', '’', '[', ']', '(', ')', '{', '}', '-', '•', '~', '|',
    '<',
];
const SEPARATORS: [char; 9] = [':', '.', ',', ';', '-', '–', '—', '=', '!'];
const LABELS: [&str; 8] =
    ["my verdict", "final verdict", "the verdict", "verdict", "final answer", "answer", "status", "line 1"];

/// The word a reply begins with, and what is said beside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// Its place among the words that were allowed.
    pub which: usize,
    /// One line; empty if nothing is said.
    pub reason: String,
}

/// Why a reply is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Untold {
    Empty,
    /// Its first line begins with none of the words.
    NoWord,
    /// Different words begin different lines, or several are listed.
    Several,
}

pub fn read(reply: &str, words: &[&str]) -> Result<Told, Untold> {
    let reply = clean::reply(&reply[..reply.floor_char_boundary(LONGEST)]);
    let said =
        reasoning::without_thinking(&reply, |above| above.lines().any(|line| leading(line, words).is_some()));
    let mut lines = said.lines().map(str::trim).filter(|line| !is_dressing(line)).peekable();
    if lines.peek().is_none() {
        return Err(Untold::Empty);
    }
    let first = lines.find(|line| !is_label(line)).ok_or(Untold::NoWord)?;
    let (which, rest) = leading(first, words).ok_or(Untold::NoWord)?;
    if lists_another(rest, words) {
        return Err(Untold::Several);
    }
    let mut reason = vec![rest.trim_start_matches(is_dress_or_separator)];
    for line in lines {
        if leading(line, words).is_some_and(|(other, _)| other != which) {
            return Err(Untold::Several);
        }
        reason.push(line);
    }
    Ok(Told { which, reason: one_line(&reason) })
}

/// The beginning of a reply, in one line.
pub fn beginning(reply: &str) -> String {
    one_line(&[&reply[..reply.floor_char_boundary(4 * LONGEST_REASON)]])
}

/// The word a line begins with, and the rest of the line. A word that is not in capitals and goes straight on
/// into a sentence is part of the sentence: `Achieved nothing so far`.
fn leading<'a>(line: &'a str, words: &[&str]) -> Option<(usize, &'a str)> {
    if line.trim_start().starts_with(forms::STAND_IN) {
        return None;
    }
    let bare = without_label(line.trim_start_matches(is_dress_or_space));
    let end = bare.find(|c: char| !c.is_alphanumeric()).unwrap_or(bare.len());
    let (word, rest) = bare.split_at(end);
    let which = words.iter().position(|known| known.eq_ignore_ascii_case(word))?;
    let in_capitals = word.chars().all(char::is_uppercase);
    let after = rest.trim_start();
    let goes_on = match after.chars().next() {
        None => false,
        Some('?') => return None,
        // `no_one`, `YES'`: part of a longer word.
        Some('_' | '\'' | '’') if rest.len() == after.len() && continues(after) => return None,
        Some(next) => !is_dress_or_separator(next),
    };
    (in_capitals || !goes_on).then_some((which, rest))
}

fn continues(after: &str) -> bool {
    after.chars().nth(1).is_some_and(char::is_alphanumeric)
}

/// `STUCK | ACHIEVED`, `YES/NO`: a list of what could be said.
fn lists_another(rest: &str, words: &[&str]) -> bool {
    let rest = rest.trim_start_matches(['*', '`', '_', ' ', '"']);
    let after = ["|", "/", ", ", "or "].iter().find_map(|mark| rest.strip_prefix(mark));
    after.is_some_and(|after| {
        let after = after.trim_start().strip_prefix("or ").unwrap_or(after);
        let after = after.trim_start_matches(is_dress_or_space);
        let end = after.find(|c: char| !c.is_alphanumeric()).unwrap_or(after.len());
        words.iter().any(|word| word.eq_ignore_ascii_case(&after[..end]))
    })
}

/// A line that says nothing: empty, a fence, a rule.
fn is_dressing(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~") || line.chars().all(is_dress_or_separator)
}

/// `Verdict:` on a line of its own.
fn is_label(line: &str) -> bool {
    let bare = line.trim_start_matches(is_dress_or_space);
    let rest = without_label(bare);
    rest.len() < bare.len() && rest.is_empty()
}

/// What follows `Verdict:`, `The verdict is`, and the like.
fn without_label(bare: &str) -> &str {
    let label = LABELS.iter().find(|label| {
        bare.get(..label.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(label))
            && !bare[label.len()..].starts_with(char::is_alphanumeric)
    });
    let Some(label) = label else { return bare };
    let rest = bare[label.len()..].trim_start_matches(is_dress_or_separator);
    rest.strip_prefix("is ").unwrap_or(rest).trim_start_matches(is_dress_or_separator)
}

fn is_dress_or_space(c: char) -> bool {
    DRESS.contains(&c) || c.is_whitespace()
}

fn is_dress_or_separator(c: char) -> bool {
    is_dress_or_space(c) || SEPARATORS.contains(&c)
}

fn one_line(lines: &[&str]) -> String {
    let joined = lines
        .iter()
        .flat_map(|line| line.split(|c: char| c.is_whitespace() || c.is_control()))
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let plain = joined.trim_matches(['*', '`', '_', '"', ' ']);
    let said = ["reason:", "because:"].iter().find_map(|label| {
        plain
            .get(..label.len())
            .filter(|begin| begin.eq_ignore_ascii_case(label))
            .map(|_| &plain[label.len()..])
    });
    let said = said.unwrap_or(plain).trim_start_matches(['*', '`', '_', ' ']);
    if said.chars().nth(LONGEST_REASON).is_none() {
        return said.to_owned();
    }
    let kept: String = said.chars().take(LONGEST_REASON - 1).collect();
    format!("{kept}…")
}
