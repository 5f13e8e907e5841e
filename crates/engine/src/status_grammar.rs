//! Reads a critic's reply in the grammar of `revise`: a status token, then bullets or a sentence.
//!
//! Pure text in, typed reply out. What the reply *means* for the loop is decided in `protocol/revise`.

use crate::reasoning;

/// The longest list that is read; what follows is noted as a deviation.
const MOST_BULLETS: usize = 100;
/// The longest bullet, in characters.
const LONGEST_BULLET: usize = 2_000;

pub const APPROVED: &str = "[STATUS: APPROVED]";
pub const REJECTED: &str = "[STATUS: REJECTED]";

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Status {
    Approved,
    Rejected,
}

impl Status {
    /// The token that would contradict it.
    const fn other(&self) -> &'static str {
        match self {
            Self::Approved => REJECTED,
            Self::Rejected => APPROVED,
        }
    }
}

/// One bullet of the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bullet {
    /// The text without its mark and without the numbers it cites.
    pub text: String,
    /// The text with those numbers, for a reader to whom they mean something else.
    pub whole: String,
    /// Marked ✓, or listed under `Addressed from iteration N:`.
    pub addressed: bool,
    /// Numbers it cites at its beginning: `3:`, `#3`, `(3)`, `Item 3`, `1, 2:`.
    pub cites: Vec<u32>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatusReply {
    pub status: Status,
    /// Bullets that are open: those under `Still unresolved:` if there is such a list, else all without ✓.
    pub open: Vec<Bullet>,
    pub addressed: Vec<Bullet>,
    pub notes: Vec<String>,
    pub deviations: Vec<String>,
}

/// Marks of a bullet that says something was done, and of one that says it was not.
const TICKS: [&str; 5] = ["✓", "✔", "✅", "[x]", "[X]"];
const CROSSES: [&str; 5] = ["✗", "✘", "❌", "[ ]", "[]"];

/// Why a reply is not a verdict; the sentence goes into the request to restate.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Malformed {
    #[error("the reply is empty")]
    Empty,
    #[error("the first line is not `[STATUS: APPROVED]` or `[STATUS: REJECTED]`")]
    NoToken,
    #[error("the reply contains both status tokens on lines of their own")]
    TwoTokens,
    #[error("the reply rejects but lists no fix: each fix is a line that begins with `- `")]
    NoBullets,
    #[error("the reply approves and yet lists open items")]
    ApprovedWithItems,
}

pub fn parse(reply: &str) -> Result<StatusReply, Malformed> {
    let mut deviations = Vec::new();
    let reply = reply.replace("\r\n", "\n");
    let reply = reasoning::without_reasoning(&reply, states_a_verdict);
    let lines = unfence(&reply, &mut deviations);
    let mut lines = lines.into_iter().skip_while(|l| l.trim().is_empty());
    let first = lines.next().ok_or(Malformed::Empty)?;
    let (status, after) = token(first).ok_or(Malformed::NoToken)?;
    let mut body: Vec<&str> = Vec::new();
    if !after.is_empty() {
        if after.contains(status.other()) {
            return Err(Malformed::TwoTokens);
        }
        deviations.push("text after the token on its line".into());
        body.push(after);
    }
    for line in lines {
        match token(line.trim_start_matches(['#', ' '])) {
            Some((other, _)) if other != status => return Err(Malformed::TwoTokens),
            Some(_) => deviations.push("the token stands twice".into()),
            None => body.push(line),
        }
    }
    let list = List::read(&body, &mut deviations);
    match status {
        Status::Approved => approved(list, deviations),
        Status::Rejected => rejected(list, deviations),
    }
}

fn approved(list: List, mut deviations: Vec<String>) -> Result<StatusReply, Malformed> {
    let (minor, open): (Vec<_>, Vec<_>) =
        list.bullets.into_iter().partition(|(_, b)| b.addressed || is_minor(&b.text));
    if !open.is_empty() {
        return Err(Malformed::ApprovedWithItems);
    }
    if list.prose.is_empty() && minor.is_empty() {
        deviations.push("an approval without a reason".into());
    }
    let (addressed, minor): (Vec<_>, Vec<_>) = minor.into_iter().map(|(_, b)| b).partition(|b| b.addressed);
    let notes = list
        .prose
        .into_iter()
        .filter(|line| is_minor(line))
        .chain(minor.into_iter().map(|b| b.text))
        .collect();
    Ok(StatusReply { status: Status::Approved, open: Vec::new(), addressed, notes, deviations })
}

fn rejected(list: List, mut deviations: Vec<String>) -> Result<StatusReply, Malformed> {
    let listed = list.bullets.iter().any(|(section, _)| *section == Section::Unresolved);
    let mut open = Vec::new();
    let mut addressed = Vec::new();
    let mut notes = Vec::new();
    for (section, bullet) in list.bullets {
        if bullet.addressed {
            addressed.push(bullet);
        } else if is_minor(&bullet.text) || (listed && section != Section::Unresolved) {
            notes.push(bullet.text);
        } else {
            open.push(bullet);
        }
    }
    if open.is_empty() {
        return Err(Malformed::NoBullets);
    }
    if open.len() > MOST_BULLETS {
        deviations.push(format!("{} open bullets; the first {MOST_BULLETS} are read", open.len()));
        open.truncate(MOST_BULLETS);
    }
    for line in list.prose {
        if is_minor(&line) {
            notes.push(line);
        } else {
            deviations.push("prose beside the list".into());
        }
    }
    deviations.dedup();
    Ok(StatusReply { status: Status::Rejected, open, addressed, notes, deviations })
}

fn is_minor(text: &str) -> bool {
    text.trim_start_matches(['*', '_']).get(..6).is_some_and(|head| head.eq_ignore_ascii_case("minor:"))
}

/// The first line of a draft that states a verdict about itself.
pub fn status_line(text: &str) -> Option<String> {
    text.lines().find(|l| token(l).is_some()).map(|l| l.trim().chars().take(200).collect())
}

/// The token a line begins with, tolerating emphasis around it, and the text after it.
fn token(line: &str) -> Option<(Status, &str)> {
    const EMPHASIS: [char; 3] = ['*', '_', '`'];
    let inner = line.trim().trim_start_matches(EMPHASIS);
    let (status, rest) = if let Some(rest) = inner.strip_prefix(APPROVED) {
        (Status::Approved, rest)
    } else {
        (Status::Rejected, inner.strip_prefix(REJECTED)?)
    };
    Some((status, rest.trim_start_matches(EMPHASIS).trim()))
}

fn states_a_verdict(text: &str) -> bool {
    text.lines().any(|l| token(l).is_some())
}

/// Drops a code fence that opens before the token, with its closing line.
fn unfence<'a>(text: &'a str, deviations: &mut Vec<String>) -> Vec<&'a str> {
    let mut lines: Vec<&str> = text.lines().collect();
    let Some(first) = lines.iter().position(|l| !l.trim().is_empty()) else { return lines };
    if lines[first].trim_start().starts_with("```") && token(lines[first]).is_none() {
        deviations.push("a code fence around the reply".into());
        lines.remove(first);
        if let Some(close) = lines.iter().position(|l| l.trim() == "```") {
            lines.remove(close);
        }
    }
    lines
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    Addressed,
    Unresolved,
}

struct List {
    bullets: Vec<(Section, Bullet)>,
    prose: Vec<String>,
}

impl List {
    fn read(lines: &[&str], deviations: &mut Vec<String>) -> Self {
        let mut raw: Vec<(Section, String)> = Vec::new();
        let mut prose = Vec::new();
        let mut section = Section::None;
        let mut in_bullet = false;
        for line in lines {
            if let Some(next) = heading(line) {
                section = next;
                in_bullet = false;
            } else if let Some(text) = bullet_text(line, in_bullet, deviations) {
                raw.push((section, text.to_owned()));
                in_bullet = true;
            } else if line.trim().is_empty() {
                in_bullet = false;
            } else if in_bullet
                && !is_minor(line.trim())
                && let Some((_, bullet)) = raw.last_mut()
            {
                bullet.push(' ');
                bullet.push_str(line.trim());
            } else {
                prose.push(line.trim().to_owned());
            }
        }
        deviations.dedup();
        let bullets = raw.into_iter().map(|(section, text)| (section, Bullet::read(&text, section)));
        Self { bullets: bullets.filter(|(_, b)| !b.says_nothing()).collect(), prose }
    }
}

fn heading(line: &str) -> Option<Section> {
    let lower =
        line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '#')).to_ascii_lowercase();
    if lower.starts_with("addressed from iteration") {
        Some(Section::Addressed)
    } else if lower == "still unresolved" || (lower.starts_with("still unresolved") && lower.ends_with(':')) {
        Some(Section::Unresolved)
    } else {
        None
    }
}

/// A top-level bullet's text. Indented bullets belong to the one above.
fn bullet_text<'a>(line: &'a str, in_bullet: bool, deviations: &mut Vec<String>) -> Option<&'a str> {
    let body = line.trim_start();
    if in_bullet && line.len() - body.len() >= 2 {
        return None;
    }
    if let Some(text) = body.strip_prefix("- ").or_else(|| body.strip_prefix("-\t")) {
        return Some(text.trim()).filter(|t| !t.is_empty());
    }
    let other = ["* ", "• ", "– "].iter().find_map(|mark| body.strip_prefix(mark))?;
    deviations.push("bullets that do not begin with `- `".into());
    Some(other.trim()).filter(|t| !t.is_empty())
}

impl Bullet {
    fn read(text: &str, section: Section) -> Self {
        let folded: String = crate::brief::one_line(text).chars().take(LONGEST_BULLET).collect();
        let plain = folded.trim_start_matches(['*', '_']);
        let unticked = TICKS.iter().find_map(|t| plain.strip_prefix(t));
        let crossed = CROSSES.iter().any(|c| plain.starts_with(c));
        let addressed = unticked.is_some() || (section == Section::Addressed && !crossed);
        let body = unticked.map_or(folded.as_str(), |t| t.trim_start_matches('\u{fe0f}').trim_start());
        let (cites, rest) = citations(body);
        let text = if rest.is_empty() { body.to_owned() } else { rest.to_owned() };
        Self { text, whole: body.to_owned(), addressed, cites }
    }

    /// `- None`, under a heading that had to be filled.
    fn says_nothing(&self) -> bool {
        let plain = self.whole.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
        matches!(plain.as_str(), "" | "none" | "nothing" | "n/a")
    }
}

/// Reads the item numbers at the beginning of a bullet. A bare number followed by words ("3 sentences
/// lack units") cites nothing: a colon, dot, bracket, dash or the end must follow.
fn citations(text: &str) -> (Vec<u32>, &str) {
    let mut rest = text.trim_start_matches(['*', '_']);
    let lower = rest.to_ascii_lowercase();
    let mut explicit = false;
    for word in ["items ", "item ", "point ", "bullet "] {
        if lower.starts_with(word) {
            rest = rest[word.len()..].trim_start();
            explicit = true;
            break;
        }
    }
    let mut numbers = Vec::new();
    loop {
        let bare = rest.trim_start_matches(['#', '(', '[', '*']);
        explicit |= rest.starts_with('#');
        let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
        let Some(n) = (digits <= 4).then(|| bare[..digits].parse::<u32>().ok()).flatten() else { break };
        numbers.push(n);
        rest = &bare[digits..];
        let after = rest.trim_start();
        let Some(next) = [", ", "& ", "and ", ","].iter().find_map(|s| after.strip_prefix(s)) else { break };
        if !next.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '#') {
            break;
        }
        rest = next.trim_start();
    }
    let ends = rest.is_empty()
        || rest.starts_with([':', ')', ']', '*'])
        || rest.starts_with(". ")
        || [" —", " –", " - "].iter().any(|d| rest.starts_with(d));
    if numbers.is_empty() || !(ends || explicit) {
        return (Vec::new(), text);
    }
    let rest = rest.trim_start_matches([':', ')', ']', '.', '*', ' ', '—', '–', '-']);
    (numbers, rest)
}

#[cfg(test)]
mod tests;
