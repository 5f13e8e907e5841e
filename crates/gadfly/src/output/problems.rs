//! Problems of the configuration, drawn with their line, a caret and what to do. All at once.

use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use gadfly_engine::masked::{looks_like_key, masked, starred};
use gadfly_project::{Problem, ProblemLevel};
use owo_colors::OwoColorize as _;

use super::{print, safe};
use crate::exit::{self, Code};

/// A line longer than this is not drawn, only named.
const LONGEST_LINE: usize = 400;

/// Draws them, and says how many errors there are. `root` is what relative places are relative to.
pub fn draw(problems: &[Problem], root: &Path) -> usize {
    let mut sources = SourceCache { root, last: None };
    for problem in problems {
        print::err(&picture(problem, &mut sources));
    }
    problems.iter().filter(|p| p.is_error()).count()
}

/// One in a line of its own: where, what, and what to do.
pub fn line(problem: &Problem) -> String {
    let at = problem.at.as_ref().map(|at| format!("{}:{}: ", at.file.display(), at.line)).unwrap_or_default();
    let help = problem.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
    let word = if problem.is_error() { "error" } else { "warning" };
    safe::line(&format!("{word}: {at}{}{help}", problem.message), 400)
}

/// Draws them and gives the code that belongs to a configuration that cannot be used.
pub fn refuse(problems: &[Problem], root: &Path) -> Code {
    draw(problems, root);
    exit::USAGE
}

/// The text that was pointed into last: most problems are in the same file as the one before.
struct SourceCache<'a> {
    root: &'a Path,
    last: Option<(PathBuf, Option<String>)>,
}

impl SourceCache<'_> {
    fn text(&mut self, file: &Path) -> Option<&str> {
        if self.last.as_ref().is_none_or(|(last, _)| last != file) {
            let text = gadfly_project::file::read_text(&self.root.join(file)).ok();
            self.last = Some((file.to_owned(), text));
        }
        self.last.as_ref()?.1.as_deref()
    }
}

/// A warning about a text of the project, in one line: it is prose, and a caret under a word of it helps nobody.
fn in_one_line(problem: &Problem) -> Option<String> {
    let at = problem.at.as_ref().filter(|_| !problem.is_error())?;
    let is_prose = at.file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
    let help = problem.help.as_ref().map(|help| format!("; help: {help}")).unwrap_or_default();
    let line = format!("{} ({}:{}){help}", problem.message, at.file.display(), at.line);
    is_prose.then(|| format!("{} {}", "warning:".yellow().bold(), safe::line(&line, LONGEST_LINE)))
}

fn picture(problem: &Problem, sources: &mut SourceCache<'_>) -> String {
    if let Some(line) = in_one_line(problem) {
        return line;
    }
    let level = match problem.severity {
        ProblemLevel::Error => Level::ERROR,
        ProblemLevel::Warning => Level::WARNING,
    };
    let title = level.primary_title(safe::block(&problem.message));
    let mut group = Group::with_title(title);
    if let Some(at) = &problem.at {
        let shown = safe::line(&at.file.display().to_string(), 200);
        match source_line(problem, sources) {
            Some((text, span)) => {
                let snippet = Snippet::source(text)
                    .line_start(at.line)
                    .path(shown)
                    .annotation(AnnotationKind::Primary.span(span));
                group = group.element(snippet);
            }
            None => {
                group =
                    group.element(annotate_snippets::Origin::path(shown).line(at.line).char_column(at.col));
            }
        }
    }
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(safe::block(help)));
    }
    Renderer::styled().render(&[group])
}

/// The first line of the place, and the place within it. Only that line is shown: what is drawn must not
/// act on the terminal, and escapes would move the caret.
fn source_line(problem: &Problem, sources: &mut SourceCache<'_>) -> Option<(String, std::ops::Range<usize>)> {
    let at = problem.at.as_ref()?;
    let text = sources.text(&at.file)?;
    let before = text.get(..at.span.start)?;
    let start = before.rfind('\n').map_or(0, |n| n + 1);
    let line = text.get(start..)?.lines().next().unwrap_or_default();
    if line.len() > LONGEST_LINE || safe::block(line) != line {
        return None;
    }
    let from = at.span.start - start;
    let to = at.span.end.saturating_sub(start).clamp(from, line.len());
    Some((without_secrets(line), from.min(line.len())..to))
}

/// Keys of a configuration whose value is easily the secret itself, although only its name belongs there.
const NAMES_OF_SECRETS: [&str; 4] = ["key_env", "key_command", "env", "headers_env"];
const ADDRESSES: [&str; 3] = ["base_url", "url", "endpoint"];
/// In the name of a key that we do not know.
const SECRETIVE: [&str; 6] = ["key", "token", "secret", "password", "passwd", "authorization"];

/// The line as it may be drawn, as long as it was: whoever pasted a key into the wrong place should not find it in a log.
fn without_secrets(line: &str) -> String {
    let Some((name, value)) = line.split_once('=') else { return masked(line) };
    let bare = name.trim().trim_matches(['"', '\'']).to_lowercase();
    let secret = NAMES_OF_SECRETS.contains(&bare.as_str())
        || (ADDRESSES.contains(&bare.as_str()) && !value.contains(['.', ':', '/']))
        || (SECRETIVE.iter().any(|word| bare.contains(word)) && !is_known(&bare));
    if !secret {
        return masked(line);
    }
    // Of names only what can be nothing else is shown; where no name of ours stands, nothing.
    let of_names = NAMES_OF_SECRETS.contains(&bare.as_str());
    let from = name.len() + 1;
    let mut hidden = vec![false; line.len()];
    let mut at = from;
    for word in value.split([' ', '\t', '"', '\'', '[', ']', ',', '{', '}']) {
        if !(of_names && is_variable(word)) {
            hidden[at..at + word.len()].fill(true);
        }
        at += word.len() + 1;
    }
    starred(line, |at| hidden[at])
}

/// As variables are usually named, and keys are not.
fn is_variable(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_') && !looks_like_key(word)
}

/// Names of ours with such a word in them and no secret in their value.
fn is_known(name: &str) -> bool {
    ["send_key_to", "tokens", "max_tokens"].contains(&name)
}
