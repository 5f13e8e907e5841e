//! Reads a critic's reply in `score`: a JSON report or a Markdown one, into findings under the rubric's
//! rows. It decides nothing and adds nothing up (`deduction::tally` does); it only refuses what cannot be
//! read without guessing, so that a deduction that is not understood never makes a score better.

mod json;
mod place;
mod report;
mod rows;

use std::fmt::Write as _;

use rows::Rows;
use serde_json::json;

use crate::brief;
use crate::deduction::{self, Amount, FULL, Gravity, Level, Rate, Row, Table};
use crate::finding::{Finding, Place, Severity};
use crate::reasoning;

/// A longer reply is refused: no critic writes that much, and reading it all would take time.
const LONGEST_REPLY: usize = 8 * 1024 * 1024;
/// More deductions are refused, not cut: cutting would raise the score.
const MOST_DEDUCTIONS: usize = 1_000;
/// The longest text of one field, in characters.
const LONGEST_TEXT: usize = 2_000;
/// The most problems that are named at once.
const MOST_PROBLEMS: usize = 20;
/// The most row ids that a problem lists.
const MOST_IDS: usize = 60;
/// The rule of a finding where the rubric has no rows.
const NO_ROW: &str = "stated";

/// What a reply is read against.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// Without a table the number in the reply counts.
    pub table: Option<&'a Table>,
    pub level: Level,
    /// The critic.
    pub by: &'a str,
    pub lens: Option<&'a str>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScoreReply {
    /// One per deduction; `rule` is the row's id and `raw.times` how often it applies.
    pub findings: Vec<Finding>,
    pub stated: Option<Amount>,
    pub notes: Vec<String>,
    pub deviations: Vec<String>,
    /// The JSON report, where it stood among other text. If the artifact holds the same text, the critic
    /// may only have quoted it.
    pub embedded: Option<String>,
    /// The lines that state the score, where nothing else in the reply says what the work is worth. If
    /// all of them stand in the artifact, the critic may only have repeated what it says of itself.
    pub score_lines: Vec<String>,
}

/// Why a reply is no review: every reason, one sentence each, for the request to restate.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct Malformed(pub Vec<String>);

impl Malformed {
    fn one(problem: impl Into<String>) -> Self {
        Self(vec![problem.into()])
    }
}

/// What a reply says, before rows are looked up.
#[derive(Clone, Default, Debug)]
struct Said {
    claims: Vec<Claim>,
    /// There is a list of deductions, if perhaps an empty one.
    itemised: bool,
    /// Every total, in the order of the reply.
    scores: Vec<Amount>,
    /// The first lines that state them, in a Markdown report.
    score_lines: Vec<String>,
    notes: Vec<String>,
    deviations: Vec<String>,
    problems: Vec<String>,
    /// Points of which some may not have been understood stand somewhere else in the reply.
    passed_over: bool,
}

/// One deduction as the reply words it.
#[derive(Clone, Default, Debug)]
struct Claim {
    /// What may name the row, best first: an id, the row's text, a sentence about it.
    names: Vec<String>,
    category: Option<String>,
    gravity: Option<Gravity>,
    /// What the reply says is taken off, without its sign.
    points: Option<Amount>,
    times: Option<u32>,
    place: Option<Place>,
    /// Where, in words that are no place.
    whereabouts: Option<String>,
    quote: Option<String>,
    absent: bool,
    says: String,
    fix: String,
}

impl Claim {
    /// How problems and deviations call it.
    fn label(&self) -> String {
        let name = self.names.iter().find(|n| !n.trim().is_empty()).unwrap_or(&self.says);
        shorten(name, 80)
    }
}

pub fn parse(reply: &str, expected: &Expected<'_>) -> Result<ScoreReply, Malformed> {
    if reply.len() > LONGEST_REPLY {
        return Err(Malformed::one(format!(
            "the reply is longer than {} MB: send only the report",
            LONGEST_REPLY / 1024 / 1024
        )));
    }
    let answer = reasoning::without_blocks(reasoning::without_leading(reply), states_a_score);
    let body = answer.trim();
    if body.is_empty() {
        return Err(Malformed::one("the reply is empty"));
    }
    let (mut said, embedded) = match json::find(body)? {
        Some(found) => beside(&found, body, expected)?,
        None => (report::read(report::unfenced(body), expected.table.is_some()), None),
    };
    let stated = one_score(&mut said);
    let findings = settle(&mut said, expected);
    contradictions(&mut said, &findings, stated, expected);
    if said.problems.is_empty() {
        let rests_on_a_line = expected.table.is_none() || findings.is_empty() && !said.itemised;
        let Said { notes, deviations, mut score_lines, .. } = said;
        if !rests_on_a_line {
            score_lines.clear();
        }
        Ok(ScoreReply { findings, stated, notes, deviations, embedded, score_lines })
    } else {
        let more = said.problems.len().saturating_sub(MOST_PROBLEMS);
        said.problems.truncate(MOST_PROBLEMS);
        if more > 0 {
            said.problems.push(format!("and {more} more problems like these"));
        }
        Err(Malformed(said.problems))
    }
}

/// Does the text say what the work is worth, or what is to be deducted?
fn states_a_score(text: &str) -> bool {
    let said = report::read(text, true);
    !(said.scores.is_empty() && said.claims.is_empty()) || text.contains("\"deductions\"")
}

/// The first line of a draft that states a score of itself.
pub fn stated_line(draft: &str) -> Option<String> {
    report::stated_line(draft).map(|line| shorten(line, 200))
}

/// A JSON report with text around it: the text may repeat its score and nothing else.
fn beside(
    found: &json::Found<'_>,
    body: &str,
    expected: &Expected<'_>,
) -> Result<(Said, Option<String>), Malformed> {
    let mut said = json::read(found.text)?;
    let around = format!("{}\n{}", &body[..found.start], &body[found.end..]);
    let prose = report::read(&around, expected.table.is_some());
    if prose.claims.iter().any(|claim| claim.points.is_some()) {
        return Err(Malformed::one(
            "the reply has a JSON report and, beside it, a list of deductions: send one report",
        ));
    }
    if said.scores.is_empty() {
        said.score_lines = prose.score_lines;
    }
    said.scores.extend(prose.scores);
    said.problems.extend(prose.problems);
    let alone = around.trim().is_empty();
    if !alone {
        said.deviations.push("text around the JSON report".into());
    }
    Ok((said, (!alone).then(|| found.text.to_owned())))
}

/// The one total, on its scale.
fn one_score(said: &mut Said) -> Option<Amount> {
    let mut scores = std::mem::take(&mut said.scores);
    scores.dedup();
    for score in &scores {
        if score.is_negative() || *score > Amount::whole(FULL) {
            said.problems.push(format!("the score {score} is outside 0–{FULL}"));
        }
    }
    if let [first, .., last] = scores.as_slice() {
        let other = scores.iter().find(|s| *s != first).unwrap_or(last);
        said.problems.push(format!("the reply states two different scores, {first} and {other}"));
    }
    scores.first().copied()
}

/// Finds each claim's row and makes findings of them.
fn settle(said: &mut Said, expected: &Expected<'_>) -> Vec<Finding> {
    let claims = std::mem::take(&mut said.claims);
    if claims.len() > MOST_DEDUCTIONS {
        said.problems.push(format!(
            "the reply lists {} deductions; at most {MOST_DEDUCTIONS} are read: unite those of one row with `times`",
            claims.len()
        ));
        return Vec::new();
    }
    let rows = expected.table.map(Rows::of);
    let mut findings = Vec::new();
    for claim in claims {
        if claim.times == Some(0) {
            said.notes.push(format!("{} (0 times)", claim.label()));
            continue;
        }
        let (Some(table), Some(rows)) = (expected.table, &rows) else {
            let severity = unruled_severity(&claim);
            let times = claim.times.unwrap_or(1);
            findings.push(finding(claim, NO_ROW.to_owned(), severity, times, expected));
            continue;
        };
        let Some(row) = rows.find(&claim, expected.level) else {
            said.problems.push(unknown_row(&claim, table, said.problems.is_empty()));
            continue;
        };
        let times = applied(&claim, row, table.rate(row, expected.level), said);
        let severity = table.severity(row, expected.level);
        findings.push(finding(claim, row.id.clone(), severity, times, expected));
    }
    findings
}

/// How much a finding weighs where no row says so.
fn unruled_severity(claim: &Claim) -> Severity {
    match (claim.gravity, claim.points) {
        (Some(gravity), _) => gravity.severity(),
        (None, Some(points)) => deduction::severity_of(points),
        (None, None) => Severity::Risk,
    }
}

/// How often a row applies: as stated, else by how often its points fit into those stated. Points that
/// differ from the rubric's are noted; the rubric's count.
fn applied(claim: &Claim, row: &Row, rate: Rate, said: &mut Said) -> u32 {
    let times = claim.times.unwrap_or_else(|| match claim.points {
        Some(points) if rate.repeats => points.times_of(rate.each),
        _ => 1,
    });
    let sum = rate.each.times(if rate.repeats { times } else { 1 });
    let sum = rate.max.map_or(sum, |max| sum.min(max));
    if let Some(points) = claim.points.filter(|p| *p != sum && *p != rate.each) {
        said.deviations.push(format!("`{}` is said to cost {points}; by the rubric it costs {sum}", row.id));
    }
    times
}

fn finding(claim: Claim, rule: String, severity: Severity, times: u32, expected: &Expected<'_>) -> Finding {
    let says = if claim.says.trim().is_empty() { claim.label() } else { shorten(&claim.says, LONGEST_TEXT) };
    let mut raw = serde_json::Map::new();
    raw.insert("times".into(), json!(times));
    if let Some(points) = claim.points {
        raw.insert("points".into(), json!(points));
    }
    if let Some(whereabouts) = &claim.whereabouts {
        raw.insert("where".into(), json!(shorten(whereabouts, LONGEST_TEXT)));
    }
    let mut finding = Finding::new(rule, severity, says, expected.by);
    finding.fix = shorten(&claim.fix, LONGEST_TEXT);
    finding.place = claim.place;
    finding.quote = claim.quote.map(|q| q.chars().take(LONGEST_TEXT).collect());
    finding.absent = claim.absent;
    finding.lens = expected.lens.map(str::to_owned);
    finding.raw = Some(raw.into());
    finding
}

fn unknown_row(claim: &Claim, table: &Table, list_ids: bool) -> String {
    let mut problem = format!("the deduction `{}` names no row of the rubric", claim.label());
    if list_ids {
        let ids: Vec<&str> = table.rows.iter().take(MOST_IDS).map(|row| row.id.as_str()).collect();
        let more = if table.rows.len() > MOST_IDS { ", …" } else { "" };
        let _ = write!(problem, "; the rows are {}{more}", ids.join(", "));
    }
    problem
}

/// What cannot be true at once, or is no review at all.
fn contradictions(said: &mut Said, findings: &[Finding], stated: Option<Amount>, expected: &Expected<'_>) {
    if !said.problems.is_empty() {
        return;
    }
    let full = Amount::whole(FULL);
    let problem = match (expected.table, stated) {
        (None, None) => Some(if findings.is_empty() {
            "the reply holds neither deductions nor a score".to_owned()
        } else {
            "the rubric has no table of deductions, so the reply must state its score, as `**Score:** N/100`"
                .to_owned()
        }),
        (Some(_), None) if findings.is_empty() && !said.itemised => {
            Some("the reply holds neither deductions nor a score".to_owned())
        }
        (Some(_), Some(score)) if findings.is_empty() && score < full => Some(format!(
            "the reply states {score} and lists no deduction: list each with its row, how often, where and the fix"
        )),
        (Some(table), Some(score)) if said.passed_over => {
            let sum = deduction::tally(table, expected.level, &deduction::deductions(findings), None);
            sum.is_ok_and(|sheet| sheet.unfloored > score).then(|| {
                format!(
                    "the reply states {score}, but only part of its deductions could be read: list each as `- ROW: -POINTS`"
                )
            })
        }
        _ => None,
    };
    said.problems.extend(problem);
}

fn shorten(text: &str, most: usize) -> String {
    // Cut before folding: folding all of a huge text only to drop it would cost its length again.
    let start: String = text.chars().take(most.saturating_mul(4)).collect();
    brief::one_line(&start).chars().take(most).collect()
}

#[cfg(test)]
mod tests;
