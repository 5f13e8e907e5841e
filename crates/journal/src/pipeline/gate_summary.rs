//! A gate's report as text: what each component scored, the sum, and whether the gate is open.

use std::fmt::Write as _;

use gadfly_engine::pipeline::GateReport;
use gadfly_engine::pipeline::aggregate::{Component, ScoreRow};

use super::text::{cell, words};

/// The score a component is called in order from, where the gate does not name one.
const IN_ORDER: u32 = 80;

pub fn render(report: &GateReport) -> String {
    let mut out = String::from("## Component Scores\n\n");
    out.push_str("| Component | Weight | Agent | Score | Status |\n|---|---|---|---|---|\n");
    let floor = report.gate.each.unwrap_or(IN_ORDER);
    for component in &report.aggregate.components {
        for row in &component.rows {
            line(component, row, floor, &mut out);
        }
    }
    let overall =
        report.aggregate.overall.map_or_else(|| "N/A".to_owned(), |overall| format!("{overall}/100"));
    let _ = writeln!(out, "\n## Weighted Aggregate: {overall}\n");
    for step in &report.aggregate.arithmetic {
        let _ = writeln!(out, "{}", words(step));
    }
    let result = if report.is_open() { "PASS" } else { "BLOCKED" };
    let _ = writeln!(out, "\n## Gate Result: {result}\n");
    let each = report.gate.each.map(|each| format!(", every component ≥ {each}")).unwrap_or_default();
    let _ = writeln!(out, "Gate {}: overall ≥ {}{each}.", words(&report.gate.name), report.gate.overall);
    if !report.missing.is_empty() {
        let missing: Vec<String> = report.missing.iter().map(|m| words(m)).collect();
        let _ = writeln!(out, "Not scored, left out of the sum: {}.", missing.join(", "));
    }
    if !report.is_open() {
        out.push_str("\n## Blocking Components\n\n");
        for reason in &report.blocking {
            let _ = writeln!(out, "- {}", words(reason));
        }
    }
    out
}

fn line(component: &Component, row: &ScoreRow, floor: u32, out: &mut String) {
    let status = match (row.score, &row.because) {
        (Some(score), _) if score >= floor => "pass".to_owned(),
        (Some(_), _) => format!("below {floor}"),
        (None, Some(because)) => because.clone(),
        (None, None) => "not scored".to_owned(),
    };
    let _ = writeln!(
        out,
        "| {} | {} | {} | {} | {} |",
        cell(&component.name),
        percent(row.points),
        cell(&row.agent),
        row.score.map_or_else(|| "—".to_owned(), |score| score.to_string()),
        cell(&status),
    );
}

/// Hundredths of a percent: `12.5%`.
fn percent(points: u32) -> String {
    let (whole, part) = (points / 100, points % 100);
    match part {
        0 => format!("{whole}%"),
        part if part % 10 == 0 => format!("{whole}.{}%", part / 10),
        part => format!("{whole}.{part:02}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_written_as_registries_write_them() {
        assert_eq!([1000, 1250, 33, 5].map(percent), ["10%", "12.5%", "0.33%", "0.05%"]);
    }
}
