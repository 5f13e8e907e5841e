//! Replay: feed recorded inputs to a fresh engine and compare the decisions it makes.

use std::fmt;

use crate::effect::EffectKind;
use crate::input::Input;
use crate::machine::{Engine, Refused, Step};
use crate::protocol::Protocols;

/// Where a replay parted from the record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The record's index in the run.
    pub index: u64,
    pub recorded: Vec<String>,
    pub computed: Vec<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "record {} does not replay:", self.index)?;
        writeln!(f, "  recorded: {}", self.recorded.join("; "))?;
        write!(f, "  computed: {}", self.computed.join("; "))
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("{0}")]
    Differs(Difference),
    #[error("record {index} is refused: {why}")]
    Refused { index: u64, why: Refused },
}

/// Rebuilds a run from its records.
pub fn replay<'a>(
    protocols: Protocols,
    records: impl IntoIterator<Item = (&'a Input, &'a Step)>,
) -> Result<Engine, ReplayError> {
    let mut engine = Engine::new(protocols);
    for (index, (input, recorded)) in records.into_iter().enumerate() {
        replay_one(&mut engine, index as u64, input, recorded)?;
    }
    Ok(engine)
}

/// Feeds one record; for hosts that stream them.
pub fn replay_one(
    engine: &mut Engine,
    index: u64,
    input: &Input,
    recorded: &Step,
) -> Result<(), ReplayError> {
    let computed = engine.on(input).map_err(|why| ReplayError::Refused { index, why })?;
    let (recorded, computed) = (decisions(recorded), decisions(&computed));
    if recorded == computed {
        Ok(())
    } else {
        Err(ReplayError::Differs(Difference { index, recorded, computed }))
    }
}

/// What a step decided, without how it is worded in events: effect ids, kinds, roles, agents, the
/// digest of what they are given, and the outcome.
pub fn decisions(step: &Step) -> Vec<String> {
    let mut all: Vec<String> = step
        .effects
        .iter()
        .map(|e| {
            let what = match &e.kind {
                EffectKind::Turn(turn) => {
                    let given = serde_json::to_vec(&turn.messages).unwrap_or_default();
                    let given = crate::digest::Digest::of(&given).short();
                    format!("turn {} {} {:?} {given}", turn.role.name(), turn.agent, turn.permission)
                }
                EffectKind::Save(save) => {
                    format!(
                        "save {} approved={} to {}",
                        save.content.short(),
                        save.approved,
                        save.target.path
                    )
                }
                EffectKind::Look(_)
                | EffectKind::Examine(_)
                | EffectKind::Verify(_)
                | EffectKind::Ask(_)
                | EffectKind::Accept(_)
                | EffectKind::Survey(_)
                | EffectKind::Commit(_)
                | EffectKind::Tool(_) => {
                    let given = serde_json::to_vec(&e.kind).unwrap_or_default();
                    format!("{} {}", e.kind.name(), crate::digest::Digest::of(&given).short())
                }
                EffectKind::Cancel { target } => format!("cancel {target}"),
                EffectKind::Tell { target, text } => {
                    format!("tell {target} {}", crate::digest::Digest::of(text.as_bytes()).short())
                }
            };
            format!("{} {what}", e.id)
        })
        .collect();
    if let Some(outcome) = &step.outcome {
        all.push(format!("outcome {}", serde_json::to_string(outcome).unwrap_or_default()));
    }
    all
}
