//! A critic's pass over named criteria: an answer and a verdict for each, failure scenarios, perhaps a result line. In words
//! or as JSON. Every breach is named at once; those that only weaken a pass do not stand in the way of a rejection. What the
//! reply *means* for the loop is decided in `protocol/converge`.

use serde::{Deserialize, Serialize};

use super::doubt::{Rule, Section};
use super::lines::{self, Kind};
use super::quoted::Shown;
use super::wire::Rewritten;
use super::{LONGEST_REPLY, Unread, clean, doubt, wire};
use crate::finding::{Finding, Severity};
use crate::protocol::converge::escalation::Escalation;
use crate::protocol::converge::sets::{ADVERSARIAL, ConvergeCriterion};

mod breach;
mod citation;
mod entries;
mod gather;
mod json;
mod line;
mod phrases;
mod words;

pub use breach::{Breach, problem};
pub use json::SCHEMA;

/// The longest text that is kept of an answer, in characters.
const LONGEST: usize = 4_000;

/// What a critic says about one criterion.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No defect, with a quantity to show for it.
    Pass,
    /// A defect the worker can fix.
    Fail { fix: String },
    /// A person has to decide.
    Escalate(Box<Escalation>),
    /// Cannot be settled here; the criterion counts as clean.
    Defer { reason: String },
}

impl Verdict {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail { .. } => "FAIL",
            Self::Escalate(_) => "ESCALATE",
            Self::Defer { .. } => "DEFER",
        }
    }

    /// PASS or DEFER.
    pub const fn is_clean(&self) -> bool {
        matches!(self, Self::Pass | Self::Defer { .. })
    }
}

/// One criterion's answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Judged {
    /// The criterion's name as the plan writes it.
    pub criterion: String,
    pub rationale: String,
    pub verdict: Verdict,
}

/// The one way in which the artifact might fail.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Scenario {
    pub says: String,
    /// A realistic scenario is a FAIL, and this is its fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// Why it is unrealistic, with a quantity; empty if it is realistic.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rationale: String,
    /// Further realistic ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Self>,
}

impl Scenario {
    /// This one and the others.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.others)
    }

    /// The realistic ones of several, as the first with the others.
    fn first_of(real: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut each = real.into_iter().flat_map(|mut one| {
            let others = std::mem::take(&mut one.others);
            std::iter::once(one).chain(others)
        });
        let first = each.next()?;
        Some(Self { others: each.collect(), ..first })
    }

    pub const fn is_realistic(&self) -> bool {
        self.fix.is_some()
    }
}

/// The result the critic wrote. It is compared with the computed one and decides nothing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Claim {
    pub result: Claimed,
    /// The line's text.
    pub text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claimed {
    Converged,
    Continue,
    Escalate,
    SafetyCap,
    /// None of the four words.
    Other,
}

impl Claim {
    /// Something is left to do, by the critic's own word. `CONTINUE (1 fixed)` is the line that the rule book prints as its
    /// example, which critics copy; it says nothing.
    fn goes_on(&self) -> bool {
        match self.result {
            Claimed::Escalate | Claimed::SafetyCap => true,
            Claimed::Continue => {
                !self.text.trim_end_matches(['=', '*', ' ']).eq_ignore_ascii_case("CONTINUE (1 fixed)")
            }
            Claimed::Converged => false,
            // `NOT CONVERGED (2 issues remain)`
            Claimed::Other => {
                let first = self.text.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty());
                first.is_some_and(|first| {
                    super::forms::is_one_of(
                        first,
                        &["not", "no", "un", "fail", "failed", "open", "incomplete", "pending"],
                    )
                })
            }
        }
    }

    fn read(text: &str) -> Self {
        let plain = text.trim_start_matches(['*', '_', '`', '{', ' ']);
        let begins = |word: &str| plain.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
        let words = [
            ("CONVERGED", Claimed::Converged),
            ("CONTINUE", Claimed::Continue),
            ("ESCALATE", Claimed::Escalate),
            ("SAFETY CAP", Claimed::SafetyCap),
        ];
        let result = words.iter().find(|(word, _)| begins(word)).map_or(Claimed::Other, |(_, c)| *c);
        Self { result, text: text.trim().to_owned() }
    }
}

/// A reply that keeps the grammar.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PassReply {
    /// One per criterion, in the plan's order.
    pub answers: Vec<Judged>,
    pub scenario: Scenario,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<Claim>,
    /// Departures from the form that were tolerated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
}

impl PassReply {
    /// Every criterion PASS or DEFER, and the scenario unrealistic.
    pub fn is_clean(&self) -> bool {
        self.answers.iter().all(|a| a.verdict.is_clean()) && !self.scenario.is_realistic()
    }

    /// Every criterion PASS, and the scenario unrealistic.
    pub fn all_pass(&self) -> bool {
        self.answers.iter().all(|a| a.verdict == Verdict::Pass) && !self.scenario.is_realistic()
    }

    pub fn escalations(&self) -> Vec<Escalation> {
        let asked = |a: &Judged| match &a.verdict {
            Verdict::Escalate(escalation) => Some(Escalation::clone(escalation)),
            _ => None,
        };
        self.answers.iter().filter_map(asked).collect()
    }

    /// FAIL, ESCALATE and DEFER items and a realistic scenario, with what they cite. Rationales of a PASS
    /// and of an unrealistic scenario are none.
    pub fn findings(&self, by: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        for Judged { criterion, rationale, verdict } in &self.answers {
            let (says, cited, fix) = match verdict {
                Verdict::Pass => continue,
                Verdict::Fail { fix } if rationale.is_empty() => (fix.clone(), String::new(), fix.as_str()),
                Verdict::Fail { fix } => (rationale.clone(), rationale.clone(), fix.as_str()),
                Verdict::Escalate(e) => (e.issue.clone(), format!("{rationale}\n{}", e.issue), ""),
                Verdict::Defer { reason } => (reason.clone(), format!("{rationale}\n{reason}"), ""),
            };
            // A deferred criterion is clean: what is put off is no error of the work.
            let severity = if verdict.is_clean() { Severity::Risk } else { Severity::Fail };
            let mut finding = Finding::new(criterion.as_str(), severity, says, by);
            finding.criterion = Some(criterion.clone());
            fix.clone_into(&mut finding.fix);
            let mut finding = with_verdict(finding, verdict.name());
            citation::attach(&mut finding, &cited);
            findings.push(finding);
        }
        for (scenario, fix) in self.scenario.all().filter_map(|one| one.fix.as_ref().map(|fix| (one, fix))) {
            let mut finding = Finding::new(ADVERSARIAL, Severity::Fail, scenario.says.as_str(), by);
            finding.fix.clone_from(fix);
            let mut finding = with_verdict(finding, "FAIL");
            citation::attach(&mut finding, &scenario.says);
            findings.push(finding);
        }
        findings
    }
}

impl PassReply {
    /// What a PASS and an unrealistic scenario cite for the work, to be checked like findings.
    pub fn claims(&self, by: &str) -> Vec<Finding> {
        let passes = self.answers.iter().filter(|a| a.verdict == Verdict::Pass);
        let passes = passes.map(|a| (a.criterion.as_str(), a.rationale.as_str()));
        passes
            .chain([(ADVERSARIAL, self.scenario.rationale.as_str())])
            .flat_map(|(name, text)| citation::claims(&Finding::new(name, Severity::Nit, text, by), text))
            .collect()
    }
}

/// Under which a finding keeps the word it came from.
const VERDICT: &str = "verdict";

/// The verdict a finding came from: `FAIL`, `ESCALATE` or `DEFER`.
pub fn verdict_of(finding: &Finding) -> Option<&str> {
    finding.raw.as_ref()?.get(VERDICT)?.as_str()
}

pub(crate) fn with_verdict(mut finding: Finding, word: &str) -> Finding {
    finding.raw = Some(serde_json::json!({ VERDICT: word }));
    finding
}

/// Reads the reply to a brief that showed these texts.
pub fn read(
    reply: &str,
    criteria: &[ConvergeCriterion],
    pass: u32,
    shown: &Shown,
) -> Result<PassReply, Unread> {
    if reply.len() > LONGEST_REPLY {
        return Err(Unread::new("the reply is far too long: send only the review"));
    }
    let text = clean::reply(reply);
    let own = shown.without_quotations(&text);
    let read = Rewritten::or(
        wire::as_json(&own),
        |json| read_own(json, criteria, pass, shown),
        PassReply::is_clean,
        || read_own(&own, criteria, pass, shown),
    );
    if read.is_err() && own.len() != text.len() {
        // What is quoted cannot pass anything; a defect that is named stands.
        let whole = read_own(&text, criteria, pass, shown).ok().filter(|whole| !whole.is_clean());
        return whole.map_or(read, Ok);
    }
    read
}

fn read_own(
    text: &str,
    criteria: &[ConvergeCriterion],
    pass: u32,
    shown: &Shown,
) -> Result<PassReply, Unread> {
    let states = |text: &str| text.lines().any(line::is_verdict) || text.contains("\"verdict\"");
    let text = super::said(text, states);
    let refused = |breaches: Vec<Breach>| Unread::new(problem(&breaches));
    if text.trim().is_empty() {
        return Err(refused(vec![Breach::Empty]));
    }
    let gathered = match json::find(&text, criteria, shown)? {
        Some(gathered) => gathered,
        None => gather::gather(&text, criteria),
    };
    let reply = if gathered.entries.is_empty() {
        Err(vec![Breach::NoReview])
    } else {
        entries::judge(&gathered, criteria, pass)
    };
    // Where no line gives a verdict, the sentences may.
    let reply = match reply {
        Err(breaches) if breaches.iter().all(Breach::is_unsaid) => {
            words::rejection(&text, criteria).ok_or_else(|| refused(breaches))?
        }
        reply => reply.map_err(refused)?,
    };
    if reply.is_clean() {
        doubts(&reply, &gathered, criteria)?;
    }
    Ok(reply)
}

/// What speaks against a reply in which nothing fails.
fn doubts(
    reply: &PassReply,
    gathered: &gather::Gathered,
    criteria: &[ConvergeCriterion],
) -> Result<(), Unread> {
    if !reply.answers.iter().any(|answer| answer.verdict == Verdict::Pass) {
        let names: Vec<&str> = criteria.iter().map(|c| c.name.as_str()).collect();
        return Err(Unread::new(format!(
            "it defers everything and passes nothing ({}): judge at least one criterion",
            names.join(", ")
        )));
    }
    if let Some(claim) = reply.claimed.as_ref().filter(|claim| claim.goes_on()) {
        return Err(Unread::torn(
            "every criterion passes, and yet the result is another",
            "Verdict: PASS",
            &claim.text,
        ));
    }
    let not_pass = |word: &&String| !phrases::word(word).is_some_and(|(word, _)| word == phrases::Word::Pass);
    if let Some(overall) = gathered.overall.iter().find(not_pass) {
        return Err(Unread::torn(
            "every criterion passes, and yet the whole does not",
            "Verdict: PASS",
            overall,
        ));
    }
    let mut section = Section::None;
    for line in gathered.beside.iter().filter(|line| !line.trim().is_empty()) {
        let read = lines::read(line);
        let asks = match read.first().map(|line| &line.kind) {
            Some(Kind::Heading(heading)) => {
                section = doubt::section(heading);
                None
            }
            Some(Kind::Item(item)) if matches!(section, Section::Demands | Section::Unresolved) => {
                (!doubt::says_nothing(item.text)).then_some(Rule::Demand)
            }
            Some(Kind::Item(item)) if section != Section::Optional => {
                (doubt::item(item.tick, item.text) == doubt::Weight::Against).then_some(Rule::Demand)
            }
            _ => None,
        };
        let found = asks.map(|rule| (rule, line.clone())).or_else(|| {
            let found = doubt::against(line, doubt::Scope::Prose);
            found.filter(|(rule, _)| {
                !(is_preface(line) && matches!(rule, Rule::Demand | Rule::Denial | Rule::Shortfall))
            })
        });
        if let Some((rule, passage)) =
            found.filter(|_| section != Section::Optional || doubt::is_pressing(line))
        {
            return Err(Unread::torn(rule.sentence(), "Verdict: PASS", &passage));
        }
    }
    if let Some(passage) = &gathered.contradicted {
        return Err(Unread::torn(
            "every criterion passes, and another field says otherwise",
            "Verdict: PASS",
            passage,
        ));
    }
    Ok(())
}

/// What a critic says it is going to do.
fn is_preface(line: &str) -> bool {
    let lower = line.to_lowercase();
    ["i will ", "i'll ", "i’ll ", "let me ", "here is ", "here are ", "okay", "ok,", "sure"]
        .iter()
        .any(|head| lower.starts_with(head))
}

/// The rule book's own form, for people: what is read from whatever form the critic used.
pub fn rendered(reply: &PassReply, criteria: &[ConvergeCriterion], pass: u32) -> String {
    use std::fmt::Write as _;
    let mut out = format!("=== CRITIC {pass} ===\n");
    for answer in &reply.answers {
        let question =
            criteria.iter().find(|c| c.name == answer.criterion).map_or("", |c| c.question.as_str());
        let _ = writeln!(out, "[{}] {question} → {}", answer.criterion, answer.rationale);
        let verdict = match &answer.verdict {
            Verdict::Fail { fix } => format!("FAIL ({fix})"),
            Verdict::Defer { reason } => format!("DEFER ({reason})"),
            other => other.name().to_owned(),
        };
        let _ = writeln!(out, "  Verdict: {verdict}");
    }
    for Scenario { says, fix, rationale, .. } in reply.scenario.all() {
        let weighed =
            fix.as_ref().map_or_else(|| format!("N → {rationale}"), |fix| format!("Y → FAIL + {fix}"));
        let _ = writeln!(out, "[ADVERSARIAL] Failure scenario: {says}\n  → Realistic? {weighed}");
    }
    let escalations = reply.escalations();
    if !escalations.is_empty() {
        out.push_str(&crate::protocol::converge::escalation::question(&escalations));
    }
    out
}

/// The first line of a draft that states a verdict or a result about itself.
pub fn verdict_line(text: &str) -> Option<String> {
    text.lines().find(|line| line::is_verdict(line)).map(|line| line.trim().chars().take(200).collect())
}

#[cfg(test)]
mod tests;
