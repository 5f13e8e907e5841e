//! One round of a run as people look back at it: what was made, what every critic said about it, and what
//! moved since the round before. Numbers and standings are the engine's; nothing is matched here.

use std::collections::HashSet;

use gadfly_engine::finding::{ENGINE, Finding, FindingStatus};
use gadfly_engine::review::{CriterionVerdict, Review, ReviewItem, Unseen, Verdict};
use gadfly_engine::stall::Stall;
use gadfly_engine::tree::Verified;
use gadfly_engine::{Digest, NodePath};
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoundState {
    pub node: NodePath,
    pub round: u32,
    /// The draft's text; of files and folders the manifest.
    pub draft: Option<Digest>,
    pub bytes: u64,
    /// None until a critic's reply was read. With several critics: approved only if all of them approve.
    pub verdict: Option<Verdict>,
    pub overruled: bool,
    /// What is open, of all critics, by number.
    pub open: Vec<ReviewItem>,
    pub addressed: Vec<u32>,
    pub notes: Vec<String>,
    /// Sections that changed although no open item asked for it.
    pub changed_unasked: Vec<String>,
    /// What the rounds up to this one show beside the verdict.
    pub stalls: Vec<Stall>,
    /// What verdicts are bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Digest>,
    /// The user brought the draft.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub given: bool,
    /// Of a folder: its diff against the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<Digest>,
    /// One per critic: findings, score, criteria, coverage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reviews: Vec<Review>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<VerifyState>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RoundRoute>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub escalations: Vec<EscalatedTo>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deferred: Vec<DeferredItem>,
    /// The protocol's own result line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// A verify command and how it ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct VerifyState {
    pub command: String,
    pub green: bool,
    pub verified: Verified,
}

/// Where a round's findings led.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoundRoute {
    pub route: String,
    pub because: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EscalatedTo {
    pub to: String,
    pub because: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeferredItem {
    pub criterion: String,
    pub reason: String,
    pub by: String,
}

/// How many findings of a round are what, against the round before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FindingCounts {
    pub fixed: usize,
    pub recurring: usize,
    pub new: usize,
    pub regressed: usize,
    pub unmatched: usize,
}

impl FindingCounts {
    /// Counts the findings of all critics of a round. A point that two of them share has one number and
    /// counts once.
    pub fn of<'a>(fixed: usize, findings: impl Iterator<Item = &'a Finding>) -> Self {
        let mut moved = Self { fixed, ..Self::default() };
        let mut known = HashSet::new();
        for finding in findings.filter(|f| f.is_supported() && known.insert(f.number)) {
            *match finding.standing {
                FindingStatus::New => &mut moved.new,
                FindingStatus::Recurring => &mut moved.recurring,
                FindingStatus::Regressed => &mut moved.regressed,
                FindingStatus::Unmatched => &mut moved.unmatched,
            } += 1;
        }
        moved
    }
}

/// How a critic's findings stood up to the check of what they cite.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CriticCount {
    pub critic: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lens: Option<String>,
    pub supported: usize,
    pub unsupported: usize,
}

impl CriticCount {
    pub(super) fn add(counts: &mut Vec<Self>, review: &Review) {
        let (critic, lens) = (&review.binding.critic, &review.binding.lens);
        let of_critic = || review.findings.iter().filter(|f| f.by != ENGINE);
        let supported = of_critic().filter(|f| f.is_supported()).count();
        let unsupported = of_critic().count() - supported;
        match counts.iter_mut().find(|c| c.critic == *critic && c.lens == *lens) {
            Some(count) => {
                count.supported += supported;
                count.unsupported += unsupported;
            }
            None => {
                counts.push(Self { critic: critic.clone(), lens: lens.clone(), supported, unsupported });
            }
        }
    }
}

impl RoundState {
    pub(super) fn new(node: NodePath, round: u32) -> Self {
        Self {
            node,
            round,
            draft: None,
            bytes: 0,
            verdict: None,
            overruled: false,
            open: Vec::new(),
            addressed: Vec::new(),
            notes: Vec::new(),
            changed_unasked: Vec::new(),
            stalls: Vec::new(),
            artifact: None,
            given: false,
            diff: None,
            reviews: Vec::new(),
            verify: Vec::new(),
            routes: Vec::new(),
            escalations: Vec::new(),
            deferred: Vec::new(),
            result: None,
        }
    }

    /// Takes a review in. One by the same critic of the same draft takes the place of an earlier one; those
    /// of another draft no longer count.
    pub(super) fn judged(&mut self, review: &Review) {
        let artifact = review.binding.artifact;
        let other =
            |r: &Review| r.binding.critic != review.binding.critic || r.binding.lens != review.binding.lens;
        self.reviews.retain(|r| r.binding.artifact == artifact && other(r));
        self.reviews.push(review.clone());
        self.verdict = self.reviews.iter().map(|r| r.verdict).max();
        let mut known = HashSet::new();
        let open = self.reviews.iter().flat_map(|r| &r.open);
        self.open = open.filter(|item| known.insert((item.number, &item.text))).cloned().collect();
        self.addressed = self.reviews.iter().flat_map(|r| r.addressed.clone()).collect();
        self.addressed.sort_unstable();
        self.addressed.dedup();
        self.notes = self.reviews.iter().flat_map(|r| r.notes.clone()).collect();
    }

    pub fn is_judged(&self) -> bool {
        !self.reviews.is_empty()
    }

    /// Why critics approve: who, and what they say.
    pub fn reasons(&self) -> impl Iterator<Item = (&str, &str)> {
        let approving =
            self.reviews.iter().filter(|r| r.verdict == Verdict::Approved && !r.reason.is_empty());
        approving.map(|r| (r.binding.critic.as_str(), r.reason.as_str()))
    }

    /// Remarks that do not block, without those that a reason says already.
    pub fn other_notes(&self) -> impl Iterator<Item = &str> {
        let said = |note: &&str| !self.reasons().any(|(_, reason)| is_said_in(note, reason));
        self.notes.iter().map(String::as_str).filter(said)
    }

    /// Findings that take part in decisions, of all critics.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.reviews.iter().flat_map(|r| &r.findings).filter(|f| f.is_supported())
    }

    /// Findings whose citations do not hold.
    pub fn unsupported(&self) -> impl Iterator<Item = &Finding> {
        self.reviews.iter().flat_map(|r| &r.findings).filter(|f| !f.is_supported())
    }

    /// Numbers of findings of the round before that are gone, each once.
    pub fn fixed(&self) -> Vec<u32> {
        let mut fixed: Vec<u32> = self.reviews.iter().flat_map(|r| r.fixed.iter().copied()).collect();
        fixed.sort_unstable();
        fixed.dedup();
        fixed
    }

    pub fn moved(&self) -> FindingCounts {
        FindingCounts::of(self.fixed().len(), self.findings())
    }

    pub fn criteria(&self) -> impl Iterator<Item = &CriterionVerdict> {
        self.reviews.iter().flat_map(|r| &r.criteria)
    }

    /// What is in scope and some critic did not see, each once.
    pub fn unseen(&self) -> Vec<&Unseen> {
        let mut known = HashSet::new();
        let all = self.reviews.iter().flat_map(|r| &r.coverage.unseen);
        all.filter(|one| known.insert((&one.what, &one.because))).collect()
    }
}

/// Whether a reason was made of this note, too.
pub fn is_said_in(note: &str, reason: &str) -> bool {
    let words = note.split_whitespace().collect::<Vec<_>>().join(" ");
    !words.is_empty() && reason.contains(&words)
}
