//! The conversation as the Responses API has it: a list of items, in which calls and their results stand by themselves.
//! Items have no ids: what is not kept there cannot be looked up by one.

use std::borrow::Cow;

use gadfly_engine::Speaker;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::agent::{Picture, Spoken};
use crate::http::tools::{OfferedTool, object, plain};
use crate::openai::DataUrl;

/// The longest name of a tool that the API takes.
const MAX_NAME: usize = 64;

pub(super) struct ResponsesInput<'a>(pub &'a [Spoken]);

impl Serialize for ResponsesInput<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut list = s.serialize_seq(None)?;
        for spoken in self.0 {
            for result in &spoken.results {
                list.serialize_element(&InputItem::FunctionCallOutput {
                    call_id: &result.call,
                    output: &result.text,
                })?;
            }
            let is_beside = !spoken.results.is_empty() || !spoken.calls.is_empty();
            if !spoken.images.is_empty() || !spoken.text.is_empty() || !is_beside {
                list.serialize_element(&message(spoken))?;
            }
            for raw_call in &spoken.calls {
                let name = plain(&raw_call.name, MAX_NAME);
                let call = InputItem::FunctionCall {
                    call_id: &raw_call.id,
                    name,
                    arguments: object(&raw_call.args),
                };
                list.serialize_element(&call)?;
            }
        }
        list.end()
    }
}

const fn shown(image: &Picture) -> InputPart<'_> {
    InputPart::InputImage { image_url: DataUrl(image) }
}

fn message(spoken: &Spoken) -> InputItem<'_> {
    let role = match spoken.from {
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    };
    let content = if spoken.images.is_empty() {
        InputContent::Text(&spoken.text)
    } else {
        let words = Some(spoken.text.as_str()).filter(|text| !text.is_empty());
        let words = words.map(|text| InputPart::InputText { text });
        InputContent::Parts(words.into_iter().chain(spoken.images.iter().map(shown)).collect())
    };
    InputItem::Message { role, content }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum InputItem<'a> {
    Message { role: &'static str, content: InputContent<'a> },
    FunctionCall { call_id: &'a str, name: Cow<'a, str>, arguments: &'a str },
    FunctionCallOutput { call_id: &'a str, output: &'a str },
}

#[derive(Serialize)]
#[serde(untagged)]
enum InputContent<'a> {
    Text(&'a str),
    Parts(Vec<InputPart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum InputPart<'a> {
    InputText { text: &'a str },
    InputImage { image_url: DataUrl<'a> },
}

#[derive(Serialize)]
pub(super) struct Declared<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: Cow<'a, str>,
    description: Cow<'a, str>,
    parameters: &'a RawValue,
    /// The API would change the schema otherwise.
    strict: bool,
}

pub(super) fn declared(offers: Vec<OfferedTool<'_>>) -> Vec<Declared<'_>> {
    let declare = |OfferedTool { name, description, schema }| Declared {
        kind: "function",
        name,
        description,
        parameters: schema,
        strict: false,
    };
    offers.into_iter().map(declare).collect()
}
