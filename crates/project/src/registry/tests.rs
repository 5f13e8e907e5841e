//! Registries in every syntax that is seen, and what is wrong with the others.

mod graph;
mod malformed;
mod syntaxes;

use std::fmt::Write as _;
use std::path::Path;

use gadfly_engine::pipeline::{Atom, Check, Need, PairWeight, RegistryEntry};
use gadfly_engine::protocol::score::settings::EscalateTo;

use super::{RegistryFile, parse};
use crate::place::Problem;

fn read(text: &str) -> RegistryFile {
    parse(Path::new("permissions.md"), text)
}

/// Read without any problem.
fn clean(text: &str) -> RegistryFile {
    let file = read(text);
    assert_eq!(said(&file.problems), "");
    file
}

/// `line:col severity message (help) «text»`, one to a line.
fn said(problems: &[Problem]) -> String {
    let mut out = String::new();
    for problem in problems {
        let at = problem.at.as_ref().map_or("-".into(), |at| format!("{}:{}", at.line, at.col));
        let severity = if problem.is_error() { "error" } else { "warning" };
        let help = problem.help.as_deref().unwrap_or("-");
        let _ = writeln!(out, "{at} {severity}: {} | {help}", problem.message);
    }
    out
}

/// The text a problem points at.
fn pointed<'a>(text: &'a str, problem: &Problem) -> &'a str {
    &text[problem.at.as_ref().unwrap().span.clone()]
}

fn entry<'a>(file: &'a RegistryFile, agent: &str) -> &'a RegistryEntry {
    file.registry.get(agent).unwrap_or_else(|| panic!("no {agent}"))
}

fn shown(file: &RegistryFile) -> String {
    let mut out = String::new();
    for e in &file.registry.entries {
        let phase = e.phase.as_deref().unwrap_or("-");
        let group = e.group.as_deref().unwrap_or("-");
        let critic = e.critic.as_deref().unwrap_or("-");
        let to = match &e.escalate_to {
            EscalateTo::Agent(name) => name.clone(),
            EscalateTo::Orchestrator => "the orchestrator".into(),
            EscalateTo::User => "the user".into(),
        };
        let weight = match &e.weight {
            PairWeight::Share { points, component, binary } => {
                format!("{points} {component}{}", if *binary { " binary" } else { "" })
            }
            PairWeight::Shared { with } => format!("with {with}"),
            PairWeight::Advisory => "advisory".into(),
            PairWeight::None => "-".into(),
        };
        let reason = if e.escalation_reason.is_empty() { "" } else { ": " };
        let _ = writeln!(
            out,
            "{} {} | {phase} | {group} | {critic} | {to}{reason}{} | {weight}",
            e.line, e.agent, e.escalation_reason
        );
        if let Some(condition) = &e.conditional {
            let _ = writeln!(out, "  if {condition}");
        }
        let _ = writeln!(out, "  needs {}", need(&e.requires));
        for product in &e.produces {
            let list = |all: &[gadfly_engine::pipeline::Pattern]| {
                all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
            };
            let _ = write!(out, "  makes {} {}", product.line, list(&product.patterns));
            if !product.files.is_empty() {
                let _ = write!(out, " with {}", list(&product.files).replace(" or ", ", "));
            }
            if !product.sections.is_empty() {
                let _ = write!(out, " sections {}", product.sections.join(", "));
            }
            out.push('\n');
        }
    }
    out
}

fn need(need: &Need) -> String {
    let all = |needs: &[Need], name: &str| {
        format!("{name}({})", needs.iter().map(self::need).collect::<Vec<_>>().join(", "))
    };
    match need {
        Need::All(needs) => all(needs, "all"),
        Need::Any(needs) => all(needs, "any"),
        Need::Atom(Atom { text, line, check }) => match check {
            Check::Manual => format!("{line}? {text}"),
            Check::Path(pattern) => format!("{line} {pattern}"),
            Check::Contains { folder, endings } => format!("{line} {folder} contains {}", endings.join(" ")),
            Check::Score { critic, at_least } => format!("{line} {critic}>={at_least}"),
            Check::Overall { at_least } => format!("{line} overall>={at_least}"),
            Check::Components { at_least } => format!("{line} components>={at_least}"),
        },
    }
}
