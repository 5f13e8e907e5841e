//! A critic's reply once it is read: the one typed value that decisions are made from.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::finding::Finding;

/// Of several critics of one round, the greatest counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Approved,
    /// Nothing was found that rejects the work, and too little was seen or said to approve it.
    Unverified,
    Rejected,
}

/// What a verdict is bound to. Evidence from another round or another artifact never counts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Binding {
    pub round: u32,
    /// Digest of the judged manifest.
    pub artifact: Digest,
    pub critic: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lens: Option<String>,
    pub rubric: Digest,
}

/// What went into the critic's brief.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Coverage {
    pub entries: Vec<CoveredFile>,
    /// What is in scope and no critic saw, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Unseen>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CoveredFile {
    pub path: String,
    pub lines: u32,
    /// The first of the lines, where it is not the whole entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unseen {
    /// `data.bin`, or `big.sql, lines 900–2400`.
    pub what: String,
    pub because: String,
}

/// A point the worker has to address, numbered for the whole loop.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReviewItem {
    pub number: u32,
    pub text: String,
    /// The round that first raised it.
    pub since: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Review {
    pub binding: Binding,
    pub verdict: Verdict,
    /// What the worker has to address next, if rejected.
    pub open: Vec<ReviewItem>,
    /// Numbers of earlier items the critic marked addressed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addressed: Vec<u32>,
    /// Why the critic approves, in its own words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The reply in the rule book's own form, where it came in another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<Digest>,
    /// Remarks that do not block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Departures from the reply format that were tolerated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
    pub coverage: Coverage,
    /// The call that produced it: the rendered prompt and the reply, by digest. Where the artifact was
    /// judged in parts, the first of them.
    pub prompt: Digest,
    pub reply: Digest,
    /// The calls of the other parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_calls: Vec<CallEvidence>,
    /// Every finding, the unsupported ones too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Numbers of findings of the round before that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<u32>,
    /// One line per criterion, where the protocol judges by criteria.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<CriterionVerdict>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
}

/// Findings as the points a worker has to address.
pub fn open_items(findings: &[Finding]) -> Vec<ReviewItem> {
    let item = |f: &Finding| ReviewItem { number: f.number, text: f.line(), since: f.since };
    findings.iter().filter(|f| f.is_supported()).map(item).collect()
}

/// The longest reason that is kept, in characters.
const LONGEST_REASON: usize = 600;

/// Why a critic approves, put together from what it said, as one bounded line.
pub fn reason<S: AsRef<str>>(said: impl IntoIterator<Item = S>) -> String {
    let mut line = String::new();
    for part in said {
        let part: String = part.as_ref().chars().take(4 * LONGEST_REASON).collect();
        let part = crate::brief::one_line(&part);
        if part.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push_str("; ");
        }
        line.push_str(&part);
        if let Some((end, _)) = line.char_indices().nth(LONGEST_REASON) {
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}

impl CriterionVerdict {
    /// `SC-1: what the critic says for it`.
    pub fn line(&self) -> String {
        if self.because.trim().is_empty() {
            return format!("{}: {}", self.id, self.verdict);
        }
        format!("{}: {}", self.id, self.because)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallEvidence {
    pub prompt: Digest,
    pub reply: Digest,
}

/// What a critic says about one criterion, after the engine checked it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CriterionVerdict {
    pub id: String,
    pub claim: String,
    /// The protocol's own word: `Satisfied`, `PASS`.
    pub verdict: String,
    /// It does not stand in the way of approval.
    pub clean: bool,
    pub because: String,
}

/// A score the engine computed, with its arithmetic.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Score {
    /// 0 to 100.
    pub value: u32,
    /// Before it was floored at 0.
    pub unfloored: i64,
    pub threshold: u32,
    /// What the critic itself says the score is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<u32>,
    /// False: there was no rubric table, so the stated number counts.
    pub computed: bool,
    /// The sum, line by line, for a person.
    pub arithmetic: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_bounded_line() {
        assert_eq!(reason(["a\n b", " ", "c"]), "a b; c");
        assert_eq!(reason(Vec::<String>::new()), "");
        let long = reason(["é".repeat(10_000), "more".into()]);
        assert_eq!(long.chars().count(), LONGEST_REASON + 1, "and the mark that it is cut");
    }
}
