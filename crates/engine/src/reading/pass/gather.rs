//! A critic's reply as lines: each line that begins with a token is named for what it is, and the lines
//! are gathered into entries. Judges nothing.
//!
//! One pass over the text; what is kept of it is bounded.

use super::phrases::{self, Word};
use crate::protocol::converge::sets::{ADVERSARIAL, Criterion};
use crate::reading::forms::{STAND_IN, is_pictograph};
use crate::reading::lines::{self, Fence, Kind};

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

enum Line<'a> {
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

/// Reads every entry of a reply. What stands in a fence is only shown, unless all of it stands there.
pub(super) fn gather(reply: &str, criteria: &[Criterion]) -> Gathered {
    let keys: Vec<String> = criteria.iter().map(|c| Criterion::key(&c.name)).collect();
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
    for line in reply.lines() {
        if fence.takes(line) {
            continue;
        }
        let shown = fence.depth() > usize::from(fences_too)
            || line.contains(STAND_IN)
            || line.trim_start().starts_with('>');
        let read = if shown { Line::Shown } else { classify(line, keys) };
        let blank = std::mem::replace(&mut was_blank, line.trim().is_empty());
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

/// `| Opponent | a query of 1 MB | Y | FAIL + cut it |`: a scenario in a row of a table, and how it is weighed.
fn weighed_row(line: &str) -> Option<(String, String)> {
    let cells = lines::cells(line.trim());
    let is_answer =
        |cell: &String| matches!(undressed(cell).to_uppercase().as_str(), "Y" | "N" | "YES" | "NO");
    let at = cells.iter().position(is_answer)?;
    let answer = format!("{} → {}", cells[at], cells[at + 1..].join("; "));
    Some((cells[..at].join(": "), answer))
}

/// `A. …`, `Option 2: …`, `- …`: an option that is not numbered, and no side of one.
fn option(line: &str) -> Option<&str> {
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

fn classify<'a>(line: &'a str, keys: &[String]) -> Line<'a> {
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
    let key = Criterion::key(name);
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
    let key = Criterion::key(name);
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
    let key = Criterion::key(name);
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

/// A clean verdict word.
pub(super) const fn is_clean(word: Word) -> bool {
    matches!(word, Word::Pass | Word::Defer)
}
