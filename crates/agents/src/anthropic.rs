//! `anthropic`: the Messages API, streamed. Thinking blocks are not part of the reply, and are not sent back: a model that
//! uses tools is not asked to think aloud, since the API wants its thoughts with every result.

mod messages;

use gadfly_engine::Usage;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::agent::Call;
use crate::http::extra::Extra;
use crate::http::finish;
use crate::http::refused::ErrorBody;
use crate::http::tools;
use crate::http::{Broken, Dialect, PartialReply, counts};
use crate::openai::{Str, reply_limit, system};
use messages::{ApiMessage, Declared, declared, messages};

pub(crate) const VERSION: &str = "2023-06-01";

pub(crate) struct Anthropic {
    pub model: String,
    pub system: Option<String>,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u64>,
    pub effort: Option<String>,
    /// Tokens it may think, beside those of its reply.
    pub thinking: Option<u64>,
    pub extra: Extra,
}

/// What a user's `body` may not have.
pub(crate) const OURS: &[&str] = &[
    "model",
    "messages",
    "system",
    "stream",
    "max_tokens",
    "temperature",
    "output_config",
    "output_format",
    "thinking",
    "tools",
];

#[derive(Serialize)]
struct MessagesRequest<'a> {
    model: &'a str,
    max_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<String>,
    messages: Vec<ApiMessage<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Declared<'a>>>,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<OutputFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'a str>,
}

#[derive(Serialize)]
struct Thinking {
    #[serde(rename = "type")]
    kind: &'static str,
    budget_tokens: u64,
}

#[derive(Serialize)]
struct OutputFormat<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    schema: &'a RawValue,
}

#[derive(Deserialize)]
struct StreamEvent<'a> {
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow, default)]
    message: Option<WholeReply<'a>>,
    /// Which block of the message it is about.
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    content_block: Option<StreamBlock<'a>>,
    #[serde(borrow, default)]
    delta: Option<StreamBlock<'a>>,
    #[serde(default, deserialize_with = "counts::part")]
    usage: Option<WireUsage>,
}

/// A whole reply, and what `message_start` brings of it.
#[derive(Deserialize)]
struct WholeReply<'a> {
    #[serde(borrow, default)]
    model: Option<Str<'a>>,
    #[serde(default)]
    error: Option<serde::de::IgnoredAny>,
    #[serde(borrow, default)]
    content: Vec<StreamBlock<'a>>,
    #[serde(borrow, default)]
    stop_reason: Option<Str<'a>>,
    #[serde(default, deserialize_with = "counts::part")]
    usage: Option<WireUsage>,
}

/// A content block, or a change to one, or the end of the message.
#[derive(Deserialize)]
struct StreamBlock<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Str<'a>>,
    #[serde(borrow, default)]
    text: Option<Str<'a>>,
    #[serde(borrow, default)]
    id: Option<Str<'a>>,
    #[serde(borrow, default)]
    name: Option<Str<'a>>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    partial_json: Option<Str<'a>>,
    #[serde(borrow, default)]
    stop_reason: Option<Str<'a>>,
}

#[derive(Deserialize)]
#[allow(clippy::struct_field_names)] // the names of the wire
struct WireUsage {
    #[serde(default, deserialize_with = "counts::count")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    cache_creation_input_tokens: Option<u64>,
}

impl WireUsage {
    /// Counts are cumulative; later events repeat only some of them, and some servers repeat them as nothing.
    fn add_to(&self, usage: &mut Usage) {
        usage.input = usage.input.max(self.input_tokens.unwrap_or(0));
        usage.output = usage.output.max(self.output_tokens.unwrap_or(0));
        usage.cache_read = usage.cache_read.max(self.cache_read_input_tokens.unwrap_or(0));
        usage.cache_write = usage.cache_write.max(self.cache_creation_input_tokens.unwrap_or(0));
    }
}

impl StreamBlock<'_> {
    /// What an unknown kind of block holds is not part of the reply.
    fn add_to(self, index: u64, partial: &mut PartialReply) -> Result<(), Broken> {
        match Str::or_empty(self.kind.as_ref()) {
            "text" | "text_delta" => {
                if let Some(Str(text)) = self.text {
                    partial.text.push_str(&text);
                }
            }
            "tool_use" => {
                let (id, name) = (Str::or_empty(self.id.as_ref()), Str::or_empty(self.name.as_ref()));
                partial.raw_calls.begin(index, id, name)?;
                // In a stream it is empty, and what belongs into it follows.
                if let Some(input) = self.input.map(RawValue::get).filter(|input| *input != "{}") {
                    partial.raw_calls.more(index, input);
                }
            }
            "input_json_delta" => {
                if let Some(Str(json)) = self.partial_json {
                    partial.raw_calls.more(index, &json);
                }
            }
            _ => {}
        }
        if let Some(Str(reason)) = self.stop_reason {
            partial.stop = finish::reason(&reason).or(partial.stop.take());
        }
        Ok(())
    }
}

impl WholeReply<'_> {
    fn add_to(self, partial: &mut PartialReply) -> Result<(), Broken> {
        if let Some(Str(model)) = &self.model {
            partial.model(model);
        }
        if let Some(usage) = self.usage {
            usage.add_to(&mut partial.usage);
        }
        for (block, index) in self.content.into_iter().zip(0..) {
            block.add_to(index, partial)?;
        }
        if let Some(Str(reason)) = self.stop_reason {
            partial.stop = finish::reason(&reason).or(partial.stop.take());
        }
        Ok(())
    }
}

impl Dialect for Anthropic {
    fn body(&self, call: &Call, schema: Option<&RawValue>) -> Result<Vec<u8>, serde_json::Error> {
        let mut out = Vec::with_capacity(tools::size(&call.messages));
        let system = system(call, self.system.as_deref());
        let tools = tools::offered(call)?.map(declared);
        let limit = reply_limit(call, self.max_tokens);
        let thinking = self.thinking.filter(|_| tools.is_none());
        let format = schema.map(|schema| OutputFormat { kind: "json_schema", schema });
        let effort = self.effort.as_deref();
        let is_configured = format.is_some() || effort.is_some();
        let before = [call.tools.as_deref(), system.as_deref()].into_iter().flatten().map(str::len).sum();
        serde_json::to_writer(
            &mut out,
            &MessagesRequest {
                model: &self.model,
                max_tokens: limit.saturating_add(thinking.unwrap_or(0)),
                system,
                messages: messages(call, before, tools.is_some())?,
                stream: true,
                // The API takes none beside thinking.
                temperature: self.temperature.filter(|_| thinking.is_none()),
                output_config: is_configured.then_some(OutputConfig { format, effort }),
                thinking: thinking.map(|budget_tokens| Thinking { kind: "enabled", budget_tokens }),
                tools,
            },
        )?;
        self.extra.add_to(&mut out);
        Ok(out)
    }

    fn event(&self, data: &[u8], partial: &mut PartialReply) -> Result<(), Broken> {
        let event: StreamEvent = serde_json::from_slice(data)?;
        let index = event.index.unwrap_or(0);
        match event.kind.0.as_ref() {
            "message_start" => {
                if let Some(message) = event.message {
                    message.add_to(partial)?;
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    block.add_to(index, partial)?;
                }
            }
            "content_block_delta" | "message_delta" => {
                if let Some(usage) = event.usage {
                    usage.add_to(&mut partial.usage);
                }
                if let Some(delta) = event.delta {
                    delta.add_to(index, partial)?;
                }
            }
            "message_stop" => partial.done = true,
            "error" => return Err(Broken::Said(Box::new(ErrorBody::read(data)))),
            // Pings, ends of blocks, and whatever is added to the API later.
            _ => {}
        }
        Ok(())
    }

    fn whole(&self, body: &[u8], partial: &mut PartialReply) -> Result<(), Broken> {
        let message: WholeReply = serde_json::from_slice(body)?;
        if message.error.is_some() {
            return Err(Broken::Said(Box::new(ErrorBody::read(body))));
        }
        message.add_to(partial)?;
        partial.done = true;
        Ok(())
    }

    /// The API states no parameter in its errors.
    fn adapt(&self, _: &str) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
