//! The conversation as the Messages API has it: blocks inside of messages, results before anything else a user
//! says, nothing empty. Nothing is read here.
//!
//! A mark on a block has the API keep everything up to its end, in the order tools, system text, messages, for calls
//! that begin in the same way. So one mark after the part of the brief that stays the same covers all that goes
//! before it. A model that uses tools gets its whole conversation again with every turn: the end of this turn's is marked,
//! and that of the one before, where the API looks for what it kept. The API takes four marks; there are never more than
//! three here.

use std::borrow::Cow;

use gadfly_engine::Speaker;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::agent::{Call, Picture, RawToolCall, RawToolResult, Spoken};
use crate::http::tools::{OfferedTool, object, plain};

/// The longest name of a tool that the API takes, and the longest id we keep.
const MAX_NAME: usize = 128;
const MAX_ID: usize = 256;
/// Told of a tool that said nothing: the API refuses an error without a word.
const SILENT: &str = "(no output)";
const USER: &str = "user";
/// The API keeps no beginning that is shorter. Some models want more, and then it keeps none and says nothing.
const LEAST_TOKENS: usize = 1024;
/// About how many bytes a token has.
const BYTES_PER_TOKEN: usize = 4;
const LEAST_BYTES: usize = LEAST_TOKENS * BYTES_PER_TOKEN;

#[derive(Serialize)]
pub(super) struct ApiMessage<'a> {
    role: &'static str,
    content: MessageContent<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum MessageContent<'a> {
    Text(&'a str),
    Blocks(Vec<ContentBlock<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentBlock<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
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
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Image {
        source: ImageSource<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
}

/// Keep everything up to here.
#[derive(Clone, Copy, Serialize)]
struct CacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
}

const MARK: CacheControl = CacheControl { kind: "ephemeral" };

#[derive(Serialize)]
struct ImageSource<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    media_type: &'a str,
    data: &'a str,
}

/// A message in which nothing is said is left out: the API refuses it, and takes two of one speaker in a row.
/// `before` is how many bytes go before the messages; `grows`: the next call goes on with this conversation.
pub(super) fn messages(
    call: &Call,
    before: usize,
    grows: bool,
) -> Result<Vec<ApiMessage<'_>>, serde_json::Error> {
    let mut messages = Vec::with_capacity(call.messages.len());
    for (at, one) in call.messages.iter().enumerate() {
        let words = Some(one.text.as_str()).filter(|text| !text.trim().is_empty());
        let (role, mut blocks) = match one.from {
            Speaker::User => (USER, user(one)),
            Speaker::Assistant => ("assistant", Vec::new()),
        };
        let calls: &[RawToolCall] = if one.from == Speaker::Assistant { &one.calls } else { &[] };
        let content = if blocks.is_empty() && calls.is_empty() {
            let Some(text) = words else { continue };
            let stable = if at == 0 { call.stable } else { 0 };
            divided(text, stable, before).unwrap_or(MessageContent::Text(text))
        } else {
            blocks.extend(words.map(plain_text));
            for raw_call in calls {
                blocks.push(tool_use(raw_call)?);
            }
            MessageContent::Blocks(blocks)
        };
        messages.push(ApiMessage { role, content });
    }
    if grows {
        messages
            .iter_mut()
            .rev()
            .filter(|message| message.role == USER)
            .take(2)
            .for_each(ApiMessage::mark_end);
    }
    Ok(messages)
}

impl ApiMessage<'_> {
    /// Everything up to the end of this message is to be kept.
    fn mark_end(&mut self) {
        if let MessageContent::Text(text) = self.content {
            self.content = MessageContent::Blocks(vec![plain_text(text)]);
        }
        let MessageContent::Blocks(blocks) = &mut self.content else { return };
        match blocks.last_mut() {
            Some(
                ContentBlock::Text { cache_control, .. }
                | ContentBlock::ToolResult { cache_control, .. }
                | ContentBlock::Image { cache_control, .. },
            ) => *cache_control = Some(MARK),
            Some(ContentBlock::ToolUse { .. }) | None => {}
        }
    }
}

const fn plain_text(text: &str) -> ContentBlock<'_> {
    ContentBlock::Text { text, cache_control: None }
}

/// The brief in two blocks, the first of them marked: what the next call begins with as well, and the rest. None
/// if that is too little to be kept.
fn divided(text: &str, stable: usize, before: usize) -> Option<MessageContent<'_>> {
    let (same, rest) = text.split_at_checked(stable)?;
    if same.trim().is_empty() || before.saturating_add(stable) < LEAST_BYTES {
        return None;
    }
    // The API refuses a block of white space.
    if rest.trim().is_empty() {
        return Some(MessageContent::Blocks(vec![ContentBlock::Text { text, cache_control: Some(MARK) }]));
    }
    Some(MessageContent::Blocks(vec![
        ContentBlock::Text { text: same, cache_control: Some(MARK) },
        plain_text(rest),
    ]))
}

/// What goes before the words: results first of all, or the API refuses them.
fn user(spoken: &Spoken) -> Vec<ContentBlock<'_>> {
    spoken.results.iter().map(told).chain(spoken.images.iter().map(shown)).collect()
}

fn tool_use(raw_call: &RawToolCall) -> Result<ContentBlock<'_>, serde_json::Error> {
    let input = serde_json::from_str(object(&raw_call.args))?;
    Ok(ContentBlock::ToolUse {
        id: plain(&raw_call.id, MAX_ID),
        name: plain(&raw_call.name, MAX_NAME),
        input,
    })
}

fn told(result: &RawToolResult) -> ContentBlock<'_> {
    let content = if result.text.trim().is_empty() { SILENT } else { &result.text };
    ContentBlock::ToolResult {
        tool_use_id: plain(&result.call, MAX_ID),
        content,
        is_error: !result.ok,
        cache_control: None,
    }
}

fn shown(image: &Picture) -> ContentBlock<'_> {
    let source = ImageSource { kind: "base64", media_type: &image.media, data: &image.base64 };
    ContentBlock::Image { source, cache_control: None }
}

#[derive(Serialize)]
pub(super) struct Declared<'a> {
    name: Cow<'a, str>,
    description: Cow<'a, str>,
    input_schema: &'a RawValue,
}

pub(super) fn declared(offers: Vec<OfferedTool<'_>>) -> Vec<Declared<'_>> {
    let declare =
        |OfferedTool { name, description, schema }| Declared { name, description, input_schema: schema };
    offers.into_iter().map(declare).collect()
}
