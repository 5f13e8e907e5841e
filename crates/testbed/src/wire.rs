//! Renders an answer as bytes of a real wire format: `OpenAI` chat completions or Anthropic Messages,
//! streamed or whole, faults included. It decides nothing.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;

use crate::answer::{Answer, Pace, Refusal, Stop};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    OpenAi,
    Anthropic,
}

/// What the connection does, in order.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Nothing more, until the client goes.
    Hang,
    /// The same bytes again and again, until the client goes.
    Endless(Vec<u8>),
    Close,
}

/// The request's wishes that shape an answer.
#[derive(Clone, Copy)]
pub(crate) struct Shape<'a> {
    pub format: Format,
    pub model: &'a str,
    pub stream: bool,
    pub include_usage: bool,
    /// Bytes of the request, from which token counts are made up.
    pub asked: usize,
}

pub(crate) fn render(answer: &Answer, shape: Shape<'_>) -> Vec<Step> {
    match answer {
        Answer::Silence => vec![Step::Hang],
        Answer::Refuse(refusal) => vec![Step::Send(refuse(refusal, shape.format))],
        Answer::Say { text, reasoning, stop, pace } if shape.stream => {
            stream(text, reasoning.as_deref(), *stop, *pace, shape)
        }
        Answer::Say { text, reasoning, stop, pace } => {
            let body = whole(text, reasoning.as_deref(), *stop, shape);
            whole_steps(&body, *pace)
        }
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

fn refuse(r: &Refusal, format: Format) -> Vec<u8> {
    let body = match format {
        Format::OpenAi => json!({"error": {
            "message": r.message, "type": r.openai.0, "code": r.openai.1, "param": r.param,
        }}),
        Format::Anthropic => json!({"type": "error", "request_id": "req_testbed", "error": {
            "type": r.anthropic, "message": r.message,
        }}),
    };
    let header = r.header.as_ref().map(|(n, v)| (*n, v.as_str()));
    json_response(r.status, header, body.to_string().as_bytes())
}

fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

fn whole(text: &str, reasoning: Option<&str>, stop: Stop, shape: Shape<'_>) -> Vec<u8> {
    let (input, output) = (tokens(shape.asked), tokens(text.len()));
    match shape.format {
        Format::OpenAi => json!({
            "id": "chatcmpl-testbed", "object": "chat.completion", "created": 0, "model": shape.model,
            "choices": [{"index": 0, "finish_reason": finish(stop),
                "message": {"role": "assistant", "content": text, "reasoning_content": reasoning}}],
            "usage": {"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
                "prompt_tokens_details": {"cached_tokens": input / 2}},
        }),
        Format::Anthropic => {
            let mut content = Vec::new();
            if let Some(thinking) = reasoning {
                content.push(json!({"type": "thinking", "thinking": thinking, "signature": "c2ln"}));
            }
            content.push(json!({"type": "text", "text": text}));
            json!({
                "id": "msg_testbed", "type": "message", "role": "assistant", "model": shape.model,
                "content": content, "stop_reason": stop_reason(stop), "stop_sequence": null,
                "usage": {"input_tokens": input - input / 2, "cache_creation_input_tokens": 0,
                    "cache_read_input_tokens": input / 2, "output_tokens": output},
            })
        }
    }
    .to_string()
    .into_bytes()
}

fn whole_steps(body: &[u8], pace: Pace) -> Vec<Step> {
    let response = json_response(200, None, body);
    match pace {
        Pace::Whole => vec![Step::Send(response)],
        Pace::Slow(wait) => vec![Step::Wait(wait), Step::Send(response)],
        Pace::Split => split(&response),
        Pace::Cut | Pace::Unfinished => {
            vec![Step::Send(response[..response.len() - 9].to_vec()), Step::Close]
        }
        Pace::Hang => vec![Step::Send(response[..response.len() - 9].to_vec()), Step::Hang],
        Pace::Malformed => vec![Step::Send(json_response(200, None, b"{\"choices\": [}"))],
        Pace::Huge => {
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
            vec![Step::Send(head.as_bytes().to_vec()), Step::Endless(chunk(&vec![b' '; 64 * 1024]))]
        }
    }
}

const SSE_HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";

fn stream(text: &str, reasoning: Option<&str>, stop: Stop, pace: Pace, shape: Shape<'_>) -> Vec<Step> {
    let (opening, middle, ending) = match shape.format {
        Format::OpenAi => openai_events(text, reasoning, stop, shape),
        Format::Anthropic => anthropic_events(text, reasoning, stop, shape),
    };
    let start = |events: &[String]| {
        let mut out = SSE_HEAD.to_vec();
        out.extend(chunk(events.concat().as_bytes()));
        out
    };
    let all = || [opening.as_slice(), &middle, &ending].concat();
    let half = || [&opening, &middle[..middle.len().div_ceil(2)]].concat();
    match pace {
        Pace::Whole => {
            let mut out = start(&all());
            out.extend_from_slice(b"0\r\n\r\n");
            vec![Step::Send(out)]
        }
        Pace::Slow(wait) => {
            let mut steps = vec![Step::Send(SSE_HEAD.to_vec())];
            for event in all() {
                steps.extend([Step::Wait(wait), Step::Send(chunk(event.as_bytes()))]);
            }
            steps.push(Step::Send(b"0\r\n\r\n".to_vec()));
            steps
        }
        Pace::Split => {
            let mut out = start(&all());
            out.extend_from_slice(b"0\r\n\r\n");
            split(&out)
        }
        Pace::Cut => vec![Step::Send(start(&half())), Step::Close],
        Pace::Unfinished => {
            let mut out = start(&half());
            out.extend_from_slice(b"0\r\n\r\n");
            vec![Step::Send(out)]
        }
        Pace::Hang => vec![Step::Send(start(&half())), Step::Hang],
        Pace::Malformed => {
            let mut out = start(&[&opening[..], &["data: {\"choices\": [}\n\n".to_owned()]].concat());
            out.extend_from_slice(b"0\r\n\r\n");
            vec![Step::Send(out)]
        }
        Pace::Huge => {
            let one = match shape.format {
                Format::OpenAi => openai_delta(shape.model, "content", &"more ".repeat(3000)),
                Format::Anthropic => anthropic_delta(0, "text", &"more ".repeat(3000)),
            };
            vec![Step::Send(start(&opening)), Step::Endless(chunk(one.as_bytes()))]
        }
    }
}

type Events = (Vec<String>, Vec<String>, Vec<String>);

fn openai_delta(model: &str, field: &str, text: &str) -> String {
    format!(
        "data: {{\"id\":\"chatcmpl-testbed\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":{},\
         \"choices\":[{{\"index\":0,\"delta\":{{\"{field}\":{}}},\"finish_reason\":null}}]}}\n\n",
        json!(model),
        json!(text)
    )
}

fn openai_events(text: &str, reasoning: Option<&str>, stop: Stop, shape: Shape<'_>) -> Events {
    let (input, output) = (tokens(shape.asked), tokens(text.len()));
    let model = json!(shape.model);
    let mut opening = vec![openai_delta(shape.model, "role", "assistant")];
    opening.extend(reasoning.map(|r| openai_delta(shape.model, "reasoning_content", r)));
    let middle = pieces(text).map(|p| openai_delta(shape.model, "content", p)).collect();
    let mut ending = vec![format!(
        "data: {{\"id\":\"chatcmpl-testbed\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":{model},\
         \"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{}\"}}]}}\n\n",
        finish(stop)
    )];
    if shape.include_usage {
        ending.push(format!(
            "data: {{\"id\":\"chatcmpl-testbed\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":{model},\
             \"choices\":[],\"usage\":{{\"prompt_tokens\":{input},\"completion_tokens\":{output},\
             \"total_tokens\":{},\"prompt_tokens_details\":{{\"cached_tokens\":{}}}}}}}\n\n",
            input + output,
            input / 2
        ));
    }
    ending.push("data: [DONE]\n\n".to_owned());
    (opening, middle, ending)
}

fn anthropic_event(kind: &str, data: &serde_json::Value) -> String {
    format!("event: {kind}\ndata: {data}\n\n")
}

fn anthropic_delta(index: u32, kind: &str, text: &str) -> String {
    format!(
        "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":{index},\
         \"delta\":{{\"type\":\"{kind}_delta\",\"{kind}\":{}}}}}\n\n",
        json!(text)
    )
}

fn anthropic_events(text: &str, reasoning: Option<&str>, stop: Stop, shape: Shape<'_>) -> Events {
    let (input, output) = (tokens(shape.asked), tokens(text.len()));
    let mut opening = vec![anthropic_event(
        "message_start",
        &json!({"type": "message_start", "message": {
            "id": "msg_testbed", "type": "message", "role": "assistant", "model": shape.model,
            "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": input - input / 2, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": input / 2, "output_tokens": 1},
        }}),
    )];
    let mut index = 0;
    if let Some(thinking) = reasoning {
        opening.push(anthropic_event(
            "content_block_start",
            &json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        ));
        opening.push(anthropic_delta(0, "thinking", thinking));
        opening
            .push(anthropic_event("content_block_stop", &json!({"type": "content_block_stop", "index": 0})));
        index = 1;
    }
    opening.push(anthropic_event(
        "content_block_start",
        &json!({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}),
    ));
    opening.push(anthropic_event("ping", &json!({"type": "ping"})));
    let middle = pieces(text).map(|p| anthropic_delta(index, "text", p)).collect();
    let ending = vec![
        anthropic_event("content_block_stop", &json!({"type": "content_block_stop", "index": index})),
        anthropic_event(
            "message_delta",
            &json!({"type": "message_delta",
                "delta": {"stop_reason": stop_reason(stop), "stop_sequence": null},
                "usage": {"output_tokens": output}}),
        ),
        anthropic_event("message_stop", &json!({"type": "message_stop"})),
    ];
    (opening, middle, ending)
}

const fn finish(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "stop",
        Stop::Length => "length",
        Stop::Refusal => "content_filter",
    }
}

const fn stop_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "end_turn",
        Stop::Length => "max_tokens",
        Stop::Refusal => "refusal",
    }
}

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

fn split(bytes: &[u8]) -> Vec<Step> {
    bytes.chunks(37).flat_map(|c| [Step::Send(c.to_vec()), Step::Wait(Duration::ZERO)]).collect()
}
