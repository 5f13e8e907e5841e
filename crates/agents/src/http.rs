//! What every HTTP model API has in common: limits, retries, the provider's breaker, cancelling. How a brief and its
//! reply look on the wire is a `Dialect`'s business; one attempt is `attempt.rs`.

pub(crate) mod attempt;
pub(crate) mod client;
pub(crate) mod counts;
pub(crate) mod refused;
pub(crate) mod retry;
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
use crate::provider::{CallPermit, Provider};
use crate::secret::Secret;
use crate::services::{Clock, Jitter, enter};
use crate::spec::Timeouts;
use attempt::Attempt;
use tools::PartialCalls;

/// A wire format: how a call is written and how its reply is read.
pub(crate) trait Dialect: Send + Sync + 'static {
    /// The call as it is sent; the reply is held to `schema`, if there is one.
    fn body(&self, call: &Call, schema: Option<&RawValue>) -> Result<Vec<u8>, serde_json::Error>;

    /// One event of a stream.
    fn event(&self, data: &[u8], partial: &mut PartialReply) -> Result<(), Broken>;

    /// A reply that came whole, from a server that does not stream.
    fn whole(&self, body: &[u8], partial: &mut PartialReply) -> Result<(), Broken>;

    /// Whether the reply came to its end, and not merely the connection.
    fn finished(&self, partial: &PartialReply) -> bool {
        partial.stop.is_some()
    }

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
    Said(refused::ErrorBody),
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
    pub provider: Provider,
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
        match &self.key {
            Some(key) => key.scrub(text),
            None => text,
        }
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
            let pass = self.reach.provider.admit(&link.cancel).await?;
            let left = call.time.map(|time| time.saturating_sub(begun.elapsed()));
            let time = shorter(left, Some(self.reach.timeouts.call)).unwrap_or(self.reach.timeouts.call);
            tokio::select! {
                biased;
                () = link.cancel.cancelled() => Err(CallError::Cancelled { sent: true }),
                ended = tokio::time::timeout(time, self.attempts(&call, &link, pass, time)) => {
                    ended.unwrap_or_else(|_| Err(self.late("the whole reply", time)))
                }
            }
        })
    }

    fn is_offered_tools(&self) -> bool {
        true
    }
}

impl<D: Dialect> HttpAgent<D> {
    async fn attempts(
        &self,
        call: &Call,
        link: &Link,
        pass: CallPermit,
        time: Duration,
    ) -> Result<CallReply, CallError> {
        let end = Instant::now() + time;
        let mut number = 1;
        let mut adapted = 0;
        let mut schema = self.schema(call);
        let mut turned_down = false;
        loop {
            let body = self.dialect.body(call, schema.as_deref()).map_err(|e| {
                CallError::failed(
                    FailureKind::Misconfigured,
                    format!("the brief cannot be written as JSON: {e}"),
                )
            })?;
            match self.attempt(Bytes::from(body), call.tools.is_some(), link).await {
                Attempt::Done(answered) => {
                    pass.succeeded();
                    // Only now it is known that the schema was what the server did not want.
                    if turned_down {
                        self.reach.schemaless.store(true, Ordering::Relaxed);
                    }
                    return Ok(answered);
                }
                Attempt::Over(why) => {
                    return pass.settle(Err(why));
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
                    return Err(CallError::Failed(failure));
                }
                Attempt::Again { failure, by_provider, told } => {
                    let over = |mut failure: CallFailure, pass: CallPermit| {
                        if by_provider {
                            return Err(pass.failed(CallError::Failed(failure)));
                        }
                        failure.message.push_str("; see whether it is running and `base_url` is right");
                        Err(CallError::Failed(failure))
                    };
                    if number == retry::MAX_ATTEMPTS || pass.is_probe() {
                        return over(failure, pass);
                    }
                    if let Some(shut) = self.reach.provider.shut() {
                        return Err(shut);
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

    fn late(&self, what: &str, time: Duration) -> CallError {
        CallError::failed(
            FailureKind::Timeout,
            format!(
                "{what} did not come from {} within {} ms; raise `timeout` if it needs longer",
                self.reach.host,
                time.as_millis()
            ),
        )
    }
}
