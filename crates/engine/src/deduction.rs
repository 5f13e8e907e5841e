//! A rubric as a table of deductions, and the points they cost. Reading such tables from files is
//! `gadfly-project`'s; adding up is `tally`; what a critic's reply says is `protocol/score/reply`.
//!
//! Points are exact to a tenth and never floats, so that a sum comes out the same everywhere.

mod amount;
mod phase;
mod tally;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

pub use amount::Amount;
pub use phase::{Level, Phase, shown_severity};
pub use tally::{Deduction, DeductionLine, ScoreKind, Sheet, UnknownRows, deductions, stated, tally};

use crate::finding::Severity;

/// What a score starts from.
pub const FULL: u32 = 100;

/// A rubric's deductions. Frozen with the plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DeductionTable {
    pub rows: Vec<DeductionRow>,
    /// What rows with a gravity instead of points cost.
    #[serde(default)]
    pub gravities: Gravities,
    /// Per cent of the points that count at a severity; a row's own points for that severity win.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scale: BTreeMap<Level, u32>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeductionRow {
    /// A slug that stays the same while the table grows; unique in its table.
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    pub text: String,
    pub points: Points,
    /// Points at a severity, where the rubric states them; `None` is "not deducted".
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub at: BTreeMap<Level, Option<Points>>,
}

/// What a row costs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Points {
    /// Once, however often it applies.
    Flat(Amount),
    /// For each time it applies, up to a maximum.
    Per {
        each: Amount,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<Amount>,
    },
    /// For each time it applies, what the gravity costs.
    Gravity(Gravity),
}

/// The words of a rubric that has severities instead of points.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gravity {
    Critical,
    Major,
    Minor,
}

impl Gravity {
    pub const ALL: [Self; 3] = [Self::Critical, Self::Major, Self::Minor];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Major => "major",
            Self::Minor => "minor",
        }
    }

    /// `CRITICAL`, `**Major**`, `minor:`.
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        Self::ALL.into_iter().find(|g| g.name().eq_ignore_ascii_case(word))
    }

    pub const fn severity(self) -> Severity {
        match self {
            Self::Critical => Severity::Fail,
            Self::Major => Severity::Risk,
            Self::Minor => Severity::Nit,
        }
    }
}

/// What each gravity costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Gravities {
    pub critical: Amount,
    pub major: Amount,
    pub minor: Amount,
}

impl Default for Gravities {
    fn default() -> Self {
        Self { critical: Amount::whole(25), major: Amount::whole(10), minor: Amount::whole(3) }
    }
}

impl Gravities {
    pub const fn of(&self, gravity: Gravity) -> Amount {
        match gravity {
            Gravity::Critical => self.critical,
            Gravity::Major => self.major,
            Gravity::Minor => self.minor,
        }
    }
}

/// What a row costs at one severity, after scaling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    pub each: Amount,
    pub max: Option<Amount>,
    /// It costs again each time it applies.
    pub repeats: bool,
}

impl Rate {
    const NOTHING: Self = Self { each: Amount::ZERO, max: None, repeats: false };
}

impl DeductionTable {
    pub fn row(&self, id: &str) -> Option<&DeductionRow> {
        self.rows.iter().find(|row| row.id == id)
    }

    pub fn rate(&self, row: &DeductionRow, level: Level) -> Rate {
        match row.at.get(&level) {
            Some(None) => Rate::NOTHING,
            Some(Some(points)) => self.unscaled(points),
            None => {
                let rate = self.unscaled(&row.points);
                match self.scale.get(&level) {
                    Some(percent) => Rate {
                        each: rate.each.percent(*percent),
                        max: rate.max.map(|max| max.percent(*percent)),
                        ..rate
                    },
                    None => rate,
                }
            }
        }
    }

    fn unscaled(&self, points: &Points) -> Rate {
        match points {
            Points::Flat(each) => Rate { each: *each, max: None, repeats: false },
            Points::Per { each, max, .. } => Rate { each: *each, max: *max, repeats: true },
            Points::Gravity(gravity) => Rate { each: self.gravities.of(*gravity), max: None, repeats: true },
        }
    }

    /// How much a finding under this row weighs.
    pub fn severity(&self, row: &DeductionRow, level: Level) -> Severity {
        match &row.points {
            Points::Gravity(gravity) => gravity.severity(),
            _ => severity_of(self.rate(row, level).each),
        }
    }

    /// Why this table cannot be used: every reason, one sentence each.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut ids = BTreeSet::new();
        if self.rows.is_empty() {
            problems.push("the table of deductions has no rows".to_owned());
        }
        for row in &self.rows {
            if row.id.trim().is_empty() {
                problems.push(format!("the row `{}` has no id", row.text));
            }
            if !ids.insert(row.id.as_str()) {
                problems.push(format!("two rows have the id `{}`", row.id));
            }
            for points in std::iter::once(&row.points).chain(row.at.values().flatten()) {
                let rate = self.unscaled(points);
                if rate.each <= Amount::ZERO {
                    problems.push(format!("the row `{}` subtracts nothing", row.id));
                }
                if rate.max.is_some_and(|max| max < rate.each) {
                    problems.push(format!("the maximum of the row `{}` is below one deduction", row.id));
                }
            }
        }
        problems
    }

    /// The table as a critic reads it: a row's id, what it is about, what it costs at this severity.
    pub fn shown(&self, level: Level) -> String {
        let mut text = String::new();
        let mut category: Option<&str> = None;
        for row in &self.rows {
            if row.category.as_deref() != category {
                category = row.category.as_deref();
                let _ = writeln!(text, "{}:", category.unwrap_or("Other"));
            }
            let _ = writeln!(text, "- `{}`: {} ({})", row.id, row.text, self.shown_cost(row, level));
        }
        text
    }

    fn shown_cost(&self, row: &DeductionRow, level: Level) -> String {
        let rate = self.rate(row, level);
        if rate.each == Amount::ZERO {
            return "not deducted".to_owned();
        }
        let points = row.at.get(&level).and_then(Option::as_ref).unwrap_or(&row.points);
        let mut cost = format!("-{}", rate.each);
        match points {
            Points::Flat(_) => cost.push_str(" once"),
            Points::Per { unit, .. } => {
                let _ = write!(cost, " per {}", unit.as_deref().unwrap_or("time"));
            }
            Points::Gravity(gravity) => {
                let _ = write!(cost, " each, {}", gravity.name());
            }
        }
        if let Some(max) = rate.max {
            let _ = write!(cost, ", at most -{max}");
        }
        cost
    }
}

/// How much a deduction of this size weighs.
pub fn severity_of(each: Amount) -> Severity {
    if each >= Amount::whole(15) {
        Severity::Fail
    } else if each >= Amount::whole(5) {
        Severity::Risk
    } else {
        Severity::Nit
    }
}

/// The longest slug, in characters.
const LONGEST_SLUG: usize = 60;

/// A row's id made from its text: `Missing citation (INV-8)` gives `missing-citation-inv-8`.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for word in words(text) {
        let long = slug.chars().count() + word.chars().count() + 1 > LONGEST_SLUG;
        if long && !slug.is_empty() {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.extend(word.chars().take(LONGEST_SLUG));
    }
    slug
}

/// The words of a text, lower case, without marks. An apostrophe stays inside its word.
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    text.split(move |c: char| !inside(c))
        .map(|word| word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect())
        .filter(|word: &String| !word.is_empty())
}

#[cfg(test)]
mod tests;
