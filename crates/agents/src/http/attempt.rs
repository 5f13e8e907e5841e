//! One attempt at one call: send, wait for the first byte, read the reply within its bounds.

use std::error::Error as _;
use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use gadfly_engine::{CallFailure, FailureKind, Money, StopReason, Usage};
use reqwest::header::LOCATION;
use reqwest::{Method, Request, Response};
use tokio::time::{Instant, timeout, timeout_at};

use super::body::{Form, Unpacking, form};
use super::refused::{ErrorBody, ErrorMeaning, short};
use super::so_far::SoFar;
use super::sse::Sse;
use super::{Broken, Dialect, HttpAgent, PartialReply, retry};
use crate::agent::{CallError, CallReply, Link, MAX_REPLY, RawToolCall};

/// The most bytes a reply may take on the wire, reasoning and framing included.
const MAX_WIRE: usize = 64 * 1024 * 1024;
const MAX_ERROR: usize = 64 * 1024;
/// How long the end of a stream may follow its last event, so that the connection can be used again.
const DRAIN: Duration = Duration::from_millis(500);
/// The key that says how long the beginning of a reply may take.
const FIRST_BYTE: &str = "first_byte_timeout";

pub(crate) enum Attempt {
    Done(CallReply),
    /// Failed in a way that may pass. `by_provider` if the provider itself said so, not the network;
    /// `told` is the wait the provider asks for.
    Again {
        failure: CallFailure,
        by_provider: bool,
        told: Option<Duration>,
        /// Some of the reply had come, which is paid for.
        begun: bool,
    },
    /// The server refused a parameter that the next body will not have.
    Adapted(CallFailure),
    /// The server finds the request itself wrong, by nothing else that we know: perhaps by its schema.
    Unfit(CallFailure),
    Over(CallError),
}

fn failure(kind: FailureKind, message: String, usage: Usage) -> CallFailure {
    CallFailure { kind, message, usage }
}

impl<D: Dialect> HttpAgent<D> {
    /// `offered` says whether the model was offered tools.
    pub(super) async fn attempt(&self, body: Bytes, offered: bool, link: &Link, so_far: &SoFar) -> Attempt {
        let mut request = Request::new(Method::POST, self.reach.endpoint.clone());
        *request.headers_mut() = self.reach.headers.clone();
        *request.body_mut() = Some(body.into());
        let first = self.reach.timeouts.first_byte;
        let first_by = Instant::now() + first;
        let response = match timeout_at(first_by, self.reach.client.execute(request)).await {
            Err(_) => {
                let usage = so_far.stopped().unwrap_or_default();
                return Attempt::Over(self.late("the beginning of the reply", FIRST_BYTE, first, usage));
            }
            Ok(Err(e)) => return self.unsent(e),
            Ok(Ok(response)) => response,
        };
        if !response.status().is_success() {
            return self.refused(response, offered).await;
        }
        let mut partial = PartialReply::default();
        let mut attempt = match self.read(response, first_by, &mut partial, link, so_far).await {
            Ok(()) => self.judge(partial, offered),
            Err(attempt) => {
                so_far.heard(partial.bytes(), partial.usage);
                *attempt
            }
        };
        // The brief was taken: what its server did not count is estimated.
        let usage = match &mut attempt {
            Attempt::Done(answered) => &mut answered.usage,
            Attempt::Again { failure, .. } | Attempt::Over(CallError::Failed(failure)) => &mut failure.usage,
            Attempt::Over(CallError::Quota { usage, .. }) => usage,
            _ => return attempt,
        };
        if self.reach.is_priced && usage.cost == Some(Money(0)) {
            usage.cost = None;
        }
        *usage = so_far.completed(*usage);
        attempt
    }

    /// The request got no reply at all.
    fn unsent(&self, e: reqwest::Error) -> Attempt {
        let e = e.without_url();
        let host = &self.reach.host;
        match tls_fault(&e) {
            Some(rustls::Error::InvalidMessage(_)) => Attempt::Over(CallError::failed(
                FailureKind::Misconfigured,
                format!(
                    "{host} does not speak TLS on that port; if it is meant to be plain, use http:// in `base_url`"
                ),
            )),
            Some(fault) => Attempt::Over(CallError::failed(
                FailureKind::Misconfigured,
                format!("{host} cannot be trusted: {fault}"),
            )),
            None => {
                let what = if e.is_connect() { "cannot be reached" } else { "closed the connection" };
                let key = if e.is_timeout() { "; raise `connect_timeout` if it needs longer" } else { "" };
                let message = format!("{host} {what}: {}{key}", self.short(&chain(&e)));
                Attempt::Again {
                    failure: failure(FailureKind::Unavailable, message, Usage::default()),
                    by_provider: false,
                    told: None,
                    begun: false,
                }
            }
        }
    }

    async fn refused(&self, mut response: Response, offered: bool) -> Attempt {
        let status = response.status();
        let told = retry::told(response.headers(), self.reach.clock.now_ms());
        let location = response
            .headers()
            .get(LOCATION)
            .and_then(|v| v.to_str().ok())
            .map(|to| self.short(to))
            .unwrap_or_default();
        let mut body = Vec::new();
        // The status alone is enough to act on: a body that does not come is not waited for.
        while let Ok(Ok(Some(piece))) =
            timeout(self.reach.timeouts.idle.min(DRAIN * 4), response.chunk()).await
        {
            if body.len() + piece.len() > MAX_ERROR {
                break;
            }
            body.extend_from_slice(&piece);
        }
        let body = match &mut Unpacking::of(response.headers(), MAX_ERROR) {
            Some(unpacking) => unpacking.feed(&body).unwrap_or_default(),
            None => body,
        };
        let said = ErrorBody::read(&body);
        let told = told.or(said.wait);
        let mut message = format!("{} answered {status}", self.reach.host);
        if !said.message.is_empty() {
            let _ = write!(message, ": {}", self.short(&said.message));
        }
        let meaning = said.meaning(status.as_u16());
        if status.is_redirection() {
            let _ = write!(message, "; it points to {location}: correct `base_url`");
        } else {
            message.push_str(meaning.advice());
        }
        let is_unfit =
            matches!(meaning, ErrorMeaning::Lasting(FailureKind::Misconfigured) | ErrorMeaning::NotFound);
        if is_unfit && offered {
            message.push_str(
                "; it was offered tools: a model that takes none cannot be the worker of a goal or an audit",
            );
        }
        let message = self.reach.scrub(message);
        if matches!(status.as_u16(), 400 | 422) && !said.param.is_empty() && self.dialect.adapt(&said.param) {
            return Attempt::Adapted(failure(FailureKind::Misconfigured, message, Usage::default()));
        }
        // Routers say that they find nobody who takes what was asked for.
        if matches!(status.as_u16(), 400 | 404 | 422) && is_unfit {
            return Attempt::Unfit(failure(FailureKind::Misconfigured, message, Usage::default()));
        }
        self.meant(meaning, message, told, Usage::default())
    }

    fn meant(&self, meaning: ErrorMeaning, message: String, told: Option<Duration>, usage: Usage) -> Attempt {
        match meaning {
            ErrorMeaning::NoQuota => Attempt::Over(CallError::Quota { until_ms: None, message, usage }),
            ErrorMeaning::Passing(_) if told.is_some_and(|wait| wait > retry::LONGEST_WAIT) => {
                let ms = told.map_or(0, |wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
                let until = self.reach.clock.now_ms().saturating_add(ms);
                Attempt::Over(CallError::Quota { until_ms: Some(until), message, usage })
            }
            ErrorMeaning::Passing(kind) => Attempt::Again {
                failure: failure(kind, message, usage),
                by_provider: true,
                told,
                begun: false,
            },
            ErrorMeaning::NotFound => {
                Attempt::Over(CallError::Failed(failure(FailureKind::Misconfigured, message, usage)))
            }
            ErrorMeaning::Lasting(kind) => Attempt::Over(CallError::Failed(failure(kind, message, usage))),
        }
    }

    async fn read(
        &self,
        mut response: Response,
        first_by: Instant,
        partial: &mut PartialReply,
        link: &Link,
        so_far: &SoFar,
    ) -> Result<(), Box<Attempt>> {
        let idle = self.reach.timeouts.idle;
        let mut unpacking = Unpacking::of(response.headers(), MAX_WIRE);
        let (mut sse, mut body, mut wire, mut is) = (Sse::default(), Vec::new(), 0, None);
        let (mut by, mut told) = (first_by, 0);
        while !partial.done {
            let piece = match timeout_at(by, response.chunk()).await {
                Ok(Ok(Some(piece))) => piece,
                Ok(Ok(None)) => break,
                Ok(Err(e)) => return Err(Box::new(self.cut(partial, &self.short(&chain(&e.without_url()))))),
                Err(_) if wire == 0 => {
                    let usage = so_far.stopped().unwrap_or_default();
                    let first = self.reach.timeouts.first_byte;
                    let late = self.late("the first piece of the reply", FIRST_BYTE, first, usage);
                    return Err(Box::new(Attempt::Over(late)));
                }
                Err(_) => return Err(Box::new(Attempt::Over(self.stalled(partial, idle)))),
            };
            by = Instant::now() + idle;
            let unpacked = match &mut unpacking {
                Some(unpacking) => {
                    let fed = unpacking.feed(&piece);
                    Some(fed.map_err(|broken| Box::new(self.broken(broken, partial)))?)
                }
                None => None,
            };
            let bytes = unpacked.as_deref().unwrap_or(&piece);
            wire += bytes.len();
            is = is.or_else(|| form(bytes));
            match is {
                None if wire <= MAX_REPLY => continue,
                Some(Form::Stream) => sse
                    .feed(bytes, |data| self.dialect.event(data, partial))
                    .map_err(|broken| Box::new(self.broken(broken, partial)))?,
                Some(Form::Page | Form::Other) => return Err(Box::new(self.no_reply(bytes, is))),
                Some(Form::Whole) | None => body.extend_from_slice(bytes),
            }
            told = self.tell(&partial.text, told, link);
            so_far.heard(partial.bytes(), partial.usage);
            if wire > MAX_WIRE || partial.bytes().max(body.len()) > MAX_REPLY {
                let (what, most) = if wire > MAX_WIRE { ("stream", MAX_WIRE) } else { ("reply", MAX_REPLY) };
                let message = format!("the {what} of {} is longer than {most} bytes", self.reach.host);
                let failed = failure(FailureKind::BadReply, message, partial.usage);
                return Err(Box::new(Attempt::Over(CallError::Failed(failed))));
            }
        }
        if is == Some(Form::Stream) && !partial.done {
            // The last event may lack the blank line that ends it.
            sse.finish(|data| self.dialect.event(data, partial))
                .map_err(|broken| Box::new(self.broken(broken, partial)))?;
            self.tell(&partial.text, told, link);
        }
        if is == Some(Form::Whole) {
            self.dialect.whole(&body, partial).map_err(|broken| Box::new(self.broken(broken, partial)))?;
            self.tell(&partial.text, 0, link);
            so_far.heard(partial.bytes(), partial.usage);
        } else if partial.done {
            // A connection whose reply is read to the very end goes back to the pool.
            let _ = timeout(DRAIN, response.chunk()).await;
        }
        Ok(())
    }

    /// Enough of a text from outside, and nothing of the key: a cut through it would hide it from `scrub`.
    pub(crate) fn short(&self, text: &str) -> String {
        short(&self.reach.scrub(text.to_owned()))
    }

    /// Tells what is new since `told` and says how far it got: a key that comes in pieces is waited for.
    fn tell(&self, text: &str, told: usize, link: &Link) -> usize {
        let held = self.reach.key.as_ref().map_or(0, |key| key.begun(text));
        let end = text.len().saturating_sub(held).max(told);
        match text.get(told..end).filter(|new| !new.is_empty()) {
            Some(new) if link.progress.is_heard() => link.progress.say(&self.reach.scrub(new.to_owned())),
            _ => {}
        }
        end
    }

    /// Something came with 200 that is no reply of an API.
    fn no_reply(&self, bytes: &[u8], is: Option<Form>) -> Attempt {
        let host = &self.reach.host;
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
        let message = if is == Some(Form::Page) {
            format!(
                "{host} answered with a web page, not as an API does; check `base_url` (does it end with /v1?)"
            )
        } else {
            format!(
                "{host} answered with something that is no reply: {}; check `base_url`",
                self.short(&text)
            )
        };
        Attempt::Over(CallError::failed(FailureKind::Misconfigured, message))
    }

    fn stalled(&self, partial: &PartialReply, idle: Duration) -> CallError {
        CallError::Failed(failure(
            FailureKind::Timeout,
            format!(
                "{} fell silent for {} ms after {} bytes of its reply; raise `idle_timeout` if it needs longer",
                self.reach.host,
                idle.as_millis(),
                partial.bytes()
            ),
            partial.usage,
        ))
    }

    /// The connection broke. Before any of it came the call can simply be made again; after it, what came is no
    /// reply, and whether it is paid for twice is not decided here.
    fn cut(&self, partial: &PartialReply, how: &str) -> Attempt {
        let bytes = partial.bytes();
        let message = format!("{} broke off after {bytes} bytes of its reply: {how}", self.reach.host);
        if bytes == 0 {
            return Attempt::Again {
                failure: failure(FailureKind::Unavailable, message, partial.usage),
                by_provider: false,
                told: None,
                begun: false,
            };
        }
        Attempt::Over(CallError::Failed(failure(FailureKind::BrokenOff, message, partial.usage)))
    }

    fn broken(&self, broken: Broken, partial: &PartialReply) -> Attempt {
        match broken {
            Broken::Malformed(what) => Attempt::Over(CallError::Failed(failure(
                FailureKind::BadReply,
                format!("the reply of {} cannot be read: {}", self.reach.host, self.short(&what)),
                partial.usage,
            ))),
            Broken::Said(said) => {
                let meaning = said.meaning(200);
                let (host, why) = (&self.reach.host, self.short(&said.message));
                let message = format!("{host} reported an error: {why}{}", meaning.advice());
                let mut attempt = self.meant(meaning, message, said.wait, partial.usage);
                // Nothing of an unfinished reply was acted on.
                if let Attempt::Again { begun, .. } = &mut attempt {
                    *begun = partial.bytes() > 0;
                }
                attempt
            }
        }
    }

    fn judge(&self, mut partial: PartialReply, offered: bool) -> Attempt {
        // Some servers say that nothing follows, and not why.
        let unsaid = partial.done && partial.bytes() > 0;
        let Some(stop) = partial.stop.take().or_else(|| unsaid.then_some(StopReason::EndTurn)) else {
            return self.cut(&partial, "the stream ended without its finish");
        };
        let stop = match stop {
            // Some servers say of every reply that it ended well.
            StopReason::EndTurn if offered && !partial.raw_calls.is_empty() => StopReason::ToolUse,
            // Who was offered nothing cannot be given what it asks for.
            StopReason::ToolUse if !offered => StopReason::Other("tool_use".to_owned()),
            StopReason::EndTurn if !partial.raw_calls.is_empty() && partial.text.trim().is_empty() => {
                StopReason::Other("tool_use".to_owned())
            }
            said => said,
        };
        if stop == StopReason::EndTurn && partial.text.trim().is_empty() {
            let message = format!("the reply of {} is empty", self.reach.host);
            return Attempt::Over(CallError::Failed(failure(FailureKind::BadReply, message, partial.usage)));
        }
        let stop = match stop {
            StopReason::Other(said) => StopReason::Other(self.short(&said)),
            known => known,
        };
        // In a reply that was cut the last of them may be half a call.
        let raw_calls = if stop == StopReason::ToolUse { partial.raw_calls.finish() } else { Vec::new() };
        let scrubbed = |raw_call: RawToolCall| RawToolCall {
            id: self.reach.scrub(raw_call.id),
            name: self.reach.scrub(raw_call.name),
            args: self.reach.scrub(raw_call.args),
        };
        Attempt::Done(CallReply {
            text: self.reach.scrub(partial.text),
            stop,
            usage: partial.usage,
            model: partial.model.map(|m| self.short(&m)),
            session: None,
            calls: raw_calls.into_iter().map(scrubbed).collect(),
        })
    }
}

/// A TLS fault anywhere below an error.
fn tls_fault(e: &reqwest::Error) -> Option<&rustls::Error> {
    let mut next = e.source();
    while let Some(e) = next {
        if let Some(tls) = e.downcast_ref::<rustls::Error>() {
            return Some(tls);
        }
        // An `io::Error` hides what it wraps from `source`.
        if let Some(inner) = e.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            if let Some(tls) = inner.downcast_ref::<rustls::Error>() {
                return Some(tls);
            }
            if let Some(io) = inner.downcast_ref::<std::io::Error>()
                && let Some(tls) = io.get_ref().and_then(|i| i.downcast_ref::<rustls::Error>())
            {
                return Some(tls);
            }
        }
        next = e.source();
    }
    None
}

/// The innermost reason is the one that helps.
fn chain(e: &reqwest::Error) -> String {
    let mut last = e.to_string();
    let mut next = e.source();
    while let Some(e) = next {
        last = e.to_string();
        next = e.source();
    }
    last
}
