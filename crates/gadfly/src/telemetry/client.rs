//! The HTTP client spans are sent with: our own, without redirects, bounded in time and in what it reads. It remembers
//! in a few words what went wrong last.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::redirect::Policy;

use super::destination::Destination;

/// How long one request may take, from the connection to the end of the answer.
pub const TIMEOUT: Duration = Duration::from_secs(3);
/// The most of an answer that is read: a collector that took everything says nothing.
const LONGEST_ANSWER: usize = 64 * 1024;
/// The headers of the environment are for the address of the environment: these are all that others get.
const PLAIN: [&str; 2] = ["content-type", "user-agent"];

/// Why the last request failed, for whoever sends spans.
#[derive(Clone, Default, Debug)]
pub struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    pub fn said(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn say(&self, what: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }
}

pub struct OtlpClient {
    inner: reqwest::Client,
    trouble: Trouble,
    /// Names of headers that may be sent; none: all of them.
    allowed: Option<Vec<String>>,
}

impl OtlpClient {
    pub fn new(destination: &Destination, trouble: Trouble) -> Result<Self, reqwest::Error> {
        // Fails only if a provider is installed already, which then serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .user_agent(concat!("gadfly/", env!("CARGO_PKG_VERSION")));
        let inner = match (destination.loopback, destination.tls) {
            // The system's certificates are hundreds of files that nothing here would look at.
            (true, false) => builder.no_proxy().tls_certs_only([]).build()?,
            (true, true) => builder.no_proxy().build()?,
            (false, _) => builder.build()?,
        };
        let own = destination.headers.keys().map(|name| name.to_ascii_lowercase());
        let plain = PLAIN.iter().map(|name| (*name).to_owned());
        let allowed = (!destination.of_environment).then(|| own.chain(plain).collect());
        Ok(Self { inner, trouble, allowed })
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let mut sending = self.inner.post(parts.uri.to_string());
        for (name, value) in &parts.headers {
            let allowed = self.allowed.as_ref().is_none_or(|all| all.iter().any(|one| one == name.as_str()));
            if allowed {
                sending = sending.header(name, value);
            }
        }
        let answer = sending.body(body).send().await;
        let mut answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                self.trouble.say(in_words(&error));
                return Err(error.into());
            }
        };
        let status = answer.status();
        let mut kept = Vec::new();
        while kept.len() < LONGEST_ANSWER {
            match answer.chunk().await {
                Ok(Some(chunk)) => {
                    let most = chunk.len().min(LONGEST_ANSWER - kept.len());
                    kept.extend_from_slice(&chunk[..most]);
                }
                Ok(None) => break,
                // It was taken, and only the answer was cut off.
                Err(_) if status.is_success() => break,
                Err(error) => {
                    self.trouble.say(in_words(&error));
                    return Err(error.into());
                }
            }
        }
        if !status.is_success() {
            self.trouble.say(format!("it answers with status {}", status.as_u16()));
        }
        Ok(Response::builder().status(status.as_u16()).body(kept.into())?)
    }
}

/// What a person can do something about; never the address, which is said beside it.
fn in_words(error: &reqwest::Error) -> String {
    let what = if error.is_timeout() {
        "no answer in time"
    } else if error.is_connect() {
        "it cannot be reached"
    } else {
        "the connection broke"
    };
    what.to_owned()
}

impl fmt::Debug for OtlpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

// Written out: the trait is made by a macro whose crate nothing else here needs.
impl HttpClient for OtlpClient {
    fn send_bytes<'s, 'f>(
        &'s self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(self.send(request))
    }
}
