//! A pipeline as a graph in Mermaid: who made what others needed, which critics judged it in which round, and the gate.
//! The first is the journal's own graph; the rest is added to it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gadfly_journal::pipeline::text::label;
use gadfly_journal::pipeline::{ProjectView, graph_of};

use super::{Drawn, is_call};
use crate::telemetry::conventions as names;
use crate::telemetry::span::Span;

/// Critics that are drawn: renderers refuse what has many hundred arrows.
const MOST_CRITICS: usize = 100;
/// Verdicts on one arrow, the last ones.
const MOST_VERDICTS: usize = 4;

pub fn source(state: ProjectView<'_>, drawn: &Drawn) -> String {
    let mut out = graph_of(state);
    let drawn_before = out.clone();
    let pairs = pairs(state, drawn);
    for (n, ((agent, critic), verdicts)) in pairs.iter().take(MOST_CRITICS).enumerate() {
        let Some(id) = id_of(&drawn_before, agent) else { continue };
        let left_out = verdicts.len().saturating_sub(MOST_VERDICTS);
        let said = verdicts[left_out..].join(", ");
        let before = if left_out > 0 { "…, " } else { "" };
        let _ = writeln!(out, "    critic{n}[{}] -.->|{before}{said}| {id}", label(critic));
    }
    if pairs.len() > MOST_CRITICS {
        let _ =
            writeln!(out, "    others[{}]", label(&format!("{} more critics", pairs.len() - MOST_CRITICS)));
    }
    if let Some(report) = &state.pipeline.gate {
        let is = if report.is_open() { "open" } else { "closed" };
        let overall = report.aggregate.overall.map(|overall| format!(", {overall}")).unwrap_or_default();
        let _ = writeln!(out, "    gate([{}])", label(&format!("gate {} {is}{overall}", report.gate.name)));
        let mut sent: Vec<&str> = state.history.invocations.iter().map(|one| one.agent.as_str()).collect();
        sent.sort_unstable();
        sent.dedup();
        for id in sent.into_iter().filter_map(|agent| id_of(&drawn_before, agent)) {
            let _ = writeln!(out, "    {id} --> gate");
        }
    }
    out
}

/// What each critic said of each agent, in the order of the records: `70 rejected`.
fn pairs<'d>(state: ProjectView<'d>, drawn: &'d Drawn) -> BTreeMap<(&'d str, &'d str), Vec<String>> {
    let mut calls: Vec<&Span> = drawn.spans.iter().filter(|span| is_call(span)).collect();
    calls.sort_by_key(|span| span.seqs.end);
    let mut pairs: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for call in calls {
        let judged = call.moments.iter().find(|one| one.name == names::EVALUATION_RESULT);
        let Some((of, verdict)) =
            judged.and_then(|one| Some((&one.attributes, one.attributes.said(names::LABEL)?)))
        else {
            continue;
        };
        let node = call.attributes.said(names::NODE).unwrap_or_default();
        let is_its = |at: &str| node == at || node.strip_prefix(at).is_some_and(|rest| rest.starts_with('/'));
        let sent = state.history.invocations.iter().find(|one| is_its(&one.at.0));
        if let (Some(sent), Some(critic)) = (sent, of.said(names::CRITIC)) {
            let score = of.measured(names::SCORE).map(|score| format!("{score} ")).unwrap_or_default();
            pairs.entry((sent.agent.as_str(), critic)).or_default().push(format!("{score}{verdict}"));
        }
    }
    pairs
}

/// How the journal's graph calls an agent.
fn id_of<'g>(graph: &'g str, agent: &str) -> Option<&'g str> {
    let end = graph.find(&format!("[{}]", label(agent)))?;
    let start = graph[..end].rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
    Some(&graph[start..end])
}
