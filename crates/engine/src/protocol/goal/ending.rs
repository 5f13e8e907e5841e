//! How a goal stops: at a cap, with the worker's last words, or for good.

use super::{Awaiting, GoalProtocol, settings, tag};
use crate::budget::{Account, Cap, CapScope, Shortage};
use crate::digest::Digest;
use crate::event::EventKind;
use crate::machine::{Cx, LedTurn};
use crate::outcome::{Halt, Outcome};
use crate::protocol::Protocol as _;
use crate::tree::Look;
use crate::turn::Role;

/// Last words that are being said.
pub(super) struct Saying {
    because: String,
    then: Then,
    /// How often the run had been resumed when they were asked for.
    resumes: u32,
}

/// What follows the last words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Then {
    /// What the goal waits for is held, and asked for again when it goes on.
    Hold(Shortage),
    Park(Shortage),
    Halt(Halt),
}

impl GoalProtocol {
    /// The cap that is reached, if one is.
    pub(super) fn used_up(&self, cx: &Cx<'_>) -> Option<Shortage> {
        let (spent, limits) = cx.spent();
        let reached = |cap, limit: Option<u32>, used: u32| {
            let limit = limit.filter(|limit| used >= *limit)?;
            let (limit, committed) = (u64::from(limit), u64::from(used));
            Some(Shortage { account: Account::Run, cap, limit, committed, wanted: 1 })
        };
        let time = limits.active_ms.filter(|limit| spent.active_ms >= *limit).map(|limit| Shortage {
            account: Account::Run,
            cap: Cap::Time,
            limit,
            committed: spent.active_ms,
            wanted: 1,
        });
        time.or_else(|| reached(Cap::Steps, limits.steps.or(Some(settings::STEPS)), self.n))
            .or_else(|| reached(Cap::Turns, limits.turns.or(Some(settings::TURNS)), self.turns))
    }

    /// A cap is in the way of what the goal waits for.
    pub(super) fn held_up(&mut self, shortage: Shortage, cx: &mut Cx<'_>) {
        if let Awaiting::LastLook(outcome) = &self.awaiting {
            // How it ended does not depend on a look.
            return cx.finish(outcome.clone());
        }
        if let Some(trying) = self.trying.take() {
            // Interrupted while it was tried, and there is no time for it now.
            return self.have_last_words(trying.then(), cx);
        }
        if self.saying.is_some() {
            // Interrupted while it spoke: what follows the words is decided.
            return cx.out_of_budget(shortage);
        }
        self.stop(Then::Hold(shortage), cx);
    }

    /// The goal is stopped. If what was asked for holds, it is reached all the same.
    pub(super) fn stop(&mut self, then: Then, cx: &mut Cx<'_>) {
        if self.saying.is_none() && self.is_worth_trying(cx) {
            return self.try_at_cap(then, cx);
        }
        self.have_last_words(then, cx);
    }

    /// The worker explains itself once, without tools.
    pub(super) fn have_last_words(&mut self, then: Then, cx: &mut Cx<'_>) {
        let because = match &then {
            Then::Hold(shortage) | Then::Park(shortage) => shortage.to_string(),
            Then::Halt(_) => "the same calls were blocked again and again".to_owned(),
        };
        let explained = self.has_explained(&then);
        let messages = self.last_messages(&because, cx);
        let worker = self.settings.worker.clone();
        let affordable = cx.affords_last_words(&worker, &messages);
        if !matches!(then, Then::Hold(_)) {
            self.awaiting = Awaiting::Nothing;
        }
        if self.saying.replace(Saying { because, then, resumes: cx.resumes() }).is_some() {
            // They are under way: a resume let the goal go on beside them, and it did not get far.
            return;
        }
        if explained || !affordable {
            return self.last_words(None, cx);
        }
        cx.lead(LedTurn {
            agent: &worker,
            role: Role::Advisor,
            messages,
            tools: None,
            tree: None,
            tag: tag::LAST_WORDS,
            kept: CapScope::MoneyOnly,
            settled: 0,
            own: None,
        });
    }

    /// The worker has said its last words about this cap, and it was not raised since. What it has used may be more
    /// now: the last words themselves cost time and money.
    pub(super) fn has_explained(&self, then: &Then) -> bool {
        match (then, &self.parked_for) {
            (Then::Hold(now) | Then::Park(now), Some(before)) => {
                // The goal's own time is the run's as well.
                let same_account = now.cap == Cap::Time || now.account == before.account;
                same_account && (now.cap, now.limit) == (before.cap, before.limit)
            }
            _ => false,
        }
    }

    pub(super) fn last_words(&mut self, text: Option<Digest>, cx: &mut Cx<'_>) {
        let Some(Saying { because, then, resumes }) = self.saying.take() else { return };
        if text.is_some() || !self.has_explained(&then) {
            cx.emit(EventKind::LastWords { because: because.clone(), text });
        }
        // Interrupted while it spoke, and resumed, perhaps with more: the caps are asked anew.
        let is_overtaken = resumes != cx.resumes();
        match then {
            Then::Hold(shortage) => {
                self.parked_for = Some(shortage.clone());
                // What was held has been asked for again by the resume, and a cap in its way been told of.
                if !is_overtaken {
                    cx.out_of_budget(shortage);
                }
            }
            Then::Park(shortage) => {
                self.parked_for = Some(shortage.clone());
                if is_overtaken {
                    return self.go_on(cx);
                }
                cx.park(Outcome::OutOfBudget { shortage });
            }
            Then::Halt(reason) => {
                self.end(Outcome::Halted { reason, draft: self.draft(), open: vec![because] }, cx);
            }
        }
    }

    /// The goal is over.
    pub(super) fn end(&mut self, outcome: Outcome, cx: &mut Cx<'_>) {
        // How it ended does not depend on the time for a look.
        let out_of_time = self.used_up(cx).is_some_and(|used| used.cap == Cap::Time);
        if self.settings.acceptance.is_some() || out_of_time {
            return cx.finish(outcome);
        }
        self.awaiting = Awaiting::LastLook(outcome);
        cx.look(Look { tree: None, paths: Vec::new() });
    }
}
