//! A critic's reply as lines: each line that begins with a token is named for what it is, and the lines
//! are gathered into entries. Judges nothing.
//!
//! One pass over the text; what is kept of it is bounded.

use super::super::sets::{ADVERSARIAL, Criterion};
use super::fence::Fence;

/// The longest text of one field, in bytes; what follows is not read.
const LONGEST_TEXT: usize = 16_000;
/// So many entries more than there are criteria are read before the reply is refused.
const MOST_EXTRA: usize = 100;
/// The most numbered options of one escalation.
pub(super) const MOST_OPTIONS: usize = 9;

/// Everything a reply says, before it is judged.
#[derive(Default, Debug)]
pub(super) struct Gathered {
    /// The header's number; none if it is not a number.
    pub pass: Option<u32>,
    pub headers: usize,
    pub entries: Vec<Entry>,
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
    Header(Option<u32>),
    Escalation,
    Result(&'a str),
    Entry(Subject, &'a str, &'a str),
    Verdict(&'a str),
    Realistic(&'a str),
    Issue(&'a str),
    Why(&'a str),
    Options(&'a str),
    Numbered(&'a str),
    Plain,
}

/// Reads everything from the first `=== CRITIC N ===` on.
pub(super) fn gather(reply: &str, criteria: &[Criterion]) -> Gathered {
    let keys: Vec<String> = criteria.iter().map(|c| Criterion::key(&c.name)).collect();
    let mut gathered = Gathered::default();
    let mut fence = Fence::default();
    let mut zone = Zone::Outside;
    for line in reply.lines() {
        let begun = gathered.headers > 0;
        if fence.takes(line, begun) {
            continue;
        }
        let read = if begun && fence.is_inner() { Line::Plain } else { classify(line, &keys) };
        match read {
            Line::Header(pass) => {
                if !begun {
                    gathered.pass = pass;
                    gathered.fenced = fence.wrap();
                }
                gathered.headers += 1;
            }
            _ if !begun => {}
            Line::Escalation => {
                gathered.nameless_blocks += usize::from(zone == Zone::Announced);
                zone = Zone::Announced;
            }
            Line::Result(text) => {
                gathered.nameless_blocks += usize::from(zone == Zone::Announced);
                zone = Zone::Outside;
                gathered.result = Some(text.chars().take(200).collect());
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
            }
            // Between an escalation header and its criterion nothing belongs to the entry above.
            _ if zone == Zone::Announced => {}
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
    }
    gathered
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
        append(&mut entry.said, rest);
        entry
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
                begin(&mut self.realistic, rest);
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
            _ => self.continued(line.trim()),
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

fn classify<'a>(line: &'a str, keys: &[String]) -> Line<'a> {
    let bare = bare(line);
    if bare.starts_with("===") {
        return rule(bare);
    }
    if let Some(inner) = bare.strip_prefix('[') {
        return entry(inner, keys).unwrap_or(Line::Plain);
    }
    // A realistic-line may begin with its arrow.
    let word = strip_arrow(bare).map_or(bare, decorated);
    if let Some(rest) = labelled(bare, "verdict", &[':', '：']) {
        Line::Verdict(rest)
    } else if let Some(rest) = labelled(word, "realistic", &['?', ':', '？', '：']) {
        Line::Realistic(rest)
    } else if let Some(rest) = labelled(bare, "issue", &[':', '：']) {
        Line::Issue(rest)
    } else if let Some(rest) = labelled(bare, "why escalation", &[':', '：', '?']) {
        Line::Why(rest)
    } else if let Some(rest) = labelled(bare, "options", &[':', '：']) {
        Line::Options(rest)
    } else if let Some(rest) = numbered(bare) {
        Line::Numbered(rest)
    } else {
        Line::Plain
    }
}

/// Emphasis and blanks off the front.
fn decorated(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`'))
}

/// The line without indentation, list mark, heading mark and emphasis before its first word.
fn bare(line: &str) -> &str {
    let body = line.trim();
    let body = ["- ", "* ", "• "].iter().find_map(|mark| body.strip_prefix(mark)).unwrap_or(body);
    decorated(body.trim_start_matches(['#', ' ']))
}

fn rule(bare: &str) -> Line<'_> {
    let inner = bare.trim_matches(|c: char| c.is_whitespace() || matches!(c, '=' | '*' | '_' | '`'));
    if let Some(rest) = strip_word(inner, "critic") {
        let rest = rest.trim();
        return match strip_word(rest, "escalation") {
            Some(_) => Line::Escalation,
            None => Line::Header(rest.parse().ok()),
        };
    }
    match labelled(inner, "result", &[':', '：']) {
        Some(rest) => Line::Result(rest),
        None => Line::Plain,
    }
}

/// `NAME] rest`: a criterion of the plan, the scenario, or a name in capitals that is neither.
fn entry<'a>(inner: &'a str, keys: &[String]) -> Option<Line<'a>> {
    // No name is longer: a hostile line is not searched for its bracket.
    let head = inner.char_indices().nth(80).map_or(inner, |(end, _)| &inner[..end]);
    let (name, _) = head.split_once(']')?;
    let rest = undecorated(&inner[name.len() + 1..]);
    let key = Criterion::key(name);
    let subject = if let Some(at) = keys.iter().position(|k| *k == key) {
        Subject::Criterion(at)
    } else if key == ADVERSARIAL {
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

pub(super) fn has_header(text: &str) -> bool {
    text.lines().any(|line| {
        let bare = bare(line);
        bare.starts_with("===") && matches!(rule(bare), Line::Header(_))
    })
}

/// Does the line have the form of a verdict, a header or a result?
pub(super) fn is_verdict(line: &str) -> bool {
    match classify(line, &[]) {
        Line::Verdict(rest) => super::phrases::word(rest).is_some(),
        Line::Header(_) | Line::Result(_) => true,
        _ => false,
    }
}
