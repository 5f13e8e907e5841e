//! The conversation as the Messages API has it: blocks inside of messages, results before anything else a user
//! says, nothing empty. Nothing is read here.

use std::borrow::Cow;

use gadfly_engine::Speaker;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::agent::{Picture, Spoken, ToolSaid, ToolWish};
use crate::http::tools::{Offer, object, plain};

/// The longest name of a tool that the API takes, and the longest id we keep.
const MAX_NAME: usize = 128;
const MAX_ID: usize = 256;
/// Told of a tool that said nothing: the API refuses an error without a word.
const SILENT: &str = "(no output)";

#[derive(Serialize)]
pub(super) struct Message<'a> {
    role: &'static str,
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Blocks(Vec<Block<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: &'a RawValue,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    Image {
        source: Source<'a>,
    },
}

#[derive(Serialize)]
struct Source<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    media_type: &'a str,
    data: &'a str,
}

/// A message in which nothing is said is left out: the API refuses it, and takes two of one speaker in a row.
pub(super) fn messages(spoken: &[Spoken]) -> Result<Vec<Message<'_>>, serde_json::Error> {
    let mut messages = Vec::with_capacity(spoken.len());
    for one in spoken {
        let words = Some(one.text.as_str()).filter(|text| !text.trim().is_empty());
        let (role, mut blocks) = match one.from {
            Speaker::User => ("user", user(one)),
            Speaker::Assistant => ("assistant", Vec::new()),
        };
        let calls: &[ToolWish] = if one.from == Speaker::Assistant { &one.calls } else { &[] };
        let content = if blocks.is_empty() && calls.is_empty() {
            let Some(text) = words else { continue };
            Content::Text(text)
        } else {
            blocks.extend(words.map(|text| Block::Text { text }));
            for wish in calls {
                blocks.push(wished(wish)?);
            }
            Content::Blocks(blocks)
        };
        messages.push(Message { role, content });
    }
    Ok(messages)
}

/// What goes before the words: results first of all, or the API refuses them.
fn user(spoken: &Spoken) -> Vec<Block<'_>> {
    spoken.results.iter().map(told).chain(spoken.images.iter().map(shown)).collect()
}

fn wished(wish: &ToolWish) -> Result<Block<'_>, serde_json::Error> {
    let input = serde_json::from_str(object(&wish.args))?;
    Ok(Block::ToolUse { id: plain(&wish.id, MAX_ID), name: plain(&wish.name, MAX_NAME), input })
}

fn told(result: &ToolSaid) -> Block<'_> {
    let content = if result.text.trim().is_empty() { SILENT } else { &result.text };
    Block::ToolResult { tool_use_id: plain(&result.call, MAX_ID), content, is_error: !result.ok }
}

fn shown(image: &Picture) -> Block<'_> {
    Block::Image { source: Source { kind: "base64", media_type: &image.media, data: &image.base64 } }
}

#[derive(Serialize)]
pub(super) struct Declared<'a> {
    name: Cow<'a, str>,
    description: Cow<'a, str>,
    input_schema: &'a RawValue,
}

pub(super) fn declared(offers: Vec<Offer<'_>>) -> Vec<Declared<'_>> {
    let declare = |Offer { name, description, schema }| Declared { name, description, input_schema: schema };
    offers.into_iter().map(declare).collect()
}
