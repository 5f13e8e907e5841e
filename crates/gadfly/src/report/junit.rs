//! `JUnit` XML, as continuous integration services take it: a criterion, a rubric row, a bullet, a verify
//! command each is a test case. The suite is green only if the work is approved; what nobody judged is an
//! error, not a pass.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use gadfly_engine::finding::ENGINE;
use gadfly_engine::review::{Review, Verdict};
use gadfly_journal::view::{AgentRow, RowStatus};

use super::facts::{NotedFinding, ReportFacts};
use crate::output::safe;

const LONGEST_NAME: usize = 300;
const LONGEST_BODY: usize = 16_000;

struct JunitCase {
    group: &'static str,
    name: String,
    end: CaseResult,
    /// What is said beside the end.
    body: String,
}

enum CaseResult {
    Passed,
    Failed(String),
    /// Nobody judged it.
    Error(String),
    Skipped(String),
}

pub fn render(facts: &ReportFacts<'_>) -> String {
    let cases = cases(facts);
    let count = |wanted: fn(&CaseResult) -> bool| cases.iter().filter(|case| wanted(&case.end)).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        cases.len(),
        count(|end| matches!(end, CaseResult::Failed(_))),
        count(|end| matches!(end, CaseResult::Error(_))),
        count(|end| matches!(end, CaseResult::Skipped(_))),
    );
    let summary = &facts.state.summary;
    let name = escaped(&format!("gadfly {}: {}", summary.protocol, summary.title), LONGEST_NAME);
    let time = super::sarif::time(summary.created_ms);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"gadfly\" {counts}>");
    let _ =
        writeln!(out, "  <testsuite name=\"{name}\" {counts} timestamp=\"{}\">", time.trim_end_matches('Z'));
    let _ = writeln!(out, "    <properties>");
    let properties = [
        ("run", summary.run.to_string()),
        ("outcome", facts.label.clone()),
        ("exit_code", facts.exit.0.to_string()),
        ("unsupported_findings", facts.unsupported.len().to_string()),
    ];
    for (key, value) in properties {
        let value = escaped(&value, LONGEST_NAME);
        let _ = writeln!(out, "      <property name=\"{key}\" value=\"{value}\"/>");
    }
    let _ = writeln!(out, "    </properties>");
    for case in &cases {
        case.write(&summary.protocol, &mut out);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

impl JunitCase {
    fn write(&self, protocol: &str, out: &mut String) {
        let class = escaped(&format!("gadfly.{protocol}.{}", self.group), LONGEST_NAME);
        let name = escaped(&self.name, LONGEST_NAME);
        let _ = write!(out, "    <testcase classname=\"{class}\" name=\"{name}\"");
        let body = escaped_block(&self.body);
        let element = match &self.end {
            CaseResult::Passed if body.is_empty() => return out.push_str("/>\n"),
            CaseResult::Passed => format!("<system-out>{body}</system-out>"),
            CaseResult::Failed(why) => tagged("failure", why, &body),
            CaseResult::Error(why) => tagged("error", why, &body),
            CaseResult::Skipped(why) => format!("<skipped message=\"{}\"/>", escaped(why, LONGEST_NAME)),
        };
        let _ = writeln!(out, ">\n      {element}\n    </testcase>");
    }
}

fn tagged(tag: &str, why: &str, body: &str) -> String {
    let why = escaped(why, LONGEST_NAME);
    format!("<{tag} message=\"{why}\" type=\"{tag}\">{body}</{tag}>")
}

fn cases(facts: &ReportFacts<'_>) -> Vec<JunitCase> {
    let mut cases = vec![outcome(facts)];
    cases.extend(goal(facts));
    cases.extend(pairs(facts));
    for ran in facts.verify() {
        let ends: Vec<String> = ran.verified.runs.iter().map(|run| run.end.to_string()).collect();
        let end = if ran.green { CaseResult::Passed } else { CaseResult::Failed(ends.join(", ")) };
        cases.push(JunitCase { group: "verify", name: ran.command.clone(), end, body: String::new() });
    }
    let mut told = HashSet::new();
    for review in facts.reviews() {
        if let Some(case) = score(review) {
            cases.push(case);
        }
        criteria(facts, review, &mut told, &mut cases);
    }
    rules(facts, &told, &mut cases);
    for (what, because) in &facts.unseen {
        let end = CaseResult::Error(format!("not reviewed: {because}"));
        cases.push(JunitCase { group: "coverage", name: what.clone(), end, body: String::new() });
    }
    cases
}

fn outcome(facts: &ReportFacts<'_>) -> JunitCase {
    let end = match facts.because() {
        Some(because) => CaseResult::Error(format!("{}: {because}", facts.label)),
        None if facts.is_approved() => CaseResult::Passed,
        None => CaseResult::Failed(facts.label.clone()),
    };
    let reasons = facts.reasons().into_iter().map(|(critic, reason)| format!("{critic}: {reason}"));
    let body = facts.state.result.iter().cloned().chain(reasons).collect::<Vec<_>>().join("\n");
    let name = if facts.state.goal.is_some() { "verified" } else { "approved" };
    JunitCase { group: "outcome", name: name.to_owned(), end, body }
}

/// When a goal is reached, as a case.
fn goal(facts: &ReportFacts<'_>) -> Option<JunitCase> {
    let pursued = facts.state.goal.as_ref()?;
    let standing = super::goal::standing(facts, pursued);
    let (name, body) = (pursued.criterion.clone(), standing.clone());
    let end = match facts.because() {
        None if facts.is_approved() => CaseResult::Passed,
        None => CaseResult::Failed(standing),
        Some(_) => CaseResult::Error(standing),
    };
    Some(JunitCase { group: "criteria", name, end, body })
}

/// Every agent of a pipeline, and its gate.
fn pairs(facts: &ReportFacts<'_>) -> Vec<JunitCase> {
    let Some(view) = &facts.state.pipeline else { return Vec::new() };
    let case = |row: &AgentRow| {
        let score = row.score.map_or_else(|| "no score".to_owned(), |score| format!("{score}/100"));
        let why = row.because.clone().unwrap_or_else(|| score.clone());
        let end = match row.status {
            RowStatus::Done => CaseResult::Passed,
            RowStatus::Blocked => CaseResult::Failed(why),
            RowStatus::Working => CaseResult::Error("it was not through".to_owned()),
            RowStatus::Pending => CaseResult::Skipped(why),
        };
        JunitCase { group: "agents", name: row.agent.clone(), end, body: row.open.join("\n") }
    };
    let mut cases: Vec<JunitCase> = view.agents.iter().map(case).collect();
    cases.extend(view.gate.as_ref().map(|report| {
        let end = if report.is_open() {
            CaseResult::Passed
        } else {
            CaseResult::Failed(report.blocking.join("; "))
        };
        let body = report.aggregate.arithmetic.join("\n");
        JunitCase { group: "gate", name: report.gate.name.clone(), end, body }
    }));
    cases
}

fn score(review: &Review) -> Option<JunitCase> {
    let score = review.score.as_ref()?;
    let lens = review.binding.lens.as_deref().map(|lens| format!(", {lens}")).unwrap_or_default();
    let why = format!("{}/100, passes at {}", score.value, score.threshold);
    let end = if score.value >= score.threshold { CaseResult::Passed } else { CaseResult::Failed(why) };
    let name = format!("score by {}{lens}", review.binding.critic);
    Some(JunitCase { group: "score", name, end, body: score.arithmetic.join("\n") })
}

fn criteria(facts: &ReportFacts<'_>, review: &Review, told: &mut HashSet<u32>, cases: &mut Vec<JunitCase>) {
    for criterion in &review.criteria {
        let belongs = |n: &&NotedFinding| {
            n.finding.criterion.as_deref() == Some(criterion.id.as_str()) || n.finding.rule == criterion.id
        };
        let findings: Vec<&NotedFinding> = facts.findings.iter().filter(belongs).collect();
        told.extend(findings.iter().map(|n| n.finding.number));
        let verdict = criterion.verdict.as_str();
        let why = format!("{verdict}: {}", criterion.because);
        let end = match criterion.clean {
            true if verdict.eq_ignore_ascii_case("DEFER") => CaseResult::Skipped(why),
            true => CaseResult::Passed,
            false if verdict.eq_ignore_ascii_case("unverified") => CaseResult::Error(why),
            false => CaseResult::Failed(why),
        };
        let name = format!("{}: {}", criterion.id, criterion.claim);
        cases.push(JunitCase { group: "criteria", name, end, body: bodies(facts, &findings) });
    }
}

/// Findings that belong to no criterion: one case per rubric row, category or engine check; bullets of
/// `revise` one by one.
fn rules(facts: &ReportFacts<'_>, told: &HashSet<u32>, cases: &mut Vec<JunitCase>) {
    let mut by_rule: BTreeMap<(bool, &str), Vec<&NotedFinding>> = BTreeMap::new();
    for noted in facts.findings.iter().filter(|n| !told.contains(&n.finding.number)) {
        by_rule.entry((noted.finding.by == ENGINE, &noted.finding.rule)).or_default().push(noted);
    }
    let bullets = facts.round.is_some_and(|r| r.findings().next().is_none());
    for ((engine, rule), findings) in by_rule {
        if bullets {
            for noted in findings {
                let name = format!("{}. {}", noted.finding.number, noted.finding.says);
                let why = noted.finding.standing.name().to_owned();
                cases.push(JunitCase {
                    group: "feedback",
                    name,
                    end: CaseResult::Failed(why),
                    body: noted.finding.line(),
                });
            }
            continue;
        }
        let blocking = findings.iter().filter(|n| n.blocks).count();
        let approved = facts.round.and_then(|r| r.verdict) == Some(Verdict::Approved);
        let end = if blocking > 0 && !approved {
            CaseResult::Failed(if blocking == 1 {
                "1 finding".to_owned()
            } else {
                format!("{blocking} findings")
            })
        } else {
            CaseResult::Passed
        };
        let group = if engine { "checks" } else { "findings" };
        cases.push(JunitCase { group, name: rule.to_owned(), end, body: bodies(facts, &findings) });
    }
}

fn bodies(facts: &ReportFacts<'_>, findings: &[&NotedFinding]) -> String {
    let line = |n: &&NotedFinding| {
        let f = &n.finding;
        let place = facts.shown_place(f).map(|place| format!("{place}: ")).unwrap_or_default();
        let fix = if f.fix.trim().is_empty() { String::new() } else { format!(" → {}", f.fix.trim()) };
        let (number, severity, standing) = (f.number, f.severity.name(), f.standing.name());
        safe::line(&format!("{number}. [{severity}, {standing}] {place}{}{fix}", f.says.trim()), 2000)
    };
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// One line for an attribute. Characters that XML 1.0 does not have were made visible or are removed.
fn escaped(text: &str, most: usize) -> String {
    entities(&safe::line(text, most))
}

fn escaped_block(text: &str) -> String {
    let cut: String = safe::block(text).chars().take(LONGEST_BODY).collect();
    entities(&cut)
}

fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\t' => out.push(c),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {}
            other => out.push(other),
        }
    }
    out
}
