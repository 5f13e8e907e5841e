//! The `critic-log.md` of a run: a fold over its records, rendered exactly as the `revise` protocol
//! lays it down; of the other protocols in the same spirit (`judged`). Model text inside it stays on its line
//! and cannot become structure.

mod judged;

use std::fmt::Write as _;

use gadfly_engine::input::InputKind;
use gadfly_engine::protocol::revise;
use gadfly_engine::review::Verdict;
use gadfly_engine::{Halt, NodePath, Outcome, RunManifest};

use crate::journal::Journal;
use crate::read::{ReadError, Record};
use crate::run_id::RunId;
use crate::view::{RoundState, RunView};

const LONGEST_LINE: usize = 2000;

/// The log of one run, to be rendered at any point of it.
#[derive(Clone, Debug)]
pub struct CriticLog {
    view: RunView,
    phase: String,
    /// The phase whose skill stood in for one that has none.
    closest: Option<String>,
}

impl CriticLog {
    pub fn new(run: RunId) -> Self {
        Self { view: RunView::new(run), phase: "general".to_owned(), closest: None }
    }

    pub fn apply(&mut self, record: &Record) {
        if let InputKind::Started(start) = &record.input.what
            && let Some(phase) = RunManifest::of(&start.plan).phase
        {
            let name = one_line(&phase.name);
            if !name.is_empty() {
                self.phase = name;
            }
            let skill = phase.skill.as_deref().map(one_line);
            self.closest = skill.filter(|s| !s.is_empty() && *s != self.phase);
        }
        self.view.apply(record);
    }

    /// The line that stands once per file.
    pub fn heading(&self) -> String {
        format!("# Critic Log — {}\n", self.phase)
    }

    /// What this run adds to a file: one section per loop.
    pub fn block(&self) -> String {
        let mut nodes: Vec<&NodePath> = Vec::new();
        for round in &self.view.rounds {
            if !nodes.contains(&&round.node) {
                nodes.push(&round.node);
            }
        }
        let mut out = String::new();
        for (n, node) in nodes.into_iter().enumerate() {
            if n > 0 {
                out.push('\n');
            }
            self.render(node, &mut out);
        }
        out
    }

    /// The whole file of a run that has one of its own.
    pub fn file(&self) -> String {
        format!("{}\n{}", self.heading(), self.block())
    }

    fn render(&self, node: &NodePath, out: &mut String) {
        let summary = &self.view.summary;
        let root = *node == NodePath::root();
        let inner = node.0.strip_prefix("run/").unwrap_or(&node.0);
        let id = if root { summary.run.to_string() } else { format!("{}/{inner}", summary.run) };
        let _ = writeln!(out, "## Loop {id} — {} — {}", one_line(&summary.title), time(summary.created_ms));
        if let Some(skill) = &self.closest {
            let _ = writeln!(out, "- Phase skill: {skill} (closest to {})", self.phase);
        }
        let outcome = self.view.outcome.as_ref().filter(|_| root);
        let rounds: Vec<&RoundState> = self.view.rounds.iter().filter(|round| round.node == *node).collect();
        if summary.protocol != revise::RULE_BOOK.name {
            return judged::render(&self.view, &rounds, outcome, out);
        }
        let halted = match outcome {
            Some(Outcome::Halted { reason, open, .. }) => Some((*reason, open)),
            _ => None,
        };
        // Of a round that was judged again after the loop started over, the last judgement is told.
        let is_last = |at: usize, n: u32| !rounds[at + 1..].iter().any(|r| r.round == n && r.is_judged());
        let judged = rounds.iter().enumerate().filter(|(at, r)| r.is_judged() && is_last(*at, r.round));
        let judged: Vec<&RoundState> = judged.map(|(_, round)| *round).collect();
        for (n, round) in judged.iter().enumerate() {
            let last = n + 1 == judged.len();
            let _ = writeln!(out, "\n## Iteration {}", round.round);
            iteration(round, halted.filter(|_| last), out);
        }
        finally(outcome, rounds.iter().map(|round| round.round).max().unwrap_or(0), out);
    }
}

fn finally(outcome: Option<&Outcome>, begun: u32, out: &mut String) {
    let Some(ending) = outcome.and_then(ending) else { return };
    let _ = write!(out, "\n## Final: {ending} after {begun} iterations");
    if matches!(outcome, Some(Outcome::Halted { open, .. }) if !open.is_empty()) {
        out.push_str(" — unresolved critique appended above");
    }
    out.push('\n');
}

fn iteration(round: &RoundState, halted: Option<(Halt, &Vec<String>)>, out: &mut String) {
    let Some(review) = round.reviews.last() else { return };
    match (review.verdict, halted) {
        (Verdict::Approved, _) => {
            out.push_str("- Status: APPROVED\n");
            if !review.reason.is_empty() {
                let _ = writeln!(out, "- Reason: {}", item_text(&review.reason));
            }
        }
        (Verdict::Unverified, _) => out.push_str("- Status: UNVERIFIED\n"),
        (Verdict::Rejected, _) if round.overruled => {
            out.push_str("- Status: REJECTED (OVERRULED — only new requirements)\n");
        }
        (Verdict::Rejected, Some((reason, open))) => {
            let why = halt(reason);
            let _ = writeln!(out, "- Status: REJECTED (LOOP HALTED — {why})\n- Unresolved feedback:");
            for item in open {
                let _ = writeln!(out, "  - {}", item_text(item));
            }
        }
        (Verdict::Rejected, None) => {
            out.push_str("- Status: REJECTED\n");
            if let Some(first) = review.open.first() {
                let _ = writeln!(out, "- Summary: {}", first_sentence(&one_line(&first.text)));
            }
        }
    }
}

fn halt(reason: Halt) -> String {
    match reason {
        Halt::Cap => "max iterations reached".to_owned(),
        other => other.to_string(),
    }
}

/// The outcome as the last line names it; none while the run can still go on by itself.
fn ending(outcome: &Outcome) -> Option<&'static str> {
    Some(match outcome {
        Outcome::Approved { overruled: false, .. } => "APPROVED",
        Outcome::Approved { overruled: true, .. } => "APPROVED (rejection overruled)",
        Outcome::Halted { .. } => "HALTED",
        Outcome::Rejected { .. } => "REJECTED",
        Outcome::Unverified { .. } => "UNVERIFIED",
        Outcome::OutOfBudget { .. } => "OUT_OF_BUDGET",
        Outcome::Aborted => "ABORTED",
        Outcome::Failed { .. } => "FAILED",
        Outcome::Waiting(_) => return None,
    })
}

/// Any text as one bounded line without control characters.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|c| !c.is_control()));
        if line.len() > LONGEST_LINE {
            let cut: String = line.chars().take(LONGEST_LINE).collect();
            return format!("{cut}…");
        }
    }
    line
}

/// One line that Markdown does not take for a heading, quote, fence, list or HTML block.
fn item_text(text: &str) -> String {
    let line = one_line(text);
    let structural = line.starts_with(['#', '>', '<', '|'])
        || line.starts_with("```")
        || line.starts_with("~~~")
        || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark));
    if structural { format!("\\{line}") } else { line }
}

/// Up to the first full stop that ends a sentence: what follows begins another one.
fn first_sentence(line: &str) -> &str {
    for (at, _) in line.match_indices(['.', '!', '?']) {
        let rest = &line[at + 1..];
        let mut next = rest.trim_start().chars();
        let spaced = rest.starts_with(' ');
        if rest.is_empty() || (spaced && next.next().is_some_and(|c| !c.is_lowercase() && !c.is_numeric())) {
            return &line[..=at];
        }
    }
    line
}

/// A moment as logs and state files have it, to the second.
pub fn time(wall_ms: u64) -> String {
    let ms = i64::try_from(wall_ms).unwrap_or(i64::MAX);
    let second = jiff::Timestamp::from_millisecond(ms - ms % 1000);
    second.map_or_else(|_| "unknown time".to_owned(), |t| t.to_string())
}

impl Journal {
    /// A run's critic log, folded from its records now.
    pub fn critic_log(&self, run: &RunId) -> Result<CriticLog, ReadError> {
        let mut log = CriticLog::new(run.clone());
        for record in self.replay(run) {
            log.apply(&record?);
        }
        Ok(log)
    }
}

#[cfg(test)]
mod tests;
