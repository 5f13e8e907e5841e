//! What an agent or a person is given, as text: the messages of a turn.

use gadfly_engine::turn::Part;
use gadfly_engine::{Effect, EffectId, EffectKind, Engine, Text, Texts, Turn};
use gadfly_journal::{Journal, ReadError, RunId};

pub fn render(turn: &Turn, texts: &Texts) -> String {
    turn.messages.iter().map(|m| m.render(texts)).collect::<Vec<_>>().join("\n\n")
}

/// The turns a step asks for, with their briefs.
pub fn asked<'a>(effects: &'a [Effect], engine: &Engine) -> Vec<(&'a Turn, String)> {
    let Some(texts) = engine.texts() else { return Vec::new() };
    let turns = effects.iter().filter_map(|e| match &e.kind {
        EffectKind::Turn(turn) => Some(turn),
        _ => None,
    });
    turns.map(|turn| (turn, render(turn, texts))).collect()
}

/// The question a recorded run asks a person: who is asked, and what.
pub fn question(
    journal: &Journal,
    run: &RunId,
    effect: &EffectId,
) -> Result<Option<(Turn, String)>, ReadError> {
    let Some(EffectKind::Turn(turn)) = journal.effect(run, effect)?.map(|effect| effect.kind) else {
        return Ok(None);
    };
    let brief = messages(journal, &turn)?.join("\n\n");
    Ok(Some((turn, brief)))
}

/// What an agent was given, message by message, put together from stored texts.
pub fn messages(journal: &Journal, turn: &Turn) -> Result<Vec<String>, ReadError> {
    let mut texts = Texts::default();
    for digest in turn.messages.iter().flat_map(|message| &message.parts).filter_map(Part::text) {
        if let Some(text) = journal.text(&digest)? {
            texts.insert(&Text::new(text));
        }
    }
    Ok(turn.messages.iter().map(|message| message.render(&texts)).collect())
}
