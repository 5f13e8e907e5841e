//! Headings of a text, as required sections are compared with them: numbering, levels, case and decoration do not
//! count, and what stands inside a code fence, a comment or a verbatim environment is no heading. Not a parser of
//! Markdown or LaTeX: only lines that could be a heading are looked at.

mod latex;
mod wording;

pub use wording::normalised;

/// More headings than this are not looked at.
const MOST: usize = 5_000;
/// A heading is cut after so many characters.
const LONGEST: usize = 400;
/// What begins a stretch without headings, at the beginning of a line, and what ends it.
const SILENT: [(&str, &str); 5] = [
    ("<!--", "-->"),
    ("<pre", "</pre>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
    ("\\iffalse", "\\fi"),
];

/// Every heading of a Markdown or LaTeX text, normalised.
pub fn headings(text: &str) -> Vec<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = text.split('\n').collect();
    let mut reader = HeadingReader::default();
    for at in after_front_matter(&lines)..lines.len() {
        if reader.found.len() >= MOST || latex::is_end(lines[at]) {
            break;
        }
        reader.read(&lines[at..]);
    }
    reader.found
}

/// Whether one of these headings opens a section: it is its name, or begins with it and goes on after `:`, a dash,
/// `(`, a comma or an `and`. The headings have to be normalised.
pub fn has_section(headings: &[String], section: &str) -> bool {
    let wanted = normalised(section);
    wanted.is_empty() || headings.iter().any(|heading| opens(heading, &wanted))
}

/// `Threats and Pre-Planned Responses` is about threats.
const AND: [&str; 5] = ["and ", "& ", "y ", "und ", "et "];

fn opens(heading: &str, wanted: &str) -> bool {
    heading.strip_prefix(wanted).is_some_and(|rest| {
        let after = rest.trim_start();
        let is_dashed = rest.starts_with(' ') && (after.starts_with("- ") || after.starts_with("-- "));
        let is_joined = rest.starts_with(' ') && AND.iter().any(|and| after.starts_with(and));
        rest.is_empty() || is_dashed || is_joined || after.starts_with([':', '–', '—', '(', ',', '/'])
    })
}

/// Where the text begins after a block between two `---`: its last line would look like a heading.
fn after_front_matter(lines: &[&str]) -> usize {
    if lines.first().is_none_or(|line| line.trim_end() != "---") {
        return 0;
    }
    let end = lines.iter().skip(1).position(|line| matches!(line.trim_end(), "---" | "..."));
    end.map_or(0, |at| at + 2)
}

#[derive(Default)]
struct HeadingReader {
    found: Vec<String>,
    /// The lines before, as far as a line of `===` or `---` would make a heading of them.
    paragraph: String,
    silent: Option<Silent>,
}

enum Silent {
    Fence { mark: char, length: usize },
    Until(String),
}

impl HeadingReader {
    /// The first of these lines; the others are what follows.
    fn read(&mut self, lines: &[&str]) {
        let Some(line) = lines.first() else { return };
        if let Some(silent) = &self.silent {
            if silent.ends_with(line) {
                self.silent = None;
            }
            return;
        }
        self.silent = Silent::begun_by(line);
        let is_indented = line.starts_with("    ") || line.starts_with('\t');
        if self.silent.is_some() {
            self.paragraph.clear();
        } else if let Some(heading) = atx(line).filter(|_| !is_indented) {
            self.found.push(normalised(heading));
            self.paragraph.clear();
        } else if is_underline(line) && !self.paragraph.is_empty() {
            self.found.push(normalised(&std::mem::take(&mut self.paragraph)));
        } else {
            self.found.extend(latex::titles(lines).iter().map(|title| normalised(title)));
            self.remember(line, is_indented);
        }
    }

    fn remember(&mut self, line: &str, is_indented: bool) {
        let text = line.trim();
        let is_open = !self.paragraph.is_empty();
        if text.is_empty() || text.starts_with('>') || item(text).is_some() || (is_indented && !is_open) {
            self.paragraph.clear();
        } else if self.paragraph.len() < LONGEST {
            if is_open {
                self.paragraph.push(' ');
            }
            self.paragraph.extend(text.chars().take(LONGEST));
        }
    }
}

impl Silent {
    fn begun_by(line: &str) -> Option<Self> {
        let text = line.trim_start();
        let text = item(text).unwrap_or(text);
        let mark = text.chars().next()?;
        if matches!(mark, '`' | '~') {
            let length = text.chars().take_while(|c| *c == mark).count();
            let info = &text[length..];
            return (length >= 3 && !(mark == '`' && info.contains('`')))
                .then_some(Self::Fence { mark, length });
        }
        if let Some(name) = latex::verbatim(text) {
            let end = format!("\\end{{{name}}}");
            return (!text.contains(&end)).then_some(Self::Until(end));
        }
        let lower: String = text.chars().take(16).collect::<String>().to_ascii_lowercase();
        let (_, end) = SILENT.iter().find(|(begin, _)| lower.starts_with(begin))?;
        (!text.to_ascii_lowercase().contains(end)).then(|| Self::Until((*end).to_owned()))
    }

    fn ends_with(&self, line: &str) -> bool {
        match self {
            Self::Fence { mark, length } => {
                let text = line.trim();
                text.chars().count() >= *length && text.chars().all(|c| c == *mark)
            }
            Self::Until(end) => {
                if end.starts_with('<') || end.starts_with('-') {
                    line.to_ascii_lowercase().contains(end)
                } else {
                    line.contains(end)
                }
            }
        }
    }
}

/// What follows the mark of a list item: a fence may begin there.
fn item(text: &str) -> Option<&str> {
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let after = if number.len() < text.len() {
        number.strip_prefix(['.', ')'])
    } else {
        text.strip_prefix(['-', '*', '+'])
    }?;
    after.starts_with([' ', '\t']).then(|| after.trim_start())
}

/// The text of `## a heading ##`.
fn atx(line: &str) -> Option<&str> {
    let text = line.trim();
    let rest = text.trim_start_matches('#');
    let is_one = (1..=6).contains(&(text.len() - rest.len())) && rest.starts_with([' ', '\t']);
    is_one.then(|| rest.trim()).filter(|rest| !rest.is_empty())
}

fn is_underline(line: &str) -> bool {
    let text = line.trim_end();
    let marks = text.trim_start_matches(' ');
    text.len() - marks.len() < 4
        && marks.len() >= 2
        && (marks.bytes().all(|b| b == b'=') || marks.bytes().all(|b| b == b'-'))
}

#[cfg(test)]
mod tests;
