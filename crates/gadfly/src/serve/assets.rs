//! The page's own files, as they are in `web/`. Every other address that is no file is the page itself: it finds out by
//! its address what to show.

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};

use super::refusal::HttpRefusal;

/// Every file of `web/`, by its name.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/web_files.rs"));
const PAGE: &str = "index.html";
/// Where the page itself is shown; anything else is refused, so that a mistyped address is noticed.
const PAGES: [&str; 3] = ["/", "/start", "/index.html"];

pub async fn asset(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return HttpRefusal::new(StatusCode::METHOD_NOT_ALLOWED, "there is nothing here to change")
            .into_response();
    }
    let path = uri.path();
    if let Some(name) = path.strip_prefix("/assets/") {
        return file(name, &headers);
    }
    let is_run = path.strip_prefix("/runs/").is_some_and(|run| !run.contains('/'));
    if PAGES.contains(&path) || is_run {
        return file(PAGE, &headers);
    }
    missing()
}

fn file(name: &str, headers: &HeaderMap) -> Response {
    match FILES.iter().find(|(file, _)| *file == name) {
        Some((file, bytes)) => sent(kind(file), bytes, headers),
        None => missing(),
    }
}

fn missing() -> Response {
    HttpRefusal::new(StatusCode::NOT_FOUND, "there is nothing at this address").into_response()
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

/// Asked for again with what it had, a file is not sent again; after an upgrade it is.
fn sent(kind: &'static str, bytes: &'static [u8], headers: &HeaderMap) -> Response {
    let tag = format!("\"{}\"", blake3::hash(bytes).to_hex().chars().take(24).collect::<String>());
    let known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let tag = HeaderValue::from_str(&tag).unwrap_or_else(|_| HeaderValue::from_static("\"\""));
    let with = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::ETAG, tag),
    ];
    if known { (StatusCode::NOT_MODIFIED, with).into_response() } else { (with, bytes).into_response() }
}
