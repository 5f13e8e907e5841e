//! The `content` of a message: a string or, where a vendor adds reasoning to it, a list of parts.
//! Only the text counts; a string without escapes is borrowed.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};

use super::Str;

#[derive(Default)]
pub(crate) struct TextContent<'a>(pub Cow<'a, str>);

#[derive(serde::Deserialize)]
struct ContentPart<'a> {
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow, default)]
    text: Option<Str<'a>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for TextContent<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = TextContent<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of parts")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(TextContent(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(TextContent(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(TextContent::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut text = String::new();
        while let Some(part) = parts.next_element::<ContentPart<'de>>()? {
            if let (true, Some(Str(t))) = (part.kind.0 == "text", part.text) {
                text.push_str(&t);
            }
        }
        Ok(TextContent(Cow::Owned(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_from_a_string_and_from_parts_and_reasoning_from_neither() {
        let read = |json| serde_json::from_str::<TextContent>(json).map(|c| c.0.into_owned());
        assert_eq!(read(r#""a""#).unwrap(), "a");
        assert_eq!(read(r#""a\nb""#).unwrap(), "a\nb");
        assert_eq!(read("null").unwrap(), "");
        let parts =
            r#"[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"yes"}]"#;
        assert_eq!(read(parts).unwrap(), "yes");
        assert!(read("7").is_err());
    }
}
