//! What a tool answered, as one bounded text: what is no text is named, never carried.

use rmcp::model::{CallToolResult, ContentBlock, ErrorData, ResourceContents};

use super::McpSaid;

const MOST_TEXT: usize = 4 << 20;
const SHOWN: usize = 200;
const UNKNOWN: &str = "[something that cannot be shown]";

pub(super) fn of(result: &CallToolResult) -> McpSaid {
    let mut text = String::new();
    for block in &result.content {
        if text.len() >= MOST_TEXT {
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        add(&mut text, block);
    }
    if result.content.is_empty()
        && let Some(structured) = &result.structured_content
    {
        text = structured.to_string();
    }
    text.truncate(text.floor_char_boundary(MOST_TEXT));
    McpSaid { text, is_error: result.is_error.unwrap_or(false) }
}

/// The server refused the call: an answer, for whoever can ask otherwise.
pub(super) fn refused(error: &ErrorData) -> McpSaid {
    let mut text = error.message.to_string();
    text.truncate(text.floor_char_boundary(MOST_TEXT));
    McpSaid { text, is_error: true }
}

fn add(text: &mut String, block: &ContentBlock) {
    match block {
        ContentBlock::Text(block) => push(text, &block.text),
        ContentBlock::Image(image) => push(text, &named(&image.mime_type, &image.data)),
        ContentBlock::Audio(audio) => push(text, &named(&audio.mime_type, &audio.data)),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { text: inner, .. } => push(text, inner),
            ResourceContents::BlobResourceContents { mime_type, blob, .. } => {
                push(text, &named(mime_type.as_deref().unwrap_or("application/octet-stream"), blob));
            }
            _ => push(text, UNKNOWN),
        },
        ContentBlock::ResourceLink(link) => push(text, &format!("[link to {}]", brief(&link.uri))),
        _ => push(text, UNKNOWN),
    }
}

/// Adds what still fits.
fn push(text: &mut String, more: &str) {
    let room = MOST_TEXT.saturating_sub(text.len());
    text.push_str(more.get(..more.floor_char_boundary(room)).unwrap_or_default());
}

fn named(media: &str, base64: &str) -> String {
    let digits = base64.trim_end_matches('=').len();
    format!("[{}, {} bytes]", brief(media), digits * 3 / 4)
}

fn brief(text: &str) -> String {
    text.chars().take(SHOWN).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn said(result: serde_json::Value) -> McpSaid {
        of(&serde_json::from_value(result).unwrap())
    }

    #[test]
    fn texts_are_joined_and_pictures_are_named() {
        let content = json!([
            { "type": "text", "text": "a" },
            { "type": "image", "mimeType": "image/png", "data": "AAAAAA==" },
            { "type": "resource", "resource": { "uri": "x:y", "text": "inside" } },
            { "type": "resource_link", "uri": "x:z", "name": "z" },
        ]);
        let said = said(json!({ "content": content, "isError": true }));
        assert_eq!(said.text, "a\n[image/png, 4 bytes]\ninside\n[link to x:z]");
        assert!(said.is_error);
    }

    #[test]
    fn a_result_without_content_is_its_structure() {
        assert_eq!(said(json!({ "content": [], "structuredContent": { "n": 1 } })).text, r#"{"n":1}"#);
    }

    #[test]
    fn a_text_is_cut_at_four_mebibytes() {
        let half = "é".repeat(MOST_TEXT / 4 + 1);
        let content = json!([{ "type": "text", "text": half }, { "type": "text", "text": half }]);
        assert!(said(json!({ "content": content })).text.len() <= MOST_TEXT);
    }
}
