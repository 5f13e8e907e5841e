//! The Responses API, streamed: what `OpenAI` serves its newest models by, some of them by nothing else. Nothing is kept there
//! (`store` is false): every call brings its whole conversation, as with the other forms. Reasoning is not part of the
//! reply.

mod input;

use std::sync::atomic::{AtomicU8, Ordering};

use gadfly_engine::StopReason;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::agent::Call;
use crate::http::extra::Extra;
use crate::http::finish;
use crate::http::refused::ErrorBody;
use crate::http::tools;
use crate::http::{Broken, Dialect, PartialReply, counts};
use crate::openai::{Str, WireUsage, cache_key, reply_limit, system};
use input::{Declared, ResponsesInput, declared};

pub(crate) struct Responses {
    pub model: String,
    pub system: Option<String>,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u64>,
    /// Whether the server takes a `prompt_cache_key`.
    pub cache_key: bool,
    pub effort: Option<String>,
    pub extra: Extra,
    /// Parameters this server has turned down, as it named them.
    pub without: AtomicU8,
}

const NO_TEMPERATURE: u8 = 1;
const NO_CACHE_KEY: u8 = 2;

/// What a user's `body` may not have.
pub(crate) const OURS: &[&str] = &[
    "model",
    "input",
    "instructions",
    "stream",
    "store",
    "background",
    "conversation",
    "previous_response_id",
    "max_output_tokens",
    "temperature",
    "text",
    "tools",
    "reasoning",
    "prompt_cache_key",
];

#[derive(Serialize)]
struct ResponsesBody<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    input: ResponsesInput<'a>,
    stream: bool,
    store: bool,
    max_output_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextOptions<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Declared<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
}

#[derive(Serialize)]
struct TextOptions<'a> {
    format: SchemaFormat<'a>,
}

#[derive(Serialize)]
struct SchemaFormat<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'static str,
    strict: bool,
    schema: &'a RawValue,
}

#[derive(Serialize)]
struct Reasoning<'a> {
    effort: &'a str,
}

#[derive(Deserialize)]
struct ResponsesEvent<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Str<'a>>,
    #[serde(borrow, default)]
    delta: Option<&'a RawValue>,
    #[serde(default)]
    output_index: Option<u64>,
    #[serde(borrow, default)]
    item: Option<OutputItem<'a>>,
    #[serde(borrow, default)]
    response: Option<Whole<'a>>,
}

#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(borrow, default)]
    model: Option<Str<'a>>,
    #[serde(borrow, default)]
    status: Option<Str<'a>>,
    #[serde(borrow, default)]
    incomplete_details: Option<Incomplete<'a>>,
    #[serde(borrow, default)]
    output: Option<Vec<OutputItem<'a>>>,
    #[serde(default, deserialize_with = "counts::part")]
    usage: Option<WireUsage>,
    #[serde(default)]
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Incomplete<'a> {
    #[serde(borrow, default)]
    reason: Option<Str<'a>>,
}

/// A message, a call, reasoning, or something that is added to the API later.
#[derive(Deserialize)]
struct OutputItem<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Str<'a>>,
    #[serde(borrow, default)]
    call_id: Option<Str<'a>>,
    #[serde(borrow, default)]
    name: Option<Str<'a>>,
    #[serde(borrow, default)]
    arguments: Option<Str<'a>>,
    #[serde(borrow, default)]
    content: Option<Vec<OutputPart<'a>>>,
}

#[derive(Deserialize)]
struct OutputPart<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Str<'a>>,
    #[serde(borrow, default)]
    text: Option<Str<'a>>,
    #[serde(borrow, default)]
    refusal: Option<Str<'a>>,
}

impl OutputItem<'_> {
    /// `with_text`: what a message says has not come in pieces.
    fn add_to(&self, index: u64, with_text: bool, partial: &mut PartialReply) -> Result<(), Broken> {
        match Str::or_empty(self.kind.as_ref()) {
            "function_call" => {
                let (id, name) = (Str::or_empty(self.call_id.as_ref()), Str::or_empty(self.name.as_ref()));
                partial.raw_calls.begin(index, id, name)?;
                partial.raw_calls.whole(index, Str::or_empty(self.arguments.as_ref()));
            }
            "message" => {
                for part in self.content.iter().flatten() {
                    let kind = Str::or_empty(part.kind.as_ref());
                    if with_text && kind == "output_text" {
                        partial.text.push_str(Str::or_empty(part.text.as_ref()));
                    }
                    if kind == "refusal" {
                        if with_text {
                            partial.text.push_str(Str::or_empty(part.refusal.as_ref()));
                        }
                        partial.stop = Some(StopReason::Refusal);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Whole<'_> {
    fn add_to(self, raw: &[u8], partial: &mut PartialReply) -> Result<(), Broken> {
        let status = Str::or_empty(self.status.as_ref());
        if self.error.is_some() || matches!(status, "failed" | "cancelled") {
            return Err(Broken::Said(Box::new(ErrorBody::read(raw))));
        }
        if let Some(Str(model)) = &self.model {
            partial.model(model);
        }
        if let Some(usage) = self.usage {
            partial.used(usage.into());
        }
        let with_text = partial.text.is_empty();
        for (item, index) in self.output.iter().flatten().zip(0..) {
            item.add_to(index, with_text, partial)?;
        }
        let is_refusal = partial.stop == Some(StopReason::Refusal);
        match status {
            "completed" if !is_refusal => partial.stop = Some(StopReason::EndTurn),
            "incomplete" if !is_refusal => {
                let reason = self.incomplete_details.and_then(|details| details.reason);
                partial.stop = finish::reason(Str::or_empty(reason.as_ref())).or(Some(StopReason::Length));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Dialect for Responses {
    fn body(&self, call: &Call, schema: Option<&RawValue>) -> Result<Vec<u8>, serde_json::Error> {
        let without = self.without.load(Ordering::Relaxed);
        let has = |flag| without & flag == 0;
        let mut out = Vec::with_capacity(tools::size(&call.messages));
        let format = |schema| SchemaFormat { kind: "json_schema", name: "answer", strict: true, schema };
        serde_json::to_writer(
            &mut out,
            &ResponsesBody {
                model: &self.model,
                instructions: system(call, self.system.as_deref()),
                input: ResponsesInput(&call.messages),
                stream: true,
                store: false,
                max_output_tokens: reply_limit(call, self.max_tokens).max(16),
                temperature: self.temperature.filter(|_| has(NO_TEMPERATURE)),
                text: schema.map(|schema| TextOptions { format: format(schema) }),
                reasoning: self.effort.as_deref().map(|effort| Reasoning { effort }),
                tools: tools::offered(call)?.map(declared),
                prompt_cache_key: (self.cache_key && has(NO_CACHE_KEY)).then(|| cache_key(call)).flatten(),
            },
        )?;
        self.extra.add_to(&mut out);
        Ok(out)
    }

    fn event(&self, data: &[u8], partial: &mut PartialReply) -> Result<(), Broken> {
        if data == b"[DONE]" {
            partial.done = true;
            return Ok(());
        }
        let event: ResponsesEvent = serde_json::from_slice(data)?;
        let index = event.output_index.unwrap_or(0);
        let delta = || event.delta.map(|delta| serde_json::from_str::<Str>(delta.get())).transpose();
        match Str::or_empty(event.kind.as_ref()) {
            "response.output_text.delta" => {
                partial.text.push_str(&delta()?.map(|Str(text)| text).unwrap_or_default());
            }
            "response.refusal.delta" => {
                partial.text.push_str(&delta()?.map(|Str(text)| text).unwrap_or_default());
                partial.stop = Some(StopReason::Refusal);
            }
            "response.function_call_arguments.delta" => {
                partial.raw_calls.more(index, &delta()?.map(|Str(text)| text).unwrap_or_default());
            }
            "response.output_item.added" | "response.output_item.done" => {
                if let Some(item) = &event.item {
                    item.add_to(index, false, partial)?;
                }
            }
            "response.completed" | "response.incomplete" => {
                if let Some(whole) = event.response {
                    whole.add_to(data, partial)?;
                }
                partial.done = true;
            }
            "response.failed" | "error" => return Err(Broken::Said(Box::new(ErrorBody::read(data)))),
            // Beginnings, ends of parts, reasoning, and whatever is added to the API later; some servers say an error
            // without a type.
            "" if ErrorBody::read(data) != ErrorBody::default() => {
                return Err(Broken::Said(Box::new(ErrorBody::read(data))));
            }
            _ => {}
        }
        Ok(())
    }

    fn whole(&self, body: &[u8], partial: &mut PartialReply) -> Result<(), Broken> {
        let whole: Whole = serde_json::from_slice(body)?;
        whole.add_to(body, partial)?;
        partial.done = true;
        Ok(())
    }

    fn adapt(&self, param: &str) -> bool {
        let flag = match param {
            "temperature" => NO_TEMPERATURE,
            "prompt_cache_key" => NO_CACHE_KEY,
            _ => return false,
        };
        self.without.fetch_or(flag, Ordering::Relaxed);
        true
    }
}

#[cfg(test)]
mod tests;
