//! Saving: what has to be on the user's disk before a run may stop, and what a refused save means.

use super::calls::{Held, Open};
use super::run::{Mode, Run};
use crate::budget::{Reservation, Usage};
use crate::effect::{CallFailure, Class, Effect, EffectKind, FailureKind, NodePath, Reply, Save};
use crate::event::Happened;
use crate::outcome::Outcome;

/// Time for writing a file of the user's.
const SAVE_MS: u64 = 60_000;

impl Run {
    /// What has to be on disk before the run may stop with this outcome.
    pub fn save_before(&self, ending: &Outcome) -> Option<Save> {
        let root = self.root()?;
        let (target, draft) = (root.target()?, root.draft()?);
        match ending {
            Outcome::Approved { draft, .. } => {
                (!self.approved_saved).then_some(Save { target, content: *draft, approved: true })
            }
            Outcome::Waiting(_) => None,
            Outcome::Failed { .. } if self.held.iter().any(|h| matches!(h, Held::Ending(_))) => None,
            _ => (self.unapproved_saved != Some(draft)).then_some(Save {
                target,
                content: draft,
                approved: false,
            }),
        }
    }

    pub fn issue_save(&mut self, save: Save) {
        let id = self.next_id(&NodePath::root());
        let effect = Effect {
            id: id.clone(),
            class: Class::ChangesWorld,
            time_ms: Some(SAVE_MS),
            reserve: Reservation::default(),
            repeats: None,
            kind: EffectKind::Save(save),
        };
        self.step.effects.push(effect.clone());
        self.open.insert(id, Open { effect, call: None, cancelled: false });
    }

    pub fn save_replied(&mut self, kind: &EffectKind, reply: &Reply) {
        let EffectKind::Save(save) = kind else { return };
        let root = NodePath::root();
        match reply {
            Reply::Saved { path } => {
                self.emit(&root, Happened::Saved { path: path.clone(), approved: save.approved });
                if save.approved {
                    self.approved_saved = true;
                } else {
                    self.unapproved_saved = Some(save.content);
                }
            }
            // The host stopped before the file was written. An end waits with it; a parking, or a person
            // who wants the run gone, does not.
            Reply::Cancelled { .. } => {
                let ended = self.ending.as_ref().is_some_and(Outcome::is_ended);
                if ended && self.mode != Mode::Cancelling {
                    self.held.push_back(Held::Ending(self.ending.take()));
                } else {
                    self.unapproved_saved = Some(save.content);
                }
            }
            other => {
                let message = match other {
                    Reply::Conflict { message } => message.clone(),
                    Reply::Failed(f) => f.message.clone(),
                    _ => "the save got no proper reply".to_owned(),
                };
                let path = save.target.path.clone();
                self.emit(&root, Happened::SaveRefused { path, message: message.clone() });
                if save.approved {
                    let failure =
                        CallFailure { kind: FailureKind::Misconfigured, message, usage: Usage::default() };
                    // The verdict stands; resuming tries the save again.
                    self.held.push_back(Held::Ending(self.ending.take()));
                    self.ending = Some(Outcome::Failed { failure });
                }
                self.unapproved_saved = Some(save.content);
            }
        }
    }
}
