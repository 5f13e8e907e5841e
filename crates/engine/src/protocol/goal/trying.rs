//! The criterion is tried although nobody claimed anything, as far as that costs nothing: before the first call, so that
//! nothing is paid for what holds already or cannot be checked here; now and then where it is quick, so that nobody works
//! on after it holds; and where a cap ends the goal, so that what holds is never called unverified.

use super::people::{self, Asking};
use super::verifying::{CheckReason, Checking};
use super::{Awaiting, Criterion, GoalProtocol, Then};
use crate::effect::{EffectId, EffectKind};
use crate::event::EventKind;
use crate::goal::{Already, CriterionTrial};
use crate::machine::{Cx, TaskResult};
use crate::outcome::Outcome;
use crate::tree::{IN_SANDBOX, Look, RunEnd, Verified};
use crate::turn::Role;

/// What shells answer with when there is no such command, or when it may not be executed.
const NOT_FOUND: [RunEnd; 2] = [RunEnd::Code(127), RunEnd::Code(126)];

/// Steps from one try to the next, and half of those before it: a try looks at everything that was changed, so that in a
/// long goal many of them would cost more than they save.
const EVERY: u32 = 10;
/// A criterion whose commands took longer than this together is not tried between.
const QUICK_MS: u64 = 10_000;

/// The criterion being tried before a cap ends the goal.
pub(super) struct Trying {
    /// What it waits for.
    pub effect: EffectId,
    pub checking: Checking,
    /// The folder is looked at first.
    pub looking: bool,
}

impl Trying {
    /// What follows if it does not hold.
    pub fn then(self) -> Then {
        match self.checking.why {
            CheckReason::Cap(then) => then,
            CheckReason::Claim(_) | CheckReason::First | CheckReason::Interval => {
                Then::Halt(crate::outcome::Halt::Stuck)
            }
        }
    }
}

impl Checking {
    pub fn new(why: CheckReason) -> Self {
        Self {
            why,
            rationale: String::new(),
            known: Vec::new(),
            could_not_run: false,
            failed_once: None,
            fresh: None,
            holds: None,
        }
    }

    /// At a cap the clock may have run out: what is needed to tell how the goal stands is done beyond it.
    pub fn task(&self, kind: EffectKind, cx: &mut Cx<'_>) -> EffectId {
        match self.why {
            CheckReason::Cap(_) => cx.task_beyond_clock(kind),
            CheckReason::Claim(_) | CheckReason::First | CheckReason::Interval => cx.task(kind),
        }
    }
}

impl GoalProtocol {
    fn costs_nothing(&self) -> bool {
        self.settings.already.is_some() && self.settings.until.leaves().into_iter().any(Criterion::is_free)
    }

    pub(super) fn try_first(&mut self, cx: &mut Cx<'_>) {
        if self.costs_nothing() {
            self.check_took_ms = Some(0);
            self.check_next(Checking::new(CheckReason::First), cx);
        } else {
            self.set_out(cx);
        }
    }

    pub(super) fn is_met_already(&mut self, detail: String, cx: &mut Cx<'_>) {
        cx.emit(EventKind::CriterionTried { found: CriterionTrial::Met, detail: detail.clone() });
        match self.settings.already {
            Some(Already::Stop) => self.end_as_met(detail, cx),
            Some(Already::Ask) => {
                let question = people::already(&detail);
                self.ask(Asking::Already { detail }, question, cx);
            }
            Some(Already::Work) | None => self.set_out(cx),
        }
    }

    /// Nothing was done and nothing is delivered.
    pub(super) fn end_as_met(&mut self, detail: String, cx: &mut Cx<'_>) {
        // Nobody tries it before the folder was looked at; without that there is nothing to stand on.
        let Some(draft) = self.tree.as_ref().map(|tree| tree.digest) else { return self.set_out(cx) };
        self.already_met = true;
        cx.emit(EventKind::GoalVerified { detail });
        cx.finish(Outcome::Approved { draft, overruled: false, notes: Vec::new() });
    }

    /// It was tried, and does not hold.
    pub(super) fn is_not_met(&mut self, checking: Checking, detail: String, cx: &mut Cx<'_>) {
        self.not_met = self.tree.as_ref().map(|tree| tree.digest);
        let found = if checking.could_not_run { CriterionTrial::CannotRun } else { CriterionTrial::NotMet };
        cx.emit(EventKind::CriterionTried { found, detail });
        match checking.why {
            CheckReason::Cap(then) => self.have_last_words(then, cx),
            CheckReason::Interval => self.next_turn(cx),
            CheckReason::Claim(_) | CheckReason::First => self.set_out(cx),
        }
    }

    /// Whether it is time to see whether the goal is reached without anybody having noticed.
    pub(super) fn is_due(&self) -> bool {
        self.costs_nothing()
            && self.n >= self.tried_at.saturating_add(EVERY + self.tried_at / 2)
            && self.check_took_ms.is_some_and(|took| took <= QUICK_MS)
    }

    pub(super) fn look_to_try(&mut self, cx: &mut Cx<'_>) {
        self.tried_at = self.n;
        self.awaiting = Awaiting::LookToTry;
        cx.look(Look { tree: None, paths: Vec::new() });
    }

    /// The folder was looked at, to try the criterion on it.
    pub(super) fn try_between(&mut self, cx: &mut Cx<'_>) {
        if self.tree.as_ref().map(|tree| tree.digest) == self.not_met {
            return self.next_turn(cx);
        }
        self.check_took_ms = Some(0);
        self.check_next(Checking::new(CheckReason::Interval), cx);
    }

    /// Not while somebody works in the folder, and not before anybody did.
    pub(super) fn is_worth_trying(&self, cx: &Cx<'_>) -> bool {
        self.costs_nothing() && self.turns > 0 && self.trying.is_none() && cx.at_work(Role::Worker).is_none()
    }

    pub(super) fn try_at_cap(&mut self, then: Then, cx: &mut Cx<'_>) {
        let checking = Checking::new(CheckReason::Cap(then));
        let effect = checking.task(EffectKind::Look(Look { tree: None, paths: Vec::new() }), cx);
        self.trying = Some(Trying { effect, checking, looking: true });
    }

    /// What came of an effect of the try at a cap.
    pub(super) fn tried(&mut self, trying: Trying, what: TaskResult, cx: &mut Cx<'_>) {
        let Trying { checking, looking, .. } = trying;
        match what {
            TaskResult::Looked(looked) if looking => {
                self.tree = looked.tree.or_else(|| self.tree.take());
                let now = self.tree.as_ref().map(|tree| tree.digest);
                let asks_others = |leaf: &&Criterion| matches!(leaf, Criterion::Http { .. });
                let may_differ = self.settings.until.leaves().iter().any(asks_others);
                if now == self.not_met && !may_differ {
                    return self
                        .have_last_words(Trying { checking, looking, effect: trying.effect }.then(), cx);
                }
                self.check_next(checking, cx);
            }
            TaskResult::Looked(looked) => self.file_seen(checking, &looked, cx),
            TaskResult::Verified(verified) => self.command_ran(checking, &verified, cx),
            TaskResult::Tool(done) => self.check_done(checking, &done, cx),
            TaskResult::Examined(examined) => self.examined(checking, &examined, cx),
            _ => self.trying = Some(Trying { checking, looking, effect: trying.effect }),
        }
    }
}

/// Whether a command of the criterion could be run at all, as far as its end and its output tell.
pub(super) fn could_run(verified: &Verified, output: &str) -> bool {
    let not_found = verified.runs.last().is_some_and(|run| NOT_FOUND.contains(&run.end));
    !not_found && !output.contains(IN_SANDBOX)
}
