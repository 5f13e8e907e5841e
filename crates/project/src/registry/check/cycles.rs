//! Agents that wait for each other.
//!
//! An agent is within reach if its conditions can hold once others within reach have run; alternatives count. Of those
//! that never come within reach, each circle is reported once. What a person or nobody provides is always within reach.

use std::collections::BTreeSet;

use gadfly_engine::pipeline::{Atom, Check, Entry, Need};

use super::{Graph, required, written};
use crate::place::Problem;

pub(super) fn problems(graph: &Graph<'_>) -> Vec<Problem> {
    let reached = reached(graph);
    let mut reported: BTreeSet<BTreeSet<&str>> = BTreeSet::new();
    let mut problems = Vec::new();
    for entry in graph.registry.entries.iter().filter(|entry| !reached.contains(entry.agent.as_str())) {
        let circle = circle(graph, entry, &reached);
        if !circle.is_empty() && reported.insert(circle.iter().map(|step| step.from.agent.as_str()).collect())
        {
            problems.extend(report(graph, &circle));
        }
    }
    problems.extend(own_products(graph));
    problems
}

/// An agent and the condition that keeps it waiting for another.
#[derive(Clone, Copy)]
struct Step<'a> {
    from: &'a Entry,
    atom: &'a Atom,
    to: &'a Entry,
}

fn reached<'a>(graph: &'a Graph<'_>) -> BTreeSet<&'a str> {
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    loop {
        let before = reached.len();
        for entry in &graph.registry.entries {
            if !reached.contains(entry.agent.as_str())
                && blocking(graph, entry, &entry.requires, &reached).is_none()
            {
                reached.insert(&entry.agent);
            }
        }
        if reached.len() == before {
            return reached;
        }
    }
}

/// The first condition that cannot hold yet, with who it waits for.
fn blocking<'a>(
    graph: &'a Graph<'_>,
    entry: &'a Entry,
    need: &'a Need,
    reached: &BTreeSet<&str>,
) -> Option<Step<'a>> {
    match need {
        Need::All(needs) => needs.iter().find_map(|need| blocking(graph, entry, need, reached)),
        Need::Any(needs) => {
            let steps: Vec<_> = needs.iter().map(|need| blocking(graph, entry, need, reached)).collect();
            if steps.iter().any(Option::is_none) { None } else { steps.into_iter().flatten().next() }
        }
        Need::Atom(atom) => {
            let is_reached = |other: &Entry| reached.contains(other.agent.as_str());
            let step = |to| Step { from: entry, atom, to };
            match &atom.check {
                // One maker is enough. What it makes itself may be there already: see `own_products`.
                Check::Path(_) | Check::Contains { .. } => {
                    let makers = graph.providers(entry, atom);
                    let holds = own(graph, entry, atom) || makers.iter().any(|maker| is_reached(maker));
                    if holds { None } else { makers.first().copied().map(step) }
                }
                // Everybody the critic judges has to pass.
                Check::Score { critic, .. } => {
                    graph.judged(critic).into_iter().find(|judged| !is_reached(judged)).map(step)
                }
                Check::Manual | Check::Overall { .. } | Check::Components { .. } => None,
            }
        }
    }
}

/// Whether an agent needs what it makes.
fn own(graph: &Graph<'_>, entry: &Entry, atom: &Atom) -> bool {
    required(atom).is_some_and(|pattern| graph.makers(pattern).iter().any(|maker| maker.agent == entry.agent))
}

/// Follows what keeps an agent waiting until somebody comes up again; what led there is cut off.
fn circle<'a>(graph: &'a Graph<'_>, start: &'a Entry, reached: &BTreeSet<&str>) -> Vec<Step<'a>> {
    let mut steps: Vec<Step<'a>> = Vec::new();
    let mut at = start;
    while let Some(step) = blocking(graph, at, &at.requires, reached) {
        if let Some(first) = steps.iter().position(|earlier| earlier.from.agent == step.from.agent) {
            return steps.split_off(first);
        }
        steps.push(step);
        at = step.to;
    }
    Vec::new()
}

fn report(graph: &Graph<'_>, circle: &[Step<'_>]) -> Option<Problem> {
    let first = circle.first()?;
    let mut names: Vec<&str> = circle.iter().map(|step| step.from.agent.as_str()).collect();
    names.push(&first.from.agent);
    let whys: Vec<String> = circle
        .iter()
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
        if own(graph, entry, atom) && graph.providers(entry, atom).is_empty() {
            let message = format!("`{}` requires what only it makes: {}", entry.agent, written(&atom.text));
            let help = "it can run only where that is there already";
            problems.push(graph.at(Problem::warning(message).help(help), span));
        }
    }
    problems
}
