//! A verdict on a draft in JSON, under the names critics give its fields. It becomes the same points and paragraphs as a
//! reply in words, so that one reader weighs both.

use serde_json::Value;

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
        Some(Value::String(word)) => word.clone(),
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

fn json_point(section: Section, entry: &Value) -> Option<Point> {
    let point = |text: String, tick: Tick, listed: Option<u32>| Point {
        section,
        tick,
        listed,
        text,
        from_table: false,
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
            let state = json::first(object, &["state", "status", "verdict"])
                .and_then(text_of)
                .unwrap_or_default()
                .to_lowercase();
            let tick = match state.as_str() {
                "addressed" | "resolved" | "fixed" | "done" | "met" | "pass" | "passed" => Tick::Done,
                "" => Tick::None,
                _ => Tick::Open,
            };
            let said =
                |keys: &[&str]| json::first(object, keys).and_then(text_of).filter(|t| !t.trim().is_empty());
            let what = said(&[
                "issue",
                "problem",
                "what",
                "description",
                "says",
                "text",
                "point",
                "comment",
                "item",
            ]);
            let fix =
                said(&["fix", "remedy", "suggestion", "remediation", "change", "required", "correct_form"]);
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
