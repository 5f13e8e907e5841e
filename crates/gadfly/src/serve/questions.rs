//! What a run asks a person, as a page can put it: a question with its ways out, or a turn that a person has to take.

use gadfly_engine::{EffectId, EffectKind, Turn};
use gadfly_journal::{MailKind, ReadError, RunId, RunView, Summary};
use gadfly_runtime::Gadfly;
use serde_json::{Value, json};

use super::token::hex;
use crate::output::brief;
use crate::session::only_by_token;

/// More than a person can answer at once.
const MOST: usize = 50;

pub fn open(gadfly: &Gadfly, state: &RunView) -> Result<Vec<Value>, ReadError> {
    let run = &state.summary.run;
    if state.summary.ended {
        return Ok(Vec::new());
    }
    let mail = gadfly.journal().mail(run)?;
    let is_answered = |effect: &EffectId| {
        mail.iter().any(|(_, mail)| matches!(&mail.what, MailKind::Answer { effect: to, .. } if to == effect))
    };
    let mut open = Vec::new();
    for asked in state.open_questions().take(MOST) {
        let question = &asked.question;
        open.push(json!({
            "effect": asked.effect, "kind": "question", "about": question.about.name(), "text": question.text,
            "choices": question.choices, "free": question.free, "answered": is_answered(&asked.effect),
        }));
    }
    if let Some(effect) = state.summary.waiting_for.as_ref().filter(|effect| state.question(effect).is_none())
        && let Some(turn) = turn(gadfly, run, effect)?
    {
        let folder = gadfly.folder_at(run, &effect.node).filter(|_| turn.tree.is_some());
        let judges = turn.verdict.is_some();
        let passes_at = turn.verdict.and_then(|asked| asked.passes_at);
        open.push(json!({
            "effect": effect, "kind": "turn", "about": turn.role.name(), "role": turn.role, "agent": turn.agent,
            "text": only_by_token(&turn, run).unwrap_or_default(), "choices": [], "free": !judges, "judges": judges, "passes_at": passes_at, "brief": brief_name(effect),
            "folder": folder, "answered": is_answered(effect),
        }));
    }
    Ok(open)
}

/// Whether a run only parks again if it is taken up: nobody has answered what it waits for.
pub fn wants_answer(summary: &Summary, open: &[Value]) -> bool {
    let asked = summary.waiting_for.as_ref().map(|effect| json!(effect));
    asked.is_some_and(|asked| open.iter().any(|one| one["effect"] == asked && one["answered"] == false))
}

/// The turn behind an effect; none if it is something else.
pub fn turn(gadfly: &Gadfly, run: &RunId, effect: &EffectId) -> Result<Option<Turn>, ReadError> {
    Ok(gadfly.journal().effect(run, effect)?.and_then(|effect| match effect.kind {
        EffectKind::Turn(turn) => Some(turn),
        _ => None,
    }))
}

/// How a page asks for the brief of a turn, among the texts of its run: no digest, because nobody stored it as one text.
pub fn brief_name(effect: &EffectId) -> String {
    format!("brief-{}", hex(effect.to_string().as_bytes()))
}

/// The brief behind such a name; none if it is no such name.
pub fn brief_of(gadfly: &Gadfly, run: &RunId, name: &str) -> Option<Result<Option<String>, ReadError>> {
    let hex = name
        .strip_prefix("brief-")
        .filter(|hex| hex.len() <= 1024 && hex.len() % 2 == 0 && hex.is_ascii())?;
    let bytes = (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok());
    let effect: EffectId = String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok()?.parse().ok()?;
    Some(brief::question(gadfly.journal(), run, &effect).map(|asked| asked.map(|(_, brief)| brief)))
}
