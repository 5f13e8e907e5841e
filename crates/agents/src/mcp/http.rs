//! Messages over HTTP, as the SDK's transport wants them sent. Ours, because an answer here has a bound. We listen
//! for no events beside answers: nothing is offered to servers that would need them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::http_header::{EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::pipe::{MAX_LINE, StrayOutput};
use crate::http::client::{ClientRoute, build, is_loopback};

const CONNECT: Duration = Duration::from_secs(10);
/// How much of an answer that is none is repeated.
const SHOWN: usize = 300;

#[derive(Clone)]
pub(super) struct Bounded {
    client: Client,
    heard: Arc<Mutex<StrayOutput>>,
}

type Failed = StreamableHttpError<reqwest::Error>;

pub(super) fn transport(
    url: &str,
    heard: Arc<Mutex<StrayOutput>>,
) -> Result<StreamableHttpClientTransport<Bounded>, String> {
    let parsed =
        Url::parse(url).map_err(|e| format!("`{url}` is no usable address of an MCP server: {e}"))?;
    let route =
        ClientRoute { connect: CONNECT, local: is_loopback(&parsed), plain: parsed.scheme() == "http" };
    let client = build(route).map_err(|e| format!("no MCP server can be reached over HTTP: {e}"))?;
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    Ok(StreamableHttpClientTransport::with_client(Bounded { client, heard }, config))
}

impl StreamableHttpClient for Bounded {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let in_session = session_id.is_some();
        let wants_answer = matches!(message, ClientJsonRpcMessage::Request(_));
        let request = self.client.post(uri.as_ref()).header(CONTENT_TYPE, JSON_MIME_TYPE);
        let request = with_headers(request, session_id, custom_headers).body(serde_json::to_vec(&message)?);
        let answer = request.send().await.map_err(StreamableHttpError::Client)?;
        let status = answer.status();
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if status.is_success() && !wants_answer {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let media = answer.headers().get(CONTENT_TYPE).map_or(&[][..], HeaderValue::as_bytes);
        let (is_json, is_stream) = (
            media.starts_with(JSON_MIME_TYPE.as_bytes()),
            media.starts_with(EVENT_STREAM_MIME_TYPE.as_bytes()),
        );
        let session =
            answer.headers().get(HEADER_SESSION_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
        if status.is_success() && is_stream {
            let events = SseStream::from_bytes_stream(bounded(answer, Arc::clone(&self.heard))).boxed();
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        let body = whole(answer).await?;
        match serde_json::from_slice(&body) {
            Ok(message) if is_json => Ok(StreamableHttpPostResponse::Json(message, session)),
            _ => {
                let said: String = String::from_utf8_lossy(&body).chars().take(SHOWN).collect();
                Err(unexpected(format!("HTTP {status}, which is no message of MCP: {said}")))
            }
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        let request = with_headers(self.client.delete(uri.as_ref()), Some(session_id), custom_headers);
        // That it ended is for the server's sake: what it says to it changes nothing.
        request.send().await.map(drop).map_err(StreamableHttpError::Client)
    }

    async fn get_stream(
        &self,
        _uri: Arc<str>,
        _session_id: Option<Arc<str>>,
        _last_event_id: Option<String>,
        _auth_header: Option<String>,
        _custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

fn with_headers(
    request: RequestBuilder,
    session: Option<Arc<str>>,
    custom: HashMap<HeaderName, HeaderValue>,
) -> RequestBuilder {
    let request = request.header(ACCEPT, format!("{JSON_MIME_TYPE}, {EVENT_STREAM_MIME_TYPE}"));
    let request = session.into_iter().fold(request, |r, id| r.header(HEADER_SESSION_ID, id.as_ref()));
    custom.into_iter().fold(request, |request, (name, value)| request.header(name, value))
}

fn unexpected(what: String) -> Failed {
    StreamableHttpError::UnexpectedServerResponse(what.into())
}

async fn whole(mut answer: Response) -> Result<Vec<u8>, Failed> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(StreamableHttpError::Client)? {
        if body.len() + chunk.len() > MAX_LINE {
            return Err(unexpected(format!("an answer of more than {MAX_LINE} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// All events of one answer together have the bound that a message has.
fn bounded(answer: Response, heard: Arc<Mutex<StrayOutput>>) -> BoxStream<'static, std::io::Result<Bytes>> {
    let mut read = 0;
    let bounded = answer.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(std::io::Error::other)?;
        read += chunk.len();
        if read > MAX_LINE {
            heard.lock().unwrap_or_else(PoisonError::into_inner).overlong = true;
            return Err(std::io::Error::other(format!("an answer of more than {MAX_LINE} bytes")));
        }
        Ok(chunk)
    });
    bounded.boxed()
}
