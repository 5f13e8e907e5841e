//! The critic: when it is asked, what it sees, and what its word leads to. A critic that cannot be read or reached
//! never interrupts a worker at work, and is never passed over in silence.

use super::{Awaiting, GoalProtocol, Interruption, Then, tag, verdict};
use crate::budget::CapScope;
use crate::effect::CallFailure;
use crate::event::EventKind;
use crate::goal::{Claimant, GoalStep, Nudge, ProgressVerdict, cut};
use crate::machine::{Cx, LedTurn};
use crate::turn::Role;

/// Verdicts in a row that stop a goal, replies that cannot be read and failures that switch the critic off.
const STUCK: u32 = 3;
const UNREADABLE: u32 = 3;
const UNREACHABLE: u32 = 3;
/// How a worker with tools of its own gives up: it has a line for it, and no tool.
pub(super) const NO_IDEA_LEFT: &str =
    "If you have no idea left, end your reply with an `ABORT_WITH_REPORT: ` line and a `LEARNED: ` line.";
/// Repeated steps that are named to the worker.
const NAMED: usize = 3;
const NAMED_ARGS: usize = 400;

impl GoalProtocol {
    pub(super) fn is_critics_turn(&self) -> bool {
        let due = self.unwatched >= self.settings.interval || self.critic.at_once;
        self.settings.critic.is_some() && self.settings.interval > 0 && !self.critic.off && due
    }

    pub(super) fn ask_critic(&mut self, cx: &mut Cx<'_>) {
        let Some(critic) = self.settings.critic.clone() else { return };
        let size = usize::try_from(self.settings.interval).unwrap_or(0).saturating_mul(2);
        let window: Vec<GoalStep> = self.steps.iter().rev().take(size).rev().cloned().collect();
        let (messages, settled) = self.critic_messages(&window, cx);
        let worker = self.settings.worker.clone();
        let last = self.last_messages("a cap is reached", cx);
        if let Some(shortage) = cx.shortage(&[(&critic, &messages, None), (&worker, &last, None)]) {
            // What is under way is paid for. After it the worker says how far it came; nobody goes on unwatched.
            if !matches!(self.awaiting, Awaiting::Worker) {
                self.stop(Then::Park(shortage), cx);
            }
            return;
        }
        self.critic.shown = (window.first().map_or(0, |s| s.n), window.last().map_or(0, |s| s.n));
        (self.unwatched, self.critic.at_once) = (0, false);
        let turn = LedTurn {
            agent: &critic,
            role: Role::Critic,
            messages,
            tools: None,
            tree: None,
            tag: tag::WATCH,
            kept: CapScope::All,
            settled,
            own: None,
        };
        self.critic.asked = true;
        cx.lead(turn);
    }

    pub(super) fn critic_said(&mut self, reply: &str, cx: &mut Cx<'_>) {
        self.critic.asked = false;
        self.critic.unreachable = 0;
        match verdict::read(reply) {
            Ok((verdict, reason)) => {
                self.critic.unreadable = 0;
                self.rail(verdict, reason.clone(), cx);
                self.heed(verdict, &reason, cx);
            }
            Err(problem) => {
                self.critic.unreadable += 1;
                self.rail(ProgressVerdict::Error, problem, cx);
                let enough = self.critic.unreadable >= UNREADABLE;
                self.without_verdict(enough, "three replies in a row could not be read", cx);
            }
        }
    }

    pub(super) fn critic_failed(&mut self, failure: &CallFailure, cx: &mut Cx<'_>) {
        self.critic.asked = false;
        self.critic.unreachable += 1;
        self.rail(ProgressVerdict::Error, failure.to_string(), cx);
        let enough = self.critic.unreachable >= UNREACHABLE;
        self.without_verdict(enough, "three calls in a row failed", cx);
    }

    fn rail(&self, verdict: ProgressVerdict, reason: String, cx: &mut Cx<'_>) {
        let (from, to) = self.critic.shown;
        let critic = self.settings.critic.clone().unwrap_or_default();
        cx.emit(EventKind::Watched { critic, verdict, reason, from, to });
    }

    /// The worker goes on; nobody knows better.
    fn without_verdict(&mut self, enough: bool, because: &str, cx: &mut Cx<'_>) {
        if enough && self.settings.strict_critic && !self.is_being_decided() {
            // A person decides; then it is asked anew.
            (self.critic.unreadable, self.critic.unreachable) = (0, 0);
            let because = format!("The critic is of no use: {because}.");
            return self.pause_or_interrupt(&because, cx);
        }
        if enough && !self.settings.strict_critic {
            self.critic.off = true;
            let critic = self.settings.critic.clone().unwrap_or_default();
            cx.emit(EventKind::CriticOff { critic, because: because.to_owned() });
        }
        self.watched(cx);
    }

    fn heed(&mut self, verdict: ProgressVerdict, reason: &str, cx: &mut Cx<'_>) {
        self.critic.stuck = if verdict == ProgressVerdict::Stuck { self.critic.stuck + 1 } else { 0 };
        match verdict {
            ProgressVerdict::Progressing | ProgressVerdict::Error => self.watched(cx),
            ProgressVerdict::Achieved if self.is_being_decided() => {}
            ProgressVerdict::Stuck if self.critic.stuck >= STUCK && !self.is_being_decided() => {
                let because = format!(
                    "The critic says for the {} time in a row that the worker is stuck: {reason}",
                    nth(self.critic.stuck)
                );
                self.pause_or_interrupt(&because, cx);
            }
            ProgressVerdict::Stuck => {
                let words = self.stuck_words(reason, cx);
                self.nudge(Nudge::Stuck, words, cx);
                self.broken_off(Interruption::Words, cx);
            }
            ProgressVerdict::Misled => {
                let goal = cx.text(&self.settings.goal).to_owned();
                let words = format!(
                    "CRITIC: You have drifted from the goal. {reason}\n\nORIGINAL GOAL:\n{goal}\n\nCome back to it, and leave everything else aside."
                );
                let words = words + &self.note_drift(cx);
                self.nudge(Nudge::Misled, words, cx);
                self.broken_off(Interruption::Words, cx);
            }
            ProgressVerdict::Achieved => {
                self.claim = Some((Claimant::Critic, reason.to_owned()));
                self.broken_off(Interruption::Verify, cx);
            }
        }
    }

    /// A claim is being verified, or a person is asked: what comes of that is not pushed aside.
    const fn is_being_decided(&self) -> bool {
        !matches!(self.awaiting, Awaiting::Worker | Awaiting::Critic | Awaiting::LookBefore)
    }

    /// Goes on after the critic's word. A worker with tools of its own that is at work is broken off first.
    fn broken_off(&mut self, why: Interruption, cx: &mut Cx<'_>) {
        if matches!(self.awaiting, Awaiting::Worker) {
            return self.interrupt(why, cx);
        }
        self.watched(cx);
    }

    fn pause_or_interrupt(&mut self, because: &str, cx: &mut Cx<'_>) {
        if let Some(worker) = cx.at_work(Role::Worker) {
            cx.cancel(&worker);
        }
        self.pause(because, cx);
    }

    /// The critic's word is dealt with. If the worker is at work meanwhile there is nothing to do.
    fn watched(&mut self, cx: &mut Cx<'_>) {
        if !matches!(self.awaiting, Awaiting::Critic) {
            return;
        }
        if self.claim.is_some() {
            return self.look_at_claim(cx);
        }
        self.look_then_turn(cx);
    }

    fn stuck_words(&self, reason: &str, cx: &Cx<'_>) -> String {
        let mut words = format!("CRITIC: You appear to be stuck. {reason}\n\n");
        if self.critic.stuck >= 2 {
            words.push_str(
                "This is the second time in a row. These steps brought nothing new; do not repeat them:\n",
            );
            for line in self.repeated() {
                words.push_str("- ");
                words.push_str(&line);
                words.push('\n');
            }
            words.push('\n');
        }
        words.push_str(
            "Step back. Is this the right tool? Is an assumption of yours wrong? Is there a simpler way? ",
        );
        words.push_str(if self.is_driven(cx) {
            "If you have no idea left, call `abort_with_report`."
        } else {
            NO_IDEA_LEFT
        });
        words
    }

    /// The steps of the window that were made most often, or else the last ones.
    fn repeated(&self) -> Vec<String> {
        let mut counted: Vec<(String, usize)> = Vec::new();
        for step in &self.steps {
            let what = format!("{}({}) → {}", step.tool, cut(&step.args, NAMED_ARGS), step.end.name());
            match counted.iter_mut().find(|(known, _)| *known == what) {
                Some((_, times)) => *times += 1,
                None => counted.push((what, 1)),
            }
        }
        let mut often: Vec<(String, usize)> =
            counted.iter().filter(|(_, times)| *times > 1).cloned().collect();
        often.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        if often.is_empty() {
            return self.steps.iter().rev().take(NAMED).map(GoalStep::listed).collect();
        }
        often.into_iter().take(NAMED).map(|(what, times)| format!("{what}, {times} times")).collect()
    }
}

fn nth(n: u32) -> String {
    match n {
        3 => "third".to_owned(),
        other => format!("{other}th"),
    }
}
