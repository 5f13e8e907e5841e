//! How agents behind HTTP APIs are built: which form they are spoken to in, at which address, with which headers, and where
//! a key may go.

use std::sync::atomic::AtomicU8;
use std::sync::{Arc, Mutex};

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::{BuildError, Built, is_priced, need};
use crate::anthropic::{self, Anthropic};
use crate::google::{self, Google};
use crate::http::client::{ClientRoute, is_loopback};
use crate::http::extra::Extra;
use crate::http::{Dialect, HttpAgent, Reach};
use crate::openai::{self, OpenAi};
use crate::provider::account;
use crate::responses::{self, Responses};
use crate::services::AgentServices;
use crate::spec::{AgentSpec, Api};
use crate::vendors::{LengthField, Vendor, Wire, only_by_responses};

/// Headers that are not the user's to set: they carry keys, or say how the request is framed.
const OUR_HEADERS: &[&str] = &[
    "accept",
    "accept-encoding",
    "anthropic-version",
    "api-key",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-api-key",
    "x-goog-api-key",
];
const MOST_HEADERS: usize = 32;
const AZURE: [&str; 3] = [".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"];

/// An agent of a vendor, or of a server that speaks as one.
pub(super) fn build(spec: &AgentSpec, services: &AgentServices, vendor: Option<&Vendor>) -> Built {
    match vendor.map_or(Wire::OpenAi, |vendor| vendor.wire) {
        Wire::Anthropic => messages(spec, services, vendor),
        Wire::Google => generate(spec, services, vendor),
        Wire::OpenAi => {
            let url = base_url(spec, vendor, "/v1")?;
            let model = need(spec, "model", spec.model.as_ref())?;
            let host = url.host_str().unwrap_or_default();
            let is_openai = is_azure(&url) || Vendor::by_host(host).is_some_and(|v| v.name == "openai");
            let usual = if is_openai && only_by_responses(model) { Api::Responses } else { Api::Chat };
            match spec.api.unwrap_or(usual) {
                Api::Chat => chat(spec, services, &url),
                Api::Responses => respond(spec, services, &url),
            }
        }
    }
}

fn chat(spec: &AgentSpec, services: &AgentServices, url: &Url) -> Built {
    // The dialect follows the host: a compatible server is asked in the older, wider known way first.
    let host = url.host_str().and_then(Vendor::by_host);
    let length = if is_azure(url) { LengthField::MaxCompletionTokens } else { LengthField::MaxTokens };
    let dialect = OpenAi {
        model: need(spec, "model", spec.model.as_ref())?.clone(),
        system: spec.system.clone(),
        temperature: spec.temperature,
        max_tokens: spec.max_tokens,
        length: host.map_or(length, |v| v.length),
        cache_key: host.is_some_and(|v| v.cache_key),
        effort: spec.effort.clone(),
        extra: extra(spec, openai::OURS)?,
        without: AtomicU8::new(0),
    };
    openai_like(spec, services, url, "chat/completions", dialect)
}

fn respond(spec: &AgentSpec, services: &AgentServices, url: &Url) -> Built {
    let host = url.host_str().and_then(Vendor::by_host);
    let dialect = Responses {
        model: need(spec, "model", spec.model.as_ref())?.clone(),
        system: spec.system.clone(),
        temperature: spec.temperature,
        max_tokens: spec.max_tokens,
        cache_key: host.is_some_and(|v| v.cache_key),
        effort: spec.effort.clone(),
        extra: extra(spec, responses::OURS)?,
        without: AtomicU8::new(0),
    };
    openai_like(spec, services, url, "responses", dialect)
}

/// At `OpenAI`'s addresses, or at Azure's for the same.
fn openai_like<D: Dialect>(
    spec: &AgentSpec,
    services: &AgentServices,
    url: &Url,
    path: &str,
    dialect: D,
) -> Built {
    let is_azure = is_azure(url) || spec.api_version.is_some();
    let endpoint = match &spec.api_version {
        Some(version) => {
            // A deployment is an address of its own; without one in `base_url` it is called as its model.
            let model = spec.model.as_deref().unwrap_or_default();
            let mut below_it = if url.path().contains("/deployments/") || path == "responses" {
                below(url, path)
            } else {
                below(url, &format!("deployments/{model}/{path}"))
            };
            below_it.query_pairs_mut().append_pair("api-version", version);
            below_it
        }
        None => below(url, path),
    };
    let key = |key: &str| {
        if is_azure {
            (HeaderName::from_static("api-key"), key.to_owned())
        } else {
            (AUTHORIZATION, format!("Bearer {key}"))
        }
    };
    Ok(Arc::new(HttpAgent { dialect, reach: reach(spec, services, endpoint, key)? }))
}

fn messages(spec: &AgentSpec, services: &AgentServices, vendor: Option<&Vendor>) -> Built {
    let mut url = base_url(spec, vendor, "/v1")?;
    // As the vendor's own programs take it: `/v1` follows unless it is there.
    if !url.path().trim_end_matches('/').ends_with("/v1") {
        url = below(&url, "v1");
    }
    let dialect = Anthropic {
        model: need(spec, "model", spec.model.as_ref())?.clone(),
        system: spec.system.clone(),
        temperature: spec.temperature,
        max_tokens: spec.max_tokens,
        effort: spec.effort.clone(),
        thinking: spec.thinking_tokens,
        extra: extra(spec, anthropic::OURS)?,
    };
    let endpoint = below(&url, "messages");
    let key = |key: &str| (HeaderName::from_static("x-api-key"), key.to_owned());
    let mut reach = reach(spec, services, endpoint, key)?;
    reach.headers.insert("anthropic-version", HeaderValue::from_static(anthropic::VERSION));
    Ok(Arc::new(HttpAgent { dialect, reach }))
}

fn generate(spec: &AgentSpec, services: &AgentServices, vendor: Option<&Vendor>) -> Built {
    let url = base_url(spec, vendor, "/v1beta")?;
    let model = need(spec, "model", spec.model.as_ref())?;
    let name = model.strip_prefix("models/").unwrap_or(model);
    if name.contains(['/', '?', '#', '%']) {
        let reason = "a model's name may not have / ? # %".to_owned();
        return Err(BuildError::BadOption { agent: spec.name.clone(), option: "model", reason });
    }
    let dialect = Google {
        model: name.to_owned(),
        system: spec.system.clone(),
        temperature: spec.temperature,
        max_tokens: spec.max_tokens,
        effort: spec.effort.clone(),
        thinking: spec.thinking_tokens,
        extra: extra(spec, google::OURS)?,
    };
    let mut endpoint = below(&url, &format!("models/{name}:streamGenerateContent"));
    endpoint.set_query(Some("alt=sse"));
    let key = |key: &str| (HeaderName::from_static("x-goog-api-key"), key.to_owned());
    Ok(Arc::new(HttpAgent { dialect, reach: reach(spec, services, endpoint, key)? }))
}

fn is_azure(url: &Url) -> bool {
    url.host_str().is_some_and(|host| AZURE.iter().any(|azure| host.ends_with(azure)))
}

fn extra(spec: &AgentSpec, ours: &[&str]) -> Result<Extra, BuildError> {
    let Some(json) = &spec.body else { return Ok(Extra::default()) };
    let bad = |reason| BuildError::BadOption { agent: spec.name.clone(), option: "body", reason };
    Extra::read(json, ours).map_err(bad)
}

fn base_url(spec: &AgentSpec, vendor: Option<&Vendor>, usual: &str) -> Result<Url, BuildError> {
    let bad = |reason: &str| BuildError::BadUrl { agent: spec.name.clone(), reason: reason.to_owned() };
    let text = spec.base_url.as_deref().or(vendor.map(|v| v.base_url));
    let text = text.ok_or(BuildError::Missing { agent: spec.name.clone(), field: "base_url" })?;
    let mut url = Url::parse(text).map_err(|e| bad(&e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad("it must begin with http:// or https:// and name a host"));
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(bad("it must carry no user, password or query; give a key with `key_env`"));
    }
    if url.path() == "/" {
        let path = match (is_azure(&url), &spec.api_version) {
            (true, Some(_)) => "/openai",
            (true, None) => "/openai/v1",
            _ => usual,
        };
        url.set_path(path);
    }
    Ok(url)
}

fn below(url: &Url, path: &str) -> Url {
    let mut url = url.clone();
    url.set_path(&format!("{}/{path}", url.path().trim_end_matches('/')));
    url
}

fn reach(
    spec: &AgentSpec,
    services: &AgentServices,
    endpoint: Url,
    header: impl Fn(&str) -> (HeaderName, String),
) -> Result<Reach, BuildError> {
    let agent = || spec.name.clone();
    let bare = endpoint.host_str().unwrap_or_default().to_owned();
    let host = endpoint.port().map_or_else(|| bare.clone(), |port| format!("{bare}:{port}"));
    let local = is_loopback(&endpoint);
    let named = spec.send_key_to.as_deref().is_some_and(|to| {
        let to = to.trim();
        to.eq_ignore_ascii_case(&bare) || to.eq_ignore_ascii_case(&host)
    });
    let is_clear = endpoint.scheme() == "http" && !local && !named;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    add_headers(spec, is_clear, &bare, &mut headers)?;
    if let Some(key) = &spec.key {
        if let Some((key_env, vendor)) =
            spec.key_env.as_deref().and_then(|name| Vendor::by_key_env(name).map(|v| (name, v)))
            && !vendor.owns(&bare)
            && !named
        {
            return Err(BuildError::KeyToOtherHost {
                agent: agent(),
                key_env: key_env.to_owned(),
                vendor: vendor.name,
                host: bare,
            });
        }
        if is_clear {
            return Err(BuildError::KeyInClear { agent: agent(), host: bare });
        }
        let (name, value) = header(key.expose());
        let mut value = HeaderValue::from_str(&value).map_err(|_| BuildError::BadKey { agent: agent() })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let route = ClientRoute { connect: spec.timeouts.connect, local, plain: endpoint.scheme() == "http" };
    let client =
        services.client(route).map_err(|e| BuildError::Client { agent: agent(), reason: e.to_string() })?;
    let model = spec.model.as_deref().unwrap_or_default();
    let way = format!("{endpoint} {model}");
    let account = account(&host, spec.key_env.as_deref(), spec.key.as_ref());
    Ok(Reach {
        client,
        headers,
        key: spec.key.clone(),
        hidden: spec
            .headers
            .iter()
            .filter(|given| given.is_secret)
            .map(|given| given.value.clone())
            .collect(),
        timeouts: spec.timeouts,
        of_model: services.provider(&format!("{account} {model}"), &format!("{model} at {host}")),
        provider: services.provider(&account, &host),
        is_priced: is_priced(spec),
        gate: services.gate(&way, spec.concurrent),
        schemaless: services.schemaless(&way),
        schema: Mutex::default(),
        clock: Arc::clone(&services.clock),
        jitter: Arc::clone(&services.jitter),
        host,
        endpoint,
    })
}

/// The user's own headers, which change nothing of ours.
fn add_headers(
    spec: &AgentSpec,
    is_clear: bool,
    host: &str,
    headers: &mut HeaderMap,
) -> Result<(), BuildError> {
    let agent = || spec.name.clone();
    let bad = |reason: String| BuildError::BadOption { agent: agent(), option: "headers", reason };
    if spec.headers.len() > MOST_HEADERS {
        return Err(bad(format!("there are more than {MOST_HEADERS}")));
    }
    for given in &spec.headers {
        let name = HeaderName::from_bytes(given.name.as_bytes())
            .map_err(|_| bad("the part before the colon is no name of a header".to_owned()))?;
        if OUR_HEADERS.contains(&name.as_str()) {
            return Err(bad(format!("`{name}` is set by Gadfly; a key goes into `key_env`")));
        }
        if given.is_secret && is_clear {
            return Err(BuildError::KeyInClear { agent: agent(), host: host.to_owned() });
        }
        let mut value = HeaderValue::from_str(given.value.expose())
            .map_err(|_| bad(format!("the value of `{name}` has characters that no header may have")))?;
        value.set_sensitive(given.is_secret);
        headers.insert(name, value);
    }
    Ok(())
}

/// Where something of a spec's server is, for tests.
#[cfg(test)]
pub(super) fn at(spec: &AgentSpec, path: &str) -> String {
    base_url(spec, None, "/v1").map_or_else(|e| e.to_string(), |url| below(&url, path).to_string())
}
