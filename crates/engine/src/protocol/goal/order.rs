//! The order of a goal's turns: caps, what people said, the worker; then giving up, a claim, the critic, the next turn.

use super::ending::Then;
use super::{Awaiting, GoalProtocol, Interruption, tag};
use crate::digest::Digest;
use crate::event::EventKind;
use crate::goal::{Claimant, Nudge};
use crate::machine::{Cx, LedTurn, cut_short, told};
use crate::outcome::{Halt, Outcome};
use crate::tool::{ToolAction, ToolUse, offered, policy};
use crate::tree::Look;
use crate::turn::Role;

const LOOK_FIRST: &str = "Your last change was never looked at. Check what it really did first (read it, run it), then call `claim_complete` again.";

impl GoalProtocol {
    /// A worker whose call was cut short by its bounds goes on, if it did anything. One that did nothing in all its time
    /// hangs, and its call has failed.
    pub(super) fn has_come_to_nothing(&mut self, before: Option<Digest>, cx: &mut Cx<'_>) -> bool {
        let Some(failed) = self.cut_short.take() else { return false };
        let is_same = self.tree.as_ref().map(|tree| tree.digest) == before;
        if self.steps_of_turn == 0 && is_same {
            self.awaiting = Awaiting::Worker;
            let (agent, role) = (self.settings.worker.clone(), Role::Worker);
            let (effect, failure) = (failed.effect.clone(), failed.failure.clone());
            cx.emit(EventKind::CallFailed { effect, agent, role, failure });
            cx.give_up(*failed);
            return true;
        }
        let because = cut_short(&failed.failure).unwrap_or_default().to_owned();
        self.tell_worker(told(&because), cx);
        cx.emit(EventKind::WentOn { agent: self.settings.worker.clone(), because });
        false
    }

    /// What the worker may use is known but for the servers' tools.
    pub(super) fn set_out(&mut self, cx: &mut Cx<'_>) {
        if !self.is_driven(cx) {
            return self.next_turn(cx);
        }
        self.offered = offered::builtin();
        self.offered.extend(offered::processes());
        self.offered.retain(|tool| !policy::is_denied(&self.settings.policy, &tool.name));
        self.offered.extend(offered::goal_end());
        if self.settings.servers.is_empty() {
            return self.next_turn(cx);
        }
        let servers = self.settings.servers.iter().map(|s| s.name.clone()).collect();
        self.awaiting = Awaiting::Servers;
        cx.tool(ToolUse { whole: true, ..ToolUse::new(ToolAction::McpTools { servers }, 0) });
    }

    /// The beginning of the turn order: caps, then what people said, then the worker.
    pub(super) fn next_turn(&mut self, cx: &mut Cx<'_>) {
        if let Some(shortage) = self.used_up(cx) {
            return self.stop(Then::Park(shortage), cx);
        }
        if self.is_due() {
            return self.look_to_try(cx);
        }
        self.tell_of_gone_processes(cx);
        let led = self.is_driven(cx);
        let words = std::mem::take(&mut self.words);
        let (messages, settled) =
            if led { self.driven_messages(cx) } else { self.autonomous_messages(&words, cx) };
        let last = self.last_messages("a cap is reached", cx);
        let worker = self.settings.worker.clone();
        let tools = led.then(|| self.tools(cx));
        if let Some(shortage) = cx.shortage(&[(&worker, &messages, tools), (&worker, &last, None)]) {
            self.words = words;
            return self.stop(Then::Park(shortage), cx);
        }
        self.parked_for = None;
        self.turns += 1;
        self.steps_of_turn = 0;
        self.guard.new_turn();
        let turn = LedTurn {
            agent: &worker,
            role: Role::Worker,
            messages,
            tools,
            tree: self.tree.as_ref().filter(|_| !led).map(|tree| tree.digest),
            tag: tag::WORK,
            kept: crate::budget::CapScope::All,
            settled,
            own: (!led).then(|| policy::OwnTools::of(&self.settings.policy)),
        };
        self.awaiting = Awaiting::Worker;
        cx.lead(turn);
    }

    /// The calls of a turn are through: giving up, then a claim, then the critic, then the next turn.
    pub(super) fn after_turn(&mut self, cx: &mut Cx<'_>) {
        if self.halted {
            return self.stop(Then::Halt(Halt::Guard), cx);
        }
        if let Some((reason, learned)) = self.gave_up.take() {
            cx.emit(EventKind::GaveUp { reason, learned });
            return self.end(Outcome::Aborted, cx);
        }
        if let Some((Claimant::Worker, _)) = &self.claim
            && self.unlooked
            && !self.told_to_look
        {
            self.claim = None;
            self.told_to_look = true;
            self.nudge(Nudge::LookFirst, LOOK_FIRST.to_owned(), cx);
        }
        if self.claim.is_some() {
            return self.look_at_claim(cx);
        }
        self.after_claim(cx);
    }

    pub(super) fn after_claim(&mut self, cx: &mut Cx<'_>) {
        if self.critic.asked {
            // Asked while a worker with tools of its own was at work: its word comes before the next turn.
            self.awaiting = Awaiting::Critic;
            return;
        }
        if self.is_critics_turn() {
            return self.call_critic(cx);
        }
        self.look_then_turn(cx);
    }

    /// A worker with tools of its own works on a recorded state; others leave nothing behind between turns.
    pub(super) fn look_then_turn(&mut self, cx: &mut Cx<'_>) {
        if self.is_driven(cx) {
            return self.next_turn(cx);
        }
        match self.interrupting.take() {
            Some(Interruption::Verify) => self.look_at_claim(cx),
            Some(Interruption::Cap(shortage)) => self.stop(Then::Park(shortage), cx),
            Some(Interruption::Halt) => self.stop(Then::Halt(Halt::Guard), cx),
            Some(Interruption::Words) | None => {
                self.awaiting = Awaiting::LookBefore;
                cx.look(Look { tree: None, paths: Vec::new() });
            }
        }
    }

    /// Something is over that kept the goal from going on.
    pub(super) fn go_on(&mut self, cx: &mut Cx<'_>) {
        if self.calls.is_empty() { self.after_turn(cx) } else { self.next_call(cx) }
    }
}
