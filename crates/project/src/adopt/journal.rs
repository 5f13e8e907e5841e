//! A research journal that people and models wrote: `### DATE — agent` and bold fields. Only a critic's own entry
//! whose score line begins with a number of 100 is a score; everything else is told, with its line.

use std::ops::Range;
use std::path::Path;

use gadfly_engine::pipeline::{PairWeight, Registry};

use super::{Adopted, AdoptedScore, UNBOUND, is_no_verdict, judged_by, leading_score, normalised};
use crate::place::SourceSpan;

/// Of a heading's agent part, what may be a name; the rest is a remark.
const LONGEST_NAME: usize = 100;
const DASHES: [&str; 5] = [" — ", " – ", " --- ", " -- ", " - "];

struct AdoptedEntry<'a> {
    heading: &'a str,
    agent: &'a str,
    target: Option<&'a str>,
    score: Option<(&'a str, Range<usize>)>,
    span: Range<usize>,
}

pub(super) fn read(path: &Path, text: &str, registry: Option<&Registry>, adopted: &mut Adopted) {
    for entry in entries(text) {
        take(path, text, &entry, registry, adopted);
    }
}

fn entries(text: &str) -> Vec<AdoptedEntry<'_>> {
    let mut entries: Vec<AdoptedEntry<'_>> = Vec::new();
    let mut at = 0;
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        let span = at..at + line.trim_end().len();
        at += line.len();
        let bare = line.trim_start_matches('\u{feff}').trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        if let Some(heading) = bare.strip_prefix("### ") {
            let heading = heading.trim();
            entries.push(AdoptedEntry { heading, agent: agent(heading), target: None, score: None, span });
            continue;
        }
        let Some(entry) = entries.last_mut() else { continue };
        if let Some(value) = field(bare, &["target", "objetivo", "objeto"]) {
            entry.target.get_or_insert(value);
        } else if let Some(value) =
            field(bare, &["score", "puntaje", "puntuación", "puntuacion", "calificación"])
        {
            // The first one counts: later lines of an entry comment on it.
            entry.score.get_or_insert((value, span));
        }
    }
    entries
}

/// `**Score:** value` and `- **Score**: value`.
fn field<'a>(line: &'a str, names: &[&str]) -> Option<&'a str> {
    let line = line.trim_start_matches(['-', '*', ' ']);
    let (name, value) = line.split_once(':')?;
    let name = name.trim().trim_matches('*').trim();
    let known = names.iter().any(|known| name.to_lowercase() == *known);
    known.then(|| value.trim_start_matches("**").trim())
}

/// What stands after the date: `2026-05-09 14:30 — coder-critic (Round 2)` is about `coder-critic (Round 2)`.
fn agent(heading: &str) -> &str {
    let dated = heading.starts_with(|c: char| c.is_ascii_digit() || c == '[');
    let first = DASHES.iter().filter_map(|dash| heading.find(dash).map(|at| (at, dash.len()))).min();
    match first {
        Some((at, dash)) if dated => heading[at + dash..].trim(),
        _ => heading,
    }
}

/// The name before any remark: `(Round 2)`, `: Redacción`, `+ orchestrator`, `Round 3`, `— Phase Transition`.
fn name(agent: &str) -> String {
    let agent: String = agent.chars().take(LONGEST_NAME).collect();
    let agent = agent.trim().trim_start_matches(['[', '*', '`']);
    let end = agent.find(|c: char| c.is_whitespace() || "(:+,;/]*`—–×".contains(c));
    normalised(end.map_or(agent, |end| &agent[..end]))
}

/// As `name`, for names of two words that registries write with a hyphen: `Coder Critic`.
fn two_words(agent: &str) -> String {
    let words: Vec<&str> = agent.split_whitespace().take(2).collect();
    name(&words.join("-"))
}

/// Names in the remark behind a heading: `Strategy (Strategist-Critic Round 2)`.
fn remarked(agent: &str) -> Vec<String> {
    let remark = agent.split_once('(').map(|(_, remark)| remark).unwrap_or_default();
    let words = remark.chars().take(LONGEST_NAME).collect::<String>();
    words.split([' ', ',', ';', ')', '/', '+']).map(normalised).filter(|word| !word.is_empty()).collect()
}

/// Where rounds are told one after the other, `76/100 (Round 1) → 90/100 (Round 2)`, the last counts.
fn last_of(value: &str) -> Option<u32> {
    let (_, last) = value.rsplit_once('→').or_else(|| value.rsplit_once("->"))?;
    leading_score(last)
}

fn take(
    path: &Path,
    text: &str,
    entry: &AdoptedEntry<'_>,
    registry: Option<&Registry>,
    adopted: &mut Adopted,
) {
    let heading = SourceSpan::new(path, text, entry.span.clone());
    let Some((value, span)) = &entry.score else {
        adopted.refuse(entry.heading, "the entry has no score line", heading);
        return;
    };
    let place = SourceSpan::new(path, text, span.clone());
    let known = |name: String| judged_by(&name, registry).map(|of| (name, of));
    let critic = known(name(entry.agent))
        .or_else(|| known(two_words(entry.agent)))
        .or_else(|| remarked(entry.agent).into_iter().find_map(known));
    let Some(score) = leading_score(value).map(|first| last_of(value).unwrap_or(first)) else {
        // Of somebody who creates, and of an entry about nothing, no score is expected.
        let why = match is_no_verdict(value) {
            Some(word) => format!("`{word}`: that is no verdict"),
            None => "the score line does not begin with a number of 100".to_owned(),
        };
        adopted.refuse(&format!("{}: {value}", entry.agent), why, place);
        return;
    };
    if let Some(word) = is_no_verdict(value) {
        adopted.refuse(&format!("{}: {value}", entry.agent), format!("`{word}`: that is no verdict"), place);
        return;
    }
    let Some((critic, of)) = critic else {
        let why = format!("`{}` is the critic of nobody here", name(entry.agent));
        adopted.refuse(&format!("{}: {value}", entry.agent), why, place);
        return;
    };
    let agent = whose(&of, entry.target, registry);
    let note = match &agent {
        Some(_) => UNBOUND.to_owned(),
        None => format!("{UNBOUND}, and {critic} judges {}", of.join(" and ")),
    };
    adopted.take(AdoptedScore { agent, critic: Some(critic), score, place, note });
}

/// Whose work was judged, where a critic has several to judge: the target may name the agent or what it makes.
fn whose(of: &[String], target: Option<&str>, registry: Option<&Registry>) -> Option<String> {
    if let [one] = of {
        return Some(one.clone());
    }
    let target = target?;
    let words: Vec<String> = target.split([' ', ',', ';', '(', ')', '`']).map(normalised).collect();
    let named = |agent: &String| {
        let entry = registry.and_then(|registry| registry.get(agent));
        let makes =
            target.split([' ', ',', ';', '`']).any(|path| entry.is_some_and(|entry| entry.makes(path)));
        let component = entry.and_then(|entry| match &entry.weight {
            PairWeight::Share { component, .. } => Some(normalised(component)),
            _ => None,
        });
        words.contains(&normalised(agent)) || makes || component.is_some_and(|c| normalised(target) == c)
    };
    let mut found = of.iter().filter(|agent| named(agent));
    match (found.next(), found.next()) {
        (Some(one), None) => Some(one.clone()),
        _ => None,
    }
}
