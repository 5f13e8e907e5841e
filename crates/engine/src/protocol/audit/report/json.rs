//! Finds the JSON of a report or an envelope in a critic's reply: bare, in a code fence, with prose around
//! it, after reasoning. It says which object was meant, not whether it is right.
//!
//! A key that stands twice in one object is refused: two readers could understand it differently.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::reasoning;

use super::Malformed;

/// The longest reply or report file that is read.
pub const MOST_BYTES: usize = 4 << 20;
/// How many beginnings of an object are tried; each costs at most one pass over the rest.
const MOST_ATTEMPTS: usize = 200;

/// The objects a reply states its verdict with.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stated {
    pub report: Option<Map<String, Value>>,
    pub envelope: Option<Map<String, Value>>,
    pub repeated: bool,
}

pub fn find(reply: &str) -> Result<Stated, Malformed> {
    if reply.len() > MOST_BYTES {
        return Err(Malformed::TooLong { bytes: reply.len(), most: MOST_BYTES });
    }
    let answer = reasoning::without_leading(reply.trim_start_matches('\u{feff}'));
    let text = reasoning::without_blocks(answer, states_a_verdict);
    if text.trim().is_empty() {
        return Err(Malformed::Empty);
    }
    let mut stated = Stated::default();
    let mut unreadable = None;
    let mut outside = String::new();
    let mut attempts = 0;
    let mut at = 0;
    while let Some(start) = next_object(&text, at) {
        outside.push_str(&text[at..start]);
        attempts += 1;
        if attempts > MOST_ATTEMPTS {
            return Err(unreadable.map_or(Malformed::TooManyObjects, Malformed::Unreadable));
        }
        let mut objects = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Strict>();
        match objects.next() {
            Some(Ok(Strict(Value::Object(object)))) => {
                let end = start + objects.byte_offset();
                if !stated.take(object)? {
                    outside.push_str(&text[start..end]);
                }
                at = end;
            }
            Some(Err(e)) => {
                unreadable.get_or_insert_with(|| {
                    let line = text[..start].matches('\n').count() + 1;
                    format!("the JSON that begins on line {line}: {e}")
                });
                outside.push('{');
                at = start + 1;
            }
            _ => at = start + 1,
        }
    }
    outside.push_str(&text[at..]);
    if stated.report.is_none() && stated.envelope.is_none() {
        return Err(unreadable.map_or(Malformed::NoReport, Malformed::Unreadable));
    }
    // A verdict beside the one that was read, whether quoted, broken or meant, leaves open which counts.
    if states_a_verdict(&outside) {
        return Err(unreadable.map_or(Malformed::TwoVerdicts, Malformed::Unreadable));
    }
    Ok(stated)
}

impl Stated {
    /// Takes an object in if it is a report or an envelope.
    fn take(&mut self, object: Map<String, Value>) -> Result<bool, Malformed> {
        let is_report = object.contains_key("criteria") || object.contains_key("findings");
        let is_envelope = object.contains_key("report_path") || object.contains_key("blockers_count");
        let slot = match (is_report, is_envelope) {
            (true, _) => &mut self.report,
            (false, true) => &mut self.envelope,
            (false, false) => return Ok(false),
        };
        match slot {
            Some(earlier) if *earlier != object => Err(Malformed::TwoVerdicts),
            Some(_) => {
                self.repeated = true;
                Ok(true)
            }
            None => {
                *slot = Some(object);
                Ok(true)
            }
        }
    }
}

/// The next `{` that begins a line, behind blanks and code marks.
fn next_object(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    // The rest of a line on which an object ended or failed holds no beginning of a line.
    if at > 0 && !text[..at].ends_with('\n') {
        at += text[at..].find('\n')? + 1;
    }
    loop {
        let line = &text[at..];
        let body = line.trim_start_matches([' ', '\t', '`']);
        if body.starts_with('{') {
            return Some(at + (line.len() - body.len()));
        }
        at += line.find('\n')? + 1;
    }
}

/// Does the text hold the key `"verdict":`?
fn states_a_verdict(text: &str) -> bool {
    text.match_indices("\"verdict\"").any(|(at, key)| text[at + key.len()..].trim_start().starts_with(':'))
}

/// Any JSON whose objects name each key once.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyJson).map(Strict)
    }
}

struct AnyJson;

impl<'de> Visitor<'de> for AnyJson {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Strict(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if object.contains_key(&key) {
                let key: String = key.chars().take(80).collect();
                return Err(de::Error::custom(format_args!("the key `{key}` stands twice in one object")));
            }
            let Strict(value) = map.next_value()?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{"findings": [], "verdict": "passed"}"#;
    const OTHER: &str = r#"{"findings": [], "verdict": "issues_found"}"#;
    const ENVELOPE: &str = r#"{"verdict": "passed", "blockers_count": 0, "report_path": "r.json"}"#;

    fn what(reply: &str) -> String {
        match find(reply) {
            Ok(s) => {
                let parts = [("report", s.report.is_some()), ("envelope", s.envelope.is_some())];
                let names: Vec<&str> = parts.iter().filter(|(_, is)| *is).map(|(n, _)| *n).collect();
                names.join("+")
            }
            Err(e) => {
                let name = format!("{e:?}");
                name.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
            }
        }
    }

    #[test]
    fn a_report_is_found_wherever_critics_put_it() {
        let cases = [
            (REPORT.to_owned(), "report"),
            (format!("\u{feff}  {REPORT}\n"), "report"),
            (format!("Here it is.\n```json\n{REPORT}\n```\nDone."), "report"),
            (format!("`{REPORT}`"), "report"),
            (format!("<think>{OTHER}</think>\n{REPORT}"), "report"),
            (format!("So.\n<thinking>\n{OTHER}\n</thinking>\n{REPORT}"), "report"),
            (format!("{{ not json\n{REPORT}"), "report"),
            (format!("An example: {{\"a\": 1}}\n{{\"b\": 2}}\n{REPORT}"), "report"),
            (ENVELOPE.to_owned(), "envelope"),
            (format!("{REPORT}\n\n{ENVELOPE}"), "report+envelope"),
            (format!("{REPORT}\n{REPORT}"), "report"),
            (format!("{REPORT}\r\n"), "report"),
        ];
        for (reply, expected) in cases {
            assert_eq!(what(&reply), expected, "{reply:?}");
        }
    }

    #[test]
    fn what_leaves_the_verdict_open_is_refused() {
        let twice = r#"{"findings": [], "verdict": "issues_found", "verdict": "passed"}"#;
        let cases = [
            (String::new(), "Empty"),
            ("<think>never closed".to_owned(), "Empty"),
            ("All good, I wrote the report.".to_owned(), "NoReport"),
            (r#"{"score": 90}"#.to_owned(), "NoReport"),
            (format!("{REPORT}\n{OTHER}"), "TwoVerdicts"),
            (format!("{REPORT}\nbut really \"verdict\": \"issues_found\""), "TwoVerdicts"),
            (format!("{REPORT}\n<think>\n{OTHER}"), "TwoVerdicts"),
            (twice.to_owned(), "Unreadable"),
            (format!("{{\"criteria\": [], \"verdict\": \"issues_found\",}}\n{REPORT}"), "Unreadable"),
            (r#"{"findings": [], "verdict": "passed""#.to_owned(), "Unreadable"),
            ("x".repeat(MOST_BYTES + 1), "TooLong"),
            ("{\"a\":\n".repeat(100_000), "Unreadable"),
            ("{\"a\": 1}\n".repeat(100_000), "TooManyObjects"),
            ("<think>x".repeat(400_000), "Empty"),
            ("x<think>".repeat(400_000), "NoReport"),
            (format!("{{\"findings\": {}", "[".repeat(1_000_000)), "Unreadable"),
        ];
        for (reply, expected) in cases {
            assert_eq!(what(&reply), expected, "{:?}", reply.chars().take(120).collect::<String>());
        }
    }

    #[test]
    fn a_report_inside_a_string_or_inside_a_line_is_no_report() {
        let quoted = serde_json::to_string(REPORT).unwrap();
        assert_eq!(what(&format!("{{\"quoted\": {quoted}}}")), "NoReport");
        assert_eq!(what(&format!("the draft holds {REPORT}")), "NoReport");
    }
}
