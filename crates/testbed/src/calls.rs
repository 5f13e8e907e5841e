//! Counts what arrived: totals, per model, per request digest, with arrival and answer times.
//! It says nothing about what is answered.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hasher;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// How many of the latest calls are kept one by one.
const KEPT: usize = 100_000;
/// How many different digests are counted; further ones are only in the totals.
const DIGESTS: usize = 1_000_000;
/// How many different models are counted.
const MODELS: usize = 10_000;

/// What `GET /calls` returns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    pub total: u64,
    /// Calls whose answer was written to the end.
    pub answered: u64,
    pub per_model: BTreeMap<String, u64>,
    /// Different request bodies seen.
    pub distinct: u64,
    /// Calls whose body had been seen before.
    pub repeated: u64,
    pub in_flight: u64,
    /// Connections accepted.
    pub connections: u64,
    /// The most calls that were open at one moment.
    pub peak: u64,
    /// How often a model that was asked for a verdict was made to call a tool that writes.
    #[serde(default)]
    pub intrusions: u64,
    pub recent: Vec<Arrival>,
}

/// One call, in wall milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    pub digest: String,
    pub model: String,
    pub arrived_ms: u64,
    /// Absent while the answer is not written, or if the client went away.
    pub answered_ms: Option<u64>,
}

struct CallRow {
    digest: u64,
    model: String,
    arrived_ms: u64,
    answered_ms: Option<u64>,
}

#[derive(Default)]
struct Counters {
    total: u64,
    answered: u64,
    repeated: u64,
    in_flight: u64,
    connections: u64,
    peak: u64,
    intrusions: u64,
    per_model: BTreeMap<String, u64>,
    digests: HashMap<u64, u32>,
    rows: VecDeque<CallRow>,
    /// The number of the first row kept.
    first: u64,
}

#[derive(Default)]
pub(crate) struct Counter(Mutex<Counters>);

/// A call that has arrived: its number, and how often the same body came before it.
pub(crate) struct Ticket {
    pub number: u64,
    pub digest: u64,
    pub before: u32,
}

impl Counter {
    fn lock(&self) -> MutexGuard<'_, Counters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn arrive(&self, model: &str, body: &[u8]) -> Ticket {
        let digest = digest(body);
        let arrived_ms = now_ms();
        let mut inner = self.lock();
        let number = inner.total;
        inner.total += 1;
        inner.in_flight += 1;
        inner.peak = inner.peak.max(inner.in_flight);
        if let Some(n) = inner.per_model.get_mut(model) {
            *n += 1;
        } else if inner.per_model.len() < MODELS {
            inner.per_model.insert(model.to_owned(), 1);
        }
        let mut before = 0;
        if let Some(n) = inner.digests.get_mut(&digest) {
            before = *n;
            *n += 1;
            inner.repeated += 1;
        } else if inner.digests.len() < DIGESTS {
            inner.digests.insert(digest, 1);
        }
        if inner.rows.len() == KEPT {
            inner.rows.pop_front();
            inner.first += 1;
        }
        inner.rows.push_back(CallRow { digest, model: model.to_owned(), arrived_ms, answered_ms: None });
        Ticket { number, digest, before }
    }

    pub fn intruded(&self) {
        self.lock().intrusions += 1;
    }

    pub fn connected(&self) {
        self.lock().connections += 1;
    }

    /// The call is over; `answered` if all of the answer was written.
    pub fn leave(&self, number: u64, answered: bool) {
        let mut inner = self.lock();
        inner.in_flight = inner.in_flight.saturating_sub(1);
        if !answered {
            return;
        }
        inner.answered += 1;
        let first = inner.first;
        if let Some(row) = number
            .checked_sub(first)
            .and_then(|i| usize::try_from(i).ok())
            .and_then(|i| inner.rows.get_mut(i))
        {
            row.answered_ms = Some(now_ms());
        }
    }

    pub fn reset(&self) {
        *self.lock() = Counters::default();
    }

    pub fn read(&self) -> Calls {
        let inner = self.lock();
        Calls {
            total: inner.total,
            answered: inner.answered,
            per_model: inner.per_model.clone(),
            distinct: inner.digests.len() as u64,
            repeated: inner.repeated,
            in_flight: inner.in_flight,
            connections: inner.connections,
            peak: inner.peak,
            intrusions: inner.intrusions,
            recent: inner
                .rows
                .iter()
                .map(|r| Arrival {
                    digest: format!("{:016x}", r.digest),
                    model: r.model.clone(),
                    arrived_ms: r.arrived_ms,
                    answered_ms: r.answered_ms,
                })
                .collect(),
        }
    }
}

/// The same body has the same digest in every process.
fn digest(body: &[u8]) -> u64 {
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    hasher.write(body);
    hasher.finish()
}

fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}
