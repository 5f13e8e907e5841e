//! One HTTP/1.1 connection: reads bounded requests, writes the steps of each answer, keeps alive.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::answer::{self, MockAnswer, MockRequest};
use crate::wire::{self, Format, ReplyShape, WireStep};
use crate::{Behaviour, ServerShared};

const MAX_HEAD: usize = 64 * 1024;
const MAX_BODY: usize = 32 * 1024 * 1024;

struct HttpRequest {
    line: String,
    key: String,
    body: Vec<u8>,
}

#[derive(Deserialize)]
struct RequestBody<'a> {
    #[serde(borrow, default)]
    model: Cow<'a, str>,
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    stream_options: RequestedStream,
}

#[derive(Deserialize, Default)]
struct RequestedStream {
    #[serde(default)]
    include_usage: bool,
}

/// Serves until the client goes, an answer says to close, or a request is not HTTP.
pub(crate) async fn serve(mut socket: TcpStream, shared: Arc<ServerShared>) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(8 * 1024);
    while let Some(request) = read(&mut socket, &mut buffer).await? {
        if !answer(&mut socket, &request, &shared).await? {
            break;
        }
    }
    socket.shutdown().await
}

/// The next request, or none when the client is done.
async fn read(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<HttpRequest>> {
    let head_end = loop {
        // Every method is letters; a TLS greeting, say, is told at once that this port is plain.
        if buffer.first().is_some_and(|b| !b.is_ascii_uppercase()) {
            socket.write_all(&wire::json_response(400, None, b"{}")).await?;
            return Ok(None);
        }
        if let Some(i) = buffer.windows(4).position(|w| w == b"\r\n\r\n") {
            break i;
        }
        if buffer.len() > MAX_HEAD {
            return Err(bad("the head of the request is too long"));
        }
        if socket.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = std::str::from_utf8(&buffer[..head_end]).map_err(|_| bad("the head is not text"))?;
    let mut lines = head.split("\r\n");
    let line = lines.next().unwrap_or_default().to_owned();
    let (mut length, mut key) = (0usize, String::new());
    for header in lines {
        let Some((name, value)) = header.split_once(':') else { continue };
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().map_err(|_| bad("content-length is not a number"))?;
        } else if name.eq_ignore_ascii_case("x-api-key") || name.eq_ignore_ascii_case("x-goog-api-key") {
            value.clone_into(&mut key);
        } else if name.eq_ignore_ascii_case("authorization") {
            value.strip_prefix("Bearer ").unwrap_or(value).clone_into(&mut key);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            socket.write_all(&wire::json_response(411, None, b"{}")).await?;
            return Ok(None);
        }
    }
    if length > MAX_BODY {
        socket.write_all(&wire::json_response(413, None, b"{}")).await?;
        return Ok(None);
    }
    let from = head_end + 4;
    while buffer.len() < from + length {
        if socket.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let body = buffer[from..from + length].to_vec();
    buffer.drain(..from + length);
    Ok(Some(HttpRequest { line, key, body }))
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Answers one request; false if the connection must not be used again.
async fn answer(socket: &mut TcpStream, request: &HttpRequest, shared: &ServerShared) -> io::Result<bool> {
    let mut words = request.line.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default();
    let gemini = gemini(path);
    let format = match (method, path) {
        ("POST", "/v1/chat/completions") => Format::Chat,
        ("POST", "/v1/messages") => Format::Anthropic,
        ("POST", "/v1/responses") => Format::Responses,
        ("POST", "/v1/messages/count_tokens") => {
            let counted = format!("{{\"input_tokens\":{}}}", request.body.len().div_ceil(4));
            return plain(socket, 200, counted.as_bytes()).await;
        }
        ("GET", "/v1/models") => return plain(socket, 200, MODELS.as_bytes()).await,
        ("GET", "/calls") => {
            let calls = serde_json::to_vec(&shared.calls.read())?;
            return plain(socket, 200, &calls).await;
        }
        ("POST", "/reset") => {
            shared.calls.reset();
            return plain(socket, 200, b"{}").await;
        }
        ("POST", _) => match gemini {
            Some((_, "generateContent" | "streamGenerateContent")) => Format::Gemini,
            Some((_, "countTokens")) => {
                let counted = format!("{{\"totalTokens\":{}}}", request.body.len().div_ceil(4));
                return plain(socket, 200, counted.as_bytes()).await;
            }
            _ => return plain(socket, 404, NO_SUCH_PATH).await,
        },
        _ => return plain(socket, 404, NO_SUCH_PATH).await,
    };
    let Ok(mut wishes) = serde_json::from_slice::<RequestBody>(&request.body) else {
        return plain(socket, 400, b"{\"error\":{\"message\":\"the body is not JSON\"}}").await;
    };
    if let Some((model, verb)) = gemini {
        wishes.model = Cow::Owned(model.replace("%3A", ":").replace("%2C", ","));
        wishes.stream = verb == "streamGenerateContent";
    }
    // A server that does not count, whatever it is asked.
    let counts = match wishes.model.strip_prefix("uncounted:") {
        Some(model) => {
            wishes.model = Cow::Owned(model.to_owned());
            false
        }
        None => true,
    };
    let ticket = shared.calls.arrive(&wishes.model, &request.body);
    let mut leaving = Leaving { shared, number: ticket.number, answered: false };
    let Behaviour { latency, script } = &shared.behaviour;
    let asked = MockRequest {
        format,
        model: &wishes.model,
        body: &request.body,
        digest: ticket.digest,
        before: ticket.before,
        key: &request.key,
    };
    let shape = ReplyShape {
        format,
        model: &wishes.model,
        stream: wishes.stream && !matches!(&*wishes.model, "whole" | "hands:whole"),
        include_usage: wishes.stream_options.include_usage && counts,
        id: ticket.digest,
        asked: request.body.len(),
    };
    let answer = answer::decide(&asked, script);
    if matches!(&answer, MockAnswer::Say(said, _) if said.intrudes) {
        shared.calls.intruded();
    }
    let steps = wire::render(&answer, shape);
    if !latency.is_zero() {
        tokio::time::sleep(*latency).await;
    }
    // The sender lives as long as the server.
    let _ = shared.held_from.subscribe().wait_for(|from| ticket.number < *from).await;
    let kept = play(socket, steps).await?;
    leaving.answered = kept;
    Ok(kept)
}

/// Model and verb of `/v1beta/models/MODEL:VERB`. A model's name may itself have colons.
fn gemini(path: &str) -> Option<(&str, &str)> {
    ["/v1beta/models/", "/v1/models/"].iter().find_map(|root| path.strip_prefix(root))?.rsplit_once(':')
}

const NO_SUCH_PATH: &[u8] = b"{\"error\":{\"message\":\"no such path\"}}";

async fn plain(socket: &mut TcpStream, status: u16, body: &[u8]) -> io::Result<bool> {
    socket.write_all(&wire::json_response(status, None, body)).await?;
    Ok(true)
}

async fn play(socket: &mut TcpStream, steps: Vec<WireStep>) -> io::Result<bool> {
    for step in steps {
        match step {
            WireStep::Send(bytes) => socket.write_all(&bytes).await?,
            WireStep::Wait(time) if time.is_zero() => tokio::task::yield_now().await,
            WireStep::Wait(time) => tokio::time::sleep(time).await,
            WireStep::Endless(bytes) => loop {
                socket.write_all(&bytes).await?;
            },
            WireStep::Hang => {
                let mut sink = [0; 256];
                while socket.read(&mut sink).await? > 0 {}
                return Ok(false);
            }
            WireStep::Close => return Ok(false),
        }
    }
    Ok(true)
}

/// Takes the call off the books, however its connection ends.
struct Leaving<'a> {
    shared: &'a ServerShared,
    number: u64,
    answered: bool,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.shared.calls.leave(self.number, self.answered);
    }
}

const MODELS: &str = r#"{"object":"list","data":[{"id":"worker","object":"model","created":0,"owned_by":"testbed"},{"id":"critic:R,R,A","object":"model","created":0,"owned_by":"testbed"}]}"#;
