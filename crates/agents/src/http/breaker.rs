//! One breaker per provider. It opens when calls of any run fail in a row through the provider's fault
//! (429, 5xx, auth), so that the others are told to wait instead of failing one by one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::world::Clock;

/// Calls given up in a row, each after its own retries, before the breaker opens.
const IN_A_ROW: u32 = 5;
const FIRST_WAIT_MS: u64 = 30_000;
const LONGEST_WAIT_MS: u64 = 600_000;
/// While one call probes, others are told to come back this much later.
const PROBE_WAIT_MS: u64 = 5_000;

#[derive(Default)]
struct State {
    failures: u32,
    openings: u32,
    /// Wall time until which no call passes; 0 while closed.
    until_ms: u64,
    probing: bool,
}

impl State {
    /// A wall clock that was put back must not keep a provider shut for years.
    const fn shut_at(&self, now: u64) -> bool {
        now < self.until_ms && self.until_ms - now <= LONGEST_WAIT_MS
    }
}

pub(crate) struct Breaker {
    state: Mutex<State>,
    clock: Arc<dyn Clock>,
}

/// The right to make one call. Dropped without a verdict it changes nothing.
pub(crate) struct Pass {
    breaker: Arc<Breaker>,
    probe: bool,
}

impl Breaker {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { state: Mutex::new(State::default()), clock }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A pass, or the wall time to come back at.
    pub fn admit(self: &Arc<Self>) -> Result<Pass, u64> {
        let mut state = self.lock();
        if state.until_ms == 0 {
            return Ok(Pass { breaker: Arc::clone(self), probe: false });
        }
        let now = self.clock.now_ms();
        if state.shut_at(now) {
            return Err(state.until_ms);
        }
        if state.probing {
            return Err(now.saturating_add(PROBE_WAIT_MS));
        }
        state.probing = true;
        Ok(Pass { breaker: Arc::clone(self), probe: true })
    }

    /// Whether a call under way should stop trying: the wall time to come back at.
    pub fn shut(&self) -> Option<u64> {
        let state = self.lock();
        state.shut_at(self.clock.now_ms()).then_some(state.until_ms)
    }
}

impl Pass {
    pub const fn is_probe(&self) -> bool {
        self.probe
    }

    pub fn succeeded(self) {
        let mut state = self.breaker.lock();
        *state = State { probing: state.probing, ..State::default() };
    }

    pub fn failed(self) {
        let mut state = self.breaker.lock();
        state.failures = state.failures.saturating_add(1);
        let open = state.until_ms != 0;
        // Calls that were under way when it opened do not make the wait longer; a failed probe does.
        if self.probe || (!open && state.failures >= IN_A_ROW) {
            let wait = FIRST_WAIT_MS.saturating_mul(1 << state.openings.min(10)).min(LONGEST_WAIT_MS);
            state.openings = state.openings.saturating_add(1);
            state.until_ms = self.breaker.clock.now_ms().saturating_add(wait);
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if self.probe {
            self.breaker.lock().probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    struct Hand(AtomicU64);

    impl Clock for Hand {
        fn now_ms(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn breaker() -> (Arc<Breaker>, Arc<Hand>) {
        let clock = Arc::new(Hand(AtomicU64::new(1_000)));
        (Arc::new(Breaker::new(clock.clone())), clock)
    }

    fn fail(breaker: &Arc<Breaker>, times: u32) {
        for _ in 0..times {
            breaker.admit().map(Pass::failed).unwrap();
        }
    }

    #[test]
    fn five_failures_in_a_row_open_it_and_four_do_not() {
        let (breaker, _) = breaker();
        fail(&breaker, 4);
        breaker.admit().unwrap().succeeded();
        fail(&breaker, 4);
        assert!(breaker.admit().is_ok(), "a success in between starts the count anew");
        fail(&breaker, 1);
        assert_eq!(breaker.admit().err(), Some(31_000));
    }

    #[test]
    fn a_clock_that_was_put_back_does_not_keep_it_open() {
        let (breaker, clock) = breaker();
        clock.0.store(1_000_000_000, Ordering::Relaxed);
        fail(&breaker, 5);
        assert!(breaker.shut().is_some() && breaker.admit().is_err());
        clock.0.store(1_000, Ordering::Relaxed);
        assert!(breaker.shut().is_none() && breaker.admit().is_ok_and(|pass| pass.is_probe()));
    }

    #[test]
    fn one_probe_decides_and_the_wait_grows() {
        let (breaker, clock) = breaker();
        fail(&breaker, 5);
        clock.0.store(31_000, Ordering::Relaxed);
        let probe = breaker.admit().unwrap();
        assert_eq!(breaker.admit().err(), Some(36_000), "only one at a time");
        probe.failed();
        assert_eq!(breaker.admit().err(), Some(31_000 + 60_000));
        clock.0.store(91_000, Ordering::Relaxed);
        breaker.admit().unwrap().succeeded();
        assert!(breaker.admit().is_ok_and(|pass| !pass.is_probe()));
    }

    #[test]
    fn a_probe_that_is_dropped_lets_the_next_one_try() {
        let (breaker, clock) = breaker();
        fail(&breaker, 5);
        clock.0.store(31_000, Ordering::Relaxed);
        drop(breaker.admit().unwrap());
        assert!(breaker.admit().is_ok_and(|pass| pass.is_probe()));
    }

    #[test]
    fn calls_that_were_under_way_do_not_make_the_wait_longer() {
        let (breaker, _) = breaker();
        let late: Vec<_> = (0..20).map(|_| breaker.admit().unwrap()).collect();
        late.into_iter().for_each(Pass::failed);
        assert_eq!(breaker.admit().err(), Some(31_000));
    }
}
