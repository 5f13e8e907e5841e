//! A Markdown page as neuroflow's tools write it: lines that set a key (`key: value`, `**Key:** value`), bullets
//! under headings, tables. Lenient by design: a line that is none of these is passed over.

use std::ops::Range;
use std::path::{Path, PathBuf};

use gadfly_project::file::{self, FileError};
use gadfly_project::markdown;
use gadfly_project::place::{ConfigLayer, Problem, SourceSpan, Sourced};
use gadfly_project::rubric;

/// Written by hand; more than this is no page of anybody's.
const LARGEST: u64 = 256 * 1024;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Page {
    /// From the project's root.
    pub path: PathBuf,
    pub text: String,
}

impl Page {
    /// None if there is no such file; one that cannot be read is reported and left out.
    pub fn read(root: &Path, path: &Path, problems: &mut Vec<Problem>) -> Option<Self> {
        let read = file::inside(root, path).and_then(|whole| file::read_text_up_to(&whole, LARGEST));
        match read {
            Ok(text) => Some(Self { path: path.to_owned(), text }),
            Err(FileError::Missing { .. }) => None,
            Err(error) => {
                let help = "it was left out";
                problems.push(Problem::warning(error.to_string()).help(help));
                None
            }
        }
    }

    /// What a key is set to: one value, or the bullets below it. Values that stand for nothing yet do not count.
    pub fn values(&self, key: &str) -> Vec<Sourced<String>> {
        let lines = self.lines();
        let Some(at) = lines.iter().position(|(line, _)| setting(line).is_some_and(|(k, _)| k == key)) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (n, (line, span)) in lines.iter().enumerate().skip(at) {
            let value = match (n == at, setting(line)) {
                (true, Some((_, value))) if !value.is_empty() => vec![value],
                (true, _) => continue,
                (false, _) => match line.trim_start().strip_prefix("- ") {
                    Some(item) => vec![item.trim().to_owned()],
                    None => break,
                },
            };
            let place = SourceSpan::new(&self.path, &self.text, span.clone());
            let own =
                |v: String| Sourced { value: v, layer: ConfigLayer::Project, place: Some(place.clone()) };
            let said = value.into_iter().map(|v| unquoted(&v).to_owned()).filter(|v| says_something(v));
            found.extend(said.map(own));
            if n == at {
                break;
            }
        }
        found
    }

    /// The bullets under the first-level or deeper headings whose words are one of these.
    pub fn bullets_under(&self, headings: &[&str]) -> Vec<Sourced<String>> {
        self.under(headings, |_| true)
    }

    /// The same without those that are ticked off.
    pub fn open_under(&self, headings: &[&str]) -> Vec<Sourced<String>> {
        self.under(headings, |line| {
            let item = line.trim_start().trim_start_matches(['-', '*', '+']).trim_start();
            !item.starts_with("[x]") && !item.starts_with("[X]") && !item.starts_with("~~")
        })
    }

    fn under(&self, headings: &[&str], counts: impl Fn(&str) -> bool) -> Vec<Sourced<String>> {
        let mut kept = Vec::new();
        let (mut within, mut fenced) = (None, false);
        for (line, span) in self.lines() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            } else if let (Some((level, words)), false) = (heading(line), fenced) {
                if headings.contains(&words.as_str()) {
                    within = Some(level);
                } else if within.is_some_and(|w| level <= w) {
                    within = None;
                }
            } else if within.is_some() && !fenced && !line.trim_start().starts_with('|') && counts(line) {
                kept.push(span);
            }
        }
        let only = only(&self.text, &kept);
        let items = rubric::items(&only, &self.path, ConfigLayer::Project).into_iter();
        items.filter(|item| says_something(&item.value)).collect()
    }

    /// Numbered lines and bullets of the whole page.
    pub fn items(&self) -> Vec<Sourced<String>> {
        let listed = |line: &str| {
            let line = line.trim_start();
            line.starts_with(['-', '*', '+']) || line.starts_with(|c: char| c.is_ascii_digit())
        };
        let kept: Vec<_> = self.lines().into_iter().filter(|(l, _)| listed(l)).map(|(_, s)| s).collect();
        let only = only(&self.text, &kept);
        let items = rubric::items(&only, &self.path, ConfigLayer::Project).into_iter();
        items.filter(|item| says_something(&item.value)).collect()
    }

    /// The second cell of the table row whose first cell is this word, under a heading.
    pub fn cell(&self, under: &str, row: &str) -> Option<Sourced<String>> {
        let mut within = false;
        for (line, span) in self.lines() {
            if let Some((_, words)) = heading(line) {
                within = words == under;
            }
            let line = line.trim();
            if !within || !line.starts_with('|') {
                continue;
            }
            let cells: Vec<&str> =
                line.trim_matches('|').split('|').map(|c| c.trim().trim_matches('`')).collect();
            if let [first, second, ..] = cells.as_slice()
                && first.eq_ignore_ascii_case(row)
                && says_something(second)
            {
                let place = Some(SourceSpan::new(&self.path, &self.text, span));
                return Some(Sourced { value: (*second).to_owned(), layer: ConfigLayer::Project, place });
            }
        }
        None
    }

    /// Lines without their ends, with the bytes they take.
    fn lines(&self) -> Vec<(&str, Range<usize>)> {
        let mut at = if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut lines = Vec::new();
        for raw in self.text.get(at..).unwrap_or_default().split_inclusive('\n') {
            let line = raw.trim_end();
            lines.push((line, at..at + line.len()));
            at += raw.len();
        }
        lines
    }
}

/// The text with everything else blanked out, so that places stay right.
fn only(text: &str, kept: &[Range<usize>]) -> String {
    let blank = |part: &str, out: &mut String| {
        for c in part.chars() {
            match c {
                '\n' => out.push('\n'),
                _ => (0..c.len_utf8()).for_each(|_| out.push(' ')),
            }
        }
    };
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for span in kept {
        blank(text.get(at..span.start).unwrap_or_default(), &mut out);
        out.push_str(text.get(span.clone()).unwrap_or_default());
        at = span.end;
    }
    blank(text.get(at..).unwrap_or_default(), &mut out);
    out
}

/// A heading's level and its words in lower case, without a closing colon.
fn heading(line: &str) -> Option<(usize, String)> {
    let level = line.bytes().take_while(|b| *b == b'#').count();
    let words = line.get(level..)?.strip_prefix(' ')?;
    (1..=6).contains(&level).then(|| (level, words.trim().trim_end_matches(':').to_lowercase()))
}

/// `key: value`, `- key: value`, `**Key:** value`, `**Key**: value`. The key comes as `lower_case`, its usual name if
/// it has several.
fn setting(line: &str) -> Option<(String, String)> {
    const LONGEST: usize = 40;
    let line = line.trim();
    let line = line.strip_prefix("- ").unwrap_or(line).trim_start();
    let (key, value) = match line.strip_prefix("**") {
        Some(rest) => {
            let (key, value) = rest.split_once("**")?;
            let value = value.trim_start();
            match (key.trim_end().strip_suffix(':'), value.strip_prefix(':')) {
                (Some(key), _) => (key, value),
                (None, Some(value)) => (key, value),
                (None, None) => return None,
            }
        }
        None => line.split_once(':')?,
    };
    let key = key.trim();
    let fits = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-');
    if key.is_empty() || key.len() > LONGEST || !key.chars().all(fits) {
        return None;
    }
    let key = key.to_lowercase().replace([' ', '-'], "_");
    let key = match key.as_str() {
        "phase" => "active_phase".to_owned(),
        "project" => "project_name".to_owned(),
        "journal" => "target_journal".to_owned(),
        "style" => "writing_style".to_owned(),
        "output" | "output_folder" => "output_path".to_owned(),
        "objective" => "objectives".to_owned(),
        _ => key,
    };
    Some((key, value.trim().to_owned()))
}

/// Without quotes, and without a comment after an unquoted value.
fn unquoted(value: &str) -> &str {
    let value = value.trim();
    let value = match value.split_once(" #") {
        Some((before, comment)) if comment.starts_with([' ', '#']) && !before.starts_with(['"', '\'']) => {
            before.trim_end()
        }
        _ => value,
    };
    let quoted = |q: char| value.strip_prefix(q).and_then(|v| v.strip_suffix(q));
    ['"', '\'', '`'].into_iter().find_map(quoted).unwrap_or(value)
}

/// Whether a value is one, and not a place for it.
pub(super) fn says_something(value: &str) -> bool {
    let value = value.trim();
    let word = value.to_ascii_lowercase();
    let placeholder = (value.starts_with('[') && value.ends_with(']') && !value.contains("]("))
        || (value.starts_with('{') && value.ends_with('}'))
        || (value.starts_with('<') && value.ends_with('>'));
    value.chars().any(char::is_alphanumeric)
        && !placeholder
        && !["tbd", "todo", "none", "n/a", "na", "null", "unknown", "not set"].contains(&word.as_str())
}

/// The words of a file without its front matter, however that is written.
pub(super) fn body(text: &str) -> &str {
    markdown::body(text).trim()
}
