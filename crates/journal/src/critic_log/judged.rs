//! The log of a loop that judges by score or criteria: `## Iteration N`, its status, and below it the score
//! or the criteria, the findings with number and standing, and where they led.

use std::fmt::Write as _;

use gadfly_engine::Outcome;
use gadfly_engine::finding::Finding;
use gadfly_engine::review::{Review, Verdict};

use super::{finally, halt, item_text, one_line};
use crate::view::{RoundState, RunView};

/// More findings of one round are counted, not listed.
const MOST_LISTED: usize = 200;

pub(super) fn render(state: &RunView, rounds: &[&RoundState], outcome: Option<&Outcome>, out: &mut String) {
    for (n, round) in rounds.iter().enumerate() {
        let _ = writeln!(out, "\n## Iteration {}", round.round);
        let halted = outcome.filter(|o| n + 1 == rounds.len() && matches!(o, Outcome::Halted { .. }));
        iteration(round, halted, out);
    }
    if let Some(line) = &state.result {
        let _ = writeln!(out, "\n{}", item_text(line));
    }
    finally(outcome, u32::try_from(rounds.len()).unwrap_or(u32::MAX), out);
}

fn iteration(round: &RoundState, halted: Option<&Outcome>, out: &mut String) {
    let red = round.verify.iter().any(|v| !v.green);
    let status = match round.verdict {
        Some(Verdict::Approved) => "APPROVED",
        Some(Verdict::Rejected) => "REJECTED",
        Some(Verdict::Unverified) => "UNVERIFIED",
        None if red => "VERIFY RED",
        None => "NOT JUDGED",
    };
    let unresolved = match halted {
        Some(Outcome::Halted { reason, open, .. }) => Some((*reason, open)),
        _ => None,
    };
    let why = unresolved.map(|(reason, _)| format!(" (LOOP HALTED — {})", halt(reason))).unwrap_or_default();
    let _ = writeln!(out, "- Status: {status}{why}");
    let unresolved = unresolved.map(|(_, open)| open);
    for (critic, reason) in round.reasons() {
        let by = if round.reviews.len() > 1 { format!(" (by {})", one_line(critic)) } else { String::new() };
        let _ = writeln!(out, "- Reason: {}{by}", item_text(reason));
    }
    for ran in &round.verify {
        let end = ran.verified.runs.last().map_or_else(|| "not run".to_owned(), |run| run.end.to_string());
        let _ = writeln!(out, "- Verify: `{}` — {end}", one_line(&ran.command).replace('`', "'"));
    }
    for review in &round.reviews {
        judgement(review, out);
    }
    findings(round, unresolved, out);
    let fixed: Vec<String> = round.fixed().iter().map(ToString::to_string).collect();
    if !fixed.is_empty() {
        let _ = writeln!(out, "- Fixed: {}", fixed.join(", "));
    }
    for unseen in round.unseen() {
        let _ = writeln!(out, "- Unseen: {} ({})", one_line(&unseen.what), one_line(&unseen.because));
    }
    for stall in &round.stalls {
        let _ = writeln!(out, "- Hint: {stall}");
    }
    for route in &round.routes {
        let _ = writeln!(out, "- Route: {} — {}", one_line(&route.route), one_line(&route.because));
    }
    for item in &round.deferred {
        let (criterion, reason) = (one_line(&item.criterion), one_line(&item.reason));
        let _ = writeln!(out, "- Deferred: {criterion} — {reason} (by {})", one_line(&item.by));
    }
    for escalated in &round.escalations {
        let (to, because) = (one_line(&escalated.to), one_line(&escalated.because));
        let _ = writeln!(out, "- Escalated: to {to} — {because}");
    }
    if let Some(line) = &round.result {
        let _ = writeln!(out, "- Result: {}", one_line(line));
    }
}

fn judgement(review: &Review, out: &mut String) {
    let critic = one_line(&review.binding.critic);
    let lens = review.binding.lens.as_deref().map(|l| format!(", lens {}", one_line(l))).unwrap_or_default();
    if let Some(score) = &review.score {
        let stated = if score.computed { "" } else { ", stated" };
        let (value, passes) = (score.value, score.threshold);
        let _ = writeln!(out, "- Score: {value}/100{stated} (by {critic}{lens}; passes at {passes})");
    }
    if !review.criteria.is_empty() {
        let _ = writeln!(out, "- Criteria (by {critic}{lens}):");
        for criterion in review.criteria.iter().take(MOST_LISTED) {
            let (id, verdict) = (one_line(&criterion.id), one_line(&criterion.verdict));
            let _ = writeln!(out, "  - {id}: {verdict} — {}", one_line(&criterion.because));
        }
    }
    let unsupported = review.findings.iter().filter(|f| !f.is_supported()).count();
    if unsupported > 0 {
        let _ = writeln!(out, "- Unsupported: {unsupported} of {critic}{lens}, left out of the decision");
    }
    for deviation in &review.deviations {
        let _ = writeln!(out, "- Noted: {}", one_line(deviation));
    }
}

fn findings(round: &RoundState, unresolved: Option<&Vec<String>>, out: &mut String) {
    let all: Vec<&Finding> = round.findings().collect();
    let heading = if unresolved.is_some() { "Unresolved feedback" } else { "Open findings" };
    if all.is_empty() {
        let bullets: Vec<String> = match unresolved {
            Some(open) => open.clone(),
            None => round.open.iter().map(|item| item.text.clone()).collect(),
        };
        if !bullets.is_empty() {
            let _ = writeln!(out, "- {heading}:");
        }
        for text in bullets.iter().take(MOST_LISTED) {
            let _ = writeln!(out, "  - {}", item_text(text));
        }
        return;
    }
    let _ = writeln!(out, "- {heading}:");
    for finding in all.iter().take(MOST_LISTED) {
        let (number, standing, severity) = (finding.number, finding.standing.name(), finding.severity.name());
        let rule = one_line(&finding.rule);
        let _ = writeln!(out, "  - {number} ({standing}, {severity}, {rule}): {}", one_line(&finding.line()));
    }
    if all.len() > MOST_LISTED {
        let _ = writeln!(out, "  - and {} more", all.len() - MOST_LISTED);
    }
}
