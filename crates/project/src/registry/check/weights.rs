//! Weights: what they add up to, and what they are counted with.

use std::collections::BTreeSet;

use gadfly_engine::pipeline::{Check, PairWeight, RegistryEntry};

use super::{Graph, listed};
use crate::place::{Problem, brief};
use crate::registry::RegistryNote;
use crate::registry::field::Field;
use crate::suggest::did_you_mean;

pub(super) fn any(graph: &Graph<'_>) -> bool {
    graph.registry.entries.iter().any(|entry| points(entry).is_some())
}

pub(super) fn problems(graph: &Graph<'_>) -> Vec<Problem> {
    let components: BTreeSet<&str> = graph
        .registry
        .entries
        .iter()
        .filter_map(|entry| match &entry.weight {
            PairWeight::Share { component, .. } => Some(component.as_str()),
            _ => None,
        })
        .collect();
    let known: Vec<&str> = components.iter().copied().collect();
    let mut problems = Vec::new();
    for (entry, spans) in graph.entries() {
        let PairWeight::Shared { with } = &entry.weight else { continue };
        if !components.contains(with.as_str()) {
            let message = format!("no agent has a weight for `{}`", brief(with));
            let span = spans.values.get(&Field::Weight).unwrap_or(&spans.name);
            problems.push(graph.at(Problem::warning(message).maybe_help(did_you_mean(with, &known)), span));
        }
    }
    problems
}

pub(super) fn notes(graph: &Graph<'_>) -> Vec<RegistryNote> {
    let mut notes = Vec::new();
    let entries = &graph.registry.entries;
    let total: u32 = entries.iter().filter_map(points).sum();
    let conditional: Vec<&RegistryEntry> =
        entries.iter().filter(|e| e.conditional.is_some() && points(e).is_some()).collect();
    if total > 0 && total != 10_000 {
        let mut text = format!("weights add up to {}: normalised", percent(total));
        let optional: u32 = conditional.iter().copied().filter_map(points).sum();
        if optional > 0 {
            let names: Vec<&str> = conditional.iter().map(|entry| entry.agent.as_str()).collect();
            let rest = percent(total - optional);
            text = format!(
                "weights add up to {} ({rest} without {}): normalised",
                percent(total),
                listed(&names)
            );
        }
        let first = entries.iter().find(|entry| points(entry).is_some());
        notes.push(RegistryNote { text, line: first.map_or(1, |entry| entry.line) });
    }
    for (entry, atom, _) in graph.atoms() {
        if matches!(atom.check, Check::Overall { .. })
            && let PairWeight::Share { points, .. } = entry.weight
        {
            let share = percent(points);
            let text = format!(
                "{} requires the overall score and is {share} of it: computed without itself",
                entry.agent
            );
            notes.push(RegistryNote { text, line: atom.line });
        }
    }
    notes
}

const fn points(entry: &RegistryEntry) -> Option<u32> {
    match entry.weight {
        PairWeight::Share { points, .. } => Some(points),
        _ => None,
    }
}

fn percent(points: u32) -> String {
    match (points / 100, points % 100) {
        (whole, 0) => format!("{whole}%"),
        (whole, part) if part % 10 == 0 => format!("{whole}.{}%", part / 10),
        (whole, part) => format!("{whole}.{part:02}%"),
    }
}
