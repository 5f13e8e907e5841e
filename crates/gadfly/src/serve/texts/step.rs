//! A step of a goal in full, as a text of its run: what the tool was given and what came of it. The page's log has its
//! first words; nobody stored it as one text.

use std::fmt::Write as _;

use gadfly_engine::input::InputKind;
use gadfly_engine::{Digest, EffectId, EffectKind, Reply};
use gadfly_journal::{Journal, ReadError, RunId};
use serde_json::Value;

/// Records before its result among which a step's beginning is looked for.
const BEFORE: u32 = 200;
/// Arguments that are kept as texts of their own.
const STORED: [&str; 4] = ["content", "old", "new", "args"];
const NO_MORE: &str = "No more of this step was kept than its line says.";

/// The step whose result is in the record that `step-12` names; none if that is no such name.
pub fn named(journal: &Journal, run: &RunId, name: &str) -> Option<Result<String, ReadError>> {
    let seq: u32 = name.strip_prefix("step-")?.parse().ok()?;
    Some(in_full(journal, run, seq))
}

fn in_full(journal: &Journal, run: &RunId, seq: u32) -> Result<String, ReadError> {
    journal.summary(run)?;
    let from = seq.saturating_sub(BEFORE);
    let records = journal.records_without_texts(run, from, seq - from + 1)?;
    let result = records.last().filter(|record| record.seq == seq).map(|record| &record.input.what);
    let Some(InputKind::Replied { effect, reply: Reply::Tool(done) }) = result else {
        return Ok(NO_MORE.to_owned());
    };
    let mut told = String::new();
    let effects = records.iter().rev().flat_map(|record| &record.step.effects);
    if let Some(given) = effects.into_iter().find(|asked| is(asked, effect)) {
        given_to(journal, &given.kind, &mut told)?;
    }
    let shown = journal.text(&done.shown)?;
    told.push_str(shown.as_deref().unwrap_or_default());
    told.truncate(told.trim_end().len());
    Ok(told)
}

fn is(asked: &gadfly_engine::Effect, id: &EffectId) -> bool {
    asked.id == *id
}

/// The tool and each of its arguments.
fn given_to(journal: &Journal, kind: &EffectKind, told: &mut String) -> Result<(), ReadError> {
    let EffectKind::Tool(used) = kind else { return Ok(()) };
    told.push_str(used.action.tool());
    told.push('\n');
    let action = serde_json::to_value(&used.action).unwrap_or_default();
    for (name, value) in
        action.as_object().into_iter().flatten().filter_map(|(_, args)| args.as_object()).flatten()
    {
        let text = match value {
            Value::String(digest) if STORED.contains(&name.as_str()) => {
                let stored = digest.parse::<Digest>().ok().map(|digest| journal.text(&digest)).transpose()?;
                stored.flatten().map_or_else(|| digest.clone(), |text| text.to_string())
            }
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let between = if text.contains('\n') { '\n' } else { ' ' };
        // A `String` takes everything.
        let _ = writeln!(told, "{name}:{between}{text}");
    }
    told.push('\n');
    Ok(())
}
