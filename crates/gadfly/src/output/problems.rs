//! Problems of the configuration, drawn with their line, a caret and what to do. All at once.

use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use gadfly_project::{Problem, Severity};

use super::{print, safe};
use crate::exit::{self, Code};

/// A line longer than this is not drawn, only named.
const LONGEST_LINE: usize = 400;

/// Draws them, and says how many errors there are. `root` is what relative places are relative to.
pub fn draw(problems: &[Problem], root: &Path) -> usize {
    let mut sources = Sources { root, last: None };
    for problem in problems {
        print::err(&picture(problem, &mut sources));
    }
    problems.iter().filter(|p| p.is_error()).count()
}

/// Draws them and gives the code that belongs to a configuration that cannot be used.
pub fn refuse(problems: &[Problem], root: &Path) -> Code {
    draw(problems, root);
    exit::USAGE
}

/// The text that was pointed into last: most problems are in the same file as the one before.
struct Sources<'a> {
    root: &'a Path,
    last: Option<(PathBuf, Option<String>)>,
}

impl Sources<'_> {
    fn text(&mut self, file: &Path) -> Option<&str> {
        if self.last.as_ref().is_none_or(|(last, _)| last != file) {
            let text = gadfly_project::file::read_text(&self.root.join(file)).ok();
            self.last = Some((file.to_owned(), text));
        }
        self.last.as_ref()?.1.as_deref()
    }
}

fn picture(problem: &Problem, sources: &mut Sources<'_>) -> String {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
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
fn source_line(problem: &Problem, sources: &mut Sources<'_>) -> Option<(String, std::ops::Range<usize>)> {
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
    Some((line.to_owned(), from.min(line.len())..to))
}
