//! Reads a rubric's table of deductions from a Markdown or TOML file: rows, points, scales by severity.
//! A file without such a table is no error: then the critic's own number counts. Items in prose are
//! `rubric`'s; adding up is the engine's.

mod cell;
mod columns;
mod grid;
mod markdown;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use gadfly_engine::deduction::{DeductionRow, DeductionTable, Gravity, Level, Points, slug, words};

use crate::file;
use crate::place::{Problem, SourceSpan};

/// What a file says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableReading {
    /// None: the file has no table of deductions.
    pub table: Option<DeductionTable>,
    pub warnings: Vec<Problem>,
}

/// More problems than these are only counted.
const MOST_PROBLEMS: usize = 50;
/// More rows are a mistake or an attack.
const MOST_ROWS: usize = 500;

/// Reads a rubric file; `.toml` as TOML, anything else as Markdown. `section` keeps to what stands under
/// the heading of that name, as in a file with the rubrics of several critics.
pub fn read(path: &Path, section: Option<&str>) -> Result<TableReading, Vec<Problem>> {
    let text = file::read_text(path).map_err(|error| vec![Problem::error(format!("rubric: {error}"))])?;
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
        from_toml(&text, path)
    } else {
        from_markdown(&text, path, section)
    }
}

pub fn from_markdown(text: &str, file: &Path, section: Option<&str>) -> Result<TableReading, Vec<Problem>> {
    let mut builder = Builder::new(text, file);
    markdown::read(&mut builder, section);
    builder.finish()
}

pub fn from_toml(text: &str, file: &Path) -> Result<TableReading, Vec<Problem>> {
    let mut builder = Builder::new(text, file);
    settings::read(&mut builder);
    builder.finish()
}

/// What issues cost by severity, from tables that stand in no rubric: `| Missing citation | -2 | -5 | -10 |` under the phases.
pub fn scales(text: &str, file: &Path) -> Vec<DeductionRow> {
    let mut builder = Builder::new(text, file);
    markdown::read(&mut builder, None);
    let scaled = builder.only_scaled;
    let mut rows: Vec<DeductionRow> = builder.table.rows;
    rows.retain(|row| scaled.contains(&row.id));
    for row in &mut rows {
        fill_gaps(&mut row.at);
    }
    rows
}

/// Rows about one of these issues cost what is stated for it, where they state nothing for a severity themselves.
pub fn scale(table: &mut DeductionTable, by: &[DeductionRow]) {
    for row in &mut table.rows {
        let Some(issue) = by.iter().find(|issue| is_about(&row.text, &issue.text)) else { continue };
        for (level, points) in &issue.at {
            let points = points.as_ref().map(|points| each_time(points, &row.points));
            row.at.entry(*level).or_insert(points);
        }
    }
}

/// Every word of the issue stands in the row, perhaps in another form: `Notation inconsistency`, `Inconsistent notation`.
fn is_about(row: &str, issue: &str) -> bool {
    const STEM: usize = 7;
    let stem = |word: String| word.chars().take(STEM).collect::<String>().trim_end_matches('s').to_owned();
    let row: Vec<String> = words(row).map(stem).collect();
    let mut issue = words(issue).map(stem).peekable();
    issue.peek().is_some() && issue.all(|word| row.contains(&word))
}

/// Stated points, counted as often as the row counts.
fn each_time(points: &Points, like: &Points) -> Points {
    match (points, like) {
        (Points::Flat(each), Points::Per { unit, .. }) => {
            Points::Per { each: *each, unit: unit.clone(), max: None }
        }
        _ => points.clone(),
    }
}

/// Collects rows and problems.
struct Builder<'a> {
    text: &'a str,
    file: &'a Path,
    table: DeductionTable,
    ids: BTreeSet<String>,
    /// Rows that were stated only by severity: the table has no points of their own for them.
    only_scaled: BTreeSet<String>,
    problems: Vec<Problem>,
    unnamed: usize,
    too_many: bool,
}

/// A row as it is read.
struct TableDraft {
    id: Option<String>,
    category: Option<String>,
    text: String,
    points: Points,
}

impl<'a> Builder<'a> {
    fn new(text: &'a str, file: &'a Path) -> Self {
        Self {
            text,
            file,
            table: DeductionTable::default(),
            ids: BTreeSet::new(),
            only_scaled: BTreeSet::new(),
            problems: Vec::new(),
            unnamed: 0,
            too_many: false,
        }
    }

    /// Finding a place costs the length of the file, so it is done only for problems that are shown.
    fn problem(&mut self, problem: Problem, span: Range<usize>) {
        if self.problems.len() < MOST_PROBLEMS {
            let place = SourceSpan::new(self.file, self.text, span);
            self.problems.push(problem.at(Some(&place)));
        } else {
            self.unnamed += 1;
        }
    }

    fn error(&mut self, message: String, help: &str, span: Range<usize>) {
        self.problem(Problem::error(message).help(help), span);
    }

    fn warning(&mut self, message: String, help: &str, span: Range<usize>) {
        self.problem(Problem::warning(message).help(help), span);
    }

    fn row(&mut self, draft: TableDraft, span: Range<usize>) {
        if self.table.rows.len() >= MOST_ROWS {
            if !self.too_many {
                self.too_many = true;
                let message = format!("this rubric has more than {MOST_ROWS} rows");
                self.error(message, "split it, or name one section of it", span);
            }
            return;
        }
        if let Some(id) = &draft.id
            && self.ids.contains(id)
        {
            let message = format!("two rows have the id `{}`", crate::place::brief(id));
            self.error(message, "give each row an id of its own", span);
            return;
        }
        let id = draft.id.unwrap_or_else(|| self.new_id(&draft.text));
        self.ids.insert(id.clone());
        let TableDraft { category, text, points, .. } = draft;
        self.table.rows.push(DeductionRow { id, category, text, points, at: BTreeMap::new() });
    }

    /// A slug of the text, numbered from the second row with that text on.
    fn new_id(&self, text: &str) -> String {
        let base = Some(slug(text)).filter(|s| !s.is_empty()).unwrap_or_else(|| "row".into());
        let numbered = (2..=MOST_ROWS + 1).map(|n| format!("{base}-{n}"));
        std::iter::once(base.clone()).chain(numbered).find(|id| !self.ids.contains(id)).unwrap_or(base)
    }

    /// The points of a row at each severity: added to the row with the same text, or a row of its own.
    fn scaled(&mut self, text: &str, at: BTreeMap<Level, Option<Points>>, span: Range<usize>) {
        let same = slug(text);
        if let Some(row) = self.table.rows.iter_mut().find(|row| slug(&row.text) == same) {
            row.at.extend(at);
            return;
        }
        let Some(points) = at.values().rev().flatten().next().cloned() else {
            let message = format!("`{}` is deducted at no severity", crate::place::brief(text));
            self.warning(message, "leave the row out, or give it points", span);
            return;
        };
        self.row(TableDraft { id: None, category: None, text: text.to_owned(), points }, span);
        if let Some(row) = self.table.rows.last_mut() {
            row.at = at;
            self.only_scaled.insert(row.id.clone());
        }
    }

    fn finish(mut self) -> Result<TableReading, Vec<Problem>> {
        for row in self.table.rows.iter_mut().filter(|row| self.only_scaled.contains(&row.id)) {
            fill_gaps(&mut row.at);
        }
        if self.table.rows.iter().any(|row| matches!(row.points, Points::Gravity(_))) {
            self.add_general_rows();
        }
        if self.unnamed > 0 {
            self.problems.push(Problem::error(format!("and {} more problems like these", self.unnamed)));
        }
        if self.problems.iter().any(Problem::is_error) {
            return Err(self.problems);
        }
        let table = (!self.table.rows.is_empty()).then_some(self.table);
        Ok(TableReading { table, warnings: self.problems })
    }

    /// In a rubric of severities an issue may be named by its severity alone.
    fn add_general_rows(&mut self) {
        for gravity in Gravity::ALL {
            if self.ids.insert(gravity.name().to_owned()) {
                self.table.rows.push(DeductionRow {
                    id: gravity.name().to_owned(),
                    category: None,
                    text: format!("Any other {} issue", gravity.name()),
                    points: Points::Gravity(gravity),
                    at: BTreeMap::new(),
                });
            }
        }
    }
}

/// A severity between those that are stated counts like the next stricter one.
fn fill_gaps(at: &mut BTreeMap<Level, Option<Points>>) {
    let missing: Vec<Level> = Level::ALL.into_iter().filter(|level| !at.contains_key(level)).collect();
    for level in missing {
        let stricter = at.range(level..).next().map(|(_, points)| points.clone());
        if let Some(points) = stricter {
            at.insert(level, points);
        }
    }
}

#[cfg(test)]
mod tests;
