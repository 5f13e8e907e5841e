//! The Gemini API: `generateContent` and `streamGenerateContent`.

use serde_json::{Value, json};

use super::{Events, ReplyShape, output_tokens, pieces};
use crate::answer::{ErrorReply, ReplyContent, ReplyStop};
use crate::program::{Arguments, ScriptedCall};

pub(super) fn refusal(r: &ErrorReply) -> Value {
    let status = match r.status {
        401 => "UNAUTHENTICATED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    };
    let mut error = json!({"code": r.status, "message": r.message, "status": status});
    let wait = r.header.as_ref().and_then(|(name, value)| match *name {
        "retry-after" => Some(format!("{value}s")),
        "retry-after-ms" => Some("0.001s".to_owned()),
        _ => None,
    });
    if let Some(wait) = wait {
        error["details"] = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": wait}]);
    }
    json!({"error": error})
}

fn call_of(call: &ScriptedCall) -> Value {
    let args = match &call.arguments {
        Arguments::Object(object) => object.clone(),
        Arguments::Text(text) => json!({"input": text}),
        Arguments::Words(words) => json!({"command": words}),
    };
    json!({"functionCall": {"name": call.name, "args": args}})
}

fn reply(parts: &[Value], shape: ReplyShape<'_>) -> Value {
    json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}],
        "modelVersion": shape.model, "responseId": format!("{:016x}", shape.id)})
}

fn thought(text: &str) -> Value {
    json!({"text": text, "thought": true})
}

fn finish(mut reply: Value, said: &ReplyContent, shape: ReplyShape<'_>) -> Value {
    let (input, output) = (shape.input_tokens(), output_tokens(said));
    reply["candidates"][0]["finishReason"] = json!(match said.stop {
        ReplyStop::End | ReplyStop::AsIfEnded => "STOP",
        ReplyStop::Length => "MAX_TOKENS",
        ReplyStop::Refusal => "SAFETY",
    });
    reply["usageMetadata"] = json!({"promptTokenCount": input, "cachedContentTokenCount": input / 2,
        "candidatesTokenCount": output, "totalTokenCount": input + output});
    reply
}

pub(super) fn whole(said: &ReplyContent, shape: ReplyShape<'_>) -> Value {
    let mut parts: Vec<Value> = said.reasoning.iter().map(|text| thought(text)).collect();
    parts.push(said.call.as_ref().map_or_else(|| json!({"text": said.text}), call_of));
    finish(reply(&parts, shape), said, shape)
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

pub(super) fn delta(text: &str, shape: ReplyShape<'_>) -> String {
    event(&reply(&[json!({"text": text})], shape))
}

pub(super) fn events(said: &ReplyContent, shape: ReplyShape<'_>) -> Events {
    let opening = said.reasoning.iter().map(|text| event(&reply(&[thought(text)], shape))).collect();
    let mut middle: Vec<String> = pieces(&said.text).map(|piece| delta(piece, shape)).collect();
    middle.extend(said.call.as_ref().map(|call| event(&reply(&[call_of(call)], shape))));
    let last = finish(reply(&[json!({"text": ""})], shape), said, shape);
    (opening, middle, vec![event(&last)])
}
