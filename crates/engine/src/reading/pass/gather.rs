//! A critic's reply as lines: each line that begins with a token is named for what it is, and the lines
//! are gathered into entries. Judges nothing.
//!
//! One pass over the text; what is kept of it is bounded.

use super::line::{Line, classify, option, undressed, weighed_row, weighing_column};
use super::phrases::{self, Word};
use crate::protocol::converge::sets::{ADVERSARIAL, ConvergeCriterion};
use crate::reading::forms::STAND_IN;
use crate::reading::lines::{self, Fence};

/// The longest text of one field, in bytes; what follows is not read.
const LONGEST_TEXT: usize = 16_000;
/// So many entries more than there are criteria are read before the reply is refused.
const MOST_EXTRA: usize = 100;
/// The most numbered options of one escalation.
pub(super) const MOST_OPTIONS: usize = 9;

/// Everything a reply says, before it is judged.
#[derive(Default, Debug)]
pub(super) struct Gathered {
    /// The number in the header, if there is one.
    pub pass: Option<u32>,
    pub entries: Vec<Entry>,
    /// What is said before the first entry and behind the result.
    pub beside: Vec<String>,
    /// What another field of a JSON report says against it.
    pub contradicted: Option<String>,
    /// Verdicts on the whole.
    pub overall: Vec<String>,
    /// What was mended to read it.
    pub mended: Vec<String>,
    /// Escalation headers that no `[CRITERION]` line follows.
    pub nameless_blocks: usize,
    /// The last result line's text.
    pub result: Option<String>,
    pub fenced: bool,
    pub too_many: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Subject {
    /// By its place in the plan.
    Criterion(usize),
    Adversarial,
    Unknown,
}

/// A `[NAME]` line and all that belongs to it.
#[derive(Debug)]
pub(super) struct Entry {
    pub subject: Subject,
    pub name: String,
    /// It describes an escalation instead of answering a criterion.
    pub is_block: bool,
    pub said: String,
    pub verdicts: Vec<String>,
    pub realistic: Vec<String>,
    pub issue: Option<String>,
    pub why: Option<String>,
    pub has_options: bool,
    pub options: Vec<String>,
    pub options_cut: bool,
    /// It may still turn out to be a block: it stands below one and has no verdict.
    maybe_block: bool,
    at: At,
}

/// Where the next plain line belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Said,
    Verdict,
    Realistic,
    Issue,
    Why,
    Options,
}

/// Reads every entry of a reply. What stands in a fence is only shown, unless all of it stands there.
pub(super) fn gather(reply: &str, criteria: &[ConvergeCriterion]) -> Gathered {
    let keys: Vec<String> = criteria.iter().map(|c| ConvergeCriterion::key(&c.name)).collect();
    let reply = lines::unwrapped(reply);
    let outside = gather_from(reply, &keys, false);
    if outside.entries.iter().any(|entry| entry.subject != Subject::Unknown) || outside.too_many {
        return outside;
    }
    let mut inside = gather_from(reply, &keys, true);
    inside.fenced = !inside.entries.is_empty();
    // Of two fences one may only show something: which of them is the report is not for us to say.
    let holds =
        |text: &str| gather_from(text, &keys, false).entries.iter().any(|e| e.subject != Subject::Unknown);
    inside.too_many |= fences(reply).filter(|fence| holds(fence)).count() > 1;
    inside
}

/// What stands in each fence that is not inside another.
fn fences(reply: &str) -> impl Iterator<Item = String> {
    let mut fence = Fence::default();
    let mut found: Vec<String> = Vec::new();
    for line in reply.lines() {
        let before = fence.depth();
        if fence.takes(line) {
            if before == 0 {
                found.push(String::new());
            }
        } else if before > 0
            && let Some(last) = found.last_mut()
        {
            last.push_str(line);
            last.push('\n');
        }
    }
    found.into_iter()
}

fn gather_from(reply: &str, keys: &[String], fences_too: bool) -> Gathered {
    let mut gathered = Gathered::default();
    let mut fence = Fence::default();
    let mut zone = Zone::Outside;
    let mut ended = false;
    let mut was_blank = false;
    // The column of a table of scenarios that weighs them.
    let mut weighing: Option<usize> = None;
    for line in reply.lines() {
        if fence.takes(line) {
            continue;
        }
        let shown = fence.depth() > usize::from(fences_too)
            || line.contains(STAND_IN)
            || line.trim_start().starts_with('>');
        let read = if shown { Line::Shown } else { classify(line, keys) };
        let blank = std::mem::replace(&mut was_blank, line.trim().is_empty());
        if !line.trim_start().starts_with('|') {
            weighing = None;
        } else if let (Line::Plain, Some(column)) = (&read, weighing) {
            gathered.scenario(line, column);
            (zone, ended) = (Zone::Outside, true);
            continue;
        } else if matches!(read, Line::Plain) && weighing_column(line).is_some() {
            weighing = weighing_column(line);
            continue;
        }
        match read {
            Line::Header(pass) => gathered.pass = gathered.pass.or(pass),
            Line::Escalation => {
                gathered.nameless_blocks += usize::from(zone == Zone::Announced);
                zone = Zone::Announced;
            }
            Line::Result(text) => {
                gathered.nameless_blocks += usize::from(zone == Zone::Announced);
                zone = Zone::Outside;
                gathered.result = Some(text.chars().take(200).collect());
                ended = true;
            }
            Line::Entry(subject, name, rest) => {
                if gathered.entries.len() >= keys.len() + MOST_EXTRA {
                    gathered.too_many = true;
                    return gathered;
                }
                let entry = Entry::new(subject, name, rest, zone);
                zone = if zone == Zone::Outside || subject == Subject::Adversarial {
                    Zone::Outside
                } else {
                    Zone::Inside
                };
                gathered.entries.push(entry);
                ended = false;
            }
            Line::Row(subject, name, answer, verdict) => {
                if gathered.entries.len() >= keys.len() + MOST_EXTRA {
                    gathered.too_many = true;
                    return gathered;
                }
                // A table at the end repeats the verdicts; only another one than before says something.
                let same = |entry: &Entry| {
                    let word = |line: &str| phrases::word(undressed(line)).map(|(word, _)| word);
                    let said = entry.verdicts.first().map_or(Some(Word::Pass), |line| word(line));
                    entry.subject == subject && said == word(&verdict)
                };
                if answer.trim().is_empty() && gathered.entries.iter().any(same) {
                    ended = true;
                    continue;
                }
                let mut entry = Entry::new(subject, name, &answer, Zone::Outside);
                begin(&mut entry.verdicts, &verdict);
                gathered.entries.push(entry);
                (zone, ended) = (Zone::Outside, false);
            }
            // Between an escalation header and its criterion nothing belongs to the entry above.
            _ if zone == Zone::Announced => {
                if !line.trim().is_empty() && crate::reading::doubt::says_nothing(line) {
                    zone = Zone::Outside;
                }
            }
            _ if gathered.entries.is_empty() || ended => {
                if gathered.beside.len() < MOST_EXTRA {
                    gathered.beside.push(line.trim().to_owned());
                }
            }
            // Behind the last entry, set off by a blank line: what is said of the whole.
            Line::Plain | Line::Numbered(_) if blank && is_postscript(&gathered, keys) => {
                ended = true;
                gathered.beside.push(line.trim().to_owned());
            }
            Line::Verdict(rest) if blank && is_postscript(&gathered, keys) => {
                ended = true;
                gathered.overall.push(rest.to_owned());
            }
            read => {
                if let Some(entry) = gathered.entries.last_mut() {
                    entry.take(&read, line);
                    if !entry.is_block && !entry.maybe_block {
                        zone = Zone::Outside;
                    }
                }
            }
        }
    }
    gathered.nameless_blocks += usize::from(zone == Zone::Announced);
    for entry in &mut gathered.entries {
        entry.is_block |= entry.maybe_block && (entry.issue.is_some() || entry.why.is_some());
        if !entry.is_block {
            entry.find_verdict();
        }
    }
    gathered
}

impl Gathered {
    /// A row of a table of scenarios: what may happen, how likely that is, and why.
    fn scenario(&mut self, line: &str, column: usize) {
        let cells = lines::cells(line.trim());
        let is_rule = cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':' | ' ' | '=')));
        let (Some(weighed), false) = (cells.get(column), is_rule) else { return };
        let numbered = |cell: &&String| cell.chars().any(char::is_alphabetic);
        let said = cells[..column].iter().filter(numbered).map(String::as_str).collect::<Vec<_>>().join(": ");
        // One that a line above only announces.
        let empty = |entry: &Entry| {
            entry.subject == Subject::Adversarial
                && entry.said.trim().is_empty()
                && entry.realistic.is_empty()
        };
        if self.entries.last().is_some_and(empty) {
            self.entries.pop();
        }
        if self.entries.len() < MOST_EXTRA {
            let mut entry = Entry::new(Subject::Adversarial, ADVERSARIAL, &said, Zone::Outside);
            entry.weighed(format!("{weighed} → {}", cells[column + 1..].join("; ")));
            self.entries.push(entry);
        }
    }
}

/// Has everything been answered, so that what follows is about the whole? The last entry has its verdict, or has been
/// weighed.
fn is_postscript(gathered: &Gathered, keys: &[String]) -> bool {
    let answered = |at: usize| gathered.entries.iter().any(|entry| entry.subject == Subject::Criterion(at));
    let weighed = |entry: &Entry| {
        !entry.realistic.is_empty()
            || !entry.verdicts.is_empty()
            || phrases::inline_answer(&entry.said).is_some()
    };
    (0..keys.len()).all(answered)
        && gathered.entries.iter().any(|entry| entry.subject == Subject::Adversarial)
        && gathered
            .entries
            .last()
            .is_some_and(|entry| !entry.is_block && !entry.maybe_block && weighed(entry))
}

/// Where the reader is as to escalation blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    Outside,
    /// Right after an escalation header.
    Announced,
    Inside,
}

impl Entry {
    pub(super) fn of(subject: Subject, name: &str, said: &str) -> Self {
        Self::new(subject, name, said, Zone::Outside)
    }

    /// An escalation block.
    pub(super) fn block(subject: Subject, name: &str, said: &str) -> Self {
        Self::new(subject, name, said, Zone::Announced)
    }

    /// Where no line is labelled: a verdict at the end of the answer, or a line that begins with its word.
    fn find_verdict(&mut self) {
        if !self.verdicts.is_empty() || self.subject == Subject::Adversarial {
            return;
        }
        let found = phrases::trailing_verdict(&self.said).or_else(|| phrases::leading_verdict(&self.said));
        let Some((head, tail)) = found else { return };
        let (head, tail) = (head.to_owned(), tail.to_owned());
        self.said = head;
        self.verdicts.push(tail);
    }

    fn new(subject: Subject, name: &str, rest: &str, zone: Zone) -> Self {
        let mut entry = Self {
            subject,
            name: name.chars().take(60).collect(),
            is_block: zone == Zone::Announced && subject != Subject::Adversarial,
            maybe_block: zone == Zone::Inside && subject != Subject::Adversarial,
            said: String::new(),
            verdicts: Vec::new(),
            realistic: Vec::new(),
            issue: None,
            why: None,
            has_options: false,
            options: Vec::new(),
            options_cut: false,
            at: At::Said,
        };
        entry.say(rest);
        entry
    }

    /// The answer, perhaps with its verdict on the same line: `3 of 3 — Verdict: PASS`.
    fn say(&mut self, text: &str) {
        match phrases::inline_verdict(text).filter(|_| !self.is_block) {
            Some((head, tail)) => {
                append(&mut self.said, head);
                self.maybe_block = false;
                self.at = At::Verdict;
                begin(&mut self.verdicts, tail);
            }
            None => append(&mut self.said, text),
        }
    }

    fn take(&mut self, read: &Line<'_>, line: &str) {
        let in_block = self.is_block || self.maybe_block;
        match *read {
            Line::Verdict(rest) => {
                self.maybe_block = false;
                self.at = At::Verdict;
                begin(&mut self.verdicts, rest);
            }
            Line::Realistic(rest) if self.subject == Subject::Adversarial => {
                self.at = At::Realistic;
                self.weighed(rest.to_owned());
            }
            Line::Plain if self.subject == Subject::Adversarial && line.trim_start().starts_with('|') => {
                if let Some((says, answer)) = weighed_row(line) {
                    append(&mut self.said, &says);
                    self.weighed(answer);
                }
            }
            Line::Issue(rest) if in_block => {
                self.at = At::Issue;
                append(self.issue.get_or_insert_default(), rest);
            }
            Line::Why(rest) if in_block => {
                self.at = At::Why;
                append(self.why.get_or_insert_default(), rest);
            }
            Line::Options(rest) if in_block => {
                self.at = At::Options;
                self.has_options = true;
                if !rest.is_empty() {
                    begin(&mut self.options, rest);
                }
            }
            Line::Numbered(rest) if in_block && self.at == At::Options => {
                self.options_cut |= self.options.len() >= MOST_OPTIONS;
                if !self.options_cut {
                    self.options.push(String::new());
                }
                self.continued(rest);
            }
            Line::Plain if in_block && self.at == At::Options && option(line).is_some() => {
                self.options_cut |= self.options.len() >= MOST_OPTIONS;
                if !self.options_cut {
                    self.options.push(String::new());
                }
                self.continued(option(line).unwrap_or_default());
            }
            Line::Shown => self.continued(line.trim()),
            _ if self.at == At::Said => self.say(line.trim()),
            _ => self.continued(line.trim()),
        }
    }

    fn weighed(&mut self, answer: String) {
        if self.realistic.len() < MOST_EXTRA {
            self.realistic.push(answer);
        }
    }

    fn continued(&mut self, text: &str) {
        let field = match self.at {
            At::Said => Some(&mut self.said),
            At::Verdict => self.verdicts.last_mut(),
            At::Realistic => self.realistic.last_mut(),
            At::Issue => self.issue.as_mut(),
            At::Why => self.why.as_mut(),
            At::Options => self.options.last_mut(),
        };
        if let Some(field) = field {
            append(field, text);
        }
    }
}

/// A third line of the same kind says no more than a second one: that there are too many.
fn begin(lines: &mut Vec<String>, text: &str) {
    if lines.len() < 2 {
        lines.push(String::new());
    }
    if let Some(last) = lines.last_mut() {
        append(last, text);
    }
}

fn append(field: &mut String, text: &str) {
    if field.len() >= LONGEST_TEXT || text.is_empty() {
        return;
    }
    if !field.is_empty() {
        field.push('\n');
    }
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    field.push_str(&text[..end]);
}
