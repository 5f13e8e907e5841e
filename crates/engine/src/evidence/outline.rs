//! The sections or functions of a text, so that a point can be tied to the one it stands in. Found by
//! headings, keywords and indentation: a good guess for every usual language, not a parser.

use crate::brief::one_line;
use crate::corpus::normal;

mod definition;

use definition::definition;

/// Longer names are cut, deeper nesting is shown by its innermost parts.
const NAME: usize = 120;
const SHOWN: usize = 4;

/// The named parts of one text, each with the line it begins on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outline {
    parts: Vec<OutlinePart>,
    /// From this line on the innermost part is that one, or none. Sorted by line.
    turns: Vec<(u32, Option<usize>)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct OutlinePart {
    name: String,
    inside: Option<usize>,
}

enum TextKind {
    Prose,
    Code,
    Settings,
    Data,
}

impl Outline {
    pub fn of(path: &str, text: &str) -> Self {
        let mut growing = Growing::default();
        match kind(path, text) {
            TextKind::Prose => prose(text, &mut growing),
            TextKind::Code => code(text, &mut growing),
            TextKind::Settings => settings(text, &mut growing),
            TextKind::Data => {}
        }
        growing.outline
    }

    /// The part the line, counted from 1, stands in, with what that stands in: `impl Parser › next`.
    pub fn around(&self, line: u32) -> Option<String> {
        let turn = self.turns.partition_point(|(from, _)| *from <= line).checked_sub(1)?;
        let mut at = self.turns.get(turn)?.1;
        let mut names = Vec::new();
        while let (Some(part), true) = (at.and_then(|at| self.parts.get(at)), names.len() < SHOWN) {
            names.push(part.name.as_str());
            at = part.inside;
        }
        names.reverse();
        (!names.is_empty()).then(|| names.join(" › "))
    }

    /// Does a part of this name, in whatever case, begin anywhere?
    pub fn has(&self, name: &str) -> bool {
        self.parts.iter().any(|part| part.name.to_lowercase() == name.to_lowercase())
    }
}

/// An outline while its text is read, with the parts that are open at the moment.
#[derive(Default)]
struct Growing {
    outline: Outline,
    open: Vec<(usize, usize)>,
}

impl Growing {
    /// Something at this depth ends every part as deep or deeper.
    fn close(&mut self, depth: usize) {
        while self.open.last().is_some_and(|(open, _)| *open >= depth) {
            self.open.pop();
        }
    }

    fn begin(&mut self, depth: usize, name: &str) {
        self.close(depth);
        let name: String = one_line(name).chars().take(NAME).collect();
        let inside = self.open.last().map(|(_, part)| *part);
        self.open.push((depth, self.outline.parts.len()));
        self.outline.parts.push(OutlinePart { name, inside });
    }

    /// From this line on, what is open now is what a line stands in.
    fn turn(&mut self, line: u32) {
        let part = self.open.last().map(|(_, part)| *part);
        if self.outline.turns.last().is_none_or(|(_, last)| *last != part) {
            self.outline.turns.push((line, part));
        }
    }
}

fn kind(path: &str, text: &str) -> TextKind {
    let path = normal(path);
    let file = path.rsplit('/').next().unwrap_or_default();
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending).to_lowercase();
    match ending.as_str() {
        "md" | "markdown" | "mdx" | "rst" | "txt" | "adoc" | "tex" | "qmd" | "rmd" => TextKind::Prose,
        "toml" | "ini" | "cfg" | "conf" => TextKind::Settings,
        "json" | "jsonl" | "yaml" | "yml" | "html" | "htm" | "css" | "scss" | "csv" | "tsv" | "lock"
        | "svg" | "xml" => TextKind::Data,
        "" if looks_like_prose(text) => TextKind::Prose,
        _ => TextKind::Code,
    }
}

/// A text without a telling name: comments of a script look like headings, a second-level heading does not
/// look like anything else.
fn looks_like_prose(text: &str) -> bool {
    let mut defines = false;
    for line in text.lines() {
        if line.starts_with("## ") || line.starts_with("### ") || latex(line).is_some() {
            return true;
        }
        defines |= definition(line).is_some();
    }
    !defines
}

fn prose(text: &str, growing: &mut Growing) {
    let mut fence: Option<&str> = None;
    let mut lines = (1u32..).zip(text.lines()).peekable();
    let mut blank_before = true;
    if text.lines().next().is_some_and(|line| line.trim_end() == "---") {
        lines.next();
        for (_, line) in lines.by_ref() {
            if line.trim_end() == "---" {
                break;
            }
        }
    }
    while let Some((number, line)) = lines.next() {
        let trimmed = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(found)) if open == found => fence = None,
            _ => {}
        }
        let after_blank = std::mem::replace(&mut blank_before, trimmed.is_empty());
        if fence.is_some() || mark.is_some() || trimmed.is_empty() {
            continue;
        }
        let underlined = || {
            lines.peek().filter(|_| after_blank).and_then(|(_, below)| underline(below)).map(|l| (l, trimmed))
        };
        if let Some((level, name)) = heading(line).or_else(|| latex(line)).or_else(underlined) {
            growing.begin(level, name);
            growing.turn(number);
        }
    }
}

/// `## Name`
fn heading(line: &str) -> Option<(usize, &str)> {
    let name = line.trim_start_matches('#');
    let level = line.len() - name.len();
    let name = name.strip_prefix([' ', '\t'])?.trim().trim_end_matches('#').trim();
    ((1..=6).contains(&level) && !name.is_empty()).then_some((level, name))
}

/// `===` or `---` under a line of its own
fn underline(line: &str) -> Option<usize> {
    let line = line.trim_end();
    let all = |mark: u8| line.len() >= 3 && line.bytes().all(|b| b == mark);
    if all(b'=') {
        Some(1)
    } else if all(b'-') || all(b'~') {
        Some(2)
    } else {
        None
    }
}

/// `\section{Name}`
fn latex(line: &str) -> Option<(usize, &str)> {
    let command = line.trim_start().strip_prefix('\\')?;
    let levels = ["chapter", "section", "subsection", "subsubsection", "paragraph"];
    let (level, rest) =
        (1..).zip(levels).find_map(|(level, word)| Some((level, command.strip_prefix(word)?)))?;
    let (name, _) = rest.trim_start_matches('*').strip_prefix('{')?.split_once('}')?;
    Some((level, name))
}

/// `[section]` and `[[section]]`
fn settings(text: &str, growing: &mut Growing) {
    for (number, line) in (1u32..).zip(text.lines()) {
        let name = line.trim().trim_start_matches('[');
        if name.len() < line.trim().len()
            && let Some((name, _)) = name.split_once(']')
        {
            growing.begin(1, name);
            growing.turn(number);
        }
    }
}

fn code(text: &str, growing: &mut Growing) {
    // Comments and attributes belong to what follows them.
    let mut leading: Option<u32> = None;
    // A header whose brace may stand on the next line.
    let mut header: Option<(u32, usize, &str)> = None;
    for (number, line) in (1u32..).zip(text.lines()) {
        let body = line.trim_start();
        if body.is_empty() {
            continue;
        }
        if body.starts_with('{')
            && let Some((from, depth, name)) = header.take()
        {
            growing.begin(depth, name);
            growing.turn(from);
        }
        let preprocessor = body.strip_prefix('#').is_some_and(|word| word.starts_with(char::is_alphabetic));
        if preprocessor {
            continue;
        }
        if ["//", "#", "@", "/*", "*", "--", "\"\"\""].iter().any(|mark| body.starts_with(mark)) {
            leading.get_or_insert(number);
            continue;
        }
        if goes_on(body) {
            leading = None;
            continue;
        }
        let from = leading.take().unwrap_or(number);
        let depth = indentation(line);
        growing.close(depth);
        header = None;
        match definition(line) {
            Some(definition::FoundName::Whole(name)) => growing.begin(depth, name),
            Some(definition::FoundName::IfBraceFollows(name)) => header = Some((from, depth, name)),
            None => {}
        }
        growing.turn(from);
    }
}

fn indentation(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// Lines that stand as far out as a definition and yet belong to the one above them.
fn goes_on(body: &str) -> bool {
    let word = body.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    body.starts_with(['}', ')', ']', '{'])
        || body.starts_with("->")
        || matches!(word, "end" | "where")
        || (matches!(word, "public" | "private" | "protected") && body[word.len()..].trim() == ":")
}

#[cfg(test)]
mod tests;
