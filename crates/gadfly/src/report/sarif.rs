//! SARIF 2.1.0, as code scanning services take it. What was not reviewed never looks clean: without a
//! decision the invocation failed, says why, and what nobody saw is a result of its own.

use std::collections::BTreeMap;

use gadfly_engine::finding::{FindingStatus, Severity};
use gadfly_engine::protocol::audit::routes;
use gadfly_engine::{Finding, Location, identity};
use serde_json::{Map, Value, json};

use super::facts::{ReportFacts, lines};
use crate::output::safe;
use crate::output::table::counted;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The rule of what no critic judged.
const NOT_REVIEWED: &str = "gadfly/not-reviewed";
const ABSENT: &str = "absent";
const LONGEST_RULE: usize = 200;
const LONGEST_MESSAGE: usize = 8000;
/// Services refuse files with more.
const MOST_RESULTS: usize = 5000;

pub fn render(facts: &ReportFacts<'_>) -> String {
    let mut rules = SarifRules { protocol: facts.state.summary.protocol.clone(), ..SarifRules::default() };
    let mut results: Vec<Value> = Vec::new();
    for missing in not_reviewed(facts) {
        let fingerprint = identity::fingerprint(&missing);
        results.push(result(facts, &mut rules, &missing, &fingerprint, None));
    }
    let open = facts.findings.iter().map(|n| (n, baseline(n.finding.standing)));
    let gone = facts.fixed.iter().map(|n| (n, Some(ABSENT)));
    let mut left_out = 0;
    for (noted, baseline) in open.chain(gone) {
        if results.len() >= MOST_RESULTS {
            left_out += 1;
        } else {
            results.push(result(facts, &mut rules, &noted.finding, &noted.fingerprint, baseline));
        }
    }
    let summary = &facts.state.summary;
    let run = json!({
        "tool": { "driver": {
            "name": "gadfly",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "informationUri": env!("CARGO_PKG_REPOSITORY"),
            "rules": rules.list,
        }},
        "automationDetails": { "id": format!("gadfly/{}/", uri(&summary.protocol)) },
        "invocations": [invocation(facts, left_out)],
        "results": results,
        "properties": {
            "run": summary.run,
            "protocol": summary.protocol,
            "outcome": facts.label,
            "reasons": facts.reasons().iter().map(|(critic, reason)| json!({
                "critic": safe::line(critic, LONGEST_RULE), "reason": safe::line(reason, LONGEST_MESSAGE),
            })).collect::<Vec<_>>(),
            "unsupportedFindings": facts.unsupported.len(),
            "resultsLeftOut": left_out,
        },
    });
    let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
    serde_json::to_string_pretty(&log).unwrap_or_default() + "\n"
}

/// What stands for everything that nobody judged.
fn not_reviewed(facts: &ReportFacts<'_>) -> Vec<Finding> {
    let finding = |says: String| Finding::new(NOT_REVIEWED, Severity::Fail, says, "engine");
    if let Some(finding) = super::goal::held_against(facts) {
        return vec![finding];
    }
    let mut found: Vec<Finding> = Vec::new();
    for (what, because) in &facts.unseen {
        let mut one = finding(format!("Not reviewed: {what}: {because}"));
        let path = what.split(", lines ").next().unwrap_or(what).to_owned();
        one.place = Some(Location { path, line: None, end: None });
        found.push(one);
    }
    if found.is_empty()
        && let Some(because) = facts.because()
    {
        found.push(finding(format!("Not reviewed ({}): {because}", facts.label)));
    }
    found
}

const fn baseline(standing: FindingStatus) -> Option<&'static str> {
    match standing {
        FindingStatus::New | FindingStatus::Regressed => Some("new"),
        FindingStatus::Recurring => Some("unchanged"),
        // May be either: nothing is claimed.
        FindingStatus::Unmatched => None,
    }
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Fail => "error",
        Severity::Risk => "warning",
        Severity::Nit => "note",
    }
}

fn result(
    facts: &ReportFacts<'_>,
    rules: &mut SarifRules,
    finding: &Finding,
    fingerprint: &str,
    baseline: Option<&str>,
) -> Value {
    let (rule, index) = rules.of(&finding.rule);
    let mut text = finding.says.trim().to_owned();
    if !finding.fix.trim().is_empty() && finding.fix.trim() != text {
        text.push_str("\nFix: ");
        text.push_str(finding.fix.trim());
    }
    let mut properties = Map::new();
    properties.insert("severity".into(), finding.severity.name().into());
    properties.insert("standing".into(), finding.standing.name().into());
    properties.insert("critic".into(), finding.by.clone().into());
    if finding.number > 0 {
        properties.insert("number".into(), finding.number.into());
        properties.insert("sinceRound".into(), finding.since.into());
    }
    let optional = [("lens", &finding.lens), ("criterion", &finding.criterion), ("within", &finding.within)];
    for (key, value) in optional {
        if let Some(value) = value {
            properties.insert(key.into(), value.clone().into());
        }
    }
    let mut result = json!({
        "ruleId": rule,
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": { "text": message(&text) },
        "locations": locations(facts, finding),
        "partialFingerprints": { "gadfly/v1": fingerprint },
        "properties": properties,
    });
    if let (Some(baseline), Some(fields)) = (baseline, result.as_object_mut()) {
        fields.insert("baselineState".into(), baseline.into());
        if baseline == ABSENT {
            // For readers that do not look at the baseline: what is fixed is no alert.
            let why =
                json!([{ "kind": "external", "status": "accepted", "justification": "fixed in this run" }]);
            fields.insert("suppressions".into(), why);
        }
    }
    result
}

/// Plain text: what would be read as a link in a message is escaped. Never empty.
fn message(text: &str) -> String {
    let text: String = safe::block(text).chars().take(LONGEST_MESSAGE).collect();
    let text = if text.trim().is_empty() { "(no text)".to_owned() } else { text };
    if text.contains("](") {
        return text.replace('\\', r"\\").replace('[', r"\[").replace(']', r"\]");
    }
    text
}

/// Services want a place for every result: without one of its own it is the artifact's.
fn locations(facts: &ReportFacts<'_>, finding: &Finding) -> Vec<Value> {
    let other = || facts.spoken_of(finding).or_else(|| facts.some_path());
    let Some(path) = facts.path_of(finding).or_else(other) else { return Vec::new() };
    let mut physical = json!({ "artifactLocation": { "uri": uri(&path) } });
    if let Some((start, end)) = finding.place.as_ref().and_then(lines) {
        let mut region = json!({ "startLine": start, "endLine": end });
        if let (Some(quote), Some(fields)) = (&finding.quote, region.as_object_mut()) {
            fields.insert("snippet".into(), json!({ "text": quote }));
        }
        if let Some(fields) = physical.as_object_mut() {
            fields.insert("region".into(), region);
        }
    }
    let mut location = json!({ "physicalLocation": physical });
    if let (Some(within), Some(fields)) = (&finding.within, location.as_object_mut()) {
        fields.insert("logicalLocations".into(), json!([{ "fullyQualifiedName": within }]));
    }
    vec![location]
}

/// A path as a URI reference: relative paths stay relative.
fn uri(path: &str) -> String {
    let mut out = String::new();
    if path.starts_with('/') {
        out.push_str("file://");
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            use std::fmt::Write as _;
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn invocation(facts: &ReportFacts<'_>, left_out: usize) -> Value {
    let mut notes: Vec<Value> = Vec::new();
    let mut note = |level: &str, text: String| {
        notes.push(json!({ "level": level, "message": { "text": message(&text) } }));
    };
    if let Some(because) = facts.because() {
        note("error", format!("{}: {because}", facts.label));
    }
    for (what, because) in &facts.unseen {
        note("error", format!("not reviewed: {what}: {because}"));
    }
    if let Some(stale) = facts.stale() {
        note("warning", stale);
    }
    if left_out > 0 {
        note("warning", format!("left out of this file: {}", counted(left_out, "finding")));
    }
    if !facts.unsupported.is_empty() {
        let count = counted(facts.unsupported.len(), "finding");
        note("note", format!("{count} left out of the decision: what is cited is not there"));
    }
    for warning in &facts.state.warnings {
        note("warning", warning.clone());
    }
    let summary = &facts.state.summary;
    json!({
        "executionSuccessful": facts.is_decided() && facts.unseen.is_empty(),
        "exitCode": facts.exit.0,
        "exitCodeDescription": facts.label,
        "startTimeUtc": time(summary.created_ms),
        "endTimeUtc": time(summary.updated_ms),
        "toolExecutionNotifications": notes,
    })
}

/// As the schema wants it: UTC, to the second.
pub(super) fn time(wall_ms: u64) -> String {
    let ms = i64::try_from(wall_ms).unwrap_or(0);
    let at = jiff::Timestamp::from_millisecond(ms - ms % 1000).unwrap_or_default();
    at.to_string()
}

/// The rules that results name, in the order of their first use.
#[derive(Default)]
struct SarifRules {
    protocol: String,
    list: Vec<Value>,
    known: BTreeMap<String, usize>,
}

impl SarifRules {
    fn of(&mut self, rule: &str) -> (String, usize) {
        let id = safe::line(rule, LONGEST_RULE);
        let id = if id.is_empty() { "unnamed".to_owned() } else { id };
        if let Some(index) = self.known.get(&id) {
            return (id, *index);
        }
        let help = self.help(&id);
        self.list.push(json!({
            "id": id,
            "shortDescription": { "text": message(&id) },
            "fullDescription": { "text": message(&help) },
            "help": { "text": message(&help) },
            "properties": { "tags": ["gadfly", self.protocol] },
        }));
        self.known.insert(id.clone(), self.list.len() - 1);
        (id, self.list.len() - 1)
    }

    fn help(&self, id: &str) -> String {
        if id == NOT_REVIEWED {
            return "No critic has judged this. What was not reviewed is not clean: resume the run, or review \
                    what is missing."
                .to_owned();
        }
        if id == super::goal::NOT_VERIFIED {
            return "The goal is not verified: its success criterion was not met, or nobody could say so. Resume the \
                    run, or look at what its worker learned."
                .to_owned();
        }
        match self.protocol.as_str() {
            "audit" => {
                let route = routes::of(id).name();
                format!("A finding of the audit category {id}. Such findings lead to the route {route}.")
            }
            "score" => format!("A deduction by this row of the rubric: {id}. Its points are taken from 100."),
            "converge" => {
                format!("The criterion {id} is not met, or a realistic failure scenario speaks against it.")
            }
            _ => "A point the critic holds against the draft; the draft is approved once it is addressed."
                .to_owned(),
        }
    }
}
