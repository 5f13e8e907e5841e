//! A critic's report on points: as JSON or in Markdown, into findings under the rubric's rows. It decides nothing and adds
//! up only to see which way a reply leans (`deduction::tally` is the sum): what is not understood never makes a score better,
//! and what leans towards a pass has to be whole.

mod doubts;
mod json;
mod report;
mod rows;

use std::fmt::Write as _;

use doubts::doubts;
use rows::Rows;
use serde_json::json;

use super::quoted::Shown;
use super::relaxed::Slip;
use super::wire::Rewritten;
use super::{LONGEST_REPLY, Unread, clean, wire};
use crate::brief;
use crate::deduction::{self, Amount, DeductionRow, DeductionTable, FULL, Gravity, Level, Rate};
use crate::finding::{Finding, Location, Severity};

/// More deductions are refused, not cut: cutting would raise the score.
const MOST_DEDUCTIONS: usize = 1_000;
/// The longest text of one field, in characters.
const LONGEST_TEXT: usize = 2_000;
/// The most problems that are named at once.
const MOST_PROBLEMS: usize = 20;
/// The most row ids that a problem lists.
const MOST_IDS: usize = 60;
/// The rule of a finding where the rubric has no rows.
pub(crate) const NO_ROW: &str = "stated";

/// What a reply is read against.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// Without a table the number in the reply counts.
    pub table: Option<&'a DeductionTable>,
    pub level: Level,
    /// The score that passes.
    pub threshold: u32,
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
    /// The first sentence that takes points off outside of any list.
    spoken_points: Option<String>,
    /// The reply is in Markdown: a sum that nobody states may have lost a line.
    in_words: bool,
    /// What is said beside deductions, notes and totals, and what a critic says against the work without taking points off.
    prose: Vec<String>,
    /// What keeps the reply from passing: sentences, each with the passage.
    against: Vec<(String, String)>,
    /// What is listed against the work without points.
    undeducted: Vec<String>,
    /// Every line that deducts, in a Markdown report.
    claim_lines: Vec<String>,
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
    place: Option<Location>,
    /// Where, in words that are no place.
    whereabouts: Option<String>,
    quote: Option<String>,
    absent: bool,
    says: String,
    fix: String,
    /// It stands in the list that adds up, not beside an issue that is described.
    in_breakdown: bool,
    /// What its words take off, beside its points.
    spoken: Vec<Amount>,
}

impl Claim {
    /// How problems and deviations call it.
    fn label(&self) -> String {
        let name = self.names.iter().find(|n| !n.trim().is_empty()).unwrap_or(&self.says);
        shorten(name, 80)
    }
}

/// Reads the reply to a brief that showed these texts.
pub fn read(reply: &str, expected: &Expected<'_>, shown: &Shown) -> Result<ScoreReply, Unread> {
    if reply.len() > LONGEST_REPLY {
        return Err(Unread::new(format!(
            "the reply is longer than {} MB: send only the report",
            LONGEST_REPLY >> 20
        )));
    }
    let text = clean::reply(reply);
    let own = shown.without_quotations(&text);
    let read = Rewritten::or(
        wire::as_json(&own),
        |json| read_own(json, expected, shown),
        |(_, passes)| *passes,
        || read_own(&own, expected, shown),
    );
    let read = read.map(|(reply, _)| reply);
    if read.is_err() && own.len() != text.len() {
        // What is quoted cannot pass anything; points that are taken off stand.
        let whole = read_own(&text, expected, shown).ok().filter(|(_, passes)| !passes);
        return whole.map_or(read, |(reply, _)| Ok(reply));
    }
    read
}

/// The reply, and whether the work would pass by it.
fn read_own(text: &str, expected: &Expected<'_>, shown: &Shown) -> Result<(ScoreReply, bool), Unread> {
    let answer = super::said(text, states_a_score);
    let body = answer.trim();
    if body.is_empty() {
        return Err(Unread::new("the reply is empty"));
    }
    let mut said = match json::find(body, shown)? {
        Some(found) => beside(&found, expected),
        None => report::read(body, expected.table.is_some()),
    };
    let scores = totals(&mut said);
    let stated = scores.iter().copied().min();
    let findings = settle(&mut said, expected);
    let score = score_of(&findings, stated, expected);
    let passes = score.is_some_and(|score| score >= expected.threshold);
    if passes || findings.is_empty() || score.is_none() {
        if scores.windows(2).any(|pair| pair[0] != pair[1]) {
            said.problems.push(format!(
                "the reply states two different scores, {} and {}",
                scores[0],
                scores[scores.len() - 1]
            ));
        }
        contradictions(&mut said, &findings, stated, expected);
        quotations(&said, &findings, expected, shown)?;
        if passes && said.problems.is_empty() {
            doubts(&said, &findings, stated, expected)?;
        }
    } else {
        // It fails by what was understood; what was not would only take more off.
        let unknown = std::mem::take(&mut said.problems);
        said.deviations.extend(unknown);
    }
    if said.problems.is_empty() {
        let Said { notes, deviations, .. } = said;
        return Ok((ScoreReply { findings, stated, notes, deviations }, passes));
    }
    let more = said.problems.len().saturating_sub(MOST_PROBLEMS);
    said.problems.truncate(MOST_PROBLEMS);
    if more > 0 {
        said.problems.push(format!("and {more} more problems like these"));
    }
    Err(Unread::new(said.problems.join("\n")))
}

/// What the findings add up to, or the number that is stated where there is no table; none if nothing is said.
fn score_of(findings: &[Finding], stated: Option<Amount>, expected: &Expected<'_>) -> Option<u32> {
    match expected.table {
        Some(table) => {
            let sheet =
                deduction::tally(table, expected.level, &deduction::deductions(findings), None).ok()?;
            Some(sheet.score)
        }
        None => stated.map(|stated| deduction::stated(stated).score),
    }
}

/// A report that only repeats lines of the work is no report.
fn quotations(
    said: &Said,
    findings: &[Finding],
    expected: &Expected<'_>,
    shown: &Shown,
) -> Result<(), Unread> {
    let totals = !said.score_lines.is_empty() && said.score_lines.iter().all(|line| shown.has_line(line));
    let claims = said.claim_lines.iter().all(|line| shown.has_line(line));
    let rests_on_totals = expected.table.is_none() || findings.is_empty() && !said.itemised;
    if said.in_words && claims && totals || totals && rests_on_totals {
        return Err(Unread::new(
            "the score stands word for word in the work: state your own, with what it rests on",
        ));
    }
    Ok(())
}

/// Does the text say what the work is worth, or what is to be deducted?
fn states_a_score(text: &str) -> bool {
    let said = report::read(text, true);
    !(said.scores.is_empty() && said.claims.is_empty())
        || text.contains("\"deductions\"")
        || text.contains("\"score\"")
}

/// The first line of a draft that states a score of itself.
pub fn stated_line(draft: &str) -> Option<String> {
    report::stated_line(draft).map(|line| shorten(line, 200))
}

/// A JSON report with text around it: the text may repeat its score and nothing else.
fn beside(found: &super::json::Found, expected: &Expected<'_>) -> Said {
    let mut said = json::read(&found.object, &found.outer);
    let prose = report::read(&found.around, expected.table.is_some());
    if prose.claims.iter().any(|claim| claim.points.is_some()) {
        if repeats(&prose.claims, &said.claims, expected) || sums_up(&prose.claims, &said) {
            said.deviations.push("its deductions stand beside the report once more".into());
        } else {
            said.against.push((
                "the reply has a JSON report and, beside it, a list of deductions: send one report".into(),
                prose.claim_lines.first().cloned().unwrap_or_default(),
            ));
        }
    }
    if said.scores.is_empty() {
        said.score_lines = prose.score_lines;
    }
    said.scores.extend(prose.scores);
    said.prose.extend(prose.prose);
    said.against.extend(prose.against);
    said.undeducted.extend(prose.undeducted);
    if !found.around.trim().is_empty() {
        said.deviations.push("text around the JSON report".into());
    }
    if found.broken {
        said.against.push(("beside the report stands another one that cannot be read".into(), String::new()));
    }
    // Who ends objects so, too, has the habit.
    if found.slips.contains(&Slip::ListComma) && !found.slips.contains(&Slip::TrailingComma) {
        said.against.push((
            "a list of the report ends with a comma: something may have been lost behind it".into(),
            ",]".into(),
        ));
    }
    said.deviations.extend(found.slips.iter().map(|slip| slip.name().to_owned()));
    said
}

/// Do the deductions beside a report name no row that the report does not?
fn repeats(beside: &[Claim], listed: &[Claim], expected: &Expected<'_>) -> bool {
    let Some(rows) = expected.table.map(Rows::of) else { return false };
    let row = |claim: &Claim| rows.find(claim, expected.level).map(|row| row.id.clone());
    let known: Vec<Option<String>> = listed.iter().map(row).collect();
    beside.iter().filter(|claim| claim.points.is_some()).all(|claim| {
        let named = row(claim);
        named.is_some() && known.contains(&named)
    })
}

/// `The draft loses 10 points`, where the report says 90: the sum in words.
fn sums_up(beside: &[Claim], said: &Said) -> bool {
    let mut points = beside.iter().filter_map(|claim| claim.points);
    match (points.next(), points.next(), said.scores.as_slice()) {
        (Some(points), None, [score]) => *score == Amount::whole(FULL).minus(points.abs()),
        _ => false,
    }
}

/// Every total on its scale.
fn totals(said: &mut Said) -> Vec<Amount> {
    let scores = std::mem::take(&mut said.scores);
    for score in &scores {
        if score.is_negative() || *score > Amount::whole(FULL) {
            said.problems.push(format!("the score {score} is outside 0–{FULL}"));
        }
    }
    scores
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
    let in_breakdown = claims.iter().any(|claim| claim.in_breakdown);
    let mut findings: Vec<(bool, u32, Finding)> = Vec::new();
    for claim in claims {
        let listed = claim.in_breakdown;
        if claim.times == Some(0) {
            said.notes.push(format!("{} (0 times)", claim.label()));
            continue;
        }
        let (Some(table), Some(rows)) = (expected.table, &rows) else {
            let severity = unruled_severity(&claim);
            let times = claim.times.unwrap_or(1);
            findings.push((listed, times, finding(claim, NO_ROW.to_owned(), severity, times, expected)));
            continue;
        };
        let Some(row) = rows.find(&claim, expected.level) else {
            // Beside a list that adds up, a negative number may be anything.
            if !in_breakdown || listed {
                said.problems.push(unknown_row(&claim, table, said.problems.is_empty()));
            }
            continue;
        };
        let times = applied(&claim, row, table.rate(row, expected.level), said);
        let severity = table.severity(row, expected.level);
        findings.push((listed, times, finding(claim, row.id.clone(), severity, times, expected)));
    }
    if in_breakdown {
        united(&findings)
    } else {
        findings.into_iter().map(|(_, _, finding)| finding).collect()
    }
}

/// Reports describe issues with their points and list them again where they add up. Of each row the list counts that takes
/// off more: what is only described is not lost, and what is said twice is not taken off twice.
fn united(findings: &[(bool, u32, Finding)]) -> Vec<Finding> {
    let mut rows: Vec<String> = Vec::new();
    for (_, _, finding) in findings {
        if !rows.contains(&finding.rule) {
            rows.push(finding.rule.clone());
        }
    }
    let times = |rule: &str, listed: bool| -> u32 {
        let of = findings.iter().filter(|(l, _, f)| *l == listed && f.rule == rule);
        of.fold(0, |sum, (_, times, _)| sum.saturating_add(*times))
    };
    let listed: Vec<(String, bool)> = rows
        .into_iter()
        .map(|rule| {
            let counts = times(&rule, true) >= times(&rule, false);
            (rule, counts)
        })
        .collect();
    let counts = |f: &Finding, l: bool| listed.iter().any(|(rule, listed)| *rule == f.rule && *listed == l);
    findings.iter().filter(|(l, _, f)| counts(f, *l)).map(|(_, _, f)| f.clone()).collect()
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
fn applied(claim: &Claim, row: &DeductionRow, rate: Rate, said: &mut Said) -> u32 {
    let times = claim.times.unwrap_or_else(|| match claim.points {
        Some(points) if rate.repeats => points.times_of(rate.each),
        _ => 1,
    });
    let sum = rate.each.times(if rate.repeats { times } else { 1 });
    let sum = rate.max.map_or(sum, |max| sum.min(max));
    if claim.spoken.iter().any(|p| Some(*p) != claim.points && *p != sum && *p != rate.each) {
        let why = "a deduction speaks of points that it does not take off";
        said.against.push((why.to_owned(), shorten(&claim.says, 300)));
    }
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

fn unknown_row(claim: &Claim, table: &DeductionTable, list_ids: bool) -> String {
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
