//! Wall time for people, active time for the engine.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use gadfly_engine::Stamp;

/// Milliseconds since 1970.
pub fn wall_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

/// A run's clock: it goes on from the run's last record and stands still while nobody drives the run.
#[derive(Clone, Copy, Debug)]
pub struct ActiveClock {
    base_ms: u64,
    started: Instant,
}

impl ActiveClock {
    pub fn from(base_ms: u64) -> Self {
        Self { base_ms, started: Instant::now() }
    }

    pub fn stamp(&self) -> Stamp {
        let passed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Stamp { wall_ms: wall_ms(), active_ms: self.base_ms.saturating_add(passed) }
    }
}
