//! Fetches a page for a model: bounded in bytes and time, without cookies, keys or a proxy, and never from an
//! address at which a machine tells its own secrets. What a page says is data; nobody acts on it here.

mod address;

use std::error::Error as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use tokio_util::sync::CancellationToken;

use address::{AddressRefused, CheckedResolver, Lookup};

/// How much of an answer is read, whatever of it is wanted.
pub const MOST_READ: usize = 4 << 20;
const REDIRECTS: usize = 5;
const CONNECT: Duration = Duration::from_secs(10);
const LONGEST_URL: usize = 8192;
/// How much of a header or an address is repeated.
const SHOWN: usize = 200;

/// What was at an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fetched {
    pub status: u16,
    /// As the server names it: `text/html; charset=utf-8`.
    pub media: Option<String>,
    /// Its beginning, as UTF-8; what is not is replaced.
    pub body: String,
    /// As far as it was read.
    pub bytes: u64,
    /// There is more than `body` has.
    pub cut: bool,
    /// Where redirects led to.
    pub url: String,
}

/// Fetches pages. One for a whole run; its connections are kept.
#[derive(Default)]
pub struct Fetcher {
    /// Made when it is first needed: it reads the system's certificates.
    client: OnceLock<Result<Client, String>>,
    lookup: Lookup,
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fetcher")
    }
}

impl Fetcher {
    pub fn new() -> Self {
        Self::default()
    }

    /// Gets what is at `url`, at most `most` bytes of it, within `time`. The error is a sentence.
    pub async fn get(
        &self,
        url: &str,
        most: usize,
        time: Duration,
        cancel: &CancellationToken,
    ) -> Result<Fetched, String> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(format!("fetching {} was cancelled", brief(url))),
            got = tokio::time::timeout(time, self.follow(url, most)) => got.unwrap_or_else(|_| {
                Err(format!("{} did not answer completely within {time:?}", brief(url)))
            }),
        }
    }

    async fn follow(&self, url: &str, most: usize) -> Result<Fetched, String> {
        let client = self.client.get_or_init(|| client(&self.lookup)).as_ref().map_err(Clone::clone)?;
        let mut url = parsed(url)?;
        for _ in 0..=REDIRECTS {
            let answer = client.get(url.clone()).send().await.map_err(|e| unreached(&url, e))?;
            match next(&url, &answer)? {
                Some(next) => url = next,
                None => return read(url, answer, most).await,
            }
        }
        Err(format!("{} is one redirect too many: {REDIRECTS} are followed", brief(url.as_str())))
    }
}

fn client(lookup: &Lookup) -> Result<Client, String> {
    // Fails only if a provider is installed already, which then serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .connect_timeout(CONNECT)
        // Followed by hand: every stop is checked as the first one is.
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        // Behind a proxy nobody could say which address is reached.
        .no_proxy()
        .referer(false)
        .dns_resolver(Arc::new(CheckedResolver(lookup.clone())))
        .user_agent(concat!("gadfly/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|e| format!("nothing can be fetched: {}", causes(&e)))
}

fn parsed(text: &str) -> Result<Url, String> {
    if text.len() > LONGEST_URL {
        return Err(format!("an address may have {LONGEST_URL} bytes, this one has {}", text.len()));
    }
    let url = Url::parse(text).map_err(|e| format!("`{}` is no usable address: {e}", brief(text)))?;
    allowed(url)
}

/// Holds for the first address and for every one that a redirect leads to.
fn allowed(url: Url) -> Result<Url, String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("only http and https addresses are fetched, not {}", brief(url.as_str())));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let host = url.host_str().unwrap_or_default();
        return Err(format!(
            "the address of {} has a user name or password in it; leave them out",
            brief(host)
        ));
    }
    // No resolver is asked about a host that is an address.
    if let Some(address) = address::literal(&url) {
        address::check(address).map_err(|refused| refused.to_string())?;
    }
    Ok(url)
}

fn next(from: &Url, answer: &Response) -> Result<Option<Url>, String> {
    if !matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(to) = answer.headers().get(LOCATION) else { return Ok(None) };
    let to = String::from_utf8_lossy(to.as_bytes());
    let led = |why: &str| format!("{} redirects to `{}`: {why}", brief(from.as_str()), brief(&to));
    let url = from.join(&to).map_err(|e| led(&e.to_string()))?;
    allowed(url).map(Some).map_err(|why| led(&why))
}

async fn read(url: Url, mut answer: Response, most: usize) -> Result<Fetched, String> {
    let most = most.min(MOST_READ);
    let status = answer.status().as_u16();
    let media =
        answer.headers().get(CONTENT_TYPE).map(|media| brief(&String::from_utf8_lossy(media.as_bytes())));
    let (mut kept, mut bytes, mut more) = (Vec::new(), 0_usize, false);
    while let Some(chunk) = answer.chunk().await.map_err(|e| unreached(&url, e))? {
        let room = most.saturating_sub(kept.len()).min(chunk.len());
        kept.extend_from_slice(chunk.get(..room).unwrap_or_default());
        bytes += chunk.len();
        if bytes >= MOST_READ {
            more = bytes > MOST_READ || !matches!(answer.chunk().await, Ok(None));
            break;
        }
    }
    let cut = more || bytes > kept.len();
    let (body, shortened) = text(kept, most, cut);
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    Ok(Fetched { status, media, body, bytes, cut: cut || shortened, url: url.into() })
}

/// The text of these bytes within `most`, and whether some of it had to be left out.
fn text(mut bytes: Vec<u8>, most: usize, cut: bool) -> (String, bool) {
    if cut
        && let Err(e) = std::str::from_utf8(&bytes)
        && e.error_len().is_none()
    {
        // The cut went through a character.
        bytes.truncate(e.valid_up_to());
    }
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    // A replacement is longer than what it replaces.
    let end = text.floor_char_boundary(most);
    let shortened = end < text.len();
    text.truncate(end);
    (text, shortened)
}

fn unreached(url: &Url, error: reqwest::Error) -> String {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(refused) = inner.downcast_ref::<AddressRefused>() {
            return refused.to_string();
        }
        cause = inner.source();
    }
    let what = if error.is_connect() { "cannot be reached" } else { "did not answer properly" };
    format!("{} {what}: {}", brief(url.as_str()), causes(&error.without_url()))
}

/// What went wrong, from the outside in.
fn causes(error: &reqwest::Error) -> String {
    let (mut said, mut cause) = (error.to_string(), error.source());
    while let Some(inner) = cause.filter(|_| said.len() < 1000) {
        let inner_said = inner.to_string();
        if !said.contains(&inner_said) {
            said = format!("{said}: {inner_said}");
        }
        cause = inner.source();
    }
    said
}

fn brief(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests;
