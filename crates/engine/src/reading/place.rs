//! Where a critic says something is: `main.tex:12`, `main.tex#L12-L15`, `line 12`. Words that are no place
//! (`Section 3`) give none.

use crate::finding::Location;

/// The path of a text draft's only entry.
const DRAFT: &str = "draft";
const LONGEST_PATH: usize = 400;

/// The place a whole field names.
pub fn read(text: &str) -> Option<Location> {
    let text = trimmed(text);
    if text.is_empty() || text.len() > LONGEST_PATH || text.contains('\n') {
        return None;
    }
    if let Some((before, lines)) = split_at_line_word(text) {
        let (line, end) = range(lines)?;
        let path = trimmed(before.trim().trim_end_matches([',', ':', ';']));
        let path = if path.is_empty() { DRAFT } else { path };
        return is_path(path, true).then(|| Location { path: path.to_owned(), line: Some(line), end });
    }
    token(text)
        .or_else(|| is_path(text, false).then(|| Location { path: text.to_owned(), line: None, end: None }))
}

/// The first place named inside a sentence, if it names a line.
pub fn within(text: &str) -> Option<Location> {
    let separator =
        |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | '`' | ',' | ';' | '"' | '*');
    text.split(separator).filter(|word| !word.is_empty()).find_map(token).or_else(|| line_words(text))
}

/// Endings of host names, which look like `file:line` when a port follows.
const HOSTS: [&str; 12] =
    ["com", "org", "net", "io", "ai", "app", "dev", "local", "localhost", "internal", "example", "test"];

/// Files that have neither folder nor extension, by the names they usually have.
const NAMES: [&str; 24] = [
    "Makefile",
    "makefile",
    "GNUmakefile",
    "Dockerfile",
    "Containerfile",
    "Jenkinsfile",
    "Vagrantfile",
    "Gemfile",
    "Rakefile",
    "Procfile",
    "Justfile",
    "justfile",
    "Brewfile",
    "Podfile",
    "Caddyfile",
    "Earthfile",
    "CODEOWNERS",
    "README",
    "CHANGELOG",
    "LICENSE",
    "COPYING",
    "NOTICE",
    "AUTHORS",
    "BUILD",
];

/// Every `path:line` and `path:line-end` in a text. A line too large for any file stays one: it has to be found wrong, not
/// overlooked.
pub fn all(text: &str) -> impl Iterator<Item = Location> + '_ {
    let parts =
        |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '“' | '”' | '(' | ')' | '[' | ']' | ',' | ';');
    text.split(parts).filter_map(cited)
}

/// `src/a.rs:12`, `src/a.rs:12-15`, `src/a.rs:12:5` or `src/a.rs#L12-L15`, whatever marks surround it; `draft:4`.
pub fn cited(word: &str) -> Option<Location> {
    let word = word.trim_start_matches(['(', '[', '{', '<', '"', '\'', '`', '*', '“', '«', ',', ';', '_']);
    let word = word.trim_end_matches([
        ')', ']', '}', '>', '"', '\'', '`', '*', '”', '»', ',', ';', '.', ':', '!', '?', '_',
    ]);
    let with_colon = || {
        let (path, lines) = word.rsplit_once(':')?;
        // `a.rs:12:5` has a column.
        Some(match path.rsplit_once(':') {
            Some((file, line)) if span(line).is_some() && span(lines).is_some() => (file, line),
            _ => (path, lines),
        })
    };
    let (path, lines) = word.split_once("#L").or_else(with_colon)?;
    let (line, end) = span(lines)?;
    let is_file = path == DRAFT || NAMES.contains(&path) || looks_like_a_file(path);
    is_file.then(|| Location { path: path.to_owned(), line: Some(line), end })
}

/// Has the look of a file's path: a folder or an extension, and not a web address, a host or a number.
pub fn looks_like_a_file(text: &str) -> bool {
    let extension = text.rsplit_once('.').map(|(_, e)| e).filter(|e| {
        (1..=12).contains(&e.len())
            && e.chars().all(char::is_alphanumeric)
            && e.chars().any(char::is_alphabetic)
    });
    let is_host = !text.contains('/') && extension.is_some_and(|e| HOSTS.contains(&e));
    (text.contains('/') || extension.is_some())
        && text.len() <= LONGEST_PATH
        && !text.contains("://")
        && !text.contains(['"', '`', '(', ')', '=', ' '])
        && text.chars().any(char::is_alphabetic)
        && !is_host
}

/// `12`, `L12`, `12-15`, `12–L15`, in either order.
pub fn span(text: &str) -> Option<(u32, Option<u32>)> {
    let number = |part: &str| -> Option<u32> {
        let part = part.trim().trim_start_matches(['L', 'l']);
        (!part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
            .then(|| part.parse().unwrap_or(u32::MAX))
    };
    match text.trim().split_once(['-', '–', '—']) {
        None => Some((number(text)?, None)),
        Some((first, last)) => {
            let (first, last) = (number(first)?, number(last)?);
            Some((first.min(last), Some(first.max(last)).filter(|_| first != last)))
        }
    }
}

/// `path:12`, `path:12-15`, `path:12:3`, `path#L12`, `path:L12`.
fn token(text: &str) -> Option<Location> {
    let text = trimmed(text);
    if text.len() > LONGEST_PATH {
        return None;
    }
    let (path, lines) = text.split_once('#').or_else(|| {
        let (path, lines) = text.rsplit_once(':')?;
        // A column after the line.
        match path.rsplit_once(':') {
            Some((head, line)) if range(line).is_some() && range(lines).is_some() => Some((head, line)),
            _ => Some((path, lines)),
        }
    })?;
    let (line, end) = range(lines)?;
    is_path(path, true).then(|| Location { path: path.to_owned(), line: Some(line), end })
}

/// `line 12`, `lines 12–15` inside a sentence.
fn line_words(text: &str) -> Option<Location> {
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let word = word.trim_start_matches(['(', '[', '*', '`']);
        if is_line_word(word) {
            let number = words.clone().next().and_then(|next| range(trimmed(next)));
            if let Some((line, end)) = number {
                return Some(Location { path: DRAFT.into(), line: Some(line), end });
            }
        }
    }
    None
}

fn is_line_word(word: &str) -> bool {
    ["line", "lines", "l.", "ll."].iter().any(|w| word.eq_ignore_ascii_case(w))
}

/// `draft.md, lines 3-5` at its last `line` word.
fn split_at_line_word(text: &str) -> Option<(&str, &str)> {
    let (before, number) = text.rsplit_once(char::is_whitespace)?;
    let before = before.trim_end();
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = before.get(start..)?;
    is_line_word(word.trim_start_matches('(')).then(|| (before.get(..start).unwrap_or_default(), number))
}

/// `12`, `L12`, `12-15`, `L12–L15`.
pub fn range(text: &str) -> Option<(u32, Option<u32>)> {
    let number = |part: &str| -> Option<u32> {
        let part = part.trim().trim_start_matches(['L', 'l']);
        (part.len() <= 9 && !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
            .then(|| part.parse().ok())
            .flatten()
    };
    match text.trim().split_once(['-', '–', '—']) {
        Some((from, to)) => Some((number(from)?, Some(number(to)?))),
        None => Some((number(text)?, None)),
    }
}

/// With a line behind it a bare name is enough; alone it must look like a file.
fn is_path(text: &str, with_line: bool) -> bool {
    let plain = !text.is_empty() && !text.contains(['\n', '`', '"', '<', '>', '|', '*', '?']);
    let name = text.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').is_some_and(|(stem, ext)| {
        stem.len() >= 2 && (1..=8).contains(&ext.len()) && ext.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    let word = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
    let lettered = text.chars().any(char::is_alphabetic);
    plain && lettered && (extension && (word || text.contains('/') || with_line) || with_line && word)
}

fn trimmed(text: &str) -> &str {
    text.trim()
        .trim_matches(['`', '"', '\'', '(', ')', '[', ']', '*'])
        .trim()
        .trim_end_matches(['.', ',', ':', ';'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(place: Option<Location>) -> Option<String> {
        place.map(|p| format!("{} {:?} {:?}", p.path, p.line, p.end))
    }

    #[test]
    fn places_are_read_as_critics_write_them() {
        let cases = [
            ("main.tex:12", "main.tex Some(12) None"),
            ("`src/a.rs:12-15`", "src/a.rs Some(12) Some(15)"),
            ("src/a.rs:12:7", "src/a.rs Some(12) None"),
            ("a.md#L3", "a.md Some(3) None"),
            ("a.md#L3-L9", "a.md Some(3) Some(9)"),
            ("a.md:L3–9", "a.md Some(3) Some(9)"),
            ("draft:4", "draft Some(4) None"),
            ("line 12", "draft Some(12) None"),
            ("Lines 12-14", "draft Some(12) Some(14)"),
            ("draft.md, line 3", "draft.md Some(3) None"),
            ("my notes.md, lines 3-5", "my notes.md Some(3) Some(5)"),
            ("paper/main.tex", "paper/main.tex None None"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(read(text)).as_deref(), Some(expected), "{text}");
        }
        for none in
            ["", "Section 3", "the abstract", "e.g.", "12:30", "3.5", "line twelve", "Table 2: row 3 of 4"]
        {
            assert_eq!(shown(read(none)), None, "{none}");
        }
    }

    #[test]
    fn files_without_an_extension_are_known_by_name() {
        assert_eq!(all("see Makefile:3 and Dockerfile:1-2, not Section:3").count(), 2);
        assert_eq!(cited("`Makefile:3`").map(|p| (p.path, p.line)), Some(("Makefile".into(), Some(3))));
    }

    #[test]
    fn a_place_inside_a_sentence_needs_a_line() {
        let found = within("Missing citation (`main.tex:12`), see also refs.bib");
        assert_eq!(shown(found).as_deref(), Some("main.tex Some(12) None"));
        assert_eq!(shown(within("no source on line 7, twice")).as_deref(), Some("draft Some(7) None"));
        assert_eq!(shown(within("at 12:30 the score was 3:1")), None);
        assert_eq!(shown(within("see refs.bib")), None);
    }
}
