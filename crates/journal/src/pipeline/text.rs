//! Words of models, files and people on their way into Markdown, mermaid and file names: one bounded line each, and
//! never structure. Times of records as people read them.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::TimeZone;

const LONGEST: usize = 600;
const LONGEST_NAME: usize = 80;

/// Any text as one bounded line without control characters.
pub fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|c| !c.is_control() && !is_steering(*c)));
        if line.len() > LONGEST {
            let cut: String = line.chars().take(LONGEST).collect();
            return format!("{cut}…");
        }
    }
    line
}

/// Characters that turn the direction of what follows, so that a line shows something else than it says.
const fn is_steering(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The rest of a Markdown line: no comment, no tag, no code that reaches beyond it.
pub fn words(text: &str) -> String {
    one_line(text).replace('<', "&lt;").replace('`', "'")
}

/// A cell of a Markdown table.
pub fn cell(text: &str) -> String {
    let words = words(text).replace('\\', "\\\\").replace('|', "\\|");
    if words.is_empty() { "—".to_owned() } else { words }
}

/// The label of a mermaid node.
pub fn label(text: &str) -> String {
    let line = one_line(text);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    // `end` closes a block wherever it stands.
    if !line.is_empty() && line.chars().all(plain) && !line.eq_ignore_ascii_case("end") {
        return line;
    }
    let mut quoted = String::from('"');
    for c in line.chars() {
        match c {
            c if c.is_alphanumeric() || " -_./,".contains(c) => quoted.push(c),
            c => {
                let _ = write!(quoted, "#{};", u32::from(c));
            }
        }
    }
    quoted.push('"');
    quoted
}

/// A plain part of a file's name, for people: not injective.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= LONGEST_NAME {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "plan".to_owned() } else { slug.to_owned() }
}

/// A plain file name for an agent or a skill, without ending: two names never share one.
pub fn file_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    if !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(plain) {
        return name.to_owned();
    }
    // A plain name has no dot, so none is the same as one of these.
    let digest = gadfly_engine::Digest::of(name.as_bytes());
    let cut: String = slug(name).chars().take(40).collect();
    format!("{cut}.{}", digest.short())
}

/// Times as the people at this machine read them.
#[derive(Clone, Debug)]
pub struct LocalZone(TimeZone);

impl Default for LocalZone {
    fn default() -> Self {
        Self(TimeZone::system())
    }
}

impl LocalZone {
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    fn format(&self, wall_ms: u64, format: &str) -> String {
        timestamp(wall_ms).to_zoned(self.0.clone()).strftime(format).to_string()
    }

    pub fn date(&self, wall_ms: u64) -> String {
        self.format(wall_ms, "%Y-%m-%d")
    }

    pub fn minute(&self, wall_ms: u64) -> String {
        self.format(wall_ms, "%Y-%m-%d %H:%M")
    }

    /// `YYYYMMDD-HHMMSS`, for names of files.
    pub fn compact(&self, wall_ms: u64) -> String {
        self.format(wall_ms, "%Y%m%d-%H%M%S")
    }
}

fn timestamp(wall_ms: u64) -> Timestamp {
    let ms = i64::try_from(wall_ms).unwrap_or(0);
    Timestamp::from_millisecond(ms - ms % 1000).unwrap_or_default()
}

/// RFC 3339, in UTC.
pub fn rfc3339(wall_ms: u64) -> String {
    timestamp(wall_ms).to_string()
}

/// `1h 02m`, `3m 05s`, `12s`.
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m {s:02}s"),
        (h, m, _) => format!("{h}h {m:02}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_its_line_cell_or_label() {
        let hostile = "a\n### 2026 — x\r\n| `b` |\u{2028}<!-- \u{202e}c\u{0}";
        assert_eq!(one_line(hostile), "a ### 2026 — x | `b` | <!-- c");
        assert_eq!(cell(hostile), "a ### 2026 — x \\| 'b' \\| &lt;!-- c");
        assert_eq!(cell("a\\|b"), "a\\\\\\|b");
        assert_eq!(label("librarian"), "librarian");
        assert_eq!(label("x\"] --> B[y"), "\"x#34;#93; --#62; B#91;y\"");
        assert_eq!(label("end"), "\"end\"");
    }

    #[test]
    fn two_agents_never_share_a_file_name() {
        assert_eq!(file_name("coder-2"), "coder-2");
        let odd = ["../x", "..", "a/b", "a b", "A B", "Coder", "", "a.b"];
        let names: std::collections::BTreeSet<String> = odd.iter().map(|n| file_name(n)).collect();
        assert_eq!(names.len(), odd.len());
        assert!(names.iter().all(|n| !n.starts_with('.') && !n.contains('/')), "{names:?}");
    }

    #[test]
    fn durations_are_read_at_a_glance() {
        assert_eq!([4_200, 185_000, 3_725_000].map(duration), ["4s", "3m 05s", "1h 02m"]);
    }
}
