//! Findings have identity across the rounds of one loop: which are new, which were open before, which are
//! fixed, which are back. From this come the signs that a loop makes no headway.
//!
//! A finding is known by its anchors first (`likeness`): rule or criterion, file, section or function, quoted
//! text. Wording only decides where anchors do not, and lines may drift. Where the program is unsure it says
//! so: an *unmatched* finding may be an earlier one, and as long as it may, neither of the two is fixed.

use std::collections::{BTreeMap, BTreeSet};

use crate::corpus::Corpus;
use crate::digest::Digest;
use crate::finding::{Finding, FindingStatus};
use crate::stall::{Headway, Rejected, Stall};

mod duplicates;
mod fingerprint;
mod likeness;
mod traits;
mod words;

pub use fingerprint::{fingerprint, fingerprints};
use likeness::{Likeness, compare};
use traits::{ArtifactView, Past, Traits};

/// So many findings of a round are matched; the rest are numbered as new.
const MATCHED: usize = 1_000;
/// So many earlier points are remembered for matching, the latest first.
const REMEMBERED: usize = 2_000;
/// So many earlier points a finding is weighed against in the end.
const CANDIDATES: usize = 32;

/// What a judged round changed, by number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Moved {
    pub new: Vec<u32>,
    pub recurring: Vec<u32>,
    pub regressed: Vec<u32>,
    /// May be an earlier point or not.
    pub unmatched: Vec<u32>,
    /// Open in the round before, and gone.
    pub fixed: Vec<u32>,
    /// Duplicates taken out of the round's findings; each carries the number of the one that stayed.
    pub merged: Vec<Finding>,
    pub stalls: Vec<Stall>,
}

impl Moved {
    /// What an early stop is called. A loop between the same drafts fixes nothing either: that it goes to and
    /// fro says more.
    pub fn stall(&self) -> Option<Stall> {
        let telling = self.stalls.iter().find(|stall| **stall == Stall::Oscillation);
        telling.or(self.stalls.first()).copied()
    }

    fn by_standing(&mut self, standing: FindingStatus) -> &mut Vec<u32> {
        match standing {
            FindingStatus::New => &mut self.new,
            FindingStatus::Recurring => &mut self.recurring,
            FindingStatus::Regressed => &mut self.regressed,
            FindingStatus::Unmatched => &mut self.unmatched,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PointState {
    Open,
    /// Not seen in the last round, but what was seen may be it.
    Doubtful,
    Fixed,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct TrackedPoint {
    since: u32,
    state: PointState,
    traits: Traits,
    /// Points that may be the same one.
    maybe: BTreeSet<u32>,
}

/// All points of one loop, across its rounds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lineage {
    points: BTreeMap<u32, TrackedPoint>,
    last: u32,
    headway: Headway,
}

/// A finding of this round while it is being matched.
struct Current {
    at: usize,
    traits: Traits,
    past: Past,
    same: Vec<(u32, u32)>,
    maybe: Vec<(u32, u32)>,
    earlier: Option<u32>,
}

impl Current {
    fn new(at: usize, traits: Traits) -> Self {
        Self { at, traits, past: Past::default(), same: Vec::new(), maybe: Vec::new(), earlier: None }
    }
}

impl Lineage {
    /// Takes in the findings of a judged round, after their evidence was checked: merges duplicates, sets
    /// `number`, `standing` and `since`, and says what became of the earlier ones. Unsupported findings stay
    /// in the list and take no part. `now` is the judged artifact, `before` that of the judged round before.
    pub fn take(
        &mut self,
        round: u32,
        artifact: Digest,
        findings: &mut Vec<Finding>,
        now: &Corpus,
        before: Option<&Corpus>,
    ) -> Moved {
        for finding in findings.iter_mut() {
            (finding.number, finding.standing) = (0, FindingStatus::New);
        }
        let mut view = ArtifactView::new(now);
        let merged = duplicates::merge(findings, &mut view);
        let mut current = self.weigh(findings, &mut view, before);
        assign(&mut current);
        let mut moved = self.settle(round, findings, current);
        for one in merged {
            let mut duplicate = one.duplicate;
            if let Some(kept) = findings.get(one.kept) {
                (duplicate.number, duplicate.standing, duplicate.since) =
                    (kept.number, kept.standing, kept.since);
            }
            moved.merged.push(duplicate);
        }
        moved.stalls = self.headway.rejected(Rejected {
            artifact,
            open: self.open(),
            only_new_about_old_text: before.is_some_and(|b| only_new_about_old_text(findings, &mut view, b)),
        });
        moved
    }

    /// Notes the artifact of a round that no critic judged, so that a way back to an earlier one is seen.
    pub fn pass_by(&mut self, artifact: Digest) {
        self.headway.pass_by(artifact);
    }

    /// Numbers of the points that are open, those in doubt among them.
    pub fn open(&self) -> Vec<u32> {
        self.points.iter().filter(|(_, p)| p.state != PointState::Fixed).map(|(number, _)| *number).collect()
    }

    /// Compares every finding of the round with the earlier points.
    fn weigh(
        &self,
        findings: &[Finding],
        view: &mut ArtifactView<'_>,
        before: Option<&Corpus>,
    ) -> Vec<Current> {
        let supported = findings.iter().enumerate().filter(|(_, finding)| finding.is_supported());
        let mut current: Vec<Current> =
            supported.take(MATCHED).map(|(at, finding)| Current::new(at, view.traits(finding))).collect();
        if let Some(before) = before {
            let mut before = ArtifactView::new(before);
            for one in &mut current {
                one.past = view.past(&one.traits, &mut before);
            }
        }
        let (open, fixed): (Vec<_>, Vec<_>) =
            self.points.iter().rev().partition(|(_, point)| point.state != PointState::Fixed);
        for (number, point) in open.into_iter().chain(fixed).take(REMEMBERED) {
            let gone = view.gone(&point.traits, before);
            // Between equals, what was open just now is meant.
            let nearer = if point.state == PointState::Fixed { 0 } else { 60 };
            for one in &mut current {
                match compare(&point.traits, &one.traits, gone, one.past) {
                    Likeness::Different => {}
                    Likeness::Same(score) => keep_best(&mut one.same, score + nearer, *number),
                    Likeness::Maybe(score) => keep_best(&mut one.maybe, score + nearer, *number),
                }
            }
        }
        current
    }

    /// Numbers the findings and moves every point to where this round leaves it.
    fn settle(&mut self, round: u32, findings: &mut [Finding], current: Vec<Current>) -> Moved {
        let mut moved = Moved::default();
        let taken: BTreeSet<u32> = current.iter().filter_map(|one| one.earlier).collect();
        let mut seen: BTreeSet<u32> = taken.clone();
        for one in current {
            let Some(finding) = findings.get_mut(one.at) else { continue };
            if let Some((number, point)) = one.earlier.and_then(|n| Some((n, self.points.get_mut(&n)?))) {
                let back = point.state == PointState::Fixed;
                (finding.number, finding.since) = (number, point.since);
                finding.standing = if back { FindingStatus::Regressed } else { FindingStatus::Recurring };
                (point.state, point.traits) = (PointState::Open, one.traits);
                continue;
            }
            let number = self.next();
            let maybe: BTreeSet<u32> =
                one.maybe.iter().map(|(_, earlier)| *earlier).filter(|n| !taken.contains(n)).collect();
            (finding.number, finding.since) = (number, round);
            finding.standing = if maybe.is_empty() { FindingStatus::New } else { FindingStatus::Unmatched };
            for earlier in &maybe {
                if let Some(point) = self.points.get_mut(earlier) {
                    point.maybe.insert(number);
                }
            }
            self.points.insert(
                number,
                TrackedPoint { since: round, state: PointState::Open, traits: one.traits, maybe },
            );
            seen.insert(number);
        }
        for finding in findings.iter_mut().filter(|f| f.is_supported() && f.number == 0) {
            (finding.number, finding.since) = (self.next(), round);
        }
        for finding in findings.iter().filter(|finding| finding.is_supported()) {
            moved.by_standing(finding.standing).push(finding.number);
        }
        self.part_points_seen_together(&seen);
        for (number, point) in &mut self.points {
            if seen.contains(number) || point.state == PointState::Fixed {
                continue;
            }
            if point.maybe.is_disjoint(&seen) {
                point.state = PointState::Fixed;
                moved.fixed.push(*number);
            } else {
                point.state = PointState::Doubtful;
            }
        }
        moved
    }

    /// Two points that stand in one review are two.
    fn part_points_seen_together(&mut self, seen: &BTreeSet<u32>) {
        for number in seen {
            if let Some(point) = self.points.get_mut(number) {
                point.maybe.retain(|other| !seen.contains(other));
            }
        }
    }

    fn next(&mut self) -> u32 {
        self.last = self.last.saturating_add(1);
        self.last
    }
}

fn keep_best(best: &mut Vec<(u32, u32)>, score: u32, number: u32) {
    best.push((score, number));
    if best.len() > 2 * CANDIDATES {
        best.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        best.truncate(CANDIDATES);
    }
}

/// Gives each finding at most one earlier point and each point at most one finding, the best pairs first.
fn assign(current: &mut [Current]) {
    let mut pairs: Vec<(u32, u32, usize)> = Vec::new();
    for (at, one) in current.iter().enumerate() {
        pairs.extend(one.same.iter().map(|(score, number)| (*score, *number, at)));
    }
    pairs.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut taken = BTreeSet::new();
    for (_, number, at) in pairs {
        if let Some(one) = current.get_mut(at)
            && one.earlier.is_none()
            && taken.insert(number)
        {
            one.earlier = Some(number);
        }
    }
}

/// Is every finding new, and about text that the artifact before had, too? One that cites neither a quote nor a
/// line of a changed file is unsure, which is not churn.
fn only_new_about_old_text(findings: &[Finding], now: &mut ArtifactView<'_>, before: &Corpus) -> bool {
    let mut old = ArtifactView::new(before);
    let mut supported = findings.iter().filter(|finding| finding.is_supported()).peekable();
    supported.peek().is_some()
        && supported.all(|f| f.standing == FindingStatus::New && is_about_old_text(f, now, &mut old))
}

fn is_about_old_text(finding: &Finding, now: &mut ArtifactView<'_>, old: &mut ArtifactView<'_>) -> bool {
    let traits = now.traits(finding);
    let path = traits.path.as_deref();
    if let Some(path) = path
        && let Some(text) = now.corpus.text(path)
        && old.corpus.text(path) == Some(text)
    {
        return true;
    }
    if finding.absent {
        return false;
    }
    if !traits.quote.is_empty() {
        let there = path.filter(|path| old.corpus.has(path));
        return old.holds(there, &traits.quote) == Some(true);
    }
    let (Some(path), Some(line)) = (path, traits.line) else { return false };
    let around =
        now.folded(path).map(|text| text.between(line.saturating_sub(1).max(1), line.saturating_add(1)));
    let around = around.unwrap_or_default().to_owned();
    !around.is_empty() && old.holds(Some(path), &around) == Some(true)
}

#[cfg(test)]
mod tests;
