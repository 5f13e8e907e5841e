//! The ledger: what may still be spent, whoever asks at the same time.

use super::*;

fn id(n: u32) -> EffectId {
    EffectId { node: NodePath::root(), n }
}

fn worst(tokens: u64) -> Reservation {
    Reservation { tokens, money: Money(tokens) }
}

fn capped(limits: Limits) -> Ledger {
    let mut ledger = Ledger::default();
    ledger.limit(Account::Run, limits);
    ledger
}

fn tokens(n: u64) -> Limits {
    Limits { tokens: Some(n), ..Limits::default() }
}

/// Two calls at the same time, each of which uses what it reserved. What was spent in the end.
fn two_at_once(reserved: Reservation) -> u64 {
    let mut ledger = capped(tokens(100));
    let sent: Vec<EffectId> =
        (1..=2).map(id).filter(|e| ledger.reserve(e, vec![Account::Run], reserved).is_ok()).collect();
    for effect in sent {
        ledger.settle(&effect, 60, Money(60));
    }
    ledger.spent(&Account::Run).tokens
}

#[test]
fn two_calls_at_once_stay_within_the_cap() {
    assert!(two_at_once(worst(60)) <= 100);
}

/// Sabotage: if a call reserved nothing, both would be let through.
#[test]
fn without_the_reservation_two_calls_overshoot() {
    assert!(two_at_once(worst(0)) > 100);
}

#[test]
fn a_call_is_charged_to_every_account_or_to_none() {
    let (run, agent) = (Account::Run, Account::Agent("ann".into()));
    let mut ledger = capped(tokens(100));
    ledger.limit(agent.clone(), tokens(30));
    let short = ledger.reserve(&id(1), vec![run.clone(), agent.clone()], worst(40)).unwrap_err();
    assert_eq!((short.account, short.cap, short.limit, short.wanted), (agent.clone(), Cap::Tokens, 30, 40));
    assert_eq!((ledger.reserved(&run), ledger.spent(&run)), (Reservation::default(), Spent::default()));

    ledger.reserve(&id(2), vec![run.clone(), agent.clone()], worst(30)).unwrap();
    assert_eq!(ledger.reserved(&run), worst(30));
    assert_eq!(ledger.settle(&id(2), 10, Money(10)), None);
    assert_eq!((ledger.spent(&run).tokens, ledger.spent(&agent).tokens), (10, 10));
    assert_eq!(ledger.reserved(&run), Reservation::default());
}

#[test]
fn an_overrun_is_told_and_stops_what_comes_next() {
    let mut ledger = capped(Limits { money: Some(Money(50)), ..tokens(1000) });
    ledger.reserve(&id(1), vec![Account::Run], worst(40)).unwrap();
    let over = ledger.settle(&id(1), 70, Money(70)).unwrap();
    assert_eq!((over.cap, over.limit, over.committed), (Cap::Money, 50, 70));
    assert!(ledger.reserve(&id(2), vec![Account::Run], worst(0)).is_err());
}

#[test]
fn what_is_lost_counts_as_its_worst_case_and_what_never_left_as_nothing() {
    let mut ledger = capped(tokens(100));
    ledger.reserve(&id(1), vec![Account::Run], worst(60)).unwrap();
    ledger.release(&id(1));
    assert_eq!(ledger.spent(&Account::Run), Spent::default());

    ledger.reserve(&id(2), vec![Account::Run], worst(60)).unwrap();
    ledger.lose(&id(2), Reservation::default());
    let spent = ledger.spent(&Account::Run);
    assert_eq!((spent.tokens, spent.calls, spent.unknown), (60, 1, true));
    assert!(ledger.reserve(&id(3), vec![Account::Run], worst(60)).is_err());
}

#[test]
fn a_reservation_is_settled_once() {
    let mut ledger = capped(tokens(100));
    ledger.reserve(&id(1), vec![Account::Run], worst(60)).unwrap();
    for _ in 0..3 {
        ledger.settle(&id(1), 10, Money(0));
        ledger.lose(&id(1), Reservation::default());
        ledger.release(&id(1));
    }
    assert_eq!((ledger.spent(&Account::Run).tokens, ledger.spent(&Account::Run).calls), (10, 1));
}

#[test]
fn zero_means_nothing_at_all() {
    for limits in [
        tokens(0),
        Limits { money: Some(Money(0)), ..Limits::default() },
        Limits { calls: Some(0), ..Limits::default() },
        Limits { active_ms: Some(0), ..Limits::default() },
    ] {
        assert!(capped(limits).reserve(&id(1), vec![Account::Run], worst(1)).is_err(), "{limits:?}");
    }
}

#[test]
fn time_left_is_the_least_over_all_accounts() {
    let node = Account::Node(NodePath::root());
    let accounts = [Account::Run, node.clone()];
    let mut ledger = capped(Limits { active_ms: Some(100), ..Limits::default() });
    ledger.limit(node.clone(), Limits { active_ms: Some(40), ..Limits::default() });
    assert_eq!((ledger.time_left(&accounts), ledger.out_of_time(&accounts)), (Some(40), None));
    ledger.tick(&accounts, 50);
    assert_eq!(ledger.time_left(&accounts), Some(0));
    assert_eq!(ledger.out_of_time(&accounts).map(|s| (s.account, s.cap)), Some((node, Cap::Time)));
}

#[test]
fn raised_caps_replace_those_they_name() {
    let mut ledger = capped(Limits { calls: Some(1), ..tokens(10) });
    ledger.raise(&Account::Run, tokens(500));
    assert!(ledger.reserve(&id(1), vec![Account::Run], worst(400)).is_ok());
    assert!(ledger.reserve(&id(2), vec![Account::Run], worst(1)).is_err(), "the cap on calls is still one");
}

#[test]
fn sums_never_wrap() {
    let mut ledger = capped(tokens(u64::MAX));
    for n in 1..=3 {
        ledger.reserve(&id(n), vec![Account::Run], worst(u64::MAX / 2)).ok();
        ledger.settle(&id(n), u64::MAX, Money(u64::MAX));
    }
    assert_eq!(ledger.spent(&Account::Run).tokens, u64::MAX);
    let huge = Usage { input: u64::MAX, output: u64::MAX, ..Usage::default() };
    let price = Price { input: 3000, output: 15_000, ..Price::default() };
    assert_eq!((huge.tokens(), huge.cost_at(Some(&price))), (u64::MAX, Money(u64::MAX)));
}

#[test]
fn a_price_row_decides_unless_the_agent_states_its_cost() {
    let price = Price { input: 3000, output: 15_000, cache_read: 300, cache_write: 3750, ..Price::default() };
    let used = Usage { input: 1000, output: 100, cache_read: 10, cache_write: 1, ..Usage::default() };
    assert_eq!(used.cost_at(Some(&price)), Money(3_000_000 + 1_500_000 + 3_000 + 3_750));
    assert_eq!(Usage { cost: Some(Money(7)), ..used }.cost_at(Some(&price)), Money(7));
    assert_eq!(used.cost_at(None), Money(0));
}

#[test]
fn what_is_not_stated_is_estimated_as_reservations_are_and_what_is_stated_stays() {
    let none = Usage::default().or_estimated(1000, 40);
    assert_eq!((none.input, none.output, none.estimated), (564, 20, true));
    let stated = Usage { input: 7, output: 3, ..Usage::default() };
    assert_eq!(stated.or_estimated(1000, 40), stated);
    let half = Usage { cache_read: 7, ..Usage::default() }.or_estimated(1000, 40);
    assert_eq!((half.input, half.cache_read, half.output, half.estimated), (0, 7, 20, true));
    assert!(
        !Usage { input: 7, ..Usage::default() }.or_estimated(1000, 0).estimated,
        "nothing came: nothing is missing"
    );
}

#[test]
fn an_estimate_counts_against_caps_and_leaves_totals_unknown() {
    let (mut ledger, one) = (Ledger::default(), id(1));
    ledger.limit(Account::Run, tokens(100));
    ledger.reserve(&one, vec![Account::Run], Reservation { tokens: 60, money: Money(0) }).unwrap();
    assert_eq!(ledger.settle_estimated(&one, 60, Money(5)), None);
    let spent = ledger.spent(&Account::Run);
    assert_eq!((spent.tokens, spent.money, spent.unknown), (60, Money(5), true));
    let next = Reservation { tokens: 41, money: Money(0) };
    assert!(ledger.reserve(&id(2), vec![Account::Run], next).is_err(), "it counts");
}

#[test]
fn a_long_prompt_has_its_own_price_for_all_its_tokens() {
    let long = LongPrice { above: 100, input: 20, output: 30, cache_read: 2, cache_write: 25 };
    let price =
        Price { input: 10, output: 15, cache_read: 1, cache_write: 12, long: Some(long), ..Price::default() };
    let cost = |input, cache_read, output| {
        Usage { input, output, cache_read, ..Usage::default() }.cost_at(Some(&price)).0
    };
    assert_eq!(cost(100, 0, 2), 1030, "up to the bound");
    assert_eq!(cost(101, 0, 2), 2080, "beyond it");
    assert_eq!(cost(60, 41, 2), 60 * 20 + 41 * 2 + 60, "cached tokens are part of the prompt");
    assert_eq!(price.worst(101, 1), Money(101 * 25 + 30));
    assert_eq!(price.at_most(100), Money(1500));
    assert_eq!(price.at_most(101), Money(101 * 30));
}

#[test]
fn two_calls_cost_what_both_cost() {
    let one = Usage { input: 1, output: 2, cost: Some(Money(3)), ..Usage::default() };
    let sum = one.plus(one);
    assert_eq!((sum.input, sum.output, sum.cost, sum.estimated), (2, 4, Some(Money(6)), false));
    assert_eq!(one.plus(Usage::default()), one);
    assert_eq!(Usage::default().plus(one), one);
    let unstated = one.plus(Usage { input: 5, ..Usage::default() });
    assert_eq!((unstated.cost, unstated.estimated), (None, true), "no part of it is taken for the whole");
}
