//! A verdict on a draft in JSON, under the names critics give its fields. It becomes the same points and paragraphs as a
//! reply in words, so that one reader weighs both.

use serde_json::{Map, Value};

use super::body::{Body, Point, is_preamble};
use super::{StatusReply, behind, statements};
use crate::brief::one_line;
use crate::reading::doubt::Section;
use crate::reading::forms::{self, Says};
use crate::reading::json::{self, text_of};
use crate::reading::lines::{self, Tick};
use crate::reading::quoted::Shown;
use crate::reading::{Unread, beside};

pub(super) const STATUS_KEYS: [&str; 5] = ["status", "verdict", "decision", "approved", "result"];
const REASON_KEYS: [&str; 8] =
    ["reason", "text", "summary", "explanation", "comment", "rationale", "justification", "message"];
const FIX_KEYS: [&str; 14] = [
    "items",
    "fixes",
    "feedback",
    "issues",
    "required_changes",
    "changes",
    "findings",
    "open",
    "unresolved",
    "problems",
    "bullets",
    "still_unresolved",
    "required_fixes",
    "errors",
];
const NOTE_KEYS: [&str; 7] =
    ["notes", "minor", "optional", "suggestions", "strengths", "remarks", "reasoning"];

/// A verdict in JSON: a status, a list of fixes, a reason.
pub(super) fn from_json(found: &json::Found, shown: &Shown) -> Result<StatusReply, Unread> {
    let object = &found.object;
    let said = json::first(object, &STATUS_KEYS);
    let word = match said {
        Some(Value::Bool(true)) => "status: approved".to_owned(),
        Some(Value::Bool(false)) => "status: rejected".to_owned(),
        Some(Value::String(word)) => match word.trim().to_lowercase().as_str() {
            "true" | "yes" => "status: approved".to_owned(),
            "false" | "no" => "status: rejected".to_owned(),
            _ => word.clone(),
        },
        _ => return Err(Unread::new("the status is neither approved nor rejected")),
    };
    let labelled = format!("status: {word}");
    let Some(statement) = forms::status(&word).or_else(|| forms::status(&labelled)) else {
        return Err(Unread::torn("the status is neither approved nor rejected", &word, ""));
    };
    let mut body = Body::default();
    for (key, value) in object {
        let key = key.as_str();
        if STATUS_KEYS.contains(&key) && Some(value) == said {
            continue;
        }
        let section = match key {
            "addressed" | "resolved" => Section::Addressed,
            "strengths" => Section::Praise,
            key if NOTE_KEYS.contains(&key) => Section::Optional,
            "open" | "unresolved" | "still_unresolved" => Section::Unresolved,
            key if FIX_KEYS.contains(&key) => Section::Demands,
            _ => Section::None,
        };
        match value {
            Value::Array(list) => {
                for entry in list {
                    if let Some(point) = json_point(section, entry) {
                        body.items.push(point);
                    }
                }
            }
            Value::String(text) if key == "reasoning" => {
                body.prose.push((Section::Praise, one_line(&text.chars().take(200).collect::<String>())));
            }
            Value::String(text)
                if REASON_KEYS.contains(&key) || FIX_KEYS.contains(&key) || NOTE_KEYS.contains(&key) =>
            {
                let lines = lines::read(text);
                let inner = Body::read(&lines, &statements(&lines));
                body.items.extend(inner.items.into_iter().map(|mut point| {
                    if point.section == Section::None {
                        point.section = section;
                    }
                    point
                }));
                body.prose.extend(
                    inner
                        .prose
                        .into_iter()
                        .map(|(inner, text)| (if inner == Section::None { section } else { inner }, text)),
                );
            }
            // Whatever else it says is said, too.
            Value::String(text) if !beside::is_silent(key) => body.prose.push((section, text.clone())),
            _ => {}
        }
    }
    body.prose.retain(|(section, text)| !(*section == Section::Praise && text.is_empty()));
    // What is thought before the verdict is no part of it.
    if object.contains_key("reasoning") {
        body.prose.retain(|(section, _)| *section != Section::Praise);
    }
    let around = lines::read(&found.around);
    let beside = Body::read(&around, &[]);
    body.prose.extend(beside.prose.into_iter().filter(|(_, text)| !is_preamble(text)));
    body.items.extend(beside.items);
    let mut read = match statement.says {
        Says::Rejected => body.rejected()?,
        Says::Other => return Err(Unread::torn("the status is neither approved nor rejected", &word, "")),
        Says::Approved => {
            if let Some((rule, passage)) = behind(&statement) {
                return Err(Unread::torn(rule.sentence(), &word, &passage));
            }
            if found.broken {
                return Err(Unread::new("beside the report stands another one that cannot be read"));
            }
            let read = [&STATUS_KEYS[..1], &REASON_KEYS, &NOTE_KEYS, &["addressed", "resolved"]].concat();
            let mut rest = object.clone();
            rest.retain(|key, value| Some(&*value) != said || !STATUS_KEYS.contains(&key.as_str()));
            without_what_is_done(&mut rest);
            if let Some(passage) =
                beside::against(&rest, &read).or_else(|| beside::against(&found.outer, &[]))
            {
                return Err(Unread::torn("it approves, and another of its fields does not", &word, &passage));
            }
            body.approved(&word, &[], shown)?
        }
    };
    read.deviations.extend(found.slips.iter().map(|slip| slip.name().to_owned()));
    Ok(read)
}

/// Items that are marked as done were weighed as points; what they repeat of the complaint says nothing here.
fn without_what_is_done(object: &mut Map<String, Value>) {
    let lists = object.iter_mut().filter(|(key, _)| FIX_KEYS.contains(&key.as_str()));
    for entry in lists.filter_map(|(_, value)| value.as_array_mut()).flatten() {
        if let Some(item) = entry.as_object_mut().filter(|item| state_of(item) == Tick::Done) {
            item.retain(|key, _| {
                ![&POINT_KEYS[..], &WHAT_KEYS, &REMEDY_KEYS].concat().contains(&key.as_str())
            });
        }
    }
    object.retain(|key, value| {
        let done = |list: &Vec<Value>| list.iter().all(|item| item.as_object().is_some_and(Map::is_empty));
        !(FIX_KEYS.contains(&key.as_str()) && value.as_array().is_some_and(done))
    });
}

const POINT_KEYS: [&str; 7] = ["number", "item", "id", "n", "state", "status", "verdict"];
const WHAT_KEYS: [&str; 9] =
    ["issue", "problem", "what", "description", "says", "text", "point", "comment", "item"];
const REMEDY_KEYS: [&str; 7] =
    ["fix", "remedy", "suggestion", "remediation", "change", "required", "correct_form"];

/// Is a point said to be done or open?
fn state_of(object: &Map<String, Value>) -> Tick {
    let state = json::first(object, &["state", "status", "verdict"]).and_then(text_of).unwrap_or_default();
    match state.to_lowercase().as_str() {
        "addressed" | "resolved" | "fixed" | "done" | "met" | "pass" | "passed" => Tick::Done,
        "" => Tick::None,
        _ => Tick::Open,
    }
}

fn json_point(section: Section, entry: &Value) -> Option<Point> {
    let point = |text: String, tick: Tick, listed: Option<u32>| Point {
        section,
        tick,
        listed,
        text,
        from_table: false,
        above: false,
    };
    match entry {
        Value::String(text) => {
            let (tick, rest) = lines::tick(text);
            let item = lines::item(text);
            Some(match item {
                Some(item) => point(item.text.to_owned(), item.tick, item.number),
                None => point(rest.to_owned(), tick, None),
            })
        }
        Value::Object(object) => {
            let number = json::first(object, &["number", "item", "id", "n"]).and_then(|v| {
                v.as_u64()
                    .and_then(|n| u32::try_from(n).ok())
                    .or_else(|| v.as_str().and_then(|s| s.trim_start_matches('#').parse().ok()))
            });
            let tick = state_of(object);
            let said =
                |keys: &[&str]| json::first(object, keys).and_then(text_of).filter(|t| !t.trim().is_empty());
            let (what, fix) = (said(&WHAT_KEYS), said(&REMEDY_KEYS));
            let text = match (what, fix) {
                (Some(what), Some(fix)) if what != fix => format!("{what} → {fix}"),
                (Some(one), _) | (None, Some(one)) => one,
                (None, None) if tick == Tick::Done => "addressed".to_owned(),
                (None, None) => return None,
            };
            let text = number.map_or(text.clone(), |n| format!("{n}: {text}"));
            Some(point(text, tick, None))
        }
        _ => None,
    }
}
