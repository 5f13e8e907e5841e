//! A gate for people: a table of components, the sum line by line, what is missing and what is in the way.

use std::collections::BTreeMap;

use gadfly_engine::pipeline::GateReport;
use gadfly_runtime::project_status::{CommandRan, ProofSource, VerdictProof};
use owo_colors::OwoColorize as _;

use super::safe;

/// The score a component is called in order from, where the gate does not name one.
const IN_ORDER: u32 = 80;
/// Lines shown of what a command said that closes the gate.
const SAID: usize = 20;

/// Where each verdict is from, by agent.
type Proofs = BTreeMap<String, VerdictProof>;

pub fn report(report: &GateReport, ran: &[CommandRan], proofs: &Proofs) -> Vec<String> {
    let mut lines = table(report);
    lines.push(String::new());
    let before = lines.len();
    lines.extend(judged(report, proofs).map(|(agent, proof)| {
        let signed = match &proof.source {
            ProofSource::Journal => String::new(),
            ProofSource::Receipt { signed_by: Some(by), .. } => format!(", signed by {by}"),
            ProofSource::Receipt { signed_by: None, .. } => ", not signed".to_owned(),
        };
        if proof.is_vouched() {
            let what = "nobody judged it here; a person vouches for the score";
            return safe::line(&format!("{agent}: {what} (receipt{signed})"), 400);
        }
        let from = if proof.is_receipt() { "receipt of run" } else { "run" };
        safe::line(&format!("{agent}: judged by {} ({from} {}{signed})", proof.judge, proof.run), 400)
    }));
    if lines.len() > before {
        lines.push(String::new());
    }
    lines.extend(report.aggregate.arithmetic.iter().map(|line| safe::block(line)));
    if !report.missing.is_empty() {
        let missing: Vec<String> = report.missing.iter().map(|text| safe::line(text, 300)).collect();
        lines.push(format!("not scored, left out of the sum: {}", missing.join(", ")));
    }
    for command in ran {
        let end = command.end.map_or_else(|| "not run".to_owned(), |end| end.to_string());
        let mark = if command.passes() { "✓".green().to_string() } else { "✗".red().to_string() };
        let text = format!("{}: `{}` ({end})", command.name, command.command);
        lines.push(format!("{mark} {}", safe::line(&text, 300)));
        if !command.passes() {
            let said: Vec<&str> = command.said.lines().collect();
            let last = said.get(said.len().saturating_sub(SAID)..).unwrap_or_default();
            lines.extend(last.iter().map(|line| format!("  │ {}", safe::line(line, 300))));
        }
    }
    lines.push(String::new());
    let (name, gate) = (safe::line(&report.gate.name, 60), &report.gate);
    let each = gate.each.map(|each| format!(" and {each} of every component")).unwrap_or_default();
    let needs = format!("it needs {}{each}", gate.overall);
    if report.is_open() {
        let overall = report.aggregate.overall.map(|overall| overall.to_string()).unwrap_or_default();
        lines.push(format!("gate {name} is {}: {overall}; {needs}", "open".green().bold()));
    } else {
        lines.push(format!("gate {name} is {}; {needs}", "closed".red().bold()));
        lines.extend(report.blocking.iter().map(|line| format!("  {}", safe::line(line, 400))));
    }
    lines
}

/// Who gave the scores that count.
fn judged<'r>(
    report: &'r GateReport,
    proofs: &'r Proofs,
) -> impl Iterator<Item = (&'r str, &'r VerdictProof)> {
    let rows = report.aggregate.components.iter().flat_map(|component| &component.rows);
    let scored = rows.filter(|row| row.score.is_some()).map(|row| row.agent.as_str());
    scored.filter_map(|agent| Some((agent, proofs.get(agent)?)))
}

/// The same, for programs.
pub fn judged_json(report: &GateReport, proofs: &Proofs) -> Vec<serde_json::Value> {
    let json = |(agent, proof): (&str, &VerdictProof)| {
        let (from, signed_by) = match &proof.source {
            ProofSource::Journal => ("journal", None),
            ProofSource::Receipt { signed_by, .. } => ("receipt", signed_by.as_ref()),
        };
        serde_json::json!({
            "agent": agent,
            "judge": proof.judge,
            "run": proof.run,
            "from": from,
            "signed_by": signed_by.map(|by| serde_json::json!({ "name": by.name, "key": by.key })),
        })
    };
    judged(report, proofs).map(json).collect()
}

fn table(report: &GateReport) -> Vec<String> {
    let floor = report.gate.each.unwrap_or(IN_ORDER);
    let mut rows = vec![["Component", "Weight", "Agent", "Score", "Status"].map(str::to_owned)];
    for component in &report.aggregate.components {
        for row in &component.rows {
            let status = match (row.score, &row.because) {
                (Some(score), _) if score >= floor => "pass".to_owned(),
                (Some(_), _) => format!("below {floor}"),
                (None, Some(because)) => safe::line(because, 300),
                (None, None) => "not scored".to_owned(),
            };
            let score = row.score.map_or_else(|| "–".to_owned(), |score| score.to_string());
            let (name, agent) = (safe::line(&component.name, 60), safe::line(&row.agent, 60));
            rows.push([name, percent(row.points), agent, score, status]);
        }
    }
    let mut widths = [0; 5];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let draw = |(n, row): (usize, &[String; 5])| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ").trim_end().to_owned();
        if n == 0 { line.dimmed().to_string() } else { line }
    };
    rows.iter().enumerate().map(draw).collect()
}

/// Hundredths of a percent: `12.5%`.
pub fn percent(points: u32) -> String {
    match (points / 100, points % 100) {
        (whole, 0) => format!("{whole}%"),
        (whole, part) if part % 10 == 0 => format!("{whole}.{}%", part / 10),
        (whole, part) => format!("{whole}.{part:02}%"),
    }
}
