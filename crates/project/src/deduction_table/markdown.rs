//! A Markdown rubric: its tables, and where it has none, its lists under headings that name a severity.
//! Code fences and comments are passed over.

use std::collections::BTreeMap;
use std::ops::Range;

use gadfly_engine::deduction::{Amount, Gravity, Points, words};

use super::cell::{self, Cell};
use super::columns::{self, TableColumns, TableShape};
use super::grid::{self, Grid, GridCell};
use super::{Builder, TableDraft};
use crate::markdown::body_start;
use crate::place::brief;
use crate::suggest;

const FORMS: &str = "write -20, -10 per paper, -10 per, max -30, or CRITICAL, MAJOR, MINOR";

pub(super) fn read(builder: &mut Builder<'_>, section: Option<&str>) {
    let blocks = blocks(builder.text);
    let blocks = match section {
        None => blocks,
        Some(name) => match under(&blocks, name) {
            Some(blocks) => blocks,
            None => return no_section(builder, &blocks, name),
        },
    };
    let mut heading: Option<String> = None;
    let mut scales = Vec::new();
    for block in &blocks {
        match block {
            MarkdownBlock::Heading { text, .. } => heading = Some(text.clone()),
            MarkdownBlock::Bullet { .. } => {}
            MarkdownBlock::Table(grid) => match columns::shape(grid) {
                TableShape::Deductions(columns) => rows(builder, grid, &columns, heading.as_deref()),
                // Read last, since they speak of rows that other tables state.
                shape @ (TableShape::Scale { .. } | TableShape::Factors { .. }) => scales.push((grid, shape)),
                TableShape::Unsigned { points } => unsigned(builder, grid, points),
                TableShape::Other => {}
            },
        }
    }
    for (grid, shape) in scales {
        match shape {
            TableShape::Scale { text, levels } => scale(builder, grid, text, &levels),
            TableShape::Factors { level, factor } => factors(builder, grid, level, factor),
            _ => {}
        }
    }
    if builder.table.rows.is_empty() && builder.problems.is_empty() {
        lists(builder, &blocks);
    }
}

#[derive(Clone)]
enum MarkdownBlock {
    Heading { level: usize, text: String },
    Bullet { text: String, span: Range<usize> },
    Table(Grid),
}

/// The level of a line that is bold as a whole: below every real heading.
const BOLD: usize = 7;

fn blocks(text: &str) -> Vec<MarkdownBlock> {
    let mut blocks = Vec::new();
    let mut fence: Option<char> = None;
    let mut comment = false;
    // The line above, which is a header if a rule follows it.
    let mut above: Option<(&str, usize)> = None;
    let mut in_table = false;
    let mut at = body_start(text);
    for raw in text.get(at..).unwrap_or_default().split_inclusive('\n') {
        let start = at;
        at += raw.len();
        let line = raw.trim();
        if comment || line.starts_with("<!--") {
            comment = !line.contains("-->");
            continue;
        }
        let mark = ['`', '~'].into_iter().find(|c| line.starts_with(&String::from_iter([*c; 3])));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        if fence.is_some() || mark.is_some() {
            (above, in_table) = (None, false);
            continue;
        }
        if grid::is_rule(line) && !in_table {
            if let Some((header, from)) = above.take() {
                blocks
                    .push(MarkdownBlock::Table(Grid { header: grid::cells(header, from), rows: Vec::new() }));
                in_table = true;
            }
            continue;
        }
        if in_table && line.contains('|') {
            if let Some(MarkdownBlock::Table(grid)) = blocks.last_mut() {
                let indent = raw.len() - raw.trim_start().len();
                grid.rows.push(grid::cells(line, start + indent));
            }
            continue;
        }
        in_table = false;
        let indent = raw.len() - raw.trim_start().len();
        above = line.contains('|').then_some((line, start + indent));
        let span = start + indent..start + indent + line.len();
        if let Some((level, text)) = heading(line) {
            blocks.push(MarkdownBlock::Heading { level, text });
        } else if let Some(text) = bullet(line) {
            blocks.push(MarkdownBlock::Bullet { text: grid::plain(text), span });
        }
    }
    blocks
}

fn heading(line: &str) -> Option<(usize, String)> {
    let hashes = line.bytes().take_while(|b| *b == b'#').count();
    if (1..=6).contains(&hashes) {
        let text = line.get(hashes..)?.strip_prefix(' ')?;
        return Some((hashes, grid::plain(text.trim_end_matches('#'))));
    }
    let inner = line.trim_end_matches(':').strip_prefix("**")?.strip_suffix("**")?;
    let inner = inner.trim_end_matches(':');
    (!inner.is_empty() && !inner.contains("**")).then(|| (BOLD, inner.to_owned()))
}

fn bullet(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(['-', '*', '+', '•'])?.strip_prefix([' ', '\t'])?;
    Some(rest.trim()).filter(|t| !t.is_empty())
}

/// What stands under the heading that is, or begins with, this name.
fn under(blocks: &[MarkdownBlock], name: &str) -> Option<Vec<MarkdownBlock>> {
    let wanted: Vec<String> = words(name).collect();
    let begins = |text: &str| !wanted.is_empty() && words(text).take(wanted.len()).eq(wanted.iter().cloned());
    let at = blocks.iter().position(|b| matches!(b, MarkdownBlock::Heading { text, .. } if begins(text)))?;
    let Some(MarkdownBlock::Heading { level, .. }) = blocks.get(at) else { return None };
    let end = blocks
        .iter()
        .skip(at + 1)
        .position(|b| matches!(b, MarkdownBlock::Heading { level: l, .. } if l <= level));
    let end = end.map_or(blocks.len(), |n| at + 1 + n);
    let inside = blocks.get(at + 1..end).unwrap_or_default();
    Some(inside.to_vec())
}

fn no_section(builder: &mut Builder<'_>, blocks: &[MarkdownBlock], name: &str) {
    let headings: Vec<&str> = blocks
        .iter()
        .filter_map(|b| match b {
            MarkdownBlock::Heading { level, text, .. } if *level < BOLD => Some(text.as_str()),
            _ => None,
        })
        .take(20)
        .collect();
    let help = suggest::did_you_mean(name, &headings).unwrap_or_else(|| "the file has no headings".into());
    builder.error(format!("this rubric has no section `{}`", brief(name)), &help, 0..0);
}

fn text_at(row: &[GridCell], at: Option<usize>) -> Option<&GridCell> {
    at.and_then(|at| row.get(at)).filter(|cell| !cell.text.is_empty())
}

fn rows(builder: &mut Builder<'_>, grid: &Grid, columns: &TableColumns, heading: Option<&str>) {
    let mut category: Option<String> = None;
    for row in &grid.rows {
        let mut filled = row.iter().filter(|cell| !cell.text.is_empty());
        let first = filled.next();
        if let (Some(alone), None) = (first, filled.next())
            && names_what_follows(builder.text, row, alone, columns)
        {
            category = Some(alone.text.clone());
            continue;
        }
        if let Some(cell) = text_at(row, columns.category) {
            category = Some(cell.text.clone());
        }
        let Some(text) = text_at(row, Some(columns.text)) else { continue };
        let gravity = text_at(row, columns.gravity).and_then(|c| Gravity::parse(&c.text));
        let stated = text_at(row, columns.points).or_else(|| text_at(row, columns.gravity));
        let Some(points) = points(builder, stated.unwrap_or(text), stated.is_some()) else { continue };
        let id = match (columns.defines, gravity) {
            (true, Some(gravity)) => Some(gravity.name().to_owned()),
            _ => text_at(row, columns.id).map(|c| c.text.trim_matches('`').to_owned()),
        };
        let category = category.clone().or_else(|| heading.map(str::to_owned));
        builder.row(TableDraft { id, category, text: text.text.clone(), points }, text.span.clone());
    }
}

/// A line with one cell is a heading if the cell is bold or not where rows have their text.
fn names_what_follows(file: &str, row: &[GridCell], alone: &GridCell, columns: &TableColumns) -> bool {
    let bold = file.get(alone.span.clone()).is_some_and(|raw| raw.starts_with("**") || raw.starts_with("__"));
    let costs = [columns.points, columns.gravity].iter().any(|at| text_at(row, *at).is_some());
    !costs && (bold || text_at(row, Some(columns.text)).is_none())
}

/// The points of a cell; what is wrong with it is reported here.
fn points(builder: &mut Builder<'_>, cell: &GridCell, stated: bool) -> Option<Points> {
    let shown = brief(&cell.text);
    match if stated { cell::read(&cell.text) } else { Cell::Nothing } {
        Cell::Points { points, open, .. } => {
            if open {
                let message = format!("`{shown}` leaves the number to the critic; the largest is used");
                builder.warning(message, "write one number, or a row for each case", cell.span.clone());
            }
            Some(points)
        }
        Cell::Nothing if stated => {
            builder.warning(
                format!("`{shown}` subtracts nothing; this row is left out"),
                FORMS,
                cell.span.clone(),
            );
            None
        }
        Cell::Nothing => {
            builder.error(format!("the row `{shown}` has no points"), FORMS, cell.span.clone());
            None
        }
        Cell::Credit => {
            let message = format!("`{shown}` is a credit; a score only loses points, this row is left out");
            builder.warning(message, "remove the row", cell.span.clone());
            None
        }
        Cell::Unreadable(why) => {
            builder.error(format!("the deduction `{shown}` cannot be read: {why}"), FORMS, cell.span.clone());
            None
        }
    }
}

fn unsigned(builder: &mut Builder<'_>, grid: &Grid, at: usize) {
    let Some(header) = grid.header.get(at) else { return };
    let message = format!(
        "the numbers under `{}` have no minus sign and are not read as deductions",
        brief(&header.text)
    );
    builder.warning(message, "write -20, or name the column `Deduction`", header.span.clone());
}

fn scale(
    builder: &mut Builder<'_>,
    grid: &Grid,
    text: usize,
    levels: &[(usize, gadfly_engine::deduction::Level)],
) {
    for row in &grid.rows {
        let Some(issue) = text_at(row, Some(text)) else { continue };
        let mut at = BTreeMap::new();
        for (column, level) in levels {
            let Some(cell) = text_at(row, Some(*column)) else { continue };
            match cell::read(&cell.text) {
                Cell::Nothing => {
                    at.insert(*level, None);
                }
                _ => {
                    if let Some(points) = points(builder, cell, true) {
                        at.insert(*level, Some(points));
                    }
                }
            }
        }
        builder.scaled(&issue.text, at, issue.span.clone());
    }
}

fn factors(builder: &mut Builder<'_>, grid: &Grid, level: usize, factor: usize) {
    for row in &grid.rows {
        let (Some(name), Some(cell)) = (text_at(row, Some(level)), text_at(row, Some(factor))) else {
            continue;
        };
        match (columns::level(&name.text), percent(&cell.text)) {
            (Some(level), Some(percent)) => {
                builder.table.scale.insert(level, percent);
            }
            _ => builder.error(
                format!("the factor `{}` cannot be read", brief(&cell.text)),
                "write 50%, 0.5 or ×1.5",
                cell.span.clone(),
            ),
        }
    }
}

/// `50%`, `0.5`, `×1.5`.
pub(super) fn percent(text: &str) -> Option<u32> {
    let text = text.trim().trim_start_matches(['×', 'x', '*']).trim();
    let percent = if let Some(number) = text.strip_suffix('%') {
        number.trim().parse().ok()?
    } else {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let two: String = decimals.chars().chain("00".chars()).take(2).collect();
        let exact = decimals.len() <= 2 && decimals.bytes().all(|b| b.is_ascii_digit());
        let whole: u32 = whole.parse().ok().filter(|n| exact && *n <= 10)?;
        whole * 100 + two.parse::<u32>().ok()?
    };
    Some(percent).filter(|p| *p <= 1_000)
}

/// Lists under `CRITICAL`, `MAJOR` and `MINOR`, or lists of those words, where there is no table.
fn lists(builder: &mut Builder<'_>, blocks: &[MarkdownBlock]) {
    let mut gravity: Option<Gravity> = None;
    let mut found = Vec::new();
    for block in blocks {
        match block {
            MarkdownBlock::Heading { text, .. } => gravity = first_word(text),
            MarkdownBlock::Bullet { text, span } => {
                if let Some((defined, meaning)) = definition(text) {
                    found.push((Some(defined), defined, meaning, span));
                } else if let Some(gravity) = gravity {
                    found.push((None, gravity, text.clone(), span));
                }
            }
            MarkdownBlock::Table(_) => {}
        }
    }
    for (defined, gravity, text, span) in found {
        let id = defined.map(|g| g.name().to_owned()).filter(|id| !builder.ids.contains(id));
        let points = Points::Gravity(gravity);
        builder.row(
            TableDraft { id, category: Some(gravity.name().to_uppercase()), text, points },
            span.clone(),
        );
    }
}

fn first_word(text: &str) -> Option<Gravity> {
    Gravity::parse(text.split(|c: char| c.is_whitespace() || c == ':').next()?)
}

/// `CRITICAL — the design is wrong`: a severity in capitals, then what it means.
fn definition(text: &str) -> Option<(Gravity, String)> {
    let (word, rest) = text.split_once([' ', ':'])?;
    let meaning = rest.trim_start_matches([' ', ':', '-', '–', '—']);
    let capitals = word.chars().all(|c| !c.is_lowercase());
    let divided = text.get(word.len()..)?.trim_start().starts_with([':', '-', '–', '—']);
    let gravity = Gravity::parse(word).filter(|_| capitals && divided && !meaning.is_empty())?;
    Some((gravity, meaning.to_owned()))
}

/// A gravity's points as a TOML file or a table may state them.
pub(super) fn amount(text: &str) -> Option<Amount> {
    match cell::read(text) {
        Cell::Points { points: Points::Flat(amount), open: false, .. } => Some(amount),
        _ => None,
    }
}
