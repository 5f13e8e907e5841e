//! One breaker per provider, shared by all runs that look at the same [`ProviderHealth`]. It shuts when calls fail in a
//! row through the provider's fault (429, 5xx, auth), or at once when the provider names a time, so that the
//! others are told to wait instead of failing one by one.
//!
//! A kind of agent asks before a call and says afterwards how it went:
//!
//! ```text
//! let provider = world.provider("claude-code /home/me/.claude", "Claude Code"); // once, when it is built
//! provider.call(&link.cancel, async { … }).await                              // around each call
//! ```

mod health;

use std::sync::Arc;
use std::time::Duration;

use gadfly_engine::{Digest, FailureKind, Usage};
use tokio_util::sync::CancellationToken;

pub use health::{InMemoryHealth, LONGEST_MS, Notice, ProviderHealth};

use crate::agent::{CallError, CallReply};
use crate::secret::Secret;
use crate::services::Clock;

/// Calls given up in a row, each after its own retries, before the breaker shuts.
const IN_A_ROW: u32 = 5;
const FIRST_WAIT_MS: u64 = 30_000;
const LONGEST_WAIT_MS: u64 = 600_000;
/// How often those who wait for somebody else's first call look whether it is through.
const LOOK: Duration = Duration::from_millis(200);
/// Enough of a provider's message for people.
const WHY: usize = 500;

/// What `ProviderHealth`s call a provider: its place and whose account it is there.
///
/// Two accounts of one host must not shut each other out, and a key that was put right must not wait for the
/// wrong one. So the name has two bytes of the key's digest: enough to tell a few accounts apart, and nothing
/// that a key could be found from, since every 65536th text has the same two.
pub(crate) fn account(host: &str, key_env: Option<&str>, key: Option<&Secret>) -> String {
    let mark = key.map(|key| {
        let [a, b, ..] = *Digest::of(key.expose().as_bytes()).as_bytes();
        format!("{a:02x}{b:02x}")
    });
    format!("{host} {} {}", key_env.unwrap_or("-"), mark.as_deref().unwrap_or("-"))
}

/// Whoever answers calls of some agents, and may have no room for more of them for a while.
#[derive(Clone)]
pub(crate) struct Provider {
    key: Arc<str>,
    /// Its name for people.
    shown: Arc<str>,
    health: Arc<dyn ProviderHealth>,
    clock: Arc<dyn Clock>,
    /// Ask it even while it is shut: a person wants to know.
    insist: bool,
}

/// The right to make one call. Dropped without a verdict it changes nothing.
pub(crate) struct CallPermit {
    provider: Provider,
    begun_ms: u64,
    probe: bool,
}

impl Provider {
    pub fn new(
        key: &str,
        shown: &str,
        health: Arc<dyn ProviderHealth>,
        clock: Arc<dyn Clock>,
        insist: bool,
    ) -> Self {
        Self { key: key.into(), shown: shown.into(), health, clock, insist }
    }

    /// Makes a call if the provider takes calls, and remembers how it went. Dropped, the call has not been.
    pub async fn call(
        &self,
        cancel: &CancellationToken,
        call: impl Future<Output = Result<CallReply, CallError>>,
    ) -> Result<CallReply, CallError> {
        let pass = self.admit(cancel).await?;
        pass.settle(call.await)
    }

    /// A pass, or the quota that is waited for. When a wait is over one call tries and the others stay here
    /// until it is through, or has been under way for so long that it cannot have been turned away.
    pub async fn admit(&self, cancel: &CancellationToken) -> Result<CallPermit, CallError> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(CallError::Cancelled { sent: false }),
            pass = self.admitted() => pass,
        }
    }

    async fn admitted(&self) -> Result<CallPermit, CallError> {
        loop {
            let now = self.clock.now_ms();
            let pass = |probe| Ok(CallPermit { provider: self.clone(), begun_ms: now, probe });
            let Some(notice) = self.health.notice(&self.key) else { return pass(false) };
            if notice.is_stale(now) {
                self.health.update(&self.key, &mut |n| n.filter(|n| !n.is_stale(now)));
                return pass(false);
            }
            if !notice.is_on_trial() || self.insist {
                return pass(false);
            }
            if notice.is_shut(now) {
                return Err(self.quota(&notice));
            }
            if !notice.is_tried(now) {
                if notice.was_tried() {
                    return pass(false);
                }
                let mut mine = false;
                self.health.update(&self.key, &mut |found| {
                    let mut notice = found?;
                    mine = notice.is_on_trial() && !notice.is_shut(now) && !notice.was_tried();
                    if mine {
                        notice.tried_ms = Some(now);
                    }
                    Some(notice)
                });
                if mine {
                    return pass(true);
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Whether a call under way should stop trying.
    pub fn shut(&self) -> Option<CallError> {
        let notice = self.health.notice(&self.key)?;
        (!self.insist && notice.is_shut(self.clock.now_ms())).then(|| self.quota(&notice))
    }

    fn quota(&self, notice: &Notice) -> CallError {
        let why = if notice.why.is_empty() { String::new() } else { format!(": {}", notice.why) };
        let message = format!("{} takes no calls for a while{why}", self.shown);
        CallError::Quota { until_ms: Some(notice.until_ms), message, usage: Usage::default() }
    }
}

impl CallPermit {
    /// The first call after a wait: it decides for the others and is not repeated.
    pub const fn is_probe(&self) -> bool {
        self.probe
    }

    /// Remembers how the call went and hands that on. A call that found the provider shut, or shut it, has the
    /// time to come back at, and never one that is further away than anybody would wait.
    pub fn settle(self, ended: Result<CallReply, CallError>) -> Result<CallReply, CallError> {
        match ended {
            Ok(answered) => {
                self.succeeded();
                Ok(answered)
            }
            Err(CallError::Quota { until_ms: Some(until), message, usage }) => {
                Err(CallError::Quota { until_ms: Some(self.told(until, &message)), message, usage })
            }
            Err(why) if blames_provider(&why) => Err(self.failed(why)),
            Err(why) => Err(why),
        }
    }

    pub fn succeeded(self) {
        let Provider { health, key, .. } = &self.provider;
        if health.notice(key).is_some() {
            // A call that was under way before it was shut says nothing of what came later.
            let begun = self.begun_ms;
            health.update(key, &mut |found| found.filter(|n| n.until_ms != 0 && n.set_ms > begun));
        }
    }

    /// One more failure of the provider's. If it is now left alone, that is the answer; a wrong key stays one.
    pub fn failed(self, why: CallError) -> CallError {
        let Provider { health, key, clock, shown, .. } = &self.provider;
        let now = clock.now_ms();
        let mut shut = None;
        health.update(key, &mut |found| {
            let mut notice = found.filter(|n| !n.is_stale(now)).unwrap_or_default();
            // Calls that were under way when it was shut do not make the wait longer; a failed probe does.
            if notice.is_shut(now) {
                return Some(notice);
            }
            notice.provider = shown.to_string();
            notice.why = cut(&why.to_string());
            notice.set_ms = now;
            notice.failures = notice.failures.saturating_add(1);
            if self.probe || notice.failures >= IN_A_ROW {
                let wait = FIRST_WAIT_MS.saturating_mul(1 << notice.times.min(10)).min(LONGEST_WAIT_MS);
                notice.shut(now, now.saturating_add(wait));
                shut = Some(notice.clone());
            }
            Some(notice)
        });
        let wrong_key = matches!(&why, CallError::Failed(f) if f.kind == FailureKind::Unauthorised);
        match shut.filter(|_| !wrong_key) {
            Some(notice) => self.provider.quota(&notice),
            None => why,
        }
    }

    /// The provider itself says from when on it takes calls again. Returns the time that is kept to.
    fn told(self, until_ms: u64, message: &str) -> u64 {
        let Provider { health, key, clock, shown, .. } = &self.provider;
        let now = clock.now_ms();
        let until = until_ms.min(now.saturating_add(LONGEST_MS));
        health.update(key, &mut |found| {
            let mut notice = found.filter(|n| !n.is_stale(now)).unwrap_or_default();
            if !notice.is_shut(now) || notice.until_ms < until {
                notice.provider = shown.to_string();
                notice.why = cut(message);
                notice.shut(now, until);
            }
            Some(notice)
        });
        until
    }
}

impl Drop for CallPermit {
    fn drop(&mut self) {
        if self.probe {
            let mine = Some(self.begun_ms);
            self.provider.health.update(&self.provider.key, &mut |found| {
                let mut notice = found?;
                if notice.tried_ms == mine {
                    notice.tried_ms = None;
                }
                Some(notice)
            });
        }
    }
}

fn cut(text: &str) -> String {
    text.chars().take(WHY).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Whether it is about one model of an account, and not about all of them: rates are limited by model.
pub(crate) const fn is_of_model(why: &CallError) -> bool {
    match why {
        CallError::Quota { until_ms, .. } => until_ms.is_some(),
        CallError::Failed(failure) => matches!(failure.kind, FailureKind::RateLimited),
        CallError::Cancelled { .. } => false,
    }
}

/// What counts against a provider.
pub(crate) const fn blames_provider(why: &CallError) -> bool {
    match why {
        CallError::Quota { .. } => true,
        CallError::Failed(failure) => matches!(
            failure.kind,
            FailureKind::RateLimited | FailureKind::Unauthorised | FailureKind::Unavailable
        ),
        CallError::Cancelled { .. } => false,
    }
}

#[cfg(test)]
mod tests;
