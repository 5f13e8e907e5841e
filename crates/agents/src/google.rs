//! `google`: the Gemini API (`streamGenerateContent`). Thoughts are not part of the reply. The signatures a model gives its
//! calls are not kept: the API's own word for that goes back in their place.

mod contents;

use std::borrow::Cow;

use gadfly_engine::{StopReason, Usage};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::agent::Call;
use crate::http::extra::Extra;
use crate::http::finish;
use crate::http::refused::ErrorBody;
use crate::http::tools;
use crate::http::{Broken, Dialect, PartialReply, counts};
use crate::openai::{Str, reply_limit, system};
use contents::{Function, GeminiContent, contents, declared, said};

pub(crate) struct Google {
    pub model: String,
    pub system: Option<String>,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u64>,
    /// `low`, `medium`, `high`.
    pub effort: Option<String>,
    /// Tokens it may think, beside those of its reply.
    pub thinking: Option<u64>,
    pub extra: Extra,
}

/// What a user's `body` may not have.
pub(crate) const OURS: &[&str] = &[
    "contents",
    "systemInstruction",
    "system_instruction",
    "generationConfig",
    "generation_config",
    "tools",
    "toolConfig",
    "tool_config",
    "cachedContent",
    "cached_content",
    "model",
];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiBody<'a> {
    contents: Vec<GeminiContent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<GeminiContent<'a>>,
    generation_config: GenerationConfig<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[GeminiTools<'a>; 1]>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    max_output_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<Thinking<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Thinking<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiTools<'a> {
    function_declarations: Vec<Function<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow, default)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(default, deserialize_with = "counts::part")]
    usage_metadata: Option<WireUsage>,
    #[serde(borrow, default)]
    model_version: Option<Str<'a>>,
    #[serde(borrow, default)]
    prompt_feedback: Option<Feedback<'a>>,
    #[serde(default)]
    error: Option<serde::de::IgnoredAny>,
}

/// Why a brief was not even answered.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback<'a> {
    #[serde(borrow, default)]
    block_reason: Option<Str<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow, default)]
    content: Option<Spoke<'a>>,
    #[serde(borrow, default)]
    finish_reason: Option<Str<'a>>,
}

#[derive(Deserialize)]
struct Spoke<'a> {
    #[serde(borrow, default)]
    parts: Option<Vec<GeminiReplyPart<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiReplyPart<'a> {
    #[serde(borrow, default)]
    text: Option<Str<'a>>,
    #[serde(default)]
    thought: Option<bool>,
    #[serde(borrow, default)]
    function_call: Option<FunctionCall<'a>>,
}

#[derive(Deserialize)]
struct FunctionCall<'a> {
    #[serde(borrow, default)]
    id: Option<Str<'a>>,
    #[serde(borrow, default)]
    name: Option<Str<'a>>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_field_names)] // the names of the wire
struct WireUsage {
    #[serde(default, deserialize_with = "counts::count")]
    prompt_token_count: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    tool_use_prompt_token_count: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    cached_content_token_count: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    candidates_token_count: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    thoughts_token_count: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    total_token_count: Option<u64>,
}

impl From<WireUsage> for Usage {
    /// Thoughts are paid for like words, and counted beside them.
    fn from(wire: WireUsage) -> Self {
        let or_none = |count: Option<u64>| count.unwrap_or(0);
        let prompt =
            or_none(wire.prompt_token_count).saturating_add(or_none(wire.tool_use_prompt_token_count));
        let cached = or_none(wire.cached_content_token_count).min(prompt);
        let output = or_none(wire.candidates_token_count).saturating_add(or_none(wire.thoughts_token_count));
        let beyond = or_none(wire.total_token_count).saturating_sub(prompt.saturating_add(output));
        Self {
            input: prompt - cached,
            // The first chunks count the prompt only.
            output: if output > 0 { output.saturating_add(beyond) } else { 0 },
            cache_read: cached,
            ..Self::default()
        }
    }
}

impl Google {
    fn thinking(&self) -> Option<Thinking<'_>> {
        let (thinking_budget, thinking_level) = (self.thinking, self.effort.as_deref());
        let is_said = thinking_budget.is_some() || thinking_level.is_some();
        is_said.then_some(Thinking { thinking_budget, thinking_level })
    }
}

fn chunk(chunk: Chunk<'_>, raw: &[u8], partial: &mut PartialReply) -> Result<(), Broken> {
    if chunk.error.is_some() {
        return Err(Broken::Said(Box::new(ErrorBody::read(raw))));
    }
    if let Some(Str(model)) = &chunk.model_version {
        partial.model(model);
    }
    if let Some(usage) = chunk.usage_metadata {
        partial.used(usage.into());
    }
    if chunk.prompt_feedback.and_then(|feedback| feedback.block_reason).is_some() {
        partial.stop = Some(StopReason::Refusal);
    }
    let Some(candidate) = chunk.candidates.into_iter().flatten().next() else { return Ok(()) };
    for part in candidate.content.and_then(|said| said.parts).into_iter().flatten() {
        if let Some(Str(text)) = part.text.filter(|_| part.thought != Some(true)) {
            partial.text.push_str(&text);
        }
        if let Some(call) = part.function_call {
            let place = partial.raw_calls.next();
            partial.raw_calls.begin(
                place,
                Str::or_empty(call.id.as_ref()),
                Str::or_empty(call.name.as_ref()),
            )?;
            partial.raw_calls.more(place, call.args.map_or("{}", RawValue::get));
        }
    }
    if let Some(Str(reason)) = candidate.finish_reason {
        partial.stop = finish::reason(&reason).or(partial.stop.take());
    }
    Ok(())
}

impl Dialect for Google {
    fn body(&self, call: &Call, schema: Option<&RawValue>) -> Result<Vec<u8>, serde_json::Error> {
        let mut out = Vec::with_capacity(tools::size(&call.messages));
        let limit = reply_limit(call, self.max_tokens).saturating_add(self.thinking.unwrap_or(0));
        let tools =
            tools::offered(call)?.map(|offers| [GeminiTools { function_declarations: declared(offers) }]);
        serde_json::to_writer(
            &mut out,
            &GeminiBody {
                contents: contents(&call.messages, &self.model)?,
                system_instruction: system(call, self.system.as_deref()).map(|text| said(Cow::Owned(text))),
                generation_config: GenerationConfig {
                    // The API's numbers have 32 bits.
                    max_output_tokens: limit.min(i32::MAX as u64),
                    temperature: self.temperature,
                    response_mime_type: schema.map(|_| "application/json"),
                    response_json_schema: schema,
                    thinking_config: self.thinking(),
                },
                tools,
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
        chunk(serde_json::from_slice(data)?, data, partial)
    }

    /// One reply, or the list of chunks that the API sends where no stream was asked for.
    fn whole(&self, body: &[u8], partial: &mut PartialReply) -> Result<(), Broken> {
        if body.trim_ascii_start().starts_with(b"[") {
            for raw in serde_json::from_slice::<Vec<&RawValue>>(body)? {
                chunk(serde_json::from_str(raw.get())?, raw.get().as_bytes(), partial)?;
            }
        } else {
            chunk(serde_json::from_slice(body)?, body, partial)?;
        }
        partial.done = true;
        Ok(())
    }

    /// The API names no parameter that could be left out.
    fn adapt(&self, _: &str) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
