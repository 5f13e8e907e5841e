//! A comment for a pull request. Every word of a model, a file or the user is escaped: it can neither become
//! markup nor mention anyone, nor break the table. The comment has an end: lists are cut between two lines.

use std::fmt::Write as _;

use gadfly_engine::finding::{FindingStatus, Severity};
use gadfly_engine::review::{Review, Verdict};

use super::facts::{NotedFinding, ReportFacts};
use crate::output::described::DescribedLine;
use crate::output::table::{cost, counted, tokens};
use crate::output::{goal as words, safe};

/// Bytes of the whole comment; services take 65536 characters.
const MOST: usize = 60_000;
/// Bytes of each list besides the findings.
const MOST_OF_A_LIST: usize = 6_000;
/// More critics than any protocol seats.
const MOST_CRITICS: usize = 8;
const LONGEST_CELL: usize = 600;

pub fn render(facts: &ReportFacts<'_>) -> String {
    let mut tail = String::new();
    criteria(facts, &mut tail);
    verify(facts, &mut tail);
    coverage(facts, &mut tail);
    who(facts, &mut tail);
    let mut out = String::new();
    headline(facts, &mut out);
    goal(facts, &mut out);
    if let Some(view) = &facts.state.pipeline {
        out.push_str(&super::pipeline::markdown(view, &|any| text(any, 200)));
    }
    reasons(facts, &mut out);
    scores(facts, &mut out);
    findings(facts, MOST.saturating_sub(tail.len()), &mut out);
    out.push_str(&tail);
    out
}

fn headline(facts: &ReportFacts<'_>, out: &mut String) {
    let mark = match facts.because() {
        Some(_) => "⚠️",
        None if facts.is_approved() => "✅",
        None => "❌",
    };
    let summary = &facts.state.summary;
    let overruled = if summary.overruled { " (rejection overruled)" } else { "" };
    let rounds = match &facts.state.goal {
        Some(pursued) => counted(pursued.used.steps as usize, "step"),
        None if facts.state.pipeline.is_some() => {
            counted(facts.state.summary.rounds as usize, "overall round")
        }
        None => counted(facts.state.rounds.len(), "round"),
    };
    let verified = facts.state.goal.is_some() && facts.is_approved();
    let label = if verified { "verified" } else { &facts.label };
    let _ = writeln!(out, "### {mark} Gadfly: {}{overruled}\n", text(label, 60));
    let _ = writeln!(out, "Task: {} · {} · {rounds}", text(&summary.title, 200), text(&summary.protocol, 40));
    if let Some(because) = facts.because() {
        let what = if facts.state.goal.is_some() { "Not verified" } else { "Not reviewed" };
        let _ = writeln!(out, "\n**{what} is not clean:** {}", text(&because, LONGEST_CELL));
    }
    if let Some(stale) = facts.stale() {
        let _ = writeln!(out, "\nNote: {}", text(&stale, 200));
    }
    if let Some(accepted) = &facts.state.accepted {
        for (what, paths) in [
            ("Merged with another change by git, and the merged text was not judged", &accepted.merged),
            ("Left as the user has it, and not as judged", &accepted.kept),
        ] {
            if !paths.is_empty() {
                let _ = writeln!(out, "\n**{what}:** {}", text(&paths.join(", "), LONGEST_CELL));
            }
        }
    }
    if let Some(result) = &facts.state.result {
        let _ = writeln!(out, "\nResult: {}", text(result, LONGEST_CELL));
    }
    if let Some(round) = facts.round.filter(|r| r.round > 1) {
        let moved = round.moved();
        let (fixed, recurring, new, regressed) = (moved.fixed, moved.recurring, moved.new, moved.regressed);
        let _ = writeln!(
            out,
            "\nRound {}: {fixed} fixed, {recurring} recurring, {new} new, {regressed} regressed",
            round.round
        );
    }
}

/// What was pursued, how far it came, and what was said beside the steps.
fn goal(facts: &ReportFacts<'_>, out: &mut String) {
    let Some(pursued) = &facts.state.goal else { return };
    let mark = if facts.is_approved() { "✅" } else { "❌" };
    let standing = super::goal::standing(facts, pursued);
    let _ = writeln!(out, "\nReached when {}", text(&pursued.criterion, LONGEST_CELL));
    let _ = writeln!(out, "\n{mark} {}", text(&standing, LONGEST_CELL));
    let _ = writeln!(out, "\nSteps: {} · critic: {}", words::ends(pursued), words::verdicts(pursued));
    let _ = writeln!(out, "\nCost: {}", text(&words::split(pursued), LONGEST_CELL));
    let said: Vec<String> = pursued
        .rail
        .iter()
        .filter_map(|entry| Some((entry.after, DescribedLine::of(&entry.what, &|_| None)?)))
        .map(|(after, entry)| format!("- after step {after}: {}\n", text(&entry.words(), 300)))
        .collect();
    if said.is_empty() {
        return;
    }
    out.push_str("\n<details><summary>Critic and verification</summary>\n\n");
    list(said.iter().cloned(), said.len(), MOST_OF_A_LIST, out);
    out.push_str("\n</details>\n");
}

/// Why critics approve.
fn reasons(facts: &ReportFacts<'_>, out: &mut String) {
    for (critic, reason) in facts.reasons().into_iter().take(MOST_CRITICS) {
        let _ = writeln!(out, "\nApproved by {}: {}", text(critic, 60), text(reason, LONGEST_CELL));
    }
}

fn scores(facts: &ReportFacts<'_>, out: &mut String) {
    let mut room = MOST_OF_A_LIST;
    for review in facts.reviews().iter().take(MOST_CRITICS) {
        let Some(score) = &review.score else { continue };
        let lens = review.binding.lens.as_deref().map(|l| format!(", {}", html(l, 60))).unwrap_or_default();
        let stated = if score.computed { "" } else { " (stated)" };
        let (value, passes, critic) = (score.value, score.threshold, html(&review.binding.critic, 60));
        let _ = writeln!(
            out,
            "\n<details><summary>Score {value}/100{stated} by {critic}{lens}; passes at {passes}</summary>\n"
        );
        let lines = score.arithmetic.iter().map(|line| format!("- {}\n", text(line, 200)));
        room = room.saturating_sub(list(lines, score.arithmetic.len(), room, out));
        out.push_str("\n</details>\n");
    }
}

fn findings(facts: &ReportFacts<'_>, most: usize, out: &mut String) {
    // What follows the tables has to fit, too.
    let most = most.saturating_sub(300);
    let mut shown = 0;
    for severity in [Severity::Fail, Severity::Risk, Severity::Nit] {
        let of: Vec<&NotedFinding> =
            facts.findings.iter().filter(|n| n.finding.severity == severity).collect();
        let head = format!(
            "\n#### {} ({})\n\n| # | Where | What | Standing |\n|---|---|---|---|\n",
            severity.name(),
            of.len()
        );
        for (n, noted) in of.iter().enumerate() {
            let row = row(facts, noted);
            let head = if n == 0 { head.as_str() } else { "" };
            if out.len() + head.len() + row.len() > most {
                break;
            }
            out.push_str(head);
            out.push_str(&row);
            shown += 1;
        }
    }
    if facts.findings.len() > shown {
        let _ = writeln!(out, "\nand {} more findings", facts.findings.len() - shown);
    }
    if facts.findings.is_empty() && facts.is_approved() && facts.state.goal.is_none() {
        out.push_str("\nNo open findings.\n");
    }
    if !facts.fixed.is_empty() {
        let _ = writeln!(out, "\n{} fixed during the run.", counted(facts.fixed.len(), "finding"));
    }
    if !facts.unsupported.is_empty() {
        let count = counted(facts.unsupported.len(), "finding");
        let _ = writeln!(out, "\n{count} left out of the decision: what is cited is not there.");
    }
}

fn row(facts: &ReportFacts<'_>, noted: &NotedFinding) -> String {
    let f = &noted.finding;
    let place = facts.shown_place(f).map(|place| text(&place, 200)).unwrap_or_default();
    let mut what = format!("**{}** {}", text(&f.rule, 120), text(&f.says, LONGEST_CELL));
    if !f.fix.trim().is_empty() && f.fix.trim() != f.says.trim() {
        let _ = write!(what, "<br>Fix: {}", text(&f.fix, LONGEST_CELL));
    }
    let lens = f.lens.as_deref().map(|l| format!(" ({})", text(l, 60))).unwrap_or_default();
    let old = f.standing != FindingStatus::New && f.since > 0;
    let since = if old { format!(" since round {}", f.since) } else { String::new() };
    let (number, standing, by) = (f.number, f.standing.name(), text(&f.by, 60));
    format!("| {number} | {place} | {what} | {standing}{since}, by {by}{lens} |\n")
}

fn criteria(facts: &ReportFacts<'_>, out: &mut String) {
    let all: Vec<_> = facts.round.iter().flat_map(|r| r.criteria()).collect();
    if all.is_empty() {
        return;
    }
    out.push_str(
        "\n<details><summary>Criteria</summary>\n\n| Criterion | Verdict | Because |\n|---|---|---|\n",
    );
    let rows = all.iter().map(|c| {
        let mark = if c.clean { "✅" } else { "❌" };
        let (id, verdict) = (text(&c.id, 80), text(&c.verdict, 40));
        format!("| {id} {} | {mark} {verdict} | {} |\n", text(&c.claim, 120), text(&c.because, 200))
    });
    list(rows, all.len(), MOST_OF_A_LIST, out);
    out.push_str("\n</details>\n");
}

fn verify(facts: &ReportFacts<'_>, out: &mut String) {
    let all = facts.verify();
    if all.is_empty() {
        return;
    }
    out.push('\n');
    let lines = all.iter().map(|ran| {
        let end = ran.verified.runs.last().map_or_else(|| "not run".to_owned(), |run| run.end.to_string());
        let mark = if ran.green { "✅" } else { "❌" };
        format!("- {mark} verify: {}: {end}\n", text(&ran.command, 200))
    });
    list(lines, all.len(), MOST_OF_A_LIST, out);
}

fn coverage(facts: &ReportFacts<'_>, out: &mut String) {
    if facts.unseen.is_empty() {
        return;
    }
    out.push_str("\n**Not seen by any critic:**\n\n");
    let lines = facts.unseen.iter().map(|(what, why)| format!("- {}: {}\n", text(what, 200), text(why, 200)));
    list(lines, facts.unseen.len(), MOST_OF_A_LIST, out);
}

fn who(facts: &ReportFacts<'_>, out: &mut String) {
    let summary = &facts.state.summary;
    let judge = |review: &Review| {
        let critic = &review.binding.critic;
        let model = facts.model(critic).map(|m| format!(" ({})", text(m, 60))).unwrap_or_default();
        let verdict = match review.verdict {
            Verdict::Approved => "approved",
            Verdict::Unverified => "unverified",
            Verdict::Rejected => "rejected",
        };
        format!("{}{model}: {verdict}", text(critic, 60))
    };
    let named: Vec<String> = facts.reviews().iter().take(MOST_CRITICS).map(judge).collect();
    let judged = match (&facts.state.goal, named.is_empty()) {
        (Some(_), true) => "its criterion".to_owned(),
        (None, true) if facts.state.pipeline.is_some() => "the critics above".to_owned(),
        (None, true) => "nobody".to_owned(),
        (_, false) => named.join(", "),
    };
    let spent = text(&cost(summary.cost, summary.cost_unknown), 40);
    let calls = counted(summary.calls as usize, "call");
    let (tokens, run) = (tokens(summary.tokens, summary.cached), &summary.run);
    let _ = writeln!(out, "\n<sub>Judged by {judged} · {spent}, {tokens}, {calls} · run {run}</sub>");
}

/// As many lines as have room, and how many are left out. Says how much was written.
fn list(lines: impl Iterator<Item = String>, all: usize, room: usize, out: &mut String) -> usize {
    let (mut shown, mut used) = (0, 0);
    for line in lines {
        if used + line.len() > room {
            break;
        }
        used += line.len();
        out.push_str(&line);
        shown += 1;
    }
    if all > shown {
        let _ = writeln!(out, "\nand {} more", all - shown);
    }
    used
}

/// Any text as one line of plain words, where Markdown is read. It never stands first in a line.
fn text(any: &str, most: usize) -> String {
    escaped(any, most, r"\`*_[]|~$")
}

/// As `text`, inside an HTML element, where it is not.
fn html(any: &str, most: usize) -> String {
    escaped(any, most, "")
}

fn escaped(any: &str, most: usize, markup: &str) -> String {
    let mut out = String::new();
    for c in safe::line(any, most).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => {
                if markup.contains(c) {
                    out.push('\\');
                }
                // Mentions, references and addresses are found after markup is read, so escaping does not
                // stop them; a space of no width does.
                let apart = matches!(c, '@' | '#') || begins_link(&out, c);
                out.push(c);
                if apart {
                    out.push('\u{200b}');
                }
            }
        }
    }
    out
}

/// Whether this character makes an address or a reference of the letters before it.
fn begins_link(before: &str, c: char) -> bool {
    let ends = |word: &str| {
        let at = before.len().checked_sub(word.len());
        at.and_then(|at| before.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(word))
    };
    match c {
        ':' => ["http", "https", "ftp", "mailto", "xmpp"].iter().any(|scheme| ends(scheme)),
        '.' => ends("www"),
        '-' => ends("GH"),
        _ => false,
    }
}
