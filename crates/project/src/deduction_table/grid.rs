//! Markdown tables as cells with their places. It knows nothing about points.

use std::ops::Range;

/// A cell's text without emphasis, and where it stands in the file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct GridCell {
    pub text: String,
    pub span: Range<usize>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Grid {
    pub header: Vec<GridCell>,
    pub rows: Vec<Vec<GridCell>>,
}

/// Is this the line of dashes under a table's header?
pub(super) fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.contains('-')
        && line.contains('|')
        && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

/// The cells of a line that begins at `start`; `\|` and bars inside backticks do not divide.
pub(super) fn cells(line: &str, start: usize) -> Vec<GridCell> {
    let mut cells = Vec::new();
    let mut from = 0;
    let mut escaped = false;
    let mut code = false;
    // An odd backtick closes nothing: then bars divide as usual.
    let paired = line.matches('`').count().is_multiple_of(2);
    for (at, c) in line.char_indices() {
        match c {
            '\\' if !escaped => {
                escaped = true;
                continue;
            }
            '`' if paired => code = !code,
            '|' if !escaped && !code => {
                cells.push(cell(line, start, from..at));
                from = at + 1;
            }
            _ => {}
        }
        escaped = false;
    }
    cells.push(cell(line, start, from..line.len()));
    let trimmed = line.trim();
    if trimmed.starts_with('|') {
        cells.remove(0);
    }
    if trimmed.len() > 1 && trimmed.ends_with('|') && !trimmed.ends_with("\\|") {
        cells.pop();
    }
    cells
}

fn cell(line: &str, start: usize, range: Range<usize>) -> GridCell {
    let raw = line.get(range.clone()).unwrap_or_default();
    let text = raw.trim();
    let begin = start + range.start + (raw.len() - raw.trim_start().len());
    GridCell { text: plain(text), span: begin..begin + text.len() }
}

/// Without bold, and with `\|` as a bar. Backticks and single stars inside stay: they may be code.
pub(super) fn plain(text: &str) -> String {
    let text = text.replace("\\|", "|").replace("**", "").replace("__", "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
