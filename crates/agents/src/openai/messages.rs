//! The conversation as chat completions have it: one message per tool's result, pictures as parts of what a
//! user says. Nothing is read here.

use std::borrow::Cow;

use gadfly_engine::Speaker;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::agent::{Picture, RawToolCall, RawToolResult, Spoken};
use crate::http::tools::{OfferedTool, object, plain};

/// The longest name of a tool that the API takes.
const MAX_NAME: usize = 64;

pub(super) struct Messages<'a> {
    pub system: Option<String>,
    pub rest: &'a [Spoken],
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut list = s.serialize_seq(None)?;
        if let Some(system) = &self.system {
            list.serialize_element(&ChatMessage::said("system", Some(ChatContent::Text(system))))?;
        }
        for spoken in self.rest {
            match spoken.from {
                Speaker::Assistant => list.serialize_element(&assistant(spoken))?,
                Speaker::User => {
                    for result in &spoken.results {
                        list.serialize_element(&told(result))?;
                    }
                    if let Some(said) = user(spoken) {
                        list.serialize_element(&said)?;
                    }
                }
            }
        }
        list.end()
    }
}

#[derive(Serialize)]
struct ChatMessage<'a> {
    role: &'static str,
    /// Null beside calls without a word.
    content: Option<ChatContent<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ChatTool<'a, Function<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

impl<'a> ChatMessage<'a> {
    const fn said(role: &'static str, content: Option<ChatContent<'a>>) -> Self {
        Self { role, content, tool_calls: Vec::new(), tool_call_id: None }
    }
}

enum ChatContent<'a> {
    Text(&'a str),
    Parts { text: &'a str, images: &'a [Picture] },
}

fn assistant(spoken: &Spoken) -> ChatMessage<'_> {
    let is_said = spoken.calls.is_empty() || !spoken.text.is_empty();
    let tool_calls = spoken.calls.iter().map(tool_call).collect();
    let content = is_said.then_some(ChatContent::Text(&spoken.text));
    ChatMessage { tool_calls, ..ChatMessage::said("assistant", content) }
}

fn tool_call(raw_call: &RawToolCall) -> ChatTool<'_, Function<'_>> {
    let function = Function { name: plain(&raw_call.name, MAX_NAME), arguments: object(&raw_call.args) };
    ChatTool { id: Some(&raw_call.id), kind: "function", function }
}

fn told(result: &RawToolResult) -> ChatMessage<'_> {
    ChatMessage {
        tool_call_id: Some(&result.call),
        ..ChatMessage::said("tool", Some(ChatContent::Text(&result.text)))
    }
}

/// None if the results before it are all there is.
fn user(spoken: &Spoken) -> Option<ChatMessage<'_>> {
    let content = if !spoken.images.is_empty() {
        ChatContent::Parts { text: &spoken.text, images: &spoken.images }
    } else if spoken.results.is_empty() || !spoken.text.is_empty() {
        ChatContent::Text(&spoken.text)
    } else {
        return None;
    };
    Some(ChatMessage::said("user", Some(content)))
}

impl Serialize for ChatContent<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => s.serialize_str(text),
            Self::Parts { text, images } => {
                let words = Some(*text).filter(|text| !text.is_empty());
                let words = words.map(|text| ChatPart::Text { text });
                let image = |image| ChatPart::ImageUrl { image_url: ImageUrl { url: DataUrl(image) } };
                s.collect_seq(words.into_iter().chain(images.iter().map(image)))
            }
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ChatPart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl<'a> },
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    url: DataUrl<'a>,
}

/// Written where it goes: a picture is large enough not to be copied first.
pub(crate) struct DataUrl<'a>(pub &'a Picture);

impl Serialize for DataUrl<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&format_args!("data:{};base64,{}", self.0.media, self.0.base64))
    }
}

/// A tool on offer, or a call of one.
#[derive(Serialize)]
pub(super) struct ChatTool<'a, F> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(rename = "type")]
    kind: &'static str,
    function: F,
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    arguments: &'a str,
}

#[derive(Serialize)]
pub(super) struct Declared<'a> {
    name: Cow<'a, str>,
    description: Cow<'a, str>,
    parameters: &'a RawValue,
}

pub(super) fn declared<'a>(offers: Vec<OfferedTool<'a>>) -> Vec<ChatTool<'a, Declared<'a>>> {
    let declare = |offer: OfferedTool<'a>| ChatTool {
        id: None,
        kind: "function",
        function: Declared { name: offer.name, description: offer.description, parameters: offer.schema },
    };
    offers.into_iter().map(declare).collect()
}
