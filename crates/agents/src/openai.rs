//! Chat completions as `OpenAI` and everyone compatible with it speak them, streamed.
//! Reasoning (`reasoning_content`) is not part of the reply.

mod content;
mod messages;

use std::borrow::Cow;
use std::sync::atomic::{AtomicU8, Ordering};

use gadfly_engine::{Digest, Money, StopReason, Usage};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::agent::Call;
use crate::http::extra::Extra;
use crate::http::finish;
use crate::http::refused::ErrorBody;
use crate::http::tools::{self, PartialCalls};
use crate::http::{Broken, Dialect, PartialReply, counts};
use crate::vendors::LengthField;
use content::TextContent;
pub(crate) use messages::DataUrl;
use messages::{ChatTool, Declared, Messages, declared};

pub(crate) struct OpenAi {
    pub model: String,
    pub system: Option<String>,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u64>,
    pub length: LengthField,
    /// Whether the server takes a `prompt_cache_key`.
    pub cache_key: bool,
    pub effort: Option<String>,
    pub extra: Extra,
    /// Parameters this server has turned down, as it named them.
    pub without: AtomicU8,
}

const OTHER_LENGTH: u8 = 1;
const NO_TEMPERATURE: u8 = 2;
const NO_STREAM_OPTIONS: u8 = 4;
const NO_CACHE_KEY: u8 = 8;
/// Enough of a digest to tell briefs apart; the API takes 64 characters.
const KEY_CHARS: usize = 32;

#[derive(Serialize)]
struct ChatRequest<'a> {
    model: &'a str,
    messages: Messages<'a>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<ChatTool<'a, Declared<'a>>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
}

/// What a user's `body` may not have.
pub(crate) const OURS: &[&str] = &[
    "model",
    "messages",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "response_format",
    "tools",
    "prompt_cache_key",
    "reasoning_effort",
    "n",
];

#[derive(Serialize)]
struct ResponseFormat<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    json_schema: NamedSchema<'a>,
}

#[derive(Serialize)]
struct NamedSchema<'a> {
    name: &'static str,
    strict: bool,
    schema: &'a RawValue,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

/// The call's own system text, then the agent's.
pub(crate) fn system(call: &Call, own: Option<&str>) -> Option<String> {
    match (call.system.as_deref(), own) {
        (Some(a), Some(b)) => Some(format!("{a}\n\n{b}")),
        (one, None) | (None, one) => one.map(str::to_owned),
    }
}

pub(crate) fn reply_limit(call: &Call, own: Option<u64>) -> u64 {
    own.map_or(call.max_output_tokens, |own| own.min(call.max_output_tokens)).max(1)
}

/// What calls that begin in the same way have in common: the API keeps beginnings by itself, and brings calls with
/// one key to where theirs is kept.
pub(crate) fn cache_key(call: &Call) -> Option<String> {
    let same = call.messages.first()?.text.get(..call.stable).filter(|same| !same.is_empty())?;
    Some(Digest::of(same.as_bytes()).to_string().chars().take(KEY_CHARS).collect())
}

#[derive(Deserialize)]
struct ChatChunk<'a> {
    #[serde(borrow, default)]
    model: Option<Str<'a>>,
    #[serde(borrow, default)]
    choices: Option<Vec<ChatChoice<'a>>>,
    #[serde(default, deserialize_with = "counts::part")]
    usage: Option<WireUsage>,
    #[serde(default)]
    error: Option<serde::de::IgnoredAny>,
}

/// A string that is copied only if it has escapes: serde borrows inside a newtype, not inside an `Option`.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Str<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl Str<'_> {
    /// Nothing, where it is missing.
    pub fn or_empty(text: Option<&Self>) -> &str {
        text.map_or("", |Str(text)| text)
    }
}

#[derive(Deserialize)]
struct ChatChoice<'a> {
    #[serde(borrow, default)]
    delta: Option<ChatDelta<'a>>,
    #[serde(borrow, default)]
    message: Option<ChatDelta<'a>>,
    #[serde(borrow, default)]
    finish_reason: Option<Str<'a>>,
}

#[derive(Deserialize)]
struct ChatDelta<'a> {
    #[serde(borrow, default)]
    content: TextContent<'a>,
    #[serde(borrow, default)]
    refusal: Option<Str<'a>>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<Fragment<'a>>>,
}

/// A call, or a piece of one.
#[derive(Deserialize)]
struct Fragment<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    id: Option<Str<'a>>,
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Option<Str<'a>>,
    /// A string that holds JSON; from some servers the JSON itself.
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

impl Fragment<'_> {
    fn add_to(self, place: u64, raw_calls: &mut PartialCalls) -> Result<(), Broken> {
        let index = self.index.unwrap_or(place);
        let (name, arguments) = self.function.map_or((None, None), |f| (f.name, f.arguments));
        raw_calls.begin(index, Str::or_empty(self.id.as_ref()), Str::or_empty(name.as_ref()))?;
        match arguments.map(RawValue::get) {
            Some(json) if json.starts_with('"') => {
                raw_calls.more(index, &serde_json::from_str::<Str>(json)?.0);
            }
            Some(json) => raw_calls.more(index, json),
            None => {}
        }
        Ok(())
    }
}

/// Chat completions and Responses name the same things differently, and some servers say both.
#[derive(Deserialize)]
#[allow(clippy::struct_field_names)] // the names of the wire
pub(crate) struct WireUsage {
    #[serde(default, deserialize_with = "counts::count")]
    prompt_tokens: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    completion_tokens: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    total_tokens: Option<u64>,
    #[serde(default, deserialize_with = "counts::part")]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(default, deserialize_with = "counts::part")]
    input_tokens_details: Option<PromptDetails>,
    #[serde(default, deserialize_with = "counts::part")]
    completion_tokens_details: Option<CompletionDetails>,
    #[serde(default, deserialize_with = "counts::part")]
    output_tokens_details: Option<CompletionDetails>,
    /// `DeepSeek`.
    #[serde(default, deserialize_with = "counts::count")]
    prompt_cache_hit_tokens: Option<u64>,
    /// `OpenRouter`: what the call cost there.
    #[serde(default, deserialize_with = "counts::dollars")]
    cost: Option<Money>,
    #[serde(default, deserialize_with = "counts::part")]
    cost_details: Option<CostDetails>,
    #[serde(default, deserialize_with = "counts::part")]
    is_byok: Option<bool>,
}

#[derive(Deserialize)]
struct PromptDetails {
    #[serde(default, deserialize_with = "counts::count")]
    cached_tokens: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    cache_write_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct CompletionDetails {
    #[serde(default, deserialize_with = "counts::count")]
    reasoning_tokens: Option<u64>,
}

/// What the provider behind a router charges to the user's own account there.
#[derive(Deserialize)]
struct CostDetails {
    #[serde(default, deserialize_with = "counts::dollars")]
    upstream_inference_cost: Option<Money>,
}

impl From<WireUsage> for Usage {
    /// No figure makes another smaller: what a total has beyond its parts is output, and reasoning that is more than the
    /// output it should be part of stands beside it.
    fn from(wire: WireUsage) -> Self {
        let prompt = wire.prompt_tokens.max(wire.input_tokens).unwrap_or(0);
        let (read, written) = wire
            .prompt_tokens_details
            .or(wire.input_tokens_details)
            .map_or((None, None), |details| (details.cached_tokens, details.cache_write_tokens));
        // Cached tokens are counted among the prompt's; a hostile count cannot exceed them.
        let cached = read.or(wire.prompt_cache_hit_tokens).unwrap_or(0).min(prompt);
        let written = written.unwrap_or(0).min(prompt - cached);
        let mut output = wire.completion_tokens.max(wire.output_tokens).unwrap_or(0);
        let details = wire.completion_tokens_details.or(wire.output_tokens_details);
        let reasoning = details.and_then(|d| d.reasoning_tokens).unwrap_or(0);
        if reasoning > output {
            output = output.saturating_add(reasoning);
        }
        let beyond = wire.total_tokens.unwrap_or(0).saturating_sub(prompt.saturating_add(output));
        let upstream = wire.cost_details.and_then(|d| d.upstream_inference_cost);
        let upstream = upstream.filter(|_| wire.is_byok == Some(true)).unwrap_or_default();
        Self {
            input: prompt - cached - written,
            // A total alone does not say of which kind its tokens were.
            output: if prompt > 0 || output > 0 { output.saturating_add(beyond) } else { 0 },
            cache_read: cached,
            cache_write: written,
            cost: wire.cost.map(|cost| Money(cost.0.saturating_add(upstream.0))),
            ..Self::default()
        }
    }
}

impl Dialect for OpenAi {
    fn body(&self, call: &Call, schema: Option<&RawValue>) -> Result<Vec<u8>, serde_json::Error> {
        let without = self.without.load(Ordering::Relaxed);
        let has = |flag| without & flag == 0;
        let limit = Some(reply_limit(call, self.max_tokens));
        let old = (self.length == LengthField::MaxTokens) == has(OTHER_LENGTH);
        let mut out = Vec::with_capacity(tools::size(&call.messages));
        serde_json::to_writer(
            &mut out,
            &ChatRequest {
                model: &self.model,
                messages: Messages { system: system(call, self.system.as_deref()), rest: &call.messages },
                stream: true,
                stream_options: has(NO_STREAM_OPTIONS).then_some(StreamOptions { include_usage: true }),
                max_tokens: limit.filter(|_| old),
                max_completion_tokens: limit.filter(|_| !old),
                temperature: self.temperature.filter(|_| has(NO_TEMPERATURE)),
                response_format: schema.map(|schema| ResponseFormat {
                    kind: "json_schema",
                    json_schema: NamedSchema { name: "answer", strict: true, schema },
                }),
                tools: tools::offered(call)?.map(declared),
                prompt_cache_key: (self.cache_key && has(NO_CACHE_KEY)).then(|| cache_key(call)).flatten(),
                reasoning_effort: self.effort.as_deref(),
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
        self.whole(data, partial)
    }

    /// A chunk and a whole reply differ only in `delta` and `message`.
    fn whole(&self, body: &[u8], partial: &mut PartialReply) -> Result<(), Broken> {
        let chunk: ChatChunk = serde_json::from_slice(body)?;
        if chunk.error.is_some() {
            return Err(Broken::Said(Box::new(ErrorBody::read(body))));
        }
        if let Some(Str(model)) = &chunk.model {
            partial.model(model);
        }
        if let Some(usage) = chunk.usage {
            partial.used(usage.into());
        }
        let Some(choice) = chunk.choices.into_iter().flatten().next() else { return Ok(()) };
        let is_whole = choice.delta.is_none();
        if let Some(delta) = choice.delta.or(choice.message) {
            partial.text.push_str(&delta.content.0);
            for (fragment, place) in delta.tool_calls.into_iter().flatten().zip(0..) {
                // Whole calls have their place in the list, pieces without one belong to the only call.
                fragment.add_to(if is_whole { place } else { 0 }, &mut partial.raw_calls)?;
            }
            if let Some(Str(text)) = delta.refusal.filter(|Str(t)| !t.is_empty()) {
                partial.text.push_str(&text);
                partial.stop = Some(StopReason::Refusal);
            }
        }
        if let Some(Str(reason)) = choice.finish_reason
            && partial.stop != Some(StopReason::Refusal)
        {
            partial.stop = finish::reason(&reason).or(partial.stop.take());
        }
        Ok(())
    }

    fn adapt(&self, param: &str) -> bool {
        let flag = match param {
            "max_tokens" | "max_completion_tokens" => OTHER_LENGTH,
            "temperature" => NO_TEMPERATURE,
            "stream_options" => NO_STREAM_OPTIONS,
            "prompt_cache_key" => NO_CACHE_KEY,
            _ => return false,
        };
        // Calls at the same time may all be told so: each may then send its body once more.
        self.without.fetch_or(flag, Ordering::Relaxed);
        true
    }
}

#[cfg(test)]
mod tests;
