//! Money, tokens, time and calls: what may be spent, what is reserved, what was spent.
//!
//! Amounts are integers so that every machine adds them alike. A call reserves its worst case before
//! it is requested; the reservation becomes the real usage when the reply is recorded, or stays spent
//! as `unknown` if no reply ever is.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::effect::{EffectId, NodePath};

/// Nano-dollars. A price of 3 dollars per million tokens is 3,000 of these per token.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug, Serialize, Deserialize)]
pub struct Money(pub u64);

impl Money {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn from_usd(usd: f64) -> Self {
        Self((usd.max(0.0) * 1e9).round() as u64)
    }

    /// A sum somebody typed; none if it is no amount.
    pub fn of_usd(usd: f64) -> Option<Self> {
        (0.0..1e9).contains(&usd).then(|| Self::from_usd(usd))
    }

    pub fn usd(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usd = self.usd();
        if self.0 != 0 && usd < 0.01 { write!(f, "${usd:.4}") } else { write!(f, "${usd:.2}") }
    }
}

/// A dated price row: nano-dollars per token.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Price {
    pub input: u64,
    pub output: u64,
    #[serde(default)]
    pub cache_read: u64,
    #[serde(default)]
    pub cache_write: u64,
    /// The day the row was true, `2026-11-01`; `config` where the user gave it.
    pub as_of: String,
    /// What every token costs of a call whose prompt is longer than this row holds for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongPrice>,
}

/// The price of a call with a long prompt: nano-dollars per token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LongPrice {
    /// Prompts with more tokens than this cost as much.
    pub above: u64,
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Price {
    /// What this many tokens cost at most, whatever kind they are of.
    pub fn at_most(&self, tokens: u64) -> Money {
        let mut dearest = self.input.max(self.output).max(self.cache_read).max(self.cache_write);
        if let Some(long) = self.long.filter(|long| tokens > long.above) {
            dearest = dearest.max(long.input).max(long.output).max(long.cache_read).max(long.cache_write);
        }
        Money(tokens.saturating_mul(dearest))
    }

    /// What each kind of token costs (input, output, read from a cache, written to one) after a prompt of this many.
    const fn each(&self, prompt: u64) -> [u64; 4] {
        match self.long {
            Some(long) if prompt > long.above => [long.input, long.output, long.cache_read, long.cache_write],
            _ => [self.input, self.output, self.cache_read, self.cache_write],
        }
    }

    /// The most that a brief and its reply of so many tokens can cost.
    pub fn worst(&self, input: u64, output: u64) -> Money {
        let [fresh, reply, _, written] = self.each(input);
        Money(input.saturating_mul(fresh.max(written)).saturating_add(output.saturating_mul(reply)))
    }
}

/// Text makes at most one token per two bytes with the tokenisers in use.
const BYTES_PER_TOKEN: u64 = 2;
/// What a brief has beside its text.
const FRAME_TOKENS: u64 = 64;

/// The tokens of a brief of this many bytes, at most.
pub const fn brief_tokens(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN).saturating_add(FRAME_TOKENS)
}

/// What a call used. `cost` is the agent's own figure, if it states one; else the price row decides.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Usage {
    #[serde(default, skip_serializing_if = "is_zero")]
    pub input: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub output: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_read: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// Not all of it was stated by whoever answered: what was not is estimated, or missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants a reference
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Usage {
    pub const fn tokens(&self) -> u64 {
        self.input
            .saturating_add(self.output)
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }

    pub fn cost_at(&self, price: Option<&Price>) -> Money {
        if let Some(stated) = self.cost {
            return stated;
        }
        let Some(p) = price else { return Money(0) };
        let [input, output, cache_read, cache_write] = p.each(self.prompt());
        let part = |n: u64, each: u64| n.saturating_mul(each);
        Money(
            part(self.input, input)
                .saturating_add(part(self.output, output))
                .saturating_add(part(self.cache_read, cache_read))
                .saturating_add(part(self.cache_write, cache_write)),
        )
    }

    /// The tokens of the brief, wherever they were read from.
    pub const fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// With what was not stated estimated from the bytes that were sent and that came, by the rule of reservations.
    #[must_use]
    pub const fn or_estimated(mut self, sent: u64, came: u64) -> Self {
        if self.prompt() == 0 {
            self.input = brief_tokens(sent);
            self.estimated = true;
        }
        if self.output == 0 && came > 0 {
            self.output = came.div_ceil(BYTES_PER_TOKEN);
            self.estimated = true;
        }
        self
    }

    /// Of two calls together. A cost is stated only if both state theirs, or one used nothing.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let nothing = |usage: &Self| *usage == Self::default();
        if nothing(&self) || nothing(&other) {
            return if nothing(&self) { other } else { self };
        }
        let cost = self.cost.zip(other.cost).map(|(a, b)| Money(a.0.saturating_add(b.0)));
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            cost,
            // Where only one of them states its cost, the price row decides for both.
            estimated: self.estimated || other.estimated || self.cost.is_some() != other.cost.is_some(),
        }
    }
}

/// The worst case a call may cost, held back before it is sent.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Reservation {
    pub tokens: u64,
    pub money: Money,
}

/// Caps. Absent means no cap of that kind; zero means nothing at all.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Limits {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u32>,
    /// Of a goal: what its worker may do, and how often it may be called for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
}

impl Limits {
    /// These limits with every cap that `raised` names put in its place.
    pub fn with(self, raised: Self) -> Self {
        Self {
            tokens: raised.tokens.or(self.tokens),
            money: raised.money.or(self.money),
            active_ms: raised.active_ms.or(self.active_ms),
            calls: raised.calls.or(self.calls),
            steps: raised.steps.or(self.steps),
            turns: raised.turns.or(self.turns),
        }
    }
}

/// Who pays: a call is charged to the run, to its node and every node above, and to its agent.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Account {
    Run,
    Node(NodePath),
    Agent(String),
    /// One call of this agent. Nothing is summed up in it.
    Call(String),
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run => f.write_str("the run"),
            Self::Node(n) => write!(f, "loop `{n}`"),
            Self::Agent(a) => write!(f, "agent `{a}`"),
            Self::Call(a) => write!(f, "one call of agent `{a}`"),
        }
    }
}

/// Which cap stood in the way, and by how much.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shortage {
    pub account: Account,
    pub cap: Cap,
    pub limit: u64,
    /// Spent and reserved already.
    pub committed: u64,
    pub wanted: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    Tokens,
    Money,
    Time,
    Calls,
    /// Steps of a goal.
    Steps,
    /// Turns of a goal's worker, those without a step included.
    Turns,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { account, limit, committed, wanted, .. } = self;
        match self.cap {
            // Found when a reply was charged: no next call is spoken of.
            Cap::Tokens if *wanted == 0 => {
                write!(f, "{account} has a cap of {limit} tokens; {committed} are spent")
            }
            Cap::Money if *wanted == 0 => {
                write!(f, "{account} has a cap of {}; {} is spent", Money(*limit), Money(*committed))
            }
            Cap::Tokens => {
                write!(
                    f,
                    "{account} has a cap of {limit} tokens; {committed} are spent, the next call may need {wanted}"
                )
            }
            Cap::Money => write!(
                f,
                "{account} has a cap of {}; {} is spent, the next call may cost {}",
                Money(*limit),
                Money(*committed),
                Money(*wanted)
            ),
            Cap::Time => write!(f, "{account} has a cap of {} active seconds, used up", limit / 1000),
            Cap::Calls => write!(f, "{account} has a cap of {limit} calls, used up"),
            Cap::Steps => write!(f, "{account} has a cap of {limit} steps, used up"),
            Cap::Turns => write!(f, "{account} has a cap of {limit} turns, used up"),
        }
    }
}

#[derive(Clone, Default, Debug)]
struct AccountSums {
    limits: Limits,
    tokens: u64,
    money: Money,
    calls: u32,
    /// Calls among them that no cap counts: last words.
    spared: u32,
    active_ms: u64,
    reserved: Reservation,
    /// Some of what is spent is only known as a reservation: totals are lower or upper bounds.
    unknown: bool,
}

/// The nested ledger of one run.
#[derive(Clone, Default, Debug)]
pub struct Ledger {
    /// Boxed: a node of the map has room for eleven.
    accounts: BTreeMap<Account, Box<AccountSums>>,
    open: BTreeMap<EffectId, HeldReservation>,
}

/// What is held back for one call.
#[derive(Clone, Debug)]
struct HeldReservation {
    accounts: Vec<Account>,
    wanted: Reservation,
    /// How many calls it counts for, and how many of these no cap counts.
    calls: u32,
    spared: u32,
}

/// Which caps a call has to keep to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CapScope {
    All,
    /// Not the number of calls: it goes on with one that was counted.
    ExceptCalls,
    /// Money and tokens only: the last words of somebody whose time is up.
    MoneyOnly,
}

/// What an account has spent, for events and pages.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Spent {
    pub tokens: u64,
    pub money: Money,
    pub calls: u32,
    pub active_ms: u64,
    /// Not all that was used is known: of a call without a word of what it used these include the worst case, of others
    /// an estimate.
    pub unknown: bool,
}

impl Ledger {
    pub fn limit(&mut self, account: Account, limits: Limits) {
        self.accounts.entry(account).or_default().limits = limits;
    }

    pub fn raise(&mut self, account: &Account, raised: Limits) {
        let sums = self.accounts.entry(account.clone()).or_default();
        sums.limits = sums.limits.with(raised);
    }

    /// Holds back a call's worst case in every account, or in none.
    pub fn reserve(
        &mut self,
        effect: &EffectId,
        accounts: Vec<Account>,
        wanted: Reservation,
    ) -> Result<(), Shortage> {
        self.reserve_keeping(effect, accounts, wanted, CapScope::All)
    }

    /// As `reserve`, for a call that keeps to some of the caps only. What goes on with a call that was counted is no call
    /// of its own.
    pub fn reserve_keeping(
        &mut self,
        effect: &EffectId,
        accounts: Vec<Account>,
        wanted: Reservation,
        kept: CapScope,
    ) -> Result<(), Shortage> {
        self.fits(&accounts, wanted, kept)?;
        let (calls, spared) =
            (u32::from(kept != CapScope::ExceptCalls), u32::from(kept == CapScope::MoneyOnly));
        for account in &accounts {
            let s = self.accounts.entry(account.clone()).or_default();
            s.calls = s.calls.saturating_add(calls);
            s.spared = s.spared.saturating_add(spared);
            s.reserved.tokens = s.reserved.tokens.saturating_add(wanted.tokens);
            s.reserved.money.0 = s.reserved.money.0.saturating_add(wanted.money.0);
        }
        self.open.insert(effect.clone(), HeldReservation { accounts, wanted, calls, spared });
        Ok(())
    }

    /// Whether this much more could be held back, and which cap is in the way.
    pub fn fits(&self, accounts: &[Account], wanted: Reservation, kept: CapScope) -> Result<(), Shortage> {
        for account in accounts {
            let Some(s) = self.accounts.get(account) else { continue };
            let short = |cap, limit, committed, wanted| {
                Err(Shortage { account: account.clone(), cap, limit, committed, wanted })
            };
            if let Some(limit) = s.limits.calls
                && kept == CapScope::All
                && s.calls.saturating_sub(s.spared) >= limit
            {
                let counted = s.calls.saturating_sub(s.spared);
                return short(Cap::Calls, u64::from(limit), u64::from(counted), 1);
            }
            if let Some(limit) = s.limits.active_ms
                && kept != CapScope::MoneyOnly
                && s.active_ms >= limit
            {
                return short(Cap::Time, limit, s.active_ms, 1);
            }
            if let Some(limit) = s.limits.tokens {
                let committed = s.tokens.saturating_add(s.reserved.tokens);
                if committed.saturating_add(wanted.tokens) > limit {
                    return short(Cap::Tokens, limit, committed, wanted.tokens);
                }
            }
            if let Some(limit) = s.limits.money {
                let committed = s.money.0.saturating_add(s.reserved.money.0);
                if committed.saturating_add(wanted.money.0) > limit.0 {
                    return short(Cap::Money, limit.0, committed, wanted.money.0);
                }
            }
        }
        Ok(())
    }

    /// As [`Self::settle`], where not all that was used is known.
    pub fn settle_estimated(&mut self, effect: &EffectId, tokens: u64, money: Money) -> Option<Shortage> {
        let accounts = self.open.get(effect).map(|held| held.accounts.clone()).unwrap_or_default();
        for account in accounts {
            self.accounts.entry(account).or_default().unknown = true;
        }
        self.settle(effect, tokens, money)
    }

    /// Turns a reservation into what was really used. Says which account went over its cap, if any.
    pub fn settle(&mut self, effect: &EffectId, tokens: u64, money: Money) -> Option<Shortage> {
        let HeldReservation { accounts, wanted: held, .. } = self.open.remove(effect)?;
        let mut over = None;
        for account in accounts {
            let s = self.accounts.entry(account.clone()).or_default();
            s.release(held);
            s.tokens = s.tokens.saturating_add(tokens);
            s.money.0 = s.money.0.saturating_add(money.0);
            if let Some(limit) = s.limits.money
                && s.money > limit
            {
                let committed = s.money.0;
                over.get_or_insert(Shortage {
                    account: account.clone(),
                    cap: Cap::Money,
                    limit: limit.0,
                    committed,
                    wanted: 0,
                });
            }
            if let Some(limit) = s.limits.tokens
                && s.tokens > limit
            {
                let committed = s.tokens;
                over.get_or_insert(Shortage { account, cap: Cap::Tokens, limit, committed, wanted: 0 });
            }
        }
        over
    }

    /// A call that never left this machine gives its reservation and its count back.
    pub fn release(&mut self, effect: &EffectId) {
        let Some(HeldReservation { accounts, wanted: held, calls, spared }) = self.open.remove(effect) else {
            return;
        };
        for account in accounts {
            let s = self.accounts.entry(account).or_default();
            s.release(held);
            s.calls = s.calls.saturating_sub(calls);
            s.spared = s.spared.saturating_sub(spared);
        }
    }

    /// A call without a recorded reply keeps its reservation as spent, or what it is known to have used if that is
    /// more, marked unknown.
    pub fn lose(&mut self, effect: &EffectId, least: Reservation) {
        let Some(HeldReservation { accounts, wanted: held, .. }) = self.open.remove(effect) else { return };
        for account in accounts {
            let s = self.accounts.entry(account).or_default();
            s.release(held);
            s.tokens = s.tokens.saturating_add(held.tokens.max(least.tokens));
            s.money.0 = s.money.0.saturating_add(held.money.max(least.money).0);
            s.unknown = true;
        }
    }

    pub fn tick(&mut self, accounts: &[Account], active_ms: u64) {
        for account in accounts {
            let s = self.accounts.entry(account.clone()).or_default();
            s.active_ms = s.active_ms.saturating_add(active_ms);
        }
    }

    /// The first of these accounts whose active time is used up.
    pub fn out_of_time(&self, accounts: &[Account]) -> Option<Shortage> {
        accounts.iter().find_map(|account| {
            let s = self.accounts.get(account)?;
            let limit = s.limits.active_ms.filter(|limit| s.active_ms >= *limit)?;
            Some(Shortage {
                account: account.clone(),
                cap: Cap::Time,
                limit,
                committed: s.active_ms,
                wanted: 1,
            })
        })
    }

    /// The least active time left over these accounts.
    pub fn time_left(&self, accounts: &[Account]) -> Option<u64> {
        accounts
            .iter()
            .filter_map(|a| self.accounts.get(a))
            .filter_map(|s| s.limits.active_ms.map(|l| l.saturating_sub(s.active_ms)))
            .min()
    }

    pub fn spent(&self, account: &Account) -> Spent {
        self.accounts.get(account).map_or_else(Spent::default, |s| Spent {
            tokens: s.tokens,
            money: s.money,
            calls: s.calls,
            active_ms: s.active_ms,
            unknown: s.unknown,
        })
    }

    pub fn limits(&self, account: &Account) -> Limits {
        self.accounts.get(account).map_or_else(Limits::default, |s| s.limits)
    }

    /// Reserved right now, for the invariant `spent + reserved ≤ cap`.
    pub fn reserved(&self, account: &Account) -> Reservation {
        self.accounts.get(account).map_or_else(Reservation::default, |s| s.reserved)
    }
}

impl AccountSums {
    fn release(&mut self, held: Reservation) {
        self.reserved.tokens = self.reserved.tokens.saturating_sub(held.tokens);
        self.reserved.money.0 = self.reserved.money.0.saturating_sub(held.money.0);
    }
}

#[cfg(test)]
mod tests;
