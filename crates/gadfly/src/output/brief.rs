//! What an agent or a person is given, as text: the messages of a turn.

use gadfly_engine::{Effect, EffectId, EffectKind, Engine, Texts, Turn};
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
    let mut texts = Texts::default();
    let mut found = None;
    for record in journal.replay(run) {
        let record = record?;
        for text in record.input.texts.iter().chain(&record.step.texts) {
            texts.insert(text);
        }
        for asked in record.step.effects {
            if let (true, EffectKind::Turn(turn)) = (asked.id == *effect, asked.kind) {
                found = Some(turn);
            }
        }
    }
    Ok(found.map(|turn| {
        let brief = render(&turn, &texts);
        (turn, brief)
    }))
}
