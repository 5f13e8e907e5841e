//! Renders an answer as bytes of a real wire format, streamed or whole, faults included. It decides nothing.
//!
//! To add a format: one file with the four functions of `wire/chat.rs`, and its arms here.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use std::fmt::Write as _;
use std::time::Duration;

use crate::answer::{ErrorReply, MockAnswer, Pace, ReplyContent};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// `OpenAI` chat completions.
    Chat,
    /// Anthropic Messages.
    Anthropic,
    /// `OpenAI` Responses.
    Responses,
    Gemini,
}

/// What the connection does, in order.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum WireStep {
    Send(Vec<u8>),
    Wait(Duration),
    /// Nothing more, until the client goes.
    Hang,
    /// The same bytes again and again, until the client goes.
    Endless(Vec<u8>),
    Close,
}

/// What a request asks for that shapes the answer.
#[derive(Clone, Copy)]
pub(crate) struct ReplyShape<'a> {
    pub format: Format,
    pub model: &'a str,
    pub stream: bool,
    pub include_usage: bool,
    /// Differs from request to request.
    pub id: u64,
    /// Bytes of the request, from which token counts are made up.
    pub asked: usize,
}

impl ReplyShape<'_> {
    fn input_tokens(&self) -> usize {
        tokens(self.asked)
    }
}

fn output_tokens(said: &ReplyContent) -> usize {
    tokens(said.text.len() + said.call.as_ref().map_or(0, |_| 80))
}

pub(crate) fn render(answer: &MockAnswer, shape: ReplyShape<'_>) -> Vec<WireStep> {
    match answer {
        MockAnswer::Silence => vec![WireStep::Hang],
        MockAnswer::Refuse(refusal) => vec![WireStep::Send(refuse(refusal, shape.format))],
        MockAnswer::Say(said, pace) if shape.stream => stream(said, *pace, shape),
        MockAnswer::Say(said, pace) => whole_steps(&whole(said, shape), *pace),
    }
}

/// A complete response with a JSON body.
pub(crate) fn json_response(status: u16, header: Option<(&str, &str)>, body: &[u8]) -> Vec<u8> {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        411 => "Length Required",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        _ => "Internal Server Error",
    };
    let mut head = format!("HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\n");
    if let Some((name, value)) = header {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    let _ = write!(head, "content-length: {}\r\n\r\n", body.len());
    let mut out = head.into_bytes();
    out.extend_from_slice(body);
    out
}

fn refuse(r: &ErrorReply, format: Format) -> Vec<u8> {
    let body = match format {
        Format::Chat | Format::Responses => chat::refusal(r),
        Format::Anthropic => anthropic::refusal(r),
        Format::Gemini => gemini::refusal(r),
    };
    let header = r.header.as_ref().map(|(n, v)| (*n, v.as_str()));
    json_response(r.status, header, body.to_string().as_bytes())
}

fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

fn whole(said: &ReplyContent, shape: ReplyShape<'_>) -> Vec<u8> {
    match shape.format {
        Format::Chat => chat::whole(said, shape),
        Format::Anthropic => anthropic::whole(said, shape),
        Format::Responses => responses::whole(said, shape),
        Format::Gemini => gemini::whole(said, shape),
    }
    .to_string()
    .into_bytes()
}

fn whole_steps(body: &[u8], pace: Pace) -> Vec<WireStep> {
    let response = json_response(200, None, body);
    match pace {
        Pace::Whole => vec![WireStep::Send(response)],
        Pace::Slow(wait) => vec![WireStep::Wait(wait), WireStep::Send(response)],
        Pace::Split => split(&response),
        Pace::Cut | Pace::Unfinished => {
            vec![WireStep::Send(response[..response.len() - 9].to_vec()), WireStep::Close]
        }
        Pace::Hang => vec![WireStep::Send(response[..response.len() - 9].to_vec()), WireStep::Hang],
        Pace::Malformed => vec![WireStep::Send(json_response(200, None, b"{\"choices\": [}"))],
        Pace::Huge => {
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
            vec![WireStep::Send(head.as_bytes().to_vec()), WireStep::Endless(chunk(&vec![b' '; 64 * 1024]))]
        }
    }
}

const SSE_HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";

fn stream(said: &ReplyContent, pace: Pace, shape: ReplyShape<'_>) -> Vec<WireStep> {
    let (opening, middle, ending) = match shape.format {
        Format::Chat => chat::events(said, shape),
        Format::Anthropic => anthropic::events(said, shape),
        Format::Responses => responses::events(said, shape),
        Format::Gemini => gemini::events(said, shape),
    };
    let start = |events: &[String]| {
        let mut out = SSE_HEAD.to_vec();
        // An empty chunk would be the end.
        if !events.is_empty() {
            out.extend(chunk(events.concat().as_bytes()));
        }
        out
    };
    let all = || [opening.as_slice(), &middle, &ending].concat();
    let half = || [&opening, &middle[..middle.len().div_ceil(2)]].concat();
    match pace {
        Pace::Whole => {
            let mut out = start(&all());
            out.extend_from_slice(b"0\r\n\r\n");
            vec![WireStep::Send(out)]
        }
        Pace::Slow(wait) => {
            let mut steps = vec![WireStep::Send(SSE_HEAD.to_vec())];
            for event in all() {
                steps.extend([WireStep::Wait(wait), WireStep::Send(chunk(event.as_bytes()))]);
            }
            steps.push(WireStep::Send(b"0\r\n\r\n".to_vec()));
            steps
        }
        Pace::Split => {
            let mut out = start(&all());
            out.extend_from_slice(b"0\r\n\r\n");
            split(&out)
        }
        Pace::Cut => vec![WireStep::Send(start(&half())), WireStep::Close],
        Pace::Unfinished => {
            let mut out = start(&half());
            out.extend_from_slice(b"0\r\n\r\n");
            vec![WireStep::Send(out)]
        }
        Pace::Hang => vec![WireStep::Send(start(&half())), WireStep::Hang],
        Pace::Malformed => {
            let mut out = start(&[&opening[..], &["data: {\"choices\": [}\n\n".to_owned()]].concat());
            out.extend_from_slice(b"0\r\n\r\n");
            vec![WireStep::Send(out)]
        }
        Pace::Huge => {
            let more = "more ".repeat(3000);
            let one = match shape.format {
                Format::Chat if said.call.is_some() => chat::argument(shape.model, &more),
                Format::Chat => chat::delta(shape.model, "content", &more),
                Format::Anthropic if said.call.is_some() => anthropic::input_delta(0, &more),
                Format::Anthropic => anthropic::delta(0, "text", &more),
                Format::Responses => responses::delta(&more),
                Format::Gemini => gemini::delta(&more, shape),
            };
            vec![WireStep::Send(start(&opening)), WireStep::Endless(chunk(one.as_bytes()))]
        }
    }
}

/// Events before the text, the text, and events after it.
type Events = (Vec<String>, Vec<String>, Vec<String>);

/// A text in at most four deltas.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let size = text.len().div_ceil(4).max(1);
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut at = size.min(rest.len());
        while !rest.is_char_boundary(at) {
            at += 1;
        }
        let (piece, tail) = rest.split_at(at);
        rest = tail;
        Some(piece)
    })
}

fn chunk(data: &[u8]) -> Vec<u8> {
    let mut out = format!("{:x}\r\n", data.len()).into_bytes();
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
    out
}

fn split(bytes: &[u8]) -> Vec<WireStep> {
    bytes.chunks(37).flat_map(|c| [WireStep::Send(c.to_vec()), WireStep::Wait(Duration::ZERO)]).collect()
}
