//! Frontmatter as people write it: a flat list of `key: value` between two `---`, read line by line.
//!
//! Not a YAML parser, on purpose: real files hold what YAML refuses (a description with `[STATUS: …] more` or with
//! `a: b: c`), and a strict reader would lose the whole file over it. What YAML would have read otherwise is among the
//! guesses, each with its place. Nested tables are kept as text.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::markdown;

/// More fields, or a longer head, is no frontmatter that anybody wrote.
const MOST_FIELDS: usize = 200;
const LONGEST: usize = 64 * 1024;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frontmatter {
    fields: BTreeMap<String, FrontmatterField>,
    /// What had to be guessed.
    pub guesses: Vec<Guess>,
    /// The byte at which the text below it begins; 0 or the length of a byte order mark without frontmatter.
    pub body_start: usize,
    pub is_present: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guess {
    /// Bytes of the file.
    pub span: Range<usize>,
    pub message: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct FrontmatterField {
    value: HeadValue,
    span: Range<usize>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum HeadValue {
    Text(String),
    List(Vec<String>),
}

/// One line of the head, without its end.
#[derive(Clone, Copy)]
struct HeadLine<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> HeadLine<'a> {
    fn span(self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    fn is_blank(self) -> bool {
        self.text.trim().is_empty()
    }

    fn is_indented(self) -> bool {
        self.text.starts_with([' ', '\t'])
    }

    fn item(self) -> Option<&'a str> {
        let rest = self.text.trim_start().strip_prefix('-')?;
        (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim())
    }
}

/// Reads what stands at the top of a file.
pub fn read(text: &str) -> Frontmatter {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let body_start = markdown::body_start(text);
    let mut found = Frontmatter { body_start, ..Frontmatter::default() };
    let opens = text.get(start..).unwrap_or_default().lines().next().is_some_and(|l| l.trim_end() == "---");
    if body_start <= start {
        if opens {
            let message = "the frontmatter is never closed by `---`; all of it was read as text";
            found.guesses.push(Guess { span: start..start + 3, message: message.into() });
        }
        return found;
    }
    found.is_present = true;
    let head = text.get(start..body_start).unwrap_or_default();
    if head.len() > LONGEST {
        let message = format!("the frontmatter is longer than {LONGEST} bytes and was passed over");
        found.guesses.push(Guess { span: start..start + 3, message });
        return found;
    }
    let mut at = start;
    let mut lines = Vec::new();
    for raw in head.split_inclusive('\n') {
        lines.push(HeadLine { text: raw.trim_end(), at });
        at += raw.len();
    }
    // Without the two fences.
    let inner = lines.get(1..lines.len().saturating_sub(1)).unwrap_or_default();
    found.fields(inner);
    found
}

impl Frontmatter {
    pub fn text(&self, key: &str) -> Option<String> {
        let text = match &self.fields.get(key)?.value {
            HeadValue::Text(text) => text.clone(),
            HeadValue::List(items) => items.join(", "),
        };
        Some(text).filter(|text| !text.trim().is_empty())
    }

    /// A list, or a text with commas. An empty one is a list, too.
    pub fn list(&self, key: &str) -> Option<Vec<String>> {
        Some(match &self.fields.get(key)?.value {
            HeadValue::List(items) => items.clone(),
            HeadValue::Text(text) => {
                let text = text.trim();
                let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
                split(inner)
            }
        })
    }

    /// `true`, in any of the ways it is written.
    pub fn is_true(&self, key: &str) -> bool {
        self.text(key).is_some_and(|text| matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "on"))
    }

    /// Where a field stands.
    pub fn span_of(&self, key: &str) -> Option<Range<usize>> {
        self.fields.get(key).map(|field| field.span.clone())
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    fn fields(&mut self, lines: &[HeadLine<'_>]) {
        let mut next = 0;
        while let Some(&line) = lines.get(next) {
            next += 1;
            if line.is_blank() || line.text.trim_start().starts_with('#') {
                continue;
            }
            let Some((key, value)) = key_and_value(line) else {
                self.guess(line, "is no `key: value` and was passed over");
                continue;
            };
            let below = following(lines.get(next..).unwrap_or_default(), value.is_empty());
            let more = lines.get(next..next + below).unwrap_or_default();
            next += below;
            let value = self.value(line, value, more);
            if self.fields.contains_key(key) {
                self.guess(line, "is given a second time; the first counts");
            } else if self.fields.len() >= MOST_FIELDS {
                self.guess(line, "is one field too many and was passed over");
            } else {
                self.fields.insert(key.to_owned(), FrontmatterField { value, span: line.span() });
            }
        }
    }

    fn value(&mut self, line: HeadLine<'_>, value: &str, more: &[HeadLine<'_>]) -> HeadValue {
        if let Some(folded) = block_mark(value) {
            return HeadValue::Text(block(more, folded));
        }
        if value.is_empty() && more.iter().any(|line| line.item().is_some()) {
            return HeadValue::List(items(more));
        }
        let mut whole = value.to_owned();
        for line in more.iter().filter(|line| !line.is_blank()) {
            whole.push(' ');
            whole.push_str(line.text.trim());
        }
        let (text, is_odd) = scalar(whole.trim());
        if is_odd {
            self.guess(line, "is not valid YAML; the text was taken as it stands");
        }
        HeadValue::Text(text)
    }

    fn guess(&mut self, line: HeadLine<'_>, what: &str) {
        let shown: String = line.text.trim().chars().take(40).collect();
        let message = format!("`{}` {what}", crate::place::visible(&shown));
        if self.guesses.len() < MOST_FIELDS {
            self.guesses.push(Guess { span: line.span(), message });
        }
    }
}

/// `key: value` that is not indented, with a key of one word.
fn key_and_value(line: HeadLine<'_>) -> Option<(&str, &str)> {
    let (key, value) = line.text.split_once(':')?;
    let is_key = key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    let is_apart = value.is_empty() || value.starts_with([' ', '\t']);
    (is_key && is_apart).then(|| (key, value.trim()))
}

/// How many of the next lines belong to the field above them.
fn following(lines: &[HeadLine<'_>], is_empty: bool) -> usize {
    let belongs = |line: &HeadLine<'_>| line.is_indented() || (is_empty && line.item().is_some());
    let end = lines.iter().position(|line| !line.is_blank() && !belongs(line)).unwrap_or(lines.len());
    // Blank lines before the next field are nobody's.
    let kept = lines.get(..end).unwrap_or_default().iter().rposition(|line| !line.is_blank());
    kept.map_or(0, |last| last + 1)
}

/// `>` and `|`, with what may stand behind them: whether lines are joined.
fn block_mark(value: &str) -> Option<bool> {
    let rest = value.strip_prefix(['>', '|'])?;
    let is_mark = rest.chars().all(|c| matches!(c, '+' | '-') || c.is_ascii_digit());
    is_mark.then(|| value.starts_with('>'))
}

fn block(lines: &[HeadLine<'_>], folded: bool) -> String {
    let mut text = String::new();
    for line in lines {
        match (line.is_blank(), text.is_empty() || text.ends_with('\n')) {
            (true, _) => text.push('\n'),
            (false, true) => {}
            (false, false) => text.push(if folded { ' ' } else { '\n' }),
        }
        text.push_str(line.text.trim());
    }
    text.trim().to_owned()
}

fn items(lines: &[HeadLine<'_>]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in lines.iter().filter(|line| !line.is_blank()) {
        match (line.item(), items.last_mut()) {
            (Some(item), _) => items.push(scalar(item).0),
            (None, Some(last)) => {
                last.push(' ');
                last.push_str(line.text.trim());
            }
            (None, None) => {}
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

/// A value on one line, without quotes and comment; and whether YAML would have read it otherwise, or not at all.
fn scalar(text: &str) -> (String, bool) {
    for quote in ['"', '\''] {
        let Some(rest) = text.strip_prefix(quote) else { continue };
        return match closed(rest, quote) {
            Some(inner) => (inner, false),
            None => (text.to_owned(), true),
        };
    }
    let text = text.find(" # ").map_or(text, |at| text.get(..at).unwrap_or(text)).trim();
    let is_list = text.starts_with('[') && text.ends_with(']');
    let is_odd = if is_list {
        // `[a: b]` is a list of tables.
        text.contains(": ")
    } else {
        text.starts_with(['[', ']', '{', '}', '*', '&', '!', '%', '@', '`', ','])
            || text.contains(": ")
            || text.ends_with(':')
    };
    (text.to_owned(), is_odd && text != "*")
}

/// What stands before the closing quote, if nothing but a comment stands behind it.
fn closed(rest: &str, quote: char) -> Option<String> {
    let mut inner = String::new();
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quote == '"' => match chars.next()? {
                'n' => inner.push('\n'),
                't' => inner.push('\t'),
                other => inner.push(other),
            },
            c if c == quote => {
                let after = chars.as_str();
                if quote == '\'' && after.starts_with('\'') {
                    chars.next();
                    inner.push('\'');
                    continue;
                }
                let after = after.trim();
                return (after.is_empty() || after.starts_with('#')).then_some(inner);
            }
            c => inner.push(c),
        }
    }
    None
}

/// Parts between commas; a comma in parentheses, as in `Bash(git add, git commit)`, divides nothing.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    let parts = parts.into_iter().map(|part| scalar(part.trim()).0);
    parts.filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests;
