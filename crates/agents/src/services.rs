//! What all agents of a process share: HTTP clients, the board of providers, limits on calls at once, the
//! launcher, a clock and a source of jitter. Everything an agent may reach is here or in its spec.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gadfly_engine::FailureKind;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::agent::CallError;
use crate::http::client::{self, ClientRoute};
use crate::launcher::Launcher;
use crate::provider::{InMemoryHealth, Provider, ProviderHealth};

/// Wall time, in milliseconds since 1970.
pub trait Clock: Send + Sync {
    fn now_ms(&self) -> u64;
}

struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Where the randomness of a retry's wait comes from.
pub trait Jitter: Send + Sync {
    /// Some duration from zero to `most`.
    fn up_to(&self, most: Duration) -> Duration;
}

struct RandomJitter;

impl Jitter for RandomJitter {
    fn up_to(&self, most: Duration) -> Duration {
        most.mul_f64(fastrand::f64())
    }
}

/// One per process; agents built from it, and from its copies, share its limits.
#[derive(Clone)]
pub struct AgentServices {
    pub(crate) launcher: Option<Arc<dyn Launcher>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) jitter: Arc<dyn Jitter>,
    pub(crate) base_env: Vec<(String, String)>,
    clients: KeyedCache<ClientRoute, reqwest::Client>,
    health: Arc<dyn ProviderHealth>,
    insistent: bool,
    gates: KeyedCache<String, Arc<Semaphore>>,
    schemaless: KeyedCache<String, Arc<AtomicBool>>,
}

impl Default for AgentServices {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for AgentServices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("World")
    }
}

impl AgentServices {
    pub fn new() -> Self {
        Self {
            launcher: None,
            clock: Arc::new(SystemClock),
            jitter: Arc::new(RandomJitter),
            base_env: Vec::new(),
            clients: KeyedCache::default(),
            health: Arc::new(InMemoryHealth::default()),
            insistent: false,
            gates: KeyedCache::default(),
            schemaless: KeyedCache::default(),
        }
    }

    pub fn with_launcher(mut self, launcher: Arc<dyn Launcher>) -> Self {
        self.launcher = Some(launcher);
        self
    }

    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    pub fn with_jitter(mut self, jitter: Arc<dyn Jitter>) -> Self {
        self.jitter = jitter;
        self
    }

    /// The environment of this process; children get the five variables of it that every process needs.
    pub fn with_base_env(mut self, env: Vec<(String, String)>) -> Self {
        self.base_env = env;
        self
    }

    /// Where runs see what others learned of a provider. Without one, runs of this process share theirs.
    pub fn with_provider_health(mut self, health: Arc<dyn ProviderHealth>) -> Self {
        self.health = health;
        self
    }

    /// Providers are asked even while they are left alone: somebody wants to know whether they answer again.
    pub const fn insisting(mut self) -> Self {
        self.insistent = true;
        self
    }

    pub(crate) fn client(&self, route: ClientRoute) -> Result<reqwest::Client, reqwest::Error> {
        self.clients.get(route, || client::build(route))
    }

    /// Who answers an agent's calls. A kind asks it before each call and tells it afterwards, most simply with
    /// [`Provider::call`]: a provider that has no room is then asked by no run until the time it named.
    ///
    /// `key` says which provider, and whose account there: agents with the same key wait together. It may be
    /// seen by others of this user: no secret belongs in it. `shown` is its name for people.
    pub(crate) fn provider(&self, key: &str, shown: &str) -> Provider {
        Provider::new(key, shown, Arc::clone(&self.health), Arc::clone(&self.clock), self.insistent)
    }

    /// True once the model reached in this way has turned a schema down: it is not asked again.
    pub(crate) fn schemaless(&self, way: &str) -> Arc<AtomicBool> {
        match self.schemaless.get(way.to_owned(), || Ok::<_, std::convert::Infallible>(Arc::default())) {
            Ok(known) => known,
            Err(never) => match never {},
        }
    }

    /// The limit on calls at once of an agent reached in this way, shared by every run of the process.
    pub(crate) fn gate(&self, way: &str, most: Option<usize>) -> Option<Arc<Semaphore>> {
        let most = most?.clamp(1, Semaphore::MAX_PERMITS);
        let made = || Ok::<_, std::convert::Infallible>(Arc::new(Semaphore::new(most)));
        match self.gates.get(format!("{most} {way}"), made) {
            Ok(gate) => Some(gate),
            Err(never) => match never {},
        }
    }
}

/// Waits for a place, if places are limited. Nothing has been sent while this waits.
pub(crate) async fn enter(
    gate: Option<&Arc<Semaphore>>,
    time: Option<Duration>,
    cancel: &CancellationToken,
) -> Result<Option<OwnedSemaphorePermit>, CallError> {
    if cancel.is_cancelled() {
        return Err(CallError::Cancelled { sent: false });
    }
    let Some(gate) = gate else { return Ok(None) };
    if let Ok(permit) = Arc::clone(gate).try_acquire_owned() {
        return Ok(Some(permit));
    }
    let late = async {
        match time {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        permit = Arc::clone(gate).acquire_owned() => Ok(permit.ok()),
        () = cancel.cancelled() => Err(CallError::Cancelled { sent: false }),
        () = late => Err(CallError::failed(
            FailureKind::Timeout,
            "the call's time ran out while it waited for others of the same agent; raise `concurrent`",
        )),
    }
}

/// Things made once per key. Copies are the same shelf.
struct KeyedCache<K, V>(Arc<Mutex<HashMap<K, V>>>);

impl<K, V> Default for KeyedCache<K, V> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K, V> Clone for KeyedCache<K, V> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Eq + Hash, V: Clone> KeyedCache<K, V> {
    fn get<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let mut things = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thing) = things.get(&key) {
            return Ok(thing.clone());
        }
        let thing = make()?;
        things.insert(key, thing.clone());
        Ok(thing)
    }
}
