//! Saving: what has to be on the user's disk before a run may stop, and what a refused save means.

use super::calls::{HeldWork, OpenEffect};
use super::run::{Run, RunMode};
use crate::budget::{Reservation, Usage};
use crate::conflict::{Conflicts, Resolution, Way};
use crate::digest::Digest;
use crate::effect::{CallFailure, Class, Effect, EffectId, EffectKind, FailureKind, NodePath, Reply, Save};
use crate::event::EventKind;
use crate::outcome::{Outcome, Waiting};
use crate::question::{About, Picked};
use crate::tree::Accept;

/// Time for writing a file of the user's.
const SAVE_MS: u64 = 60_000;

/// Files changed on both sides, and a person has the say.
pub(super) enum Merging {
    Asked { effect: EffectId, seen: Digest },
    Decided(Resolution),
}

impl Run {
    /// What has to be on disk before the run may stop with this outcome.
    pub fn save_before(&self, ending: &Outcome) -> Option<EffectKind> {
        let root = self.root()?;
        if let Some(how) = root.acceptance() {
            return match ending {
                Outcome::Approved { draft, .. } if !self.approved_saved => {
                    let resolution = match &self.merging {
                        Some(Merging::Decided(resolution)) => Some(resolution.clone()),
                        _ => None,
                    };
                    Some(EffectKind::Accept(Accept { tree: *draft, how, resolution, at: None, only: None }))
                }
                _ => None,
            };
        }
        let (target, draft) = (root.target()?, root.draft()?);
        match ending {
            Outcome::Approved { draft, .. } => {
                let save = Save { target, content: *draft, approved: true };
                (!self.approved_saved).then_some(EffectKind::Save(save))
            }
            Outcome::Waiting(_) => None,
            Outcome::Failed { .. } if self.held.iter().any(|h| matches!(h, HeldWork::Ending(_))) => None,
            _ => {
                let save = Save { target, content: draft, approved: false };
                (self.unapproved_saved != Some(draft)).then_some(EffectKind::Save(save))
            }
        }
    }

    pub fn issue_save(&mut self, kind: EffectKind) {
        let id = self.next_id(&NodePath::root());
        let effect = Effect {
            id: id.clone(),
            class: Class::ChangesWorld,
            time_ms: Some(SAVE_MS),
            reserve: Reservation::default(),
            repeats: None,
            kind,
        };
        self.step.effects.push(effect.clone());
        self.delivery = Some(id.clone());
        let open = OpenEffect::new(effect, None);
        self.open.insert(id, Box::new(open));
    }

    pub fn save_replied(&mut self, kind: &EffectKind, reply: &Reply) {
        let (path, content, approved) = match kind {
            EffectKind::Save(save) => (save.target.path.clone(), save.content, save.approved),
            EffectKind::Accept(accept) => ("the checkout".to_owned(), accept.tree, true),
            _ => return,
        };
        let root = NodePath::root();
        match reply {
            Reply::Accepted { paths, commit, merged, kept } => {
                let (paths, commit) = (paths.clone(), commit.clone());
                let (merged, kept) = (merged.clone(), kept.clone());
                self.emit(&root, EventKind::Accepted { paths, commit, merged, kept });
                self.approved_saved = true;
            }
            // Whoever wants the run gone is not asked how it should be finished.
            Reply::Conflicts(_) if self.mode == RunMode::Cancelling => {}
            Reply::Conflicts(conflicts) if matches!(kind, EffectKind::Accept(_)) => self.ask_about(conflicts),
            Reply::Saved { path } => {
                self.emit(&root, EventKind::Saved { path: path.clone(), approved });
                if approved {
                    self.approved_saved = true;
                } else {
                    self.unapproved_saved = Some(content);
                }
            }
            // The host stopped before the file was written. An end waits with it; a parking, or a person
            // who wants the run gone, does not.
            Reply::Cancelled { .. } => {
                let ended = self.ending.as_ref().is_some_and(Outcome::is_ended);
                if ended && self.mode != RunMode::Cancelling {
                    self.held.push_back(HeldWork::Ending(self.ending.take()));
                } else {
                    self.unapproved_saved = Some(content);
                }
            }
            other => {
                let message = match other {
                    Reply::Conflict { message } => message.clone(),
                    Reply::Failed(f) => f.message.clone(),
                    _ => "the save got no proper reply".to_owned(),
                };
                self.emit(&root, EventKind::SaveRefused { path, message: message.clone() });
                if approved {
                    let failure =
                        CallFailure { kind: FailureKind::Misconfigured, message, usage: Usage::default() };
                    // The verdict stands; resuming tries the save again.
                    self.held.push_back(HeldWork::Ending(self.ending.take()));
                    self.ending = Some(Outcome::Failed { failure });
                }
                self.unapproved_saved = Some(content);
            }
        }
        if approved && !self.approved_saved && self.mode == RunMode::Cancelling {
            self.held.clear();
            self.unapproved_saved = Some(content);
            self.ending = Some(Outcome::Aborted);
        }
    }

    /// The open question about files that changed on both sides.
    pub fn asked_about_conflicts(&self) -> Option<&EffectId> {
        match &self.merging {
            Some(Merging::Asked { effect, .. }) => Some(effect),
            _ => None,
        }
    }

    /// The verdict stands, and waits for a person: nothing of the user's is overwritten unasked.
    fn ask_about(&mut self, conflicts: &Conflicts) {
        let root = NodePath::root();
        let again = self.merging.is_some();
        let effect = self.next_id(&root);
        self.emit(&root, EventKind::Conflicted { conflicts: conflicts.clone() });
        self.emit(&root, EventKind::Asked { effect: effect.clone(), about: About::Conflict });
        self.merging = Some(Merging::Asked { effect: effect.clone(), seen: conflicts.seen });
        let asked = Effect {
            id: effect.clone(),
            class: Class::Person,
            time_ms: None,
            reserve: Reservation::default(),
            repeats: None,
            kind: EffectKind::Ask(conflicts.question(again)),
        };
        self.step.effects.push(asked.clone());
        let open = OpenEffect::new(asked, None);
        self.open.insert(effect, Box::new(open));
    }

    /// A way is gone by a new acceptance; `stop` parks the run, and resuming looks at the checkout again.
    pub fn conflicts_decided(&mut self, kind: &EffectKind, said: &Digest) {
        let (Some(Merging::Asked { seen, .. }), EffectKind::Ask(question)) = (self.merging.take(), kind)
        else {
            return;
        };
        let way = match question.pick(self.texts.get(said)) {
            Picked::Choice { word, .. } => Way::of(word),
            _ => None,
        };
        if let Some(way) = way {
            self.merging = Some(Merging::Decided(Resolution { way, seen }));
        } else {
            self.held.push_back(HeldWork::Ending(self.ending.take()));
            self.ending = Some(Outcome::Waiting(Waiting::Paused));
        }
    }
}

#[cfg(test)]
mod tests;
