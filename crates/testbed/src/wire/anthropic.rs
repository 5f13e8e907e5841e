//! Anthropic Messages.

use serde_json::{Value, json};

use super::{Events, ReplyShape, output_tokens, pieces};
use crate::answer::{ErrorReply, ReplyContent, ReplyStop};
use crate::program::{Arguments, ScriptedCall};

pub(super) fn refusal(r: &ErrorReply) -> Value {
    json!({"type": "error", "request_id": "req_testbed", "error": {
        "type": r.anthropic, "message": r.message,
    }})
}

fn input_of(call: &ScriptedCall) -> Value {
    match &call.arguments {
        Arguments::Object(object) => object.clone(),
        Arguments::Text(text) => json!({"input": text}),
        Arguments::Words(words) => json!({"command": words}),
    }
}

fn block_of(call: &ScriptedCall, input: &Value, shape: ReplyShape<'_>) -> Value {
    json!({"type": "tool_use", "id": format!("toolu_{:016x}", shape.id), "name": call.name, "input": input})
}

pub(super) fn whole(said: &ReplyContent, shape: ReplyShape<'_>) -> Value {
    let (input, output) = (shape.input_tokens(), output_tokens(said));
    let mut content = Vec::new();
    if let Some(thinking) = &said.reasoning {
        content.push(json!({"type": "thinking", "thinking": thinking, "signature": "c2ln"}));
    }
    content.push(match &said.call {
        Some(call) => block_of(call, &input_of(call), shape),
        None => json!({"type": "text", "text": said.text}),
    });
    json!({
        "id": format!("msg_{:016x}", shape.id), "type": "message", "role": "assistant", "model": shape.model,
        "content": content, "stop_reason": stop_reason(said), "stop_sequence": null,
        "usage": {"input_tokens": input - input / 2, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": input / 2, "output_tokens": output},
    })
}

fn event(kind: &str, data: &serde_json::Value) -> String {
    format!("event: {kind}\ndata: {data}\n\n")
}

pub(super) fn delta(index: u32, kind: &str, text: &str) -> String {
    format!(
        "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":{index},\
         \"delta\":{{\"type\":\"{kind}_delta\",\"{kind}\":{}}}}}\n\n",
        json!(text)
    )
}

pub(super) fn events(said: &ReplyContent, shape: ReplyShape<'_>) -> Events {
    let (input, output) = (shape.input_tokens(), output_tokens(said));
    let mut opening = vec![event(
        "message_start",
        &json!({"type": "message_start", "message": {
            "id": format!("msg_{:016x}", shape.id), "type": "message", "role": "assistant", "model": shape.model,
            "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": input - input / 2, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": input / 2, "output_tokens": 1},
        }}),
    )];
    let mut index = 0;
    if let Some(thinking) = &said.reasoning {
        opening.push(event(
            "content_block_start",
            &json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        ));
        opening.push(delta(0, "thinking", thinking));
        opening.push(event("content_block_stop", &json!({"type": "content_block_stop", "index": 0})));
        index = 1;
    }
    let block = match &said.call {
        Some(call) => block_of(call, &json!({}), shape),
        None => json!({"type": "text", "text": ""}),
    };
    opening.push(event(
        "content_block_start",
        &json!({"type": "content_block_start", "index": index, "content_block": block}),
    ));
    opening.push(event("ping", &json!({"type": "ping"})));
    let middle = match &said.call {
        Some(call) => pieces(&input_of(call).to_string()).map(|p| input_delta(index, p)).collect(),
        None => pieces(&said.text).map(|p| delta(index, "text", p)).collect(),
    };
    let ending = vec![
        event("content_block_stop", &json!({"type": "content_block_stop", "index": index})),
        event(
            "message_delta",
            &json!({"type": "message_delta",
                "delta": {"stop_reason": stop_reason(said), "stop_sequence": null},
                "usage": {"output_tokens": output}}),
        ),
        event("message_stop", &json!({"type": "message_stop"})),
    ];
    (opening, middle, ending)
}

pub(super) fn input_delta(index: u32, json: &str) -> String {
    event(
        "content_block_delta",
        &json!({"type": "content_block_delta", "index": index,
            "delta": {"type": "input_json_delta", "partial_json": json}}),
    )
}

const fn stop_reason(said: &ReplyContent) -> &'static str {
    match said.stop {
        ReplyStop::End if said.call.is_some() => "tool_use",
        ReplyStop::End | ReplyStop::AsIfEnded => "end_turn",
        ReplyStop::Length => "max_tokens",
        ReplyStop::Refusal => "refusal",
    }
}
