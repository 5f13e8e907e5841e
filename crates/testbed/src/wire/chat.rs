//! `OpenAI` chat completions.

use serde_json::{Value, json};

use super::{Events, ReplyShape, output_tokens, pieces};
use crate::answer::{ErrorReply, ReplyContent, ReplyStop};
use crate::program::{Arguments, ScriptedCall};

pub(super) fn refusal(r: &ErrorReply) -> Value {
    json!({"error": {"message": r.message, "type": r.openai.0, "code": r.openai.1, "param": r.param}})
}

fn call_of(call: &ScriptedCall, shape: ReplyShape<'_>) -> Value {
    let arguments = match &call.arguments {
        Arguments::Object(object) => object.to_string(),
        Arguments::Text(text) => json!({"input": text}).to_string(),
        Arguments::Words(words) => json!({"command": words}).to_string(),
    };
    json!({"id": format!("call_{:016x}", shape.id), "type": "function",
        "function": {"name": call.name, "arguments": arguments}})
}

pub(super) fn whole(said: &ReplyContent, shape: ReplyShape<'_>) -> Value {
    let (input, output) = (shape.input_tokens(), output_tokens(said));
    let mut message = json!({"role": "assistant", "content": said.text, "reasoning_content": said.reasoning});
    if let Some(call) = &said.call {
        message["content"] = Value::Null;
        message["tool_calls"] = json!([call_of(call, shape)]);
    }
    json!({
        "id": "chatcmpl-testbed", "object": "chat.completion", "created": 0, "model": shape.model,
        "choices": [{"index": 0, "finish_reason": finish(said), "message": message}],
        "usage": {"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
            "prompt_tokens_details": {"cached_tokens": input / 2}},
    })
}

pub(super) fn delta(model: &str, field: &str, text: &str) -> String {
    format!(
        "data: {{\"id\":\"chatcmpl-testbed\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":{},\
         \"choices\":[{{\"index\":0,\"delta\":{{\"{field}\":{}}},\"finish_reason\":null}}]}}\n\n",
        json!(model),
        json!(text)
    )
}

fn calls(model: &str, call: &Value) -> String {
    let chunk = json!({"id": "chatcmpl-testbed", "object": "chat.completion.chunk", "created": 0, "model": model,
        "choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": null}]});
    format!("data: {chunk}\n\n")
}

/// A piece of a call's arguments.
pub(super) fn argument(model: &str, piece: &str) -> String {
    calls(model, &json!({"index": 0, "function": {"arguments": piece}}))
}

pub(super) fn events(said: &ReplyContent, shape: ReplyShape<'_>) -> Events {
    let (input, output) = (shape.input_tokens(), output_tokens(said));
    let model = json!(shape.model);
    let mut opening = vec![delta(shape.model, "role", "assistant")];
    opening.extend(said.reasoning.as_deref().map(|r| delta(shape.model, "reasoning_content", r)));
    let mut middle: Vec<String> = pieces(&said.text).map(|p| delta(shape.model, "content", p)).collect();
    if let Some(call) = &said.call {
        let mut begun = call_of(call, shape);
        begun["index"] = json!(0);
        let arguments = begun["function"]["arguments"].take();
        begun["function"]["arguments"] = json!("");
        middle.push(calls(shape.model, &begun));
        middle.extend(pieces(arguments.as_str().unwrap_or_default()).map(|p| argument(shape.model, p)));
    }
    let mut ending = vec![format!(
        "data: {{\"id\":\"chatcmpl-testbed\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":{model},\
         \"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{}\"}}]}}\n\n",
        finish(said)
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

const fn finish(said: &ReplyContent) -> &'static str {
    match said.stop {
        ReplyStop::End if said.call.is_some() => "tool_calls",
        ReplyStop::End | ReplyStop::AsIfEnded => "stop",
        ReplyStop::Length => "length",
        ReplyStop::Refusal => "content_filter",
    }
}
