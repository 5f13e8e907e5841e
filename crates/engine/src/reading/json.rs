//! Finds the one JSON report in a critic's reply: bare, in a fence, with prose around it, inside another object or a list.
//! The one finder for every protocol. It says which object was meant, not whether it is right.

use serde_json::{Map, Value};

use super::quoted::Shown;
use super::relaxed::{self, Slip};
use super::{Unread, passage};

/// How many beginnings of an object are tried.
const MOST_TRIES: usize = 200;
/// How far into an object that cannot be read a report's key is looked for.
const BEGINNING: usize = 600;

/// The report of a reply.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    pub object: Map<String, Value>,
    /// What the reply says beside it.
    pub around: String,
    pub slips: Vec<Slip>,
    /// It stands more than once, in the same words.
    pub repeated: bool,
    /// Beside it stands something that looks like another report and cannot be read.
    pub broken: bool,
    /// The fields of the object it stands in, if it stands in one.
    pub outer: Map<String, Value>,
}

/// What makes an object a report.
pub type IsReport<'a> = &'a dyn Fn(&Map<String, Value>) -> bool;

/// The report of a reply, none if it has none. Two that differ are none, and one that cannot be read is none: what it would
/// have said is unknown. What stands in the texts the call showed is a quotation.
pub fn find(
    text: &str,
    is_report: IsReport<'_>,
    keys: &[&str],
    shown: &Shown,
) -> Result<Option<Found>, Unread> {
    let mut found: Option<Found> = None;
    let mut unreadable: Option<String> = None;
    let mut around = String::new();
    let (mut at, mut tries, mut read) = (0, 0, 0);
    while let Some(start) = next_object(text, at) {
        around.push_str(&text[at..start]);
        tries += 1;
        if tries > MOST_TRIES || read > relaxed::MOST_READ {
            return Err(Unread::new("the reply holds too many JSON objects: send only the report"));
        }
        match relaxed::parse(&text[start..]) {
            Ok(parsed) => {
                let end = start + parsed.length;
                let whole = &text[start..end];
                at = end;
                let Some((object, outer)) = report(parsed.object.clone(), is_report, WRAPPERS) else {
                    around.push_str(whole);
                    continue;
                };
                if shown.has_json(whole, &Value::Object(parsed.object)) {
                    continue;
                }
                match &mut found {
                    Some(first) if first.object == object => first.repeated = true,
                    Some(first) => {
                        let one = Value::Object(first.object.clone()).to_string();
                        return Err(Unread::torn(
                            "it holds two different reports",
                            &passage(&one),
                            &passage(whole),
                        ));
                    }
                    None => {
                        let slips = parsed.slips.into_iter().collect();
                        found = Some(Found {
                            object,
                            around: String::new(),
                            slips,
                            repeated: false,
                            broken: false,
                            outer,
                        });
                    }
                }
            }
            Err(flaw) => {
                read += flaw.read;
                let rest = &text[start..];
                let beginning = &rest[..rest.floor_char_boundary(BEGINNING)];
                if names(beginning, keys) {
                    unreadable
                        .get_or_insert_with(|| format!("the JSON report cannot be read: {}", flaw.what));
                }
                around.push('{');
                at = start + 1;
            }
        }
    }
    around.push_str(&text[at..]);
    match (found, unreadable) {
        (Some(found), unreadable) => Ok(Some(Found { around, broken: unreadable.is_some(), ..found })),
        (None, Some(problem)) => Err(Unread::new(problem)),
        (None, None) => Ok(None),
    }
}

/// So many objects around a report are taken off.
const WRAPPERS: usize = 4;

/// The object itself, or the one inside it that is a report; with the other fields of what it stands in.
fn report(
    object: Map<String, Value>,
    is_report: IsReport<'_>,
    deep: usize,
) -> Option<(Map<String, Value>, Map<String, Value>)> {
    if is_report(&object) {
        return Some((object, Map::new()));
    }
    if deep == 0 {
        return None;
    }
    let mut outer = Map::new();
    let mut found: Vec<(Map<String, Value>, Map<String, Value>)> = Vec::new();
    for (key, value) in object {
        let inner = match &value {
            Value::Object(inner) => Some(inner.clone()),
            Value::Array(list) => match list.as_slice() {
                [Value::Object(inner)] => Some(inner.clone()),
                _ => None,
            },
            // The arguments of a tool call come as a text.
            Value::String(text) if text.trim_start().starts_with('{') => {
                relaxed::parse(text.trim()).ok().map(|parsed| parsed.object)
            }
            _ => None,
        };
        match inner.and_then(|inner| report(inner, is_report, deep - 1)) {
            Some(one) => found.push(one),
            None => {
                outer.insert(key, value);
            }
        }
    }
    match <[_; 1]>::try_from(found) {
        Ok([(inner, more)]) => {
            outer.extend(more);
            Some((inner, outer))
        }
        Err(_) => None,
    }
}

/// Does the beginning of an object name one of these keys?
fn names(beginning: &str, keys: &[&str]) -> bool {
    let lower = beginning.to_lowercase();
    keys.iter().any(|key| {
        lower.match_indices(key).any(|(at, _)| {
            let behind = lower[at + key.len()..].trim_start_matches(['"', '\'', '”', '“', ' ']);
            behind.starts_with(':') && !lower[..at].ends_with(super::forms::STAND_IN)
        })
    })
}

/// The next `{` that a key or a closing brace follows, outside of quoted lines.
fn next_object(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(offset) = text.get(at..)?.find('{') {
        let start = at + offset;
        let line = text[..start].rfind('\n').map_or(0, |n| n + 1);
        let quoted = text[line..start].trim_start().starts_with('>');
        let after = text[start + 1..].trim_start();
        let opens =
            after.starts_with(|c: char| matches!(c, '"' | '}' | '\'' | '“' | '”' | '/') || c.is_alphabetic());
        if opens && !quoted {
            return Some(start);
        }
        at = start + 1;
    }
    None
}

/// A text, or a number as text, or a list of texts as one.
pub fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(list) => {
            let texts: Option<Vec<String>> = list.iter().map(text_of).collect();
            texts.map(|texts| texts.join("; "))
        }
        _ => None,
    }
}

/// The first of these keys that holds something.
pub fn first<'a>(object: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().filter_map(|key| object.get(*key)).find(|value| !value.is_null())
}

/// Lists with something in them, under keys that nobody knows: what they hold may well be findings.
pub fn unknown_lists<'a>(object: &'a Map<String, Value>, known: &[&str]) -> Option<(&'a str, &'a Value)> {
    object
        .iter()
        .find(|(key, value)| {
            !known.contains(&key.as_str()) && value.as_array().is_some_and(|list| !list.is_empty())
        })
        .map(|(key, value)| (key.as_str(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{"findings": [], "verdict": "passed"}"#;
    const OTHER: &str = r#"{"findings": [1], "verdict": "issues_found"}"#;

    fn what(text: &str) -> String {
        let is_report = |object: &Map<String, Value>| object.contains_key("findings");
        match find(text, &is_report, &["findings", "verdict"], &Shown::of([])) {
            Ok(Some(found)) => format!(
                "{} | {}{}",
                found.object["verdict"],
                found.around.trim(),
                if found.broken { " (broken)" } else { "" }
            ),
            Ok(None) => "none".to_owned(),
            Err(unread) => unread.problem.split(':').next().unwrap_or_default().to_owned(),
        }
    }

    #[test]
    fn a_report_is_found_wherever_critics_put_it() {
        for (text, around) in [
            (REPORT.to_owned(), ""),
            (format!("Report: {REPORT} Done."), "Report:  Done."),
            (format!("[{REPORT}]"), "[]"),
            (format!("{{\"review\": {REPORT}}}"), ""),
            (format!("{{\"reports\": [{REPORT}]}}"), ""),
            (format!("An example: {{\"a\": 1}}\n{REPORT}"), "An example: {\"a\": 1}"),
            (format!("{REPORT}\n{REPORT}"), ""),
        ] {
            assert_eq!(what(&text), format!("\"passed\" | {around}"), "{text}");
        }
    }

    #[test]
    fn what_leaves_open_which_report_counts_is_refused() {
        assert_eq!(what("All good."), "none");
        assert_eq!(what(&format!("> {REPORT}")), "none", "a quoted line is no report");
        assert_eq!(what(&format!("{REPORT}\n{OTHER}")), "it holds two different reports");
        assert_eq!(what(&REPORT[..20]), "the JSON report cannot be read");
        assert!(what(&format!("{{\"findings\": [ oops\n{REPORT}")).ends_with("(broken)"));
        assert_eq!(what(&"{\"a\": 1}".repeat(1_000)), "the reply holds too many JSON objects");
    }

    #[test]
    fn json_that_was_shown_is_a_quotation() {
        let is_report = |object: &Map<String, Value>| object.contains_key("findings");
        let shown = Shown::of([REPORT]);
        let find = |text: &str| {
            find(text, &is_report, &["findings"], &shown).map(|f| f.map(|f| f.object["verdict"].clone()))
        };
        assert_eq!(find(&format!("{OTHER}\n{REPORT}")), Ok(Some(Value::from("issues_found"))));
        assert_eq!(find(REPORT), Ok(None));
    }
}
