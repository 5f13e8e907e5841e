//! The rounds of a run as `gadfly show` tells them: what was made, what every critic said, what moved since
//! the round before, where it led. Lines only; nothing is printed here.

use std::collections::BTreeMap;

use gadfly_engine::Digest;
use gadfly_engine::event::words;
use gadfly_engine::review::{Review, Verdict};
use gadfly_journal::RunView;
use gadfly_journal::view::{FindingCounts, RoundState, VerifyState};
use owo_colors::OwoColorize as _;

use crate::output::described::DescribedLine;
use crate::output::table::{counted, size};
use crate::output::{judged, safe};

/// More entries of one list are counted.
const MOST: usize = 40;

/// All rounds of a run. `text` finds a stored text.
pub fn lines(state: &RunView, text: &dyn Fn(&Digest) -> Option<String>) -> Vec<String> {
    let mut lines = Vec::new();
    for ran in &state.tried {
        lines.extend(verify("before the first call: ", ran, text));
    }
    let mut said: BTreeMap<u32, String> = BTreeMap::new();
    for round in &state.rounds {
        lines.push(String::new());
        lines.push(headline(round, state.summary.rounds_max));
        let mut say = |line: String| lines.push(format!("  {line}"));
        round.verify.iter().flat_map(|ran| verify("", ran, text)).for_each(&mut say);
        for review in &round.reviews {
            judgement(review, round.reviews.len() > 1).into_iter().for_each(&mut say);
        }
        moved(round, &said).into_iter().for_each(&mut say);
        around(round).into_iter().for_each(&mut say);
        said.extend(round.findings().map(|f| (f.number, f.line())));
    }
    lines.extend(afterwards(state, text));
    lines
}

fn headline(round: &RoundState, of: u32) -> String {
    let red = round.verify.iter().any(|ran| !ran.green);
    let verdict = match (round.verdict, round.overruled) {
        (_, true) => "rejected, overruled".green().to_string(),
        (Some(Verdict::Approved), _) => "approved".green().to_string(),
        (Some(Verdict::Unverified), _) => "unverified".yellow().to_string(),
        (Some(Verdict::Rejected), _) => {
            format!("{}, {}", "rejected".red(), counted(round.open.len(), "open item"))
        }
        (None, _) if red => "verify red, not judged".red().to_string(),
        (None, _) => "not judged".yellow().to_string(),
    };
    let made = match (round.draft, round.diff) {
        (None, _) => "no draft".to_owned(),
        (Some(_), None) => format!("draft of {}", size(round.bytes)),
        (Some(_), Some(_)) => format!("diff of {}", size(round.bytes)),
    };
    format!("round {} of {of}: {made}, {verdict}", round.round)
}

fn verify(before: &str, ran: &VerifyState, text: &dyn Fn(&Digest) -> Option<String>) -> Vec<String> {
    let output = ran.verified.runs.last().filter(|_| !ran.green).and_then(|run| text(&run.output));
    let mut lines = judged::verify(&ran.command, ran.green, &ran.verified, output.as_deref());
    if let Some(first) = lines.first_mut() {
        *first = format!("{before}{first}");
    }
    lines
}

/// What one critic said besides its findings.
fn judgement(review: &Review, several: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if several || review.binding.lens.is_some() {
        let lens = review.binding.lens.as_deref().map(|lens| format!(" ({})", safe::line(lens, 80)));
        let verdict = match review.verdict {
            Verdict::Approved => "approved".green().to_string(),
            Verdict::Unverified => "unverified".yellow().to_string(),
            Verdict::Rejected => "rejected".red().to_string(),
        };
        lines.push(format!(
            "{}{}: {verdict}",
            safe::line(&review.binding.critic, 60),
            lens.unwrap_or_default()
        ));
    }
    lines.extend(judged::reason(review));
    if let Some(score) = &review.score {
        lines.extend(judged::score(score));
    }
    lines.extend(judged::criteria(review.criteria.iter()));
    // Of a text draft there is nothing to say as long as all of it was seen.
    let seen: std::collections::BTreeSet<&str> =
        review.coverage.entries.iter().map(|e| e.path.as_str()).filter(|path| *path != "draft").collect();
    if !seen.is_empty() {
        lines.push(format!("seen: {}", counted(seen.len(), "file")));
    }
    for unseen in review.coverage.unseen.iter().take(MOST) {
        let (what, because) = (safe::line(&unseen.what, 200), safe::line(&unseen.because, 200));
        lines.push(format!("{} not seen: {what}: {because}", "!".yellow()));
    }
    lines.extend(more(review.coverage.unseen.len(), "thing not seen", "things not seen"));
    let deviations = review.deviations.iter().take(MOST);
    lines.extend(deviations.map(|d| format!("noted: {}", safe::line(d, 300)).dimmed().to_string()));
    lines
}

/// Findings, or the bullets of a protocol that has none, and what became of the earlier ones.
fn moved(round: &RoundState, said: &BTreeMap<u32, String>) -> Vec<String> {
    let mut lines = Vec::new();
    let moved = round.moved();
    if round.round > 1 && moved != FindingCounts::default() {
        lines.push(format!("round {}: {}", round.round, judged::moved(&moved)).bold().to_string());
    }
    let fixed = round.fixed();
    lines.extend(fixed.iter().map(|n| judged::fixed(*n, said.get(n).map(String::as_str))));
    lines.extend(judged::findings(round.findings()));
    if round.findings().next().is_none() {
        for item in &round.open {
            let old = item.since < round.round;
            let since = if old { format!(" (since round {})", item.since) } else { String::new() };
            lines.push(format!("{}. {}{since}", item.number, safe::line(&item.text, 600)));
        }
    }
    lines.extend(round.unsupported().take(MOST).map(judged::unsupported));
    lines.extend(more(round.unsupported().count(), "finding left out", "findings left out"));
    lines
}

/// What happened around the judgement.
fn around(round: &RoundState) -> Vec<String> {
    let mut lines: Vec<String> = round.stalls.iter().map(|stall| format!("hint: {stall}")).collect();
    if !round.addressed.is_empty() {
        let numbers: Vec<String> = round.addressed.iter().map(ToString::to_string).collect();
        lines.push(format!("addressed: {}", numbers.join(", ")));
    }
    lines.extend(round.other_notes().map(|note| format!("note: {}", safe::line(note, 600))));
    let unasked = Some(&round.changed_unasked).filter(|sections| !sections.is_empty());
    let told = unasked.map(|sections| words::changed_unasked(sections)).into_iter();
    let told = told.chain(round.routes.iter().map(|route| words::routed(&route.route, &route.because)));
    let told = told
        .chain(round.deferred.iter().map(|item| words::deferred(&item.criterion, &item.reason, &item.by)));
    let told = told.chain(round.escalations.iter().map(|to| words::escalated(&to.to, &to.because)));
    lines.extend(told.map(|told| DescribedLine::new(&told, &|_| None).line()));
    lines.extend(round.result.iter().map(|line| safe::line(line, 300)));
    lines
}

/// What belongs to the whole run.
pub fn afterwards(state: &RunView, text: &dyn Fn(&Digest) -> Option<String>) -> Vec<String> {
    let mut lines = Vec::new();
    let said =
        |digest: &Digest| text(digest).map_or_else(String::new, |t| format!(": {}", safe::line(&t, 300)));
    for asked in &state.questions {
        if let Some(answer) = &asked.answer {
            let (about, by) = (asked.question.about.name(), safe::line(&answer.by, 60));
            lines.push(format!("asked ({about}), answered by {by}{}", said(&answer.text)));
        }
    }
    let decided = state.decisions.iter().map(|decision| words::decided(&decision.by, decision.text));
    let violated = state.violations.iter().map(|one| words::violated(&one.agent, &one.paths));
    lines.extend(decided.chain(violated).map(|told| DescribedLine::new(&told, text).line()));
    let wrong: Vec<_> = state.critic_counts().into_iter().filter(|count| count.unsupported > 0).collect();
    for count in wrong {
        let all = count.supported + count.unsupported;
        let critic = safe::line(&count.critic, 60);
        lines.push(format!(
            "{critic}: {} of {} cite what is not there",
            count.unsupported,
            counted(all, "finding")
        ));
    }
    for report in &state.reports {
        lines.push(format!("report of round {}: {}", report.round, safe::line(&report.name, 200)));
    }
    lines.extend(state.result.iter().map(|line| safe::line(line, 300)));
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

fn more(all: usize, one: &str, many: &str) -> Option<String> {
    let left = all.checked_sub(MOST).filter(|left| *left > 0)?;
    Some(format!("and {left} more {}", if left == 1 { one } else { many }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn told(state: &RunView) -> String {
        anstream::adapter::strip_str(&lines(state, &|_| None).join("\n")).to_string()
    }

    #[test]
    fn what_moved_between_rounds_is_seen_at_a_glance() {
        insta::assert_snapshot!(told(&sample::audit()), @r#"

        round 1 of 3: no draft, rejected, 2 open items
          seen: 1 file
          + 1. fail unmet-criterion (new): src/a b.rs:12-14: no eviction
          + 2. nit style (new): src/a b.rs:12-14: a long line

        round 2 of 3: no draft, rejected, 2 open items
          ✓ verify `make test`: exit code 0
          ✗ SC-1  Unsatisfied  src/a b.rs:12
          ✓ SC-2  Satisfied    src/a b.rs:12
          seen: 1 file
          round 2: 1 fixed, 1 recurring, 1 new, 0 regressed
          ✓ 2. fixed: src/a b.rs:12-14: a long line
          = 1. fail unmet-criterion (recurring, since round 1): src/a b.rs:12-14: no eviction → evict the oldest
          + 3. risk edge-case-gap (new): src/a b.rs:12-14: zero capacity panics
          left out, from reader: src/a b.rs:12-14: ? (there is no line 900)

        reader: 1 of 5 findings cite what is not there
        "#);
    }

    #[test]
    fn a_score_is_told_with_its_sum() {
        insta::assert_snapshot!(told(&sample::score(false)), @r#"

        round 1 of 3: no draft, rejected, 1 open item
          score 70/100 (passes at 80)
            100
            −30 Claims (1 ×)
            = 70
          seen: 1 file
          + 1. risk Claims (new): draft:3: the effect is overstated
        "#);
    }

    #[test]
    fn what_nobody_saw_is_named() {
        assert!(told(&sample::unverified()).contains("! not seen: big.sql, lines 900–2400: too large"));
    }
}
