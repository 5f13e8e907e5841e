//! What every HTTP model API has in common: limits, retries, the provider's breaker, cancelling. How a brief and its
//! reply look on the wire is a `Dialect`'s business; one attempt is `attempt.rs`.

pub(crate) mod attempt;
pub(crate) mod body;
pub(crate) mod client;
pub(crate) mod counts;
pub(crate) mod extra;
pub(crate) mod finish;
pub(crate) mod refused;
pub(crate) mod retry;
pub(crate) mod so_far;
pub(crate) mod sse;
pub(crate) mod tools;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use gadfly_engine::{CallFailure, FailureKind, Observation, StopReason, Usage};
use reqwest::header::HeaderMap;
use reqwest::{Client, Url};
use serde_json::value::RawValue;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::agent::{Agent, Call, CallError, CallReply, Link, shorter};
use crate::provider::{CallPermit, Provider, is_of_model};
use crate::secret::Secret;
use crate::services::{Clock, Jitter, enter};
use crate::spec::Timeouts;
use attempt::Attempt;
use so_far::SoFar;
use tools::PartialCalls;

/// A wire format: how a call is written and how its reply is read.
pub(crate) trait Dialect: Send + Sync + 'static {
    /// The call as it is sent; the reply is held to `schema`, if there is one.
    fn body(&self, call: &Call, schema: Option<&RawValue>) -> Result<Vec<u8>, serde_json::Error>;

    /// One event of a stream.
    fn event(&self, data: &[u8], partial: &mut PartialReply) -> Result<(), Broken>;

    /// A reply that came whole, from a server that does not stream.
    fn whole(&self, body: &[u8], partial: &mut PartialReply) -> Result<(), Broken>;

    /// The server names a parameter it does not take. True if the next body will be different.
    fn adapt(&self, param: &str) -> bool;
}

/// A reply as far as it has come.
#[derive(Default)]
pub(crate) struct PartialReply {
    pub text: String,
    /// The tools it asks for.
    pub raw_calls: PartialCalls,
    pub usage: Usage,
    pub stop: Option<StopReason>,
    pub model: Option<String>,
    /// The stream has said that nothing follows.
    pub done: bool,
}

impl PartialReply {
    pub fn model(&mut self, name: &str) {
        if self.model.is_none() && !name.is_empty() {
            self.model = Some(name.to_owned());
        }
    }

    /// What the server says it used. It counts up, so that a smaller figure after a larger one says nothing.
    pub fn used(&mut self, usage: Usage) {
        let cost = usage.cost.max(self.usage.cost);
        if usage.tokens() >= self.usage.tokens() {
            self.usage = usage;
        }
        self.usage.cost = cost;
    }

    /// How much there is of what a reply consists of.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.raw_calls.bytes()
    }
}

/// Why a reply cannot be read any further.
#[derive(Debug)]
pub(crate) enum Broken {
    /// Not what the format says.
    Malformed(String),
    /// The provider reports an error inside its stream.
    Said(Box<refused::ErrorBody>),
}

impl From<sse::TooLong> for Broken {
    fn from(_: sse::TooLong) -> Self {
        Self::Malformed("one event of the stream has no end".to_owned())
    }
}

impl From<serde_json::Error> for Broken {
    fn from(e: serde_json::Error) -> Self {
        Self::Malformed(format!("an event is not the JSON it should be ({e})"))
    }
}

/// How a server is reached.
pub(crate) struct Reach {
    pub client: Client,
    pub endpoint: Url,
    pub host: String,
    pub headers: HeaderMap,
    pub key: Option<Secret>,
    pub timeouts: Timeouts,
    /// The account there: who has no key, no money or no server has none for any model.
    pub provider: Provider,
    /// The model: its rate may be used up, and others' not.
    pub of_model: Provider,
    /// The user says what its tokens cost: a server's word that they cost nothing does not change that.
    pub is_priced: bool,
    /// Values of headers that came from variables: as secret as a key.
    pub hidden: Vec<Secret>,
    pub gate: Option<Arc<Semaphore>>,
    /// This model has turned a schema down before.
    pub schemaless: Arc<AtomicBool>,
    /// The schema of the last call with one: it is read once for all calls that share its text.
    pub schema: Mutex<Option<(Arc<str>, Arc<RawValue>)>>,
    pub clock: Arc<dyn Clock>,
    pub jitter: Arc<dyn Jitter>,
}

impl Reach {
    /// Makes a text from outside safe to record.
    fn scrub(&self, text: String) -> String {
        let text = match &self.key {
            Some(key) => key.scrub(text),
            None => text,
        };
        self.hidden.iter().fold(text, |text, hidden| hidden.scrub(text))
    }
}

pub(crate) struct HttpAgent<D> {
    pub dialect: D,
    pub reach: Reach,
}

impl<D: Dialect> Agent for HttpAgent<D> {
    fn call(&self, call: Call, link: Link) -> BoxFuture<'_, Result<CallReply, CallError>> {
        Box::pin(async move {
            let begun = Instant::now();
            let _permit = enter(self.reach.gate.as_ref(), call.time, &link.cancel).await?;
            let pass = Passes {
                account: self.reach.provider.admit(&link.cancel).await?,
                model: self.reach.of_model.admit(&link.cancel).await?,
            };
            let so_far = SoFar::default();
            let left = call.time.map(|time| time.saturating_sub(begun.elapsed()));
            let time = shorter(left, Some(self.reach.timeouts.call)).unwrap_or(self.reach.timeouts.call);
            tokio::select! {
                biased;
                () = link.cancel.cancelled() => {
                    if let Some(usage) = so_far.stopped() {
                        let _ = link.observe.send(Observation::Usage { usage }).await;
                    }
                    Err(CallError::Cancelled { sent: true })
                }
                ended = tokio::time::timeout(time, self.attempts(&call, &link, pass, time, &so_far)) => {
                    let usage = || so_far.stopped().unwrap_or_default();
                    ended.unwrap_or_else(|_| Err(self.late("the whole reply", "timeout", time, usage())))
                }
            }
        })
    }

    fn is_offered_tools(&self) -> bool {
        true
    }
}

/// The right to make a call, of the account and of the model.
struct Passes {
    account: CallPermit,
    model: CallPermit,
}

impl Passes {
    const fn is_probe(&self) -> bool {
        self.account.is_probe() || self.model.is_probe()
    }

    fn succeeded(self) {
        self.account.succeeded();
        self.model.succeeded();
    }

    /// The one that a failure is about remembers it.
    fn settle(self, why: CallError) -> Result<CallReply, CallError> {
        if is_of_model(&why) { self.model.settle(Err(why)) } else { self.account.settle(Err(why)) }
    }
}

impl<D: Dialect> HttpAgent<D> {
    async fn attempts(
        &self,
        call: &Call,
        link: &Link,
        pass: Passes,
        time: Duration,
        so_far: &SoFar,
    ) -> Result<CallReply, CallError> {
        let end = Instant::now() + time;
        let mut number = 1;
        let mut adapted = 0;
        let mut schema = self.schema(call);
        let mut turned_down = false;
        let mut broke_once = false;
        loop {
            let body = self.dialect.body(call, schema.as_deref()).map_err(|e| {
                CallError::failed(
                    FailureKind::Misconfigured,
                    format!("the brief cannot be written as JSON: {e}"),
                )
            })?;
            so_far.sending(body.len());
            match self.attempt(Bytes::from(body), call.tools.is_some(), link, so_far).await {
                Attempt::Done(mut answered) => {
                    answered.usage = so_far.with(answered.usage);
                    pass.succeeded();
                    // Only now it is known that the schema was what the server did not want.
                    if turned_down {
                        self.reach.schemaless.store(true, Ordering::Relaxed);
                    }
                    return Ok(answered);
                }
                Attempt::Over(why) => {
                    return pass.settle(with_lost(why, so_far));
                }
                Attempt::Unfit(failure) if schema.is_some() => {
                    let message = format!("asked again without a schema for the answer: {}", failure.message);
                    let retrying = Observation::Retrying { attempt: number, kind: failure.kind, message };
                    let _ = link.observe.send(retrying).await;
                    schema = None;
                    turned_down = true;
                }
                // Each parameter can be given up once; a server that names others for ever is stopped.
                Attempt::Adapted(_) if adapted < 4 => adapted += 1,
                Attempt::Adapted(failure) | Attempt::Unfit(failure) => {
                    return Err(with_lost(CallError::Failed(failure), so_far));
                }
                Attempt::Again { failure, by_provider, told, begun } => {
                    let over = |mut failure: CallFailure, pass: Passes| {
                        if by_provider {
                            return pass.settle(with_lost(CallError::Failed(failure), so_far));
                        }
                        failure.message.push_str("; see whether it is running and `base_url` is right");
                        Err(with_lost(CallError::Failed(failure), so_far))
                    };
                    // What had begun is paid for: once is enough.
                    if number == retry::MAX_ATTEMPTS || pass.is_probe() || (begun && broke_once) {
                        return over(failure, pass);
                    }
                    broke_once |= begun;
                    let shut = self.reach.provider.shut().or_else(|| self.reach.of_model.shut());
                    if let Some(shut) = shut {
                        return Err(with_lost(shut, so_far));
                    }
                    let wait = retry::wait(number, told, &*self.reach.jitter);
                    if Instant::now() + wait >= end {
                        return over(failure, pass);
                    }
                    let retrying = Observation::Retrying {
                        attempt: number,
                        kind: failure.kind,
                        message: failure.message,
                    };
                    so_far.lost(failure.usage);
                    // Nobody left to observe is no reason to stop: the caller decides with `cancel`.
                    let _ = link.observe.send(retrying).await;
                    tokio::time::sleep(wait).await;
                    number += 1;
                }
            }
        }
    }

    /// The schema this call's answer is held to, unless the server is known not to take one.
    fn schema(&self, call: &Call) -> Option<Arc<RawValue>> {
        let text = call.schema.as_ref().filter(|_| !self.reach.schemaless.load(Ordering::Relaxed))?;
        let mut last = self.reach.schema.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, read)) = last.as_ref().filter(|(of, _)| Arc::ptr_eq(of, text)) {
            return Some(Arc::clone(read));
        }
        let read: Arc<RawValue> = serde_json::from_str::<Box<RawValue>>(text).ok()?.into();
        *last = Some((Arc::clone(text), Arc::clone(&read)));
        Some(read)
    }

    /// `key` is what to raise.
    fn late(&self, what: &str, key: &str, time: Duration, usage: Usage) -> CallError {
        let (host, ms) = (&self.reach.host, time.as_millis());
        let message =
            format!("{what} did not come from {host} within {ms} ms; raise `{key}` if it needs longer");
        CallError::Failed(CallFailure { kind: FailureKind::Timeout, message, usage })
    }
}

/// With what earlier attempts used for nothing.
fn with_lost(why: CallError, so_far: &SoFar) -> CallError {
    match why {
        CallError::Failed(mut failure) => {
            failure.usage = so_far.with(failure.usage);
            CallError::Failed(failure)
        }
        CallError::Quota { until_ms, message, usage } => {
            CallError::Quota { until_ms, message, usage: so_far.with(usage) }
        }
        cancelled @ CallError::Cancelled { .. } => cancelled,
    }
}
