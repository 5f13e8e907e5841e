//! What a node asks for besides agents' turns: looks, verify runs, questions. Like calls they wait while
//! the run is parked, and are repeated if their reply was lost.

use super::calls::{CallSpec, HeldWork, OpenEffect};
use super::going_on::CallProgress;
use super::replies::bad_reply;
use super::run::{Pending, Run, RunMode};
use crate::budget::{Reservation, Usage};
use crate::conflict::Conflicts;
use crate::digest::Digest;
use crate::effect::{CallFailure, Class, Committed, Effect, EffectId, EffectKind, FailureKind, Reply};
use crate::event::EventKind;
use crate::outcome::Outcome;
use crate::pipeline::listing::Surveyed;
use crate::tool::ToolDone;
use crate::tree::{Examined, FileContent, Looked, Verified};
use crate::turn::{Part, Role};

/// Time for a look at a folder; making it is part of the first one.
const LOOK_MS: u64 = 15 * 60_000;
/// What a task gets that is done although the time is up.
const BEYOND_MS: u64 = 2 * 60_000;
/// What a command gets beyond its own limit, to be started and stopped.
const VERIFY_GRACE_MS: u64 = 30_000;

/// The result of a task that a node asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TaskResult {
    Looked(Looked),
    Examined(Examined),
    Verified(Verified),
    Tool(ToolDone),
    Surveyed(Surveyed),
    /// A tree is with the user, or files are on a branch.
    Accepted {
        paths: Vec<String>,
        commit: Option<Committed>,
        merged: Vec<String>,
        kept: Vec<String>,
    },
    /// Nothing was written: both sides changed the same files.
    Conflicts(Conflicts),
    /// Nothing was written, and why.
    NotAccepted {
        message: String,
    },
    /// A person answered; the engine already knows that the answer is one of those asked for.
    Said {
        text: Digest,
        by: String,
    },
}

impl Run {
    /// Issues a task, or holds it while the run is parked.
    pub fn request_task(&mut self, id: EffectId, kind: EffectKind, repeats: Option<EffectId>) {
        self.issue_task(id, kind, repeats, false);
    }

    /// As `request_task`, although the time may be up.
    pub fn request_beyond_clock(&mut self, id: EffectId, kind: EffectKind) {
        self.issue_task(id, kind, None, true);
    }

    fn issue_task(&mut self, id: EffectId, kind: EffectKind, repeats: Option<EffectId>, beyond: bool) {
        let node = id.node.clone();
        if let Some(earlier) = &repeats {
            self.hands_again(earlier, &id);
            let first = self.attempts.remove(earlier).unwrap_or_else(|| earlier.clone());
            self.attempts.insert(id.clone(), first);
        }
        let person = matches!(kind, EffectKind::Ask(_));
        if self.mode != RunMode::Going || (self.ending.is_some() && !person) {
            self.held.push_back(HeldWork::Task { id: Some(id), node, kind, repeats });
            return;
        }
        if let EffectKind::Verify(verify) = &kind
            && !self.manifest.names_command(&verify.command)
        {
            let message =
                format!("the plan does not name the command `{}`, so it is not run", verify.command);
            let failure = CallFailure { kind: FailureKind::Misconfigured, message, usage: Usage::default() };
            return self.end_with(Outcome::Failed { failure });
        }
        let accounts = Self::accounts(&node, None);
        if !person
            && !beyond
            && let Some(shortage) = self.ledger.out_of_time(&accounts)
        {
            self.held.push_back(HeldWork::Task { id: Some(id), node: node.clone(), kind, repeats });
            return self.short_of(&node, shortage);
        }
        let wanted = match &kind {
            EffectKind::Verify(v) => {
                v.timeout_ms.saturating_mul(u64::from(v.runs.max(1))).saturating_add(VERIFY_GRACE_MS)
            }
            EffectKind::Tool(tool) => tool.action.time_ms().saturating_add(VERIFY_GRACE_MS),
            _ => LOOK_MS,
        };
        let class = match &kind {
            EffectKind::Ask(_) => Class::Person,
            EffectKind::Tool(tool) if !tool.action.only_reads() => Class::Acts,
            EffectKind::Accept(_) | EffectKind::Commit(_) => Class::ChangesWorld,
            _ => Class::Read,
        };
        let left = if beyond { BEYOND_MS } else { self.ledger.time_left(&accounts).unwrap_or(u64::MAX) };
        let effect = Effect {
            id: id.clone(),
            class,
            time_ms: (!person).then_some(left.min(wanted)),
            reserve: Reservation::default(),
            repeats,
            kind,
        };
        self.step.effects.push(effect.clone());
        let open = OpenEffect::new(effect, None);
        self.open.insert(id, Box::new(open));
        if let Some(parent) = node.parent().filter(|_| person) {
            self.pending.push_back(Pending::ChildWaits { parent, child: node });
        }
    }

    pub fn is_question(&self, effect: &EffectId) -> bool {
        self.open.get(effect).is_some_and(|o| matches!(o.effect.kind, EffectKind::Ask(_)))
    }

    pub fn person_said(&mut self, id: &EffectId, text: Digest, by: &str) {
        let Some(open) = self.open.remove(id) else { return };
        let node = id.node.clone();
        self.emit(&node, EventKind::PersonSaid { effect: id.clone(), by: by.to_owned(), text });
        if self.asked_about_conflicts() == Some(id) {
            return self.conflicts_decided(&open.effect.kind, &text);
        }
        let by = by.to_owned();
        self.tell(&node, |protocol, cx| protocol.task_done(id, TaskResult::Said { text, by }, cx));
    }

    pub fn task_replied(&mut self, effect: Effect, reply: &Reply, cancelled: bool) {
        let Effect { id, kind, .. } = effect;
        if self.delivery.as_ref() == Some(&id) {
            self.delivery = None;
            return self.save_replied(&kind, reply);
        }
        let node = id.node.clone();
        if self.mode == RunMode::Cancelling || self.has_ended(&node) {
            return;
        }
        let dispatch = self.dispatch_of(&id);
        if let Some(dispatch) = dispatch.as_ref().filter(|_| cancelled) {
            return self.hands_off(dispatch);
        }
        let learned = match (&kind, reply) {
            (EffectKind::Look(_), Reply::Looked(looked)) => {
                self.looked.insert(node.clone());
                TaskResult::Looked(looked.clone())
            }
            (EffectKind::Examine(_), Reply::Examined(examined)) => TaskResult::Examined(examined.clone()),
            (EffectKind::Verify(_), Reply::Verified(verified)) => TaskResult::Verified(verified.clone()),
            (EffectKind::Tool(_), Reply::Tool(done)) => TaskResult::Tool(done.clone()),
            (EffectKind::Survey(_), Reply::Surveyed(surveyed)) => TaskResult::Surveyed(surveyed.clone()),
            (
                EffectKind::Accept(_) | EffectKind::Commit(_),
                Reply::Accepted { paths, commit, merged, kept },
            ) => {
                let (paths, commit) = (paths.clone(), commit.clone());
                let (merged, kept) = (merged.clone(), kept.clone());
                self.emit(
                    &node,
                    EventKind::Accepted {
                        paths: paths.clone(),
                        commit: commit.clone(),
                        merged: merged.clone(),
                        kept: kept.clone(),
                    },
                );
                TaskResult::Accepted { paths, commit, merged, kept }
            }
            (EffectKind::Accept(_), Reply::Conflicts(conflicts)) => {
                self.emit(&node, EventKind::Conflicted { conflicts: conflicts.clone() });
                TaskResult::Conflicts(conflicts.clone())
            }
            (EffectKind::Accept(_) | EffectKind::Commit(_), Reply::Conflict { message }) => {
                TaskResult::NotAccepted { message: message.clone() }
            }
            (EffectKind::Commit(_), Reply::Failed(failure)) => {
                TaskResult::NotAccepted { message: failure.message.clone() }
            }
            _ if cancelled => return self.tell(&node, |protocol, cx| protocol.cancelled(&id, cx)),
            // The host stopped in the middle of it: nobody knows how far it came.
            (EffectKind::Tool(tool), Reply::Cancelled { sent: true }) if !tool.action.only_reads() => {
                return self.held.push_back(HeldWork::Lost { id, kind });
            }
            (_, Reply::Cancelled { .. }) => {
                return self.held.push_back(HeldWork::Task { id: None, node, kind, repeats: Some(id) });
            }
            (_, other) => {
                let failure = match other {
                    Reply::Failed(failure) => failure.clone(),
                    _ => bad_reply(format!("a {} got no proper reply", kind.name())),
                };
                return self.task_failed(id, kind, failure);
            }
        };
        match (dispatch, learned) {
            (Some(dispatch), TaskResult::Tool(done)) => self.hands_done(dispatch, &done),
            (_, learned) => self.tell(&node, |protocol, cx| protocol.task_done(&id, learned, cx)),
        }
    }

    /// A tool was at work when the process died.
    pub fn tool_lost(&mut self, id: &EffectId, kind: EffectKind) {
        let EffectKind::Tool(tool) = kind else { return };
        if let Some(dispatch) = self.dispatch_of(id) {
            return self.hands_lost(dispatch);
        }
        let node = id.node.clone();
        self.tell(&node, |protocol, cx| protocol.lost(id, tool, cx));
    }

    /// The run parks, and resuming tries again.
    fn task_failed(&mut self, id: EffectId, kind: EffectKind, failure: CallFailure) {
        let node = id.node.clone();
        let accounts = Self::accounts(&node, None);
        let shortage = self.ledger.out_of_time(&accounts);
        self.emit(&node, EventKind::Warned { message: format!("{}: {failure}", kind.name()) });
        self.held.push_back(HeldWork::Task { id: None, node: node.clone(), kind, repeats: Some(id) });
        match shortage {
            Some(shortage) if failure.kind == FailureKind::Timeout => self.short_of(&node, shortage),
            _ => self.park(&node, Outcome::Failed { failure }),
        }
    }

    /// Rule 3: a reader that wrote. What it changed was undone; its reply counts for nothing.
    pub fn violated(&mut self, id: &EffectId, call: CallSpec, paths: &[String]) {
        let (node, agent) = (id.node.clone(), call.agent.clone());
        self.emit(&node, EventKind::Violated { effect: id.clone(), agent, paths: paths.to_vec() });
        let because = format!("it changed files it may only read ({}); its reply is void", paths.join(", "));
        if call.role == Role::Critic && !call.own_failures {
            return self.critic_unusable(id, call, because);
        }
        self.call_failed(id, call, bad_reply(because), CallProgress::default());
    }
}

/// The texts a reply names: they have to come with it.
pub(super) fn named_texts(reply: &Reply) -> Vec<Digest> {
    match reply {
        Reply::Done(answer) => {
            let parts = answer.parts.iter().filter_map(Part::text);
            parts.chain(answer.report).collect()
        }
        Reply::Looked(looked) => {
            let tree = looked.tree.iter().flat_map(|tree| {
                let after = tree.changes.iter().filter(|c| !c.binary).filter_map(|c| c.after);
                after.chain([tree.digest, tree.diff])
            });
            let files = looked.files.iter().filter_map(|file| match file.what {
                FileContent::Text(d) => Some(d),
                FileContent::Opaque | FileContent::Missing => None,
            });
            tree.chain(files).collect()
        }
        Reply::Verified(verified) => verified.runs.iter().map(|r| r.output).collect(),
        Reply::Tool(done) => vec![done.shown],
        Reply::Surveyed(surveyed) => {
            surveyed.read.iter().map(|(_, text)| *text).chain([surveyed.listing]).collect()
        }
        _ => Vec::new(),
    }
}
