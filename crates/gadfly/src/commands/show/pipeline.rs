//! A pipeline as `gadfly show` tells it: its agents, its gate, what is asked, what could be learned. Lines only; nothing
//! is printed here.

use gadfly_engine::Digest;
use gadfly_journal::RunView;
use gadfly_journal::view::PipelineView;
use owo_colors::OwoColorize as _;

use crate::output::table::counted;
use crate::output::{next_command, pipeline, safe};

/// More of what is open of one agent is counted.
const MOST_OPEN: usize = 5;

/// Everything but the questions that are open.
pub fn lines(state: &RunView, view: &PipelineView, text: &dyn Fn(&Digest) -> Option<String>) -> Vec<String> {
    let mut lines = vec![String::new()];
    if let Some(plan) = view.plan.as_ref().and_then(text) {
        let by = view.plan_by.as_ref().map(|by| format!(", approved by {}", safe::line(by, 60)));
        let by = by.unwrap_or_else(|| ", not approved".to_owned());
        let first = plan.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        lines.push(format!("plan{by}: {}", safe::line(first, 200)));
    }
    if view.gate_name.is_some() {
        lines.push(format!(
            "overall round {} of {}: {}",
            view.overall,
            view.overall_max,
            pipeline::progress(view)
        ));
    }
    lines.extend(pipeline::agents(view));
    for row in view.agents.iter().filter(|row| !row.open.is_empty()) {
        lines.push(format!("open of {}:", safe::line(&row.agent, 60)));
        lines.extend(row.open.iter().take(MOST_OPEN).map(|line| format!("  {}", safe::line(line, 300))));
        if row.open.len() > MOST_OPEN {
            lines.push(format!("  and {} more", row.open.len() - MOST_OPEN));
        }
    }
    if let Some(report) = &view.gate {
        lines.push(String::new());
        lines.push(format!("gate {}", safe::line(&report.gate.name, 60)).bold().to_string());
        lines.extend(pipeline::gate(report));
    }
    if !view.learned.is_empty() {
        lines.push(String::new());
        lines.push("### Suggested Learnings".to_owned());
        lines.extend(view.learned.iter().map(|learned| safe::line(&learned.line(), 400)));
    }
    if !view.briefs.is_empty() {
        let command = next_command::command(&format!("show {} --briefs", state.summary.run));
        lines.push(format!("\n{} went out: {command}", counted(view.briefs.len(), "brief")));
    }
    lines
}
