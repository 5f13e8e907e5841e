//! What a command and everything it started use together, looked at now and then.
//!
//! Memory is what is resident, summed; a page that several processes share counts once for each, as in `ps`.
//! A process that ended and was not waited for still counts as one. Short peaks between two looks go unseen.

use std::time::{Duration, Instant};

use super::processes::use_below;
use super::wire::{ExitReport, Spec};

/// Most commands are done by then and pay nothing.
const FIRST: Duration = Duration::from_millis(100);
const SOONEST: Duration = Duration::from_millis(250);
const LATEST: Duration = Duration::from_secs(1);
/// A look may take one part in so many of the time.
const SHARE: u32 = 25;

/// The bounds and what was seen so far.
pub struct Gauge {
    max_memory: Option<u64>,
    max_processes: Option<u64>,
    next: Option<Instant>,
    /// A process of ours, which is nobody's use.
    anchor: Option<i32>,
    pub memory_bytes: u64,
    pub processes: u64,
}

impl Gauge {
    /// Without a bound nobody looks.
    pub fn new(spec: &Spec, anchor: Option<i32>) -> Self {
        let (max_memory, max_processes) = (spec.max_memory_bytes, spec.max_processes);
        let bounded = max_memory.is_some() || max_processes.is_some();
        let next = bounded.then(|| Instant::now() + FIRST);
        Self { max_memory, max_processes, next, anchor, memory_bytes: 0, processes: 0 }
    }

    /// How long until the next look is due, at most `longest`.
    pub fn pause(&self, longest: Duration) -> Duration {
        let due = self.next.map(|next| next.saturating_duration_since(Instant::now()));
        due.unwrap_or(longest).min(longest)
    }

    /// Looks if it is time. Says which bound was passed.
    pub fn look(&mut self) -> Option<ExitReport> {
        let began = Instant::now();
        if self.next.is_none_or(|next| began < next) {
            return None;
        }
        let used = use_below(self.anchor);
        self.memory_bytes = self.memory_bytes.max(used.memory_bytes);
        self.processes = self.processes.max(used.processes);
        let now = Instant::now();
        self.next = Some(now + (now.duration_since(began) * SHARE).clamp(SOONEST, LATEST));
        if self.max_processes.is_some_and(|max| used.processes > max) {
            return Some(ExitReport::TooManyProcesses);
        }
        self.max_memory.is_some_and(|max| used.memory_bytes > max).then_some(ExitReport::TooMuchMemory)
    }
}
