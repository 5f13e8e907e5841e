//! JSON as models write it. A closed list of slips is mended, each by its name; nothing that was cut off is completed, and a
//! key that stands twice in one object is refused, since two readers could understand it differently.
//!
//! Keys are read in small letters with `_` between their words, so that `Task-ID` and `task_id` are the same key.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Deeper nesting is refused.
const DEEPEST: usize = 64;
/// How much is read of a text in search of objects, all attempts together.
pub const MOST_READ: usize = 8 << 20;

/// What was not JSON and was read all the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Slip {
    /// A comma before a closing brace.
    TrailingComma,
    /// A comma before the end of a list: an entry may have been lost behind it.
    ListComma,
    Comment,
    /// `'…'` or `“…”` for `"…"`.
    OtherQuotes,
    /// A line break or another control character inside a text.
    RawControl,
    /// A quotation mark inside a text that was not escaped.
    BareQuote,
    /// `None`, `True`, `NaN`.
    Literal,
    /// A key or a word without quotation marks.
    Unquoted,
    BadEscape,
}

impl Slip {
    pub const fn name(self) -> &'static str {
        match self {
            Self::TrailingComma => "a comma before a closing brace",
            Self::ListComma => "a comma at the end of a list",
            Self::Comment => "a comment in JSON",
            Self::OtherQuotes => "other quotation marks in JSON",
            Self::RawControl => "a line break inside a JSON text",
            Self::BareQuote => "a quotation mark inside a JSON text",
            Self::Literal => "a literal of another language in JSON",
            Self::Unquoted => "a word without quotation marks in JSON",
            Self::BadEscape => "a backslash that escapes nothing in JSON",
        }
    }
}

/// An object, how many bytes it takes up, and what was mended.
#[derive(Clone, PartialEq, Debug)]
pub struct Parsed {
    pub object: Map<String, Value>,
    pub length: usize,
    pub slips: BTreeSet<Slip>,
}

/// Why a text begins with no object, and how far it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flaw {
    pub what: String,
    pub read: usize,
}

/// Reads the object a text begins with.
pub fn parse(text: &str) -> Result<Parsed, Flaw> {
    let mut reader = Reader { text, at: 0, slips: BTreeSet::new() };
    match reader.value(0) {
        Ok(Value::Object(object)) => Ok(Parsed { object, length: reader.at, slips: reader.slips }),
        Ok(_) => Err(Flaw { what: "it is no object".to_owned(), read: reader.at }),
        Err(what) => Err(Flaw { what, read: reader.at }),
    }
}

/// The objects in a text, at most so many.
pub fn objects(text: &str, most: usize) -> Vec<Value> {
    let mut found = Vec::new();
    let (mut at, mut read) = (0, 0);
    while let Some(offset) = text.get(at..).and_then(|rest| rest.find('{')) {
        let start = at + offset;
        if found.len() >= most || read > MOST_READ {
            break;
        }
        match parse(&text[start..]) {
            Ok(parsed) => {
                read += parsed.length;
                at = start + parsed.length;
                if !parsed.object.is_empty() {
                    found.push(Value::Object(parsed.object));
                }
            }
            Err(flaw) => {
                read += flaw.read.max(64);
                at = start + 1;
            }
        }
    }
    found
}

/// A key as it is compared.
pub fn key(name: &str) -> String {
    // `failureScenario` has two words.
    let mut spaced = String::with_capacity(name.len() + 4);
    let mut small = false;
    for c in name.chars() {
        if c.is_uppercase() && small {
            spaced.push('_');
        }
        small = c.is_lowercase();
        spaced.push(c);
    }
    let words = spaced.split(|c: char| !(c.is_alphanumeric() || super::forms::STAND_IN.contains(&c)));
    words.filter(|w| !w.is_empty()).map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    slips: BTreeSet<Slip>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    #[allow(clippy::unused_self)] // reads as what it is: an error here
    fn error<T>(&self, what: &str) -> Result<T, String> {
        Err(what.to_owned())
    }

    /// Blanks and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let body = rest.trim_start();
            self.at += rest.len() - body.len();
            let length = if body.starts_with("//") || body.starts_with("# ") {
                body.find('\n').unwrap_or(body.len())
            } else if body.starts_with("/*") {
                match body.find("*/") {
                    Some(end) => end + 2,
                    None => return,
                }
            } else {
                return;
            };
            self.slips.insert(Slip::Comment);
            self.at += length;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > DEEPEST {
            return self.error("it is nested too deeply");
        }
        self.skip();
        match self.peek() {
            Some('{') => self.object(depth),
            Some('[') => self.array(depth),
            Some(c) if closing(c).is_some() => self.string(c, false).map(Value::String),
            Some(c) if c.is_ascii_digit() || c == '-' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => Ok(self.word()),
            Some(_) => self.error("something that is no value"),
            None => self.error("it is cut off"),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, String> {
        self.at += 1;
        let mut object = Map::new();
        loop {
            self.skip();
            match self.peek() {
                Some('}') => {
                    self.at += 1;
                    return Ok(Value::Object(object));
                }
                None => return self.error("it is cut off"),
                _ => {}
            }
            let name = self.key()?;
            self.skip();
            if self.peek() != Some(':') {
                return self.error("a key without a colon");
            }
            self.at += 1;
            let value = self.value(depth + 1)?;
            if object.insert(name.clone(), value).is_some() {
                let name: String = name.chars().take(80).collect();
                return Err(format!("the key `{name}` stands twice in one object"));
            }
            self.separator('}')?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, String> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                Some(']') => {
                    self.at += 1;
                    return Ok(Value::Array(items));
                }
                None => return self.error("it is cut off"),
                _ => items.push(self.value(depth + 1)?),
            }
            self.separator(']')?;
        }
    }

    /// A comma, or the closing bracket, which is left.
    fn separator(&mut self, close: char) -> Result<(), String> {
        self.skip();
        match self.peek() {
            Some(comma @ (',' | '，')) => {
                self.at += comma.len_utf8();
                if comma != ',' {
                    self.slips.insert(Slip::OtherQuotes);
                }
                self.skip();
                if self.peek() == Some(close) {
                    self.slips.insert(if close == ']' { Slip::ListComma } else { Slip::TrailingComma });
                }
                Ok(())
            }
            Some(c) if c == close => Ok(()),
            Some(_) => self.error("a comma is missing"),
            None => self.error("it is cut off"),
        }
    }

    fn key(&mut self) -> Result<String, String> {
        match self.peek() {
            Some(c) if closing(c).is_some() => Ok(key(&self.string(c, true)?)),
            Some(c) if c.is_alphabetic() || c == '_' => {
                self.slips.insert(Slip::Unquoted);
                Ok(key(&self.bare()))
            }
            _ => self.error("something that is no key"),
        }
    }

    fn bare(&mut self) -> String {
        let rest = self.rest();
        let length =
            rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(rest.len());
        self.at += length;
        rest[..length].to_owned()
    }

    fn string(&mut self, open: char, is_key: bool) -> Result<String, String> {
        let close = closing(open).unwrap_or(&['"']);
        if open != '"' {
            self.slips.insert(Slip::OtherQuotes);
        }
        self.at += open.len_utf8();
        let mut out = String::new();
        loop {
            let Some(c) = self.peek() else { return self.error("a text is cut off") };
            self.at += c.len_utf8();
            match c {
                '\\' => self.escape(&mut out)?,
                c if close.contains(&c) => {
                    if self.ends_string(is_key) {
                        return Ok(out);
                    }
                    self.slips.insert(Slip::BareQuote);
                    out.push(c);
                }
                c if c.is_control() => {
                    self.slips.insert(Slip::RawControl);
                    out.push(c);
                }
                c => out.push(c),
            }
        }
    }

    /// Behind a mark that may close a text: does what follows go on with the object?
    fn ends_string(&self, is_key: bool) -> bool {
        let rest = self.rest().trim_start();
        let mut chars = rest.chars();
        match chars.next() {
            None => true,
            Some(':') => is_key,
            Some('}' | ']') => !is_key,
            Some(',') if !is_key => {
                let behind = chars.as_str().trim_start();
                let next = behind.chars().next();
                // A word goes on with the sentence unless it is a key: `"half(4)", fine"`.
                let word = behind.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(behind.len());
                if next.is_some_and(char::is_alphabetic)
                    && !behind[word..].trim_start().starts_with([':', ',', ']', '}'])
                {
                    return false;
                }
                next.is_none_or(|c| {
                    closing(c).is_some()
                        || c.is_ascii_digit()
                        || matches!(c, '{' | '[' | '}' | ']' | '-' | '/' | 't' | 'f' | 'n' | 'T' | 'F' | 'N')
                })
            }
            Some('/') => rest.starts_with("//") || rest.starts_with("/*"),
            _ => false,
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), String> {
        let Some(c) = self.peek() else { return self.error("a text is cut off") };
        self.at += c.len_utf8();
        match c {
            '"' | '\\' | '/' | '\'' => out.push(c),
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' | 'f' => out.push(' '),
            'u' => {
                let first = self.unit();
                let low = first.filter(|n| (0xd800..0xdc00).contains(n)).and_then(|_| {
                    let rest = self.rest().strip_prefix("\\u")?;
                    u32::from_str_radix(rest.get(..4)?, 16).ok().filter(|n| (0xdc00..0xe000).contains(n))
                });
                let code = match (first, low) {
                    (Some(high), Some(low)) => {
                        self.at += 6;
                        Some(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
                    }
                    (first, _) => first,
                };
                let read = code.and_then(char::from_u32);
                if read.is_none() {
                    self.slips.insert(Slip::BadEscape);
                }
                out.push(read.unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            other => {
                self.slips.insert(Slip::BadEscape);
                out.push('\\');
                out.push(other);
            }
        }
        Ok(())
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = self.rest().get(..4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    fn number(&mut self) -> Result<Value, String> {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E')))
            .unwrap_or(rest.len());
        let Ok(value) = serde_json::from_str::<Value>(&rest[..length]) else {
            return self.error("something that is no number");
        };
        self.at += length;
        Ok(value)
    }

    fn word(&mut self) -> Value {
        let word = self.bare();
        let slip = match word.as_str() {
            "true" => return Value::Bool(true),
            "false" => return Value::Bool(false),
            "null" => return Value::Null,
            "True" | "TRUE" => Value::Bool(true),
            "False" | "FALSE" => Value::Bool(false),
            "None" | "NULL" | "Null" | "nil" | "NaN" | "undefined" => Value::Null,
            _ => {
                // A single word where a text belongs; whatever goes on is not JSON any more.
                self.slips.insert(Slip::Unquoted);
                return Value::String(word);
            }
        };
        self.slips.insert(Slip::Literal);
        slip
    }
}

/// What closes a text that opens with this mark.
const fn closing(open: char) -> Option<&'static [char]> {
    match open {
        '"' => Some(&['"']),
        '\'' => Some(&['\'']),
        '“' | '”' | '„' => Some(&['”', '“', '"']),
        '‘' | '’' => Some(&['’', '‘']),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn reads(text: &str, expected: &Value, slips: &[Slip]) {
        let parsed = parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        assert_eq!(Value::Object(parsed.object), *expected, "{text}");
        assert_eq!(parsed.slips.into_iter().collect::<Vec<_>>(), slips, "{text}");
    }

    #[test]
    fn json_is_json() {
        let text = r#"{"a": [1, -2.5, true, null, "x\n\u00e9\ud83d\ude00\"q\""], "b": {"c": {}}} tail"#;
        reads(text, &json!({"a": [1, -2.5, true, null, "x\né😀\"q\""], "b": {"c": {}}}), &[]);
        assert_eq!(parse(text).map(|p| text[p.length..].to_owned()), Ok(" tail".to_owned()));
    }

    #[test]
    fn slips_are_mended_and_named() {
        reads(r#"{"a": [1,], "b": 2,}"#, &json!({"a": [1], "b": 2}), &[Slip::TrailingComma, Slip::ListComma]);
        reads("{\"a\": 1, // why\n/* x */ \"b\": 2}", &json!({"a": 1, "b": 2}), &[Slip::Comment]);
        reads("{'a': 'it', 'b': None}", &json!({"a": "it", "b": null}), &[Slip::OtherQuotes, Slip::Literal]);
        reads("{”a”: ”b”}", &json!({"a": "b"}), &[Slip::OtherQuotes]);
        reads("{\"a\": \"x\ny\"}", &json!({"a": "x\ny"}), &[Slip::RawControl]);
        reads(
            r#"{"a": "says "b / 2" there", "c": 1}"#,
            &json!({"a": "says \"b / 2\" there", "c": 1}),
            &[Slip::BareQuote],
        );
        reads("{a: 1, b: PASS}", &json!({"a": 1, "b": "PASS"}), &[Slip::Unquoted]);
        reads(r#"{"Task-ID": 1}"#, &json!({"task_id": 1}), &[]);
    }

    #[test]
    fn what_was_cut_off_or_said_twice_is_not_completed() {
        for text in [
            "{",
            "{\"a\"",
            "{\"a\": ",
            "{\"a\": \"x",
            "{\"a\": [1, ",
            "{\"a\": 1",
            "{\"a\": 1, \"a\": 2}",
            "{\"a\": 1, \"A\": 2}",
            "{\"a\" 1}",
            "[1]",
            "{\"a\": 1 \"b\": 2}",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&format!("{{\"a\": {}", "[".repeat(100_000))).is_err());
    }

    #[test]
    fn a_hostile_text_is_searched_in_bounded_time() {
        for token in ["{", "{\"a\":", "{\"a\": \"", "{}", "{{\"a\": 1}"] {
            let _ = objects(&token.repeat(20_000), 10);
        }
    }
}
