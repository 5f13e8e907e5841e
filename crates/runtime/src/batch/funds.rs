//! The batch's money: a loop's worst case is held back before it starts and settled when it is over.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gadfly_engine::budget::{Account, Ledger, Reservation};
use gadfly_engine::{EffectId, Limits, Money, NodePath};
use gadfly_journal::RunId;
use tokio::sync::Notify;

/// Without a budget nothing is held back and everything is affordable.
pub struct Funds {
    ledger: Option<Mutex<FundsState>>,
    freed: Notify,
}

struct FundsState {
    ledger: Ledger,
    under_way: usize,
}

/// Whether a loop may start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Affordable {
    Yes,
    /// Others are under way and may cost less than is held back for them.
    Later,
    No,
}

impl Funds {
    pub fn new(budget: Option<Money>, spent: Money) -> Self {
        let ledger = budget.map(|cap| {
            let mut ledger = Ledger::default();
            let before = EffectId { node: NodePath::root(), n: 0 };
            // Counted before there is a cap, so that having overspent is not refused but remembered.
            let _ = ledger.reserve(&before, vec![Account::Run], Reservation::default());
            ledger.settle(&before, 0, spent);
            ledger.limit(Account::Run, Limits { money: Some(cap), ..Limits::default() });
            Mutex::new(FundsState { ledger, under_way: 0 })
        });
        Self { ledger, freed: Notify::new() }
    }

    pub const fn is_capped(&self) -> bool {
        self.ledger.is_some()
    }

    /// Holds back a loop's worst case.
    pub fn reserve(&self, run: &RunId, worst: Money) -> Affordable {
        let Some(mut held) = self.held() else { return Affordable::Yes };
        let wanted = Reservation { tokens: 0, money: worst };
        match held.ledger.reserve(&effect(run), vec![Account::Run], wanted) {
            Ok(()) => {
                held.under_way += 1;
                Affordable::Yes
            }
            Err(_) if held.under_way > 0 => Affordable::Later,
            Err(_) => Affordable::No,
        }
    }

    /// Puts what a loop really cost in the place of what was held back for it.
    pub fn settle(&self, run: &RunId, cost: Money) {
        let Some(mut held) = self.held() else { return };
        held.ledger.settle(&effect(run), 0, cost);
        held.under_way = held.under_way.saturating_sub(1);
        drop(held);
        self.freed.notify_waiters();
    }

    /// Resolves at the next settlement after this was called and first polled.
    pub fn freed(&self) -> tokio::sync::futures::Notified<'_> {
        self.freed.notified()
    }

    fn held(&self) -> Option<MutexGuard<'_, FundsState>> {
        self.ledger.as_ref().map(|m| m.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn effect(run: &RunId) -> EffectId {
    EffectId { node: NodePath(run.to_string().into()), n: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(n: u8) -> RunId {
        RunId::derived(&gadfly_engine::Digest::of(&[n]))
    }

    #[test]
    fn a_loop_waits_while_others_may_give_money_back_and_is_refused_when_none_can() {
        let funds = Funds::new(Some(Money(10)), Money(0));
        assert_eq!(funds.reserve(&run(1), Money(6)), Affordable::Yes);
        assert_eq!(funds.reserve(&run(2), Money(6)), Affordable::Later);
        funds.settle(&run(1), Money(3));
        assert_eq!(funds.reserve(&run(2), Money(6)), Affordable::Yes);
        funds.settle(&run(2), Money(6));
        assert_eq!(funds.reserve(&run(3), Money(2)), Affordable::No);
        assert_eq!(funds.reserve(&run(3), Money(1)), Affordable::Yes);
    }

    #[test]
    fn what_was_spent_before_counts() {
        assert_eq!(Funds::new(Some(Money(10)), Money(8)).reserve(&run(1), Money(3)), Affordable::No);
        assert_eq!(Funds::new(Some(Money(10)), Money(80)).reserve(&run(1), Money(1)), Affordable::No);
        // Sabotage: forgotten, it would be spent a second time.
        assert_eq!(Funds::new(Some(Money(10)), Money(0)).reserve(&run(1), Money(3)), Affordable::Yes);
    }

    #[test]
    fn without_a_budget_everything_may_start() {
        assert_eq!(Funds::new(None, Money(0)).reserve(&run(1), Money(u64::MAX)), Affordable::Yes);
    }
}
