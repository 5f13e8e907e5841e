//! A critic's report on success criteria, from its JSON to a [`AuditReport`]. Every breach is named at once. What only weakens a
//! pass does not stand in the way of a rejection: a report that finds something is read with whatever words it uses for it.

mod criteria;
mod fields;
mod findings;
mod words;

use fields::{CRITERIA, FINDINGS, of_object, short};
use serde_json::{Map, Value};

use super::doubt::{self, Scope};
use super::json;
use super::quoted::Shown;
use super::wire::Rewritten;
use super::{LONGEST_REPLY, Unread, clean as cleaning, wire};
use crate::protocol::audit::report::{
    AuditReport, ExpectedReport, ReportVerdict, agrees, named_file, stated_error,
};

/// The most findings one report may state; of more, the worst are read.
pub const MOST_FINDINGS: usize = 500;

/// Reads a reply to a brief that showed these texts. `file` is the report file, where the critic wrote one.
pub fn read(
    reply: &str,
    file: Option<&str>,
    expected: &ExpectedReport<'_>,
    shown: &Shown,
) -> Result<AuditReport, Unread> {
    for text in [Some(reply), file].into_iter().flatten() {
        if text.len() > LONGEST_REPLY {
            return Err(Unread::new(format!(
                "the reply has {} bytes; at most {LONGEST_REPLY} are read: shorten the texts of the report",
                text.len()
            )));
        }
    }
    let text = cleaning::reply(reply);
    let text = super::said(&text, states_a_verdict);
    if text.trim().is_empty() {
        return Err(Unread::new("the reply is empty"));
    }
    let own = shown.without_quotations(&text);
    let read = Rewritten::or(
        wire::as_json(&own),
        |json| read_own(json, file, expected, shown),
        |report| report.verdict() == ReportVerdict::Passed,
        || read_own(&own, file, expected, shown),
    );
    if read.is_err() && own.len() != text.len() {
        let whole = read_own(&text, file, expected, shown).ok();
        return whole.filter(|report| report.verdict() != ReportVerdict::Passed).map_or(read, Ok);
    }
    read
}

fn read_own(
    text: &str,
    file: Option<&str>,
    expected: &ExpectedReport<'_>,
    shown: &Shown,
) -> Result<AuditReport, Unread> {
    let found = json::find(text, &is_report, &["criteria", "findings", "verdict"], shown)?;
    let around = found.as_ref().map_or_else(|| text.to_owned(), |found| found.around.clone());
    let envelope = json::find(&around, &is_envelope, &["report_path", "blockers_count"], shown)?;
    let beside = envelope.as_ref().map_or(around.as_str(), |envelope| envelope.around.as_str());
    let mut deviations = Vec::new();
    let mut read = match (found, &envelope) {
        (Some(found), _) => {
            if found.repeated {
                deviations.push("the report stands twice in the reply".to_owned());
            }
            let broken = found.broken;
            let read = of_object(&found, expected)?;
            if read.verdict() == ReportVerdict::Passed && broken {
                return Err(Unread::new("beside the report stands another one that cannot be read"));
            }
            if let Some(envelope) = &envelope {
                deviations.push("an envelope beside the report".to_owned());
                agrees(&envelope.object, &read, expected, &mut deviations).map_err(refused)?;
            }
            read
        }
        (None, Some(envelope)) => from_envelope(&envelope.object, file, expected, &mut deviations, shown)?,
        (None, None) => words::rejection(text, expected)
            .ok_or_else(|| Unread::new("the reply holds no report: reply with one JSON object"))?,
    };
    read.deviations.splice(0..0, deviations);
    if read.verdict() == ReportVerdict::Passed {
        // A verdict in words beside the one that was read leaves open which counts.
        if let Some(line) = beside.lines().find(|line| states_a_verdict(line)) {
            return Err(Unread::torn("it states more than one verdict", "\"verdict\": \"passed\"", line));
        }
        let found = doubt::against(beside, Scope::Prose);
        if let Some((rule, passage)) = found {
            return Err(Unread::torn(rule.sentence(), "\"verdict\": \"passed\"", &passage));
        }
    }
    Ok(read)
}

fn is_report(object: &Map<String, Value>) -> bool {
    let holds =
        |keys: &[&str]| keys.iter().any(|k| object.get(*k).is_some_and(|v| v.is_array() || v.is_object()));
    holds(&CRITERIA)
        || holds(&FINDINGS) && (object.contains_key("verdict") || object.contains_key("findings"))
}

fn is_envelope(object: &Map<String, Value>) -> bool {
    object.contains_key("report_path") || object.contains_key("blockers_count")
}

fn from_envelope(
    envelope: &Map<String, Value>,
    file: Option<&str>,
    expected: &ExpectedReport<'_>,
    deviations: &mut Vec<String>,
    shown: &Shown,
) -> Result<AuditReport, Unread> {
    let Some(named) = named_file(envelope, expected, deviations).map_err(refused)? else {
        return Ok(AuditReport::critic_error(expected, &stated_error(envelope)));
    };
    let text = file.ok_or_else(|| {
        Unread::new(format!(
            "the envelope names the report file `{named}`, but no such file was written: reply with the report itself"
        ))
    })?;
    let text = cleaning::reply(text);
    let Some(found) = json::find(&text, &is_report, &["criteria", "findings"], shown)? else {
        return Err(Unread::new("the report file holds no report"));
    };
    let report = of_object(&found, expected)?;
    agrees(envelope, &report, expected, deviations).map_err(refused)?;
    Ok(report)
}

#[allow(clippy::needless_pass_by_value)] // it is handed to `map_err`
fn refused(breaches: Vec<String>) -> Unread {
    Unread::new(format!("the report breaks its rules:\n- {}", breaches.join("\n- ")))
}

/// The verdict that a text states in the form of a report, an envelope or a status line.
pub fn stated_verdict(text: &str) -> Option<String> {
    let objects = super::relaxed::objects(text, 50);
    let stated =
        objects.iter().filter_map(Value::as_object).find(|object| is_report(object) || is_envelope(object));
    let Some(object) = stated else { return super::status::status_line(text) };
    let verdict = object.get("verdict").and_then(Value::as_str).unwrap_or_default();
    Some(format!("a report of its own, verdict `{}`", short(verdict)))
}

/// Does the text hold the key `"verdict":`?
fn states_a_verdict(text: &str) -> bool {
    text.match_indices("\"verdict\"").any(|(at, key)| text[at + key.len()..].trim_start().starts_with(':'))
}
