//! What every report is made from: how a run ended, what its last judgement holds against the work, what is
//! gone since, what nobody saw. Drawn from the run's state; nothing is judged here.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use gadfly_engine::finding::{FindingStatus, Severity};
use gadfly_engine::review::{Review, Verdict};
use gadfly_engine::{Finding, Outcome, identity};
use gadfly_journal::RunView;
use gadfly_journal::view::{RoundState, VerifyState};

use crate::exit::{self, Code};
use crate::output::goal;

/// The name of a text draft's only entry.
const DRAFT: &str = "draft";
/// How much of a finding, and how many files, are looked through for a file's name.
const SPOKEN: usize = 500;
const MOST_SEEN: usize = 2_000;

pub struct ReportFacts<'a> {
    pub state: &'a RunView,
    /// `approved`, `halted(cap)`, `interrupted` …
    pub label: String,
    pub exit: Code,
    /// The round that was judged last.
    pub round: Option<&'a RoundState>,
    /// What is held against the work now, the worst first.
    pub findings: Vec<NotedFinding>,
    /// What earlier rounds held against it and the last one no longer does.
    pub fixed: Vec<NotedFinding>,
    /// What the last judgement cites wrongly; it decides nothing.
    pub unsupported: Vec<Finding>,
    /// What is in scope and nobody saw: what, and why.
    pub unseen: Vec<(String, String)>,
    /// The file a text draft is saved to.
    path: Option<String>,
}

/// A finding with the name that stays the same when lines move.
pub struct NotedFinding {
    pub finding: Finding,
    pub fingerprint: String,
    /// It stands in the way of approval.
    pub blocks: bool,
}

impl<'a> ReportFacts<'a> {
    pub fn of(state: &'a RunView, root: &Path) -> Self {
        let outcome = state.outcome.as_ref();
        if let Some(view) = &state.pipeline {
            return Self::of_pairs(state, super::pipeline::judged(&state.rounds, view));
        }
        let round = state.last_judged();
        let path = state.summary.out.as_deref().map(|out| relative(out, root));
        let mut findings = round.map(standing).unwrap_or_default();
        findings.sort_by_key(|f| (Reverse(f.severity), f.number));
        let blocking: HashSet<u32> = round.iter().flat_map(|r| &r.open).map(|item| item.number).collect();
        Self {
            state,
            label: outcome.map_or_else(|| state.summary.state.clone(), Outcome::label),
            exit: outcome.map_or(exit::INTERRUPTED, exit::of_outcome),
            findings: noted(findings, |f| blocking.contains(&f.number)),
            fixed: noted(fixed(state, round), |_| false),
            unsupported: round.iter().flat_map(|r| r.unsupported()).cloned().collect(),
            unseen: unseen(outcome, round),
            round,
            path,
        }
    }

    /// A pipeline has no last judgement: it has one of every agent.
    fn of_pairs(state: &'a RunView, judged: Vec<(&'a RoundState, bool)>) -> Self {
        let outcome = state.outcome.as_ref();
        let mut facts = Self {
            state,
            label: outcome.map_or_else(|| state.summary.state.clone(), Outcome::label),
            exit: outcome.map_or(exit::INTERRUPTED, exit::of_outcome),
            round: None,
            findings: Vec::new(),
            fixed: Vec::new(),
            unsupported: Vec::new(),
            unseen: Vec::new(),
            path: None,
        };
        for (round, blocks) in judged {
            facts.findings.extend(noted(standing(round), |_| blocks));
            facts.fixed.extend(noted(fixed(state, Some(round)), |_| false));
            facts.unsupported.extend(round.unsupported().cloned());
            facts.unseen.extend(unseen(None, Some(round)));
        }
        facts.findings.sort_by_key(|noted| (Reverse(noted.finding.severity), noted.finding.number));
        facts
    }

    /// Whether critics have decided: only then is silence about something a judgement.
    pub fn is_decided(&self) -> bool {
        matches!(
            self.state.outcome,
            Some(Outcome::Approved { .. } | Outcome::Rejected { .. } | Outcome::Halted { .. })
        )
    }

    pub fn is_approved(&self) -> bool {
        matches!(self.state.outcome, Some(Outcome::Approved { .. }))
    }

    /// Why there is no decision, or nothing.
    pub fn because(&self) -> Option<String> {
        match self.state.outcome.as_ref() {
            None => Some("the run was interrupted before critics decided".to_owned()),
            Some(Outcome::Unverified { reason, .. }) => Some(reason.clone()),
            Some(Outcome::OutOfBudget { shortage }) => Some(shortage.to_string()),
            Some(Outcome::Failed { failure }) => Some(failure.to_string()),
            Some(Outcome::Aborted) => Some(match self.state.goal.as_ref().and_then(goal::gave_up) {
                Some((reason, _)) => format!("the worker gave up: {reason}"),
                None => "the run was cancelled".to_owned(),
            }),
            Some(Outcome::Waiting(waiting)) => Some(format!("the run waits: {waiting}")),
            Some(Outcome::Approved { .. } | Outcome::Halted { .. } | Outcome::Rejected { .. }) => None,
        }
    }

    /// Said where the last work was never judged: findings are then of an earlier round.
    pub fn stale(&self) -> Option<String> {
        let (judged, last) = (self.round?, self.state.rounds.last()?);
        let other = !std::ptr::eq(judged, last) && last.node == judged.node;
        other
            .then(|| format!("no critic judged round {}; findings are of round {}", last.round, judged.round))
    }

    /// The reviews of the last judgement, one per critic.
    pub fn reviews(&self) -> &'a [Review] {
        self.round.map_or(&[], |round| &round.reviews)
    }

    /// Why critics approve: who, and what they say.
    pub fn reasons(&self) -> Vec<(&'a str, &'a str)> {
        self.round.map(|round| round.reasons().collect()).unwrap_or_default()
    }

    /// Verify commands of the last round, judged or not.
    pub fn verify(&self) -> &'a [VerifyState] {
        let ran = self.state.rounds.iter().rfind(|round| !round.verify.is_empty());
        ran.map_or(&self.state.tried, |round| &round.verify)
    }

    pub fn model(&self, agent: &str) -> Option<&'a str> {
        self.state.models.get(agent).map(String::as_str)
    }

    /// The path a reader knows: a text draft has none of its own.
    pub fn path_of(&self, finding: &Finding) -> Option<String> {
        let path = finding.place.as_ref().map(|place| place.path.as_str());
        match path {
            Some(DRAFT) | None => self.path.clone(),
            Some(path) => Some(path.to_owned()),
        }
    }

    /// `src/a.rs:12-14`, as a reader knows it.
    pub fn shown_place(&self, finding: &Finding) -> Option<String> {
        let path = match &finding.place {
            Some(place) if place.path == DRAFT => self.path.clone().unwrap_or_else(|| DRAFT.to_owned()),
            Some(place) => place.path.clone(),
            None => return None,
        };
        let lines = finding.place.as_ref().and_then(lines);
        Some(match lines {
            Some((line, end)) if end > line => format!("{path}:{line}-{end}"),
            Some((line, _)) => format!("{path}:{line}"),
            None => path,
        })
    }

    /// The file that a finding without a place speaks of, among those a critic saw.
    pub fn spoken_of(&self, finding: &Finding) -> Option<String> {
        let says: String = finding.says.chars().take(SPOKEN).collect();
        let seen = self.reviews().iter().flat_map(|r| &r.coverage.entries).take(MOST_SEEN);
        let named = seen.filter(|e| e.path != DRAFT && !e.path.is_empty());
        let first = named.filter_map(|e| Some((says.find(&e.path)?, Reverse(e.path.len()), &e.path))).min();
        first.map(|(.., path)| path.clone())
    }

    /// The file to name for what has no place: the draft's, or the first one a critic saw.
    pub fn some_path(&self) -> Option<String> {
        let seen = || {
            let mut entries = self.reviews().iter().flat_map(|r| &r.coverage.entries);
            entries.find(|e| e.path != DRAFT).map(|e| e.path.clone())
        };
        self.path.clone().or_else(seen)
    }
}

/// First and last line, if the place names lines that can exist.
pub fn lines(place: &gadfly_engine::Location) -> Option<(u32, u32)> {
    let line = place.line.filter(|line| *line > 0)?;
    Some((line, place.end.unwrap_or(line).max(line)))
}

fn relative(path: &str, root: &Path) -> String {
    let inner = Path::new(path).strip_prefix(root).ok().filter(|rest| !rest.as_os_str().is_empty());
    inner.map_or_else(|| path.to_owned(), |rest| rest.to_string_lossy().into_owned())
}

/// The findings a judgement stands on. `revise` has bullets instead: each is one.
fn standing(round: &RoundState) -> Vec<Finding> {
    let found: Vec<Finding> = round.findings().cloned().collect();
    if !found.is_empty() || round.verdict != Some(Verdict::Rejected) || round.overruled {
        return found;
    }
    let mut found = Vec::new();
    for review in &round.reviews {
        for item in &review.open {
            let mut finding =
                Finding::new("critic-feedback", Severity::Fail, item.text.clone(), &review.binding.critic);
            finding.number = item.number;
            finding.since = item.since;
            finding.standing =
                if item.since < round.round { FindingStatus::Recurring } else { FindingStatus::New };
            finding.lens.clone_from(&review.binding.lens);
            found.push(finding);
        }
    }
    found
}

/// Everything that was ever raised, as it was last seen, and is not open in the last judgement.
fn fixed(state: &RunView, last: Option<&RoundState>) -> Vec<Finding> {
    let Some(last) = last else { return Vec::new() };
    let open: HashSet<u32> = standing(last).iter().map(|f| f.number).collect();
    let mut gone: BTreeMap<u32, Finding> = BTreeMap::new();
    let rounds = state.rounds.iter().filter(|r| r.node == last.node && !std::ptr::eq(*r, last));
    for finding in rounds.flat_map(standing) {
        if finding.number > 0 && !open.contains(&finding.number) {
            gone.insert(finding.number, finding);
        }
    }
    gone.into_values().collect()
}

fn noted(findings: Vec<Finding>, blocks: impl Fn(&Finding) -> bool) -> Vec<NotedFinding> {
    let names = identity::fingerprints(&findings);
    let note = |(finding, fingerprint)| {
        let blocks = blocks(&finding);
        NotedFinding { finding, fingerprint, blocks }
    };
    findings.into_iter().zip(names).map(note).collect()
}

fn unseen(outcome: Option<&Outcome>, round: Option<&RoundState>) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> =
        round.iter().flat_map(|r| r.unseen()).map(|u| (u.what.clone(), u.because.clone())).collect();
    if let Some(Outcome::Unverified { unseen, .. }) = outcome {
        let known: HashSet<String> = all.iter().map(|(what, _)| what.clone()).collect();
        let more = unseen.iter().filter(|what| !known.contains(*what));
        all.extend(more.map(|what| (what.clone(), "no critic saw it".to_owned())));
    }
    all
}
