//! A `pipeline_state.json` that is not ours: the seed's schema, and what models made of it (phases with agents inside,
//! underscores, Spanish keys). Rows of a template that were never filled in are no rows.

use std::path::Path;

use gadfly_engine::pipeline::Registry;
use serde_json::{Map, Value};

use super::{Adopted, AdoptedScore, UNBOUND, is_no_verdict, judged_by, leading_score, normalised};
use crate::place::SourceSpan;

const PROJECT: &[&str] = &["project", "project-name", "proyecto"];
const PHASE: &[&str] = &["phase", "current-phase", "fase", "fase-actual"];
const PHASES: &[&str] = &["phases", "fases"];
const AGENTS: &[&str] = &["agents", "agentes"];
const COMPLETED: &[&str] = &["agents-completed", "agentes-completados"];
const AT_WORK: &[&str] = &["agents-in-progress", "agentes-en-progreso", "agentes-en-curso"];
const NAME: &[&str] = &["agent", "name", "agente", "nombre"];
const CRITIC: &[&str] = &["critic", "critico"];
const SCORE: &[&str] = &["score", "last-score", "puntaje", "puntuacion", "calificacion", "ultimo-puntaje"];

pub(super) fn read(path: &Path, text: &str, registry: Option<&Registry>, adopted: &mut Adopted) {
    let whole = SourceSpan::new(path, text, 0..0);
    let value: Value = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(value) => value,
        Err(e) => return adopted.refuse("the state file", format!("it is not JSON: {e}"), whole),
    };
    let Value::Object(top) = &value else {
        return adopted.refuse("the state file", "it is no JSON object", whole);
    };
    let named = |keys| get(top, keys).and_then(Value::as_str).map(str::trim).filter(|s| is_filled(s));
    let project = named(PROJECT).map(str::to_owned);
    adopted.project = adopted.project.take().or(project);
    let phase = named(PHASE).map(str::to_owned);
    adopted.phase = adopted.phase.take().or(phase);
    let mut reading = StateReader { path, text, registry, from: 0, adopted };
    for keys in [COMPLETED, AT_WORK, AGENTS] {
        reading.agents(get(top, keys));
    }
    if let Some(Value::Object(phases)) = get(top, PHASES) {
        for phase in phases.values().filter_map(Value::as_object) {
            reading.agents(get(phase, AGENTS));
        }
    }
}

struct StateReader<'a> {
    path: &'a Path,
    text: &'a str,
    registry: Option<&'a Registry>,
    /// Where the search for the next name begins: rows stand in the order they are read in, nearly always.
    from: usize,
    adopted: &'a mut Adopted,
}

impl StateReader<'_> {
    /// A list of rows that name their agent, or an object of rows by agent.
    fn agents(&mut self, rows: Option<&Value>) {
        match rows {
            Some(Value::Array(rows)) => {
                for row in rows.iter().filter_map(Value::as_object) {
                    if let Some(name) = get(row, NAME).and_then(Value::as_str).filter(|n| is_filled(n)) {
                        self.row(name, row);
                    }
                }
            }
            Some(Value::Object(rows)) => {
                for (name, row) in rows {
                    if let Value::Object(row) = row {
                        self.row(name, row);
                    }
                }
            }
            _ => {}
        }
    }

    fn row(&mut self, name: &str, row: &Map<String, Value>) {
        let place = self.place(name);
        let critic = get(row, CRITIC).and_then(Value::as_str).filter(|c| is_filled(c)).map(normalised);
        let Some(value) = get(row, SCORE).filter(|value| !value.is_null()) else {
            return self.adopted.refuse(name, "it has no score", place);
        };
        let agent = normalised(name);
        let score = match value {
            Value::Number(n) => n.as_f64().filter(|n| (0.0..=100.0).contains(n)).map(whole),
            Value::String(s) if is_no_verdict(s).is_some() => None,
            Value::String(s) => leading_score(s).or_else(|| s.trim().parse().ok().filter(|n| *n <= 100)),
            _ => None,
        };
        let Some(score) = score else {
            let why = "its score is no number from 0 to 100, or no verdict";
            return self.adopted.refuse(&format!("{name}: {value}"), why, place);
        };
        let known = self.registry.map(|registry| {
            let entry = registry.entries.iter().find(|entry| normalised(&entry.agent) == agent);
            (entry.map(|entry| entry.agent.clone()), judged_by(&agent, Some(registry)).is_some())
        });
        let note = match &known {
            Some((None, false)) => format!("{UNBOUND}, and the registry has no `{agent}`"),
            _ => UNBOUND.to_owned(),
        };
        let agent = known.and_then(|(name, _)| name).or(Some(agent));
        self.adopted.take(AdoptedScore { agent, critic, score, place, note });
    }

    fn place(&mut self, name: &str) -> SourceSpan {
        let quoted = format!("\"{name}\"");
        let find =
            |from: usize| self.text.get(from..).and_then(|rest| rest.find(&quoted)).map(|at| from + at);
        let at = find(self.from).or_else(|| find(0));
        if let Some(at) = at {
            self.from = at + quoted.len();
        }
        let at = at.unwrap_or(0);
        SourceSpan::new(self.path, self.text, at..at + quoted.len())
    }
}

/// A score from 0 to 100 without its fraction.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the range was looked at
fn whole(n: f64) -> u32 {
    n as u32
}

/// A template's placeholder is no value.
fn is_filled(text: &str) -> bool {
    let text = text.trim();
    let placeholder = text.starts_with(['[', '<', '{']) && text.ends_with([']', '>', '}']);
    !(text.is_empty() || placeholder)
}

fn get<'a>(map: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| map.iter().find(|(name, _)| unaccented(name) == **key).map(|(_, value)| value))
}

/// Keys in lower case, with hyphens and without the accents Spanish has.
fn unaccented(key: &str) -> String {
    let plain = |c: char| match c {
        'á' => 'a',
        'é' => 'e',
        'í' => 'i',
        'ó' => 'o',
        'ú' | 'ü' => 'u',
        'ñ' => 'n',
        '_' | ' ' => '-',
        c => c,
    };
    key.chars().flat_map(char::to_lowercase).map(plain).collect()
}
