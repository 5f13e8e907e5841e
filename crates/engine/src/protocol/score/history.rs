//! What was held against the work, round by round: for the one who has to decide, and for a worker that
//! starts afresh. Critics never see it.

use std::collections::BTreeMap;

use crate::finding::{Finding, FindingStatus};

/// So many points are listed for anybody.
const MOST_LISTED: usize = 200;
/// So many points a question lists: a person has to read them.
const MOST_ASKED: usize = 8;

#[derive(Clone, Debug, Default)]
pub(super) struct History {
    points: BTreeMap<u32, RaisedPoint>,
    rounds: Vec<Round>,
}

#[derive(Clone, Debug)]
struct RaisedPoint {
    line: String,
    lens: Option<String>,
    /// The rounds that raised it.
    raised: Vec<u32>,
    /// It was fixed once and came back.
    returned: bool,
}

#[derive(Clone, Debug)]
struct Round {
    number: u32,
    /// One per critic, the primary first.
    scores: Vec<u32>,
}

impl History {
    pub(super) fn note(&mut self, round: u32, scores: Vec<u32>, findings: &[Finding]) {
        self.rounds.push(Round { number: round, scores });
        for finding in findings.iter().filter(|f| f.is_supported()) {
            let point = self.points.entry(finding.number).or_insert_with(|| RaisedPoint {
                line: String::new(),
                lens: finding.lens.clone(),
                raised: Vec::new(),
                returned: false,
            });
            point.line = finding.line();
            point.returned |= finding.standing == FindingStatus::Regressed;
            if point.raised.last() != Some(&round) {
                point.raised.push(round);
            }
        }
    }

    /// The critic who first raised these points, by lens, has them alone: each is told of once.
    pub(super) fn raised_through(&self, lens: Option<&str>, numbers: &[u32]) -> Vec<u32> {
        let by = |n: &&u32| self.points.get(n).is_some_and(|point| point.lens.as_deref() == lens);
        numbers.iter().filter(by).copied().collect()
    }

    /// `62, 71, 74`, or `62 and 85, 71 and 90` for two critics.
    pub(super) fn scores(&self) -> String {
        let one = |round: &Round| {
            let scores: Vec<String> = round.scores.iter().map(u32::to_string).collect();
            scores.join(" and ")
        };
        self.rounds.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// The scores of the last round.
    pub(super) fn last_scores(&self) -> String {
        let scores = self.rounds.last().map(|r| r.scores.as_slice()).unwrap_or_default();
        scores.iter().map(u32::to_string).collect::<Vec<_>>().join(" and ")
    }

    /// Every point of every round, with the rounds that raised it.
    pub(super) fn everything(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.points.values().take(MOST_LISTED).map(RaisedPoint::shown).collect();
        if self.points.len() > MOST_LISTED {
            lines.push(format!("and {} more", self.points.len() - MOST_LISTED));
        }
        lines
    }

    /// Points that were raised in more than one round, the most often raised first.
    pub(super) fn recurring(&self) -> Vec<String> {
        let mut points: Vec<&RaisedPoint> =
            self.points.values().filter(|p| p.returned || p.raised.len() > 1).collect();
        points.sort_by_key(|point| std::cmp::Reverse(point.raised.len()));
        points.into_iter().take(MOST_ASKED).map(RaisedPoint::shown).collect()
    }

    /// What the disagreement is about, in a few lines for a person: points that came back after they were
    /// mended, points that outlived a revision, else what is open.
    pub(super) fn dispute(&self) -> Vec<String> {
        let last = self.rounds.last().map_or(0, |r| r.number);
        let open = |p: &&RaisedPoint| p.raised.last() == Some(&last);
        let returned: Vec<&RaisedPoint> = self.points.values().filter(open).filter(|p| p.returned).collect();
        let lasting: Vec<&RaisedPoint> =
            self.points.values().filter(open).filter(|p| !p.returned && p.raised.len() > 1).collect();
        let mut lines = Vec::new();
        if !returned.is_empty() {
            lines.push(
                "These points were mended and came back, so mending one of them seems to break another:"
                    .to_owned(),
            );
            lines.extend(listed(&returned));
        }
        if !lasting.is_empty() {
            lines.push("These points were sent to the worker and raised again:".to_owned());
            lines.extend(listed(&lasting));
        }
        if lines.is_empty() {
            let all: Vec<&RaisedPoint> = self.points.values().filter(open).collect();
            lines.push("These points are open:".to_owned());
            lines.extend(listed(&all));
        }
        lines
    }
}

fn listed(points: &[&RaisedPoint]) -> Vec<String> {
    let mut lines: Vec<String> = points.iter().take(MOST_ASKED).map(|p| format!("- {}", p.shown())).collect();
    if points.len() > MOST_ASKED {
        lines.push(format!("- and {} more", points.len() - MOST_ASKED));
    }
    lines
}

impl RaisedPoint {
    fn shown(&self) -> String {
        let rounds: Vec<String> = self.raised.iter().map(u32::to_string).collect();
        let word = if rounds.len() == 1 { "round" } else { "rounds" };
        let lens = self.lens.as_ref().map_or(String::new(), |lens| format!(", {lens}"));
        format!("({word} {}{lens}) {}", rounds.join(", "), self.line)
    }
}
