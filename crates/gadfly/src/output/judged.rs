//! The words for what critics found, the same while a run is watched and when it is looked back at: findings
//! marked by what became of them, scores with their sums, criteria, verify runs, questions.

use gadfly_engine::Finding;
use gadfly_engine::event::words;
use gadfly_engine::finding::{ENGINE, FindingStatus, Severity};
use gadfly_engine::question::Question;
use gadfly_engine::review::{CriterionVerdict, Review, Score, Verdict};
use gadfly_engine::tree::Verified;
use gadfly_journal::view::FindingCounts;
use owo_colors::OwoColorize as _;

use super::table::counted;
use super::{described, next_command, safe};

/// Longer texts are cut on the screen; `show --log` has them whole.
const LONGEST: usize = 600;
/// More findings of one review are counted.
const MOST_FINDINGS: usize = 100;
const MOST_LINES: usize = 200;
/// Of a red command's output the end is shown.
const TAIL_LINES: usize = 12;

/// `3 fixed, 1 recurring, 1 new, 0 regressed`.
pub fn moved(moved: &FindingCounts) -> String {
    let FindingCounts { fixed, recurring, new, regressed, unmatched } = moved;
    let unsure = if *unmatched > 0 { format!(", {unmatched} unmatched") } else { String::new() };
    format!("{fixed} fixed, {recurring} recurring, {new} new, {regressed} regressed{unsure}")
}

/// `+ 3. fail src/a.rs:12: what is wrong → what to do`.
pub fn finding(finding: &Finding) -> String {
    let mark = match finding.standing {
        FindingStatus::New => "+".yellow().to_string(),
        FindingStatus::Recurring => "=".to_owned(),
        FindingStatus::Regressed => "↺".red().to_string(),
        FindingStatus::Unmatched => "?".to_owned(),
    };
    let severity = match finding.severity {
        Severity::Fail => "fail".red().to_string(),
        Severity::Risk => "risk".yellow().to_string(),
        Severity::Nit => "nit".dimmed().to_string(),
    };
    let standing = match finding.standing {
        FindingStatus::New => "new".to_owned(),
        other => format!("{}, since round {}", other.name(), finding.since),
    };
    let by = if finding.by == ENGINE { ", found without a critic" } else { "" };
    let (number, rule) = (finding.number, safe::line(&finding.rule, 80));
    let text = safe::line(&finding.line(), LONGEST);
    format!("{mark} {number}. {severity} {rule} ({standing}{by}): {text}")
}

/// Findings, the worst first.
pub fn findings<'a>(all: impl Iterator<Item = &'a Finding>) -> Vec<String> {
    let mut all: Vec<&Finding> = all.collect();
    all.sort_by_key(|f| (std::cmp::Reverse(f.severity), f.number));
    let mut lines: Vec<String> = all.iter().take(MOST_FINDINGS).map(|f| finding(f)).collect();
    if all.len() > MOST_FINDINGS {
        lines.push(format!("and {} more", counted(all.len() - MOST_FINDINGS, "finding")));
    }
    lines
}

/// `✓ 2. fixed: what was wrong`.
pub fn fixed(number: u32, said: Option<&str>) -> String {
    let said = said.map(|text| format!(": {}", safe::line(text, 200))).unwrap_or_default();
    format!("{} {number}. fixed{said}", "✓".green())
}

/// A finding that cites what is not there.
pub fn unsupported(finding: &Finding) -> String {
    let why = finding.unsupported.as_deref().unwrap_or_default();
    let (by, text) = (safe::line(&finding.by, 60), safe::line(&finding.line(), 300));
    format!("left out, from {by}: {text} ({})", safe::line(why, 200)).dimmed().to_string()
}

/// Why a critic approves. Where there are criteria, they say the same line by line.
pub fn reason(review: &Review) -> Option<String> {
    let told = review.verdict == Verdict::Approved && !review.reason.is_empty() && review.criteria.is_empty();
    told.then(|| safe::line(&review.reason, LONGEST))
}

/// The score and its sum, line by line.
pub fn score(score: &Score) -> Vec<String> {
    let passes = score.value >= score.threshold;
    let value = format!("{}/100", score.value);
    let value = if passes { value.green().to_string() } else { value.red().to_string() };
    let stated = if score.computed { "" } else { ", as stated by the critic" };
    let mut lines = vec![format!("score {value} (passes at {}){stated}", score.threshold)];
    lines.extend(score.arithmetic.iter().take(MOST_LINES).map(|line| format!("  {}", safe::line(line, 200))));
    lines
}

/// One line per criterion, verdicts in a column.
pub fn criteria<'a>(all: impl Iterator<Item = &'a CriterionVerdict>) -> Vec<String> {
    let all: Vec<&CriterionVerdict> = all.take(MOST_LINES).collect();
    let width = |text: &str| safe::line(text, 40).chars().count();
    let ids = all.iter().map(|c| width(&c.id)).max().unwrap_or(0);
    let verdicts = all.iter().map(|c| width(&c.verdict)).max().unwrap_or(0);
    let line = |c: &&CriterionVerdict| {
        let mark = if c.clean { "✓".green().to_string() } else { "✗".red().to_string() };
        let (id, verdict) = (safe::line(&c.id, 40), safe::line(&c.verdict, 40));
        let because = safe::line(if c.because.trim().is_empty() { &c.claim } else { &c.because }, 300);
        format!("{mark} {id:<ids$}  {verdict:<verdicts$}  {because}").trim_end().to_owned()
    };
    all.iter().map(line).collect()
}

/// A verify command, how its runs ended and, if it is red and known, the end of what it printed.
pub fn verify(command: &str, green: bool, verified: &Verified, output: Option<&str>) -> Vec<String> {
    let told = words::command_ran("verify", command, green, verified);
    described::block(&told, &|_| output.map(str::to_owned))
}

/// The last lines a command printed.
pub fn tail(output: &str) -> Vec<String> {
    let shown: Vec<&str> = output.trim_end().lines().rev().take(TAIL_LINES).collect();
    shown.iter().rev().map(|line| format!("  │ {}", safe::line(line, 200)).dimmed().to_string()).collect()
}

/// A question to a person with its named ways out.
pub fn question(question: &Question) -> Vec<String> {
    let mut lines = vec![format!("{} ({})", "a question for you".bold(), question.about.name())];
    lines.extend(safe::block(&question.text).trim_end().lines().map(|line| format!("  │ {line}")));
    for (n, (choice, shown)) in question.choices.iter().zip(question.shown_choices()).enumerate() {
        lines.push(format!("  {}", way_out(n + 1, &shown, &choice.says)));
    }
    if question.free {
        lines.push("  or any other answer in your own words".to_owned());
    }
    lines
}

/// A way out and what it means. One that is called by its number has no other name.
pub fn way_out(number: usize, shown: &str, says: &str) -> String {
    let says = safe::line(says, 400);
    if shown == number.to_string() {
        return format!("{number}. {says}");
    }
    format!("{number}. {}: {says}", safe::line(shown, 100))
}

/// How a question is answered from another terminal.
pub fn how_to_answer(run: &str, question: &Question) -> String {
    let example = question.shown_choices().into_iter().next().map(|choice| safe::line(&choice, 60));
    let example = example.unwrap_or_else(|| "…".to_owned());
    next_command::command(&format!("answer {run} \"{example}\""))
}

#[cfg(test)]
mod tests {
    use gadfly_engine::question::{About, Choice};
    use gadfly_engine::tree::{CommandRun, RunEnd};

    use super::*;

    fn plain(lines: &[String]) -> String {
        anstream::adapter::strip_str(&lines.join("\n")).to_string()
    }

    #[test]
    fn findings_are_marked_by_what_became_of_them_and_the_worst_comes_first() {
        let one = |number, standing, severity| {
            let mut f = Finding::new("style", severity, format!("point {number}\u{1b}[2J"), "c");
            (f.number, f.standing, f.since) = (number, standing, 1);
            f
        };
        let all = [
            one(4, FindingStatus::New, Severity::Nit),
            one(1, FindingStatus::Recurring, Severity::Fail),
            one(2, FindingStatus::Regressed, Severity::Fail),
            one(3, FindingStatus::Unmatched, Severity::Risk),
        ];
        let lines = findings(all.iter());
        assert!(!lines.iter().any(|l| l.contains("\u{1b}[2J")), "a finding cannot act on the terminal");
        insta::assert_snapshot!(plain(&lines), @r"
        = 1. fail style (recurring, since round 1): point 1␛[2J
        ↺ 2. fail style (regressed, since round 1): point 2␛[2J
        ? 3. risk style (unmatched, since round 1): point 3␛[2J
        + 4. nit style (new): point 4␛[2J
        ");
    }

    #[test]
    fn a_red_verify_shows_how_it_ended_and_the_last_it_said() {
        let runs =
            vec![CommandRun { end: RunEnd::Code(101), output: gadfly_engine::Digest::of(b""), took_ms: 1 }];
        let verified = Verified { runs, changed: vec!["Cargo.lock".into()], evidence: Vec::new() };
        let output: Vec<String> = (1..=40).map(|n| format!("line {n}")).collect();
        let output = output.join("\n");
        let lines = verify("make test", false, &verified, Some(&output));
        assert_eq!(lines.len(), 1 + TAIL_LINES + 1);
        let said = plain(&lines);
        assert!(
            said.contains("exit code 101") && said.contains("line 40") && !said.contains("line 28"),
            "{said}"
        );
        assert!(said.contains("put back: Cargo.lock"));
    }

    #[test]
    fn a_question_names_its_ways_out() {
        let choices =
            vec![Choice::taking("grant", "N", "allow N more rounds"), Choice::new("stuck", "end here")];
        let asked = Question { about: About::Stuck, text: "No headway.".into(), choices, free: false };
        assert_eq!(
            plain(&question(&asked)),
            "a question for you (stuck)\n  │ No headway.\n  1. grant N: allow N more rounds\n  2. stuck: end here"
        );
        assert_eq!(how_to_answer("0123", &asked), "gadfly answer 0123 \"grant N\"");
    }

    #[test]
    fn a_way_out_called_by_its_number_is_numbered_once() {
        assert_eq!(way_out(1, "1", "Metric"), "1. Metric");
        assert_eq!(way_out(3, "skip", "keep it"), "3. skip: keep it");
        assert_eq!(way_out(2, "1", "of the second question"), "2. 1: of the second question");
    }

    #[test]
    fn a_score_shows_its_sum_line_by_line() {
        let value = Score {
            value: 0,
            unfloored: -5,
            threshold: 80,
            stated: Some(40),
            computed: true,
            arithmetic: vec!["100 − 105 (Claims) = -5".into(), "the critic stated 40".into()],
        };
        assert_eq!(
            plain(&score(&value)),
            "score 0/100 (passes at 80)\n  100 − 105 (Claims) = -5\n  the critic stated 40"
        );
    }
}
