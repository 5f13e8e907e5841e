//! What a tool says: a readable text and the same as data; or why it refuses, and what to do then.

use rmcp::model::{CallToolResult, ContentBlock, InputRequiredResult, JsonObject};
use rmcp::schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::output::safe;

/// A result is read by a model: more than this belongs into a resource.
const LONGEST_TEXT: usize = 256 << 10;

pub struct ToolReply {
    pub text: String,
    pub value: Value,
}

/// Why a tool did not do what it was asked to.
#[derive(Debug)]
pub enum ToolError {
    /// With what to do about it.
    Refused(String),
    /// The client has to ask its user first, and then calls again.
    NeedsInput(Box<InputRequiredResult>),
}

impl ToolReply {
    pub fn new(text: String, value: &impl Serialize) -> Result<Self, ToolError> {
        let value = serde_json::to_value(value).map_err(|e| refused(format!("internal error: {e}")))?;
        Ok(Self { text, value })
    }

    pub fn with_before(mut self, text: &str) -> Self {
        self.text = format!("{text}\n\n{}", self.text);
        self
    }

    pub fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::success(vec![ContentBlock::text(shown(&self.text))]);
        result.structured_content = Some(self.value);
        result
    }
}

impl ToolError {
    /// As a result the model reads: a protocol error would be shown to nobody.
    pub fn refusal(why: &str) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(shown(why))])
    }
}

pub fn refused(why: impl Into<String>) -> ToolError {
    ToolError::Refused(why.into())
}

/// Nothing in it acts on the terminal of whoever reads along.
fn shown(text: &str) -> String {
    let text = safe::block(text);
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((at, _)) => {
            format!("{}\n… (cut here: the data and the run's resource have all of it)", &text[..at])
        }
        None => text,
    }
}

/// The schema of a type, without the number formats that only Rust knows.
pub fn schema<T: JsonSchema + 'static>() -> JsonObject {
    let schema = rmcp::handler::server::tool::schema_for_type::<T>();
    let mut value = Value::Object(schema.as_ref().clone());
    tidy(&mut value, 0);
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Deeper than any schema of ours.
const DEEPEST: usize = 32;

fn tidy(value: &mut Value, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Object(fields) => {
            let ours = |format: &Value| {
                format
                    .as_str()
                    .is_some_and(|f| f.starts_with("uint") || f.starts_with("int") || f == "double")
            };
            if fields.get("format").is_some_and(ours) {
                fields.remove("format");
            }
            fields.values_mut().for_each(|inner| tidy(inner, depth + 1));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| tidy(inner, depth + 1)),
        _ => {}
    }
}
