//! Records as JSON lines, for programs: `{"run","seq","at","node","event","data"}`.
//!
//! `event` is what happened (`round_started`, `reviewed`, …), `effect_requested`, or what was seen of a call that
//! matters to more than its agent: `guarded`, what holds it, and `stopped`, what was kept from it; `data` its
//! fields. The
//! last line of a run is its outcome: `{"run","outcome","exit", …}`.

use gadfly_engine::input::InputKind;
use gadfly_engine::{Observation, Outcome, Waiting};
use gadfly_journal::{Record, RunId};
use serde_json::{Value, json};

use crate::exit::Code;

pub fn of_record(run: &RunId, record: &Record) -> Vec<String> {
    let line = |node: &str, event: &str, data: Value| {
        json!({
            "run": run, "seq": record.seq, "at": record.input.at.wall_ms,
            "node": node, "event": event, "data": data,
        })
        .to_string()
    };
    let mut lines = Vec::new();
    if let InputKind::Observed { effect, observation } = &record.input.what {
        let node = &effect.node.0;
        match observation {
            Observation::Guarded { guards } => {
                lines.push(line(node, "guarded", json!({ "effect": effect, "guards": guards })));
            }
            Observation::Stopped { layer, what } => {
                lines.push(line(node, "stopped", json!({ "effect": effect, "layer": layer, "what": what })));
            }
            _ => {}
        }
    }
    for event in &record.step.events {
        let mut data = serde_json::to_value(&event.what).unwrap_or_default();
        let name = data.as_object_mut().and_then(|fields| fields.remove("event"));
        let name = name.as_ref().and_then(Value::as_str).unwrap_or("unknown").to_owned();
        lines.push(line(&event.node.0, &name, data));
    }
    for effect in &record.step.effects {
        let data = serde_json::to_value(effect).unwrap_or_default();
        lines.push(line(&effect.id.node.0, "effect_requested", data));
    }
    if let Some(Outcome::Waiting(Waiting::Question { effect })) = &record.step.outcome {
        lines.push(line(&effect.node.0, "waiting", json!({ "effect": effect })));
    }
    lines
}

/// The last line. `draft` is the approved text, where it was not written to a file.
/// What a run leaves to whoever called it.
#[derive(Clone, Copy, Default)]
pub struct FinalLine<'a> {
    pub draft: Option<&'a str>,
    /// The last report's envelope, JSON.
    pub envelope: Option<&'a str>,
}

pub fn of_outcome(run: &RunId, outcome: Option<&Outcome>, result: FinalLine<'_>, code: Code) -> String {
    let label = outcome.map_or_else(|| "interrupted".to_owned(), Outcome::label);
    let mut line = json!({ "run": run, "outcome": label, "detail": outcome, "exit": code.0 });
    if let Some(fields) = line.as_object_mut() {
        fields.extend(result.draft.map(|draft| ("draft".to_owned(), draft.into())));
        let envelope = result.envelope.and_then(|text| serde_json::from_str(text).ok());
        fields.extend(envelope.map(|envelope| ("envelope".to_owned(), envelope)));
    }
    line.to_string()
}
