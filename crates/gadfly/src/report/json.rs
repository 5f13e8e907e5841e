//! Everything a report has, as JSON in Gadfly's own schema (docs/reference/reports.md). Fields are added,
//! never renamed or removed.

use gadfly_engine::review::{Review, Verdict};
use serde_json::{Value, json};

use super::facts::{NotedFinding, ReportFacts};

/// Raised when a field changes its meaning.
const SCHEMA: u32 = 1;

pub fn render(facts: &ReportFacts<'_>) -> String {
    let summary = &facts.state.summary;
    let round = facts.round;
    let verdict = round.and_then(|r| r.verdict).map(|verdict| match verdict {
        Verdict::Approved => "approved",
        Verdict::Unverified => "unverified",
        Verdict::Rejected => "rejected",
    });
    let report = json!({
        "schema": SCHEMA,
        "gadfly": env!("CARGO_PKG_VERSION"),
        "run": summary.run,
        "title": summary.title,
        "protocol": summary.protocol,
        "outcome": facts.label,
        "because": facts.because(),
        "verdict": verdict,
        "overruled": summary.overruled,
        "exit_code": facts.exit.0,
        "rounds": facts.state.rounds.len(),
        "judged_round": round.map(|r| r.round),
        "artifact": round.and_then(|r| r.artifact.or_else(|| r.reviews.first().map(|v| v.binding.artifact))),
        "path": facts.some_path(),
        "critics": facts.reviews().iter().map(|review| critic(facts, review)).collect::<Vec<_>>(),
        "findings": facts.findings.iter().map(|n| finding(facts, n)).collect::<Vec<_>>(),
        "fixed": facts.fixed.iter().map(|n| finding(facts, n)).collect::<Vec<_>>(),
        "unsupported": facts.unsupported,
        "criteria": round.iter().flat_map(|r| r.criteria()).collect::<Vec<_>>(),
        "verify": facts.verify().iter().map(|ran| json!({
            "command": ran.command,
            "green": ran.green,
            "runs": ran.verified.runs.iter().map(|run| json!({
                "end": run.end, "took_ms": run.took_ms,
            })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "coverage": {
            "seen": facts.reviews().iter().flat_map(|r| &r.coverage.entries).collect::<Vec<_>>(),
            "unseen": facts.unseen.iter().map(|(what, because)| json!({ "what": what, "because": because }))
                .collect::<Vec<_>>(),
        },
        "notes": round.map(|r| &r.notes),
        "result": facts.state.result,
        "accepted": facts.state.accepted,
        "goal": super::goal::value(facts),
        "pipeline": super::pipeline::value(facts),
        "warnings": facts.state.warnings,
        "cost": {
            "usd": summary.cost.usd(),
            "at_least": summary.cost_unknown,
            "tokens": summary.tokens,
            "cached_tokens": facts.state.summary.cached,
            "calls": summary.calls,
        },
        "started": super::sarif::time(summary.created_ms),
        "updated": super::sarif::time(summary.updated_ms),
    });
    serde_json::to_string_pretty(&report).unwrap_or_default() + "\n"
}

fn critic(facts: &ReportFacts<'_>, review: &Review) -> Value {
    let unsupported = review.findings.iter().filter(|f| !f.is_supported()).count();
    json!({
        "critic": review.binding.critic,
        "lens": review.binding.lens,
        "model": facts.model(&review.binding.critic),
        "verdict": review.verdict,
        "reason": review.reason,
        "score": review.score,
        "findings": review.findings.len() - unsupported,
        "unsupported": unsupported,
        "deviations": review.deviations,
    })
}

fn finding(facts: &ReportFacts<'_>, noted: &NotedFinding) -> Value {
    let mut value = serde_json::to_value(&noted.finding).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("fingerprint".into(), noted.fingerprint.clone().into());
        fields.insert("blocks".into(), noted.blocks.into());
        fields.insert("shown_place".into(), facts.shown_place(&noted.finding).into());
    }
    value
}
