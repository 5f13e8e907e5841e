//! What is known of providers that take no calls for a while. A board holds notices; what they mean for a call
//! is the breaker's business, and where they are kept is the business of whoever hands the board in.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// The longest wait that is believed, whoever names it: a week's quota and a day.
pub const LONGEST_MS: u64 = 8 * DAY_MS;
const DAY_MS: u64 = 24 * 3_600_000;
/// Clocks of one machine agree better than this; a notice from further ahead is from a clock that was wrong.
const SKEW_MS: u64 = 5 * 60_000;
/// Failures further apart than this are no row.
const ROW_MS: u64 = 15 * 60_000;
/// How long the others wait for the first call after a wait. Refusals come faster.
const ALONE_MS: u64 = 30_000;

/// Where all runs see whether a provider takes calls. Both must be quick: they are asked before every call.
pub trait ProviderHealth: Send + Sync {
    /// The last notice about a provider, however old.
    fn notice(&self, provider: &str) -> Option<Notice>;

    /// Puts what `change` makes of the notice in its place, with nobody changing it in between.
    fn update(&self, provider: &str, change: &mut dyn FnMut(Option<Notice>) -> Option<Notice>);
}

/// What is known of one provider. It may come from a file that anybody wrote.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Notice {
    /// Its name, for people.
    pub provider: String,
    pub why: String,
    /// When this was noted, in milliseconds since 1970.
    pub set_ms: u64,
    /// When it takes calls again; 0 while failures are only counted.
    pub until_ms: u64,
    /// Calls that failed in a row.
    pub failures: u32,
    /// How often in a row it was shut.
    pub times: u32,
    /// When the first call after the wait was begun.
    pub tried_ms: Option<u64>,
}

impl Notice {
    /// Whether no call passes. A clock that was put back must not keep a provider shut for years.
    pub const fn is_shut(&self, now_ms: u64) -> bool {
        now_ms < self.until_ms && !self.is_stale(now_ms)
    }

    /// Nothing of it counts any more: it is too old, or was written under another clock, or by nobody we know.
    pub const fn is_stale(&self, now_ms: u64) -> bool {
        if self.set_ms > now_ms.saturating_add(SKEW_MS) {
            return true;
        }
        if self.until_ms == 0 {
            return now_ms.saturating_sub(self.set_ms) > ROW_MS;
        }
        self.until_ms.saturating_sub(self.set_ms) > LONGEST_MS
            || now_ms.saturating_sub(self.until_ms) > DAY_MS
    }

    /// It was shut, and no call has been answered since.
    pub(super) const fn is_on_trial(&self) -> bool {
        self.until_ms != 0
    }

    /// Somebody's first call after the wait has just been begun.
    pub(super) const fn is_tried(&self, now_ms: u64) -> bool {
        match self.tried_ms {
            Some(at) => now_ms.abs_diff(at) < ALONE_MS,
            None => false,
        }
    }

    pub(super) const fn was_tried(&self) -> bool {
        self.tried_ms.is_some()
    }

    pub(super) const fn shut(&mut self, now_ms: u64, until_ms: u64) {
        self.set_ms = now_ms;
        self.until_ms = until_ms;
        self.failures = 0;
        self.times = self.times.saturating_add(1);
        self.tried_ms = None;
    }
}

/// A board for the runs of this process alone.
#[derive(Debug, Default)]
pub struct InMemoryHealth(Mutex<HashMap<String, Notice>>);

impl ProviderHealth for InMemoryHealth {
    fn notice(&self, provider: &str) -> Option<Notice> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(provider).cloned()
    }

    fn update(&self, provider: &str, change: &mut dyn FnMut(Option<Notice>) -> Option<Notice>) {
        let mut notices = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(notice) = change(notices.remove(provider)) {
            notices.insert(provider.to_owned(), notice);
        }
    }
}
