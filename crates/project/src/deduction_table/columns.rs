//! Which column of a table says what: by its header, else by what its cells look like.

use gadfly_engine::deduction::{Gravity, Level, Phase};

use super::cell::{self, Cell};
use super::grid::{Grid, GridCell};

/// What a table is about.
pub(super) enum TableShape {
    Deductions(TableColumns),
    /// Points of one issue, a column for each severity.
    Scale {
        text: usize,
        levels: Vec<(usize, Level)>,
    },
    /// Per cent of the points for each severity.
    Factors {
        level: usize,
        factor: usize,
    },
    /// Numbers under a header like "Points" that have no minus sign.
    Unsigned {
        points: usize,
    },
    Other,
}

pub(super) struct TableColumns {
    pub text: usize,
    pub points: Option<usize>,
    pub gravity: Option<usize>,
    pub category: Option<usize>,
    pub id: Option<usize>,
    /// The rows define the severities themselves.
    pub defines: bool,
}

const POINTS: &[&str] = &["points", "score impact", "puntos", "punkte"];
const DEDUCTION: &[&str] =
    &["deduct", "penalt", "points off", "subtract", "minus", "deducc", "penaliz", "abzug", "abzüge"];
const TEXT: &[&str] = &[
    "issue",
    "problem",
    "error",
    "violation",
    "finding",
    "check",
    "criterion",
    "item",
    "example",
    "row",
    "what",
];
const CATEGORY: &[&str] = &["category", "area", "section", "type", "tier", "group", "dimension", "categor"];
const DEFINITION: &[&str] = &["definition", "meaning", "means", "description"];
const FACTOR: &[&str] = &["factor", "multiplier", "scale", "weighting"];

pub(super) fn shape(grid: &Grid) -> TableShape {
    let named = |names: &[&str]| {
        grid.header.iter().position(|cell| {
            let header = cell.text.trim_matches('`').to_lowercase();
            names.iter().any(|name| header.starts_with(name))
        })
    };
    let levels: Vec<(usize, Level)> =
        grid.header.iter().enumerate().filter_map(|(at, cell)| Some((at, level(&cell.text)?))).collect();
    if levels.len() >= 2 {
        let taken = |at: usize| levels.iter().any(|(column, _)| *column == at);
        let text =
            named(TEXT).filter(|at| !taken(*at)).or_else(|| (0..grid.header.len()).find(|at| !taken(*at)));
        let points = levels.iter().any(|(at, _)| column(grid, *at).any(|c| is_signed(&c.text)));
        return match text {
            Some(text) if points => TableShape::Scale { text, levels },
            _ => TableShape::Other,
        };
    }
    if let Some(factor) = named(FACTOR)
        && let Some(level) = (0..grid.header.len()).find(|at| {
            *at != factor && grid.rows.len() > 1 && column(grid, *at).all(|c| self::level(&c.text).is_some())
        })
    {
        return TableShape::Factors { level, factor };
    }
    let gravity = (0..grid.header.len()).find(|at| {
        column(grid, *at).any(|c| Gravity::parse(&c.text).is_some()) && mostly(grid, *at, is_gravity)
    });
    let deduction =
        named(DEDUCTION).or_else(|| (0..grid.header.len()).find(|at| mostly(grid, *at, is_signed)));
    let points = deduction.or_else(|| named(POINTS));
    if let (None, Some(points)) = (deduction, points) {
        return if column(grid, points).any(|c| is_unsigned(&c.text)) {
            TableShape::Unsigned { points }
        } else {
            TableShape::Other
        };
    }
    if points.is_none() && gravity.is_none() {
        return TableShape::Other;
    }
    columns(grid, points, gravity, &named).map_or(TableShape::Other, TableShape::Deductions)
}

fn columns(
    grid: &Grid,
    points: Option<usize>,
    gravity: Option<usize>,
    named: &dyn Fn(&[&str]) -> Option<usize>,
) -> Option<TableColumns> {
    let taken = |at: usize| Some(at) == points || Some(at) == gravity;
    let id =
        grid.header.iter().position(|c| matches!(c.text.to_lowercase().as_str(), "id" | "code" | "rule id"));
    let category = named(CATEGORY).filter(|at| !taken(*at) && Some(*at) != id);
    let free = |at: &usize| !taken(*at) && Some(*at) != id && Some(*at) != category;
    let text = named(TEXT).filter(free).or_else(|| named(DEFINITION).filter(free));
    let text = text.or_else(|| (0..grid.header.len()).find(free)).or(category)?;
    let definition = named(DEFINITION) == Some(text);
    let distinct = gravity.is_some_and(|at| {
        let mut seen = Vec::new();
        column(grid, at).all(|c| {
            let new = !seen.contains(&c.text);
            seen.push(c.text.clone());
            new && seen.len() <= Gravity::ALL.len()
        })
    });
    let category = category.filter(|at| *at != text);
    Some(TableColumns { text, points, gravity, category, id, defines: definition && distinct })
}

/// The cells of a column that hold something.
fn column(grid: &Grid, at: usize) -> impl Iterator<Item = &GridCell> {
    grid.rows.iter().filter_map(move |row| row.get(at)).filter(|cell| !cell.text.is_empty())
}

fn mostly(grid: &Grid, at: usize, fits: fn(&str) -> bool) -> bool {
    let all = column(grid, at).count();
    let fitting = column(grid, at).filter(|c| fits(&c.text)).count();
    fitting > 0 && fitting * 2 >= all
}

fn is_signed(text: &str) -> bool {
    matches!(cell::read(text), Cell::Points { signed: true, .. })
}

fn is_unsigned(text: &str) -> bool {
    matches!(cell::read(text), Cell::Points { signed: false, .. })
}

fn is_gravity(text: &str) -> bool {
    Gravity::parse(text).is_some()
}

/// `Exec.`, `Peer Review`, `high`.
pub(super) fn level(text: &str) -> Option<Level> {
    Level::parse(text).or_else(|| Phase::parse(text).map(Phase::level))
}
