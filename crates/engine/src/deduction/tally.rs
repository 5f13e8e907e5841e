//! Adds deductions up. The only place where a score comes into being; it reads no critic's arithmetic,
//! it only sets the number a critic stated beside its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Amount, DeductionRow, DeductionTable, FULL, Level, Rate};
use crate::finding::Finding;

/// A row applied so many times.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Deduction {
    /// The row's id.
    pub row: String,
    pub times: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreKind {
    /// The engine's sum.
    Computed,
    /// The critic's number, because the rubric has no table of deductions.
    Stated,
}

/// A score with its arithmetic.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sheet {
    pub kind: ScoreKind,
    /// From 0 to 100.
    pub score: u32,
    /// Before the floor at 0, with its fraction.
    pub unfloored: Amount,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<DeductionLine>,
    /// The number the critic stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<Amount>,
    /// The stated number minus the score, where they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Amount>,
}

/// What one row took off.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeductionLine {
    pub row: String,
    pub times: u32,
    pub each: Amount,
    pub subtracted: Amount,
    /// A maximum, or "once", took off less than every time would have.
    pub capped: bool,
    /// The step as a person would write it: `100 − 2 × 10 (missing citation, max 30) = 80`.
    pub shown: String,
}

/// Deductions name rows that the table does not have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the table of deductions has no row `{}`", .0.join("`, `"))]
pub struct UnknownRows(pub Vec<String>);

/// What the supported findings of a review deduct. Each stands under its row; `times` is in `raw`.
pub fn deductions(findings: &[Finding]) -> Vec<Deduction> {
    let times = |finding: &Finding| {
        let times = finding.raw.as_ref().and_then(|raw| raw.get("times")).and_then(serde_json::Value::as_u64);
        times.map_or(1, |n| u32::try_from(n).unwrap_or(u32::MAX))
    };
    let supported = findings.iter().filter(|f| f.is_supported());
    supported.map(|f| Deduction { row: f.rule.clone(), times: times(f) }).collect()
}

/// The score: 100 minus what the rows take off. Deductions of one row, from whatever part of a review,
/// are united before its maximum applies.
pub fn tally(
    table: &DeductionTable,
    level: Level,
    deductions: &[Deduction],
    stated: Option<Amount>,
) -> Result<Sheet, UnknownRows> {
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    for deduction in deductions {
        let sum = times.entry(&deduction.row).or_default();
        *sum = sum.saturating_add(deduction.times);
    }
    let unknown: Vec<String> =
        times.keys().filter(|id| table.row(id).is_none()).map(|id| (*id).to_owned()).collect();
    if !unknown.is_empty() {
        return Err(UnknownRows(unknown));
    }
    let mut left = Amount::whole(FULL);
    let mut lines = Vec::new();
    for row in &table.rows {
        if let Some(count) = times.get(row.id.as_str()).copied().filter(|n| *n > 0) {
            let line = line(left, row, table.rate(row, level), count, level);
            left = left.minus(line.subtracted);
            lines.push(line);
        }
    }
    let score = left.as_score();
    Ok(Sheet {
        kind: ScoreKind::Computed,
        score,
        unfloored: left,
        lines,
        stated,
        difference: stated.map(|s| s.minus(left.max(Amount::ZERO))).filter(|d| *d != Amount::ZERO),
    })
}

/// The critic's own number counts where the rubric has no table.
pub fn stated(number: Amount) -> Sheet {
    Sheet {
        kind: ScoreKind::Stated,
        score: number.as_score(),
        unfloored: number,
        lines: Vec::new(),
        stated: Some(number),
        difference: None,
    }
}

fn line(left: Amount, row: &DeductionRow, rate: Rate, times: u32, level: Level) -> DeductionLine {
    let counted = if rate.repeats { times } else { 1 };
    let sum = rate.each.times(counted);
    let subtracted = rate.max.map_or(sum, |max| sum.min(max));
    let after = left.minus(subtracted);
    let text = crate::brief::one_line(&row.text);
    let shown = if rate.each == Amount::ZERO {
        format!("{left} − 0 ({text}, not deducted at severity {level}) = {after}")
    } else if subtracted < sum {
        format!("{left} − {subtracted} ({text}, {counted} × {}, max {subtracted}) = {after}", rate.each)
    } else {
        let amount = if counted > 1 { format!("{counted} × {}", rate.each) } else { rate.each.to_string() };
        let rule = match rate.max {
            Some(max) => format!(", max {max}"),
            None if times > counted => format!(", found {times} times, counted once"),
            None => String::new(),
        };
        format!("{left} − {amount} ({text}{rule}) = {after}")
    };
    let capped = subtracted < sum || times > counted;
    DeductionLine { row: row.id.clone(), times, each: rate.each, subtracted, capped, shown }
}

impl Sheet {
    /// The arithmetic, line by line, down to the score.
    pub fn shown(&self) -> Vec<String> {
        let mut shown = match self.kind {
            ScoreKind::Computed if self.lines.is_empty() => vec![format!("{FULL}, nothing deducted")],
            ScoreKind::Computed => self.lines.iter().map(|line| line.shown.clone()).collect(),
            ScoreKind::Stated => {
                vec![format!("{} as the critic stated it: the rubric has no table", self.unfloored)]
            }
        };
        if self.unfloored.is_negative() {
            shown.push(format!("{} is below 0: the score is 0", self.unfloored));
        }
        if let (Some(stated), Some(_)) = (self.stated, self.difference) {
            shown.push(format!("the critic stated {stated}; the sum counts"));
        }
        shown
    }
}
