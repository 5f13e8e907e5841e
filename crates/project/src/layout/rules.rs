//! What rules and memory hold line by line: invariants, learnings, the sections of a file of rubrics.

use std::path::PathBuf;

use gadfly_engine::deduction::words;

use super::Doc;
use crate::place::{Problem, SourceSpan};

/// More lines of one kind than these are not kept.
const MOST: usize = 2_000;
/// Where a problem stands costs the length of the file to find.
const MOST_SAID: usize = 200;

/// `**INV-7.** Every figure has a caption.`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariant {
    pub id: String,
    pub text: String,
    pub path: PathBuf,
    pub line: usize,
}

/// `[LEARN:style] No em dashes.`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LearnedRule {
    pub tag: String,
    pub text: String,
    pub path: PathBuf,
    pub line: usize,
}

/// A rubric as text, with what `deduction_table::read` needs to read its table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProjectRubric {
    /// From the project's root.
    pub path: PathBuf,
    /// The heading it stands under, in a file with several.
    pub section: Option<String>,
    pub text: String,
}

/// A heading's level and text.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let hashes = line.bytes().take_while(|b| *b == b'#').count();
    let text = line.get(hashes..)?.strip_prefix(' ')?;
    (1..=6).contains(&hashes).then(|| (hashes, text.trim().trim_end_matches('#').trim()))
}

/// Lines outside code fences, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    text.trim_start_matches('\u{feff}').lines().enumerate().filter_map(move |(n, line)| {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => return Some((n + 1, line)),
            _ => {}
        }
        None
    })
}

/// Each id once: what stands first counts, as the earlier layer does.
pub(super) fn invariants(docs: &[Doc], guessed: &mut Vec<Problem>) -> Vec<Invariant> {
    let mut found: Vec<Invariant> = Vec::new();
    for doc in docs {
        // The invariant whose lines go on.
        let mut open: Option<Invariant> = None;
        for (line, text) in prose(&doc.text) {
            let trimmed = unbulleted(text);
            let goes_on = !trimmed.is_empty() && heading(text).is_none() && trimmed == text.trim();
            if let Some((id, rest)) = invariant(trimmed) {
                keep(&mut found, open.take(), doc, guessed);
                open = Some(Invariant { id, text: rest, path: doc.path.clone(), line });
            } else if !goes_on {
                keep(&mut found, open.take(), doc, guessed);
            } else if let Some(open) = &mut open {
                open.text.push(' ');
                open.text.push_str(trimmed);
            }
        }
        keep(&mut found, open.take(), doc, guessed);
    }
    found
}

fn keep(found: &mut Vec<Invariant>, new: Option<Invariant>, doc: &Doc, guessed: &mut Vec<Problem>) {
    let Some(new) = new.filter(|_| found.len() < MOST) else { return };
    if let Some(other) = found.iter().find(|other| other.id == new.id) {
        if guessed.len() >= MOST_SAID {
            return;
        }
        let message = format!("{} is stated again; {}:{} counts", new.id, other.path.display(), other.line);
        let start: usize = doc.text.split_inclusive('\n').take(new.line - 1).map(str::len).sum();
        let place = SourceSpan::new(&doc.path, &doc.text, start..start);
        guessed.push(Problem::warning(message).at(Some(&place)));
    } else {
        found.push(new);
    }
}

fn unbulleted(line: &str) -> &str {
    let line = line.trim();
    ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim_start()
}

/// `**INV-7.** text`, `**INV-7:** text`, `**INV-7**: text`, `**INV-7. Title.** text`.
fn invariant(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix("**INV-")?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) =
        rest.split_at_checked(digits).filter(|(number, _)| (1..=6).contains(&number.len()))?;
    let (title, text) = rest.split_once("**")?;
    let title = title.trim_start_matches(['.', ':', ' ']).trim();
    let text = text.trim_start_matches([':', '.', ' ']).trim();
    let both = if title.is_empty() { text.to_owned() } else { format!("{title} {text}") };
    Some((format!("INV-{number}"), both.trim().to_owned()))
}

/// Lines that begin with `[LEARN:tag]`, perhaps as bullets.
pub(super) fn learned(docs: &[Doc]) -> Vec<LearnedRule> {
    let of = |doc: &Doc| -> Vec<LearnedRule> {
        let lines = prose(&doc.text).filter_map(|(line, text)| {
            let text = unbulleted(text);
            let (tag, text) = text.strip_prefix("[LEARN:")?.split_once(']')?;
            let (tag, text) = (tag.trim().to_owned(), text.trim().to_owned());
            let is_said = !tag.is_empty() && !text.is_empty();
            is_said.then(|| LearnedRule { tag, text, path: doc.path.clone(), line })
        });
        lines.take(MOST).collect()
    };
    docs.iter().flat_map(of).collect()
}

/// What stands under the heading that is, or begins with, this critic's name, with all headings below it.
pub(super) fn section(doc: &Doc, critic: &str) -> Option<ProjectRubric> {
    let wanted: Vec<String> = words(critic).collect();
    let begins = |text: &str| !wanted.is_empty() && words(text).take(wanted.len()).eq(wanted.iter().cloned());
    let lines: Vec<&str> = doc.text.lines().collect();
    let mut headings =
        prose(&doc.text).filter_map(|(n, line)| heading(line).map(|(level, text)| (n, level, text)));
    let (start, level, name) = headings.find(|(_, _, text)| begins(text))?;
    let end = headings.find(|(_, next, _)| *next <= level).map_or(lines.len(), |(n, ..)| n - 1);
    let text = lines.get(start..end).unwrap_or_default().join("\n");
    Some(ProjectRubric {
        path: doc.path.clone(),
        section: Some(name.to_owned()),
        text: text.trim().to_owned(),
    })
}

/// The file that is a critic's own rubric.
pub(super) fn own_rubric(doc: &Doc) -> ProjectRubric {
    let start = crate::markdown::body_start(&doc.text);
    let text = doc.text.get(start..).unwrap_or_default().trim().to_owned();
    ProjectRubric { path: doc.path.clone(), section: None, text }
}
