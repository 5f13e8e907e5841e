//! What an agent's reply amounts to: its text, or why it is no answer. What follows from it is not decided here.

use super::run::Run;
use crate::budget::Usage;
use crate::digest::Digest;
use crate::effect::{Answer, CallFailure, FailureKind, StopReason};
use crate::turn::{Message, Part, Role, Speaker};

impl Run {
    pub fn answer_text(&mut self, answer: &Answer) -> Digest {
        let is_call = |part: &&Part| matches!(part, Part::Call(_));
        match answer.parts.as_slice() {
            [Part::Blob(d), calls @ ..] if calls.iter().all(|p| is_call(&p)) => *d,
            parts => {
                let message = Message { from: Speaker::Assistant, parts: parts.to_vec() };
                let rendered = message.render(&self.texts);
                self.intern(rendered)
            }
        }
    }
}

/// A reply that was cut or refused is no answer.
pub(super) fn stopped_short(answer: &Answer, role: Role) -> Option<CallFailure> {
    let (kind, message) = match &answer.stop {
        StopReason::EndTurn => return None,
        StopReason::ToolUse if !answer.calls().is_empty() => return None,
        StopReason::ToolUse => {
            (FailureKind::BadReply, format!("the {} wants a tool and names none", role.name()))
        }
        StopReason::Length => (
            FailureKind::BadReply,
            format!(
                "the {}'s reply was cut at its length limit: raise the agent's `max_tokens`",
                role.name()
            ),
        ),
        StopReason::Refusal => (FailureKind::Refused, format!("the {} refused", role.name())),
        StopReason::Other(reason) => {
            (FailureKind::BadReply, format!("the {}'s reply ended with `{reason}`", role.name()))
        }
    };
    Some(CallFailure { kind, message, usage: Usage::default() })
}

pub(super) fn bad_reply(message: String) -> CallFailure {
    CallFailure { kind: FailureKind::BadReply, message, usage: Usage::default() }
}
