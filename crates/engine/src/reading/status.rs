//! A critic's verdict on a draft: a status, the fixes a rejection lists, what it says of the items raised before, the
//! reason of an approval. In words or as JSON. What it means for the loop is decided in `protocol/revise`.

mod approval;
mod body;
mod bullet;
mod choice;
mod json;
mod rejection;
mod scope;

use body::{Body, is_minor};
use json::{STATUS_KEYS, from_json};
use serde_json::{Map, Value};

use super::doubt::{self, Rule};
use super::forms::{self, Says, Statement};
use super::json as report;
use super::lines::{self, Line};
use super::quoted::Shown;
use super::wire::Rewritten;
use super::{LONGEST_REPLY, Unread, clean, wire};

/// What an agent is held to that can be.
pub const SCHEMA: &str = include_str!("status/schema.json");

pub const APPROVED: &str = "[STATUS: APPROVED]";
pub const REJECTED: &str = "[STATUS: REJECTED]";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Approved,
    Rejected,
}

/// One point of a reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bullet {
    /// The text without its mark and without the numbers it cites.
    pub text: String,
    /// The text with those numbers, for a reader to whom they mean something else.
    pub whole: String,
    /// Numbers it cites at its beginning: `3:`, `#3`, `(3)`, `Item 3`, `1, 2:`.
    pub cites: Vec<u32>,
    /// The number it is listed under: perhaps that of an item, perhaps only a list's.
    pub listed: Option<u32>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatusReply {
    pub status: Status,
    pub open: Vec<Bullet>,
    pub addressed: Vec<Bullet>,
    pub notes: Vec<String>,
    pub deviations: Vec<String>,
    /// What the critic says for its approval.
    pub reason: String,
    /// It lists what is still open under a heading of its own: then nothing else is.
    pub lists_open: bool,
}

/// Reads a reply to a brief that showed these texts.
pub fn read(reply: &str, shown: &Shown) -> Result<StatusReply, Unread> {
    if reply.len() > LONGEST_REPLY {
        return Err(Unread::new("the reply is far too long: send only the verdict"));
    }
    let text = clean::reply(reply);
    let own = shown.without_quotations(&text);
    let passes = |reply: &StatusReply| reply.status == Status::Approved;
    let read =
        Rewritten::or(wire::as_json(&own), |json| read_own(json, shown), passes, || read_own(&own, shown));
    if read.is_err() && own.len() != text.len() {
        // Nothing readable is left without what is quoted. What is quoted cannot approve; a rejection stands.
        let whole = read_own(&text, shown).ok().filter(|whole| whole.status == Status::Rejected);
        return whole.map_or(read, Ok);
    }
    read
}

fn read_own(text: &str, shown: &Shown) -> Result<StatusReply, Unread> {
    let text = super::said(text, states_a_verdict);
    if text.trim().is_empty() {
        return Err(Unread::new("the reply is empty"));
    }
    let text = choice::taken(&text);
    let is_report = |object: &Map<String, Value>| report::first(object, &STATUS_KEYS).is_some();
    if let Some(found) = report::find(&text, &is_report, &STATUS_KEYS, shown)? {
        let around = lines::read(&found.around);
        // A token in words beside it counts, too, and may contradict it.
        if !statements(&around).iter().any(|(_, s)| s.labelled) {
            return from_json(&found, shown);
        }
    }
    from_lines(&lines::read(&text), shown)
}

fn states_a_verdict(text: &str) -> bool {
    text.lines().any(|line| forms::status(line).is_some_and(|s| s.labelled || line.contains('[')))
        || relaxed_status(text)
}

fn relaxed_status(text: &str) -> bool {
    text.contains('{')
        && super::relaxed::objects(text, 20).iter().any(|object| {
            object.as_object().is_some_and(|object| report::first(object, &STATUS_KEYS).is_some())
        })
}

/// The first line of a draft that states a verdict about itself.
pub fn status_line(text: &str) -> Option<String> {
    let line = text.lines().find(|line| {
        forms::status(&clean::line(line)).is_some_and(|s| s.labelled && s.says != Says::Other)
    })?;
    Some(line.trim().chars().take(200).collect())
}

/// Lines that state a status, outside of fences if there are any there.
fn statements<'l, 't>(lines: &'l [Line<'t>]) -> Vec<(usize, Statement<'t>)> {
    let stated = |fenced: bool| -> Vec<(usize, Statement<'t>)> {
        let of = lines.iter().enumerate().filter(|(_, line)| line.fenced == fenced);
        of.filter_map(|(at, line)| forms::status(line.raw).map(|s| (at, s))).collect()
    };
    let outside = stated(false);
    if outside.is_empty() { stated(true) } else { outside }
}

fn from_lines(lines: &[Line<'_>], shown: &Shown) -> Result<StatusReply, Unread> {
    let mut stated = statements(lines);
    // An unlabelled word beside a labelled statement is a word: `Accepted` as a heading, `Fail` in a list.
    if stated.iter().any(|(_, s)| s.labelled) {
        stated.retain(|(_, s)| s.labelled);
    }
    let Some((first, _)) = stated.first().cloned() else {
        let body = Body::read(lines, &[]);
        // No line states it, and yet a person reads a rejection: `Changes requested`, "I cannot approve this yet".
        if body.prose.iter().any(|(_, said)| doubt::denies(said) || asks_for_changes(said))
            && body.lists_fixes()
        {
            return body.rejected();
        }
        return Err(Unread::new(format!(
            "no line states the status: begin with `{APPROVED}` or `{REJECTED}`"
        )));
    };
    let of = |says: Says| stated.iter().find(|(_, s)| s.says == says);
    let raw = |at: usize| lines.get(at).map_or("", |line| line.raw.trim());
    let body = Body::read(lines, &stated);
    match (of(Says::Approved), of(Says::Rejected), of(Says::Other)) {
        (Some((yes, _)), Some((no, _)), _) => {
            let announced = no < yes && is_announced(lines, *yes);
            if announced && let Ok(rejected) = body.rejected() {
                return Ok(rejected);
            }
            Err(Unread::torn("it states two different verdicts", raw(*yes.min(no)), raw(*yes.max(no))))
        }
        (Some((yes, _)), None, Some((other, _))) => {
            Err(Unread::torn("it states two different verdicts", raw(*yes), raw(*other)))
        }
        // `NEEDS REVISION` above a list of fixes.
        (None, None, Some((at, statement))) if sends_back(statement, raw(*at)) && body.lists_fixes() => {
            body.rejected()
        }
        (None, None, _) => Err(Unread::torn(
            "the status is neither approved nor rejected",
            raw(first),
            &body.items.first().map_or(String::new(), |i| i.text.clone()),
        )),
        (None, Some(_), _) => body.rejected(),
        (Some((yes, statement)), None, None) => {
            if !lines.iter().any(|line| line.fenced) && is_open_bracket(raw(*yes)) {
                return Err(Unread::new("the status line is cut off"));
            }
            if let Some((rule, passage)) = behind(statement) {
                return Err(Unread::torn(rule.sentence(), raw(*yes), &passage));
            }
            body.approved(raw(*yes), lines, shown)
        }
    }
}

/// Does a status that is neither send the work back?
fn sends_back(statement: &Statement<'_>, line: &str) -> bool {
    let word = line.get(statement.word.clone()).unwrap_or_default();
    let words = [
        "needs",
        "changes",
        "revise",
        "revision",
        "major",
        "minor",
        "incomplete",
        "not",
        "almost",
        "partial",
        "partially",
    ];
    forms::is_one_of(word, &words)
}

/// `Changes requested`, `Request changes`, `Revise and resubmit`, alone on a line.
fn asks_for_changes(line: &str) -> bool {
    let words: Vec<String> = line
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let said = words.join(" ");
    words.len() <= 5
        && [
            "changes requested",
            "request changes",
            "changes required",
            "needs revision",
            "needs changes",
            "revise and resubmit",
            "major revision",
            "major revisions",
            "needs work",
            "revision required",
            "not approved",
        ]
        .iter()
        .any(|phrase| said.contains(phrase))
}

/// `[STATUS: APPROVED` without its closing bracket.
fn is_open_bracket(line: &str) -> bool {
    line.matches('[').count() > line.matches(']').count()
}

/// A verdict that is only announced for later: `After these fixes:`.
fn is_announced(lines: &[Line<'_>], at: usize) -> bool {
    let before = lines[..at].iter().rev().find(|line| !line.raw.trim().is_empty());
    [lines.get(at), before].into_iter().flatten().any(|line| {
        let lower = line.raw.to_lowercase();
        ["after ", "once ", "when ", "if ", "would be", "then "].iter().any(|word| lower.contains(word))
    })
}

/// What stands behind the token on its line: a condition, a demand, another status.
fn behind(statement: &Statement<'_>) -> Option<(Rule, String)> {
    const CONDITIONS: &[&str] = &[
        "with",
        "pending",
        "once",
        "if",
        "provided",
        "subject",
        "conditional",
        "conditionally",
        "after",
        "when",
        "as",
        "assuming",
        "contingent",
        "but",
        "except",
        "however",
        "although",
        "unless",
        "until",
        "cannot",
        "not",
        "would",
        "could",
        "should",
        "may",
        "might",
        "or",
        "for",
        "only",
        "upon",
        "following",
        "minus",
    ];
    let first = statement.after.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty())?;
    let gives_reason = statement.after.to_lowercase();
    let gives_reason =
        ["as all", "as the", "as every", "as both", "as it", "for the", "with all", "with no "]
            .iter()
            .any(|head| gives_reason.starts_with(head))
            && doubt::against(statement.after, doubt::Scope::Prose).is_none();
    if forms::is_one_of(first, CONDITIONS) && !gives_reason {
        return Some((Rule::Condition, statement.after.to_owned()));
    }
    None
}

/// The rule book's own form, for people: what is read from whatever form the critic used.
pub fn rendered(reply: &StatusReply, iteration: u32) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    match reply.status {
        Status::Approved => {
            let _ = writeln!(out, "{APPROVED}");
            if !reply.reason.is_empty() {
                let _ = writeln!(out, "{}", reply.reason);
            }
        }
        Status::Rejected => {
            let _ = writeln!(out, "{REJECTED}");
            if iteration > 1 && !reply.addressed.is_empty() {
                let _ = writeln!(out, "Addressed from iteration {}:", iteration - 1);
                for bullet in &reply.addressed {
                    let _ = writeln!(out, "- ✓ {}", bullet.whole);
                }
                let _ = writeln!(out, "Still unresolved:");
            }
            for bullet in &reply.open {
                let _ = writeln!(out, "- {}", bullet.whole);
            }
        }
    }
    for note in &reply.notes {
        let _ = writeln!(out, "{}", if is_minor(note) { note.clone() } else { format!("Minor: {note}") });
    }
    out
}

#[cfg(test)]
mod tests;
