//! The conversation as the Gemini API has it: contents of parts, results named by their function, nothing empty.

use std::borrow::Cow;

use gadfly_engine::Speaker;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::agent::{Picture, RawToolCall, RawToolResult, Spoken};
use crate::http::tools::{OfferedTool, object, plain};

/// The longest name of a function that the API takes.
const MAX_NAME: usize = 64;
/// The API's own word where the signature of a call was not kept. Models before the third have none.
const UNSIGNED: &str = "skip_thought_signature_validator";

#[derive(Serialize)]
pub(super) struct GeminiContent<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<GeminiPart<'a>>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum GeminiPart<'a> {
    Text {
        text: Cow<'a, str>,
    },
    InlineData {
        inline_data: Inline<'a>,
    },
    Call {
        function_call: Call<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'static str>,
    },
    Response {
        function_response: Response<'a>,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inline<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
struct Call<'a> {
    name: Cow<'a, str>,
    args: &'a RawValue,
}

#[derive(Serialize)]
struct Response<'a> {
    name: Cow<'a, str>,
    response: FunctionOutcome<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum FunctionOutcome<'a> {
    Output(&'a str),
    Error(&'a str),
}

/// A text without a speaker.
pub(super) fn said(text: Cow<'_, str>) -> GeminiContent<'_> {
    GeminiContent { role: None, parts: vec![GeminiPart::Text { text }] }
}

pub(super) fn contents<'a>(
    messages: &'a [Spoken],
    model: &str,
) -> Result<Vec<GeminiContent<'a>>, serde_json::Error> {
    let signature = is_signed(model).then_some(UNSIGNED);
    let mut contents = Vec::with_capacity(messages.len());
    let mut asked: &[RawToolCall] = &[];
    for spoken in messages {
        let result = |said: &'a RawToolResult| responded(said, asked);
        let mut parts: Vec<GeminiPart<'a>> = spoken.results.iter().map(result).collect();
        if !spoken.text.trim().is_empty() {
            parts.push(GeminiPart::Text { text: Cow::Borrowed(&spoken.text) });
        }
        parts.extend(spoken.images.iter().map(shown));
        for raw_call in &spoken.calls {
            let function_call = Call {
                name: plain(&raw_call.name, MAX_NAME),
                args: serde_json::from_str(object(&raw_call.args))?,
            };
            parts.push(GeminiPart::Call { function_call, thought_signature: signature });
        }
        if !spoken.calls.is_empty() {
            asked = &spoken.calls;
        }
        let role = match spoken.from {
            Speaker::User => "user",
            Speaker::Assistant => "model",
        };
        if !parts.is_empty() {
            contents.push(GeminiContent { role: Some(role), parts });
        }
    }
    Ok(contents)
}

/// Whether a model signs its calls: all do whose name does not say that they are older.
fn is_signed(model: &str) -> bool {
    let name = model.strip_prefix("models/").unwrap_or(model);
    name.starts_with("gemini-") && !name.starts_with("gemini-1") && !name.starts_with("gemini-2")
}

fn responded<'a>(said: &'a RawToolResult, asked: &'a [RawToolCall]) -> GeminiPart<'a> {
    let name =
        asked.iter().find(|raw_call| raw_call.id == said.call).map_or("", |raw_call| raw_call.name.as_str());
    let response =
        if said.ok { FunctionOutcome::Output(&said.text) } else { FunctionOutcome::Error(&said.text) };
    GeminiPart::Response { function_response: Response { name: plain(name, MAX_NAME), response } }
}

fn shown(image: &Picture) -> GeminiPart<'_> {
    GeminiPart::InlineData { inline_data: Inline { mime_type: &image.media, data: &image.base64 } }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Function<'a> {
    name: Cow<'a, str>,
    description: Cow<'a, str>,
    parameters_json_schema: &'a RawValue,
}

pub(super) fn declared(offers: Vec<OfferedTool<'_>>) -> Vec<Function<'_>> {
    let declare = |OfferedTool { name, description, schema }| Function {
        name,
        description,
        parameters_json_schema: schema,
    };
    offers.into_iter().map(declare).collect()
}
