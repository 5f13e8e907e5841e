//! The entrance: who is let in, and what every answer carries. A request names one of our hosts, comes from one of our
//! own pages or from no page at all, and brings the token, or shows that it is known, where there is something to see.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Query, Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Dashboard;
use super::listening::Guest;
use super::proof::{self, NotLetIn, SignedRequest};
use super::refusal::HttpRefusal;

/// The most a request may bring, and how long it may take. A person's answer may be a whole draft.
const MOST_BODY: usize = 16 << 20;
const PATIENCE: Duration = Duration::from_secs(30);

/// The port that browsers leave out.
const USUAL_PORT: u16 = 80;

/// Nothing from elsewhere, nothing inline, nothing that turns text into markup, in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
    trusted-types 'none'";

const ALWAYS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
];

/// The names this server goes by, each with its port.
#[derive(Clone, Debug)]
pub struct Hosts(Vec<String>);

impl Hosts {
    /// What the address is called by itself, and what the user says it is called.
    pub fn of(address: SocketAddr, also: &[String]) -> Self {
        let mut names: Vec<String> = match address.ip() {
            ip if ip.is_loopback() || ip.is_unspecified() => {
                ["127.0.0.1", "localhost", "[::1]"].map(str::to_owned).to_vec()
            }
            IpAddr::V4(ip) => vec![ip.to_string()],
            IpAddr::V6(ip) => vec![format!("[{ip}]")],
        };
        names.extend(also.iter().cloned());
        let port = address.port();
        let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        if port == USUAL_PORT {
            // There browsers leave it out.
            hosts.extend(names);
        }
        Self(hosts)
    }

    fn has(&self, host: &str) -> bool {
        self.0.iter().any(|known| known.eq_ignore_ascii_case(host))
    }
}

/// Host and Origin, for everything; and the headers of every answer.
pub async fn at_the_door(State(dashboard): State<Arc<Dashboard>>, request: Request, next: Next) -> Response {
    let mut response = match let_in(&dashboard.hosts, request.method(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// A name that leads here by somebody else's doing is not one of ours, and a foreign page may not speak for the user.
fn let_in(hosts: &Hosts, method: &Method, headers: &HeaderMap) -> Result<(), HttpRefusal> {
    let one = |name: HeaderName| {
        let mut all = headers.get_all(name).iter();
        match (all.next(), all.next()) {
            (Some(value), None) => value.to_str().ok(),
            _ => None,
        }
    };
    if !one(header::HOST).is_some_and(|host| hosts.has(host)) {
        return Err(HttpRefusal::new(
            StatusCode::MISDIRECTED_REQUEST,
            "this server does not go by that name",
        )
        .help("open the link that `gadfly serve` printed, or allow the name with --allow-host"));
    }
    if headers.contains_key(header::ORIGIN) {
        let ours = one(header::ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
        if !ours.is_some_and(|host| hosts.has(host)) {
            return Err(HttpRefusal::new(StatusCode::FORBIDDEN, "requests from other pages are refused"));
        }
    }
    let site = one(HeaderName::from_static("sec-fetch-site"));
    if *method != Method::GET && site.is_some_and(|site| site != "same-origin" && site != "none") {
        return Err(HttpRefusal::new(StatusCode::FORBIDDEN, "requests from other pages are refused"));
    }
    Ok(())
}

/// The request with its body read: within bounds, in time, and the one that was marked.
async fn read(request: Request, signed: Option<&SignedRequest>) -> Result<Request, HttpRefusal> {
    let too_large = || HttpRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, "that is too large for a request");
    let (head, body) = request.into_parts();
    let announced = head.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if announced.is_some_and(|length| length.parse::<usize>().is_ok_and(|length| length > MOST_BODY)) {
        return Err(too_large());
    }
    let reading = axum::body::to_bytes(body, MOST_BODY);
    match tokio::time::timeout(PATIENCE, reading).await {
        Ok(Ok(bytes)) if signed.is_some_and(|signed| !signed.is_of(&bytes)) => {
            Err(HttpRefusal::bad("the request is not the one that was marked"))
        }
        Ok(Ok(bytes)) => Ok(Request::from_parts(head, bytes.into())),
        Ok(Err(_)) => Err(too_large()),
        Err(_) => Err(HttpRefusal::new(StatusCode::REQUEST_TIMEOUT, "the rest of the request did not come")),
    }
}

/// The token, for everything but the page's own files: they hold nothing of the user's. A program may send it; the page
/// never does, and shows in every request that it knows it.
pub async fn with_token(State(dashboard): State<Arc<Dashboard>>, request: Request, next: Next) -> Response {
    let signed = match offered(&dashboard, &request) {
        Ok(signed) => signed,
        Err(refusal) => {
            let mut response = refusal.into_response();
            let schemes = HeaderValue::from_static("Bearer, Gadfly");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, schemes);
            return response;
        }
    };
    if let Some(guest) = request.extensions().get::<Arc<Guest>>() {
        guest.is_known();
    }
    let mut response = match read(request, signed.as_ref()).await {
        Ok(request) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    if let Some(signed) = signed {
        let mark = dashboard.proof.of_answer(&signed.nonce, response.status().as_u16());
        if let Ok(mark) = HeaderValue::from_str(&mark) {
            response.headers_mut().insert(HeaderName::from_static(proof::HEADER), mark);
        }
    }
    response
}

/// What lets the request in: the token itself, or a page's mark.
fn offered(dashboard: &Dashboard, request: &Request) -> Result<Option<SignedRequest>, HttpRefusal> {
    let wrong = || {
        HttpRefusal::new(StatusCode::UNAUTHORIZED, "the token is missing or wrong")
            .help("open the link that `gadfly serve` printed")
    };
    let offered = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let offered = offered.ok_or_else(wrong)?;
    if let Some(mark) = offered.strip_prefix(proof::SCHEME) {
        let uri = request.uri();
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        return dashboard.proof.lets_in(request.method(), path, mark).map(Some).map_err(|why| match why {
            NotLetIn::Wrong => wrong(),
            NotLetIn::Again => HttpRefusal::new(StatusCode::UNAUTHORIZED, "this request was made before"),
            NotLetIn::Full => HttpRefusal::new(
                StatusCode::UNAUTHORIZED,
                "this server has taken too many requests: start `gadfly serve` anew",
            ),
        });
    }
    let token = offered.strip_prefix("Bearer ").ok_or_else(wrong)?;
    if dashboard.token.is(token.trim()) { Ok(None) } else { Err(wrong()) }
}

#[derive(Deserialize)]
pub struct Hello {
    #[serde(default)]
    nonce: String,
}

/// Shows a page that this server knows the token, before the page shows anything itself.
pub async fn hello(
    State(dashboard): State<Arc<Dashboard>>,
    Query(Hello { nonce }): Query<Hello>,
) -> Result<Json<Value>, HttpRefusal> {
    let proof = dashboard.proof.to_a_page(&nonce);
    let proof = proof.ok_or_else(|| HttpRefusal::bad("`nonce` has to be 32 hexadecimal digits"))?;
    Ok(Json(json!({ "start": dashboard.proof.start(), "proof": proof })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_goes_by_its_address_and_by_the_names_it_was_given() {
        let hosts = |address: &str, also: &[&str]| {
            Hosts::of(
                address.parse().unwrap(),
                &also.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(),
            )
        };
        let table = [
            (
                "127.0.0.1:7117",
                vec!["127.0.0.1:7117", "LOCALHOST:7117", "[::1]:7117"],
                vec!["127.0.0.1", "localhost:7118"],
            ),
            ("127.0.0.1:80", vec!["127.0.0.1", "localhost:80", "localhost"], vec!["box.example"]),
            (
                "0.0.0.0:7117",
                vec!["127.0.0.1:7117", "box.example:7117"],
                vec!["0.0.0.0:7117", "10.0.0.1:7117"],
            ),
            ("10.0.0.1:7117", vec!["10.0.0.1:7117", "box.example:7117"], vec!["127.0.0.1:7117"]),
            ("[::]:7117", vec!["[::1]:7117"], vec!["[::]:7117"]),
        ];
        for (address, ours, others) in table {
            let hosts = hosts(address, &["box.example"][..usize::from(!address.starts_with("127"))]);
            for host in ours {
                assert!(hosts.has(host), "{address} is {host}");
            }
            for host in others {
                assert!(!hosts.has(host), "{address} is not {host}");
            }
        }
    }
}
