//! How a goal stops: at a cap, with the worker's last words, or for good.

use super::{Awaiting, Then, Watch, settings, tag};
use crate::budget::{Account, Cap, Shortage};
use crate::digest::Digest;
use crate::event::Happened;
use crate::machine::{Cx, LedTurn};
use crate::outcome::Outcome;
use crate::protocol::Protocol as _;
use crate::tree::Look;
use crate::turn::Role;

impl Watch {
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

    /// The goal is stopped; the worker explains itself once, without tools.
    pub(super) fn stop(&mut self, then: Then, cx: &mut Cx<'_>) {
        let because = match &then {
            Then::Park(shortage) => shortage.to_string(),
            Then::Halt(_) => "the same calls were blocked again and again".to_owned(),
        };
        let explained = self.has_explained(&then);
        let messages = self.last_messages(&because, cx);
        let worker = self.settings.worker.clone();
        let affordable = cx.shortage(&[(&worker, &messages, None)]).is_none_or(|s| s.cap == Cap::Time);
        self.awaiting = Awaiting::LastWords { because, then };
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
            kept: crate::budget::Kept::Money,
        });
    }

    /// The worker has said its last words about this cap, and it was not raised since. What it has used may be more
    /// now: the last words themselves cost time and money.
    pub(super) fn has_explained(&self, then: &Then) -> bool {
        match (then, &self.parked_for) {
            (Then::Park(now), Some(before)) => {
                (&now.account, now.cap, now.limit) == (&before.account, before.cap, before.limit)
            }
            _ => false,
        }
    }

    pub(super) fn last_words(&mut self, text: Option<Digest>, cx: &mut Cx<'_>) {
        let Awaiting::LastWords { because, then } = std::mem::replace(&mut self.awaiting, Awaiting::Nothing)
        else {
            return;
        };
        if text.is_some() || !self.has_explained(&then) {
            cx.emit(Happened::LastWords { because: because.clone(), text });
        }
        match then {
            Then::Park(shortage) => {
                self.parked_for = Some(shortage.clone());
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
