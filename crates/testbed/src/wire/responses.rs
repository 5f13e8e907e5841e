//! `OpenAI` Responses. Its refusals are those of chat completions.

use serde_json::{Value, json};

use super::{Events, ReplyShape, output_tokens, pieces};
use crate::answer::{ReplyContent, ReplyStop};
use crate::program::{Arguments, ScriptedCall};

fn message(said: &ReplyContent, status: &str) -> Value {
    let part = if said.stop == ReplyStop::Refusal {
        json!({"type": "refusal", "refusal": said.text})
    } else {
        json!({"type": "output_text", "text": said.text, "annotations": []})
    };
    json!({"type": "message", "id": "msg_testbed", "role": "assistant", "status": status, "content": [part]})
}

fn call_of(call: &ScriptedCall, shape: ReplyShape<'_>) -> Value {
    let id = format!("call_{:016x}", shape.id);
    let mut item = match &call.arguments {
        Arguments::Object(object) => {
            json!({"type": "function_call", "name": call.name, "arguments": object.to_string()})
        }
        Arguments::Text(text) => json!({"type": "custom_tool_call", "name": call.name, "input": text}),
        Arguments::Words(words) => json!({"type": "local_shell_call",
            "action": {"type": "exec", "command": words, "timeout_ms": 60_000, "env": {},
                "working_directory": null, "user": null}}),
    };
    item["id"] = json!(format!("fc_{:016x}", shape.id));
    item["call_id"] = json!(id);
    item["status"] = json!("completed");
    item
}

fn output(said: &ReplyContent, shape: ReplyShape<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    if let Some(reasoning) = &said.reasoning {
        items.push(json!({"type": "reasoning", "id": "rs_testbed", "encrypted_content": null,
            "summary": [{"type": "summary_text", "text": reasoning}]}));
    }
    items.push(match &said.call {
        Some(call) => call_of(call, shape),
        None => message(said, "completed"),
    });
    items
}

fn response(said: &ReplyContent, shape: ReplyShape<'_>) -> Value {
    let (input, output_tokens) = (shape.input_tokens(), output_tokens(said));
    let is_cut = said.stop == ReplyStop::Length;
    json!({
        "id": format!("resp_{:016x}", shape.id), "object": "response", "created_at": 0, "model": shape.model,
        "status": if is_cut { "incomplete" } else { "completed" },
        "incomplete_details": if is_cut { json!({"reason": "max_output_tokens"}) } else { Value::Null },
        "error": null, "output": output(said, shape),
        "usage": {"input_tokens": input, "input_tokens_details": {"cached_tokens": input / 2},
            "output_tokens": output_tokens, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": input + output_tokens},
    })
}

pub(super) fn whole(said: &ReplyContent, shape: ReplyShape<'_>) -> Value {
    response(said, shape)
}

fn event(data: &Value) -> String {
    let kind = data["type"].as_str().unwrap_or_default();
    format!("event: {kind}\ndata: {data}\n\n")
}

pub(super) fn delta(text: &str) -> String {
    event(&json!({"type": "response.output_text.delta", "item_id": "msg_testbed", "output_index": 0,
        "content_index": 0, "delta": text}))
}

pub(super) fn events(said: &ReplyContent, shape: ReplyShape<'_>) -> Events {
    let end = response(said, shape);
    let mut begun = end.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut opening = vec![
        event(&json!({"type": "response.created", "response": begun})),
        event(&json!({"type": "response.in_progress", "response": begun})),
    ];
    let items = output(said, shape);
    let last = items.len().saturating_sub(1);
    let item_event = |kind: &str, at: usize, item: &Value| {
        event(&json!({"type": format!("response.output_item.{kind}"), "output_index": at, "item": item}))
    };
    for (at, item) in items.iter().enumerate().take(last) {
        opening.extend([item_event("added", at, item), item_event("done", at, item)]);
    }
    let mut middle = Vec::new();
    let mut ending = Vec::new();
    if let Some(item) = items.get(last) {
        let mut added = item.clone();
        added["status"] = json!("in_progress");
        if said.call.is_none() {
            added["content"] = json!([]);
            opening.push(item_event("added", last, &added));
            middle.extend(pieces(&said.text).map(delta));
            ending.push(event(&json!({"type": "response.output_text.done", "item_id": "msg_testbed",
                "output_index": last, "content_index": 0, "text": said.text})));
        } else {
            opening.push(item_event("added", last, &added));
        }
        ending.push(item_event("done", last, item));
    }
    let kind = if said.stop == ReplyStop::Length { "response.incomplete" } else { "response.completed" };
    ending.push(event(&json!({"type": kind, "response": end})));
    (opening, middle, ending)
}
