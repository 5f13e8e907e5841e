//! A reply as lines: headings, list items with their marks, numbers and ticks, table rows, quotations, fences. The one reader
//! of lists, tables and fences, for every protocol. What critics write is nearly Markdown: whatever a person takes for a
//! list is one here.

use super::forms::is_pictograph;

/// Marks that begin a list item when a space follows.
const MARKS: [char; 26] = [
    '-', '*', '+', '•', '–', '—', '◦', '▪', '▫', '●', '○', '■', '□', '‣', '⁃', '·', '»', '➤', '►', '▶', '→',
    '⇒', '∙', '◆', '・', '･',
];
/// Marks that begin one also without a space.
const TIGHT: [char; 16] = ['・', '･', '•', '◦', '▪', '▫', '●', '○', '■', '□', '‣', '⁃', '➤', '►', '▶', '◆'];
/// Words that number an item: `Fix 1:`, `Item 2 -`.
const NUMBERED: [&str; 12] = [
    "fix",
    "item",
    "issue",
    "point",
    "change",
    "problem",
    "finding",
    "bullet",
    "comment",
    "request",
    "requirement",
    "no",
];
/// Fences inside of fences that are told apart.
const DEEPEST: usize = 8;
const DONE: [&str; 9] = ["✓", "✔", "✅", "☑", "🗸", "👍", "🟢", "[x]", "[X]"];
const OPEN: [&str; 14] = ["✗", "✘", "❌", "✖", "☒", "☐", "⛔", "🚫", "🔴", "👎", "⚠", "[ ]", "[]", "❗"];

/// What a mark beside an item says about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tick {
    #[default]
    None,
    Done,
    Open,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item<'a> {
    /// The number it is listed under, whatever that counts.
    pub number: Option<u32>,
    pub tick: Tick,
    pub text: &'a str,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind<'a> {
    Blank,
    /// `## Heading`, `**Heading**`, `Heading:`, without its marks.
    Heading(&'a str),
    Item(Item<'a>),
    /// A table row; the line of dashes below a header is `Rule`.
    Row(Vec<String>),
    /// A line that begins with `>`.
    Quote(&'a str),
    /// `---`, `===`, `|---|`.
    Rule,
    Plain(&'a str),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line<'a> {
    pub kind: Kind<'a>,
    /// The line as it stands.
    pub raw: &'a str,
    pub indent: usize,
    /// It stands in a code fence that is not around the whole text.
    pub fenced: bool,
}

/// Every line but the fences themselves. A fence around the whole text is none.
pub fn read(text: &str) -> Vec<Line<'_>> {
    let mut fence = Fence::default();
    let mut lines = Vec::new();
    for raw in unwrapped(text).lines() {
        if fence.takes(raw) {
            continue;
        }
        let indent = raw.len() - raw.trim_start().len();
        lines.push(Line { kind: kind(raw), raw, indent, fenced: fence.depth() > 0 });
    }
    lines
}

/// The items of a text that is nothing but a list of two or more.
pub(super) fn list(text: &str) -> Option<Vec<&str>> {
    let said = text.lines().filter(|line| !line.trim().is_empty());
    let items: Option<Vec<&str>> = said.map(|line| item(line.trim()).map(|item| item.text)).collect();
    items.filter(|items| items.len() > 1)
}

/// What stands in a code fence that encloses the whole text, else the text.
pub fn unwrapped(text: &str) -> &str {
    let body = text.trim();
    let Some((first, rest)) = body.split_once('\n') else { return text };
    let Some((inner, last)) = rest.trim_end().rsplit_once('\n') else { return text };
    let mut fence = Fence::default();
    if !fence.takes(first) {
        return text;
    }
    // It closes at the end and nowhere before.
    for line in inner.lines() {
        fence.takes(line);
        if fence.depth() == 0 {
            return text;
        }
    }
    fence.takes(last);
    if fence.depth() == 0 { inner } else { text }
}

/// Code fences: what they enclose is only shown. They may be nested: one that names a language opens, a bare one closes.
#[derive(Default, Debug)]
pub struct Fence {
    open: Vec<(char, usize)>,
}

impl Fence {
    pub const fn depth(&self) -> usize {
        self.open.len()
    }

    /// Is this line a fence, and no text?
    pub fn takes(&mut self, line: &str) -> bool {
        let body = line.trim();
        let Some(mark) = body.chars().next().filter(|c| matches!(c, '`' | '~')) else { return false };
        let length = body.chars().take_while(|c| *c == mark).count();
        let info = body[length..].trim();
        if length < 3 || info.contains(mark) {
            return false;
        }
        match self.open.last() {
            Some((open, least)) if info.is_empty() && *open == mark && length >= *least => {
                self.open.pop();
            }
            // Shorter than the one it stands in, or of another kind: it may open one inside.
            _ if self.open.len() < DEEPEST => self.open.push((mark, length)),
            _ => return false,
        }
        true
    }
}

fn kind(raw: &str) -> Kind<'_> {
    let body = raw.trim();
    if body.is_empty() {
        return Kind::Blank;
    }
    if let Some(quote) = body.strip_prefix('>') {
        return Kind::Quote(quote.trim());
    }
    if body.starts_with('|') && body.len() > 1 || body.matches('|').count() >= 2 && body.ends_with('|') {
        let cells = cells(body);
        let is_rule =
            cells.iter().all(|c| !c.is_empty() && c.chars().all(|c| matches!(c, '-' | ':' | ' ' | '=')));
        return if is_rule { Kind::Rule } else { Kind::Row(cells) };
    }
    if body.chars().count() >= 3 && body.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | ' ' | '—' | '–'))
    {
        return Kind::Rule;
    }
    if let Some(heading) = heading(body) {
        return Kind::Heading(heading);
    }
    // `✅ **Addressed**`: a picture before a heading.
    let behind = body.trim_start_matches(|c: char| c.is_whitespace() || is_pictograph(c));
    if behind.len() < body.len()
        && behind.starts_with("**")
        && let Some(heading) = heading(behind)
    {
        return Kind::Heading(heading);
    }
    item(body).map_or(Kind::Plain(body), Kind::Item)
}

/// `## Heading`, or a line that is bold as a whole, or a short line that ends with a colon.
fn heading(line: &str) -> Option<&str> {
    let hashes = line.bytes().take_while(|b| *b == b'#').count();
    if (1..=6).contains(&hashes) && line[hashes..].starts_with(' ') {
        return Some(unmarked(line[hashes..].trim()));
    }
    for mark in ["**", "__"] {
        let inner = line.strip_prefix(mark).and_then(|rest| {
            let rest = rest.trim_end_matches([':', ' ']);
            rest.strip_suffix(mark)
        });
        if let Some(inner) = inner.filter(|inner| !inner.contains(mark) && inner.chars().count() <= 100) {
            return Some(unmarked(inner));
        }
    }
    let label =
        line.strip_suffix(':').or_else(|| line.strip_suffix(":**")).or_else(|| line.strip_suffix(":__"))?;
    let short = label.chars().count() <= 80 && item(line).is_none();
    short.then(|| unmarked(label))
}

fn unmarked(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | ':' | '#'))
}

/// A list item, by its mark, its number or its tick.
pub fn item(line: &str) -> Option<Item<'_>> {
    let body = line.trim();
    let (tick, after) = tick(body);
    if tick != Tick::None {
        let (number, text) = number(after).map_or((None, after), |(n, text)| (Some(n), text));
        return (!text.is_empty()).then_some(Item { number, tick, text });
    }
    if is_comment(body) {
        return Some(Item { number: None, tick, text: body });
    }
    let Some(after) = mark(body) else {
        let (number, rest) = number(body)?;
        let (tick, text) = self::tick(rest);
        return (!text.is_empty()).then_some(Item { number: Some(number), tick, text });
    };
    let (tick, text) = self::tick(after);
    (!text.is_empty()).then_some(Item { number: None, tick, text })
}

/// `issue (blocking): …`, `praise: …`: a line of a review that labels each of its comments.
fn is_comment(body: &str) -> bool {
    const LABELS: [&str; 7] = ["issue", "praise", "nitpick", "suggestion", "todo", "chore", "thought"];
    body.split_once(':').is_some_and(|(label, text)| {
        let (word, kind) = label.split_once(" (").unwrap_or((label, ")"));
        LABELS.contains(&word) && kind.ends_with(')') && text.starts_with(' ') && !text.trim().is_empty()
    })
}

/// What follows a list mark.
fn mark(body: &str) -> Option<&str> {
    let mut chars = body.chars();
    let mark = chars.next().filter(|c| MARKS.contains(c) || is_keycap(body))?;
    let rest = chars.as_str();
    let next = rest.chars().next()?;
    // `-x` is an item of somebody in a hurry, `--` a rule, `-5` a number and `*x` emphasis.
    let tight = TIGHT.contains(&mark)
        || mark == '-' && (next.is_alphabetic() || matches!(next, '"' | '“' | '`' | '[' | '*'));
    (next.is_whitespace() || tight).then(|| rest.trim())
}

fn is_keycap(body: &str) -> bool {
    body.chars().nth(1) == Some('\u{20e3}')
}

/// `1.`, `1)`, `(1)`, `[1]`, `#1`, `1:`, `①`, `1⃣`, `Fix 1:`, `**1.**`.
pub fn number(body: &str) -> Option<(u32, &str)> {
    let plain = body.trim_start_matches(['*', '_']);
    let emphasised = plain.len() < body.len();
    if let Some(c) = plain.chars().next()
        && ('①'..='⑳').contains(&c)
    {
        let n = u32::from(c) - u32::from('①') + 1;
        return Some((n, rest_of(&plain[c.len_utf8()..])));
    }
    let lower: String = plain.chars().take(14).flat_map(char::to_lowercase).collect();
    let word =
        NUMBERED.iter().find(|w| lower.strip_prefix(**w).is_some_and(|r| r.starts_with([' ', '#', '.'])));
    let (named, digits_from) = match word {
        Some(word) => (true, plain.get(word.len()..)?.trim_start_matches([' ', '#', '.'])),
        None => (false, plain),
    };
    let open = digits_from.chars().next()?;
    let bracket = match open {
        '(' => Some(')'),
        '[' => Some(']'),
        _ => None,
    };
    let inner = if bracket.is_some() || open == '#' { &digits_from[1..] } else { digits_from };
    let length = inner.bytes().take_while(u8::is_ascii_digit).count();
    if length > 3 {
        return None;
    }
    if length == 0 {
        // `a)`, `(b)`
        let letter = inner.chars().next().filter(char::is_ascii_lowercase)?;
        let after = &inner[1..];
        let rest = match bracket {
            Some(close) => after.strip_prefix(close)?,
            None if !named => after.strip_prefix(')')?,
            None => return None,
        };
        return rest
            .starts_with([' ', '\t'])
            .then(|| (u32::from(letter) - u32::from('a') + 1, rest_of(rest)));
    }
    let n: u32 = inner[..length].parse().ok()?;
    let after = &inner[length..];
    if let Some(close) = bracket {
        return after.strip_prefix(close).map(|rest| (n, rest_of(rest)));
    }
    if after.starts_with('\u{20e3}') {
        return Some((n, rest_of(&after['\u{20e3}'.len_utf8()..])));
    }
    let rest = after.strip_prefix(['.', ')', ':']).map(|rest| (rest, true));
    match rest {
        // `3.5` and `12:30` are numbers.
        Some((rest, _)) if rest.starts_with(|c: char| c.is_ascii_digit()) => None,
        Some((rest, _))
            if rest.is_empty() || named || emphasised || rest.starts_with([' ', '\t', '*', '_']) =>
        {
            Some((n, rest_of(rest)))
        }
        _ if named || open == '#' => {
            let rest = after.trim_start_matches(['*', '_']);
            let separated =
                rest.trim_start().starts_with(['-', '–', '—', ':', '(']) || rest.trim().is_empty();
            separated.then(|| (n, rest_of(rest)))
        }
        _ => None,
    }
}

fn rest_of(rest: &str) -> &str {
    rest.trim_start_matches(['*', '_', '.', ')', ':', ' ', '\t', '—', '–', '-']).trim()
}

/// A tick or a cross that a text begins with, and what follows.
pub fn tick(text: &str) -> (Tick, &str) {
    let plain = text.trim_start_matches(['*', '_', ' ']);
    for (marks, tick) in [(&DONE[..], Tick::Done), (&OPEN[..], Tick::Open)] {
        if let Some(rest) = marks.iter().find_map(|mark| plain.strip_prefix(mark)) {
            let rest = rest.trim_start_matches(|c: char| {
                c.is_whitespace() || is_pictograph(c) || matches!(c, '*' | '_' | ':')
            });
            return (tick, rest.trim());
        }
    }
    (Tick::None, text)
}

/// Does a cell or a text hold a tick or a cross anywhere?
pub fn ticked(text: &str) -> Tick {
    if OPEN.iter().take(11).any(|mark| text.contains(mark)) {
        Tick::Open
    } else if DONE.iter().take(7).any(|mark| text.contains(mark)) {
        Tick::Done
    } else {
        Tick::None
    }
}

/// A tick or a cross that a text ends with.
pub fn closing_tick(text: &str) -> Tick {
    let body =
        text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '.' | ')' | '\u{fe0f}'));
    let ends = |marks: &[&str]| marks.iter().any(|mark| body.ends_with(mark));
    if ends(&OPEN[..11]) {
        Tick::Open
    } else if ends(&DONE[..7]) {
        Tick::Done
    } else {
        Tick::None
    }
}

/// The cells of a table row; `\|` is a bar inside a cell.
pub fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for c in line.chars() {
        match (c, escaped, cells.last_mut()) {
            ('|', false, _) => cells.push(String::new()),
            ('\\', false, _) => {
                escaped = true;
                continue;
            }
            (c, _, Some(cell)) => {
                if escaped && c != '|' {
                    cell.push('\\');
                }
                cell.push(c);
            }
            _ => {}
        }
        escaped = false;
    }
    if cells.len() > 1 && cells.last().is_some_and(|c| c.trim().is_empty()) {
        cells.pop();
    }
    if cells.len() > 1 && cells.first().is_some_and(|c| c.trim().is_empty()) {
        cells.remove(0);
    }
    cells.into_iter().map(|c| c.trim().trim_matches(['*', '_']).trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_person_takes_for_a_list_item_is_one() {
        for (line, number, tick, text) in [
            ("- a", None, Tick::None, "a"),
            ("* a", None, Tick::None, "a"),
            ("+ a", None, Tick::None, "a"),
            ("— a", None, Tick::None, "a"),
            ("◦ a", None, Tick::None, "a"),
            ("▪a", None, Tick::None, "a"),
            ("-add it", None, Tick::None, "add it"),
            ("1. a", Some(1), Tick::None, "a"),
            ("2) a", Some(2), Tick::None, "a"),
            ("(3) a", Some(3), Tick::None, "a"),
            ("① a", Some(1), Tick::None, "a"),
            ("Fix 1: a", Some(1), Tick::None, "a"),
            ("**Fix 2:** a", Some(2), Tick::None, "a"),
            ("**1.** a", Some(1), Tick::None, "a"),
            ("Item 2 - a", Some(2), Tick::None, "a"),
            ("a) x", Some(1), Tick::None, "x"),
            ("❌ a", None, Tick::Open, "a"),
            ("- ✅ 1: a", None, Tick::Done, "1: a"),
            ("- [ ] a", None, Tick::Open, "a"),
            ("- [x] a", None, Tick::Done, "a"),
            ("✓ 2: a", Some(2), Tick::Done, "a"),
            ("1. ✗ a", Some(1), Tick::Open, "a"),
            ("issue (blocking): a", None, Tick::None, "issue (blocking): a"),
        ] {
            assert_eq!(item(line), Some(Item { number, tick, text }), "{line}");
        }
        for line in [
            "plain",
            "-5 points",
            "--",
            "3.5 mice",
            "12:30 was late",
            "*emphasis* here",
            "2026 was fine",
            "Fixed it",
        ] {
            assert_eq!(item(line), None, "{line}");
        }
    }

    #[test]
    fn headings_rows_quotes_and_fences_are_told_apart() {
        let text = "# One\n**Two:**\nThree:\n> four\n| a | b |\n|---|---|\n---\nfive";
        let kinds: Vec<Kind<'_>> = read(text).into_iter().map(|l| l.kind).collect();
        assert_eq!(
            kinds,
            [
                Kind::Heading("One"),
                Kind::Heading("Two"),
                Kind::Heading("Three"),
                Kind::Quote("four"),
                Kind::Row(vec!["a".into(), "b".into()]),
                Kind::Rule,
                Kind::Rule,
                Kind::Plain("five"),
            ]
        );
        let fenced: Vec<bool> = read("```\na\n```\nb\n~~~\nc\n~~~\n").iter().map(|l| l.fenced).collect();
        assert_eq!(fenced, [true, false, true]);
        let fenced: Vec<bool> = read("````\na\n```\nb\n```\n````\n").iter().map(|l| l.fenced).collect();
        assert_eq!(fenced, [false, true], "a fence around everything is none");
    }
}
