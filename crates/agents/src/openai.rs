//! `openai`: chat completions as `OpenAI` and everyone compatible with it speak them, streamed.
//! Reasoning (`reasoning_content`) is not part of the reply.

mod content;

use std::borrow::Cow;
use std::sync::atomic::{AtomicU8, Ordering};

use gadfly_engine::{Speaker, StopReason, Usage};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::agent::{Call, Spoken};
use crate::http::refused::Said;
use crate::http::{Broken, Dialect, Partial};
use crate::vendors::LengthField;
use content::Content;

pub(crate) struct OpenAi {
    pub model: String,
    pub system: Option<String>,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u64>,
    pub length: LengthField,
    /// Parameters this server has turned down, as it named them.
    pub without: AtomicU8,
}

const OTHER_LENGTH: u8 = 1;
const NO_TEMPERATURE: u8 = 2;
const NO_STREAM_OPTIONS: u8 = 4;

#[derive(Serialize)]
struct Body<'a> {
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
}

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

struct Messages<'a> {
    system: Option<String>,
    rest: &'a [Spoken],
}

#[derive(Serialize)]
pub(crate) struct WireMessage<'a> {
    pub role: &'static str,
    pub content: &'a str,
}

impl<'a> From<&'a Spoken> for WireMessage<'a> {
    fn from(spoken: &'a Spoken) -> Self {
        let role = match spoken.from {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        };
        Self { role, content: &spoken.text }
    }
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let system = self.system.as_deref().map(|content| WireMessage { role: "system", content });
        s.collect_seq(system.into_iter().chain(self.rest.iter().map(WireMessage::from)))
    }
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

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    model: Option<Str<'a>>,
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    usage: Option<WireUsage>,
    #[serde(default)]
    error: Option<serde::de::IgnoredAny>,
}

/// A string that is copied only if it has escapes: serde borrows inside a newtype, not inside an `Option`.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Str<'a>(#[serde(borrow)] pub Cow<'a, str>);

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    finish_reason: Option<Str<'a>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    content: Content<'a>,
    #[serde(borrow, default)]
    refusal: Option<Str<'a>>,
}

#[derive(Deserialize)]
struct WireUsage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

impl From<WireUsage> for Usage {
    fn from(wire: WireUsage) -> Self {
        let prompt = wire.prompt_tokens.unwrap_or(0);
        // Cached tokens are counted among the prompt's; a hostile count cannot exceed them.
        let cached = wire.prompt_tokens_details.and_then(|d| d.cached_tokens).unwrap_or(0).min(prompt);
        Self {
            input: prompt - cached,
            output: wire.completion_tokens.unwrap_or(0),
            cache_read: cached,
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
        let size: usize = call.messages.iter().map(|m| m.text.len()).sum();
        let mut out = Vec::with_capacity(size + size / 8 + 512);
        serde_json::to_writer(
            &mut out,
            &Body {
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
            },
        )?;
        Ok(out)
    }

    fn event(&self, data: &[u8], partial: &mut Partial) -> Result<(), Broken> {
        if data == b"[DONE]" {
            partial.done = true;
            return Ok(());
        }
        self.whole(data, partial)
    }

    /// A chunk and a whole reply differ only in `delta` and `message`.
    fn whole(&self, body: &[u8], partial: &mut Partial) -> Result<(), Broken> {
        let chunk: Chunk = serde_json::from_slice(body)?;
        if chunk.error.is_some() {
            return Err(Broken::Said(Said::read(body)));
        }
        if let Some(Str(model)) = &chunk.model {
            partial.model(model);
        }
        if let Some(usage) = chunk.usage {
            partial.usage = usage.into();
        }
        let Some(choice) = chunk.choices.into_iter().flatten().next() else { return Ok(()) };
        if let Some(delta) = choice.delta.or(choice.message) {
            partial.text.push_str(&delta.content.0);
            if let Some(Str(text)) = delta.refusal.filter(|Str(t)| !t.is_empty()) {
                partial.text.push_str(&text);
                partial.stop = Some(StopReason::Refusal);
            }
        }
        if let Some(Str(reason)) = choice.finish_reason
            && partial.stop != Some(StopReason::Refusal)
        {
            partial.stop = Some(match reason.as_ref() {
                "stop" => StopReason::EndTurn,
                "length" => StopReason::Length,
                "content_filter" => StopReason::Refusal,
                other => StopReason::Other(other.to_owned()),
            });
        }
        Ok(())
    }

    fn adapt(&self, param: &str) -> bool {
        let flag = match param {
            "max_tokens" | "max_completion_tokens" => OTHER_LENGTH,
            "temperature" => NO_TEMPERATURE,
            "stream_options" => NO_STREAM_OPTIONS,
            _ => return false,
        };
        // Calls at the same time may all be told so: each may then send its body once more.
        self.without.fetch_or(flag, Ordering::Relaxed);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect() -> OpenAi {
        OpenAi {
            model: "m".into(),
            system: None,
            temperature: Some(0.0),
            max_tokens: None,
            length: LengthField::MaxTokens,
            without: AtomicU8::new(0),
        }
    }

    fn read(events: &[&str]) -> Result<Partial, Broken> {
        let mut partial = Partial::default();
        for event in events {
            dialect().event(event.as_bytes(), &mut partial)?;
        }
        Ok(partial)
    }

    #[test]
    fn reasoning_is_not_part_of_the_reply() {
        let partial = read(&[
            r#"{"model":"m-1","choices":[{"delta":{"role":"assistant","reasoning_content":"hm"}}]}"#,
            r#"{"choices":[{"delta":{"content":"a\nb"},"finish_reason":"stop"}],"usage":null}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}"#,
            "[DONE]",
        ])
        .unwrap();
        assert_eq!((partial.text.as_str(), partial.model.as_deref()), ("a\nb", Some("m-1")));
        assert_eq!(partial.stop, Some(StopReason::EndTurn));
        assert_eq!(partial.usage, Usage { input: 6, output: 3, cache_read: 4, ..Usage::default() });
        assert!(partial.done);
    }

    #[test]
    fn a_stated_refusal_stays_one_although_the_finish_says_stop() {
        let partial = read(&[r#"{"choices":[{"delta":{"refusal":"No."},"finish_reason":"stop"}]}"#]).unwrap();
        assert_eq!(partial.stop, Some(StopReason::Refusal));
    }

    #[test]
    fn an_error_inside_the_stream_is_one() {
        let broken = read(&[r#"{"error":{"type":"server_error","message":"m"}}"#]).err().unwrap();
        assert!(matches!(broken, Broken::Said(said) if said.kind == "server_error"));
    }

    #[test]
    fn parameters_that_were_turned_down_are_not_sent_again() {
        let d = dialect();
        let call = Call {
            system: Some("s".into()),
            max_output_tokens: 7,
            ..Call::new(String::new(), gadfly_engine::Role::Worker, vec![Spoken::new(Speaker::User, "t\"")])
        };
        let sent = || String::from_utf8(d.body(&call, None).unwrap()).unwrap();
        assert_eq!(
            sent(),
            r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"t\""}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":7,"temperature":0.0}"#
        );
        assert!(d.adapt("max_tokens") && d.adapt("temperature") && d.adapt("stream_options"));
        assert!(sent().ends_with(r#""stream":true,"max_completion_tokens":7}"#));
        assert!(!d.adapt("messages"));
        let schema: &RawValue = serde_json::from_str(r#"{"type": "object"}"#).unwrap();
        let held = String::from_utf8(d.body(&call, Some(schema)).unwrap()).unwrap();
        let format = r#""response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type": "object"}}}}"#;
        assert!(held.ends_with(format), "{held}");
    }
}
