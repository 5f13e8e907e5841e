//! A run's `state.json`: its summary and what each round brought. A fold; no decision reads it.

use gadfly_engine::event::Happened;
use gadfly_engine::review::{Item, Verdict};
use gadfly_engine::stall::Stall;
use gadfly_engine::{Digest, NodePath, Outcome};
use serde::{Deserialize, Serialize};

use crate::journal::Journal;
use crate::read::{ReadError, Record};
use crate::run_id::RunId;
use crate::summary::Summary;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunState {
    pub summary: Summary,
    pub rounds: Vec<RoundState>,
    pub outcome: Option<Outcome>,
    pub warnings: Vec<String>,
    /// Files written: path, and whether the content was approved.
    pub saved: Vec<SavedFile>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SavedFile {
    pub path: String,
    pub approved: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoundState {
    pub node: NodePath,
    pub round: u32,
    /// The draft's text.
    pub draft: Option<Digest>,
    pub bytes: u64,
    /// None until a critic's reply was read.
    pub verdict: Option<Verdict>,
    pub overruled: bool,
    pub open: Vec<Item>,
    pub addressed: Vec<u32>,
    pub notes: Vec<String>,
    /// Sections that changed although no open item asked for it.
    pub changed_unasked: Vec<String>,
    /// What the rounds up to this one show beside the verdict.
    pub stalls: Vec<Stall>,
}

impl RunState {
    pub fn new(run: RunId) -> Self {
        Self {
            summary: Summary::new(run),
            rounds: Vec::new(),
            outcome: None,
            warnings: Vec::new(),
            saved: Vec::new(),
        }
    }

    pub fn apply(&mut self, record: &Record) {
        let Record { input, step, .. } = record;
        self.summary.apply(input, step);
        for event in &step.events {
            self.happened(&event.node, &event.what);
        }
        if step.outcome.is_some() {
            self.outcome.clone_from(&step.outcome);
        } else if self.summary.outcome.is_none() {
            self.outcome = None;
        }
    }

    fn happened(&mut self, node: &NodePath, what: &Happened) {
        match what {
            Happened::RoundStarted { round, .. } => {
                self.round(node, *round);
            }
            Happened::DraftMade { round, blob, bytes, .. } => {
                let at = self.round(node, *round);
                at.draft = Some(*blob);
                at.bytes = *bytes;
            }
            Happened::ChangedUnasked { round, sections } => {
                self.round(node, *round).changed_unasked.clone_from(sections);
            }
            Happened::Reviewed { round, review } => {
                let at = self.round(node, *round);
                at.verdict = Some(review.verdict);
                at.open.clone_from(&review.open);
                at.addressed.clone_from(&review.addressed);
                at.notes.clone_from(&review.notes);
            }
            Happened::Stalled { round, stalls } => self.round(node, *round).stalls.clone_from(stalls),
            Happened::RejectionOverruled { round, notes } => {
                let at = self.round(node, *round);
                at.overruled = true;
                at.open.clear();
                at.notes.extend(notes.iter().cloned());
            }
            Happened::Warned { message } => self.warnings.push(message.clone()),
            Happened::Saved { path, approved } => {
                self.saved.push(SavedFile { path: path.clone(), approved: *approved });
            }
            _ => {}
        }
    }

    fn round(&mut self, node: &NodePath, round: u32) -> &mut RoundState {
        let found = self.rounds.iter().position(|r| r.round == round && r.node == *node);
        let at = found.unwrap_or_else(|| {
            self.rounds.push(RoundState {
                node: node.clone(),
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
            });
            self.rounds.len() - 1
        });
        &mut self.rounds[at]
    }
}

impl Journal {
    /// A run's state, folded from its records now.
    pub fn state(&self, run: &RunId) -> Result<RunState, ReadError> {
        let mut state = RunState::new(run.clone());
        for record in self.replay(run) {
            state.apply(&record?);
        }
        // Whether a process still drives the run is not in its records.
        state.summary.state = self.summary(run)?.state;
        Ok(state)
    }
}
