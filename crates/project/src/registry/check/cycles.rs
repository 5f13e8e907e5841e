//! Agents that wait for each other.
//!
//! An agent is within reach if its conditions can hold once others within reach have run; alternatives count. Of those
//! that never come within reach, each circle is reported once. What a person or nobody provides is always within reach.

use std::collections::{HashMap, HashSet};

use gadfly_engine::pipeline::{Atom, Check, Need, RegistryEntry};

use super::{Graph, MOST_NAMED, required, written};
use crate::place::Problem;

pub(super) fn problems(graph: &Graph<'_>) -> Vec<Problem> {
    let reached = reached(graph);
    let mut seen = HashSet::new();
    let mut problems = Vec::new();
    for entry in graph.registry.entries.iter().filter(|entry| !reached.contains(entry.agent.as_str())) {
        problems.extend(report(graph, &circle(graph, entry, &reached, &mut seen)));
    }
    problems.extend(own_products(graph));
    problems
}

/// An agent and the condition that keeps it waiting for another.
#[derive(Clone, Copy)]
struct CycleStep<'a> {
    from: &'a RegistryEntry,
    atom: &'a Atom,
    to: &'a RegistryEntry,
}

fn reached<'a>(graph: &'a Graph<'_>) -> HashSet<&'a str> {
    let mut reached: HashSet<&str> = HashSet::new();
    let mut waiting: Vec<&RegistryEntry> = graph.registry.entries.iter().collect();
    loop {
        let before = waiting.len();
        waiting.retain(|entry| {
            let is_blocked = blocking(graph, entry, &entry.requires, &reached).is_some();
            if !is_blocked {
                reached.insert(&entry.agent);
            }
            is_blocked
        });
        if waiting.len() == before {
            return reached;
        }
        // Whatever the order of the file: who needs the next one is met on the way back.
        waiting.reverse();
    }
}

/// The first condition that cannot hold yet, with who it waits for.
fn blocking<'a>(
    graph: &'a Graph<'_>,
    entry: &'a RegistryEntry,
    need: &'a Need,
    reached: &HashSet<&str>,
) -> Option<CycleStep<'a>> {
    match need {
        Need::All(needs) => needs.iter().find_map(|need| blocking(graph, entry, need, reached)),
        Need::Any(needs) => {
            let steps: Vec<_> = needs.iter().map(|need| blocking(graph, entry, need, reached)).collect();
            if steps.iter().any(Option::is_none) { None } else { steps.into_iter().flatten().next() }
        }
        Need::Atom(atom) => {
            let is_reached = |other: &RegistryEntry| reached.contains(other.agent.as_str());
            let step = |to| CycleStep { from: entry, atom, to };
            match &atom.check {
                // One maker is enough. What it makes itself may be there already: see `own_products`.
                Check::Path(_) | Check::Contains { .. } => {
                    let mut makers = graph.providers(entry, atom);
                    let first = makers.next()?;
                    let holds = is_reached(first) || makers.any(is_reached) || own(graph, entry, atom);
                    if holds { None } else { Some(step(first)) }
                }
                // Everybody the critic judges has to pass.
                Check::Score { critic, .. } => {
                    let mut judged = graph.judged(critic).iter().filter_map(|number| graph.entry(*number));
                    judged.find(|judged| !is_reached(judged)).map(step)
                }
                Check::Manual | Check::Overall { .. } | Check::Components { .. } => None,
            }
        }
    }
}

/// Whether an agent needs what it makes.
fn own(graph: &Graph<'_>, entry: &RegistryEntry, atom: &Atom) -> bool {
    let is_own = |number: &usize| graph.entry(*number).is_some_and(|maker| maker.agent == entry.agent);
    required(atom).is_some_and(|pattern| graph.makers(pattern).iter().any(is_own))
}

/// Follows what keeps an agent waiting until somebody comes up again; what led there is cut off. Each agent waits
/// for one other, so whoever was met on an earlier way leads to nothing new.
fn circle<'a>(
    graph: &'a Graph<'_>,
    start: &'a RegistryEntry,
    reached: &HashSet<&str>,
    seen: &mut HashSet<&'a str>,
) -> Vec<CycleStep<'a>> {
    let mut steps: Vec<CycleStep<'a>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut at = start;
    while let Some(step) = blocking(graph, at, &at.requires, reached) {
        if let Some(first) = places.insert(&step.from.agent, steps.len()) {
            return steps.split_off(first);
        }
        if !seen.insert(&step.from.agent) {
            break;
        }
        steps.push(step);
        at = step.to;
    }
    Vec::new()
}

fn report(graph: &Graph<'_>, circle: &[CycleStep<'_>]) -> Option<Problem> {
    let first = circle.first()?;
    let left_out = circle.len().saturating_sub(MOST_NAMED);
    let shown = || circle.iter().take(MOST_NAMED);
    let mut names: Vec<String> = shown().map(|step| step.from.agent.clone()).collect();
    if left_out > 0 {
        names.push(format!("… ({left_out} more)"));
    }
    names.push(first.from.agent.clone());
    let whys: Vec<String> = shown()
        .map(|step| {
            let verb = if matches!(step.atom.check, Check::Score { .. }) { "rests on" } else { "is made by" };
            format!(
                "{} requires {} (line {}), which {verb} {}",
                step.from.agent,
                written(&step.atom.text),
                step.atom.line,
                step.to.agent
            )
        })
        .collect();
    let message = if circle.len() == 1 {
        format!("`{}` waits for itself", first.from.agent)
    } else {
        format!("these agents wait for each other: {}", names.join(" → "))
    };
    let span =
        graph.atoms().find(|(_, atom, _)| std::ptr::eq(*atom, first.atom)).map(|(_, _, span)| span.clone());
    Some(graph.at(Problem::error(message).help(whys.join("; ")), &span.unwrap_or_default()))
}

/// Who needs what only it makes can only go on with something that is there.
fn own_products(graph: &Graph<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (entry, atom, span) in graph.atoms() {
        if own(graph, entry, atom) && graph.providers(entry, atom).next().is_none() {
            let message = format!("`{}` requires what only it makes: {}", entry.agent, written(&atom.text));
            let help = "it can run only where that is there already";
            problems.push(graph.at(Problem::warning(message).help(help), span));
        }
    }
    problems
}
