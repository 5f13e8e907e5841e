//! What LaTeX contributes: section commands, environments that are shown as they are, comments. Not a TeX engine.

const COMMANDS: [&str; 9] = [
    "part",
    "chapter",
    "section",
    "subsection",
    "subsubsection",
    "paragraph",
    "subparagraph",
    "addchap",
    "addsec",
];
/// What stands in these is shown, or left out, as it is.
const VERBATIM: [&str; 7] =
    ["verbatim", "Verbatim", "lstlisting", "minted", "comment", "alltt", "filecontents"];
/// What stands in the braces of these is no part of a title.
const ASIDE: [&str; 5] = ["label", "footnote", "thanks", "index", "cite"];
/// A title is looked for in so many lines, and so many bytes.
const LINES: usize = 5;
const REACH: usize = 1_000;

pub(super) fn is_end(line: &str) -> bool {
    line.trim_start().starts_with("\\end{document}")
}

/// The environment a line begins, if it is one without headings.
pub(super) fn verbatim(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("\\begin{")?.split_once('}')?;
    VERBATIM.contains(&name.trim_end_matches('*')).then_some(name)
}

/// The titles of the section commands on the first of these lines. A title may go on in the next ones.
pub(super) fn titles(lines: &[&str]) -> Vec<String> {
    let Some(first) = lines.first().map(|line| uncommented(line)).filter(|line| line.contains('\\')) else {
        return Vec::new();
    };
    let mut text = first.to_owned();
    for line in lines.iter().take(LINES).skip(1) {
        text.push(' ');
        text.push_str(uncommented(line));
    }
    let quoted = ["`", "\\verb", "\\lstinline"].iter().filter_map(|mark| first.find(mark)).min();
    let mut titles = Vec::new();
    let mut at = 0;
    while let Some(next) = first.get(at..).and_then(|rest| rest.find('\\')) {
        let start = at + next;
        at = start + 1;
        if quoted.is_some_and(|quoted| quoted <= start) {
            break;
        }
        if text[at..].starts_with('\\') {
            at += 1;
        } else if let Some(title) = title(&text[at..]) {
            titles.push(plain(title));
        }
    }
    titles
}

/// The text without commands: `\emph{Threats}\label{x}` is `Threats`.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        match next {
            '\\' => {
                let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                rest = after;
                if ASIDE.contains(&name) {
                    rest = braced(after).map_or(after, |(_, after)| after);
                } else if let (true, Some(escaped)) = (name.is_empty(), after.chars().next()) {
                    plain.push(if escaped == '\\' { ' ' } else { escaped });
                    rest = &after[escaped.len_utf8()..];
                }
            }
            '{' | '}' => {}
            '~' => plain.push(' '),
            other => plain.push(other),
        }
    }
    plain
}

/// What follows a backslash, if it is a section command with a title.
fn title(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphabetic())?;
    let (name, rest) = text.split_at(end);
    if !COMMANDS.contains(&name) {
        return None;
    }
    let rest = rest.strip_prefix('*').unwrap_or(rest).trim_start();
    let rest = match rest.strip_prefix('[') {
        Some(short) => short.split_once(']')?.1.trim_start(),
        None => rest,
    };
    braced(rest).map(|(title, _)| title)
}

/// What stands in the braces a text begins with, and what follows them.
fn braced(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_u32;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().take(REACH) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'{' => depth += 1,
            b'}' if depth <= 1 => return text.starts_with('{').then(|| (&text[1..at], &text[at + 1..])),
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return None;
        }
    }
    None
}

fn uncommented(line: &str) -> &str {
    let mut is_escaped = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'%' if !is_escaped => return &line[..at],
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    line
}
