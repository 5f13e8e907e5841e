//! A table of deductions: which column says what, and the deduction that a row makes.

use super::super::Claim;
use super::claims::{leading_gravity, unquoted};
use super::{amounts, score_line};
use crate::deduction::Gravity;
use crate::reading::place;

/// Which column of a table says what.
#[derive(Default)]
pub(super) struct Columns {
    pub(super) points: Option<usize>,
    /// The header says that its numbers are taken off, so that they need no minus sign.
    deducted: bool,
    row: Option<usize>,
    category: Option<usize>,
    times: Option<usize>,
    place: Option<usize>,
    fix: Option<usize>,
    quote: Option<usize>,
}

impl Columns {
    pub(super) fn of(header: &[String]) -> Self {
        let column = |names: &[&str]| {
            header.iter().position(|cell| {
                let cell = cell.to_lowercase();
                names.iter().any(|name| cell.starts_with(name))
            })
        };
        let deducted = column(&["deduct", "penalty", "points off", "subtract"]);
        Self {
            points: deducted.or_else(|| column(&["points"])),
            deducted: deducted.is_some() || column(&["points", "pts"]).is_some(),
            row: column(&["row", "id"]).or_else(|| column(&["issue", "problem", "finding", "item", "rule"])),
            category: column(&["category", "area", "tier"]),
            times: column(&["times", "count", "instances", "occurrences", "how often"]),
            place: column(&["where", "location", "line", "file", "place"]),
            fix: column(&["fix", "remedy", "suggest"]),
            quote: column(&["quote"]),
        }
    }

    /// `0`, `—`: the row does not apply. An empty cell may have lost its number.
    pub(super) fn takes_nothing(&self, cells: &[String]) -> bool {
        let cell = self.points.and_then(|at| cells.get(at)).map(|cell| cell.trim());
        cell.is_some_and(|cell| {
            matches!(cell, "0" | "-0" | "—" | "–" | "-" | "none" | "None" | "n/a" | "N/A")
        })
    }

    pub(super) fn claim(&self, cells: &[String], heading: Option<&str>) -> Option<Claim> {
        let cell =
            |at: Option<usize>| at.and_then(|at| cells.get(at)).map(String::as_str).filter(|c| !c.is_empty());
        let (at, amount, times) = match self.points {
            Some(at) => amounts::whole_cell(cells.get(at)?, self.deducted).map(|(a, t)| (at, a, t))?,
            None => cells
                .iter()
                .enumerate()
                .find_map(|(at, c)| amounts::whole_cell(c, false).map(|(a, t)| (at, a, t)))?,
        };
        let others =
            cells.iter().enumerate().filter(|(n, c)| *n != at && !c.is_empty()).map(|(_, c)| c.as_str());
        let first = cell(self.row).or_else(|| others.clone().next())?;
        if score_line::is_sum_label(first) {
            return None;
        }
        let stated = cell(self.times).and_then(|c| c.trim_start_matches(['×', 'x']).trim().parse().ok());
        let whole = others.collect::<Vec<_>>().join(" — ");
        Some(Claim {
            names: vec![first.to_owned(), whole.clone()],
            category: cell(self.category).or(heading).map(str::to_owned),
            gravity: leading_gravity(first).or_else(|| cells.iter().find_map(|c| Gravity::parse(c))),
            points: Some(amount),
            times: stated.or(times),
            place: cell(self.place).and_then(place::read).or_else(|| place::within(&whole)),
            whereabouts: cell(self.place).map(str::to_owned),
            quote: cell(self.quote).map(unquoted),
            says: if self.row.is_some() { first.to_owned() } else { whole },
            fix: cell(self.fix).unwrap_or_default().to_owned(),
            ..Claim::default()
        })
    }
}
