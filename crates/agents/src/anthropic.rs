//! `anthropic`: the Messages API, streamed. Thinking blocks are not part of the reply.

use gadfly_engine::{StopReason, Usage};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::agent::Call;
use crate::http::refused::Said;
use crate::http::{Broken, Dialect, Partial};
use crate::openai::{Str, WireMessage, reply_limit, system};

pub(crate) const VERSION: &str = "2023-06-01";

pub(crate) struct Anthropic {
    pub model: String,
    pub system: Option<String>,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u64>,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<String>,
    messages: Vec<WireMessage<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
struct Format<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    schema: &'a RawValue,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    #[serde(borrow, default)]
    content_block: Option<Block<'a>>,
    #[serde(borrow, default)]
    delta: Option<Block<'a>>,
    #[serde(default)]
    usage: Option<WireUsage>,
}

/// A whole reply, and what `message_start` brings of it.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    model: Option<Str<'a>>,
    #[serde(borrow, default)]
    content: Vec<Block<'a>>,
    #[serde(borrow, default)]
    stop_reason: Option<Str<'a>>,
    #[serde(default)]
    usage: Option<WireUsage>,
}

/// A content block, or a change to one, or the end of the message.
#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Str<'a>>,
    #[serde(borrow, default)]
    text: Option<Str<'a>>,
    #[serde(borrow, default)]
    stop_reason: Option<Str<'a>>,
}

#[derive(Deserialize)]
#[allow(clippy::struct_field_names)] // the names of the wire
struct WireUsage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
}

impl WireUsage {
    /// Counts are cumulative; later events repeat only some of them.
    fn add_to(&self, usage: &mut Usage) {
        usage.input = self.input_tokens.unwrap_or(usage.input);
        usage.output = self.output_tokens.unwrap_or(usage.output);
        usage.cache_read = self.cache_read_input_tokens.unwrap_or(usage.cache_read);
        usage.cache_write = self.cache_creation_input_tokens.unwrap_or(usage.cache_write);
    }
}

fn stop(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}

impl Block<'_> {
    fn add_to(self, partial: &mut Partial) {
        let is_text = self.kind.is_some_and(|Str(kind)| kind == "text" || kind == "text_delta");
        if let (true, Some(Str(text))) = (is_text, self.text) {
            partial.text.push_str(&text);
        }
        if let Some(Str(reason)) = self.stop_reason {
            partial.stop = Some(stop(&reason));
        }
    }
}

impl Message<'_> {
    fn add_to(self, partial: &mut Partial) {
        if let Some(Str(model)) = &self.model {
            partial.model(model);
        }
        if let Some(usage) = self.usage {
            usage.add_to(&mut partial.usage);
        }
        for block in self.content {
            block.add_to(partial);
        }
        if let Some(Str(reason)) = self.stop_reason {
            partial.stop = Some(stop(&reason));
        }
    }
}

impl Dialect for Anthropic {
    fn body(&self, call: &Call, schema: Option<&RawValue>) -> Result<Vec<u8>, serde_json::Error> {
        let size: usize = call.messages.iter().map(|m| m.text.len()).sum();
        let mut out = Vec::with_capacity(size + size / 8 + 512);
        serde_json::to_writer(
            &mut out,
            &Body {
                model: &self.model,
                max_tokens: reply_limit(call, self.max_tokens),
                system: system(call, self.system.as_deref()),
                messages: call.messages.iter().map(WireMessage::from).collect(),
                stream: true,
                temperature: self.temperature,
                output_config: schema
                    .map(|schema| OutputConfig { format: Format { kind: "json_schema", schema } }),
            },
        )?;
        Ok(out)
    }

    fn event(&self, data: &[u8], partial: &mut Partial) -> Result<(), Broken> {
        let event: Event = serde_json::from_slice(data)?;
        match event.kind.0.as_ref() {
            "message_start" => {
                if let Some(message) = event.message {
                    message.add_to(partial);
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    block.add_to(partial);
                }
            }
            "content_block_delta" | "message_delta" => {
                if let Some(usage) = event.usage {
                    usage.add_to(&mut partial.usage);
                }
                if let Some(delta) = event.delta {
                    delta.add_to(partial);
                }
            }
            "message_stop" => partial.done = true,
            "error" => return Err(Broken::Said(Said::read(data))),
            // Pings, ends of blocks, and whatever is added to the API later.
            _ => {}
        }
        Ok(())
    }

    fn whole(&self, body: &[u8], partial: &mut Partial) -> Result<(), Broken> {
        let message: Message = serde_json::from_slice(body)?;
        message.add_to(partial);
        partial.done = true;
        Ok(())
    }

    fn finished(&self, partial: &Partial) -> bool {
        partial.done && partial.stop.is_some()
    }

    /// The API states no parameter in its errors.
    fn adapt(&self, _: &str) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(events: &[&str]) -> Result<Partial, Broken> {
        let dialect = Anthropic { model: "m".into(), system: None, temperature: None, max_tokens: None };
        let mut partial = Partial::default();
        for event in events {
            dialect.event(event.as_bytes(), &mut partial)?;
        }
        Ok(partial)
    }

    #[test]
    fn a_stream_with_thinking_gives_its_text_and_all_its_usage() {
        let partial = read(&[
            r#"{"type":"message_start","message":{"model":"claude-x","content":[],"stop_reason":null,"usage":{"input_tokens":5,"cache_read_input_tokens":7,"cache_creation_input_tokens":2,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}"#,
            r#"{"type":"message_stop"}"#,
        ])
        .unwrap();
        assert_eq!(partial.text, "Hello");
        assert_eq!(partial.stop, Some(StopReason::EndTurn));
        assert_eq!(partial.usage, Usage { input: 5, output: 9, cache_read: 7, cache_write: 2, cost: None });
        assert!(partial.done);
    }

    #[test]
    fn an_overloaded_stream_is_an_error_by_its_type() {
        let broken =
            read(&[r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#]).err().unwrap();
        assert!(matches!(broken, Broken::Said(said) if said.kind == "overloaded_error"));
    }
}
