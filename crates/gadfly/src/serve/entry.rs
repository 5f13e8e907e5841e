//! The entrance: who is let in, and what every answer carries. A request names one of our hosts, comes from one of our
//! own pages or from no page at all, and brings the token where there is something to see.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::Dashboard;
use super::listening::Guest;
use super::refusal::Refusal;

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
fn let_in(hosts: &Hosts, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    let one = |name: HeaderName| {
        let mut all = headers.get_all(name).iter();
        match (all.next(), all.next()) {
            (Some(value), None) => value.to_str().ok(),
            _ => None,
        }
    };
    if !one(header::HOST).is_some_and(|host| hosts.has(host)) {
        return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, "this server does not go by that name")
            .help("open the link that `gadfly serve` printed, or allow the name with --allow-host"));
    }
    if headers.contains_key(header::ORIGIN) {
        let ours = one(header::ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
        if !ours.is_some_and(|host| hosts.has(host)) {
            return Err(Refusal::new(StatusCode::FORBIDDEN, "requests from other pages are refused"));
        }
    }
    let site = one(HeaderName::from_static("sec-fetch-site"));
    if *method != Method::GET && site.is_some_and(|site| site != "same-origin" && site != "none") {
        return Err(Refusal::new(StatusCode::FORBIDDEN, "requests from other pages are refused"));
    }
    Ok(())
}

/// The request with its body read: within bounds, and in time.
async fn read(request: Request) -> Result<Request, Refusal> {
    let too_large = || Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "that is too large for a request");
    let (head, body) = request.into_parts();
    let announced = head.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if announced.is_some_and(|length| length.parse::<usize>().is_ok_and(|length| length > MOST_BODY)) {
        return Err(too_large());
    }
    let reading = axum::body::to_bytes(body, MOST_BODY);
    match tokio::time::timeout(PATIENCE, reading).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(head, bytes.into())),
        Ok(Err(_)) => Err(too_large()),
        Err(_) => Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "the rest of the request did not come")),
    }
}

/// The token, for everything but the page's own files: they hold nothing of the user's.
pub async fn with_token(State(dashboard): State<Arc<Dashboard>>, request: Request, next: Next) -> Response {
    let offered = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let offered = offered.and_then(|value| value.strip_prefix("Bearer "));
    if offered.is_some_and(|token| dashboard.token.is(token.trim())) {
        if let Some(guest) = request.extensions().get::<Arc<Guest>>() {
            guest.is_known();
        }
        return match read(request).await {
            Ok(request) => next.run(request).await,
            Err(refusal) => refusal.into_response(),
        };
    }
    let refusal = Refusal::new(StatusCode::UNAUTHORIZED, "the token is missing or wrong")
        .help("open the link that `gadfly serve` printed");
    let mut response = refusal.into_response();
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
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
