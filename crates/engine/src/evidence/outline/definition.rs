//! Does a line of code begin a function, a type or another named part? One line at a time, for every usual
//! language at once.

/// A name, and whether the line alone settles it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FoundName<'a> {
    Whole(&'a str),
    /// `int main(void)`: a call, unless a brace opens on the next line.
    IfBraceFollows(&'a str),
}

const MODIFIERS: [&str; 25] = [
    "pub",
    "async",
    "export",
    "default",
    "static",
    "public",
    "private",
    "protected",
    "unsafe",
    "const",
    "abstract",
    "override",
    "inline",
    "virtual",
    "final",
    "internal",
    "suspend",
    "open",
    "sealed",
    "data",
    "extern",
    "local",
    "partial",
    "declare",
    "case",
];

const KEYWORDS: [&str; 27] = [
    "fn",
    "def",
    "defp",
    "defmodule",
    "class",
    "func",
    "fun",
    "function",
    "impl",
    "struct",
    "enum",
    "trait",
    "interface",
    "module",
    "mod",
    "namespace",
    "sub",
    "proc",
    "procedure",
    "object",
    "record",
    "protocol",
    "extension",
    "contract",
    "union",
    "macro_rules!",
    "type",
];

const NOT_FUNCTIONS: [&str; 28] = [
    "if", "for", "while", "switch", "catch", "else", "return", "do", "try", "match", "loop", "with",
    "foreach", "when", "unless", "until", "elif", "elsif", "using", "lock", "case", "new", "throw", "await",
    "yield", "assert", "let", "print",
];

pub(super) fn definition(line: &str) -> Option<FoundName<'_>> {
    let line = line.trim();
    // A line of data or of generated code may be a megabyte long; no header is.
    if line.len() > 600 || line.ends_with(';') && !line.contains('{') {
        return None;
    }
    let plain = without_modifiers(line);
    keyword(plain)
        .map(FoundName::Whole)
        .or_else(|| test_case(plain).map(FoundName::Whole))
        .or_else(|| assigned(plain).map(FoundName::Whole))
        .or_else(|| bare(plain))
}

fn without_modifiers(line: &str) -> &str {
    let mut rest = line;
    loop {
        let word = word(rest);
        if !MODIFIERS.contains(&word) {
            return rest;
        }
        let mut after = &rest[word.len()..];
        if word == "pub" && after.starts_with('(') {
            after = after.split_once(')').map_or("", |(_, after)| after);
        }
        if word == "extern" && after.trim_start().starts_with('"') {
            after = after.splitn(3, '"').nth(2).unwrap_or_default();
        }
        if !after.starts_with(char::is_whitespace) {
            return rest;
        }
        rest = after.trim_start();
    }
}

/// The identifier a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(text.len());
    &text[..end]
}

fn keyword(line: &str) -> Option<&str> {
    let first = line.split(|c: char| c.is_whitespace() || c == '<' || c == '(' || c == '*').next()?;
    if !KEYWORDS.contains(&first) {
        return None;
    }
    let after = line[first.len()..].trim_start_matches('*');
    if first == "impl" {
        let end = after.find(" where").or_else(|| after.find('{')).unwrap_or(after.len());
        return Some(line[..line.len() - after.len() + end].trim());
    }
    if !after.starts_with(char::is_whitespace) {
        return None;
    }
    let mut after = after.trim_start();
    // Go names the receiver first.
    if first == "func" && after.starts_with('(') {
        after = after.split_once(')')?.1.trim_start();
    }
    let end = after.find(|c: char| !(c.is_alphanumeric() || "_$.:~?!'-".contains(c))).unwrap_or(after.len());
    let name = after[..end].trim_end_matches([':', '.', '-']);
    let rest = after[end..].trim_start();
    // Prose begins lines with such words, too; code goes on with a bracket, a colon or nothing.
    let goes_on_like_code = rest.is_empty()
        || after[..end].ends_with(':')
        || rest.starts_with(['(', '<', '{', ':', '=', '[', '/'])
        || line.ends_with(['{', ':', '(', ',']);
    let begins_like_a_name =
        name.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$' || c == '~');
    let opens = first != "type" || line.ends_with('{');
    (opens && goes_on_like_code && begins_like_a_name).then_some(name)
}

/// `it("does this", () => {`
fn test_case(line: &str) -> Option<&str> {
    let (call, rest) = line.split_once('(')?;
    if !matches!(call.split('.').next(), Some("describe" | "it" | "test" | "context" | "suite")) {
        return None;
    }
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    rest[quote.len_utf8()..].split_once(quote).map(|(name, _)| name).filter(|name| !name.is_empty())
}

/// `const name = (a) => {`, `name = function (a) {`
fn assigned(line: &str) -> Option<&str> {
    let (left, right) = line.split_once('=')?;
    let left = ["let ", "var "].iter().find_map(|k| left.strip_prefix(k)).unwrap_or(left).trim();
    let left = left.split(':').next()?.trim_end();
    let right = right.trim_start();
    let function = right.starts_with("function")
        || right.starts_with("async function")
        || right.contains("=>") && (right.starts_with('(') || right.starts_with("async"));
    (function && !left.is_empty() && left.chars().all(|c| c.is_alphanumeric() || "_$.".contains(c)))
        .then_some(left)
}

/// `int main(void) {`, `render() {`, `name() {`
fn bare(line: &str) -> Option<FoundName<'_>> {
    let (before, after) = line.split_once('(')?;
    let first = word(before);
    let name = before.rsplit(|c: char| c.is_whitespace() || c == '*' || c == '&').next()?;
    let odd = |c: char| !(c.is_alphanumeric() || "_$:~.".contains(c));
    if first.is_empty()
        || NOT_FUNCTIONS.contains(&first)
        || before.contains('=')
        || name.is_empty()
        || name.contains(odd)
        || after.contains("=>")
        || after.contains('|')
    {
        return None;
    }
    let balanced = line.matches('(').count() == line.matches(')').count();
    if !balanced {
        return None;
    }
    if line.ends_with('{') {
        Some(FoundName::Whole(name))
    } else if line.ends_with(')') {
        Some(FoundName::IfBraceFollows(name))
    } else {
        None
    }
}
