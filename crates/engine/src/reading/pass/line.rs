//! What a single line of a pass is: an entry, a verdict, how a scenario is weighed, a part of an escalation. Judges nothing.

use super::gather::Subject;
use super::phrases;
use crate::protocol::converge::sets::{ADVERSARIAL, ConvergeCriterion};
use crate::reading::forms::is_pictograph;
use crate::reading::lines::{self, Kind};

pub(super) enum Line<'a> {
    /// With its number, if it has one.
    Header(Option<u32>),
    Escalation,
    Result(&'a str),
    Entry(Subject, &'a str, &'a str),
    /// A table row that answers a criterion: the answer, and its verdict.
    Row(Subject, &'a str, String, String),
    Verdict(&'a str),
    Realistic(&'a str),
    Issue(&'a str),
    Why(&'a str),
    Options(&'a str),
    Numbered(&'a str),
    Plain,
    /// Only shown: in a fence, quoted, or as the brief had it.
    Shown,
}

/// `| Scenario | Realistic? | Why |`: which column weighs.
pub(super) fn weighing_column(line: &str) -> Option<usize> {
    let cells = lines::cells(line.trim());
    let at = cells.iter().position(|cell| {
        let cell = undressed(cell).to_lowercase();
        REALISTIC.iter().any(|label| {
            cell.strip_prefix(label).is_some_and(|rest| rest.trim_matches(['?', '*', ' ']).is_empty())
        })
    });
    at.filter(|at| *at > 0)
}

/// `| Opponent | a query of 1 MB | Y | FAIL + cut it |`: a scenario in a row of a table, and how it is weighed.
pub(super) fn weighed_row(line: &str) -> Option<(String, String)> {
    let cells = lines::cells(line.trim());
    let is_answer =
        |cell: &String| matches!(undressed(cell).to_uppercase().as_str(), "Y" | "N" | "YES" | "NO");
    let at = cells.iter().position(is_answer)?;
    let answer = format!("{} → {}", cells[at], cells[at + 1..].join("; "));
    Some((cells[..at].join(": "), answer))
}

/// `A. …`, `Option 2: …`, `- …`: an option that is not numbered, and no side of one.
pub(super) fn option(line: &str) -> Option<&str> {
    let body = line.trim();
    let lettered = || {
        let rest = body.strip_prefix(|c: char| c.is_ascii_uppercase())?;
        rest.strip_prefix(['.', ')'])?.strip_prefix(' ')
    };
    let worded = || {
        let rest = strip_word(body.trim_start_matches(['*', '_']), "option")?.trim_start();
        let rest = rest.strip_prefix(|c: char| c.is_ascii_alphanumeric())?;
        rest.trim_start_matches(['*', '_']).strip_prefix([':', '.', ')', '—', '–', '-'])
    };
    let rest = worded().or_else(lettered).or_else(|| lines::item(body).map(|item| item.text))?.trim();
    let sides = ["pro", "con", "pros", "cons", "advantage", "disadvantage"];
    let first = rest.split(|c: char| !c.is_alphabetic()).find(|w| !w.is_empty()).unwrap_or_default();
    let signed = body.starts_with(['+', '−']);
    (!sides.iter().any(|side| side.eq_ignore_ascii_case(first)) && !signed).then_some(rest)
}

pub(super) fn classify<'a>(line: &'a str, keys: &[String]) -> Line<'a> {
    let bare = bare(line);
    if let Some(rule) = rule(bare, line) {
        return rule;
    }
    if line.trim_start().starts_with('|') {
        return row(line, keys).unwrap_or(Line::Plain);
    }
    if let Some(inner) = bare.strip_prefix('[') {
        return entry(inner, keys).unwrap_or(Line::Plain);
    }
    if let Some(named) = named(bare, keys).or_else(|| named(lines::number(bare)?.1, keys)) {
        return named;
    }
    // A realistic-line may begin with its arrow.
    let word = strip_arrow(bare).map_or(bare, decorated);
    let dashes = [':', '=', '—', '–', '-', '→'];
    if let Some(rest) = VERDICTS.iter().find_map(|label| labelled(word, label, &dashes)) {
        Line::Verdict(rest)
    } else if let Some(rest) = ["status", "result"]
        .iter()
        .find_map(|label| labelled(word, label, &[':']))
        .filter(|rest| phrases::word(rest).is_some())
    {
        Line::Verdict(rest)
    } else if let Some(rest) =
        REALISTIC.iter().find_map(|label| labelled(word, label, &['?', '？', ':', '：', '-', '—']))
    {
        Line::Realistic(rest)
    } else if let Some(rest) = labelled(word, "is it realistic", &['?']).or_else(|| unlabelled(word)) {
        Line::Realistic(rest)
    } else if let Some(rest) = labelled(bare, "issue", &[':']) {
        Line::Issue(rest)
    } else if let Some(rest) = ["why escalation", "reason for escalation", "escalation reason", "why"]
        .iter()
        .find_map(|label| labelled(bare, label, &[':', '?']))
    {
        Line::Why(rest)
    } else if let Some(rest) = labelled(bare, "options", &[':']) {
        Line::Options(rest)
    } else if let Some(rest) = numbered(bare) {
        Line::Numbered(rest)
    } else {
        Line::Plain
    }
}

/// `Unrealistic: …`, `Not realistic → …`: weighed without the label.
fn unlabelled(word: &str) -> Option<&str> {
    let lower = word.get(..word.floor_char_boundary(24))?.to_lowercase();
    ["unrealistic", "not realistic"].iter().any(|head| lower.starts_with(head)).then_some(word)
}

/// Labels before a verdict, and before how a scenario is weighed, in the languages that occur.
const VERDICTS: [&str; 7] = ["verdict", "final verdict", "urteil", "veredicto", "giudizio", "判定", "结论"];

const REALISTIC: [&str; 6] = ["realistic", "realistisch", "réaliste", "realista", "现实", "現実的"];

/// `COVERAGE: …`, `**COVERAGE** — …`, `### COVERAGE`: a criterion's name without brackets.
fn named<'a>(bare: &'a str, keys: &[String]) -> Option<Line<'a>> {
    let head = bare.char_indices().nth(80).map_or(bare, |(end, _)| &bare[..end]);
    let end =
        head.find([':', '→', '—', '–', '*', '(', '|']).or_else(|| head.find(" - ")).unwrap_or(head.len());
    let name = &head[..end];
    if end == head.len() && head.len() < bare.len() {
        return None;
    }
    let key = ConvergeCriterion::key(name);
    if key.is_empty() {
        return None;
    }
    let subject = if let Some(at) = keys.iter().position(|k| *k == key) {
        Subject::Criterion(at)
    } else if is_adversarial(&key)
        || key == "FAILURE_SCENARIO" && !bare.to_lowercase().starts_with("failure scenario:")
    {
        Subject::Adversarial
    } else {
        return None;
    };
    let rest = bare[end..].trim_start_matches(['*', '_', '`', ':', ' ', '—', '–', '-']);
    Some(Line::Entry(subject, name.trim_matches(['*', '_', '`', ' ']), rest))
}

/// `ADVERSARIAL`, `ADVERSARIAL 2`, `ADVERSARIAL – SCEPTIC`.
fn is_adversarial(key: &str) -> bool {
    key.strip_prefix(ADVERSARIAL).is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
}

/// `| COVERAGE | 3 of 3 | PASS |`
fn row<'a>(line: &'a str, keys: &[String]) -> Option<Line<'a>> {
    let read = lines::read(line).into_iter().next()?;
    let Kind::Row(cells) = read.kind else { return None };
    let (name, rest) = cells.split_first()?;
    let key = ConvergeCriterion::key(name);
    let at = keys.iter().position(|k| *k == key).map(Subject::Criterion);
    let subject = at.or_else(|| is_adversarial(&key).then_some(Subject::Adversarial))?;
    let verdict = rest.iter().rposition(|cell| phrases::word(undressed(cell)).is_some())?;
    let answer: Vec<&str> =
        rest.iter().enumerate().filter(|(n, _)| *n != verdict).map(|(_, cell)| cell.as_str()).collect();
    let start = line.find(|c: char| c.is_alphanumeric())?;
    let name = line[start..].split('|').next().unwrap_or_default().trim();
    Some(Line::Row(subject, name, answer.join("; "), rest[verdict].clone()))
}

/// Emphasis and blanks off the front.
fn decorated(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`'))
}

/// Emphasis, blanks and pictures off the front.
pub(super) fn undressed(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`') || is_pictograph(c))
}

/// The line without indentation, list mark or number, heading mark and emphasis before its first word.
fn bare(line: &str) -> &str {
    let body = line.trim();
    let body = body.trim_start_matches(['#', ' ']);
    let after_number = || {
        let digits = body.bytes().take_while(u8::is_ascii_digit).count();
        let rest = body.get(digits..)?.strip_prefix(['.', ')'])?.trim_start();
        ((1..=2).contains(&digits) && rest.trim_start_matches(['*', '_', '`']).starts_with('['))
            .then_some(rest)
    };
    let marks = ['-', '*', '•', '+', '◦', '▪', '●', '‣', '–', '—'];
    let body = marks
        .iter()
        .find_map(|mark| body.strip_prefix(*mark)?.strip_prefix(' '))
        .or_else(after_number)
        .unwrap_or(body);
    undressed(body.trim_start_matches(['#', ' ']))
}

/// `=== CRITIC 1 ===`, `## CRITIC 1`, `=== CRITIC ESCALATION (1) ===`, `=== Result: … ===`, `Result: …`.
fn rule<'a>(bare: &'a str, line: &str) -> Option<Line<'a>> {
    let inner = bare.trim_matches(|c: char| c.is_whitespace() || matches!(c, '=' | '*' | '_' | '`' | '#'));
    let framed =
        bare.starts_with("===") || line.trim_start().starts_with(['#', '*', '=']) || inner.len() < 24;
    if let Some(rest) =
        strip_word(inner, "critic").filter(|rest| framed && !rest.trim_start().starts_with([':', ',']))
    {
        return match strip_word(rest.trim(), "escalation") {
            Some(_) => Some(Line::Escalation),
            None if rest.split_whitespace().count() <= 3 => {
                let digits: String = rest.chars().filter(char::is_ascii_digit).collect();
                Some(Line::Header(digits.parse().ok()))
            }
            None => None,
        };
    }
    let rest = labelled(inner, "result", &[':'])?;
    let results = ["converged", "continue", "escalate", "safety cap", "{converged"];
    let lower = rest.to_lowercase();
    let known = results.iter().any(|result| lower.trim_start_matches(['*', '_', '`']).starts_with(result));
    (bare.starts_with("===") || known).then_some(Line::Result(rest))
}

/// `NAME] rest`: a criterion of the plan, the scenario, or a name in capitals that is neither.
fn entry<'a>(inner: &'a str, keys: &[String]) -> Option<Line<'a>> {
    // No name is longer: a hostile line is not searched for its bracket.
    let head = inner.char_indices().nth(80).map_or(inner, |(end, _)| &inner[..end]);
    let (name, _) = head.split_once(']')?;
    let rest = undecorated(inner[name.len() + 1..].trim_start_matches([':', ' ']));
    let key = ConvergeCriterion::key(name);
    let subject = if let Some(at) = keys.iter().position(|k| *k == key) {
        Subject::Criterion(at)
    } else if is_adversarial(&key) {
        Subject::Adversarial
    } else {
        let capitals = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, '_' | ' ' | '-');
        let plain = name.trim_matches(['*', '_', '`']);
        let is_name = plain.len() > 2 && plain.starts_with(|c: char| c.is_ascii_uppercase());
        if !is_name || !plain.chars().all(capitals) || key == "DEFERRED" {
            return None;
        }
        Subject::Unknown
    };
    Some(Line::Entry(subject, name.trim_matches(['*', '_', '`', ' ']), rest))
}

/// The text after `word` and its mark, tolerating emphasis around both.
fn labelled<'a>(text: &'a str, word: &str, marks: &[char]) -> Option<&'a str> {
    Some(undecorated(decorated(strip_word(text, word)?).strip_prefix(marks)?))
}

/// Only emphasis that closes right here: a text may begin with a quotation.
fn undecorated(text: &str) -> &str {
    text.trim_start_matches(['*', '_', '`']).trim()
}

fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    let rest = &text[word.len()..];
    (head.eq_ignore_ascii_case(word) && !rest.starts_with(|c: char| c.is_alphanumeric())).then_some(rest)
}

fn numbered(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 2 {
        return None;
    }
    Some(undecorated(decorated(&text[digits..]).strip_prefix(['.', ')', ':'])?))
}

/// `→`, `->` and their doubles.
pub(super) const ARROWS: [&str; 5] = ["→", "->", "=>", "⇒", "⟶"];

pub(super) fn strip_arrow(text: &str) -> Option<&str> {
    ARROWS.iter().find_map(|arrow| text.strip_prefix(arrow))
}

/// Does the line have the form of a verdict, a header or a result?
pub(super) fn is_verdict(line: &str) -> bool {
    match classify(line, &[]) {
        Line::Verdict(rest) => phrases::word(rest).is_some(),
        Line::Header(_) => line.contains("==="),
        Line::Result(_) => true,
        _ => false,
    }
}
